//! A language server beside the workspace in memory: it says what a test lets it say.

use super::MemoryHost;
use crate::context::BoxFuture;
use crate::language_server::{LanguageServers, ServerGoal, ServerQuestion, ServerReply};

/// What it says, and what it was asked.
#[derive(Default)]
pub(super) struct MemoryServers {
    replies: Vec<(ServerGoal, Vec<ServerReply>)>,
    asked: Vec<ServerQuestion>,
}

// === impl MemoryHost ===

impl MemoryHost {
    /// From now on a language server replies this to such questions.
    pub fn set_server_reply(&self, goal: ServerGoal, reply: ServerReply) {
        self.set_server_replies(goal, vec![reply]);
    }

    /// From now on a language server replies this to such questions, one after the other; the last to all later ones.
    pub fn set_server_replies(&self, goal: ServerGoal, replies: Vec<ServerReply>) {
        let mut state = self.state();
        state.servers.replies.retain(|(known, _)| *known != goal);
        state.servers.replies.push((goal, replies));
    }

    /// Returns what was asked of language servers so far.
    pub fn server_questions(&self) -> Vec<ServerQuestion> {
        self.state().servers.asked.clone()
    }
}

impl LanguageServers for MemoryHost {
    fn ask_server(&self, question: ServerQuestion) -> BoxFuture<'_, ServerReply> {
        let mut state = self.state();
        let known = state.servers.replies.iter_mut().find(|(goal, _)| *goal == question.goal);
        let reply = known.and_then(|(_, replies)| match replies.len() {
            0 | 1 => replies.first().cloned(),
            _ => Some(replies.remove(0)),
        });
        let reply = reply.unwrap_or(ServerReply::NoServer);
        state.servers.asked.push(question);
        Box::pin(async { reply })
    }
}
