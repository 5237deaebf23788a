//! How much work a schema makes of a value, before any value is held to it.
//!
//! Validators follow every way that leads through a schema, and references make ways many: two
//! references to a definition that has two of its own, forty times, are 2^40 of them in 4 KiB. No
//! deadline ends a validation, so schemas that could need so long are refused when they come.
//!
//! A schema costs its keywords once, and again for each value that a keyword such as `items` is held
//! against. A definition may refer to itself if every part of a value is met by it in one way only.

mod body;
mod spelling;
mod walk;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use self::body::SchemaBody;
pub(crate) use self::spelling::check_spelling;
pub(crate) use self::walk::work;
use crate::quoted;
use crate::steps::collide;

/// Most definitions of one schema.
const DEFINITIONS_MAX: usize = 256;
/// Most keywords and references that lead deeper into the schema but not into the value. Validators
/// recurse over them for every level of a value.
const PLACE_DEPTH_MAX: usize = 16;
/// Most references of one definition that lead back to it.
const WAYS_MAX: usize = 100;
/// Most steps of a schema for any value, and for each part of it.
const STEPS_MAX: u64 = 10_000;
/// Most patterns of one schema: each takes its time to be compiled.
const PATTERNS_MAX: u64 = 100;
/// Most steps that holding a value to a schema may take: some tenths of a second.
const WORK_MAX: u64 = 50_000_000;
/// Bytes of a text that count as a part of the value: its length is looked at.
const PART_BYTES: usize = 64;
/// Steps for each byte and pattern.
const PATTERN_STEPS: u64 = 12;
/// Steps that nobody waits for, and locations in which a value may break a schema that are
/// collected.
const LIGHT_MAX: u64 = 200_000;

/// How many steps it takes to hold a value to a schema, at most.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaCost {
    all: Cost,
    /// Patterns that only the text of one field of the value is held to, by its name.
    of_fields: BTreeMap<String, u64>,
}

/// What a part of a schema costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Cost {
    /// Steps for any value.
    once: u64,
    /// Steps for each part of the value.
    each: u64,
    /// Patterns that its texts may be held to.
    patterns: u64,
    /// Whether a part counts again for each level above it.
    is_recursive: bool,
}

/// The definitions of a schema, and the schema itself under the name "".
struct SchemaDefinitions<'s> {
    bodies: BTreeMap<&'s str, SchemaBody<'s>>,
    reached: BTreeMap<&'s str, BTreeSet<&'s str>>,
}

/// What it takes at most to hold one value to a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ValidationWork {
    steps: u64,
    /// In how many locations the value may break it: all that do are collected.
    findings: u64,
}

// === impl ValidationWork ===

impl ValidationWork {
    /// Whether it is taken on at all.
    pub fn is_allowed(&self) -> bool {
        self.steps <= WORK_MAX
    }

    /// Whether it is so little that nobody waits for it.
    pub fn is_light(&self) -> bool {
        self.steps <= LIGHT_MAX
    }

    /// Whether all that breaks the schema can be determined.
    pub fn is_reportable(&self) -> bool {
        self.findings <= LIGHT_MAX
    }
}

// === impl SchemaCost ===

impl SchemaCost {
    /// Counts the steps of a schema whose references lead to its own `$defs`.
    ///
    /// # Errors
    ///
    /// Why no value can be held to it in a time that is known.
    pub fn of(schema: &Value) -> Result<Self, String> {
        check_spelling(schema)?;
        let definitions = SchemaDefinitions::read(schema)?;
        definitions.check_recursion()?;
        let all = definitions.cost("", &mut BTreeMap::new());
        // Nothing refers to the schema itself: its fields are those of the value.
        let of_fields = &definitions.bodies[""].of_fields;
        if sum(all.patterns, of_fields.values()) > PATTERNS_MAX {
            return Err(format!("has more than {PATTERNS_MAX} patterns"));
        }
        if all.once > STEPS_MAX || all.each > STEPS_MAX {
            return Err(format!(
                "leads through more than {STEPS_MAX} keywords, counted again wherever it refers \
                 to them; describe less, or refer to less"
            ));
        }
        let of_fields = of_fields.iter().map(|(name, patterns)| ((*name).to_owned(), *patterns));
        Ok(Self { all, of_fields: of_fields.collect() })
    }

    /// Returns what it takes at most to hold a value to the schema.
    pub fn work(&self, value: &Value) -> ValidationWork {
        match value {
            Value::Object(fields) => self.work_of_fields(fields),
            value => self.all.work_of(vec![(value, 1)], ValidationWork::default()),
        }
    }

    /// The same of an object.
    pub fn work_of_fields(&self, fields: &Map<String, Value>) -> ValidationWork {
        let names: usize = fields.keys().map(String::len).sum();
        let in_fields = self.of_fields.iter().map(|(name, patterns)| {
            let text = fields.get(name).and_then(Value::as_str).unwrap_or_default();
            held(*patterns, text.len())
        });
        let steps = in_fields.fold(self.all.of_text(names), u64::saturating_add);
        let rest = fields.values().map(|field| (field, 2)).collect();
        self.all.work_of(rest, ValidationWork { steps, findings: self.all.each })
    }
}

// === impl Cost ===

impl Cost {
    fn work_of(&self, mut rest: Vec<(&Value, u64)>, more: ValidationWork) -> ValidationWork {
        let (mut parts, mut text_bytes) = (0_u64, 0);
        while let Some((value, level)) = rest.pop() {
            parts += if self.is_recursive { level } else { 1 };
            match value {
                Value::Array(items) => rest.extend(items.iter().map(|item| (item, level + 1))),
                Value::Object(fields) => {
                    text_bytes += fields.keys().map(String::len).sum::<usize>();
                    rest.extend(fields.values().map(|field| (field, level + 1)));
                }
                Value::String(text) => text_bytes += text.len(),
                _ => {}
            }
        }
        let of_parts = self.once.saturating_add(self.each.saturating_mul(parts));
        let findings = of_parts.saturating_add(more.findings);
        let of_text = self.of_text(text_bytes).saturating_add(more.steps);
        ValidationWork { steps: findings.saturating_add(of_text), findings }
    }

    /// What the texts of a value add.
    fn of_text(&self, bytes: usize) -> u64 {
        let of_parts = self.each.saturating_mul((bytes / PART_BYTES) as u64);
        of_parts.saturating_add(held(self.patterns, bytes))
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
        self.patterns = self.patterns.saturating_add(times(other.patterns));
        self.is_recursive |= other.is_recursive;
    }
}

// === impl SchemaDefinitions ===

impl<'s> SchemaDefinitions<'s> {
    fn read(schema: &'s Value) -> Result<Self, String> {
        let mut bodies = BTreeMap::from([("", SchemaBody::read(schema)?)]);
        let defined = schema.get("$defs").and_then(Value::as_object);
        for (name, schema) in defined.into_iter().flatten() {
            bodies.insert(name.as_str(), SchemaBody::read(schema)?);
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
            // Tracking of what was evaluated goes the same way once more, at each level again.
            let is_tracked = ways.iter().any(|way| way.factor > 1);
            let are_two = ways.iter().enumerate().any(|(index, one)| {
                ways[..index].iter().any(|other| collide(&one.path, &other.path))
            });
            if are_two || is_tracked {
                return Err(format!(
                    "comes back to its definition `{}` in two ways at one location, which takes \
                     exponential time; write `true` for what may be anything",
                    quoted(name)
                ));
            }
        }
        Ok(())
    }

    /// Returns how deep a definition leads at one location of a value.
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
    fn cost(&self, name: &'s str, counted: &mut BTreeMap<&'s str, Cost>) -> Cost {
        if let Some(cost) = counted.get(name) {
            return *cost;
        }
        let is_beside = |other: &str| self.reaches(name, other) && self.reaches(other, name);
        let circle: Vec<&str> = self.bodies.keys().copied().filter(|to| is_beside(to)).collect();
        let cost = if circle.is_empty() {
            self.cost_of_body(name, &circle, counted)
        } else {
            // Any of the circle may be what a part of the value is held against.
            let mut all = Cost::default();
            for other in &circle {
                all.add(self.cost_of_body(other, &circle, counted), 1, true);
            }
            Cost { is_recursive: true, ..all }
        };
        counted.insert(name, cost);
        cost
    }

    fn cost_of_body(
        &self,
        name: &'s str,
        circle: &[&str],
        counted: &mut BTreeMap<&'s str, Cost>,
    ) -> Cost {
        let body = &self.bodies[name];
        let mut cost = body.own;
        if !name.is_empty() {
            // Whichever part of the value it is about.
            cost.patterns = sum(cost.patterns, body.of_fields.values());
        }
        for reference in body.references.iter().filter(|to| !circle.contains(&to.to)) {
            let target = self.cost(reference.to, counted);
            cost.add(target, reference.factor, reference.is_each);
        }
        cost
    }
}

/// What it takes to hold a text to patterns.
fn held(patterns: u64, bytes: usize) -> u64 {
    patterns.saturating_mul(PATTERN_STEPS).saturating_mul(bytes as u64)
}

fn sum<'c>(first: u64, counts: impl Iterator<Item = &'c u64>) -> u64 {
    counts.fold(first, |sum, count| sum.saturating_add(*count))
}

fn reached<'s>(bodies: &BTreeMap<&'s str, SchemaBody<'s>>, from: &'s str) -> BTreeSet<&'s str> {
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
        "nests more than {PLACE_DEPTH_MAX} keywords and references at one location; describe it plainer"
    )
}

#[cfg(test)]
mod tests;
