//! The question at the terminal.

use std::io::{self, BufRead as _, Read as _};

use rustix::termios::QueueSelector;
use tokio::sync::oneshot;

use moss_proto::v1;

use super::text;
use super::ui::{Ui, bold};
use super::wording::PromptWording;

/// Longest reply, in bytes.
const REPLY_BYTES_MAX: u64 = 4 * 1024;
/// How often a decision that is not understood is asked for again.
const ATTEMPTS_MAX: usize = 3;

/// What a person says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PersonsDecision {
    Yes,
    /// With the reason, which may be empty.
    No(String),
    /// Yes, for longer than once.
    Standing(v1::OfferedApproval),
}

/// Asks until there is a decision; none where the input ends or makes no sense. A standing approval
/// counts when its rule was shown and confirmed.
pub(super) async fn ask(
    ui: &Ui,
    question: &str,
    offers: &[v1::OfferedApproval],
) -> io::Result<Option<PersonsDecision>> {
    let words = &ui.wording().prompt;
    let choices = offers.iter().map(|offer| choice(words, offer));
    let choices: Vec<_> =
        [words.yes_or_no, words.with_a_reason].into_iter().chain(choices).collect();
    let question = format!("{question} {}:", choices.join(" / "));
    for _ in 0..ATTEMPTS_MAX {
        match ask_once(ui, &question, offers).await? {
            Some(PersonsDecision::Standing(offer)) => {
                ui.note(&format!("\n{}", text::lines(&offer.rule_toml)));
                if agree(ui, words.remember).await? {
                    return Ok(Some(PersonsDecision::Standing(offer)));
                }
            }
            other => return Ok(other),
        }
    }
    Ok(None)
}

/// Asks for a yes; anything else is a no.
pub(super) async fn agree(ui: &Ui, question: &str) -> io::Result<bool> {
    let decision =
        ask_once(ui, &format!("{question} {}:", ui.wording().prompt.yes_or_no), &[]).await?;
    Ok(decision == Some(PersonsDecision::Yes))
}

/// Asks for a line of words; none where the input ends.
pub(super) async fn words(ui: &Ui, question: &str) -> io::Result<Option<String>> {
    let _ = rustix::termios::tcflush(io::stdin(), QueueSelector::IFlush);
    ui.ask(&bold(question));
    read_line().await
}

/// How much more of a long text a person wants to see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum More {
    /// As much as the terminal shows at once.
    Screen,
    /// All of the rest.
    Rest,
    /// Nothing: what was shown is enough.
    Nothing,
}

/// Asks whether to continue showing. Where the input ends, nobody reads on.
pub(super) async fn more(ui: &Ui) -> io::Result<More> {
    let _ = rustix::termios::tcflush(io::stdin(), QueueSelector::IFlush);
    ui.ask(&bold(ui.wording().prompt.more));
    let line = read_line().await?;
    Ok(match line.as_deref().map(str::trim) {
        Some("") => More::Screen,
        Some("a" | "A") => More::Rest,
        Some(_) | None => More::Nothing,
    })
}

async fn ask_once(
    ui: &Ui,
    question: &str,
    offers: &[v1::OfferedApproval],
) -> io::Result<Option<PersonsDecision>> {
    // What was typed before the question was seen is no decision to it.
    let _ = rustix::termios::tcflush(io::stdin(), QueueSelector::IFlush);
    for _ in 0..ATTEMPTS_MAX {
        ui.ask(&bold(question));
        let Some(line) = read_line().await? else {
            ui.note("");
            return Ok(None);
        };
        if let Some(decision) = parse(&line, offers) {
            return Ok(Some(decision));
        }
    }
    Ok(None)
}

/// How a standing approval is chosen.
fn choice(words: &PromptWording, offer: &v1::OfferedApproval) -> &'static str {
    match offer.scope() {
        v1::ApprovalScope::Session => words.for_session,
        v1::ApprovalScope::Always | v1::ApprovalScope::Unspecified => words.always,
    }
}

/// Reads what a person typed; none where it is no decision.
fn parse(line: &str, offers: &[v1::OfferedApproval]) -> Option<PersonsDecision> {
    let line = line.trim();
    let (word, rest) = line.split_once([' ', ',', ':', '，', '：']).unwrap_or((line, ""));
    let standing = |scope| {
        let offer = offers.iter().find(|offer| offer.scope() == scope);
        offer.cloned().map(PersonsDecision::Standing)
    };
    match word.to_ascii_lowercase().as_str() {
        "y" | "yes" | "是" if rest.trim().is_empty() => Some(PersonsDecision::Yes),
        "s" | "session" if rest.trim().is_empty() => standing(v1::ApprovalScope::Session),
        "a" | "always" if rest.trim().is_empty() => standing(v1::ApprovalScope::Always),
        "n" | "no" | "否" => Some(PersonsDecision::No(rest.trim().to_owned())),
        _ => None,
    }
}

/// Reads a line on a thread of its own, which a call that ends meanwhile leaves behind: a read of
/// a terminal cannot be cancelled.
async fn read_line() -> io::Result<Option<String>> {
    let (sender, receiver) = oneshot::channel();
    std::thread::Builder::new().name("moss-prompt".to_owned()).spawn(move || {
        let mut line = String::new();
        let read = io::stdin().lock().take(REPLY_BYTES_MAX).read_line(&mut line);
        // Nobody waits any more where the call has ended.
        let _ = sender.send(read.map(|count| (count > 0).then_some(line)));
    })?;
    receiver.await.unwrap_or(Ok(None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_read_and_anything_else_is_not_a_yes() {
        let no = |reason: &str| Some(PersonsDecision::No(reason.to_owned()));
        for (line, decision) in [
            ("y\n", Some(PersonsDecision::Yes)),
            (" YES \r\n", Some(PersonsDecision::Yes)),
            ("n\n", no("")),
            ("no, use the other file\n", no("use the other file")),
            ("n too broad", no("too broad")),
            ("是", Some(PersonsDecision::Yes)),
            ("否，换一个文件", no("换一个文件")),
            ("", None),
            ("\n", None),
            ("yes but only half\n", None),
            ("yep", None),
            ("ok", None),
        ] {
            assert_eq!(parse(line, &[]), decision, "{line:?}");
        }
    }

    #[test]
    fn only_what_is_offered_can_be_chosen() {
        let offer = |scope: v1::ApprovalScope| v1::OfferedApproval {
            scope: scope.into(),
            ..v1::OfferedApproval::default()
        };
        let always = [offer(v1::ApprovalScope::Always)];
        let both = [offer(v1::ApprovalScope::Session), always[0].clone()];
        for line in ["a\n", "Always"] {
            assert_eq!(parse(line, &[]), None);
            assert_eq!(parse(line, &always), Some(PersonsDecision::Standing(always[0].clone())));
        }
        assert_eq!(parse("s", &always), None);
        assert_eq!(parse("s", &both), Some(PersonsDecision::Standing(both[0].clone())));
        assert_eq!(parse("a for this file", &both), None);
    }
}
