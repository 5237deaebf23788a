//! Schemas that values are held to: compiled without network, files or backtracking patterns, and
//! only for values that take little work.

use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::{Map, Value};

use crate::SchemaCost;

/// Size limit of a compiled `pattern`, in bytes.
const PATTERN_BYTES_MAX: usize = 1 << 20;

/// A compiled schema.
#[derive(Debug)]
pub struct Schema {
    compiled: Validator,
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
pub enum Held<'v> {
    /// It fits.
    Fits,
    /// It does not, in these ways.
    Breaks(Box<dyn Iterator<Item = ValidationError<'v>> + 'v>),
    /// It does not; it is too large to say where.
    BreaksSomewhere,
    /// It takes too much work to know.
    TooManyParts,
}

// === impl Schema ===

impl Schema {
    /// Compiles the schema of a tool.
    ///
    /// # Errors
    ///
    /// Where the schema is not valid, refers to something outside itself, or could take for ever.
    pub fn new(tool: &str, schema: &Value) -> Result<Self, SchemaError> {
        let refused = |message| SchemaError { tool: tool.to_owned(), message };
        let cost = SchemaCost::of(schema).map_err(refused)?;
        let compiled = jsonschema::options()
            .with_draft(jsonschema::Draft::Draft202012)
            .with_pattern_options(PatternOptions::regex().size_limit(PATTERN_BYTES_MAX))
            .build(schema)
            .map_err(|error| refused(error.to_string()))?;
        Ok(Self { compiled, cost })
    }

    /// Whether it takes so little time to hold an object to the schema that nobody waits for it.
    pub fn is_light(&self, fields: &Map<String, Value>) -> bool {
        self.cost.work_of_fields(fields).is_light()
    }

    /// Holds a value to the schema.
    pub fn hold<'v>(&'v self, value: &'v Value) -> Held<'v> {
        let work = self.cost.work(value);
        if !work.is_allowed() {
            return Held::TooManyParts;
        }
        // What breaks it is collected, however much that is.
        if work.can_be_told() {
            return Held::Breaks(Box::new(self.compiled.iter_errors(value)));
        }
        if self.compiled.is_valid(value) { Held::Fits } else { Held::BreaksSomewhere }
    }
}
