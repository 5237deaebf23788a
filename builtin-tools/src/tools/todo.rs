//! `todo`: the task list of the session.

use std::collections::BTreeSet;

use moss_sdk::context::Context;
use moss_sdk::spec::Toolset;
use moss_sdk::todo::{TodoItem, TodoStatus};
use moss_sdk::{Effect, ErrorCode, Tool, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most items of a list.
const ITEMS_MAX: usize = 100;
/// Longest id, in bytes.
const ID_BYTES_MAX: usize = 100;
/// Longest content of an item, in bytes.
const CONTENT_BYTES_MAX: usize = 1_000;

/// Keeps an ordered list of what is to be done. Its order is the order of work. Without `items` it
/// shows the list; every call returns the whole of it.
///
/// Use it for work of several steps or several files, and where the user asks for several things at
/// once; not for a single step. At most one item is `in_progress`. Mark an item `completed` as soon
/// as it is done, and the next one `in_progress` in the same call. The list is kept for your session
/// and survives a restart.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Todo {
    /// The items, in order: the whole list, or with `merge` those that are new or change. At most
    /// 100. An empty list without `merge` clears it. Default: none, which only shows the list.
    #[schemars(length(max = 100))]
    items: Option<Vec<TodoInput>>,
    /// Whether items with a known id change that item where it stands, and the others are appended,
    /// instead of replacing the list. Default: false.
    #[serde(default)]
    merge: bool,
}

/// One item as a caller writes it.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TodoInput {
    /// Names the item; unique in the list.
    id: String,
    /// What is to be done. Needed, unless it is merged into an item that there is.
    content: Option<String>,
    /// How far it is. Default: `pending`, or with `merge` what it was.
    status: Option<TodoStatus>,
}

/// The list after the call.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TodoOutput {
    /// Every item, in order.
    items: Vec<TodoItem>,
    /// How many there are.
    counts: TodoCounts,
    /// What to do next.
    note: String,
}

/// How many items there are.
#[derive(Debug, Default, Serialize, JsonSchema)]
struct TodoCounts {
    /// All items of the list.
    total: usize,
    /// Not begun.
    pending: usize,
    /// Being worked on.
    in_progress: usize,
    /// Done.
    completed: usize,
    /// Not needed any more.
    cancelled: usize,
}

impl Tool for Todo {
    const NAME: &'static str = "todo";
    const TITLE: &'static str = "Keep a task list";
    const EFFECT: Effect = Effect::Read;
    const TOOLSET: Toolset = Toolset::Planning;
    type Output = TodoOutput;

    async fn run(self, cx: Context) -> Result<TodoOutput, ToolError> {
        let Self { items, merge } = self;
        let items = match items {
            None => cx.todos().await?,
            Some(items) => {
                let change =
                    move |list| replaced(if merge { list } else { Vec::new() }, items, merge);
                cx.change_todos(Box::new(change)).await?
            }
        };
        Ok(TodoOutput { counts: TodoCounts::of(&items), note: note(&items), items })
    }
}

/// Puts items into a list and holds the result to the rules of one.
fn replaced(
    mut list: Vec<TodoItem>,
    items: Vec<TodoInput>,
    merge: bool,
) -> Result<Vec<TodoItem>, ToolError> {
    let mut named = BTreeSet::new();
    for item in items {
        check("an id", &item.id, ID_BYTES_MAX)?;
        if !named.insert(item.id.clone()) {
            return Err(refused(format!("two items have the id `{}`", item.id))
                .hint("give every item a unique id"));
        }
        match list.iter_mut().find(|known| known.id == item.id) {
            Some(known) => item.put_into(known)?,
            None => list.push(item.into_new(merge)?),
        }
    }
    if list.len() > ITEMS_MAX {
        let count = list.len();
        return Err(refused(format!(
            "the list would have {count} items; the limit is {ITEMS_MAX}"
        ))
        .hint("leave out what is completed or cancelled, without `merge`"));
    }
    let in_progress = |item: &&TodoItem| item.status == TodoStatus::InProgress;
    let mut at_work = list.iter().filter(in_progress);
    if let (Some(first), Some(second)) = (at_work.next(), at_work.next()) {
        let (first, second) = (&first.id, &second.id);
        let message =
            format!("`{first}` and `{second}` would both be in_progress; one at a time may be");
        return Err(refused(message).hint(format!(
            "in the same call mark `{first}` or `{second}` completed, pending or cancelled"
        )));
    }
    Ok(list)
}

/// What to do next.
fn note(items: &[TodoItem]) -> String {
    let first = |status| items.iter().find(|item| item.status == status);
    if let Some(item) = first(TodoStatus::InProgress) {
        format!("continue with `{}`; mark it completed as soon as it is done", item.id)
    } else if let Some(item) = first(TodoStatus::Pending) {
        format!("mark `{}` in_progress when you begin with it", item.id)
    } else if items.is_empty() {
        "the list is empty".to_owned()
    } else {
        "nothing is left to do".to_owned()
    }
}

fn refused(message: String) -> ToolError {
    ToolError::new(ErrorCode::InvalidArguments, message)
}

/// Refuses a text that is empty or too long.
fn check(what: &str, text: &str, bytes_max: usize) -> Result<(), ToolError> {
    if text.trim().is_empty() {
        return Err(refused(format!("{what} is empty")).hint("give each item an id and a content"));
    }
    if text.len() > bytes_max {
        let size = text.len();
        return Err(refused(format!("{what} has {size} bytes; the limit is {bytes_max}"))
            .hint("shorten it; an item is one step"));
    }
    Ok(())
}

// === impl TodoInput ===

impl TodoInput {
    fn put_into(self, known: &mut TodoItem) -> Result<(), ToolError> {
        if let Some(content) = self.content {
            check(&format!("the content of `{}`", self.id), &content, CONTENT_BYTES_MAX)?;
            known.content = content;
        }
        known.status = self.status.unwrap_or(known.status);
        Ok(())
    }

    fn into_new(self, merge: bool) -> Result<TodoItem, ToolError> {
        let Self { id, content, status } = self;
        let Some(content) = content else {
            let hint = match merge {
                true => "the list has no item with this id yet: add the content",
                false => "give every item its content, or set `merge` to change items by id",
            };
            return Err(refused(format!("`{id}` has no content")).hint(hint));
        };
        check(&format!("the content of `{id}`"), &content, CONTENT_BYTES_MAX)?;
        Ok(TodoItem { id, content, status: status.unwrap_or(TodoStatus::Pending) })
    }
}

// === impl TodoCounts ===

impl TodoCounts {
    fn of(items: &[TodoItem]) -> Self {
        let mut counts = Self { total: items.len(), ..Self::default() };
        for item in items {
            *match item.status {
                TodoStatus::Pending => &mut counts.pending,
                TodoStatus::InProgress => &mut counts.in_progress,
                TodoStatus::Completed => &mut counts.completed,
                TodoStatus::Cancelled => &mut counts.cancelled,
            } += 1;
        }
        counts
    }
}

#[cfg(test)]
mod tests;
