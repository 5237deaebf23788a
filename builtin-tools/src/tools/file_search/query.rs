//! What is searched for: wildcards, or a part of a name.

use moss_sdk::{ErrorCode, RelPath, ToolError};

use super::familiar::FamiliarFiles;
use super::rank::{self, MatchClass, PathText, Rank};
use super::typo;
use crate::wildcards::Wildcards;

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
    pub(super) fn rank(&self, path: &RelPath) -> Option<Rank> {
        let name = path.file_name()?;
        match &self.kind {
            QueryKind::Wildcards(wildcards) => {
                // Names may hold brackets and braces: then the pattern is what it is.
                let fits = wildcards.fit(path) || self.stands_in(path);
                fits.then(Rank::equal)
            }
            QueryKind::Part { letters } => {
                let looked_at = if self.scope == QueryScope::Name { name } else { path.as_str() };
                if !rank::may_hold(looked_at, &self.letters) {
                    return None;
                }
                let text = PathText::new(path);
                let (class, cost) = self.class(&text, letters.as_deref())?;
                let has_case = path.as_str().contains(&self.pattern);
                Some(Rank::new(class, cost, has_case, path))
            }
        }
    }

    /// Where a file comes among those that the caller is busy with: for wildcards all are equal, and
    /// come by path.
    pub(super) fn place(&self, familiar: &FamiliarFiles, path: &RelPath) -> u32 {
        match self.kind {
            QueryKind::Wildcards { .. } => 0,
            QueryKind::Part { .. } => familiar.place(path),
        }
    }

    /// Whether a pattern with brackets or braces occurs as it stands.
    fn stands_in(&self, path: &RelPath) -> bool {
        self.pattern.contains(['[', '{'])
            && PathText::new(path).holds(&self.wanted, self.scope == QueryScope::Name)
    }

    /// Whether a file is surely meant as far as the pattern says: others may be a typo away.
    pub(super) fn is_certain(&self, rank: Rank) -> bool {
        !matches!(self.kind, QueryKind::Part { letters: Some(_) })
            || rank.class() < MatchClass::Typo
    }

    /// Says whether the name of a file is a typo away from what is searched for.
    pub(super) fn typo(&self, path: &RelPath) -> Option<Rank> {
        let errors_max = rank::typos_max(&self.wanted);
        if !typo::may_resemble(path.as_str(), self.name_set, errors_max) {
            return None;
        }
        let errors = PathText::new(path).distance(&self.wanted)?;
        (errors <= errors_max).then(|| Rank::new(MatchClass::Typo, errors, true, path))
    }

    /// Says how much the name of a file, or a part of its path, looks like what is searched for; none
    /// where it does not, and where only what fits is wanted.
    pub(super) fn likeness(&self, path: &RelPath) -> Option<Rank> {
        let QueryKind::Part { letters: Some(_) } = self.kind else { return None };
        let looked_at = match self.scope {
            QueryScope::Name => path.file_name()?,
            QueryScope::Path => path.as_str(),
        };
        if !typo::may_resemble(looked_at, self.name_set, rank::errors_max(&self.wanted)) {
            return None;
        }
        let text = PathText::new(path);
        let of_name = text.distance(&self.wanted).map(|errors| (MatchClass::Similar, errors));
        let of_part = || text.part_with_typo(&self.wanted, self.scope == QueryScope::Name);
        let (class, errors) = of_name.or_else(of_part)?;
        Some(Rank::new(class, errors, true, path))
    }

    fn class(&self, text: &PathText, letters: Option<&[char]>) -> Option<(MatchClass, usize)> {
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
