//! A stream of messages about one reply that is responded to while it comes.
//!
//! What came is worked on before more is taken, and what is said is passed on before more is worked
//! on: a slow reader slows who sends, and nothing piles up. Once a reply is long, the work is done
//! off the workers that serve everybody.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use moss_dispatch::{Caller, Reason, blocking::heavy};
use prost::Message;
use tokio::sync::mpsc;
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Status, Streaming};

use super::super::error::{self, invalid_field};
use super::super::pass;
use super::too_large;
use moss_daemon::state::Daemon;

/// Largest reply, in bytes.
pub(super) const REPLY_BYTES_MAX: usize = 16 << 20;
/// Up to how many bytes a reply is worked on where it comes: it takes less time than to go
/// elsewhere.
pub(super) const SHORT_BYTES_MAX: usize = 16 << 10;
/// What is said and waits for the transport, in messages.
const STREAM_QUEUE_MAX: usize = 16;
/// How long a caller may take to say what a stream is for.
const START_WAIT_MAX: Duration = Duration::from_secs(10);

/// One who takes messages and responds to them.
pub(super) trait Exchange: Send + Sized {
    type Request: Send;
    type Response: Message + Send;
    /// What is said to who ends without a last message.
    const UNFINISHED: &'static str;

    /// To whom it responds.
    fn responses(&self) -> &ResponseSender<Self::Response>;

    /// Takes a message, and responds to it.
    fn take(
        &mut self,
        request: Self::Request,
    ) -> impl Future<Output = Result<(), ExchangeEnd>> + Send;
}

/// The way back to who sends.
#[derive(Debug)]
pub(super) struct ResponseSender<T> {
    daemon: Arc<Daemon>,
    /// Whose work it is.
    caller: Option<Caller>,
    sender: mpsc::Sender<Result<T, Status>>,
    is_left: Arc<AtomicBool>,
}

/// What comes out of a way back. Where its reader was left, it ends with a status: what came before
/// must not look whole.
#[derive(Debug)]
pub(super) struct ResponseReceiver<T> {
    answers: ReceiverStream<Result<T, Status>>,
    is_left: Arc<AtomicBool>,
}

/// Why an exchange is over.
pub(super) enum ExchangeEnd {
    /// All was read and reported.
    Done,
    /// The reader is gone or takes nothing.
    Left,
    /// It cannot continue: the status ends the stream.
    Refused(Status),
}

/// Waits for the first message of a stream.
pub(super) async fn first<M>(told: &mut Streaming<M>) -> Result<Option<M>, Status> {
    let first = tokio::time::timeout(START_WAIT_MAX, told.message()).await;
    first.map_err(|_| no_start("nothing came"))?
}

/// Makes the status of a stream that does not begin with `start`.
pub(super) fn no_start(what: &str) -> Status {
    let message = format!("the first message must be `start`, within 10 seconds; {what}");
    invalid_field("message", &message)
}

/// Makes the status of a message that none of a kind may follow.
pub(super) fn said_already(kind: &str) -> ExchangeEnd {
    ExchangeEnd::Refused(invalid_field("message", &format!("`{kind}` was sent already")))
}

/// Makes the status of an empty message.
pub(super) fn unknown_message() -> ExchangeEnd {
    let message = "a message of a kind that this version does not know";
    ExchangeEnd::Refused(invalid_field("message", message))
}

/// Makes the status of a reply that is too large.
pub(super) fn reply_too_large(field: &str, what: &str) -> Status {
    let message = format!("{field}: the reply has more than {what}");
    error::status(Reason::ReplyTooLarge, &message, &[("field", field)])
}

/// Takes all that comes. Ends when the reader is gone.
pub(super) async fn run<E: Exchange>(mut exchange: E, mut told: Streaming<E::Request>) {
    let ResponseSender { daemon, sender, is_left, .. } = exchange.responses().clone();
    let end = tokio::select! {
        () = daemon.draining.cancelled() => {
            ExchangeEnd::Refused(Status::unavailable("the daemon stops: begin the reply again later"))
        }
        () = sender.closed() => ExchangeEnd::Left,
        end = take_all(&mut exchange, &mut told) => end,
    };
    match end {
        ExchangeEnd::Done => {}
        ExchangeEnd::Left => is_left.store(true, Ordering::Release),
        // One that is gone has no use for the reason.
        ExchangeEnd::Refused(status) => drop(pass(&sender, Err(status), &daemon.draining).await),
    }
}

async fn take_all<E: Exchange>(exchange: &mut E, told: &mut Streaming<E::Request>) -> ExchangeEnd {
    loop {
        let taken = match told.message().await {
            Ok(Some(request)) => exchange.take(request).await,
            Ok(None) => Err(ExchangeEnd::Refused(invalid_field("message", E::UNFINISHED))),
            // It has gone, or sent what cannot be read, such as a message that is too large.
            Err(status) => Err(ExchangeEnd::Refused(status)),
        };
        if let Err(end) = taken {
            return end;
        }
    }
}

// === impl ResponseReceiver ===

impl<T> Stream for ResponseReceiver<T> {
    type Item = Result<T, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match ready!(Pin::new(&mut self.answers).poll_next(context)) {
            None if self.is_left.swap(false, Ordering::AcqRel) => {
                let message = "nothing was read for 10 seconds; begin the reply again";
                let status = error::status(Reason::ReaderStalled, message, &[]);
                Poll::Ready(Some(Err(status)))
            }
            told => Poll::Ready(told),
        }
    }
}

// === impl ResponseSender ===

impl<T> Clone for ResponseSender<T> {
    fn clone(&self) -> Self {
        Self {
            daemon: Arc::clone(&self.daemon),
            caller: self.caller.clone(),
            sender: self.sender.clone(),
            is_left: Arc::clone(&self.is_left),
        }
    }
}

impl<T: Message> ResponseSender<T> {
    /// Makes a way back to a caller, and what comes out of it.
    pub(super) fn new(daemon: &Arc<Daemon>, caller: Option<Caller>) -> (Self, ResponseReceiver<T>) {
        let (sender, stream) = mpsc::channel(STREAM_QUEUE_MAX);
        let is_left = Arc::new(AtomicBool::new(false));
        let told = ResponseReceiver {
            answers: ReceiverStream::new(stream),
            is_left: Arc::clone(&is_left),
        };
        (Self { daemon: Arc::clone(daemon), caller, sender, is_left }, told)
    }

    /// The most bytes of a response.
    pub(super) fn bytes_max(&self) -> usize {
        self.daemon.config().grpc.response_bytes_max
    }

    /// Sends a response that is within `bytes_max`, while the client is there.
    pub(super) async fn send(&self, response: T) -> Result<(), ExchangeEnd> {
        let (size, bytes_max) = (response.encoded_len(), self.bytes_max());
        if size > bytes_max {
            return Err(ExchangeEnd::Refused(too_large("an event", size, bytes_max)));
        }
        match pass(&self.sender, Ok(response), &self.daemon.draining).await {
            true => Ok(()),
            false => Err(ExchangeEnd::Left),
        }
    }

    /// Works on what is kept from message to message: here, or elsewhere where it may take long.
    /// It is absent while it is worked on, and after the end.
    pub(super) async fn work<K: Send + 'static, D: Send + 'static>(
        &self,
        takes_long: bool,
        kept: &mut Option<K>,
        work: impl FnOnce(K) -> (Option<K>, D) + Send + 'static,
    ) -> Result<D, ExchangeEnd> {
        let Some(given) = kept.take() else { return Err(ExchangeEnd::Done) };
        let (given, done) = match takes_long {
            false => work(given),
            true => {
                let places = (&self.daemon.cpu_permits, self.caller.as_ref());
                let done = heavy(places, move || work(given)).await;
                done.map_err(|broken| ExchangeEnd::Refused(error::broken(broken)))?
            }
        };
        *kept = given;
        Ok(done)
    }
}

#[cfg(test)]
mod tests {
    use tokio_stream::StreamExt as _;

    use super::*;

    #[tokio::test]
    async fn a_reader_that_was_left_gets_what_waited_and_a_status_last() {
        for is_left in [true, false] {
            let (sender, stream) = mpsc::channel(STREAM_QUEUE_MAX);
            let flag = Arc::new(AtomicBool::new(false));
            let answers = ReceiverStream::new(stream);
            let mut told: ResponseReceiver<u8> =
                ResponseReceiver { answers, is_left: Arc::clone(&flag) };
            sender.send(Ok(1)).await.unwrap();
            flag.store(is_left, Ordering::Release);
            drop(sender);
            assert_eq!(told.next().await.unwrap().unwrap(), 1);
            let last = told.next().await.map(|last| last.unwrap_err().code());
            assert_eq!(last, is_left.then_some(tonic::Code::Aborted));
            assert!(told.next().await.is_none());
        }
    }
}
