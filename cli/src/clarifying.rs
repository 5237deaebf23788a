//! Questions of the tool `clarify`, put to the person at this terminal.

use std::convert::Infallible;

use crate::client::AttachedTerminal;

use super::prompt;
use super::text;
use super::ui::{Ui, bold};
use super::wording::PromptWording;

/// The tool that asks.
pub(super) const TOOL: &str = "clarify";

/// Puts every question to the person; ends never: the call does.
pub(super) async fn reply(attached: Option<AttachedTerminal>, ui: &Ui) -> Infallible {
    if let Some(mut attached) = attached {
        while let Some(asked) = attached.next().await {
            ui.note(&shown(&asked.question, &asked.choices));
            // Where the input ends, nobody replies.
            let said =
                prompt::words(ui, how(&ui.wording().prompt, &asked.choices)).await.ok().flatten();
            let said = chosen(&said.unwrap_or_default(), &asked.choices);
            attached.reply(asked, said).await;
        }
    }
    std::future::pending().await
}

fn shown(question: &str, choices: &[String]) -> String {
    let mut shown = bold(text::lines(question));
    for (number, choice) in (1..).zip(choices) {
        shown.push_str(&format!("\n  {number}. {}", text::indented(choice)));
    }
    shown
}

fn how(words: &PromptWording, choices: &[String]) -> &'static str {
    match choices {
        [] => words.reply,
        _ => words.choose,
    }
}

/// What was said: a number stands for its choice.
fn chosen(said: &str, choices: &[String]) -> String {
    let said = said.trim();
    let number = said.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    number.and_then(|index| choices.get(index)).map_or_else(|| said.to_owned(), Clone::clone)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_stands_for_its_choice_and_anything_else_for_itself() {
        let choices = ["tabs".to_owned(), "spaces".to_owned()];
        for (said, reply) in
            [(" 2 ", "spaces"), ("1", "tabs"), ("3", "3"), ("0", "0"), ("both", "both"), ("", "")]
        {
            assert_eq!(chosen(said, &choices), reply, "{said}");
        }
        assert_eq!(chosen("1", &[]), "1");
    }
}
