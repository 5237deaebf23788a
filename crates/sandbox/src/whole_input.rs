//! Texts for the standard input of a command, or its terminal: each is written whole and in its order, however late the
//! command reads it. Each was decided about by itself, and a part of one is another text.

use std::convert::Infallible;
use std::io;
use std::time::Duration;

use tokio::sync::{Mutex, Notify};
use tokio::time::{Instant, timeout_at};

use crate::input::CommandInput;

/// Most bytes of a line that a terminal keeps until its program reads it. What is beyond that is dropped without a word,
/// and the line break is not: the program gets another line.
pub const TERMINAL_LINE_BYTES_MAX: usize = 4_095;

/// An input that is written text by text, by several callers.
#[derive(Debug)]
pub struct WholeInput {
    state: Mutex<Option<InputState>>,
    /// Gets every text, of which a rest may stay.
    written: Notify,
}

/// Why a text was not written, or not yet. Each continues a sentence that begins with the name of the command.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum InputError {
    /// It has ended, or has closed its input.
    #[error("does not read its standard input any more")]
    Closed,
    /// Nothing of the text was written in time.
    #[error("does not read: nothing of this text was written")]
    Unread,
    /// A part of it was written in time.
    #[error(
        "does not read: {written} of {bytes} bytes were written; the rest follows as soon as it reads, before any \
         other text"
    )]
    Late {
        /// What was written of the text, in bytes.
        written: usize,
        /// The length of the text.
        bytes: usize,
    },
    /// A terminal would drop a part of a line, which has so many bytes with what was typed of it before.
    #[error(
        "reads lines of at most {TERMINAL_LINE_BYTES_MAX} bytes from its terminal, and this text makes one of {0}: the \
         rest would be dropped"
    )]
    LongLine(usize),
}

/// An input that is open.
#[derive(Debug)]
struct InputState {
    input: CommandInput,
    /// What is left of a text of which a part is written.
    rest: Vec<u8>,
    /// How many bytes the last line has, of all texts, that no line break ended.
    line_bytes: usize,
    /// Whether it is closed once nothing is left of the last text.
    closes: bool,
}

/// What ends a line of a terminal: Return is a carriage return.
fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

// === impl WholeInput ===

impl WholeInput {
    /// Takes over an input that nothing was written to; closed where the command has no input.
    pub fn new(input: Option<CommandInput>) -> Self {
        let state =
            input.map(|input| InputState { input, rest: Vec::new(), line_bytes: 0, closes: false });
        Self { state: Mutex::new(state), written: Notify::new() }
    }

    /// Refuses a text that its terminal would cut, as far as that is known before it is written.
    ///
    /// # Errors
    ///
    /// `LongLine`.
    pub fn check(&self, text: &str) -> Result<(), InputError> {
        match self.state.try_lock() {
            Ok(state) => state.as_ref().map_or(Ok(()), |state| state.check(text)),
            // Whoever writes at this moment changes what is known: it is looked at again.
            Err(_) => Ok(()),
        }
    }

    /// Writes a text, and closes the input afterwards where it is to be closed. Of a text that is not read in that time
    /// either nothing is written, or the rest later, by [`Self::write_rests`]: also where the future is dropped.
    ///
    /// # Errors
    ///
    /// Where the text is not written, or not yet.
    pub async fn write(
        &self,
        text: &str,
        close: bool,
        time_max: Duration,
    ) -> Result<(), InputError> {
        let deadline = Instant::now() + time_max;
        // Whoever holds it writes another text.
        let state = timeout_at(deadline, self.state.lock()).await;
        let mut open = state.map_err(|_| InputError::Unread)?;
        let state = open.as_mut().filter(|state| !state.closes).ok_or(InputError::Closed)?;
        state.check(text)?;
        match timeout_at(deadline, state.write_rest()).await {
            Ok(rest) => rest.map_err(|_| InputError::Closed)?,
            Err(_) => return Err(InputError::Unread),
        }
        self.written.notify_one();
        match timeout_at(deadline, state.write(text)).await {
            Ok(written) => written.map_err(|_| InputError::Closed)?,
            Err(_) if state.rest.is_empty() => return Err(InputError::Unread),
            Err(_) => {
                state.closes = close;
                let (bytes, written) = (text.len(), text.len() - state.rest.len());
                return Err(InputError::Late { written, bytes });
            }
        }
        if close {
            open.take();
        }
        Ok(())
    }

    /// Writes what is left of texts that were not read in time, for as long as it is polled.
    pub async fn write_rests(&self) -> Infallible {
        loop {
            let mut open = self.state.lock().await;
            if let Some(state) = open.as_mut() {
                // A command that reads no more is found by the next text.
                let _ = state.write_rest().await;
                if state.closes && state.rest.is_empty() {
                    open.take();
                }
            }
            drop(open);
            self.written.notified().await;
        }
    }

    /// Closes it, whatever is left to be written.
    pub async fn close(&self) {
        self.state.lock().await.take();
    }
}

// === impl InputState ===

impl InputState {
    fn check(&self, text: &str) -> Result<(), InputError> {
        if !self.input.cuts_lines() {
            return Ok(());
        }
        let mut lines = text.as_bytes().split(|byte| is_line_end(*byte)).map(<[u8]>::len);
        let first = lines.next().map(|bytes| self.line_bytes + bytes);
        let mut all = first.into_iter().chain(lines);
        let long = all.find(|bytes| *bytes > TERMINAL_LINE_BYTES_MAX);
        long.map_or(Ok(()), |bytes| Err(InputError::LongLine(bytes)))
    }

    /// Writes a text after what is left of the one before. Where the future is dropped, either nothing of it is written
    /// or the rest is kept.
    async fn write(&mut self, text: &str) -> io::Result<()> {
        let mut left = text.as_bytes();
        if left.is_empty() {
            return Ok(());
        }
        // A program may have read the text, and want lines again, by the time that it is written.
        let cut_lines = self.input.cuts_lines();
        self.input.write_some(&mut left).await?;
        left.clone_into(&mut self.rest);
        self.line_bytes = match text.bytes().rev().position(is_line_end) {
            // What is read byte by byte makes no line.
            _ if !(cut_lines && self.input.cuts_lines()) => 0,
            Some(bytes) => bytes,
            None => self.line_bytes + text.len(),
        };
        self.write_rest().await
    }

    async fn write_rest(&mut self) -> io::Result<()> {
        while !self.rest.is_empty() {
            let mut left = self.rest.as_slice();
            self.input.write_some(&mut left).await?;
            let written = self.rest.len() - left.len();
            self.rest.drain(..written);
        }
        Ok(())
    }
}
