//! Whether the first definition that moss has of a name is one that universal-ctags or a language server has as well,
//! for every name that it defines in a tree; by language.
//!
//! The order is that of `find_code_location` for an exact name: source before tests, then by path, then by place
//! in the file.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use moss_sdk::RelPath;
use moss_sdk::ranking::PathRank;
use moss_symbols::{Language, OutlineProblem, Outliner};

use crate::ctags;
use crate::foreign_tag::ForeignTag;
use crate::servers;
use crate::suites::mixed;

/// Larger files are left out, as data.
const FILE_BYTES_MAX: u64 = 2 << 20;
/// How many locations of a miss are shown.
const SHOWN: usize = 3;

/// Whose definitions those of moss are held against.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Yardstick<'a> {
    /// The universal-ctags in `PATH`.
    Ctags,
    /// The language servers in a `node_modules`.
    Servers(&'a Path),
}

/// A definition that moss has of a name: in the order in which the tool shows them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct MossDefinition {
    rank: PathRank,
    path: RelPath,
    at: u32,
    line: u32,
    kind: &'static str,
}

/// What became of the names of one language.
#[derive(Default)]
struct LanguageScore {
    names: usize,
    right: usize,
    tags: usize,
    found: usize,
    /// By their kinds: how many there are, and how many of them moss has.
    kinds: BTreeMap<String, (usize, usize)>,
    misses: Vec<String>,
}

type LanguageScores = BTreeMap<&'static str, LanguageScore>;
type Names<T> = BTreeMap<(&'static str, String), BTreeSet<T>>;

/// Prints how often the first definition is right, tree by tree and of all; and so many misses of each language.
pub(crate) fn report(trees: &[PathBuf], yardstick: Yardstick<'_>, misses: usize) -> Result<()> {
    let mut all = LanguageScores::new();
    for tree in trees {
        let scores = measured(tree, yardstick)?;
        show(&tree.display().to_string(), &scores, misses);
        for (language, score) in scores {
            all.entry(language).or_default().add(&score);
        }
    }
    if trees.len() > 1 {
        show("all trees", &all, 0);
    }
    Ok(())
}

fn show(title: &str, scores: &LanguageScores, misses: usize) {
    println!("{title}\n{:<18} {:>8} {:>7} {:>9} {:>7}", "", "names", "P@1", "theirs", "recall");
    for (language, score) in scores {
        println!(
            "{language:<18} {:>8} {:>7.3} {:>9} {:>7.3}",
            score.names,
            score.right as f64 / score.names as f64,
            score.tags,
            score.found as f64 / score.tags as f64
        );
    }
    if misses == 0 {
        return;
    }
    for (language, score) in scores {
        let kinds = score.kinds.iter().map(|(kind, (all, had))| format!("{kind} {had}/{all}"));
        println!("\n{language}: {}", kinds.collect::<Vec<_>>().join(", "));
        // The same each time, and from all over the tree.
        let mut missed: Vec<&String> = score.misses.iter().collect();
        missed.sort_by_key(|miss| mixed(miss));
        missed.iter().take(misses).for_each(|miss| println!("  {miss}"));
    }
}

fn measured(tree: &Path, yardstick: Yardstick<'_>) -> Result<LanguageScores> {
    let paths = sources(tree, yardstick)?;
    let listed: Vec<String> = paths.iter().map(|(path, _)| path.to_string()).collect();
    let mut wanted: Names<ForeignTag> = Names::new();
    let tags = match yardstick {
        Yardstick::Ctags => ctags::tags(tree, &listed),
        Yardstick::Servers(modules) => servers::tags(tree, &listed, modules),
    };
    for tag in tags? {
        let Some(language) = Language::of_path(&tag.path) else { continue };
        wanted.entry((family(language), tag.name.clone())).or_default().insert(tag);
    }
    // What it reads nothing of cannot be judged by it.
    let read: BTreeSet<&str> = wanted.values().flatten().map(|tag| tag.path.as_str()).collect();
    let paths: Vec<_> =
        paths.into_iter().filter(|(path, _)| read.contains(path.as_str())).collect();
    let (given, unread) = defined(tree, &paths, &wanted)?;
    for (path, problem) in &unread {
        println!("{path} has no declarations: {problem}");
    }
    // Nobody looks up what programs write, of which some is in lines of many thousand bytes.
    let is_large = |path: &str| unread.get(path) == Some(&OutlineProblem::TooLarge);
    wanted.retain(|_, tags| {
        tags.retain(|tag| !is_large(&tag.path));
        tags.iter().any(|tag| !tag.is_unsure)
    });
    let mut scores = LanguageScores::new();
    for (key, tags) in &wanted {
        scores.entry(key.0).or_default().take(&key.1, tags, given.get(key));
    }
    Ok(scores)
}

/// The sources beneath a directory that moss has a grammar for, data and documents left out.
fn sources(tree: &Path, yardstick: Yardstick<'_>) -> Result<Vec<(RelPath, Language)>> {
    let (mut found, mut directories) = (Vec::new(), vec![tree.to_owned()]);
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory).with_context(|| directory.display().to_string())? {
            let entry = entry?;
            let (path, kind) = (entry.path(), entry.file_type()?);
            if kind.is_dir() && entry.file_name() != ".git" {
                directories.push(path);
                continue;
            }
            let relative = path.strip_prefix(tree).context("it lies beneath its root")?;
            let Some(Ok(relative)) = relative.to_str().map(RelPath::parse) else { continue };
            let Some(language) = Language::of_path(relative.as_str()) else { continue };
            // What programs write nobody looks up, and ctags does not know JSX.
            let is_known =
                !matches!(yardstick, Yardstick::Ctags) || !relative.as_str().ends_with("sx");
            let is_code = !family(language).is_empty()
                && is_known
                && PathRank::of(&relative) != PathRank::Vendored;
            if is_code && kind.is_file() && entry.metadata()?.len() <= FILE_BYTES_MAX {
                found.push((relative, language));
            }
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// Every definition that moss has of the wanted names, and the files that have no outline.
fn defined(
    tree: &Path,
    paths: &[(RelPath, Language)],
    wanted: &Names<ForeignTag>,
) -> Result<(Names<MossDefinition>, BTreeMap<String, OutlineProblem>)> {
    let (mut outliner, mut unread) = (Outliner::default(), BTreeMap::new());
    let mut given: Names<MossDefinition> = Names::new();
    for (path, language) in paths {
        let bytes = fs::read(tree.join(path.as_str())).with_context(|| path.to_string())?;
        let Ok(text) = String::from_utf8(bytes) else { continue };
        let read = Language::of_text(path.as_str(), &text).unwrap_or(*language);
        let outline = match outliner.outline(read, &text) {
            Ok(outline) => outline,
            Err(problem) => {
                unread.insert(path.to_string(), problem);
                continue;
            }
        };
        let (mut line, mut counted) = (1, 0);
        let mut names: Vec<_> = outline.declarations.iter().collect();
        names.sort_by_key(|declaration| declaration.name.start);
        for declaration in names {
            let range = declaration.name.start as usize..declaration.name.end as usize;
            let lines = text.get(counted..range.start).unwrap_or_default().matches('\n').count();
            (line, counted) = (line + u32::try_from(lines)?, range.start);
            let name = text.get(range).unwrap_or_default();
            // As the others have private names of JavaScript.
            let is_ecma = ["javascript", "typescript"].contains(&family(*language));
            let bare = name.strip_prefix('#').filter(|_| is_ecma);
            let name = bare.unwrap_or(name).to_owned();
            let key = (family(*language), name);
            if wanted.contains_key(&key) {
                given.entry(key).or_default().insert(MossDefinition {
                    rank: PathRank::of(path),
                    path: path.clone(),
                    at: declaration.range.start,
                    line,
                    kind: declaration.kind.as_str(),
                });
            }
        }
    }
    Ok((given, unread))
}

/// What is measured as one: headers of C++ look like those of C. Empty for what is no code.
fn family(language: Language) -> &'static str {
    match language {
        Language::C | Language::Cpp => "c, c++",
        Language::Tsx | Language::TypeScript => "typescript",
        Language::Json | Language::Markdown | Language::Toml | Language::Yaml => "",
        other => other.name(),
    }
}

// === impl LanguageScore ===

impl LanguageScore {
    /// Takes one name: what others have of it, and what moss has.
    fn take(
        &mut self,
        name: &str,
        tags: &BTreeSet<ForeignTag>,
        given: Option<&BTreeSet<MossDefinition>>,
    ) {
        let is_tag = |one: &MossDefinition| {
            tags.iter().any(|tag| tag.path == one.path.as_str() && tag.line == one.line)
        };
        let first = given.and_then(BTreeSet::first);
        let is_right = first.is_some_and(is_tag);
        self.names += 1;
        self.right += usize::from(is_right);
        for tag in tags.iter().filter(|tag| !tag.is_unsure) {
            let has = |one: &MossDefinition| tag.path == one.path.as_str() && tag.line == one.line;
            let is_found = given.is_some_and(|given| given.iter().any(has));
            let kind = self.kinds.entry(tag.kind.clone()).or_default();
            *kind = (kind.0 + 1, kind.1 + usize::from(is_found));
            self.tags += 1;
            self.found += usize::from(is_found);
        }
        if !is_right {
            let theirs = tags.iter().map(|tag| format!("{} {}:{}", tag.kind, tag.path, tag.line));
            let of_moss = given.into_iter().flatten();
            let of_moss = of_moss.map(|one| format!("{} {}:{}", one.kind, one.path, one.line));
            let [theirs, of_moss] = [few(theirs), few(of_moss)];
            self.misses.push(format!("{name}: moss [{of_moss}], theirs [{theirs}]"));
        }
    }

    fn add(&mut self, other: &Self) {
        self.names += other.names;
        self.right += other.right;
        self.tags += other.tags;
        self.found += other.found;
    }
}

/// The first of them.
fn few(all: impl Iterator<Item = String>) -> String {
    let all: Vec<String> = all.collect();
    let more = if all.len() > SHOWN { ", …" } else { "" };
    format!("{}{more}", all[..all.len().min(SHOWN)].join(", "))
}
