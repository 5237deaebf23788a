//! Windows of lines: counts all lines of a file, keeps only those asked for.

use std::os::fd::OwnedFd;

use encoding_rs::{CoderResult, Decoder, DecoderResult, Encoding, UTF_8};
use moss_sdk::ContentHash;
use moss_sdk::file::{FileLines, Line, LineWindow, Lines, Text, TextForm};
use rustix::io::{Errno, Result};

use crate::handle::{self, CancelCheck, Patience};
use crate::text::{self, NotText};

/// Fewest bytes of text that are decoded at once.
const PIECE_BYTES_MIN: u64 = 1 << 10;
/// Most bytes of text that are decoded at once.
const PIECE_BYTES_MAX: u64 = 1 << 16;
/// How long most lines are, at least: room is made for so many of them.
const LINE_BYTES_EXPECTED: usize = 32;

/// Turns the chunks of a file into text.
struct Decoding {
    encoding: &'static Encoding,
    /// Whether a mark at the start names the encoding.
    bom: bool,
    /// The size that the file was found to have.
    found_bytes: u64,
    /// Whether a chunk was taken as it is: nearly every file is UTF-8 and is read at one go.
    is_whole: bool,
    /// What decodes from the first chunk on that is not UTF-8 by itself.
    pieces: Option<Pieces>,
}

/// Decodes with a copy, piece by piece.
struct Pieces {
    decoder: Decoder,
    piece: String,
}

/// Takes the window out of bytes that come in chunks, whatever they are: U+FFFD stands for what is no UTF-8.
pub(crate) struct ReplacingLines {
    hasher: blake3::Hasher,
    decoder: Decoder,
    piece: String,
    collector: Collector,
    size_bytes: u64,
}

/// Splits pieces of text into lines and keeps those in the window.
struct Collector {
    window: LineWindow,
    lines: Lines,
    /// The kept part of the present line and the number of bytes that were cut off.
    line: String,
    cut: u64,
    /// Bytes of the present line that have been seen; 0 at the start of a line.
    line_bytes: u64,
    /// Whether the last piece ended with a carriage return.
    after_cr: bool,
    number: u64,
    full: bool,
    lf: u64,
    crlf: u64,
}

/// Reads a file that was found to have so many bytes in one pass; none where it is neither UTF-8 nor
/// marked as UTF-16. The result comes with the number of bytes read. Fails with `CANCELED` where nobody
/// waits for it any more.
pub(crate) fn stream(
    fd: &OwnedFd,
    bytes_max: u64,
    found_bytes: u64,
    (patience, stop): (Patience, CancelCheck<'_>),
    window: LineWindow,
) -> Result<Option<(std::result::Result<FileLines, NotText>, u64)>> {
    let mut decoding = None;
    let mut hasher = blake3::Hasher::new();
    let mut collector = Collector::new(window, found_bytes);
    let (mut malformed, mut binary) = (false, false);
    let size_bytes = handle::feed(fd, bytes_max, Some(found_bytes), patience, |chunk| {
        hasher.update(chunk);
        let decoding = decoding.get_or_insert_with(|| Decoding::of(chunk, found_bytes));
        malformed = !decoding.decode(chunk, |text| {
            binary |= memchr::memchr(0, text.as_bytes()).is_some();
            collector.push(text);
        });
        binary |= malformed && decoding.encoding == UTF_8 && chunk.contains(&0);
        !malformed && !binary && !stop.is_due()
    })?;
    if stop.is_due() {
        return Err(Errno::CANCELED);
    }
    let mut decoding = decoding.unwrap_or_else(|| Decoding::of(&[], found_bytes));
    let intact = !malformed && decoding.end(|text| collector.push(text));
    if binary {
        return Ok(Some((Err(NotText::Binary), size_bytes)));
    }
    let (encoding, bom) = (decoding.encoding, decoding.bom);
    if !intact {
        let marked = bom || encoding != UTF_8;
        return Ok(marked.then_some((Err(NotText::Encoding), size_bytes)));
    }
    let hash = ContentHash::from_bytes(hasher.finalize().into());
    Ok(Some((Ok(collector.finish(hash, size_bytes, encoding.name(), bom)), size_bytes)))
}

/// Takes the window out of a text in memory.
pub(crate) fn of_text(
    text: &Text,
    hash: ContentHash,
    size_bytes: u64,
    window: LineWindow,
) -> FileLines {
    let mut collector = Collector::new(window, text.text.len() as u64);
    collector.push(&text.text);
    collector.finish(hash, size_bytes, &text.form.encoding, text.form.bom)
}

// === impl Decoding ===

impl Decoding {
    /// Starts with the first chunk of a file.
    fn of(chunk: &[u8], found_bytes: u64) -> Self {
        let (encoding, mark) = text::mark(chunk);
        let encoding = encoding.unwrap_or(UTF_8);
        Self { encoding, bom: mark > 0, found_bytes, is_whole: false, pieces: None }
    }

    /// Decodes the next chunk; `false` where it is malformed.
    fn decode(&mut self, chunk: &[u8], mut take: impl FnMut(&str)) -> bool {
        let is_plain = self.pieces.is_none() && self.encoding == UTF_8 && !self.bom;
        if is_plain && let Ok(text) = simdutf8::basic::from_utf8(chunk) {
            self.is_whole = true;
            take(text);
            return true;
        }
        self.pieces().decode(chunk, false, take)
    }

    /// Decodes what is left at the end of the file; `false` where a character is cut.
    fn end(&mut self, take: impl FnMut(&str)) -> bool {
        self.pieces.as_mut().is_none_or(|pieces| pieces.decode(&[], true, take))
    }

    fn pieces(&mut self) -> &mut Pieces {
        self.pieces.get_or_insert_with(|| {
            // Behind the start of a file a mark is a character.
            let decoder = match self.is_whole {
                true => self.encoding.new_decoder_without_bom_handling(),
                false => self.encoding.new_decoder_with_bom_removal(),
            };
            // What a small file does not need is not asked for: memory that comes and goes is
            // touched anew.
            let bytes = self.found_bytes.clamp(PIECE_BYTES_MIN, PIECE_BYTES_MAX);
            let piece = String::with_capacity(usize::try_from(bytes).unwrap_or_default());
            Pieces { decoder, piece }
        })
    }
}

// === impl Pieces ===

impl Pieces {
    fn decode(&mut self, mut chunk: &[u8], last: bool, mut take: impl FnMut(&str)) -> bool {
        let Self { decoder, piece } = self;
        loop {
            piece.clear();
            let (outcome, read) = decoder.decode_to_string_without_replacement(chunk, piece, last);
            take(piece);
            chunk = &chunk[read..];
            match outcome {
                DecoderResult::InputEmpty => return true,
                DecoderResult::OutputFull => {}
                DecoderResult::Malformed(..) => return false,
            }
        }
    }
}

// === impl ReplacingLines ===

impl ReplacingLines {
    /// Starts a file that was found to have so many bytes.
    pub(crate) fn new(window: LineWindow, found_bytes: u64) -> Self {
        let bytes = found_bytes.clamp(PIECE_BYTES_MIN, PIECE_BYTES_MAX);
        Self {
            hasher: blake3::Hasher::new(),
            decoder: UTF_8.new_decoder_without_bom_handling(),
            piece: String::with_capacity(usize::try_from(bytes).unwrap_or_default()),
            collector: Collector::new(window, found_bytes),
            size_bytes: 0,
        }
    }

    /// Takes the next chunk.
    pub(crate) fn push(&mut self, chunk: &[u8]) {
        self.hasher.update(chunk);
        self.size_bytes += chunk.len() as u64;
        self.decode(chunk, false);
    }

    fn decode(&mut self, mut chunk: &[u8], last: bool) {
        loop {
            self.piece.clear();
            let (outcome, read, _) = self.decoder.decode_to_string(chunk, &mut self.piece, last);
            self.collector.push(&self.piece);
            chunk = &chunk[read..];
            if outcome == CoderResult::InputEmpty {
                return;
            }
        }
    }

    /// Ends it where no chunk is left.
    pub(crate) fn finish(mut self) -> FileLines {
        self.decode(&[], true);
        let hash = ContentHash::from_bytes(self.hasher.finalize().into());
        self.collector.finish(hash, self.size_bytes, UTF_8.name(), false)
    }
}

// === impl Collector ===

impl Collector {
    fn new(window: LineWindow, found_bytes: u64) -> Self {
        let bytes = usize::try_from(found_bytes.min(PIECE_BYTES_MAX)).unwrap_or_default();
        let bytes = bytes.min(window.bytes_max);
        Self {
            window,
            lines: Lines::with_capacity(bytes, window.lines_max.min(bytes / LINE_BYTES_EXPECTED)),
            line: String::new(),
            cut: 0,
            line_bytes: 0,
            after_cr: false,
            number: 1,
            full: false,
            lf: 0,
            crlf: 0,
        }
    }

    fn push(&mut self, mut text: &str) {
        while let Some(at) = memchr::memchr(b'\n', text.as_bytes()) {
            let before = &text[..at];
            if self.line_bytes == 0 && self.is_wanted() && at <= self.window.line_bytes_max {
                // A whole line, as nearly all are: it needs no putting together.
                let crlf = before.ends_with('\r');
                self.keep_line(if crlf { &before[..at - 1] } else { before }, 0);
                self.count_line(crlf);
                text = &text[at + 1..];
                continue;
            }
            let crlf = if at == 0 { self.after_cr } else { before.ends_with('\r') };
            self.append(before);
            self.end_line(crlf);
            text = &text[at + 1..];
        }
        self.append(text);
    }

    /// A carriage return is held back until it is known whether it belongs to a line end.
    fn append(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.line_bytes += text.len() as u64;
        let held = std::mem::replace(&mut self.after_cr, text.ends_with('\r'));
        if !self.is_wanted() {
            return;
        }
        if held {
            self.keep("\r");
        }
        self.keep(text.strip_suffix('\r').unwrap_or(text));
    }

    fn keep(&mut self, text: &str) {
        let room = if self.cut > 0 {
            0
        } else {
            self.window.line_bytes_max.saturating_sub(self.line.len())
        };
        let fits = text.floor_char_boundary(room);
        self.line.push_str(&text[..fits]);
        self.cut += (text.len() - fits) as u64;
    }

    fn is_wanted(&self) -> bool {
        !self.full && self.number >= self.window.start
    }

    fn end_line(&mut self, crlf: bool) {
        self.take_line();
        self.count_line(crlf);
    }

    fn count_line(&mut self, crlf: bool) {
        *(if crlf { &mut self.crlf } else { &mut self.lf }) += 1;
        self.after_cr = false;
        self.number += 1;
        self.line_bytes = 0;
    }

    /// Takes the line that was put together.
    fn take_line(&mut self) {
        if !self.is_wanted() {
            return;
        }
        let mut line = std::mem::take(&mut self.line);
        let cut = std::mem::take(&mut self.cut);
        self.keep_line(&line, cut);
        line.clear();
        self.line = line;
    }

    fn keep_line(&mut self, text: &str, bytes_cut: u64) {
        let bytes = self.lines.text_bytes() + text.len();
        let fits = self.lines.len() < self.window.lines_max && bytes <= self.window.bytes_max;
        if fits || self.lines.is_empty() {
            self.lines.push(Line { text, bytes_cut });
        }
        self.full = !fits || self.lines.len() >= self.window.lines_max;
    }

    fn finish(
        mut self,
        hash: ContentHash,
        size_bytes: u64,
        encoding: &str,
        bom: bool,
    ) -> FileLines {
        let final_newline = self.line_bytes == 0;
        if !final_newline {
            if self.after_cr && self.is_wanted() {
                self.keep("\r");
            }
            self.take_line();
        }
        let form = TextForm {
            encoding: encoding.to_owned(),
            bom,
            line_ending: text::line_ending(self.lf, self.crlf),
            final_newline,
        };
        let lines_total = self.number - u64::from(final_newline);
        FileLines { hash, size_bytes, form, lines_total, lines: self.lines, unsaved: false }
    }
}

#[cfg(test)]
mod tests;
