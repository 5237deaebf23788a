//! What the person's editor knows. Capability [`editor`](crate::Capability::editor).
//!
//! The reply is absent without an editor, and where it does not know: have another way then.

use crate::error::ToolError;
use crate::guest::bindings::moss::plugin::editor as wit;

pub use wit::{DefinitionKind, Location, Position, Range, Symbol};

/// Returns the symbols of a file, each followed by those inside of it.
///
/// # Errors
///
/// `InvalidPath`; `Denied` without the capability or by policy.
pub fn symbols(path: &str) -> Result<Option<Vec<Symbol>>, ToolError> {
    Ok(wit::symbols(path)?)
}

/// Returns where the symbol at a position is defined. Locations outside the workspace are left out.
///
/// # Errors
///
/// As [`symbols`].
pub fn definitions(
    path: &str,
    position: Position,
    kind: DefinitionKind,
) -> Result<Option<Vec<Location>>, ToolError> {
    Ok(wit::definitions(path, position, kind)?)
}
