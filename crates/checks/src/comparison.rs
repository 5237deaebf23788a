//! What a failure compares: what was expected, and what was there.

/// Both sides of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ComparedValues {
    pub(crate) expected: String,
    pub(crate) actual: String,
}

// === impl ComparedValues ===

impl ComparedValues {
    /// Finds two labelled lines or a sentence: those of Rust, Jest, Chai, RSpec, Go's testify, PHPUnit.
    pub(crate) fn find(text: &str) -> Option<Self> {
        let labelled = |labels: &[&str]| {
            text.lines().find_map(|line| {
                let line = line.trim();
                let found = labels.iter().find_map(|label| line.strip_prefix(label));
                found.map(|rest| rest.trim().to_owned())
            })
        };
        if let (Some(actual), Some(expected)) = (labelled(&["left:"]), labelled(&["right:"])) {
            return Some(Self { expected, actual });
        }
        let expected = labelled(&["Expected:", "expected:", "- Expected:"]);
        let actual = labelled(&["Received:", "Actual:", "actual:", "actual  :", "got:", "Got:"]);
        match (expected, actual) {
            (Some(expected), Some(actual)) if !(expected.is_empty() && actual.is_empty()) => {
                Some(Self { expected, actual })
            }
            _ => text.lines().find_map(Self::of_sentence),
        }
    }

    /// `AssertionError: expected 3 to be 4 // Object.is equality`.
    fn of_sentence(line: &str) -> Option<Self> {
        let line = line.trim().strip_prefix("AssertionError: ").unwrap_or(line.trim());
        let said = line.strip_prefix("expected ")?;
        let said = said.split(" // ").next().unwrap_or(said);
        let words = [
            " to strictly equal ",
            " to deeply equal ",
            " to deep equal ",
            " to equal ",
            " to be ",
        ];
        let (actual, expected) = words.iter().find_map(|word| said.split_once(*word))?;
        Some(Self { expected: expected.to_owned(), actual: actual.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_are_found() {
        for (text, expected, actual) in [
            ("assertion `left == right` failed\n  left: 3\n right: 4", "4", "3"),
            ("Expected: 4\nReceived: 3", "4", "3"),
            ("expected: 4\n     got: 3", "4", "3"),
            ("Not equal:\n  expected: 4\n  actual  : 3", "4", "3"),
            ("AssertionError: expected 3 to be 4 // Object.is equality", "4", "3"),
            ("expected { a: 1 } to deeply equal { a: 2 }", "{ a: 2 }", "{ a: 1 }"),
        ] {
            let found = ComparedValues::find(text).expect(text);
            assert_eq!((found.expected.as_str(), found.actual.as_str()), (expected, actual));
        }
        assert_eq!(ComparedValues::find("no <way>"), None);
        assert_eq!(ComparedValues::find("expected a file"), None);
    }
}
