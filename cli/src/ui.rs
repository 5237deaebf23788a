//! Where a command writes: results to standard output, everything else to standard error. Colours
//! only where a terminal shows them and nobody forbids them.
//!
//! Text that came from somewhere else passes [`super::text`] first.

use std::fmt::Display;
use std::io::{self, IsTerminal as _, Write as _};

use clap::builder::styling::{AnsiColor, Style};
use serde::Serialize;

use super::text;
use super::wording::{self, Wording};

/// Where a command writes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ui {
    json: bool,
    interactive: bool,
    wording: &'static Wording,
}

pub(super) fn bold(text: impl Display) -> String {
    paint(Style::new().bold(), text)
}

pub(super) fn dim(text: impl Display) -> String {
    paint(Style::new().dimmed(), text)
}

pub(super) fn red(text: impl Display) -> String {
    paint(AnsiColor::Red.on_default().bold(), text)
}

pub(super) fn green(text: impl Display) -> String {
    paint(AnsiColor::Green.on_default(), text)
}

pub(super) fn yellow(text: impl Display) -> String {
    paint(AnsiColor::Yellow.on_default(), text)
}

/// Wraps text into a style. The streams take it out again where it is not wanted.
pub(super) fn paint(style: Style, text: impl Display) -> String {
    format!("{style}{text}{style:#}")
}

// === impl Ui ===

impl Ui {
    pub(super) fn new(json: bool) -> Self {
        let interactive = io::stdin().is_terminal() && io::stderr().is_terminal();
        Self { json, interactive, wording: wording::of_environment() }
    }

    /// The words of questions and outcomes.
    pub(super) fn wording(&self) -> &'static Wording {
        self.wording
    }

    /// Whether results are JSON.
    pub(super) fn json(&self) -> bool {
        self.json
    }

    /// Whether a person can be asked.
    pub(super) fn interactive(&self) -> bool {
        self.interactive
    }

    /// Writes a result, with a newline at its end.
    pub(super) fn print(&self, text: &str) -> io::Result<()> {
        let mut out = anstream::stdout().lock();
        out.write_all(text.as_bytes())?;
        if !text.ends_with('\n') {
            out.write_all(b"\n")?;
        }
        out.flush()
    }

    /// Writes a part of a result as it is.
    pub(super) fn print_part(&self, text: &str) -> io::Result<()> {
        let mut out = anstream::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()
    }

    /// Writes a result as JSON over several lines.
    pub(super) fn print_json(&self, value: &impl Serialize) -> io::Result<()> {
        self.print(&text::json(&serde_json::to_string_pretty(value)?))
    }

    /// Writes a result as one line of JSON.
    pub(super) fn print_json_line(&self, value: &impl Serialize) -> io::Result<()> {
        self.print(&text::json(&serde_json::to_string(value)?))
    }

    /// Writes a result as JSON if that was asked for, else as text.
    pub(super) fn print_either(
        &self,
        json: impl FnOnce() -> serde_json::Value,
        text: impl FnOnce() -> String,
    ) -> io::Result<()> {
        if self.json { self.print_json(&json()) } else { self.print(&text()) }
    }

    /// As [`Ui::print_either`], for one of several results: JSON takes one line.
    pub(super) fn print_line_either(
        &self,
        json: impl FnOnce() -> serde_json::Value,
        text: impl FnOnce() -> String,
    ) -> io::Result<()> {
        if self.json { self.print_json_line(&json()) } else { self.print(&text()) }
    }

    /// Prints something beside the result. Nobody may be listening: that is fine.
    pub(super) fn note(&self, text: &str) {
        let _ = writeln!(anstream::stderr(), "{}", text.trim_end_matches('\n'));
    }

    /// Prints something without ending the line: a prompt.
    pub(super) fn ask(&self, text: &str) {
        let mut err = anstream::stderr();
        let _ = write!(err, "{text} ").and_then(|()| err.flush());
    }
}
