//! The files that a command sees and changes: what is masked and protected before it, what is another
//! file after it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use moss_sandbox::{FileView, add_other_names, find_protected};
use moss_sdk::command::{AlteredFile, FileFate};
use moss_sdk::file::{EntryKind, ListOptions};
use moss_sdk::{RelPath, ToolError};
use moss_workspace::{FileLook, LastLink, Workspace};

use super::contents::{KnownContents, ReadContent};
use super::git_reads::hook_directories;
use super::grants::named_caches;
use super::kinds::FileKinds;

use super::made::{ENTRIES_MAX, is_in_package};
use crate::call::effect::Effects;
use crate::setup::Setup;

/// Most entries that are compared before and after a command.
pub(super) const COMPARED_MAX: usize = 50_000;
/// Most changed files that are listed.
pub(super) const CHANGED_MAX: usize = 200;

/// Files whose caches know them by their size and the second in which they were written: the bytecode of Python, mypy.
const BY_SECOND: [&str; 2] = [".py", ".pyi"];

/// The files that are others than they were before.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ChangedFiles {
    /// Those whose names the caller may see, in their order.
    pub(super) listed: Vec<AlteredFile>,
    /// How many more there are.
    pub(super) hidden_count: usize,
    /// How many are as they were, and are no longer listed: an ignore file names them now.
    pub(super) ignored_count: usize,
}

/// The files of a workspace at one moment, those that ignore files name left out.
#[derive(Debug, Default)]
pub(super) struct FileMoment {
    files: BTreeMap<RelPath, FileLook>,
    /// Whether there are more than are compared.
    is_cut: bool,
    /// What some of them hold.
    contents: Arc<KnownContents>,
}

// === impl Effects ===

impl Effects {
    /// Finds out what a command may see. What the policy denies reading is not readable for it; what
    /// is protected stays as it is.
    pub(super) async fn file_view(self: &Arc<Self>) -> Result<FileView, ToolError> {
        let effects = Arc::clone(self);
        let find = move || {
            let scope = &effects.scope;
            // What another one left is no part of what this one sees.
            scope.workspace.settle_left_commands();
            let root = scope.workspace.files.root();
            let policy = scope.workspace.policy.load_full();
            let kinds = FileKinds::new(&effects, Arc::clone(&policy));
            let kind = |relative: &Path| kinds.of(relative);
            let looked = Some(Instant::now());
            let found = find_protected(root, ENTRIES_MAX, &kind);
            let Setup { dirs, config_file, admin_policies, secrets, .. } = &scope.daemon.setup;
            let own = [&dirs.config, &dirs.state, &dirs.code, &dirs.runtime, &dirs.admin];
            let named = secrets.iter().chain(admin_policies).chain(config_file);
            let home = std::env::home_dir();
            let mut view = FileView { workspace: root.to_owned(), looked, ..FileView::default() };
            let environment: Vec<_> = std::env::vars_os().collect();
            view.writable = FileView::caches(home.as_deref(), &environment);
            view.writable.extend(named_caches(policy.caches(), home.as_deref()));
            let is_last = |path: &PathBuf| path.strip_prefix(root).is_ok_and(is_in_package);
            (view.protected_last, view.protected) = found.protected.into_iter().partition(is_last);
            view.protected.extend(found.led_to);
            view.protected.extend(hook_directories(&found.repositories));
            view.repositories = found.repositories;
            view.apart = effects.apart_from_caches();
            let unreadable = found.masked.into_iter().chain(found.closed);
            view.masked = unreadable.chain(own.into_iter().chain(named).cloned()).collect();
            let elsewhere = scope.workspace.files.secrets_elsewhere();
            let elsewhere: BTreeSet<_> = elsewhere.map(|one| (one.device, one.inode)).collect();
            if !elsewhere.is_empty() {
                add_other_names(root, &elsewhere, &mut view.masked);
            }
            (view, found.is_complete)
        };
        let (view, is_complete) = self.scope.blocking(find).await?;
        if is_complete {
            return Ok(view);
        }
        let message = format!(
            "the workspace has more than {ENTRIES_MAX} entries: moss cannot find all that it has to protect"
        );
        Err(ToolError::new(moss_sdk::ErrorCode::LimitExceeded, message)
            .hint("serve a smaller directory as the workspace"))
    }

    /// What no cache of a command may be, hold or lie in: what moss keeps under its own cache, less the reports that
    /// commands write there, and the other workspaces.
    fn apart_from_caches(&self) -> Vec<PathBuf> {
        let scope = &self.scope;
        let own = scope.workspace.files.root();
        let roots = scope.daemon.workspaces().map(|workspace| workspace.files.root());
        let kept = scope.daemon.setup.dirs.kept_caches();
        roots.filter(|root| *root != own).map(Path::to_owned).chain(kept).collect()
    }

    /// Remembers the files as they are now, and what those hold that changed last.
    pub(super) async fn moment_before(&self) -> Result<FileMoment, ToolError> {
        let moment = self.file_moment().await?;
        let workspace = Arc::clone(&self.scope.workspace);
        let learn = move || {
            let contents = workspace.contents.learn(&workspace.files, &moment.files);
            FileMoment { contents, ..moment }
        };
        Ok(self.scope.blocking(learn).await?)
    }

    /// Remembers the files as they are now.
    pub(super) async fn file_moment(&self) -> Result<FileMoment, ToolError> {
        let (workspace, cancel) = (Arc::clone(&self.scope.workspace), self.scope.cancel.clone());
        let look = move || {
            let options = ListOptions { recursive: true, entries_max: COMPARED_MAX };
            let cancelled = || cancel.is_cancelled();
            workspace.files.list(&RelPath::root(), options, &|_| true, &cancelled)
        };
        let listing = self.scope.blocking(look).await??;
        let files = listing.entries.into_iter().filter(|entry| entry.kind != EntryKind::Directory);
        let moment = FileMoment::of(files.map(|entry| (entry.path.clone(), FileLook::of(&entry))));
        Ok(FileMoment { is_cut: listing.truncated, ..moment })
    }

    /// Finds the files that are others than they were before; none where there are too many to compare. Names that the
    /// policy keeps from the caller are counted: others may have changed these files meanwhile.
    pub(super) async fn changed_files(
        self: &Arc<Self>,
        before: FileMoment,
        after: FileMoment,
    ) -> Result<Option<ChangedFiles>, ToolError> {
        let effects = Arc::clone(self);
        let compare = move || {
            let workspace = &effects.scope.workspace;
            let (policy, tool) = (workspace.policy.load_full(), effects.tool());
            let read = |path: &RelPath| ReadContent::read(&workspace.files, path);
            let mut all = after.changed_since(&before, &read)?;
            let count = all.len();
            all.retain_mut(|(path, what)| {
                *what != FileFate::Deleted
                    || before.is_changed_unlisted(&workspace.files, path, what)
            });
            let ignored_count = count - all.len();
            let changed = ChangedFiles::of(all, |path| effects.may_list((&policy, &tool), path));
            Some(ChangedFiles { ignored_count, ..changed })
        };
        Ok(self.scope.blocking(compare).await?)
    }
}

// === impl ChangedFiles ===

impl ChangedFiles {
    fn of(all: Vec<(RelPath, FileFate)>, may_list: impl Fn(&RelPath) -> bool) -> Self {
        let count = all.len();
        let shown = all.into_iter().filter(|(path, _)| may_list(path));
        let listed: Vec<_> =
            shown.map(|(path, what)| AlteredFile { path: path.to_string(), what }).collect();
        Self { hidden_count: count - listed.len(), listed, ignored_count: 0 }
    }
}

// === impl FileMoment ===

impl FileMoment {
    fn of(files: impl IntoIterator<Item = (RelPath, FileLook)>) -> Self {
        Self { files: files.into_iter().collect(), ..Self::default() }
    }

    /// How long to wait until what is written next is written in a later second than what caches know by seconds.
    /// Without that a cache which a command makes now would take the next edit for what it already knows.
    pub(super) fn rest_of_second(&self, now: SystemTime) -> Option<Duration> {
        let is_by_second =
            |path: &RelPath| BY_SECOND.iter().any(|end| path.as_str().ends_with(end));
        let known = self.files.iter().filter(|(path, _)| is_by_second(path));
        known.filter_map(|(_, look)| look.rest_of_second(now)).max()
    }

    /// Whether a file that is no longer listed changed at all, and what became of it: it is gone, or an ignore file
    /// that changed meanwhile names it.
    fn is_changed_unlisted(&self, files: &Workspace, path: &RelPath, what: &mut FileFate) -> bool {
        let Ok(now) = files.look(path, LastLink::Keep) else { return true };
        let was = self.files.get(path).filter(|_| now.real == *path);
        let Some(was) = was else { return true };
        *what = FileFate::Modified;
        was.size_bytes != Some(now.size_bytes) || was.modified != Some(now.modified)
    }

    fn changed_since(
        &self,
        before: &Self,
        read: &dyn Fn(&RelPath) -> Option<ReadContent>,
    ) -> Option<Vec<(RelPath, FileFate)>> {
        if self.is_cut || before.is_cut {
            return None;
        }
        let changed = |path: &RelPath, what| (path.clone(), what);
        let here = self.files.iter().filter_map(|(path, now)| match before.files.get(path) {
            None => Some(changed(path, FileFate::Created)),
            Some(was) => {
                let is_other = before.contents.is_modified(path, (was, now), || read(path));
                is_other.then(|| changed(path, FileFate::Modified))
            }
        });
        let gone = before.files.keys().filter(|path| !self.files.contains_key(*path));
        let mut all: Vec<_> =
            here.chain(gone.map(|path| changed(path, FileFate::Deleted))).collect();
        all.sort_by(|(one, _), (other, _)| one.as_str().cmp(other.as_str()));
        Some(all)
    }
}

/// Where a command runs, as the system knows it.
pub(super) fn absolute(root: &Path, directory: &RelPath) -> PathBuf {
    if directory.is_root() { root.to_owned() } else { root.join(directory.as_str()) }
}
