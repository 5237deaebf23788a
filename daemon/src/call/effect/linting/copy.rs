//! The copy that linters look at before an edit: what of the workspace the caller may read and a linter looks at,
//! with the change in it. What a project installs is linked to where it is.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use moss_checks::PlannedLint;
use moss_policy::Policy;
use moss_sdk::file::{EntryKind, ListOptions};
use moss_sdk::{ErrorCode, RelPath, ToolError};
use moss_workspace::PlannedFile;
use moss_workspace::own::{OwnDir, ScratchTree};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio_util::task::TaskTracker;

use crate::call::effect::{Effects, FileNames, ToolFacts};

/// Most files of a copy.
const FILES_MAX: usize = 10_000;
/// Most bytes of a copy.
const BYTES_MAX: usize = 128 << 20;
/// How old a copy may become whose daemon ended before it removed it: older than linters may run.
const AGE_MAX: Duration = Duration::from_secs(3_600);
/// Directories of what a project installs: ignore files keep them out of the copy.
const INSTALLED: [&str; 4] = [".venv", "node_modules", "vendor", "venv"];

/// A file of a change.
#[derive(Debug)]
pub(super) struct ChangedText {
    pub(super) path: RelPath,
    real: RelPath,
    /// Its text before the change; none where it is not there or no text.
    pub(super) before: Option<String>,
    after: Option<String>,
}

/// Before a change, or after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChangeSide {
    Before,
    After,
}

/// A copy. Its files are removed by a thread for blocking work, whichever way its use ends, and the daemon waits
/// for that before it ends.
#[derive(Debug)]
pub(super) struct LintCopy {
    /// None once it is being removed.
    tree: Option<Arc<ScratchTree>>,
    tasks: TaskTracker,
    runtime: Handle,
}

/// A copy as it comes to be.
struct GrowingCopy<'a> {
    effects: &'a Effects,
    policy: Arc<Policy>,
    tool: ToolFacts,
    copy: LintCopy,
    files: usize,
    bytes: usize,
    end: Instant,
}

// === impl Effects ===

impl Effects {
    /// Copies what linters look at, with the change.
    pub(super) async fn copied(
        self: &Arc<Self>,
        lints: impl Iterator<Item = &PlannedLint>,
        texts: &Arc<Vec<ChangedText>>,
        end: Instant,
    ) -> Result<LintCopy, ToolError> {
        let bases: BTreeSet<String> = lints.map(|lint| lint.base().to_owned()).collect();
        let (effects, texts) = (Arc::clone(self), Arc::clone(texts));
        let copy = move || {
            let mut growing = GrowingCopy::new(&effects, end)?;
            for base in bases {
                growing.add_project(&base)?;
            }
            for text in texts.iter() {
                growing.link_installed(text.path.parent())?;
                text.put(growing.copy.tree(), ChangeSide::After)?;
            }
            Ok::<_, ToolError>(growing.copy)
        };
        self.scope.blocking(copy).await?
    }

    /// Gives the files of a change the texts that they have before or after it.
    pub(super) async fn show_side(
        &self,
        copy: &LintCopy,
        texts: &Arc<Vec<ChangedText>>,
        side: ChangeSide,
    ) -> Result<(), ToolError> {
        let (tree, texts) = (Arc::clone(copy.tree()), Arc::clone(texts));
        let show = move || texts.iter().try_for_each(|text| text.put(&tree, side));
        self.scope.blocking(show).await?
    }
}

fn not_copied(error: moss_workspace::Error) -> ToolError {
    let error = ToolError::from(error);
    ToolError { message: format!("the project could not be copied: {}", error.message), ..error }
}

// === impl LintCopy ===

impl LintCopy {
    /// Takes a tree over, on a thread of the runtime that will remove it.
    fn new(tree: ScratchTree, tasks: &TaskTracker) -> Self {
        Self { tree: Some(Arc::new(tree)), tasks: tasks.clone(), runtime: Handle::current() }
    }

    /// Returns its path with all links resolved.
    pub(super) fn path(&self) -> &Path {
        self.tree().path()
    }

    /// Removes it, and waits until its files are gone.
    pub(super) async fn remove(mut self) {
        if let Some(removal) = self.begin_removal()
            && let Err(error) = removal.await
        {
            tracing::error!(%error, "a copy that linters looked at was not removed");
        }
    }

    fn tree(&self) -> &Arc<ScratchTree> {
        self.tree.as_ref().expect("only what ends it takes its tree")
    }

    fn begin_removal(&mut self) -> Option<JoinHandle<()>> {
        let tree = self.tree.take()?;
        Some(self.tasks.spawn_blocking_on(move || drop(tree), &self.runtime))
    }
}

impl Drop for LintCopy {
    fn drop(&mut self) {
        // The daemon waits for its tasks; nobody else does.
        drop(self.begin_removal());
    }
}

// === impl GrowingCopy ===

impl<'a> GrowingCopy<'a> {
    fn new(effects: &'a Effects, end: Instant) -> Result<Self, ToolError> {
        let scope = &effects.scope;
        let path = scope.daemon.setup.dirs.workspace_copies(scope.workspace.files.root());
        let home = OwnDir::create(&path).map_err(not_copied)?;
        let tree = home.scratch_tree(AGE_MAX).map_err(not_copied)?;
        let copy = LintCopy::new(tree, &scope.daemon.tasks);
        let policy = scope.workspace.policy.load_full();
        Ok(Self { effects, policy, tool: effects.tool(), copy, files: 0, bytes: 0, end })
    }

    /// Adds a directory whole, and the files in the directories above it: what is configured there applies.
    fn add_project(&mut self, base: &str) -> Result<(), ToolError> {
        let base = match base {
            "" => RelPath::root(),
            base => RelPath::parse(base)?,
        };
        self.add(&base, true)?;
        self.link_installed(Some(base.clone()))?;
        let mut next = base.parent().filter(|_| !base.is_root());
        while let Some(directory) = next {
            self.add(&directory, false)?;
            next = directory.parent().filter(|_| !directory.is_root());
        }
        Ok(())
    }

    fn add(&mut self, directory: &RelPath, recursive: bool) -> Result<(), ToolError> {
        let effects = self.effects;
        let cancelled = || effects.scope.cancel.is_cancelled();
        let lists = |path: &RelPath| effects.may_list((&self.policy, &self.tool), path);
        let options = ListOptions { recursive, entries_max: 2 * FILES_MAX };
        let files = &effects.scope.workspace.files;
        let listing =
            files.list(directory, options, &lists, &cancelled).map_err(ToolError::from)?;
        let entries = listing.entries.into_iter().filter(|entry| entry.kind == EntryKind::File);
        let paths: Vec<RelPath> = entries.map(|entry| entry.path).collect();
        if listing.truncated || self.files + paths.len() > FILES_MAX {
            return Err(too_large(format!("more than {FILES_MAX} files")));
        }
        for path in paths {
            self.add_file(&path)?;
        }
        Ok(())
    }

    /// Adds a file. What the caller may not read, what is too large and what is gone is left out.
    fn add_file(&mut self, path: &RelPath) -> Result<(), ToolError> {
        let scope = &self.effects.scope;
        if scope.cancel.is_cancelled() {
            return Err(ToolError::new(ErrorCode::Cancelled, "the call was cancelled"));
        }
        if Instant::now() >= self.end {
            return Err(ToolError::new(ErrorCode::Timeout, "copying the project took too long"));
        }
        let Ok(opened) = scope.workspace.files.open_for_reading(path) else { return Ok(()) };
        let names = FileNames { real: opened.real(), asked: path };
        if !self.effects.could_read(&self.policy, names) {
            return Ok(());
        }
        let Ok(bytes) = opened.saved_bytes() else { return Ok(()) };
        self.files += 1;
        self.bytes += bytes.len();
        if self.bytes > BYTES_MAX {
            return Err(too_large(format!("more than {} MiB", BYTES_MAX >> 20)));
        }
        self.copy.tree().write(path, &bytes, opened.is_executable()).map_err(not_copied)
    }

    /// Links what the project installs in a directory and in those above it.
    fn link_installed(&self, directory: Option<RelPath>) -> Result<(), ToolError> {
        let files = &self.effects.scope.workspace.files;
        let mut next = directory;
        while let Some(directory) = next {
            for name in INSTALLED {
                let path = directory.join(name)?;
                let found = files.resolve(&path).ok();
                let real = found.filter(|found| found.kind == Some(EntryKind::Directory));
                if let Some(real) = real {
                    let target = files.root().join(real.path.as_str());
                    self.copy.tree().link(&path, &target).map_err(not_copied)?;
                }
            }
            next = directory.parent().filter(|_| !directory.is_root());
        }
        Ok(())
    }
}

fn too_large(what: String) -> ToolError {
    ToolError::new(ErrorCode::TooLarge, format!("the project has {what}: it is not copied"))
}

// === impl ChangedText ===

impl ChangedText {
    pub(super) fn of(file: &PlannedFile) -> Self {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        let (before, after) = (owned(file.text_before()), owned(file.text_after()));
        Self { path: file.path.clone(), real: file.real.clone(), before, after }
    }

    /// Whether a path is one of its names.
    pub(super) fn is_of(&self, path: &str) -> bool {
        self.path.as_str() == path || self.real.as_str() == path
    }

    pub(super) fn on(&self, side: ChangeSide) -> Option<&str> {
        match side {
            ChangeSide::Before => self.before.as_deref(),
            ChangeSide::After => self.after.as_deref(),
        }
    }

    fn put(&self, tree: &ScratchTree, side: ChangeSide) -> Result<(), ToolError> {
        for path in BTreeSet::from([&self.path, &self.real]) {
            let put = match self.on(side) {
                Some(text) => tree.write(path, text.as_bytes(), false),
                None => tree.remove(path),
            };
            put.map_err(not_copied)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use tokio::runtime::Builder;
    use tokio::sync::oneshot;

    use super::*;

    /// Whoever lets go of a copy, on whichever path: its files are removed by another thread, and the end of the
    /// daemon waits for that.
    #[test]
    fn a_copy_that_is_let_go_of_is_removed_by_a_blocking_thread() {
        let temp = tempfile::tempdir().unwrap();
        let own = OwnDir::create(&temp.path().join("own")).unwrap();
        let runtime = Builder::new_current_thread().max_blocking_threads(1).build().unwrap();
        runtime.block_on(async {
            let (begin, begun) = oneshot::channel::<()>();
            let busy = tokio::task::spawn_blocking(move || begun.blocking_recv());
            let tasks = TaskTracker::new();
            let copy = LintCopy::new(own.scratch_tree(AGE_MAX).unwrap(), &tasks);
            let path = copy.path().to_owned();
            drop(copy);
            assert!(path.exists(), "the only thread for blocking work is busy");
            begin.send(()).unwrap();
            busy.await.unwrap().unwrap();
            tasks.close();
            tasks.wait().await;
            assert!(!path.exists());
            let copy = LintCopy::new(own.scratch_tree(AGE_MAX).unwrap(), &tasks);
            let path = copy.path().to_owned();
            copy.remove().await;
            assert!(!path.exists());
        });
    }
}
