//! Arguments of calls: read strictly ([`arguments`]), then held to a tool's schema. Aliases become main
//! keys, then every violation is reported at once, each with a JSON pointer, what was expected, what came
//! and the nearest valid thing. What a schema costs to hold a value to is known beforehand ([`SchemaCost`]).
//!
//! [`CompiledSchema`] is a schema by itself: whether arguments fit it, and where they do not, in the same words
//! for everybody. [`ArgumentValidator`] adds what a call has to keep to before it runs.
//!
//! [`json`] is the strict reader behind that, also for other JSON in which a key may come twice.
//!
//! It knows values alone: no tool, no file, no connection.

pub mod arguments;
mod bound;
mod cost;
pub mod json;
mod parameters;
mod places;
mod positions;
mod quoted;
mod schema;
mod steps;
mod validator;
mod violation;

use self::quoted::quoted;

pub use self::bound::ValueBound;
pub use self::cost::SchemaCost;
pub use self::parameters::Parameters;
pub use self::schema::{CompiledSchema, Schema, SchemaError, ValidationOutcome};
pub use self::validator::ArgumentValidator;
pub use self::violation::{SHOWN_KEY_CHARS_MAX, Violation, cut, json_type, nearest, shown};
