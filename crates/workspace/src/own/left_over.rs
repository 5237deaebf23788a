//! Files of moss's own that it was killed while it wrote: they never got their names.

use std::time::{Duration, SystemTime};

use super::OwnDir;
use crate::error::Error;
use crate::temp_name::is_temp_name;

// === impl OwnDir ===

impl OwnDir {
    /// Removes files that have the name of one that is being written and were last written so long ago. Whatever has
    /// another name stays, and so do directories.
    ///
    /// # Errors
    ///
    /// `Io`.
    pub fn remove_left_over(&self, age_min: Duration) -> Result<(), Error> {
        let now = SystemTime::now();
        for file in self.files()? {
            let age = now.duration_since(file.modified).unwrap_or_default();
            if is_temp_name(&file.name) && age >= age_min {
                self.remove(&file.name)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::temp_name::temp_name;

    const HOUR: Duration = Duration::from_hours(1);

    #[test]
    fn only_old_files_with_names_of_unfinished_ones_are_removed() {
        let temp = tempfile::tempdir().unwrap();
        let own = OwnDir::create(&temp.path().join("own")).unwrap();
        let [old, young, directory] = std::array::from_fn(|_| temp_name().unwrap());
        let capitals = format!(".moss-{}.tmp", "A".repeat(32));
        let others =
            [".moss-1.tmp", "x.tmp", &old.replace(".moss", "x"), &capitals].map(ToOwned::to_owned);
        for name in others.iter().chain([&old, &young]) {
            own.write(name, b"x").unwrap();
        }
        own.subdirectory(&directory).unwrap();
        for name in others.iter().chain([&old, &directory]) {
            let file = fs::File::open(own.path().join(name)).unwrap();
            file.set_modified(SystemTime::now() - 2 * HOUR).unwrap();
        }
        let is_there = |name: &String| own.path().join(name).exists();
        own.remove_left_over(HOUR).unwrap();
        assert_eq!((is_there(&old), is_there(&young)), (false, true));
        own.remove_left_over(Duration::ZERO).unwrap();
        assert!(!is_there(&young) && is_there(&directory) && others.iter().all(is_there));
    }
}
