//! Standard output and error of a guest: each line becomes a log message of the call. Nothing a
//! guest prints reaches the host's own streams.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use tokio::io::AsyncWrite;
use wasmtime_wasi::async_trait;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamResult};

use crate::imports::context::{GuestReporter, LOG_MESSAGE_BYTES_MAX, LogLevel};

/// One of the two streams. Clones share the unfinished line.
#[derive(Clone)]
pub(crate) struct Printed {
    kind: StdStream,
    voice: GuestReporter,
    line: Arc<Mutex<Vec<u8>>>,
}

#[derive(Clone, Copy)]
enum StdStream {
    Output,
    Error,
}

// === impl Printed ===

impl Printed {
    pub(crate) fn output(voice: GuestReporter) -> Self {
        Self { kind: StdStream::Output, voice, line: Arc::default() }
    }

    pub(crate) fn error(voice: GuestReporter) -> Self {
        Self { kind: StdStream::Error, voice, line: Arc::default() }
    }

    /// Passes on the last line if it has no line end.
    pub(crate) fn finish(&self) {
        self.end_line(&mut self.line.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn print(&self, bytes: &[u8]) {
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let text = part.strip_suffix(b"\n").unwrap_or(part);
            let room = LOG_MESSAGE_BYTES_MAX.saturating_sub(line.len());
            line.extend_from_slice(&text[..text.len().min(room)]);
            if text.len() < part.len() {
                self.end_line(&mut line);
            }
        }
    }

    fn end_line(&self, line: &mut Vec<u8>) {
        if !line.is_empty() {
            let text = String::from_utf8_lossy(line);
            match self.kind {
                StdStream::Output => self.voice.log(LogLevel::Info, &text),
                StdStream::Error => self.voice.complain(&text),
            }
            line.clear();
        }
    }
}

impl IsTerminal for Printed {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Printed {
    /// Only WASI 0.3 asks for this form, and it is not linked.
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(tokio::io::sink())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

impl OutputStream for Printed {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.print(&bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(LOG_MESSAGE_BYTES_MAX)
    }
}

#[async_trait]
impl Pollable for Printed {
    async fn ready(&mut self) {}
}
