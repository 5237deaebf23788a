//! What a person is asked to agree to where a plugin list changes, or a component is fetched for one:
//! plain values, worked out in `plugins/registration`, shown by every front.
//!
//! An approval is bound to the JSON text of a [`Consent`]: what is no part of it is not shown.

use moss_sdk::Effect;
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

/// One change of a plugin list, or a download for one.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum Consent {
    /// A plugin comes into a list.
    Add(Box<Added>),
    /// A plugin replaces an entry of its name.
    Replace(Box<Added>),
    /// What the file of a plugin holds becomes its pin.
    Accept(Box<Accepted>),
    /// A plugin is removed from a list.
    Remove(Removed),
    /// The list that a workspace brings along is trusted as it is.
    Trust(Trusted),
    /// It is trusted no more.
    Untrust {
        /// The path of the list.
        list: String,
    },
    /// A component is fetched, which nobody has seen yet.
    Fetch(Fetched),
}

/// A plugin as an entry is to say it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Added {
    /// The name of the entry.
    pub name: String,
    /// Where its component is: a path, a URL or a reference.
    pub source: String,
    /// Who signed it; none if unsigned.
    pub signed_by: Option<String>,
    /// What it says of itself.
    #[serde(flatten)]
    pub component: Component,
    /// What the list grants it, in words.
    pub granted: Vec<String>,
    /// What comes of that.
    #[serde(flatten)]
    pub allowed: Allowed,
    /// Where all is granted that it asks for: what of it no list grants so much at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub withheld: Option<Vec<String>>,
    /// Settings, a JSON object.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub config: Map<String, Value>,
    /// Why, as whoever asks says.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The path of the list that the entry comes into.
    pub list: String,
}

/// A plugin whose entry gets another pin.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Accepted {
    /// The name of the entry.
    pub name: String,
    /// The file whose content becomes the pin.
    pub source: String,
    /// The SHA-256 that the list pins until then.
    pub pinned: Option<String>,
    /// Who signed what the file holds.
    pub signed_by: Option<String>,
    /// What it says of itself.
    #[serde(flatten)]
    pub component: Component,
    /// What the list grants it, in words.
    pub granted: Vec<String>,
    /// What comes of that.
    #[serde(flatten)]
    pub allowed: Allowed,
    /// The path of the list that has the entry.
    pub list: String,
}

/// A plugin that goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Removed {
    /// The name of the entry.
    pub name: String,
    /// The SHA-256 that the list pins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// How many keys its store has, over all workspaces; none where that cannot be known.
    pub store_keys: Option<u64>,
    /// Whether they are forgotten.
    pub forgets_store: bool,
    /// The path of the list that has the entry.
    pub list: String,
}

/// The list that a workspace brings along.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Trusted {
    /// The path of the list.
    pub list: String,
    /// The BLAKE3 hash of its text.
    pub list_blake3: String,
    /// Its entries, in the order of the list.
    pub plugins: Vec<ListedPlugin>,
    /// What changed in its text since it was trusted, as a unified diff; none where it never was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since_trusted: Option<String>,
}

/// A plugin as a list names it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ListedPlugin {
    /// The name of the entry.
    pub name: String,
    /// Where its component is, as the list says it.
    pub source: String,
    /// The SHA-256 that the list pins.
    pub pinned: Option<String>,
    /// What the list grants it, in words.
    pub granted: Vec<String>,
    /// What one call may use, in words.
    pub limits: Vec<String>,
    /// Settings, a JSON object.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub config: Map<String, Value>,
    /// What a look at its component found.
    #[serde(flatten)]
    pub look: Look,
}

/// A look at a component.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Look {
    /// Its component was read and describes itself.
    Found(Box<Inspection>),
    /// Why nothing is known of it.
    Problem {
        /// What is wrong, in words.
        problem: String,
    },
}

/// What a look at a component found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Inspection {
    /// Who signed it; none if unsigned.
    pub signed_by: Option<String>,
    /// What it says of itself.
    #[serde(flatten)]
    pub component: Component,
    /// What comes of what the list grants.
    #[serde(flatten)]
    pub allowed: Allowed,
}

/// A component on the network.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fetched {
    /// The host that is asked, with its port where the source says one.
    pub host: String,
    /// The URL or the reference.
    pub source: String,
    /// The SHA-256 that it must have.
    pub sha256: Option<String>,
}

/// What a component is and says of itself.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Component {
    /// The version that it states; nothing checks it.
    pub version: String,
    /// SHA-256 of the component, 64 hexadecimal digits.
    pub sha256: String,
    /// Its tools under the names that they get in moss.
    pub tools: Vec<ToolDescription>,
    /// Its functions that are no tools, each with the reason.
    pub left_out: Vec<String>,
    /// What it asks for.
    pub requested: Vec<CapabilityRequest>,
}

/// All that a model reads of a tool.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolDescription {
    /// Its name in moss.
    pub name: String,
    /// The name that the plugin gives it, where that is another one.
    pub own_name: Option<String>,
    /// Title, as people read it.
    pub title: String,
    /// Description, as models read it.
    pub description: String,
    /// What it may do outside itself.
    pub effect: Effect,
    /// The JSON schema of its arguments.
    pub parameters: Value,
    /// The JSON schema of its result.
    pub output: Value,
}

/// A capability that a plugin asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CapabilityRequest {
    /// What it is, in words.
    pub capability: String,
    /// Why, as the plugin says.
    pub reason: String,
}

/// What comes of a grant, one line each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Allowed {
    /// What it may do: asked for, granted, and within what the administrator allows.
    pub may: Vec<String>,
    /// What it asks for and may not do, or not wholly.
    pub may_not: Vec<String>,
    /// What is asked for and granted, and is more than the administrator allows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub capped: Vec<String>,
    /// What is granted and does nothing, each with the reason.
    pub without_effect: Vec<String>,
    /// What differs from the version that serves, where one does.
    #[serde(flatten)]
    pub since_served: Option<SinceServed>,
}

/// What differs from the version that serves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SinceServed {
    /// In tools and requests, one line each.
    pub differences: Vec<String>,
    /// In what models read, as a unified diff; none where that is the same.
    #[serde(rename = "texts_since_served", skip_serializing_if = "Option::is_none")]
    pub texts: Option<String>,
    /// Whether it is the component that serves.
    pub same_component: bool,
}

/// What became of a change of a plugin list.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PluginsChanged {
    /// What the person was asked, or would be.
    #[serde(flatten)]
    pub consent: Consent,
    /// How far it came.
    #[serde(flatten)]
    pub stage: ChangeStage,
}

/// How far a change of a plugin list came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeStage {
    /// It was shown, nothing was written.
    Shown,
    /// The list is written.
    Applied {
        /// Whether all that was registered serves.
        loaded: bool,
        /// Why it does not, as far as that is known.
        not_loaded_because: Option<String>,
    },
}

// === impl Consent ===

impl Consent {
    /// The text that programs get, and that an approval is bound to.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("keys are texts")
    }
}

// === impl PluginsChanged ===

impl PluginsChanged {
    /// The text that programs get: that of the consent, and how far it came.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("keys are texts")
    }
}

// === impl ChangeStage ===

impl ChangeStage {
    /// Whether the list is written.
    pub fn is_applied(&self) -> bool {
        matches!(self, Self::Applied { .. })
    }

    /// Whether all that was registered serves.
    pub fn is_loaded(&self) -> bool {
        matches!(self, Self::Applied { loaded: true, .. })
    }
}

impl Serialize for ChangeStage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("applied", &self.is_applied())?;
        map.serialize_entry("loaded", &self.is_loaded())?;
        if let Self::Applied { loaded: _, not_loaded_because } = self {
            map.serialize_entry("not_loaded_because", not_loaded_because)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn component() -> Component {
        Component {
            version: "1.0.0".into(),
            sha256: "00ff".into(),
            tools: vec![ToolDescription {
                name: "wc".into(),
                own_name: Some("count".into()),
                title: "Count".into(),
                description: "Counts.".into(),
                effect: Effect::Read,
                parameters: json!({ "type": "object" }),
                output: json!({}),
            }],
            left_out: Vec::new(),
            requested: vec![CapabilityRequest {
                capability: "read docs".into(),
                reason: "texts".into(),
            }],
        }
    }

    fn allowed() -> Allowed {
        Allowed {
            may: vec!["read docs".into()],
            may_not: Vec::new(),
            capped: Vec::new(),
            without_effect: Vec::new(),
            since_served: None,
        }
    }

    fn added() -> Added {
        Added {
            name: "a".into(),
            source: "/a.wasm".into(),
            signed_by: None,
            component: component(),
            granted: vec!["read docs".into()],
            allowed: allowed(),
            withheld: None,
            config: Map::new(),
            reason: String::new(),
            list: "/l.json".into(),
        }
    }

    #[test]
    fn a_plugin_is_written_with_all_that_is_known_and_nothing_else() {
        let text = Consent::Add(Box::new(added())).to_json();
        assert_eq!(
            text,
            "{\"action\":\"add\",\"name\":\"a\",\"source\":\"/a.wasm\",\"signed_by\":null,\
             \"version\":\"1.0.0\",\"sha256\":\"00ff\",\"tools\":[{\"name\":\"wc\",\
             \"own_name\":\"count\",\"title\":\"Count\",\"description\":\"Counts.\",\
             \"effect\":\"read\",\"parameters\":{\"type\":\"object\"},\"output\":{}}],\
             \"left_out\":[],\"requested\":[{\"capability\":\"read docs\",\"reason\":\"texts\"}],\
             \"granted\":[\"read docs\"],\"may\":[\"read docs\"],\"may_not\":[],\
             \"without_effect\":[],\"list\":\"/l.json\"}"
        );
        let since = SinceServed {
            differences: vec!["tool `b` is gone".into()],
            texts: Some("diff".into()),
            same_component: false,
        };
        let (capped, since_served) = (vec!["read .".into()], Some(since));
        let allowed = Allowed { capped, since_served, ..allowed() };
        let config = Map::from_iter([("k".to_owned(), json!(1))]);
        let (withheld, reason) = (Some(Vec::new()), "why".to_owned());
        let replaced = Added { allowed, withheld, config, reason, ..added() };
        let value: Value =
            serde_json::from_str(&Consent::Replace(Box::new(replaced)).to_json()).unwrap();
        for (key, expected) in [
            ("action", json!("replace")),
            ("capped", json!(["read ."])),
            ("differences", json!(["tool `b` is gone"])),
            ("texts_since_served", json!("diff")),
            ("same_component", json!(false)),
            ("withheld", json!([])),
            ("config", json!({ "k": 1 })),
            ("reason", json!("why")),
        ] {
            assert_eq!(value[key], expected, "{key}");
        }
    }

    #[test]
    fn other_changes_are_written_with_their_own_keys() {
        let list = "/l.json".to_owned();
        let removed = Removed {
            name: "a".into(),
            sha256: None,
            store_keys: None,
            forgets_store: false,
            list: list.clone(),
        };
        let look = Look::Problem { problem: "gone".into() };
        let listed = ListedPlugin {
            name: "a".into(),
            source: "a.wasm".into(),
            pinned: None,
            granted: Vec::new(),
            limits: vec!["10s".into()],
            config: Map::new(),
            look,
        };
        let found = Inspection { signed_by: None, component: component(), allowed: allowed() };
        let found = ListedPlugin { look: Look::Found(Box::new(found)), ..listed.clone() };
        let trusted = Trusted {
            list: list.clone(),
            list_blake3: "ab".into(),
            plugins: vec![listed, found],
            since_trusted: None,
        };
        let (host, source) = ("h".to_owned(), "https://h/a.wasm".to_owned());
        let fetched = Fetched { host, source, sha256: None };
        let of_file: Value = serde_json::to_value(component()).unwrap();
        let mut of_list = json!({
            "name": "a", "source": "a.wasm", "pinned": null, "granted": [], "limits": ["10s"],
        });
        let mut problem = of_list.clone();
        problem["problem"] = json!("gone");
        of_list["signed_by"] = Value::Null;
        for (key, value) in of_file.as_object().unwrap() {
            of_list[key] = value.clone();
        }
        for (key, value) in serde_json::to_value(allowed()).unwrap().as_object().unwrap() {
            of_list[key] = value.clone();
        }
        for (consent, expected) in [
            (
                Consent::Remove(removed),
                json!({ "action": "remove", "name": "a", "store_keys": null,
                    "forgets_store": false, "list": "/l.json" }),
            ),
            (
                Consent::Trust(trusted),
                json!({ "action": "trust", "list": "/l.json", "list_blake3": "ab",
                    "plugins": [problem, of_list] }),
            ),
            (Consent::Untrust { list }, json!({ "action": "untrust", "list": "/l.json" })),
            (
                Consent::Fetch(fetched),
                json!({ "action": "fetch", "host": "h", "source": "https://h/a.wasm",
                    "sha256": null }),
            ),
        ] {
            assert_eq!(consent.to_json(), expected.to_string());
        }
    }

    #[test]
    fn why_nothing_is_loaded_is_said_of_what_was_written() {
        let consent = Consent::Untrust { list: "l".into() };
        let loaded = ChangeStage::Applied { loaded: true, not_loaded_because: None };
        for (stage, expected) in [
            (ChangeStage::Shown, "\"applied\":false,\"loaded\":false}"),
            (loaded, "\"applied\":true,\"loaded\":true,\"not_loaded_because\":null}"),
        ] {
            let text = PluginsChanged { consent: consent.clone(), stage }.to_json();
            assert_eq!(text, format!("{{\"action\":\"untrust\",\"list\":\"l\",{expected}"));
        }
    }
}
