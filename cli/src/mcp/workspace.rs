//! Which directory a client means. One that was not asked for by name is never a home directory, the
//! root of the file system, or another directory with the home in it, unless it has the mark of a project: a client
//! started from there works on no project.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use url::Url;

use crate::root::{is_marked, nearest_root};

/// Most directories of a variable that are looked at.
const DIRECTORIES_MAX: usize = 16;

/// Where a client may mean its workspace to be.
#[derive(Debug, Clone, Default)]
pub(super) struct WorkspaceHints {
    /// The directory that `--workspace` names.
    pub(super) named: Option<PathBuf>,
    /// What variables of clients say.
    pub(super) variables: Vec<OsString>,
    /// Where this program was started.
    pub(super) here: Option<PathBuf>,
    /// The person's home directory, which is no workspace.
    pub(super) home: Option<PathBuf>,
}

// === impl WorkspaceHints ===

impl WorkspaceHints {
    /// Finds the workspace; `roots` are the URIs that the client names.
    ///
    /// # Errors
    ///
    /// What was looked at, and why none of it will do.
    pub(super) fn choose(&self, roots: &[String]) -> Result<PathBuf, String> {
        if let Some(named) = &self.named {
            return existing(named)
                .map_err(|why| format!("the workspace {}: {why}", named.display()));
        }
        let roots = roots.iter().map(|root| (root.clone(), of_uri(root)));
        let variables = self.variables.iter().flat_map(directories);
        let variables = variables.map(|path| (path.display().to_string(), Ok(path)));
        let mut seen = Vec::new();
        for (shown, path) in roots.chain(variables) {
            match path.and_then(|path| self.usable(&path)) {
                Ok(path) => return Ok(path),
                Err(why) => seen.push(format!("{shown}: {why}")),
            }
        }
        if let Some(here) = self.here.as_deref().and_then(|here| existing(here).ok()) {
            // Whose home directory is a repository has other projects in it.
            for path in [nearest_root(&here), &here] {
                match self.usable(path) {
                    Ok(path) => return Ok(path),
                    Err(why) => seen.push(format!("{}: {why}", path.display())),
                }
            }
        }
        seen.dedup();
        let seen = if seen.is_empty() { String::new() } else { format!(" ({})", seen.join("; ")) };
        Err(format!("no project is open that moss could work on{seen}"))
    }

    /// What to do where none of it will do.
    pub(super) fn next_step(&self) -> &'static str {
        match self.named {
            Some(_) => {
                "start `moss mcp` with the --workspace of a directory that exists, or without it in a \
                 project"
            }
            None => "open a project, or name one: moss mcp --workspace DIR",
        }
    }

    fn usable(&self, path: &Path) -> Result<PathBuf, String> {
        let path = existing(path)?;
        if path.parent().is_none() {
            return Err("the root of the file system is no project".to_owned());
        }
        match self.home.as_ref().and_then(|home| home.canonicalize().ok()) {
            Some(home) if home == path => Err("a home directory is no project".to_owned()),
            Some(home) if home.starts_with(&path) && !is_marked(&path) => {
                Err("a directory with the home directory in it is no project".to_owned())
            }
            _ => Ok(path),
        }
    }
}

/// The directory without links in its path.
fn existing(path: &Path) -> Result<PathBuf, String> {
    let path = path.canonicalize().map_err(|error| error.to_string())?;
    if path.is_dir() { Ok(path) } else { Err("not a directory".to_owned()) }
}

fn of_uri(uri: &str) -> Result<PathBuf, String> {
    let url = Url::parse(uri).map_err(|error| error.to_string())?;
    if url.scheme() != "file" {
        return Err("not a directory of this machine".to_owned());
    }
    url.to_file_path().map_err(|()| "not a directory of this machine".to_owned())
}

/// The absolute paths in a variable, which may be a list; a client may leave it unset with `${…}` in it.
fn directories(variable: &OsString) -> Vec<PathBuf> {
    let whole = PathBuf::from(variable);
    if whole.is_dir() {
        return vec![whole];
    }
    let parts = variable.as_bytes().split(|byte| matches!(byte, b',' | b':' | b';'));
    let parts = parts.map(|part| PathBuf::from(OsStr::from_bytes(part.trim_ascii())));
    parts.filter(|path| path.is_absolute()).take(DIRECTORIES_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_names_the_workspace_best_is_heard_first() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        for name in ["named", "root", "a b", "variable", "home/project/deep", "home/.git"] {
            std::fs::create_dir_all(base.join(name)).unwrap();
        }
        std::fs::create_dir(base.join("home/project/.git")).unwrap();
        let at = |name: &str| base.join(name);
        let uri = |name: &str| format!("file://{}", at(name).display()).replace(' ', "%20");
        let hints = |named: &[&str], variables: &[&str], here: &str| WorkspaceHints {
            named: named.first().map(|name| at(name)),
            variables: variables.iter().map(|name| at(name).into()).collect(),
            here: Some(at(here)),
            home: Some(at("home")),
        };
        for (hints, roots, expected) in [
            (hints(&["named"], &["variable"], "root"), vec![uri("root")], "named"),
            // Whether one that is named will do is decided where it is opened.
            (hints(&["home"], &[], "root"), vec![], "home"),
            (hints(&[], &["variable"], "named"), vec![uri("root")], "root"),
            (hints(&[], &["variable"], "named"), vec![uri("a b")], "a b"),
            (hints(&[], &["variable"], "named"), vec!["https://x/".to_owned()], "variable"),
            (hints(&[], &["variable"], "named"), vec![uri("home"), uri("root")], "root"),
            (hints(&[], &["missing"], "named"), vec![], "named"),
            (hints(&[], &[], "home/project/deep"), vec![uri("missing")], "home/project"),
        ] {
            assert_eq!(hints.choose(&roots).unwrap(), at(expected));
        }
        for (hints, why) in [
            (hints(&[], &[], "home"), "a home directory is no project"),
            (hints(&[], &["home"], ""), "a directory with the home directory in it is no project"),
            (hints(&["missing"], &[], "root"), "No such file"),
            (
                WorkspaceHints { here: Some("/".into()), ..WorkspaceHints::default() },
                "the root of the file system is no project",
            ),
        ] {
            let error = hints.choose(&[]).unwrap_err();
            assert!(error.contains(why), "{error}");
            // Who named a directory does not read that one may be named.
            let step = hints.next_step();
            assert_eq!(step.contains("name one"), hints.named.is_none(), "{step}");
        }
    }

    #[test]
    fn a_project_with_a_home_directory_in_it_is_one_by_its_mark() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        std::fs::create_dir(base.join("home")).unwrap();
        let (here, home) = (Some(base.clone()), Some(base.join("home")));
        let hints = WorkspaceHints { here, home, ..WorkspaceHints::default() };
        let refused = hints.choose(&[]).unwrap_err();
        assert!(refused.contains("with the home directory in it"), "{refused}");
        std::fs::create_dir(base.join(".moss")).unwrap();
        assert_eq!(hints.choose(&[]).unwrap(), base);
    }

    /// Other systems refuse such names.
    #[cfg(target_os = "linux")]
    #[test]
    fn variables_may_hold_several_directories() {
        let dir = tempfile::tempdir().unwrap();
        let second = dir.path().canonicalize().unwrap().join(OsStr::from_bytes(b"odd \xff"));
        std::fs::create_dir(&second).unwrap();
        let mut variable = OsString::from("/no/such, ");
        variable.push(&second);
        let hints = WorkspaceHints { variables: vec![variable], ..WorkspaceHints::default() };
        assert_eq!(hints.choose(&[]).unwrap(), second);
        assert_eq!(directories(&OsString::from("${workspaceFolder}")), Vec::<PathBuf>::new());
    }
}
