//! The plugin lists: read again whenever they may have changed. A broken one keeps what it said
//! last.

use std::path::{Path, PathBuf};

use moss_plugin_host::{PluginEntry, PluginList};

use super::{PluginState, PluginStatus, read_list_if_there};
use crate::start::{self, Setup};

/// All lists of a daemon.
#[derive(Debug)]
pub(super) struct Lists(Vec<ListFile>);

/// An entry of a list with the file that it leads to.
#[derive(Debug, Clone)]
pub(super) struct Listed {
    pub(super) list: PathBuf,
    pub(super) entry: PluginEntry,
    pub(super) source: PathBuf,
}

#[derive(Debug)]
struct ListFile {
    path: PathBuf,
    /// Whether somebody named it: then it must be there.
    is_named: bool,
    /// What it said when it was last in order.
    good: Option<PluginList>,
    /// What is wrong with it now.
    problem: Option<String>,
}

// === impl Lists ===

impl Lists {
    /// The lists that a setup names, unread: the user's own first.
    pub(super) fn of(setup: &Setup) -> Self {
        let users = (start::user_plugin_list(setup), false);
        let named = setup.plugin_lists.iter().map(|list| (list.clone(), true));
        let file = |(path, is_named)| ListFile { path, is_named, good: None, problem: None };
        Self([users].into_iter().chain(named).map(file).collect())
    }

    /// Where they are, or would be.
    pub(super) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.0.iter().map(|list| &list.path)
    }

    /// Reads them again.
    pub(super) fn read(&mut self) {
        self.0.iter_mut().for_each(ListFile::read);
    }

    /// Every entry of every list, in their order.
    pub(super) fn entries(&self) -> impl Iterator<Item = Listed> {
        let plugins = |list: &ListFile| list.good.as_ref().map(|good| good.plugins.clone());
        self.0.iter().flat_map(move |list| {
            plugins(list).unwrap_or_default().into_iter().map(|mut entry| {
                let source = list.path.parent().unwrap_or(Path::new(".")).join(&entry.source);
                entry.origin = source.display().to_string();
                Listed { source, list: list.path.clone(), entry }
            })
        })
    }

    /// A status for each list that is broken.
    pub(super) fn broken(&self) -> impl Iterator<Item = PluginStatus> {
        self.0.iter().filter_map(|list| {
            let problem = list.problem.as_ref()?;
            let meanwhile = match list.good {
                Some(_) => " (what it said before holds until it is mended)",
                None => "",
            };
            Some(PluginStatus {
                name: list.path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
                listed_in: list.path.display().to_string(),
                source: list.path.clone(),
                entry: None,
                state: PluginState::Failed(format!("{problem}{meanwhile}")),
                notice: None,
                staged: None,
            })
        })
    }
}

// === impl ListFile ===

impl ListFile {
    fn read(&mut self) {
        let known = self.problem.take();
        match read_list_if_there(&self.path) {
            Ok(Some(list)) => self.good = Some(list),
            Ok(None) if !self.is_named => self.good = None,
            Ok(None) => {
                self.problem = Some(format!("{}: there is no such file", self.path.display()));
            }
            Err(problem) => self.problem = Some(problem),
        }
        match &self.problem {
            Some(problem) if self.problem != known => {
                tracing::warn!(list = %self.path.display(), problem, "a plugin list is broken");
            }
            None if known.is_some() => {
                tracing::info!(list = %self.path.display(), "the plugin list is in order again");
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::dirs::Dirs;

    #[test]
    fn a_broken_list_keeps_what_it_said_and_a_removed_one_says_nothing() {
        let temp = tempfile::tempdir().unwrap();
        let at = |name: &str| temp.path().join(name);
        let setup = Setup {
            dirs: Dirs { config: at("c"), state: at("s"), runtime: at("r"), admin: at("a") },
            workspaces: Vec::new(),
            plugin_lists: vec![at("named.json")],
            config_file: None,
            admin_policies: Vec::new(),
            secrets: Vec::new(),
            collector: None,
            program: None,
        };
        fs::create_dir(at("c")).unwrap();
        let list = |names: &[&str]| {
            let entry = |name: &&str| format!(r#"{{"name": "{name}", "source": "x/{name}.wasm"}}"#);
            let entries: Vec<_> = names.iter().map(entry).collect();
            format!(r#"{{"version": 1, "plugins": [{}]}}"#, entries.join(","))
        };
        let mut lists = Lists::of(&setup);
        let seen = |lists: &Lists| -> (Vec<String>, Vec<String>) {
            let problem = |status: PluginStatus| match status.state {
                PluginState::Failed(problem) => problem,
                other => panic!("{other:?}"),
            };
            let entries = lists.entries().map(|listed| listed.entry.name);
            (entries.collect(), lists.broken().map(problem).collect())
        };

        lists.read();
        let (entries, broken) = seen(&lists);
        assert!(entries.is_empty());
        assert_eq!(broken, [format!("{}: there is no such file", at("named.json").display())]);

        fs::write(at("named.json"), list(&["a", "b"])).unwrap();
        fs::write(at("c/moss-tools.json"), list(&["c"])).unwrap();
        lists.read();
        assert_eq!(seen(&lists), (vec!["c".into(), "a".into(), "b".into()], Vec::new()));
        assert_eq!(lists.entries().next().unwrap().source, at("c/x/c.wasm"));

        fs::write(at("named.json"), "{\n oops").unwrap();
        fs::remove_file(at("c/moss-tools.json")).unwrap();
        lists.read();
        let (entries, broken) = seen(&lists);
        assert_eq!(entries, ["a", "b"]);
        assert!(broken[0].contains("named.json:2:") && broken[0].contains("said before"));

        fs::write(at("named.json"), list(&["b"])).unwrap();
        lists.read();
        assert_eq!(seen(&lists), (vec!["b".into()], Vec::new()));
    }
}
