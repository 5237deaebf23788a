//! `moss:plugin/content`: what a call shows beside its output. It is checked and counted as it comes, so
//! that the guest hears what is wrong with it.

use moss_sdk::content::{CONTENT_PARTS_MAX, ContentImage, ContentLink, ContentPart};
use moss_sdk::{ErrorCode, ToolError};

use crate::bindings::content::{Host, Part};
use crate::bindings::types::Error;
use crate::guest_json;
use moss_plugin_list::units;
use moss_sdk::deceptive::quoted;

/// What the guest of one call added.
pub(crate) struct GuestContent {
    parts: Vec<ContentPart>,
    size_bytes: usize,
    /// Most bytes of all parts and the output together.
    bytes_max: usize,
    /// What was read and refused: a guest that tries again and again keeps a thread and memory of the host busy.
    refused_bytes: usize,
}

/// How many bytes there are to read, before any of them is.
fn given_bytes(part: &Part) -> usize {
    match part {
        Part::Text(text) | Part::Json(text) => text.len(),
        Part::Image(data) => data.len(),
        Part::Link(link) => link.uri.len().saturating_add(link.name.len()),
    }
}

fn read(part: Part) -> Result<ContentPart, ToolError> {
    Ok(match part {
        Part::Text(text) => ContentPart::Text(text),
        Part::Json(text) => {
            let value = guest_json::read(&text).map_err(|why| {
                ToolError::new(ErrorCode::InvalidArguments, format!("the value to show {why}"))
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
        Self { parts: Vec::new(), size_bytes: 0, bytes_max, refused_bytes: 0 }
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
        let given_bytes = given_bytes(&part);
        self.check_room(given_bytes.saturating_add(self.refused_bytes))?;
        let part = self.fitting(part).inspect_err(|_| {
            self.refused_bytes = self.refused_bytes.saturating_add(given_bytes);
        })?;
        self.size_bytes = self.size_bytes.saturating_add(part.size_bytes());
        self.parts.push(part);
        Ok(())
    }

    /// Reads what there is room for: JSON is shown in other words than it was given in.
    fn fitting(&self, part: Part) -> Result<ContentPart, ToolError> {
        let part = read(part)?;
        self.check_room(part.size_bytes())?;
        Ok(part)
    }

    fn check_room(&self, more_bytes: usize) -> Result<(), ToolError> {
        if self.size_bytes.saturating_add(more_bytes) <= self.bytes_max {
            return Ok(());
        }
        let most = units::size(self.bytes_max);
        let message =
            format!("what the result shows has, with what was refused of it, more than {most}");
        Err(ToolError::new(ErrorCode::TooLarge, message)
            .hint("show less, or have `limits.output` of the plugin raised"))
    }
}

impl Host for GuestContent {
    fn add(&mut self, part: Part) -> Result<(), Error> {
        // What a guest wrote is quoted in the message, and goes back to it alone.
        self.push(part)
            .map_err(|error| Error { message: quoted(&error.message), ..Error::from(error) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: usize = 1000;

    fn json(text: String) -> Part {
        Part::Json(text)
    }

    #[test]
    fn what_is_too_large_is_refused_before_it_is_read() {
        let mut content = GuestContent::new(MOST);
        // Read, it would be refused for another reason.
        let error = content.push(json("[".repeat(MOST + 1))).unwrap_err();
        assert_eq!(error.code, ErrorCode::TooLarge, "{}", error.message);
        // Blanks count as they come.
        let error = content.push(json(format!("1{}", " ".repeat(MOST)))).unwrap_err();
        assert_eq!(error.code, ErrorCode::TooLarge, "{}", error.message);
        content.push(json(format!("[{}]", " ".repeat(MOST - 2)))).unwrap();
        assert_eq!(content.size_bytes(), 2);
    }

    #[test]
    fn what_grows_too_large_by_being_read_is_counted_as_refused() {
        let mut content = GuestContent::new(MOST);
        // Shown as 100000.0.
        let growing = format!("[{}1E5]", "1E5,".repeat(199));
        let error = content.push(json(growing)).unwrap_err();
        assert_eq!(error.code, ErrorCode::TooLarge, "{}", error.message);
        let error = content.push(json("[".repeat(MOST / 4))).unwrap_err();
        assert_eq!(error.code, ErrorCode::TooLarge, "{}", error.message);
    }

    #[test]
    fn what_is_read_and_refused_has_a_bound() {
        let mut content = GuestContent::new(MOST);
        for _ in 0..4 {
            let error = content.push(json("[".repeat(MOST / 4))).unwrap_err();
            assert_eq!(error.code, ErrorCode::InvalidArguments, "{}", error.message);
        }
        let error = content.push(json("[".repeat(MOST / 4))).unwrap_err();
        assert_eq!(error.code, ErrorCode::TooLarge, "{}", error.message);
    }
}
