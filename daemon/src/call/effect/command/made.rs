//! What a command made under a name that it may not write: it could not be kept from that, so it is moved
//! aside when the command has ended.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use moss_sandbox::{
    CountedPaths, FileView, ProtectedFiles, ProtectedKind, find_protected, set_aside,
};
use moss_sdk::ToolError;
use moss_sdk::deceptive::escaped;
use moss_workspace::{Protection, Workspace};

use super::kinds::FileKinds;
use crate::call::effect::Effects;
use crate::call::effect::by_rules::{CommandRules, PACKAGES, decidable};
use crate::state::WorkspaceState;

/// Most entries of a workspace among which protected ones are looked for.
pub(super) const ENTRIES_MAX: usize = 1_000_000;
/// Most of them after a command, which may have made as many as it wanted.
const ENTRIES_AFTER_MAX: usize = 10_000_000;

/// What was made and may not be there.
#[derive(Debug, Default)]
pub(crate) struct MadeFiles {
    /// Moved to another name, so that nothing reads or runs them.
    pub(crate) set_aside: CountedPaths,
    /// Could not be moved: they still lie where they were made.
    pub(crate) left: CountedPaths,
    /// Cannot be looked into any more: nobody knows what lies in them.
    pub(super) closed: CountedPaths,
    /// Whether there are too many entries for all to be looked at.
    pub(crate) has_unseen: bool,
}

/// The names that may not be changed, or not be read, before a command, and when that was.
#[derive(Debug)]
pub(crate) struct ProtectedBefore(BTreeSet<PathBuf>, Instant);

// === impl MadeFiles ===

impl MadeFiles {
    /// What a result says of them.
    pub(super) fn notes(&self) -> Vec<String> {
        let Self { set_aside, left, closed, has_unseen } = self;
        let mut notes = Vec::new();
        if !set_aside.is_empty() {
            notes.push(format!(
                "commands may not make {set_aside}: moved aside, with `.set-aside-by-moss` behind the name; use the \
                 tools that edit files, which ask. Where git has such a file in its commits, it is missing now: do not \
                 commit all changes (`commit -a`, `add -A`), which would delete it there"
            ));
        }
        if !left.is_empty() {
            notes.push(format!("commands may not make {left}, and moss could not move it aside"));
        }
        if !closed.is_empty() {
            notes.push(format!(
                "nobody can look into {closed} since the command changed its permissions: what it made there under \
                 protected names is still there, and later commands do not see the directory"
            ));
        }
        if *has_unseen {
            notes.push(format!(
                "the workspace has more than {ENTRIES_AFTER_MAX} entries now: moss has not seen all that the command \
                 made, and what of it has protected names is still there; remove what it made before a program of \
                 yours works in the workspace"
            ));
        }
        // Names are whatever a command chose.
        notes.iter().map(|note| escaped(note)).collect()
    }
}

// === impl ProtectedBefore ===

impl ProtectedBefore {
    pub(super) fn of(view: &FileView) -> Self {
        let protected = view.protected.iter().chain(&view.protected_last);
        Self(protected.chain(&view.masked).cloned().collect(), Instant::now())
    }

    pub(super) fn names(&self) -> BTreeSet<PathBuf> {
        self.0.clone()
    }
}

// === impl Effects ===

impl Effects {
    /// Moves aside what is new among the names that nobody may write unasked: see [`set_aside_new`].
    pub(super) async fn set_aside_made(
        self: &Arc<Self>,
        before: ProtectedBefore,
    ) -> Result<MadeFiles, ToolError> {
        let effects = Arc::clone(self);
        let look = move || {
            let workspace = &effects.scope.workspace;
            let kinds = FileKinds::new(&effects, workspace.policy.load_full());
            let ProtectedBefore(names, since) = before;
            let (kind, is_new) =
                (|path: &Path| kinds.of(path), |path: &Path| !names.contains(path));
            set_aside_new(&workspace.files, &kind, &is_new, Some(since))
        };
        Ok(self.scope.blocking(look).await?)
    }
}

/// What of a workspace is protected but for what stays where it is found.
fn kind_to_move(
    files: &Workspace,
    kind: &dyn Fn(&Path) -> Option<ProtectedKind>,
) -> impl Fn(&Path) -> Option<ProtectedKind> {
    |relative: &Path| {
        let kind = kind(relative)?;
        let is_secret = decidable(relative)
            .is_none_or(|path| files.protection(&path) == Some(Protection::Secret));
        let stays = is_secret || is_in_package(relative);
        Some(if stays { ProtectedKind::Masked } else { kind })
    }
}

/// Moves aside what is new among the names that nobody may write unasked; no command that began since restores it.
/// New names of secrets stay: they are not readable from now on, and make nothing run.
pub(crate) fn set_aside_new(
    files: &Workspace,
    kind: &dyn Fn(&Path) -> Option<ProtectedKind>,
    is_new: &dyn Fn(&Path) -> bool,
    since: Option<Instant>,
) -> MadeFiles {
    let kind = kind_to_move(files, kind);
    // There may be millions of each: the rest is not needed any more.
    let ProtectedFiles { protected, closed, is_complete, .. } =
        find_protected(files.root(), ENTRIES_AFTER_MAX, &kind);
    let mut made = MadeFiles { has_unseen: !is_complete, ..MadeFiles::default() };
    made.closed.extend(closed.into_iter().filter(|path| is_new(path)));
    for path in protected.into_iter().filter(|path| is_new(path)) {
        let list = match set_aside(&path, since) {
            Ok(()) => &mut made.set_aside,
            Err(_) => &mut made.left,
        };
        list.push(path);
    }
    made
}

/// Finds what is new in a workspace among the names that no command may write, for whoever cannot know who made it.
pub(crate) fn made_since(workspace: &WorkspaceState, before: &ProtectedBefore) -> CountedPaths {
    let (files, policy, rules) =
        (&workspace.files, workspace.policy.load_full(), CommandRules(workspace));
    let by_rules = |relative: &Path| rules.kind(&policy, relative);
    let kind = kind_to_move(files, &by_rules);
    let found = find_protected(files.root(), ENTRIES_AFTER_MAX, &kind);
    let mut made = CountedPaths::default();
    made.extend(found.protected.into_iter().filter(|path| !before.0.contains(path)));
    made
}

/// Whether a path lies in a directory of packages.
pub(super) fn is_in_package(relative: &Path) -> bool {
    let mut names = relative.components().filter_map(|name| name.as_os_str().to_str());
    names.any(|name| PACKAGES.contains(&name))
}

#[cfg(test)]
mod tests {
    use moss_workspace::WorkspaceOptions;

    use super::*;

    #[test]
    fn all_that_a_command_made_is_moved_aside_and_the_first_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for number in 0..1_000 {
            std::fs::write(root.join(format!("{number}.code-workspace")), "{}").unwrap();
        }
        let files = Workspace::open(&root, WorkspaceOptions::default()).unwrap();
        let kind = |path: &Path| {
            let is_protected = path.extension().is_some_and(|end| end == "code-workspace");
            is_protected.then_some(ProtectedKind::Protected)
        };
        let made = set_aside_new(&files, &kind, &|_| true, None);
        assert_eq!((made.set_aside.count(), made.set_aside.held().count()), (1_000, 200));
        let names = std::fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().file_name());
        assert!(names.into_iter().all(|name| name.to_str().unwrap().ends_with("-by-moss")));
        let notes = made.notes();
        let is_whole = notes[0].contains(" and 990 others: moved aside");
        assert!(is_whole && notes.len() == 1 && notes[0].len() < 10_000, "{notes:?}");
        std::fs::write(root.join("a\nit is fine.code-workspace"), "{}").unwrap();
        let notes = set_aside_new(&files, &kind, &|_| true, None).notes();
        assert!(notes[0].contains("a\\nit is fine") && !notes[0].contains('\n'), "{notes:?}");
    }
}
