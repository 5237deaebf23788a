//! Keeps notes from call to call, apart for every workspace, and finds them again: decisions,
//! conventions, what was tried and did not work.
//!
//! Grant it a store, in `moss-tools.json`:
//!
//! ```json
//! { "name": "memory", "source": "memory.wasm", "grant": { "store": "1MiB" } }
//! ```
//!
//! Then: `moss call memory_save text='tests need a database' tags='["tests"]'` and later
//! `moss call memory_recall query=database`.

mod note;
mod search;

use moss::guest::store;
use moss::{Capability, ErrorCode, Example, ToolError, json};

use crate::note::Note;

/// Most notes of a workspace.
const NOTES_MAX: usize = 1000;
/// Most notes that one call returns by default.
const RECALLED_DEFAULT: u32 = 10;
/// Most notes that one call returns.
const RECALLED_MAX: u32 = 100;
/// What the keys of notes start with.
const KEYS: &str = "note/";

moss::export! {
    tools: [memory_save, memory_recall, memory_forget],
    requests: [Capability::store("1MiB", "keeps the notes")],
}

/// What to remember.
#[moss::data]
struct MemorySave {
    /// The text, up to 8 KiB: one fact, so that it can be found and replaced by itself.
    text: String,
    /// Up to 10 words to find it by, such as `["build", "ci"]`.
    #[serde(default)]
    tags: Vec<String>,
    /// The note to replace, as `memory_recall` names it; by default a new one is made.
    id: Option<String>,
}

/// What was remembered.
#[moss::data]
struct Saved {
    /// How to replace or forget it.
    id: String,
    /// How many notes there are now.
    notes: u64,
}

/// What to find.
#[moss::data]
struct MemoryRecall {
    /// Words of the text or the tags; case does not matter. Without it the newest notes.
    query: Option<String>,
    /// Only notes with all of these tags.
    #[serde(default)]
    tags: Vec<String>,
    /// Most notes, 1 to 100; by default 10.
    #[serde(default = "recalled_default")]
    #[schemars(range(min = 1, max = 100))]
    limit: u32,
}

/// What was found.
#[moss::data]
struct Recalled {
    /// The notes; those with the most words of the query first, then the newest.
    notes: Vec<Found>,
    /// How many notes match in all.
    matches: u64,
    /// How many notes there are.
    total: u64,
}

/// A note that was found.
#[moss::data]
struct Found {
    /// How to replace or forget it.
    id: String,
    /// Its text, its tags, and when it was saved.
    #[serde(flatten)]
    note: Note,
}

/// What to forget.
#[moss::data]
struct MemoryForget {
    /// The note, as `memory_recall` names it.
    id: String,
}

/// What was forgotten.
#[moss::data]
struct Forgotten {
    /// Whether there was such a note.
    forgotten: bool,
    /// How many notes are left.
    notes: u64,
}

/// Remembers a text for later sessions in this workspace, or replaces a note that is no longer true.
/// Save what is worth knowing next time: decisions with their reasons, conventions, commands that work.
/// Up to 1,000 notes of up to 8 KiB. Never save secrets.
#[moss::tool(title = "Remember", destructive = false, examples = saving)]
fn memory_save(parameters: MemorySave) -> Result<Saved, ToolError> {
    let note = Note::new(&parameters.text, &parameters.tags)?;
    let keys = store::keys(KEYS)?;
    let id = match parameters.id {
        Some(id) if keys.contains(&key(&id)) => id,
        Some(id) => return Err(unknown(&id)),
        None if keys.len() >= NOTES_MAX => {
            let message = format!("there are {NOTES_MAX} notes already");
            return Err(ToolError::new(ErrorCode::LimitExceeded, message)
                .hint("forget notes that are no longer needed, or replace one by its `id`"));
        }
        None => fresh(&keys),
    };
    let is_new = !keys.contains(&key(&id));
    store::set_json(&key(&id), &note)?;
    Ok(Saved { id, notes: (keys.len() + usize::from(is_new)) as u64 })
}

/// Finds what was remembered in this workspace, by words and tags; without either, what was saved last.
/// Ask it before work that may have been discussed before.
#[moss::tool(title = "Recall", idempotent, examples = recalling)]
fn memory_recall(parameters: MemoryRecall) -> Result<Recalled, ToolError> {
    let mut notes = Vec::new();
    for key in store::keys(KEYS)? {
        // Another call may have forgotten it meanwhile.
        if let Some(note) = store::get_json::<Note>(&key)? {
            notes.push(Found { id: key[KEYS.len()..].to_owned(), note });
        }
    }
    let total = notes.len() as u64;
    let query = parameters.query.unwrap_or_default();
    let mut found = search::best(notes, &query, &parameters.tags);
    let matches = found.len() as u64;
    found.truncate(parameters.limit.clamp(1, RECALLED_MAX) as usize);
    Ok(Recalled { notes: found, matches, total })
}

/// Forgets a note. To correct one, replace it with `memory_save` instead.
#[moss::tool(title = "Forget", destructive, idempotent, examples = forgetting)]
fn memory_forget(parameters: MemoryForget) -> Result<Forgotten, ToolError> {
    let forgotten = store::delete(&key(&parameters.id))?;
    Ok(Forgotten { forgotten, notes: store::keys(KEYS)?.len() as u64 })
}

fn key(id: &str) -> String {
    format!("{KEYS}{id}")
}

fn unknown(id: &str) -> ToolError {
    ToolError::new(ErrorCode::NotFound, format!("there is no note `{id}`"))
        .hint("ask `memory_recall` for the notes; leave `id` out to make a new one")
}

/// Makes an identifier that no note has.
fn fresh(keys: &[String]) -> String {
    let mut ids = std::iter::repeat_with(note::random_id);
    ids.find(|id| !keys.contains(&key(id))).expect("there are more identifiers than notes")
}

fn recalled_default() -> u32 {
    RECALLED_DEFAULT
}

fn saving() -> Vec<Example> {
    let note = json!({ "text": "releases are tagged by CI, never by hand", "tags": ["release"] });
    vec![Example::new("a convention", note)]
}

fn recalling() -> Vec<Example> {
    let nothing = json!({ "notes": [], "matches": 0, "total": 0 });
    vec![Example::new("nothing was saved yet", json!({ "query": "release" })).output(nothing)]
}

fn forgetting() -> Vec<Example> {
    let nothing = json!({ "forgotten": false, "notes": 0 });
    vec![Example::new("a note that is not there", json!({ "id": "none" })).output(nothing)]
}
