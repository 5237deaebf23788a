//! Counts words, lines and characters of text files, for each file and in total.
//!
//! Grant it the directories it may read, in `moss-tools.json`:
//!
//! ```json
//! { "name": "word-count", "source": "word_count.wasm",
//!   "grant": { "fs": [{ "path": "docs", "access": "read" }] } }
//! ```
//!
//! Then: `moss call word_count path=docs extensions='["md"]'`.

use moss::guest::{find_files, is_cancelled, progress, read_text};
use moss::{Capability, ErrorCode, Example, ToolError, json};

/// Most files of one call.
const FILES_MAX: usize = 2000;
/// Largest file that is counted, in bytes.
const FILE_BYTES_MAX: usize = 16 << 20;

moss::export! {
    tools: [word_count],
    requests: [Capability::files(".", "reads the files that it counts")],
}

/// What to count.
#[moss::data]
struct WordCount {
    /// The file or directory, relative to the workspace.
    path: String,
    /// Only files with one of these extensions, such as `["md", "txt"]`; without it every file.
    #[serde(default)]
    extensions: Vec<String>,
}

/// The counts.
#[moss::data]
struct Counts {
    /// The counts of each file, in the order of their paths.
    files: Vec<FileCounts>,
    /// The sums over all files.
    total: Numbers,
    /// Files that are too large, not UTF-8 text or not readable, each with the reason.
    skipped: Vec<String>,
    /// Whether there are more files than one call counts.
    truncated: bool,
}

/// The counts of one file.
#[moss::data]
struct FileCounts {
    /// The file.
    path: String,
    /// Its counts.
    #[serde(flatten)]
    numbers: Numbers,
}

/// How much text there is.
#[moss::data]
#[derive(Copy, Default)]
struct Numbers {
    /// Runs of characters between white space.
    words: u64,
    /// Lines; a last one without line end counts.
    lines: u64,
    /// Unicode characters, line ends included.
    characters: u64,
}

/// Counts words, lines and characters of UTF-8 text files, for each file and in total. Up to 2,000
/// files of up to 16 MiB; hidden files, links, `target` and `node_modules` are left out.
#[moss::tool(title = "Count words", idempotent, examples = examples)]
fn word_count(parameters: WordCount) -> Result<Counts, ToolError> {
    let found = find_files(&parameters.path, FILES_MAX)?;
    let paths: Vec<String> = found
        .paths
        .into_iter()
        .filter(|path| has_extension(path, &parameters.extensions))
        .collect();
    let mut counts = Counts {
        files: Vec::with_capacity(paths.len()),
        total: Numbers::default(),
        skipped: Vec::new(),
        truncated: found.is_truncated,
    };
    let total = u64::try_from(paths.len()).ok();
    for (done, path) in (0..).zip(paths) {
        if is_cancelled() {
            return Err(ToolError::new(ErrorCode::Cancelled, "cancelled"));
        }
        progress(&path, done, total);
        match read_text(&path, FILE_BYTES_MAX) {
            Ok(text) => {
                let numbers = count(&text);
                counts.total.add(numbers);
                counts.files.push(FileCounts { path, numbers });
            }
            Err(error) => counts.skipped.push(error.message),
        }
    }
    Ok(counts)
}

fn has_extension(path: &str, extensions: &[String]) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    extensions.is_empty()
        || extensions.iter().any(|wanted| wanted.trim_start_matches('.') == extension)
}

fn count(text: &str) -> Numbers {
    let length = |count: usize| count as u64;
    Numbers {
        words: length(text.split_whitespace().count()),
        lines: length(text.lines().count()),
        characters: length(text.chars().count()),
    }
}

fn examples() -> Vec<Example> {
    let counts = json!({ "words": 3, "lines": 2, "characters": 14 });
    let mut file = counts.clone();
    file["path"] = json!("docs/a.md");
    vec![
        Example::new("the Markdown files", json!({ "path": "docs", "extensions": ["md"] }))
            .file("docs/a.md", "one two\nthree\n")
            .file("docs/b.txt", "not counted\n")
            .output(json!({ "files": [file], "total": counts, "skipped": [], "truncated": false })),
    ]
}

impl Numbers {
    fn add(&mut self, other: Self) {
        self.words += other.words;
        self.lines += other.lines;
        self.characters += other.characters;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_counted_in_words_lines_and_characters() {
        for (text, words, lines, characters) in [
            ("", 0, 0, 0),
            ("one", 1, 1, 3),
            ("one two\n", 2, 1, 8),
            ("one\r\n\r\ntwo", 2, 3, 10),
            ("naïve café", 2, 1, 10),
        ] {
            assert_eq!(count(text), Numbers { words, lines, characters }, "{text:?}");
        }
    }

    #[test]
    fn extensions_are_given_with_or_without_a_dot() {
        let wanted = ["md".to_owned(), ".txt".to_owned()];
        for (path, is_wanted) in
            [("a/b.md", true), ("b.txt", true), ("b.rs", false), ("a.md/b", false), ("md", false)]
        {
            assert_eq!(has_extension(path, &wanted), is_wanted, "{path}");
        }
        assert!(has_extension("anything", &[]));
    }
}
