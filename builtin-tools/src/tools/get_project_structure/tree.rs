//! The tree of a project as text, within a budget that is spent from the top down: what does not
//! fit is given as counts, and the first level is there as far as its names are not very long.

mod counts;
mod page;

use moss_sdk::file::{Entry, EntryKind};
use moss_sdk::tree_listing::TreeNames;

use self::counts::{by_ending, counted};
pub(super) use self::page::TreePage;
use self::page::bytes_max;

/// Most files of one directory that are named; more are counted by the ends of their names.
const FILES_NAMED_MAX: usize = 80;
/// Most directories in one directory that are named.
const DIRECTORIES_NAMED_MAX: usize = 100;
/// What a level is indented by.
const INDENT: &str = "  ";

/// The directories of a project, each with its entries.
pub(super) struct Tree<'a> {
    /// The root first, each before what is in it.
    directories: Vec<Directory<'a>>,
    /// How many directories of the first level are named.
    top_named: usize,
}

/// A tree as text.
pub(super) struct Drawn {
    pub(super) text: String,
    /// How many files there are.
    pub(super) files: u64,
    /// How many directories there are, without the root.
    pub(super) directories: u64,
    /// How many entries are not named in it.
    pub(super) folded: u64,
}

/// What is no directory.
#[derive(Clone, Copy)]
struct TreeFile<'a> {
    name: &'a str,
    kind: EntryKind,
}

/// A directory and what is in it, in path order.
struct Directory<'a> {
    path: &'a str,
    directories: Vec<usize>,
    files: Vec<TreeFile<'a>>,
    /// How many files and directories are beneath it.
    files_total: u64,
    directories_total: u64,
    seen: ScanCoverage,
    view: DirectoryView,
}

/// How much of a directory was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ScanCoverage {
    All,
    Part,
    Nothing,
}

/// How much of a directory is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DirectoryView {
    /// One line with counts.
    Closed,
    /// The directories in it; files as counts.
    Directories,
    /// The directories and files in it.
    Open,
}

/// What is left to spend.
struct TreeBudget {
    lines: usize,
    bytes: usize,
}

// === impl Tree ===

impl<'a> Tree<'a> {
    /// Makes a tree of names. Of a walk that ended early, `top` has the entries of the root.
    pub(super) fn new(names: &'a TreeNames, top: Option<&'a [Entry]>) -> Self {
        let directories: Vec<_> =
            names.directories().iter().map(|one| Directory::new(one.path.as_str())).collect();
        let mut tree = Self { directories, top_named: DIRECTORIES_NAMED_MAX };
        for (at, directory) in names.directories().iter().enumerate() {
            for number in directory.entries.clone() {
                let file = TreeFile { name: names.name(number), kind: names.kind(number) };
                let is_file = file.kind != EntryKind::Directory;
                tree.directories[at].files.extend(is_file.then_some(file));
            }
            if let Some(own) = directory.entry {
                tree.directories[names.directory_of(own)].directories.push(at);
            }
        }
        if let Some(top) = top {
            tree.end_early(names, top);
        }
        tree.sum();
        tree
    }

    /// Takes in where a walk ended early, and what is in the root beyond that.
    fn end_early(&mut self, names: &'a TreeNames, top: &'a [Entry]) {
        let mut last = names.in_order().last().copied();
        let mut at = match last {
            // It was come to last: so was what is in it.
            Some(last) if names.kind(last) == EntryKind::Directory => self.directories.len() - 1,
            Some(last) => names.directory_of(last),
            None => 0,
        };
        loop {
            self.directories[at].seen = ScanCoverage::Part;
            let Some(own) = names.directories()[at].entry else { break };
            last = Some(own);
            at = names.directory_of(own);
        }
        let last = last.map(|last| names.name(last));
        for entry in top.iter().filter(|entry| last < entry.path.file_name()) {
            if entry.kind == EntryKind::Directory {
                let below = self.directories.len();
                self.directories[0].directories.push(below);
                let seen = ScanCoverage::Nothing;
                self.directories.push(Directory { seen, ..Directory::new(entry.path.as_str()) });
            } else {
                let name = entry.path.file_name().unwrap_or_default();
                self.directories[0].files.push(TreeFile { name, kind: entry.kind });
            }
        }
    }

    fn sum(&mut self) {
        for at in (0..self.directories.len()).rev() {
            let directory = &self.directories[at];
            let mut files = directory.files.len() as u64;
            let mut directories = directory.directories.len() as u64;
            for &below in &directory.directories {
                files += self.directories[below].files_total;
                directories += self.directories[below].directories_total;
            }
            let directory = &mut self.directories[at];
            (directory.files_total, directory.directories_total) = (files, directories);
        }
    }

    /// Draws the tree, with at most so many lines but for those of the first level.
    pub(super) fn draw(&mut self, lines_max: usize) -> Drawn {
        self.open(TreeBudget { lines: lines_max, bytes: bytes_max(lines_max) });
        let mut text = String::new();
        let mut named = 0;
        self.draw_inside(0, 0, &mut text, &mut named);
        let Directory { files_total: files, directories_total: directories, .. } =
            self.directories[0];
        Drawn { text, files, directories, folded: files + directories - named }
    }

    /// Opens directories level by level, down to the first level that does not fit. In that one,
    /// directories come before files and small directories before large ones.
    fn open(&mut self, mut left: TreeBudget) {
        left.spend(self.open_top(left.bytes));
        let mut level = self.below(0);
        for depth in 1.. {
            for view in [DirectoryView::Directories, DirectoryView::Open] {
                let worth = level.iter().filter(|&&at| self.is_worth(at, view));
                let mut costs: Vec<(TreeBudget, usize)> =
                    worth.map(|&at| (self.cost(at, view, depth), at)).collect();
                costs.sort_by_key(|(cost, at)| (cost.lines, *at));
                for (cost, at) in costs {
                    let spent = self.cost(at, self.directories[at].view, depth);
                    if left.spend_if_enough(cost, spent) {
                        self.directories[at].view = view;
                    }
                }
            }
            let is_open = |at: usize| self.directories[at].view == DirectoryView::Open;
            if level.iter().any(|&at| self.is_worth(at, DirectoryView::Open) && !is_open(at)) {
                return;
            }
            level.retain(|&at| is_open(at));
            level = level.into_iter().flat_map(|at| self.below(at)).collect();
            if level.is_empty() {
                return;
            }
        }
    }

    /// Opens the first level, which may have as many lines as it needs. Where its names take more bytes than there
    /// are, files are given as counts, then directories.
    fn open_top(&mut self, bytes_max: usize) -> TreeBudget {
        for view in [DirectoryView::Open, DirectoryView::Directories] {
            self.directories[0].view = view;
            let cost = self.cost(0, view, 0);
            if cost.bytes <= bytes_max {
                return cost;
            }
        }
        while self.top_named > 0 && self.cost(0, DirectoryView::Directories, 0).bytes > bytes_max {
            self.top_named /= 2;
        }
        self.cost(0, DirectoryView::Directories, 0)
    }

    /// Whether a view says more about a directory than the counts behind its name.
    fn is_worth(&self, at: usize, view: DirectoryView) -> bool {
        let directory = &self.directories[at];
        let has_names = !directory.files.is_empty() && directory.names_files();
        !directory.directories.is_empty() || (view == DirectoryView::Open && has_names)
    }

    /// The directories drawn in a directory: of a chain of directories with nothing else in them,
    /// the last.
    fn below(&self, at: usize) -> Vec<usize> {
        let named = self.directories[at].directories.iter().take(self.named_max(at));
        named.map(|&below| self.end_of_chain(below)).collect()
    }

    /// How many directories in a directory are named.
    fn named_max(&self, at: usize) -> usize {
        if at == 0 { self.top_named } else { DIRECTORIES_NAMED_MAX }
    }

    fn end_of_chain(&self, mut at: usize) -> usize {
        while let Directory { directories, files, seen: ScanCoverage::All, .. } =
            &self.directories[at]
            && let ([only], []) = (directories.as_slice(), files.as_slice())
        {
            at = *only;
        }
        at
    }

    /// What the lines within a directory cost, its own not included.
    fn cost(&self, at: usize, view: DirectoryView, depth: usize) -> TreeBudget {
        let directory = &self.directories[at];
        let mut cost = TreeBudget { lines: 0, bytes: 0 };
        if view == DirectoryView::Closed {
            return cost;
        }
        let indent = INDENT.len() * depth + 1;
        for below in self.below(at) {
            cost.add(indent + self.name(below, directory.path).len() + self.counts(below).len());
        }
        for line in self.remarks(at, view) {
            cost.add(indent + line.len());
        }
        if view == DirectoryView::Open && directory.names_files() {
            directory.files.iter().for_each(|file| cost.add(indent + file.name_bytes()));
        }
        cost
    }

    fn draw_inside(&self, at: usize, depth: usize, text: &mut String, named: &mut u64) {
        let directory = &self.directories[at];
        let line = |text: &mut String, parts: [&str; 2]| {
            (0..depth).for_each(|_| text.push_str(INDENT));
            parts.iter().for_each(|part| text.push_str(part));
            text.push('\n');
        };
        for below in self.below(at) {
            let name = self.name(below, directory.path);
            *named += name.matches('/').count() as u64;
            if self.directories[below].view == DirectoryView::Closed {
                line(text, [&name, &self.counts(below)]);
            } else {
                line(text, [&name, ""]);
                self.draw_inside(below, depth + 1, text, named);
            }
        }
        if directory.view == DirectoryView::Open && directory.names_files() {
            for file in &directory.files {
                line(text, [file.name, file.mark()]);
                *named += 1;
            }
        }
        for remark in self.remarks(at, directory.view) {
            line(text, [&remark, ""]);
        }
    }

    /// The name of a directory within one above it, with a slash after each part.
    fn name(&self, at: usize, above: &str) -> String {
        let path = self.directories[at].path;
        let rest = if above == "." { path } else { path.get(above.len() + 1..).unwrap_or(path) };
        format!("{rest}/")
    }

    /// What stands behind the name of a closed directory.
    fn counts(&self, at: usize) -> String {
        let directory = &self.directories[at];
        let at_least = match directory.seen {
            ScanCoverage::All => "",
            ScanCoverage::Part => "at least ",
            ScanCoverage::Nothing => return " (not looked at)".to_owned(),
        };
        match directory.directories_total {
            0 => format!(" ({at_least}{})", by_ending(&directory.files)),
            count => {
                let files = counted(directory.files_total, "file", "files");
                let directories = counted(count, "directory", "directories");
                format!(" ({at_least}{files} in {directories})")
            }
        }
    }

    /// What stands in an open directory in place of names.
    fn remarks(&self, at: usize, view: DirectoryView) -> Vec<String> {
        let directory = &self.directories[at];
        let mut remarks = Vec::new();
        let more = directory.directories.get(self.named_max(at)..).unwrap_or_default();
        if !more.is_empty() {
            let files = more.iter().map(|&at| self.directories[at].files_total).sum();
            let files = counted(files, "file", "files");
            let more = counted(more.len() as u64, "more directory", "more directories");
            remarks.push(format!("({more} with {files})"));
        }
        let counts_files = view == DirectoryView::Directories || !directory.names_files();
        if counts_files && !directory.files.is_empty() {
            remarks.push(format!("({})", by_ending(&directory.files)));
        }
        if directory.seen == ScanCoverage::Part && at != 0 {
            remarks.push("(the rest was not looked at)".to_owned());
        }
        remarks
    }
}

// === impl TreeFile ===

impl TreeFile<'_> {
    /// What stands behind its name.
    fn mark(self) -> &'static str {
        match self.kind {
            EntryKind::Symlink => " (link)",
            EntryKind::Other => " (special)",
            EntryKind::File | EntryKind::Directory => "",
        }
    }

    fn name_bytes(self) -> usize {
        self.name.len() + self.mark().len()
    }
}

// === impl Directory ===

impl<'a> Directory<'a> {
    fn new(path: &'a str) -> Self {
        Self {
            path,
            directories: Vec::new(),
            files: Vec::new(),
            files_total: 0,
            directories_total: 0,
            seen: ScanCoverage::All,
            view: DirectoryView::Closed,
        }
    }

    fn names_files(&self) -> bool {
        self.files.len() <= FILES_NAMED_MAX
    }
}

// === impl TreeBudget ===

impl TreeBudget {
    /// Adds a line to a cost.
    fn add(&mut self, bytes: usize) {
        self.lines += 1;
        self.bytes += bytes;
    }

    fn spend(&mut self, cost: Self) {
        self.lines = self.lines.saturating_sub(cost.lines);
        self.bytes = self.bytes.saturating_sub(cost.bytes);
    }

    /// Spends what something costs beyond what was spent on it before.
    fn spend_if_enough(&mut self, cost: Self, spent: Self) -> bool {
        let (lines, bytes) = (self.lines + spent.lines, self.bytes + spent.bytes);
        let is_enough = cost.lines <= lines && cost.bytes <= bytes;
        if is_enough {
            *self = Self { lines: lines - cost.lines, bytes: bytes - cost.bytes };
        }
        is_enough
    }
}

#[cfg(test)]
mod tests {
    use moss_sdk::RelPath;
    use moss_sdk::file::Listing;
    use moss_sdk::tree_listing::TreeListing;

    use super::*;

    fn drawn(entries: Vec<Entry>, top: Option<&[Entry]>) -> Drawn {
        let listing = Listing { entries, ..Listing::default() };
        let listing = TreeListing::of(&RelPath::root(), listing);
        Tree::new(listing.names(), top).draw(300)
    }

    fn entry(path: &str) -> Entry {
        let kind = match path.chars().last() {
            Some('/') => EntryKind::Directory,
            Some('@') => EntryKind::Symlink,
            Some('|') => EntryKind::Other,
            _ => EntryKind::File,
        };
        let path = RelPath::parse(path.trim_end_matches(['/', '@', '|'])).unwrap();
        Entry { path, kind, size_bytes: None, modified: None, changed: None }
    }

    fn entries<const N: usize>(paths: [&str; N]) -> Vec<Entry> {
        paths.into_iter().map(entry).collect()
    }

    #[test]
    fn links_and_special_files_are_marked() {
        let entries = entries(["a/", "a/link@", "a/pipe|", "empty/"]);
        let drawn = drawn(entries, None);
        let expected = "a/\n  link (link)\n  pipe (special)\nempty/ (0 files)\n";
        assert_eq!((drawn.text.as_str(), drawn.folded), (expected, 0));
    }

    #[test]
    fn what_a_walk_that_ended_did_not_look_at_is_said() {
        let seen = entries(["a/", "a/x.rs", "b/", "b/c/", "b/c/y.rs"]);
        let top = entries(["a/", "b/", "d/", "z.rs"]);
        let drawn = drawn(seen, Some(&top));
        let expected = "a/\n  x.rs\nb/\n  c/\n    y.rs\n    (the rest was not looked at)\n  \
                        (the rest was not looked at)\nd/ (not looked at)\nz.rs\n";
        assert_eq!(drawn.text, expected);
    }

    #[test]
    fn small_directories_come_before_large_ones_in_a_level_that_does_not_fit() {
        let mut all = Vec::new();
        for directory in 0..9 {
            all.push(entry(&format!("d{directory}/")));
            let files = if directory == 8 { 2 } else { 60 };
            all.extend((0..files).map(|file| entry(&format!("d{directory}/f{file:02}.rs"))));
        }
        let drawn = drawn(all, None);
        assert!(drawn.text.contains("d0/\n"), "{}", drawn.text);
        assert!(drawn.text.contains("d7/ (60 .rs files)\n"), "{}", drawn.text);
        assert!(drawn.text.ends_with("d8/\n  f00.rs\n  f01.rs\n"), "{}", drawn.text);
    }

    #[test]
    fn a_file_and_a_directory_of_like_names_do_not_mix() {
        let entries = entries(["a/", "a/b", "a-b", "a.b/", "a.b/c"]);
        assert_eq!(drawn(entries, None).text, "a/\n  b\na.b/\n  c\na-b\n");
    }
}
