//! The catalog in the forms that models and clients take: OpenAI, Anthropic, MCP and our own.

use moss_sdk::spec::{Annotations, Effect, ToolText};
use serde_json::{Value, json};

use crate::catalog::CatalogEntry;

/// The form in which tools are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// `{type: "function", function: {name, description, parameters}}`.
    Openai,
    /// Anthropic's: `{name, description, input_schema}`.
    Anthropic,
    /// `{name, title, description, inputSchema, outputSchema, annotations}`.
    Mcp,
}

/// The language of what models and people read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Language {
    /// English, which every tool has.
    #[default]
    En,
    /// Chinese; English where a tool has no Chinese text.
    Zh,
}

/// Which parameters of a tool a list has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ListedSchema {
    /// Those of the specification.
    #[default]
    Asi,
    /// Those beyond it, too.
    Full,
    /// Those beyond it, too, with texts that are as short as they can be.
    Brief,
}

/// What a client's form is made of, out of the catalog or off the wire.
#[derive(Debug, Clone)]
pub struct ToolView<'a> {
    /// The name that calls it.
    pub name: &'a str,
    /// A short name for lists.
    pub title: &'a str,
    /// Description, as models read it.
    pub description: &'a str,
    /// What it may do.
    pub effect: Effect,
    /// The published schema of its arguments.
    pub parameters: Value,
    /// The schema of its result.
    pub output: Value,
    /// What it says about itself beside that.
    pub annotations: Annotations,
}

// === impl CatalogEntry ===

impl CatalogEntry {
    /// The tool's text in a language.
    pub fn text(&self, language: Language) -> &ToolText {
        match (language, &self.spec.text_zh) {
            (Language::Zh, Some(text)) => text,
            _ => &self.spec.text,
        }
    }

    /// The tool's text in a language, as a list has it. Brief texts are English.
    pub fn listed_text(&self, listed: ListedSchema, language: Language) -> &ToolText {
        match (listed, language, &self.spec.text_brief) {
            (ListedSchema::Brief, Language::En, Some(text)) => text,
            _ => self.text(language),
        }
    }

    /// The published schema with parameter descriptions in a language.
    pub fn parameters(&self, listed: ListedSchema, language: Language) -> Value {
        let mut schema = match listed {
            ListedSchema::Asi => self.spec.parameters.clone(),
            ListedSchema::Full | ListedSchema::Brief => self.spec.parameters_full(),
        };
        let text = self.listed_text(listed, language);
        let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
        for (name, property) in properties.into_iter().flatten() {
            if let (Some(description), Some(property)) =
                (text.parameters.get(name), property.as_object_mut())
            {
                match description.is_empty() {
                    true => property.shift_remove("description"),
                    false => property.insert("description".to_owned(), json!(description)),
                };
            }
        }
        schema
    }
}

// === impl ToolView ===

impl ToolView<'_> {
    /// The tool in a client's form.
    pub fn render(self, format: Format) -> Value {
        match format {
            Format::Openai => json!({
                "type": "function",
                "function": {
                    "name": self.name,
                    "description": self.description,
                    "parameters": self.parameters,
                }
            }),
            Format::Anthropic => json!({
                "name": self.name,
                "description": self.description,
                "input_schema": self.parameters,
            }),
            Format::Mcp => json!({
                "name": self.name,
                "title": self.title,
                "description": self.description,
                "inputSchema": self.parameters,
                "outputSchema": self.output,
                "annotations": self.hints(),
            }),
        }
    }

    /// What the tool says about itself, and what follows from its effect where unset.
    fn hints(&self) -> Value {
        let Annotations { destructive, idempotent, open_world } = self.annotations;
        json!({
            "title": self.title,
            "readOnlyHint": self.effect == Effect::Read,
            "destructiveHint": destructive.unwrap_or(self.effect != Effect::Read),
            "idempotentHint": idempotent.unwrap_or(self.effect == Effect::Read),
            "openWorldHint": open_world.unwrap_or(self.effect == Effect::Exec),
        })
    }
}
