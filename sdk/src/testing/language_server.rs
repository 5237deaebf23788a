//! A language server beside the workspace in memory: it says what a test lets it say.

use super::MemoryHost;
use crate::context::BoxFuture;
use crate::language_server::{LanguageServers, ServerGoal, ServerQuestion, ServerReply};

/// What it says, and what it was asked.
#[derive(Default)]
pub(super) struct MemoryServers {
    replies: Vec<(ServerGoal, ServerReply)>,
    asked: Vec<ServerQuestion>,
}

// === impl MemoryHost ===

impl MemoryHost {
    /// From now on a language server replies this to such questions.
    pub fn set_server_reply(&self, goal: ServerGoal, reply: ServerReply) {
        let mut state = self.state();
        state.servers.replies.retain(|(known, _)| *known != goal);
        state.servers.replies.push((goal, reply));
    }

    /// Returns what was asked of language servers so far.
    pub fn server_questions(&self) -> Vec<ServerQuestion> {
        self.state().servers.asked.clone()
    }
}

impl LanguageServers for MemoryHost {
    fn ask_server(&self, question: ServerQuestion) -> BoxFuture<'_, ServerReply> {
        let mut state = self.state();
        let known = state.servers.replies.iter().find(|(goal, _)| *goal == question.goal);
        let reply = known.map_or(ServerReply::NoServer, |(_, reply)| reply.clone());
        state.servers.asked.push(question);
        Box::pin(async { reply })
    }
}
