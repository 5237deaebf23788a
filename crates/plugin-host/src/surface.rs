//! What models and people see of a plugin, and what differs in it between two versions. It is kept
//! as digests, which say whether something is what it was and nothing more.

use std::collections::BTreeMap;

use moss_sdk::ToolSpec;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::description::Description;
use moss_plugin_list::{
    Sha256Digest,
    grants::{Grant, RequestedCapability},
};

/// What models and people see of a plugin: its tools, their texts, schemas and effects, and what it
/// requests. Neither its code nor its version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Surface {
    /// Digests of the parts of each tool, in the order of [`PARTS`], by its own name.
    tools: BTreeMap<String, Vec<String>>,
    /// What it requests, as lists grant it, and as people read it.
    requests: BTreeMap<String, String>,
}

/// The parts of a tool.
const PARTS: [&str; 6] = [
    "title",
    "description",
    "effect",
    "schema of the parameters",
    "schema of the output",
    "set of annotations",
];

// === impl Surface ===

impl Surface {
    /// How it is made. One that was made in another way cannot be compared.
    pub const FORMAT: u32 = 1;

    pub(crate) fn of(description: &Description) -> Self {
        let tool = |spec: &ToolSpec| (spec.name.clone(), digests(spec));
        let request = |request: &RequestedCapability| {
            let granted = Grant::requested(std::slice::from_ref(request)).to_json().to_string();
            (granted, request.capability.to_string())
        };
        Self {
            tools: description.specs.iter().map(tool).collect(),
            requests: description.requests.iter().map(request).collect(),
        }
    }

    /// Returns what differs in a newer version, one line each; empty where only the version or the
    /// code does.
    pub fn differences(&self, newer: &Self) -> Vec<String> {
        let mut all = Vec::new();
        for name in self.tools.keys().filter(|name| !newer.tools.contains_key(*name)) {
            all.push(format!("tool `{name}` is gone"));
        }
        for (name, parts) in &newer.tools {
            match self.tools.get(name) {
                None => all.push(format!("tool `{name}` is new")),
                Some(known) if known == parts => {}
                Some(known) => {
                    let is_other =
                        |(index, _): &(usize, &&str)| known.get(*index) != parts.get(*index);
                    let what = PARTS.iter().enumerate().filter(is_other).map(|(_, part)| *part);
                    let what = what.collect::<Vec<_>>().join(", ");
                    all.push(format!("tool `{name}` has another {what}"));
                }
            }
        }
        for (requests, others, what) in [
            (&self.requests, &newer.requests, "no longer requests"),
            (&newer.requests, &self.requests, "newly requests"),
        ] {
            let missing = requests.iter().filter(|(granted, _)| !others.contains_key(*granted));
            all.extend(missing.map(|(_, text)| format!("it {what} to {text}")));
        }
        all
    }
}

/// Digests of the parts of a tool.
fn digests(spec: &ToolSpec) -> Vec<String> {
    let annotations = &spec.annotations;
    let parts = [
        json!(spec.text.title),
        json!(spec.text.description),
        json!(spec.effect),
        json!([spec.parameters, spec.parameters_strict]),
        spec.output.clone(),
        json!([annotations.destructive, annotations.idempotent, annotations.open_world]),
    ];
    let digest = |mut part: Value| {
        // The order of keys has no meaning.
        part.sort_all_objects();
        Sha256Digest::of(part.to_string().as_bytes()).to_string()
    };
    parts.map(digest).to_vec()
}

#[cfg(test)]
mod tests {
    use moss_sdk::spec::ToolText;
    use moss_sdk::{Effect, RelPath, Toolset};

    use super::*;
    use moss_plugin_list::grants::Capability;

    fn spec(name: &str) -> ToolSpec {
        ToolSpec {
            name: name.to_owned(),
            effect: Effect::Read,
            toolset: Toolset::Plugin,
            text: ToolText { description: "Does it.".to_owned(), ..ToolText::default() },
            text_zh: None,
            text_brief: None,
            parameters: json!({}),
            extras: Default::default(),
            parameters_strict: json!({}),
            output: json!({}),
            aliases: Default::default(),
            annotations: Default::default(),
        }
    }

    fn described(specs: Vec<ToolSpec>, reads: &[&str]) -> Description {
        let request = |path: &&str| RequestedCapability {
            capability: Capability::Files(RelPath::parse(path).unwrap()),
            reason: String::new(),
        };
        let requests = reads.iter().map(request).collect();
        Description {
            version: "1".to_owned(),
            requests,
            settings: None,
            specs,
            forms: Vec::new(),
            examples: Vec::new(),
        }
    }

    fn differences(old: &Description, new: &Description) -> Vec<String> {
        let kept = serde_json::to_string(&Surface::of(old)).unwrap();
        let kept: Surface = serde_json::from_str(&kept).unwrap();
        kept.differences(&Surface::of(new))
    }

    #[test]
    fn only_what_models_and_people_see_makes_a_difference() {
        let old = described(vec![spec("a"), spec("b")], &["docs"]);
        let mut same = old.clone();
        same.version = "2".to_owned();
        same.requests[0].reason = "to count".to_owned();
        assert_eq!(differences(&old, &same), [""; 0]);

        let mut changed = spec("b");
        changed.text.description = "Does more.".to_owned();
        changed.effect = Effect::Write;
        changed.output = json!({ "type": "object" });
        let new = described(vec![changed, spec("c")], &["src"]);
        assert_eq!(
            differences(&old, &new),
            [
                "tool `a` is gone",
                "tool `b` has another description, effect, schema of the output",
                "tool `c` is new",
                "it no longer requests to read docs",
                "it newly requests to read src",
            ]
        );
    }
}
