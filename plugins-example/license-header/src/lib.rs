//! Proposes the licence header that source files lack. It writes nothing itself: every edit is
//! shown as a diff and asked for before it happens. Running it again changes nothing.
//!
//! Grant it the directories it may read, and say what the header is, in `moss-tools.json`:
//!
//! ```json
//! { "name": "license-header", "source": "license_header.wasm",
//!   "grant": { "fs": [{ "path": "src", "access": "read" }] },
//!   "config": { "header": "SPDX-License-Identifier: MIT OR Apache-2.0" } }
//! ```
//!
//! Then: `moss call license_header path=src`.

mod header;

use moss::guest::{find_files, read_text, settings};
use moss::{Capability, Edit, ErrorCode, Example, Proposed, ToolError, json};

use crate::header::{Found, Style};

/// Most files that one call looks at.
const FILES_MAX: usize = 5000;
/// Most edits of one call.
const EDITS_MAX: usize = 500;
/// Largest file that is looked at, in bytes.
const FILE_BYTES_MAX: usize = 4 << 20;
/// Longest header, in lines.
const HEADER_LINES_MAX: usize = 40;

moss::export! {
    tools: [license_header],
    requests: [Capability::files(".", "looks for files without a licence header")],
    settings: Settings,
}

/// Where to add which header.
#[moss::data]
struct LicenseHeader {
    /// The file or directory, relative to the workspace.
    path: String,
    /// The text of the header, without comment signs; by default `header` of the plugin's config.
    header: Option<String>,
}

/// What the user sets in `config`.
#[moss::data]
#[serde(deny_unknown_fields)]
struct Settings {
    /// The text of the header, without comment signs.
    header: Option<String>,
}

/// What was found.
#[moss::data]
#[derive(Default)]
struct Report {
    /// Files that get the header.
    added: Vec<String>,
    /// How many files have it already.
    present: u64,
    /// Files that start with another licence or copyright; they are left as they are.
    other: Vec<String>,
    /// Files that are too large, not UTF-8 text or not readable, each with the reason.
    skipped: Vec<String>,
    /// Whether there are more files than one call handles: run it again after these edits.
    truncated: bool,
}

/// Adds a licence header to the source files beneath a path that have none. Knows the comment signs
/// of common languages, keeps `#!` and encoding lines first, leaves files with another licence or
/// copyright alone, and changes nothing when it runs again. Other kinds of files are passed over.
#[moss::tool(title = "Add licence headers", destructive = false, idempotent, examples = examples)]
fn license_header(parameters: LicenseHeader) -> Result<Proposed<Report>, ToolError> {
    let lines = header_lines(parameters.header)?;
    let found = find_files(&parameters.path, FILES_MAX)?;
    let mut report = Report { truncated: found.is_truncated, ..Report::default() };
    let mut edits = Vec::new();
    for path in found.paths {
        let Some(style) = Style::of(&path) else { continue };
        if edits.len() == EDITS_MAX {
            report.truncated = true;
            break;
        }
        match read_text(&path, FILE_BYTES_MAX) {
            Err(error) => report.skipped.push(error.message),
            Ok(text) => match header::find(&text, style, &lines) {
                Found::Same => report.present += 1,
                Found::Other => report.other.push(path),
                Found::Empty => {}
                Found::Missing(insertion) => {
                    edits.push(Edit::replace_text(&path, insertion.old, insertion.new));
                    report.added.push(path);
                }
            },
        }
    }
    Ok(Proposed { output: report, edits })
}

fn header_lines(given: Option<String>) -> Result<Vec<String>, ToolError> {
    let invalid = |message: &str| ToolError::new(ErrorCode::InvalidArguments, message);
    let header = match given {
        Some(header) => header,
        None => settings::<Settings>()?.header.ok_or_else(|| {
            invalid("there is no header").hint("give `header`, or set it in the plugin's config")
        })?,
    };
    let lines: Vec<String> = header.trim().lines().map(|line| line.trim_end().to_owned()).collect();
    if lines.is_empty() {
        return Err(invalid("the header is empty"));
    }
    if lines.len() > HEADER_LINES_MAX {
        return Err(invalid(&format!("the header has more than {HEADER_LINES_MAX} lines")));
    }
    Ok(lines)
}

fn examples() -> Vec<Example> {
    vec![
        Example::new(
            "one file lacks it",
            json!({ "path": "src", "header": "SPDX-License-Identifier: MIT" }),
        )
        .file("src/a.rs", "fn a() {}\n")
        .file("src/b.py", "#!/usr/bin/env python\n# SPDX-License-Identifier: MIT\n")
        .output(json!({
            "added": ["src/a.rs"],
            "present": 1,
            "other": [],
            "skipped": [],
            "truncated": false
        }))
        .changes("src/a.rs", "// SPDX-License-Identifier: MIT\n\nfn a() {}\n"),
    ]
}
