//! What a search for code found: in one file, in all.

use moss_ranking::{NameFit, NameTier};
use moss_sdk::RelPath;

use super::location::{CodeLocation, CodeUse, FileUses};

/// Most locations of one result.
pub(super) const LOCATIONS_MAX: usize = 50;
/// Most uses of one result.
const USES_MAX: usize = 200;
/// Up to so many are counted.
pub(super) const COUNTED_MAX: u64 = 100_000;

/// What a look has found so far, unsorted.
#[derive(Debug, Default)]
pub(super) struct FoundCode {
    pub(super) locations: Vec<CodeLocation>,
    /// Headings of documents and keys of data: they come after the declarations of code.
    pub(super) entries: Vec<CodeLocation>,
    pub(super) total_locations: u64,
    /// How well those fit: only the best are kept.
    pub(super) fit: Option<NameFit>,
    pub(super) uses: Vec<FileUses>,
    pub(super) total_uses: u64,
    /// Keys and uses in lock files and other data that programs write: they are not listed.
    pub(super) generated: u64,
    /// How many lines the file has whose line was asked for.
    pub(super) lines: Option<usize>,
    /// Files that hold what is looked for and could not be parsed.
    pub(super) unparsed: u64,
    /// Files that have more than is kept of one.
    pub(super) incomplete: u64,
    /// Whether it ended before the last file.
    pub(super) is_cut: bool,
}

/// What one file has.
#[derive(Debug, Default)]
pub(super) struct FileCode {
    pub(super) path: Option<RelPath>,
    pub(super) locations: Vec<CodeLocation>,
    pub(super) total_locations: u64,
    pub(super) fit: Option<NameFit>,
    /// Whether it is no code.
    pub(super) is_data: bool,
    pub(super) uses: Option<FileUses>,
    pub(super) total_uses: u64,
    /// The line of the last of them, from 1.
    pub(super) last_use_line: usize,
    pub(super) generated: u64,
    /// How many lines it has, where one of them was asked for.
    pub(super) lines: Option<usize>,
    pub(super) parsed_bytes: u64,
    pub(super) is_unparsed: bool,
    pub(super) is_incomplete: bool,
}

// === impl FoundCode ===

impl FoundCode {
    /// Adds what a later look found.
    pub(super) fn add(&mut self, later: Self) {
        self.locations.extend(later.locations);
        self.entries.extend(later.entries);
        self.total_locations += later.total_locations;
        self.fit = self.fit.or(later.fit);
        self.lines = self.lines.or(later.lines);
        self.uses.extend(later.uses);
        self.total_uses += later.total_uses;
        self.generated += later.generated;
        self.unparsed = self.unparsed.max(later.unparsed);
        self.incomplete = self.incomplete.max(later.incomplete);
        self.is_cut |= later.is_cut;
        self.locations.truncate(LOCATIONS_MAX);
        self.entries.truncate(LOCATIONS_MAX - self.locations.len());
    }

    pub(super) fn is_empty(&self) -> bool {
        self.locations.is_empty() && self.entries.is_empty() && self.uses.is_empty()
    }

    /// Whether it has only the name, and not what is said before that.
    pub(super) fn is_elsewhere(&self) -> bool {
        self.fit.is_some_and(|fit| fit.tier == NameTier::Name)
    }

    pub(super) fn is_full(&self) -> bool {
        self.locations.len() >= LOCATIONS_MAX
    }

    /// How many uses are shown.
    pub(super) fn shown_uses(&self) -> usize {
        self.uses.iter().map(|file| file.uses.len()).sum()
    }

    /// Adds what one file has.
    pub(super) fn take(&mut self, mut file: FileCode) {
        match (self.fit, file.fit) {
            (Some(best), Some(fit)) if fit > best => {
                file.locations.clear();
                file.total_locations = 0;
            }
            (best, Some(fit)) if best != Some(fit) => {
                self.locations.clear();
                self.entries.clear();
                self.total_locations = 0;
                self.fit = Some(fit);
            }
            _ => {}
        }
        for location in file.locations {
            let list = match location.kind.is_entry() || file.is_data {
                true => &mut self.entries,
                false => &mut self.locations,
            };
            if list.len() < LOCATIONS_MAX {
                list.push(location);
            }
        }
        self.total_locations = COUNTED_MAX.min(self.total_locations + file.total_locations);
        self.total_uses = COUNTED_MAX.min(self.total_uses + file.total_uses);
        if let Some(mut uses) = file.uses {
            uses.uses.truncate(USES_MAX - self.shown_uses());
            if !uses.uses.is_empty() {
                self.uses.push(uses);
            }
        }
        self.generated += file.generated;
        self.lines = self.lines.or(file.lines);
        self.unparsed += u64::from(file.is_unparsed);
        self.incomplete += u64::from(file.is_incomplete);
    }
}

// === impl FileCode ===

impl FileCode {
    /// Adds a declaration, unless others fit better.
    pub(super) fn declare(&mut self, fit: NameFit, location: impl FnOnce() -> CodeLocation) {
        if self.fit.is_some_and(|best| fit > best) {
            return;
        }
        if self.fit.replace(fit) != Some(fit) {
            self.locations.clear();
            self.total_locations = 0;
        }
        self.total_locations += 1;
        if self.locations.len() < LOCATIONS_MAX {
            self.locations.push(location());
        }
    }

    /// Takes uses by where they stand, one of each line. Only what is shown is made: a line may have many, and be long.
    pub(super) fn add_use(&mut self, path: &RelPath, line: usize, made: impl FnOnce() -> CodeUse) {
        if std::mem::replace(&mut self.last_use_line, line) == line {
            return;
        }
        self.total_uses += 1;
        let new = || FileUses { path: path.to_string(), uses: Vec::new() };
        let uses = &mut self.uses.get_or_insert_with(new).uses;
        if uses.len() < USES_MAX {
            uses.push(made());
        }
    }
}
