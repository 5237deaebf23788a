//! What is searched for: wildcards, or a part of a name.

use moss_sdk::{ErrorCode, ToolError};

use super::ascii::AsciiPattern;
use super::rank::{self, MatchClass, PathChars, PathText, Rank};
use crate::wildcards::Wildcards;
use moss_ranking::typo;

/// Longest pattern, in bytes.
const PATTERN_BYTES_MAX: usize = 1_000;

/// Which part of a path a pattern is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QueryScope {
    /// At the names of files.
    Name,
    /// At their whole paths, from the workspace root.
    Path,
}

/// A pattern that can be looked for.
#[derive(Debug)]
pub(super) struct FileQuery {
    kind: QueryKind,
    /// The pattern as it was given, without slashes around it.
    pattern: String,
    /// The same as names are compared.
    wanted: Vec<char>,
    /// Those of its characters that any file has that fits, in this order.
    letters: Vec<char>,
    /// Those of ASCII in the last of its names.
    name_set: u128,
    scope: QueryScope,
}

#[derive(Debug)]
enum QueryKind {
    Wildcards(Wildcards),
    Part {
        /// The letters between which others may stand; none where nothing may.
        letters: Option<Vec<char>>,
    },
}

/// The last name of a path.
fn name_of(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

// === impl FileQuery ===

impl FileQuery {
    /// Reads a pattern.
    ///
    /// # Errors
    ///
    /// `InvalidArguments` for what is empty, too long, no pattern of wildcards, or a path where
    /// only names are looked at.
    pub(super) fn parse(pattern: &str, fuzzy: bool, scope: QueryScope) -> Result<Self, ToolError> {
        let invalid = |message: String| ToolError::new(ErrorCode::InvalidArguments, message);
        let given = pattern.trim();
        let is_anchored = given.starts_with('/') || given.starts_with("./");
        let pattern = given.strip_prefix('.').filter(|rest| rest.starts_with('/'));
        let pattern = pattern.unwrap_or(given).trim_matches('/');
        if pattern.is_empty() {
            return Err(invalid("`pattern` is empty".to_owned())
                .hint("give a part of a file name, or wildcards such as `*.rs`"));
        }
        if pattern.len() > PATTERN_BYTES_MAX {
            return Err(invalid(format!("`pattern` is longer than {PATTERN_BYTES_MAX} bytes"))
                .hint("a part of the name is enough"));
        }
        if scope == QueryScope::Name && pattern.contains('/') {
            return Err(invalid("`pattern` has a slash, but only names are searched".to_owned())
                .hint("set `searchPath` to true, or leave the directories out"));
        }
        let wanted = rank::folded(pattern);
        let kind = if Wildcards::are_in(pattern) {
            QueryKind::Wildcards(Wildcards::parse("pattern", pattern, is_anchored)?)
        } else {
            QueryKind::Part { letters: fuzzy.then(|| rank::letters(&wanted)) }
        };
        let letters = rank::letters(&wanted);
        let name_set = typo::ascii_set(wanted.rsplit(|c| *c == '/').next().unwrap_or_default());
        Ok(Self { kind, pattern: pattern.to_owned(), wanted, letters, name_set, scope })
    }

    /// Says how well a file fits; none where it does not.
    pub(super) fn rank(&self, path: &str) -> Option<Rank> {
        match &self.kind {
            QueryKind::Wildcards(wildcards) => {
                let text = if wildcards.are_over_path() { path } else { name_of(path) };
                // Names may hold brackets and braces: then the pattern is what it is.
                let fits = wildcards.fit_text(text) || self.stands_in(path);
                fits.then(Rank::equal)
            }
            QueryKind::Part { letters } => {
                if !rank::may_hold(self.looked_at(path), &self.letters) {
                    return None;
                }
                let chars = PathChars::new(path);
                let (class, cost) = self.class(&chars.text(), letters.as_deref())?;
                let has_case = path.contains(&self.pattern);
                Some(Rank::new(class, cost, has_case, path))
            }
        }
    }

    /// Whether names alone say which files fit: then nobody need put paths together.
    pub(super) fn is_of_names(&self) -> bool {
        let QueryKind::Wildcards(wildcards) = &self.kind else { return false };
        !wildcards.are_over_path() && !self.may_stand()
    }

    /// The pattern by its bytes; none for wildcards, and where it has characters that are not ASCII.
    pub(super) fn ascii(&self) -> Option<AsciiPattern> {
        let QueryKind::Part { letters } = &self.kind else { return None };
        let in_path = self.scope == QueryScope::Path;
        AsciiPattern::new(&self.pattern, (&self.wanted, &self.letters), letters.is_some(), in_path)
    }

    /// Whether files that the caller is busy with come first: not for wildcards, which fit or do not.
    pub(super) fn has_ranks(&self) -> bool {
        matches!(self.kind, QueryKind::Part { .. })
    }

    /// Whether a pattern with brackets or braces occurs as it stands.
    fn stands_in(&self, path: &str) -> bool {
        let only_name = self.scope == QueryScope::Name;
        self.may_stand() && PathChars::new(path).text().holds(&self.wanted, only_name)
    }

    fn may_stand(&self) -> bool {
        self.pattern.contains(['[', '{'])
    }

    /// The part of a path that the pattern is compared with.
    fn looked_at<'a>(&self, path: &'a str) -> &'a str {
        match self.scope {
            QueryScope::Name => name_of(path),
            QueryScope::Path => path,
        }
    }

    /// Whether a file is surely meant as far as the pattern says: others may be a typo away.
    pub(super) fn is_certain(&self, rank: Rank) -> bool {
        !matches!(self.kind, QueryKind::Part { letters: Some(_) })
            || rank.class() < MatchClass::Typo
    }

    /// Whether the last names of a path are compared, and not its name alone.
    fn has_slash(&self) -> bool {
        self.wanted.contains(&'/')
    }

    /// Whether a file may be a typo away from what is searched for, by its name: surely not where this says no.
    pub(super) fn may_be_typo(&self, name: &str) -> bool {
        let errors_max = rank::typos_max(&self.wanted);
        self.has_slash()
            || typo::may_be_as_long(name, self.wanted.len(), errors_max)
                && typo::may_resemble(name, self.name_set, errors_max)
    }

    /// Says whether the name of a file, or a directory that it is in, is a typo away from what is searched for.
    pub(super) fn typo(&self, path: &str) -> Option<Rank> {
        let around = path.rsplit_once('/').and_then(|(around, _)| self.errors_around(around));
        self.typo_within(path, around)
    }

    /// The same, where it is known how many characters the directories around it are away.
    pub(super) fn typo_within(&self, path: &str, around: Option<usize>) -> Option<Rank> {
        let in_directory = |errors| Rank::new(MatchClass::DirectoryTypo, errors, true, path);
        self.name_typo(path).or_else(|| around.map(in_directory))
    }

    /// How many characters the most similar name of some directories is away, where that is a typo.
    pub(super) fn errors_around(&self, directories: &str) -> Option<usize> {
        if self.has_slash() || self.scope == QueryScope::Name {
            return None;
        }
        let similar = directories.split('/').filter(|name| self.may_be_typo(name));
        let errors = similar.filter_map(|name| PathChars::new(name).text().distance(&self.wanted));
        errors.filter(|errors| *errors <= rank::typos_max(&self.wanted)).min()
    }

    fn name_typo(&self, path: &str) -> Option<Rank> {
        let errors_max = rank::typos_max(&self.wanted);
        let may_be = match self.has_slash() {
            true => typo::may_resemble(path, self.name_set, errors_max),
            false => self.may_be_typo(name_of(path)),
        };
        if !may_be {
            return None;
        }
        let errors = PathChars::new(path).text().distance(&self.wanted)?;
        (errors <= errors_max).then(|| Rank::new(MatchClass::Typo, errors, true, path))
    }

    /// Says how much the name of a file, or a part of its path, looks like what is searched for; none
    /// where it does not, and where only what fits is wanted.
    pub(super) fn likeness(&self, path: &str) -> Option<Rank> {
        let QueryKind::Part { letters: Some(_) } = self.kind else { return None };
        let errors_max = rank::errors_max(&self.wanted);
        if !typo::may_resemble(self.looked_at(path), self.name_set, errors_max) {
            return None;
        }
        let chars = PathChars::new(path);
        let text = chars.text();
        let of_name = text.distance(&self.wanted).map(|errors| (MatchClass::Similar, errors));
        let of_part = || text.part_with_typo(&self.wanted, self.scope == QueryScope::Name);
        let (class, errors) = of_name.or_else(of_part)?;
        Some(Rank::new(class, errors, true, path))
    }

    fn class(
        &self,
        text: &PathText<'_, char>,
        letters: Option<&[char]>,
    ) -> Option<(MatchClass, usize)> {
        let wanted = self.wanted.as_slice();
        let fits = if wanted.contains(&'/') {
            text.class_of_path(wanted)
        } else {
            let in_directories = || text.class_in_directories(wanted);
            let of_name = text.class_of_name(wanted);
            of_name.or_else(|| (self.scope == QueryScope::Path).then(in_directories).flatten())
        };
        if let Some(class) = fits {
            return Some((class, 0));
        }
        let letters = letters?;
        let in_name = text.scatter_in_name(letters);
        if let Some(cost) = in_name.filter(|cost| *cost <= letters.len()) {
            return Some((MatchClass::NameLetters, cost));
        }
        // Letters all over the name are no better than letters of the path.
        let in_path = || text.scatter_in_path(letters);
        let in_path = (self.scope == QueryScope::Path).then(in_path).flatten();
        let cost = in_name.into_iter().chain(in_path).min()?;
        Some((MatchClass::PathLetters, cost))
    }
}
