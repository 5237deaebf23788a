//! Running a check: a command whose output and report files a tool reads.
//!
//! Reports lie in a directory of the cache, one for each workspace, so that the words of a command are the
//! same each time and a standing approval for them applies. Files in it are read without following links.

use std::sync::Arc;

use moss_sdk::command::{
    CheckFollower, CheckReport, CheckReportFile, CheckRequest, CommandRequest, FollowedCheck,
};
use moss_sdk::{ErrorCode, ToolError};
use moss_workspace::own::OwnDir;

use super::ConfirmedCommand;
use super::running::OutputWanted;
use crate::call::effect::Effects;
use crate::call::stop::EffectStop;

/// Most bytes of one report.
const REPORT_BYTES_MAX: u64 = 16 << 20;
/// Most reports that are read.
const REPORTS_MAX: usize = 100;

// === impl Effects ===

impl Effects {
    /// Runs a test program or linter as a command, and reads the reports that it wrote.
    pub(in crate::call) async fn run_check(
        self: &Arc<Self>,
        request: CheckRequest,
    ) -> Result<CheckReport, EffectStop> {
        self.check(request, Vec::new(), true, None).await
    }

    /// Runs a check and shows what it writes as it comes.
    pub(in crate::call) async fn follow_check(
        self: &Arc<Self>,
        check: FollowedCheck,
    ) -> Result<CheckReport, EffectStop> {
        let FollowedCheck { request, inputs, asks, follower } = check;
        self.check(request, inputs, asks, Some(follower)).await
    }

    async fn check(
        self: &Arc<Self>,
        request: CheckRequest,
        inputs: Vec<CheckReportFile>,
        may_ask: bool,
        follower: Option<Box<dyn CheckFollower>>,
    ) -> Result<CheckReport, EffectStop> {
        let sandbox = self.sandbox().await?;
        let CheckRequest { command, directory } = request;
        let request =
            CommandRequest { command, directory, is_background: false, has_terminal: false };
        let root = self.scope.workspace.files.root().display().to_string();
        let (planned, tier_min) = match self.confirm_command(request, sandbox, may_ask).await? {
            ConfirmedCommand::Run(planned, tier_min) => (planned, tier_min),
            ConfirmedCommand::DryRun(command) => {
                let (stdout, stderr) = (String::new(), String::new());
                let files = Vec::new();
                let command = *command;
                return Ok(CheckReport { command, stdout, stderr, files, is_cut: false, root });
            }
        };
        let _turn = self.scope.workspace.checks.lock().await;
        let path = self.reports();
        let given: Vec<String> = inputs.iter().map(|input| input.name.clone()).collect();
        let made = move || {
            let reports = OwnDir::create(&path)?;
            reports.clear()?;
            for input in inputs {
                reports.write(&input.name, input.text.as_bytes())?;
            }
            Ok::<_, moss_workspace::Error>(reports)
        };
        let reports = self.scope.blocking(made).await?.map_err(not_kept)?;
        let wanted = OutputWanted::Whole { reports: Some(reports.path().to_owned()), follower };
        let ran = self.run_planned(sandbox, &planned, tier_min, wanted).await?;
        let (command, output) = ran;
        let (stdout, is_stdout_cut) = output.stdout.whole();
        let (stderr, is_stderr_cut) = output.stderr.whole();
        let read = move || read_reports(&reports, &given);
        let (files, is_file_missing) = self.scope.blocking(read).await?.map_err(not_kept)?;
        let is_cut = is_stdout_cut || is_stderr_cut || is_file_missing;
        Ok(CheckReport { command, stdout, stderr, files, is_cut, root })
    }

    /// The directory of reports of the workspace.
    pub(in crate::call) fn reports(&self) -> std::path::PathBuf {
        self.scope.daemon.setup.dirs.workspace_reports(self.scope.workspace.files.root())
    }
}

/// Reads what a check reported, and says whether something was left out. What it was given is no report.
fn read_reports(
    reports: &OwnDir,
    given: &[String],
) -> Result<(Vec<CheckReportFile>, bool), moss_workspace::Error> {
    let mut found = reports.files()?;
    found.retain(|file| !given.contains(&file.name));
    found.sort_by(|one, other| one.name.cmp(&other.name));
    let mut is_short = found.len() > REPORTS_MAX;
    let mut files = Vec::new();
    for file in found.into_iter().take(REPORTS_MAX) {
        match reports.read(&file.name, REPORT_BYTES_MAX) {
            Ok(Some(bytes)) => {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                files.push(CheckReportFile { name: file.name, text });
            }
            Ok(None) | Err(_) => is_short = true,
        }
    }
    Ok((files, is_short))
}

fn not_kept(error: moss_workspace::Error) -> ToolError {
    ToolError::new(ErrorCode::Io, format!("the directory of reports: {error}"))
}
