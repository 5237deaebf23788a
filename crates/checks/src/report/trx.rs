//! The `trx` of Visual Studio, which `dotnet test` writes.

use std::collections::BTreeMap;

use super::xml::{self, XmlElement, XmlPart, add_text};
use super::{CaseOutcome, TestCase, TestReport, first_line};

#[derive(Debug, Default)]
struct TrxReading {
    report: TestReport,
    /// The tests that are read, innermost last: one with data has a result of its own around those of its rows, and is
    /// counted beside them.
    open: Vec<TrxResult>,
    /// The tests that were read.
    closed: Vec<TrxResult>,
    /// The id of the definition that is read.
    definition: String,
    /// What chooses the test of a definition: its class and its method.
    names: BTreeMap<String, String>,
    /// The elements around, innermost last.
    around: Vec<String>,
    text: String,
    is_report: bool,
}

/// A result, with the id of its definition, which stands behind all of them.
#[derive(Debug, Default)]
struct TrxResult {
    definition: String,
    case: TestCase,
    has_rows: bool,
}

/// Reads a TRX file; one cut short counts as far as it goes.
pub(crate) fn read(text: &str) -> TestReport {
    let mut reading = TrxReading::default();
    let problem = xml::read(text, |part| match part {
        XmlPart::Start(element) => reading.open(element),
        XmlPart::End(name) => reading.close(name),
        XmlPart::Text(text) => add_text(&mut reading.text, text),
    });
    let not_one = (!reading.is_report).then(|| "the report is no trx".to_owned());
    for TrxResult { definition, mut case, has_rows: _ } in std::mem::take(&mut reading.closed) {
        // NUnit and MSTest show the method alone, which chooses nothing.
        if let Some(name) = reading.names.get(&definition) {
            case.id.clone_from(name);
        }
        reading.report.push(case);
    }
    reading.report.problem = problem.or(not_one).or(reading.report.problem);
    reading.report
}

// === impl TrxReading ===

impl TrxReading {
    fn open(&mut self, element: &XmlElement<'_>) {
        let name = element.name();
        self.is_report |= name == "TestRun";
        if name == "UnitTestResult" {
            let outcome = match element.attribute("outcome").as_deref() {
                Some("Passed" | "PassedButRunAborted") => CaseOutcome::Passed,
                Some("Failed") => CaseOutcome::Failed,
                Some("NotExecuted" | "Inconclusive" | "NotRunnable" | "Pending") => {
                    CaseOutcome::Skipped
                }
                _ => CaseOutcome::Errored,
            };
            let id = element.attribute("testName").unwrap_or_default();
            // The arguments of a test are no part of what chooses it.
            let id = id.split('(').next().unwrap_or_default().to_owned();
            let duration_ms = element.attribute("duration").and_then(|text| duration(&text));
            self.open.push(TrxResult {
                definition: element.attribute("testId").unwrap_or_default(),
                case: TestCase { id, outcome, duration_ms, ..TestCase::default() },
                has_rows: element.attribute("resultType").as_deref() == Some("DataDrivenTest"),
            });
        }
        if name == "UnitTest" {
            self.definition = element.attribute("id").unwrap_or_default();
        }
        if name == "TestMethod" {
            let class = element.attribute("className").unwrap_or_default();
            // Older ones name the assembly behind it.
            let class = class.split(',').next().unwrap_or_default().trim();
            let method = element.attribute("name").unwrap_or_default();
            let method = method.split('(').next().unwrap_or_default();
            let is_whole = class.is_empty() || method.starts_with(&format!("{class}."));
            let name = if is_whole { method.to_owned() } else { format!("{class}.{method}") };
            if !name.is_empty() && !self.definition.is_empty() {
                self.names.insert(self.definition.clone(), name);
            }
        }
        self.around.push(name);
        self.text.clear();
    }

    fn close(&mut self, name: &str) {
        self.around.pop();
        let text = std::mem::take(&mut self.text);
        let Some(TrxResult { case, .. }) = self.open.last_mut() else { return };
        match name {
            "Message" if self.around.iter().any(|one| one == "ErrorInfo") => {
                case.message = text.trim().to_owned();
                let value = |label: &str| {
                    let mut lines = case.message.lines().map(str::trim);
                    lines
                        .find_map(|line| line.strip_prefix(label))
                        .map(|rest| rest.trim().to_owned())
                };
                let (expected, actual) = (value("Expected:"), value("Actual:"));
                (case.expected, case.actual) = (expected, actual);
            }
            "StackTrace" => {
                let own = text.lines().find_map(|line| line.rsplit_once(" in ")).map(|(_, at)| at);
                let (file, line) = own.and_then(|at| at.rsplit_once(":line ")).unzip();
                case.file = file.map(str::to_owned);
                case.line = line.and_then(|line| line.trim().parse().ok());
                case.details = text;
            }
            "StdOut" | "StdErr" => case.output.push_str(&text),
            "UnitTestResult" => {
                let Some(mut closed) = self.open.pop() else { return };
                let case = &mut closed.case;
                if case.is_bad() && case.message.is_empty() {
                    case.message = match closed.has_rows {
                        true => "a row of its data failed".to_owned(),
                        false => first_line(&case.details),
                    };
                }
                self.closed.push(closed);
            }
            _ => {}
        }
    }
}

/// Reads a duration such as `00:00:00.0123456`, in milliseconds.
fn duration(text: &str) -> Option<u64> {
    let mut parts = text.rsplitn(3, ':');
    let seconds: f64 = parts.next()?.parse().ok()?;
    let minutes: f64 = parts.next()?.parse().ok()?;
    let hours: f64 = parts.next()?.parse().ok()?;
    super::milliseconds((hours * 60.0 + minutes) * 60.0 + seconds)
}
