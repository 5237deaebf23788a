//! Where moss keeps its own files: configuration, state, the socket. The XDG base directories on
//! every platform. Nothing of moss is ever written inside a workspace.

use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;

/// The name of the default socket.
const SOCKET: &str = "moss.sock";
/// What stands in for the runtime directory, in the state directory.
const STATE_RUNTIME: &str = "run";
/// Most characters of a directory's name in the name of what is kept of it.
const NAME_CHARS_MAX: usize = 40;
/// How many digits of the hash of its path follow.
const HASH_DIGITS: usize = 16;

/// The directories of one user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dirs {
    /// `~/.config/moss`: policy, plugin list, configuration, which moss only reads, and the user's
    /// own prompt.
    pub config: PathBuf,
    /// `~/.local/state/moss`: credentials, history, audit.
    pub state: PathBuf,
    /// Compiled code of plugins, and the key that seals it: the state directory.
    pub code: PathBuf,
    /// `~/.cache/moss`: what can be made anew, such as indexes.
    pub cache: PathBuf,
    /// `$XDG_RUNTIME_DIR/moss`, or `run` in the state directory: the socket.
    pub runtime: PathBuf,
    /// `/etc/moss`: what the admin says.
    pub admin: PathBuf,
}

/// There is no home directory that moss could keep its files in.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoHome {
    /// Neither the environment nor the system names one.
    #[error("no home directory: set HOME")]
    Missing,
    /// Credentials would lie in whatever directory a command is started in.
    #[error("the home directory is not an absolute path, {}: set HOME to one", .0.display())]
    Relative(PathBuf),
}

// === impl Dirs ===

impl Dirs {
    /// Finds the directories of the user who runs this process.
    ///
    /// # Errors
    ///
    /// Where there is no home directory, or one that depends on where a command is started.
    pub fn of_user() -> Result<Self, NoHome> {
        let base = etcetera::base_strategy::Xdg::new().map_err(|_| NoHome::Missing)?;
        let home = base.home_dir();
        if !home.is_absolute() {
            return Err(NoHome::Relative(home.to_owned()));
        }
        let state = base.state_dir().unwrap_or_else(|| base.data_dir()).join("moss");
        let runtime =
            base.runtime_dir().map_or_else(|| state.join(STATE_RUNTIME), |dir| dir.join("moss"));
        Ok(Self {
            config: base.config_dir().join("moss"),
            cache: base.cache_dir().join("moss"),
            code: state.clone(),
            state,
            runtime,
            admin: PathBuf::from("/etc/moss"),
        })
    }

    /// Directories of a trial: `c`, `s`, `k`, `r` and `a` in one of its own.
    pub fn beneath(root: &Path) -> Self {
        let at = |name: &str| root.join(name);
        Self {
            config: at("c"),
            state: at("s"),
            code: at("s"),
            cache: at("k"),
            runtime: at("r"),
            admin: at("a"),
        }
    }

    /// The socket that a daemon listens on and commands look for, by default.
    pub fn socket(&self) -> PathBuf {
        self.runtime.join(SOCKET)
    }

    /// Where commands look whose environment has no `XDG_RUNTIME_DIR`.
    pub fn socket_without_runtime(&self) -> PathBuf {
        self.state.join(STATE_RUNTIME).join(SOCKET)
    }

    /// The state of one workspace.
    pub fn workspace_state(&self, root: &Path) -> PathBuf {
        self.state.join("workspaces").join(Self::workspace_name(root))
    }

    /// The index of one workspace.
    pub fn workspace_index(&self, root: &Path) -> PathBuf {
        self.cache.join("index").join(Self::workspace_name(root))
    }

    /// The vectors that an endpoint of embeddings made of the texts of one workspace.
    pub fn workspace_embeddings(&self, root: &Path) -> PathBuf {
        self.cache.join("embeddings").join(Self::workspace_name(root))
    }

    /// Where checks of one workspace write their reports.
    pub fn workspace_reports(&self, root: &Path) -> PathBuf {
        self.cache.join("reports").join(Self::workspace_name(root))
    }

    /// Where copies of one workspace lie while linters check a change of it.
    pub fn workspace_copies(&self, root: &Path) -> PathBuf {
        self.cache.join("copies").join(Self::workspace_name(root))
    }

    /// What moss alone keeps of all workspaces in its cache: indexes, vectors and copies, not reports, which commands write.
    pub fn kept_caches(&self) -> impl Iterator<Item = PathBuf> {
        ["index", "embeddings", "copies"].into_iter().map(|name| self.cache.join(name))
    }

    /// What a workspace is called where moss keeps something of several: after its directory,
    /// distinguished by the hash of its path.
    fn workspace_name(root: &Path) -> String {
        let hash = blake3::hash(root.as_os_str().as_encoded_bytes()).to_hex();
        let name: String = root
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default()
            .chars()
            .map(|c| if is_kept(c) { c } else { '_' })
            .take(NAME_CHARS_MAX)
            .collect();
        format!("{name}-{}", &hash[..HASH_DIGITS])
    }

    /// Whether a directory is called as what moss keeps of a workspace.
    pub fn is_workspace_name(name: &str) -> bool {
        let Some((name, hash)) = name.rsplit_once('-') else { return false };
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        name.len() <= NAME_CHARS_MAX
            && name.chars().all(is_kept)
            && hash.len() == HASH_DIGITS
            && hash.bytes().all(is_digit)
    }
}

/// Whether a character of a directory's name is in the name of what is kept of it.
fn is_kept(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-_.".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workspaces_of_one_name_have_states_of_their_own() {
        let dirs = Dirs {
            config: "/c".into(),
            state: "/s".into(),
            code: "/s".into(),
            cache: "/k".into(),
            runtime: "/r".into(),
            admin: "/a".into(),
        };
        let state = |root: &str| dirs.workspace_state(Path::new(root));
        assert_ne!(state("/a/x"), state("/b/x"));
        let name = state("/a/some project").file_name().unwrap().to_owned();
        assert!(name.to_string_lossy().starts_with("some_project-"), "{name:?}");
    }

    #[test]
    fn names_of_workspaces_are_known_by_their_form() {
        let long = format!("/a/{}", "é".repeat(99));
        for root in ["/", "/a/x", "/a/some project", "/a/-.-", &long] {
            let name = Dirs::workspace_name(Path::new(root));
            assert!(Dirs::is_workspace_name(&name), "{name}");
        }
        let long = format!("{}-0123456789abcdef", "x".repeat(41));
        for name in
            ["", "photos", "x-0123456789abcde", "x-0123456789ABCDEF", "x y-0123456789abcdef", &long]
        {
            assert!(!Dirs::is_workspace_name(name), "{name}");
        }
    }
}
