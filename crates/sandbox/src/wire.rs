//! How a command and its keeper's reports are written on the socket between the two: numbers and
//! strings of bytes, each with its length. Both sides are this program.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

/// Longest message, in bytes.
pub(crate) const MESSAGE_BYTES_MAX: usize = 16 << 20;
/// Bytes before each message: its length.
pub(crate) const LENGTH_BYTES: usize = 4;

/// A message that is being written.
#[derive(Debug, Default)]
pub(crate) struct Encoder(Vec<u8>);

/// A message that is being read.
#[derive(Debug)]
pub(crate) struct Decoder<'a>(&'a [u8]);

// === impl Encoder ===

impl Encoder {
    pub(crate) fn number(&mut self, number: u64) -> &mut Self {
        self.0.extend_from_slice(&number.to_le_bytes());
        self
    }

    pub(crate) fn text(&mut self, text: impl AsRef<OsStr>) -> &mut Self {
        let bytes = text.as_ref().as_bytes();
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    pub(crate) fn list(&mut self, list: impl IntoIterator<Item: AsRef<OsStr>>) -> &mut Self {
        let list: Vec<_> = list.into_iter().collect();
        self.number(list.len() as u64);
        for text in list {
            self.text(text);
        }
        self
    }

    /// All that was written, of any length.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// The message with its length before it.
    pub(crate) fn finish(self) -> io::Result<Vec<u8>> {
        let length = u32::try_from(self.0.len()).ok().filter(|_| self.0.len() <= MESSAGE_BYTES_MAX);
        let length = length.ok_or_else(|| io::Error::other("the message is too long"))?;
        Ok([&length.to_le_bytes()[..], &self.0].concat())
    }
}

// === impl Decoder ===

impl<'a> Decoder<'a> {
    /// The length of a message that its first bytes name.
    pub(crate) fn length(first: [u8; LENGTH_BYTES]) -> io::Result<usize> {
        let length = u32::from_le_bytes(first) as usize;
        if length > MESSAGE_BYTES_MAX {
            return Err(io::Error::other("the message is too long"));
        }
        Ok(length)
    }

    pub(crate) fn new(message: &'a [u8]) -> Self {
        Self(message)
    }

    pub(crate) fn number(&mut self) -> io::Result<u64> {
        let short = || io::Error::from(io::ErrorKind::UnexpectedEof);
        let (number, rest) = self.0.split_first_chunk().ok_or_else(short)?;
        self.0 = rest;
        Ok(u64::from_le_bytes(*number))
    }

    pub(crate) fn text(&mut self) -> io::Result<OsString> {
        let length = usize::try_from(self.number()?).unwrap_or(usize::MAX);
        let short = || io::Error::from(io::ErrorKind::UnexpectedEof);
        let (text, rest) = self.0.split_at_checked(length).ok_or_else(short)?;
        self.0 = rest;
        Ok(OsString::from_vec(text.to_vec()))
    }

    pub(crate) fn list(&mut self) -> io::Result<Vec<OsString>> {
        let count = self.number()?;
        (0..count).map(|_| self.text()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut encoder = Encoder::default();
        encoder.number(u64::MAX).text("a\0\u{e9}").list(["", "x"]).list([""; 0]);
        let message = encoder.finish().unwrap();
        let (first, rest) = message.split_first_chunk().unwrap();
        assert_eq!(Decoder::length(*first).unwrap(), rest.len());
        let mut decoder = Decoder::new(rest);
        assert_eq!(decoder.number().unwrap(), u64::MAX);
        assert_eq!(decoder.text().unwrap(), "a\0\u{e9}");
        assert_eq!(decoder.list().unwrap(), ["", "x"]);
        assert!(decoder.list().unwrap().is_empty());
        assert!(decoder.number().is_err());
    }

    #[test]
    fn a_message_that_is_cut_short_is_an_error() {
        assert!(Decoder::new(&[255; 8]).text().is_err());
        assert!(Decoder::new(&[255; 8]).list().is_err());
        assert!(Decoder::length([255; 4]).is_err());
    }
}
