//! What output says of a build and of files that were not loaded, where the report does not.

use crate::diagnostic::{CheckDiagnostic, CheckSeverity};
use crate::framework::TestFramework;
use crate::lint_output::gnu;
use crate::report::{TestReport, javascript, libtest, node, position, without_colours};
use crate::run::FinishedRun;

/// Most lines of output that are looked at.
const LINES_MAX: usize = 2_000;
/// What Swift says of a package without a target of tests, as an error.
pub(super) const NO_TESTS_OF_SWIFT: &str = "error: no tests found";

// === impl TestFramework ===

impl TestFramework {
    /// What the output says of a build or of files that were not loaded, where the report does not.
    pub(super) fn build_errors(self, finished: &FinishedRun<'_>) -> Option<Vec<CheckDiagnostic>> {
        let (stdout, stderr) = (finished.stdout, finished.stderr);
        let has_report = !finished.reports.is_empty();
        match self {
            Self::Nextest => {
                let built = libtest::built(stderr);
                built.is_build_failed.then_some(built.build)
            }
            Self::Mocha if !has_report => {
                javascript::mocha_not_loaded(stderr).map(|problem| vec![problem])
            }
            Self::Bun => unhandled(stderr),
            Self::Deno if !has_report && stderr.contains("error: ") => deno_not_loaded(stderr),
            Self::Phpunit if !has_report => php_not_loaded(&format!("{stderr}\n{stdout}")),
            Self::Ctest if !has_report => built_by_make(&format!("{stdout}\n{stderr}")),
            Self::Maven | Self::Gradle | Self::Dotnet | Self::Swift if !has_report => {
                compiled(&format!("{stdout}\n{stderr}"), self)
            }
            // Modules before the one that was not built have reports. A test may write of errors, too: only what
            // names a place counts then.
            Self::Maven | Self::Gradle | Self::Dotnet if finished.exit_code != Some(0) => {
                let found = compiled(&format!("{stdout}\n{stderr}"), self);
                found.filter(|found| !found.is_empty())
            }
            _ => None,
        }
    }
}

// === impl TestReport ===

impl TestReport {
    /// Adds what was not built or loaded.
    pub(super) fn add_build(&mut self, found: Option<Vec<CheckDiagnostic>>) {
        if let Some(found) = found {
            self.is_build_failed = true;
            self.build.extend(found);
        }
    }
}

/// What could not be loaded, and in which line and where in it, 0 for what nobody says.
fn not_loaded(path: &str, (line, column): (u64, u64), message: &str) -> CheckDiagnostic {
    CheckDiagnostic::at(path, line, column, CheckSeverity::Error, "load", message.trim())
}

/// Finds in the output why files of Node failed as a whole: its report does not say.
pub(super) fn explain_node(build: &mut [CheckDiagnostic], stdout: &str) {
    let lines: Vec<&str> = stdout.lines().take(LINES_MAX).collect();
    for found in build.iter_mut().filter(|found| found.message == node::FAILED_AS_A_WHOLE) {
        let Some(at) = lines.iter().position(|line| line.contains(&found.path)) else { continue };
        let near = lines[at..].iter().take(10);
        let Some(error) = near.clone().find(|line| line.contains("Error")) else { continue };
        found.message = format!("{}: {}", found.message, error.trim());
        let named = format!("{}:", found.path);
        let mut named = near.filter_map(|line| line.split_once(&named));
        if let Some((line, column)) = named.find_map(|(_, rest)| position(rest)) {
            (found.line, found.column) = (line, column);
            (found.end_line, found.end_column) = (line, column);
        }
    }
}

/// What Bun says of files that it cannot load: its report does not know them.
fn unhandled(stderr: &str) -> Option<Vec<CheckDiagnostic>> {
    let mut found = Vec::new();
    let mut file = "";
    let mut is_in = false;
    for line in stderr.lines().take(LINES_MAX) {
        if let Some(name) = line.strip_suffix(':').filter(|name| !name.contains(' ')) {
            file = name;
        }
        is_in |= line.starts_with("# Unhandled error between tests");
        if let Some(message) = line.strip_prefix("error: ").filter(|_| is_in) {
            found.push(not_loaded(file, (0, 0), message));
            is_in = false;
        }
    }
    (!found.is_empty()).then_some(found)
}

/// `TS2307 [ERROR]: …` or `error: …`, then `    at file:///w/a_test.ts:1:8`.
fn deno_not_loaded(stderr: &str) -> Option<Vec<CheckDiagnostic>> {
    let plain = without_colours(stderr);
    let mut found = Vec::new();
    let mut message = "";
    for line in plain.lines().take(LINES_MAX) {
        let said = line.split_once(" [ERROR]: ").map(|(_, said)| said);
        if let Some(said) = said.or_else(|| line.strip_prefix("error: ")) {
            message = said;
        }
        let Some(at) = line.trim().strip_prefix("at file://") else { continue };
        let mut parts = at.rsplitn(3, ':');
        let (column, line, path) = (parts.next(), parts.next(), parts.next());
        if let (Some(Ok(line)), Some(path)) = (line.map(str::parse), path) {
            let column = column.and_then(|column| column.parse().ok()).unwrap_or(0);
            found.push(not_loaded(path, (line, column), message));
        }
    }
    (!found.is_empty()).then_some(found)
}

/// `PHP Fatal error:  Uncaught ParseError: syntax error, … in /w/tests/ATest.php:1`, and `on line 1`.
fn php_not_loaded(said: &str) -> Option<Vec<CheckDiagnostic>> {
    let line = said
        .lines()
        .take(LINES_MAX)
        .find(|line| line.contains("Fatal error: ") || line.contains("Parse error: "))?;
    let (_, message) = line.split_once("error: ")?;
    let (message, at) = message.rsplit_once(" in ")?;
    let at = at.replace(" on line ", ":");
    let (path, number) = at.rsplit_once(':')?;
    Some(vec![not_loaded(path, (number.trim().parse().unwrap_or(0), 0), message)])
}

/// Errors of a compiler that CMake ran.
fn built_by_make(said: &str) -> Option<Vec<CheckDiagnostic>> {
    let is_failed = ["*** [", "ninja: build stopped", "FAILED: "];
    let errors = gnu::read(said, "build");
    let errors: Vec<_> =
        errors.into_iter().filter(|error| error.severity == CheckSeverity::Error).collect();
    let has_error = said.contains(" error: ") || said.contains(": error:");
    (has_error && is_failed.iter().any(|sign| said.contains(sign))).then_some(errors)
}

/// Errors of compilers that Maven, Gradle, .NET and Swift run.
fn compiled(said: &str, framework: TestFramework) -> Option<Vec<CheckDiagnostic>> {
    let signs: &[&str] = match framework {
        TestFramework::Maven => &["COMPILATION ERROR", "Compilation failure"],
        TestFramework::Gradle => &["Compilation failed", "Compilation error"],
        TestFramework::Dotnet => &["error CS", "error FS", "Build FAILED"],
        _ => &["error: "],
    };
    let is_without_tests = framework == TestFramework::Swift && said.contains(NO_TESTS_OF_SWIFT);
    if is_without_tests || !signs.iter().any(|sign| said.contains(sign)) {
        return None;
    }
    let mut found: Vec<CheckDiagnostic> = Vec::new();
    for line in said.lines().take(LINES_MAX) {
        let Some(error) = compiler_error(line) else { continue };
        if !found.contains(&error) {
            found.push(error);
        }
    }
    Some(found)
}

/// `[ERROR] /w/A.java:[3,5] message`, `/w/A.java:3: error: message`, `/w/A.cs(3,5): error CS1002: message [x]`,
/// `e: file:///w/A.kt:3:5 message`.
fn compiler_error(line: &str) -> Option<CheckDiagnostic> {
    let line = line.trim();
    if let Some((path, rest)) = line.strip_prefix("[ERROR] ").and_then(|rest| rest.split_once(":["))
    {
        let (numbers, message) = rest.split_once(']')?;
        let position = position(numbers)?;
        return path.starts_with('/').then(|| not_loaded(path, position, message));
    }
    if let Some((path, rest)) = line.split_once('(')
        && let Some((numbers, message)) = rest.split_once("): error ")
    {
        let position = position(numbers)?;
        let message = message.rsplit_once(" [").map_or(message, |(message, _)| message);
        return Some(not_loaded(path, position, message));
    }
    let line = line.strip_prefix("e: file://").unwrap_or(line);
    let mut found = gnu::read(line, "build");
    let error = found.pop()?;
    (error.severity == CheckSeverity::Error && error.path.contains('.')).then_some(error)
}
