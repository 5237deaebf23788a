//! Tests of the module `artifacts`.

use std::collections::BTreeSet;
use std::sync::Arc;

use moss_sdk::ContentHash;
use moss_sdk::file::FileLines;

use super::*;

const WINDOW: LineWindow =
    LineWindow { start: 1, lines_max: 10, bytes_max: 1000, line_bytes_max: 100 };

/// A token of a name, of which there may be several.
#[derive(Debug)]
struct NumberedToken(u8);

impl moss_dispatch::Standing for NumberedToken {
    fn id(&self) -> ContentHash {
        ContentHash::from_bytes([self.0; 32])
    }

    fn is_revoked(&self) -> bool {
        false
    }
}

fn named(name: &str, number: u8) -> Caller {
    Caller::named(Role::Caller, name.to_owned(), Arc::new(NumberedToken(number)))
}

fn read(artifacts: &Artifacts, path: &str, caller: &Caller) -> Result<FileLines, ToolError> {
    artifacts.read_lines(path, caller, WINDOW, &|| false)
}

fn texts(lines: &FileLines) -> Vec<&str> {
    lines.lines.iter().map(|line| line.text).collect()
}

#[test]
fn an_output_is_read_by_who_made_it_and_by_approvers() {
    let state = tempfile::tempdir().unwrap();
    let artifacts = Artifacts::open(state.path()).unwrap();
    let (caller, approver) = (Caller::from(Role::Caller), Caller::from(Role::Approver));
    let mut writer = artifacts.begin(&caller).unwrap();
    writer.push(b"one\n");
    writer.push(b"two\n");
    assert_eq!(writer.missing(), None);
    for reader in [&caller, &approver] {
        assert_eq!(texts(&read(&artifacts, &writer.path, reader).unwrap()), ["one", "two"]);
    }
    let other = artifacts.begin(&named("other", 1)).unwrap();
    let refused = read(&artifacts, &other.path, &caller).unwrap_err();
    assert_eq!(refused.code, ErrorCode::NotFound);
    assert_eq!(read(&artifacts, &other.path, &approver).unwrap().size_bytes, 0);
    let listed = |reader| {
        let listed = artifacts.list(reader).unwrap();
        listed.into_iter().map(|one| (one.path, one.size_bytes)).collect::<Vec<_>>()
    };
    assert_eq!(listed(&caller), [(writer.path.clone(), 8)]);
    assert_eq!(listed(&approver).len(), 2);
    for wrong in ["artifact:", "artifact:../x", "artifact:0", "src/a"] {
        assert!(read(&artifacts, wrong, &approver).is_err(), "{wrong}");
    }
}

#[test]
fn a_later_token_of_a_name_reads_nothing_of_an_earlier_one() {
    let state = tempfile::tempdir().unwrap();
    let artifacts = Artifacts::open(state.path()).unwrap();
    let (earlier, later) = (named("bob", 1), named("bob", 2));
    let path = artifacts.begin(&earlier).unwrap().path;
    assert!(read(&artifacts, &path, &earlier).is_ok());
    assert_eq!(artifacts.list(&earlier).unwrap().len(), 1);
    assert_eq!(read(&artifacts, &path, &later).unwrap_err().code, ErrorCode::NotFound);
    assert_eq!(artifacts.list(&later).unwrap(), []);
}

#[test]
fn lines_are_read_wherever_they_are_and_whatever_they_hold() {
    let state = tempfile::tempdir().unwrap();
    let artifacts = Artifacts::open(state.path()).unwrap();
    let caller = Caller::from(Role::Caller);
    let mut writer = artifacts.begin(&caller).unwrap();
    let numbered: String = (1..=50_000).map(|number| format!("{number}\n")).collect();
    writer.push(numbered.as_bytes());
    writer.push(b"\xff\0\n");
    let from = |start| {
        let window = LineWindow { start, ..WINDOW };
        artifacts.read_lines(&writer.path, &caller, window, &|| false).unwrap()
    };
    assert_eq!(texts(&from(49_999)), ["49999", "50000", "\u{fffd}\0"]);
    assert_eq!((from(1).lines.len(), from(1).lines_total), (10, 50_001));
    let cancelled = artifacts.read_lines(&writer.path, &caller, WINDOW, &|| true);
    assert_eq!(cancelled.unwrap_err().code, ErrorCode::Cancelled);
}

#[test]
fn an_output_ends_where_its_room_does() {
    let state = tempfile::tempdir().unwrap();
    let artifacts = Artifacts::open(state.path()).unwrap();
    let mut writer = artifacts.begin(&Caller::from(Role::Caller)).unwrap();
    let chunk = vec![b'x'; 1 << 20];
    for _ in 0..65 {
        writer.push(&chunk);
    }
    let missing = writer.missing().unwrap();
    assert!(missing.contains("full with 64 MiB"), "{missing}");
    let size = artifacts.room.directory().files().unwrap()[0].size_bytes;
    assert_eq!(size, ARTIFACT_BYTES_MAX);
}

/// Artifacts of at most 10 bytes, 40 bytes together.
fn small(state: &Path) -> Artifacts {
    let bounds = OwnBounds { each_bytes: 10, total_bytes: 40, writing_bytes: 20, step_bytes: 4 };
    Artifacts::with_bounds(state, bounds).unwrap()
}

fn written(artifacts: &Artifacts, caller: &Caller, bytes: &[u8]) -> String {
    let mut writer = artifacts.begin(caller).unwrap();
    writer.push(bytes);
    assert_eq!(writer.missing(), None);
    writer.path.clone()
}

/// The paths of those that are there, and how many bytes they take.
fn kept(artifacts: &Artifacts) -> (BTreeSet<String>, u64) {
    let listed = artifacts.list(&Caller::from(Role::Approver)).unwrap();
    let bytes = listed.iter().map(|one| one.size_bytes).sum();
    (listed.into_iter().map(|one| one.path).collect(), bytes)
}

/// Gives the files of a directory times in the order of a list of paths, all in the last hour.
#[expect(clippy::disallowed_methods, reason = "a test sets what no artifact has set")]
fn in_order(artifacts: &Artifacts, state: &Path, paths: &[&String]) {
    let begin = SystemTime::now() - std::time::Duration::from_hours(1);
    for (place, path) in paths.iter().enumerate() {
        let id = path.strip_prefix(SCHEME).unwrap();
        let files = artifacts.room.directory().files().unwrap();
        let name = &files.iter().find(|file| file.name.starts_with(id)).unwrap().name;
        let file =
            std::fs::File::options().append(true).open(state.join(DIRECTORY).join(name)).unwrap();
        file.set_modified(begin + std::time::Duration::from_secs(1 + place as u64)).unwrap();
    }
}

#[test]
fn the_oldest_go_first_where_all_together_would_be_too_long() {
    let state = tempfile::tempdir().unwrap();
    let artifacts = small(state.path());
    let caller = Caller::from(Role::Caller);
    let [first, second, third, fourth] = [b"12345678", b"abcdefgh", b"ABCDEFGH", b"........"]
        .map(|bytes| written(&artifacts, &caller, bytes));
    in_order(&artifacts, state.path(), &[&second, &third, &first, &fourth]);
    let fifth = written(&artifacts, &caller, b"12345678");
    assert_eq!(kept(&artifacts).1, 40);
    let sixth = written(&artifacts, &caller, b"x");
    let expected = BTreeSet::from([third, first, fourth, fifth, sixth]);
    assert_eq!(kept(&artifacts), (expected, 33));
}

#[test]
fn one_caller_takes_no_room_from_another() {
    let state = tempfile::tempdir().unwrap();
    let artifacts = small(state.path());
    let (greedy, other) = (named("greedy", 1), named("other", 2));
    let old = written(&artifacts, &other, b"old");
    // As many at once as it may, and many one after the other.
    let mut writers = Vec::new();
    let refused = loop {
        match artifacts.begin(&greedy) {
            Ok(mut writer) => {
                writer.push(b"1234");
                writers.push(writer);
            }
            Err(refused) => break refused,
        }
    };
    assert_eq!((writers.len(), refused.code), (5, ErrorCode::LimitExceeded));
    drop(writers.split_off(2));
    for _ in 0..9 {
        written(&artifacts, &greedy, b"12345678");
    }
    assert!(kept(&artifacts).0.contains(&old));
    assert!(read(&artifacts, &old, &other).is_ok());
    let new = [b"12345678"; 2].map(|bytes| written(&artifacts, &other, bytes));
    let (kept, bytes) = kept(&artifacts);
    assert!(kept.contains(&old) && new.iter().all(|path| kept.contains(path)), "{kept:?}");
    assert!(writers.iter().all(|writer| kept.contains(&writer.path)) && bytes <= 40, "{bytes}");
}

#[test]
fn what_is_being_written_stays_and_all_together_keep_to_their_bound() {
    let state = tempfile::tempdir().unwrap();
    let artifacts = small(state.path());
    let callers = [named("a", 1), named("b", 2)];
    let old = written(&artifacts, &callers[0], b"old");
    let begin =
        |caller: &Caller| [artifacts.begin(caller).unwrap(), artifacts.begin(caller).unwrap()];
    let mut writers: Vec<_> = callers.iter().flat_map(begin).collect();
    writers.iter_mut().for_each(|writer| writer.push(&[b'x'; 50]));
    assert!(writers.iter().all(|writer| writer.missing().unwrap().contains("it is full")));
    let paths: BTreeSet<_> = writers.iter().map(|writer| writer.path.clone()).collect();
    assert!(!paths.contains(&old));
    assert_eq!(kept(&artifacts), (paths, 40));
    let refused = artifacts.begin(&named("c", 3)).unwrap_err();
    assert_eq!(refused.code, ErrorCode::LimitExceeded);
    let ended = writers.pop().unwrap().path.clone();
    let next = artifacts.begin(&named("c", 3)).unwrap();
    let (kept, bytes) = kept(&artifacts);
    assert!(!kept.contains(&ended) && kept.contains(&next.path) && bytes == 30);
}

#[test]
fn an_output_that_gets_no_more_room_keeps_its_first_part_and_says_why() {
    let state = tempfile::tempdir().unwrap();
    let artifacts = small(state.path());
    let caller = Caller::from(Role::Caller);
    let mut writers: Vec<_> = (0..3).map(|_| artifacts.begin(&caller).unwrap()).collect();
    writers.iter_mut().for_each(|writer| writer.push(&[b'x'; 8]));
    assert_eq!(writers.iter().filter_map(ArtifactWriter::missing).count(), 1);
    let missing = writers[2].missing().unwrap();
    assert!(missing.contains("of one caller at once"), "{missing}");
    assert_eq!(kept(&artifacts).1, 20);
}
