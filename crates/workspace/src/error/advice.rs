//! What to do about a failure, in one sentence for whoever called.

use moss_sdk::ToolError;

use super::Error;
use crate::options::KEPT_OF_OTHERS;

// === impl Error ===

impl Error {
    /// What to do next, where there is something to do.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::Root { .. } => "name a project directory",
            Self::RootReplaced { .. } => "put the directory back, or restart the daemon",
            Self::Outside { .. } => {
                "only files beneath the workspace root can be reached; links \
                 must be relative and stay inside"
            }
            Self::OtherFilesystem { .. } => "open that directory as a workspace of its own",
            Self::LinkLoop { .. } | Self::Dangling { .. } => "name the file itself, not the link",
            Self::Unnameable { .. } => "rename the file or the directory first",
            Self::Alias { .. } => "name it as the listing of its directory does",
            Self::NotFound { .. } => "list the directory to see the names that exist",
            Self::Exists { .. } => "edit the existing file, or choose another name",
            Self::NotAFile { .. } => "name a file; list a directory to see what is in it",
            Self::NotADirectory { .. } => "list the parent directory to see what is there",
            Self::IsLink { .. } => "name the target itself; links are never removed",
            Self::HardLinked { .. } => {
                "replace the file by a copy of its own first, outside of moss"
            }
            Self::ReadOnly { .. } => "change its permissions first, outside of moss",
            Self::TooLarge { is_new: true, .. } => {
                "put the content into several files; one is no larger than that"
            }
            Self::TooLarge { setting: KEPT_OF_OTHERS, .. } => "move it away: it is not moss's",
            Self::TooLarge { .. } => "read it in windows of lines; it is too large to edit as one",
            Self::TooLargeToKeep { .. } => {
                "`permanent: true` deletes it without keeping the content"
            }
            Self::Secret { .. } => "leave it alone: no tool reads or changes it, by any name",
            Self::Protected { .. } => {
                "name other directories: smaller ones where this one holds too much"
            }
            Self::Binary { .. } => "only text files can be read as lines and edited",
            Self::Encoding { .. } => "convert the file to UTF-8 first",
            Self::Splice { .. } => "read the file again and compute the replacements anew",
            Self::Clash { .. } => "put all changes of a file into one change",
            Self::NoChange { .. } => "the file already has this content",
            Self::Changed { .. } => {
                "see what is there now, read it again, then redo the change on that"
            }
            Self::Merge(_) => {
                "undo the later change first; where it was made outside of moss, edit the file by hand"
            }
            Self::Limit { .. } => "split the change into smaller ones",
            Self::MergeTime { .. } => "undo fewer changes at once, or edit the file by hand",
            Self::Memory { .. } => {
                "wait for other calls to end, then try again; what does not fit alone is done in \
                 smaller parts, or by hand"
            }
            Self::Unsaved { .. } => "ask for it to be saved in the editor, then try again",
            Self::Busy { .. } => "try again",
            Self::NoEntry { .. } => "list the history to see the numbers that exist",
            Self::NoCall { .. } => "list the history to see the calls that changed something",
            Self::Forgotten { .. } => {
                "it was deleted permanently or fell out of the history's limits"
            }
            Self::History { damaged: true, .. } => {
                "stop moss, move `history.sqlite` of the workspace's state away with the files next to it that start \
                 with its name, then start again: a new one is made. `moss doctor` says where it is"
            }
            Self::Path(_)
            | Self::Cancelled
            | Self::NothingToUndo { .. }
            | Self::History { .. }
            | Self::Own { .. }
            | Self::Io { .. } => return None,
        })
    }
}

impl From<Error> for ToolError {
    fn from(error: Error) -> Self {
        if let Error::Path(inner) = error {
            return inner;
        }
        let converted = Self::new(error.code(), error.to_string());
        match error.hint() {
            Some(hint) => converted.hint(hint),
            None => converted,
        }
    }
}
