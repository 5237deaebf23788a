//! Which projects tsc has to be given: a `tsconfig.json` may only refer to others.

use jsonc_parser::{ParseOptions, parse_to_serde_value};
use serde_json::Value;

use super::LintTarget;
use crate::project::{ProjectFiles, is_in};

/// The projects of a directory, as `-p` takes them. A configuration that names no file of its own and refers to
/// others ends well by itself and checks nothing, so that those are checked that it refers to.
pub(super) fn projects(files: &ProjectFiles, place: usize, target: &LintTarget) -> Vec<String> {
    let directory = &files.directories[place];
    let own = || vec![".".to_owned()];
    let text = directory.manifest("tsconfig.json").unwrap_or_default();
    let Some(configuration) = read(text) else { return own() };
    let listed = |key: &str| configuration[key].as_array();
    let is_empty = |key: &str| listed(key).is_some_and(Vec::is_empty);
    let has_files = !is_empty("files") || listed("include").is_some_and(|list| !list.is_empty());
    let references = listed("references").map(Vec::as_slice).unwrap_or_default();
    if references.is_empty() {
        return own();
    }
    let mut projects = if has_files { own() } else { Vec::new() };
    for path in references.iter().filter_map(|one| one["path"].as_str()) {
        let path = path.trim_start_matches("./").trim_end_matches('/');
        let is_file = path.ends_with(".json");
        // Of a project with files of its own others are dependencies, unless they share its directory.
        let is_beside = is_file && !path.contains('/');
        let is_planned = !is_file && is_looked_at(files, &directory.path, path, target);
        if (has_files && !is_beside) || is_planned || path.is_empty() {
            continue;
        }
        let path = if path.starts_with('-') { format!("./{path}") } else { path.to_owned() };
        if !projects.contains(&path) {
            projects.push(path);
        }
    }
    projects
}

/// Reads a configuration, which may have comments and commas behind the last value.
fn read(text: &str) -> Option<Value> {
    let text = text.trim_start_matches('\u{feff}');
    parse_to_serde_value::<Option<Value>>(text, &ParseOptions::default()).ok()?
}

/// Whether a directory lies in the target and has a configuration that is planned for itself.
fn is_looked_at(files: &ProjectFiles, directory: &str, path: &str, target: &LintTarget) -> bool {
    let path = match directory {
        "" => path.to_owned(),
        _ => format!("{directory}/{path}"),
    };
    !is_in(&target.path, &path)
        && files
            .directories
            .iter()
            .any(|other| other.path == path && other.files.contains("tsconfig.json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_last_commas_are_no_part_of_a_configuration() {
        for (text, expected) in [
            ("{\"a\": [1, 2,], }", Some("{\"a\":[1,2]}")),
            ("// a\n{ /* b\n , */ \"a\": \"//, ]\" // c\n}", Some("{\"a\":\"//, ]\"}")),
            ("\u{feff}/**/ {\"é\": \"\\\"/*\"}", Some("{\"é\":\"\\\"/*\"}")),
            ("{\"a\"", None),
            ("{\"a\": \"b", None),
            ("", None),
        ] {
            let read = read(text).map(|value| value.to_string());
            assert_eq!(read.as_deref(), expected, "{text}");
        }
        assert_eq!(read(&"[".repeat(100_000)), None);
    }
}
