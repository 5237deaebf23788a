//! The texts of the workspace and what they declare, searched through moss's index. Capability
//! [`index`](crate::Capability::index).
//!
//! Found is what the policy lets the plugin read without asking, as it is at that moment; how long it
//! takes depends on the matches, not on the size of the workspace.
//!
//! ```no_run
//! # extern crate moss_sdk as moss;
//! use moss::ToolError;
//! use moss::guest::index::{Query, search};
//!
//! fn todos() -> Result<u64, ToolError> {
//!     Ok(search(&Query { lines_max: 20, ..Query::new(r"\bTODO\b") })?.total)
//! }
//! ```

use crate::error::ToolError;
use crate::guest::bindings::moss::plugin::index as wit;

pub use wit::{Declaration, Found, Line, Query};

/// How many lines a search returns where nobody says.
const LINES_DEFAULT: u32 = 100;

/// Searches the texts of the workspace.
///
/// # Errors
///
/// `InvalidArguments` for what is no regular expression; `Denied` without the capability;
/// `LimitExceeded` after too many searches of one call.
pub fn search(query: &Query) -> Result<Found, ToolError> {
    Ok(wit::search(query)?)
}

/// Finds what declares one of some names, upper and lower case differing: of each in turn, source before
/// all else, then by path. Up to 200 names and 1,000 declarations.
///
/// # Errors
///
/// `InvalidArguments` for more names; `Denied` without the capability; `LimitExceeded` after too many
/// searches of one call.
pub fn symbols<I>(names: I) -> Result<Vec<Declaration>, ToolError>
where
    I: IntoIterator,
    I::Item: Into<String>,
{
    let names: Vec<String> = names.into_iter().map(Into::into).collect();
    Ok(wit::symbols(&names)?)
}

// === impl Query ===

impl Query {
    /// Searches all text files for a regular expression, whatever the case, and returns up to 100
    /// lines.
    pub fn new(pattern: impl Into<String>) -> Self {
        Self {
            pattern: pattern.into(),
            case_sensitive: false,
            file_types: None,
            lines_max: LINES_DEFAULT,
        }
    }
}
