//! JUnit XML, in the dialects of many tools: suites in suites or none around, files and lines or none.

mod dialect;
mod pytest_nodes;

pub(crate) use self::pytest_nodes::PytestNodes;

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
    case: TestCase,
}

/// Where a text belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum JunitText {
    Failure,
    Output,
    Ignored,
}

#[derive(Debug)]
struct JunitReading<'a> {
    framework: TestFramework,
    /// What pytest calls its tests; nothing of other frameworks.
    nodes: &'a PytestNodes,
    report: TestReport,
    /// The files of the suites around, innermost last.
    suites: Vec<Option<String>>,
    case: Option<JunitCase>,
    place: JunitText,
    text: String,
    is_report: bool,
}

/// Reads a report in the dialect of a framework; one cut short counts as far as it goes.
pub(crate) fn read(text: &str, framework: TestFramework, nodes: &PytestNodes) -> TestReport {
    let mut reading = JunitReading {
        framework,
        nodes,
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
    dialect::tidied(reading.report, framework, nodes)
}

// === impl JunitReading ===

impl JunitReading<'_> {
    fn open(&mut self, element: &XmlElement<'_>) {
        match element.name().as_str() {
            "testsuites" => self.is_report = true,
            "testsuite" => {
                self.is_report = true;
                let file = element.attribute("file").or_else(|| element.attribute("filepath"));
                self.suites.push(file);
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
        // What PHPUnit calls a class name has dots, as no name of PHP.
        let class = match self.framework {
            TestFramework::Phpunit => element.attribute("class"),
            _ => None,
        };
        let class = class.or_else(|| element.attribute("classname"));
        let [name, status, file, line, time] =
            element.attributes(["name", "status", "file", "line", "time"]);
        let of_suite = self.suites.iter().rev().find_map(Clone::clone);
        JunitCase {
            class: class.unwrap_or_default(),
            name: name.unwrap_or_default(),
            status: status.unwrap_or_default(),
            skipped: String::new(),
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
            // Several parts of a test may fail.
            let message = element.attribute("message").unwrap_or_default();
            if !case.message.is_empty() && !message.is_empty() {
                case.message.push('\n');
            }
            case.message.push_str(&message);
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
                    dialect::finish(case, self.framework, self.nodes, &mut self.report);
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
                if !case.details.is_empty() {
                    case.details.push('\n');
                }
                case.details.push_str(&text);
            }
            JunitText::Output => case.output.push_str(&text),
            JunitText::Ignored => {}
        }
    }
}
