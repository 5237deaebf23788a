//! An editor beside the workspace in memory: it knows what a test lets it know.

use std::collections::HashMap;

use super::{MemoryHost, fixture};
use crate::context::{BoxFuture, Editors};
use crate::editor::{
    DefinitionKind, Definitions, EditorState, Position, Symbol, UserQuestion, UserReply,
};
use crate::path::RelPath;

/// An editor that is attached, if it has a state.
#[derive(Default)]
pub(super) struct MemoryEditor {
    state: Option<EditorState>,
    symbols: HashMap<RelPath, Vec<Symbol>>,
    definitions: HashMap<(RelPath, Position), Definitions>,
    reply: Option<UserReply>,
    asked: Vec<UserQuestion>,
}

// === impl MemoryHost ===

impl MemoryHost {
    /// From now on an editor is attached.
    pub fn attach(&self, state: EditorState) {
        self.state().editor.state = Some(state);
    }

    /// From now on the editor knows the symbols of a file.
    pub fn set_symbols(&self, path: &str, symbols: Vec<Symbol>) {
        self.state().editor.symbols.insert(fixture(path), symbols);
    }

    /// From now on the editor knows where the symbol at a position is defined.
    pub fn set_definitions(&self, path: &str, position: Position, definitions: Definitions) {
        self.state().editor.definitions.insert((fixture(path), position), definitions);
    }

    /// From now on this becomes of questions to the person.
    pub fn set_reply(&self, reply: UserReply) {
        self.state().editor.reply = Some(reply);
    }

    /// Returns what the person was asked so far.
    pub fn asked(&self) -> Vec<UserQuestion> {
        self.state().editor.asked.clone()
    }
}

impl Editors for MemoryHost {
    fn state(&self) -> Option<EditorState> {
        self.state().editor.state.clone()
    }

    fn symbols<'a>(&'a self, path: &'a RelPath) -> BoxFuture<'a, Option<Vec<Symbol>>> {
        let symbols = self.state().editor.symbols.get(path).cloned();
        Box::pin(async { symbols })
    }

    fn definitions<'a>(
        &'a self,
        path: &'a RelPath,
        position: Position,
        _: DefinitionKind,
    ) -> BoxFuture<'a, Option<Definitions>> {
        let definitions = self.state().editor.definitions.get(&(path.clone(), position)).cloned();
        Box::pin(async { definitions })
    }

    fn clarify(&self, query: UserQuestion) -> BoxFuture<'_, UserReply> {
        let mut state = self.state();
        state.editor.asked.push(query);
        let reply = state.editor.reply.clone().unwrap_or(UserReply::NobodyThere);
        Box::pin(async { reply })
    }
}
