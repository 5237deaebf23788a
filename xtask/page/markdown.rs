//! The page as Markdown.

use std::fmt::Write as _;

use moss_xtask::missed;
use moss_xtask::rows::{Row, Unit};
use moss_xtask::targets::{TargetVerdict, verdict};

use crate::results::{All, Results};
use crate::run::BenchRun;
use crate::tables::{Highlight, IN_SHORT, PLOTS, TABLES, Table};
use crate::{BESIDE, plot};

const HEAD: &str = "\
# What moss costs

`cargo xtask bench all` measures and writes this page; `--only calls,load` measures some of its tables
again and keeps the others. The numbers as measured lie in [performance/](performance), one file for each
table. Where there is a p99, which 99 of 100 measurements stay within, the number beside it is the median.
Each ratio is one of medians of the same run: whatever else the machine did met both sides. Of times less is
better, of calls a second more. What is wanted and missed is marked, with the reason below its table.
";
/// Longest line of running text, in characters.
const TEXT_CHARS_MAX: usize = 108;

/// Writes the page from the results that there are.
pub(crate) fn page(results: &All) -> String {
    let mut page = HEAD.to_owned();
    in_short(&mut page, results);
    machine(&mut page, results);
    for table in TABLES {
        if let Some(results) = results.get(table.name) {
            section(&mut page, table, results);
        }
    }
    page
}

/// The three lines that the README has, too.
fn in_short(page: &mut String, results: &All) {
    let lines: Vec<String> =
        IN_SHORT.iter().filter_map(|short| line_in_short(*short, results, 0)).collect();
    if !lines.is_empty() {
        let head = "## In short\n\n| what | moss | bare | ratio |\n| --- | --- | --- | --- |";
        put(page, format_args!("\n{head}\n{}\n", lines.join("\n")));
    }
}

fn line_in_short(short: Highlight, results: &All, language: usize) -> Option<String> {
    let row = results.get(short.table)?.rows.iter().find(|row| row.name == short.row)?;
    let bare = row.unit.shown(row.baseline?.median);
    let (ratio, called) = (row.ratio()?, short.called[language]);
    Some(format!("| {called} | {} | {bare} | {ratio:.2} |", row.unit.shown(row.value.median)))
}

/// Puts the lines of the page in place of those that a README quotes, in a language: the lines
/// that begin alike.
pub(crate) fn quoted(readme: &str, results: &All, language: usize) -> String {
    let lines = readme.lines().map(|line| {
        let quotes =
            |short: &&Highlight| line.starts_with(&format!("| {} |", short.called[language]));
        let new = IN_SHORT.iter().find(quotes);
        let new = new.and_then(|short| line_in_short(*short, results, language));
        new.unwrap_or_else(|| line.to_owned()) + "\n"
    });
    lines.collect()
}

/// The machine of most tables; a table of another run says so itself.
fn machine(page: &mut String, results: &All) {
    let Some(run) = usual(results) else { return };
    let memory = Unit::Bytes.shown(run.memory_bytes);
    let lines = [
        ("machine", format!("{}, {} cores, {memory}", run.processor, run.cores)),
        ("kernel", run.kernel.clone()),
        ("moss", format!("{}, commit `{}`", run.moss, run.commit)),
        ("compiler", run.rustc.clone()),
        ("day", run.date.clone()),
    ];
    page.push_str("\n## The machine\n\n| what | value |\n| --- | --- |\n");
    for (what, value) in lines {
        put(page, format_args!("| {what} | {value} |\n"));
    }
    let others = TABLES.iter().filter_map(|table| Some((table, &results.get(table.name)?.run)));
    let others: Vec<String> = others
        .filter(|(_, other)| key(other) != key(run))
        .map(|(table, other)| {
            format!(
                "- {}: {}, commit `{}`, {}, {}, {} cores\n",
                table.title, other.date, other.commit, other.kernel, other.processor, other.cores
            )
        })
        .collect();
    if !others.is_empty() {
        put(page, format_args!("\nMeasured otherwise:\n\n{}", others.concat()));
    }
}

/// The run of the first table of those that have most in common.
fn usual(results: &All) -> Option<&BenchRun> {
    let runs: Vec<&BenchRun> =
        TABLES.iter().filter_map(|table| Some(&results.get(table.name)?.run)).collect();
    let alike = |run: &BenchRun| runs.iter().filter(|other| key(other) == key(run)).count();
    runs.iter().copied().rev().max_by_key(|run| alike(run))
}

/// What makes two runs one.
fn key(run: &BenchRun) -> (&str, &str, &str, &str, usize) {
    (&run.date, &run.commit, &run.kernel, &run.processor, run.cores)
}

fn section(page: &mut String, table: &Table, results: &Results) {
    put(page, format_args!("\n## {}\n\n{}\n", table.title, wrapped(table.text)));
    for plot in PLOTS.iter().filter(|plot| plot.table == table.name) {
        if plot::points(plot, &results.rows).len() > 1 {
            put(page, format_args!("\n![{}]({BESIDE}/{}.svg)\n", plot.title, plot.name));
        }
    }
    let rows = &results.rows;
    let has_p99 = rows.iter().any(|row| row.value.p99.is_some());
    let has_baseline = rows.iter().any(|row| row.baseline.is_some());
    let has_target = rows.iter().any(|row| row.target.is_some());
    let Table { subject, own, baseline, .. } = table;
    let mut head = vec![(*subject).to_owned(), (*own).to_owned()];
    let optional = [
        (has_p99, "p99".to_owned()),
        (has_baseline, (*baseline).to_owned()),
        (has_baseline && has_p99, format!("{baseline} p99")),
        (has_baseline, "ratio".to_owned()),
        (has_target, "wanted".to_owned()),
    ];
    let shows = optional.each_ref().map(|(is_shown, _)| *is_shown);
    head.extend(optional.into_iter().filter(|(is_shown, _)| *is_shown).map(|(_, name)| name));
    put(page, format_args!("\n| {} |\n|{}\n", head.join(" | "), " --- |".repeat(head.len())));
    for row in rows {
        let cells = cells(row).into_iter().zip([true, true].into_iter().chain(shows));
        let cells: Vec<String> =
            cells.filter(|(_, is_shown)| *is_shown).map(|(cell, _)| cell).collect();
        put(page, format_args!("| {} |\n", cells.join(" | ")));
    }
    reasons(page, rows, |row| missed::reason(table.name, row));
    // Of rows that were taken in by hand it is not known.
    if !results.run.load.is_empty() {
        put(page, format_args!("\nLoad average right after: {}.\n", results.run.load));
    }
}

/// Says why rows miss their targets.
fn reasons(page: &mut String, rows: &[Row], reason: impl Fn(&str) -> Option<&'static str>) {
    let missed = rows.iter().filter(|row| verdict(row) == Some(TargetVerdict::Missed));
    let reasons = missed.filter_map(|row| Some((row, reason(&row.name)?)));
    let lines = reasons.map(|(row, reason)| {
        wrapped(&format!("- {}: {reason}.", row.name)).replace('\n', "\n  ") + "\n"
    });
    let lines: String = lines.collect();
    if !lines.is_empty() {
        put(page, format_args!("\nMissed so far:\n\n{lines}"));
    }
}

/// Every cell that a row can have.
fn cells(row: &Row) -> [String; 7] {
    let shown = |number: Option<u64>| number.map(|n| row.unit.shown(n)).unwrap_or_default();
    let mark = if verdict(row) == Some(TargetVerdict::Missed) { ", missed" } else { "" };
    [
        row.name.clone(),
        shown(Some(row.value.median)),
        shown(row.value.p99),
        shown(row.baseline.map(|baseline| baseline.median)),
        shown(row.baseline.and_then(|baseline| baseline.p99)),
        row.ratio().map(|ratio| format!("{ratio:.2}")).unwrap_or_default(),
        row.target.as_ref().map(|target| format!("{target}{mark}")).unwrap_or_default(),
    ]
}

/// A text in lines.
fn wrapped(text: &str) -> String {
    let mut wrapped = String::new();
    let mut length = 0;
    for word in text.split(' ') {
        let chars = word.chars().count();
        if length > 0 && length + 1 + chars > TEXT_CHARS_MAX {
            wrapped.push('\n');
            length = 0;
        } else if length > 0 {
            wrapped.push(' ');
            length += 1;
        }
        wrapped.push_str(word);
        length += chars;
    }
    wrapped
}

fn put(page: &mut String, text: std::fmt::Arguments<'_>) {
    page.write_fmt(text).expect("a string takes everything");
}

#[cfg(test)]
mod tests {
    use moss_xtask::rows::Spread;

    use super::*;

    fn results(commit: &str, rows: Vec<Row>) -> Results {
        let text = String::new;
        let run = BenchRun {
            date: "2026-01-02".to_owned(),
            commit: commit.to_owned(),
            moss: "moss 1".to_owned(),
            rustc: text(),
            kernel: text(),
            processor: text(),
            cores: 2,
            memory_bytes: 0,
            load: "0.10".to_owned(),
        };
        Results { run, rows }
    }

    #[test]
    fn a_page_has_what_was_measured_and_says_where_runs_differ() {
        let read = Row::per_second("calls of every kind", 3000).against(Spread::single(2000));
        let mut all = All::from([("load", results("one", vec![read]))]);
        all.insert("size", results("two", vec![Row::bytes("binary", 50 << 20)]));
        all.insert("build", results("one", vec![]));
        let refused = Row::per_second("call refused by policy", 133).against(Spread::single(100));
        let met = Row::per_second("edit, durable", 200).against(Spread::single(100));
        let rows = vec![refused.wanted("ratio ≤ 1.3"), met.wanted("ratio ≤ 2.0")];
        all.insert("calls", results("one", rows));
        let page = page(&all);
        for part in [
            "| 64 clients: reads, edits and plugin calls mixed | 3,000/s | 2,000/s | 1.50 |\n",
            "| moss | moss 1, commit `one` |\n",
            "- What the binary holds: 2026-01-02, commit `two`",
            "| call | moss | bare | ratio |\n| --- | --- | --- | --- |\n| calls of every kind |",
            "| part | size |\n| --- | --- |\n| binary | 50.0 MiB |\n",
            "| call refused by policy | 133/s | 100/s | 1.33 | ratio ≤ 1.3, missed |\n",
            "| edit, durable | 200/s | 100/s | 2.00 | ratio ≤ 2.0 |\n",
        ] {
            assert!(page.contains(part), "{part} is not in\n{page}");
        }
        assert!(!page.contains("## Edits"));
        let old =
            "# moss\n\n| 64 个客户端：混合读取、修改和插件调用 | 1/s | 1/s | 1 |\n| other | 1 |\n";
        let new = old.replace("1/s | 1/s | 1", "3,000/s | 2,000/s | 1.50");
        assert_eq!(quoted(old, &all, 1), new);
        assert!(page.lines().all(|line| line.chars().count() <= TEXT_CHARS_MAX));
    }

    #[test]
    fn reasons_are_given_of_what_is_missed_and_of_nothing_else() {
        let row = |name: &str, times| {
            Row::per_second(name, times).against(Spread::single(100)).wanted("ratio ≤ 1.3")
        };
        let rows = [row("slow", 140), row("fast", 120), row("unlisted", 150)];
        let mut page = String::new();
        reasons(&mut page, &rows, |row| (row != "unlisted").then_some("it waits"));
        assert_eq!(page, "\nMissed so far:\n\n- slow: it waits.\n");
        page.clear();
        reasons(&mut page, &rows[1..2], |_| Some("it waits"));
        assert_eq!(page, "");
    }
}
