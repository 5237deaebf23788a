//! What a server can make moss take of memory, as the kernel counts it. The only test of its process: the
//! highest use is that of all threads.

#![cfg(target_os = "linux")]
#![allow(clippy::disallowed_methods, reason = "the kernel alone says what a process uses")]
#![allow(clippy::unwrap_used, reason = "a test program: what it unwraps is its message")]

use std::time::Duration;

use moss_language_servers::{ClientOptions, KNOWN, ServerClient, ServerFault};
use tokio::io::AsyncWriteExt as _;

/// Most that one message may add, in bytes: a few copies of the largest one here.
const ADDED_MAX: usize = 64 << 20;
const ELEMENTS: usize = 1_000_000;

/// The highest use of memory since it was last forgotten.
fn highest() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() << 10
}

fn forget_highest() {
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
}

/// A list of so many elements, in a message.
fn listed(before: &str, element: &str, behind: &str) -> String {
    let mut message = String::with_capacity(before.len() + ELEMENTS * (element.len() + 1) + 9);
    message.push_str(before);
    for index in 0..ELEMENTS {
        message.push_str(if index == 0 { "" } else { "," });
        message.push_str(element);
    }
    message + behind
}

/// What comes of a client whose server says these messages instead of its greeting, and then ends.
async fn greeted(messages: &[String]) -> ServerFault {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let (from, to) = tokio::io::split(ours);
    let options = ClientOptions {
        root: "/w".into(),
        start_max: Duration::from_secs(60),
        response_max: Duration::from_secs(60),
    };
    let spec = KNOWN[0].spec();
    let serve = async move {
        let mut theirs = theirs;
        for message in messages {
            let header = format!("Content-Length: {}\r\n\r\n", message.len());
            let said = async {
                theirs.write_all(header.as_bytes()).await?;
                theirs.write_all(message.as_bytes()).await
            };
            if said.await.is_err() {
                break;
            }
        }
    };
    let (client, ()) = tokio::join!(ServerClient::start(from, to, &spec, &options), serve);
    match client {
        Ok(client) => client.until_over().await,
        Err(fault) => fault,
    }
}

#[tokio::test]
async fn a_message_takes_memory_in_proportion_to_its_length() {
    let token = format!("\"{}\"", "x".repeat(1 << 20));
    let works = (0..100).map(|number| {
        let token = token.replacen('x', &number.to_string(), 1);
        format!(
            r#"{{"method":"$/progress","params":{{"token":{token},"value":{{"kind":"begin"}}}}}}"#
        )
    });
    let asked = r#"{"id":7,"method":"workspace/configuration","params":{"items":["#;
    for (messages, expected) in [
        (vec![listed(asked, "1", "]}}")], "it has ended"),
        (vec![listed(asked, "{}", "]}}")], "1000000 parts of its settings at once, more than 1000"),
        (vec![listed(r#"{"method":"x","params":["#, r#"{"":1}"#, "]}")], "it has ended"),
        (vec![listed(r#"{"method":"$/progress","params":["#, r#"{"":1}"#, "]}")], "it has ended"),
        (vec![listed(r#"{"id":["#, r#"{"":1}"#, r#"],"method":"x"}"#)], "bytes, more than 256"),
        (vec![listed(r#"{"id":1,"result":["#, r#"{"":1}"#, "]}")], "cannot be read"),
        (vec![listed(r#"{"id":1,"result":{"a":["#, r#"{"":1}"#, "]}}")], "it has ended"),
        (
            vec![listed(
                r#"{"id":1,"error":{"code":1,"message":"no","data":["#,
                r#"{"":1}"#,
                "]}}",
            )],
            "refused",
        ),
        (works.collect(), "it has ended"),
    ] {
        forget_highest();
        let before = highest();
        let fault = greeted(&messages).await.to_string();
        let shown = &messages[0][..60];
        assert!(fault.contains(expected), "{shown}: {fault}");
        let added = highest() - before;
        assert!(added < ADDED_MAX, "{shown}: {added} bytes more");
    }
}
