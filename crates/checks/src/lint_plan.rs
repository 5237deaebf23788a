//! Which linters run for a path, where, and by which command. Nothing is installed or downloaded, fixed or
//! formatted, and no configuration of the project is changed.

mod own;
mod tsc;
mod words;

use crate::bash_word::joined;
use crate::lint_output::LintFormat;
use crate::linter::{LINTERS, Linter, LinterRow};
use crate::project::{ProjectFiles, is_in};
use crate::run::CheckCommand;

/// Most files that a command names.
const FILES_MAX: usize = 50;
/// Most runs of one call.
const RUNS_MAX: usize = 20;

/// A file or a directory, and what linters of it need to know.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LintTarget {
    /// The file or the directory, relative to the workspace root; empty for the root itself.
    pub path: String,
    /// Whether it is a file.
    pub is_file: bool,
    /// The file, or the files in the directory, relative to the workspace root.
    pub files: Vec<String>,
}

/// A linter that the user configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnLinter {
    /// What results and messages call it.
    pub name: String,
    /// A text for bash; `{path}` stands for what is checked.
    pub command: String,
    /// How it writes what it finds.
    pub format: LintFormat,
    /// Names of the files that it reads: `*.kt`, `Dockerfile`. Empty: of all.
    pub files: Vec<String>,
    /// Files in a directory that say it is used there. Empty: it is used in the workspace root.
    pub when: Vec<String>,
    /// Exit statuses beside 0 with which it has checked everything.
    pub codes: Vec<i32>,
}

/// A run that is planned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedLint {
    /// The name of the linter.
    pub name: String,
    /// What says that the project uses it.
    pub reason: String,
    /// The text for bash, and the directory in which it runs.
    pub command: CheckCommand,
    /// What was asked for and is not done, one sentence each.
    pub notes: Vec<String>,
    /// Why a run to its end does not check all that was asked for.
    pub(crate) partial: Option<String>,
    /// The directory that relative paths in its output begin in.
    pub(crate) base: String,
    pub(crate) format: LintFormat,
    pub(crate) finding_codes: Vec<i32>,
    pub(crate) program: String,
    pub(crate) install: String,
    /// What is to be said where its program is not found, because it lies behind a link.
    pub(crate) unseen: Option<String>,
}

/// The words of one command, as they come to be.
struct LintWords<'a> {
    files: &'a ProjectFiles,
    place: usize,
    row: &'a LinterRow,
    target: &'a LintTarget,
    notes: Vec<String>,
    partial: Option<String>,
}

/// The runs for a target.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LintPlan {
    /// The runs, up to 20.
    pub runs: Vec<PlannedLint>,
    /// Those beyond that, each by its name and directory: what they would check is not checked.
    pub left_out: Vec<String>,
}

/// Whether a file of this name says that a linter is used in its directory, or may say so.
pub fn may_configure_linter(name: &str, own: &[OwnLinter]) -> bool {
    LINTERS.iter().any(|row| row.is_configured_by(name))
        || own.iter().any(|own| own.when.iter().any(|when| when == name))
}

/// Plans the runs for a target: of each linter where a directory around it configures it, the nearest first, and
/// where directories in it do whose files that run does not check. The directories are the nearest first, those
/// in the target before those around it.
pub fn planned_lints(files: &ProjectFiles, target: &LintTarget, own: &[OwnLinter]) -> LintPlan {
    let mut planned: Vec<(Linter, PlannedLint)> = Vec::new();
    for row in LINTERS {
        for one in chosen(row, files, target) {
            let plans = row.plans(files, &one, target).into_iter();
            planned.extend(plans.map(|plan| (row.linter, plan)));
        }
    }
    let at = |linter: &PlannedLint| linter.command.directory.clone();
    let all: Vec<(Linter, String)> =
        planned.iter().map(|(linter, plan)| (*linter, at(plan))).collect();
    planned.retain(|(linter, plan)| {
        let row = LINTERS.iter().find(|row| row.linter == *linter);
        !all.iter().any(|(other, directory)| {
            *directory == at(plan) && row.is_some_and(|row| row.is_covered_by(*other))
        })
    });
    let known = planned.into_iter().map(|(_, plan)| plan);
    let own = own.iter().flat_map(|own| own.plans(files, target));
    let mut runs: Vec<PlannedLint> = known.chain(own).collect();
    let left_out = runs.split_off(runs.len().min(RUNS_MAX));
    let left_out = left_out.into_iter().map(|plan| match plan.command.directory.as_str() {
        "" => plan.name,
        directory => format!("{} in {directory}", plan.name),
    });
    LintPlan { left_out: left_out.collect(), runs }
}

/// Where a linter runs: in the nearest directory around the target that configures it, and in those in the
/// target whose files no run in a directory around them checks.
fn chosen(row: &LinterRow, files: &ProjectFiles, target: &LintTarget) -> Vec<(usize, String)> {
    let path = |place: usize| files.directories[place].path.as_str();
    let (around, mut beneath): (Vec<_>, Vec<_>) = found(row, files, target)
        .into_iter()
        .partition(|(place, _)| is_in(&target.path, path(*place)));
    let mut chosen: Vec<(usize, String)> = around.into_iter().take(1).collect();
    beneath.sort_by_key(|(place, _)| (path(*place).matches('/').count(), path(*place)));
    for one in beneath {
        if !chosen.iter().any(|(outer, _)| row.covers(files, *outer, one.0)) {
            chosen.push(one);
        }
    }
    chosen
}

/// Places of the directories that configure a linter which reads something of the target there, and why.
fn found(row: &LinterRow, files: &ProjectFiles, target: &LintTarget) -> Vec<(usize, String)> {
    let places = 0..files.directories.len();
    let found = places.filter_map(|place| {
        let path = &files.directories[place].path;
        let has_file = target.files.iter().any(|file| is_in(file, path) && row.reads(file));
        let reason = has_file.then(|| row.reason(files, place)).flatten()?;
        Some((place, reason))
    });
    found.collect()
}

/// A path relative to a directory that it lies in; `.` for the directory itself, and where it lies around it.
fn relative(path: &str, directory: &str) -> String {
    if !is_in(path, directory) || path == directory {
        return ".".to_owned();
    }
    let inside = path[directory.len()..].trim_start_matches('/');
    match inside.starts_with('-') {
        true => format!("./{inside}"),
        false => inside.to_owned(),
    }
}

// === impl LinterRow ===

impl LinterRow {
    fn plans(
        &self,
        files: &ProjectFiles,
        (place, reason): &(usize, String),
        target: &LintTarget,
    ) -> Vec<PlannedLint> {
        let directory = files.directories[*place].path.clone();
        let (row, place) = (self, *place);
        let mut words = LintWords { files, place, row, target, notes: Vec::new(), partial: None };
        let commands = words.commands();
        let plan = |command: Vec<String>| {
            let command = joined(command);
            PlannedLint {
                name: self.name.to_owned(),
                reason: reason.clone(),
                base: words.base(),
                notes: words.notes.clone(),
                partial: words.partial.clone(),
                format: self.format,
                finding_codes: self.finding_codes.to_vec(),
                program: self.program.to_owned(),
                install: self.install.to_owned(),
                unseen: files.unseen_link(place, &command),
                command: CheckCommand { command, directory: directory.clone() },
            }
        };
        commands.into_iter().map(plan).collect()
    }
}

// === impl PlannedLint ===

impl PlannedLint {
    /// The directory of all that it reads, relative to the workspace root, less what the directories above
    /// configure; empty for the root itself.
    pub fn base(&self) -> &str {
        &self.base
    }
}
