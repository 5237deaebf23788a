//! Walking beneath a directory: held descriptors all the way, links reported and never followed,
//! ignore files applied, names in bytewise order.
//!
//! The walk keeps its own stack, so deep trees cost no call stack; its depth is bounded by the
//! number of components a path may have. What an entry is worth is for its caller to say.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use moss_sdk::RelPath;
use moss_sdk::file::EntryKind;
use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::error::Error;
use crate::handle::{self, Stat};
use crate::ignoring::{GIT, IgnoreRules};
use crate::mount::Mount;
use crate::root::Workspace;

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
    /// Its path as the caller named it.
    pub(crate) shown: &'a RelPath,
    /// Its path after all links.
    pub(crate) real: &'a RelPath,
    pub(crate) stat: &'a Stat,
}

/// What a walk comes to.
pub(crate) enum TreeStep<'a> {
    Entry(WalkEntry<'a>),
    /// What an ignore file names, by its real path, and whether it is a directory.
    Ignored(&'a RelPath, bool),
    /// A name in a directory with this real path that no path can have.
    Odd(&'a OwnedFd, &'a RelPath, &'a [u8]),
}

/// What to do after an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WalkControl {
    /// Continue; a directory is entered.
    On,
    /// Continue; a directory is passed by.
    Past,
    /// Nothing more is wanted.
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

/// Who is shown what a walk comes to.
type Visit<'a> = &'a mut dyn FnMut(TreeStep<'_>) -> WalkControl;

struct TreeWalk<'a> {
    workspace: &'a Workspace,
    extent: Extent<'a>,
    left_out: LeftOut,
    visited: usize,
    open: Vec<Level>,
}

/// A directory that is being walked.
struct Level {
    directory: OwnedFd,
    rules: Arc<IgnoreRules>,
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
    /// walked when it is asked for by name. What is left out for its name or by an ignore file is shown
    /// as that.
    pub(crate) fn walk(
        &self,
        directory: &RelPath,
        extent: Extent<'_>,
        mut visit: impl FnMut(TreeStep<'_>) -> WalkControl,
    ) -> Result<LeftOut, Error> {
        let (place, fd) = self.open_directory(directory)?;
        self.check_not_own(directory, &place.path)?;
        let mut walk = TreeWalk {
            workspace: self,
            extent,
            left_out: LeftOut::default(),
            visited: 0,
            open: Vec::new(),
        };
        let above = self.rules_above(&place)?;
        walk.enter((fd, directory.clone(), place.path), &above, &mut visit)
            .map_err(|errno| Error::io(directory, "list", errno))?;
        walk.run(&mut visit)?;
        Ok(walk.left_out)
    }
}

// === impl TreeWalk ===

impl TreeWalk<'_> {
    fn run(&mut self, visit: Visit<'_>) -> Result<(), Error> {
        while let Some(level) = self.open.last_mut() {
            let Some(name) = level.names.pop() else {
                self.open.pop();
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

    fn visit(&mut self, name: &str, visit: Visit<'_>) -> WalkControl {
        let level = self.open.last().expect("the caller holds a level");
        let Ok(real) = level.real.join(name) else {
            visit(TreeStep::Odd(&level.directory, &level.real, name.as_bytes()));
            return self.unreadable();
        };
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
        if name == GIT || level.rules.is_ignored(&real, is_directory) {
            self.left_out.ignored += 1;
            if name != GIT {
                visit(TreeStep::Ignored(&real, is_directory));
            }
            return WalkControl::Past;
        }
        let entry = WalkEntry { shown: &shown, real: &real, stat: &stat };
        let step = visit(TreeStep::Entry(entry));
        let enters = step == WalkControl::On && is_directory && self.extent.recursive;
        if enters && self.descend(name, &stat, (shown, real), visit).is_err() {
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
        (shown, real): (RelPath, RelPath),
        visit: Visit<'_>,
    ) -> Result<(), Errno> {
        let level = self.open.last().expect("the caller holds a level");
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let fd = handle::open_at(&level.directory, name, flags)?;
        let is_same = handle::stat(&fd)?.identity == stat.identity;
        if !is_same || !self.workspace.reaches(Mount::of(&fd)?) {
            return Err(Errno::XDEV);
        }
        let above = Arc::clone(&level.rules);
        self.enter((fd, shown, real), &above, visit)
    }

    fn enter(
        &mut self,
        (directory, shown, real): (OwnedFd, RelPath, RelPath),
        above: &Arc<IgnoreRules>,
        visit: Visit<'_>,
    ) -> Result<(), Errno> {
        let found = self.workspace.found_names(&directory, &real)?;
        self.left_out.unreadable += found.odd.len() as u64;
        for name in &found.odd {
            visit(TreeStep::Odd(&directory, &real, name));
        }
        self.left_out.truncated |= found.truncated;
        let rules = self.workspace.rules_of(&directory, &real, found.ignore_names, above);
        let names = found.names.into_iter().rev().map(|(name, _)| name).collect();
        self.open.push(Level { directory, rules, shown, real, names });
        Ok(())
    }
}
