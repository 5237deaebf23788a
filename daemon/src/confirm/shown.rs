//! All that a question is about, page by page: a yes to what was cut counts once somebody was shown
//! every page.

use super::{Confirmations, Question, ResolveError};

/// Most bytes of text on one page.
pub const PAGE_BYTES_MAX: usize = 256 * 1024;

/// A page of all that a question is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Pieces of text, each with the index of its change.
    pub parts: Vec<(usize, String)>,
    /// Where the next page begins; none on the last one.
    pub next: Option<usize>,
    /// Bytes of all pages together.
    pub total: usize,
}

// === impl Question ===

impl Question {
    /// Whether something of it was cut or left out.
    pub fn is_cut(&self) -> bool {
        self.changes.iter().any(|change| change.is_cut())
    }

    /// How long all of it is, in bytes.
    pub(super) fn text_bytes(&self) -> usize {
        self.texts().map(|(_, text)| text.len()).sum()
    }

    /// Makes the page that begins at an offset; none where there is none.
    fn page(&self, offset: usize) -> Option<Page> {
        let total = self.text_bytes();
        if offset > total {
            return None;
        }
        let (mut skip, mut room, mut parts) = (offset, PAGE_BYTES_MAX, Vec::new());
        for (change, text) in self.texts() {
            if skip >= text.len() {
                skip -= text.len();
                continue;
            }
            let rest = text.get(skip..)?;
            let end = rest.floor_char_boundary(room);
            if end == 0 {
                break;
            }
            parts.push((change, rest[..end].to_owned()));
            room -= end;
            skip = 0;
            if end < rest.len() {
                break;
            }
        }
        let next = offset + parts.iter().map(|(_, text)| text.len()).sum::<usize>();
        Some(Page { parts, next: Some(next).filter(|next| *next < total), total })
    }

    /// All texts in their order, each with the index of its change.
    fn texts(&self) -> impl Iterator<Item = (usize, &str)> {
        self.changes.iter().enumerate().flat_map(|(index, change)| {
            let texts = match &change.whole {
                Some(whole) => [&*whole.drift, &*whole.diff],
                None => ["", &*change.diff],
            };
            texts.map(|text| (index, text))
        })
    }
}

// === impl Confirmations ===

impl Confirmations {
    /// Shows a page of a question to an approver. Pages count as shown in their order.
    ///
    /// # Errors
    ///
    /// Where the question is unknown or over, or there is no such page.
    pub fn page(&self, id: &str, offset: usize) -> Result<Page, ResolveError> {
        let asked = {
            let inner = self.lock();
            let index = inner.find(id)?;
            inner.pending[index].confirmation.clone()
        };
        let page = asked.question.page(offset);
        let page = page.ok_or_else(|| ResolveError::NoPage(id.to_owned()))?;
        let mut inner = self.lock();
        let index = inner.find(id)?;
        let waiting = &mut inner.pending[index];
        if offset <= waiting.shown_bytes {
            let end = page.next.unwrap_or(page.total);
            waiting.shown_bytes = waiting.shown_bytes.max(end);
        }
        Ok(page)
    }
}
