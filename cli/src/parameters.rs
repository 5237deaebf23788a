//! The parameters of a tool, read out of its schema: for those who type them and those who ask for them.

use moss_proto::v1;
use moss_schema::json_type;
use serde_json::Value;

/// Most parts of a parameter's schema that are looked at.
const SCHEMA_PARTS_MAX: usize = 64;
/// What a description begins its default with.
const DEFAULT_MARK: &str = "Default: ";

/// One parameter of a tool.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) kinds: AcceptedTypes,
    pub(super) is_required: bool,
    /// What applies where it is not given, in words or as JSON.
    pub(super) default: Option<String>,
    pub(super) description: String,
    pub(super) schema: Value,
}

/// Reads the parameters of a tool, in the order of its schema.
pub(super) fn of(tool: &v1::Tool) -> Vec<Parameter> {
    let schema: Value = serde_json::from_str(&tool.parameters_json).unwrap_or_default();
    let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let properties = schema.get("properties").and_then(Value::as_object);
    let parameter = |(name, part): (&String, &Value)| {
        let description = part.get("description").and_then(Value::as_str).unwrap_or_default();
        let default = part.get("default").map(|value| match value {
            Value::String(text) => text.clone(),
            value => value.to_string(),
        });
        Parameter {
            name: name.clone(),
            kinds: AcceptedTypes::of_parameter(tool, &schema, name),
            is_required: required.iter().any(|required| required == name.as_str()),
            default: default.or_else(|| default_in_words(description)),
            description: description.to_owned(),
            schema: part.clone(),
        }
    };
    properties.into_iter().flatten().map(parameter).collect()
}

/// Finds a parameter, also by its other names.
pub(super) fn main_name<'a>(tool: &'a v1::Tool, key: &'a str) -> &'a str {
    let is_alias = |names: &&v1::ParameterAliases| names.aliases.iter().any(|name| name == key);
    tool.aliases.iter().find(is_alias).map_or(key, |names| &names.parameter)
}

/// What a description says of the default: the rest of its sentence.
fn default_in_words(description: &str) -> Option<String> {
    let (_, rest) = description.split_once(DEFAULT_MARK)?;
    let end = rest.find(". ").or_else(|| rest.find(".\n")).unwrap_or(rest.len());
    Some(rest[..end].trim_end_matches('.').replace('\n', " "))
}

/// The types that a schema accepts; none where it does not say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct AcceptedTypes {
    pub(super) text: bool,
    pub(super) others: Vec<String>,
}

// === impl AcceptedTypes ===

impl AcceptedTypes {
    /// Looks a parameter up, also by its other names.
    pub(super) fn of_parameter(tool: &v1::Tool, schema: &Value, key: &str) -> Self {
        let main = main_name(tool, key);
        let mut kinds = Self::default();
        if let Some(property) = schema.get("properties").and_then(|all| all.get(main)) {
            kinds.collect(schema, property);
        }
        kinds
    }

    /// Collects the types that a part of a schema accepts, through references and alternatives.
    fn collect(&mut self, root: &Value, schema: &Value) {
        let mut waiting = vec![schema];
        for _ in 0..SCHEMA_PARTS_MAX {
            let Some(part) = waiting.pop() else { return };
            match part.get("type") {
                Some(Value::String(kind)) => self.add(kind),
                Some(Value::Array(kinds)) => {
                    kinds.iter().filter_map(Value::as_str).for_each(|kind| self.add(kind));
                }
                _ => {
                    let values = part.get("enum").and_then(Value::as_array).into_iter().flatten();
                    values.chain(part.get("const")).for_each(|value| self.add(json_type(value)));
                }
            }
            let reference = part.get("$ref").and_then(Value::as_str);
            waiting.extend(reference.and_then(|path| root.pointer(path.strip_prefix('#')?)));
            for key in ["anyOf", "oneOf", "allOf"] {
                let parts = part.get(key).and_then(Value::as_array).into_iter().flatten();
                waiting.extend(parts.take(SCHEMA_PARTS_MAX));
            }
        }
    }

    pub(super) fn accept(&self, value: &Value) -> bool {
        let kind = json_type(value);
        // An integer is a number, too.
        self.others.iter().any(|known| known == kind || known == "number" && kind == "integer")
    }

    fn add(&mut self, kind: &str) {
        match kind {
            "string" => self.text = true,
            other if !self.others.iter().any(|known| known == other) => {
                self.others.push(other.to_owned());
            }
            _ => {}
        }
    }
}

// === impl Parameter ===

impl Parameter {
    /// Its types in words.
    pub(super) fn kind(&self) -> String {
        let text = self.kinds.text.then_some("text");
        let others = self.kinds.others.iter().map(|kind| match kind.as_str() {
            "integer" => "whole number",
            "array" => "list",
            other => other,
        });
        let words: Vec<_> = text.into_iter().chain(others.filter(|kind| *kind != "null")).collect();
        if words.is_empty() { "any JSON".to_owned() } else { words.join(" or ") }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parameters_have_type_need_and_default() {
        let schema = json!({
            "type": "object",
            "properties": {
                "path": { "type": "string", "description": "Path of the file." },
                "endLine": { "type": ["number", "null"], "description": "Last line. Default: the last line\nof the file. More." },
                "all": { "type": "boolean", "default": false, "description": "All. Default: false." },
                "any": {},
            },
            "required": ["path"],
        });
        let tool = v1::Tool { parameters_json: schema.to_string(), ..v1::Tool::default() };
        let told: Vec<_> = of(&tool)
            .into_iter()
            .map(|p| (p.name.clone(), p.kind(), p.is_required, p.default.unwrap_or_default()))
            .collect();
        let row = |name: &str, kind: &str, is_required, default: &str| {
            (name.to_owned(), kind.to_owned(), is_required, default.to_owned())
        };
        assert_eq!(
            told,
            [
                row("path", "text", true, ""),
                row("endLine", "number", false, "the last line of the file"),
                row("all", "boolean", false, "false"),
                row("any", "any JSON", false, ""),
            ]
        );
    }
}
