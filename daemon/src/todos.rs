//! The task lists of a workspace, one per credential and session, in `todos.json` in the state
//! directory.
//!
//! The file is replaced as a whole under a lock between processes and calls, so that no change is
//! lost, and outlives the daemon. A broken file is left alone: nothing is written over it.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use moss_sdk::todo::{TodoChange, TodoItem};
use moss_sdk::{ErrorCode, ToolError};
use moss_workspace::own::OwnDir;
use serde::{Deserialize, Serialize};

const FILE_NAME: &str = "todos.json";
const LOCK_NAME: &str = "todos.lock";
/// Longest wait for others that change the file.
const LOCK_WAIT: Duration = Duration::from_secs(5);
/// Most lists of a workspace; of the caller that has most of them the ones go that were changed least recently.
const LISTS_MAX: usize = 64;
/// Largest file. The longest list has a tenth of it.
const FILE_BYTES_MAX: u64 = 8 << 20;
/// The form of the file.
const VERSION: u32 = 1;

/// The task lists of a workspace.
#[derive(Debug)]
pub struct Todos {
    directory: OwnDir,
}

/// Whose list it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TodoKey {
    /// Name of the credential.
    pub caller: String,
    /// The caller's name for the conversation; none for the list that it has without one.
    pub session: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    version: u32,
    /// The least recently changed first.
    lists: Vec<List>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    #[serde(rename = "of")]
    key: TodoKey,
    items: Vec<TodoItem>,
}

// === impl Todos ===

impl Todos {
    /// Opens the lists in a state directory, which must exist.
    ///
    /// # Errors
    ///
    /// Where the directory is not the user's own.
    pub fn open(state: &Path) -> Result<Self, moss_workspace::Error> {
        Ok(Self { directory: OwnDir::open(state)? })
    }

    /// Returns a list; an empty one if it does not exist. Waits for the disk.
    ///
    /// # Errors
    ///
    /// Where the file is broken or cannot be read.
    pub fn get(&self, key: &TodoKey) -> Result<Vec<TodoItem>, ToolError> {
        let lists = self.load()?.lists;
        let found = lists.into_iter().find(|list| list.key == *key);
        Ok(found.map(|list| list.items).unwrap_or_default())
    }

    /// Changes a list and returns it as it is then. On return it is durable. Waits for the disk.
    ///
    /// # Errors
    ///
    /// What the change says; where the file is broken or cannot be written. The list is as it was.
    pub fn change(&self, key: &TodoKey, change: TodoChange) -> Result<Vec<TodoItem>, ToolError> {
        let _lock = self.directory.lock(LOCK_NAME, LOCK_WAIT)?;
        let mut stored = self.load()?;
        let found = stored.lists.iter().position(|list| list.key == *key);
        let before = found.map(|index| stored.lists.remove(index).items).unwrap_or_default();
        let items = change(before)?;
        if !items.is_empty() {
            stored.lists.push(List { key: key.clone(), items: items.clone() });
        }
        while stored.lists.len() > LISTS_MAX {
            stored.forget(|_| 1, |_| 1);
        }
        self.directory.write(FILE_NAME, &stored.fitted())?;
        Ok(items)
    }

    fn load(&self) -> Result<Stored, ToolError> {
        let Some(bytes) = self.directory.read(FILE_NAME, FILE_BYTES_MAX)? else {
            return Ok(Stored { version: VERSION, lists: Vec::new() });
        };
        let broken = |reason: String| {
            let file = self.directory.path().join(FILE_NAME);
            let message = format!("the task lists in {} are invalid: {reason}", file.display());
            ToolError::new(ErrorCode::Io, message).hint("remove the file: its lists are lost")
        };
        let stored: Stored =
            serde_json::from_slice(&bytes).map_err(|error| broken(error.to_string()))?;
        match stored.version {
            VERSION => Ok(stored),
            other => Err(broken(format!("version {other}; this moss knows {VERSION}"))),
        }
    }
}

// === impl Stored ===

impl Stored {
    /// The text of the file. Where it would be too long, the older half goes of the caller whose lists take most.
    fn fitted(&mut self) -> Vec<u8> {
        loop {
            let bytes = serde_json::to_vec(self).expect("lists are written as JSON");
            if bytes.len() as u64 <= FILE_BYTES_MAX || self.lists.len() <= 1 {
                return bytes;
            }
            self.forget(List::bytes, |count| count.div_ceil(2));
        }
    }

    /// Forgets some of the lists of the caller that has most: those that were changed least recently, never the one
    /// that was changed last of all. Among equals it is the caller with the oldest list.
    fn forget(&mut self, size: fn(&List) -> usize, how_many: fn(usize) -> usize) {
        let Some((_, older)) = self.lists.split_last() else { return };
        let mut callers: HashMap<&str, (usize, Reverse<usize>, usize)> = HashMap::new();
        for (index, list) in older.iter().enumerate() {
            let of = callers.entry(&list.key.caller).or_insert((0, Reverse(index), 0));
            of.0 += size(list);
            of.2 += 1;
        }
        let most = callers.into_iter().max_by_key(|(_, held)| *held);
        let Some((caller, (.., count))) = most else { return };
        let of_caller = older.iter().enumerate().filter(|(_, list)| list.key.caller == caller);
        let gone: Vec<usize> = of_caller.map(|(index, _)| index).take(how_many(count)).collect();
        for index in gone.into_iter().rev() {
            self.lists.remove(index);
        }
    }
}

// === impl List ===

impl List {
    /// About how long it is in the file.
    fn bytes(&self) -> usize {
        serde_json::to_vec(self).map_or(0, |bytes| bytes.len())
    }
}

#[cfg(test)]
mod tests {
    use moss_sdk::todo::TodoStatus;
    use tempfile::TempDir;

    use super::*;

    fn key(session: &str) -> TodoKey {
        TodoKey { caller: "caller".into(), session: Some(session.into()) }
    }

    fn item(id: &str, content: &str) -> TodoItem {
        TodoItem { id: id.into(), content: content.into(), status: TodoStatus::Pending }
    }

    fn add(todos: &Todos, key: &TodoKey, added: TodoItem) -> Vec<TodoItem> {
        let change = |mut items: Vec<TodoItem>| {
            items.push(added);
            Ok(items)
        };
        todos.change(key, Box::new(change)).unwrap()
    }

    #[test]
    fn lists_are_apart_and_outlive_the_daemon() {
        let state = TempDir::new().unwrap();
        let todos = Todos::open(state.path()).unwrap();
        let without = TodoKey { session: None, ..key("") };
        let approver = TodoKey { caller: "approver".into(), ..key("a") };
        add(&todos, &key("a"), item("1", "x"));
        add(&todos, &without, item("2", "y"));
        let todos = Todos::open(state.path()).unwrap();
        assert_eq!(todos.get(&key("a")).unwrap(), [item("1", "x")]);
        assert_eq!(todos.get(&without).unwrap(), [item("2", "y")]);
        assert_eq!(todos.get(&approver).unwrap(), []);
    }

    #[test]
    fn a_refused_change_leaves_the_list() {
        let state = TempDir::new().unwrap();
        let todos = Todos::open(state.path()).unwrap();
        add(&todos, &key("a"), item("1", "x"));
        let refusal = ToolError::new(ErrorCode::InvalidArguments, "no");
        let refused = refusal.clone();
        let answer = todos.change(&key("a"), Box::new(|_| Err(refused)));
        assert_eq!(answer, Err(refusal));
        assert_eq!(todos.get(&key("a")).unwrap(), [item("1", "x")]);
    }

    #[test]
    fn changes_at_once_are_all_kept() {
        let state = TempDir::new().unwrap();
        std::thread::scope(|threads| {
            for n in 0..8 {
                // A handle each, as processes have.
                let todos = Todos::open(state.path()).unwrap();
                threads.spawn(move || {
                    for m in 0..4 {
                        add(&todos, &key("a"), item(&format!("{n}.{m}"), "x"));
                    }
                });
            }
        });
        assert_eq!(Todos::open(state.path()).unwrap().get(&key("a")).unwrap().len(), 32);
    }

    #[test]
    fn the_least_recently_changed_lists_go() {
        let state = TempDir::new().unwrap();
        let todos = Todos::open(state.path()).unwrap();
        for n in 0..LISTS_MAX {
            add(&todos, &key(&n.to_string()), item("1", "x"));
        }
        add(&todos, &key("0"), item("2", "x"));
        add(&todos, &key("new"), item("1", "x"));
        let count = |session: &str| todos.get(&key(session)).unwrap().len();
        assert_eq!([count("0"), count("1"), count("2"), count("new")], [2, 0, 1, 1]);
    }

    #[test]
    fn who_has_many_lists_keeps_those_of_others() {
        let state = TempDir::new().unwrap();
        let todos = Todos::open(state.path()).unwrap();
        let other = TodoKey { caller: "other".into(), session: None };
        add(&todos, &other, item("1", "x"));
        for n in 0..=LISTS_MAX {
            add(&todos, &key(&n.to_string()), item("1", "x"));
        }
        let count = |key: &TodoKey| todos.get(key).unwrap().len();
        assert_eq!([&other, &key("0"), &key("1"), &key("2")].map(count), [1, 0, 0, 1]);
    }

    #[test]
    fn among_callers_that_have_as_many_lists_the_oldest_goes() {
        let of = |caller: &str| List {
            key: TodoKey { caller: caller.into(), session: None },
            items: Vec::new(),
        };
        let mut stored = Stored { version: VERSION, lists: ["b", "c", "a", "b"].map(of).into() };
        stored.forget(|_| 1, |_| 1);
        let left: Vec<_> = stored.lists.iter().map(|list| &*list.key.caller).collect();
        assert_eq!(left, ["c", "a", "b"]);
    }

    #[test]
    fn a_file_that_would_be_too_long_loses_the_oldest_lists_of_who_has_the_longest() {
        let list = |n: usize| List {
            key: key(&n.to_string()),
            items: vec![item("1", &"x".repeat(1 << 20))],
        };
        let other = TodoKey { caller: "other".into(), session: None };
        let of_other = List { key: other.clone(), items: vec![item("1", "x")] };
        let lists = std::iter::once(of_other).chain((0..9).map(list)).collect();
        let mut stored = Stored { version: VERSION, lists };
        assert!(stored.fitted().len() as u64 <= FILE_BYTES_MAX);
        let left: Vec<_> = stored.lists.iter().map(|list| list.key.clone()).collect();
        let own = ["4", "5", "6", "7", "8"].map(key);
        assert_eq!((&left[0], &left[1..]), (&other, &own[..]));
    }

    #[test]
    fn an_emptied_list_leaves_no_trace() {
        let state = TempDir::new().unwrap();
        let todos = Todos::open(state.path()).unwrap();
        add(&todos, &key("a"), item("1", "x"));
        todos.change(&key("a"), Box::new(|_| Ok(Vec::new()))).unwrap();
        let text = todos.directory.read(FILE_NAME, FILE_BYTES_MAX).unwrap().unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), r#"{"version":1,"lists":[]}"#);
    }

    #[test]
    fn a_broken_file_is_not_written_over() {
        let state = TempDir::new().unwrap();
        let todos = Todos::open(state.path()).unwrap();
        for text in ["{", r#"{"version":2,"lists":[]}"#] {
            todos.directory.write(FILE_NAME, text.as_bytes()).unwrap();
            let error = todos.change(&key("a"), Box::new(|_| Ok(Vec::new()))).unwrap_err();
            assert!(error.message.contains("todos.json are invalid"), "{error}");
            assert_eq!(todos.get(&key("a")).unwrap_err().code, ErrorCode::Io);
            let left = todos.directory.read(FILE_NAME, FILE_BYTES_MAX).unwrap().unwrap();
            assert_eq!(left, text.as_bytes());
        }
    }
}
