//! What models and people see of a plugin, and what differs in it between two versions.

use moss_sdk::ToolSpec;

use crate::description::Description;
use crate::grants::Request;

/// Returns what differs, one line each; empty where only the version or the code does.
pub(crate) fn differences(old: &Description, new: &Description) -> Vec<String> {
    let find = |specs: &'_ [ToolSpec], name: &str| specs.iter().any(|spec| spec.name == name);
    let mut all = Vec::new();
    for spec in old.specs.iter().filter(|spec| !find(&new.specs, &spec.name)) {
        all.push(format!("tool `{}` is gone", spec.name));
    }
    for spec in &new.specs {
        match old.specs.iter().find(|known| known.name == spec.name) {
            None => all.push(format!("tool `{}` is new", spec.name)),
            Some(known) if known == spec => {}
            Some(known) => {
                let what = parts(known, spec).join(", ");
                all.push(format!("tool `{}` has another {what}", spec.name));
            }
        }
    }
    for (capabilities, others, what) in [
        (&old.requests, &new.requests, "no longer requests"),
        (&new.requests, &old.requests, "newly requests"),
    ] {
        let missing =
            |request: &&Request| !others.iter().any(|other| other.capability == request.capability);
        all.extend(
            capabilities
                .iter()
                .filter(missing)
                .map(|request| format!("it {what} to {}", request.capability)),
        );
    }
    all
}

/// The parts of a tool in which two versions differ.
fn parts(old: &ToolSpec, new: &ToolSpec) -> Vec<&'static str> {
    let compared = [
        ("title", old.text.title == new.text.title),
        ("description", old.text.description == new.text.description),
        ("effect", old.effect == new.effect),
        ("schema of the parameters", old.parameters_strict == new.parameters_strict),
        ("schema of the output", old.output == new.output),
        ("set of annotations", old.annotations == new.annotations),
    ];
    let parts: Vec<_> =
        compared.into_iter().filter(|(_, is_same)| !is_same).map(|(name, _)| name).collect();
    if parts.is_empty() { vec!["description of itself"] } else { parts }
}

/// Returns the interfaces that a component imports, such as `wasi:http/types@0.2.6`; none where it
/// is no component.
pub fn imports(component: &[u8]) -> Option<Vec<String>> {
    let decoded = wit_parser::decoding::decode(component).ok()?;
    let wit_parser::decoding::DecodedWasm::Component(resolve, world) = decoded else { return None };
    let imports = &resolve.worlds[world].imports;
    Some(imports.keys().map(|key| resolve.name_world_key(key)).collect())
}

#[cfg(test)]
mod tests {
    use moss_sdk::spec::ToolText;
    use moss_sdk::{Effect, RelPath, Toolset};
    use serde_json::json;

    use super::*;
    use crate::grants::Capability;

    fn spec(name: &str) -> ToolSpec {
        ToolSpec {
            name: name.to_owned(),
            effect: Effect::Read,
            toolset: Toolset::Plugin,
            text: ToolText { description: "Does it.".to_owned(), ..ToolText::default() },
            text_zh: None,
            parameters: json!({}),
            parameters_strict: json!({}),
            output: json!({}),
            aliases: Default::default(),
            annotations: Default::default(),
        }
    }

    fn described(specs: Vec<ToolSpec>, reads: &[&str]) -> Description {
        let request = |path: &&str| Request {
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
