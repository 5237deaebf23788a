//! Messages on a stream: a header with a length, then so many bytes.

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _};

use crate::fault::ServerFault;

/// Most bytes of a header, all of its lines.
const HEADER_BYTES_MAX: u64 = 4 << 10;
/// How much room for a message there is at first, in bytes: a length alone takes no memory.
const MESSAGE_BYTES_FIRST: usize = 64 << 10;
const LENGTH: &str = "content-length";

/// Reads one message; none at the end of the stream.
///
/// # Errors
///
/// `Broken` for what is no message, or one that is larger than `bytes_max`; `Ended` where it ends within one.
pub(crate) async fn read_message(
    from: &mut (impl AsyncBufRead + Unpin),
    bytes_max: usize,
) -> Result<Option<Vec<u8>>, ServerFault> {
    let Some(length) = read_header(from).await? else { return Ok(None) };
    if length > bytes_max {
        let message = format!("a message has {length} bytes, more than {bytes_max}");
        return Err(ServerFault::Broken(message));
    }
    let mut message = Vec::with_capacity(length.min(MESSAGE_BYTES_FIRST));
    let read = from.take(length as u64).read_to_end(&mut message).await;
    match read {
        Ok(count) if count == length => Ok(Some(message)),
        Ok(_) | Err(_) => Err(ServerFault::Ended),
    }
}

/// Puts a message into its frame.
pub(crate) fn frame(message: &[u8]) -> Vec<u8> {
    let mut framed = format!("Content-Length: {}\r\n\r\n", message.len()).into_bytes();
    framed.extend_from_slice(message);
    framed
}

/// Reads the length that a header gives; none at the end of the stream.
async fn read_header(from: &mut (impl AsyncBufRead + Unpin)) -> Result<Option<usize>, ServerFault> {
    let mut left = from.take(HEADER_BYTES_MAX);
    let (mut length, mut is_first) = (None, true);
    loop {
        let mut line = Vec::new();
        let count = left.read_until(b'\n', &mut line).await.map_err(|_| ServerFault::Ended)?;
        if count == 0 && is_first {
            return Ok(None);
        }
        if line.last() != Some(&b'\n') {
            return Err(match left.limit() {
                0 => broken("a header does not end"),
                _ => ServerFault::Ended,
            });
        }
        is_first = false;
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end_matches(['\r', '\n']);
        if line.is_empty() {
            return length.map(Some).ok_or_else(|| broken("a header has no length"));
        }
        let Some((name, value)) = line.split_once(':') else {
            return Err(broken("it writes what is no message to its standard output"));
        };
        if name.trim().eq_ignore_ascii_case(LENGTH) {
            let number = value.trim().parse::<usize>();
            length = Some(number.map_err(|_| broken("a length is no number"))?);
        }
    }
}

fn broken(why: &str) -> ServerFault {
    ServerFault::Broken(why.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read(bytes: &[u8]) -> Result<Option<Vec<u8>>, ServerFault> {
        read_message(&mut &bytes[..], 100).await
    }

    #[tokio::test]
    async fn messages_come_one_after_the_other() {
        let mut bytes = frame(b"{}");
        bytes.extend(b"content-type: x\r\nCONTENT-LENGTH:  3 \r\n\r\nabc");
        let mut from = &bytes[..];
        for expected in [Some(b"{}".to_vec()), Some(b"abc".to_vec()), None] {
            assert_eq!(read_message(&mut from, 100).await.unwrap(), expected);
        }
    }

    #[tokio::test]
    async fn what_is_no_message_breaks_the_protocol() {
        let long = [b"A: ".to_vec(), vec![b'a'; 5 << 10], b"\r\n".to_vec()].concat();
        for (bytes, why) in [
            (&b"Starting server...\n"[..], "no message"),
            (b"Content-Length: 101\r\n\r\n", "101 bytes"),
            (b"Content-Length: 18446744073709551616\r\n\r\n", "no number"),
            (b"Content-Length: -1\r\n\r\n", "no number"),
            (b"Content-Type: x\r\n\r\n", "no length"),
            (&long, "does not end"),
        ] {
            let fault = read(bytes).await.unwrap_err();
            assert!(fault.is_final() && fault.to_string().contains(why), "{why}: {fault}");
        }
    }

    #[tokio::test]
    async fn a_stream_that_ends_within_a_message_has_ended() {
        for bytes in [&b"Content-Length: 5\r\n\r\nabc"[..], b"Content-Le", b"A: b\r\n"] {
            assert_eq!(read(bytes).await.unwrap_err(), ServerFault::Ended);
        }
    }
}
