//! The in-memory host does what every host does, and no check holds for a host that does nothing.

use super::super::{EDIT_BYTES_MAX, MemoryHost, ROOT};
use super::*;
use crate::context::{Applied, BoxFuture, FinishedVisit, TextVisitor};
use crate::file::{
    Content, FileBytes, FileDigest, FileLines, LineEnding, LineWindow, Lines, ListOptions, Listing,
    TextForm, VisitOptions, Visited,
};
use crate::hash::ContentHash;

#[test]
fn the_in_memory_host_does_as_every_host() {
    assert_eq!(failing(MemoryHost::default), [""; 0]);
}

#[test]
fn no_check_holds_for_a_host_that_does_nothing() {
    let all: Vec<&str> = CHECKS.iter().map(|(name, _)| *name).collect();
    assert_eq!(failing(|| Idle), all);
}

impl ConformanceHost for MemoryHost {
    fn root(&self) -> String {
        ROOT.to_owned()
    }

    fn put(&self, path: &str, bytes: &[u8]) {
        self.write(path, bytes);
    }

    fn bytes(&self, path: &str) -> Option<Vec<u8>> {
        Self::bytes(self, path)
    }

    fn ignore(&self, path: &str) {
        Self::ignore(self, path);
    }

    fn deny(&self, path: &str) {
        Self::deny(self, path);
    }

    fn cancel(&self) {
        Self::cancel(self);
    }

    fn set_dry_run(&self) {
        Self::set_dry_run(self);
    }

    fn edit_bytes_max(&self) -> u64 {
        EDIT_BYTES_MAX
    }

    fn search_bytes_max(&self) -> u64 {
        EDIT_BYTES_MAX
    }

    fn propose(&self, changes: ChangeSet) -> Result<ProposalOutcome, ToolError> {
        finish(self.context().propose(changes))
    }
}

/// Finds everything empty and agrees to everything.
struct Idle;

fn ready<'a, T: Send + 'a>(value: T) -> BoxFuture<'a, Result<T, ToolError>> {
    Box::pin(std::future::ready(Ok(value)))
}

impl Files for Idle {
    fn path(&self, _: &str) -> Result<RelPath, ToolError> {
        Ok(RelPath::root())
    }

    fn read<'a>(&'a self, _: &'a RelPath) -> BoxFuture<'a, Result<FileSnapshot, ToolError>> {
        let hash = super::super::hash(b"");
        ready(FileSnapshot { hash, size_bytes: 0, content: Content::Binary, unsaved: false })
    }

    fn read_unasked<'a>(
        &'a self,
        _: &'a RelPath,
    ) -> BoxFuture<'a, Result<Option<FileSnapshot>, ToolError>> {
        ready(None)
    }

    fn digest<'a>(&'a self, _: &'a RelPath) -> BoxFuture<'a, Result<FileDigest, ToolError>> {
        ready(FileDigest { hash: super::super::hash(b""), size_bytes: 0 })
    }

    fn read_bytes<'a>(
        &'a self,
        _: &'a RelPath,
        _: u64,
    ) -> BoxFuture<'a, Result<Option<FileBytes>, ToolError>> {
        ready(Some(FileBytes { hash: super::super::hash(b""), bytes: Vec::new() }))
    }

    fn read_lines<'a>(
        &'a self,
        _: &'a RelPath,
        _: LineWindow,
    ) -> BoxFuture<'a, Result<FileLines, ToolError>> {
        let form = TextForm {
            encoding: "UTF-8".to_owned(),
            bom: false,
            line_ending: LineEnding::None,
            final_newline: true,
        };
        let hash = super::super::hash(b"");
        let lines = Lines::default();
        ready(FileLines { hash, size_bytes: 0, form, lines_total: 0, lines, unsaved: false })
    }

    fn list<'a>(
        &'a self,
        _: &'a RelPath,
        _: ListOptions,
    ) -> BoxFuture<'a, Result<Listing, ToolError>> {
        ready(Listing::default())
    }

    fn visit_texts<'a>(
        &'a self,
        _: &'a RelPath,
        _: VisitOptions,
        visitor: Box<dyn TextVisitor>,
    ) -> BoxFuture<'a, Result<FinishedVisit, ToolError>> {
        ready((visitor, Visited::default()))
    }

    fn note_read(&self, _: &RelPath, _: ContentHash) {}

    fn last_read(&self, _: &RelPath) -> Option<ContentHash> {
        None
    }

    fn recently_read(&self, _: usize) -> Vec<RelPath> {
        Vec::new()
    }
}

impl ConformanceHost for Idle {
    fn root(&self) -> String {
        ROOT.to_owned()
    }

    fn put(&self, _: &str, _: &[u8]) {}

    fn bytes(&self, _: &str) -> Option<Vec<u8>> {
        None
    }

    fn ignore(&self, _: &str) {}

    fn deny(&self, _: &str) {}

    fn cancel(&self) {}

    fn set_dry_run(&self) {}

    fn edit_bytes_max(&self) -> u64 {
        1
    }

    fn search_bytes_max(&self) -> u64 {
        1
    }

    fn propose(&self, _: ChangeSet) -> Result<ProposalOutcome, ToolError> {
        Ok(ProposalOutcome::Applied(Applied { history: None, files: Vec::new() }))
    }
}
