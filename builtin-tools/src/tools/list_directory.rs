//! `list_directory`: the entries of a directory, filtered and sorted.

use std::cmp::Ordering;
use std::sync::Arc;
use std::time::SystemTime;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use moss_sdk::context::Context;
use moss_sdk::file::{EntryKind, ListOptions, Skipped};
use moss_sdk::tree_listing::{EntryNumber, TreeListing, TreeNames};
use moss_sdk::{Effect, ErrorCode, Tool, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::extent::{self, without_slash};
use crate::result_page::{PageRoom, PageSize};

/// Most entries of one result.
const ENTRIES_MAX: usize = 1_000;
/// Most bytes of the entries of one result where no limit is named: with what is beside them 48,000, as of a file
/// that is read. A directory of some 500 entries comes whole.
const ROOM_UNASKED: usize = 47_000;
/// Most entries that are sorted at once: another thread takes longer to wake than this takes.
const SORTED_AT_ONCE_MAX: usize = 256;

/// Lists the files and directories in a directory of the workspace, with size and time of last
/// change.
///
/// What ignore files such as `.gitignore` name is left out and counted in `skipped`. One call
/// returns up to 1,000 entries, the first ones in the order asked for, and without `limit` no more than
/// 48,000 bytes; `total` says how many there are, `note` the `offset` to continue with. Symbolic links are
/// listed, not followed. To see what is in a file, use read_file.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ListDirectory {
    /// Path of the directory, relative to the workspace root, such as `src`; `.` is the root.
    path: String,
    /// Whether to list the directories beneath it too. Default: false.
    #[serde(default)]
    recursive: bool,
    /// Lists only files whose name ends so: `.rs` or `rs`, several separated by commas
    /// (`.ts,.tsx`). Letter case makes no difference. Default: everything.
    file_type: Option<String>,
    /// Lists only files of at least this many bytes. Default: no bound.
    min_size: Option<u64>,
    /// Lists only files of at most this many bytes. Default: no bound.
    max_size: Option<u64>,
    /// Lists only entries that changed at this time or later: an ISO date (`2026-03-31`, from the
    /// start of the day) or date-time (`2026-03-31T18:00:00Z`). Without an offset it is UTC.
    /// Default: any time.
    modified_after: Option<String>,
    /// What to sort by: `name` (the path), `size` or `modified`. Equal entries are sorted by path.
    /// Default: `name`.
    #[serde(default)]
    sort_by: SortBy,
    /// `asc`: smallest, oldest or first name first; `desc`: the other way round. Default: `asc`.
    #[serde(default)]
    sort_order: SortOrder,
    /// Most entries to return, up to 1,000; all are counted. Default: as many of them as 48,000 bytes hold.
    #[schemars(range(min = 1, max = 1000), extend("x-extra" = true))]
    limit: Option<u64>,
    /// Entries to pass over before the first that is returned; that of the next page is this one plus the number
    /// of those returned. Default: 0.
    #[serde(default)]
    #[schemars(extend("x-extra" = true))]
    offset: u64,
}

/// Which of the entries are returned.
#[derive(Debug, Clone, Copy)]
struct EntryPage {
    offset: usize,
    size: PageSize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum SortBy {
    #[default]
    Name,
    Size,
    Modified,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum SortOrder {
    #[default]
    Asc,
    Desc,
}

/// Entries of a directory.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ListDirectoryOutput {
    /// The directory, relative to the workspace root.
    path: String,
    /// The entries, sorted as asked for.
    entries: Vec<ListedEntry>,
    /// How many entries passed the filters.
    total: usize,
    /// Whether entries are missing because of a bound; `note` says which.
    truncated: bool,
    /// How many entries were left out, by reason.
    skipped: Skipped,
    /// What is missing, and how to see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

/// One entry of the directory that is listed.
#[derive(Debug, Serialize, JsonSchema)]
struct ListedEntry {
    /// Its path, relative to the workspace root.
    path: String,
    /// What it is itself: a link is not followed.
    kind: EntryKind,
    /// Size in bytes; of files only.
    #[serde(skip_serializing_if = "Option::is_none")]
    size_bytes: Option<u64>,
    /// When it last changed, in UTC, to the second.
    #[serde(skip_serializing_if = "Option::is_none")]
    modified: Option<String>,
}

/// What an entry must be to be listed.
#[derive(Debug, Default)]
struct EntryFilter {
    /// Endings of names, in lower case, each with its dot; empty for any.
    suffixes: Vec<String>,
    size_min: Option<u64>,
    size_max: Option<u64>,
    modified_min: Option<SystemTime>,
}

impl Tool for ListDirectory {
    const NAME: &'static str = "list_directory";
    const TITLE: &'static str = "List directory";
    const EFFECT: Effect = Effect::Read;
    type Output = ListDirectoryOutput;

    async fn run(self, cx: Context) -> Result<ListDirectoryOutput, ToolError> {
        let filter = EntryFilter::new(&self)?;
        let path = cx.path(without_slash(&self.path))?;
        let listing = if self.recursive {
            cx.list_tree(&path, extent::VISITED_MAX).await?
        } else {
            let options = ListOptions { recursive: false, entries_max: extent::VISITED_MAX };
            TreeListing::of(&path, cx.list(&path, options).await?)
        };
        let page = EntryPage {
            offset: usize::try_from(self.offset).unwrap_or(usize::MAX),
            size: self.page_size(),
        };
        let names = Arc::clone(listing.names());
        let sort = move || {
            let sorted = sorted(&listing, &filter, self.sort_by, self.sort_order);
            let mut room = PageRoom::new(page.size);
            let shown = sorted.iter().skip(page.offset).take(page.size.entries_max);
            let shown = shown.map(|number| ListedEntry::of(&listing, *number));
            (shown.take_while(|entry| room.takes(entry)).collect::<Vec<_>>(), sorted.len())
        };
        let is_little = names.len() <= SORTED_AT_ONCE_MAX;
        let (entries, total) = if is_little { sort() } else { cx.compute(sort).await? };
        Ok(ListDirectoryOutput {
            path: path.to_string(),
            total,
            truncated: names.is_truncated() || total > page.offset.saturating_add(entries.len()),
            skipped: names.skipped(),
            note: note(names.is_truncated(), page.offset, entries.len(), total),
            entries,
        })
    }
}

impl ListDirectory {
    fn page_size(&self) -> PageSize {
        match self.limit {
            Some(limit) => {
                PageSize::asked(usize::try_from(limit).unwrap_or(usize::MAX).min(ENTRIES_MAX))
            }
            None => PageSize { entries_max: ENTRIES_MAX, bytes_max: ROOM_UNASKED },
        }
    }
}

/// The entries that pass a filter, sorted.
fn sorted(
    listing: &TreeListing,
    filter: &EntryFilter,
    by: SortBy,
    order: SortOrder,
) -> Vec<EntryNumber> {
    let in_order = listing.names().in_order().iter().copied();
    let mut sorted: Vec<_> = in_order.filter(|number| filter.admits(listing, *number)).collect();
    let compare = |a: &EntryNumber, b: &EntryNumber| match by {
        SortBy::Name => Ordering::Equal,
        SortBy::Size => listing.size_bytes(*a).cmp(&listing.size_bytes(*b)),
        SortBy::Modified => listing.modified(*a).cmp(&listing.modified(*b)),
    };
    // They are in path order, and equal ones stay in it.
    match (by, order) {
        (SortBy::Name, SortOrder::Asc) => {}
        (SortBy::Name, SortOrder::Desc) => sorted.reverse(),
        (_, SortOrder::Asc) => sorted.sort_by(compare),
        (_, SortOrder::Desc) => sorted.sort_by(|a, b| compare(b, a)),
    }
    sorted
}

fn note(walk_ended: bool, offset: usize, shown: usize, total: usize) -> Option<String> {
    let next = offset.saturating_add(shown);
    if walk_ended {
        let more = if next < total { extent::continued(next) } else { String::new() };
        let ended = extent::ended();
        return Some(format!(
            "{ended}: list a directory further down; {shown} of {total} entries{more}"
        ));
    }
    if offset > 0 && shown == 0 {
        return Some(format!("there are {total} entries: `offset` passes over all of them"));
    }
    if offset > 0 {
        let more = if next < total { extent::continued(next) } else { String::new() };
        return Some(format!("entries {} to {next} of {total}{more}", offset + 1));
    }
    (total > shown).then(|| {
        format!(
            "{shown} of {total} entries: narrow the filters, list a directory below, or continue \
             with `offset` {shown}"
        )
    })
}

/// Reads a date or a date-time; what has no offset is UTC.
fn time(text: &str) -> Result<SystemTime, ToolError> {
    let text = text.trim();
    let utc = || text.parse::<DateTime>().and_then(|time| time.to_zoned(TimeZone::UTC));
    match text.parse::<Timestamp>().or_else(|_| utc().map(|time| time.timestamp())) {
        Ok(time) => Ok(time.into()),
        Err(_) => {
            let message = format!("`modifiedAfter` is not a date or a date-time: {text:.100}");
            Err(ToolError::new(ErrorCode::InvalidArguments, message)
                .hint("write it as 2026-03-31 or 2026-03-31T18:00:00Z"))
        }
    }
}

// === impl EntryFilter ===

impl EntryFilter {
    fn new(arguments: &ListDirectory) -> Result<Self, ToolError> {
        let invalid = |message: &str, hint: &str| {
            Err(ToolError::new(ErrorCode::InvalidArguments, message).hint(hint))
        };
        let suffixes: Vec<String> = arguments
            .file_type
            .iter()
            .flat_map(|types| types.split(','))
            .map(|kind| kind.trim().trim_start_matches('*').trim_start_matches('.'))
            .filter(|kind| !kind.is_empty())
            .map(|kind| format!(".{}", kind.to_lowercase()))
            .collect();
        if arguments.file_type.is_some() && suffixes.is_empty() {
            return invalid("`fileType` names no file type", "write it as .rs or .ts,.tsx");
        }
        let (size_min, size_max) = (arguments.min_size, arguments.max_size);
        if let (Some(min), Some(max)) = (size_min, size_max)
            && max < min
        {
            return invalid("`maxSize` is less than `minSize`", "both are bytes, both included");
        }
        let modified_min = arguments.modified_after.as_deref().map(time).transpose()?;
        Ok(Self { suffixes, size_min, size_max, modified_min })
    }

    fn admits(&self, listing: &TreeListing, number: EntryNumber) -> bool {
        self.admits_kind(listing.names(), number)
            && self.admits_size(listing.size_bytes(number))
            && self.admits_time(listing.modified(number))
    }

    fn admits_kind(&self, names: &TreeNames, number: EntryNumber) -> bool {
        let name = || names.name(number).to_lowercase();
        self.suffixes.is_empty()
            || (names.kind(number) == EntryKind::File
                && self.suffixes.iter().any(|suffix| name().ends_with(suffix)))
    }

    fn admits_size(&self, size_bytes: Option<u64>) -> bool {
        if self.size_min.is_none() && self.size_max.is_none() {
            return true;
        }
        size_bytes.is_some_and(|size| {
            self.size_min.is_none_or(|min| size >= min)
                && self.size_max.is_none_or(|max| size <= max)
        })
    }

    fn admits_time(&self, modified: Option<SystemTime>) -> bool {
        self.modified_min.is_none_or(|min| modified.is_some_and(|time| time >= min))
    }
}

// === impl ListedEntry ===

impl ListedEntry {
    fn of(listing: &TreeListing, number: EntryNumber) -> Self {
        let names = listing.names();
        let time = listing.modified(number).and_then(|time| Timestamp::try_from(time).ok());
        Self {
            path: names.path(number).to_string(),
            kind: names.kind(number),
            size_bytes: listing.size_bytes(number),
            modified: time.map(|time| format!("{time:.0}")),
        }
    }
}

#[cfg(test)]
mod tests;
