//! What tools see of the files in memory.

use super::{MemoryHost, ROOT};
use crate::code_map::CodeMap;
use crate::code_search::{CodeSearch, CodeSearchFound};
use crate::context::{BoxFuture, Files, FinishedVisit, TextVisitor};
use crate::error::ToolError;
use crate::file::{
    FileBytes, FileDigest, FileLines, FileSnapshot, LineWindow, ListOptions, Listing, VisitOptions,
};
use crate::hash::ContentHash;
use crate::path::RelPath;

impl Files for MemoryHost {
    fn path(&self, text: &str) -> Result<RelPath, ToolError> {
        match text.strip_prefix(ROOT) {
            Some("" | "/") => Ok(RelPath::root()),
            Some(rest) if rest.starts_with('/') => RelPath::parse(&rest[1..]),
            _ => RelPath::parse(text),
        }
    }

    fn read<'a>(&'a self, path: &'a RelPath) -> BoxFuture<'a, Result<FileSnapshot, ToolError>> {
        let snapshot = self.state().read(path);
        Box::pin(async { snapshot })
    }

    fn read_unasked<'a>(
        &'a self,
        path: &'a RelPath,
    ) -> BoxFuture<'a, Result<Option<FileSnapshot>, ToolError>> {
        let is_denied = self.state().denied.contains(path);
        Box::pin(async move { if is_denied { Ok(None) } else { self.read(path).await.map(Some) } })
    }

    fn digest<'a>(&'a self, path: &'a RelPath) -> BoxFuture<'a, Result<FileDigest, ToolError>> {
        let digest = self.state().digest(path);
        Box::pin(async { digest })
    }

    fn read_bytes<'a>(
        &'a self,
        path: &'a RelPath,
        bytes_max: u64,
    ) -> BoxFuture<'a, Result<Option<FileBytes>, ToolError>> {
        let bytes = self.state().read_bytes(path, bytes_max);
        Box::pin(async { bytes })
    }

    fn read_lines<'a>(
        &'a self,
        path: &'a RelPath,
        lines: LineWindow,
    ) -> BoxFuture<'a, Result<FileLines, ToolError>> {
        let lines = self.state().read_lines(path, lines);
        Box::pin(async { lines })
    }

    fn list<'a>(
        &'a self,
        path: &'a RelPath,
        options: ListOptions,
    ) -> BoxFuture<'a, Result<Listing, ToolError>> {
        let listing = self.state().list(path, options);
        Box::pin(async { listing })
    }

    fn visit_texts<'a>(
        &'a self,
        path: &'a RelPath,
        options: VisitOptions,
        mut visitor: Box<dyn TextVisitor>,
    ) -> BoxFuture<'a, Result<FinishedVisit, ToolError>> {
        let visited = self.state().visit_texts(path, options, visitor.as_mut());
        Box::pin(async { visited.map(|visited| (visitor, visited)) })
    }

    fn search_code(
        &self,
        search: CodeSearch,
    ) -> BoxFuture<'_, Result<Option<CodeSearchFound>, ToolError>> {
        let found = self.code_answer(search);
        Box::pin(async { Ok(found) })
    }

    fn map_code<'a>(&'a self, _: &'a RelPath) -> BoxFuture<'a, Result<Option<CodeMap>, ToolError>> {
        let map = self.code_map();
        Box::pin(async { Ok(map) })
    }

    fn note_read(&self, path: &RelPath, hash: ContentHash) {
        let mut state = self.state();
        state.read.insert(path.clone(), hash);
        state.read_order.retain(|read| read != path);
        state.read_order.push(path.clone());
    }

    fn recently_read(&self, files_max: usize) -> Vec<RelPath> {
        self.state().read_order.iter().rev().take(files_max).cloned().collect()
    }

    fn last_read(&self, path: &RelPath) -> Option<ContentHash> {
        self.state().read.get(path).copied()
    }
}
