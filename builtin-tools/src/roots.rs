//! Searches of several workspaces as one: what each found, put together in the order of one search, with
//! absolute paths.

use moss_sdk::RelPath;
use moss_sdk::ranking::PathRank;
use serde_json::{Map, Value};

use crate::result_page::{PageRoom, PageSize};
use crate::tools::file_search::{FILES_MAX, PathQuery};
use crate::tools::grep_search::{COUNTED_MAX, LIMIT_DEFAULT, LIMIT_MAX};

/// Most bytes of the notes of workspaces in a result, so that it stays within what is beside the entries of a page.
const NOTES_BYTES_MAX: usize = 500;
/// Parameters that say which part of one workspace's result is wanted.
const OF_ONE_ROOT: [&str; 3] = ["path", "offset", "output"];

/// What a search of one workspace found.
#[derive(Debug, Clone, PartialEq)]
pub struct RootOutput {
    /// Its directory, with an absolute path.
    pub root: String,
    /// The output of the tool.
    pub output: Map<String, Value>,
}

/// How the outputs of a tool become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RootSearch {
    /// Lines of files: `grep_search`.
    Lines,
    /// Names of files: `file_search`.
    Files,
}

// === impl RootSearch ===

impl RootSearch {
    /// The one of a tool; none where workspaces are not searched as one by it.
    pub fn of_tool(name: &str) -> Option<Self> {
        match name {
            "grep_search" => Some(Self::Lines),
            "file_search" => Some(Self::Files),
            _ => None,
        }
    }

    /// A parameter that makes no sense over several workspaces, where one is given.
    pub fn parameter_of_one_root(arguments: &Map<String, Value>) -> Option<&'static str> {
        OF_ONE_ROOT
            .into_iter()
            .find(|key| arguments.get(*key).is_some_and(|value| !value.is_null()))
    }

    /// Puts outputs together, each of a search with these arguments.
    pub fn join(self, mut outputs: Vec<RootOutput>, arguments: &Map<String, Value>) -> Value {
        let mut found: Vec<FoundItem> = Vec::new();
        for (at, RootOutput { root, output }) in outputs.iter_mut().enumerate() {
            if let Some(Value::Array(items)) = output.remove(self.list()) {
                found.extend(items.into_iter().filter_map(|item| FoundItem::of(at, root, item)));
            }
        }
        let counts = |found: &[FoundItem]| found.iter().fold(vec![0; outputs.len()], counted);
        let before: Vec<u64> = counts(&found);
        match self {
            Self::Lines => found.sort_by_key(|item| (PathRank::of(&item.path), item.root)),
            Self::Files => order_files(&mut found, arguments),
        }
        let after = counts(&found);
        let mut joined = Map::new();
        let mut notes = Vec::new();
        for (at, RootOutput { root, output }) in outputs.into_iter().enumerate() {
            let dropped = before[at] - after[at];
            // Nothing of such a workspace fits, what it had no room for included.
            let is_dropped = dropped > 0 && after[at] == 0;
            for (key, value) in output {
                match (key.as_str(), value) {
                    ("note", Value::String(note)) => {
                        notes.extend(lasting(&root, &note).filter(|_| !is_dropped));
                    }
                    ("total", Value::Number(total)) => {
                        let total = total.as_u64().filter(|_| !is_dropped).unwrap_or_default();
                        add(&mut joined, key, total.saturating_sub(dropped).into());
                    }
                    (_, value) => add(&mut joined, key, value),
                }
            }
        }
        let mut room = PageRoom::new(self.size(arguments));
        let had = found.len();
        let items = found.into_iter().map(|item| item.value);
        let items: Vec<Value> = items.take_while(|item| room.takes(item)).collect();
        if items.len() < had {
            joined.insert("truncated".to_owned(), true.into());
        }
        let is_counted_out =
            joined.get("total_matches").and_then(Value::as_u64) > Some(COUNTED_MAX);
        if self == Self::Lines && is_counted_out {
            joined.insert("total_matches".to_owned(), COUNTED_MAX.into());
            joined.insert("truncated".to_owned(), true.into());
        }
        let total = joined.get(self.total()).and_then(Value::as_u64);
        let rest = total.and_then(|total| self.rest(items.len() as u64, total));
        let notes: Vec<String> = rest.into_iter().chain(bounded(notes)).collect();
        if !notes.is_empty() {
            joined.insert("note".to_owned(), notes.join("; ").into());
        }
        joined.insert(self.list().to_owned(), Value::Array(items));
        Value::Object(joined)
    }

    /// How much of it is returned: as of one search.
    fn size(self, arguments: &Map<String, Value>) -> PageSize {
        match self {
            Self::Lines => {
                let limit = arguments.get("limit").and_then(Value::as_u64);
                PageSize::of(limit, LIMIT_DEFAULT, LIMIT_MAX)
            }
            Self::Files => PageSize::usual(FILES_MAX),
        }
    }

    /// Says how to see what is not returned: several workspaces have no further page.
    fn rest(self, shown: u64, total: u64) -> Option<String> {
        let how = match self {
            Self::Lines => "make the pattern more exact, give a `fileType`, raise `limit`",
            Self::Files => "make the pattern longer, give a `fileType`",
        };
        let what = self.list();
        (shown < total).then(|| {
            format!("{shown} of {total} {what}: {how}, or search one workspace for the rest")
        })
    }

    /// The key of how many there are.
    fn total(self) -> &'static str {
        match self {
            Self::Lines => "total_matches",
            Self::Files => "total",
        }
    }

    /// The key of what was found.
    fn list(self) -> &'static str {
        match self {
            Self::Lines => "matches",
            Self::Files => "files",
        }
    }
}

/// A line or a file that was found.
struct FoundItem {
    /// Which workspace it is of.
    root: usize,
    /// Relative to the root of that workspace.
    path: RelPath,
    /// With an absolute path.
    value: Value,
}

// === impl FoundItem ===

impl FoundItem {
    fn of(at: usize, root: &str, mut item: Value) -> Option<Self> {
        let path = RelPath::parse(item["path"].as_str()?).ok()?;
        item["path"] = format!("{}/{path}", root.trim_end_matches('/')).into();
        Some(Self { root: at, path, value: item })
    }
}

/// Counts an item in its workspace.
fn counted(mut counts: Vec<u64>, item: &FoundItem) -> Vec<u64> {
    counts[item.root] += 1;
    counts
}

/// Orders files as one search would: the best first, and what only looks alike only where nothing fits.
fn order_files(found: &mut Vec<FoundItem>, arguments: &Map<String, Value>) {
    // Each search compiled it: there is one.
    let Some(query) = PathQuery::of_arguments(arguments) else { return };
    let best = found.iter().filter_map(|item| query.class(&item.path)).min();
    let Some(best) = best else { return };
    found.retain(|item| query.finds_beside(&item.path, best));
    // Within one workspace the order stays: it knows what the caller is busy with.
    found.sort_by_key(|item| query.class(&item.path));
}

/// Adds a number, a truth or an object of them to what others said.
fn add(joined: &mut Map<String, Value>, key: String, value: Value) {
    let known = joined.remove(&key);
    let sum = match (known, value) {
        (Some(Value::Bool(one)), Value::Bool(other)) => Value::Bool(one || other),
        (Some(Value::Object(mut one)), Value::Object(other)) => {
            other.into_iter().for_each(|(key, value)| add(&mut one, key, value));
            Value::Object(one)
        }
        (Some(one), other) => match (one.as_u64(), other.as_u64()) {
            (Some(one), Some(other)) => one.saturating_add(other).into(),
            _ => one,
        },
        (None, value) => value,
    };
    joined.insert(key, sum);
}

/// What a note of one workspace says that is so for several: not which page comes next.
fn lasting(root: &str, note: &str) -> Option<String> {
    let parts: Vec<&str> = note.split("; ").filter(|part| !part.contains("`offset`")).collect();
    (!parts.is_empty()).then(|| format!("{root}: {}", parts.join("; ")))
}

/// As many notes as have room, and how many have none.
fn bounded(mut notes: Vec<String>) -> Vec<String> {
    let mut bytes = 0;
    let fits = |note: &&String| {
        bytes += note.len();
        bytes <= NOTES_BYTES_MAX
    };
    let kept = notes.iter().take_while(fits).count();
    let left_out = notes.len() - kept;
    notes.truncate(kept);
    if left_out > 0 {
        notes.push(format!(
            "notes that are left out: {left_out}; search one workspace to see its own"
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn join(search: RootSearch, outputs: [Value; 2], arguments: Value) -> Value {
        let object = |value: Value| value.as_object().unwrap().clone();
        let outputs = outputs.into_iter().zip(["/one", "/two"]);
        let outputs = outputs
            .map(|(output, root)| RootOutput { root: root.to_owned(), output: object(output) });
        search.join(outputs.collect(), &object(arguments))
    }

    #[test]
    fn lines_come_in_the_order_of_one_search() {
        let one = json!({
            "matches": [{ "path": "src/a.rs", "line": 3 }, { "path": "tests/a.rs", "line": 1 }],
            "total_matches": 2, "files_matched": 2, "files_searched": 5, "truncated": false,
            "skipped": { "ignored": 1, "denied": 0 },
        });
        let two = json!({
            "matches": [{ "path": "src/b.rs", "line": 9 }, { "path": "README.md", "line": 1 }],
            "total_matches": 7, "files_matched": 3, "files_searched": 6, "truncated": true,
            "skipped": { "ignored": 2, "denied": 4 },
            "note": "2 of 7 matches: raise `limit`, or continue with `offset` 2; 4 not searched",
        });
        let joined = join(RootSearch::Lines, [one, two], json!({ "pattern": "x", "limit": 3 }));
        assert_eq!(
            joined,
            json!({
                "matches": [
                    { "path": "/one/src/a.rs", "line": 3 },
                    { "path": "/two/src/b.rs", "line": 9 },
                    { "path": "/one/tests/a.rs", "line": 1 },
                ],
                "total_matches": 9, "files_matched": 5, "files_searched": 11, "truncated": true,
                "skipped": { "ignored": 3, "denied": 4 },
                "note": "3 of 9 matches: make the pattern more exact, give a `fileType`, raise `limit`, \
                         or search one workspace for the rest; /two: 4 not searched",
            })
        );
    }

    #[test]
    fn what_is_put_together_has_no_more_than_one_search() {
        let output = |list: &str, name: &str, count: usize| {
            let one = |n| json!({ "path": format!("{name}/{n:03}/{}.rs", "é".repeat(100)) });
            let total = if list == "files" { "total" } else { "total_matches" };
            let items: Vec<_> = (0..count).map(one).collect();
            json!({ list: items, total: count, "truncated": false, "note": "é".repeat(200) })
        };
        let joined = |search: RootSearch, list: &str, count: usize, arguments: Value| {
            let both = [output(list, "a", count), output(list, "b", count)];
            let joined = join(search, both, arguments);
            let bytes = joined.to_string().len();
            let (shown, is_cut) =
                (joined[list].as_array().unwrap().len(), joined["truncated"] == true);
            let note = joined["note"].as_str().unwrap();
            let rest = format!("{shown} of {} {list}: ", 2 * count);
            assert_eq!(note.starts_with(&rest), is_cut, "{note}");
            assert!(
                note.ends_with("notes that are left out: 1; search one workspace to see its own")
            );
            (shown, is_cut, bytes)
        };
        let lines = |arguments| joined(RootSearch::Lines, "matches", 70, arguments);
        assert!(matches!(lines(json!({ "pattern": "x" })), (50, true, _)));
        assert!(matches!(lines(json!({ "pattern": "x", "limit": 200 })), (140, false, 30_000..)));
        let files = json!({ "pattern": "*.rs" });
        let (count, truncated, bytes) = joined(RootSearch::Files, "files", 70, files.clone());
        assert!(truncated && (90..=100).contains(&count) && bytes <= 24_000, "{count} {bytes}");
        assert!(matches!(joined(RootSearch::Files, "files", 40, files), (80, false, _)));
    }

    #[test]
    fn the_best_file_comes_first_wherever_it_lies() {
        let output = |paths: &[&str]| {
            let files: Vec<_> = paths.iter().map(|path| json!({ "path": path })).collect();
            json!({ "files": files, "total": files.len(), "truncated": false })
        };
        let paths = |joined: &Value| -> Vec<String> {
            let files = joined["files"].as_array().unwrap().iter();
            files.map(|file| file["path"].as_str().unwrap().to_owned()).collect()
        };
        let both =
            [output(&["src/domain.rs", "main/x.txt"]), output(&["main.rs", "src/remain.rs"])];
        let joined = join(RootSearch::Files, both, json!({ "pattern": "main" }));
        let expected =
            ["/two/main.rs", "/one/src/domain.rs", "/two/src/remain.rs", "/one/main/x.txt"];
        assert_eq!(paths(&joined), expected);
        assert_eq!(joined["total"], 4);
        // What only looks alike in one is nothing beside what fits in the other.
        let mut similar = output(&["mian.rs"]);
        similar["total"] = 120.into();
        similar["note"] = "nothing has this name: these names are similar".into();
        let both = [similar, output(&["main.rs"])];
        let joined = join(RootSearch::Files, both, json!({ "pattern": "main.rs" }));
        assert_eq!(paths(&joined), ["/two/main.rs"]);
        assert_eq!((&joined["total"], joined.get("note")), (&json!(1), None));
        let both = [output(&["b.rs"]), output(&["a.rs"])];
        let joined = join(RootSearch::Files, both, json!({ "pattern": "*.rs" }));
        assert_eq!(paths(&joined), ["/one/b.rs", "/two/a.rs"]);
    }

    #[test]
    fn several_workspaces_give_what_one_search_would() {
        let output = |paths: &[&str], total: usize, note: &str| {
            let files: Vec<_> = paths.iter().map(|path| json!({ "path": path })).collect();
            let truncated = total > files.len();
            json!({ "files": files, "total": total, "truncated": truncated, "note": note })
        };
        // A typo fits better than scattered letters.
        let both = [output(&["user_sevrice.rs"], 1, "a"), output(&["us/er_serv/x_ice.rs"], 1, "b")];
        let joined = join(RootSearch::Files, both, json!({ "pattern": "user_service" }));
        assert_eq!(joined["files"][0]["path"], "/one/user_sevrice.rs");
        // As many as one result has, and no page that nobody can ask for.
        let many: Vec<String> = (0..100).map(|number| format!("{number:02}.rs")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let note = "100 of 150 files: give a `path`, or continue with `offset` 100";
        let both = [output(&many, 150, note), output(&many, 100, "more")];
        let joined = join(RootSearch::Files, both, json!({ "pattern": "*.rs" }));
        assert_eq!(joined["files"].as_array().unwrap().len(), 100);
        let note = "100 of 250 files: make the pattern longer, give a `fileType`, or search one \
                    workspace for the rest; /two: more";
        assert_eq!((&joined["total"], &joined["note"]), (&json!(250), &json!(note)));
        assert_eq!(joined["truncated"], true);
    }
}
