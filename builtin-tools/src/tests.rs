//! Tests of the table as a whole: against the specification, the texts and the folder.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Map, Value};

use crate::text::{brief, chinese};
use crate::{all, specs};

const SPECIFICATION: &str = include_str!("../tests/fixtures/builtin-tools.json");

/// Tools that the specification does not have.
const FURTHER: &[&str] = &[
    "patch",
    "editTool",
    "clarify",
    "todo",
    "terminal_job",
    "moss_register_plugin_tool",
    "moss_update_asi_user_prompt",
];

fn specified() -> Vec<Value> {
    let specification: Value = serde_json::from_str(SPECIFICATION).unwrap();
    specification["tools"].as_array().unwrap().clone()
}

/// Removes the descriptions of a schema; a parameter may itself be called `description`.
fn without_descriptions(schema: &Value) -> Value {
    let Value::Object(object) = schema else { return schema.clone() };
    let keep = |(key, value): (&String, &Value)| match (key.as_str(), value) {
        ("description", Value::String(_)) => None,
        ("properties", Value::Object(properties)) => {
            let properties: Map<String, Value> = properties
                .iter()
                .map(|(name, schema)| (name.clone(), without_descriptions(schema)))
                .collect();
            Some((key.clone(), Value::Object(properties)))
        }
        _ => Some((key.clone(), without_descriptions(value))),
    };
    object.iter().filter_map(keep).collect()
}

#[test]
fn every_listed_tool_is_as_specified_and_in_that_order() {
    let specs = specs();
    let names: BTreeSet<&str> = specs.iter().map(|spec| spec.name.as_str()).collect();
    let specified: Vec<Value> = specified()
        .into_iter()
        .filter(|tool| names.contains(tool["name"].as_str().unwrap()))
        .collect();
    let further: Vec<_> = specs[specified.len()..].iter().map(|spec| &*spec.name).collect();
    assert_eq!(further, FURTHER, "beyond the specification, after the tools that are in it");
    for (spec, specified) in specs.iter().zip(&specified) {
        assert_eq!(specified["name"], spec.name.as_str());
        assert_eq!(specified["effect"], spec.effect.as_str(), "{}", spec.name);
        let parameters = without_descriptions(&spec.parameters);
        assert_eq!(specified["parameters"], parameters, "{}", spec.name);
        let aliases = specified.get("aliases").cloned().unwrap_or_else(|| Map::new().into());
        assert_eq!(aliases, serde_json::to_value(&spec.aliases).unwrap(), "{}", spec.name);
    }
}

#[test]
fn documented_values_are_the_only_ones() {
    for tool in specified() {
        let Some(values) = tool.get("documented_values").and_then(Value::as_object) else {
            continue;
        };
        let Some(spec) = specs().into_iter().find(|spec| tool["name"] == spec.name.as_str()) else {
            continue;
        };
        for (parameter, values) in values {
            let strict = &spec.parameters_strict["properties"][parameter]["enum"];
            assert_eq!(strict, values, "{} {parameter}", spec.name);
        }
    }
}

#[test]
fn strict_schemas_take_whole_numbers_and_known_keys_only() {
    for spec in specs() {
        assert_eq!(spec.parameters_strict["additionalProperties"], false, "{}", spec.name);
        for (name, schema) in spec.parameters_strict["properties"].as_object().unwrap() {
            assert_ne!(schema["type"], "number", "{} {name}", spec.name);
            let is_line = name.ends_with("Line") || name == "line";
            assert!(!is_line || schema["minimum"] == 1, "{} {name}", spec.name);
        }
    }
}

#[test]
fn extras_are_optional_and_of_tools_with_a_specification() {
    for spec in specs() {
        let required = spec.parameters_strict.get("required").and_then(Value::as_array);
        for name in spec.extras.keys() {
            assert!(!FURTHER.contains(&&*spec.name), "{}: {name} is like any other", spec.name);
            assert!(required.is_none_or(|keys| !keys.contains(&name.as_str().into())), "{name}");
            assert!(spec.parameters["properties"].get(name).is_none(), "{} {name}", spec.name);
            assert!(spec.parameters_full()["properties"][name].is_object(), "{name}");
        }
    }
}

#[test]
fn every_tool_and_parameter_has_texts_in_both_languages() {
    for spec in specs() {
        let full = spec.parameters_full();
        let parameters: BTreeSet<&String> =
            full["properties"].as_object().unwrap().keys().collect();
        let chinese = spec.text_zh.as_ref().unwrap_or_else(|| panic!("{} in zh", spec.name));
        for text in [&spec.text, chinese] {
            assert!(!text.title.is_empty(), "{}", spec.name);
            assert!(text.description.len() > 40, "{}", spec.name);
            assert_eq!(text.parameters.keys().collect::<BTreeSet<_>>(), parameters);
            for (name, text) in &text.parameters {
                assert!(text.len() > 10, "{} {name}", spec.name);
            }
        }
    }
}

#[test]
fn no_chinese_text_is_left_over() {
    let named: BTreeSet<String> = chinese().into_keys().collect();
    assert_eq!(named, specs().into_iter().map(|spec| spec.name).collect());
}

#[test]
fn every_tool_has_a_brief_text_that_is_shorter_and_of_its_own_parameters() {
    let briefs = brief();
    let named: BTreeSet<&String> = briefs.keys().collect();
    let specs = specs();
    assert_eq!(named, specs.iter().map(|spec| &spec.name).collect());
    for spec in &specs {
        let (whole, brief) = (&spec.text, spec.text_brief.as_ref().unwrap());
        assert_eq!(brief.title, whole.title);
        assert!(brief.description.len() > 40, "{}", spec.name);
        assert!(brief.description.len() < whole.description.len(), "{}", spec.name);
        assert_eq!(
            brief.parameters.keys().collect::<Vec<_>>(),
            whole.parameters.keys().collect::<Vec<_>>()
        );
        for (name, text) in &briefs[&spec.name].parameters {
            assert!(text.len() < whole.parameters[name].len(), "{} {name}", spec.name);
        }
    }
}

#[test]
fn texts_name_only_tools_that_are_listed() {
    let specified = specified();
    let specified = specified.iter().map(|tool| tool["name"].as_str().unwrap());
    let listed: BTreeSet<String> = specs().into_iter().map(|spec| spec.name).collect();
    let absent: Vec<&str> = specified.filter(|name| !listed.contains(*name)).collect();
    for spec in specs() {
        let text = format!("{:?} {:?} {:?}", spec.text, spec.text_zh, spec.text_brief);
        for name in &absent {
            let mut words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            assert!(!words.any(|word| word == *name), "{} names {name}", spec.name);
        }
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the test looks at the source folder")]
fn every_file_of_the_folder_is_in_the_table_under_its_own_name() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tools");
    let files: BTreeSet<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    // A file has the tool's name in the form that names of modules have.
    let in_snake_case = |name: String| {
        name.chars().fold(String::new(), |name, c| match c.is_ascii_uppercase() {
            true => name + "_" + &c.to_ascii_lowercase().to_string(),
            false => name + &c.to_string(),
        })
    };
    let listed = all().iter().map(|tool| in_snake_case(tool.spec().name)).collect();
    assert_eq!(files, listed);
}

#[test]
fn descriptions_are_not_wrapped() {
    let texts: BTreeMap<String, String> = specs()
        .into_iter()
        .flat_map(|spec| {
            let text = spec.text;
            text.parameters.into_iter().chain([(spec.name, text.description)])
        })
        .collect();
    for (name, text) in texts {
        assert!(text.split("\n\n").all(|paragraph| !paragraph.contains('\n')), "{name}: {text}");
    }
}
