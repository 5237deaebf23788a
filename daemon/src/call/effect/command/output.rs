//! What a command writes, as it comes: shown to who follows the call, kept in part for the result, and
//! whole in an artifact where the result has no room for it.

use std::collections::VecDeque;
use std::sync::Arc;

use moss_sandbox::{OutputChunk, OutputStream};
use moss_sdk::command::{CheckFollower, CheckStream};

use crate::artifacts::ArtifactWriter;
use crate::state::WorkspaceState;
use moss_dispatch::{Caller, Event, Events};
use moss_sandbox::terminal_text::{OpenLine, plain};

/// Most bytes of the beginning of a stream in a result.
const HEAD_BYTES: usize = 6 << 10;
/// Most bytes of the end of a stream in a result.
const TAIL_BYTES: usize = 18 << 10;
/// Most bytes of the beginning of a stream that a tool reads.
const WHOLE_HEAD_BYTES: usize = 12 << 20;
/// Most bytes of the end of a stream that a tool reads.
const WHOLE_TAIL_BYTES: usize = 4 << 20;
/// Most lines from between that look like errors.
const ERROR_LINES_MAX: usize = 40;
/// Longest such line, in bytes.
const ERROR_LINE_BYTES_MAX: usize = 300;
/// What a line has that looks like an error, in lower case.
const ERROR_SIGNS: [&str; 8] =
    ["error", "failed", "failure", "panicked", "traceback", "exception", "test result:", "fatal:"];

/// What is done with output besides showing it.
pub(super) enum OutputUse {
    /// It is shown and kept, and nothing else reads it.
    Shown,
    /// A tool reads it whole, and may follow it as it comes.
    Read(Option<Box<dyn CheckFollower>>),
    /// moss reads it whole. Nobody is shown it, and nothing of it is kept.
    Unseen,
}

/// What a command has written so far, cut where it is long.
pub(super) struct CollectedOutput {
    workspace: Arc<WorkspaceState>,
    caller: Caller,
    events: Events,
    follower: Option<Box<dyn CheckFollower>>,
    is_seen: bool,
    /// Everything, until it is too long for the result.
    pending: Vec<u8>,
    artifact: Option<ArtifactWriter>,
    /// Why there is no artifact although there should be one.
    problem: Option<String>,
    /// What it asked when it was ended because nobody replied.
    pub(super) waited_for: Option<String>,
    pub(super) stdout: CollectedStream,
    pub(super) stderr: CollectedStream,
}

/// The beginning and the end of what may be long.
#[derive(Debug)]
struct BothEnds {
    head_max: usize,
    tail_max: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    bytes: u64,
}

/// What is kept of one stream.
#[derive(Debug)]
pub(super) struct CollectedStream {
    ends: BothEnds,
    /// Much more of it, for a tool that reads it.
    whole: Option<BothEnds>,
    /// Lines that look like errors, each with the place behind it.
    errors: Vec<(u64, String)>,
    /// The beginning of the line that has not ended.
    line: Vec<u8>,
    open_line: OpenLine,
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
    /// Collects the output of a command; much of it where a tool reads it whole.
    pub(super) fn new(
        workspace: Arc<WorkspaceState>,
        caller: Caller,
        events: Events,
        output_use: OutputUse,
    ) -> Self {
        let is_seen = !matches!(output_use, OutputUse::Unseen);
        let events = if is_seen { events } else { Events::default() };
        let (is_read_whole, follower) = match output_use {
            OutputUse::Shown => (false, None),
            OutputUse::Read(follower) => (true, follower),
            OutputUse::Unseen => (true, None),
        };
        Self {
            workspace,
            caller,
            events,
            follower,
            is_seen,
            pending: Vec::new(),
            artifact: None,
            problem: None,
            waited_for: None,
            stdout: CollectedStream::new(is_read_whole),
            stderr: CollectedStream::new(is_read_whole),
        }
    }

    /// Takes one chunk. Waits for the disk where there is an artifact.
    pub(super) fn push(&mut self, chunk: &OutputChunk) {
        let (stream, name, followed) = match chunk.stream {
            OutputStream::Stdout => (&mut self.stdout, "stdout", CheckStream::Stdout),
            OutputStream::Stderr => (&mut self.stderr, "stderr", CheckStream::Stderr),
        };
        stream.push(&chunk.bytes);
        if self.follower.is_some() || self.events.are_read() {
            let text = stream.complete(&chunk.bytes);
            if let Some(follower) = &mut self.follower
                && let Some(progress) = follower.follow(followed, &text)
            {
                self.events.offer(Event::Progress(progress));
            }
            if !text.is_empty() {
                self.events.offer_output(name, text);
            }
        }
        self.keep(&chunk.bytes);
    }

    fn keep(&mut self, bytes: &[u8]) {
        if let Some(artifact) = &mut self.artifact {
            artifact.push(bytes);
            return;
        }
        if self.problem.is_some() || !self.is_seen {
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
        let missing = self.artifact.as_ref().and_then(ArtifactWriter::missing);
        KeptOutput {
            artifact: self.artifact.as_ref().map(|artifact| artifact.path.clone()),
            note: self.problem.clone().or(missing),
        }
    }
}

// === impl BothEnds ===

impl BothEnds {
    fn new(head_max: usize, tail_max: usize) -> Self {
        Self { head_max, tail_max, head: Vec::new(), tail: VecDeque::new(), bytes: 0 }
    }

    fn push(&mut self, bytes: &[u8]) {
        let to_head = bytes.len().min(self.head_max - self.head.len());
        self.head.extend_from_slice(&bytes[..to_head]);
        let rest = &bytes[to_head..];
        // It never grows beyond its bound, however long a piece is.
        let rest = &rest[rest.len().saturating_sub(self.tail_max)..];
        let over = (self.tail.len() + rest.len()).saturating_sub(self.tail_max);
        self.tail.drain(..over);
        self.tail.extend(rest);
        self.bytes += bytes.len() as u64;
    }

    fn is_cut(&self) -> bool {
        self.left_out() > 0
    }

    fn left_out(&self) -> u64 {
        self.bytes - (self.head.len() + self.tail.len()) as u64
    }
}

// === impl CollectedStream ===

impl CollectedStream {
    fn new(is_read_whole: bool) -> Self {
        Self {
            ends: BothEnds::new(HEAD_BYTES, TAIL_BYTES),
            whole: is_read_whole.then(|| BothEnds::new(WHOLE_HEAD_BYTES, WHOLE_TAIL_BYTES)),
            errors: Vec::new(),
            line: Vec::new(),
            open_line: OpenLine::default(),
            rest: Vec::new(),
        }
    }

    fn push(&mut self, bytes: &[u8]) {
        if let Some(whole) = &mut self.whole {
            whole.push(bytes);
        }
        let mut at = self.ends.bytes;
        self.ends.push(bytes);
        self.open_line.push(bytes);
        for &byte in bytes {
            at += 1;
            if byte == b'\n' {
                self.end_line(at);
            } else if self.line.len() < ERROR_LINE_BYTES_MAX {
                self.line.push(byte);
            }
        }
    }

    /// Ends the line that ends before a place.
    fn end_line(&mut self, at: u64) {
        let line = std::mem::take(&mut self.line);
        if self.errors.len() >= ERROR_LINES_MAX || at < HEAD_BYTES as u64 {
            return;
        }
        let text = plain(&line);
        let lower = text.to_lowercase();
        if ERROR_SIGNS.iter().any(|sign| lower.contains(sign)) {
            self.errors.push((at, text));
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
        self.ends.is_cut()
    }

    /// All of it for a tool that reads it, as it was written, and whether something of it is left out.
    pub(super) fn whole(&self) -> (String, bool) {
        let Some(whole) = &self.whole else { return (String::new(), false) };
        let (tail, other) = whole.tail.as_slices();
        let text = [whole.head.as_slice(), tail, other].concat();
        (String::from_utf8_lossy(&text).into_owned(), whole.is_cut())
    }

    /// What a program writes that waits for a reply: the last line, where it has not ended.
    fn prompt(&self) -> Option<String> {
        self.open_line.prompt()
    }

    /// The stream as a result shows it.
    pub(super) fn shown(&self) -> String {
        let BothEnds { head, tail, bytes, .. } = &self.ends;
        let tail: Vec<u8> = tail.iter().copied().collect();
        if !self.is_cut() {
            return plain(&[head.as_slice(), &tail].concat());
        }
        let left_out = self.ends.left_out();
        let tail_at = bytes - tail.len() as u64;
        let between = self.errors.iter().filter(|(end, _)| *end < tail_at);
        let lines: String = between.map(|(_, line)| format!("{line}\n")).collect();
        let (head, tail) = (plain(head), plain(&tail));
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
        let mut stream = CollectedStream::new(false);
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
        assert!(found.line.len() <= ERROR_LINE_BYTES_MAX && found.ends.tail.len() <= TAIL_BYTES);
        assert!(found.shown().len() < HEAD_BYTES + TAIL_BYTES + 100);
    }

    #[test]
    fn a_question_is_seen_behind_a_line_that_was_written_over_and_over() {
        let done: String = (0..60).map(|number| format!("\r{number}% done")).collect();
        let found = stream(format!("{done}\rOverwrite? [y/N] ").as_bytes());
        assert_eq!(found.prompt().as_deref(), Some("Overwrite? [y/N]"));
        let begun = format!("{}[y/n]", " ".repeat(ERROR_LINE_BYTES_MAX - 5));
        assert_eq!(stream(format!("{begun} is a choice").as_bytes()).prompt(), None);
    }

    #[test]
    fn a_character_over_two_chunks_is_whole() {
        let mut found = CollectedStream::new(true);
        let bytes = "a\u{e9}".as_bytes();
        assert_eq!(found.complete(&bytes[..2]), "a");
        assert_eq!(found.complete(&bytes[2..]), "\u{e9}");
    }
}
