//! What the tour shows: on the terminal at once, and kept for a picture.

use std::cell::RefCell;

/// Most lines of an output that are shown.
const LINES_MAX: usize = 30;
/// Longest line that is shown, in characters.
const LINE_CHARS_MAX: usize = 160;

/// A line of the tour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ScreenLine {
    /// The title of a step.
    Title(String),
    /// A sentence of the guide.
    Said(String),
    /// A command as it is typed.
    Typed(String),
    /// What a command printed, with its colours.
    Printed(String),
}

/// What the tour has shown so far.
#[derive(Debug, Default)]
pub(super) struct DemoScreen(RefCell<Vec<ScreenLine>>);

// === impl DemoScreen ===

impl DemoScreen {
    /// Shows the title of a step and what it is about.
    pub(super) fn title(&self, number: usize, title: &str, text: &str) {
        println!("\n=== {number}. {title}\n\n{text}");
        self.keep(ScreenLine::Title(title.to_owned()));
        text.lines().for_each(|line| self.keep(ScreenLine::Said(line.to_owned())));
    }

    /// Says something between commands.
    pub(super) fn say(&self, text: &str) {
        println!("\n{text}");
        text.lines().for_each(|line| self.keep(ScreenLine::Said(line.to_owned())));
    }

    /// Shows a command as it is typed.
    pub(super) fn typed(&self, command: &str) {
        println!("\n$ {command}");
        self.keep(ScreenLine::Typed(command.to_owned()));
    }

    /// Shows an output, without the rest of one that is very long.
    pub(super) fn printed(&self, output: &str) {
        for line in output.lines().take(LINES_MAX) {
            // A line with colours is no longer for them: what ends them comes at its end.
            let is_long = line.chars().count() > LINE_CHARS_MAX && plain(line) == line;
            let line = match line.char_indices().nth(LINE_CHARS_MAX).filter(|_| is_long) {
                Some((end, _)) => format!("{}…", &line[..end]),
                None => line.to_owned(),
            };
            println!("{line}");
            self.keep(ScreenLine::Printed(line));
        }
        let more = output.lines().count().saturating_sub(LINES_MAX);
        if more > 0 {
            println!("… ({more} more lines)");
            self.keep(ScreenLine::Printed(format!("… ({more} more lines)")));
        }
    }

    /// Returns everything that was shown.
    pub(super) fn all(&self) -> Vec<ScreenLine> {
        self.0.borrow().clone()
    }

    fn keep(&self, line: ScreenLine) {
        self.0.borrow_mut().push(line);
    }
}

/// Returns a text without its colours.
pub(super) fn plain(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |plain, part| match part.split_once('m') {
        Some((code, rest)) if code.chars().all(|c| c.is_ascii_digit() || c == ';') => plain + rest,
        _ => plain + part,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_without_its_colours_is_what_was_coloured() {
        assert_eq!(plain("a\u{1b}[1m\u{1b}[31mb\u{1b}[0m c"), "ab c");
        assert_eq!(plain("none"), "none");
    }
}
