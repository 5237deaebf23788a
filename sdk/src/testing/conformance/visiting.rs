//! Checks of walks over texts.

use std::any::Any;
use std::ops::ControlFlow;

use super::{ConformanceHost, check_refused, finish, rel};
use crate::context::{TextFinding, TextScanner, TextVisitor};
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

/// Finds the whole text.
struct TextCopier;

impl TextScanner for TextCopier {
    fn scan(&mut self, file: VisitedText<'_>) -> Option<TextFinding> {
        Some(Box::new((file.path.to_string(), file.text.to_owned())))
    }
}

impl TextVisitor for TextCollector {
    fn wants(&self, path: &RelPath) -> bool {
        !path.as_str().ends_with("unwanted")
    }

    fn scanner(&self) -> Box<dyn TextScanner> {
        Box::new(TextCopier)
    }

    fn gather(&mut self, finding: TextFinding) -> ControlFlow<()> {
        let text = finding.downcast().expect("a host passes on what a scanner found");
        self.texts.push(*text);
        match self.texts_max == Some(self.texts.len()) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

pub(super) fn texts_are_visited_in_order_and_the_rest_is_counted(host: &dyn ConformanceHost) {
    let large = "x".repeat(usize::try_from(host.search_bytes_max()).expect("it is held in memory"));
    for (path, text) in [
        ("d/a.md", "read first\n"),
        ("d/b/x", "inner\n"),
        ("d/b.c", "\u{feff}marked\r\n"),
        ("d/tests/c", "checks\n"),
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
    let expected = [
        ("d/a", ""),
        ("d/b/x", "inner\n"),
        ("d/b.c", "marked\r\n"),
        ("d/tests/c", "checks\n"),
        ("d/a.md", "read first\n"),
    ];
    assert!(texts.iter().map(|(path, text)| (path.as_str(), text.as_str())).eq(expected));
    let skipped =
        SkippedTexts { ignored: 1, denied: 1, binary: 1, too_large: 1, ..SkippedTexts::default() };
    assert_eq!(visited, Visited { files: 5, skipped, truncated: false });
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
    host.put("d/g", b"\0");
    // What is left out by its name is counted all the same, and no bound ended the walk.
    let (texts, visited) = visit(host, "d", ALL, Some(2)).expect("a directory");
    assert_eq!(texts.len(), 2);
    let skipped = SkippedTexts { ignored: 1, ..SkippedTexts::default() };
    assert_eq!(visited, Visited { files: 2, skipped, truncated: false });
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
