//! What commits say of the files that they changed: the words of their subjects, by file.
//!
//! Subjects alone: what stands below them may be long, and nobody looked at it for secrets.

use hashbrown::HashMap;
use moss_sdk::RelPath;

use crate::words::WordReader;

/// Prints what [`CommitSubjects::of_log`] reads, the newest commit first.
pub const COMMIT_LOG: &str =
    "git log -n 3000 --no-merges --no-renames --name-only -z --format=%x01%s";
/// How a subject begins in that.
const SUBJECT: char = '\u{1}';
/// A commit of more files says too little of each.
const FILES_MAX: usize = 10;
/// Longest subject that is read, in bytes.
const SUBJECT_BYTES_MAX: usize = 400;
/// Most files that are known.
const PATHS_MAX: usize = 200_000;

/// The words of the subjects of commits, by the files that those changed.
#[derive(Debug, Default)]
pub struct CommitSubjects {
    pub(crate) paths: Vec<RelPath>,
    /// How many words each file has.
    pub(crate) lengths: Vec<u32>,
    terms: HashMap<Box<str>, Vec<SubjectPosting>>,
    /// The files of each commit, by their places.
    pub(crate) commits: Vec<Box<[u32]>>,
    /// Which of the commits have a word.
    having: HashMap<Box<str>, Vec<u32>>,
}

/// A word in the subjects of one file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SubjectPosting {
    /// The place of the file among [`CommitSubjects::paths`].
    pub(crate) file: u32,
    /// How many of its commits have the word.
    pub(crate) count: u32,
}

/// What was read of a log of commits so far.
#[derive(Default)]
struct LogReading {
    words: WordReader,
    places: HashMap<RelPath, u32>,
    paths: Vec<RelPath>,
    lengths: Vec<u32>,
    counts: HashMap<Box<str>, HashMap<u32, u32>>,
    commits: Vec<Box<[u32]>>,
    having: HashMap<Box<str>, Vec<u32>>,
}

// === impl CommitSubjects ===

impl CommitSubjects {
    /// Reads what [`COMMIT_LOG`] printed up to an end that cut it off: all commits but the last one.
    pub fn of_cut_log(log: &str) -> Self {
        Self::of_log(log.rfind(SUBJECT).map_or("", |last| &log[..last]))
    }

    /// Reads what [`COMMIT_LOG`] printed. What is no path of a workspace is left out.
    pub fn of_log(log: &str) -> Self {
        let mut reading = LogReading::default();
        let (mut subject, mut files) = ("", Vec::new());
        for field in log.split('\0') {
            let field = field.trim_start_matches('\n');
            match field.strip_prefix(SUBJECT) {
                Some(next) => {
                    reading.commit(std::mem::replace(&mut subject, next), &files);
                    files.clear();
                }
                None if !field.is_empty() => files.push(field),
                None => {}
            }
        }
        reading.commit(subject, &files);
        reading.finish()
    }

    /// Whether it is empty for every file.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// How many files it says something of.
    pub fn files(&self) -> usize {
        self.paths.len()
    }

    pub(crate) fn postings(&self, term: &str) -> &[SubjectPosting] {
        self.terms.get(term).map_or(&[], Vec::as_slice)
    }

    /// The commits that have a term, in their order.
    pub(crate) fn commits_with(&self, term: &str) -> &[u32] {
        self.having.get(term).map_or(&[], Vec::as_slice)
    }

    /// About how much memory it takes.
    pub(crate) fn memory_bytes(&self) -> usize {
        let paths = self.paths.iter().map(|path| path.as_str().len() + size_of::<RelPath>() + 4);
        let terms = self.terms.iter().map(|(term, postings)| {
            term.len() + size_of::<Box<str>>() + postings.len() * size_of::<SubjectPosting>() + 24
        });
        let word = size_of::<u32>();
        let commits = self.commits.iter().map(|files| files.len() * word + size_of::<Box<[u32]>>());
        let having = self
            .having
            .iter()
            .map(|(term, commits)| term.len() + size_of::<Box<str>>() + commits.len() * word + 24);
        paths.sum::<usize>() + terms.sum::<usize>() + commits.sum::<usize>() + having.sum::<usize>()
    }
}

// === impl LogReading ===

impl LogReading {
    fn commit(&mut self, subject: &str, files: &[&str]) {
        if files.is_empty() || files.len() > FILES_MAX {
            return;
        }
        let mut words = self.words.words(crate::analysis::head(subject, SUBJECT_BYTES_MAX));
        words.sort_unstable();
        words.dedup();
        let mut changed = Vec::new();
        for path in files.iter().filter_map(|path| RelPath::parse(path).ok()) {
            let Some(file) = self.place(path) else { continue };
            changed.push(file);
            for word in &words {
                self.add(word, file);
            }
        }
        let Ok(commit) = u32::try_from(self.commits.len()) else { return };
        self.commits.push(changed.into());
        for word in words {
            self.having.entry(word.into()).or_default().push(commit);
        }
    }

    fn place(&mut self, path: RelPath) -> Option<u32> {
        if let Some(place) = self.places.get(&path) {
            return Some(*place);
        }
        let place = u32::try_from(self.paths.len()).ok()?;
        if self.paths.len() >= PATHS_MAX {
            return None;
        }
        self.paths.push(path.clone());
        self.lengths.push(0);
        self.places.insert(path, place);
        Some(place)
    }

    fn add(&mut self, word: &str, file: u32) {
        self.lengths[file as usize] += 1;
        let counts = match self.counts.get_mut(word) {
            Some(counts) => counts,
            None => self.counts.entry(word.into()).or_default(),
        };
        *counts.entry(file).or_default() += 1;
    }

    fn finish(self) -> CommitSubjects {
        let list = |counts: HashMap<u32, u32>| {
            let all = counts.into_iter().map(|(file, count)| SubjectPosting { file, count });
            let mut all: Vec<SubjectPosting> = all.collect();
            all.sort_unstable_by_key(|posting| posting.file);
            all
        };
        let terms = self.counts.into_iter().map(|(word, counts)| (word, list(counts))).collect();
        CommitSubjects {
            paths: self.paths,
            lengths: self.lengths,
            terms,
            commits: self.commits,
            having: self.having,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(subjects: &CommitSubjects, word: &str) -> Vec<(String, u32)> {
        let named = |posting: &SubjectPosting| {
            (subjects.paths[posting.file as usize].to_string(), posting.count)
        };
        subjects.postings(word).iter().map(named).collect()
    }

    #[test]
    fn subjects_belong_to_the_files_of_their_commits() {
        let log = "\u{1}Fix retries\0\nsrc/a.rs\0src/ü b.rs\0\u{1}empty commit\0\u{1}Retry fix\0\nsrc/a.rs\0";
        let subjects = CommitSubjects::of_log(log);
        assert_eq!(subjects.files(), 2);
        let expected = [("src/a.rs".to_owned(), 2), ("src/ü b.rs".to_owned(), 1)];
        assert_eq!(counts(&subjects, "retri"), expected);
        assert_eq!(counts(&subjects, "empti"), []);
        assert_eq!(subjects.lengths, [4, 2]);
    }

    #[test]
    fn of_a_log_that_was_cut_off_whole_commits_count() {
        let log = "\u{1}Fix retries\0\nsrc/a.rs\0\u{1}Rename\0\nsrc/b.rs\0src/c";
        assert_eq!(CommitSubjects::of_cut_log(log).paths, [RelPath::parse("src/a.rs").unwrap()]);
        assert!(CommitSubjects::of_cut_log("\u{1}Fix\0\nsrc/a.rs\0").is_empty());
        assert!(CommitSubjects::of_cut_log("").is_empty());
    }

    #[test]
    fn what_says_too_little_or_nothing_is_left_out() {
        let many: String = (0..=FILES_MAX).map(|number| format!("f{number}.rs\0")).collect();
        let log = format!("\u{1}Reformat\0\n{many}\u{1}Escape\0\n../up.rs\0/root.rs\0ok.rs\0");
        let subjects = CommitSubjects::of_log(&log);
        assert_eq!(subjects.files(), 1);
        for log in ["", "\0\0", "fatal: not a git repository\n", "\u{1}", "\u{1}\0\n"] {
            assert!(CommitSubjects::of_log(log).paths.len() <= 1, "{log:?}");
        }
        let long = format!("\u{1}{}\0\na.rs\0", "é ".repeat(5_000));
        assert!(CommitSubjects::of_log(&long).lengths[0] <= 200);
    }
}
