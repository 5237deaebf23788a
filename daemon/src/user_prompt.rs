//! The user's own prompt: a text file in the configuration directory that is added to the system
//! prompt of models.
//!
//! The file is the user's, to be edited by hand as well. What tools change in it is planned,
//! committed and kept in a history of its own, in the state directory, as changes of a workspace
//! are: compared with what was read, whole or not at all, undoable.

use std::path::{Path, PathBuf};
use std::time::Duration;

use moss_sdk::edit::{Change, ChangeKind, ChangeSet};
use moss_sdk::prompt::PromptChange;
use moss_sdk::{ErrorCode, RelPath, ToolError};
use moss_workspace::{
    History, HistoryEntry, HistoryFile, HistoryFilter, HistoryLimits, Origin, Plan, UndoTarget,
    Workspace, WorkspaceOptions,
    dirs::Dirs,
    hash,
    own::{self, OwnDir},
};

use moss_config::Config;
use moss_sdk::deceptive::first_deceptive;

/// The file in the configuration directory.
pub const FILE_NAME: &str = "asi-user-prompt.md";
/// The directory of its history in the state directory.
const STATE_NAME: &str = "user-prompt";
/// Permission bits of the file where moss makes it.
const FILE_MODE: u32 = 0o600;
/// Largest file that is read: one that is written by hand may be larger than what tools may write.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// The prompt with its history, ready to be changed.
#[derive(Debug)]
pub struct UserPrompt {
    directory: PathBuf,
    files: Workspace,
    history: History,
    bytes_max: usize,
}

/// Returns where the prompt is, or would be.
pub fn file(dirs: &Dirs) -> PathBuf {
    dirs.config.join(FILE_NAME)
}

/// Reads the prompt; none where there is no file. Makes nothing.
///
/// # Errors
///
/// Where the file is not text, or others can write it.
pub fn read(dirs: &Dirs) -> Result<Option<String>, ToolError> {
    read_in(&dirs.config)
}

fn read_in(directory: &Path) -> Result<Option<String>, ToolError> {
    let file = directory.join(FILE_NAME);
    let Some(bytes) = own::read_trusted(&file, FILE_BYTES_MAX)? else { return Ok(None) };
    String::from_utf8(bytes).map(Some).map_err(|_| {
        let message = format!("{} is not UTF-8 text", file.display());
        ToolError::new(ErrorCode::Encoding, message).hint("the user must fix it by hand")
    })
}

/// Refuses what makes a reader of the prompt see something else than a model does.
fn check_content(content: &str) -> Result<(), ToolError> {
    for (line, text) in (1..).zip(content.split('\n')) {
        if let Some(c) = text.split('\t').find_map(first_deceptive) {
            let message = format!(
                "line {line} has the character U+{:04X}, which is invisible or misleading",
                u32::from(c)
            );
            return Err(ToolError::new(ErrorCode::InvalidArguments, message)
                .hint("use plain text with `\\n` at the end of lines"));
        }
    }
    Ok(())
}

// === impl UserPrompt ===

impl UserPrompt {
    /// Opens the prompt, making its directories where they are missing. Waits for the disk.
    ///
    /// # Errors
    ///
    /// Where a directory is not the user's own, or the history is damaged.
    pub fn open(dirs: &Dirs, config: &Config) -> Result<Self, moss_workspace::Error> {
        OwnDir::create(&dirs.config)?;
        let options =
            WorkspaceOptions { create_mode: Some(FILE_MODE), ..WorkspaceOptions::default() };
        let files = Workspace::open(&dirs.config, options)?;
        let limits = HistoryLimits {
            bytes_max: config.history.bytes_max,
            age_max: Duration::from_hours(24 * config.history.days_max),
            ..HistoryLimits::default()
        };
        let history = History::open(&dirs.state.join(STATE_NAME), limits)?;
        moss_workspace::recover(&files, &history)?;
        let (directory, bytes_max) = (dirs.config.clone(), config.user_prompt.bytes_max);
        Ok(Self { directory, files, history, bytes_max })
    }

    /// Rolls back a change that a crash interrupted, where moss has ever changed the prompt: models get it before
    /// anybody opens it.
    pub(crate) fn recover(dirs: &Dirs, config: &Config) {
        if !dirs.state.join(STATE_NAME).exists() {
            return;
        }
        if let Err(error) = Self::open(dirs, config) {
            tracing::warn!(%error, "the user's prompt may have a change that a crash interrupted");
        }
    }

    /// Plans a change. Waits for the disk.
    ///
    /// # Errors
    ///
    /// Where the text is too long or would deceive who reads it, where it changes nothing, and
    /// where the file is not one that moss may change.
    pub fn plan(&self, change: &PromptChange) -> Result<Plan, ToolError> {
        check_content(change.content())?;
        let old = read_in(&self.directory)?;
        let content = change.applied_to(old.as_deref().unwrap_or_default());
        if content.len() > self.bytes_max {
            let (size, max) = (content.len(), self.bytes_max);
            let message = format!(
                "the prompt would have {size} bytes; the limit is {max} (user_prompt.bytes_max)"
            );
            return Err(ToolError::new(ErrorCode::TooLarge, message)
                .hint("shorten it, or replace the prompt"));
        }
        let kind = match &old {
            Some(old) => ChangeKind::Write { base: hash(old.as_bytes()), content },
            None if content.is_empty() => {
                let message = "the prompt is empty already";
                return Err(ToolError::new(ErrorCode::NoChange, message));
            }
            None => ChangeKind::Create { content },
        };
        let path = RelPath::parse(FILE_NAME).expect("a plain name");
        let changes = ChangeSet { changes: vec![Change { path, kind, matched: None }] };
        Ok(self.files.plan(&changes)?)
    }

    /// Plans to undo a change: the newest where none is named. Waits for the disk.
    ///
    /// # Errors
    ///
    /// Where there is no such change, or the prompt was changed since in the same lines.
    pub fn plan_undo(&self, number: Option<u64>) -> Result<(u64, Plan), ToolError> {
        let newest = || {
            let listed = self.history.list(&HistoryFilter { entries_max: 1, ..Default::default() });
            listed?.first().map(|entry| entry.number).ok_or_else(|| {
                ToolError::new(ErrorCode::NotFound, "the prompt was never changed through moss")
            })
        };
        let number = number.map_or_else(newest, Ok)?;
        Ok((number, self.history.plan_undo(&self.files, &UndoTarget::Entry(number))?))
    }

    /// Carries a plan out and returns its number in the prompt's history. Waits for the disk.
    ///
    /// # Errors
    ///
    /// Where the prompt is not what the plan was made on; nothing has changed then.
    pub fn commit(&self, plan: &Plan, origin: &Origin) -> Result<u64, ToolError> {
        Ok(self.files.commit(plan, &self.history, origin)?.number)
    }

    /// Lists the changes, the newest first.
    ///
    /// # Errors
    ///
    /// Where the history is damaged.
    pub fn list(&self, entries_max: usize) -> Result<Vec<HistoryEntry>, moss_workspace::Error> {
        self.history.list(&HistoryFilter { entries_max, ..Default::default() })
    }

    /// Computes the diff of a change; none where its contents are no longer held.
    ///
    /// # Errors
    ///
    /// Where the history is damaged.
    pub fn diff(&self, file: &HistoryFile) -> Result<Option<String>, moss_workspace::Error> {
        self.history.diff(file)
    }
}

#[cfg(test)]
mod tests;
