//! Ignore files: what `.ignore`, `.gitignore` and a repository's `info/exclude` leave out.
//!
//! The rules of a directory lead to those of the directories above it, so that directories which
//! are walked at the same time share them.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use moss_sdk::RelPath;
use moss_sdk::file::EntryKind;

use crate::error::Error;
use crate::handle::{self, Patience};
use crate::resolve::ResolvedPath;
use crate::root::Workspace;

/// The ignore file of any program: stronger than all of git's.
pub(crate) const IGNORE_FILE: &str = ".ignore";
pub(crate) const GIT_IGNORE_FILE: &str = ".gitignore";
/// The directory or file that makes a directory a repository's root; no walk shows it.
pub(crate) const GIT: &str = ".git";
/// Where in it rules are that are not shared: weaker than those of ignore files.
const GIT_EXCLUDE_FILE: [&str; 2] = ["info", "exclude"];

/// The ignore rules of a directory and of all above it.
pub(crate) struct IgnoreRules {
    above: Option<Arc<Self>>,
    local: LocalIgnoreRules,
}

/// The ignore rules that one directory holds itself.
#[derive(Debug)]
pub(crate) struct LocalIgnoreRules {
    ignore: Gitignore,
    git: Gitignore,
    /// Whether a repository starts here: git's rules from above do not apply in it.
    is_repository: bool,
}

/// Which names with a meaning for ignore rules a directory holds.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct IgnoreNames {
    ignore: bool,
    git_ignore: bool,
    git: bool,
}

/// Makes rules of the texts of ignore files in a directory, the strongest last.
fn rules(directory: &RelPath, texts: impl IntoIterator<Item = String>) -> Gitignore {
    let mut texts = texts.into_iter().peekable();
    if texts.peek().is_none() {
        return Gitignore::empty();
    }
    let root = if directory.is_root() { "" } else { directory.as_str() };
    let mut builder = GitignoreBuilder::new(root);
    for text in texts {
        for line in text.lines() {
            let _ = builder.add_line(None, line);
        }
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

// === impl Workspace ===

impl Workspace {
    /// The ignore rules of all directories above a location. One that is gone by now has none.
    pub(crate) fn rules_above(&self, place: &ResolvedPath) -> Result<Arc<IgnoreRules>, Error> {
        let mut above: Vec<RelPath> =
            std::iter::successors(place.path.parent(), RelPath::parent).collect();
        above.reverse();
        let mut rules = Arc::new(IgnoreRules::none());
        for path in above {
            match self.open_directory(&path) {
                Ok((_, held)) => rules = self.rules_of(&held, &path, IgnoreNames::ALL, &rules),
                Err(Error::NotFound { .. } | Error::NotADirectory { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(rules)
    }

    /// The ignore rules in a directory. Ignore files that cannot be read, are too large or hold
    /// broken lines leave out what they would have said.
    pub(crate) fn rules_of(
        &self,
        directory: &OwnedFd,
        path: &RelPath,
        names: IgnoreNames,
        above: &Arc<IgnoreRules>,
    ) -> Arc<IgnoreRules> {
        if !names.ignore && !names.git_ignore && !names.git {
            return Arc::clone(above);
        }
        let local = self.local_rules_of(directory, path, names);
        Arc::new(IgnoreRules { above: Some(Arc::clone(above)), local })
    }

    /// The ignore rules that a directory holds itself, without those above it.
    pub(crate) fn local_rules_of(
        &self,
        directory: &OwnedFd,
        path: &RelPath,
        names: IgnoreNames,
    ) -> LocalIgnoreRules {
        let is_repository =
            names.git && handle::find_at(directory, GIT).is_ok_and(|git| git.is_some());
        let exclude = if is_repository { self.read_exclude_file(directory) } else { None };
        let read = |is_there: bool, name| match is_there {
            true => self.read_ignore_file(directory, name),
            false => None,
        };
        let git = read(names.git_ignore, GIT_IGNORE_FILE);
        LocalIgnoreRules {
            ignore: rules(path, read(names.ignore, IGNORE_FILE)),
            git: rules(path, exclude.into_iter().chain(git)),
            is_repository,
        }
    }

    pub(crate) fn read_exclude_file(&self, root: &OwnedFd) -> Option<String> {
        let [info, file] = GIT_EXCLUDE_FILE;
        let git = handle::open_at(root, GIT, handle::DIRECTORY).ok()?;
        let info = handle::open_at(git, info, handle::DIRECTORY).ok()?;
        self.read_ignore_file(&info, file)
    }

    fn read_ignore_file(&self, directory: &OwnedFd, name: &str) -> Option<String> {
        let stat = handle::find_at(directory, name).ok()??;
        let bytes_max = self.limits().ignore_bytes_max;
        if stat.kind != EntryKind::File || stat.size_bytes > bytes_max {
            return None;
        }
        let fd = handle::open_at(directory, name, handle::READ).ok()?;
        let is_same = handle::stat(&fd).ok()?.identity == stat.identity;
        if !is_same || self.secrets.contains(stat.identity) {
            return None;
        }
        let bytes = handle::read_to(&fd, bytes_max, Patience::Wait).ok()?;
        Some(String::from_utf8_lossy(&bytes).trim_start_matches('\u{feff}').to_owned())
    }
}

// === impl IgnoreRules ===

impl IgnoreRules {
    fn none() -> Self {
        let (ignore, git) = (Gitignore::empty(), Gitignore::empty());
        Self { above: None, local: LocalIgnoreRules { ignore, git, is_repository: false } }
    }

    /// Whether the rules say to leave a path out.
    pub(crate) fn is_ignored(&self, real: &RelPath, is_directory: bool) -> bool {
        let chain = std::iter::successors(Some(self), |rules| rules.above.as_deref());
        LocalIgnoreRules::ignore(chain.map(|rules| &rules.local), real, is_directory)
    }
}

// === impl LocalIgnoreRules ===

impl LocalIgnoreRules {
    /// Whether there are none.
    pub(crate) fn are_none(&self) -> bool {
        self.ignore.is_empty() && self.git.is_empty() && !self.is_repository
    }

    /// Whether a repository starts where they are.
    pub(crate) fn are_of_repository(&self) -> bool {
        self.is_repository
    }

    /// Whether the rules of the directories above a path say to leave it out: those of `.ignore`
    /// before git's, the nearest first.
    pub(crate) fn ignore<'a>(
        nearest: impl Iterator<Item = &'a Self>,
        real: &RelPath,
        is_directory: bool,
    ) -> bool {
        let speaks = |rules: &Gitignore| match rules.matched(real.as_str(), is_directory) {
            Match::None => None,
            Match::Ignore(_) => Some(true),
            Match::Whitelist(_) => Some(false),
        };
        let mut by_git = None;
        let mut in_repository = true;
        for rules in nearest {
            if let Some(is_ignored) = speaks(&rules.ignore) {
                return is_ignored;
            }
            if in_repository && by_git.is_none() {
                by_git = speaks(&rules.git);
            }
            in_repository &= !rules.is_repository;
        }
        by_git.unwrap_or(false)
    }
}

// === impl IgnoreNames ===

impl IgnoreNames {
    /// Any of them may be there.
    pub(crate) const ALL: Self = Self { ignore: true, git_ignore: true, git: true };

    pub(crate) fn note(&mut self, name: &str) {
        match name {
            IGNORE_FILE => self.ignore = true,
            GIT_IGNORE_FILE => self.git_ignore = true,
            GIT => self.git = true,
            _ => {}
        }
    }
}
