//! The names of a plain component's tools.

use std::collections::BTreeMap;

/// A function that a component exports: at its root, or in an interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Export {
    /// The whole name of the interface, such as `local:clock/time@1.0.0`.
    pub(crate) interface: Option<String>,
    pub(crate) function: String,
}

/// Names the tools: `<plugin>_<function>`, with the interface in between where several functions
/// of the component have the same name.
///
/// # Errors
///
/// Where two would still have the same name.
pub(crate) fn tools(plugin: &str, exports: &[Export]) -> Result<Vec<String>, String> {
    let mut uses: BTreeMap<String, usize> = BTreeMap::new();
    for export in exports {
        *uses.entry(snake(&export.function)).or_default() += 1;
    }
    let mut taken: BTreeMap<String, &Export> = BTreeMap::new();
    let mut names = Vec::with_capacity(exports.len());
    for export in exports {
        let function = snake(&export.function);
        let name = match export.short_interface() {
            Some(interface) if uses[&function] > 1 => {
                format!("{}_{}_{function}", snake(plugin), snake(interface))
            }
            _ => format!("{}_{function}", snake(plugin)),
        };
        if let Some(other) = taken.insert(name.clone(), export) {
            return Err(format!(
                "`{}` and `{}` would both be the tool `{name}`",
                other.shown(),
                export.shown()
            ));
        }
        names.push(name);
    }
    Ok(names)
}

/// Makes a title of a name: `get-time` is `Get time`.
pub(crate) fn title(function: &str) -> String {
    let words = function.replace('-', " ");
    let mut chars = words.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

fn snake(name: &str) -> String {
    name.replace('-', "_").to_ascii_lowercase()
}

// === impl Export ===

impl Export {
    /// The name of the interface without its package and version.
    pub(crate) fn short_interface(&self) -> Option<&str> {
        let name = self.interface.as_deref()?;
        let local = name.rsplit_once('/').map_or(name, |(_, local)| local);
        Some(local.split_once('@').map_or(local, |(local, _)| local))
    }

    /// The name for people.
    pub(crate) fn shown(&self) -> String {
        match &self.interface {
            Some(interface) => format!("{interface}#{}", self.function),
            None => self.function.clone(),
        }
    }
}
