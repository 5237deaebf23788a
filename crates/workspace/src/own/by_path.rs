//! What the path of a held directory leads to now: another one, or none, once it was moved or removed.

use super::OwnDir;
use super::checked::{failed, present};
use crate::error::Error;
use crate::handle::{Identity, Stat};

// === impl OwnDir ===

impl OwnDir {
    /// Returns which file has a name at the path of this directory; `None` if it is missing.
    ///
    /// # Errors
    ///
    /// `Io`.
    pub fn at_path(&self, name: &str) -> Result<Option<Identity>, Error> {
        let path = self.named(name)?;
        let found = present(rustix::fs::lstat(&path).map_err(Into::into));
        let found = found.map_err(failed(&path, "look at"))?;
        Ok(found.map(|found| Stat::new(&found).identity))
    }
}
