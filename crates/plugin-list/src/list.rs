//! The plugin list, `moss-tools.json`: which plugins there are and what each is granted.
//!
//! Every key that is accepted is enforced. Anything else is refused with file, line and column.

mod digest;
mod edit;
mod granted;
mod limits;
mod oci;
mod place;
mod renamed;
mod source;

use std::collections::BTreeMap;
use std::fmt;

use miette::{Diagnostic, LabeledSpan, NamedSource, SourceCode};
use serde_json::{Map, Value};

pub use self::digest::Sha256Digest;
pub use self::edit::ListEdit;
use self::granted::parse_grant;
use self::limits::{parse_limits, parse_warm};
pub use self::oci::OciReference;
use self::place::Keeper;
use self::source::{ListNode, ListProblem};
use crate::grants::Grant;
use crate::limits::PluginLimits;
use crate::units;

/// Largest list, in bytes.
pub(crate) const LIST_BYTES_MAX: usize = 1 << 20;
/// Most plugins of one list.
pub(crate) const PLUGINS_MAX: usize = 256;
/// Most grants of one kind, and most globs of one grant, of one plugin.
pub(crate) const GRANTS_MAX: usize = 64;
/// Largest `config` of one plugin, in bytes.
pub(crate) const CONFIG_BYTES_MAX: usize = 64 << 10;

/// Where settings are in a list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ConfigPositions {
    whole: Option<(usize, usize)>,
    keys: BTreeMap<String, (usize, usize)>,
}

/// A parsed plugin list.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PluginList {
    /// The plugins, in the order of the file; no two have the same name.
    pub plugins: Vec<PluginEntry>,
}

/// One plugin of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct PluginEntry {
    /// Its name, which the component must confirm.
    pub name: String,
    /// Where its component is: a file relative to the list's directory, an `https` URL, or an
    /// [`OciReference`]. See [`PluginEntry::is_remote`].
    pub source: String,
    /// The source as who reads the list knows it, for example with its directory. A plugin of the
    /// same name from elsewhere does not get at what this one keeps.
    pub origin: String,
    /// The digest that its component must have.
    pub sha256: Option<Sha256Digest>,
    /// Where its detached signature is: a file relative to the list's directory, or an `https` URL.
    pub signature: Option<String>,
    /// The list that names it, as messages call that.
    pub list: String,
    /// Names that its tools have here, by those that it gives them; others keep theirs.
    pub tools: BTreeMap<String, String>,
    /// What it is granted.
    pub grant: Grant,
    /// What it may have at most, whatever is granted. No list says it: who reads it does.
    pub maximum: Grant,
    /// What one call of it may use.
    pub limits: PluginLimits,
    /// Its settings, handed to it as they are.
    pub config: Map<String, Value>,
    /// Line and column, from 1, of the settings and of each of their keys; nothing where it has none.
    pub config_positions: ConfigPositions,
    /// The line of the list where the entry starts, from 1.
    pub line: usize,
}

/// What is wrong with a plugin list. Its text is one line with file, line and column; as a
/// [`Diagnostic`] it also shows the location.
pub struct ListError {
    line: usize,
    column: usize,
    problem: Box<ListProblem>,
    source: NamedSource<String>,
}

// === impl PluginList ===

impl PluginList {
    /// Reads a list; `file_name` is only for messages. Comments are allowed.
    ///
    /// # Errors
    ///
    /// The first thing that is malformed, unknown, unsupported, out of range or said twice.
    pub fn parse(file_name: &str, text: &str) -> Result<Self, ListError> {
        parse(file_name, text, Keeper::User)
    }

    /// As [`PluginList::parse`], for a list that a workspace brings along: it names only files of the
    /// workspace, and what it pins on the network.
    ///
    /// # Errors
    ///
    /// As [`PluginList::parse`].
    pub fn parse_of_workspace(file_name: &str, text: &str) -> Result<Self, ListError> {
        parse(file_name, text, Keeper::Workspace)
    }
}

// === impl PluginEntry ===

impl PluginEntry {
    /// Whether its component is on the network. Then it is pinned.
    pub fn is_remote(&self) -> bool {
        place::is_remote(&self.source)
    }

    /// Where its component is in a registry of OCI images, if it is there.
    pub fn oci(&self) -> Option<OciReference> {
        OciReference::parse(&self.source).ok()
    }

    /// Returns the line and the column of a key of the settings, or of what is nearest to it.
    pub fn config_place(&self, key: Option<&str>) -> (usize, usize) {
        let position = key.and_then(|key| self.config_positions.keys.get(key)).copied();
        position.or(self.config_positions.whole).unwrap_or((self.line, 1))
    }
}

// === impl Grant ===

impl Grant {
    /// Reads a grant as lists have it, for example `{"fs": [{"path": "docs", "access": "read"}]}`.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let read = source::read(text).and_then(|tree| parse_grant(ListNode::root(&tree)));
        read.map_err(|problem| match problem.help {
            Some(help) => format!("{}; {help}", problem.message),
            None => problem.message,
        })
    }

    /// Returns what of it a list can grant: no list grants every variable or every tool at once,
    /// variables of moss, or stores above the bound.
    #[must_use]
    pub fn grantable(&self) -> Self {
        granted::grantable(self)
    }

    /// Writes it as lists have it; what it does not have is left out.
    pub fn to_json(&self) -> Value {
        granted::written(self)
    }
}

fn parse(file_name: &str, text: &str, keeper: Keeper) -> Result<PluginList, ListError> {
    let mut list =
        read(text, keeper).map_err(|problem| ListError::new(file_name, text, problem))?;
    list.plugins.iter_mut().for_each(|entry| file_name.clone_into(&mut entry.list));
    Ok(list)
}

fn read(text: &str, keeper: Keeper) -> Result<PluginList, ListProblem> {
    if text.len() > LIST_BYTES_MAX {
        let size = units::size(LIST_BYTES_MAX);
        return Err(ListProblem::at(0..0, format!("the list is larger than {size}")));
    }
    let tree = source::read(text)?;
    let mut list = ListNode::root(&tree).object(&["version", "plugins"])?;
    let version = list.required("version")?;
    if version.integer()? != 1 {
        return Err(version.problem("unsupported version").help("this moss reads version 1"));
    }
    let plugins = list.required("plugins")?;
    let mut lines: BTreeMap<String, usize> = BTreeMap::new();
    let mut entries = Vec::new();
    for node in plugins.array(PLUGINS_MAX)? {
        let (entry, name) = parse_entry(text, node, keeper)?;
        if let Some(line) = lines.insert(entry.name.clone(), entry.line) {
            let message = format!("a plugin named `{}` is listed twice", entry.name);
            return Err(name.problem(message).help(format!("the other one is in line {line}")));
        }
        entries.push(entry);
    }
    Ok(PluginList { plugins: entries })
}

fn parse_entry<'t>(
    text: &str,
    node: ListNode<'t>,
    keeper: Keeper,
) -> Result<(PluginEntry, ListNode<'t>), ListProblem> {
    let keys =
        ["name", "source", "sha256", "signature", "tools", "grant", "limits", "warm", "config"];
    let mut entry = node.object(&keys)?;
    let name = entry.required("name")?;
    let from = entry.required("source")?;
    let source = place::parse_source(from, keeper)?;
    if place::is_remote(&source) && entry.optional("sha256").is_none() {
        return Err(from
            .problem("a source on the network needs the key `sha256`")
            .help(place::writes_the_entry(&source)));
    }
    let signature = entry.optional("signature");
    let signed = signature.map(|node| place::parse(node, keeper)).transpose()?;
    if let (Some(node), Some(signed)) = (signature, &signed)
        && place::is_remote(signed)
        && entry.optional("sha256").is_none()
    {
        return Err(node
            .problem("a signature on the network needs the key `sha256`")
            .help("give the digest of the signed component"));
    }
    let parsed = PluginEntry {
        name: parse_name(name)?,
        origin: source.clone(),
        source,
        sha256: entry.optional("sha256").map(parse_digest).transpose()?,
        signature: signed,
        tools: entry.optional("tools").map(renamed::parse).transpose()?.unwrap_or_default(),
        maximum: Grant::everything(),
        list: String::new(),
        grant: entry.optional("grant").map(parse_grant).transpose()?.unwrap_or_default(),
        limits: PluginLimits {
            warm: entry.optional("warm").map(parse_warm).transpose()?,
            ..entry.optional("limits").map(parse_limits).transpose()?.unwrap_or_default()
        },
        config: entry.optional("config").map(parse_config).transpose()?.unwrap_or_default(),
        config_positions: entry
            .optional("config")
            .map(|node| positions(text, node))
            .unwrap_or_default(),
        line: source::position(text, node.start()).0,
    };
    Ok((parsed, name))
}

fn parse_name(node: ListNode<'_>) -> Result<String, ListProblem> {
    let name = node.string()?;
    let is_name = name.len() <= 64
        && name.starts_with(|char: char| char.is_ascii_lowercase())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    if is_name {
        Ok(name.to_owned())
    } else {
        Err(node
            .problem(format!("`{name}` cannot name a plugin"))
            .help("a name is a lowercase letter, then up to 63 lowercase letters, digits or `-`"))
    }
}

fn parse_digest(node: ListNode<'_>) -> Result<Sha256Digest, ListProblem> {
    Sha256Digest::parse(node.string()?).ok_or_else(|| {
        node.problem("not a SHA-256 digest").help("expected 64 hexadecimal digits in lowercase")
    })
}

fn parse_config(node: ListNode<'_>) -> Result<Map<String, Value>, ListProblem> {
    match node.value()? {
        Value::Object(config)
            if Value::Object(config.clone()).to_string().len() > CONFIG_BYTES_MAX =>
        {
            let size = units::size(CONFIG_BYTES_MAX);
            Err(node.problem(format!("the settings are larger than {size}")))
        }
        Value::Object(config) => Ok(config),
        _ => Err(node.expected("an object")),
    }
}

fn positions(text: &str, config: ListNode<'_>) -> ConfigPositions {
    let keys = config.keys().map(|(key, start)| (key.to_owned(), source::position(text, start)));
    ConfigPositions { whole: Some(source::position(text, config.start())), keys: keys.collect() }
}

// === impl ListError ===

impl ListError {
    fn new(file_name: &str, text: &str, problem: ListProblem) -> Self {
        let (line, column) = source::position(text, problem.span.start);
        Self {
            line,
            column,
            problem: Box::new(problem),
            source: NamedSource::new(file_name, text.to_owned()),
        }
    }

    /// Returns the line, from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// Returns the column in characters, from 1.
    pub fn column(&self) -> usize {
        self.column
    }
}

impl fmt::Display for ListError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, column, problem, source } = self;
        write!(f, "{}:{line}:{column}: {}", source.name(), problem.message)?;
        match &problem.help {
            Some(help) => write!(f, "; {help}"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for ListError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for ListError {}

impl Diagnostic for ListError {
    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.source)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let label = self.problem.help.clone().or_else(|| Some("here".to_owned()));
        let span = self.problem.span.clone();
        Some(Box::new(std::iter::once(LabeledSpan::new_with_span(label, span))))
    }
}

#[cfg(test)]
mod tests;
