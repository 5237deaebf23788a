//! Running a check: a command whose output and report files a tool reads.
//!
//! Reports lie in a directory of the cache, one for each workspace, so that the words of a command are the
//! same each time and a standing approval for them applies. Files in it are read without following links.

use std::sync::Arc;

use moss_sdk::command::{CheckReport, CheckReportFile, CheckRequest, CommandRequest};
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
    /// Runs a check.
    pub(in crate::call) async fn run_check(
        self: &Arc<Self>,
        request: CheckRequest,
    ) -> Result<CheckReport, EffectStop> {
        let sandbox = self.sandbox().await?;
        let CheckRequest { command, directory } = request;
        let request =
            CommandRequest { command, directory, is_background: false, has_terminal: false };
        let root = self.scope.workspace.files.root().display().to_string();
        let (planned, tier_min) = match self.confirm_command(request, sandbox).await? {
            ConfirmedCommand::Run(planned, tier_min) => (planned, tier_min),
            ConfirmedCommand::DryRun(command) => {
                let (stdout, stderr) = (String::new(), String::new());
                let files = Vec::new();
                return Ok(CheckReport { command, stdout, stderr, files, is_cut: false, root });
            }
        };
        let _turn = self.scope.workspace.checks.lock().await;
        let path = self.reports();
        let made = move || {
            let reports = OwnDir::create(&path)?;
            reports.clear()?;
            Ok::<_, moss_workspace::Error>(reports)
        };
        let reports = self.scope.blocking(made).await?.map_err(not_kept)?;
        let wanted = OutputWanted::Whole { reports: Some(reports.path()) };
        let ran = self.run_planned(sandbox, &planned, tier_min, wanted).await?;
        let (command, output) = ran;
        let (stdout, is_stdout_cut) = output.stdout.whole();
        let (stderr, is_stderr_cut) = output.stderr.whole();
        let (files, is_file_missing) =
            self.scope.blocking(move || read_reports(&reports)).await?.map_err(not_kept)?;
        let is_cut = is_stdout_cut || is_stderr_cut || is_file_missing;
        Ok(CheckReport { command, stdout, stderr, files, is_cut, root })
    }

    /// The directory of reports of the workspace.
    pub(in crate::call) fn reports(&self) -> std::path::PathBuf {
        self.scope.daemon.setup.dirs.workspace_reports(self.scope.workspace.files.root())
    }
}

/// Reads what a check reported, and says whether something was left out.
fn read_reports(reports: &OwnDir) -> Result<(Vec<CheckReportFile>, bool), moss_workspace::Error> {
    let mut found = reports.files()?;
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
