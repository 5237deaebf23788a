//! What pytest calls its tests, from the lines that it writes as they end: its report keeps only parts of the names, and
//! not how often a test was run.

use std::collections::BTreeMap;

/// How a test ended, as pytest writes it behind the name, or before it where workers run it.
const ENDINGS: &[&str] = &[
    "PASSED",
    "FAILED",
    "ERROR",
    "SKIPPED",
    "XFAIL",
    "XPASS",
    "RERUN",
    "SUBPASSED",
    "SUBFAILED",
    "SUBSKIPPED",
];

/// The names of tests that have ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PytestNodes {
    /// Whole names by the name and the class in the report.
    known: BTreeMap<String, BTreeMap<String, String>>,
    /// How often a test was run again.
    again: BTreeMap<String, u64>,
}

// === impl PytestNodes ===

impl PytestNodes {
    /// Reads the standard output of a run with `-v`.
    pub(crate) fn read(stdout: &str) -> Self {
        let mut nodes = Self::default();
        // The first line of such signs is the head, the second stands above what failed.
        let is_rule = |line: &&str| line.starts_with("=====");
        let head = stdout.lines().skip_while(|line| !is_rule(line)).skip(1);
        for (id, ending) in head.take_while(|line| !is_rule(line)).filter_map(ended) {
            if ending == "RERUN" {
                *nodes.again.entry(id.to_owned()).or_default() += 1;
            }
            let (class, name) = in_report(id);
            nodes.known.entry(name).or_default().entry(class).or_insert_with(|| id.to_owned());
        }
        nodes
    }

    /// The whole name of a test of the report.
    pub(super) fn find(&self, class: &str, name: &str) -> Option<&str> {
        let known = self.known.get(name)?;
        if let Some(id) = known.get(class) {
            return Some(id);
        }
        // Names of the output begin at the directory of the run, those of the report where the project's configuration
        // lies.
        let ends = |long: &str, end: &str| {
            long.strip_suffix(end).is_some_and(|before| before.ends_with('.'))
        };
        let mut alike = known.iter().filter(|(known, _)| ends(known, class) || ends(class, known));
        let (_, id) = alike.next()?;
        alike.next().is_none().then_some(id)
    }

    /// How often tests were run again, by their names.
    pub(super) fn run_again(&self) -> &BTreeMap<String, u64> {
        &self.again
    }
}

/// The name and the ending in `tests/a.py::test_b PASSED`, `[gw0] [ 50%] PASSED tests/a.py::test_b`.
fn ended(line: &str) -> Option<(&str, &str)> {
    let of_worker = line.strip_prefix("[gw").and_then(|line| line.split_once("] "));
    let (id, ending) = match of_worker {
        Some((_, line)) => {
            let line = line.strip_prefix('[').and_then(|line| line.split_once("] "));
            let line = line.map_or(of_worker?.1, |(_, line)| line);
            let (ending, id) = line.split_once(' ')?;
            let ending = ENDINGS.iter().find(|one| word_of(ending) == **one)?;
            (id, *ending)
        }
        None => {
            let found = ENDINGS.iter().filter_map(|ending| {
                let mut found = line.match_indices(ending);
                let (at, _) = found.find(|(at, _)| {
                    let before = line[..*at].ends_with(' ');
                    before
                        && line[at + ending.len()..].chars().next().is_none_or(|c| " (".contains(c))
                })?;
                Some((at, *ending))
            });
            let (at, ending) = found.min()?;
            (&line[..at - 1], ending)
        }
    };
    // What a class inherits is followed by its file in older versions.
    let id = id.split(" <- ").next().unwrap_or(id);
    let id = if of_worker.is_some() { id.trim_end() } else { id };
    id.contains("::").then_some((id, ending))
}

/// The word before what is said of a part: `SUBFAILED(i=0)`.
fn word_of(ending: &str) -> &str {
    ending.split('(').next().unwrap_or(ending)
}

/// The class and the name that the report has of a node.
fn in_report(id: &str) -> (String, String) {
    let (path, parameters) = match id.find('[') {
        Some(at) => id.split_at(at),
        None => (id, ""),
    };
    let mut parts: Vec<&str> = path.split("::").collect();
    let name = parts.pop().unwrap_or_default();
    let file = parts.first().map(|file| file.replace('/', "."));
    let file = file.map(|file| file.strip_suffix(".py").unwrap_or(&file).to_owned());
    let classes = parts.iter().skip(1).map(|part| (*part).to_owned());
    let class: Vec<String> = file.into_iter().chain(classes).collect();
    (class.join("."), format!("{name}{parameters}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_lines_of_any_run() {
        for (line, expected) in [
            ("tests/v1.0/a.py::test_x PASSED", Some("tests/v1.0/a.py::test_x")),
            ("a.py::A::test_x <- base.py FAILED", Some("a.py::A::test_x")),
            ("a.py::test_p[  sp] SKIPPED (not PASSED)", Some("a.py::test_p[  sp]")),
            ("a.py::test_p[x::y] SUBFAILED(i=0)", Some("a.py::test_p[x::y]")),
            ("[gw1] [ 50%] PASSED a.py::test_x ", Some("a.py::test_x")),
            ("[gw1] FAILED a.py::test_x", Some("a.py::test_x")),
            ("a.py::test_x ", None),
            ("a.py::test_PASSED", None),
            ("plugins: x PASSED", None),
        ] {
            assert_eq!(ended(line).map(|(id, _)| id), expected, "{line}");
        }
    }

    #[test]
    fn names_of_the_report_are_those_of_the_output() {
        let stdout = "=== head ===\n===== test session starts =====\nsub/tests/v1.0/a.py::test_x PASSED\n\
                      sub/a.py::A::test_p[b/c.py] RERUN\nsub/a.py::A::test_p[b/c.py] FAILED\n===== FAILURES =====\n\
                      z.py::test_z PASSED\n";
        let nodes = PytestNodes::read(stdout);
        for (class, name, expected) in [
            ("sub.tests.v1.0.a", "test_x", Some("sub/tests/v1.0/a.py::test_x")),
            ("tests.v1.0.a", "test_x", Some("sub/tests/v1.0/a.py::test_x")),
            ("sub.a.A", "test_p[b/c.py]", Some("sub/a.py::A::test_p[b/c.py]")),
            ("sub.a.B", "test_p[b/c.py]", None),
            ("z", "test_z", None),
        ] {
            assert_eq!(nodes.find(class, name), expected, "{class} {name}");
        }
        assert_eq!(nodes.run_again().len(), 1);
    }
}
