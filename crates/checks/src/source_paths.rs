//! Paths as tools write them, relative to the workspace root.

use crate::named_sources::{self, NamedSources};

/// Directories of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourcePaths {
    /// The workspace root, absolute.
    root: String,
    /// Where it ran, relative to the root; empty for the root itself.
    directory: String,
    /// What stands before the paths of the project's own packages, such as the module path of Go.
    prefix: Option<String>,
    /// Where the sources lie that are not named by their paths.
    sources: NamedSources,
}

// === impl SourcePaths ===

impl SourcePaths {
    /// Paths of a run in a directory of a workspace.
    pub fn new(root: &str, directory: &str) -> Self {
        let root = root.trim_end_matches('/').to_owned();
        Self { root, directory: directory.to_owned(), prefix: None, sources: NamedSources::new() }
    }

    /// As these, with what the project calls its own directory in the names of its packages.
    pub fn with_prefix(self, prefix: Option<String>) -> Self {
        Self { prefix, ..self }
    }

    /// As these, with sources that are not named by their paths.
    pub fn with_sources(self, sources: NamedSources) -> Self {
        Self { sources, ..self }
    }

    /// The source of a name with its package or module, `com/example/CalcTest.java`, where it is known.
    pub(crate) fn source(&self, name: &str) -> Option<&String> {
        self.sources.get(name)
    }

    /// A path relative to the workspace root; none where it lies outside.
    pub fn of_workspace(&self, path: &str) -> Option<String> {
        let path = path.strip_prefix("file://").unwrap_or(path);
        if let Some(inside) = path.strip_prefix(&self.root).and_then(|rest| rest.strip_prefix('/'))
        {
            return normal(inside);
        }
        if path.starts_with('/') {
            return None;
        }
        let path = match &self.prefix {
            // A module may be called as another one and more.
            Some(prefix) => {
                let rest = path.strip_prefix(prefix.as_str());
                rest.and_then(|rest| rest.strip_prefix('/')).unwrap_or(path)
            }
            None => path,
        };
        match self.directory.is_empty() {
            true => normal(path),
            false => normal(&format!("{}/{path}", self.directory)),
        }
    }

    /// A line of a stack in a file of the workspace.
    pub(crate) fn frame(&self, line: &str) -> Option<StackFrame> {
        // Quoted code is indented, or stands behind a mark.
        let is_at_margin = !line.starts_with([' ', '\t', '>', 'E']);
        let line = line.trim();
        if let Some((name, number)) = named_sources::frame_name(line) {
            let path = self.sources.get(&name)?.clone();
            return Some(StackFrame { path, line: number, text: line.to_owned() });
        }
        let (path, number) = python_frame(line).or_else(|| named_line(line, is_at_margin))?;
        let is_foreign = ["/node_modules/", "/site-packages/", "/.venv/", "/venv/", "/vendor/"]
            .iter()
            .any(|part| path.contains(part));
        let is_inside = path.contains('/') || path.contains('.');
        if is_foreign
            || !is_inside
            || path.starts_with("node:")
            || path.starts_with("ext:")
            || path.contains("://")
        {
            return None;
        }
        // Java and Go name only the file, without its directory.
        let is_bare = !path.contains('/')
            && [".go", ".java", ".kt", ".scala"].iter().any(|end| path.ends_with(end));
        let path = if is_bare { None } else { self.of_workspace(path) }?;
        let line = line.trim_end_matches(" {");
        let text = line.replace("file://", "").replace(&format!("{}/", self.root), "");
        Some(StackFrame { path, line: number, text })
    }
}

/// A line of a stack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StackFrame {
    /// The file, relative to the workspace root.
    pub(crate) path: String,
    /// The line in it.
    pub(crate) line: u64,
    /// All that the line says.
    pub(crate) text: String,
}

/// `File "a.py", line 3, in f`.
fn python_frame(line: &str) -> Option<(&str, u64)> {
    let (path, rest) = line.strip_prefix("File \"")?.split_once('"')?;
    let number = rest.strip_prefix(", line ")?.split(',').next()?;
    Some((path, number.trim().parse().ok()?))
}

/// `at f (a.js:4:82)`, `at a.js:4:82`, `/w/a_spec.rb:3:in 'block'`, `a.py:11: AssertionError`, `/w/ATest.php:5`,
/// `/w/a.go:12 +0x1d`: a path, a colon, a number.
fn named_line(line: &str, is_at_margin: bool) -> Option<(&str, u64)> {
    let is_stack = line.starts_with("at ");
    let (at, _) = line.match_indices(':').find(|(at, _)| {
        let after = &line[at + 1..];
        let digits = after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let before = line[..*at].chars().next_back();
        digits > 0 && before.is_some_and(|c| c.is_alphanumeric() || c == '_')
    })?;
    let start = match (is_stack, line[..at].rfind('(')) {
        (true, Some(open)) => open + 1,
        (true, None) => ["at async ", "at "].iter().find(|word| line.starts_with(*word))?.len(),
        // Code that is quoted is no frame: the path stands at the beginning.
        (false, _) => 0,
    };
    let path = line[start..at].trim_start_matches("file://");
    let may_have_blanks = is_at_margin && path.ends_with(".py");
    if !is_stack && !path.starts_with('/') && path.contains(' ') && !may_have_blanks {
        return None;
    }
    let digits = line[at + 1..].split(|c: char| !c.is_ascii_digit()).next()?;
    (!path.is_empty()).then_some((path, digits.parse().ok()?))
}

/// A path without `.` and `..`; none where it leads out.
fn normal(path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_those_of_the_workspace() {
        let paths = SourcePaths::new("/w/", "a/b").with_prefix(Some("example.com/m".to_owned()));
        for (path, expected) in [
            ("/w/x.rs", Some("x.rs")),
            ("x.rs", Some("a/b/x.rs")),
            ("./x.rs", Some("a/b/x.rs")),
            ("../x.rs", Some("a/x.rs")),
            ("../../../x.rs", None),
            ("/other/x.rs", None),
            ("file:///w/a.js", Some("a.js")),
            ("example.com/m/p/x_test.go", Some("a/b/p/x_test.go")),
            ("example.com/more/x_test.go", Some("a/b/example.com/more/x_test.go")),
        ] {
            assert_eq!(paths.of_workspace(path).as_deref(), expected, "{path}");
        }
    }

    #[test]
    fn frames_of_the_workspace_are_found() {
        let paths = SourcePaths::new("/w", "a");
        for (line, expected) in [
            ("    at Object.toBe (/w/a/calc.test.js:4:82)", Some(("a/calc.test.js", 4))),
            ("at async file:///w/a/calc.test.mjs:5:69", Some(("a/calc.test.mjs", 5))),
            ("at <anonymous> (calc.test.ts:4:82)", Some(("a/calc.test.ts", 4))),
            ("at run (/w/node_modules/jest/x.js:1:2)", None),
            ("at Module._compile (node:internal/modules/cjs/loader:1521:14)", None),
            (
                "  File \"/w/a/tests/test_a.py\", line 10, in test_wrong",
                Some(("a/tests/test_a.py", 10)),
            ),
            ("  File \"/usr/lib/python3/unittest/case.py\", line 10, in run", None),
            ("tests/test_calc.py:11: AssertionError", Some(("a/tests/test_calc.py", 11))),
            ("tests/it's a.py:11: AssertionError", Some(("a/tests/it's a.py", 11))),
            ("E   it's in a.py:11: no", None),
            ("/w/a/spec/calc_spec.rb:3:in `block (2 levels)'", Some(("a/spec/calc_spec.rb", 3))),
            ("/w/a/tests/CalcTest.php:5", Some(("a/tests/CalcTest.php", 5))),
            ("\t/w/a/boom/boom_test.go:8 +0x1d", Some(("a/boom/boom_test.go", 8))),
            ("at ./src/lib.rs:12:9", Some(("a/src/lib.rs", 12))),
            ("at com.example.CalcTest.adds(CalcTest.java:12)", None),
            ("Expected: 4:5", None),
            ("> 4 |   test('is a.js:4:5')", None),
        ] {
            let found = paths.frame(line).map(|frame| (frame.path, frame.line));
            let expected = expected.map(|(path, line)| (path.to_owned(), line));
            assert_eq!(found, expected, "{line}");
        }
    }
}
