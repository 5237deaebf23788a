//! The tools that a request names: those of a workspace, or its own.

use std::sync::Arc;

use moss_dispatch::{CallError, Caller, Reason, blocking::heavy};
use moss_model_bridge::{Registry, RegistryError, ToolDefinition};
use moss_proto::v1;
use serde_json::Value;
use tonic::Status;

use super::super::error::{self, invalid_field};
use super::super::from_proto;
use moss_catalog::{Catalog, CatalogEntry, Language, SchemaForm, registered};
use moss_daemon::state::Daemon;

/// Most tools of a request.
pub(super) const TOOLS_MAX: usize = 512;
/// Largest text of the tools of a request, in bytes.
pub(super) const TOOLS_BYTES_MAX: usize = 1 << 20;
/// Most patterns in the schemas of a request: each costs memory by what it means, not by its length.
const PATTERNS_MAX: usize = 512;

/// The tools of a request, ready to be called.
pub(super) struct BridgeTools {
    pub(super) registry: Registry,
    /// Of the catalog that they are from; empty where they are the request's own.
    pub(super) catalog_digest: String,
}

/// The daemon that is asked, and who asks, where that is known.
type ToolsAsker<'a> = (&'a Daemon, Option<&'a Caller>);

/// Compiles the tools that a request names.
pub(super) async fn of(
    (daemon, caller): ToolsAsker<'_>,
    asked: v1::BridgeTools,
    form: SchemaForm,
    language: Language,
) -> Result<BridgeTools, Status> {
    if !asked.tools_json.is_empty() {
        return own((daemon, caller), asked).await;
    }
    let workspace = from_proto::workspace(daemon, &asked.workspace)?;
    if asked.names.len() > TOOLS_MAX {
        return Err(invalid_field("tools.names", &format!("more than {TOOLS_MAX}")));
    }
    for name in &asked.names {
        from_proto::bounded("tools.names", name, from_proto::NAME_BYTES_MAX)?;
    }
    for name in &asked.names {
        daemon.await_tool(&workspace, name).await;
        if !workspace.installed.catalog.load().contains(name) {
            // Without it there is no response: nobody waits for the others.
            break;
        }
    }
    let catalog = workspace.installed.catalog.load_full();
    let entries = named(&catalog, &asked.names)
        .map_err(|unknown| CallError::UnknownTool(daemon.with_plugins(&workspace, unknown)))
        .map_err(|unknown| error::call(&unknown))?;
    let registry = heavy((&daemon.cpu_permits, caller), move || {
        let tools = entries.iter().map(|entry| registered(entry, form, language));
        Registry::of(tools.collect::<Result<Vec<_>, _>>()?)
    });
    // Tools of a catalog have names and schemas that compile: only names can be given twice.
    let registry =
        registry.await.map_err(error::broken)?.map_err(|error| unusable("tools.names", &error))?;
    Ok(BridgeTools { registry, catalog_digest: catalog.digest().to_owned() })
}

/// Returns the tools of these names; all where there are none.
fn named(
    catalog: &Catalog,
    names: &[String],
) -> Result<Vec<Arc<CatalogEntry>>, moss_dispatch::UnknownTool> {
    if names.is_empty() {
        return Ok(catalog.entries().to_vec());
    }
    names.iter().map(|name| catalog.entry(name).cloned()).collect()
}

async fn own(
    (daemon, caller): ToolsAsker<'_>,
    asked: v1::BridgeTools,
) -> Result<BridgeTools, Status> {
    if !asked.workspace.is_empty() || !asked.names.is_empty() {
        let message =
            "together with `workspace` or `names`: name tools of a workspace, or send others";
        return Err(invalid_field("tools.tools_json", message));
    }
    from_proto::bounded("tools.tools_json", &asked.tools_json, TOOLS_BYTES_MAX)?;
    let compiled = heavy((&daemon.cpu_permits, caller), move || compile(&asked.tools_json));
    let registry =
        compiled.await.map_err(error::broken)?.map_err(|why| invalid("tools.tools_json", &why))?;
    Ok(BridgeTools { registry, catalog_digest: String::new() })
}

/// Reads the tools of an earlier turn; none where the text is empty.
pub(super) async fn remembered(
    (daemon, caller): ToolsAsker<'_>,
    text: String,
) -> Result<Vec<ToolDefinition>, Status> {
    let field = "remembered_tools_json";
    from_proto::bounded(field, &text, TOOLS_BYTES_MAX)?;
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let compiled = heavy((&daemon.cpu_permits, caller), move || compile(&text))
        .await
        .map_err(error::broken)?;
    let registry = compiled.map_err(|why| invalid(field, &why))?;
    whole(field, &registry)?;
    Ok(registry.tools().map(|tool| tool.definition().clone()).collect())
}

/// Refuses tools of which one was left out, where no response can say so.
pub(super) fn whole(field: &str, registry: &Registry) -> Result<(), Status> {
    let mut warnings = registry.warnings().iter();
    match warnings.find(|warning| warning.code == moss_model_bridge::DiagnosticCode::ToolLeftOut) {
        Some(warning) => Err(invalid(field, &warning.message)),
        None => Ok(()),
    }
}

fn compile(text: &str) -> Result<Registry, String> {
    let tools: Value =
        serde_json::from_str(text).map_err(|error| RegistryError::Json(error).to_string())?;
    check(&tools)?;
    Registry::from_json(text).map_err(|error| error.to_string())
}

/// Refuses tools that are too many, or whose schemas cost too much.
pub(super) fn check(tools: &Value) -> Result<(), String> {
    let count = tools.as_array().map_or(0, Vec::len);
    if count > TOOLS_MAX {
        return Err(format!("{count} tools; at most {TOOLS_MAX} can be read at once"));
    }
    if patterns(tools) > PATTERNS_MAX {
        return Err(format!("the schemas have more than {PATTERNS_MAX} patterns"));
    }
    Ok(())
}

/// Counts what may be a pattern in schemas.
fn patterns(tools: &Value) -> usize {
    let (mut count, mut open) = (0, vec![tools]);
    while let Some(value) = open.pop() {
        match value {
            Value::Array(items) => open.extend(items),
            Value::Object(fields) => {
                for (key, field) in fields {
                    count += match (key.as_str(), field) {
                        ("pattern", Value::String(_)) => 1,
                        ("patternProperties", Value::Object(patterns)) => patterns.len(),
                        _ => 0,
                    };
                    open.push(field);
                }
            }
            _ => {}
        }
    }
    count
}

fn unusable(field: &str, error: &RegistryError) -> Status {
    invalid(field, &error.to_string())
}

fn invalid(field: &str, why: &str) -> Status {
    error::status(Reason::ToolsInvalid, &format!("{field}: {why}"), &[("field", field)])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn patterns_are_counted_wherever_they_are() {
        let parameters = json!({
            "properties": {
                "pattern": { "type": "string", "pattern": "a" },
                "b": { "items": [{ "pattern": "b" }], "pattern": 1 },
            },
            "patternProperties": { "^a": {}, "^b": { "pattern": "c" } },
        });
        assert_eq!(patterns(&json!([{ "name": "x", "parameters": parameters }])), 5);
    }

    #[test]
    fn tools_are_bounded() {
        let tools = |count: usize| -> String {
            let tools: Vec<_> = (0..count).map(|n| json!({ "name": format!("t{n}") })).collect();
            Value::from(tools).to_string()
        };
        assert!(compile(&tools(TOOLS_MAX)).is_ok());
        assert!(compile(&tools(TOOLS_MAX + 1)).unwrap_err().contains("at most 512"));
        let one = json!({ "name": "x", "parameters": { "pattern": "a" } });
        assert!(compile(&json!([one]).to_string()).is_ok());
        let many: Vec<_> = (0..=PATTERNS_MAX).map(|_| one.clone()).collect();
        let nested = json!([{ "name": "x", "parameters": { "anyOf": many } }]).to_string();
        assert!(compile(&nested).unwrap_err().contains("patterns"));
    }
}
