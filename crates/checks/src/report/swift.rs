//! What the output of Swift says of tests that failed: of one of XCTest its report says only that it did, of one of Swift
//! Testing not where.

use super::{TestCase, TestReport, without_colours};

/// Most lines of output that are looked at.
const LINES_MAX: usize = 200_000;

/// What a line says of a failure.
#[derive(Debug, PartialEq, Eq)]
struct SaidFailure<'a> {
    /// `CalcTests.testAdds`, or `adds` of Swift Testing.
    test: String,
    /// The path, as the compiler was given it, or the name of the file alone.
    file: &'a str,
    line: u64,
    message: &'a str,
}

/// Adds to the failures of a report where they are, and why.
pub(crate) fn explain(report: &mut TestReport, output: &str) {
    if !report.cases.iter().any(TestCase::is_bad) {
        return;
    }
    let plain = without_colours(output);
    let said: Vec<SaidFailure<'_>> =
        plain.lines().take(LINES_MAX).filter_map(SaidFailure::of_line).collect();
    for case in report.cases.iter_mut().filter(|case| case.is_bad()) {
        let own: Vec<&SaidFailure<'_>> = said.iter().filter(|said| said.is_of(&case.id)).collect();
        let Some(first) = own.first() else { continue };
        if !first.file.contains('/') {
            // Of Swift Testing: of the file only its name is known, and its module begins the name of the test.
            let module = case.id.split('.').next().unwrap_or_default();
            case.sources = vec![format!("{module}/{}", first.file), first.file.to_owned()];
            case.message = format!("{} ({}:{})", case.message, first.file, first.line);
            case.line = Some(first.line);
            continue;
        }
        let messages: Vec<&str> = own.iter().map(|said| said.message).collect();
        case.message = messages.join("\n");
        let lines =
            own.iter().map(|said| format!("{}:{}: {}\n", said.file, said.line, said.message));
        case.details = lines.collect();
        (case.file, case.line) = (Some(first.file.to_owned()), Some(first.line));
        (case.actual, case.expected) = own.iter().find_map(|said| said.compared()).unzip();
    }
}

// === impl SaidFailure ===

impl<'a> SaidFailure<'a> {
    fn of_line(line: &'a str) -> Option<Self> {
        Self::of_xctest(line).or_else(|| Self::of_testing(line))
    }

    /// `/w/Tests/CalcTests/CalcTests.swift:8: error: CalcTests.testAdds : XCTAssertTrue failed`; on macOS the test is
    /// `-[CalcTests.CalcTests testAdds]`.
    fn of_xctest(line: &'a str) -> Option<Self> {
        let (place, rest) = line.split_once(": error: ")?;
        let (file, number) = place.rsplit_once(':')?;
        let (test, message) = rest.split_once(" : ")?;
        let bare = test.strip_prefix("-[").and_then(|test| test.strip_suffix(']')).unwrap_or(test);
        let test = bare.replace(' ', ".");
        let is_name =
            !test.is_empty() && test.chars().all(|c| c.is_alphanumeric() || "._".contains(c));
        let line = number.parse().ok().filter(|_| is_name && file.ends_with(".swift"))?;
        Some(Self { test, file, line, message: message.trim() })
    }

    /// `✘ Test adds() recorded an issue at CalcTests.swift:12:5: Expectation failed: 3 == 4`.
    fn of_testing(line: &'a str) -> Option<Self> {
        let (test, rest) = line.split_once(" Test ")?.1.split_once(" recorded an issue ")?;
        // Behind the arguments of a test that has some.
        let (place, rest) = rest.split_at(rest.find(".swift:")? + ".swift".len());
        let file = place.rsplit_once("at ").map_or(place, |(_, file)| file);
        let mut parts = rest.strip_prefix(':')?.splitn(3, ':');
        let (number, _column, message) = (parts.next()?, parts.next()?, parts.next()?);
        let test = test.split('(').next().unwrap_or(test).to_owned();
        Some(Self { test, file, line: number.parse().ok()?, message: message.trim() })
    }

    fn is_of(&self, id: &str) -> bool {
        let before = id.strip_suffix(self.test.as_str());
        before.is_some_and(|before| before.is_empty() || before.ends_with('.'))
    }

    /// `XCTAssertEqual failed: ("3") is not equal to ("4") - sums`: what was there and what was expected.
    fn compared(&self) -> Option<(String, String)> {
        let rest = self.message.strip_prefix("XCTAssertEqual failed: (\"")?;
        let (actual, rest) = rest.split_once("\") is not equal to (\"")?;
        let (expected, _) = rest.split_once("\")")?;
        Some((actual.to_owned(), expected.to_owned()))
    }
}
