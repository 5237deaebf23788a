//! The transport over two streams of lines: standard input and output of a client's child.
//!
//! A task reads lines and refuses those that are no messages; rmcp gets the others. Responses are
//! written whole, one after another. The connection ends when the input does.

use std::io;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, RequestId};
use rmcp::service::TxJsonRpcMessage;
use rmcp::transport::Transport;
use tokio::io::BufReader;
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{Mutex, Semaphore, mpsc};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::in_flight::{InFlight, REQUESTS_MAX};
use crate::line::{self, Lifecycle, ReadLine};
use crate::overlong::{self, HEAD_BYTES, TAIL_BYTES};
use crate::result_line::{self, WrittenAsLine};

/// Longest line that is read, in bytes: more than the largest file that is edited, with its escapes.
pub(crate) const LINE_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Messages that wait for rmcp.
const MESSAGES_MAX: usize = 16;
/// So many messages wait for a client that does not read before nothing more is read from it: a request that it cancels
/// frees its id, and may have its response among them.
const WAITING_MAX: usize = 2 * REQUESTS_MAX;

/// Two streams of lines.
pub(crate) struct LineTransport<W> {
    messages: mpsc::Receiver<ClientJsonRpcMessage>,
    output: Arc<Mutex<W>>,
    in_flight: InFlight,
    /// Has a permit for each message that may wait to be written.
    waiting: Arc<Semaphore>,
    reader: JoinHandle<()>,
    /// Cancelled where there is no further message.
    ended: CancellationToken,
}

/// What a client sends, as long as it reads what it gets.
struct ClientLines<R> {
    input: R,
    waiting: Arc<Semaphore>,
}

/// How reading a line ended.
#[derive(Debug, PartialEq, Eq)]
enum LineEnd {
    /// It is in the buffer.
    Whole,
    /// It was longer than one may be, and is dropped: its first bytes are in the buffer, its last ones here.
    TooLong(Vec<u8>),
    /// There is no further line.
    Input,
}

// === impl LineTransport ===

impl<W: AsyncWrite + Send + Unpin + 'static> LineTransport<W> {
    /// Begins to read. Belongs into a runtime. `ended` is cancelled where the input ends.
    pub(crate) fn new(
        input: impl AsyncRead + Send + Unpin + 'static,
        output: W,
        ended: CancellationToken,
    ) -> Self {
        let (sender, messages) = mpsc::channel(MESSAGES_MAX);
        let output = Arc::new(Mutex::new(output));
        let lifecycle = Lifecycle::default();
        let in_flight = lifecycle.in_flight().clone();
        let waiting = Arc::new(Semaphore::new(WAITING_MAX));
        let client = ClientLines { input: BufReader::new(input), waiting: Arc::clone(&waiting) };
        let reader = tokio::spawn(read(client, Arc::clone(&output), sender, lifecycle));
        Self { messages, output, in_flight, waiting, reader, ended }
    }
}

impl<W: AsyncWrite + Send + Unpin + 'static> Transport<RoleServer> for LineTransport<W> {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let (output, in_flight) = (Arc::clone(&self.output), self.in_flight.clone());
        let turn = Arc::clone(&self.waiting).try_acquire_owned();
        let mut written = Box::pin(async move {
            let _turn = turn;
            let answered = answered(&item);
            let text = result_line::written(&item).map_err(io::Error::other)?;
            write(&output, text, || {
                // Its id is free before the response can be read, and not before its turn to be written: who
                // reads no responses sends no more requests.
                if let Some(id) = answered {
                    in_flight.forget(&id);
                }
            })
            .await
        });
        // At once where the client has room for it, and not in the task that this becomes: who waits there
        // is polled again anyway.
        let now = written.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        let reader = self.reader.abort_handle();
        async move {
            let written = match now {
                Poll::Ready(written) => written,
                Poll::Pending => written.await,
            };
            // Nobody reads what is written any more: that ends the connection, as the end of the input does.
            if written.is_err() {
                reader.abort();
            }
            written
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        let message = self.messages.recv().await;
        if message.is_none() {
            self.ended.cancel();
        }
        message
    }

    async fn close(&mut self) -> io::Result<()> {
        self.reader.abort();
        Ok(())
    }
}

impl<W> Drop for LineTransport<W> {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

/// The request that a message responds to.
fn answered(message: &TxJsonRpcMessage<RoleServer>) -> Option<RequestId> {
    match message {
        JsonRpcMessage::Response(response) => Some(response.id.clone()),
        JsonRpcMessage::Error(error) => error.id.clone(),
        JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
    }
}

/// Says of a call how its response is written.
fn mark(message: &mut ClientJsonRpcMessage) {
    if let JsonRpcMessage::Request(request) = message
        && let ClientRequest::CallToolRequest(call) = &mut request.request
    {
        call.extensions.insert(WrittenAsLine);
    }
}

/// Writes a line once it is its turn, which `before` hears of.
async fn write<W: AsyncWrite + Unpin>(
    output: &Mutex<W>,
    mut text: String,
    before: impl FnOnce(),
) -> io::Result<()> {
    text.push('\n');
    let mut output = output.lock().await;
    before();
    output.write_all(text.as_bytes()).await?;
    output.flush().await
}

/// Reads lines up to the end of the input, or until nobody takes messages.
async fn read<W: AsyncWrite + Unpin>(
    mut client: ClientLines<impl AsyncBufRead + Unpin>,
    output: Arc<Mutex<W>>,
    messages: mpsc::Sender<ClientJsonRpcMessage>,
    mut lifecycle: Lifecycle,
) {
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        // It is free again as soon as one is.
        drop(client.waiting.acquire().await);
        let read = match next_line(&mut client.input, &mut buffer).await {
            Ok(LineEnd::Whole) => line::read(&buffer, &mut lifecycle),
            Ok(LineEnd::TooLong(tail)) => {
                ReadLine::Refused(overlong::response(LINE_BYTES_MAX, &buffer, &tail))
            }
            Ok(LineEnd::Input) => return,
            Err(error) => {
                tracing::warn!(%error, "cannot read from the client");
                return;
            }
        };
        let is_open = match read {
            ReadLine::Message(mut message) => {
                mark(&mut message);
                messages.send(*message).await.is_ok()
            }
            ReadLine::Refused(response) => write(&output, response, || ()).await.is_ok(),
            ReadLine::Nothing => true,
        };
        if !is_open {
            return;
        }
        // A large message does not keep its memory while the client is silent.
        buffer.shrink_to(64 * 1024);
    }
}

/// Reads up to the end of a line, which a last line without one has in the end of the input.
async fn next_line(
    input: &mut (impl AsyncBufRead + Unpin),
    buffer: &mut Vec<u8>,
) -> io::Result<LineEnd> {
    let mut dropped: Option<Vec<u8>> = None;
    loop {
        let available = input.fill_buf().await?;
        if available.is_empty() {
            return Ok(match (dropped, buffer.is_empty()) {
                (Some(tail), _) => LineEnd::TooLong(tail),
                (None, false) => LineEnd::Whole,
                (None, true) => LineEnd::Input,
            });
        }
        let end = available.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(available.len(), |end| end + 1);
        if dropped.is_none() && buffer.len() + taken > LINE_BYTES_MAX {
            dropped = Some(buffer[buffer.len().saturating_sub(TAIL_BYTES)..].to_vec());
            buffer.truncate(HEAD_BYTES);
        }
        match &mut dropped {
            Some(tail) => {
                tail.extend_from_slice(&available[..taken]);
                tail.drain(..tail.len().saturating_sub(TAIL_BYTES));
            }
            None => buffer.extend_from_slice(&available[..taken]),
        }
        input.consume(taken);
        if end.is_some() {
            return Ok(dropped.map_or(LineEnd::Whole, LineEnd::TooLong));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;

    use serde_json::json;
    use tokio::io::DuplexStream;

    use super::*;

    /// Takes bytes, which can be read, and never says that they are through.
    struct UnflushedStream(DuplexStream);

    impl AsyncWrite for UnflushedStream {
        fn poll_write(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            Pin::new(&mut self.0).poll_write(cx, bytes)
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Pending
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Pending
        }
    }

    #[tokio::test]
    async fn an_id_is_free_once_its_response_can_be_read() {
        let (_input, input) = tokio::io::duplex(64);
        let (output, client) = tokio::io::duplex(1024);
        let output = UnflushedStream(output);
        let mut transport = LineTransport::new(input, output, CancellationToken::new());
        let id = RequestId::Number(5);
        assert!(transport.in_flight.take(&id).is_ok());
        let response = json!({ "jsonrpc": "2.0", "id": 5, "result": {} });
        let _sending = transport.send(serde_json::from_value(response).unwrap());
        let mut line = String::new();
        BufReader::new(client).read_line(&mut line).await.unwrap();
        assert!(line.contains(r#""id":5"#), "{line}");
        assert!(transport.in_flight.take(&id).is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_more_is_read_from_a_client_that_does_not_read() {
        let (mut client, input) = tokio::io::duplex(1024);
        let (output, _unread) = tokio::io::duplex(1);
        let mut transport = LineTransport::new(input, output, CancellationToken::new());
        let response = json!({ "jsonrpc": "2.0", "id": 5, "result": {} });
        let mut waiting = Vec::new();
        for _ in 0..WAITING_MAX {
            let response = serde_json::from_value(response.clone()).unwrap();
            waiting.push(Box::pin(transport.send(response)));
        }
        let ping =
            |id: u64| format!("{}\n", json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }));
        let pings: String = (0..3).map(ping).collect();
        client.write_all(pings.as_bytes()).await.unwrap();
        let wait = std::time::Duration::from_secs(60);
        let mut received = 0;
        while tokio::time::timeout(wait, transport.receive()).await.is_ok() {
            received += 1;
        }
        assert!(received < 2, "one line may have been waited for before, and {received} were read");
        waiting.pop();
        assert!(transport.receive().await.is_some());
    }
}
