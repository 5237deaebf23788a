//! The last line of a planning agent's summary: how it continues (requirement A10).

use serde::{Deserialize, Serialize};

use crate::event::Reply;

/// What the line begins with.
const MARK: &str = "AGENT_STATUS";
/// What models put around a line to make it stand out.
const ORNAMENTS: &[char] = &['*', '`', '_', '#', '>', ' ', '\t', '.', '。'];

/// How a planning agent continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum AgentStatus {
    /// The goal is reached.
    Done,
    /// Steps are left, and it continues with them.
    Continue,
    /// The goal cannot be reached, or a person must decide.
    Stop,
}

/// Reads the status of a summary and takes its line off the text: the last line that is not blank,
/// as `AGENT_STATUS: DONE`, `CONTINUE` or `STOP`. A reply with calls has none.
pub fn agent_status(reply: &Reply) -> (&str, Option<AgentStatus>) {
    let text = reply.text.trim_end();
    if !reply.calls.is_empty() {
        return (&reply.text, None);
    }
    let (before, line) = text.rsplit_once('\n').unwrap_or(("", text));
    match status_of(line) {
        Some(status) => (before.trim_end(), Some(status)),
        None => (&reply.text, None),
    }
}

fn status_of(line: &str) -> Option<AgentStatus> {
    let rest = line.trim_matches(ORNAMENTS).strip_prefix(MARK)?.trim_start_matches(ORNAMENTS);
    let word = rest.strip_prefix([':', '：'])?.trim_matches(ORNAMENTS);
    [("DONE", AgentStatus::Done), ("CONTINUE", AgentStatus::Continue), ("STOP", AgentStatus::Stop)]
        .into_iter()
        .find_map(|(name, status)| name.eq_ignore_ascii_case(word).then_some(status))
}
