//! The tools that every workspace has: what a client lists while it works on none.

use moss_catalog::{Catalog, CatalogEntry, Format, Language, ListedSchema, ToolView};
use serde_json::Value;

/// Returns them as the protocol has them, in the order of the catalog.
pub(super) fn tools() -> Vec<Value> {
    let native = moss_builtin_tools::specs().into_iter().zip(moss_builtin_tools::all());
    match Catalog::native(native.collect()) {
        Ok(catalog) => catalog.entries().iter().map(|entry| tool(entry)).collect(),
        Err(error) => {
            tracing::error!(%error, "the native tools have no catalog");
            Vec::new()
        }
    }
}

fn tool(entry: &CatalogEntry) -> Value {
    let (listed, language) = (ListedSchema::Brief, Language::En);
    let text = entry.listed_text(listed, language);
    let view = ToolView {
        name: &entry.spec.name,
        title: &text.title,
        description: &text.description,
        effect: entry.spec.effect,
        parameters: entry.parameters(listed, language),
        output: entry.spec.output.clone(),
        annotations: entry.spec.annotations,
    };
    view.render(Format::Mcp)
}
