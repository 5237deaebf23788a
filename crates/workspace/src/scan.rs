//! Which texts there are beneath a directory: a walk on several threads, with the same result on
//! any number of them.
//!
//! Directories are what threads take turns at. Each is opened in the held directory above it,
//! without links and on the same mount; what is waiting holds that one, and the next to be taken is
//! the one that was found last, so that no more directories are held than the tree is deep, for
//! every thread. What is counted and in which order files come is settled afterwards, by going over
//! what was found in path order.

mod directory;
mod draft;
mod order;
mod sharing;

use std::collections::{BTreeSet, HashMap};
use std::os::fd::OwnedFd;
use std::sync::Arc;

use moss_sdk::RelPath;
use moss_sdk::file::SkippedTexts;
use moss_sdk::ranking::PathRank;
use rustix::io::Errno;

pub(crate) use self::directory::ScannedDirectory;
pub(crate) use self::draft::TreeDraft;
use self::sharing::ScanSharing;
use crate::error::Error;
use crate::gate::VisitGate;
use crate::ignoring::IgnoreRules;
use crate::root::Workspace;

/// How the root of a workspace is written.
const ROOT: &str = ".";

/// What a scan looks for.
#[derive(Clone, Copy)]
pub(crate) struct ScanTerms<'a> {
    pub(crate) gate: VisitGate<'a>,
    /// Whether a file is wanted, by the path that it is shown under.
    pub(crate) wants: &'a (dyn Fn(&RelPath) -> bool + Sync),
    /// Most entries to look at.
    pub(crate) entries_max: usize,
}

/// The files that may be read, and what was left out.
#[derive(Debug)]
pub(crate) struct ScannedTree {
    directories: Vec<Option<ScannedDirectory>>,
    /// In the order of search results.
    files: Vec<ScannedFile>,
    pub(crate) skipped: SkippedTexts,
    /// Whether a bound on entries left some out.
    pub(crate) truncated: bool,
}

/// A file: which of the directories holds it, and which of its entries it is.
#[derive(Debug, Clone, Copy)]
struct ScannedFile {
    directory: u32,
    entry: u32,
}

/// A directory that is still to be read.
struct DirectoryTask {
    at: TaskStart,
    /// Its path as the caller named it, and after all links.
    shown: RelPath,
    real: RelPath,
    /// What the names of the directories say of the files in it.
    rank: PathRank,
    /// The rules of the directories above it.
    above: Arc<IgnoreRules>,
}

/// How a directory is opened.
enum TaskStart {
    /// By itself: whoever made the task has opened it.
    Open(OwnedFd),
    /// By its name in another, which is held.
    Beneath(Arc<OwnedFd>, String),
}

// === impl Workspace ===

impl Workspace {
    /// Finds the files beneath a directory that are wanted and may be read.
    pub(crate) fn scan(
        &self,
        directory: &RelPath,
        terms: ScanTerms<'_>,
    ) -> Result<ScannedTree, Error> {
        let (place, fd) = self.open_directory(directory)?;
        self.check_not_own(directory, &place.path)?;
        let above = self.rules_above(&place)?;
        let rank = rank_beneath(directory);
        let task = DirectoryTask {
            at: TaskStart::Open(fd),
            shown: directory.clone(),
            real: place.path,
            rank,
            above,
        };
        let failed = |errno| match errno {
            Errno::CANCELED => Error::Cancelled,
            errno => Error::io(directory, "list", errno),
        };
        let (first, beneath) = self.scan_directory(task, terms).map_err(failed)?;
        let sharing = ScanSharing::new(self, terms, first, beneath);
        sharing.run()?;
        sharing.into_tree()
    }
}

/// What the names of a directory and of those above it say of the files in it.
pub(crate) fn rank_beneath(directory: &RelPath) -> PathRank {
    directory.components().map(PathRank::of_directory).fold(PathRank::Source, PathRank::max)
}

// === impl ScannedTree ===

impl ScannedTree {
    /// How many files there are.
    pub(crate) fn len(&self) -> usize {
        self.files.len()
    }

    /// Returns a file by its number in the order: which directory holds it, and its name there.
    pub(crate) fn file(&self, at: usize) -> (u32, &str) {
        let ScannedFile { directory, entry } = self.files[at];
        (directory, self.directory(directory).name(entry))
    }

    /// Returns the real paths of the files, in the order.
    pub(crate) fn real_paths(&self) -> impl Iterator<Item = RelPath> {
        (0..self.len()).map_while(|at| {
            let (directory, name) = self.file(at);
            self.directory(directory).real.join(name).ok()
        })
    }

    /// Returns which files of the order have some real paths.
    pub(crate) fn positions(&self, paths: &[RelPath]) -> BTreeSet<usize> {
        let mut wanted: HashMap<&str, Vec<&str>> = HashMap::new();
        for path in paths {
            if let Some(name) = path.file_name() {
                let parent = path.as_str().rsplit_once('/').map_or(ROOT, |(parent, _)| parent);
                wanted.entry(parent).or_default().push(name);
            }
        }
        let holding = (0..).zip(&self.directories).filter_map(|(number, directory)| {
            Some((number, wanted.get(directory.as_ref()?.real.as_str())?))
        });
        let holding: HashMap<u32, &Vec<&str>> = holding.collect();
        let is_meant = |at: &usize| {
            let (directory, name) = self.file(*at);
            holding.get(&directory).is_some_and(|names| names.contains(&name))
        };
        match holding.is_empty() {
            true => BTreeSet::new(),
            false => (0..self.len()).filter(is_meant).collect(),
        }
    }

    /// Returns a directory that holds a file.
    pub(crate) fn directory(&self, number: u32) -> &ScannedDirectory {
        let directory = &self.directories[number as usize];
        directory.as_ref().expect("the directory of a file was read")
    }
}
