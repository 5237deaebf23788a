//! What a call shows beside its output, until it ends.

use std::sync::{Mutex, MutexGuard, PoisonError};

use moss_sdk::content::{CONTENT_PARTS_MAX, ContentPart};
use moss_sdk::{ErrorCode, ToolError};

/// The parts that a call added so far.
#[derive(Debug, Default)]
pub(super) struct CallContent(Mutex<Gathered>);

#[derive(Debug, Default)]
struct Gathered {
    parts: Vec<ContentPart>,
    size_bytes: usize,
}

// === impl CallContent ===

impl CallContent {
    /// Adds a part, where all of them stay within the bounds.
    pub(super) fn add(&self, part: ContentPart, bytes_max: usize) -> Result<(), ToolError> {
        let mut gathered = self.gathered();
        if gathered.parts.len() == CONTENT_PARTS_MAX {
            let message = format!("a result shows at most {CONTENT_PARTS_MAX} parts");
            return Err(ToolError::new(ErrorCode::LimitExceeded, message)
                .hint("show fewer of them, or in several calls"));
        }
        let size_bytes = gathered.size_bytes.saturating_add(part.size_bytes());
        if size_bytes > bytes_max {
            let message = format!(
                "what the result shows has {size_bytes} bytes; the limit is {bytes_max} \
                 (calls.output_bytes_max)"
            );
            return Err(ToolError::new(ErrorCode::TooLarge, message).hint("show less at once"));
        }
        gathered.size_bytes = size_bytes;
        gathered.parts.push(part);
        Ok(())
    }

    /// Returns how many bytes of the bound on results are taken.
    pub(super) fn size_bytes(&self) -> usize {
        self.gathered().size_bytes
    }

    /// Takes all parts, in their order.
    pub(super) fn take(&self) -> Vec<ContentPart> {
        std::mem::take(&mut *self.gathered()).parts
    }

    fn gathered(&self) -> MutexGuard<'_, Gathered> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> ContentPart {
        ContentPart::Text(text.to_owned())
    }

    #[test]
    fn parts_stay_within_both_bounds_and_in_their_order() {
        let content = CallContent::default();
        content.add(text("ab"), 5).unwrap();
        assert_eq!(content.add(text("cdef"), 5).unwrap_err().code, ErrorCode::TooLarge);
        content.add(text("cde"), 5).unwrap();
        assert_eq!(content.size_bytes(), 5);
        assert_eq!(content.take(), [text("ab"), text("cde")]);
        assert_eq!((content.size_bytes(), content.take()), (0, Vec::new()));

        for _ in 0..CONTENT_PARTS_MAX {
            content.add(text(""), 0).unwrap();
        }
        assert_eq!(content.add(text(""), 0).unwrap_err().code, ErrorCode::LimitExceeded);
    }
}
