//! What a command writes, as it comes: shown to who follows the call, kept in part for the result, and
//! whole in an artifact where the result has no room for it.

use std::collections::VecDeque;
use std::sync::Arc;

use moss_sandbox::{OutputChunk, OutputStream};

use crate::artifacts::ArtifactWriter;
use crate::state::WorkspaceState;
use crate::terminal_text::{plain, prompt};
use moss_dispatch::{Event, Events};

/// Most bytes of the beginning of a stream in a result.
const HEAD_BYTES: usize = 6 << 10;
/// Most bytes of the end of a stream in a result.
const TAIL_BYTES: usize = 18 << 10;
/// Most lines from between that look like errors.
const ERROR_LINES_MAX: usize = 40;
/// Longest such line, in bytes.
const ERROR_LINE_BYTES_MAX: usize = 300;
/// What a line has that looks like an error, in lower case.
const ERROR_SIGNS: [&str; 8] =
    ["error", "failed", "failure", "panicked", "traceback", "exception", "test result:", "fatal:"];

/// Takes what comes.
#[derive(Debug)]
pub(super) struct CollectedOutput {
    workspace: Arc<WorkspaceState>,
    caller: String,
    events: Events,
    /// Everything, until it is too long for the result.
    pending: Vec<u8>,
    artifact: Option<ArtifactWriter>,
    /// Why there is no artifact although there should be one.
    problem: Option<String>,
    pub(super) stdout: CollectedStream,
    pub(super) stderr: CollectedStream,
}

/// What is kept of one stream.
#[derive(Debug, Default)]
pub(super) struct CollectedStream {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    bytes: u64,
    /// Lines that look like errors, each with the place behind it.
    errors: Vec<(u64, String)>,
    /// The line that has not ended.
    line: Vec<u8>,
    /// The end of the last chunk, where that is the beginning of a character.
    rest: Vec<u8>,
}

/// What a result says of the artifact.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct KeptOutput {
    pub(super) artifact: Option<String>,
    pub(super) note: Option<String>,
}

// === impl CollectedOutput ===

impl CollectedOutput {
    pub(super) fn new(workspace: Arc<WorkspaceState>, caller: String, events: Events) -> Self {
        Self {
            workspace,
            caller,
            events,
            pending: Vec::new(),
            artifact: None,
            problem: None,
            stdout: CollectedStream::default(),
            stderr: CollectedStream::default(),
        }
    }

    /// Takes one chunk. Waits for the disk where there is an artifact.
    pub(super) fn push(&mut self, chunk: &OutputChunk) {
        let (stream, name) = match chunk.stream {
            OutputStream::Stdout => (&mut self.stdout, "stdout"),
            OutputStream::Stderr => (&mut self.stderr, "stderr"),
        };
        stream.push(&chunk.bytes);
        let text = stream.complete(&chunk.bytes);
        if !text.is_empty() {
            self.events.offer(Event::Output { stream: name, text });
        }
        self.keep(&chunk.bytes);
    }

    fn keep(&mut self, bytes: &[u8]) {
        if let Some(artifact) = &mut self.artifact {
            artifact.push(bytes);
            return;
        }
        if self.problem.is_some() {
            return;
        }
        self.pending.extend_from_slice(bytes);
        if !self.stdout.is_cut() && !self.stderr.is_cut() {
            return;
        }
        match self.workspace.artifacts.begin(&self.caller) {
            Ok(mut artifact) => {
                artifact.push(&std::mem::take(&mut self.pending));
                self.artifact = Some(artifact);
            }
            Err(error) => {
                self.problem = Some(format!("the whole output could not be kept: {error}"));
                self.pending = Vec::new();
            }
        }
    }

    /// Whether something is left out of the result.
    pub(super) fn is_cut(&self) -> bool {
        self.stdout.is_cut() || self.stderr.is_cut()
    }

    /// What the command asks, as its last line looks.
    pub(super) fn prompt(&self) -> Option<String> {
        self.stderr.prompt().or_else(|| self.stdout.prompt())
    }

    /// Says where the whole output is.
    pub(super) fn kept(&self) -> KeptOutput {
        let is_cut_off = self.artifact.as_ref().is_some_and(|artifact| !artifact.is_whole());
        let note =
            is_cut_off.then(|| "the artifact has only the first part of the output".to_owned());
        KeptOutput {
            artifact: self.artifact.as_ref().map(|artifact| artifact.path.clone()),
            note: self.problem.clone().or(note),
        }
    }
}

// === impl CollectedStream ===

impl CollectedStream {
    fn push(&mut self, bytes: &[u8]) {
        let to_head = bytes.len().min(HEAD_BYTES - self.head.len());
        self.head.extend_from_slice(&bytes[..to_head]);
        self.tail.extend(&bytes[to_head..]);
        let over = self.tail.len().saturating_sub(TAIL_BYTES);
        self.tail.drain(..over);
        for &byte in bytes {
            self.bytes += 1;
            if byte == b'\n' {
                self.end_line();
            } else if self.line.len() < ERROR_LINE_BYTES_MAX {
                self.line.push(byte);
            }
        }
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        if self.errors.len() >= ERROR_LINES_MAX || self.bytes < HEAD_BYTES as u64 {
            return;
        }
        let text = plain(&line);
        let lower = text.to_lowercase();
        if ERROR_SIGNS.iter().any(|sign| lower.contains(sign)) {
            self.errors.push((self.bytes, text));
        }
    }

    /// The text of a chunk, with what was left of the one before and without a character that has not
    /// ended.
    fn complete(&mut self, bytes: &[u8]) -> String {
        let mut all = std::mem::take(&mut self.rest);
        all.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&all) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => all.len(),
        };
        self.rest = all.split_off(whole);
        plain(&all)
    }

    fn is_cut(&self) -> bool {
        self.bytes > (self.head.len() + self.tail.len()) as u64
    }

    /// What a program writes that waits for a reply: the last line, where it has not ended.
    fn prompt(&self) -> Option<String> {
        prompt(&self.line)
    }

    /// The stream as a result shows it.
    pub(super) fn shown(&self) -> String {
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        if !self.is_cut() {
            return plain(&[self.head.as_slice(), &tail].concat());
        }
        let left_out = self.bytes - (self.head.len() + tail.len()) as u64;
        let tail_at = self.bytes - tail.len() as u64;
        let between = self.errors.iter().filter(|(end, _)| *end < tail_at);
        let lines: String = between.map(|(_, line)| format!("{line}\n")).collect();
        let (head, tail) = (plain(&self.head), plain(&tail));
        let mark = if lines.is_empty() {
            format!("[… {left_out} bytes left out …]")
        } else {
            format!(
                "[… {left_out} bytes left out; lines of them that look like errors: …]\n{lines}[…]"
            )
        };
        format!("{}\n{mark}\n{tail}", head.trim_end_matches('\n'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(bytes: &[u8]) -> CollectedStream {
        let mut stream = CollectedStream::default();
        bytes.chunks(1000).for_each(|chunk| stream.push(chunk));
        stream
    }

    #[test]
    fn a_short_output_is_shown_as_it_is() {
        assert_eq!(stream(b"one\ntwo\n").shown(), "one\ntwo\n");
        assert_eq!(stream(b"").shown(), "");
        assert!(!stream(&[b'x'; HEAD_BYTES + TAIL_BYTES]).is_cut());
    }

    #[test]
    fn of_a_long_output_both_ends_and_the_errors_between_are_shown() {
        let mut text = "first\n".to_owned();
        for line in 0..20_000 {
            text.push_str(&match line {
                10_000 => "error: something broke\n".to_owned(),
                _ => format!("line {line}\n"),
            });
        }
        text.push_str("last\n");
        let found = stream(text.as_bytes());
        assert!(found.is_cut());
        let shown = found.shown();
        assert!(shown.starts_with("first\n") && shown.ends_with("last\n"), "{}", &shown[..100]);
        assert!(shown.contains("error: something broke") && shown.contains("bytes left out"));
        assert!(shown.len() < HEAD_BYTES + TAIL_BYTES + 1000);
    }

    #[test]
    fn a_line_without_end_is_held_in_bounds() {
        let found = stream(&vec![b'x'; 10 << 20]);
        assert!(found.line.len() <= ERROR_LINE_BYTES_MAX && found.tail.len() <= TAIL_BYTES);
        assert!(found.shown().len() < HEAD_BYTES + TAIL_BYTES + 100);
    }

    #[test]
    fn a_character_over_two_chunks_is_whole() {
        let mut found = CollectedStream::default();
        let bytes = "a\u{e9}".as_bytes();
        assert_eq!(found.complete(&bytes[..2]), "a");
        assert_eq!(found.complete(&bytes[2..]), "\u{e9}");
    }
}
