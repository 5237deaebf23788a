//! Checks of walks over texts.

use std::any::Any;
use std::ops::ControlFlow;

use super::{ConformanceHost, check_refused, finish, rel};
use crate::context::TextVisitor;
use crate::error::{ErrorCode, ToolError};
use crate::file::{SkippedTexts, VisitOptions, Visited, VisitedText};
use crate::path::RelPath;

const ALL: VisitOptions = VisitOptions { entries_max: 1_000, bytes_max: u64::MAX };

/// Keeps what it is given.
#[derive(Default)]
struct TextCollector {
    texts: Vec<(String, String)>,
    /// With so many texts it ends the walk.
    texts_max: Option<usize>,
}

impl TextVisitor for TextCollector {
    fn wants(&self, path: &RelPath) -> bool {
        !path.as_str().ends_with("unwanted")
    }

    fn visit(&mut self, file: VisitedText<'_>) -> ControlFlow<()> {
        self.texts.push((file.path.to_string(), file.text.to_owned()));
        match self.texts_max == Some(self.texts.len()) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

pub(super) fn texts_are_visited_in_path_order_and_the_rest_is_counted(host: &dyn ConformanceHost) {
    let large = "x".repeat(usize::try_from(host.edit_bytes_max()).expect("it is held in memory"));
    for (path, text) in [
        ("d/b/x", "inner\n"),
        ("d/b.txt", "\u{feff}marked\r\n"),
        ("d/a", ""),
        ("d/binary", "a\0b"),
        ("d/denied", "denied"),
        ("d/large", &format!("{large}x")),
        ("d/out/never", "ignored"),
        ("d/unwanted", "a\0b"),
    ] {
        host.put(path, text.as_bytes());
    }
    host.ignore("d/out");
    host.deny("d/denied");
    host.deny("d/unwanted");
    let (texts, visited) = visit(host, "d", ALL, None).expect("a directory");
    let expected = [("d/a", ""), ("d/b/x", "inner\n"), ("d/b.txt", "marked\r\n")];
    assert!(texts.iter().map(|(path, text)| (path.as_str(), text.as_str())).eq(expected));
    let skipped =
        SkippedTexts { ignored: 1, denied: 1, binary: 1, too_large: 1, ..SkippedTexts::default() };
    assert_eq!(visited, Visited { files: 3, skipped, truncated: false });
    check_refused(visit(host, "d/a", ALL, None), ErrorCode::NotADirectory, "d/a");
    check_refused(visit(host, "none", ALL, None), ErrorCode::NotFound, "none");
}

pub(super) fn bounds_end_a_walk(host: &dyn ConformanceHost) {
    for (path, bytes) in [("d/a", &b"1234567890"[..]), ("d/b", b"\0 not text"), ("d/c", b"12345")] {
        host.put(path, bytes);
    }
    host.put("d/e", b"12345");
    let bound = |options| {
        let (texts, visited) = visit(host, "d", options, None).expect("a directory");
        assert_eq!(texts.len() as u64, visited.files);
        (visited.files, visited.skipped.binary, visited.truncated)
    };
    assert_eq!(bound(ALL), (3, 1, false));
    // Only what is handed over counts; the file that crosses the bound is the last.
    assert_eq!(bound(VisitOptions { bytes_max: 9, ..ALL }), (1, 0, true));
    assert_eq!(bound(VisitOptions { bytes_max: 14, ..ALL }), (2, 1, true));
    assert_eq!(bound(VisitOptions { bytes_max: 15, ..ALL }), (3, 1, true));
    assert_eq!(bound(VisitOptions { bytes_max: 20, ..ALL }), (3, 1, false));
    assert_eq!(bound(VisitOptions { entries_max: 2, ..ALL }), (1, 1, true));
    assert_eq!(bound(VisitOptions { entries_max: 4, ..ALL }), (3, 1, false));
}

pub(super) fn a_visitor_ends_its_walk(host: &dyn ConformanceHost) {
    for path in ["d/a", "d/b", "d/c", "d/e", "d/f"] {
        host.put(path, b"text");
    }
    host.ignore("d/c");
    // What the walk did not come to is not counted, and no bound ended it.
    let options = VisitOptions { entries_max: 4, ..ALL };
    let (texts, visited) = visit(host, "d", options, Some(2)).expect("a directory");
    assert_eq!(texts.len(), 2);
    assert_eq!(visited, Visited { files: 2, ..Visited::default() });
}

pub(super) fn a_cancelled_call_visits_nothing(host: &dyn ConformanceHost) {
    host.put("d/a", b"text");
    assert_eq!(visit(host, "d", ALL, None).expect("a directory").0.len(), 1);
    host.cancel();
    let cancelled = visit(host, "d", ALL, None).expect_err("the call is cancelled");
    assert_eq!(cancelled.code, ErrorCode::Cancelled);
}

fn visit(
    host: &dyn ConformanceHost,
    path: &str,
    options: VisitOptions,
    texts_max: Option<usize>,
) -> Result<(Vec<(String, String)>, Visited), ToolError> {
    let visitor = TextCollector { texts_max, ..TextCollector::default() };
    let (visitor, visited) = finish(host.visit_texts(&rel(path), options, Box::new(visitor)))?;
    let visitor: Box<dyn Any> = visitor;
    let visitor =
        visitor.downcast::<TextCollector>().expect("a host returns the visitor it was given");
    Ok((visitor.texts, visited))
}
