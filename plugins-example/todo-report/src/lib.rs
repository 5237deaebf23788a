//! Reports the TODO, FIXME and HACK comments of a project, grouped by file, marker or author.
//!
//! Grant it the directories it may read, in `moss-tools.json`:
//!
//! ```json
//! { "name": "todo-report", "source": "todo_report.wasm",
//!   "grant": { "fs": [{ "path": ".", "access": "read" }] },
//!   "config": { "markers": ["TODO", "FIXME", "HACK", "XXX"] } }
//! ```
//!
//! Then: `moss call todo_report path=src group_by=author`.

mod scan;

use std::collections::BTreeMap;

use moss::guest::{find_files, is_cancelled, progress, read_text, settings};
use moss::{Capability, ErrorCode, Example, ToolError, json};

/// Most files of one call.
const FILES_MAX: usize = 5000;
/// Largest file that is read, in bytes.
const FILE_BYTES_MAX: usize = 2 << 20;
/// Most notes of one report by default.
const NOTES_DEFAULT: u32 = 200;
/// Most notes of one report.
const NOTES_MAX: u32 = 2000;
/// Most markers.
const MARKERS_MAX: usize = 20;
/// The markers that are looked for where nobody says others.
const MARKERS: &[&str] = &["TODO", "FIXME", "HACK", "XXX"];

moss::export! {
    tools: [todo_report],
    requests: [Capability::files(".", "reads the comments of the files")],
    settings: Settings,
}

/// What the user sets in `config`.
#[moss::data]
#[serde(deny_unknown_fields)]
struct Settings {
    /// The markers to look for; by default `TODO`, `FIXME`, `HACK` and `XXX`.
    markers: Option<Vec<String>>,
}

/// What to report.
#[moss::data]
struct TodoReport {
    /// The file or directory, relative to the workspace; by default all of it.
    #[serde(default = "workspace")]
    path: String,
    /// The markers to look for, in capitals; by default those of the plugin's config, else `TODO`,
    /// `FIXME`, `HACK` and `XXX`.
    markers: Option<Vec<String>>,
    /// How to group the notes; by default by file.
    #[serde(default)]
    group_by: GroupBy,
    /// Most notes, 1 to 2000; by default 200. All are counted.
    #[serde(default = "notes_default")]
    #[schemars(range(min = 1, max = 2000))]
    limit: u32,
}

/// What the notes of a group share.
#[moss::data]
#[derive(Copy, Default)]
#[serde(rename_all = "lowercase")]
enum GroupBy {
    /// The file.
    #[default]
    File,
    /// The marker.
    Marker,
    /// Who is named in the note; the empty name where nobody is.
    Author,
}

/// The report.
#[moss::data]
struct Report {
    /// How many notes there are in all.
    total: u64,
    /// How many notes have each marker.
    by_marker: BTreeMap<String, u64>,
    /// The notes in groups, in the order of their names.
    groups: Vec<Group>,
    /// How many files were read.
    files: u64,
    /// How many files were passed over: too large, not UTF-8 text, not readable.
    skipped: u64,
    /// Whether there are more notes than the limit, or more files than 5000.
    truncated: bool,
}

/// Notes that belong together.
#[moss::data]
struct Group {
    /// The file, the marker or the author.
    name: String,
    /// The notes, in the order of files and lines.
    notes: Vec<Note>,
}

/// A note.
#[moss::data]
struct Note {
    /// The file.
    path: String,
    /// The line, from 1.
    line: u64,
    /// The marker.
    marker: String,
    /// Who is named: `TODO(name)` or `TODO @name`.
    author: Option<String>,
    /// The text after the marker, up to 200 characters.
    text: String,
}

/// Lists the notes that authors left in comments, such as `// TODO(ann): why`, `# FIXME`, `HACK:`. Each
/// has file, line, marker and author; they are grouped by file, marker or author. Up to 5,000 files of up to 2 MiB;
/// hidden files, links, `target` and `node_modules` are left out. Use `grep_search` for other words.
#[moss::tool(title = "Report TODO comments", idempotent, examples = examples)]
fn todo_report(parameters: TodoReport) -> Result<Report, ToolError> {
    let markers = markers(parameters.markers)?;
    let found = find_files(&parameters.path, FILES_MAX)?;
    let limit = parameters.limit.clamp(1, NOTES_MAX) as usize;
    let mut report = Report {
        total: 0,
        by_marker: markers.iter().map(|marker| (marker.clone(), 0)).collect(),
        groups: Vec::new(),
        files: 0,
        skipped: 0,
        truncated: found.is_truncated,
    };
    let mut groups: BTreeMap<String, Vec<Note>> = BTreeMap::new();
    let total = found.paths.len() as u64;
    let mut kept = 0;
    for (done, path) in (0..).zip(found.paths) {
        if is_cancelled() {
            return Err(ToolError::new(ErrorCode::Cancelled, "cancelled"));
        }
        progress(&path, done, Some(total));
        let Ok(text) = read_text(&path, FILE_BYTES_MAX) else {
            report.skipped += 1;
            continue;
        };
        report.files += 1;
        for found in scan::notes(&text, &markers) {
            report.total += 1;
            *report.by_marker.entry(found.marker.clone()).or_default() += 1;
            if kept == limit {
                report.truncated = true;
                continue;
            }
            kept += 1;
            let note = Note { path: path.clone(), ..found };
            groups.entry(name(parameters.group_by, &note)).or_default().push(note);
        }
    }
    report.groups = groups.into_iter().map(|(name, notes)| Group { name, notes }).collect();
    Ok(report)
}

fn name(group_by: GroupBy, note: &Note) -> String {
    match group_by {
        GroupBy::File => note.path.clone(),
        GroupBy::Marker => note.marker.clone(),
        GroupBy::Author => note.author.clone().unwrap_or_default(),
    }
}

fn markers(given: Option<Vec<String>>) -> Result<Vec<String>, ToolError> {
    let markers = match given {
        Some(markers) => markers,
        None => settings::<Settings>()?
            .markers
            .unwrap_or_else(|| MARKERS.iter().map(ToString::to_string).collect()),
    };
    let is_marker = |marker: &String| {
        !marker.is_empty() && marker.chars().all(|c| c.is_ascii_uppercase() || c == '_')
    };
    if markers.is_empty() || markers.len() > MARKERS_MAX || !markers.iter().all(is_marker) {
        let message = format!("markers are 1 to {MARKERS_MAX} words in capitals, such as `TODO`");
        return Err(ToolError::new(ErrorCode::InvalidArguments, message));
    }
    Ok(markers)
}

fn workspace() -> String {
    ".".to_owned()
}

fn notes_default() -> u32 {
    NOTES_DEFAULT
}

fn examples() -> Vec<Example> {
    let note = json!({
        "path": "src/a.rs", "line": 2, "marker": "TODO", "author": "ann", "text": "cache this"
    });
    vec![
        Example::new("what Ann wanted to do", json!({ "path": "src", "group_by": "author" }))
            .file("src/a.rs", "fn a() {\n    // TODO(ann): cache this\n}\n")
            .file("notes.md", "FIXME: not beneath the path\n")
            .output(json!({
                "total": 1,
                "by_marker": { "FIXME": 0, "HACK": 0, "TODO": 1, "XXX": 0 },
                "groups": [{ "name": "ann", "notes": [note] }],
                "files": 1,
                "skipped": 0,
                "truncated": false
            })),
    ]
}
