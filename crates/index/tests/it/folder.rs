//! Documents in memory, and what an index over them has to answer.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use moss_index::{
    DocumentChange, DocumentContent, DocumentMark, DocumentSource, DocumentVerdict, Gram,
    GramCollector, GramQuery, IndexBounds, IndexStore, LocatedDocuments, ReadDocument, TextIndex,
};
use moss_sdk::RelPath;

/// What a document holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Content {
    Words(String),
    Bytes,
    Closed,
}

/// A folder in memory: documents by path, with their marks.
#[derive(Debug, Default)]
pub(crate) struct Folder {
    documents: BTreeMap<String, (DocumentMark, Content)>,
    clock: i64,
    /// How many documents were read.
    pub(crate) reads: AtomicUsize,
    /// The grams of pieces of text: most are asked for again and again.
    known: Mutex<HashMap<String, Arc<HashSet<Gram>>>>,
    /// Where an index had some documents when it was asked last.
    located: Mutex<Option<(Vec<String>, Arc<LocatedDocuments>)>>,
}

pub(crate) fn path(text: &str) -> RelPath {
    RelPath::parse(text).expect("a path")
}

/// Bounds that are reached by little.
pub(crate) fn small_bounds() -> IndexBounds {
    IndexBounds {
        threads: 2,
        reading_grams: 400,
        overlay_grams: 40,
        part_bytes: 16,
        part_grams: 200,
        document_grams: usize::MAX,
        cache_bytes: 2_000,
        segments: 3,
        disk_bytes: u64::MAX,
    }
}

pub(crate) fn open(store: &(impl IndexStore + Clone + 'static)) -> TextIndex {
    TextIndex::open(Box::new(store.clone()), small_bounds())
}

pub(crate) fn never() -> bool {
    false
}

// === impl Folder ===

impl Folder {
    /// Writes a document, with a mark that no other has.
    pub(crate) fn write(&mut self, name: &str, content: Content) -> DocumentChange {
        self.clock += 1;
        let time = (self.clock, 0);
        let mark = DocumentMark { size_bytes: 1, modified: time, changed: time, inode: 1 };
        self.write_marked(name, mark, content)
    }

    /// Writes a document with a mark of the test's.
    pub(crate) fn write_marked(
        &mut self,
        name: &str,
        mark: DocumentMark,
        content: Content,
    ) -> DocumentChange {
        self.documents.insert(name.to_owned(), (mark, content));
        DocumentChange::Present(path(name), mark)
    }

    pub(crate) fn write_text(&mut self, name: &str, text: &str) -> DocumentChange {
        self.write(name, Content::Words(text.to_owned()))
    }

    pub(crate) fn remove(&mut self, name: &str) -> DocumentChange {
        self.documents.remove(name);
        DocumentChange::Gone(path(name))
    }

    pub(crate) fn content(&self, name: &str) -> Option<&Content> {
        self.documents.get(name).map(|(_, content)| content)
    }

    pub(crate) fn listing(&self) -> Vec<(RelPath, DocumentMark)> {
        self.documents.iter().map(|(name, (mark, _))| (path(name), *mark)).collect()
    }

    pub(crate) fn reads(&self) -> usize {
        self.reads.load(Ordering::Relaxed)
    }

    /// The names of the documents of which an index says that they may match a pattern.
    pub(crate) fn asked(&self, index: &TextIndex, pattern: &str) -> Vec<String> {
        self.asked_query(index, &GramQuery::of_pattern(pattern, false))
    }

    /// The names of the documents of which an index says that they may match a query.
    pub(crate) fn asked_query(&self, index: &TextIndex, query: &GramQuery) -> Vec<String> {
        let paths = self.documents.keys().map(|name| path(name));
        // With what was looked up for an earlier question, by this index or the one before.
        let names: Vec<String> = self.documents.keys().cloned().collect();
        let mut kept = self.located.lock().expect("no test panics with it");
        let earlier = kept.take().filter(|(known, _)| *known == names).map(|(_, located)| located);
        let asked = index.verdicts_located(query, earlier, || paths);
        let found = asked.expect("the index answers");
        *kept = Some((names, found.located));
        drop(kept);
        let named = self.documents.keys().zip(found.verdicts);
        let may = [DocumentVerdict::MayMatch, DocumentVerdict::MayMatchInParts];
        let may_match = named.filter(|(_, verdict)| may.contains(verdict));
        may_match.map(|(name, _)| name.clone()).collect()
    }

    /// The names of the documents that meet the query of a pattern, and of those that cannot be read.
    pub(crate) fn expected(&self, pattern: &str) -> Vec<String> {
        self.expected_query(&GramQuery::of_pattern(pattern, false))
    }

    /// The names of the documents that meet a query, and of those that cannot be read.
    pub(crate) fn expected_query(&self, query: &GramQuery) -> Vec<String> {
        self.expected_pieces(query, &|text| vec![text])
    }

    /// As [`Folder::expected_query`], of documents with a line that meets it.
    pub(crate) fn expected_lines(&self, query: &GramQuery) -> Vec<String> {
        self.expected_pieces(query, &|text| text.split_inclusive('\n').collect())
    }

    fn expected_pieces(
        &self,
        query: &GramQuery,
        pieces: &dyn Fn(&str) -> Vec<&str>,
    ) -> Vec<String> {
        let meets = |content: &Content| match content {
            Content::Words(text) => pieces(text).into_iter().any(|piece| {
                let grams = self.grams(piece);
                grams.len() > small_bounds().part_grams
                    || query.accepts(&|gram| grams.contains(&gram))
            }),
            Content::Bytes => false,
            Content::Closed => true,
        };
        let meeting = self.documents.iter().filter(|(_, (_, content))| meets(content));
        meeting.map(|(name, _)| name.clone()).collect()
    }

    fn grams(&self, piece: &str) -> Arc<HashSet<Gram>> {
        let mut known = self.known.lock().expect("no test panics with it");
        if let Some(grams) = known.get(piece) {
            return Arc::clone(grams);
        }
        let mut collector = GramCollector::new();
        let grams: HashSet<Gram> = collector.collect(piece.as_bytes()).iter().copied().collect();
        let grams = Arc::new(grams);
        known.insert(piece.to_owned(), Arc::clone(&grams));
        grams
    }
}

impl DocumentSource for Folder {
    fn read<'b>(&self, path: &RelPath, buffer: &'b mut Vec<u8>) -> ReadDocument<'b> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        let Some((mark, content)) = self.documents.get(path.as_str()) else {
            return ReadDocument { mark: None, content: DocumentContent::Unread };
        };
        let content = match content {
            Content::Words(text) => {
                buffer.clear();
                buffer.extend(text.as_bytes());
                DocumentContent::Text(String::from_utf8_lossy(buffer))
            }
            Content::Bytes => DocumentContent::Binary,
            Content::Closed => DocumentContent::Unread,
        };
        ReadDocument { mark: Some(*mark), content }
    }
}
