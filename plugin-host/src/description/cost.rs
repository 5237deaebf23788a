//! How much work a schema makes of a value, before any value is held to it.
//!
//! Validators follow every way that leads through a schema, and references make ways many: two
//! references to a definition that has two of its own, forty times, are 2^40 of them in 4 KiB. No
//! deadline ends a validation, so schemas that could need so long are refused when they come.
//!
//! A schema costs its keywords once, and again for each value that a keyword such as `items` is held
//! against. A definition may refer to itself if every part of a value is met by it in one way only.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::steps::{Step, collide};
use crate::error::quoted;

/// Most definitions of one schema.
const DEFINITIONS_MAX: usize = 256;
/// Most keywords and references that lead deeper into the schema but not into the value. Validators
/// recurse over them for every level of a value.
const PLACE_DEPTH_MAX: usize = 16;
/// Most references of one definition that lead back to it.
const WAYS_MAX: usize = 100;
/// Most steps of a schema for any value, and for each part of it.
const STEPS_MAX: u64 = 10_000;
/// Most steps that holding a value to a schema may take: some tenths of a second.
const WORK_MAX: u64 = 50_000_000;
/// What tracking of what was evaluated costs: it looks at everything beside it once more, and at what
/// those look at.
const UNEVALUATED_FACTOR: u64 = 4;

/// How many steps it takes to hold a value to a schema, at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SchemaCost {
    /// Steps for any value.
    once: u64,
    /// Steps for each part of the value.
    each: u64,
    /// Whether a part counts again for each level above it.
    is_recursive: bool,
}

/// What is known of one definition, or of the schema itself.
#[derive(Default)]
struct Body<'s> {
    own: SchemaCost,
    references: Vec<Reference<'s>>,
}

struct Reference<'s> {
    to: &'s str,
    /// From the value that the definition is held against to the one that this is.
    path: Vec<Step<'s>>,
    /// Keywords at the same place above it.
    place_depth: usize,
    /// How often the target's costs come, and whether for each part of the value.
    factor: u64,
    is_each: bool,
}

/// Where a walk through a schema is.
#[derive(Clone)]
struct Place<'s> {
    path: Vec<Step<'s>>,
    depth: usize,
    factor: u64,
    is_each: bool,
}

/// The definitions of a schema, and the schema itself under the name "".
struct Definitions<'s> {
    bodies: BTreeMap<&'s str, Body<'s>>,
    reached: BTreeMap<&'s str, BTreeSet<&'s str>>,
}

// === impl SchemaCost ===

impl SchemaCost {
    /// Counts the steps of a schema whose references lead to its own `$defs`.
    ///
    /// # Errors
    ///
    /// Why no value can be held to it in a time that is known.
    pub fn of(schema: &Value) -> Result<Self, String> {
        let definitions = Definitions::read(schema)?;
        definitions.check_recursion()?;
        let mut counted = BTreeMap::new();
        let cost = definitions.cost("", &mut counted);
        if cost.once > STEPS_MAX || cost.each > STEPS_MAX {
            return Err(format!(
                "leads through more than {STEPS_MAX} keywords, counted again wherever it refers \
                 to them; describe less, or refer to less"
            ));
        }
        Ok(cost)
    }

    /// Whether a value is small enough to be held to the schema.
    pub fn allows(&self, value: &Value) -> bool {
        let mut parts = 0_u64;
        let mut rest = vec![(value, 1)];
        while let Some((value, level)) = rest.pop() {
            parts += if self.is_recursive { level } else { 1 };
            match value {
                Value::Array(items) => rest.extend(items.iter().map(|item| (item, level + 1))),
                Value::Object(fields) => {
                    rest.extend(fields.values().map(|field| (field, level + 1)));
                }
                _ => {}
            }
        }
        self.once.saturating_add(self.each.saturating_mul(parts)) <= WORK_MAX
    }

    fn add(&mut self, other: Self, factor: u64, is_each: bool) {
        let times = |steps: u64| steps.saturating_mul(factor);
        if is_each {
            let all = other.once.saturating_add(other.each);
            self.each = self.each.saturating_add(times(all));
        } else {
            self.once = self.once.saturating_add(times(other.once));
            self.each = self.each.saturating_add(times(other.each));
        }
        self.is_recursive |= other.is_recursive;
    }
}

// === impl Definitions ===

impl<'s> Definitions<'s> {
    fn read(schema: &'s Value) -> Result<Self, String> {
        let mut bodies = BTreeMap::from([("", Body::read(schema)?)]);
        let defined = schema.get("$defs").and_then(Value::as_object);
        for (name, schema) in defined.into_iter().flatten() {
            bodies.insert(name.as_str(), Body::read(schema)?);
        }
        if bodies.len() > DEFINITIONS_MAX {
            return Err(format!("has more than {DEFINITIONS_MAX} definitions"));
        }
        for reference in bodies.values().flat_map(|body| &body.references) {
            if reference.to.is_empty() || !bodies.contains_key(reference.to) {
                let to = quoted(reference.to);
                return Err(format!("refers to `#/$defs/{to}`, which it does not have"));
            }
        }
        let reached = bodies.keys().map(|name| (*name, reached(&bodies, name))).collect();
        Ok(Self { bodies, reached })
    }

    fn reaches(&self, from: &str, to: &str) -> bool {
        self.reached[from].contains(to)
    }

    /// Whether a definition leads back to itself.
    fn is_circular(&self, name: &str) -> bool {
        self.reaches(name, name)
    }

    /// Whether it leads to one that leads back to itself.
    fn is_recursive(&self, name: &str) -> bool {
        self.reached[name].iter().any(|to| self.is_circular(to)) || self.is_circular(name)
    }

    /// No value is met by a definition in more than one way, and none without an end.
    fn check_recursion(&self) -> Result<(), String> {
        let mut depths = BTreeMap::new();
        for (name, body) in &self.bodies {
            for reference in &body.references {
                let below = self.place_depth(reference.to, &mut Vec::new(), &mut depths)?;
                if reference.place_depth + 1 + below > PLACE_DEPTH_MAX {
                    return Err(too_deep());
                }
            }
            if !self.is_circular(name) {
                continue;
            }
            let ways: Vec<_> =
                body.references.iter().filter(|to| self.is_recursive(to.to)).collect();
            if ways.len() > WAYS_MAX {
                let name = quoted(name);
                return Err(format!(
                    "comes back to its definition `{name}` in more than {WAYS_MAX} ways"
                ));
            }
            let are_two = ways.iter().enumerate().any(|(index, one)| {
                ways[..index].iter().any(|other| collide(&one.path, &other.path))
            });
            if are_two {
                return Err(format!(
                    "comes back to its definition `{}` in two ways at one place, which takes \
                     exponential time; write `true` for what may be anything",
                    quoted(name)
                ));
            }
        }
        Ok(())
    }

    /// Returns how deep a definition leads at one place of a value.
    fn place_depth(
        &self,
        name: &'s str,
        above: &mut Vec<&'s str>,
        known: &mut BTreeMap<&'s str, usize>,
    ) -> Result<usize, String> {
        if let Some(depth) = known.get(name) {
            return Ok(*depth);
        }
        if above.contains(&name) {
            let name = quoted(name);
            return Err(format!("defines `{name}` by itself, without going into the value"));
        }
        above.push(name);
        let mut deepest = self.bodies[name].deepest();
        for reference in self.bodies[name].references.iter().filter(|to| to.path.is_empty()) {
            let below = self.place_depth(reference.to, above, known)?;
            deepest = deepest.max(reference.place_depth + 1 + below);
        }
        above.pop();
        known.insert(name, deepest);
        Ok(deepest)
    }

    /// Counts a definition: what it costs by itself, and what it refers to.
    fn cost(&self, name: &'s str, counted: &mut BTreeMap<&'s str, SchemaCost>) -> SchemaCost {
        if let Some(cost) = counted.get(name) {
            return *cost;
        }
        let is_beside = |other: &str| self.reaches(name, other) && self.reaches(other, name);
        let circle: Vec<&str> = self.bodies.keys().copied().filter(|to| is_beside(to)).collect();
        let cost = if circle.is_empty() {
            self.cost_of_body(name, &circle, counted)
        } else {
            // Any of the circle may be what a part of the value is held against.
            let mut all = SchemaCost::default();
            for other in &circle {
                all.add(self.cost_of_body(other, &circle, counted), 1, true);
            }
            SchemaCost { is_recursive: true, ..all }
        };
        counted.insert(name, cost);
        cost
    }

    fn cost_of_body(
        &self,
        name: &'s str,
        circle: &[&str],
        counted: &mut BTreeMap<&'s str, SchemaCost>,
    ) -> SchemaCost {
        let body = &self.bodies[name];
        let mut cost = body.own;
        for reference in body.references.iter().filter(|to| !circle.contains(&to.to)) {
            let target = self.cost(reference.to, counted);
            cost.add(target, reference.factor, reference.is_each);
        }
        cost
    }
}

fn reached<'s>(bodies: &BTreeMap<&'s str, Body<'s>>, from: &'s str) -> BTreeSet<&'s str> {
    let mut reached = BTreeSet::new();
    let mut rest = vec![from];
    while let Some(name) = rest.pop() {
        let further = bodies[name].references.iter().map(|reference| reference.to);
        rest.extend(further.filter(|to| reached.insert(*to)));
    }
    reached
}

fn too_deep() -> String {
    format!(
        "nests more than {PLACE_DEPTH_MAX} keywords and references at one place; describe it plainer"
    )
}

// === impl Body ===

impl<'s> Body<'s> {
    fn read(schema: &'s Value) -> Result<Self, String> {
        let mut body = Self::default();
        let start = Place { path: Vec::new(), depth: 0, factor: 1, is_each: false };
        body.walk(schema, &start)?;
        Ok(body)
    }

    /// How deep its references stand, at the place where it begins.
    fn deepest(&self) -> usize {
        let here = self.references.iter().filter(|reference| reference.path.is_empty());
        here.map(|reference| reference.place_depth).max().unwrap_or_default()
    }

    fn walk(&mut self, schema: &'s Value, at: &Place<'s>) -> Result<(), String> {
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
        at: &Place<'s>,
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
                self.walk(sub, &at.below(Step::Key(Some(name)), false))
            }),
            "patternProperties" => all(value)
                .into_iter()
                .try_for_each(|(_, sub)| self.walk(sub, &at.below(Step::Key(None), true))),
            "additionalProperties" | "unevaluatedProperties" | "propertyNames" => {
                self.walk(value, &at.below(Step::Key(None), true))
            }
            "prefixItems" => {
                all(value).into_iter().enumerate().try_for_each(|(index, (_, sub))| {
                    self.walk(sub, &at.below(Step::Item(Some(index)), false))
                })
            }
            "items" | "unevaluatedItems" | "contains" => {
                self.walk(value, &at.below(Step::Item(None), true))
            }
            _ => Ok(()),
        }
    }

    fn count(&mut self, steps: usize, at: &Place<'s>) {
        let steps = SchemaCost { once: steps as u64, ..SchemaCost::default() };
        self.own.add(steps, at.factor, at.is_each);
    }
}

/// What keywords look at one after the other.
fn listed(keywords: &Map<String, Value>) -> usize {
    let lists = ["enum", "required"].iter().filter_map(|key| keywords.get(*key)?.as_array());
    keywords.len() + lists.map(Vec::len).sum::<usize>()
}

// === impl Place ===

impl<'s> Place<'s> {
    fn deeper(&self) -> Self {
        Self { depth: self.depth + 1, ..self.clone() }
    }

    fn below(&self, step: Step<'s>, is_each: bool) -> Self {
        let path = self.path.iter().copied().chain([step]).collect();
        Self { path, depth: 0, factor: self.factor, is_each: self.is_each || is_each }
    }
}

#[cfg(test)]
mod tests;
