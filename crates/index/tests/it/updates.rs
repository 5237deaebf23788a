//! An index that is told of changes answers as one that is built anew.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use moss_index::{
    DocumentChange, DocumentContent, DocumentMark, DocumentSource, DocumentVerdict, GramQuery,
    IndexBounds, IndexProblem, IndexState, IndexStore, ReadDocument, TextIndex,
};
use moss_sdk::RelPath;
use proptest::prelude::*;
use proptest::test_runner::Config;

use crate::folder::{Content, Folder, never, open, path, small_bounds};
use crate::shelf::MemoryShelf;

/// Patterns that ask for something, in words of the texts.
const PATTERNS: [&str; 12] = [
    "alpha",
    "beta|gamma",
    "alpha.*beta",
    "delta",
    "epsilon",
    "alphabeta",
    "nowhere",
    "gam",
    "(alpha|beta) gamma",
    "betabeta",
    "phaga",
    "ta al",
];

static QUERIES: LazyLock<Vec<(&str, GramQuery)>> = LazyLock::new(|| {
    PATTERNS.iter().map(|pattern| (*pattern, GramQuery::of_pattern(pattern, false))).collect()
});

/// So many documents are removed at once: each with a pass over all would take minutes.
const MANY: usize = 60_000;

/// What happens to a folder and its index.
#[derive(Debug, Clone)]
enum Happening {
    Write(u8, Content),
    /// The same text again, with another mark.
    Touch(u8),
    Rename(u8, u8),
    Remove(u8),
    Deny(u8),
    Settle,
    Persist,
    /// The process ends and another begins.
    Restart,
    /// All is told again.
    Sync,
    /// One goes and one comes, and what is beneath their directories is told again.
    Replace(u8, u8, Content),
}

fn texts() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "alpha", "beta", "gamma", "delta", "epsilon", "Alpha", " ", " ", "\n", "\r\n", "é",
    ]);
    let few = prop::collection::vec(words, 0..12).prop_map(|words| words.concat());
    let many = any::<u64>().prop_map(|seed| {
        let letters = (0..1_200_u64).map(|at| {
            let mixed = (seed ^ at).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58;
            char::from(b'a' + (mixed % 26) as u8)
        });
        letters.collect()
    });
    prop_oneof![9 => few, 1 => many]
}

fn contents() -> impl Strategy<Value = Content> {
    prop_oneof![
        8 => texts().prop_map(Content::Words),
        1 => Just(Content::Bytes),
        1 => Just(Content::Closed),
    ]
}

fn happenings() -> impl Strategy<Value = Vec<Happening>> {
    let names = 0..30_u8;
    let one = prop_oneof![
        8 => (names.clone(), contents()).prop_map(|(name, content)| Happening::Write(name, content)),
        2 => names.clone().prop_map(Happening::Touch),
        1 => (names.clone(), names.clone()).prop_map(|(from, to)| Happening::Rename(from, to)),
        2 => names.clone().prop_map(Happening::Remove),
        1 => names.clone().prop_map(Happening::Deny),
        4 => Just(Happening::Settle),
        1 => Just(Happening::Persist),
        1 => Just(Happening::Restart),
        1 => Just(Happening::Sync),
        2 => (names.clone(), names.clone(), contents())
            .prop_map(|(gone, new, content)| Happening::Replace(gone, new, content)),
    ];
    prop::collection::vec(one, 1..60)
}

fn directory(number: u8) -> &'static str {
    ["src", "src/deep", "tests"][usize::from(number % 3)]
}

fn name(number: u8) -> String {
    format!("{}/file{number}.rs", directory(number))
}

fn changes(folder: &mut Folder, happening: &Happening) -> Vec<DocumentChange> {
    match happening {
        Happening::Write(number, content) => vec![folder.write(&name(*number), content.clone())],
        Happening::Touch(number) => match folder.content(&name(*number)).cloned() {
            Some(content) => vec![folder.write(&name(*number), content)],
            None => Vec::new(),
        },
        Happening::Rename(from, to) => match folder.content(&name(*from)).cloned() {
            Some(content) if from != to => {
                let gone = folder.remove(&name(*from));
                vec![gone, folder.write(&name(*to), content)]
            }
            _ => Vec::new(),
        },
        Happening::Remove(number) => vec![folder.remove(&name(*number))],
        Happening::Deny(number) => {
            folder.remove(&name(*number));
            vec![DocumentChange::Denied(path(&name(*number)))]
        }
        _ => Vec::new(),
    }
}

/// Whether an index names all that match, and once it is settled nothing else.
fn check(index: &TextIndex, folder: &Folder, is_settled: bool) -> Result<(), TestCaseError> {
    for (pattern, query) in QUERIES.iter() {
        let (asked, expected) = (folder.asked_query(index, query), folder.expected_query(query));
        for name in &expected {
            prop_assert!(asked.contains(name), "{pattern} finds {name}");
        }
        if is_settled {
            prop_assert_eq!(&asked, &expected, "{}", pattern);
        }
        let within_lines = folder.asked_query(index, &query.clone().within_lines());
        for name in &folder.expected_lines(query) {
            prop_assert!(within_lines.contains(name), "{pattern} finds {name} in a line");
        }
        for name in &within_lines {
            prop_assert!(asked.contains(name), "{pattern} finds {name} in a line alone");
        }
    }
    Ok(())
}

/// Whether what is counted is what there is.
fn check_counts(index: &TextIndex, folder: &Folder) -> Result<(), TestCaseError> {
    let status = index.status();
    let documents = folder.listing();
    let content = |path: &moss_sdk::RelPath| folder.content(path.as_str()).expect("it is listed");
    let binary =
        documents.iter().filter(|(path, _)| *content(path) == Content::Bytes).count() as u64;
    prop_assert_eq!(status.documents, documents.len() as u64);
    prop_assert_eq!((status.indexed, status.binary), (status.documents, binary));
    prop_assert_eq!(status.state, IndexState::Ready);
    prop_assert_eq!(status.problem, None);
    let paths = documents.into_iter().map(|(path, _)| path);
    let verdicts = index.verdicts(&GramQuery::of_pattern("alpha", true), paths);
    let verdicts = verdicts.expect("it answers");
    let is_binary = |verdict: &&DocumentVerdict| **verdict == DocumentVerdict::Binary;
    prop_assert_eq!(verdicts.iter().filter(is_binary).count() as u64, binary);
    Ok(())
}

proptest! {
    #![proptest_config(Config { cases: 600, ..Config::default() })]

    #[test]
    fn an_index_that_is_told_of_changes_is_as_one_built_anew(happenings in happenings()) {
        let shelf = MemoryShelf::default();
        let mut folder = Folder::default();
        let mut index = open(&shelf);
        index.sync(folder.listing());
        for happening in &happenings {
            index.update(changes(&mut folder, happening));
            let mut is_settled = false;
            match happening {
                Happening::Settle => {
                    prop_assert!(index.settle(&folder, &never));
                    is_settled = true;
                }
                Happening::Persist => index.persist(),
                Happening::Sync => index.sync(folder.listing()),
                Happening::Replace(gone, new, content) => {
                    folder.remove(&name(*gone));
                    folder.write(&name(*new), content.clone());
                    let directories = [*gone, *new].map(|number| path(directory(number)));
                    let is_beneath = |path: &RelPath| {
                        let path = path.as_str();
                        directories.iter().any(|above| path.starts_with(&format!("{above}/")))
                    };
                    let listing = folder.listing().into_iter();
                    let listing: Vec<_> = listing.filter(|(path, _)| is_beneath(path)).collect();
                    index.sync_beneath(&directories.into(), listing, false);
                }
                Happening::Restart => {
                    drop(index);
                    index = open(&shelf);
                    prop_assert_eq!(index.status().problem, None);
                    prop_assert!(index.verdicts(&GramQuery::of_pattern("abc", true), []).is_none());
                    index.sync(folder.listing());
                }
                _ => {}
            }
            check(&index, &folder, is_settled)?;
        }
        prop_assert!(index.settle(&folder, &never));
        check(&index, &folder, true)?;
        check_counts(&index, &folder)?;
        prop_assert!(index.status().segments <= small_bounds().segments as u64 + 1);
    }
}

#[test]
fn what_has_its_mark_of_before_is_not_read_again() {
    let shelf = MemoryShelf::default();
    let mut folder = Folder::default();
    for number in 0..200 {
        folder.write_text(&format!("file{number}"), &format!("text of number{number}"));
    }
    folder.write("image", Content::Bytes);
    let index = open(&shelf);
    index.sync(folder.listing());
    assert!(index.settle(&folder, &never));
    index.persist();
    assert_eq!(folder.reads(), 201);
    drop(index);
    folder.write_text("file7", "another text");
    let index = open(&shelf);
    index.sync(folder.listing());
    assert_eq!(index.status().indexed, 200);
    assert!(index.settle(&folder, &never));
    assert_eq!(folder.reads(), 202);
    assert_eq!(folder.asked(&index, "another"), ["file7"]);
    assert_eq!(folder.asked(&index, "number7\\b"), folder.expected("number7\\b"));
}

#[test]
fn what_is_denied_leaves_no_trace_in_files() {
    let shelf = MemoryShelf::default();
    let mut folder = Folder::default();
    for number in 0..100 {
        folder.write_text(&format!("file{number}"), "common text of all the files");
    }
    folder.write_text("hidden.key", "xqzjk");
    let index = open(&shelf);
    index.sync(folder.listing());
    assert!(index.settle(&folder, &never));
    index.persist();
    let has = |part: &str| {
        let has = |bytes: &[u8]| bytes.windows(part.len()).any(|some| some == part.as_bytes());
        shelf.files().values().any(|file| has(file))
    };
    assert!(has("hidden.key"));
    folder.remove("hidden.key");
    index.update([DocumentChange::Denied(path("hidden.key"))]);
    assert!(index.settle(&folder, &never));
    assert!(!has("hidden.key"));
    assert_eq!(folder.asked(&index, "xqzjk"), [""; 0]);
    // Also where it is denied while no process has the index.
    folder.write_text("other.key", "xqzjk");
    index.sync(folder.listing());
    assert!(index.settle(&folder, &never));
    index.persist();
    assert!(has("other.key"));
    drop(index);
    folder.remove("other.key");
    let index = open(&shelf);
    index.sync(folder.listing());
    assert!(index.settle(&folder, &never));
    assert!(!has("other.key"));
}

#[test]
fn what_is_denied_leaves_no_trace_of_how_it_was_before() {
    let shelf = MemoryShelf::default();
    let mut folder = Folder::default();
    for number in 0..100 {
        folder.write_text(&format!("file{number}"), "common text of all the files");
    }
    folder.write_text("hidden.key", "xqzjk");
    let index = TextIndex::open(Box::new(shelf.clone()), IndexBounds::default());
    index.sync(folder.listing());
    assert!(index.settle(&folder, &never));
    index.persist();
    // It is in memory alone by now, and as it was in a file.
    index.update([folder.write_text("hidden.key", "another text")]);
    assert!(index.settle(&folder, &never));
    let has = || {
        let files = shelf.files();
        files.values().any(|bytes| bytes.windows(10).any(|some| some == b"hidden.key"))
    };
    assert!(has());
    folder.remove("hidden.key");
    index.update([DocumentChange::Denied(path("hidden.key"))]);
    assert!(index.settle(&folder, &never));
    assert!(!has());
}

#[test]
fn a_text_of_more_trigrams_than_are_held_is_looked_at_by_every_search() {
    let shelf = MemoryShelf::default();
    let bounds = IndexBounds { document_grams: 100, ..small_bounds() };
    let index = TextIndex::open(Box::new(shelf.clone()), bounds);
    let mut folder = Folder::default();
    let lines = |count: u8| {
        let lines = (0..count).map(|at| format!("{}{at} of lines\n", char::from(b'a' + at % 26)));
        lines.collect::<String>()
    };
    folder.write_text("few", &lines(4));
    folder.write_text("many", &lines(60));
    index.sync(folder.listing());
    assert!(index.settle(&folder, &never));
    assert_eq!(folder.asked(&index, "nowhere"), ["many"]);
    assert!(!index.has_pending());
}

#[test]
fn a_second_index_of_a_directory_stands_aside() {
    let shelf = MemoryShelf::default();
    let mut folder = Folder::default();
    folder.write_text("file", "some text");
    let first = open(&shelf);
    let second = open(&shelf);
    assert_eq!(second.status().state, IndexState::Off(IndexProblem::Busy));
    for index in [&first, &second] {
        index.sync(folder.listing());
        index.settle(&folder, &never);
    }
    assert_eq!(folder.asked(&first, "some"), ["file"]);
    assert_eq!(second.verdicts(&GramQuery::of_pattern("some", true), []), None);
    drop(first);
    assert_eq!(open(&shelf).status().state, IndexState::Building);
}

#[test]
fn an_index_without_space_is_off_and_leaves_nothing() {
    for space in (0..3_000).step_by(7) {
        let shelf = MemoryShelf::with_space(space);
        let mut folder = Folder::default();
        for number in 0..40 {
            folder.write_text(&format!("file{number}"), &format!("text of number{number}"));
        }
        let index = open(&shelf);
        index.sync(folder.listing());
        index.settle(&folder, &never);
        index.persist();
        let query = GramQuery::of_pattern("number7\\b", true);
        match index.status().state {
            IndexState::Off(problem) => {
                assert!(matches!(problem, IndexProblem::NoSpace { .. }), "{problem}");
                assert_eq!(index.verdicts(&query, []), None);
                assert!(shelf.files().is_empty());
            }
            _ => assert_eq!(folder.asked(&index, "number7\\b"), folder.expected("number7\\b")),
        }
    }
}

#[test]
fn a_cancelled_index_answers_and_goes_on_later() {
    let shelf = MemoryShelf::default();
    let mut folder = Folder::default();
    for number in 0..300 {
        folder.write_text(&format!("file{number}"), &format!("text of number{number}"));
    }
    let index = open(&shelf);
    index.sync(folder.listing());
    assert!(!index.settle(&folder, &|| folder.reads() > 100));
    assert_eq!(index.status().state, IndexState::Building);
    let asked = folder.asked(&index, "number299");
    assert!(asked.contains(&"file299".to_owned()) && asked.len() < 300);
    assert!(index.settle(&folder, &never));
    assert_eq!(folder.asked(&index, "number299"), ["file299"]);
    index.clear();
    assert_eq!(index.verdicts(&GramQuery::of_pattern("text", true), []), None);
    assert_eq!(shelf.files().len(), 1);
}

#[test]
fn who_asks_while_it_settles_misses_nothing() {
    let shelf = MemoryShelf::default();
    let mut folder = Folder::default();
    for number in 0..50 {
        folder.write_text(&format!("kept{number}"), &format!("lasting number{number}"));
    }
    let index = open(&shelf);
    index.sync(folder.listing());
    let has_ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let query = GramQuery::of_pattern("lasting", false);
                while !has_ended.load(Ordering::Relaxed) {
                    let paths = (0..50).map(|number| path(&format!("kept{number}")));
                    let verdicts = index.verdicts(&query, paths).expect("it answers");
                    assert!(verdicts.iter().all(|one| *one == DocumentVerdict::MayMatch));
                }
            });
        }
        for round in 0..300 {
            let name = format!("other{}", round % 40);
            index.update([folder.write_text(&name, &format!("passing text of round{round}"))]);
            let kept = format!("kept{}", round % 50);
            index.update([folder.write_text(&kept, &format!("lasting again{round}"))]);
            assert!(index.settle(&folder, &never));
        }
        has_ended.store(true, Ordering::Relaxed);
    });
    assert_eq!(index.status().problem, None);
    assert_eq!(folder.asked(&index, "lasting").len(), 50);
}

#[test]
fn a_file_that_changed_just_before_it_was_read_is_read_again() {
    let mut folder = Folder::default();
    folder.write_text("settled", "some text");
    let future =
        DocumentMark { size_bytes: 1, modified: (i64::MAX, 0), changed: (i64::MAX, 0), inode: 1 };
    folder.write_marked("unsettled", future, Content::Words("some text".to_owned()));
    let index = open(&MemoryShelf::default());
    index.sync(folder.listing());
    assert!(index.settle(&folder, &never));
    // Another text of the same size, in the same tick of a coarse clock.
    folder.write_marked("unsettled", future, Content::Words("more text".to_owned()));
    index.sync(folder.listing());
    assert_eq!(folder.asked(&index, "more"), ["unsettled"]);
    assert!(index.settle(&folder, &never));
    assert_eq!(folder.reads(), 3);
    assert_eq!(folder.asked(&index, "more"), ["unsettled"]);
}

#[test]
fn an_index_beyond_its_bound_is_off_and_leaves_nothing() {
    let shelf = MemoryShelf::default();
    let mut folder = Folder::default();
    let text = |number: usize| format!("{number} alpha {}", "abcdefghij".repeat(number % 7));
    let bounds = IndexBounds { disk_bytes: 400, ..small_bounds() };
    let index = TextIndex::open(Box::new(shelf.clone()), bounds);
    index.sync(Vec::new());
    assert!(index.settle(&folder, &never), "an empty one takes nothing");
    for number in 0..60 {
        index.update([folder.write_text(&format!("f{number}"), &text(number))]);
    }
    assert!(!index.settle(&folder, &never));
    assert_eq!(index.status().state, IndexState::Off(IndexProblem::TooLarge { bytes_max: 400 }));
    assert_eq!((index.status().disk_bytes, shelf.names().unwrap()), (0, Vec::<String>::new()));
}

#[test]
fn memory_grows_with_the_documents_and_is_given_back() {
    let shelf = MemoryShelf::default();
    let mut folder = Folder::default();
    let index = open(&shelf);
    let changes: Vec<_> = (0..500)
        .map(|number| folder.write_text(&format!("a/long/path/to/file{number}"), "alpha beta"))
        .collect();
    index.sync(Vec::new());
    let empty = index.status().memory_bytes;
    index.update(changes);
    let pending = index.status().memory_bytes;
    assert!(pending > empty + 500 * 25, "{empty} {pending}");
    assert!(index.settle(&folder, &never));
    let settled = index.status().memory_bytes;
    assert!(settled > pending, "the numbers in segments: {pending} {settled}");
    index.clear();
    assert!(index.status().memory_bytes < pending / 10);
}

#[test]
fn what_stands_far_apart_is_in_no_line() {
    let shelf = MemoryShelf::default();
    let mut folder = Folder::default();
    let filler = "0123456789\n".repeat(20);
    folder.write_text("apart", &format!("alpha\n{filler}beta\n"));
    folder.write_text("near", &format!("{filler}alpha beta\n{filler}"));
    let query = GramQuery::of_pattern("alpha.*beta", true);
    let check = |index: &TextIndex| {
        assert_eq!(folder.asked_query(index, &query), ["apart", "near"]);
        assert_eq!(folder.asked_query(index, &query.clone().within_lines()), ["near"]);
    };
    let index = open(&shelf);
    index.sync(folder.listing());
    index.settle(&folder, &never);
    check(&index);
    index.persist();
    check(&index);
    drop(index);
    let reopened = open(&shelf);
    reopened.sync(folder.listing());
    check(&reopened);
}

#[test]
fn the_parts_of_a_long_text_that_may_match_are_those_with_such_a_line() {
    let shelf = MemoryShelf::default();
    let mut folder = Folder::default();
    let filler = "0123456\n".repeat(10);
    let text = ["alpha b", &filler, "gamma a\n", &filler, "alpha b\n"].concat();
    let mark = |size_bytes: usize| DocumentMark {
        size_bytes: size_bytes as u64,
        modified: (1, 0),
        changed: (1, 0),
        inode: 1,
    };
    let words = |text: &str| Content::Words(text.to_owned());
    folder.write_marked("long", mark(text.len()), words(&text));
    folder.write_marked("decoded", mark(text.len() + 3), words(&text));
    folder.write_marked("short", mark(8), words("alpha b\n"));
    let index = open(&shelf);
    index.sync(folder.listing());
    index.settle(&folder, &never);
    index.persist();
    let asked = |query: &GramQuery| {
        let paths = ["decoded", "long", "none", "short"].map(path);
        index.verdicts_located(query, None, || paths).unwrap()
    };
    let of_pattern = |pattern: &str| GramQuery::of_pattern(pattern, false);
    let found = asked(&of_pattern("alpha").within_lines());
    let may = DocumentVerdict::MayMatch;
    assert_eq!(found.verdicts, [may, DocumentVerdict::MayMatchInParts, may, may]);
    let [parts] = found.parts.as_slice() else { panic!("{:?}", found.parts) };
    assert_eq!((parts.count, &*parts.numbers), (11, &[0, 10][..]));
    assert!(parts.are_of(&mark(text.len())) && !parts.are_of(&mark(text.len() + 1)));
    let middle = asked(&of_pattern("gamma").within_lines());
    assert_eq!(*middle.parts[0].numbers, [5]);
    // Over line ends, the parts of a match may be anywhere.
    let over_lines = asked(&of_pattern("alpha"));
    assert_eq!((over_lines.verdicts, over_lines.parts), (vec![may; 4], Vec::new()));
}

/// Reads documents that are all large, and says whether two were read at the same time.
struct LargeFolder<'a> {
    folder: &'a Folder,
    reading: AtomicUsize,
    was_shared: AtomicBool,
}

impl DocumentSource for LargeFolder<'_> {
    fn read<'b>(&self, _: &RelPath, _: &'b mut Vec<u8>) -> ReadDocument<'b> {
        ReadDocument { mark: None, content: DocumentContent::Large }
    }

    fn read_large<'b>(&self, path: &RelPath, buffer: &'b mut Vec<u8>) -> ReadDocument<'b> {
        let others = self.reading.fetch_add(1, Ordering::SeqCst);
        self.was_shared.fetch_or(others > 0, Ordering::SeqCst);
        std::thread::yield_now();
        let read = self.folder.read(path, buffer);
        self.reading.fetch_sub(1, Ordering::SeqCst);
        read
    }
}

#[test]
fn large_documents_are_read_one_at_a_time() {
    let mut folder = Folder::default();
    for number in 0..300 {
        folder.write_text(&format!("file{number}"), &format!("text of number{number}"));
    }
    let index = open(&MemoryShelf::default());
    index.sync(folder.listing());
    let (reading, was_shared) = (AtomicUsize::new(0), AtomicBool::new(false));
    let large = LargeFolder { folder: &folder, reading, was_shared };
    assert!(index.settle(&large, &never));
    assert!(!large.was_shared.into_inner());
    assert_eq!(folder.asked(&index, "number77\\b"), ["file77"]);
}

#[test]
fn many_documents_that_are_closed_at_once_are_removed_in_one_pass() {
    let name = |number: usize| path(&format!("closed/{number}"));
    let mark = |number: usize| {
        let time = (i64::try_from(number).unwrap(), 0);
        DocumentMark { size_bytes: 1, modified: time, changed: time, inode: 1 }
    };
    let shelf = MemoryShelf::default();
    let index = TextIndex::open(Box::new(shelf.clone()), IndexBounds::default());
    let listing = || (0..MANY).map(|number| (name(number), mark(number)));
    index.sync(listing());
    let mut folder = Folder::default();
    for number in 0..MANY {
        let content = Content::Words(format!("word{number}"));
        folder.write_marked(name(number).as_str(), mark(number), content);
    }
    assert!(index.settle(&folder, &never));
    index.persist();
    assert!(index.status().segments > 0);
    index.update((0..MANY).map(|number| DocumentChange::Denied(name(number))));
    assert_eq!(index.status().documents, 0);
    assert!(index.settle(&folder, &never));
    let holds = |bytes: &[u8]| bytes.windows(7).any(|window| window == b"closed/");
    assert!(!shelf.files().values().any(|bytes| holds(bytes)));
}
