//! Repositories that are recognized by what they hold and not by their names: bare ones, and those
//! that a `.git` file or link leads to, by way of a linked worktree's directory too. Who writes into
//! one decides what git runs.

use std::os::fd::OwnedFd;

use moss_sdk::RelPath;
use moss_sdk::file::EntryKind;

use super::{Protection, is_within};
use crate::handle::{self, Patience};
use crate::root::Workspace;

const GIT: &str = ".git";
/// What every directory of git's has.
const HEAD: &str = "HEAD";
/// Where a linked worktree's directory says which one it belongs to.
const COMMON: &str = "commondir";
/// What else a directory of git's has: these, or [`COMMON`].
const PARTS: [&str; 2] = ["objects", "refs"];
/// Longest `.git` file, in bytes.
const POINTER_BYTES_MAX: u64 = 8 << 10;

/// The directories on the way to a file that is about to be written, and what comes with it.
struct Surroundings<'a> {
    workspace: &'a Workspace,
    file: &'a RelPath,
    /// Files that are made together with it.
    made: &'a [&'a RelPath],
}

/// Whether a `.git` that is a directory belongs to no other one.
fn leads_nowhere(directory: &OwnedFd) -> bool {
    let own = handle::open_at(directory, GIT, handle::DIRECTORY);
    own.is_ok_and(|own| matches!(handle::find_at(own, COMMON), Ok(None)))
}

// === impl Workspace ===

impl Workspace {
    /// Says why a file is not written because of what is around it, by its real path: it would be, or
    /// become, a part of a repository. `made` are the files that are made together with it.
    pub(crate) fn protection_around(
        &self,
        file: &RelPath,
        made: &[&RelPath],
    ) -> Option<Protection> {
        let surroundings = Surroundings { workspace: self, file, made };
        surroundings.is_in_repository().then_some(Protection::Metadata)
    }
}

// === impl Surroundings ===

impl Surroundings<'_> {
    fn is_in_repository(&self) -> bool {
        let mut path = RelPath::root();
        let mut held = handle::open_at(&self.workspace.directory, ".", handle::DIRECTORY).ok();
        for name in self.file.components() {
            if self.is_repository(held.as_ref(), &path) {
                return true;
            }
            if held.as_ref().is_some_and(|directory| self.is_pointed_to(directory, &path, name)) {
                return true;
            }
            let Ok(below) = path.join(name) else { return false };
            held = held.and_then(|held| handle::open_at(held, name, handle::DIRECTORY).ok());
            path = below;
        }
        false
    }

    /// Whether git would take a directory for its own, once the file is written.
    fn is_repository(&self, directory: Option<&OwnedFd>, path: &RelPath) -> bool {
        let has = |name: &str| {
            let is_there = directory
                .is_some_and(|held| handle::find_at(held, name).is_ok_and(|found| found.is_some()));
            let made = || path.join(name).is_ok_and(|path| self.is_made(&path));
            is_there || made()
        };
        has(HEAD) && (PARTS.iter().all(|part| has(part)) || has(COMMON))
    }

    fn is_made(&self, path: &RelPath) -> bool {
        is_within(self.file, path) || self.made.iter().any(|made| is_within(made, path))
    }

    /// Whether the file lies in what the `.git` of a directory leads to: where that is a file or a link,
    /// and where it says that it belongs to another repository. `name` is the next one on the way to the file.
    fn is_pointed_to(&self, directory: &OwnedFd, path: &RelPath, name: &str) -> bool {
        let Ok(Some(found)) = handle::find_at(directory, GIT) else { return false };
        if found.kind == EntryKind::Directory && leads_nowhere(directory) {
            // As nearly every one: all that is left to know is whether it is on the way.
            let next = handle::find_at(directory, name);
            return matches!(next, Ok(Some(next)) if next.identity == found.identity);
        }
        let Ok(pointer) = path.join(GIT) else { return false };
        let mut own = self.real(pointer);
        if is_within(self.file, &own) {
            return true;
        }
        if let Some(text) = self.text(&own) {
            // What it names is meant from where git found it, not from where a link led.
            let named = text.strip_prefix("gitdir:").and_then(|text| self.named(path, text.trim()));
            let Some(named) = named else { return false };
            own = self.real(named);
        }
        let common = || {
            let text = self.text(&own.join(COMMON).ok()?)?;
            Some(self.real(self.named(&own, text.trim_end_matches(['\r', '\n']))?))
        };
        is_within(self.file, &own) || common().is_some_and(|common| is_within(self.file, &common))
    }

    /// What does not exist yet is protected by the path at which it would be made.
    fn real(&self, path: RelPath) -> RelPath {
        self.workspace.resolve(&path).map_or(path, |found| found.path)
    }

    /// The text of a file that leads somewhere, after all links; none for what is no such file.
    fn text(&self, path: &RelPath) -> Option<String> {
        let place = self.workspace.existing(path).ok()?;
        if place.stat.kind != EntryKind::File {
            return None;
        }
        let fd = self.workspace.open_place(&place, handle::READ).ok()?;
        String::from_utf8(handle::read_to(&fd, POINTER_BYTES_MAX, Patience::Wait).ok()?).ok()
    }

    /// The path that a file names, from a directory.
    fn named(&self, directory: &RelPath, target: &str) -> Option<RelPath> {
        if target.starts_with('/') {
            return self.workspace.path(target).ok();
        }
        let mut names: Vec<&str> = directory.components().collect();
        for name in target.split('/') {
            match name {
                "" | "." => {}
                ".." => drop(names.pop()?),
                name => names.push(name),
            }
        }
        if names.is_empty() {
            return None;
        }
        RelPath::parse(&names.join("/")).ok()
    }
}
