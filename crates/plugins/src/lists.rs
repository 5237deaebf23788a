//! The plugin lists: read again whenever they may have changed. A broken one keeps what it said
//! last.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use moss_plugin_list::{PluginEntry, PluginList, Sha256Digest};
use moss_sdk::RelPath;
use moss_sdk::file::Content;
use moss_workspace::{Workspace, dirs::Dirs};

use crate::component::ComponentSource;
use crate::environment::Environment;
use crate::environment::ListFiles;
use crate::list_file::read_list_if_there;
use crate::settings::Settings;
use crate::status::{PluginState, PluginStatus};
use crate::trust::{self, WORKSPACE_LIST};
use crate::{bounds, downloads};

/// All lists of a daemon.
#[derive(Debug, Clone)]
pub(super) struct PluginLists(Vec<ListFile>);

/// An entry of a list with the file that it leads to.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ResolvedEntry {
    pub(super) list: PathBuf,
    pub(super) entry: PluginEntry,
    pub(super) source: PathBuf,
    /// The file of its signature, where it has one.
    pub(super) signature: Option<PathBuf>,
    /// The keys whose signatures count.
    pub(super) signers: Vec<String>,
    /// Why it may not serve, whatever its component is.
    pub(super) refusal: Option<String>,
    /// The root of the only workspace that it serves; none for all.
    pub(super) only_for: Option<PathBuf>,
}

#[derive(Debug, Clone)]
struct ListFile {
    path: PathBuf,
    /// Whether somebody named it: then it must be there.
    is_named: bool,
    /// The workspace that brings it along.
    workspace: Option<Arc<Workspace>>,
    /// What it said when it was last in order.
    good: Option<PluginList>,
    /// What is wrong with it now.
    problem: Option<ListRejection>,
}

/// Why a list does not count as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ListRejection {
    /// It cannot be read.
    Broken(String),
    /// It is a workspace's, and nobody trusted what it says. How that is done.
    Untrusted(String),
}

// === impl PluginLists ===

impl PluginLists {
    /// The lists of the user and those that workspaces bring along, unread: one that is tried first,
    /// then the user's own.
    pub(super) fn of(lists: &ListFiles, workspaces: impl Iterator<Item = Arc<Workspace>>) -> Self {
        let users = (lists.users.clone(), false);
        let named = |list: &PathBuf| (list.clone(), true);
        let own = lists.trial.iter().map(named).chain([users]);
        let own = own.chain(lists.named.iter().map(named));
        let own = own.map(|(path, is_named)| (path, is_named, None));
        let brought = workspaces.map(|files| {
            let path = files.root().join(WORKSPACE_LIST);
            (path, false, Some(files))
        });
        let file = |(path, is_named, workspace)| ListFile {
            path,
            is_named,
            workspace,
            good: None,
            problem: None,
        };
        Self(own.chain(brought).map(file).collect())
    }

    /// Where they are, or would be.
    pub(super) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.0.iter().map(|list| &list.path)
    }

    /// Reads the files of all lists again.
    pub(super) fn read(&mut self, dirs: &Dirs) {
        self.0.iter_mut().for_each(|list| list.read(dirs));
    }

    /// Every entry of every list, in their order, held to the configuration. The name of a plugin is
    /// that of the first entry that has it, whether that one serves or not.
    pub(super) fn entries(&self, dirs: &Dirs, settings: &Settings) -> Vec<ResolvedEntry> {
        let mut entries: Vec<ResolvedEntry> = Vec::new();
        for list in &self.0 {
            let only_for = list.workspace.as_ref().map(|files| files.root().to_owned());
            for entry in list.good.iter().flat_map(|good| &good.plugins) {
                let entry = entry.clone();
                let mut listed =
                    ResolvedEntry::new(&list.path, only_for.clone(), entry, dirs, settings);
                if let Some(first) = entries.iter().find(|first| first.comes_before(&listed)) {
                    listed.refusal = Some(format!(
                        "{}:{} names a plugin `{}`, too, and comes first",
                        first.list.display(),
                        first.entry.line,
                        listed.entry.name
                    ));
                }
                entries.push(listed);
            }
        }
        entries
    }

    /// The digests of all components that they name.
    pub(super) fn pinned(&self) -> HashSet<Sha256Digest> {
        let plugins = self.0.iter().filter_map(|list| list.good.as_ref());
        plugins.flat_map(|list| &list.plugins).filter_map(|entry| entry.sha256).collect()
    }

    /// A status for each list that is broken, or not trusted.
    pub(super) fn broken(&self) -> impl Iterator<Item = (Option<PathBuf>, PluginStatus)> {
        self.0.iter().filter_map(|list| {
            let problem = list.problem.as_ref()?;
            let meanwhile = match list.good {
                Some(_) => " (its previous content applies until it is fixed)",
                None => "",
            };
            let only_for = list.workspace.as_ref().map(|files| files.root().to_owned());
            let status = PluginStatus {
                name: list.path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
                listed_in: list.path.display().to_string(),
                source: list.path.display().to_string(),
                entry: None,
                state: match problem {
                    ListRejection::Broken(problem) => {
                        PluginState::Failed(format!("{problem}{meanwhile}"))
                    }
                    ListRejection::Untrusted(what) => PluginState::Untrusted(what.clone()),
                },
                notice: None,
                staged: None,
            };
            Some((only_for, status))
        })
    }
}

// === impl ResolvedEntry ===

impl ResolvedEntry {
    pub(super) fn new(
        list: &Path,
        only_for: Option<PathBuf>,
        mut entry: PluginEntry,
        dirs: &Dirs,
        settings: &Settings,
    ) -> Self {
        let beside = |place: &str| list.parent().unwrap_or(Path::new(".")).join(place);
        let source = match entry.sha256 {
            Some(digest) if entry.is_remote() => downloads::component(dirs, digest, &entry.source),
            _ => beside(&entry.source),
        };
        let signature = entry.signature.as_deref().map(|place| match entry.sha256 {
            Some(digest) if place.starts_with("https://") => {
                downloads::signature(dirs, digest, place)
            }
            _ => beside(place),
        });
        entry.origin = match entry.oci() {
            Some(reference) => reference.origin(),
            None if entry.is_remote() => entry.source.clone(),
            None => source.display().to_string(),
        };
        bounds::bound(&mut entry, settings);
        let refusal = bounds::refusal(&entry, settings);
        let signers = settings.signers.clone();
        Self { list: list.to_owned(), entry, source, signature, signers, refusal, only_for }
    }

    /// Where its component comes from, as people know it.
    pub(super) fn shown_source(&self) -> String {
        match self.entry.is_remote() {
            true => self.entry.source.clone(),
            false => self.source.display().to_string(),
        }
    }

    /// Whether it has the name of a later one, in a workspace that both serve.
    fn comes_before(&self, later: &Self) -> bool {
        let is_for_both = self.only_for.is_none() || self.only_for == later.only_for;
        is_for_both && self.entry.name == later.entry.name
    }

    /// Where its component is read. What a workspace's list names is looked for in the workspace,
    /// whatever links lead to.
    pub(super) fn component(&self, environment: &Environment) -> ComponentSource {
        self.place(&self.source, environment)
    }

    /// Where its signature is read, if it has one.
    pub(super) fn signature(&self, environment: &Environment) -> Option<ComponentSource> {
        self.signature.as_deref().map(|file| self.place(file, environment))
    }

    fn place(&self, file: &Path, environment: &Environment) -> ComponentSource {
        let is_of = |root: &Path| self.only_for.as_deref() == Some(root);
        let mut workspaces = environment.workspaces().map(|workspace| &workspace.files);
        let workspace = workspaces.find(|files| is_of(files.root()));
        let within = workspace.and_then(|files| {
            let path = file.strip_prefix(files.root()).ok()?.to_str()?;
            Some(ComponentSource::Within(Arc::clone(files), RelPath::parse(path).ok()?))
        });
        within.unwrap_or_else(|| file.into())
    }
}

// === impl ListFile ===

impl ListFile {
    fn read(&mut self, dirs: &Dirs) {
        let known = self.problem.take();
        let read = match &self.workspace {
            Some(files) => read_trusted(files, &self.path, dirs),
            None => read_list_if_there(&self.path).map_err(ListRejection::Broken),
        };
        if self.workspace.is_some() && !matches!(read, Ok(Some(_))) {
            // What it said before is not what somebody trusted for good.
            self.good = None;
        }
        match read {
            Ok(Some(list)) => self.good = Some(list),
            Ok(None) if !self.is_named => self.good = None,
            Ok(None) => {
                let problem = format!("{}: there is no such file", self.path.display());
                self.problem = Some(ListRejection::Broken(problem));
            }
            Err(problem) => self.problem = Some(problem),
        }
        match &self.problem {
            Some(ListRejection::Untrusted(_)) if self.problem != known => {
                tracing::info!(list = %self.path.display(), "a plugin list is not trusted");
            }
            Some(ListRejection::Broken(problem)) if self.problem != known => {
                tracing::warn!(list = %self.path.display(), problem, "a plugin list is invalid");
            }
            None if known.is_some() => {
                tracing::info!(list = %self.path.display(), "the plugin list is valid again");
            }
            _ => {}
        }
    }
}

/// Reads the list that a workspace brings along, where the user trusts what it says.
fn read_trusted(
    files: &Workspace,
    list: &Path,
    dirs: &Dirs,
) -> Result<Option<PluginList>, ListRejection> {
    let Some(text) = workspace_list(files).map_err(ListRejection::Broken)? else { return Ok(None) };
    let is_trusted = trust::is_trusted(dirs, list, &text);
    if !is_trusted.map_err(|error| ListRejection::Broken(error.to_string()))? {
        return Err(ListRejection::Untrusted(format!(
            "{} is not trusted as it is: `moss plugin trust --workspace {}` shows what it would load \
             and allow",
            list.display(),
            files.root().display()
        )));
    }
    let name = list.display().to_string();
    let parsed = PluginList::parse_of_workspace(&name, &text).map(Some);
    parsed.map_err(|error| ListRejection::Broken(error.to_string()))
}

/// Reads what the list says that a workspace brings along; `None` if it does not exist.
pub(super) fn workspace_list(files: &Workspace) -> Result<Option<String>, String> {
    let path = RelPath::parse(WORKSPACE_LIST).expect("a plain path");
    match files.read(&path) {
        Ok(snapshot) => match snapshot.content {
            Content::Text(text) => Ok(Some(text.text)),
            Content::Binary => Err(format!("{path}: the file is not text")),
        },
        Err(moss_workspace::Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use moss_workspace::dirs::Dirs;

    /// The text of a list with these plugins.
    fn list(names: &[&str]) -> String {
        let entry = |name: &&str| format!(r#"{{"name": "{name}", "source": "x/{name}.wasm"}}"#);
        let entries: Vec<_> = names.iter().map(entry).collect();
        format!(r#"{{"version": 1, "plugins": [{}]}}"#, entries.join(","))
    }

    #[test]
    fn a_broken_list_keeps_what_it_said_and_a_removed_one_has_no_rules() {
        let temp = tempfile::tempdir().unwrap();
        let at = |name: &str| temp.path().join(name);
        let (dirs, settings) = (Dirs::beneath(temp.path()), Settings::roomy());
        let files = ListFiles {
            trial: None,
            users: at("c/moss-tools.json"),
            named: vec![at("named.json")],
        };
        fs::create_dir(at("c")).unwrap();
        let mut lists = PluginLists::of(&files, std::iter::empty());
        let seen = |lists: &PluginLists| -> (Vec<String>, Vec<String>) {
            let problem = |(_, status): (Option<PathBuf>, PluginStatus)| match status.state {
                PluginState::Failed(problem) => problem,
                other => panic!("{other:?}"),
            };
            let entries = lists.entries(&dirs, &settings).into_iter();
            let names = entries.map(|listed| listed.entry.name).collect();
            (names, lists.broken().map(problem).collect())
        };

        lists.read(&dirs);
        let (entries, broken) = seen(&lists);
        assert!(entries.is_empty());
        assert_eq!(broken, [format!("{}: there is no such file", at("named.json").display())]);

        fs::write(at("named.json"), list(&["a", "b"])).unwrap();
        fs::write(at("c/moss-tools.json"), list(&["c"])).unwrap();
        lists.read(&dirs);
        assert_eq!(seen(&lists), (vec!["c".into(), "a".into(), "b".into()], Vec::new()));
        assert_eq!(lists.entries(&dirs, &settings)[0].source, at("c/x/c.wasm"));

        // The first list that names a plugin has its name.
        fs::write(at("named.json"), list(&["c", "a", "b"])).unwrap();
        lists.read(&dirs);
        let refusals: Vec<_> = lists.entries(&dirs, &settings);
        let refusals: Vec<_> = refusals.iter().map(|listed| listed.refusal.as_deref()).collect();
        let first = format!(
            "{}:1 names a plugin `c`, too, and comes first",
            at("c/moss-tools.json").display()
        );
        assert_eq!(refusals, [None, Some(&*first), None, None]);
        fs::write(at("named.json"), list(&["a", "b"])).unwrap();
        lists.read(&dirs);

        fs::write(at("named.json"), "{\n oops").unwrap();
        fs::remove_file(at("c/moss-tools.json")).unwrap();
        lists.read(&dirs);
        let (entries, broken) = seen(&lists);
        assert_eq!(entries, ["a", "b"]);
        assert!(broken[0].contains("named.json:2:") && broken[0].contains("previous content"));

        fs::write(at("named.json"), list(&["b"])).unwrap();
        lists.read(&dirs);
        assert_eq!(seen(&lists), (vec!["b".into()], Vec::new()));
    }
}
