//! How tools are listed, as options say it.

use moss_catalog::{Format, Language, ListedSchema};

/// The language of titles and descriptions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum Lang {
    /// English
    #[default]
    En,
    /// Chinese; English where a tool has no Chinese text
    Zh,
}

/// The parameters that listed schemas have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum SchemaChoice {
    /// Those of the specification
    #[default]
    Asi,
    /// Those beyond it, too; calls may have them in any case
    Full,
    /// Those beyond it, too, in English texts as short as clients of MCP read them
    Brief,
}

/// The form in which a client takes tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ToolForm {
    /// `{type: "function", function: {name, description, parameters}}`
    Openai,
    /// `{name, description, input_schema}`
    Anthropic,
    /// `{name, title, description, inputSchema, outputSchema, annotations}`
    Mcp,
}

impl From<Lang> for Language {
    fn from(lang: Lang) -> Self {
        match lang {
            Lang::En => Self::En,
            Lang::Zh => Self::Zh,
        }
    }
}

impl From<SchemaChoice> for ListedSchema {
    fn from(choice: SchemaChoice) -> Self {
        match choice {
            SchemaChoice::Asi => Self::Asi,
            SchemaChoice::Full => Self::Full,
            SchemaChoice::Brief => Self::Brief,
        }
    }
}

impl From<ToolForm> for Format {
    fn from(form: ToolForm) -> Self {
        match form {
            ToolForm::Openai => Self::Openai,
            ToolForm::Anthropic => Self::Anthropic,
            ToolForm::Mcp => Self::Mcp,
        }
    }
}
