//! The question at the terminal.

use std::io::{self, BufRead as _, Read as _};

use rustix::termios::QueueSelector;
use tokio::sync::oneshot;

use super::ui::{Ui, bold};

/// Longest answer, in bytes.
const ANSWER_BYTES_MAX: u64 = 4 * 1024;
/// How often an answer that is not understood is asked for again.
const ATTEMPTS_MAX: usize = 3;

/// What a person says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    Yes,
    /// With the reason, which may be empty.
    No(String),
}

/// Asks until there is an answer; none where the input ends or makes no sense.
pub(super) async fn ask(ui: &Ui, question: &str) -> io::Result<Option<Answer>> {
    // What was typed before the question was seen is no answer to it.
    let _ = rustix::termios::tcflush(io::stdin(), QueueSelector::IFlush);
    for _ in 0..ATTEMPTS_MAX {
        ui.ask(&bold(format!("{question} [y]es / [n]o / n with a reason:")));
        let Some(line) = read_line().await? else {
            ui.note("");
            return Ok(None);
        };
        if let Some(answer) = parse(&line) {
            return Ok(Some(answer));
        }
    }
    Ok(None)
}

/// Reads an answer.
fn parse(line: &str) -> Option<Answer> {
    let line = line.trim();
    let (word, rest) = line.split_once([' ', ',', ':']).unwrap_or((line, ""));
    match word.to_ascii_lowercase().as_str() {
        "y" | "yes" if rest.trim().is_empty() => Some(Answer::Yes),
        "n" | "no" => Some(Answer::No(rest.trim().to_owned())),
        _ => None,
    }
}

/// Reads a line on a thread of its own, which a call that ends meanwhile leaves behind: a read of
/// a terminal cannot be broken off.
async fn read_line() -> io::Result<Option<String>> {
    let (sender, receiver) = oneshot::channel();
    std::thread::Builder::new().name("moss-prompt".to_owned()).spawn(move || {
        let mut line = String::new();
        let read = io::stdin().lock().take(ANSWER_BYTES_MAX).read_line(&mut line);
        // Nobody waits any more where the call has ended.
        let _ = sender.send(read.map(|count| (count > 0).then_some(line)));
    })?;
    receiver.await.unwrap_or(Ok(None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_and_anything_else_is_not_a_yes() {
        let no = |reason: &str| Some(Answer::No(reason.to_owned()));
        for (line, answer) in [
            ("y\n", Some(Answer::Yes)),
            (" YES \r\n", Some(Answer::Yes)),
            ("n\n", no("")),
            ("no, use the other file\n", no("use the other file")),
            ("n too broad", no("too broad")),
            ("", None),
            ("\n", None),
            ("yes but only half\n", None),
            ("yep", None),
            ("ok", None),
        ] {
            assert_eq!(parse(line), answer, "{line:?}");
        }
    }
}
