//! Which files are central: a graph of files by the names that one declares and others have, and a walk
//! over it at random (PageRank).
//!
//! Only names show it: those of one part, such as `get`, stand for too many things to say anything, but
//! for the names of types that only one file declares.

mod file_ranks;

use hashbrown::HashMap;
use moss_sdk::RelPath;
use moss_symbols::{DeclarationKind, language_family};

pub use self::file_ranks::FileRanks;
use crate::analysis::FileRole;
use crate::forms::stem;
use crate::ranked::{HeldSegment, RankedIndex, RankedView};
use crate::weights::BODY;
use crate::words::parts;

/// What more files declare is no name of one of them.
const DECLARING_MAX: usize = 4;
/// Most uses of files that are followed.
const USES_FOLLOWED_MAX: usize = 2_000_000;
/// How much the name of a type counts that is one plain word.
const PLAIN_WEIGHT: f32 = 0.2;
/// How much a name counts that is meant for its own file.
const PRIVATE_WEIGHT: f32 = 0.1;
/// How often the walk goes on by a use; otherwise it begins anew anywhere.
const DAMPING: f64 = 0.85;
/// How many steps the walk takes.
const STEPS: usize = 30;

/// A name that a file declares.
struct NameOfFile<'a> {
    name: &'a str,
    file: u32,
    weight: f32,
    /// Whether it is one plain word.
    is_plain: bool,
}

/// The files of an index that are source and may be seen, and what they use of each other.
#[derive(Default)]
struct FileGraph<'a> {
    paths: Vec<&'a RelPath>,
    /// The family of languages that each is of.
    families: Vec<&'a str>,
    /// By user and used.
    uses: HashMap<(u32, u32), f32>,
    /// How many files have each name of a file.
    names: Vec<Vec<(u32, &'a str)>>,
}

// === impl RankedIndex ===

impl RankedIndex {
    /// Ranks all files that may be seen. It looks at every name there is: the result is worth keeping.
    pub fn rank_files(&self, view: &RankedView) -> FileRanks {
        let graph = FileGraph::new(self, view);
        let ranks = graph.ranks();
        FileRanks::new(&graph, &ranks)
    }
}

// === impl FileGraph ===

impl<'a> FileGraph<'a> {
    fn new(index: &'a RankedIndex, view: &RankedView) -> Self {
        let mut graph = Self::default();
        // By segment and text: the number of a file in the graph.
        let mut files: Vec<Vec<Option<u32>>> = Vec::new();
        for held in &index.segments {
            let mut own = Vec::new();
            for (number, text) in held.segment.texts.iter().enumerate() {
                let verdicts = view.verdicts(held.number);
                let is_seen = !held.dead[number]
                    && verdicts.is_none_or(|verdicts| verdicts.get(number) == Some(&true));
                let is_source = matches!(text.role, FileRole::Source | FileRole::Barrel);
                own.push((is_seen && is_source).then(|| {
                    graph.paths.push(&text.path);
                    graph.families.push(language_family(text.path.as_str()));
                    u32::try_from(graph.paths.len() - 1).unwrap_or(u32::MAX)
                }));
            }
            files.push(own);
        }
        graph.names = vec![Vec::new(); graph.paths.len()];
        for (term, declared) in declared_names(&index.segments, &files) {
            graph.add(&term, &declared, &index.segments, &files);
        }
        graph
    }

    /// Adds the uses of a name that some files declare.
    fn add(
        &mut self,
        term: &str,
        declared: &[NameOfFile<'a>],
        segments: &[HeldSegment],
        files: &[Vec<Option<u32>>],
    ) {
        let mut users: HashMap<u32, f32> = HashMap::new();
        for (held, files) in segments.iter().zip(files) {
            for posting in held.segment.postings(term).into_iter().flatten() {
                let chunk = &held.segment.chunks[posting.chunk as usize];
                if let Some(user) = files[chunk.text as usize].filter(|_| posting.counts[BODY] > 0)
                {
                    *users.entry(user).or_default() += f32::from(posting.counts[BODY]);
                }
            }
        }
        // A file that declares a name means its own.
        for name in declared {
            users.remove(&name.file);
        }
        if self.uses.len() + users.len() * declared.len() > USES_FOLLOWED_MAX {
            return;
        }
        let share = 1.0 / declared.len() as f32;
        for name in declared {
            let family = self.families[name.file as usize];
            let alike = users.iter().filter(|(user, _)| self.families[**user as usize] == family);
            let mut count = 0;
            for (user, times) in alike {
                let weight = name.weight * share * times.sqrt();
                *self.uses.entry((*user, name.file)).or_default() += weight;
                count += 1;
            }
            if count > 0 {
                self.names[name.file as usize].push((count, name.name));
            }
        }
    }

    /// The uses in one order: sums of floating point depend on it.
    fn in_order(&self) -> Vec<(u32, u32, f32)> {
        let uses = self.uses.iter().map(|((user, used), weight)| (*user, *used, *weight));
        let mut uses: Vec<(u32, u32, f32)> = uses.collect();
        uses.sort_unstable_by_key(|(user, used, _)| (*user, *used));
        uses
    }

    /// How often a walk comes by each file.
    fn ranks(&self) -> Vec<f64> {
        let count = self.paths.len();
        let uses = self.in_order();
        let mut out = vec![0.0_f64; count];
        for (user, _, weight) in &uses {
            out[*user as usize] += f64::from(*weight);
        }
        let mut ranks = vec![1.0 / count.max(1) as f64; count];
        for _ in 0..STEPS {
            let leaving: f64 =
                ranks.iter().zip(&out).filter(|(_, out)| **out > 0.0).map(|(rank, _)| rank).sum();
            let anywhere = (1.0 - DAMPING * leaving) / count.max(1) as f64;
            let mut next = vec![anywhere; count];
            for (user, used, weight) in &uses {
                let user = *user as usize;
                next[*used as usize] += DAMPING * ranks[user] * f64::from(*weight) / out[user];
            }
            ranks = next;
        }
        ranks
    }
}

/// The names that files declare and that say something, by the term under which others have them.
fn declared_names<'a>(
    segments: &'a [HeldSegment],
    files: &[Vec<Option<u32>>],
) -> Vec<(String, Vec<NameOfFile<'a>>)> {
    let mut all: HashMap<String, Vec<NameOfFile<'a>>> = HashMap::new();
    for (held, files) in segments.iter().zip(files) {
        for chunk in held.segment.chunks.iter().filter(|chunk| !chunk.is_test) {
            let Some(file) = files[chunk.text as usize] else { continue };
            let (Some(name), Some(kind)) = (held.segment.name(chunk), chunk.kind) else { continue };
            let Some((term, is_plain)) = term_of(name, kind) else { continue };
            let weight = match (is_plain, name.starts_with('_')) {
                (true, _) => PLAIN_WEIGHT,
                (_, true) => PRIVATE_WEIGHT,
                _ => 1.0,
            };
            let known = all.entry(term).or_default();
            let is_common = known.len() > DECLARING_MAX;
            if !is_common && known.iter().all(|known| known.file != file) {
                known.push(NameOfFile { name, file, weight, is_plain });
            }
        }
    }
    let is_plain = |names: &[NameOfFile<'_>]| names.iter().any(|one| one.is_plain);
    let mut all: Vec<(String, Vec<NameOfFile<'a>>)> = all
        .into_iter()
        .filter(|(_, names)| names.len() <= if is_plain(names) { 1 } else { DECLARING_MAX })
        .collect();
    all.sort_by(|one, other| one.0.cmp(&other.0));
    all
}

/// The term of a name, and whether that is one plain word; none of a name that says too little.
fn term_of(name: &str, kind: DeclarationKind) -> Option<(String, bool)> {
    let is_type = matches!(
        kind,
        DeclarationKind::Class
            | DeclarationKind::Struct
            | DeclarationKind::Enum
            | DeclarationKind::Interface
            | DeclarationKind::Trait
            | DeclarationKind::Type
            | DeclarationKind::Macro
    );
    let is_code = is_type
        || matches!(
            kind,
            DeclarationKind::Function | DeclarationKind::Method | DeclarationKind::Constant
        );
    let words: Vec<&str> = parts(name).collect();
    match words.as_slice() {
        [] => None,
        [word] if is_type && word.len() > 3 => Some((stem(&word.to_lowercase()), true)),
        [_] => None,
        words if is_code => {
            let whole: String = words.iter().map(|word| word.to_lowercase()).collect();
            (whole.len() > 3).then_some((whole, false))
        }
        _ => None,
    }
}
