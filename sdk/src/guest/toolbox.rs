//! Other tools of moss, as far as they only read. Capability [`tool`](crate::Capability::tool).
//!
//! The policy decides about such a call as about any of the plugin; where it would ask a person, the
//! call is denied. Tools that call tools do so at most 4 deep.
//!
//! ```no_run
//! # extern crate moss_sdk as moss;
//! use moss::guest::toolbox;
//! use moss::{ToolError, json};
//!
//! #[moss::data]
//! struct Content {
//!     content: String,
//! }
//!
//! fn head(path: &str) -> Result<String, ToolError> {
//!     let lines = json!({ "path": path, "endLine": 10 });
//!     Ok(toolbox::call::<Content>("read_file", &lines)?.content)
//! }
//! ```

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{ErrorCode, ToolError};
use crate::guest::bindings::moss::plugin::toolbox as wit;

/// Runs a tool and reads its output, of which only what the type names is needed.
///
/// # Errors
///
/// What the tool says; `Denied` without the capability or by policy; `PluginFailed` where the output
/// does not fit the type.
pub fn call<T: DeserializeOwned>(
    name: &str,
    arguments: &(impl Serialize + ?Sized),
) -> Result<T, ToolError> {
    let failed = |what: &str, error: serde_json::Error| {
        ToolError::new(ErrorCode::PluginFailed, format!("the {what} of `{name}`: {error}"))
    };
    let arguments = serde_json::to_string(arguments).map_err(|error| failed("arguments", error))?;
    let output = wit::call(name, &arguments)?;
    serde_json::from_str(&output).map_err(|error| failed("output", error))
}
