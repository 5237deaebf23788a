//! Running a check: a command whose output and report files a tool reads.
//!
//! Reports lie in a directory of the cache, one for each workspace, so that the words of a command are the
//! same each time and a standing approval for them applies. Files in it are read without following links.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use moss_sdk::command::{
    CheckFollower, CheckReport, CheckReportFile, CheckRequest, CommandRequest, FollowedCheck,
};
use moss_sdk::{ErrorCode, ToolError};
use moss_workspace::own::{OwnDir, OwnFile};

use super::ConfirmedCommand;
use super::running::OutputWanted;
use crate::call::effect::Effects;
use crate::call::stop::EffectStop;

/// Most bytes of one report.
const REPORT_BYTES_MAX: u64 = 16 << 20;
/// Most bytes of all reports together.
const REPORTS_BYTES_MAX: u64 = 64 << 20;
/// Most reports that are read: Gradle writes one for each class.
const REPORTS_MAX: usize = 20_000;
/// Most directories among them that are looked into, and what for.
const DIRECTORIES_MAX: usize = 100;
const PROFILES: [&str; 2] = ["lcov.info", "coverage.info"];

/// The reports that were read.
#[derive(Debug, Default)]
struct ReadReports {
    files: Vec<CheckReportFile>,
    /// How many were not.
    left_out: usize,
}

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
                let report = CheckReport {
                    command,
                    stdout,
                    stderr,
                    files,
                    left_out: None,
                    is_cut: false,
                    root,
                };
                return Ok(report);
            }
        };
        let _turn = self.scope.workspace.checks.lock().await;
        let path = self.reports();
        let given: Vec<String> = inputs.iter().map(|input| input.name.clone()).collect();
        let made = move || {
            let (reports, aside) = OwnDir::fresh(&path)?;
            if let Some(aside) = aside {
                let path = aside.display();
                tracing::warn!(%path, "what a check left cannot be removed: moved aside; remove it");
            }
            for input in inputs {
                reports.write(&input.name, input.text.as_bytes())?;
            }
            Ok::<_, moss_workspace::Error>(reports)
        };
        let reports = self.scope.blocking(made).await?.map_err(not_kept)?;
        let wanted = OutputWanted::Whole { reports: Some(reports.path().to_owned()), follower };
        let ran = self.run_planned(sandbox, &planned, tier_min, wanted).await;
        let read = move || {
            let read = read_reports(&reports, &given, (REPORTS_MAX, REPORTS_BYTES_MAX));
            // Until the next check nobody needs what may be gigabytes.
            if let Err(error) = reports.clear() {
                tracing::warn!(%error, "reports of a check were not removed");
            }
            read
        };
        let read = self.scope.blocking(read).await;
        let (command, output) = ran?;
        let read = read?.map_err(not_kept)?;
        let left_out = read.left_out();
        let (stdout, is_stdout_cut) = output.stdout.whole();
        let (stderr, is_stderr_cut) = output.stderr.whole();
        let is_cut = is_stdout_cut || is_stderr_cut || left_out.is_some();
        Ok(CheckReport { command, stdout, stderr, files: read.files, left_out, is_cut, root })
    }

    /// The directory of reports of the workspace, in a real path: of what a link leads to a command is given nothing.
    pub(in crate::call) fn reports(&self) -> PathBuf {
        let path =
            self.scope.daemon.setup.dirs.workspace_reports(self.scope.workspace.files.root());
        let real = |above: &Path| {
            let beneath = path.strip_prefix(above).ok()?;
            Some(above.canonicalize().ok()?.join(beneath))
        };
        path.ancestors().skip(1).find_map(real).unwrap_or_else(|| path.clone())
    }
}

/// Reads what a check reported, at most so many files and bytes. What it was given is no report.
fn read_reports(
    reports: &OwnDir,
    given: &[String],
    (files_max, bytes_max): (usize, u64),
) -> Result<ReadReports, moss_workspace::Error> {
    let mut found = reports.files()?;
    found.retain(|file| !given.contains(&file.name));
    found.sort_by(|one, other| one.name.cmp(&other.name));
    let nested = profiles_within(reports)?;
    let found = found.into_iter().map(|file| (reports, file));
    let mut read = ReadReports::default();
    let mut room = bytes_max;
    for (directory, file) in found.chain(nested.iter().map(|(within, file)| (within, file.clone())))
    {
        let file_max = room.min(REPORT_BYTES_MAX);
        let is_short = read.files.len() == files_max || file.size_bytes > file_max;
        let bytes = match is_short {
            true => None,
            false => directory.read(&file.name, file_max).ok().flatten(),
        };
        let Some(bytes) = bytes else {
            read.left_out += 1;
            continue;
        };
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        };
        // Where bytes are replaced, the text is longer than they were.
        room = room.saturating_sub(text.len() as u64);
        read.files.push(CheckReportFile { name: file.name, text });
    }
    Ok(read)
}

/// Profiles of what ran, in directories that some tools make in that of reports: Deno, the collector of .NET. What else
/// lies there is no report.
fn profiles_within(reports: &OwnDir) -> Result<Vec<(OwnDir, OwnFile)>, moss_workspace::Error> {
    let mut found = Vec::new();
    for name in reports.subdirectories()?.into_iter().take(DIRECTORIES_MAX) {
        // One that others can write is not looked into.
        let Ok(directory) = reports.subdirectory(&name) else { continue };
        let files = directory.files()?.into_iter();
        for file in files.filter(|file| PROFILES.contains(&file.name.as_str())) {
            found.push((reports.subdirectory(&name)?, file));
        }
    }
    Ok(found)
}

fn not_kept(error: moss_workspace::Error) -> ToolError {
    ToolError::new(ErrorCode::Io, format!("the directory of reports: {error}"))
}

// === impl ReadReports ===

impl ReadReports {
    /// Says what was not read, and why.
    fn left_out(&self) -> Option<String> {
        let (left_out, all) = (self.left_out, self.left_out + self.files.len());
        (left_out > 0).then(|| {
            let (one, together) = (REPORT_BYTES_MAX >> 20, REPORTS_BYTES_MAX >> 20);
            format!(
                "{left_out} of {all} report files were not read: at most {REPORTS_MAX} are, of {one} MiB each \
                 and {together} MiB together"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(files: &[(&str, usize)]) -> (tempfile::TempDir, OwnDir) {
        let folder = tempfile::tempdir().unwrap();
        let reports = OwnDir::create(&folder.path().join("reports")).unwrap();
        for (name, length) in files {
            reports.write(name, "x".repeat(*length).as_bytes()).unwrap();
        }
        (folder, reports)
    }

    fn read(reports: &OwnDir, bytes_max: u64) -> (Vec<(String, usize)>, usize) {
        let bounds = (REPORTS_MAX, bytes_max);
        let read = read_reports(reports, &["given".to_owned()], bounds).unwrap();
        let files = read.files.into_iter().map(|file| (file.name, file.text.len()));
        (files.collect(), read.left_out)
    }

    #[test]
    fn reports_are_read_up_to_a_bound_of_all_together() {
        let (_folder, reports) =
            written(&[("a", 40), ("b", 70), ("c", 60), ("given", 9), ("d", 1)]);
        let read_of = |files: &[(&str, usize)]| {
            files.iter().map(|(name, length)| ((*name).to_owned(), *length)).collect::<Vec<_>>()
        };
        assert_eq!(read(&reports, 100), (read_of(&[("a", 40), ("c", 60)]), 2));
        assert_eq!(read(&reports, 171), (read_of(&[("a", 40), ("b", 70), ("c", 60), ("d", 1)]), 0));
        // What is no UTF-8 is three times as long once it is replaced.
        let (_folder, reports) = written(&[]);
        reports.write("a", &[0xff; 30]).unwrap();
        reports.write("b", b"xxxxxxxxxxxx").unwrap();
        assert_eq!(read(&reports, 100), (read_of(&[("a", 90)]), 1));
    }

    #[test]
    fn profiles_are_read_in_the_directories_that_tools_make() {
        let (_folder, reports) = written(&[("deno.xml", 5)]);
        let within = reports.subdirectory("profile").unwrap();
        within.write("lcov.info", b"SF:a.ts").unwrap();
        within.write("1f3b.json", b"{}").unwrap();
        reports.subdirectory("html").unwrap().write("index.html", b"<p>").unwrap();
        let expected = [("deno.xml".to_owned(), 5), ("lcov.info".to_owned(), 7)];
        assert_eq!(read(&reports, 100), (expected.to_vec(), 0));
    }

    #[test]
    fn what_is_left_out_is_said() {
        let files = Vec::new();
        assert_eq!(ReadReports { files, left_out: 0 }.left_out(), None);
        let (_folder, reports) = written(&[("a", (16 << 20) + 1), ("b", 1)]);
        let bounds = (REPORTS_MAX, REPORTS_BYTES_MAX);
        let said = read_reports(&reports, &[], bounds).unwrap().left_out().unwrap();
        assert!(
            said.starts_with("1 of 2 report files were not read") && said.contains("64 MiB"),
            "{said}"
        );
        let many: Vec<_> = (0..120).map(|number| (number.to_string(), 1)).collect();
        let many: Vec<_> = many.iter().map(|(name, length)| (name.as_str(), *length)).collect();
        let (_folder, reports) = written(&many);
        for (bounds, expected) in [(bounds, (120, 0)), ((117, REPORTS_BYTES_MAX), (117, 3))] {
            let read = read_reports(&reports, &[], bounds).unwrap();
            assert_eq!((read.files.len(), read.left_out), expected);
        }
    }
}
