//! Unified diffs for people: harmless, coloured.

use clap::builder::styling::{AnsiColor, Style};

use super::text;
use super::ui::paint;

/// Colours the unified diff of one file.
pub(super) fn colored(diff: &str) -> String {
    let mut shown = String::with_capacity(diff.len());
    let mut colors = Colors::default();
    for line in diff.split_terminator('\n') {
        shown.push_str(&colors.line(line));
        shown.push('\n');
    }
    shown
}

/// Colours a diff line by line.
#[derive(Debug, Default)]
pub(super) struct Colors {
    /// A removed line `-- x` looks like a header: headers only come before the first hunk.
    in_hunk: bool,
}

// === impl Colors ===

impl Colors {
    /// Colours the next line.
    pub(super) fn line(&mut self, line: &str) -> String {
        self.in_hunk |= line.starts_with("@@");
        let safe = text::lines(line);
        match style(line, self.in_hunk) {
            Some(style) => paint(style, safe),
            None => safe,
        }
    }
}

fn style(line: &str, in_hunk: bool) -> Option<Style> {
    match line.as_bytes().first() {
        Some(b'-' | b'+') if !in_hunk => Some(Style::new().bold()),
        Some(b'+') => Some(AnsiColor::Green.on_default()),
        Some(b'-') => Some(AnsiColor::Red.on_default()),
        Some(b'@') => Some(AnsiColor::Cyan.on_default()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_coloured_by_what_they_are() {
        let diff = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n same\n--- was a header?\n+new\x1b[2J\n";
        let bold = |text| format!("\u{1b}[1m{text}\u{1b}[0m\n");
        let color = |code, text| format!("\u{1b}[{code}m{text}\u{1b}[0m\n");
        assert_eq!(
            colored(diff),
            [
                bold("--- a/x"),
                bold("+++ b/x"),
                color(36, "@@ -1,2 +1,2 @@"),
                " same\n".to_owned(),
                color(31, "--- was a header?"),
                color(32, "+new\\u{1b}[2J"),
            ]
            .concat()
        );
    }

    #[test]
    fn carriage_returns_are_shown() {
        assert!(colored("@@ @@\n+a\r\n").contains("+a\\r"));
        assert_eq!(colored(""), "");
    }
}
