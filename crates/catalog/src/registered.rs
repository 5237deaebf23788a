//! The tools of a catalog as the model bridge takes them: the only place where a [`ToolSpec`]
//! becomes a [`ToolDefinition`].

use std::sync::Arc;

use moss_model_bridge::{RegisteredTool, RegistryError, ToolDefinition};
use moss_sdk::ToolSpec;

use crate::catalog::CatalogEntry;
use crate::render::{Language, ListedSchema};

/// Which schema of a tool is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaForm {
    /// The one that clients are shown. Models are prompted with it: it has the keys, types and
    /// defaults of the specification and nothing that a prompt would only grow by.
    Published,
    /// The one that the daemon holds arguments to before it runs a call. What models learn from and
    /// what they reply is checked with it: a call that moss would refuse must not count as valid.
    Strict,
}

/// Describes a tool to a chat model, in English, with the schema of a form.
pub fn definition(spec: &ToolSpec, form: SchemaForm) -> ToolDefinition {
    let parameters = match form {
        SchemaForm::Published => &spec.parameters,
        SchemaForm::Strict => &spec.parameters_strict,
    };
    ToolDefinition {
        name: spec.name.clone(),
        title: spec.text.title.clone(),
        description: spec.text.description.clone(),
        parameters: parameters.clone(),
        aliases: spec.aliases.clone(),
    }
}

/// Returns a tool of a catalog in the words of a language. Its schema is compiled once; the strict one was
/// when the tool came to the catalog.
///
/// # Errors
///
/// Where the schema cannot be compiled: a defect.
pub fn registered(
    entry: &CatalogEntry,
    form: SchemaForm,
    language: Language,
) -> Result<Arc<RegisteredTool>, RegistryError> {
    let position = match (form, language) {
        (SchemaForm::Published, Language::En) => 0,
        (SchemaForm::Published, Language::Zh) => 1,
        (SchemaForm::Strict, Language::En) => 2,
        (SchemaForm::Strict, Language::Zh) => 3,
    };
    let described = || described(entry, form, language);
    entry.registered(position, || match form {
        SchemaForm::Published => RegisteredTool::new(described()),
        SchemaForm::Strict => {
            RegisteredTool::of(described(), Arc::clone(entry.arguments.compiled()))
        }
    })
}

/// Describes a tool of a catalog, in the words of a language.
fn described(entry: &CatalogEntry, form: SchemaForm, language: Language) -> ToolDefinition {
    let parameters = match form {
        SchemaForm::Published => entry.parameters(ListedSchema::Asi, language),
        SchemaForm::Strict => entry.spec.parameters_strict.clone(),
    };
    let text = entry.text(language);
    let (title, description) = (text.title.clone(), text.description.clone());
    ToolDefinition { title, description, parameters, ..definition(&entry.spec, form) }
}
