//! The link by which commands find the default socket whose environment does not say where it is: many programs
//! start what speaks MCP with a few variables only, and `XDG_RUNTIME_DIR` is none of them.

use std::path::{Path, PathBuf};

use moss_workspace::Error;
use moss_workspace::own::OwnDir;

use super::unix;

/// A link to a socket of this process. Dropping it removes it, unless it leads elsewhere by then.
#[derive(Debug)]
pub struct SocketLink {
    directory: OwnDir,
    name: String,
    target: PathBuf,
}

// === impl SocketLink ===

impl SocketLink {
    /// Makes a link, in a directory of moss's own, to a socket that is served. None where another daemon can be
    /// reached there.
    ///
    /// # Errors
    ///
    /// `Own` where the directory is not the user's alone; `Io`.
    pub fn make(at: &Path, target: &Path) -> Result<Option<Self>, Error> {
        let (Some(parent), Some(name)) =
            (at.parent(), at.file_name().and_then(|name| name.to_str()))
        else {
            return Ok(None);
        };
        if unix::is_listened_on(at) {
            return Ok(None);
        }
        let directory = OwnDir::create(parent)?;
        directory.link(name, target)?;
        Ok(Some(Self { directory, name: name.to_owned(), target: target.to_owned() }))
    }
}

impl Drop for SocketLink {
    fn drop(&mut self) {
        let is_ours = self.directory.link_target(&self.name).is_ok_and(|to| to == self.target);
        if is_ours && let Err(error) = self.directory.remove(&self.name) {
            tracing::warn!(%error, "cannot remove the link to the socket");
        }
    }
}
