//! What is kept of code beside the workspace in memory: nothing, until a test says what.

use std::sync::Arc;

use super::MemoryHost;
use crate::code_map::CodeMap;
use crate::code_search::{CodeSearch, CodeSearchFound};

/// Replies to searches of code.
type CodeSearchReply = Arc<dyn Fn(CodeSearch) -> CodeSearchFound + Send + Sync>;

/// What is kept of the code.
#[derive(Default)]
pub(super) struct MemoryCode {
    answer: Option<CodeSearchReply>,
    map: Option<CodeMap>,
}

// === impl MemoryHost ===

impl MemoryHost {
    /// From now on searches of code have this reply, as a daemon makes it from what it keeps.
    pub fn set_code_answer(
        &self,
        answer: impl Fn(CodeSearch) -> CodeSearchFound + Send + Sync + 'static,
    ) {
        self.state().code.answer = Some(Arc::new(answer));
    }

    /// From now on this is what is known of how files use each other.
    pub fn set_code_map(&self, map: CodeMap) {
        self.state().code.map = Some(map);
    }

    pub(super) fn code_answer(&self, search: CodeSearch) -> Option<CodeSearchFound> {
        let answer = self.state().code.answer.clone()?;
        Some(answer(search))
    }

    pub(super) fn code_map(&self) -> Option<CodeMap> {
        self.state().code.map.clone()
    }
}
