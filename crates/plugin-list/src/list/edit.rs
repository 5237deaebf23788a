//! Changes of a list's text that leave everything else in it as it is: comments, order, layout.

use jsonc_parser::cst::{CstArray, CstInputValue, CstObject, CstRootNode};
use serde_json::Value;

use super::source::{self, ListProblem};
use super::{ListError, PluginList};

/// What a list is that does not exist yet.
const EMPTY: &str = "{\n  \"version\": 1,\n  \"plugins\": []\n}\n";

/// A change of a list.
#[derive(Debug, Clone, PartialEq)]
pub enum ListEdit {
    /// Adds an entry at the end. Its name must be free.
    Add(Value),
    /// Gives one key of an entry another value; none takes the key away.
    Set {
        /// Name of the plugin.
        name: String,
        /// A key of entries, such as `sha256`.
        key: &'static str,
        /// The value, in the form in which lists have it.
        value: Option<Value>,
    },
    /// Removes the entry of this name.
    Remove {
        /// Name of the plugin.
        name: String,
    },
}

// === impl ListEdit ===

impl ListEdit {
    /// Returns the plugin that it is about.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Add(entry) => entry["name"].as_str(),
            Self::Set { name, .. } | Self::Remove { name } => Some(name),
        }
    }

    /// Makes the text that follows from a list's; none stands for a list that does not exist yet.
    ///
    /// # Errors
    ///
    /// Where the list is broken, there is no such plugin, or what is put in is not what a list takes.
    pub fn apply(&self, file_name: &str, text: Option<&str>) -> Result<String, ListError> {
        let text = text.unwrap_or(EMPTY);
        let list = PluginList::parse(file_name, text)?;
        let edited =
            self.edited(&list, text).map_err(|problem| ListError::new(file_name, text, problem))?;
        PluginList::parse(file_name, &edited)?;
        Ok(edited)
    }

    fn edited(&self, list: &PluginList, text: &str) -> Result<String, ListProblem> {
        let defect = || ListProblem::at(0..0, "internal error: the list cannot be edited");
        let root = CstRootNode::parse(text, &source::OPTIONS).map_err(|_| defect())?;
        let object = root.object_value().ok_or_else(defect)?;
        let plugins = object.array_value("plugins").ok_or_else(defect)?;
        match self {
            Self::Add(entry) => {
                plugins.ensure_multiline();
                plugins.append(input(entry));
            }
            Self::Set { name, key, value } => {
                let entry = find(list, &plugins, name)?;
                match (entry.get(key), value) {
                    (Some(property), Some(value)) => property.set_value(input(value)),
                    (None, Some(value)) => {
                        entry.append(key, input(value));
                    }
                    (Some(property), None) => property.remove(),
                    (None, None) => {}
                }
            }
            Self::Remove { name } => find(list, &plugins, name)?.remove(),
        }
        Ok(root.to_string())
    }
}

/// Finds an entry; the list is the same text.
fn find(list: &PluginList, plugins: &CstArray, name: &str) -> Result<CstObject, ListProblem> {
    let index = list.plugins.iter().position(|entry| entry.name == name);
    let node = index.and_then(|index| plugins.elements().get(index)?.as_object());
    node.ok_or_else(|| {
        let names: Vec<_> = list.plugins.iter().map(|entry| entry.name.as_str()).collect();
        let problem = ListProblem::at(0..0, format!("no plugin named `{name}` is listed here"));
        match names.as_slice() {
            [] => problem,
            names => problem.help(format!("listed are: {}", names.join(", "))),
        }
    })
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(switch) => CstInputValue::Bool(*switch),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(members) => CstInputValue::Object(
            members.iter().map(|(key, value)| (key.clone(), input(value))).collect(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const LIST: &str = "// Mine.\n{\n  \"version\": 1, // always\n  \"plugins\": [\n    \
        // counts\n    { \"name\": \"a\", \"source\": \"a.wasm\" }, // the first\n    {\n      \
        \"source\": \"b.wasm\", /* odd */ \"name\": \"b\",\n      \"sha256\": \
        \"0000000000000000000000000000000000000000000000000000000000000000\"\n    }\n  ]\n}\n";

    fn apply(edit: &ListEdit, text: &str) -> String {
        edit.apply("moss-tools.json", Some(text)).unwrap()
    }

    fn set(name: &str, key: &'static str, value: Option<Value>) -> ListEdit {
        ListEdit::Set { name: name.to_owned(), key, value }
    }

    #[test]
    fn a_list_that_is_not_there_is_made() {
        let entry = json!({ "name": "a", "source": "a.wasm", "grant": { "http": ["x.example"] } });
        let text = ListEdit::Add(entry).apply("moss-tools.json", None).unwrap();
        assert_eq!(
            text,
            "{\n  \"version\": 1,\n  \"plugins\": [\n    {\n      \"name\": \"a\",\n      \
             \"source\": \"a.wasm\",\n      \"grant\": {\n        \"http\": [\"x.example\"]\n      \
             }\n    }\n  ]\n}\n"
        );
    }

    #[test]
    fn what_is_not_meant_stays_as_it_is() {
        let ones = "1".repeat(64);
        let pinned = apply(&set("b", "sha256", Some(json!(ones))), LIST);
        assert_eq!(pinned, LIST.replace(&"0".repeat(64), &ones));
        let added = apply(&ListEdit::Add(json!({ "name": "c", "source": "c.wasm" })), LIST);
        let (before, after) = LIST.split_at(LIST.rfind("\n  ]").unwrap());
        let entry = ",\n    {\n      \"name\": \"c\",\n      \"source\": \"c.wasm\"\n    }";
        assert_eq!(added, format!("{before}{entry}{after}"));
        assert_eq!(apply(&ListEdit::Remove { name: "c".into() }, &added), LIST);
        let unpinned = apply(&set("b", "sha256", None), LIST);
        assert_eq!(PluginList::parse("l", &unpinned).unwrap().plugins[1].sha256, None);
        assert!(unpinned.contains("/* odd */ \"name\": \"b\"\n    }"), "{unpinned}");
        assert_eq!(apply(&set("a", "sha256", None), LIST), LIST);
        let removed = apply(&ListEdit::Remove { name: "b".into() }, LIST);
        assert!(removed.starts_with("// Mine.\n{\n  \"version\": 1, // always\n"), "{removed}");
        assert!(removed.contains("// counts") && removed.contains("// the first"), "{removed}");
    }

    #[test]
    fn line_endings_stay_what_they_are() {
        let text = "{\r\n\t\"version\": 1,\r\n\t\"plugins\": [\r\n\t]\r\n}";
        let added = apply(&ListEdit::Add(json!({ "name": "c", "source": "c.wasm" })), text);
        assert_eq!(added.matches('\n').count(), added.matches("\r\n").count(), "{added:?}");
        assert!(added.contains("\r\n\t\t{\r\n\t\t\t\"name\": \"c\""), "{added:?}");
    }

    #[test]
    fn what_cannot_be_is_refused_with_its_location() {
        let refused = |edit: &ListEdit, text| {
            edit.apply("moss-tools.json", Some(text)).unwrap_err().to_string()
        };
        let remove = |name: &str| ListEdit::Remove { name: name.to_owned() };
        for (edit, text, message) in [
            (remove("a"), "{\n oops", "moss-tools.json:2:2: not JSON"),
            (remove("c"), LIST, "no plugin named `c` is listed here; listed are: a, b"),
            (set("c", "sha256", None), LIST, "no plugin named `c`"),
            (set("a", "sha256", Some(json!("12"))), LIST, ":9:17: not a SHA-256 digest"),
            (
                ListEdit::Add(json!({ "name": "a", "source": "x" })),
                LIST,
                "a plugin named `a` is listed twice; the other one is in line 6",
            ),
            (ListEdit::Add(json!({ "name": "c" })), LIST, "the key `source` is missing"),
        ] {
            let told = refused(&edit, text);
            assert!(told.contains(message), "{message}: {told}");
        }
    }
}
