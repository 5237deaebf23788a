//! What the result of a call shows beside its output: texts, JSON, images, links. They reach whoever
//! called, on every front of moss, where the call succeeds. No capability is needed. In tests outside a
//! component nothing is shown.
//!
//! ```no_run
//! # extern crate moss_sdk as moss;
//! use moss::ToolError;
//! use moss::guest::content;
//!
//! fn show(chart: Vec<u8>) -> Result<(), ToolError> {
//!     content::image(chart)?;
//!     content::link("https://example.com/chart", "the numbers behind the chart")
//! }
//! ```

use serde::Serialize;

use super::IS_COMPONENT;
use crate::error::{ErrorCode, ToolError};
use crate::guest::bindings::moss::plugin::content as wit;

use wit::{Link, Part};

/// Shows a text for models and people.
///
/// # Errors
///
/// As [`image`].
pub fn text(text: impl Into<String>) -> Result<(), ToolError> {
    add(Part::Text(text.into()))
}

/// Shows a value for programs, which models read as text.
///
/// # Errors
///
/// As [`image`]; where it cannot be written as JSON.
pub fn json(value: &impl Serialize) -> Result<(), ToolError> {
    let json = serde_json::to_string(value)
        .map_err(|error| ToolError::new(ErrorCode::PluginFailed, error.to_string()))?;
    add(Part::Json(json))
}

/// Shows an image: the bytes of a PNG, JPEG, GIF or WebP file, at most 3 MiB.
///
/// # Errors
///
/// `InvalidArguments` for what is not as it should be, `TooLarge` beyond the size of an image or of the
/// output, `LimitExceeded` beyond 16 parts in one call.
pub fn image(data: Vec<u8>) -> Result<(), ToolError> {
    add(Part::Image(data))
}

/// Shows a link: an address that begins with `https://`, `http://` or `moss://`, and what it leads to in
/// a few words.
///
/// # Errors
///
/// As [`image`].
pub fn link(uri: impl Into<String>, name: impl Into<String>) -> Result<(), ToolError> {
    add(Part::Link(Link { uri: uri.into(), name: name.into() }))
}

fn add(part: Part) -> Result<(), ToolError> {
    match IS_COMPONENT {
        true => Ok(wit::add(&part)?),
        false => Ok(()),
    }
}
