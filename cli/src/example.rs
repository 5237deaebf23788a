//! An example call of a tool that runs as it stands: with every parameter that it needs, on a file that
//! is there, for what that file or the project has. What would change something is a dry run.

use std::path::Path;

use moss_proto::v1;
use moss_sdk::RelPath;
use moss_sdk::file::{Content, EntryKind};
use moss_symbols::{DeclarationKind, Language, Outliner};
use moss_workspace::{Workspace, WorkspaceOptions};
use serde_json::{Map, Value, json};

use super::parameters::{self, Parameter};

/// Most files of the workspace that are looked at for an example.
const FILES_MAX: usize = 20;
/// Longest line that an example repeats, in characters.
const LINE_CHARS_MAX: usize = 60;
/// How deep an example goes into lists and objects.
const DEPTH_MAX: usize = 4;
/// Fewest characters of a word that is searched for.
const WORD_CHARS_MIN: usize = 3;
/// The file that is looked for first.
const FIRST_FILE: &str = "README.md";
/// The name that is asked for where the project seems to declare none.
const FIRST_NAME: &str = "main";
/// Directories that are looked into first.
const SOURCES: &[&str] = &["src", "lib", "app", "pkg", "cmd"];

/// What examples are about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ExampleSubject {
    file: String,
    /// A line that occurs once in it.
    line: String,
    /// The name of something that the project declares.
    name: String,
}

/// Writes an example call of a tool as it is typed in a shell.
pub(super) fn call(tool: &v1::Tool, sample: &ExampleSubject) -> String {
    let mut words = vec!["moss call".to_owned(), quoted(&tool.name)];
    for parameter in parameters::of(tool).iter().filter(|parameter| parameter.is_required) {
        let value = value(&tool.name, parameter, sample);
        words.push(pair(parameter, &value));
    }
    if tool.effect() != v1::Effect::Read {
        words.push("--dry-run".to_owned());
    }
    words.join(" ")
}

/// Writes one argument as it is typed in a shell.
fn pair(parameter: &Parameter, value: &Value) -> String {
    match value {
        Value::String(text) if parameter.kinds.text => typed(&parameter.name, text),
        value => typed(&parameter.name, &value.to_string()),
    }
}

/// Writes one argument of which the value is typed already.
pub(super) fn typed(name: &str, value: &str) -> String {
    format!("{}={}", quoted(name), quoted(value))
}

/// Quotes a word for a shell where it has to be.
pub(super) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

fn value(tool: &str, parameter: &Parameter, sample: &ExampleSubject) -> Value {
    let Parameter { name, description, schema, .. } = parameter;
    match (tool, name.as_str()) {
        // What searches finds something.
        ("codebase_search", "query") => return json!(words(&sample.line).join(" ")),
        ("grep_search", "pattern") => {
            return json!(words(&sample.line).first().copied().unwrap_or("text"));
        }
        ("file_search", "pattern") => return json!(sample.file),
        ("find_code_location", "search") => return json!(sample.name),
        _ => {}
    }
    if let Some(value) = written(schema) {
        return value;
    }
    let is_text = parameter.kinds.text;
    match name.as_str() {
        "path" if description.starts_with("Path of the directory") => json!("."),
        "path" if tool == "create_file" => json!("new-file.txt"),
        "action" if tool == "terminal_job" => json!("list"),
        "path" | "filePath" if is_text => json!(sample.file),
        "oldText" | "old_string" if is_text => json!(sample.line),
        "diffContent" => {
            json!(format!("------- SEARCH\n{}\n=======\nnew text\n+++++++ REPLACE", sample.line))
        }
        "newText" | "new_string" if is_text => json!("new text"),
        _ if is_text => json!(in_words(description).unwrap_or_else(|| "text".to_owned())),
        _ => of_schema(schema, 0),
    }
}

/// What the schema itself gives for a value.
fn written(schema: &Value) -> Option<Value> {
    let first = |key: &str| schema.get(key)?.get(0).cloned();
    schema.get("const").cloned().or_else(|| first("examples")).or_else(|| first("enum"))
}

/// The first value that a description quotes: at its beginning, or behind "such as".
fn in_words(description: &str) -> Option<String> {
    let quote = match description.strip_prefix('`') {
        Some(rest) => rest,
        None => description.split_once("such as `")?.1,
    };
    Some(quote.split_once('`')?.0.to_owned())
}

/// A value that a schema accepts, as far as types and required keys say.
fn of_schema(schema: &Value, depth: usize) -> Value {
    if let Some(value) = written(schema) {
        return value;
    }
    let kind = match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.first().and_then(Value::as_str),
        kind => kind.and_then(Value::as_str),
    };
    match kind {
        Some("string") => json!("text"),
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or(json!(1)),
        Some("boolean") => json!(true),
        Some("array") if depth < DEPTH_MAX => match schema.get("items") {
            Some(items) => json!([of_schema(items, depth + 1)]),
            None => json!([]),
        },
        Some("array") => json!([]),
        Some("object") if depth < DEPTH_MAX => {
            let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
            let pairs = required.filter_map(|name| {
                let part = schema.get("properties")?.get(name.as_str()?)?;
                Some((name.as_str()?.to_owned(), of_schema(part, depth + 1)))
            });
            Value::Object(pairs.collect::<Map<_, _>>())
        }
        _ => json!({}),
    }
}

/// The words of a line that can be searched for.
fn words(line: &str) -> Vec<&str> {
    let all = line.split(|c: char| !c.is_alphanumeric() && c != '_');
    all.filter(|word| word.chars().count() >= WORD_CHARS_MIN).collect()
}

/// Finds a line that occurs once in a text; one with words, where there is one.
fn line_of(text: &str) -> Option<&str> {
    let is_short = |line: &&str| !line.trim().is_empty() && line.chars().count() <= LINE_CHARS_MAX;
    let all = text.lines().take(100).filter(is_short);
    let mut once = all.filter(|line| text.matches(line).count() == 1).peekable();
    let first = once.peek().copied();
    once.find(|line| !words(line).is_empty()).or(first)
}

/// Finds the name of something that a text declares; not that of a section, of which documents are full.
fn declared_in(name: &str, text: &str) -> Option<String> {
    let language = Language::of_path(name)?;
    let outline = Outliner::default().outline(language, text).ok()?;
    let mut declared = outline.declarations.iter();
    let declared = declared.find(|one| one.kind != DeclarationKind::Heading)?;
    Some(text[declared.name.start as usize..declared.name.end as usize].to_owned())
}

/// The files of the root, the README first, then those of directories that lie there.
fn files_of(workspace: &Workspace) -> Vec<RelPath> {
    let entries = |directory: &RelPath, wanted: EntryKind| -> Vec<RelPath> {
        let mut names = workspace.names(directory).map(|found| found.names).unwrap_or_default();
        names.retain(|(name, kind)| *kind == wanted && !name.starts_with('.'));
        names.iter().filter_map(|(name, _)| directory.join(name).ok()).collect()
    };
    let root = RelPath::root();
    let mut files = entries(&root, EntryKind::File);
    files.sort_by_key(|file| file.as_str() != FIRST_FILE);
    files.truncate(FILES_MAX / 2);
    let mut directories = entries(&root, EntryKind::Directory);
    // Where the code of most projects is.
    directories.sort_by_key(|directory| !SOURCES.contains(&directory.as_str()));
    for directory in directories.iter().take(FILES_MAX) {
        if files.len() >= FILES_MAX {
            break;
        }
        files.extend(entries(directory, EntryKind::File));
    }
    files
}

// === impl ExampleSubject ===

impl Default for ExampleSubject {
    fn default() -> Self {
        let name = FIRST_NAME.to_owned();
        Self { file: FIRST_FILE.to_owned(), line: "text".to_owned(), name }
    }
}

impl ExampleSubject {
    /// Looks for a file in the root directory of a workspace.
    pub(super) fn of(root: &Path) -> Self {
        Self::find(root).unwrap_or_default()
    }

    fn find(root: &Path) -> Option<Self> {
        let workspace = Workspace::open(root, WorkspaceOptions::default()).ok()?;
        let files = files_of(&workspace);
        let text = |path: &RelPath| match workspace.read(path).ok()?.content {
            Content::Text(text) => Some(text.text),
            Content::Binary => None,
        };
        let declared = |path: &RelPath| declared_in(path.as_str(), &text(path)?);
        let name = files.iter().take(FILES_MAX).find_map(declared);
        let name = name.unwrap_or_else(|| FIRST_NAME.to_owned());
        let sample = |path: &RelPath| {
            let line = line_of(&text(path)?)?.to_owned();
            Some(Self { file: path.to_string(), line, name: name.clone() })
        };
        files.iter().take(FILES_MAX).find_map(sample)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str) -> v1::Tool {
        let specs = moss_builtin_tools::specs();
        let spec = specs.into_iter().find(|spec| spec.name == name).unwrap();
        let mut tool = v1::Tool {
            name: spec.name,
            parameters_json: spec.parameters.to_string(),
            ..v1::Tool::default()
        };
        tool.set_effect(match spec.effect {
            moss_sdk::Effect::Read => v1::Effect::Read,
            _ => v1::Effect::Write,
        });
        tool
    }

    #[test]
    fn examples_have_what_a_tool_needs_and_change_nothing() {
        let (line, name) = ("it's".to_owned(), "parse".to_owned());
        let sample = ExampleSubject { file: "a b.txt".into(), line, name };
        for (name, expected) in [
            ("read_file", "moss call read_file path='a b.txt'"),
            ("list_directory", "moss call list_directory path=."),
            ("find_code_location", "moss call find_code_location search=parse"),
            ("file_search", "moss call file_search pattern='a b.txt'"),
            ("grep_search", "moss call grep_search pattern=text"),
            (
                "delete_lines",
                "moss call delete_lines path='a b.txt' startLine=1 endLine=1 --dry-run",
            ),
            (
                "patch",
                "moss call patch path='a b.txt' old_string='it'\\''s' new_string='new text' --dry-run",
            ),
            ("create_file", "moss call create_file path=new-file.txt content=text --dry-run"),
            ("todo", "moss call todo"),
        ] {
            assert_eq!(call(&tool(name), &sample), expected);
        }
    }

    #[test]
    fn objects_of_plugins_get_their_required_keys() {
        let schema = json!({
            "type": "object", "required": ["id", "tags"],
            "properties": {
                "id": { "type": "integer", "minimum": 3 },
                "tags": { "type": "array", "items": { "enum": ["a", "b"] } },
                "other": { "type": "string" },
            },
        });
        assert_eq!(of_schema(&schema, 0), json!({"id": 3, "tags": ["a"]}));
    }

    #[test]
    fn sample_is_a_file_with_a_line_that_occurs_once() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(ExampleSubject::of(dir.path()), ExampleSubject::default());
        std::fs::write(dir.path().join("a.txt"), "x\nx\n").unwrap();
        std::fs::write(dir.path().join("b.txt"), "\nx\nyes\nx\n").unwrap();
        let sample = ExampleSubject::of(dir.path());
        assert_eq!((sample.file.as_str(), sample.line.as_str()), ("b.txt", "yes"));
        assert_eq!(sample.name, "main");
        std::fs::create_dir(dir.path().join("src")).unwrap();
        std::fs::write(dir.path().join("src/a.rs"), "use x::y;\n\nfn read_it() {}\n").unwrap();
        assert_eq!(ExampleSubject::of(dir.path()).name, "read_it");
    }
}
