//! Reading texts for the index: by several at once, a question among them, and never an old content
//! over a newer one.

use std::sync::{Arc, PoisonError};
use std::time::Instant;

use moss_ranking::TextAnalyzer;
use moss_sdk::RelPath;
use moss_workspace::FileMark;

use super::{RankedSources, RankedTexts, RankedWork, TEXT_BYTES_MAX};

/// Most threads that read at once for one who waits.
const THREADS_MAX: usize = 8;
/// Fewer texts are read by one thread: others take longer to start.
const SHARED_MIN: usize = 16;
/// So many texts are taken at once.
const BATCH: usize = 8;

/// Counts what is asked for: what was asked for later is newer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ReadStamp(pub(super) u64);

/// A text that is being read.
struct TakenText {
    path: RelPath,
    stamp: ReadStamp,
    unsaved: Option<Arc<str>>,
}

/// Gives back what was taken where reading panics, so that nobody waits for it.
struct GiveBack<'a>(&'a RankedTexts, usize);

// === impl RankedTexts ===

impl RankedTexts {
    /// Reads what is pending, on several threads where it is much, up to an instant.
    pub(super) fn read_all(&self, sources: RankedSources<'_>, until: Option<Instant>) {
        let pending = self.lock().pending.len();
        let available = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = if pending < SHARED_MIN { 1 } else { available.min(THREADS_MAX) };
        std::thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(|| self.read_some(sources, until));
            }
            self.read_some(sources, until);
        });
    }

    fn read_some(&self, sources: RankedSources<'_>, until: Option<Instant>) {
        let (mut analyzer, mut buffer) = (TextAnalyzer::default(), Vec::new());
        loop {
            let is_over = until.is_some_and(|until| Instant::now() >= until);
            if is_over || (sources.cancelled)() {
                return;
            }
            let taken = self.lock().take();
            if taken.is_empty() {
                return;
            }
            let _give_back = GiveBack(self, taken.len());
            for text in taken {
                self.read_one(sources, &text, &mut analyzer, &mut buffer);
            }
        }
    }

    fn read_one(
        &self,
        sources: RankedSources<'_>,
        taken: &TakenText,
        analyzer: &mut TextAnalyzer,
        buffer: &mut Vec<u8>,
    ) {
        let TakenText { path, stamp, unsaved } = taken;
        if let Some(text) = unsaved {
            return self.put(taken, None, Some(text), analyzer);
        }
        let policy = sources.rules.policy();
        if !sources.rules.admits(&policy, path) {
            return self.put(taken, None, None, analyzer);
        }
        let bytes_max = sources.files.limits().edit_bytes_max;
        let read = sources.files.read_plain((path, bytes_max), buffer, sources.cancelled);
        if matches!(read.text, Err(moss_workspace::PlainProblem::Cancelled)) {
            let mut work = self.lock();
            let is_latest = work.known.get(path).is_some_and(|known| known.stamp == *stamp);
            if is_latest {
                work.pending.insert(path.clone(), *stamp);
            }
            return;
        }
        let mark = read.mark;
        self.put(taken, mark, read.text.ok().as_deref(), analyzer);
    }

    /// Takes what was read, unless something newer was asked for meanwhile.
    fn put(
        &self,
        taken: &TakenText,
        mark: Option<FileMark>,
        text: Option<&str>,
        analyzer: &mut TextAnalyzer,
    ) {
        let size = text.map_or(0, |text| text.len() as u64);
        let has_room = self.lock().has_room(&taken.path, size);
        let analyzed = text.filter(|_| has_room).map(|text| analyzer.analyze(&taken.path, text));
        let mut work = self.lock();
        let Some(known) =
            work.known.get_mut(&taken.path).filter(|known| known.stamp == taken.stamp)
        else {
            return;
        };
        let before = std::mem::replace(&mut known.bytes, if has_room { size } else { 0 });
        known.mark = mark;
        let after = known.bytes;
        work.bytes = work.bytes + after - before;
        // While the lock is held nothing newer can come before.
        let mut index = self.index.write().unwrap_or_else(PoisonError::into_inner);
        match analyzed {
            Some(analyzed) => index.put(&analyzed),
            None => {
                index.remove(&taken.path);
            }
        }
    }
}

// === impl RankedWork ===

impl RankedWork {
    fn take(&mut self) -> Vec<TakenText> {
        let mut taken = Vec::new();
        while taken.len() < BATCH
            && let Some((path, stamp)) = self.pending.pop_first()
        {
            let unsaved = self.known.get(&path).and_then(|known| known.unsaved.clone());
            taken.push(TakenText { path, stamp, unsaved });
        }
        self.reading += taken.len();
        taken
    }

    fn has_room(&self, path: &RelPath, size: u64) -> bool {
        let own = self.known.get(path).map_or(0, |known| known.bytes);
        self.bytes - own + size <= TEXT_BYTES_MAX
    }
}

impl Drop for GiveBack<'_> {
    fn drop(&mut self) {
        self.0.lock().reading -= self.1;
        self.0.done.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_while_all_is_cleared_is_counted_until_then_and_not_put() {
        let (texts, path) = (RankedTexts::default(), RelPath::parse("a.rs").unwrap());
        texts.lock().ask(&path, None);
        let taken = texts.lock().take();
        let give_back = GiveBack(&texts, taken.len());
        texts.clear();
        assert_eq!(texts.lock().unread(), 1);
        texts.put(&taken[0], None, Some("fn a() {}"), &mut TextAnalyzer::default());
        drop(give_back);
        assert_eq!(texts.lock().unread(), 0);
        assert_eq!(texts.status().size.texts, 0);
    }
}
