//! Schemas that values are held to: compiled without network, files or backtracking patterns, and
//! only for values that take little work.

use jsonschema::{PatternOptions, ValidationError, Validator};
use moss_plugin_host::SchemaCost;
use serde_json::Value;

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

/// A value that has too many parts for a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooManyParts;

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

    /// Returns in which ways a value breaks the schema.
    ///
    /// # Errors
    ///
    /// Where it would take too much work to know.
    pub fn problems<'v>(
        &'v self,
        value: &'v Value,
    ) -> Result<impl Iterator<Item = ValidationError<'v>>, TooManyParts> {
        if self.cost.allows(value) {
            Ok(self.compiled.iter_errors(value))
        } else {
            Err(TooManyParts)
        }
    }
}
