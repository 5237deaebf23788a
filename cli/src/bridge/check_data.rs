//! `moss bridge check-data`.

use std::fmt::Write as _;
use std::path::PathBuf;

use moss_model_data::{
    CheckOptions, Checker, DataReport, Finding, FindingSeverity, Gate, Permitted,
};
use moss_workspace::named;
use serde_json::json;

use super::super::error::CliError;
use super::super::ui::{bold, dim, green, red, yellow};
use super::super::{Session, table, text};
use super::lines::LineReader;
use super::registry::{RegistryArgs, unreadable};
use super::training;
use moss_dispatch::Outcome;

/// Check training data against the tools and gates of the specification
///
/// FILE is JSONL: a sample on each line, `{"messages": […], "tags": […], "quality": {…}}`. Exits
/// with 1 if a gate fails.
#[derive(Debug, clap::Args)]
pub(crate) struct CheckDataArgs {
    /// The file of samples; `-` reads standard input
    file: PathBuf,

    #[command(flatten)]
    registry: RegistryArgs,

    /// Write the report to FILE, as JSON
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    /// Show at most N findings; all are counted
    #[arg(long, value_name = "N", default_value_t = 20)]
    max_findings: usize,
}

pub(super) fn run(args: &CheckDataArgs, session: &Session) -> Result<Outcome, CliError> {
    let registry = args.registry.load(session)?;
    let options = CheckOptions { risks: training::risks(), findings_max: args.max_findings };
    let mut checker = Checker::new(&registry, options);
    LineReader::open(&args.file, &session.ui)?.each(|line| {
        match line {
            Ok(line) => checker.line(line),
            Err(why) => checker.unreadable(why),
        };
        Ok(())
    })?;
    let report = checker.finish();
    if let Some(file) = &args.report {
        let mut json = serde_json::to_vec_pretty(&report).map_err(std::io::Error::from)?;
        json.push(b'\n');
        named::write(file, &json).map_err(unreadable)?;
    }
    session.ui.print_either(|| json!(report), || report_text(&report))?;
    Ok(if report.passed { Outcome::Ok } else { Outcome::Failed })
}

/// The report for people.
fn report_text(report: &DataReport) -> String {
    let mut shown = String::new();
    for finding in &report.findings {
        shown.push_str(&finding_line(finding));
    }
    if report.findings_omitted > 0 {
        let more = format!(
            "… {} more findings: use --max-findings N to show them\n",
            report.findings_omitted
        );
        shown.push_str(&dim(more));
    }
    if !report.codes.is_empty() {
        shown.push('\n');
        let rows: Vec<_> = report
            .codes
            .iter()
            .map(|(code, count)| {
                let severity = json!(code.severity());
                [word(&json!(code)), word(&severity), count.to_string()]
            })
            .collect();
        shown.push_str(&table::render(["FINDING", "KIND", "COUNT"], &rows));
        shown.push('\n');
    }
    shown.push_str(&counted(report));
    shown
}

fn finding_line(finding: &Finding) -> String {
    let place = format!("line {}", finding.line);
    let kind = match finding.severity {
        FindingSeverity::Error => red(word(&json!(finding.code))),
        FindingSeverity::Warning => yellow(word(&json!(finding.code))),
    };
    let pointer = match finding.pointer.as_str() {
        "" => String::new(),
        pointer => format!(" {}", text::line(pointer)),
    };
    let (message, fix) = (text::line(&finding.message), text::line(&finding.fix));
    format!("{}{pointer}: {kind}: {message}\n  {}\n", bold(place), dim(fix))
}

fn word(code: &serde_json::Value) -> String {
    code.as_str().unwrap_or_default().to_owned()
}

fn counted(report: &DataReport) -> String {
    let mut shown = format!(
        "{} samples on {} lines, {} calls, {} of them wrong on purpose, with an error as the result\n",
        report.samples, report.lines, report.calls, report.negative_calls
    );
    let (errors, warnings) = (report.errors, report.warnings);
    let _ = writeln!(shown, "findings: {errors} errors, {warnings} worth a look\n");
    let rows: Vec<_> = report.gates.iter().map(gate_row).collect();
    shown.push_str(&table::render(["GATE", "SHARE", "LEAST", "COUNTED", ""], &rows));
    let rows: Vec<_> = report
        .mix
        .iter()
        .map(|kind| {
            let class = kind.class.in_words().to_owned();
            [class, percent(kind.share), percent(kind.suggested), kind.samples.to_string()]
        })
        .collect();
    shown.push('\n');
    shown.push_str(&table::render(["SAMPLES", "SHARE", "SUGGESTED", "COUNT"], &rows));
    let Permitted { calls, with_permission } = report.writes;
    let _ = writeln!(
        shown,
        "\nwrites: {calls} calls, {with_permission} behind a word about permission"
    );
    if !report.tools_unused.is_empty() {
        let names = report.tools_unused.join(", ");
        let _ = writeln!(shown, "never called: {}", text::line(&names));
    }
    let verdict = match (report.passed, report.samples) {
        (true, _) => green("passed"),
        (false, 0) => red("not passed: there is no sample"),
        (false, _) => red("not passed"),
    };
    let _ = writeln!(shown, "\n{verdict}");
    shown
}

fn gate_row(gate: &Gate) -> [String; 5] {
    [
        gate.gate.in_words().to_owned(),
        gate.share.map_or_else(|| "-".to_owned(), percent),
        percent(gate.least),
        format!("{} of {}", gate.good, gate.of),
        if gate.passed { "passed" } else { "NOT PASSED" }.to_owned(),
    ]
}

/// A share as people read it. One that is not whole is not shown as whole.
fn percent(share: f64) -> String {
    let tenths = (share * 1000.0).floor();
    format!("{:.1} %", tenths / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_cut_not_rounded_up() {
        for (share, shown) in
            [(1.0, "100.0 %"), (0.99999, "99.9 %"), (0.0, "0.0 %"), (0.35, "35.0 %")]
        {
            assert_eq!(percent(share), shown);
        }
    }
}
