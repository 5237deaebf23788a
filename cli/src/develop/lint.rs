//! What is wrong with a plugin, or could be better, before people install it. Errors are what
//! contradicts itself or cannot work; warnings are what models and people will stumble over.

use moss_plugin_host::{Example, Plugin};
use moss_plugin_list::Capability;
use moss_sdk::{Effect, ToolSpec};
use serde_json::{Map, Value};

use moss_schema::{Schema, ValidationOutcome};

/// Shortest description that says something, in characters.
const DESCRIPTION_CHARS_MIN: usize = 20;
/// Longest description that models read with care, in characters.
const DESCRIPTION_CHARS_MAX: usize = 1024;
/// Longest first sentence, in characters.
const SENTENCE_CHARS_MAX: usize = 160;
/// Longest title that lists can show, in characters.
const TITLE_CHARS_MAX: usize = 40;
/// Shortest useful reason, in characters.
const REASON_CHARS_MIN: usize = 10;
/// Most tools that a model distinguishes beside those of moss.
const TOOLS_MAX: usize = 10;
/// Largest component that loads without a thought, in bytes.
const COMPONENT_BYTES_MAX: u64 = 32 << 20;
/// Deepest schema that is looked at.
const DEPTH_MAX: usize = 32;

/// Interfaces of moss behind a capability, and what is requested for them.
const INTERFACES: &[(&str, &str)] = &[
    ("moss:plugin/store@", "store"),
    ("moss:plugin/toolbox@", "tool"),
    ("moss:plugin/editor@", "editor"),
    ("moss:plugin/index@", "index"),
    ("moss:plugin/commands@", "command"),
];

/// Something about a plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LintFinding {
    /// Whether it must be changed.
    pub(crate) is_error: bool,
    /// The rule that it breaks, for programs.
    pub(crate) code: &'static str,
    /// What it is about.
    pub(crate) at: String,
    /// What is wrong, and what would be better.
    pub(crate) message: String,
}

/// What has been found so far.
#[derive(Debug, Default)]
struct LintFindings(Vec<LintFinding>);

/// Looks at a plugin, the interfaces that its component imports, and its size.
pub(crate) fn check(plugin: &Plugin, imports: &[String], size_bytes: u64) -> Vec<LintFinding> {
    let mut findings = LintFindings::default();
    if size_bytes > COMPONENT_BYTES_MAX {
        let message =
            format!("the component has {} MiB; leave out what it does not need", size_bytes >> 20);
        findings.warn("component-large", "the component", message);
    }
    if plugin.specs().len() > TOOLS_MAX {
        let message = format!("more than {TOOLS_MAX} tools: models choose worse among many");
        findings.warn("tools-many", "the plugin", message);
    }
    for why in plugin.left_out() {
        findings.warn("function-left-out", "the component", format!("{why}: it is no tool"));
    }
    requests(plugin, imports, &mut findings);
    for spec in plugin.specs() {
        texts(spec, &mut findings);
        effects(plugin, spec, &mut findings);
        parameters(spec, &mut findings);
        examples(spec, plugin.examples(&spec.name), &mut findings);
    }
    findings.0.sort_by_key(|finding| !finding.is_error);
    findings.0
}

/// Holds what is requested to what the code can do.
fn requests(plugin: &Plugin, imports: &[String], findings: &mut LintFindings) {
    let imports = |interface: &str| imports.iter().any(|name| name.starts_with(interface));
    // What SDKs link whole does not show what is used.
    let is_whole = INTERFACES.iter().all(|(interface, _)| imports(interface));
    let http = ("wasi:http/outgoing-handler", "http");
    for (interface, kind) in INTERFACES.iter().copied().chain([http]) {
        let is_telling = !is_whole || interface == http.0;
        let requested =
            plugin.requests().iter().any(|request| kind_of(&request.capability) == kind);
        let named = interface.trim_end_matches('@');
        match (imports(interface), requested) {
            (true, false) if is_telling => findings.warn(
                "import-unrequested",
                "the component",
                format!("imports `{named}` but requests no `{kind}`: every use is refused"),
            ),
            (false, true) => findings.warn(
                "request-unused",
                "the plugin",
                format!(
                    "requests `{kind}` but does not import `{named}`: ask for no more than is used"
                ),
            ),
            _ => {}
        }
    }
    for request in plugin.requests() {
        if request.reason.chars().count() < REASON_CHARS_MIN {
            findings.warn(
                "reason-short",
                &format!("the request to {}", request.capability),
                "state what it is for: a person decides by that whether to grant it".to_owned(),
            );
        }
    }
}

/// What a capability is called in a request.
fn kind_of(capability: &Capability) -> &'static str {
    match capability {
        Capability::Files(_) => "fs",
        Capability::Http(_) => "http",
        Capability::Env(_) => "env",
        Capability::Store(_) => "store",
        Capability::Tool(_) => "tool",
        Capability::Editor => "editor",
        Capability::Index => "index",
        Capability::Command(_) => "command",
    }
}

fn texts(spec: &ToolSpec, findings: &mut LintFindings) {
    let at = format!("tool `{}`", spec.name);
    if !spec.name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_') {
        findings.warn(
            "name-style",
            &at,
            "write names like `word_count`: models write those without mistakes".to_owned(),
        );
    }
    if spec.text.title.chars().count() > TITLE_CHARS_MAX {
        findings.warn(
            "title-long",
            &at,
            format!("the title has more than {TITLE_CHARS_MAX} characters"),
        );
    }
    let description = spec.text.description.trim();
    let length = description.chars().count();
    if length < DESCRIPTION_CHARS_MIN {
        findings.warn(
            "description-short",
            &at,
            "the description says too little: what it does, with defaults and bounds".to_owned(),
        );
    } else if length > DESCRIPTION_CHARS_MAX {
        let message = format!(
            "the description has {length} characters; models read the first {DESCRIPTION_CHARS_MAX} with care"
        );
        findings.warn("description-long", &at, message);
    }
    let sentence = description.split_once(". ").map_or(description, |(first, _)| first);
    let sentence = sentence.lines().next().unwrap_or_default();
    if sentence.chars().count() > SENTENCE_CHARS_MAX {
        let message = format!(
            "the first sentence has more than {SENTENCE_CHARS_MAX} characters; say first what the tool does"
        );
        findings.warn("sentence-long", &at, message);
    }
    if !description.ends_with(['.', '!', '?', '。', ')', '`']) {
        findings.warn(
            "description-unfinished",
            &at,
            "the description does not end with a sentence".to_owned(),
        );
    }
}

fn effects(plugin: &Plugin, spec: &ToolSpec, findings: &mut LintFindings) {
    // It may destroy what it keeps itself, or what is elsewhere.
    let has_other_effects = plugin
        .requests()
        .iter()
        .any(|request| matches!(request.capability, Capability::Store(_) | Capability::Http(_)));
    let only_reads = spec.effect == Effect::Read && !has_other_effects;
    if only_reads && spec.annotations.destructive == Some(true) {
        let message = "says that it is destructive, but only reads".to_owned();
        findings.error("annotation-contradicts", &format!("tool `{}`", spec.name), message);
    }
}

fn parameters(spec: &ToolSpec, findings: &mut LintFindings) {
    let at = format!("tool `{}`", spec.name);
    if let Some(schema) = spec.parameters.as_object() {
        object(schema, &at, findings, 0);
        if schema.get("additionalProperties") != Some(&Value::Bool(false)) {
            findings.warn(
                "parameters-open",
                &at,
                "the schema allows keys that it does not name: set `additionalProperties` to false"
                    .to_owned(),
            );
        }
    }
}

/// Looks at the keys of an object's schema.
fn object(schema: &Map<String, Value>, at: &str, findings: &mut LintFindings, depth: usize) {
    let none = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let required = schema.get("required").and_then(Value::as_array);
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        if !properties.contains_key(name)
            && schema.get("additionalProperties") == Some(&Value::Bool(false))
        {
            findings.error(
                "required-unknown",
                at,
                format!("requires `{name}`, which it does not have"),
            );
        }
    }
    for (name, property) in properties {
        let at = format!("{at}, `{name}`");
        let Some(property) = property.as_object() else { continue };
        if !property.contains_key("description") && depth == 0 {
            findings.warn("parameter-undescribed", &at, "say what it is".to_owned());
        }
        value(property, &at, findings);
        let nested = [Some(property), property.get("items").and_then(Value::as_object)];
        for nested in nested.into_iter().flatten() {
            if nested.contains_key("properties") && depth < DEPTH_MAX {
                object(nested, &at, findings, depth + 1);
            }
        }
    }
}

fn value(schema: &Map<String, Value>, at: &str, findings: &mut LintFindings) {
    const KINDS: &[&str] = &["type", "enum", "const", "$ref", "anyOf", "oneOf", "allOf"];
    if !KINDS.iter().any(|kind| schema.contains_key(*kind)) {
        findings.warn("parameter-untyped", at, "any value fits: say which type it has".to_owned());
    }
    if schema.get("enum").and_then(Value::as_array).is_some_and(Vec::is_empty) {
        findings.error("enum-empty", at, "no value fits an empty `enum`".to_owned());
    }
    let whole = Value::Object(schema.clone());
    if let Some(default) = schema.get("default")
        && let Some(why) = misfit(&whole, default)
    {
        findings.error("default-misfits", at, format!("the default does not fit: {why}"));
    }
}

fn examples(spec: &ToolSpec, examples: &[Example], findings: &mut LintFindings) {
    let at = format!("tool `{}`", spec.name);
    if examples.is_empty() {
        let message =
            "has no example: nothing shows what it does, `moss plugin test` has nothing to run";
        findings.warn("examples-missing", &at, message.to_owned());
    }
    for example in examples {
        let at = format!("{at}, example `{}`", example.title);
        if let Some(why) = misfit(&spec.parameters_strict, &example.arguments) {
            findings.error("example-arguments", &at, format!("the arguments do not fit: {why}"));
        }
        if let Some(output) = &example.output {
            let wrapped = serde_json::json!({ "result": output });
            let why = misfit(&spec.output, output);
            if let Some(why) = why.filter(|_| misfit(&spec.output, &wrapped).is_some()) {
                findings.error("example-output", &at, format!("the output does not fit: {why}"));
            }
        }
        if spec.effect == Effect::Read && !example.changed.is_empty() {
            findings.error(
                "example-changes",
                &at,
                "changes files, but the tool only reads".to_owned(),
            );
        }
    }
}

/// Why a value does not fit a schema.
fn misfit(schema: &Value, value: &Value) -> Option<String> {
    let schema = Schema::new("", schema).ok()?;
    let error = match schema.hold(value) {
        ValidationOutcome::Fits => return None,
        ValidationOutcome::Breaks(mut problems) => problems.next()?,
        ValidationOutcome::BreaksSomewhere => {
            return Some("it is too large to say where".to_owned());
        }
        ValidationOutcome::TooManyParts => return Some("it is too large to be checked".to_owned()),
    };
    let at = error.instance_path().to_string();
    Some(if at.is_empty() { error.to_string() } else { format!("at `{at}`: {error}") })
}

// === impl LintFindings ===

impl LintFindings {
    fn error(&mut self, code: &'static str, at: &str, message: String) {
        self.0.push(LintFinding { is_error: true, code, at: at.to_owned(), message });
    }

    fn warn(&mut self, code: &'static str, at: &str, message: String) {
        self.0.push(LintFinding { is_error: false, code, at: at.to_owned(), message });
    }
}
