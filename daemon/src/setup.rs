//! The start options of a daemon, and the files that follow from it: configuration, policy, plugin
//! lists.

use std::path::{Path, PathBuf};

use moss_policy::{PolicyFile, Sources};
use moss_sdk::RelPath;
use moss_sdk::file::Content;
use moss_workspace::{Workspace, dirs::Dirs, own};

use moss_config::{Config, ConfigError, ConfigSource};
use moss_plugins::{ListFiles, compiling::Compilations};

/// Largest configuration or policy file, in bytes.
const OWN_FILE_BYTES_MAX: u64 = 1 << 20;
/// The policy that a workspace brings along.
pub const WORKSPACE_POLICY: &str = ".moss/policy.toml";

/// The start options of a daemon.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Where moss keeps its own files.
    pub dirs: Dirs,
    /// Root directories of the workspaces.
    pub workspaces: Vec<PathBuf>,
    /// A plugin list that comes before the user's own: of what is being developed.
    pub trial_list: Option<PathBuf>,
    /// Plugin lists beside the user's own.
    pub plugin_lists: Vec<PathBuf>,
    /// The user's configuration; `config.toml` in the configuration directory where none.
    pub config_file: Option<PathBuf>,
    /// Admin policies beside `/etc/moss/policy.toml`.
    pub admin_policies: Vec<PathBuf>,
    /// Files with secrets that it was given.
    pub secrets: Vec<PathBuf>,
    /// The collector that spans of calls are sent to.
    pub collector: Option<String>,
    /// This very program, which compiles plugins in a process of its own. Where none is named they
    /// are compiled in this process, without a bound on time and memory.
    pub program: Option<PathBuf>,
    /// What it compiles, for whoever follows that.
    pub compilations: Compilations,
}

/// Resolves the limits out of the user's and the admin's file.
///
/// # Errors
///
/// Where a file cannot be read or says something that there is not.
pub fn configuration(setup: &Setup) -> Result<Config, ConfigError> {
    let read = |file: &Path, must_exist: bool| {
        read_own(file, must_exist)
            .map_err(|message| ConfigError::Invalid { file: file.to_owned(), message })
    };
    let [user_file, admin_file] = config_files(setup);
    let user = read(&user_file, setup.config_file.is_some())?;
    let admin = read(&admin_file, false)?;
    Config::resolve(
        user.as_deref().map(|text| ConfigSource { file: &user_file, text }),
        admin.as_deref().map(|text| ConfigSource { file: &admin_file, text }),
    )
}

/// Returns where the configuration of the user and of the admin is, or would be.
pub fn config_files(setup: &Setup) -> [PathBuf; 2] {
    let named = setup.config_file.clone();
    let user = named.unwrap_or_else(|| setup.dirs.config.join("config.toml"));
    [user, setup.dirs.admin.join("config.toml")]
}

/// Reads the policy files of a workspace.
pub fn policy_sources(setup: &Setup, files: &Workspace) -> Sources {
    let mut admin = vec![own_source(&admin_policy(setup), false)];
    admin.extend(setup.admin_policies.iter().map(|file| own_source(file, true)));
    Sources {
        admin,
        user: Some(own_source(&user_policy(setup), false)),
        workspace: Some(workspace_source(files)),
    }
}

/// Returns where the policy files of a workspace are, or would be.
pub fn policy_files(setup: &Setup, files: &Workspace) -> Vec<PathBuf> {
    let mut all = vec![admin_policy(setup), user_policy(setup)];
    all.extend(setup.admin_policies.iter().cloned());
    all.push(files.root().join(WORKSPACE_POLICY));
    all
}

fn admin_policy(setup: &Setup) -> PathBuf {
    setup.dirs.admin.join("policy.toml")
}

fn user_policy(setup: &Setup) -> PathBuf {
    setup.dirs.config.join("policy.toml")
}

fn own_source(file: &Path, must_exist: bool) -> PolicyFile {
    PolicyFile { file: file.display().to_string(), text: read_own(file, must_exist) }
}

/// Reads a file of the user's or the admin's that nobody else may write.
fn read_own(file: &Path, must_exist: bool) -> Result<Option<String>, String> {
    match own::read_trusted(file, OWN_FILE_BYTES_MAX).map_err(|error| error.to_string())? {
        Some(bytes) => String::from_utf8(bytes).map(Some).map_err(|_| "not UTF-8 text".to_owned()),
        None if must_exist => Err("there is no such file".to_owned()),
        None => Ok(None),
    }
}

/// The file that a workspace brings along is read like any of its files.
fn workspace_source(files: &Workspace) -> PolicyFile {
    let path = RelPath::parse(WORKSPACE_POLICY).expect("a plain path");
    let text = match files.read(&path) {
        Ok(snapshot) => match snapshot.content {
            Content::Text(text) => Ok(Some(text.text)),
            Content::Binary => Err("the file is not text".to_owned()),
        },
        Err(moss_workspace::Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(error.to_string()),
    };
    PolicyFile { file: path.to_string(), text }
}

/// Returns where the lists of plugins of the user are, or would be.
pub fn list_files(setup: &Setup) -> ListFiles {
    ListFiles {
        trial: setup.trial_list.clone(),
        users: user_plugin_list(setup),
        named: setup.plugin_lists.clone(),
    }
}

/// Returns the plugin lists that there are: the user's own, then those that were named.
pub fn plugin_lists(setup: &Setup) -> Vec<PathBuf> {
    let users = user_plugin_list(setup);
    let mut lists = setup.plugin_lists.clone();
    if users.exists() {
        lists.insert(0, users);
    }
    lists
}

/// Returns where the user's own plugin list is, or would be.
pub fn user_plugin_list(setup: &Setup) -> PathBuf {
    setup.dirs.config.join("moss-tools.json")
}
