//! Plain components: they export ordinary functions, not the plugin interface. Each function whose
//! types have a form in JSON is a tool, so that components made for other hosts run unchanged.
//!
//! Nothing a plain component returns is an edit: its tools only read.

mod arguments;
mod docs;
mod exports;
mod names;
mod output;
mod schema;
mod shape;
mod text;

use serde_json::Value;
use wasmtime::Store;
use wasmtime::component::{Component, ComponentExportIndex, Instance, Val};

use self::docs::DocumentedType;
pub(crate) use self::docs::{Docs, docs};
use self::exports::{ExportSearch, ExportedFunction, named_types};
use self::names::Export;
use self::output::Unwritable;
use self::schema::Schemas;
use self::shape::{Returns, Signature};
use crate::bindings::{EXPORT, Returned, tools, types};
use crate::description;
use crate::engine::Engine;
use crate::instance::StoreData;
use crate::limits::LimitReached;
use moss_plugin_list::tool_names::is_tool_name;
use moss_sdk::deceptive::quoted;

/// Most functions that are named where they cannot be tools.
const LEFT_OUT_MAX: usize = 16;
/// The version of a component that does not say it.
const NO_VERSION: &str = "0.0.0";
/// Most bytes of host memory for one byte of output: a value of a list takes 32, its JSON two.
const FUEL_PER_OUTPUT_BYTE: usize = 20;
/// Most bytes of host memory for the result of a call.
const FUEL_MAX: usize = 128 << 20;

/// What a plain component imports, and what it therefore asks to be allowed.
const REQUESTS: &[(&str, &str, &str)] = &[
    ("wasi:filesystem/", "fs", "."),
    ("wasi:http/outgoing-handler", "http", "*"),
    ("wasi:http/outgoing-handler", "http", "http://*"),
    ("wasi:cli/environment", "env", "*"),
];

/// The functions of a component, as tools of a plugin.
pub(crate) struct Plain {
    plugin: String,
    version: String,
    requests: Vec<(&'static str, &'static str, String)>,
    tools: Vec<PlainTool>,
    left_out: Vec<String>,
}

/// A function as a tool.
struct PlainTool {
    name: String,
    title: String,
    description: String,
    parameters: Value,
    output: Value,
    signature: Signature,
    function: ComponentExportIndex,
}

// === impl Plain ===

impl Plain {
    /// Finds the functions of a component; `plugin` is what the list calls it.
    ///
    /// # Errors
    ///
    /// Where no function can be a tool, or the tools cannot be distinguished.
    pub(crate) fn of(
        engine: &Engine,
        component: &Component,
        plugin: &str,
        docs: &Docs,
    ) -> Result<Self, String> {
        let mut search = ExportSearch::new(engine.wasm(), component);
        search.run()?;
        let ExportSearch { candidates, mut left_out, .. } = search;
        let exports: Vec<_> = candidates.iter().map(|each| each.export.clone()).collect();
        let names = names::tools(plugin, &exports)?;
        let mut tools = Vec::with_capacity(candidates.len());
        for (name, candidate) in names.into_iter().zip(candidates) {
            let shown = candidate.export.shown();
            let named = named_types(engine.wasm(), component, &candidate.export, docs);
            match PlainTool::of(name, candidate, docs, &named) {
                Ok(tool) => tools.push(tool),
                Err(why) => left_out.push(format!("`{}`: {why}", quoted(&shown))),
            }
        }
        if tools.is_empty() {
            return Err(nothing_left(&left_out));
        }
        Ok(Self {
            plugin: plugin.to_owned(),
            version: docs.version.clone().unwrap_or_else(|| NO_VERSION.to_owned()),
            requests: requests(engine.wasm(), component),
            tools,
            left_out: shortened(left_out),
        })
    }

    /// The functions that are no tools, each with the reason.
    pub(crate) fn left_out(&self) -> &[String] {
        &self.left_out
    }

    /// Says what a plugin would say about itself.
    pub(crate) fn describe(&self) -> tools::Description {
        let is_online = self.requests.iter().any(|(kind, ..)| *kind == "http");
        let capability = |(kind, scope, reason): &(&str, &str, String)| tools::Capability {
            kind: (*kind).to_owned(),
            scope: (*scope).to_owned(),
            reason: reason.clone(),
        };
        let tool = |tool: &PlainTool| tools::Tool {
            name: tool.name.clone(),
            title: tool.title.clone(),
            description: tool.description.clone(),
            effect: tools::Effect::Read,
            parameters: tool.parameters.to_string(),
            output: tool.output.to_string(),
            annotations: tools::Annotations {
                destructive: None,
                idempotent: None,
                open_world: Some(is_online),
            },
            examples: Vec::new(),
        };
        tools::Description {
            name: self.plugin.clone(),
            version: self.version.clone(),
            capabilities: self.requests.iter().map(capability).collect(),
            settings: None,
            tools: self.tools.iter().map(tool).collect(),
        }
    }

    /// Calls the function of a tool.
    pub(crate) async fn call(
        &self,
        instance: &Instance,
        store: &mut Store<StoreData>,
        tool: &str,
        arguments: &str,
        output_bytes_max: usize,
    ) -> wasmtime::Result<Returned> {
        let Some(tool) = self.tools.iter().find(|known| known.name == tool) else {
            return Ok(Err(failed(types::ErrorCode::Failed, format!("there is no tool `{tool}`"))));
        };
        let arguments = match tool.arguments(arguments) {
            Ok(arguments) => arguments,
            Err(why) => return Ok(Err(failed(types::ErrorCode::InvalidArguments, why))),
        };
        let fuel = output_bytes_max.saturating_mul(FUEL_PER_OUTPUT_BYTE).min(FUEL_MAX);
        store.set_hostcall_fuel(fuel.max(store.hostcall_fuel()));
        let function = instance
            .get_func(&mut *store, tool.function)
            .ok_or_else(|| wasmtime::Error::msg("the function is gone"))?;
        let mut results = vec![Val::Bool(false); tool.signature.results()];
        function.call_async(&mut *store, &arguments, &mut results).await?;
        returned(&tool.signature.returns, results.pop(), output_bytes_max)
    }
}

/// Makes an outcome of what a function returned.
fn returned(
    returns: &Returns,
    result: Option<Val>,
    output_bytes_max: usize,
) -> wasmtime::Result<Returned> {
    let (output, error) = match (returns, result) {
        (Returns::Fallible { .. }, Some(Val::Result(Ok(output)))) => {
            (output.map(|held| *held), None)
        }
        (Returns::Fallible { .. }, Some(Val::Result(Err(error)))) => (None, Some(error)),
        (_, result) => (result, None),
    };
    if let Some(error) = error {
        let message = match error.as_deref() {
            None => "the function failed without a reason".to_owned(),
            Some(Val::String(message)) => message.clone(),
            Some(error) => match output::json(error, output_bytes_max) {
                Ok(message) => message,
                Err(unwritable) => return refused(&unwritable, output_bytes_max),
            },
        };
        return Ok(Err(failed(types::ErrorCode::Failed, message)));
    }
    let text = output
        .map_or_else(|| Ok("null".to_owned()), |output| output::json(&output, output_bytes_max));
    match text {
        Ok(output) => Ok(Ok(tools::Outcome { output, edits: Vec::new() })),
        Err(unwritable) => refused(&unwritable, output_bytes_max),
    }
}

fn refused(unwritable: &Unwritable, output_bytes_max: usize) -> wasmtime::Result<Returned> {
    match unwritable.explanation() {
        Some(message) => Ok(Err(failed(types::ErrorCode::Failed, message))),
        None => Err(wasmtime::Error::new(LimitReached::Output(output_bytes_max))),
    }
}

fn failed(code: types::ErrorCode, message: String) -> types::Error {
    types::Error { code, message, hint: None }
}

fn nothing_left(left_out: &[String]) -> String {
    let why = match left_out {
        [] => "it exports no functions at all".to_owned(),
        left_out => {
            format!(
                "none of its functions can be a tool: {}",
                shortened(left_out.to_vec()).join("; ")
            )
        }
    };
    format!("the component is not a moss plugin: it does not export `{EXPORT}`, and {why}")
}

fn shortened(mut all: Vec<String>) -> Vec<String> {
    let more = all.len().saturating_sub(LEFT_OUT_MAX);
    if more > 0 {
        all.truncate(LEFT_OUT_MAX);
        all.push(format!("{more} more"));
    }
    all
}

/// What a component asks to be allowed, by what it imports.
fn requests(
    engine: &wasmtime::Engine,
    component: &Component,
) -> Vec<(&'static str, &'static str, String)> {
    let kind = component.component_type();
    let is_imported = |prefix: &str| kind.imports(engine).any(|(name, _)| name.starts_with(prefix));
    REQUESTS
        .iter()
        .filter(|(import, ..)| is_imported(import))
        .map(|(import, kind, scope)| {
            let package = import.split_once('/').map_or(*import, |(package, _)| package);
            (*kind, *scope, format!("the component imports {package}"))
        })
        .collect()
}

// === impl PlainTool ===

impl PlainTool {
    fn of(
        name: String,
        candidate: ExportedFunction,
        docs: &Docs,
        named: &[DocumentedType<'_>],
    ) -> Result<Self, String> {
        if !is_tool_name(&name) {
            return Err(format!(
                "its tool would be called `{name}`, which is not a name of a tool"
            ));
        }
        let ExportedFunction { export, signature, function } = candidate;
        let schemas = Schemas { named };
        let (parameters, output) = (schemas.parameters(&signature), schemas.output(&signature));
        description::check_schema("the schema of its parameters", &parameters)?;
        description::check_schema("the schema of its result", &output)?;
        let description = match docs.function(export.short_interface(), &export.function) {
            Some(text) => text.to_owned(),
            None => undocumented(&export, &signature),
        };
        let title = names::title(&export.function);
        Ok(Self { name, title, description, parameters, output, signature, function })
    }

    /// Reads arguments into values.
    fn arguments(&self, text: &str) -> Result<Vec<Val>, String> {
        let arguments = serde_json::from_str(text)
            .map_err(|error| format!("the arguments are not JSON: {error}"))?;
        arguments::values(&self.signature.parameters, &arguments)
            .map_err(|mismatch| quoted(&mismatch.to_string()))
    }
}

/// Describes a function of which nothing is known but its types.
fn undocumented(export: &Export, signature: &Signature) -> String {
    let whole = export.interface.as_deref().unwrap_or("the component");
    let function = text::function(&export.function, signature);
    format!("Calls `{function}` of {}. It came without documentation.", quoted(whole))
}

#[cfg(test)]
mod tests;
