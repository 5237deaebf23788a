//! JSON schemas of what functions take and return.

use serde_json::{Map, Value, json};

use super::docs::{DocumentedType, TypeDocs};
use super::shape::{Returns, Shape, Signature};

/// Writes schemas, with what is known of the types by their names.
pub(crate) struct Schemas<'a> {
    pub(crate) named: &'a [DocumentedType<'a>],
}

// === impl Schemas ===

impl Schemas<'_> {
    /// The schema of the arguments: an object.
    pub(crate) fn parameters(&self, signature: &Signature) -> Value {
        self.record(&signature.parameters, None)
    }

    /// The schema of the output.
    pub(crate) fn output(&self, signature: &Signature) -> Value {
        match &signature.returns {
            Returns::Value(shape) | Returns::Fallible { ok: Some(shape), .. } => self.of(shape),
            Returns::Nothing | Returns::Fallible { ok: None, .. } => json!({ "type": "null" }),
        }
    }

    fn of(&self, shape: &Shape) -> Value {
        match shape {
            Shape::Bool => json!({ "type": "boolean" }),
            Shape::Integer(integer) => {
                let (minimum, maximum) = integer.range();
                json!({ "type": "integer", "minimum": minimum, "maximum": maximum })
            }
            Shape::Float32 | Shape::Float64 => json!({ "type": "number" }),
            Shape::Char => json!({ "type": "string", "minLength": 1, "maxLength": 1 }),
            Shape::String => json!({ "type": "string" }),
            Shape::List(item) => json!({ "type": "array", "items": self.of(item) }),
            Shape::Record(fields) => {
                let names = fields.iter().map(|(name, _)| name.as_str());
                self.record(fields, self.docs(names))
            }
            Shape::Tuple(items) => json!({
                "type": "array",
                "prefixItems": items.iter().map(|item| self.of(item)).collect::<Vec<_>>(),
                "items": false,
                "minItems": items.len(),
                "maxItems": items.len(),
            }),
            Shape::Variant(_) | Shape::Result(..) => self.variant(shape),
            Shape::Enum(names) => {
                let schema = json!({ "type": "string", "enum": names });
                described(schema, self.docs(names.iter().map(String::as_str)))
            }
            Shape::Option(inner) => nullable(match **inner {
                Shape::Option(_) => object("some", self.of(inner)),
                _ => self.of(inner),
            }),
            Shape::Flags(names) => {
                let schema = json!({
                    "type": "array",
                    "items": { "type": "string", "enum": names },
                    "uniqueItems": true,
                });
                described(schema, self.docs(names.iter().map(String::as_str)))
            }
        }
    }

    /// An object whose optional keys may be missing or null.
    fn record(&self, fields: &[(String, Shape)], docs: Option<&TypeDocs>) -> Value {
        let mut properties = Map::new();
        let mut required = Vec::new();
        for (name, shape) in fields {
            let mut schema = self.of(shape);
            if let Some(text) = docs.and_then(|docs| docs.items.get(name)) {
                schema["description"] = json!(text);
            }
            properties.insert(name.clone(), schema);
            if !matches!(shape, Shape::Option(_)) {
                required.push(name);
            }
        }
        let mut schema = json!({ "type": "object", "properties": properties });
        if !required.is_empty() {
            schema["required"] = json!(required);
        }
        schema["additionalProperties"] = json!(false);
        if let Some(docs) = docs.filter(|docs| !docs.text.is_empty()) {
            schema["description"] = json!(docs.text);
        }
        schema
    }

    /// The names of the cases without a payload, or an object with the case as its one key.
    fn variant(&self, shape: &Shape) -> Value {
        let cases = shape.cases();
        let bare: Vec<_> =
            cases.iter().filter(|(_, payload)| payload.is_none()).map(|(name, _)| name).collect();
        let mut forms = Vec::new();
        if !bare.is_empty() {
            forms.push(json!({ "type": "string", "enum": bare }));
        }
        for (name, payload) in &cases {
            forms.extend(payload.map(|payload| object(name, self.of(payload))));
        }
        described(json!({ "anyOf": forms }), self.docs(cases.iter().map(|(name, _)| *name)))
    }

    /// What is known of a type with these fields, cases or names.
    fn docs<'n>(&self, names: impl Iterator<Item = &'n str> + Clone) -> Option<&TypeDocs> {
        let mut known = self.named.iter().filter(|named| named.has(names.clone()));
        let docs = known.next()?.docs;
        known.all(|other| other.docs == docs).then_some(docs)
    }
}

/// An object with one key.
fn object(key: &str, value: Value) -> Value {
    json!({
        "type": "object",
        "properties": { key: value },
        "required": [key],
        "additionalProperties": false,
    })
}

/// The same schema, or null.
fn nullable(schema: Value) -> Value {
    let nothing = json!({ "type": "null" });
    match schema {
        Value::Object(mut object) => {
            let description = object.shift_remove("description");
            let mut schema = match (object.get("type"), object.contains_key("enum")) {
                (Some(Value::String(kind)), false) => {
                    let kinds = json!([kind, "null"]);
                    object.insert("type".to_owned(), kinds);
                    Value::Object(object)
                }
                _ => match object.get_mut("anyOf").and_then(Value::as_array_mut) {
                    Some(forms) => {
                        forms.push(nothing);
                        Value::Object(object)
                    }
                    None => json!({ "anyOf": [object, nothing] }),
                },
            };
            if let Some(description) = description {
                schema["description"] = description;
            }
            schema
        }
        other => other,
    }
}

/// Adds what is known of a type and of its cases or names.
fn described(mut schema: Value, docs: Option<&TypeDocs>) -> Value {
    if let Some(docs) = docs {
        let items = docs.items.iter().map(|(name, text)| format!("* `{name}`: {text}"));
        let text = Some(docs.text.clone()).filter(|text| !text.is_empty());
        let lines: Vec<_> = text.into_iter().chain(items).collect();
        if !lines.is_empty() {
            schema["description"] = json!(lines.join("\n"));
        }
    }
    schema
}
