//! `moss:plugin/editor`, `store` and `toolbox`: each checks that it was granted, then lets the
//! daemon do it.

use std::sync::Arc;

use moss_sdk::editor as sdk;
use moss_sdk::{ErrorCode, ToolError};

use crate::bindings::editor::{DefinitionKind, Location, Position, Range, Symbol};
use crate::bindings::types::{Error, ErrorCode as WireCode};
use crate::bindings::{editor, store, toolbox, types};
use crate::grants::Grant;
use crate::services::Services;
use crate::units;

/// Longest key of a store, in bytes.
pub(crate) const STORE_KEY_BYTES_MAX: usize = 256;
/// Longest arguments of a tool that a guest calls, in bytes: they do not count towards its memory.
const TOOL_ARGUMENTS_BYTES_MAX: usize = 256 << 10;

/// The host's side of the three interfaces for one call.
#[derive(Clone)]
pub(crate) struct Served {
    pub(crate) grant: Arc<Grant>,
    pub(crate) services: Arc<dyn Services>,
}

// === impl Served ===

impl Served {
    fn check_editor(&self) -> Result<(), Error> {
        if self.grant.editor { Ok(()) } else { Err(not_granted("the editor", r#""editor": true"#)) }
    }

    fn check_store(&self) -> Result<u64, Error> {
        match self.grant.store_bytes_max {
            0 => Err(not_granted("a store", r#""store": "1MiB""#)),
            bytes_max => Ok(bytes_max),
        }
    }
}

fn not_granted(what: &str, grant: &str) -> Error {
    Error {
        code: WireCode::Denied,
        message: format!("{what} was not granted to the plugin"),
        hint: Some(format!("request it, and grant it in moss-tools.json: {grant}")),
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
        Ok(self.services.store().set(key, value, bytes_max).await?)
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
        if !self.grant.tools.iter().any(|granted| granted.matches(&name)) {
            return Err(not_granted(&format!("the tool `{name}`"), r#""tools": ["NAME"]"#));
        }
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
        let code = match error.code {
            ErrorCode::InvalidArguments => WireCode::InvalidArguments,
            ErrorCode::InvalidPath | ErrorCode::OutsideWorkspace => WireCode::InvalidPath,
            ErrorCode::NotFound => WireCode::NotFound,
            ErrorCode::AlreadyExists => WireCode::AlreadyExists,
            ErrorCode::NotAFile => WireCode::NotAFile,
            ErrorCode::NotADirectory => WireCode::NotADirectory,
            ErrorCode::Binary => WireCode::Binary,
            ErrorCode::Encoding => WireCode::Encoding,
            ErrorCode::TooLarge => WireCode::TooLarge,
            ErrorCode::OutOfRange => WireCode::OutOfRange,
            ErrorCode::NoMatch => WireCode::NoMatch,
            ErrorCode::Ambiguous => WireCode::Ambiguous,
            ErrorCode::NoChange | ErrorCode::AlreadyApplied => WireCode::NoChange,
            ErrorCode::Conflict | ErrorCode::Drift => WireCode::Conflict,
            ErrorCode::LimitExceeded => WireCode::LimitExceeded,
            ErrorCode::Denied | ErrorCode::Unconfirmed => WireCode::Denied,
            ErrorCode::Timeout => WireCode::Timeout,
            ErrorCode::Cancelled => WireCode::Cancelled,
            ErrorCode::Io => WireCode::Io,
            _ => WireCode::Failed,
        };
        Self { code, message: error.message, hint: error.hint }
    }
}
