//! What a plugin asks for, what its list grants, what it may have at most and what of all that it
//! therefore has, side by side: so that whoever is refused something learns who withholds it.

use moss_sdk::RelPath;
use serde_json::json;

use crate::description::Description;
use crate::imports::trouble::GuestRefusal;
use moss_plugin_list::{
    PluginEntry,
    grants::{
        Grant,
        paths::{GrantedPaths, Sight},
    },
};

/// What a plugin may do, and why not more.
#[derive(Debug, Default)]
pub(crate) struct Rights {
    plugin: String,
    /// The list that names it, as who reads the list knows it.
    list: String,
    /// Where its component is; none where naming it again takes more than that, as a digest.
    source: Option<String>,
    requested: Grant,
    listed: Grant,
    maximum: Grant,
    /// What all three allow.
    pub(crate) held: Grant,
}

// === impl Rights ===

impl Rights {
    pub(crate) fn new(description: &Description, entry: &PluginEntry) -> Self {
        let requested = Grant::requested(&description.requests);
        Self {
            plugin: entry.name.clone(),
            list: entry.list.clone(),
            source: (!entry.is_remote()).then(|| entry.origin.clone()),
            held: requested.meet(&entry.grant).meet(&entry.maximum),
            requested,
            listed: entry.grant.clone(),
            maximum: entry.maximum.clone(),
        }
    }

    #[cfg(test)]
    pub(crate) fn of(plugin: &str, list: &str, requested: Grant, listed: Grant) -> Self {
        Self {
            plugin: plugin.to_owned(),
            list: list.to_owned(),
            source: None,
            held: listed.clone(),
            requested,
            listed,
            maximum: Grant::everything(),
        }
    }

    /// The plugin and where it is listed.
    pub(crate) fn place(&self) -> String {
        format!("{} in {}", self.plugin, self.list)
    }

    /// Says who withholds something and what would give it: `written` stands in a grant for it,
    /// `key` bounds it in `plugin_maximum`.
    pub(crate) fn why_not(&self, written: &str, key: &str, has: impl Fn(&Grant) -> bool) -> String {
        let Self { plugin, list, .. } = self;
        let bound = format!("`plugin_maximum.{key}` in config.toml");
        match (has(&self.requested), has(&self.listed), has(&self.maximum)) {
            (false, ..) => format!("{plugin} does not request it, so it cannot be granted"),
            (true, true, _) => format!("{bound} does not allow it, whatever {list} grants"),
            (true, false, true) => {
                format!("to allow it, grant it to {plugin} in {list}: {written}")
            }
            (true, false, false) => format!(
                "to allow it, grant it to {plugin} in {list}: {written}; {bound} must allow it, too"
            ),
        }
    }

    /// Whether the plugin wants to read files, granted or not.
    pub(crate) fn requests_files(&self) -> bool {
        !self.requested.files.is_empty()
    }

    /// As [`Rights::why_not`], for reading a path; also says who may not read what, and which grant is missing.
    pub(crate) fn refusal_to_read(&self, path: &RelPath) -> GuestRefusal {
        let has = |grant: &Grant| GrantedPaths::new(&grant.files).sight(path) == Sight::Granted;
        let written = format!("\"fs\": [{{ \"path\": \"{path}\", \"access\": \"read\" }}]");
        let mut why = self.why_not(&written, "files", has);
        let missing = match (has(&self.requested), has(&self.listed)) {
            (false, _) => "it does not request it",
            (true, true) => "`plugin_maximum.files` does not allow it",
            (true, false) => {
                if let Some(command) = self.granting(path) {
                    why = format!("`{command}` grants it; {why}");
                }
                "the grant `fs` for it is missing"
            }
        };
        let what = format!("the plugin {} may not read {path}: {missing}", self.plugin);
        GuestRefusal { what: Some(what), why }
    }

    /// The command that grants a path beside what is granted: adding a plugin anew says all of its grant.
    fn granting(&self, path: &RelPath) -> Option<String> {
        let source = self.source.as_deref()?;
        let mut grant = self.listed.to_json();
        let files = grant.as_object_mut()?.entry("fs").or_insert_with(|| json!([]));
        files.as_array_mut()?.push(json!({ "path": path, "access": "read" }));
        let quoted = |word: &str| format!("'{}'", word.replace('\'', r"'\''"));
        let (source, list, grant) =
            (quoted(source), quoted(&self.list), quoted(&grant.to_string()));
        Some(format!("moss plugin add {source} --replace --list {list} --grant {grant}"))
    }

    /// Says what keeps the store from being larger.
    pub(crate) fn why_no_larger_store(&self) -> String {
        let Self { plugin, list, .. } = self;
        let bytes_max = self.held.store_bytes_max;
        if self.maximum.store_bytes_max == bytes_max {
            "`plugin_maximum.store_bytes` in config.toml allows no more".to_owned()
        } else if self.listed.store_bytes_max == bytes_max {
            format!("to allow more, raise `store` of {plugin} in {list}")
        } else {
            format!("{plugin} requests no more")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use moss_plugin_list::grants::NamePattern;

    fn tools(names: &[&str]) -> Grant {
        let tools = names.iter().map(|name| NamePattern::Exactly((*name).to_owned())).collect();
        Grant { tools, ..Grant::default() }
    }

    #[test]
    fn who_withholds_something_is_named() {
        let both = tools(&["a"]);
        let none = Grant::default();
        for (requested, listed, maximum, expected) in [
            (&none, &both, &both, "does not request it"),
            (&both, &none, &both, "in l.json: \"tools\": [\"a\"]"),
            (&both, &none, &none, "; `plugin_maximum.tools` in config.toml must allow it, too"),
            (&both, &both, &none, "`plugin_maximum.tools` in config.toml does not allow it"),
        ] {
            let [requested, listed, maximum] = [requested, listed, maximum].map(Clone::clone);
            let (plugin, list) = ("p".to_owned(), "l.json".to_owned());
            let (source, held) = (None, tools(&[]));
            let rights = Rights { plugin, list, source, requested, listed, maximum, held };
            let why =
                rights.why_not("\"tools\": [\"a\"]", "tools", |grant| !grant.tools.is_empty());
            assert!(why.contains(expected), "{why}");
        }
    }

    #[test]
    fn the_least_bound_of_a_store_is_named() {
        let store = |bytes| Grant { store_bytes_max: bytes, ..Grant::default() };
        for (requested, listed, maximum, expected) in [
            (9, 9, 5, "plugin_maximum.store_bytes"),
            (9, 5, 9, "raise `store` of p in l.json"),
            (5, 9, 9, "requests no more"),
        ] {
            let rights = Rights {
                plugin: "p".to_owned(),
                list: "l.json".to_owned(),
                source: None,
                requested: store(requested),
                listed: store(listed),
                maximum: store(maximum),
                held: store(5),
            };
            assert!(rights.why_no_larger_store().contains(expected), "{expected}");
        }
    }
}
