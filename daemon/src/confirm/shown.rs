//! All that a question is about, page by page: a yes to what was cut counts once somebody was shown
//! every page.

use moss_dispatch::confirmation::Page;

use super::{Confirmations, ResolveError};

// === impl Confirmations ===

impl Confirmations {
    /// Shows a page of a question to an approver. Pages count as shown in their order, and not where they
    /// are a preview.
    ///
    /// # Errors
    ///
    /// Where the question is unknown or over, or there is no such page.
    pub fn page(&self, id: &str, offset: usize, is_preview: bool) -> Result<Page, ResolveError> {
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
        if !is_preview && offset <= waiting.shown_bytes {
            let end = page.next.unwrap_or(page.total);
            waiting.shown_bytes = waiting.shown_bytes.max(end);
        }
        Ok(page)
    }
}
