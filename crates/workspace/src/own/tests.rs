//! Tests of the module `own`.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn directories_and_files_are_private() {
    let temp = tempfile::tempdir().unwrap();
    let own = OwnDir::create(&temp.path().join("a/b")).unwrap();
    own.write("x", b"one").unwrap();
    own.write("x", b"two").unwrap();
    assert!(own.create_new("y", b"1").unwrap());
    assert!(!own.create_new("y", b"2").unwrap());
    own.append("z").unwrap().write_all(b"1").unwrap();
    own.append("z").unwrap().write_all(b"2").unwrap();
    let below = own.subdirectory("d").unwrap();
    assert_eq!(own.read("x", 9).unwrap().unwrap(), b"two");
    assert_eq!(own.read("y", 9).unwrap().unwrap(), b"1");
    assert_eq!(own.read("z", 9).unwrap().unwrap(), b"12");
    assert_eq!(own.read("none", 9).unwrap(), None);
    for directory in [temp.path().join("a"), own.path().to_owned(), below.path().to_owned()] {
        assert_eq!(mode(&directory), 0o700, "{directory:?}");
    }
    for name in ["x", "y", "z"] {
        assert_eq!(mode(&own.path().join(name)), 0o600, "{name}");
    }
    fs::set_permissions(own.path().join("y"), fs::Permissions::from_mode(0o644)).unwrap();
    own.rewrite("y", b"3").unwrap();
    own.rewrite("new", b"4").unwrap();
    assert_eq!((mode(&own.path().join("y")), mode(&own.path().join("new"))), (0o644, 0o600));
    own.remove("new").unwrap();
    own.remove("x").unwrap();
    own.remove("x").unwrap();
    let names: Vec<_> = fs::read_dir(own.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names.len(), 3, "{names:?}");
}

#[test]
fn files_are_listed_and_touched() {
    let temp = tempfile::tempdir().unwrap();
    let own = OwnDir::create(temp.path()).unwrap();
    own.write("x", b"one").unwrap();
    own.subdirectory("d").unwrap();
    let past = SystemTime::UNIX_EPOCH + Duration::from_secs(5);
    fs::File::options()
        .write(true)
        .open(temp.path().join("x"))
        .unwrap()
        .set_modified(past)
        .unwrap();
    let expected = OwnFile { name: "x".to_owned(), size_bytes: 3, modified: past };
    assert_eq!(own.files().unwrap(), [expected]);
    own.touch("x").unwrap();
    assert!(own.files().unwrap()[0].modified > past);
    assert!(own.touch("none").is_err());
}

#[test]
fn what_others_can_write_is_refused() {
    let temp = tempfile::tempdir().unwrap();
    let own = OwnDir::create(temp.path()).unwrap();
    own.write("x", b"1").unwrap();
    fs::set_permissions(temp.path().join("x"), fs::Permissions::from_mode(0o666)).unwrap();
    assert!(matches!(own.read("x", 9), Err(Error::Own { .. })));
    assert!(matches!(own.append("x"), Err(Error::Own { .. })));
    assert!(matches!(read_trusted(&temp.path().join("x"), 9), Err(Error::Own { .. })));
    fs::set_permissions(temp.path(), fs::Permissions::from_mode(0o777)).unwrap();
    assert!(matches!(OwnDir::open(temp.path()), Err(Error::Own { .. })));
}

#[test]
fn links_long_files_and_odd_names_are_refused() {
    let temp = tempfile::tempdir().unwrap();
    let own = OwnDir::create(&temp.path().join("own")).unwrap();
    fs::write(temp.path().join("secret"), b"s").unwrap();
    own.write("short", b"0").unwrap();
    own.subdirectory("below").unwrap();
    symlink(temp.path().join("secret"), own.path().join("link")).unwrap();
    symlink("short", own.path().join("inside")).unwrap();
    symlink("below", own.path().join("directory")).unwrap();
    for link in ["link", "inside", "directory"] {
        assert!(own.read(link, 9).is_err(), "{link}");
        assert!(own.append(link).is_err(), "{link}");
        assert!(own.lock(link, Duration::ZERO).is_err(), "{link}");
        assert!(own.subdirectory(link).is_err(), "{link}");
    }
    own.write("long", b"0123456789").unwrap();
    assert!(matches!(own.read("long", 9), Err(Error::Own { .. })));
    for name in ["", ".", "..", "a/b", "../x"] {
        assert!(own.write(name, b"").is_err(), "{name:?}");
    }
    // A link at the end is replaced, never written through.
    own.write("link", b"new").unwrap();
    assert_eq!(fs::read(temp.path().join("secret")).unwrap(), b"s");
}

#[test]
fn a_lock_excludes_others_until_it_is_dropped() {
    let temp = tempfile::tempdir().unwrap();
    let own = OwnDir::create(temp.path()).unwrap();
    let lock = own.lock("lock", Duration::ZERO).unwrap();
    assert!(matches!(own.lock("lock", Duration::ZERO), Err(Error::Busy { .. })));
    drop(lock);
    own.lock("lock", Duration::ZERO).unwrap();
}

#[test]
fn another_content_is_another_version() {
    let temp = tempfile::tempdir().unwrap();
    let own = OwnDir::create(temp.path()).unwrap();
    assert_eq!(own.version("x").unwrap(), None);
    own.write("x", b"1").unwrap();
    let first = own.version("x").unwrap();
    assert!(first.is_some());
    assert_eq!(own.version("x").unwrap(), first);
    own.write("x", b"22").unwrap();
    assert_ne!(own.version("x").unwrap(), first);
    own.remove("x").unwrap();
    assert_eq!(own.version("x").unwrap(), None);
}

#[test]
fn secrets_that_others_can_read_are_refused() {
    let temp = tempfile::tempdir().unwrap();
    let (path, link) = (temp.path().join("key"), temp.path().join("link"));
    fs::write(&path, "12345678").unwrap();
    symlink(&path, &link).unwrap();
    for (secret, is_taken) in [(0o600, true), (0o400, true), (0o640, false), (0o604, false)] {
        fs::set_permissions(&path, fs::Permissions::from_mode(secret)).unwrap();
        for name in [&path, &link] {
            match read_secret(name, 8) {
                Ok(bytes) => assert!(is_taken && bytes == b"12345678", "{secret:o}"),
                Err(error) => {
                    assert!(!is_taken, "{secret:o}: {error}");
                    let told = error.to_string();
                    assert!(told.contains(&format!("chmod 600 {}", name.display())), "{told}");
                }
            }
        }
    }
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    assert!(matches!(read_secret(&path, 7), Err(Error::Own { .. })));
    assert!(matches!(read_secret(temp.path(), 8), Err(Error::Own { .. })));
    assert!(read_secret(&temp.path().join("none"), 8).is_err());
}

#[test]
fn a_draft_takes_its_name_once_it_is_whole() {
    let temp = tempfile::tempdir().unwrap();
    let own = OwnDir::create(&temp.path().join("a")).unwrap();
    own.write("large", b"old").unwrap();
    let mut draft = own.draft("large").unwrap();
    draft.write(b"one").unwrap();
    draft.write(b"two").unwrap();
    let old = own.reader("large").unwrap().expect("there is one");
    draft.finish().unwrap();
    let new = own.reader("large").unwrap().expect("there is one");
    assert_eq!((old.size_bytes(), new.size_bytes()), (3, 6));
    let mut piece = [0; 3];
    new.read_exact_at(&mut piece, 3).unwrap();
    assert_eq!(&piece, b"two");
    old.read_exact_at(&mut piece, 0).unwrap();
    assert_eq!(&piece, b"old");
    assert!(new.read_exact_at(&mut piece, 4).is_err(), "it ends before");
    assert!(own.reader("missing").unwrap().is_none());
}

#[test]
fn a_draft_that_is_dropped_leaves_nothing() {
    let temp = tempfile::tempdir().unwrap();
    let own = OwnDir::create(&temp.path().join("a")).unwrap();
    let mut draft = own.draft("large").unwrap();
    draft.write(b"one").unwrap();
    drop(draft);
    assert!(own.files().unwrap().is_empty());
}

#[test]
fn lines_of_a_large_file_are_read_piece_by_piece() {
    use moss_sdk::file::LineWindow;
    let temp = tempfile::tempdir().unwrap();
    let own = OwnDir::create(temp.path()).unwrap();
    let text: String = (1..=100_000).map(|number| format!("line {number} \u{20ac}\n")).collect();
    own.write("large", text.as_bytes()).unwrap();
    let reader = own.reader("large").unwrap().unwrap();
    let window = |start| LineWindow { start, lines_max: 2, bytes_max: 1000, line_bytes_max: 100 };
    for start in [1, 2, 50_000, 99_999, 100_000, 100_001] {
        let read = reader.read_lines(window(start), &|| false).unwrap();
        let expected: Vec<_> =
            text.lines().skip(usize::try_from(start).unwrap() - 1).take(2).collect();
        assert_eq!(read.lines.iter().map(|line| line.text).collect::<Vec<_>>(), expected);
        assert_eq!((read.lines_total, read.size_bytes), (100_000, text.len() as u64));
        assert_eq!(read.hash, crate::hash(text.as_bytes()));
        assert!(read.form.final_newline);
    }
    let looked = std::cell::Cell::new(0);
    let cancelled = || looked.replace(looked.get() + 1) > 0;
    assert!(matches!(reader.read_lines(window(1), &cancelled), Err(Error::Cancelled)));
    assert_eq!(looked.get(), 2, "after a piece, and not after the whole file");
}
