//! What a plugin says about itself, checked: names, texts, schemas, requested capabilities.
//!
//! Everything here comes from the guest and is bounded before it is used.

mod schema;
mod settings;

use std::collections::{BTreeMap, BTreeSet};

use moss_sdk::deceptive::first_deceptive;
use moss_sdk::spec::{Annotations, ToolText};
use moss_sdk::{Effect, RelPath, ToolSpec, Toolset};
use serde_json::{Map, Value, json};

pub(crate) use self::schema::check_schema;
use self::schema::read_schema;
use crate::bindings::tools;
use crate::error::SettingsProblem;
use crate::outcome::OutputForm;
use moss_plugin_list::{
    grants::{
        Capability, NamePattern, RequestedCapability, command::CommandPattern, host::HostPattern,
    },
    tool_names::{NAME_BYTES_MAX, TOOLS_MAX, is_tool_name},
    units,
};
use moss_sdk::deceptive::quoted;

/// Most requested capabilities of one plugin.
pub(crate) const REQUESTS_MAX: usize = 64;
/// Longest version, title or scope, in bytes.
pub(crate) const TITLE_BYTES_MAX: usize = 200;
/// Longest description or reason, in bytes.
pub(crate) const DESCRIPTION_BYTES_MAX: usize = 4 << 10;
/// Most examples of one tool.
pub(crate) const EXAMPLES_MAX: usize = 16;
/// Most files of one example, before and after.
pub(crate) const EXAMPLE_FILES_MAX: usize = 32;
/// Most bytes of one example: arguments, files and output.
pub(crate) const EXAMPLE_BYTES_MAX: usize = 256 << 10;

/// The kinds of capabilities.
const KINDS: &[&str] = &["fs", "http", "env", "store", "tool", "editor", "index", "command"];

/// What is known of a plugin beside its code.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Description {
    pub(crate) version: String,
    pub(crate) requests: Vec<RequestedCapability>,
    /// The schema of its settings, where it has one.
    pub(crate) settings: Option<Value>,
    pub(crate) specs: Vec<ToolSpec>,
    /// In the order of `specs`.
    pub(crate) forms: Vec<OutputForm>,
    /// In the order of `specs`.
    pub(crate) examples: Vec<Vec<Example>>,
}

/// A call that shows what a tool does.
#[derive(Debug, Clone, PartialEq)]
pub struct Example {
    /// What it shows, in a few words.
    pub title: String,
    /// The arguments: an object.
    pub arguments: Value,
    /// The workspace in which it runs: paths and texts.
    pub files: Vec<(RelPath, String)>,
    /// The output as the plugin returns it; none where it is not always the same.
    pub output: Option<Value>,
    /// The files that it changes or makes, as they are afterwards.
    pub changed: Vec<(RelPath, String)>,
}

// === impl Description ===

impl Description {
    /// Holds settings to the plugin's schema.
    pub(crate) fn check_settings(
        &self,
        settings: &Map<String, Value>,
    ) -> Result<(), SettingsProblem> {
        self.settings.as_ref().map_or(Ok(()), |schema| settings::check(schema, settings))
    }
}

/// Reads a description; `name` is what the list calls the plugin.
pub(crate) fn read(name: &str, told: tools::Description) -> Result<Description, String> {
    if told.name != name {
        return Err(format!(
            "it is called `{}`, but the list calls it `{name}`; put its own name into the list",
            quoted(&told.name)
        ));
    }
    check_text("the version", &told.version, TITLE_BYTES_MAX)?;
    if !is_version(&told.version) {
        return Err("the version must be printable ASCII without spaces, as `1.2.0` is".to_owned());
    }
    if told.tools.is_empty() {
        return Err("it has no tools".to_owned());
    }
    if told.tools.len() > TOOLS_MAX {
        return Err(format!("it has more than {TOOLS_MAX} tools"));
    }
    if told.capabilities.len() > REQUESTS_MAX {
        return Err(format!("it requests more than {REQUESTS_MAX} capabilities"));
    }
    let requests = told.capabilities.into_iter().map(read_request).collect::<Result<_, _>>()?;
    let settings = told.settings.map(|schema| read_schema("the schema of its settings", &schema));
    let settings = settings.transpose()?.map(Value::Object);
    let mut names = BTreeSet::new();
    let mut specs = Vec::with_capacity(told.tools.len());
    let mut forms = Vec::with_capacity(told.tools.len());
    let mut examples = Vec::with_capacity(told.tools.len());
    for mut tool in told.tools {
        let name = quoted(&tool.name);
        let of_tool = |why: String| format!("tool `{name}`: {why}");
        examples.push(read_examples(std::mem::take(&mut tool.examples)).map_err(of_tool)?);
        let (spec, form) = read_tool(tool).map_err(of_tool)?;
        if !names.insert(spec.name.clone()) {
            return Err(format!("it has two tools named `{name}`"));
        }
        specs.push(spec);
        forms.push(form);
    }
    Ok(Description { version: told.version, requests, settings, specs, forms, examples })
}

fn read_request(told: tools::Capability) -> Result<RequestedCapability, String> {
    check_text("the reason of a capability", &told.reason, DESCRIPTION_BYTES_MAX)?;
    check_text("the scope of a capability", &told.scope, TITLE_BYTES_MAX)?;
    let scope = told.scope.as_str();
    let named = |what: &str| {
        let is_name = scope == "*" || is_tool_name(scope);
        if is_name { Ok(name_pattern(scope)) } else { Err(format!("`{scope}` is not {what}")) }
    };
    let capability = match told.kind.as_str() {
        "fs" => RelPath::parse(scope).map(Capability::Files).map_err(|error| error.message),
        // Whatever the user grants: nearby hosts and plain HTTP, too.
        "http" if scope == "*" => Ok(Capability::Http(HostPattern::EVERYTHING)),
        "http" => HostPattern::parse(scope)
            .map(Capability::Http)
            .map_err(|why| format!("`{scope}` {why}")),
        "env" => named("a variable").map(Capability::Env),
        "tool" => named("a tool").map(Capability::Tool),
        "store" => units::parse_size(scope)
            .map(|bytes| Capability::Store(bytes as u64))
            .ok_or_else(|| format!("`{scope}` is not a size such as `1MiB`")),
        "editor" if scope == "symbols" => Ok(Capability::Editor),
        "editor" => Err(format!("`{scope}` is not `symbols`")),
        "index" if scope == "search" => Ok(Capability::Index),
        "index" => Err(format!("`{scope}` is not `search`")),
        "command" => CommandPattern::parse(scope)
            .map(Capability::Command)
            .map_err(|why| format!("`{scope}` {why}")),
        other => {
            return Err(format!(
                "it requests `{}`, which this version does not know; it knows {}",
                quoted(other),
                KINDS.join(", "),
            ));
        }
    };
    let capability =
        capability.map_err(|why| format!("it requests `{}` badly: {}", told.kind, quoted(&why)))?;
    Ok(RequestedCapability { capability, reason: told.reason })
}

pub(crate) fn name_pattern(name: &str) -> NamePattern {
    if name == "*" { NamePattern::Any } else { NamePattern::Exactly(name.to_owned()) }
}

fn read_examples(told: Vec<tools::Example>) -> Result<Vec<Example>, String> {
    if told.len() > EXAMPLES_MAX {
        return Err(format!("it has more than {EXAMPLES_MAX} examples"));
    }
    let read = |(index, example): (usize, tools::Example)| {
        read_example(example).map_err(|why| format!("example {}: {why}", index + 1))
    };
    told.into_iter().enumerate().map(read).collect()
}

fn read_example(told: tools::Example) -> Result<Example, String> {
    let all_files = || told.files.iter().chain(&told.changed);
    let bytes = told.arguments.len()
        + told.output.as_ref().map_or(0, String::len)
        + all_files().map(|file| file.path.len() + file.content.len()).sum::<usize>();
    if bytes > EXAMPLE_BYTES_MAX || all_files().count() > EXAMPLE_FILES_MAX {
        return Err(format!(
            "it has more than {EXAMPLE_FILES_MAX} files or {}",
            units::size(EXAMPLE_BYTES_MAX)
        ));
    }
    check_text("the title", &told.title, TITLE_BYTES_MAX)?;
    let json = |what: &str, text: &str| {
        serde_json::from_str::<Value>(text).map_err(|error| format!("{what} are not JSON: {error}"))
    };
    let arguments = json("the arguments", &told.arguments)?;
    if !arguments.is_object() {
        return Err("the arguments are not an object".to_owned());
    }
    let files = |files: Vec<tools::ExampleFile>| {
        let file = |file: tools::ExampleFile| match RelPath::parse(&file.path) {
            Ok(path) => Ok((path, file.content)),
            Err(error) => Err(error.message),
        };
        files.into_iter().map(file).collect::<Result<Vec<_>, _>>()
    };
    Ok(Example {
        title: told.title,
        arguments,
        files: files(told.files)?,
        output: told.output.map(|text| json("the texts of its output", &text)).transpose()?,
        changed: files(told.changed)?,
    })
}

fn read_tool(told: tools::Tool) -> Result<(ToolSpec, OutputForm), String> {
    if !is_tool_name(&told.name) {
        return Err(format!(
            "the name must be a letter, then up to {} letters, digits, `_` or `-`",
            NAME_BYTES_MAX - 1
        ));
    }
    check_text("the title", &told.title, TITLE_BYTES_MAX)?;
    check_text("the description", &told.description, DESCRIPTION_BYTES_MAX)?;
    let parameters = read_schema("the schema of its parameters", &told.parameters)?;
    if parameters.get("type") != Some(&json!("object")) {
        return Err("the schema of its parameters is not of type `object`".to_owned());
    }
    let output = read_schema("the schema of its output", &told.output)?;
    let (output, form) = if output.get("type") == Some(&json!("object")) {
        (Value::Object(output), OutputForm::Object)
    } else {
        (wrapped(output), OutputForm::Wrapped)
    };
    let spec = ToolSpec {
        name: told.name,
        effect: match told.effect {
            tools::Effect::Read => Effect::Read,
            tools::Effect::Write => Effect::Write,
        },
        toolset: Toolset::Plugin,
        text: ToolText {
            title: told.title,
            description: told.description,
            parameters: parameter_texts(&parameters),
        },
        text_zh: None,
        text_brief: None,
        parameters_strict: closed(parameters.clone()),
        parameters: Value::Object(parameters),
        extras: Map::new(),
        output,
        aliases: BTreeMap::new(),
        annotations: Annotations {
            destructive: told.annotations.destructive,
            idempotent: told.annotations.idempotent,
            open_world: told.annotations.open_world,
        },
    };
    Ok((spec, form))
}

/// Whether a text can be a version. It is shown among words of moss, so that it has none of its own.
pub(crate) fn is_version(text: &str) -> bool {
    let is_printable = text.bytes().all(|byte| byte.is_ascii_graphic());
    is_printable && !text.is_empty() && text.len() <= TITLE_BYTES_MAX
}

fn check_text(what: &str, text: &str, bytes_max: usize) -> Result<(), String> {
    if text.trim().is_empty() {
        Err(format!("{what} is empty"))
    } else if text.len() > bytes_max {
        Err(format!("{what} is longer than {bytes_max} bytes"))
    } else {
        check_visible(what, text)
    }
}

/// Refuses what makes a person see something else than a model reads.
fn check_visible(what: &str, text: &str) -> Result<(), String> {
    match text.split('\n').find_map(first_deceptive) {
        Some(hidden) => Err(format!(
            "{what} contains the character U+{:04X}, which is not seen as what it is",
            u32::from(hidden)
        )),
        None => Ok(()),
    }
}

/// Closes a schema that does not mention further keys, so that misspelt ones are found.
fn closed(mut schema: Map<String, Value>) -> Value {
    const OPEN: &[&str] =
        &["$ref", "allOf", "anyOf", "oneOf", "if", "patternProperties", "unevaluatedProperties"];
    if !OPEN.iter().any(|key| schema.contains_key(*key)) {
        schema.entry("properties").or_insert_with(|| json!({}));
        schema.entry("additionalProperties").or_insert(json!(false));
    }
    Value::Object(schema)
}

/// Makes the schema of `{"result": …}`. References keep their target: `$defs` stays at the root.
fn wrapped(mut schema: Map<String, Value>) -> Value {
    let definitions = schema.shift_remove("$defs");
    schema.shift_remove("$schema");
    let mut wrapper = json!({
        "type": "object",
        "properties": { "result": schema },
        "required": ["result"],
        "additionalProperties": false
    });
    if let Some(definitions) = definitions {
        wrapper["$defs"] = definitions;
    }
    wrapper
}

fn parameter_texts(parameters: &Map<String, Value>) -> BTreeMap<String, String> {
    let properties = parameters.get("properties").and_then(Value::as_object);
    properties
        .into_iter()
        .flatten()
        .map(|(name, schema)| {
            let text = schema.get("description").and_then(Value::as_str).unwrap_or_default();
            (name.clone(), text.to_owned())
        })
        .collect()
}

#[cfg(test)]
mod tests;
