//! Paths that a command made, of which there may be millions: all are counted, the first are held.

use std::fmt;
use std::path::{Path, PathBuf};

/// Most paths that are held.
const HELD_MAX: usize = 200;
/// Most of them that a text names.
const NAMED_MAX: usize = 10;

/// Paths of which the first 200 are held and all are counted. As a text it names the first 10.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CountedPaths {
    held: Vec<PathBuf>,
    count: usize,
}

// === impl CountedPaths ===

impl CountedPaths {
    /// Counts a path, and holds it where there is room.
    pub fn push(&mut self, path: PathBuf) {
        self.count += 1;
        if self.held.len() < HELD_MAX {
            self.held.push(path);
        }
    }

    /// The first of them.
    pub fn held(&self) -> impl Iterator<Item = &Path> {
        self.held.iter().map(PathBuf::as_path)
    }

    /// How many there are in all.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

impl Extend<PathBuf> for CountedPaths {
    fn extend<T: IntoIterator<Item = PathBuf>>(&mut self, paths: T) {
        paths.into_iter().for_each(|path| self.push(path));
    }
}

impl fmt::Display for CountedPaths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, path) in self.held().take(NAMED_MAX).enumerate() {
            let comma = if number == 0 { "" } else { ", " };
            write!(f, "{comma}{}", path.display())?;
        }
        match self.count.saturating_sub(NAMED_MAX) {
            0 => Ok(()),
            more => write!(f, " and {more} others"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_paths_are_held_and_all_are_counted() {
        let mut paths = CountedPaths::default();
        assert!(paths.is_empty());
        paths.extend((1..=2).map(|number| PathBuf::from(format!("/{number}"))));
        assert_eq!(paths.to_string(), "/1, /2");
        paths.extend((3..=100_000).map(|number| PathBuf::from(format!("/{number}"))));
        assert_eq!((paths.held().count(), paths.count()), (HELD_MAX, 100_000));
        let named = "/1, /2, /3, /4, /5, /6, /7, /8, /9, /10 and 99990 others";
        assert_eq!(paths.to_string(), named);
    }
}
