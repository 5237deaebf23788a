//! The content of a file as a stream: one part at a time is asked for and kept.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use moss_sdk::context::BoxFuture;
use wasmtime_wasi::async_trait;
use wasmtime_wasi::p2::{InputStream, Pollable, StreamError, StreamResult};

use super::OpenGuestFile;
use crate::services::FileError;

/// Most bytes that are read of a file at once.
pub(super) const PART_BYTES_MAX: usize = 64 << 10;

/// Reads a file from an offset to its end.
pub(super) struct FileStream {
    file: Arc<OpenGuestFile>,
    offset: u64,
    state: FileStreamState,
}

enum FileStreamState {
    Idle,
    Reading(BoxFuture<'static, Result<Bytes, FileError>>),
    Part(Bytes),
    Failed(FileError),
    Ended,
}

// === impl FileStream ===

impl FileStream {
    pub(super) fn new(file: Arc<OpenGuestFile>, offset: u64) -> Self {
        Self { file, offset, state: FileStreamState::Idle }
    }

    /// Begins with the next part, if none was asked for, and says whether it is there.
    fn advance(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if let FileStreamState::Idle = self.state {
            let (file, offset) = (Arc::clone(&self.file), self.offset);
            let read = async move { file.file.read_at(offset, PART_BYTES_MAX).await };
            self.state = FileStreamState::Reading(Box::pin(read));
        }
        if let FileStreamState::Reading(read) = &mut self.state {
            self.state = match std::task::ready!(Pin::new(read).poll(cx)) {
                Ok(part) if part.is_empty() => FileStreamState::Ended,
                Ok(part) => FileStreamState::Part(part),
                Err(error) => FileStreamState::Failed(error),
            };
        }
        Poll::Ready(())
    }
}

impl InputStream for FileStream {
    fn read(&mut self, size: usize) -> StreamResult<Bytes> {
        // A guest that never waits gets on all the same.
        let _ = self.advance(&mut Context::from_waker(Waker::noop()));
        match &mut self.state {
            FileStreamState::Idle | FileStreamState::Reading(_) => Ok(Bytes::new()),
            FileStreamState::Part(part) => {
                let read = part.split_to(part.len().min(size));
                self.offset = self.offset.saturating_add(read.len() as u64);
                if part.is_empty() {
                    self.state = FileStreamState::Idle;
                }
                Ok(read)
            }
            FileStreamState::Failed(error) => {
                let error = wasmtime::Error::new(*error);
                self.state = FileStreamState::Ended;
                Err(StreamError::LastOperationFailed(error))
            }
            FileStreamState::Ended => Err(StreamError::Closed),
        }
    }
}

#[async_trait]
impl Pollable for FileStream {
    async fn ready(&mut self) {
        std::future::poll_fn(|cx| self.advance(cx)).await;
    }
}
