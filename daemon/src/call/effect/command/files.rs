//! The files that a command sees and changes: what is masked and protected before it, what is another
//! file after it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use moss_sandbox::{FileView, add_other_names, find_protected};
use moss_sdk::command::AlteredFile;
use moss_sdk::{RelPath, ToolError};
use moss_workspace::{FileLook, Workspace, WorkspaceMoment};

use super::contents::{KnownContents, ReadContent};
use super::git_reads::hook_directories;
use super::grants::named_caches;
use super::kinds::FileKinds;

use super::made::{ENTRIES_MAX, is_in_package};
use crate::call::effect::Effects;
use crate::call::effect::by_rules::decidable;
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
    /// How many files and directories an ignore file named before the command, and none does now.
    pub(super) unignored_count: usize,
    /// Those whose names no path of moss's can have.
    pub(super) odd: Vec<PathBuf>,
}

/// What ignore files left out before a command.
pub(super) type IgnoredBefore = Arc<BTreeMap<RelPath, bool>>;

/// The files of a workspace at one moment, those that ignore files name left out.
#[derive(Debug, Default)]
pub(super) struct FileMoment {
    seen: WorkspaceMoment,
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
        let moment = self.file_moment(Arc::default()).await?;
        let workspace = Arc::clone(&self.scope.workspace);
        let learn = move || {
            let contents = workspace.contents.learn(&workspace.files, &moment.seen.files);
            FileMoment { contents, ..moment }
        };
        Ok(self.scope.blocking(learn).await?)
    }

    /// Remembers the files as they are now, less those that ignore files named before.
    pub(super) async fn file_moment(
        &self,
        ignored: IgnoredBefore,
    ) -> Result<FileMoment, ToolError> {
        let (workspace, cancel) = (Arc::clone(&self.scope.workspace), self.scope.cancel.clone());
        let look =
            move || workspace.files.moment(COMPARED_MAX, &ignored, &|| cancel.is_cancelled());
        let seen = self.scope.blocking(look).await??;
        Ok(FileMoment { seen, ..FileMoment::default() })
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
            ChangedFiles::between(&workspace.files, (&before, &after), |path| {
                effects.may_list((&policy, &tool), path)
            })
        };
        Ok(self.scope.blocking(compare).await?)
    }
}

// === impl ChangedFiles ===

impl ChangedFiles {
    /// Finds those of two moments; none where there are too many to compare.
    fn between(
        files: &Workspace,
        (before, after): (&FileMoment, &FileMoment),
        may_list: impl Fn(&RelPath) -> bool,
    ) -> Option<Self> {
        let is_modified = |path: &RelPath, looks: (&FileLook, &FileLook)| {
            before.contents.is_modified(path, looks, || ReadContent::read(files, path))
        };
        let (all, ignored_count) = after.seen.changed_since(&before.seen, files, &is_modified)?;
        let odd = after.seen.odd_changed_since(&before.seen).map(Path::to_owned);
        let mut odd: Vec<_> = odd.collect();
        let count = all.len() + odd.len();
        odd.retain(|path| decidable(path).is_some_and(|path| may_list(&path)));
        let shown = all.into_iter().filter(|(path, _)| may_list(path));
        let listed: Vec<_> =
            shown.map(|(path, what)| AlteredFile { path: path.to_string(), what }).collect();
        let hidden_count = count - listed.len() - odd.len();
        let unignored_count = after.seen.unignored_count;
        Some(Self { listed, hidden_count, ignored_count, unignored_count, odd })
    }
}

// === impl FileMoment ===

impl FileMoment {
    /// What ignore files leave out.
    pub(super) fn ignored(&self) -> IgnoredBefore {
        Arc::clone(&self.seen.ignored)
    }

    /// How long to wait until what is written next is written in a later second than what caches know by seconds.
    /// Without that a cache which a command makes now would take the next edit for what it already knows.
    pub(super) fn rest_of_second(&self, now: SystemTime) -> Option<Duration> {
        let is_by_second =
            |path: &RelPath| BY_SECOND.iter().any(|end| path.as_str().ends_with(end));
        let known = self.seen.files.iter().filter(|(path, _)| is_by_second(path));
        known.filter_map(|(_, look)| look.rest_of_second(now)).max()
    }
}

/// Where a command runs, as the system knows it.
pub(super) fn absolute(root: &Path, directory: &RelPath) -> PathBuf {
    if directory.is_root() { root.to_owned() } else { root.join(directory.as_str()) }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::fs;
    use std::os::unix::ffi::OsStrExt as _;

    use moss_sdk::command::FileFate;
    use moss_workspace::WorkspaceOptions;

    use super::*;

    fn moment(files: &Workspace, ignored: &IgnoredBefore) -> FileMoment {
        let seen = files.moment(COMPARED_MAX, ignored, &|| false).unwrap();
        FileMoment { seen, ..FileMoment::default() }
    }

    /// What is said to change by what is done between two moments, each with a sign before its path, and the rest.
    fn changed(make: impl Fn(&Path), change: impl Fn(&Path)) -> (String, ChangedFiles) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        make(root);
        let files = Workspace::open(root, WorkspaceOptions::default()).unwrap();
        let before = moment(&files, &IgnoredBefore::default());
        change(root);
        let after = moment(&files, &before.ignored());
        let found = ChangedFiles::between(&files, (&before, &after), |path| path.as_str() != "hid");
        let found = found.unwrap();
        let sign = |what: &FileFate| match what {
            FileFate::Created => '+',
            FileFate::Deleted => '-',
            FileFate::Modified => '~',
        };
        let shown = found.listed.iter().map(|one| format!("{}{}", sign(&one.what), one.path));
        (shown.collect::<Vec<_>>().join(" "), found)
    }

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn what_a_directory_becomes_and_what_becomes_one_is_another_file() {
        let make = |root: &Path| {
            for file in ["to_directory", "to_link", "directory/a", "other/b", "link_dir/c"] {
                write(&root.join(file), "x");
            }
            std::os::unix::fs::symlink("other", root.join("link")).unwrap();
        };
        let (shown, _) = changed(make, |root| {
            for file in ["to_directory", "to_link", "link"] {
                fs::remove_file(root.join(file)).unwrap();
            }
            write(&root.join("to_directory/in"), "x");
            std::os::unix::fs::symlink("other", root.join("to_link")).unwrap();
            write(&root.join("link/in"), "x");
            fs::remove_dir_all(root.join("directory")).unwrap();
            write(&root.join("directory"), "x");
            fs::remove_dir_all(root.join("link_dir")).unwrap();
            std::os::unix::fs::symlink("other", root.join("link_dir")).unwrap();
        });
        let expected = "+directory -directory/a -link +link/in +link_dir -link_dir/c -to_directory \
                        +to_directory/in ~to_link";
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_file_is_not_made_or_deleted_by_what_ignore_files_say() {
        let make = |root: &Path| {
            for file in ["built/a", "src/kept", "src/changed", "src/gone", "own.log"] {
                write(&root.join(file), "x");
            }
            std::os::unix::fs::symlink("kept", root.join("src/link")).unwrap();
            write(&root.join(".gitignore"), "built/\n*.log\n");
        };
        let (shown, found) = changed(make, |root| {
            fs::rename(root.join(".gitignore"), root.join("moved")).unwrap();
            write(&root.join("new.log"), "x");
        });
        assert_eq!(shown, "-.gitignore +moved +new.log");
        assert_eq!((found.ignored_count, found.unignored_count), (0, 2));
        let (shown, found) = changed(make, |root| {
            write(&root.join(".gitignore"), "src/\n*.log\n");
            write(&root.join("src/changed"), "longer");
            write(&root.join("src/new"), "x");
            fs::remove_file(root.join("src/gone")).unwrap();
        });
        assert_eq!(shown, "~.gitignore ~src/changed -src/gone");
        assert_eq!((found.ignored_count, found.unignored_count), (2, 1));
    }

    #[test]
    fn files_with_odd_names_are_named_where_the_policy_shows_them() {
        let odd = |root: &Path, name: &[u8]| root.join(OsStr::from_bytes(name));
        let make = |root: &Path| write(&odd(root, b"gone\n"), "x");
        let (shown, found) = changed(make, |root| {
            fs::remove_file(odd(root, b"gone\n")).unwrap();
            write(&odd(root, b"d\xff/in"), "x");
            write(&odd(root, b"h\x01id"), "x");
        });
        assert_eq!(shown, "");
        let names = found.odd.iter().map(|path| path.as_os_str().as_bytes()).collect::<Vec<_>>();
        assert_eq!(names, [&b"d\xff/in"[..], b"gone\n"]);
        assert_eq!(found.hidden_count, 1);
    }
}
