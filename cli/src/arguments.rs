//! A tool's arguments as they are typed: JSON, or `KEY=VALUE` read by the tool's schema.
//!
//! Only the form is checked here; whether the arguments fit is the daemon's to say.

use std::io::Read as _;
use std::path::Path;

use crate::client::Client;
use moss_catalog::{Language, ListedSchema};
use moss_proto::v1;
use serde_json::{Map, Value};

use super::error::CliError;
use super::parameters::{self, AcceptedTypes, Parameter};
use super::root::through_link;
use super::{Session, example};

/// Most bytes of arguments that are read from standard input.
const STDIN_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Parameters that hold a path.
const PATHS: &[&str] = &["path", "filePath"];
/// Other parameters that rules look at.
const OF_RULES: &[&str] = &["action", "command", "cwd"];
/// Longest value that a command repeats, in characters.
const REPEATED_CHARS_MAX: usize = 120;
/// The name of an undo for rules.
const UNDO: &str = "undo";

/// What a tool is called with.
#[derive(Debug, clap::Args)]
pub(super) struct ToolArguments {
    /// Arguments; use KEY:=JSON to give a value as JSON
    ///
    /// VALUE is text where the parameter is text, and JSON where it is a number, a boolean, a list
    /// or an object.
    #[arg(value_name = "KEY=VALUE")]
    pairs: Vec<String>,

    /// All arguments as a JSON object; `-` reads it from standard input
    #[arg(long, value_name = "JSON", conflicts_with = "pairs")]
    args: Option<String>,
}

// === impl ToolArguments ===

impl ToolArguments {
    /// Whether they come from standard input, so that nobody can be asked there.
    pub(super) fn is_stdin(&self) -> bool {
        self.args.as_deref() == Some("-")
    }

    /// The first path that is there as seen from a directory, as it is to be given: from the root.
    pub(super) fn path_from_root(&self, directory: &Path, root: &Path) -> Option<String> {
        self.pairs.iter().find_map(|pair| {
            let (key, value) = split(pair).filter(|(key, _)| PATHS.contains(key))?;
            let real = directory.join(value).canonicalize().ok()?;
            let path = real.strip_prefix(root).ok()?.to_str()?;
            let path = if path.is_empty() { "." } else { path };
            (path != value).then(|| example::typed(key, path))
        })
    }

    /// Writes a command about this very call as it is typed in a shell. Only what rules look at is repeated: any other
    /// value may be long or a secret, and a hint ends in logs. A person fills that in.
    pub(super) fn command(&self, command: &str, tool: &str) -> String {
        let mut words = vec![command.to_owned(), example::quoted(tool)];
        words.extend(self.pairs.iter().map(|pair| match split(pair) {
            Some((key, value)) if is_repeated(key, value) => example::typed(key, value),
            Some((key, _)) => format!("{}=…", example::quoted(key)),
            None => example::quoted(pair),
        }));
        if self.args.is_some() {
            words.push(format!("--args {}", if self.is_stdin() { "-" } else { "JSON" }));
        }
        words.join(" ")
    }

    /// Adds to an error of arguments that do not fit what may have been meant, and where the parameters
    /// of the tool are shown.
    pub(super) async fn explain(&self, error: CliError, client: &Client, tool: &str) -> CliError {
        let shown = format!("see the parameters with `moss tools {}`", example::quoted(tool));
        let is_explained = error.error.violations.iter().any(|one| one.suggestion.is_some());
        let meant = match client.tool(tool, ListedSchema::Full, Language::En).await {
            Ok(tool) if !is_explained => renamed(&self.pairs, &tool),
            _ => None,
        };
        error.hint(match meant {
            Some(meant) => format!("did you mean {meant}? {shown}"),
            None => shown,
        })
    }

    /// Returns them as JSON. Asks for the tool's schema only where there is something to read by it.
    pub(super) async fn to_json(
        &self,
        client: &Client,
        tool: &str,
        session: &Session,
    ) -> Result<String, CliError> {
        match &self.args {
            Some(_) if self.is_stdin() => read_stdin(),
            Some(json) => Ok(json.clone()),
            None if self.pairs.is_empty() => Ok(String::new()),
            None => {
                let tool = match tool {
                    // It has a name for rules and is in no catalog.
                    UNDO => v1::Tool::default(),
                    tool => client.tool(tool, ListedSchema::Full, Language::En).await?,
                };
                let mut arguments = parse(&self.pairs, &tool)?;
                if let Some(root) = session.local_root() {
                    lead_to_root(&mut arguments, &root);
                }
                Ok(Value::Object(arguments).to_string())
            }
        }
    }
}

fn read_stdin() -> Result<String, CliError> {
    let mut json = String::new();
    let read = std::io::stdin().lock().take(STDIN_BYTES_MAX + 1).read_to_string(&mut json)?;
    if read as u64 > STDIN_BYTES_MAX {
        let message = format!("more than {STDIN_BYTES_MAX} bytes of arguments");
        return Err(CliError::invalid(message));
    }
    Ok(json)
}

/// Reads `KEY=VALUE` and `KEY:=JSON`.
fn parse(pairs: &[String], tool: &v1::Tool) -> Result<Map<String, Value>, CliError> {
    let schema: Value = serde_json::from_str(&tool.parameters_json).unwrap_or_default();
    let mut arguments = Map::new();
    for pair in pairs {
        let Some((key, value)) = split(pair) else {
            let error = CliError::invalid(format!("expected KEY=VALUE, got `{pair}`"));
            return Err(match meant(pairs, pair, tool) {
                Some(meant) => error.hint(format!("did you mean {meant}?")),
                None => error,
            });
        };
        let (key, value) = match key.strip_suffix(':') {
            Some(key) => (key, json(key, value)?),
            None => {
                let kinds = AcceptedTypes::of_parameter(tool, &schema, key);
                let read = read(key, value, &kinds).map_err(|error| match text_like(key, tool) {
                    Some(other) => {
                        error.hint(format!("did you mean {}?", example::typed(&other, value)))
                    }
                    None => error,
                });
                (key, read?)
            }
        };
        if arguments.insert(key.to_owned(), value).is_some() {
            return Err(CliError::invalid(format!("`{key}` is given twice")));
        }
    }
    Ok(arguments)
}

/// The parameter that takes the text which was given to another whose name ends with its own: of `searchPath` it
/// is `path`.
fn text_like(key: &str, tool: &v1::Tool) -> Option<String> {
    let key = key.to_lowercase();
    let mut texts = parameters::of(tool).into_iter().filter(|one| one.kinds.text);
    texts.find(|one| key.ends_with(&one.name.to_lowercase())).map(|one| one.name)
}

/// Names absolute paths that lead through a link into the workspace as the daemon knows them.
fn lead_to_root(arguments: &mut Map<String, Value>, root: &Path) {
    for key in PATHS {
        if let Some(Value::String(path)) = arguments.get_mut(*key)
            && let Some(from_root) = through_link(path, root)
        {
            *path = from_root;
        }
    }
}

/// Whether a value stands in one line of a hint.
fn is_repeated(key: &str, value: &str) -> bool {
    let key = key.trim_end_matches(':');
    let is_of_rules = PATHS.contains(&key) || OF_RULES.contains(&key);
    is_of_rules && value.chars().count() <= REPEATED_CHARS_MAX && !value.contains(char::is_control)
}

/// Splits a pair at its first `=`; none where no key is before it.
fn split(pair: &str) -> Option<(&str, &str)> {
    pair.split_once('=').filter(|(key, _)| !key.is_empty())
}

/// The names of the parameters that some pairs give, after aliases.
fn given<'a>(pairs: &'a [String], tool: &'a v1::Tool) -> Vec<&'a str> {
    let keys = pairs.iter().filter_map(|pair| Some(split(pair)?.0));
    keys.map(|key| parameters::main_name(tool, key.trim_end_matches(':'))).collect()
}

/// The parameters that a tool needs and that some pairs do not give.
fn missing(pairs: &[String], tool: &v1::Tool) -> Vec<Parameter> {
    let given = given(pairs, tool);
    let is_missing =
        |one: &Parameter| one.is_required && !given.iter().any(|name| *name == one.name);
    parameters::of(tool).into_iter().filter(is_missing).collect()
}

/// What a word without a key was meant as: the first parameter that is needed and is not there.
fn meant(pairs: &[String], word: &str, tool: &v1::Tool) -> Option<String> {
    Some(example::typed(&missing(pairs, tool).first()?.name, word))
}

/// What a pair with an unknown key was meant as, where there is one such pair and one parameter that is
/// needed and not there.
fn renamed(pairs: &[String], tool: &v1::Tool) -> Option<String> {
    let parameters = parameters::of(tool);
    let is_unknown = |key: &str| {
        let name = parameters::main_name(tool, key.trim_end_matches(':'));
        !parameters.iter().any(|known| known.name == name)
    };
    let mut unknown =
        pairs.iter().filter_map(|pair| split(pair)).filter(|(key, _)| is_unknown(key));
    let ((_, value), None) = (unknown.next()?, unknown.next()) else { return None };
    let [only] = &missing(pairs, tool)[..] else { return None };
    Some(example::typed(&only.name, value))
}

/// Reads one value as what the schema wants; text where it does not say.
fn read(key: &str, value: &str, kinds: &AcceptedTypes) -> Result<Value, CliError> {
    match (kinds.text, kinds.others.is_empty()) {
        (_, true) => Ok(Value::String(value.to_owned())),
        (false, false) => serde_json::from_str(value).map_err(|_| {
            let kinds = kinds.others.iter().map(|kind| in_words(kind, key, value));
            let expected = kinds.collect::<Vec<_>>().join(" or ");
            CliError::invalid(format!("`{key}`: expected {expected}, got `{value}`"))
        }),
        // Both are possible: what reads as one of the others is meant as that.
        (true, false) => Ok(serde_json::from_str(value)
            .ok()
            .filter(|read| kinds.accept(read))
            .unwrap_or_else(|| Value::String(value.to_owned()))),
    }
}

/// Reads what is said to be JSON.
fn json(key: &str, value: &str) -> Result<Value, CliError> {
    serde_json::from_str(value).map_err(|error| {
        CliError::invalid(format!("`{key}`: expected JSON, got `{value}`: {error}"))
    })
}

/// Says what to write for a type.
fn in_words(kind: &str, key: &str, value: &str) -> String {
    match kind {
        "boolean" => "true or false".to_owned(),
        "integer" => "a whole number".to_owned(),
        "number" => "a number".to_owned(),
        "array" => format!("a list such as {key}='[\"{value}\"]'"),
        "object" => format!("an object such as {key}='{{\"name\": \"{value}\"}}'"),
        other => other.to_owned(),
    }
}

#[cfg(test)]
mod tests;
