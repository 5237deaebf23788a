//! One word for each idea in what people read: the field's word, and not a paraphrase of it.
//!
//! Read are guides, comments of the protocol, texts and comments of the product's own crates (not their
//! tests), and the names of its types. What stands in quotes or backticks by itself is a name of a field,
//! an option or a function, and names are not prose. Not read is data such as prompts in TOML.

use std::sync::LazyLock;

use regex::Regex;

use crate::tree::{FILES, File};
use crate::{hold, rust};

/// Patterns of what is not said, whatever the case, and what is said in its place.
const WORDS: &[(&str, &str)] = &[
    (r"answer(s|ed|ing)?", "response, reply, result or decision: the exact one"),
    (r"(break|breaks|broke|broken|breaking) off", "cancel, interrupt"),
    (r"(take|takes|took|taken|taking)( \w+)? back", "undo, revert; roll back a commit"),
    (r"tells?|told|telling", "show, print, report, expose; distinguish"),
    (r"says nothing", "unset, missing, absent"),
    (r"(is|was) none", "missing, absent, empty, not a …, no …"),
    (r"heed(s|ed|ing)?|(is|are) in force", "in effect, applies"),
    (r"in vain|nowhere", "not found, no …, not … anywhere"),
    (r"(go|goes|going|went) on (from|with)", "resume from, continue"),
    (r"mend(s|ed|ing)?", "repair (JSON), fix (code)"),
    (r"how manyth", "attempt 3"),
    (r"the work broke", "internal error"),
    (r"thinkers?", "CPU permits"),
];
/// What may follow a pattern and makes another phrase of it.
const CONTINUED: &[(&str, &[&str])] = &[("none", &[" of "])];
/// Parts of names of types that paraphrase.
const NAME_PARTS: &[(&str, &str)] = &[
    ("Answer", "Response, Reply, Result or Decision"),
    ("Told", "Message, Report"),
    ("Nowhere", "None, Absent, Ignored"),
    ("TakenBack", "Undone, Reverted"),
    ("BrokenOff", "Cancelled, Interrupted"),
    ("Mended", "Repaired, Fixed"),
    ("Thinker", "Permit"),
];
/// Trees of the product's own code.
const PRODUCT: [&str; 7] = [
    "cli/src/",
    "daemon/src/",
    "grpc/src/",
    "crates/",
    "sdk/src/",
    "builtin-tools/src/",
    "mcp/src/",
];

/// What stays as it is: a file, a piece of the line, and the reason.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    ("crates/journal/src/audit/uses.rs", "'$.answer'", "the field as version 0.1 stored it"),
    ("docs/admins.md", "`answers.toml` of moss 0.1", "the file as version 0.1 called it"),
    ("docs/editors.md", "answer=editor.EditorAnswer(", "a field of the protocol"),
    ("docs/editors.md", "{ answer: { question_id", "a field of the protocol"),
    ("docs/editors.md", "GO_ON = ", "a prompt, as the model bridge words it"),
];

#[test]
fn what_people_read_says_the_word_of_the_field() {
    let mut used = vec![false; EXCEPTIONS.len()];
    let mut offences = Vec::new();
    for file in FILES.iter() {
        for Offence { line, word, say } in offences_of(file) {
            let text = file.text.lines().nth(line - 1).unwrap_or_default();
            let listed = EXCEPTIONS
                .iter()
                .position(|(path, piece, _)| *path == file.path && text.contains(piece));
            match listed {
                Some(at) => used[at] = true,
                None => offences.push(format!("{}:{line}: `{word}`, say {say}", file.path)),
            }
        }
    }
    let gone = EXCEPTIONS.iter().zip(used).filter(|(_, used)| !used);
    let gone =
        gone.map(|((path, piece, _), _)| format!("{path}: `{piece}`: no exception, unlist it"));
    hold("says the word of the field", offences.into_iter().chain(gone));
}

#[test]
fn a_paraphrase_is_found() {
    for (path, text, expected) in [
        ("README.md", "moss told\nthe client", "1 told"),
        ("docs/x.md", "```\nno answer yet\n```\nthe field `answer`", "2 answer"),
        ("docs/x.md", "{\"answer\": 1}, Broken off: nothing.", "1 Broken off"),
        ("docs/x.md", "as [`Index::answer`] and `answer_now` do", ""),
        ("CHANGELOG.md", "moss told the client", ""),
        ("proto/moss/v1/x.proto", "  // There is none.\n  string answer = 1;", "1 is none"),
        (
            "cli/src/x.rs",
            "//! Told.\n// told\n/// It is none.\nfn told() {}",
            "1 Told; 2 told; 3 is none",
        ),
        ("cli/src/x.rs", "f(\"a\");\ng(\"the \\\n  answer {told}\", \"answer\");", "3 answer"),
        ("cli/src/x.rs", "/// It is none of these.\nstruct S;", ""),
        ("cli/src/x.rs", "enum AnswerKind {}\nuse m::A as Told;", "1 AnswerKind; 2 Told"),
        ("cli/src/x.rs", "let answer = v1::EditorAnswer {};", ""),
        ("cli/src/x.rs", "fn f() {}\nmod tests {\n    const A: &str = \"an answer\";\n}", ""),
        ("cli/src/tests.rs", "const A: &str = \"an answer\";", ""),
        ("tests/it/x.rs", "const A: &str = \"an answer\";", ""),
    ] {
        let found = offences_of(&File::of(path, text)).into_iter();
        let found: Vec<_> = found.map(|found| format!("{} {}", found.line, found.word)).collect();
        assert_eq!(found.join("; "), expected, "{path}: {text}");
    }
}

#[derive(Debug)]
struct Offence {
    /// Counts from 1.
    line: usize,
    word: String,
    say: &'static str,
}

/// What a file says otherwise than it should.
fn offences_of(file: &File) -> Vec<Offence> {
    let (path, text) = (file.path.as_str(), file.text.as_str());
    if path.starts_with("README") || path.starts_with("docs/") && path.ends_with(".md") {
        return in_lines(text, |line| line);
    }
    if path.starts_with("proto/") && path.ends_with(".proto") {
        return in_lines(text, |line| line.split_once("//").map_or("", |(_, comment)| comment));
    }
    let is_product = PRODUCT.iter().any(|tree| path.starts_with(tree));
    if is_product && path.ends_with(".rs") && !file.is_test() {
        return in_rust(file);
    }
    Vec::new()
}

fn in_lines(text: &str, prose: impl Fn(&str) -> &str) -> Vec<Offence> {
    let lines = text.lines().enumerate();
    lines.flat_map(|(at, line)| in_prose(prose(line), at + 1)).collect()
}

fn in_rust(file: &File) -> Vec<Offence> {
    let mut offences = Vec::new();
    let mut line = 1;
    for (piece, is_code) in rust::pieces(before_tests(&file.text)) {
        // A text without a space is a name or a key.
        if !is_code && piece.contains(' ') {
            offences.extend(in_lines(piece, |line| line).into_iter().map(|mut offence| {
                offence.line += line - 1;
                offence
            }));
        }
        line += piece.matches('\n').count();
    }
    offences.extend(in_names(file.code_without_tests()));
    offences
}

/// Names of types, by the keyword that defines or renames them.
fn in_names(code: &str) -> Vec<Offence> {
    let mut offences = Vec::new();
    for (at, line) in code.lines().enumerate() {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let names: Vec<&str> =
            line.split(|c| !is_part(c)).filter(|name| !name.is_empty()).collect();
        for pair in names.windows(2) {
            let defines = matches!(pair[0], "struct" | "enum" | "union" | "trait" | "type" | "as");
            let part = NAME_PARTS.iter().find(|(part, _)| defines && pair[1].contains(part));
            if let Some((_, say)) = part {
                offences.push(Offence { line: at + 1, word: pair[1].to_owned(), say });
            }
        }
    }
    offences
}

/// The text without an inline test module at its end.
fn before_tests(text: &str) -> &str {
    text.find("\nmod tests {").map_or(text, |end| &text[..end])
}

/// Finds the patterns in a line of prose.
fn in_prose(prose: &str, line: usize) -> Vec<Offence> {
    static PATTERNS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
        let compiled = |pattern: &str| Regex::new(&format!(r"(?i)(?-u:\b)({pattern})(?-u:\b)"));
        WORDS.iter().map(|(pattern, say)| (compiled(pattern).unwrap(), *say)).collect()
    });
    let mut offences = Vec::new();
    for (pattern, say) in PATTERNS.iter() {
        for found in pattern.find_iter(prose) {
            let (before, after) = (&prose[..found.start()], &prose[found.end()..]);
            let is_continued = CONTINUED.iter().any(|(end, continuations)| {
                found.as_str().ends_with(end) && continuations.iter().any(|c| after.starts_with(c))
            });
            if !is_continued && !is_name(before, after) {
                offences.push(Offence { line, word: found.as_str().to_owned(), say });
            }
        }
    }
    offences
}

/// Whether what stands between two pieces of text is a name and no prose: in quotes or backticks,
/// a placeholder, or a part of a longer name.
fn is_name(before: &str, after: &str) -> bool {
    let after = after.trim_start_matches('\\');
    let pairs = [("\"", "\""), ("`", "`"), ("{", "}")];
    pairs.iter().any(|(open, close)| before.ends_with(open) && after.starts_with(close))
        || before.ends_with('_')
        || before.ends_with("::")
        || after.starts_with('_')
}
