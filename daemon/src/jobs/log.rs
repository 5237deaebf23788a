//! What a job wrote: the end of it in memory, all of it in an artifact once that is more.

use moss_sdk::job::JobOutput;

use moss_sandbox::terminal_text;

/// Most bytes of the end of an output that stay in memory once it is longer than twice that.
const HELD_BYTES: usize = 128 << 10;
/// Most bytes of one response.
const RESPONSE_BYTES_MAX: usize = 24 << 10;
/// Longest character, in bytes.
const CHARACTER_BYTES_MAX: usize = 4;

/// The output of a job: both streams, in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct JobLog {
    held: Vec<u8>,
    total: u64,
    /// Whether more came than is held: everything is on disk then.
    is_spilled: bool,
}

/// How many bytes at the beginning are whole characters.
fn whole(bytes: &[u8]) -> usize {
    let last = bytes.len().saturating_sub(CHARACTER_BYTES_MAX);
    let begins = |at: &usize| bytes[*at] & 0b1100_0000 != 0b1000_0000;
    let Some(at) = (last..bytes.len()).rev().find(begins) else { return bytes.len() };
    let length = match bytes[at] {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => 1,
    };
    if at + length > bytes.len() { at } else { bytes.len() }
}

// === impl JobLog ===

impl JobLog {
    /// Takes what came. Returns what is to be written to the artifact, from now on all that comes.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Option<Vec<u8>> {
        self.total += bytes.len() as u64;
        self.held.extend_from_slice(bytes);
        if self.held.len() <= 2 * HELD_BYTES {
            return self.is_spilled.then(|| bytes.to_vec());
        }
        let spilled = if self.is_spilled { bytes.to_vec() } else { self.held.clone() };
        self.is_spilled = true;
        self.held.drain(..self.held.len() - HELD_BYTES);
        Some(spilled)
    }

    /// How many bytes came.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// Where what is held begins.
    pub(super) fn held_from(&self) -> u64 {
        self.total - self.held.len() as u64
    }

    /// What is held from a byte on.
    fn held_since(&self, since: u64) -> &[u8] {
        let skipped = since.clamp(self.held_from(), self.total) - self.held_from();
        &self.held[usize::try_from(skipped).unwrap_or(self.held.len())..]
    }

    /// Shows what came from a byte on; the end where none is given.
    pub(super) fn read(&self, since: Option<u64>, has_ended: bool) -> JobOutput {
        let since = since.unwrap_or_else(|| self.total.saturating_sub(RESPONSE_BYTES_MAX as u64));
        let since = since.clamp(self.held_from(), self.total);
        let all = self.held_since(since);
        let mut shown = &all[..all.len().min(RESPONSE_BYTES_MAX)];
        // What has not come whole is shown with what follows.
        if shown.len() < all.len() || !has_ended {
            shown = &shown[..whole(shown)];
        }
        let next = since + shown.len() as u64;
        JobOutput { text: terminal_text::plain(shown), since, next, more: next < self.total }
    }

    /// What is held from a byte on, and where that begins.
    pub(super) fn rest(&self, since: u64) -> (u64, Vec<u8>) {
        let from = since.max(self.held_from());
        (from, self.held_since(from).to_vec())
    }

    /// What it seems to wait for.
    pub(super) fn prompt(&self) -> Option<String> {
        terminal_text::prompt(&self.held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_is_read_on_from_where_the_last_response_ended() {
        let mut log = JobLog::default();
        assert_eq!(log.push(b"one\n"), None);
        let first = log.read(None, false);
        assert_eq!((first.text.as_str(), first.next, first.more), ("one\n", 4, false));
        log.push("two \u{e9}".as_bytes());
        let second = log.read(Some(first.next), false);
        assert_eq!((second.text.as_str(), second.since), ("two \u{e9}", 4));
        assert_eq!(log.read(Some(9_999), false).text, "");
        log.push("\r5% done".repeat(60).as_bytes());
        log.push(b"\rOverwrite? [y/N] ");
        assert_eq!(log.prompt().as_deref(), Some("Overwrite? [y/N]"));
    }

    #[test]
    fn a_character_that_has_not_come_whole_is_shown_later() {
        let mut log = JobLog::default();
        log.push(b"a\xc3");
        let first = log.read(Some(0), false);
        assert_eq!((first.text.as_str(), first.next, first.more), ("a", 1, true));
        log.push(b"\xa9");
        assert_eq!(log.read(Some(1), false).text, "\u{e9}");
        log.push(b"\xc3");
        assert_eq!(log.read(Some(3), true).text, "\u{fffd}");
    }

    #[test]
    fn a_long_output_stays_in_bounds_and_all_of_it_goes_to_disk() {
        let mut log = JobLog::default();
        let (mut all, mut spilled) = (Vec::new(), Vec::new());
        for number in 0..100_000 {
            let line = format!("line {number}\n").into_bytes();
            spilled.extend(log.push(&line).unwrap_or_default());
            all.extend(line);
            assert!(log.held.len() <= 2 * HELD_BYTES);
        }
        assert_eq!(spilled, all);
        assert_eq!(log.total(), all.len() as u64);
        let first = log.read(Some(0), false);
        assert_eq!((first.since, first.more), (log.held_from(), true));
        assert!(log.read(None, false).text.ends_with("line 99999\n"));
    }

    #[test]
    fn what_comes_is_taken_once_and_only_behind_the_cursor() {
        let mut log = JobLog::default();
        log.push(b"listen");
        assert_eq!(log.rest(0), (0, b"listen".to_vec()));
        assert_eq!(log.rest(9), (9, Vec::new()));
        log.push(b"ing on 80\n");
        assert_eq!(log.rest(6), (6, b"ing on 80\n".to_vec()));
        log.push(&[b'x'; 2 * HELD_BYTES]);
        assert_eq!(log.rest(6), (log.total() - HELD_BYTES as u64, vec![b'x'; HELD_BYTES]));
    }
}
