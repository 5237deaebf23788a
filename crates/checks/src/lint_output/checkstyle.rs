//! Checkstyle XML, as many tools write it: errors in files.

use super::LintReport;
use super::column::ColumnUnit;
use super::fields::severity_of;
use crate::diagnostic::{CheckDiagnostic, CheckSeverity};
use crate::report::xml::{self, XmlElement, XmlPart};

pub(crate) fn read(stdout: &str, source: &str) -> LintReport {
    let start = stdout.find('<').unwrap_or(stdout.len());
    let mut report = LintReport::of(ColumnUnit::Characters);
    let (mut file, mut is_report) = (String::new(), false);
    let problem = xml::read(&stdout[start..], |part| {
        let XmlPart::Start(element) = part else { return };
        match element.name().as_str() {
            "checkstyle" => is_report = true,
            "file" => file = element.attribute("name").unwrap_or_default(),
            "error" => report.push(diagnostic(element, &file, source)),
            _ => {}
        }
    });
    report.problem = match is_report {
        true => problem,
        false => Some("its output is not checkstyle XML".to_owned()),
    };
    report
}

fn diagnostic(element: &XmlElement<'_>, file: &str, source: &str) -> CheckDiagnostic {
    let number = |name| element.attribute(name).and_then(|text| text.trim().parse::<u64>().ok());
    let (line, column) = (number("line").unwrap_or(1), number("column").unwrap_or(1));
    let severity = element.attribute("severity").and_then(|word| severity_of(&word));
    CheckDiagnostic::at(
        file,
        line.max(1),
        column.max(1),
        severity.unwrap_or(CheckSeverity::Error),
        source,
        element.attribute("message").unwrap_or_default(),
    )
    .by_rule(element.attribute("source"))
}
