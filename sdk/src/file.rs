//! What a tool sees of files: decoded text, windows of lines, directory entries. Values only; the
//! daemon fills them through its one door to files.

use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::hash::ContentHash;
use crate::path::RelPath;

/// A whole regular file at one instant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSnapshot {
    /// The hash of its bytes.
    pub hash: ContentHash,
    /// Its size in bytes.
    pub size_bytes: u64,
    /// Its decoded text, or that it has none.
    pub content: Content,
    /// Whether it is what an editor holds and has not saved, and not what is on disk.
    pub unsaved: bool,
}

/// Which content a regular file has at one instant, whatever it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileDigest {
    /// The hash of its bytes.
    pub hash: ContentHash,
    /// Its size in bytes.
    pub size_bytes: u64,
}

/// The bytes of a regular file at one instant, whatever they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileBytes {
    /// The BLAKE3 hash of the bytes.
    pub hash: ContentHash,
    /// All bytes of the file, from its start.
    pub bytes: Vec<u8>,
}

/// The content of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Text that can be written back without loss.
    Text(Text),
    /// No text of a known encoding, or one that would not be written back as it was.
    Binary,
}

/// A decoded text file. Line ends are those of the file; a byte-order mark is not part of `text`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// In UTF-8, whatever the file is encoded in.
    pub text: String,
    /// How they were stored.
    pub form: TextForm,
}

/// How a text is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct TextForm {
    /// Name of the encoding in the WHATWG Encoding Standard, for example `UTF-8`.
    pub encoding: String,
    /// Whether the file starts with a byte-order mark.
    pub bom: bool,
    /// How its lines end.
    pub line_ending: LineEnding,
    /// Whether its last line ends with a line end; `true` for an empty file.
    pub final_newline: bool,
}

/// How the lines of a text end. A lone carriage return does not end a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LineEnding {
    /// No line end occurs.
    None,
    /// Every line ends with `\n`.
    Lf,
    /// Every line ends with `\r\n`.
    Crlf,
    /// Some lines end with `\n`, others with `\r\n`.
    Mixed,
}

/// Which lines of a file to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineWindow {
    /// The first line, from 1.
    pub start: u64,
    /// Most lines to return.
    pub lines_max: usize,
    /// Most bytes of text to return over all lines; at least one line is always returned.
    pub bytes_max: usize,
    /// Most bytes to return of one line.
    pub line_bytes_max: usize,
}

/// A window of lines of a text file of any size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileLines {
    /// The hash of the bytes of the whole file.
    pub hash: ContentHash,
    /// Size of the whole file in bytes.
    pub size_bytes: u64,
    /// How the text is stored.
    pub form: TextForm,
    /// How many lines the whole file has; 0 for an empty file.
    pub lines_total: u64,
    /// The lines of the window, from its start; none where it starts past the end.
    pub lines: Lines,
    /// Whether they are what an editor holds and has not saved, and not what is on disk.
    pub unsaved: bool,
}

/// Lines one after the other, in one piece of memory.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lines {
    text: String,
    /// Where each line ends in `text`, and how many bytes were cut off it.
    ends: Vec<(usize, u64)>,
}

/// One line without its line end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    /// The text, cut at the window's bound.
    pub text: &'a str,
    /// How many bytes were cut off.
    pub bytes_cut: u64,
}

/// How far a listing goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListOptions {
    /// Whether to descend into directories.
    pub recursive: bool,
    /// Most entries to visit.
    pub entries_max: usize,
}

/// The entries of a directory, in path order (bytewise by component).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Listing {
    /// In path order, at most as many as were asked for.
    pub entries: Vec<Entry>,
    /// How many entries ignore files, hidden rules or the policy left out.
    pub skipped: Skipped,
    /// Whether the bound on entries ended the walk early.
    pub truncated: bool,
}

/// Entries that a walk left out, by reason.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema,
)]
pub struct Skipped {
    /// Matched by an ignore file.
    pub ignored: u64,
    /// Refused by the policy.
    pub denied: u64,
    /// Not readable, or not nameable as UTF-8 text.
    pub unreadable: u64,
}

/// How far a walk over the texts beneath a directory goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VisitOptions {
    /// Most entries to look at.
    pub entries_max: usize,
    /// Most bytes to read over all files; the file that crosses the bound is the last.
    pub bytes_max: u64,
}

/// A regular expression in the syntax of the `regex` crate, over lines: `^` and `$` match at their
/// ends, which may be CRLF.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextPattern {
    /// Without delimiters and flags around it.
    pub expression: String,
    /// Whether upper and lower case differ.
    pub case_sensitive: bool,
    /// Whether a match may hold line ends. One that may not is within one line.
    pub spans_lines: bool,
}

/// One text file on the way of a walk.
#[derive(Debug, Clone, Copy)]
pub struct VisitedText<'a> {
    /// Relative to the workspace root.
    pub path: &'a RelPath,
    /// Its decoded text, with the line ends of the file and without a byte-order mark.
    pub text: &'a str,
}

/// What became of a walk over the texts beneath a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Visited {
    /// How many files were handed over.
    pub files: u64,
    /// What was left out.
    pub skipped: SkippedTexts,
    /// Whether a bound ended the walk early.
    pub truncated: bool,
}

/// What a walk over texts left out, by reason.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema,
)]
pub struct SkippedTexts {
    /// Entries matched by an ignore file; a directory counts once, whatever is in it.
    pub ignored: u64,
    /// Entries that the policy denies, secrets among them.
    pub denied: u64,
    /// Files that the policy asks about before they are read.
    pub unapproved: u64,
    /// Files that are not text.
    pub binary: u64,
    /// Files larger than what is read as a whole.
    pub too_large: u64,
    /// Entries that cannot be read, decoded or named as UTF-8 text.
    pub unreadable: u64,
}

/// One directory entry. Links are reported, never followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its path, relative to the workspace root.
    pub path: RelPath,
    /// What it is itself: a link is one, whatever it leads to.
    pub kind: EntryKind,
    /// Size in bytes; of files only.
    pub size_bytes: Option<u64>,
    /// When its content last changed, as the system says; a program can set it.
    pub modified: Option<SystemTime>,
    /// When anything about it last changed, which no program can set; absent where that is not known. As it
    /// was before, where a further name of the file was made or removed in another directory since.
    pub changed: Option<SystemTime>,
}

/// What a directory entry is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum EntryKind {
    /// Also one that may not be listed.
    Directory,
    /// A regular file, also an empty one.
    File,
    /// A link, also one whose target does not exist.
    Symlink,
    /// A socket, a FIFO, a device.
    Other,
}

// === impl Lines ===

impl Lines {
    /// Makes room for so many bytes of text in so many lines.
    pub fn with_capacity(text_bytes: usize, lines: usize) -> Self {
        Self { text: String::with_capacity(text_bytes), ends: Vec::with_capacity(lines) }
    }

    /// Adds a line behind the last one.
    pub fn push(&mut self, line: Line<'_>) {
        self.text.push_str(line.text);
        self.ends.push((self.text.len(), line.bytes_cut));
    }

    /// Returns how many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether the text has no line.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the bytes of the text of all lines.
    pub fn text_bytes(&self) -> usize {
        self.text.len()
    }

    /// Returns the lines in their order.
    pub fn iter(&self) -> impl Iterator<Item = Line<'_>> {
        let mut start = 0;
        self.ends.iter().map(move |&(end, bytes_cut)| {
            let text = &self.text[start..end];
            start = end;
            Line { text, bytes_cut }
        })
    }
}

impl<'a> FromIterator<Line<'a>> for Lines {
    fn from_iter<I: IntoIterator<Item = Line<'a>>>(lines: I) -> Self {
        let mut all = Self::default();
        lines.into_iter().for_each(|line| all.push(line));
        all
    }
}
