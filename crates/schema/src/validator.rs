//! Binding: arguments as given become arguments that fit, or every violation is reported.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::cost::SchemaCost;
use crate::parameters::Parameters;
use crate::schema::{CompiledSchema, SchemaError, ValidationOutcome};
use crate::violation::{SHOWN_KEY_CHARS_MAX, Violation, cut, pointer, shown};

/// Most violations that are reported of one call.
const VIOLATIONS_MAX: usize = 50;
/// Largest integer that every reader of JSON keeps exact: 2^53 - 1.
const EXACT_INTEGER_MAX: i64 = 9_007_199_254_740_991;

/// What the arguments of a tool are held to before a call of it runs.
#[derive(Debug)]
pub struct ArgumentValidator {
    compiled: Arc<CompiledSchema>,
    cost: SchemaCost,
    schema: Value,
    aliases: BTreeMap<String, Vec<String>>,
}

// === impl ArgumentValidator ===

impl ArgumentValidator {
    /// Compiles the schema that the arguments of a tool are held to. Aliases are other accepted keys of a
    /// parameter, by its name.
    ///
    /// # Errors
    ///
    /// As [`crate::Schema::new`].
    pub fn new(
        tool: &str,
        schema: &Value,
        aliases: &BTreeMap<String, Vec<String>>,
    ) -> Result<Self, SchemaError> {
        let cost = SchemaCost::of(schema).map_err(|why| SchemaError::new(tool, why))?;
        let compiled = Arc::new(CompiledSchema::new(tool, schema)?);
        Ok(Self { compiled, cost, schema: schema.clone(), aliases: aliases.clone() })
    }

    /// Returns the compiled schema, to be shared.
    pub fn compiled(&self) -> &Arc<CompiledSchema> {
        &self.compiled
    }

    /// Whether it takes so little time to bind arguments that nobody waits for it.
    pub fn is_light(&self, arguments: &Map<String, Value>) -> bool {
        self.cost.work_of_fields(arguments).is_light()
    }

    /// Turns arguments as given into arguments that fit the schema.
    ///
    /// # Errors
    ///
    /// Every violation, in the order of the arguments.
    pub fn bind(&self, arguments: Map<String, Value>) -> Result<Value, Vec<Violation>> {
        let (arguments, mut violations) = self.normalize(arguments);
        let mut arguments = Value::Object(arguments);
        self.hold(&arguments, &mut violations);
        if violations.is_empty() {
            make_integers(&mut arguments, &self.schema, "", &mut violations);
        }
        if violations.is_empty() { Ok(arguments) } else { Err(violations) }
    }

    fn hold(&self, arguments: &Value, violations: &mut Vec<Violation>) {
        let mut on_the_whole = |expected: &str| {
            violations.push(Violation {
                pointer: String::new(),
                expected: expected.to_owned(),
                got: shown(arguments),
                suggestion: None,
            });
        };
        match self.compiled.hold(&self.cost, arguments) {
            ValidationOutcome::Fits => {}
            ValidationOutcome::BreaksSomewhere => {
                on_the_whole("arguments that fit the schema; these are too large to say where");
            }
            ValidationOutcome::TooManyParts => {
                on_the_whole("fewer or shorter values: these would take long to check");
            }
            ValidationOutcome::Breaks(problems) => {
                let parameters = Parameters { schema: &self.schema, aliases: &self.aliases };
                parameters.describe(problems, VIOLATIONS_MAX, violations);
            }
        }
    }

    /// Drops `null` of optional keys and moves aliases to their main keys.
    fn normalize(&self, mut arguments: Map<String, Value>) -> (Map<String, Value>, Vec<Violation>) {
        let required = self.schema.get("required").and_then(Value::as_array);
        let is_required =
            |key: &str| required.is_some_and(|keys| keys.iter().any(|one| one == key));
        arguments.retain(|key, value| !value.is_null() || is_required(key));
        let mut violations = Vec::new();
        for (main, aliases) in &self.aliases {
            for alias in aliases {
                let Some(value) = arguments.get(alias).cloned() else { continue };
                match arguments.get(main) {
                    Some(given) if *given != value => violations.push(Violation {
                        pointer: pointer(alias),
                        expected: format!("`{main}` alone: `{alias}` is another name of it"),
                        got: format!("{} beside {}", shown(&value), shown(given)),
                        suggestion: Some(format!("leave out `{alias}`")),
                    }),
                    Some(_) => {}
                    None => {
                        arguments.insert(main.clone(), value);
                    }
                }
                arguments.shift_remove(alias);
            }
        }
        (arguments, violations)
    }
}

fn may_hold_float(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_f64(),
        Value::Array(_) | Value::Object(_) => true,
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}

/// Writes `3.0` as `3` wherever the schema says integer: the schema accepts both. What is too large
/// to be exact is a violation.
fn make_integers(value: &mut Value, schema: &Value, at: &str, violations: &mut Vec<Violation>) {
    let below = |key: &str| format!("{at}{}", pointer(key));
    match value {
        Value::Number(number) if schema.get("type").is_some_and(|kind| kind == "integer") => {
            let Some(float) = number.as_f64().filter(|_| number.is_f64()) else { return };
            if float.abs() <= EXACT_INTEGER_MAX as f64 {
                *value = Value::from(float as i64);
            } else if violations.len() < VIOLATIONS_MAX {
                let minimum = schema.get("minimum").and_then(Value::as_i64);
                let minimum = minimum.unwrap_or(-EXACT_INTEGER_MAX);
                violations.push(Violation {
                    pointer: cut(at, SHOWN_KEY_CHARS_MAX),
                    expected: format!("an integer from {minimum} to {EXACT_INTEGER_MAX}"),
                    got: shown(value),
                    suggestion: None,
                });
            }
        }
        Value::Array(items) => {
            let Some(schema) = schema.get("items") else { return };
            let floats = |(_, item): &(usize, &mut Value)| may_hold_float(item);
            for (index, item) in items.iter_mut().enumerate().filter(floats) {
                make_integers(item, schema, &below(&index.to_string()), violations);
            }
        }
        Value::Object(fields) => {
            let Some(properties) = schema.get("properties") else { return };
            // Where it is is written down for what may be one: of most arguments nothing is.
            for (key, field) in fields.iter_mut().filter(|(_, field)| may_hold_float(field)) {
                if let Some(schema) = properties.get(key) {
                    make_integers(field, schema, &below(key), violations);
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;
