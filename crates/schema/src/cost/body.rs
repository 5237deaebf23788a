//! What one definition of a schema costs by itself, and what it refers to.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{Cost, PLACE_DEPTH_MAX, too_deep};
use crate::steps::PathSegment;

/// What tracking of what was evaluated costs: it looks at everything beside it once more, and at what
/// those look at.
const UNEVALUATED_FACTOR: u64 = 4;
/// Keywords whose values are looked at one after the other.
const LISTS: &[&str] = &["enum", "const", "required", "dependentRequired", "dependencies"];
/// Keywords that look at the whole of a value, however large it is.
pub(super) const EACH: &[&str] =
    &["enum", "const", "uniqueItems", "minLength", "maxLength", "format", "pattern"];

/// What is known of one definition, or of the schema itself.
#[derive(Default)]
pub(super) struct SchemaBody<'s> {
    pub(super) own: Cost,
    /// Patterns that only the text of one field is held to, by its name.
    pub(super) of_fields: BTreeMap<&'s str, u64>,
    pub(super) references: Vec<Reference<'s>>,
}

pub(super) struct Reference<'s> {
    pub(super) to: &'s str,
    /// From the value that the definition is held against to the one that this is.
    pub(super) path: Vec<PathSegment<'s>>,
    /// Keywords at the same location above it.
    pub(super) place_depth: usize,
    /// How often the target's costs come, and whether for each part of the value.
    pub(super) factor: u64,
    pub(super) is_each: bool,
}

/// Where a walk through a schema is.
#[derive(Clone)]
struct WalkPosition<'s> {
    path: Vec<PathSegment<'s>>,
    depth: usize,
    factor: u64,
    is_each: bool,
}

// === impl SchemaBody ===

impl<'s> SchemaBody<'s> {
    pub(super) fn read(schema: &'s Value) -> Result<Self, String> {
        let mut body = Self::default();
        let start = WalkPosition { path: Vec::new(), depth: 0, factor: 1, is_each: false };
        body.walk(schema, &start)?;
        Ok(body)
    }

    /// How deep its references stand, at the location where it begins.
    pub(super) fn deepest(&self) -> usize {
        let here = self.references.iter().filter(|reference| reference.path.is_empty());
        here.map(|reference| reference.place_depth).max().unwrap_or_default()
    }

    fn walk(&mut self, schema: &'s Value, at: &WalkPosition<'s>) -> Result<(), String> {
        let Value::Object(keywords) = schema else {
            self.count(1, at);
            return Ok(());
        };
        if at.depth > PLACE_DEPTH_MAX {
            return Err(too_deep());
        }
        let unevaluated = ["unevaluatedProperties", "unevaluatedItems"];
        let mut at = at.clone();
        if unevaluated.iter().any(|key| keywords.contains_key(*key)) {
            at.factor = at.factor.saturating_mul(UNEVALUATED_FACTOR);
        }
        self.count(1 + listed(keywords), &at);
        let of_each = EACH.iter().filter(|key| keywords.contains_key(**key)).count();
        let mut own =
            Cost { each: of_each as u64, patterns: of_names(keywords), ..Cost::default() };
        let of_text = u64::from(keywords.contains_key("pattern"));
        match *at.path.as_slice() {
            [PathSegment::Key(Some(field))] if of_text > 0 => {
                let count = self.of_fields.entry(field).or_default();
                *count = count.saturating_add(of_text.saturating_mul(at.factor));
            }
            _ => own.patterns += of_text,
        }
        self.own.add(own, at.factor, at.is_each);
        if let Some(Value::String(to)) = keywords.get("$ref") {
            self.references.push(Reference {
                to: to.strip_prefix("#/$defs/").unwrap_or_default(),
                path: at.path.clone(),
                place_depth: at.depth,
                factor: at.factor,
                is_each: at.is_each,
            });
        }
        keywords.iter().try_for_each(|(key, value)| self.walk_keyword(key, value, &at))
    }

    fn walk_keyword(
        &mut self,
        key: &'s str,
        value: &'s Value,
        at: &WalkPosition<'s>,
    ) -> Result<(), String> {
        let all = |value: &'s Value| match value {
            Value::Object(named) => named.iter().map(|(name, sub)| (name.as_str(), sub)).collect(),
            Value::Array(items) => items.iter().map(|sub| ("", sub)).collect(),
            _ => Vec::new(),
        };
        match key {
            "allOf" | "anyOf" | "oneOf" | "dependentSchemas" | "dependencies" => {
                all(value).into_iter().try_for_each(|(_, sub)| self.walk(sub, &at.deeper()))
            }
            "not" | "if" | "then" | "else" => self.walk(value, &at.deeper()),
            "properties" => all(value).into_iter().try_for_each(|(name, sub)| {
                self.walk(sub, &at.below(PathSegment::Key(Some(name)), false))
            }),
            "patternProperties" => all(value)
                .into_iter()
                .try_for_each(|(_, sub)| self.walk(sub, &at.below(PathSegment::Key(None), true))),
            "additionalProperties" | "unevaluatedProperties" | "propertyNames" => {
                self.walk(value, &at.below(PathSegment::Key(None), true))
            }
            "prefixItems" => {
                all(value).into_iter().enumerate().try_for_each(|(index, (_, sub))| {
                    self.walk(sub, &at.below(PathSegment::Item(Some(index)), false))
                })
            }
            "items" | "unevaluatedItems" | "contains" => {
                self.walk(value, &at.below(PathSegment::Item(None), true))
            }
            _ => Ok(()),
        }
    }

    fn count(&mut self, steps: usize, at: &WalkPosition<'s>) {
        let steps = Cost { once: steps as u64, ..Cost::default() };
        self.own.add(steps, at.factor, at.is_each);
    }
}

/// What keywords look at one after the other.
pub(super) fn listed(keywords: &Map<String, Value>) -> usize {
    let lists = LISTS.iter().filter_map(|key| keywords.get(*key));
    keywords.len() + lists.map(values_in).sum::<usize>()
}

/// Counts a value and all that is in it.
pub(super) fn values_in(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(values_in).sum(),
        Value::Object(fields) => fields.values().map(values_in).sum(),
        _ => 0,
    }
}

/// Patterns that the names of fields are held to.
fn of_names(keywords: &Map<String, Value>) -> u64 {
    keywords.get("patternProperties").and_then(Value::as_object).map_or(0, Map::len) as u64
}

// === impl WalkPosition ===

impl<'s> WalkPosition<'s> {
    fn deeper(&self) -> Self {
        Self { depth: self.depth + 1, ..self.clone() }
    }

    fn below(&self, step: PathSegment<'s>, is_each: bool) -> Self {
        let path = self.path.iter().copied().chain([step]).collect();
        Self { path, depth: 0, factor: self.factor, is_each: self.is_each || is_each }
    }
}
