//! What bash itself reads in a text, compared with what moss read in it.
//!
//! The reader of `moss_commands` may have a defect that nobody knows: then a part that it did not see would run with
//! what the others are allowed. So a text that is not plain runs unasked only where bash, which writes it down without
//! running it, has the same commands in it. About what asks or is denied anyway, nobody asks bash.

use moss_commands::{SecondReading, is_plain};
use moss_dispatch::blocking::blocking;
use moss_policy::{CommandPart, Policy, ReadingDoubt, Verdict, strictest};
use moss_sandbox::{NotPrinted, Sandbox};

use super::PlannedCommand;
use crate::call::effect::{Effects, ToolFacts};

/// Why bash may not read a text as moss does; none where it does. About a plain one it is not asked.
pub(crate) async fn reading_doubt(sandbox: &Sandbox, command: &str) -> Option<ReadingDoubt> {
    let text = command.to_owned();
    let read = blocking(move || (!is_plain(&text)).then(|| SecondReading::of(&text))).await;
    let second = match read {
        Ok(None) => return None,
        Ok(Some(Ok(second))) => second,
        Ok(Some(Err(_))) => return Some(ReadingDoubt::Otherwise),
        Err(broken) => return Some(ReadingDoubt::Unknown(broken.to_string())),
    };
    let printed = match sandbox.printed(&second.script()).await {
        // Perhaps it is what moss has made of the text that bash refuses.
        Err(NotPrinted::Refused) => sandbox.printed(&second.script_alone()).await,
        printed => printed,
    };
    match blocking(move || doubt_of(&second, printed)).await {
        Ok(doubt) => doubt,
        Err(broken) => Some(ReadingDoubt::Unknown(broken.to_string())),
    }
}

/// What is to be doubted by what bash has written down.
fn doubt_of(second: &SecondReading, printed: Result<String, NotPrinted>) -> Option<ReadingDoubt> {
    match printed {
        Ok(printed) if second.is_same(&printed) => None,
        Ok(_) => Some(ReadingDoubt::Otherwise),
        Err(NotPrinted::Refused) => Some(ReadingDoubt::Refused),
        Err(NotPrinted::Unknown(why)) => {
            tracing::warn!(%why, "bash could not be asked how it reads a command, which asks for that");
            Some(ReadingDoubt::Unknown(why))
        }
    }
}

// === impl Effects ===

impl Effects {
    /// Doubts a command that would run unasked, where bash may read it otherwise. One in the background is doubted
    /// also where a person lets it run: what is written to it then depends on that.
    pub(super) async fn doubt_unasked(
        &self,
        (policy, tool): (&Policy, &ToolFacts),
        planned: &mut PlannedCommand,
        sandbox: &Sandbox,
    ) {
        let verdict = strictest(&self.decide_parts(policy, tool, planned)).map(|one| one.verdict);
        let is_unasked = verdict == Some(Verdict::Allow);
        if is_unasked || (planned.is_background && verdict == Some(Verdict::Ask)) {
            planned.doubt(sandbox).await;
        }
    }
}

// === impl PlannedCommand ===

impl PlannedCommand {
    /// Lets it ask where bash may read it otherwise.
    pub(super) async fn doubt(&mut self, sandbox: &Sandbox) {
        if self.parts.iter().any(CommandPart::always_asks) {
            return;
        }
        if let Some(doubt) = reading_doubt(sandbox, &self.command).await {
            let parts = std::mem::take(&mut self.parts).into_iter();
            self.parts = parts.map(|part| part.doubted(&doubt)).collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_bash_refuses_is_another_doubt_than_that_it_cannot_be_asked() {
        let second = SecondReading::of("echo $(ls)").unwrap();
        let doubt =
            |printed: Result<&str, NotPrinted>| doubt_of(&second, printed.map(ToOwned::to_owned));
        let late = || "it took longer than 5 seconds".to_owned();
        assert_eq!(doubt(Ok("other")), Some(ReadingDoubt::Otherwise));
        assert_eq!(doubt(Err(NotPrinted::Refused)), Some(ReadingDoubt::Refused));
        assert_eq!(doubt(Err(NotPrinted::Unknown(late()))), Some(ReadingDoubt::Unknown(late())));
        let bodies = ["    : $(: :)", "    echo $(ls)", "    echo $(ls)", "    echo $(ls)"];
        let function = |(at, body)| format!("text_{at} () \n{{ \n{body}\n}}\n");
        let printed: String = bodies.into_iter().enumerate().map(function).collect();
        assert_eq!(doubt(Ok(&printed)), None);
        // Without renderings nothing is the same.
        assert_eq!(doubt(Ok(&second.script_alone())), Some(ReadingDoubt::Otherwise));
    }
}
