//! Signs, one for each test, in lines that grow while tests end: those of RSpec and of pytest.

use std::ops::Range;

use crate::framework::TestFramework;

/// Most blanks in the name of a file behind which signs are looked for.
const BLANKS_MAX: usize = 16;

/// How the tests ended whose signs were taken off a line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct EndedSigns {
    pub(super) done: u64,
    pub(super) failed: u64,
}

/// How far a stream of signs is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum SignStage {
    /// Nothing but what tests write has come in this line.
    #[default]
    Awaited,
    /// Signs of tests were counted.
    Begun,
    /// They have ended: what follows is for people.
    Over,
}

// === impl SignStage ===

impl SignStage {
    /// Takes the signs off a line that may not have ended, and counts them.
    pub(super) fn take(&mut self, framework: TestFramework, line: &mut String) -> EndedSigns {
        let place = match framework {
            _ if *self == Self::Over => return EndedSigns::default(),
            TestFramework::Rspec => 0..leading(line, ".F*"),
            TestFramework::Pytest => pytest(line),
            _ => return EndedSigns::default(),
        };
        let mut ended = EndedSigns::default();
        for sign in line.drain(place) {
            // The others are parts of tests, and tests that run again.
            ended.done += u64::from(".F*EsxX".contains(sign));
            ended.failed += u64::from("FE".contains(sign));
        }
        if ended.done > 0 {
            *self = Self::Begun;
        }
        ended
    }

    /// A line has ended, of which so much is left.
    pub(super) fn end_line(&mut self, framework: TestFramework, rest: &str) {
        *self = match (framework, *self) {
            (TestFramework::Rspec, Self::Begun) if rest.is_empty() => Self::Over,
            (TestFramework::Rspec, Self::Begun) => Self::Awaited,
            (TestFramework::Pytest, Self::Begun) if is_heading(rest) => Self::Over,
            (_, stage) => stage,
        };
    }
}

/// How many characters of a line are such signs, from its beginning on.
fn leading(line: &str, signs: &str) -> usize {
    line.len() - line.trim_start_matches(|sign: char| signs.contains(sign)).len()
}

/// Where pytest has signs in a line: behind the name of a file, `tests/a.py ..F.`, or in a line of their own where
/// several processes run tests.
fn pytest(line: &str) -> Range<usize> {
    if !line.contains(' ') {
        return 0..pytest_signs(line);
    }
    let blanks = line.match_indices(' ').map(|(at, _)| at).take(BLANKS_MAX);
    let mut places = blanks.filter(|at| is_file(&line[..*at])).map(|at| {
        let start = at + 1;
        start..start + pytest_signs(&line[start..])
    });
    places.find(|place| !place.is_empty()).unwrap_or_default()
}

/// With how many signs a text begins. What tests write may stand behind a sign, and may begin with a letter that is one: a
/// letter counts only where nothing else follows.
fn pytest_signs(text: &str) -> usize {
    match leading(text, ".FEsxX,uyYR-") {
        all if all == text.len() => all,
        _ => leading(text, "."),
    }
}

/// Whether a line begins a part of what pytest writes: `=== FAILURES ===`.
fn is_heading(line: &str) -> bool {
    line.starts_with('=') && line.ends_with('=') && line.contains(' ')
}

/// Whether a text is the name of a file with an extension, and not of a test in it.
fn is_file(text: &str) -> bool {
    let name = text.rsplit('/').next().unwrap_or(text);
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let is_extension = !extension.is_empty() && extension.chars().all(char::is_alphanumeric);
    is_extension && !text.contains("::")
}
