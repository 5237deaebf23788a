//! The text model: bytes to text and back without loss, and replacements that leave every other
//! byte alone.
//!
//! A file is text where its bytes decode and encode back to themselves: UTF-8 and UTF-16 with
//! their marks, or a legacy encoding that was recognized. Anything with a NUL is binary. What does
//! not round-trip is refused, never repaired.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use moss_sdk::file::{LineEnding, Text, TextForm};

/// Why bytes are not a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotText {
    /// Holds NUL or is too full of control characters.
    Binary,
    /// Cannot be decoded without loss.
    Encoding,
}

/// Decodes a whole file.
///
/// # Errors
///
/// `Binary` for what is not text, `Encoding` for text that would not survive being written back.
pub fn decode(bytes: &[u8]) -> Result<Text, NotText> {
    let (text, encoding, bom) = decode_body(bytes)?;
    Ok(with_form(text.into_owned(), encoding, bom))
}

/// Decodes a whole file to be searched, without a copy where it is UTF-8 already. It need not survive being written
/// back: where some bytes of UTF-8 or UTF-16 are none, `\u{fffd}` stands for them.
///
/// # Errors
///
/// As [`decode`], but for marked texts.
pub(crate) fn decode_searched(bytes: &[u8]) -> Result<Cow<'_, str>, NotText> {
    let (encoding, bom) = mark(bytes);
    let body = &bytes[bom..];
    let Some(encoding) = encoding else {
        // Where the bytes are UTF-8, none is looked at twice.
        let is_damaged = || is_mostly_utf8(body) && !looks_binary(body);
        return match simdutf8::basic::from_utf8(body) {
            Err(_) if is_damaged() => Ok(String::from_utf8_lossy(body)),
            Err(_) => decode_body(bytes).map(|(text, ..)| text),
            Ok(text) if memchr::memchr(0, body).is_none() => Ok(text.into()),
            Ok(_) => Err(NotText::Binary),
        };
    };
    match decode_body(bytes) {
        Err(NotText::Encoding) => {
            let (text, _) = encoding.decode_without_bom_handling(body);
            let has_nul = memchr::memchr(0, text.as_bytes()).is_some();
            if has_nul { Err(NotText::Binary) } else { Ok(text) }
        }
        decoded => decoded.map(|(text, ..)| text),
    }
}

/// Whether bytes that are not UTF-8 hold more characters of several bytes than places where they are none.
fn is_mostly_utf8(bytes: &[u8]) -> bool {
    let (mut characters, mut damaged) = (0, 0);
    for chunk in bytes.utf8_chunks() {
        characters += chunk.valid().bytes().filter(|byte| *byte >= 0xc0).count();
        damaged += usize::from(!chunk.invalid().is_empty());
    }
    characters > damaged
}

/// The text, how it is encoded, and whether a mark says so.
fn decode_body(bytes: &[u8]) -> Result<(Cow<'_, str>, &'static Encoding, bool), NotText> {
    let (encoding, bom) = mark(bytes);
    let body = &bytes[bom..];
    let has_nul = |bytes: &[u8]| memchr::memchr(0, bytes).is_some();
    match encoding {
        None if has_nul(body) => Err(NotText::Binary),
        None => match simdutf8::basic::from_utf8(body) {
            Ok(text) => Ok((text.into(), UTF_8, false)),
            Err(_) => decode_legacy(body).map(|(text, encoding)| (text.into(), encoding, false)),
        },
        Some(encoding) if encoding == UTF_8 => {
            if has_nul(body) {
                return Err(NotText::Binary);
            }
            let text = simdutf8::basic::from_utf8(body).map_err(|_| NotText::Encoding)?;
            Ok((text.into(), encoding, true))
        }
        Some(encoding) => {
            let text = decode_exactly(encoding, body).ok_or(NotText::Encoding)?;
            if has_nul(text.as_bytes()) {
                return Err(NotText::Binary);
            }
            Ok((text.into(), encoding, true))
        }
    }
}

/// Encodes a text in the form of a file.
///
/// # Errors
///
/// The first character that the encoding lacks.
pub fn encode(text: &str, form: &TextForm) -> Result<Vec<u8>, char> {
    let encoding = Encoding::for_label(form.encoding.as_bytes()).unwrap_or(UTF_8);
    let mut bytes = Vec::with_capacity(text.len() + 3);
    if form.bom {
        bytes.extend_from_slice(match encoding {
            e if e == UTF_16LE => &[0xff, 0xfe],
            e if e == UTF_16BE => &[0xfe, 0xff],
            _ => &[0xef, 0xbb, 0xbf],
        });
    }
    match encoding {
        e if e == UTF_8 => bytes.extend_from_slice(text.as_bytes()),
        e if e == UTF_16LE => bytes.extend(text.encode_utf16().flat_map(u16::to_le_bytes)),
        e if e == UTF_16BE => bytes.extend(text.encode_utf16().flat_map(u16::to_be_bytes)),
        legacy => {
            let (encoded, _, unmappable) = legacy.encode(text);
            if unmappable {
                return Err(first_unmappable(legacy, text));
            }
            bytes.extend_from_slice(&encoded);
        }
    }
    Ok(bytes)
}

/// Returns the encoding that a byte-order mark names, and the length of the mark.
pub(crate) fn mark(bytes: &[u8]) -> (Option<&'static Encoding>, usize) {
    Encoding::for_bom(bytes).map_or((None, 0), |(encoding, length)| (Some(encoding), length))
}

/// Says how the lines of a text end.
pub(crate) fn line_ending(lf: u64, crlf: u64) -> LineEnding {
    match (lf > 0, crlf > 0) {
        (false, false) => LineEnding::None,
        (true, false) => LineEnding::Lf,
        (false, true) => LineEnding::Crlf,
        (true, true) => LineEnding::Mixed,
    }
}

fn with_form(text: String, encoding: &'static Encoding, bom: bool) -> Text {
    let (mut lf, mut crlf) = (0, 0);
    for at in memchr::memchr_iter(b'\n', text.as_bytes()) {
        if at > 0 && text.as_bytes()[at - 1] == b'\r' { crlf += 1 } else { lf += 1 }
    }
    let form = TextForm {
        encoding: encoding.name().to_owned(),
        bom,
        line_ending: line_ending(lf, crlf),
        final_newline: text.is_empty() || text.ends_with('\n'),
    };
    Text { text, form }
}

/// Decodes bytes that are neither UTF-8 nor marked: by the encoding that a detector takes them
/// for, or else as windows-1252; either only where the bytes come back exactly.
fn decode_legacy(bytes: &[u8]) -> Result<(String, &'static Encoding), NotText> {
    if looks_binary(bytes) {
        return Err(NotText::Binary);
    }
    let mut detector = chardetng::EncodingDetector::new(chardetng::Iso2022JpDetection::Deny);
    detector.feed(bytes, true);
    let guess = detector.guess(None, chardetng::Utf8Detection::Deny);
    [guess, encoding_rs::WINDOWS_1252]
        .into_iter()
        .find_map(|encoding| Some((decode_exactly(encoding, bytes)?, encoding)))
        .ok_or(NotText::Encoding)
}

/// Decodes where encoding the result gives the same bytes.
fn decode_exactly(encoding: &'static Encoding, bytes: &[u8]) -> Option<String> {
    let text = encoding.decode_without_bom_handling_and_without_replacement(bytes)?.into_owned();
    let form = TextForm {
        encoding: encoding.name().to_owned(),
        bom: false,
        line_ending: LineEnding::None,
        final_newline: true,
    };
    (encode(&text, &form).ok()? == bytes).then_some(text)
}

/// Whether bytes that are not UTF-8 are no text in any single-byte encoding either.
fn looks_binary(bytes: &[u8]) -> bool {
    let is_control = |b: &u8| matches!(b, 0x01..=0x08 | 0x0e..=0x1a | 0x1c..=0x1f | 0x7f);
    bytes.contains(&0) || bytes.iter().filter(|b| is_control(b)).count() * 100 > bytes.len()
}

fn first_unmappable(encoding: &'static Encoding, text: &str) -> char {
    let lacks = |c: &char| encoding.encode(c.encode_utf8(&mut [0; 4])).2;
    text.chars().find(lacks).unwrap_or(char::REPLACEMENT_CHARACTER)
}

#[cfg(test)]
mod tests;
