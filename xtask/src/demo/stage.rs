//! How the tour is shown: a heading, a few sentences, commands as one would type them, and what they
//! really print. A command that does something else than was said ends the tour.

use std::io::{self, BufRead as _, IsTerminal as _, PipeReader, Read as _, Write as _};
use std::process::Child;
use std::time::Instant;

use anyhow::{Context, Result, bail};

use super::home::{BOUND, DemoHome, LOOK_INTERVAL};
use super::screen::{DemoScreen, plain};
use crate::child;

/// Shows one step after the other.
pub(super) struct DemoStage<'a> {
    pub(super) place: &'a DemoHome,
    pub(super) screen: DemoScreen,
    /// Whether commands print in colours.
    is_coloured: bool,
    pauses: bool,
    steps: usize,
}

/// How a command must end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ends<'a> {
    /// With this exit code.
    pub(super) code: i32,
    /// Having printed all of these.
    pub(super) says: &'a [&'a str],
}

/// A command that runs in another terminal.
pub(super) struct Elsewhere {
    text: String,
    child: Child,
    output: PipeReader,
}

/// Ends well, having printed these.
pub(super) fn well<'a>(says: &'a [&'a str]) -> Ends<'a> {
    Ends { code: 0, says }
}

/// Ends with a code, having printed these.
pub(super) fn with<'a>(code: i32, says: &'a [&'a str]) -> Ends<'a> {
    Ends { code, says }
}

// === impl DemoStage ===

impl<'a> DemoStage<'a> {
    /// Pauses before each step where somebody is there and wants it.
    pub(super) fn new(place: &'a DemoHome, wants_pauses: bool, wants_colours: bool) -> Self {
        let is_terminal = io::stdout().is_terminal();
        let pauses = wants_pauses && is_terminal && io::stdin().is_terminal();
        let is_coloured = wants_colours || is_terminal && std::env::var_os("NO_COLOR").is_none();
        Self { place, screen: DemoScreen::default(), is_coloured, pauses, steps: 0 }
    }

    /// Begins a step, after the person has pressed Enter where the tour pauses.
    pub(super) fn step(&mut self, title: &str, text: &str) -> Result<()> {
        if self.pauses && self.steps > 0 {
            print!("\n[Enter] continues, q ends the tour ");
            io::stdout().flush()?;
            let mut answer = String::new();
            let is_over = io::stdin().lock().read_line(&mut answer)? == 0;
            if is_over || answer.trim() == "q" {
                bail!("the tour was ended before its end");
            }
        }
        self.steps += 1;
        self.screen.title(self.steps, title, text);
        Ok(())
    }

    /// Runs a command; returns what it printed.
    pub(super) fn run(&self, words: &[&str], ends: Ends<'_>) -> Result<String> {
        let elsewhere = self.start(words)?;
        self.screen.typed(&elsewhere.text);
        self.end(elsewhere, ends)
    }

    /// Runs a command again and again until it ends as it must, and shows that it did.
    pub(super) fn until(&self, words: &[&str], ends: Ends<'_>) -> Result<String> {
        let end = Instant::now() + BOUND;
        loop {
            let (text, code, printed) = self.start(words)?.wait()?;
            let is_over = Instant::now() > end;
            if ends.is_met(code, &plain(&printed)) || is_over {
                self.screen.typed(&text);
                return self.ended(&text, code, &printed, ends);
            }
            std::thread::sleep(LOOK_INTERVAL);
        }
    }

    /// Starts a command that continues while others run.
    pub(super) fn start(&self, words: &[&str]) -> Result<Elsewhere> {
        let text = match words {
            ["sh", "-c", script] => (*script).to_owned(),
            words => child::typed(words),
        };
        let (output, writer) = io::pipe()?;
        let mut command = self.place.command(words)?;
        command.stdout(writer.try_clone()?).stderr(writer);
        if self.is_coloured {
            command.env("CLICOLOR_FORCE", "1");
        }
        let child = command.spawn().with_context(|| format!("cannot start `{text}`"))?;
        Ok(Elsewhere { text, child, output })
    }

    /// Waits for the end of a command, shows what it printed and returns that without colours.
    pub(super) fn end(&self, command: Elsewhere, ends: Ends<'_>) -> Result<String> {
        let (text, code, printed) = command.wait()?;
        self.ended(&text, code, &printed, ends)
    }

    fn ended(
        &self,
        text: &str,
        code: Option<i32>,
        printed: &str,
        ends: Ends<'_>,
    ) -> Result<String> {
        self.screen.printed(printed);
        let printed = plain(printed);
        ends.check(text, code, &printed)?;
        Ok(printed)
    }
}

// === impl Elsewhere ===

impl Elsewhere {
    /// The command as it is typed.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    fn wait(mut self) -> Result<(String, Option<i32>, String)> {
        let mut printed = Vec::new();
        self.output.read_to_end(&mut printed)?;
        let code = self.child.wait()?.code();
        Ok((self.text, code, String::from_utf8_lossy(&printed).into_owned()))
    }
}

// === impl Ends ===

impl Ends<'_> {
    fn is_met(&self, code: Option<i32>, printed: &str) -> bool {
        code == Some(self.code) && self.says.iter().all(|part| printed.contains(part))
    }

    fn check(&self, text: &str, code: Option<i32>, printed: &str) -> Result<()> {
        if code != Some(self.code) {
            bail!("`{text}` ended with {code:?} where {} was promised", self.code);
        }
        if let Some(part) = self.says.iter().find(|part| !printed.contains(**part)) {
            bail!("`{text}` did not print `{part}`");
        }
        Ok(())
    }
}
