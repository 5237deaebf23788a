//! The index of a workspace's texts: fed with what the live tree knows, read in the background, used
//! by searches.
//!
//! It knows what the policy lets every caller read and nothing else; what a single caller may see is
//! decided again for each of its calls. Whatever it does not know is read by the search itself, so
//! that a result may be slower and never wrong.

mod reading;
mod reporting;
pub mod stored;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwap;
use jiff::Timestamp;
use moss_index::{
    DocumentMark, DocumentParts, DocumentVerdict, GramQuery, IndexBounds, IndexProblem, IndexState,
    IndexStatus, LocatedDocuments, TextIndex,
};
use moss_policy::Policy;
use moss_sdk::RelPath;
use moss_sdk::file::TextPattern;
use moss_workspace::own::OwnDir;
use moss_workspace::{
    FileMark, KnownParts, KnownText, KnownTexts, LiveTree, ScannedPaths, Workspace,
};
use tokio::sync::Notify;

use self::reading::IndexReading;

/// Most walks of which it is kept where their files are.
const LOCATED_MAX: usize = 4;

/// An index that was too large is made again where there is less text, by one part in so many.
const SHRUNK_SHARE: u64 = 20;

/// Which files an index may know.
pub trait IndexRules: Sync {
    /// The rules of this moment.
    fn policy(&self) -> Arc<Policy>;

    /// Whether they let every caller read a file, by its real path, and nobody excluded it.
    fn admits(&self, policy: &Policy, path: &RelPath) -> bool;
}

/// The index of one workspace.
#[derive(Debug)]
pub struct IndexedTexts {
    directory: PathBuf,
    disk_bytes_max: u64,
    index: ArcSwap<TextIndex>,
    reported: Mutex<ReportedTree>,
    /// There is something to read.
    has_work: Notify,
    /// When it knew all texts last.
    complete_at: Mutex<Option<Timestamp>>,
    /// Where it has the files of the last walks, by their numbers.
    located: Mutex<VecDeque<(u64, Arc<LocatedDocuments>)>>,
    /// How much text there was when it had no room for it, in bytes.
    refused_bytes: Mutex<Option<u64>>,
}

/// What was reported to the index.
#[derive(Debug, Default)]
struct ReportedTree {
    /// Up to which change of the tree.
    generation: u64,
    /// By the rules of which policy.
    policy: Option<Arc<Policy>>,
}

/// Removes what is stored of the texts of a workspace; returns how much that was, in bytes.
///
/// # Errors
///
/// Where a daemon keeps it, or it cannot be removed.
pub fn clear(directory: &Path) -> Result<u64, IndexProblem> {
    let index = opened(directory, u64::MAX)?;
    let before_bytes = index.status().disk_bytes;
    index.clear();
    match index.status().state {
        IndexState::Off(problem) => Err(problem),
        IndexState::Building | IndexState::Ready => Ok(before_bytes),
    }
}

fn opened(directory: &Path, disk_bytes: u64) -> Result<TextIndex, moss_workspace::Error> {
    let bounds = IndexBounds { disk_bytes, ..IndexBounds::default() };
    Ok(TextIndex::open(Box::new(OwnDir::create(directory)?), bounds))
}

fn mark(mark: &FileMark) -> DocumentMark {
    let modified = mark.modified.duration_since(std::time::UNIX_EPOCH);
    // Times before that are as good as any: size, change and number distinguish files, too.
    let modified = modified.unwrap_or_default();
    DocumentMark {
        size_bytes: mark.size_bytes,
        modified: (modified.as_secs().cast_signed(), i64::from(modified.subsec_nanos())),
        changed: (mark.changed.0, i64::from(mark.changed.1)),
        inode: mark.identity.inode,
    }
}

fn known_parts(parts: DocumentParts) -> KnownParts {
    let (count, numbers) = (parts.count, parts.numbers.clone());
    KnownParts { count, numbers, are_of: Box::new(move |found| parts.are_of(&mark(found))) }
}

// === impl IndexedTexts ===

impl IndexedTexts {
    /// Opens the index in a directory of its own, in which it may take so many bytes.
    ///
    /// # Errors
    ///
    /// Where there can be no such directory.
    pub fn open(directory: PathBuf, disk_bytes_max: u64) -> Result<Self, moss_workspace::Error> {
        let index = opened(&directory, disk_bytes_max)?;
        Ok(Self {
            directory,
            disk_bytes_max,
            index: ArcSwap::from_pointee(index),
            reported: Mutex::default(),
            has_work: Notify::new(),
            complete_at: Mutex::default(),
            located: Mutex::default(),
            refused_bytes: Mutex::default(),
        })
    }

    /// Says what is known of the texts of files, in their order, for a search for a pattern: nothing
    /// where each has to be read.
    pub fn known(
        &self,
        (tree, rules): (&LiveTree, &dyn IndexRules),
        pattern: &TextPattern,
        scanned: &ScannedPaths<'_>,
        cancelled: &dyn Fn() -> bool,
    ) -> KnownTexts {
        let query = GramQuery::of_pattern(&pattern.expression, pattern.case_sensitive);
        let query = if pattern.spans_lines { query } else { query.within_lines() };
        if query.accepts_every_text() || !self.follow_search(tree, rules, cancelled) {
            return KnownTexts::default();
        }
        let known = |verdict| match verdict {
            DocumentVerdict::MayMatch => KnownText::Unknown,
            DocumentVerdict::MayMatchInParts => KnownText::InParts,
            DocumentVerdict::CannotMatch => KnownText::Uninteresting,
            DocumentVerdict::Binary => KnownText::Binary,
        };
        let paths = || scanned.real_paths();
        let located = self.find_located(scanned.number());
        let index = self.index.load();
        let asked = index.verdicts_located(&query, located, paths);
        if index.has_pending() {
            // Nothing reports those of a segment that turned out to be damaged.
            self.has_work.notify_one();
        }
        let Some(found) = asked else { return KnownTexts::default() };
        self.keep_located(scanned.number(), found.located);
        KnownTexts {
            files: found.verdicts.into_iter().map(known).collect(),
            parts: found.parts.into_iter().map(known_parts).collect(),
        }
    }

    /// Returns where the files of a walk were the last time.
    fn find_located(&self, number: Option<u64>) -> Option<Arc<LocatedDocuments>> {
        let number = number?;
        let kept = self.located.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.iter().find(|(known, _)| *known == number);
        found.map(|(_, located)| Arc::clone(located))
    }

    fn keep_located(&self, number: Option<u64>, located: Arc<LocatedDocuments>) {
        let Some(number) = number else { return };
        let mut kept = self.located.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(known, _)| *known != number);
        kept.push_back((number, located));
        if kept.len() > LOCATED_MAX {
            kept.pop_front();
        }
    }

    /// Waits until there is something to read.
    pub async fn wait_for_work(&self) {
        self.has_work.notified().await;
    }

    /// Has the index looked at again soon: its rules are others by now.
    pub fn note_work(&self) {
        self.has_work.notify_one();
    }

    /// Reads what the index does not know yet. May take long.
    pub fn settle(
        &self,
        files: &Workspace,
        rules: &dyn IndexRules,
        cancelled: &(dyn Fn() -> bool + Sync),
    ) {
        let reading = IndexReading { files, rules, policy: rules.policy(), cancelled };
        if self.index.load().settle(&reading, cancelled) {
            *self.complete_at.lock().unwrap_or_else(PoisonError::into_inner) =
                Some(Timestamp::now());
        }
    }

    /// Keeps for the next daemon what is only in memory.
    pub fn persist(&self) {
        self.index.load().persist();
    }

    /// Forgets everything, on disk as well, and begins anew.
    ///
    /// # Errors
    ///
    /// Where it was off and cannot be opened again.
    pub fn rebuild(&self) -> Result<(), moss_workspace::Error> {
        let mut reported = self.reported();
        let index = self.index.load_full();
        match index.status().state {
            IndexState::Off(_) => {
                let anew = opened(&self.directory, self.disk_bytes_max)?;
                anew.clear();
                self.index.store(Arc::new(anew));
            }
            IndexState::Building | IndexState::Ready => index.clear(),
        }
        *reported = ReportedTree::default();
        *self.refused_bytes.lock().unwrap_or_else(PoisonError::into_inner) = None;
        drop(reported);
        self.note_work();
        Ok(())
    }

    /// Why it is off. All of that may pass: another daemon has it, the system lacked or lost something, or there was
    /// too much text.
    pub fn passing_problem(&self) -> Option<IndexProblem> {
        self.index.load().off_problem()
    }

    /// Keeps how much text there is, where the index has no room for it.
    pub fn note_refused(&self, text_bytes: &dyn Fn() -> u64) {
        let mut refused = self.refused_bytes.lock().unwrap_or_else(PoisonError::into_inner);
        if refused.is_none()
            && matches!(self.passing_problem(), Some(IndexProblem::TooLarge { .. }))
        {
            *refused = Some(text_bytes());
        }
    }

    /// Whether there is clearly less text than the index had no room for.
    fn has_shrunk(&self, text_bytes: &dyn Fn() -> u64) -> bool {
        let mut refused = self.refused_bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let has_shrunk = refused.is_none_or(|was| text_bytes() < was - was / SHRUNK_SHARE);
        if has_shrunk {
            *refused = None;
        }
        has_shrunk
    }

    /// Opens it again where it is off; where there was too much text, once there is less. May wait for disks.
    pub fn reopen(&self, text_bytes: &dyn Fn() -> u64) {
        let mut reported = self.reported();
        match self.passing_problem() {
            None => return,
            Some(IndexProblem::TooLarge { .. }) if !self.has_shrunk(text_bytes) => return,
            Some(_) => {}
        }
        let Ok(anew) = opened(&self.directory, self.disk_bytes_max) else { return };
        if matches!(anew.status().state, IndexState::Off(_)) {
            return;
        }
        self.index.store(Arc::new(anew));
        *reported = ReportedTree::default();
        drop(reported);
        self.note_work();
    }

    /// Removes indexes of other workspaces where all of them take too much.
    pub fn make_room(&self) {
        match stored::keep_within(&self.directory, self.disk_bytes_max) {
            Ok(0) => {}
            Ok(removed_bytes) => tracing::info!(removed_bytes, "indexes of other workspaces went"),
            Err(error) => tracing::warn!(%error, "indexes of other workspaces cannot be removed"),
        }
    }

    /// Says how it is doing, and when it knew all texts last.
    pub fn status(&self) -> (IndexStatus, Option<Timestamp>) {
        let complete_at = *self.complete_at.lock().unwrap_or_else(PoisonError::into_inner);
        let mut status = self.index.load().status();
        let located = self.located.lock().unwrap_or_else(PoisonError::into_inner);
        let of_located: usize = located.iter().map(|(_, located)| located.memory_bytes()).sum();
        status.memory_bytes += of_located as u64;
        (status, complete_at)
    }

    fn reported(&self) -> MutexGuard<'_, ReportedTree> {
        self.reported.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
