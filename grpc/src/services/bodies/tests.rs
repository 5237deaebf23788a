//! Tests of the module `bodies`.

use std::convert::Infallible;
use tonic::Code;

use http_body_util::{BodyExt as _, StreamBody};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use super::*;
use moss_dispatch::budget::Budget;

type Sender = mpsc::Sender<Result<Frame<Bytes>, Infallible>>;

fn bounds() -> Arc<BodyBounds> {
    Arc::new(BodyBounds {
        idle: Duration::from_secs(10),
        total: Duration::from_secs(25),
        message_bytes_max: 40_000,
        bytes_max: 100_000,
        connection_bytes_max: 60_000,
        arriving: Budgets::default(),
    })
}

fn arriving(
    bounds: &Arc<BodyBounds>,
    of_connection: &Budget,
    is_stream: bool,
) -> (Sender, Arriving) {
    let (sender, receiver) = mpsc::channel(16);
    let [own, of_all] = bounds.arriving.shares(None, bounds.bytes_max, bounds.connection_bytes_max);
    let of_connection = (of_connection.clone(), bounds.connection_bytes_max);
    let share = BudgetShare::new([of_connection, own, of_all]);
    let body = Body::new(StreamBody::new(ReceiverStream::new(receiver)));
    (sender, Arriving::new(body, Arc::clone(bounds), share, is_stream))
}

async fn send(sender: &Sender, bytes: usize) {
    sender.send(Ok(Frame::data(vec![0; bytes].into()))).await.unwrap();
}

async fn next(arriving: &mut Arriving) -> Result<usize, Status> {
    let frame = arriving.frame().await.expect("it continues")?;
    Ok(frame.into_data().expect("only data").len())
}

#[tokio::test(start_paused = true)]
async fn a_request_that_rests_or_drips_ends() {
    let (bounds, connection) = (bounds(), Budget::default());
    let (sender, mut rests) = arriving(&bounds, &connection, false);
    send(&sender, 50).await;
    assert_eq!(next(&mut rests).await.unwrap(), 50);
    let begun = Instant::now();
    assert_eq!(next(&mut rests).await.unwrap_err().code(), Code::Aborted);
    assert_eq!(begun.elapsed().as_secs(), 10);

    let (sender, mut drips) = arriving(&bounds, &connection, false);
    let begun = Instant::now();
    let ended = loop {
        send(&sender, 1).await;
        match next(&mut drips).await {
            Ok(_) => tokio::time::advance(Duration::from_secs(9)).await,
            Err(status) => break status,
        }
    };
    assert_eq!((ended.code(), begun.elapsed().as_secs()), (Code::Aborted, 27));
}

#[tokio::test(start_paused = true)]
async fn a_stream_rests_between_its_messages_only() {
    let (bounds, connection) = (bounds(), Budget::default());
    let (sender, mut stream) = arriving(&bounds, &connection, true);
    send(&sender, HEADER_BYTES).await;
    assert_eq!(next(&mut stream).await.unwrap(), HEADER_BYTES);
    let waited = tokio::time::timeout(Duration::from_secs(600), next(&mut stream)).await;
    assert!(waited.is_err(), "an empty message is whole: {waited:?}");
    let header = [0, 0, 0, 0x75, 0x30];
    sender.send(Ok(Frame::data(header.to_vec().into()))).await.unwrap();
    assert_eq!(next(&mut stream).await.unwrap(), HEADER_BYTES);
    send(&sender, 20_000).await;
    assert_eq!(next(&mut stream).await.unwrap(), 20_000);
    assert!(connection.held() > 0);
    assert_eq!(next(&mut stream).await.unwrap_err().code(), Code::Aborted);

    let (sender, mut whole) = arriving(&bounds, &Budget::default(), true);
    sender.send(Ok(Frame::data(header.to_vec().into()))).await.unwrap();
    send(&sender, 30_000).await;
    next(&mut whole).await.unwrap();
    next(&mut whole).await.unwrap();
    assert_eq!((whole.share.bytes(), whole.open_bytes), (0, 0));
}

#[tokio::test]
async fn requests_share_what_their_connection_and_all_callers_have() {
    let bounds = bounds();
    let (one, two): (Budget, Budget) = Default::default();
    let mut held = Vec::new();
    for (connection, bytes, refused) in [
        (&one, 50_000, None),
        (&one, 20_000, Some("connection_arriving_bytes_max")),
        (&two, 50_000, None),
        (&two, 1_000, None),
        (&two, 12_000, None),
        (&Budget::default(), 20_000, Some("grpc.arriving_bytes_max")),
    ] {
        let (sender, mut body) = arriving(&bounds, connection, false);
        send(&sender, bytes).await;
        let came = next(&mut body).await;
        match refused {
            None => assert_eq!(came.unwrap(), bytes),
            Some(limit) => {
                let status = came.unwrap_err();
                assert_eq!(status.code(), Code::ResourceExhausted);
                assert!(status.message().contains(limit), "{}", status.message());
                continue;
            }
        }
        held.push((sender, body));
    }
    held.clear();
    let left = [&one, &two, bounds.arriving.of(None)].map(Budget::held);
    assert_eq!(left, [0, 0, 0]);
}

#[tokio::test]
async fn a_message_that_is_too_long_is_refused_by_its_header() {
    let (bounds, connection) = (bounds(), Budget::default());
    for is_stream in [false, true] {
        for (length, refused) in [(40_000_u32, false), (40_001, true)] {
            let (sender, mut body) = arriving(&bounds, &connection, is_stream);
            let header = [&[0][..], &length.to_be_bytes()].concat();
            sender.send(Ok(Frame::data(header.into()))).await.unwrap();
            let came = next(&mut body).await;
            match refused {
                false => assert_eq!(came.unwrap(), HEADER_BYTES),
                true => {
                    let status = came.unwrap_err();
                    assert_eq!(status.code(), Code::OutOfRange);
                    let message = status.message();
                    assert!(message.contains("40001") && message.contains("40000"), "{message}");
                    assert!(message.contains("grpc.request_bytes_max"), "{message}");
                }
            }
        }
    }
    // One that came at once with its end, as within this process.
    let (sender, mut body) = arriving(&bounds, &connection, false);
    let whole = [&[0][..], &50_000_u32.to_be_bytes(), &[7; 50_000]].concat();
    sender.send(Ok(Frame::data(whole.into()))).await.unwrap();
    assert_eq!(next(&mut body).await.unwrap_err().code(), Code::OutOfRange);
}

#[test]
fn messages_end_where_their_length_says_however_they_are_cut() {
    let bytes: Vec<u8> = [3, 0, 300]
        .into_iter()
        .flat_map(|length: u32| {
            let header = [&[0][..], &length.to_be_bytes()].concat();
            [header, vec![7; length as usize]].concat()
        })
        .collect();
    let ends = [8, 13, bytes.len()];
    for step in 1..bytes.len() {
        let mut framing = Framing::default();
        let mut there = 0;
        for piece in bytes.chunks(step) {
            there += piece.len();
            let begun = ends.iter().rfind(|end| **end <= there).copied().unwrap_or(0);
            assert_eq!(framing.take(piece), there - begun, "{step} {there}");
        }
    }
}
