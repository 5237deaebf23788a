//! Checks of paths and of reading.

use super::super::hash;
use super::{ConformanceHost, check_refused, finish, read, rel};
use crate::error::{ErrorCode, ToolError};
use crate::file::{Content, FileBytes, FileLines, LineEnding, LineWindow};

const ALL: LineWindow =
    LineWindow { start: 1, lines_max: 1_000, bytes_max: 1 << 20, line_bytes_max: 1 << 20 };

pub(super) fn paths_are_read_relative_or_beneath_the_root(host: &dyn ConformanceHost) {
    let root = host.root();
    for (written, read) in [
        ("a/b", "a/b"),
        ("./a/./b", "a/b"),
        (".", "."),
        (&root, "."),
        (&format!("{root}/"), "."),
        (&format!("{root}/a/b"), "a/b"),
    ] {
        assert_eq!(host.path(written).expect(written).as_str(), read);
    }
}

pub(super) fn paths_that_lead_elsewhere_are_refused(host: &dyn ConformanceHost) {
    let root = host.root();
    for (written, code) in [
        ("", ErrorCode::InvalidPath),
        ("a//b", ErrorCode::InvalidPath),
        ("a/", ErrorCode::InvalidPath),
        ("a\nb", ErrorCode::InvalidPath),
        ("a/../b", ErrorCode::OutsideWorkspace),
        ("/", ErrorCode::OutsideWorkspace),
        ("/etc/passwd", ErrorCode::OutsideWorkspace),
        (&format!("{root}-evil/a"), ErrorCode::OutsideWorkspace),
        (&format!("{root}/../a"), ErrorCode::OutsideWorkspace),
        (&format!("{root}//etc/passwd"), ErrorCode::OutsideWorkspace),
    ] {
        assert_eq!(host.path(written).expect_err(written).code, code, "{written}");
    }
}

pub(super) fn texts_come_whole_with_their_form(host: &dyn ConformanceHost) {
    for (bytes, text, line_ending, bom, final_newline) in [
        ("", "", LineEnding::None, false, true),
        ("one", "one", LineEnding::None, false, false),
        ("one\ntwo\n", "one\ntwo\n", LineEnding::Lf, false, true),
        ("one\r\ntwo\r\n", "one\r\ntwo\r\n", LineEnding::Crlf, false, true),
        ("one\r\ntwo\nthree", "one\r\ntwo\nthree", LineEnding::Mixed, false, false),
        ("lone\rreturn", "lone\rreturn", LineEnding::None, false, false),
        ("\u{feff}marked ß\n", "marked ß\n", LineEnding::Lf, true, true),
    ] {
        host.put("d/a", bytes.as_bytes());
        let snapshot = read(host, "d/a").expect(bytes);
        assert_eq!(snapshot.hash, hash(bytes.as_bytes()), "{bytes:?}");
        assert_eq!((snapshot.size_bytes, snapshot.unsaved), (bytes.len() as u64, false));
        let Content::Text(read) = snapshot.content else { panic!("{bytes:?} is text") };
        assert_eq!((read.text.as_str(), read.form.encoding.as_str()), (text, "UTF-8"));
        let form = (read.form.line_ending, read.form.bom, read.form.final_newline);
        assert_eq!(form, (line_ending, bom, final_newline), "{bytes:?}");
        let lines = lines(host, "d/a", ALL).expect(bytes);
        assert_eq!((lines.form, lines.hash), (read.form, snapshot.hash), "{bytes:?}");
    }
}

pub(super) fn what_is_not_text_is_binary(host: &dyn ConformanceHost) {
    for bytes in [&b"a\0b"[..], b"\x7fELF\x02\x01\x01\0\xff\xfe", b"\xef\xbb\xbfa\0"] {
        host.put("a", bytes);
        let snapshot = read(host, "a").expect("what is not text is read as a whole");
        assert_eq!((snapshot.hash, snapshot.content), (hash(bytes), Content::Binary));
        check_refused(lines(host, "a", ALL), ErrorCode::Binary, "a");
    }
}

pub(super) fn what_is_not_a_file_is_not_read(host: &dyn ConformanceHost) {
    host.put("d/a", b"text");
    for (path, code) in [
        ("none", ErrorCode::NotFound),
        ("d/none", ErrorCode::NotFound),
        ("none/none", ErrorCode::NotFound),
        ("d", ErrorCode::NotAFile),
        (".", ErrorCode::NotAFile),
        ("d/a/b", ErrorCode::NotADirectory),
    ] {
        check_refused(read(host, path), code, path);
        check_refused(lines(host, path, ALL), code, path);
    }
}

pub(super) fn bytes_come_as_they_are(host: &dyn ConformanceHost) {
    let fits = host.edit_bytes_max();
    for bytes in [&b""[..], b"text\r\n", b"\0\xff\xfe"] {
        host.put("a", bytes);
        let (path, size) = (rel("a"), bytes.len() as u64);
        let whole = |bytes_max| finish(host.read_bytes(&path, bytes_max)).expect("it is read");
        let expected = FileBytes { hash: hash(bytes), bytes: bytes.to_vec() };
        assert_eq!(whole(size), Some(expected.clone()), "{bytes:?}");
        assert_eq!(whole(u64::MAX), Some(expected), "{bytes:?}");
        if size > 0 {
            assert_eq!(whole(size - 1), None, "{bytes:?}");
        }
    }
    let large = usize::try_from(fits).expect("a file that is held in memory") + 1;
    host.put("large", "x".repeat(large).as_bytes());
    assert_eq!(finish(host.read_bytes(&rel("large"), u64::MAX)).expect("it is read"), None);
    check_refused(finish(host.read_bytes(&rel("none"), 1)), ErrorCode::NotFound, "none");
}

pub(super) fn lines_come_in_windows(host: &dyn ConformanceHost) {
    host.put("a", b"one\ntwo\r\n\nfour");
    let window = |start, lines_max| LineWindow { start, lines_max, ..ALL };
    for (window, expected) in [
        (ALL, &["one", "two", "", "four"][..]),
        (window(0, 1), &["one"]),
        (window(2, 2), &["two", ""]),
        (window(4, 9), &["four"]),
        (window(5, 9), &[]),
        (window(u64::MAX, 9), &[]),
        // At least one line is returned.
        (window(2, 0), &["two"]),
    ] {
        let lines = lines(host, "a", window).expect("there are lines");
        assert_eq!(texts(&lines), expected, "{window:?}");
        assert_eq!((lines.lines_total, lines.size_bytes), (4, 14));
    }
    host.put("empty", b"");
    let none = lines(host, "empty", ALL).expect("an empty file is text");
    assert_eq!((none.lines_total, none.lines.len()), (0, 0));
    host.put("ended", b"one\n");
    let one = lines(host, "ended", ALL).expect("a text");
    assert_eq!((one.lines_total, one.lines.len()), (1, 1));
}

pub(super) fn windows_are_bounded_in_bytes(host: &dyn ConformanceHost) {
    host.put("a", "12345\r\néé\n\n1234567\n".as_bytes());
    let cut = |line_bytes_max| LineWindow { line_bytes_max, ..ALL };
    let sized = |bytes_max| LineWindow { bytes_max, ..ALL };
    for (window, expected) in [
        (cut(5), &[("12345", 0), ("éé", 0), ("", 0), ("12345", 2)][..]),
        // A character is not cut.
        (cut(3), &[("123", 2), ("é", 2), ("", 0), ("123", 4)]),
        (sized(9), &[("12345", 0), ("éé", 0), ("", 0)]),
        (sized(8), &[("12345", 0)]),
        (sized(0), &[("12345", 0)]),
        (LineWindow { line_bytes_max: 2, ..sized(4) }, &[("12", 3), ("é", 2), ("", 0)]),
    ] {
        let lines = lines(host, "a", window).expect("there are lines");
        let found: Vec<_> = lines.lines.iter().map(|line| (line.text, line.bytes_cut)).collect();
        assert_eq!(found, expected, "{window:?}");
        assert_eq!(lines.lines_total, 4);
    }
}

pub(super) fn large_files_are_read_in_windows_only(host: &dyn ConformanceHost) {
    let fits = usize::try_from(host.edit_bytes_max()).expect("a file that is held in memory");
    host.put("fits", "x".repeat(fits).as_bytes());
    host.put("large", "x".repeat(fits + 1).as_bytes());
    assert_eq!(read(host, "fits").expect("it fits").size_bytes, fits as u64);
    check_refused(read(host, "large"), ErrorCode::TooLarge, "large");
    let window = LineWindow { line_bytes_max: 1, ..ALL };
    let lines = lines(host, "large", window).expect("a window of it fits");
    assert_eq!((texts(&lines), lines.size_bytes), (vec!["x"], fits as u64 + 1));
}

fn lines(
    host: &dyn ConformanceHost,
    path: &str,
    window: LineWindow,
) -> Result<FileLines, ToolError> {
    finish(host.read_lines(&rel(path), window))
}

fn texts(lines: &FileLines) -> Vec<&str> {
    lines.lines.iter().map(|line| line.text).collect()
}
