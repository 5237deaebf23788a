//! What a model reads so that it calls tools in text (requirements B1, A10, D5, D6, E5).
//!
//! A prompt names the tools it is given and no others: notes and examples are made of them. What
//! it shows as an example reads as shown, not made, where a model repeats it.

mod example;
mod signature;

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::block::fill;
use crate::conversation::ToolChoice;
use crate::language::{InLanguages, Language};
use crate::registry::{RegisteredTool, Registry};
pub(crate) use example::sample;

/// The most of the user's own text that is put in, in bytes.
const OWN_BYTES_MAX: usize = 32 << 10;

/// What a prompt is made of.
#[derive(Debug, Clone, Copy)]
pub struct PromptRequest<'a> {
    /// The tools that there are.
    pub registry: &'a Registry,
    /// What the model must call.
    pub choice: &'a ToolChoice,
    /// Whether several calls in one reply are welcome.
    pub parallel: bool,
    /// The language of what is said; descriptions stay as they are.
    pub language: Language,
    /// How much is said of each tool.
    pub form: PromptDetail,
    /// The user's own text, added at the end.
    pub own: &'a str,
    /// What the reply is for.
    pub step: ReplyPurpose,
}

/// How much a prompt says of each tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptDetail {
    /// A signature and a few words.
    #[default]
    Short,
    /// All that its description and those of its parameters say.
    Long,
}

/// What a reply is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReplyPurpose {
    /// To act, or to reply.
    #[default]
    Act,
    /// To sum up what a planning agent did, and to say how it continues (requirement A10).
    Summary,
}

/// The texts of a language.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PromptTexts {
    intro: String,
    form: String,
    marks: String,
    act: String,
    parallel: String,
    single: String,
    wait: String,
    go_on: String,
    plain: String,
    choice_any: String,
    choice_tool: String,
    list: String,
    result: String,
    shown_answer: String,
    no_tools: String,
    edit: String,
    own: String,
    status: String,
    required: String,
    optional: String,
    default: String,
    note: PromptNotes,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PromptNotes {
    read: String,
    patch_write: String,
    patch: String,
    write: String,
    list: String,
    run: String,
    clarify: String,
    todo: String,
    enough: String,
}

static TEXTS: LazyLock<InLanguages<PromptTexts>> = LazyLock::new(|| {
    InLanguages::read(include_str!("prompt/en.toml"), include_str!("prompt/zh.toml"))
});

/// The tools that notes speak of, by what they are for: the first name that is there counts.
const READ: &[&str] = &["read_file"];
const WRITE: &[&str] = &["create_file", "write_file"];
const PATCH: &[&str] = &["patch", "replace_text", "editTool", "replace_lines"];
const LIST: &[&str] = &["list_directory", "list_dir"];
const RUN: &[&str] = &["run_terminal_cmd"];
const CLARIFY: &[&str] = &["clarify"];
const TODO: &[&str] = &["todo"];
const EDIT: &[&str] = &["editTool"];

/// Renders the prompt. Without tools it is the user's own text alone.
pub fn render(request: &PromptRequest<'_>) -> String {
    let texts = TEXTS.of(request.language);
    let mut parts = Vec::new();
    if request.registry.tools().len() > 0 {
        match (request.step, request.choice) {
            (ReplyPurpose::Summary, _) => parts.push(texts.status.clone()),
            (ReplyPurpose::Act, ToolChoice::None) => parts.push(texts.no_tools.clone()),
            (ReplyPurpose::Act, _) => contract(request, texts, &mut parts),
        }
    } else if request.step == ReplyPurpose::Summary {
        parts.push(texts.status.clone());
    }
    let own = request.own.trim();
    if !own.is_empty() {
        let own = &own[..own.floor_char_boundary(OWN_BYTES_MAX)];
        parts.push(format!("{}\n{own}", texts.own));
    }
    parts.join("\n\n")
}

fn contract(request: &PromptRequest<'_>, texts: &PromptTexts, parts: &mut Vec<String>) {
    let registry = request.registry;
    let named = match request.choice {
        ToolChoice::Tool(name) => registry.tool(name),
        _ => None,
    };
    let (first, second) = example::pair(registry, named);
    parts.push(format!("{}\n{}", texts.intro.trim(), rules(request, texts)));
    parts.push(shown(texts, first, second));
    let lines = registry.tools().map(|tool| match request.form {
        PromptDetail::Short => signature::line(tool, registry.tools().len()),
        PromptDetail::Long => {
            signature::page(tool, [&texts.required, &texts.optional, &texts.default])
        }
    });
    let lines = lines.collect::<Vec<_>>().join("\n");
    parts.push(format!("{} {}\n{lines}", texts.list, texts.marks));
    let notes = notes(registry, &texts.note);
    if !notes.is_empty() {
        parts.push(notes.join("\n"));
    }
    if let Some(edit) = present(registry, EDIT) {
        parts.push(fill(texts.edit.trim(), &[("edit", edit)]));
    }
}

fn rules(request: &PromptRequest<'_>, texts: &PromptTexts) -> String {
    let how_many = if request.parallel { &texts.parallel } else { &texts.single };
    let choice = match request.choice {
        ToolChoice::Any => texts.choice_any.clone(),
        ToolChoice::Tool(name) => fill(&texts.choice_tool, &[("tool", name)]),
        ToolChoice::Auto | ToolChoice::None => texts.plain.clone(),
    };
    [&texts.act, how_many, &texts.wait, &texts.go_on, &choice].map(String::as_str).join("\n")
}

/// Returns the notes on behaviour for the tools that are there, for models that call tools in another
/// form than prompts describe.
pub fn behaviour_notes(registry: &Registry, language: Language) -> String {
    notes(registry, &TEXTS.of(language).note).join("\n")
}

/// Notes on behaviour, for the tools that are there.
fn notes(registry: &Registry, texts: &PromptNotes) -> Vec<String> {
    let note = |names: &[&str], key: &str, text: &str| {
        present(registry, names).map(|name| fill(text, &[(key, name)]))
    };
    let change = match (present(registry, PATCH), present(registry, WRITE)) {
        (Some(patch), Some(write)) => {
            Some(fill(&texts.patch_write, &[("patch", patch), ("write", write)]))
        }
        (Some(patch), None) => Some(fill(&texts.patch, &[("patch", patch)])),
        (None, Some(write)) => Some(fill(&texts.write, &[("write", write)])),
        (None, None) => None,
    };
    let notes = [
        note(READ, "read", &texts.read),
        change,
        note(&["patch"], "patch", &texts.enough),
        note(LIST, "list", &texts.list),
        note(RUN, "run", &texts.run),
        note(CLARIFY, "clarify", &texts.clarify),
        note(TODO, "todo", &texts.todo),
    ];
    notes.into_iter().flatten().collect()
}

/// The first of some tools that is there.
fn present<'r>(registry: &'r Registry, names: &[&str]) -> Option<&'r str> {
    names.iter().find_map(|name| registry.tool(name)).map(RegisteredTool::name)
}

/// A call, its result, and how it continues.
fn shown(texts: &PromptTexts, first: &RegisteredTool, second: &RegisteredTool) -> String {
    let mut lines = vec![texts.form.clone(), example::block(first)];
    if first.name() != second.name() {
        let result = fill(&texts.result, &[("tool", first.name())]);
        lines.extend([result, example::block(second), texts.shown_answer.clone()]);
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests;
