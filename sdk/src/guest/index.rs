//! The texts of the workspace, searched through moss's index. Capability
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

pub use wit::{Found, Line, Query};

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
