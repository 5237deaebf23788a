//! What can go wrong with the index's own files, and what is lost with it: never a result.

use std::io::ErrorKind;

use moss_workspace::Error;

/// Why an index was built anew in part or as a whole, or is not kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IndexProblem {
    /// A file was not as it had been written; the texts that it was about are read again.
    #[error("{file} is damaged ({what}): the texts that it was about are read again")]
    Damaged {
        /// The file of the index.
        file: String,
        /// What was not as it had been written.
        what: &'static str,
    },
    /// There are files of a newer version of moss; they are left alone.
    #[error("there is an index of a newer version ({file}): it is left alone")]
    Newer {
        /// One of its files.
        file: String,
    },
    /// Another daemon keeps the index of this workspace.
    #[error("a running daemon keeps the index of this workspace")]
    Busy,
    /// There is no space for it.
    #[error("there is no space for the index: {reason}")]
    NoSpace {
        /// What the system said.
        reason: String,
    },
    /// It would take more than it may.
    #[error("the index would take more than {bytes_max} bytes on disk")]
    TooLarge {
        /// How much it may take.
        bytes_max: u64,
    },
    /// Its directory cannot be used.
    #[error("the index cannot be kept: {reason}")]
    Unusable {
        /// What the system said.
        reason: String,
    },
}

// === impl IndexProblem ===

impl IndexProblem {
    pub(crate) fn damaged(file: &str, what: &'static str) -> Self {
        Self::Damaged { file: file.to_owned(), what }
    }
}

impl From<Error> for IndexProblem {
    fn from(error: Error) -> Self {
        let reason = error.to_string();
        match error {
            Error::Busy { .. } => Self::Busy,
            Error::Io { source, .. }
                if matches!(
                    source.kind(),
                    ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge
                ) =>
            {
                Self::NoSpace { reason }
            }
            _ => Self::Unusable { reason },
        }
    }
}
