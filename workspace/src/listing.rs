//! Listing directories: held descriptors all the way, links reported and never followed, ignore
//! files heeded, names in bytewise order.
//!
//! The walk keeps its own stack, so deep trees cost no call stack; its depth is bounded by the
//! number of components a path may have.

use std::os::fd::OwnedFd;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use moss_sdk::RelPath;
use moss_sdk::file::{Entry, EntryKind, ListOptions, Listing};
use rustix::fs::{Dir, OFlags};
use rustix::io::Errno;

use crate::error::Error;
use crate::handle::{self, Patience, Stat};
use crate::resolve::{Mount, Place};
use crate::root::Workspace;

/// Ignore files, the strongest last.
const IGNORE_FILES: [&str; 2] = [".gitignore", ".ignore"];
/// The directory that no listing shows.
const HIDDEN: &str = ".git";

struct Lister<'a> {
    workspace: &'a Workspace,
    keep: &'a dyn Fn(&RelPath) -> bool,
    cancelled: &'a dyn Fn() -> bool,
    options: ListOptions,
    listing: Listing,
    visited: usize,
    /// The ignore rules of the directories above and of those that are open, the root first.
    rules: Vec<Gitignore>,
    open: Vec<Level>,
}

/// A directory that is being listed.
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
    /// Lists a directory in path order. What `keep` refuses is counted as denied and not entered;
    /// `.git` and what ignore files name is counted as ignored; names that are not text and
    /// directories that cannot be read are counted as unreadable. An ignored directory is listed
    /// when it is asked for by name. moss's own directories are left out and not counted.
    ///
    /// # Errors
    ///
    /// As [`Workspace::resolve`]; `NotFound`, `NotADirectory`, `Cancelled`; `Protected` for one of
    /// moss's own directories.
    pub fn list(
        &self,
        directory: &RelPath,
        options: ListOptions,
        keep: &dyn Fn(&RelPath) -> bool,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Listing, Error> {
        let (place, fd) = self.open_directory(directory)?;
        if self.is_own(&place.path) {
            let reason = "it belongs to moss itself";
            return Err(Error::Protected { path: directory.clone(), reason });
        }
        let mut lister = Lister {
            workspace: self,
            keep,
            cancelled,
            options,
            listing: Listing::default(),
            visited: 0,
            rules: self.rules_above(&place)?,
            open: Vec::new(),
        };
        lister
            .enter(fd, directory.clone(), place.path)
            .map_err(|errno| Error::io(directory, "list", errno))?;
        lister.run()?;
        Ok(lister.listing)
    }

    /// The ignore rules of all directories above a place. One that is gone by now has none.
    fn rules_above(&self, place: &Place) -> Result<Vec<Gitignore>, Error> {
        let mut above: Vec<RelPath> =
            std::iter::successors(place.path.parent(), RelPath::parent).collect();
        above.reverse();
        let rules = |path: RelPath| match self.open_directory(&path) {
            Ok((_, directory)) => Ok(self.rules_of(&directory, &path)),
            Err(Error::NotFound { .. } | Error::NotADirectory { .. }) => Ok(Gitignore::empty()),
            Err(error) => Err(error),
        };
        above.into_iter().map(rules).collect()
    }

    /// The ignore rules that a directory holds itself. Ignore files that cannot be read, are too
    /// large or hold broken lines leave out what they would have said.
    fn rules_of(&self, directory: &OwnedFd, path: &RelPath) -> Gitignore {
        let mut builder = GitignoreBuilder::new(if path.is_root() { "" } else { path.as_str() });
        for name in IGNORE_FILES {
            let Some(text) = self.read_ignore_file(directory, name) else { continue };
            for line in text.lines() {
                let _ = builder.add_line(None, line);
            }
        }
        builder.build().unwrap_or_else(|_| Gitignore::empty())
    }

    fn read_ignore_file(&self, directory: &OwnedFd, name: &str) -> Option<String> {
        let stat = handle::find_at(directory, name).ok()??;
        let bytes_max = self.limits().ignore_bytes_max;
        if stat.kind != EntryKind::File || stat.size_bytes > bytes_max {
            return None;
        }
        let fd = handle::open_at(directory, name, handle::READ).ok()?;
        if handle::stat(&fd).ok()?.identity != stat.identity {
            return None;
        }
        let bytes = handle::read_to(&fd, bytes_max, Patience::Wait).ok()?;
        Some(String::from_utf8_lossy(&bytes).trim_start_matches('\u{feff}').to_owned())
    }
}

// === impl Lister ===

impl Lister<'_> {
    fn run(&mut self) -> Result<(), Error> {
        while let Some(level) = self.open.last_mut() {
            let Some(name) = level.names.pop() else {
                self.open.pop();
                self.rules.pop();
                continue;
            };
            if (self.cancelled)() {
                return Err(Error::Cancelled);
            }
            if self.visited == self.options.entries_max {
                self.listing.truncated = true;
                return Ok(());
            }
            self.visited += 1;
            self.visit(&name);
        }
        Ok(())
    }

    fn visit(&mut self, name: &str) {
        let level = self.open.last().expect("the caller holds a level");
        let (Ok(shown), Ok(real)) = (level.shown.join(name), level.real.join(name)) else {
            self.listing.skipped.unreadable += 1;
            return;
        };
        let stat = match handle::find_at(&level.directory, name) {
            Ok(Some(stat)) => stat,
            // Gone since the names were read.
            Ok(None) => return,
            Err(_) => {
                self.listing.skipped.unreadable += 1;
                return;
            }
        };
        let is_directory = stat.kind == EntryKind::Directory;
        if name == HIDDEN || self.is_ignored(&real, is_directory) {
            self.listing.skipped.ignored += 1;
            return;
        }
        if !(self.keep)(&real) || (shown != real && !(self.keep)(&shown)) {
            self.listing.skipped.denied += 1;
            return;
        }
        self.listing.entries.push(entry(shown.clone(), &stat));
        if is_directory && self.options.recursive && self.descend(name, &stat, shown, real).is_err()
        {
            self.listing.skipped.unreadable += 1;
        }
    }

    /// Whether the nearest rule that speaks of a path says to leave it out.
    fn is_ignored(&self, real: &RelPath, is_directory: bool) -> bool {
        for rules in self.rules.iter().rev() {
            match rules.matched(real.as_str(), is_directory) {
                Match::None => {}
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
            }
        }
        false
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
                self.listing.truncated = true;
                break;
            }
            match name.to_str() {
                Ok(name) => names.push(name.to_owned()),
                Err(_) => self.listing.skipped.unreadable += 1,
            }
        }
        names.sort_unstable_by(|a, b| b.cmp(a));
        self.rules.push(self.workspace.rules_of(&fd, &real));
        self.open.push(Level { directory: fd, shown, real, names });
        Ok(())
    }
}

fn entry(path: RelPath, stat: &Stat) -> Entry {
    Entry {
        path,
        kind: stat.kind,
        size_bytes: (stat.kind == EntryKind::File).then_some(stat.size_bytes),
        modified: Some(stat.modified),
    }
}
