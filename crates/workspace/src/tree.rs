//! Walking beneath a directory: held descriptors all the way, links reported and never followed,
//! ignore files applied, names in bytewise order.
//!
//! The walk keeps its own stack, so deep trees cost no call stack; its depth is bounded by the
//! number of components a path may have. What an entry is worth is for its caller to say.

use std::os::fd::OwnedFd;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use moss_sdk::RelPath;
use moss_sdk::file::EntryKind;
use rustix::fs::{Dir, OFlags};
use rustix::io::Errno;

use crate::error::Error;
use crate::handle::{self, Patience, Stat};
use crate::mount::Mount;
use crate::resolve::ResolvedPath;
use crate::root::Workspace;

/// The ignore file of any program: stronger than all of git's.
pub(crate) const IGNORE_FILE: &str = ".ignore";
/// Git's ignore file.
pub(crate) const GIT_IGNORE_FILE: &str = ".gitignore";
/// The directory or file that makes a directory a repository's root; no walk shows it.
pub(crate) const GIT: &str = ".git";
/// Where in it rules stand that are not shared: weaker than those of ignore files.
const GIT_EXCLUDE_FILE: [&str; 2] = ["info", "exclude"];

/// How far a walk goes.
#[derive(Clone, Copy)]
pub(crate) struct Extent<'a> {
    /// Whether to enter directories.
    pub(crate) recursive: bool,
    /// Most entries to visit.
    pub(crate) entries_max: usize,
    /// Whether whoever waits for the walk has gone.
    pub(crate) cancelled: &'a dyn Fn() -> bool,
}

/// An entry that a walk came to.
pub(crate) struct WalkEntry<'a> {
    /// The directory that holds it.
    pub(crate) directory: &'a OwnedFd,
    /// Its name there.
    pub(crate) name: &'a str,
    /// Its path as the caller named it.
    pub(crate) shown: &'a RelPath,
    /// Its path after all links.
    pub(crate) real: &'a RelPath,
    pub(crate) stat: &'a Stat,
}

/// What to do after an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WalkControl {
    /// Continue; a directory is entered.
    On,
    /// Continue; a directory is passed by.
    Past,
    /// End the walk.
    End,
}

/// What a walk itself left out.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LeftOut {
    /// Matched by an ignore file.
    pub(crate) ignored: u64,
    /// Not readable, or not nameable as UTF-8 text.
    pub(crate) unreadable: u64,
    /// Whether a bound on entries ended the walk early or left out names.
    pub(crate) truncated: bool,
}

struct TreeWalk<'a> {
    workspace: &'a Workspace,
    extent: Extent<'a>,
    left_out: LeftOut,
    visited: usize,
    /// The ignore rules of the directories above and of those that are open, the root first.
    rules: Vec<IgnoreRules>,
    open: Vec<Level>,
}

/// The ignore rules that one directory holds.
#[derive(Debug)]
pub(crate) struct IgnoreRules {
    ignore: Gitignore,
    git: Gitignore,
    /// Whether a repository starts here: git's rules from above do not hold in it.
    is_repository: bool,
}

/// A directory that is being walked.
struct Level {
    directory: OwnedFd,
    /// Its path as the caller named it, and after all links.
    shown: RelPath,
    real: RelPath,
    /// What is still to be visited, the last name first.
    names: Vec<String>,
}

// === impl Workspace ===

impl Workspace {
    /// Comes to every entry beneath a directory in path order, except for `.git`, what ignore files
    /// name, and moss's own directories, which are not counted either. An ignored directory is
    /// walked when it is asked for by name.
    pub(crate) fn walk(
        &self,
        directory: &RelPath,
        extent: Extent<'_>,
        mut visit: impl FnMut(WalkEntry<'_>) -> WalkControl,
    ) -> Result<LeftOut, Error> {
        let (place, fd) = self.open_directory(directory)?;
        self.check_not_own(directory, &place.path)?;
        let mut walk = TreeWalk {
            workspace: self,
            extent,
            left_out: LeftOut::default(),
            visited: 0,
            rules: self.rules_above(&place)?,
            open: Vec::new(),
        };
        walk.enter(fd, directory.clone(), place.path)
            .map_err(|errno| Error::io(directory, "list", errno))?;
        walk.run(&mut visit)?;
        Ok(walk.left_out)
    }

    /// The ignore rules of all directories above a location. One that is gone by now has none.
    fn rules_above(&self, place: &ResolvedPath) -> Result<Vec<IgnoreRules>, Error> {
        let mut above: Vec<RelPath> =
            std::iter::successors(place.path.parent(), RelPath::parent).collect();
        above.reverse();
        let rules = |path: RelPath| match self.open_directory(&path) {
            Ok((_, directory)) => Ok(self.rules_of(&directory, &path)),
            Err(Error::NotFound { .. } | Error::NotADirectory { .. }) => Ok(IgnoreRules::none()),
            Err(error) => Err(error),
        };
        above.into_iter().map(rules).collect()
    }

    /// The ignore rules that a directory holds itself. Ignore files that cannot be read, are too
    /// large or hold broken lines leave out what they would have said.
    pub(crate) fn rules_of(&self, directory: &OwnedFd, path: &RelPath) -> IgnoreRules {
        let is_repository = handle::find_at(directory, GIT).is_ok_and(|git| git.is_some());
        let exclude = if is_repository { self.read_exclude_file(directory) } else { None };
        let git = self.read_ignore_file(directory, GIT_IGNORE_FILE);
        IgnoreRules {
            ignore: rules(path, self.read_ignore_file(directory, IGNORE_FILE)),
            git: rules(path, exclude.into_iter().chain(git)),
            is_repository,
        }
    }

    pub(crate) fn read_exclude_file(&self, root: &OwnedFd) -> Option<String> {
        let [info, file] = GIT_EXCLUDE_FILE;
        let git = handle::open_at(root, GIT, handle::DIRECTORY).ok()?;
        let info = handle::open_at(git, info, handle::DIRECTORY).ok()?;
        self.read_ignore_file(&info, file)
    }

    fn read_ignore_file(&self, directory: &OwnedFd, name: &str) -> Option<String> {
        let stat = handle::find_at(directory, name).ok()??;
        let bytes_max = self.limits().ignore_bytes_max;
        if stat.kind != EntryKind::File || stat.size_bytes > bytes_max {
            return None;
        }
        let fd = handle::open_at(directory, name, handle::READ).ok()?;
        let is_same = handle::stat(&fd).ok()?.identity == stat.identity;
        if !is_same || self.secrets.contains(stat.identity) {
            return None;
        }
        let bytes = handle::read_to(&fd, bytes_max, Patience::Wait).ok()?;
        Some(String::from_utf8_lossy(&bytes).trim_start_matches('\u{feff}').to_owned())
    }
}

/// Makes rules of the texts of ignore files in a directory, the strongest last.
fn rules(directory: &RelPath, texts: impl IntoIterator<Item = String>) -> Gitignore {
    let mut texts = texts.into_iter().peekable();
    if texts.peek().is_none() {
        return Gitignore::empty();
    }
    let root = if directory.is_root() { "" } else { directory.as_str() };
    let mut builder = GitignoreBuilder::new(root);
    for text in texts {
        for line in text.lines() {
            let _ = builder.add_line(None, line);
        }
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

// === impl IgnoreRules ===

impl IgnoreRules {
    fn none() -> Self {
        Self { ignore: Gitignore::empty(), git: Gitignore::empty(), is_repository: false }
    }

    /// Whether there are none.
    pub(crate) fn are_none(&self) -> bool {
        self.ignore.is_empty() && self.git.is_empty() && !self.is_repository
    }

    /// Whether a repository starts where they stand.
    pub(crate) fn are_of_repository(&self) -> bool {
        self.is_repository
    }

    /// Whether the rules of the directories above a path say to leave it out: those of `.ignore`
    /// before git's, the nearest first.
    pub(crate) fn ignore<'a>(
        nearest: impl Iterator<Item = &'a Self> + Clone,
        real: &RelPath,
        is_directory: bool,
    ) -> bool {
        let speaks = |rules: &Gitignore| match rules.matched(real.as_str(), is_directory) {
            Match::None => None,
            Match::Ignore(_) => Some(true),
            Match::Whitelist(_) => Some(false),
        };
        let repository = nearest.clone().position(|rules| rules.is_repository);
        let in_repository = repository.map_or(usize::MAX, |at| at + 1);
        let by_git = || nearest.clone().take(in_repository).find_map(|rules| speaks(&rules.git));
        let by_all = nearest.clone().find_map(|rules| speaks(&rules.ignore));
        by_all.or_else(by_git).unwrap_or(false)
    }
}

// === impl TreeWalk ===

impl TreeWalk<'_> {
    fn run(&mut self, visit: &mut dyn FnMut(WalkEntry<'_>) -> WalkControl) -> Result<(), Error> {
        while let Some(level) = self.open.last_mut() {
            let Some(name) = level.names.pop() else {
                self.open.pop();
                self.rules.pop();
                continue;
            };
            if (self.extent.cancelled)() {
                return Err(Error::Cancelled);
            }
            if self.visited == self.extent.entries_max {
                self.left_out.truncated = true;
                return Ok(());
            }
            self.visited += 1;
            if self.visit(&name, visit) == WalkControl::End {
                return Ok(());
            }
        }
        Ok(())
    }

    fn visit(
        &mut self,
        name: &str,
        visit: &mut dyn FnMut(WalkEntry<'_>) -> WalkControl,
    ) -> WalkControl {
        let level = self.open.last().expect("the caller holds a level");
        let Ok(real) = level.real.join(name) else { return self.unreadable() };
        let shown =
            if level.shown == level.real { Ok(real.clone()) } else { level.shown.join(name) };
        let Ok(shown) = shown else { return self.unreadable() };
        let stat = match handle::find_at(&level.directory, name) {
            Ok(Some(stat)) => stat,
            // Gone since the names were read.
            Ok(None) => return WalkControl::Past,
            Err(_) => return self.unreadable(),
        };
        let is_directory = stat.kind == EntryKind::Directory;
        if name == GIT || IgnoreRules::ignore(self.rules.iter().rev(), &real, is_directory) {
            self.left_out.ignored += 1;
            return WalkControl::Past;
        }
        let directory = &level.directory;
        let step = visit(WalkEntry { directory, name, shown: &shown, real: &real, stat: &stat });
        let enters = step == WalkControl::On && is_directory && self.extent.recursive;
        if enters && self.descend(name, &stat, shown, real).is_err() {
            return self.unreadable();
        }
        step
    }

    fn unreadable(&mut self) -> WalkControl {
        self.left_out.unreadable += 1;
        WalkControl::Past
    }

    fn descend(
        &mut self,
        name: &str,
        stat: &Stat,
        shown: RelPath,
        real: RelPath,
    ) -> Result<(), Errno> {
        let level = self.open.last().expect("the caller holds a level");
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let fd = handle::open_at(&level.directory, name, flags)?;
        let is_same = handle::stat(&fd)?.identity == stat.identity;
        if !is_same || !self.workspace.reaches(Mount::of(&fd)?) {
            return Err(Errno::XDEV);
        }
        self.enter(fd, shown, real)
    }

    fn enter(&mut self, fd: OwnedFd, shown: RelPath, real: RelPath) -> Result<(), Errno> {
        let mut names = Vec::new();
        let own = &self.workspace.own;
        let own: Vec<&str> = own
            .iter()
            .filter(|own| own.parent().as_ref() == Some(&real))
            .filter_map(RelPath::file_name)
            .collect();
        for entry in Dir::read_from(&fd)? {
            let entry = entry?;
            let name = entry.file_name();
            if name == c"." || name == c".." || name.to_str().is_ok_and(|n| own.contains(&n)) {
                continue;
            }
            if names.len() == self.workspace.limits().directory_names_max {
                self.left_out.truncated = true;
                break;
            }
            match name.to_str() {
                Ok(name) => names.push(name.to_owned()),
                Err(_) => self.left_out.unreadable += 1,
            }
        }
        names.sort_unstable_by(|a, b| b.cmp(a));
        self.rules.push(self.workspace.rules_of(&fd, &real));
        self.open.push(Level { directory: fd, shown, real, names });
        Ok(())
    }
}
