//! Names that a list gives to tools of a plugin, so that plugins stand beside each other whose tools
//! have one name. Everybody but the plugin knows a tool by the name of the list.

use std::collections::BTreeSet;
use std::sync::Arc;

use moss_sdk::ToolSpec;

use crate::error::LoadError;
use moss_plugin_list::PluginEntry;

/// Names the tools of a plugin as its entry does.
pub(crate) fn renamed(
    specs: &[ToolSpec],
    entry: &PluginEntry,
) -> Result<Arc<[ToolSpec]>, LoadError> {
    let own: BTreeSet<&str> = specs.iter().map(|spec| spec.name.as_str()).collect();
    if let Some(unknown) = entry.tools.keys().find(|name| !own.contains(name.as_str())) {
        let names: Vec<_> = own.into_iter().collect();
        let why = format!("it has no tool `{unknown}` to be renamed; it has: {}", names.join(", "));
        return Err(LoadError::Renaming { line: entry.line, why });
    }
    let mut taken = BTreeSet::new();
    let renamed = specs.iter().map(|spec| {
        let name = entry.tools.get(&spec.name).unwrap_or(&spec.name);
        if !taken.insert(name.to_ascii_lowercase()) {
            let why = format!("two of its tools would be named `{name}`, letter case aside");
            return Err(LoadError::Renaming { line: entry.line, why });
        }
        Ok(ToolSpec { name: name.clone(), ..spec.clone() })
    });
    renamed.collect()
}
