//! Checks in memory: none is run. Each leaves behind what the test sets.

use std::collections::{BTreeMap, VecDeque};

use super::{MemoryHost, MemoryHostState};
use crate::checks::Checks;
use crate::command::{
    CheckReport, CheckReportFile, CheckRequest, CheckStream, CommandRequest, ConfiguredLinter,
    FollowedCheck,
};
use crate::context::BoxFuture;
use crate::error::ToolError;

/// What checks leave behind and what was seen of them.
#[derive(Default)]
pub(super) struct MemoryChecks {
    answers: VecDeque<CheckReport>,
    /// Whether one that may not be asked about is not run.
    is_asking: bool,
    inputs: Vec<CheckReportFile>,
    progress: Vec<String>,
    linters: Vec<ConfiguredLinter>,
    remembered: BTreeMap<String, Vec<u8>>,
}

// === impl MemoryHost ===

impl MemoryHost {
    /// Sets what checks leave behind, one after the other; those beyond write nothing and exit with 0.
    pub fn answer_checks(&self, reports: impl IntoIterator<Item = CheckReport>) {
        self.state().checks.answers.extend(reports);
    }

    /// Sets the linters that the user configured.
    pub fn configure_linters(&self, linters: impl IntoIterator<Item = ConfiguredLinter>) {
        self.state().checks.linters.extend(linters);
    }

    /// Has every check be asked about, as it is where no rule allows it: those that may not be do not run.
    pub fn ask_about_checks(&self) {
        self.state().checks.is_asking = true;
    }

    /// Returns the files that checks were given.
    pub fn check_inputs(&self) -> Vec<CheckReportFile> {
        self.state().checks.inputs.clone()
    }

    /// Returns how far checks said that they were.
    pub fn check_progress(&self) -> Vec<String> {
        self.state().checks.progress.clone()
    }
}

impl Checks for MemoryHost {
    fn report_directory(&self) -> String {
        "/reports".to_owned()
    }

    fn run_check(&self, request: CheckRequest) -> BoxFuture<'_, Result<CheckReport, ToolError>> {
        let report = self.state().run_check(request);
        Box::pin(async { Ok(report) })
    }

    fn follow_check(&self, check: FollowedCheck) -> BoxFuture<'_, Result<CheckReport, ToolError>> {
        let FollowedCheck { request, inputs, asks, mut follower } = check;
        let mut state = self.state();
        if state.checks.is_asking && !asks {
            let is_dry = std::mem::replace(&mut state.dry_run, true);
            let report = state.run_check(request);
            state.dry_run = is_dry;
            state.commands.pop();
            return Box::pin(async { Ok(report) });
        }
        state.checks.inputs.extend(inputs);
        let report = state.run_check(request);
        for (stream, text) in
            [(CheckStream::Stdout, &report.stdout), (CheckStream::Stderr, &report.stderr)]
        {
            let progress = follower.follow(stream, text);
            state.checks.progress.extend(progress.map(|progress| progress.message));
        }
        Box::pin(async { Ok(report) })
    }

    fn configured_linters(&self) -> Vec<ConfiguredLinter> {
        self.state().checks.linters.clone()
    }

    fn remembered(&self, name: &str) -> Option<Vec<u8>> {
        self.state().checks.remembered.get(name).cloned()
    }

    fn remember(&self, name: &str, value: Vec<u8>) -> Option<Vec<u8>> {
        let mut state = self.state();
        match state.dry_run {
            true => state.checks.remembered.get(name).cloned(),
            false => state.checks.remembered.insert(name.to_owned(), value),
        }
    }
}

// === impl MemoryHostState ===

impl MemoryHostState {
    fn run_check(&mut self, request: CheckRequest) -> CheckReport {
        let CheckRequest { command, directory } = request;
        let request =
            CommandRequest { command, directory, is_background: false, has_terminal: false };
        let command = self.run_command(request);
        let set = if self.dry_run { None } else { self.checks.answers.pop_front() };
        set.unwrap_or_else(|| CheckReport {
            command,
            stdout: String::new(),
            stderr: String::new(),
            files: Vec::new(),
            left_out: None,
            is_cut: false,
            root: "/work".to_owned(),
        })
    }
}
