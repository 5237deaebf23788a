//! `moss:plugin/commands`: checks that the very words were granted, then lets the daemon run them.

use moss_plugin_list::grants::Grant;
use moss_sdk::command::{GrantedCommand, GrantedCommandReport};
use moss_sdk::deceptive::quoted;

use super::services::Served;
use crate::bindings::commands;
use crate::bindings::types::{Error, ErrorCode as WireCode};

/// Longest command, in bytes: its words do not count towards the guest's memory.
const COMMAND_BYTES_MAX: usize = 32 << 10;

// === impl Served ===

impl Served {
    fn check_command(&self, words: &[String]) -> Result<(), Error> {
        let has = |grant: &Grant| grant.commands.iter().any(|granted| granted.matches(words));
        if has(&self.rights.held) {
            return Ok(());
        }
        let shown = quoted(&words.join(" "));
        let why = self.rights.why_not(&format!("\"commands\": [\"{shown}\"]"), "commands", has);
        Err(self.refuse(&format!("the command `{shown}`"), why))
    }
}

impl commands::Host for Served {
    async fn run(&mut self, command: commands::Command) -> Result<commands::Ended, Error> {
        let commands::Command { words, directory } = command;
        if words.iter().map(|word| word.len() + 1).sum::<usize>() > COMMAND_BYTES_MAX {
            let message = format!("the command has more than {COMMAND_BYTES_MAX} bytes");
            return Err(Error { code: WireCode::TooLarge, message, hint: None });
        }
        if words.is_empty() || words.iter().any(|word| word.contains('\0')) {
            let message = "a command has a program, and no word of it a NUL".to_owned();
            return Err(Error { code: WireCode::InvalidArguments, message, hint: None });
        }
        self.check_command(&words)?;
        Ok(self.services.run_command(GrantedCommand { words, directory }).await?.into())
    }
}

// === impl Ended ===

impl From<GrantedCommandReport> for commands::Ended {
    fn from(report: GrantedCommandReport) -> Self {
        Self {
            exit_code: report.exit_code,
            signal: report.signal,
            stdout: report.stdout,
            stderr: report.stderr,
            truncated: report.is_truncated,
            changed: report.changed,
            notes: report.notes,
        }
    }
}
