//! `moss:plugin/content`: what a call shows beside its output. It is checked and counted as it comes, so
//! that the guest hears what is wrong with it.

use moss_sdk::content::{CONTENT_PARTS_MAX, ContentImage, ContentLink, ContentPart};
use moss_sdk::{ErrorCode, ToolError};

use crate::bindings::content::{Host, Part};
use crate::bindings::types::Error;
use moss_plugin_list::units;
use moss_sdk::deceptive::quoted;

/// What the guest of one call added.
pub(crate) struct GuestContent {
    parts: Vec<ContentPart>,
    size_bytes: usize,
    /// Most bytes of all parts and the output together.
    bytes_max: usize,
}

fn read(part: Part) -> Result<ContentPart, ToolError> {
    Ok(match part {
        Part::Text(text) => ContentPart::Text(text),
        Part::Json(text) => {
            let value = serde_json::from_str(&text).map_err(|error| {
                let message = format!("the value to show is not JSON: {error}");
                ToolError::new(ErrorCode::InvalidArguments, message)
            })?;
            ContentPart::Json(value)
        }
        Part::Image(data) => ContentPart::Image(ContentImage::new(data)?),
        Part::Link(link) => ContentPart::Link(ContentLink::new(link.uri, link.name)?),
    })
}

// === impl GuestContent ===

impl GuestContent {
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self { parts: Vec::new(), size_bytes: 0, bytes_max }
    }

    /// Returns how many bytes of the output are taken.
    pub(crate) fn size_bytes(&self) -> usize {
        self.size_bytes
    }

    /// Takes what was added.
    pub(crate) fn take(&mut self) -> Vec<ContentPart> {
        self.size_bytes = 0;
        std::mem::take(&mut self.parts)
    }

    fn push(&mut self, part: Part) -> Result<(), ToolError> {
        if self.parts.len() == CONTENT_PARTS_MAX {
            let message = format!("a result shows at most {CONTENT_PARTS_MAX} parts");
            return Err(ToolError::new(ErrorCode::LimitExceeded, message));
        }
        let part = read(part)?;
        let size_bytes = self.size_bytes.saturating_add(part.size_bytes());
        if size_bytes > self.bytes_max {
            let most = units::size(self.bytes_max);
            let message = format!("what the result shows has more than {most}");
            return Err(ToolError::new(ErrorCode::TooLarge, message)
                .hint("show less, or have `limits.output` of the plugin raised"));
        }
        self.size_bytes = size_bytes;
        self.parts.push(part);
        Ok(())
    }
}

impl Host for GuestContent {
    fn add(&mut self, part: Part) -> Result<(), Error> {
        // What a guest wrote is quoted in the message, and goes back to it alone.
        self.push(part)
            .map_err(|error| Error { message: quoted(&error.message), ..Error::from(error) })
    }
}
