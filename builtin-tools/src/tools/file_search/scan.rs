//! Looking through all files of a listing for those that a query finds.

use std::collections::HashMap;
use std::sync::Arc;

use moss_ranking::path_letters::{LetterSets, letters_of};
use moss_sdk::tree_listing::{EntryNumber, TreeNames};

use super::ascii::{AsciiPattern, DirectoriesFit};
use super::query::FileQuery;
use super::rank::{PathText, Rank};

/// Compares the files of a listing with a query, by their paths as seen from the directory that was listed.
pub(super) struct FileScan<'a> {
    query: &'a FileQuery,
    names: &'a TreeNames,
    ascii: Option<AsciiPattern>,
    /// Which letters a file has that fits, where that is known, and which letters the files have.
    letters: u32,
    letter_sets: Arc<LetterSets>,
    /// How the pattern fits each of the directories, as far as that was asked.
    fits: Vec<Option<DirectoriesFit>>,
    path: ScannedPath,
}

/// The path of the file that is looked at.
#[derive(Default)]
struct ScannedPath {
    /// Which of the directories it is in.
    directory: Option<usize>,
    given: String,
    /// The same in lower case, where that is ASCII.
    lower: Vec<u8>,
    /// Where the name starts.
    name: usize,
    directories_are_ascii: bool,
    is_ascii: bool,
}

// === impl FileScan ===

impl<'a> FileScan<'a> {
    pub(super) fn new(query: &'a FileQuery, names: &'a TreeNames) -> Self {
        let fits = names.directories().iter().map(|_| None).collect();
        let ascii = query.ascii();
        let letters = ascii.as_ref().map_or(0, |ascii| letters_of(ascii.letters()));
        let letter_sets = names.derived(LetterSets::of);
        Self { query, names, ascii, letters, letter_sets, fits, path: ScannedPath::default() }
    }

    /// Says how well a file fits; none where it does not.
    pub(super) fn rank(&mut self, file: EntryNumber) -> Option<Rank> {
        if self.query.is_of_names() {
            return self.query.rank(self.names.name(file));
        }
        let directory = self.names.directory_of(file);
        if !self.letter_sets.may_hold(file, directory, self.letters) {
            return None;
        }
        self.path.come_to(self.names, file);
        let Some(ascii) = self.ascii.as_ref().filter(|_| self.path.is_ascii) else {
            return self.query.rank(&self.path.given);
        };
        let fit = self.fits[directory]
            .get_or_insert_with(|| ascii.fit_directories(&self.path.directories()));
        ascii.rank(&self.path.given, &self.path.text(), fit)
    }

    /// The files whose names or directories are a typo away, each with its place among those that are given.
    pub(super) fn typos(&mut self, files: &[EntryNumber]) -> HashMap<u32, Rank> {
        let (query, names) = (self.query, self.names);
        let mut errors: Vec<Option<usize>> = Vec::with_capacity(names.directories().len());
        for directory in names.directories() {
            // Those above it come before it.
            let above = directory.entry.and_then(|entry| errors[names.directory_of(entry)]);
            let own = directory.entry.and_then(|entry| query.errors_around(names.name(entry)));
            errors.push(above.into_iter().chain(own).min());
        }
        let around = |file| errors[names.directory_of(file)];
        let may_be = |file| around(file).is_some() || query.may_be_typo(names.name(file));
        self.each(files, may_be, |file, path| query.typo_within(path, around(file))).collect()
    }

    /// The files that look alike.
    pub(super) fn alike(&mut self, files: &[EntryNumber]) -> Vec<(u32, Rank)> {
        let query = self.query;
        self.each(files, |_| true, |_, path| query.likeness(path)).collect()
    }

    fn each(
        &mut self,
        files: &[EntryNumber],
        may_fit: impl Fn(EntryNumber) -> bool,
        rank: impl Fn(EntryNumber, &str) -> Option<Rank>,
    ) -> impl Iterator<Item = (u32, Rank)> {
        let files = (0..).zip(files).filter(move |(_, file)| may_fit(**file));
        files.filter_map(move |(at, file)| {
            self.path.come_to(self.names, *file);
            rank(*file, &self.path.given).map(|rank| (at, rank))
        })
    }
}

// === impl ScannedPath ===

impl ScannedPath {
    /// Puts the path of a file together: of files in one directory only the name differs.
    fn come_to(&mut self, names: &TreeNames, file: EntryNumber) {
        let at = names.directory_of(file);
        if self.directory != Some(at) {
            self.directory = Some(at);
            let seen = names.seen(&names.directories()[at]);
            self.given.clear();
            self.given.push_str(seen);
            if !seen.is_empty() {
                self.given.push('/');
            }
            self.lower = self.given.to_ascii_lowercase().into_bytes();
            self.name = self.given.len();
            self.directories_are_ascii = self.given.is_ascii();
        }
        let name = names.name(file);
        self.given.truncate(self.name);
        self.given.push_str(name);
        self.lower.truncate(self.name);
        self.lower.extend(name.bytes().map(|byte| byte.to_ascii_lowercase()));
        self.is_ascii = self.directories_are_ascii && name.is_ascii();
    }

    fn text(&self) -> PathText<'_, u8> {
        PathText { given: self.given.as_bytes(), chars: &self.lower, name: self.name }
    }

    /// The directories that a path is in, without its name.
    fn directories(&self) -> PathText<'_, u8> {
        let given = &self.given.as_bytes()[..self.name];
        PathText { given, chars: &self.lower[..self.name], name: self.name }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use moss_sdk::RelPath;
    use moss_sdk::file::{Entry, EntryKind, Listing};
    use moss_sdk::tree_listing::TreeListing;
    use proptest::prelude::*;

    use super::*;
    use crate::tools::file_search::query::QueryScope;

    /// A listing of the root with these files and the directories that they are in.
    fn listing(paths: &[String]) -> TreeListing {
        let parsed = paths.iter().filter_map(|path| RelPath::parse(path).ok());
        let files: BTreeSet<RelPath> = parsed.filter(|path| !path.is_root()).collect();
        let above = |file: &RelPath| std::iter::successors(file.parent(), RelPath::parent);
        let directories: BTreeSet<RelPath> =
            files.iter().flat_map(above).filter(|path| !path.is_root()).collect();
        let files = files.into_iter().filter(|file| !directories.contains(file));
        let files: Vec<_> = files.map(|path| (path, EntryKind::File)).collect();
        let directories = directories.into_iter().map(|path| (path, EntryKind::Directory));
        let mut all: Vec<_> = directories.chain(files).collect();
        all.sort_by(|a, b| a.0.cmp_components(&b.0));
        let entry =
            |(path, kind)| Entry { path, kind, size_bytes: None, modified: None, changed: None };
        let entries = all.into_iter().map(entry).collect();
        TreeListing::of(&RelPath::root(), Listing { entries, ..Listing::default() })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        /// A file of a listing fits as its path for itself does.
        #[test]
        fn files_fit_as_their_paths_do(
            paths in prop::collection::vec("([abABx_.\\-1é]{1,5}/){0,3}[abABx_.1é]{1,6}", 1..8),
            pattern in "[abAB_x/.\\-1]{1,5}|[aé]{1,3}|\\*[ab./]{1,3}",
            fuzzy: bool,
            in_names: bool,
        ) {
            let scope = if in_names { QueryScope::Name } else { QueryScope::Path };
            let Ok(query) = FileQuery::parse(&pattern, fuzzy, scope) else { return Ok(()) };
            let listing = listing(&paths);
            let names = listing.names();
            let mut scan = FileScan::new(&query, names);
            let typos = scan.typos(names.in_order());
            for (at, file) in (0..).zip(names.in_order()) {
                let path = names.path(*file);
                prop_assert_eq!(scan.rank(*file), query.rank(path.as_str()), "{}", path);
                prop_assert_eq!(typos.get(&at).copied(), query.typo(path.as_str()), "{}", path);
            }
        }
    }
}
