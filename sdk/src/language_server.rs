//! What a tool asks a language server of the project: where something is defined or used, by what the program
//! means, not by names. Values only; the daemon starts servers where policy and people let it.

use crate::editor::{Definitions, Position};
use crate::path::RelPath;
use crate::progress::BoxFuture;

/// Language servers of the project, where they are installed and may run.
pub trait LanguageServers: Send + Sync {
    /// Asks the server that knows the language of a file. It may have to be started first, which policy and people
    /// decide about; where nobody can be asked, or it is not ready in bounded time, the reply says so. This is
    /// never an error of the call: what the tool knows by itself still holds.
    fn ask_server(&self, question: ServerQuestion) -> BoxFuture<'_, ServerReply>;
}

/// A question to a language server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerQuestion {
    /// The file, relative to the workspace root.
    pub path: RelPath,
    /// The positions in it that are asked about.
    pub positions: Vec<Position>,
    /// What is asked about them.
    pub goal: ServerGoal,
}

/// What is asked for at a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ServerGoal {
    /// Where it is defined.
    Definitions,
    /// Where it is used; where it is declared is left out.
    References,
}

/// What came of a question to a language server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerReply {
    /// What the server said, of files that the caller may know of.
    Known {
        /// What the server is called.
        server: String,
        /// The locations, of all positions together; each once.
        places: Definitions,
    },
    /// There is one, and it did not say.
    Unavailable {
        /// What the server is called.
        server: String,
        /// Why not, and what would help.
        why: String,
    },
    /// None knows this language here.
    NoServer,
}
