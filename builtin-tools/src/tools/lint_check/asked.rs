//! What is asked about: a file or a directory, what is in it, which linters are for it.

use std::collections::BTreeSet;

use moss_checks::{
    LintFormat, LintPlan, LintTarget, OwnLinter, PlannedLint, ProjectDirectory,
    may_configure_linter, planned_lints,
};
use moss_sdk::command::{ConfiguredFormat, ConfiguredLinter};
use moss_sdk::context::Context;
use moss_sdk::file::{Content, EntryKind, ListOptions};
use moss_sdk::{ErrorCode, RelPath, ToolError};

use crate::project::{self, Named};

/// Most entries of a directory that are looked at.
const ENTRIES_MAX: usize = 50_000;
/// Most directories in it that are looked at for what configures linters.
const CONFIGURED_MAX: usize = 200;
/// Directories of what is installed, which projects of their own may lie in.
const INSTALLED: &[&str] = &["node_modules", "vendor", ".venv", "venv", "site-packages"];

/// A path that is checked.
#[derive(Debug)]
pub(super) struct AskedPath {
    pub(super) path: RelPath,
    pub(super) target: LintTarget,
    /// The text, where it is a file that has one.
    pub(super) text: Option<String>,
    /// Whether that is not what linters see.
    pub(super) is_unsaved: bool,
    /// Whether it has more entries than were looked at.
    pub(super) is_cut: bool,
    /// What has to be known of it, one sentence each.
    pub(super) notes: Vec<String>,
}

fn own(linter: ConfiguredLinter) -> OwnLinter {
    let ConfiguredLinter { name, command, format, files, when, codes } = linter;
    let format = match format {
        ConfiguredFormat::Sarif => LintFormat::Sarif,
        ConfiguredFormat::Checkstyle => LintFormat::Checkstyle,
        ConfiguredFormat::Gnu => LintFormat::Gnu,
    };
    OwnLinter { name, command, format, files, when, codes }
}

/// The linters that the project uses for a file, which need not be there yet.
///
/// # Errors
///
/// What listing a directory around it may meet.
pub async fn linters_of(cx: &Context, path: &RelPath) -> Result<Vec<PlannedLint>, ToolError> {
    let mut start = path.parent().unwrap_or_else(RelPath::root);
    while let Err(error) = project::named(cx, &start).await {
        match start.parent().filter(|_| error.code == ErrorCode::NotFound) {
            Some(around) => start = around,
            None => return Err(error),
        }
    }
    let name = path.to_string();
    let target = LintTarget { path: name.clone(), is_file: true, files: vec![name] };
    let own = configured(cx);
    Ok(plan(cx, &start, Vec::new(), &target, &own).await?.runs)
}

fn configured(cx: &Context) -> Vec<OwnLinter> {
    cx.configured_linters().into_iter().map(own).collect()
}

/// Plans the runs for a target, which the given directories lie in.
async fn plan(
    cx: &Context,
    start: &RelPath,
    beneath: Vec<ProjectDirectory>,
    target: &LintTarget,
    own: &[OwnLinter],
) -> Result<LintPlan, ToolError> {
    let mut files = project::around(cx, start).await?;
    files.directories.splice(0..0, beneath);
    Ok(planned_lints(&files, target, own))
}

// === impl AskedPath ===

impl AskedPath {
    /// Looks at a path.
    ///
    /// # Errors
    ///
    /// What reading a file or listing a directory may meet.
    pub(super) async fn find(cx: &Context, path: &str) -> Result<Self, ToolError> {
        let path = cx.path(path)?;
        match project::named(cx, &path).await? {
            Named::File => Self::file(cx, path).await,
            Named::Directory => Self::directory(cx, path).await,
        }
    }

    async fn file(cx: &Context, path: RelPath) -> Result<Self, ToolError> {
        let snapshot = cx.read(&path).await?;
        let is_unsaved = snapshot.unsaved;
        let note = "linters see the file as it is saved; the editor holds another text".to_owned();
        let notes = is_unsaved.then_some(note).into_iter().collect();
        let text = match snapshot.content {
            Content::Text(text) => Some(text.text),
            Content::Binary => None,
        };
        let name = path.to_string();
        let target = LintTarget { path: name.clone(), is_file: true, files: vec![name] };
        Ok(Self { path, target, text, is_unsaved, is_cut: false, notes })
    }

    async fn directory(cx: &Context, path: RelPath) -> Result<Self, ToolError> {
        let options = ListOptions { recursive: true, entries_max: ENTRIES_MAX };
        let listing = cx.list(&path, options).await?;
        let mut notes = Vec::new();
        if listing.truncated {
            notes.push(format!(
                "there are more than {ENTRIES_MAX} entries: check a smaller directory"
            ));
        }
        let files = listing.entries.into_iter().filter(|entry| entry.kind == EntryKind::File);
        let target = LintTarget {
            path: if path.is_root() { String::new() } else { path.to_string() },
            is_file: false,
            files: files.map(|entry| entry.path.to_string()).collect(),
        };
        Ok(Self { path, target, text: None, is_unsaved: false, is_cut: listing.truncated, notes })
    }

    /// The linters that are for it; notes what is not looked at.
    pub(super) async fn plan(&mut self, cx: &Context) -> Result<Vec<PlannedLint>, ToolError> {
        let own = configured(cx);
        let (start, beneath) = match self.target.is_file {
            true => (self.path.parent().unwrap_or_else(RelPath::root), Vec::new()),
            false => {
                let configured = self.configured_directories(&own);
                (self.path.clone(), project::each(cx, configured).await?)
            }
        };
        let LintPlan { runs, left_out } = plan(cx, &start, beneath, &self.target, &own).await?;
        if !left_out.is_empty() {
            self.is_cut = true;
            self.notes.push(format!(
                "not run, because a call runs up to {}: {}; check smaller directories",
                runs.len(),
                left_out.join(", ")
            ));
        }
        Ok(runs)
    }

    /// The directories in it that have what may configure a linter, the upper ones where they are too many.
    fn configured_directories(&mut self, own: &[OwnLinter]) -> Vec<RelPath> {
        let is_installed = |path: &str| path.split('/').any(|part| INSTALLED.contains(&part));
        let directory = |file: &String| {
            let (directory, name) = file.rsplit_once('/')?;
            let counts = directory != self.target.path
                && !is_installed(directory)
                && may_configure_linter(name, own);
            counts.then(|| (directory.matches('/').count(), directory.to_owned()))
        };
        let found: BTreeSet<(usize, String)> =
            self.target.files.iter().filter_map(directory).collect();
        if found.len() > CONFIGURED_MAX {
            self.is_cut = true;
            self.notes.push(format!(
                "{} directories may configure linters, and the linters of {CONFIGURED_MAX} were looked for: check \
                 smaller directories",
                found.len()
            ));
        }
        let paths = found.into_iter().take(CONFIGURED_MAX);
        paths.filter_map(|(_, path)| RelPath::parse(&path).ok()).collect()
    }

    /// Whether a path is what is asked about, or lies in it.
    pub(super) fn holds(&self, path: &str) -> bool {
        let asked = self.target.path.as_str();
        asked.is_empty()
            || path == asked
            || path.strip_prefix(asked).is_some_and(|rest| rest.starts_with('/'))
    }
}
