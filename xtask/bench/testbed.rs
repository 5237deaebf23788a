//! Where measuring happens: a home, a configuration and a workspace of its own, gone afterwards.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::json;
use tempfile::TempDir;

/// Size of the file that is read, in bytes.
const FILE_BYTES: usize = 16 << 10;
/// Files of the directory whose words are counted.
const TEXTS: usize = 8;

/// Clients of a load, each with a file to edit.
pub(crate) const CLIENTS: usize = 64;

/// The policy under which edits of one file go through and deletions are refused.
const POLICY: &str = r#"version = 1

[[rule]]
name = "edits"
effects = ["write"]
paths = ["src/edited*.rs"]
decision = "allow"

[[rule]]
name = "refusals"
tools = ["delete_file"]
decision = "deny"
reason = "to measure a refusal"
"#;

/// The location, on the same disk as the target directory: a disk in memory would make every
/// durable write look free.
#[derive(Debug)]
pub(crate) struct Testbed {
    moss: PathBuf,
    home: TempDir,
    /// Sockets have short paths.
    sockets: TempDir,
    /// The component that counts words.
    pub(crate) component: PathBuf,
    /// A tree that is served in place of files of its own.
    tree: Option<PathBuf>,
    /// Variables that its commands have besides.
    environment: Vec<(String, OsString)>,
}

// === impl Testbed ===

impl Testbed {
    pub(crate) fn new(moss: PathBuf, components: PathBuf, directory: &Path) -> Result<Self> {
        let component = components.join("word_count.wasm");
        let component = component
            .canonicalize()
            .with_context(|| format!("there is no {}", component.display()))?;
        let place = Self { component, ..Self::empty(moss, directory)? };
        place.fill().context("cannot lay out the place of measuring")?;
        Ok(place)
    }

    /// Has a tree served as it is, without plugins. Nothing is written there.
    pub(crate) fn of_tree(moss: PathBuf, directory: &Path, tree: &Path) -> Result<Self> {
        let tree = tree.canonicalize();
        let tree = tree.context("cannot find the tree that is to be measured")?;
        let place = Self { tree: Some(tree), ..Self::empty(moss, directory)? };
        fs::create_dir_all(place.config().join("moss"))?;
        Ok(place)
    }

    /// With variables for the daemon and what it runs.
    pub(crate) fn with_environment(self, environment: Vec<(String, OsString)>) -> Self {
        Self { environment, ..self }
    }

    /// These variables, with the home directory that belongs to them.
    pub(crate) fn environment(&self) -> Vec<(String, OsString)> {
        let home = ("HOME".to_owned(), self.home.path().as_os_str().to_owned());
        self.environment.iter().cloned().chain([home]).collect()
    }

    /// Finds a program by these variables.
    pub(crate) fn program(&self, name: &str) -> Option<PathBuf> {
        let (_, path) = self.environment.iter().find(|(variable, _)| variable == "PATH")?;
        std::env::split_paths(path).map(|path| path.join(name)).find(|path| path.is_file())
    }

    fn empty(moss: PathBuf, directory: &Path) -> Result<Self> {
        let home = tempfile::Builder::new().prefix("bench-").tempdir_in(directory);
        let home = home.with_context(|| format!("cannot write in {}", directory.display()))?;
        let sockets = tempfile::Builder::new().prefix("moss-bench-").tempdir()?;
        Ok(Self {
            moss,
            home,
            sockets,
            component: PathBuf::new(),
            tree: None,
            environment: Vec::new(),
        })
    }

    fn fill(&self) -> Result<()> {
        let config = self.config().join("moss");
        fs::create_dir_all(&config)?;
        fs::write(config.join("policy.toml"), POLICY)?;
        let list = json!({ "version": 1, "plugins": [{
            "name": "word-count",
            "source": self.component,
            "grant": { "fs": [{ "path": "docs", "access": "read" }] },
            // The load calls it from all clients at once.
            "limits": { "calls": CLIENTS },
        }]});
        fs::write(self.plugin_list(), list.to_string())?;
        for workspace in [self.workspace(), self.bare_workspace()] {
            fs::create_dir_all(workspace.join("docs"))?;
            fs::create_dir(workspace.join(".git"))?;
            fs::create_dir(workspace.join("src"))?;
            let edited = (0..CLIENTS).map(Self::edited);
            for name in
                ["src/read.rs", "src/edited.rs"].map(str::to_owned).into_iter().chain(edited)
            {
                fs::write(workspace.join(name), source())?;
            }
            for number in 0..TEXTS {
                let text = "a few words on one line\n".repeat(64);
                fs::write(workspace.join(format!("docs/{number}.md")), text)?;
            }
        }
        Ok(())
    }

    /// The file that a client of a load edits.
    pub(crate) fn edited(client: usize) -> String {
        format!("src/edited-{client}.rs")
    }

    /// The workspace that the daemon serves.
    pub(crate) fn workspace(&self) -> PathBuf {
        self.tree.clone().unwrap_or_else(|| self.home.path().join("workspace"))
    }

    /// The same files for the bare server.
    pub(crate) fn bare_workspace(&self) -> PathBuf {
        self.home.path().join("bare")
    }

    /// The socket of the daemon: the default one.
    pub(crate) fn daemon_socket(&self) -> PathBuf {
        self.sockets.path().join("moss/moss.sock")
    }

    /// The socket of the bare server.
    pub(crate) fn bare_socket(&self) -> PathBuf {
        self.sockets.path().join("bare.sock")
    }

    /// The credential of callers.
    pub(crate) fn caller_token(&self) -> Result<String> {
        let file = self.home.path().join("state/moss/caller.token");
        fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))
    }

    /// `moss serve` for the workspace.
    pub(crate) fn serve(&self) -> Command {
        let mut serve = self.moss();
        serve.arg("serve");
        match self.tree {
            Some(_) => serve.arg("--workspace").arg(self.workspace()),
            None => serve.arg("--plugins").arg(self.plugin_list()),
        };
        serve
    }

    /// A command of moss, which knows nothing of the person who measures.
    pub(crate) fn moss(&self) -> Command {
        let mut command = Command::new(&self.moss);
        command
            .current_dir(self.workspace())
            .env_clear()
            .env("HOME", self.home.path())
            .env("XDG_CONFIG_HOME", self.config())
            .env("XDG_STATE_HOME", self.home.path().join("state"))
            .env("XDG_DATA_HOME", self.home.path().join("data"))
            .env("XDG_CACHE_HOME", self.home.path().join("cache"))
            .env("XDG_RUNTIME_DIR", self.sockets.path())
            .envs(self.environment.iter().cloned());
        command
    }

    /// Writes the configuration of the daemon.
    pub(crate) fn configure(&self, config: &str) -> Result<()> {
        let file = self.config().join("moss/config.toml");
        fs::write(&file, config).with_context(|| format!("cannot write {}", file.display()))
    }

    /// Writes the policy of the user.
    pub(crate) fn configure_policy(&self, policy: &str) -> Result<()> {
        let file = self.config().join("moss/policy.toml");
        fs::write(&file, policy).with_context(|| format!("cannot write {}", file.display()))
    }

    /// A directory for files of the measuring.
    pub(crate) fn directory(&self) -> &Path {
        self.home.path()
    }

    fn config(&self) -> PathBuf {
        self.home.path().join("config")
    }

    /// The list of plugins that the daemon is given.
    pub(crate) fn plugin_list(&self) -> PathBuf {
        self.home.path().join("moss-tools.json")
    }

    /// The list of plugins of the user.
    pub(crate) fn user_list(&self) -> PathBuf {
        self.config().join("moss/moss-tools.json")
    }
}

/// A source file as sources are: many short lines.
fn source() -> String {
    let mut text = String::with_capacity(FILE_BYTES);
    for number in 0.. {
        let line = format!("    let value_{number} = compute(value_{number}, {number});\n");
        if text.len() + line.len() > FILE_BYTES {
            break;
        }
        text.push_str(&line);
    }
    text.extend(std::iter::repeat_n('/', FILE_BYTES - text.len() - 1));
    text.push('\n');
    text
}
