//! The tools that a reply may call: how their names are found, and how arguments come to fit them.

mod fit;
mod lenient;
mod names;
mod types;

use std::sync::Arc;

use std::collections::BTreeMap;

use moss_schema::{
    CompiledSchema, Parameters, SHOWN_KEY_CHARS_MAX, SchemaError, ValueBound, Violation, cut,
};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::diagnostic::{DiagnosticCode, RepairKind, ReplyDiagnostic};
pub(crate) use names::fold;
pub(crate) use types::Types;

/// How many ways in which arguments break a schema are reported.
const VIOLATIONS_MAX: usize = 8;

/// What is known of a tool: an entry of a registry (requirement A2).
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
pub struct ToolDefinition {
    /// The name that calls it.
    pub name: String,
    /// What it is called where a person reads it; may be empty.
    #[serde(default)]
    pub title: String,
    /// Description, as models read it.
    #[serde(default)]
    pub description: String,
    /// The JSON schema of its arguments; also read by the names that Anthropic's API and MCP have.
    #[serde(default, alias = "input_schema", alias = "inputSchema")]
    pub parameters: Value,
    /// Other accepted keys of a parameter, by the parameter's name.
    #[serde(default)]
    pub aliases: BTreeMap<String, Vec<String>>,
}

/// The tools that a reply may call.
#[derive(Debug, Default)]
pub struct Registry {
    tools: Vec<Arc<RegisteredTool>>,
    names: names::NameIndex,
    warnings: Vec<ReplyDiagnostic>,
}

/// A tool of a registry, its schema compiled.
#[derive(Debug)]
pub struct RegisteredTool {
    definition: ToolDefinition,
    compiled: Arc<CompiledSchema>,
    /// To which values its schema is not applied.
    bound: ValueBound,
}

/// A registry that cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// Two tools have a name.
    #[error("two tools are called `{0}`")]
    Twice(String),
    /// A tool has none.
    #[error("tool {0} of the list has no name")]
    Nameless(usize),
    /// A schema cannot be compiled.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// The text is no list of tools.
    #[error("a registry is a JSON array of {{\"name\", \"parameters\"}}: {0}")]
    Json(#[from] serde_json::Error),
}

/// Arguments, and what was done so that they fit.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Fitted {
    /// What the tool gets.
    pub arguments: Map<String, Value>,
    /// Keys that the tool does not have and that were left out.
    pub dropped: Vec<String>,
    /// What was read as something else than what was written.
    pub changes: Vec<RepairKind>,
    /// Parameters whose values became ones of another type, as the schema asks for.
    pub coerced: Vec<String>,
    /// Where they do not fit nevertheless.
    pub violations: Vec<Violation>,
}

// === impl Registry ===

impl Registry {
    /// Compiles the schemas of tools.
    ///
    /// # Errors
    ///
    /// Where a tool has no name or that of another one, or a schema that cannot be compiled.
    pub fn new(
        definitions: impl IntoIterator<Item = ToolDefinition>,
    ) -> Result<Self, RegistryError> {
        let mut registry = Self::default();
        for definition in definitions {
            registry.add(definition)?;
        }
        Ok(registry)
    }

    /// Makes a registry of tools whose schemas are compiled already.
    ///
    /// # Errors
    ///
    /// Where a tool has no name or that of another one.
    pub fn of(tools: impl IntoIterator<Item = Arc<RegisteredTool>>) -> Result<Self, RegistryError> {
        let mut registry = Self::default();
        for tool in tools {
            registry.check_name(tool.name())?;
            registry.push(tool);
        }
        Ok(registry)
    }

    fn add(&mut self, definition: ToolDefinition) -> Result<(), RegistryError> {
        self.check_name(&definition.name)?;
        self.push(Arc::new(RegisteredTool::new(definition)?));
        Ok(())
    }

    fn check_name(&self, name: &str) -> Result<(), RegistryError> {
        if name.trim().is_empty() {
            return Err(RegistryError::Nameless(self.tools.len() + 1));
        }
        match self.names.exact(name) {
            Some(_) => Err(RegistryError::Twice(name.to_owned())),
            None => Ok(()),
        }
    }

    fn push(&mut self, tool: Arc<RegisteredTool>) {
        self.names.insert(tool.name(), self.tools.len());
        self.tools.push(tool);
    }

    /// Reads a registry: a JSON array of `{name, parameters}`, each also as the `function` of an
    /// entry of `tools` in a request; or an object with such a list of `tools`.
    ///
    /// Schemas that are none are read as what they mean, and a tool that nevertheless cannot be read is
    /// left out; [`Registry::warnings`] report both.
    ///
    /// # Errors
    ///
    /// Where the text is not such an array, two tools have a name, or no tool can be read.
    pub fn from_json(text: &str) -> Result<Self, RegistryError> {
        let mut read: Value = serde_json::from_str(text)?;
        if let Some(tools) = read.get_mut("tools") {
            read = tools.take();
        }
        let entries: Vec<Value> = serde_json::from_value(read)?;
        let mut registry = Self::default();
        let mut first = None;
        for (place, entry) in entries.into_iter().enumerate() {
            let shown = shown_name(&entry, place);
            match registry.add_leniently(entry) {
                Ok(()) => {}
                Err(error @ RegistryError::Twice(_)) => return Err(error),
                Err(error) => {
                    let message = format!("{shown} is left out: {error}");
                    registry
                        .warnings
                        .push(ReplyDiagnostic::new(DiagnosticCode::ToolLeftOut, message));
                    first = first.or(Some(error));
                }
            }
        }
        match first.filter(|_| registry.tools.is_empty()) {
            Some(error) => Err(error),
            None => Ok(registry),
        }
    }

    fn add_leniently(&mut self, mut entry: Value) -> Result<(), RegistryError> {
        if let Some(function) = entry.get_mut("function").map(Value::take) {
            entry = function;
        }
        if let Some(fields) = entry.as_object_mut() {
            fields.retain(|_, value| !value.is_null());
        }
        let mut definition: ToolDefinition = serde_json::from_value(entry)?;
        let Err(error) = self.add(definition.clone()) else { return Ok(()) };
        let RegistryError::Schema(_) = error else { return Err(error) };
        let changes = lenient::repair(&mut definition.parameters);
        if changes.is_empty() {
            return Err(error);
        }
        let message = format!("`{}`: {}", definition.name, changes.join("; "));
        self.add(definition)?;
        self.warnings.push(ReplyDiagnostic::new(DiagnosticCode::SchemaRepaired, message));
        Ok(())
    }

    /// What was read as something else than what was written, and the tools that were left out.
    pub fn warnings(&self) -> &[ReplyDiagnostic] {
        &self.warnings
    }

    /// The tools, in the order in which they were given.
    pub fn tools(&self) -> impl ExactSizeIterator<Item = &RegisteredTool> + Clone {
        self.tools.iter().map(Arc::as_ref)
    }

    /// Finds a tool by its name.
    pub fn tool(&self, name: &str) -> Option<&RegisteredTool> {
        self.names.exact(name).map(|place| &*self.tools[place])
    }

    /// Finds the tool that a model means: by its name, by one that differs in case, `-`, `_` and
    /// spaces, and by one that has a prefix which models add. Other words for a tool are none: what
    /// a `bash` is, nobody guesses.
    pub fn resolve(&self, name: &str) -> Option<&RegisteredTool> {
        self.names.resolve(name).map(|place| &*self.tools[place])
    }

    /// The name that is most like a wrong one, where one is.
    pub fn closest(&self, name: &str) -> Option<&str> {
        names::closest(name, self.tools().map(RegisteredTool::name))
    }
}

// === impl RegisteredTool ===

impl RegisteredTool {
    /// Compiles the schema of a tool.
    ///
    /// # Errors
    ///
    /// Where it cannot be compiled, or a reference of it leads elsewhere.
    pub fn new(mut definition: ToolDefinition) -> Result<Self, RegistryError> {
        if definition.parameters.is_null() {
            definition.parameters = Value::Object(Map::new());
        }
        let bound = ValueBound::of(&definition.name, &definition.parameters)?;
        let compiled = Arc::new(CompiledSchema::new(&definition.name, &definition.parameters)?);
        Ok(Self { definition, compiled, bound })
    }

    /// Makes a tool whose schema is compiled already: `compiled` is that of the definition's parameters.
    ///
    /// # Errors
    ///
    /// Where a reference of it leads elsewhere.
    pub fn of(
        definition: ToolDefinition,
        compiled: Arc<CompiledSchema>,
    ) -> Result<Self, RegistryError> {
        let bound = ValueBound::of(&definition.name, &definition.parameters)?;
        Ok(Self { definition, compiled, bound })
    }

    /// The name that calls it.
    pub fn name(&self) -> &str {
        &self.definition.name
    }

    /// Its compiled schema, which it may share.
    pub fn compiled(&self) -> &Arc<CompiledSchema> {
        &self.compiled
    }

    /// All that is known of it.
    pub fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    /// Makes arguments fit: other names of keys become the keys, `null` of optional keys goes,
    /// values become what the schema asks for where nothing is lost, keys that the tool does not
    /// have go where it takes no others.
    pub fn fit(&self, arguments: Map<String, Value>) -> Fitted {
        let may_stay = fit::may_stay(&self.definition, &arguments);
        let whole = Value::Object(arguments);
        let is_fit = may_stay && self.fits(&whole);
        let Value::Object(arguments) = whole else { unreachable!("an object was made above") };
        if is_fit {
            return Fitted { arguments, ..Fitted::default() };
        }
        let (arguments, notes) = fit::fit(&self.definition, arguments);
        let fit::FitNotes { dropped, changes, coerced, .. } = notes;
        let whole = Value::Object(arguments);
        // What fits is known sooner than what is wrong with what does not.
        let violations = if self.fits(&whole) { Vec::new() } else { self.violations(&whole) };
        let Value::Object(arguments) = whole else { unreachable!("an object was made above") };
        Fitted { arguments, dropped, changes, coerced, violations }
    }

    /// Whether arguments satisfy the schema as they are: nothing is renamed and nothing made to fit. What would take
    /// long to check does not.
    pub fn fits(&self, arguments: &Value) -> bool {
        self.bound.allows(arguments) && self.compiled.fits(arguments)
    }

    /// Where arguments do not satisfy the schema as they are.
    pub fn violations(&self, arguments: &Value) -> Vec<Violation> {
        if !self.bound.allows(arguments) {
            return vec![Violation::too_long(arguments)];
        }
        let ToolDefinition { parameters: schema, aliases, .. } = &self.definition;
        self.compiled.violations(Parameters { schema, aliases }, arguments, VIOLATIONS_MAX)
    }

    /// Makes one argument fit, as [`RegisteredTool::fit`]. Returns none where it is left out.
    pub(crate) fn fit_one(&self, key: &str, value: Value) -> Option<(String, Value)> {
        let one = Map::from_iter([(key.to_owned(), value)]);
        fit::fit(&self.definition, one).0.into_iter().next()
    }

    /// The first argument that has a number which may have lost digits, and whose schema asks for
    /// something else than any number.
    pub(crate) fn rounded<'a>(&self, arguments: &'a Map<String, Value>) -> Option<&'a str> {
        let takes_any = |key: &str| {
            let types = self.parameter(key).and_then(|parameter| self.types_of(parameter));
            types.is_none_or(|types| types.allows_number())
        };
        let mut arguments = arguments.iter();
        let found = arguments.find(|(key, value)| fit::is_rounded(value) && !takes_any(key));
        found.map(|(key, _)| key.as_str())
    }

    /// The one required parameter, where there is one and it is a string: what a bare value means.
    pub(crate) fn only_required_string(&self) -> Option<&str> {
        let required = self.definition.parameters.get("required")?.as_array()?;
        let [only] = required.as_slice() else { return None };
        let only = only.as_str()?;
        self.types_of(only).is_some_and(|types| types.allows_string()).then_some(only)
    }

    /// The keys that it cannot be called without.
    pub fn required(&self) -> Vec<&str> {
        let required = self.definition.parameters.get("required").and_then(Value::as_array);
        required.into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// The parameter that a key means, where it is one.
    pub fn parameter(&self, key: &str) -> Option<&str> {
        fit::parameter(&self.definition, key)
    }

    /// What the value of a parameter may be, where the schema says it.
    pub(crate) fn types_of(&self, parameter: &str) -> Option<Types> {
        let schema = self.definition.parameters.get("properties")?.get(parameter)?;
        Some(Types::of(schema, &self.definition.parameters))
    }
}

/// What an entry of a registry is called where it cannot be read.
fn shown_name(entry: &Value, place: usize) -> String {
    let name = entry.get("function").unwrap_or(entry).get("name").and_then(Value::as_str);
    name.map_or_else(
        || format!("tool {}", place + 1),
        |name| format!("`{}`", cut(name, SHOWN_KEY_CHARS_MAX)),
    )
}

#[cfg(test)]
mod tests;
