//! JUnit XML, in the dialects of many tools: suites in suites or none around, files and lines or none.

mod dialect;

pub(crate) use self::dialect::FAILED_AS_A_WHOLE;

use super::xml::{self, XmlElement, XmlPart, add_text};
use super::{CaseOutcome, TestCase, TestReport, first_line, milliseconds};
use crate::framework::TestFramework;

/// A test as the report has it.
#[derive(Debug, Default)]
struct JunitCase {
    class: String,
    name: String,
    /// The attribute `status` of CTest.
    status: String,
    /// Why it was left out.
    skipped: String,
    /// The outermost suite around it that has a name.
    suite: String,
    case: TestCase,
}

/// A suite that is read.
#[derive(Debug)]
struct JunitSuite {
    name: String,
    file: Option<String>,
}

/// Where a text belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum JunitText {
    Failure,
    Output,
    Ignored,
}

#[derive(Debug)]
struct JunitReading {
    framework: TestFramework,
    report: TestReport,
    /// The suites around, innermost last.
    suites: Vec<JunitSuite>,
    case: Option<JunitCase>,
    place: JunitText,
    text: String,
    is_report: bool,
}

/// Reads a report in the dialect of a framework; one cut short counts as far as it goes.
pub(crate) fn read(text: &str, framework: TestFramework) -> TestReport {
    let mut reading = JunitReading {
        framework,
        report: TestReport::default(),
        suites: Vec::new(),
        case: None,
        place: JunitText::Ignored,
        text: String::new(),
        is_report: false,
    };
    let problem = xml::read(text, |part| match part {
        XmlPart::Start(element) => reading.open(element),
        XmlPart::End(name) => reading.close(name),
        XmlPart::Text(text) => reading.write(text),
    });
    reading.report.problem = problem.or(reading.report.problem);
    if !reading.is_report && reading.report.problem.is_none() {
        reading.report.problem = Some("the report is not JUnit XML".to_owned());
    }
    dialect::tidied(reading.report, framework)
}

// === impl JunitReading ===

impl JunitReading {
    fn open(&mut self, element: &XmlElement<'_>) {
        match element.name().as_str() {
            "testsuites" => self.is_report = true,
            "testsuite" => {
                self.is_report = true;
                let file = element.attribute("file").or_else(|| element.attribute("filepath"));
                let name = element.attribute("name").unwrap_or_default();
                self.suites.push(JunitSuite { name, file });
            }
            "testcase" => self.case = Some(self.opened(element)),
            "failure" => self.end_as(element, CaseOutcome::Failed),
            "error" => self.end_as(element, CaseOutcome::Errored),
            "skipped" => {
                if let Some(case) = &mut self.case {
                    case.case.outcome = CaseOutcome::Skipped;
                    case.skipped = element.attribute("message").unwrap_or_default();
                }
                self.begin(JunitText::Ignored);
            }
            "system-out" | "system-err" => self.begin(JunitText::Output),
            // What failed before it passed, or failed again, adds nothing (`flakyFailure`, `rerunFailure`).
            _ => self.begin(JunitText::Ignored),
        }
    }

    fn begin(&mut self, place: JunitText) {
        self.place = place;
        self.text.clear();
    }

    fn opened(&self, element: &XmlElement<'_>) -> JunitCase {
        let [class, name, status, file, line, time] =
            element.attributes(["classname", "name", "status", "file", "line", "time"]);
        let of_suite = self.suites.iter().rev().find_map(|suite| suite.file.clone());
        let outermost = self.suites.iter().find(|suite| !suite.name.is_empty());
        JunitCase {
            class: class.unwrap_or_default(),
            name: name.unwrap_or_default(),
            status: status.unwrap_or_default(),
            skipped: String::new(),
            suite: outermost.map(|suite| suite.name.clone()).unwrap_or_default(),
            case: TestCase {
                file: file.or(of_suite),
                line: line.and_then(|line| line.parse().ok()),
                duration_ms: time.and_then(|time| milliseconds(time.parse().ok()?)),
                ..TestCase::default()
            },
        }
    }

    fn end_as(&mut self, element: &XmlElement<'_>, outcome: CaseOutcome) {
        if let Some(JunitCase { case, .. }) = &mut self.case {
            case.outcome = outcome;
            if case.message.is_empty() {
                case.message = element.attribute("message").unwrap_or_default();
            }
        }
        self.begin(JunitText::Failure);
    }

    fn write(&mut self, text: &str) {
        if self.place != JunitText::Ignored {
            add_text(&mut self.text, text);
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "testsuite" => drop(self.suites.pop()),
            "testcase" => {
                if let Some(case) = self.case.take() {
                    dialect::finish(case, self.framework, &mut self.report);
                }
            }
            "failure" | "error" | "system-out" | "system-err" => self.end_text(),
            _ => {}
        }
    }

    fn end_text(&mut self) {
        let text = std::mem::take(&mut self.text);
        let place = std::mem::replace(&mut self.place, JunitText::Ignored);
        let Some(JunitCase { case, .. }) = &mut self.case else { return };
        match place {
            JunitText::Failure => {
                if case.message.is_empty() {
                    case.message = first_line(&text);
                }
                case.details.push_str(&text);
            }
            JunitText::Output => case.output.push_str(&text),
            JunitText::Ignored => {}
        }
    }
}
