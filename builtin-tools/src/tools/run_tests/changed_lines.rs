//! Which lines changed, for coverage: as git says, and as the history of moss says.

use std::collections::{BTreeMap, BTreeSet};

use moss_checks::{GIT_CHANGES, changed_lines, lines_of_git};
use moss_sdk::command::{CheckFollower, CheckRequest, CheckStream, FollowedCheck};
use moss_sdk::context::{Context, Progress};
use moss_sdk::file::{Content, FileSnapshot};
use moss_sdk::history::PastQuery;
use moss_sdk::{ErrorCode, RelPath, ToolError};

/// Most past changes that are looked at.
const CHANGES_MAX: usize = 500;
/// Most changed files that are looked at.
const FILES_MAX: usize = 200;

/// The lines that a change touched, in all files.
#[derive(Debug, Default)]
pub(super) struct ChangedLines {
    /// By their files, relative to the workspace root.
    pub(super) files: BTreeMap<String, BTreeSet<u64>>,
    /// Since when, in words.
    pub(super) since: String,
}

/// Follows no progress: the comparison is short.
struct Quiet;

impl CheckFollower for Quiet {
    fn follow(&mut self, _stream: CheckStream, _text: &str) -> Option<Progress> {
        None
    }
}

// === impl ChangedLines ===

impl ChangedLines {
    /// Finds what differs from the last commit where there is git, and what moss changed since all tests
    /// passed. Where neither is known, what moss changed at all.
    ///
    /// # Errors
    ///
    /// `Cancelled`, and what reading the history may meet.
    pub(super) async fn find(cx: &Context, passed_at: Option<u64>) -> Result<Self, ToolError> {
        let mut changed = Self::default();
        let has_git = changed.add_git(cx).await?;
        let mut since = Vec::new();
        if has_git {
            since.push("the last commit".to_owned());
        }
        match passed_at {
            Some(number) => since.push(format!("change {number} of the history: all tests passed")),
            None if !has_git => since.push("the oldest change that the history knows".to_owned()),
            None => {}
        }
        if passed_at.is_some() || !has_git {
            changed.add_history(cx, passed_at).await?;
        }
        changed.since = since.join(", and ");
        Ok(changed)
    }

    /// Adds what differs from the last commit. Nobody is asked about it.
    async fn add_git(&mut self, cx: &Context) -> Result<bool, ToolError> {
        let request = CheckRequest { command: GIT_CHANGES.to_owned(), directory: RelPath::root() };
        let (inputs, asks, follower) = (Vec::new(), false, Box::new(Quiet));
        let check = FollowedCheck { request, inputs, asks, follower };
        let report = match cx.follow_check(check).await {
            Ok(report) => report,
            Err(error) if error.code == ErrorCode::Cancelled => return Err(error),
            // Without it there is still the history.
            Err(_) => return Ok(false),
        };
        if report.command.exit_code != Some(0) || report.is_cut {
            return Ok(false);
        }
        for (path, lines) in lines_of_git(&report.stdout).into_iter().take(FILES_MAX) {
            let lines = match lines {
                Some(lines) => lines,
                None => now(cx, &path)
                    .await?
                    .map_or_else(BTreeSet::new, |text| changed_lines("", &text)),
            };
            self.files.entry(path).or_default().extend(lines);
        }
        Ok(true)
    }

    /// Adds what moss changed since a change: the lines of now that were not there before the first one.
    async fn add_history(&mut self, cx: &Context, since: Option<u64>) -> Result<(), ToolError> {
        let query = PastQuery::newest(CHANGES_MAX);
        let past = cx.past(query).await?;
        let newer = past
            .changes
            .iter()
            .take_while(|change| since.is_none_or(|since| change.number > since));
        // The oldest change of each file, by its place in the history and in the change.
        let mut oldest: BTreeMap<String, (usize, usize)> = BTreeMap::new();
        for (index, change) in newer.enumerate() {
            for (at, file) in change.files.iter().enumerate() {
                oldest.insert(file.path.to_string(), (index, at));
            }
        }
        for (path, (index, at)) in oldest.into_iter().take(FILES_MAX) {
            let Some(now) = now(cx, &path).await? else { continue };
            let recalled = match cx.recall(index).await {
                Ok(recalled) => recalled,
                Err(error) if error.code == ErrorCode::Cancelled => return Err(error),
                // It may not be read, or is not kept any more: nobody knows what changed in it.
                Err(_) => continue,
            };
            let before = match recalled.files.get(at).map(|file| &file.before) {
                Some(None) => String::new(),
                Some(Some(before)) => match &before.content {
                    Some(Content::Text(text)) => text.text.clone(),
                    _ => continue,
                },
                None => continue,
            };
            self.files.entry(path).or_default().extend(changed_lines(&before, &now));
        }
        Ok(())
    }
}

/// The text of a file as it is now, where it has one that may be read.
async fn now(cx: &Context, path: &str) -> Result<Option<String>, ToolError> {
    let Ok(path) = RelPath::parse(path) else { return Ok(None) };
    match cx.read_unasked(&path).await {
        Ok(Some(FileSnapshot { content: Content::Text(text), .. })) => Ok(Some(text.text)),
        Err(error) if error.code == ErrorCode::Cancelled => Err(error),
        Ok(_) | Err(_) => Ok(None),
    }
}
