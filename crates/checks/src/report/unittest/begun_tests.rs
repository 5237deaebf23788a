//! The lines that unittest writes of each test while it runs: `test_a (tests.test_a.A.test_a) ... ok`.
//!
//! Tests write to the same stream, in front of the verdict, behind it and into its line. So whatever is found here is held
//! to the counts at the end of the run.

/// What all tests of a run wrote of themselves.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct BegunTests {
    pub(super) tests: Vec<BegunTest>,
    /// How many of them are named again: one that failed and could not be torn down has two lines.
    pub(super) again: u64,
    /// How many times something was skipped: a test, a part of it, a class.
    pub(super) skipped: u64,
}

/// A test that began.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct BegunTest {
    /// Its name and its class, as they stand there.
    pub(super) heading: String,
    /// Its last verdict; none where its parts have verdicts alone, or what it wrote hides it.
    pub(super) verdict: Option<TestVerdict>,
    /// Whether a part of it was skipped.
    pub(super) has_skipped_part: bool,
}

/// How a test ended, by its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TestVerdict {
    Passed,
    ExpectedFailure,
    UnexpectedSuccess,
    Skipped,
    Bad,
}

/// Where the verdict of a test stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum VerdictPlace {
    None,
    /// Behind what the test wrote, in its last line.
    Ending,
    /// Alone in a line.
    Alone,
    /// Right behind the name.
    Beside,
}

/// What a line is.
enum RunLine<'a> {
    /// A test begins; what stands behind its name is of it.
    Test {
        heading: &'a str,
        rest: &'a str,
    },
    /// A part of a test.
    Part {
        rest: &'a str,
    },
    /// What prepares the tests of a class or a module.
    Hook {
        rest: &'a str,
    },
    Written(&'a str),
}

// === impl BegunTests ===

impl BegunTests {
    /// Reads the lines before the failures. A line without the name of a class may be that of a test, too, where `has_nameless`
    /// says so.
    pub(super) fn read(lines: &[&str], has_nameless: bool) -> Self {
        let mut run = Self::default();
        let mut place = VerdictPlace::None;
        let mut lines = lines.iter().copied().peekable();
        while let Some(line) = lines.next() {
            let mut text = line;
            while let RunLine::Test { heading, rest } = run_line(text, lines.peek(), has_nameless) {
                if heading == text {
                    lines.next();
                }
                run.begin(heading);
                place = VerdictPlace::None;
                text = rest;
            }
            match run_line(text, lines.peek(), has_nameless) {
                RunLine::Part { rest } if verdict(rest) == Some(TestVerdict::Skipped) => {
                    run.skipped += 1;
                    if let Some(test) = run.tests.last_mut() {
                        test.has_skipped_part = true;
                    }
                }
                RunLine::Hook { rest } => {
                    run.skipped += u64::from(verdict(rest) == Some(TestVerdict::Skipped));
                }
                RunLine::Part { .. } | RunLine::Test { .. } => {}
                RunLine::Written(text) => run.end(text, text.len() < line.len(), &mut place),
            }
        }
        run
    }

    fn begin(&mut self, heading: &str) {
        let last = self.tests.last();
        self.again += u64::from(last.is_some_and(|last| last.heading == heading));
        self.tests.push(BegunTest { heading: heading.to_owned(), ..BegunTest::default() });
    }

    /// Takes what may be the verdict of the last test.
    fn end(&mut self, text: &str, is_beside: bool, place: &mut VerdictPlace) {
        let alone = verdict(text);
        // What a test wrote without ending its line stands before the verdict.
        let found = alone.or_else(|| ending(text).filter(|_| *place <= VerdictPlace::Ending));
        let Some(found) = found else { return };
        // Some versions write no name of what does not even begin: 3.12.1 of tests, those before 3.11 of classes.
        let is_skipped = found == TestVerdict::Skipped;
        self.skipped += u64::from(is_skipped);
        let Some(test) = self.tests.last_mut() else { return };
        let is_old = !class_of(&test.heading).ends_with(name_of(&test.heading));
        let has_ended = *place == VerdictPlace::Beside || (*place == VerdictPlace::Alone && is_old);
        if is_skipped && has_ended {
            return;
        }
        test.verdict = Some(found);
        *place = match (alone.is_some(), is_beside) {
            (true, true) => VerdictPlace::Beside,
            (true, false) => VerdictPlace::Alone,
            (false, _) => VerdictPlace::Ending,
        };
    }
}

/// What a text is, with the line behind it: a test that has a documentation is named on the line before that.
fn run_line<'a>(text: &'a str, next: Option<&&'a str>, has_nameless: bool) -> RunLine<'a> {
    if let Some((heading, rest)) = text.split_once(" ... ").filter(|(text, _)| is_name(text)) {
        return named(heading, rest);
    }
    if is_name(text)
        && let Some((_, rest)) = next.and_then(|next| next.rsplit_once(" ... "))
    {
        return named(text, rest);
    }
    match text.rsplit_once(" ... ") {
        Some((heading, rest)) if has_nameless && verdict(rest).is_some() => {
            RunLine::Test { heading, rest }
        }
        _ => RunLine::Written(text),
    }
}

fn named<'a>(heading: &'a str, rest: &'a str) -> RunLine<'a> {
    match heading.starts_with("  ") {
        true => RunLine::Part { rest },
        false if is_hook(heading) => RunLine::Hook { rest },
        false => RunLine::Test { heading, rest },
    }
}

/// Whether a heading is of what prepares the tests of a class or a module.
pub(super) fn is_hook(heading: &str) -> bool {
    ["setUpClass (", "tearDownClass (", "setUpModule (", "tearDownModule ("]
        .iter()
        .any(|hook| heading.starts_with(hook))
}

/// `test_a (tests.test_a.A.test_a)`, of a part with what it is: `test_a (tests.test_a.A.test_a) (n=1)`.
fn is_name(text: &str) -> bool {
    let Some((name, class)) = text.trim_start().split_once(" (") else { return false };
    let Some((class, rest)) = class.split_once(')') else { return false };
    let is_path = |c: char| c.is_alphanumeric() || "._<>".contains(c);
    !name.is_empty()
        && !name.contains(' ')
        && !class.is_empty()
        && class.chars().all(is_path)
        && (rest.is_empty() || rest.ends_with([')', ']']))
}

/// `test_a` of `test_a (tests.test_a.A.test_a)`.
fn name_of(heading: &str) -> &str {
    heading.split(" (").next().unwrap_or(heading)
}

/// `tests.test_a.A.test_a` of `test_a (tests.test_a.A.test_a)`; before Python 3.11 it ends with the class.
fn class_of(heading: &str) -> &str {
    let class = heading.split_once(" (").map_or("", |(_, class)| class);
    class.split(')').next().unwrap_or(class)
}

/// A verdict that stands alone.
fn verdict(text: &str) -> Option<TestVerdict> {
    match text {
        "ok" => Some(TestVerdict::Passed),
        "expected failure" => Some(TestVerdict::ExpectedFailure),
        "unexpected success" => Some(TestVerdict::UnexpectedSuccess),
        "FAIL" | "ERROR" => Some(TestVerdict::Bad),
        _ => {
            let reason = text.strip_prefix("skipped ")?;
            let is_quoted = |quote| reason.starts_with(quote) && reason.ends_with(quote);
            (is_quoted('\'') || is_quoted('"')).then_some(TestVerdict::Skipped)
        }
    }
}

/// A verdict behind what a test wrote.
fn ending(text: &str) -> Option<TestVerdict> {
    if let Some((at, _)) = text.rmatch_indices("skipped ").next()
        && let Some(found) = verdict(&text[at..])
    {
        return Some(found);
    }
    let words = ["ok", "expected failure", "unexpected success", "FAIL", "ERROR"];
    words.into_iter().find(|word| text.ends_with(word)).and_then(verdict)
}
