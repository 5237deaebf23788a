//! Which of the directories that are named as caches a command is given.
//!
//! What commands write, they can replace by a link, and the next command would be given what that leads to. So a cache
//! is named by its real path: a link is followed only above the home directory, where no command writes.

use std::path::{Component, Path, PathBuf};

use crate::command::FileView;
use crate::real_paths::RealPaths;
use crate::visible;

/// Fewest directories that a cache lies in, the root directory among them.
const DEPTH_MIN: usize = 2;

/// A directory that a command is given.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Cache {
    /// Where it lies, without links.
    pub(crate) real: PathBuf,
    /// How it was named.
    pub(crate) at: PathBuf,
}

/// What no cache is, holds or lies in.
#[derive(Debug)]
pub(crate) struct CacheBounds {
    home: Option<Home>,
    workspace: PathBuf,
    /// What is masked, and what others own.
    apart: Vec<PathBuf>,
}

/// A home directory, as it is named and where it is.
#[derive(Debug)]
struct Home {
    named: PathBuf,
    real: PathBuf,
}

// === impl FileView ===

impl FileView {
    /// Leaves of what is writable only that which a command would be given, for a view that shows it in another way.
    pub fn keep_caches(&mut self, home: Option<&Path>) {
        let named = std::mem::take(&mut self.writable);
        let masked = self.masked.iter().filter_map(|path| path.canonicalize().ok());
        let chosen = CacheBounds::new(self, home, masked).choose(named, &RealPaths::default());
        self.writable = chosen.into_iter().map(|cache| cache.at).collect();
    }
}

// === impl CacheBounds ===

impl CacheBounds {
    /// Those of a command, of which this is masked by real paths.
    pub(crate) fn new(
        files: &FileView,
        home: Option<&Path>,
        masked: impl IntoIterator<Item = PathBuf>,
    ) -> Self {
        let home = home.map(|home| Home::of(home, files));
        let mut apart: Vec<PathBuf> = masked.into_iter().collect();
        if let Some(home) = &home {
            // Whether they are there or not: the next one of them may be made.
            apart.extend(visible::HOME_MASKED.iter().map(|name| home.real.join(name)));
        }
        // One that the home directory lies in has the caches of all: what is a link there is left out anyway.
        let holds_home = |path: &Path| home.as_ref().is_some_and(|home| home.lies_in(path));
        let of_others = files.apart.iter().filter(|path| !holds_home(path));
        for path in of_others {
            apart.extend(path.canonicalize().ok().filter(|real| real != path));
            apart.push(path.clone());
        }
        apart.extend(files.masked.iter().cloned());
        Self { home, workspace: files.workspace.clone(), apart }
    }

    /// Chooses those that a command is given, each of them once: one that lies in another comes with that.
    pub(crate) fn choose(
        &self,
        named: impl IntoIterator<Item = PathBuf>,
        real: &RealPaths,
    ) -> Vec<Cache> {
        let found = named.into_iter().filter_map(|named| self.cache(&named, real));
        let mut found: Vec<_> = found.collect();
        // From the outside in.
        found.sort();
        let mut chosen: Vec<Cache> = Vec::new();
        for cache in found {
            if !chosen.iter().any(|outer| cache.real.starts_with(&outer.real)) {
                chosen.push(cache);
            }
        }
        chosen
    }

    /// A directory, where it is there and is no more than a cache.
    fn cache(&self, named: &Path, real: &RealPaths) -> Option<Cache> {
        let is_plain = !named.components().any(|part| part == Component::ParentDir);
        // Without a slash at its end.
        let at: PathBuf = named.components().collect();
        let is_deep = at.is_absolute() && at.components().count() > DEPTH_MIN;
        let expected = self.home.as_ref().and_then(|home| home.place_of(&at));
        let real = real.of(&at)?;
        let is_named = real == expected.unwrap_or_else(|| at.clone());
        let is_cache = is_plain && is_deep && is_named && real.is_dir() && !self.is_refused(&real);
        is_cache.then_some(Cache { real, at })
    }

    fn is_refused(&self, real: &Path) -> bool {
        let overlaps = |path: &Path| path.starts_with(real) || real.starts_with(path);
        let holds_home = self.home.as_ref().is_some_and(|home| home.lies_in(real));
        holds_home || overlaps(&self.workspace) || self.apart.iter().any(|path| overlaps(path))
    }
}

// === impl Home ===

impl Home {
    /// One that lies in what commands write is where its name says, or none of its caches is given.
    fn of(named: &Path, files: &FileView) -> Self {
        let mut written = files.apart.iter().chain(&files.writable).chain([&files.workspace]);
        let is_written = written.any(|path| named.starts_with(path));
        let real = named.canonicalize().ok().filter(|_| !is_written);
        Self { named: named.to_owned(), real: real.unwrap_or_else(|| named.to_owned()) }
    }

    /// Where what lies in it is, unless a link leads to it from there.
    fn place_of(&self, path: &Path) -> Option<PathBuf> {
        path.strip_prefix(&self.named).ok().map(|beneath| self.real.join(beneath))
    }

    fn lies_in(&self, path: &Path) -> bool {
        self.named.starts_with(path) || self.real.starts_with(path)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    /// A home directory, a workspace and another one, in a directory without links.
    struct Machine {
        root: PathBuf,
        files: FileView,
        _directory: tempfile::TempDir,
    }

    impl Machine {
        fn new() -> Self {
            let directory = tempfile::tempdir().unwrap();
            let root = fs::canonicalize(directory.path()).unwrap();
            for path in ["home/.ssh", "home/.cache/tool", "data/cache", "w/in", "other/cache"] {
                fs::create_dir_all(root.join(path)).unwrap();
            }
            let files = FileView {
                workspace: root.join("w"),
                masked: vec![root.join("state")],
                apart: vec![root.join("other")],
                ..FileView::default()
            };
            Self { root, files, _directory: directory }
        }

        fn link(&self, path: &str, to: &str) {
            symlink(self.root.join(to), self.root.join(path)).unwrap();
        }

        /// The names of those that are chosen, from the root.
        fn choose(&self, named: &[&str]) -> Vec<String> {
            self.choose_of("home", named)
        }

        fn choose_of(&self, home: &str, named: &[&str]) -> Vec<String> {
            let home = self.root.join(home);
            let bounds = CacheBounds::new(&self.files, Some(&home), []);
            let named = named.iter().map(|path| self.root.join(path));
            let chosen = bounds.choose(named, &RealPaths::default());
            let name = |cache: Cache| cache.at.strip_prefix(&self.root).unwrap().to_owned();
            chosen.into_iter().map(|cache| name(cache).display().to_string()).collect()
        }
    }

    #[test]
    fn directories_without_links_are_caches() {
        let machine = Machine::new();
        let chosen = machine.choose(&["home/.cache/tool/", "data/cache", "data/missing"]);
        assert_eq!(chosen, ["data/cache", "home/.cache/tool"]);
    }

    #[test]
    fn what_a_link_leads_to_is_no_cache_wherever_the_link_lies() {
        let machine = Machine::new();
        machine.link("home/linkssh", "home/.ssh");
        machine.link("home/.cache/x", "data/cache");
        machine.link("data/link", "data/cache");
        machine.link("home/moved", "data");
        machine.link("w/link", "data/cache");
        let named = ["home/linkssh", "home/.cache/x", "data/link", "home/moved/cache", "w/link"];
        for name in named {
            assert!(machine.choose(&[name]).is_empty(), "{name}");
        }
        assert!(machine.choose(&["home/.cache/tool/../x"]).is_empty());
    }

    #[test]
    fn a_home_directory_that_a_link_leads_to_has_its_caches() {
        let machine = Machine::new();
        machine.link("linked", ".");
        let chosen = machine.choose_of("linked/home", &["linked/home/.cache/tool"]);
        assert_eq!(chosen, ["linked/home/.cache/tool"]);
        let real = machine.choose_of("linked/home", &["home/.cache/tool"]);
        assert_eq!(real, ["home/.cache/tool"]);
        assert!(machine.choose_of("linked/home", &["linked/home/.ssh", "linked"]).is_empty());
    }

    #[test]
    fn what_is_more_than_a_cache_is_left_out() {
        let machine = Machine::new();
        fs::create_dir_all(machine.root.join("state/in")).unwrap();
        fs::create_dir_all(machine.root.join("home/.config")).unwrap();
        let named = [
            "home",
            "",
            "home/.ssh",
            "home/.config",
            "w",
            "w/in",
            "other",
            "other/cache",
            "state",
            "state/in",
        ];
        for name in named {
            assert!(machine.choose(&[name]).is_empty(), "{name}");
        }
    }

    #[test]
    fn a_cache_in_another_comes_with_that() {
        let machine = Machine::new();
        let chosen = machine.choose(&["home/.cache/tool", "home/.cache", "data/cache"]);
        assert_eq!(chosen, ["data/cache", "home/.cache"]);
    }
}
