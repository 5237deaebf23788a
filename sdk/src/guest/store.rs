//! The plugin's store: a few values that outlive the call, apart for every workspace. Capability
//! [`store`](crate::Capability::store).
//!
//! Several changes of one call do not hang together: another call may come between them.
//!
//! ```no_run
//! # extern crate moss_sdk as moss;
//! use moss::ToolError;
//! use moss::guest::store;
//!
//! fn count() -> Result<u64, ToolError> {
//!     let calls = store::get_json::<u64>("calls")?.unwrap_or_default() + 1;
//!     store::set_json("calls", &calls)?;
//!     Ok(calls)
//! }
//! ```

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{ErrorCode, ToolError};
use crate::guest::bindings::moss::plugin::store as wit;

/// Returns the value of a key.
///
/// # Errors
///
/// `Denied` without the capability; `InvalidArguments` for an invalid key: it has 1 to 256 bytes.
pub fn get(key: &str) -> Result<Option<Vec<u8>>, ToolError> {
    Ok(wit::get(key)?)
}

/// Keeps a value.
///
/// # Errors
///
/// As [`get`]; `TooLarge` where the store would have more bytes than were granted.
pub fn set(key: &str, value: &[u8]) -> Result<(), ToolError> {
    Ok(wit::set(key, value)?)
}

/// Forgets a key. Returns whether there was one.
///
/// # Errors
///
/// As [`get`].
pub fn delete(key: &str) -> Result<bool, ToolError> {
    Ok(wit::delete(key)?)
}

/// Returns the keys that start with a text, in bytewise order.
///
/// # Errors
///
/// As [`get`].
pub fn keys(prefix: &str) -> Result<Vec<String>, ToolError> {
    Ok(wit::keys(prefix)?)
}

/// Returns the value of a key that [`set_json`] has kept.
///
/// # Errors
///
/// As [`get`]; `PluginFailed` where the value does not fit the type.
pub fn get_json<T: DeserializeOwned>(key: &str) -> Result<Option<T>, ToolError> {
    let Some(value) = get(key)? else { return Ok(None) };
    let value = serde_json::from_slice(&value).map_err(|error| unfit(key, &error))?;
    Ok(Some(value))
}

/// Keeps a value as JSON.
///
/// # Errors
///
/// As [`set`]; `PluginFailed` where the value has no form in JSON.
pub fn set_json<T: Serialize>(key: &str, value: &T) -> Result<(), ToolError> {
    let value = serde_json::to_vec(value).map_err(|error| unfit(key, &error))?;
    set(key, &value)
}

fn unfit(key: &str, error: &serde_json::Error) -> ToolError {
    ToolError::new(ErrorCode::PluginFailed, format!("the value `{key}` of the store: {error}"))
}
