//! Schemas that values are held to: compiled without network, files or backtracking patterns, and
//! only for values that take little work.

use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::{Map, Value};

use crate::cost::{SchemaCost, check_spelling};
use crate::parameters::Parameters;
use crate::violation::Violation;

/// Size limit of a compiled `pattern`, in bytes.
const PATTERN_BYTES_MAX: usize = 1 << 20;

/// A compiled schema, whatever it costs to hold a value to it.
#[derive(Debug)]
pub struct CompiledSchema(Validator);

/// A compiled schema that values are held to as far as its cost allows.
#[derive(Debug)]
pub struct Schema {
    compiled: CompiledSchema,
    cost: SchemaCost,
}

/// A schema that cannot be compiled.
#[derive(Debug, thiserror::Error)]
#[error("the schema of `{tool}` is not usable: {message}")]
pub struct SchemaError {
    tool: String,
    message: String,
}

/// What came of holding a value to a schema.
pub enum ValidationOutcome<'v> {
    /// The value satisfies the schema.
    Fits,
    /// It does not, in these ways.
    Breaks(Box<dyn Iterator<Item = ValidationError<'v>> + 'v>),
    /// It does not; it is too large to say where.
    BreaksSomewhere,
    /// It takes too much work to know.
    TooManyParts,
}

// === impl CompiledSchema ===

impl CompiledSchema {
    /// Compiles a schema of a tool.
    ///
    /// # Errors
    ///
    /// Where the schema is not valid, or refers to something outside itself.
    pub fn new(tool: &str, schema: &Value) -> Result<Self, SchemaError> {
        check_spelling(schema).map_err(|why| SchemaError::new(tool, why))?;
        jsonschema::options()
            .with_draft(jsonschema::Draft::Draft202012)
            .with_pattern_options(PatternOptions::regex().size_limit(PATTERN_BYTES_MAX))
            .build(schema)
            .map(Self)
            .map_err(|error| SchemaError::new(tool, error.to_string()))
    }

    /// Whether a value fits as it is.
    pub fn fits(&self, value: &Value) -> bool {
        self.0.is_valid(value)
    }

    /// Says where arguments do not fit as they are: the first ways, at most `count_max`. The schema of
    /// `parameters` is the one that was compiled.
    pub fn violations(
        &self,
        parameters: Parameters<'_>,
        arguments: &Value,
        count_max: usize,
    ) -> Vec<Violation> {
        let mut violations = Vec::new();
        parameters.describe(self.0.iter_errors(arguments), count_max, &mut violations);
        violations
    }

    /// Holds a value to the schema, as far as its cost allows.
    pub(crate) fn hold<'v>(&'v self, cost: &SchemaCost, value: &'v Value) -> ValidationOutcome<'v> {
        let work = cost.work(value);
        if !work.is_allowed() {
            return ValidationOutcome::TooManyParts;
        }
        // Nearly everything fits, and a yes is found in a fraction of the time that a list takes.
        if self.fits(value) {
            return ValidationOutcome::Fits;
        }
        // What breaks it is collected, however much that is.
        if work.is_reportable() {
            return ValidationOutcome::Breaks(Box::new(self.0.iter_errors(value)));
        }
        ValidationOutcome::BreaksSomewhere
    }
}

// === impl Schema ===

impl Schema {
    /// Compiles a schema of a tool.
    ///
    /// # Errors
    ///
    /// Where the schema is not valid, refers to something outside itself, or could take for ever.
    pub fn new(tool: &str, schema: &Value) -> Result<Self, SchemaError> {
        let cost = SchemaCost::of(schema).map_err(|why| SchemaError::new(tool, why))?;
        Ok(Self { compiled: CompiledSchema::new(tool, schema)?, cost })
    }

    /// Whether it takes so little time to hold an object to the schema that nobody waits for it.
    pub fn is_light(&self, fields: &Map<String, Value>) -> bool {
        self.cost.work_of_fields(fields).is_light()
    }

    /// Holds a value to the schema.
    pub fn hold<'v>(&'v self, value: &'v Value) -> ValidationOutcome<'v> {
        self.compiled.hold(&self.cost, value)
    }
}

// === impl SchemaError ===

impl SchemaError {
    pub(crate) fn new(tool: &str, message: String) -> Self {
        Self { tool: tool.to_owned(), message }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// What cannot be read costs the most: nobody is held to it.
    #[test]
    fn a_pattern_that_cannot_be_read_is_no_schema() {
        let long = format!("({}){{0}}", r"\w".repeat(1000));
        for pattern in [r"^[^\0]{1,4096}$", "(?=x)", "(", r"(a)\1", &long] {
            assert!(CompiledSchema::new("x", &json!({ "pattern": pattern })).is_err(), "{pattern}");
            let named = json!({ "patternProperties": { pattern: {} } });
            assert!(CompiledSchema::new("x", &named).is_err(), "{pattern}");
        }
    }

    #[test]
    fn schema_that_refers_outside_itself_is_refused() {
        for reference in ["http://127.0.0.1:1/x.json", "file:///etc/passwd"] {
            assert!(Schema::new("x", &json!({"$ref": reference})).is_err(), "{reference}");
        }
    }
}
