//! `moss:plugin/editor`, `store`, `toolbox` and `index`: each checks that it was granted, then lets the
//! daemon do it.

use std::sync::Arc;

use moss_sdk::code_search::CodeHit;
use moss_sdk::editor as sdk;
use moss_sdk::search::{FoundLine, TextQuery, TextQueryResult};
use moss_sdk::{ErrorCode, ToolError};

use crate::bindings::editor::{DefinitionKind, Location, Position, Range, Symbol};
use crate::bindings::types::{Error, ErrorCode as WireCode};
use crate::bindings::{editor, index, store, toolbox, types};
use crate::imports::trouble::Trouble;
use crate::rights::Rights;
use crate::services::Services;
use moss_plugin_list::{grants::Grant, units};
use moss_sdk::deceptive::quoted;

/// Longest key of a store, in bytes.
pub(crate) const STORE_KEY_BYTES_MAX: usize = 256;
/// Longest arguments of a tool that a guest calls, in bytes: they do not count towards its memory.
const TOOL_ARGUMENTS_BYTES_MAX: usize = 256 << 10;

/// The host's side of the three interfaces for one call.
#[derive(Clone)]
pub(crate) struct Served {
    pub(crate) rights: Arc<Rights>,
    pub(crate) services: Arc<dyn Services>,
    pub(crate) trouble: Trouble,
}

// === impl Served ===

impl Served {
    pub(crate) fn new(rights: Arc<Rights>, services: Arc<dyn Services>) -> Self {
        Self { rights, services, trouble: Trouble::default() }
    }

    fn check_editor(&self) -> Result<(), Error> {
        let has = |grant: &Grant| grant.editor;
        if has(&self.rights.held) {
            return Ok(());
        }
        let why = self.rights.why_not(r#""editor": true"#, "editor", has);
        Err(self.refuse("the editor", why))
    }

    fn check_index(&self) -> Result<(), Error> {
        let has = |grant: &Grant| grant.index;
        if has(&self.rights.held) {
            return Ok(());
        }
        let why = self.rights.why_not(r#""index": true"#, "index", has);
        Err(self.refuse("the index", why))
    }

    fn check_store(&self) -> Result<u64, Error> {
        let has = |grant: &Grant| grant.store_bytes_max > 0;
        if has(&self.rights.held) {
            return Ok(self.rights.held.store_bytes_max);
        }
        let why = self.rights.why_not(r#""store": "1MiB""#, "store_bytes", has);
        Err(self.refuse("a store", why))
    }

    fn check_tool(&self, name: &str) -> Result<(), Error> {
        let has = |grant: &Grant| grant.tools.iter().any(|granted| granted.matches(name));
        if has(&self.rights.held) {
            return Ok(());
        }
        let name = quoted(name);
        let why = match self.services.check_tool(&name) {
            Ok(()) => self.rights.why_not(&format!("\"tools\": [\"{name}\"]"), "tools", has),
            Err(never) => never.message,
        };
        Err(self.refuse(&format!("the tool `{name}`"), why))
    }

    /// Reports the guest what it does not have, and people why.
    pub(super) fn refuse(&self, what: &str, why: String) -> Error {
        self.trouble.note(why);
        let message = format!("{what} was not granted to the plugin");
        Error { code: WireCode::Denied, message, hint: None }
    }
}

fn check_key(key: &str) -> Result<(), Error> {
    if (1..=STORE_KEY_BYTES_MAX).contains(&key.len()) {
        return Ok(());
    }
    let message = format!("a key of the store has 1 to {STORE_KEY_BYTES_MAX} bytes");
    Err(Error { code: WireCode::InvalidArguments, message, hint: None })
}

impl types::Host for Served {}

impl editor::Host for Served {
    async fn symbols(&mut self, path: String) -> Result<Option<Vec<Symbol>>, Error> {
        self.check_editor()?;
        let symbols = self.services.symbols(&path).await?;
        Ok(symbols.map(|symbols| symbols.into_iter().map(Symbol::from).collect()))
    }

    async fn definitions(
        &mut self,
        path: String,
        position: Position,
        kind: DefinitionKind,
    ) -> Result<Option<Vec<Location>>, Error> {
        self.check_editor()?;
        let kind = match kind {
            DefinitionKind::Definition => sdk::DefinitionKind::Symbol,
            DefinitionKind::TypeDefinition => sdk::DefinitionKind::Type,
        };
        let position = sdk::Position { line: position.line, character: position.character };
        let found = self.services.definitions(&path, position, kind).await?;
        Ok(found.map(|found| found.locations.into_iter().map(Location::from).collect()))
    }
}

impl store::Host for Served {
    async fn get(&mut self, key: String) -> Result<Option<Vec<u8>>, Error> {
        self.check_store()?;
        check_key(&key)?;
        Ok(self.services.store().get(key).await?)
    }

    async fn set(&mut self, key: String, value: Vec<u8>) -> Result<(), Error> {
        let bytes_max = self.check_store()?;
        check_key(&key)?;
        let set = self.services.store().set(key, value, bytes_max).await;
        if let Err(ToolError { code: ErrorCode::TooLarge, .. }) = &set {
            self.trouble.note(self.rights.why_no_larger_store());
        }
        Ok(set?)
    }

    async fn delete(&mut self, key: String) -> Result<bool, Error> {
        self.check_store()?;
        check_key(&key)?;
        Ok(self.services.store().delete(key).await?)
    }

    async fn keys(&mut self, prefix: String) -> Result<Vec<String>, Error> {
        self.check_store()?;
        Ok(self.services.store().keys(prefix).await?)
    }
}

impl toolbox::Host for Served {
    async fn call(&mut self, name: String, arguments: String) -> Result<String, Error> {
        self.check_tool(&name)?;
        if arguments.len() > TOOL_ARGUMENTS_BYTES_MAX {
            let limit = units::size(TOOL_ARGUMENTS_BYTES_MAX);
            return Err(Error {
                code: WireCode::TooLarge,
                message: format!("the arguments have more than {limit}"),
                hint: None,
            });
        }
        Ok(self.services.call_tool(&name, arguments).await?)
    }
}

impl index::Host for Served {
    async fn search(&mut self, query: index::Query) -> Result<index::Found, Error> {
        self.check_index()?;
        let query = TextQuery {
            pattern: query.pattern,
            case_sensitive: query.case_sensitive,
            file_types: query.file_types,
            lines_max: query.lines_max,
        };
        Ok(self.services.search(query).await?.into())
    }

    async fn symbols(&mut self, names: Vec<String>) -> Result<Vec<index::Declaration>, Error> {
        self.check_index()?;
        let found = self.services.declarations(names).await?;
        Ok(found.into_iter().map(index::Declaration::from).collect())
    }
}

// === impl Declaration ===

impl From<CodeHit> for index::Declaration {
    fn from(hit: CodeHit) -> Self {
        Self {
            path: hit.path.to_string(),
            line: hit.lines.0,
            end_line: hit.lines.1,
            name: hit.name.unwrap_or_default(),
            kind: hit.kind.unwrap_or_default().to_owned(),
            container: hit.container,
        }
    }
}

// === impl Found ===

impl From<TextQueryResult> for index::Found {
    fn from(result: TextQueryResult) -> Self {
        Self {
            lines: result.lines.into_iter().map(index::Line::from).collect(),
            total: result.total,
            files_matched: result.files_matched,
            files_searched: result.files_searched,
            truncated: result.is_truncated,
        }
    }
}

impl From<FoundLine> for index::Line {
    fn from(line: FoundLine) -> Self {
        Self { path: line.path, number: line.number, column: line.column, text: line.text }
    }
}

// === impl Symbol ===

impl From<sdk::Symbol> for Symbol {
    fn from(symbol: sdk::Symbol) -> Self {
        Self {
            name: symbol.name,
            kind: symbol.kind,
            range: symbol.span.into(),
            name_range: symbol.name_span.into(),
            depth: u32::try_from(symbol.depth).unwrap_or(u32::MAX),
        }
    }
}

impl From<sdk::Location> for Location {
    fn from(location: sdk::Location) -> Self {
        Self { path: location.path.to_string(), range: location.span.into() }
    }
}

impl From<sdk::Span> for Range {
    fn from(span: sdk::Span) -> Self {
        Self { start: span.start.into(), end: span.end.into() }
    }
}

impl From<sdk::Position> for Position {
    fn from(position: sdk::Position) -> Self {
        Self { line: position.line, character: position.character }
    }
}

// === impl Error ===

impl From<ToolError> for Error {
    fn from(error: ToolError) -> Self {
        macro_rules! seen {
            (
                ($code:expr)
                $($(#[$doc:meta])* $failed:ident $word:literal $outcome:ident $contract:ident;)*
            ) => {
                match $code {
                    $(ErrorCode::$failed => WireCode::$contract,)*
                    _ => WireCode::Failed,
                }
            };
        }
        let code = moss_sdk::error_codes!(seen(error.code));
        Self { code, message: error.message, hint: error.hint }
    }
}
