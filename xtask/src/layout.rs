//! Where things are in the repository and in the target directory. Only names: nothing is opened.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// The target of plugins.
pub(crate) const WASM_TARGET: &str = "wasm32-wasip2";

/// The directories that the commands work with.
#[derive(Debug)]
pub(crate) struct Layout {
    /// The root of the repository.
    pub(crate) root: PathBuf,
    /// What Cargo builds into; this program stands in its `debug`.
    pub(crate) target: PathBuf,
}

/// How the daemon is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BuildProfile {
    /// Quickest to build, slow to load plugins: for whoever sees moss for the first time.
    Tour,
    /// Quick to build: for tests.
    Debug,
    /// Quick to run: for measuring and for releases.
    Release,
}

// === impl Layout ===

impl Layout {
    pub(crate) fn find() -> Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("no repository")?;
        let program = std::env::current_exe().context("cannot find this program")?;
        let target = program.ancestors().nth(2).context("this program is not in a target")?;
        Ok(Self { root: root.to_owned(), target: target.to_owned() })
    }

    /// The path of the binary.
    pub(crate) fn moss(&self, profile: BuildProfile) -> PathBuf {
        self.target.join(profile.directory()).join("moss")
    }

    /// The program that measures.
    pub(crate) fn bench_calls(&self) -> PathBuf {
        self.target.join(BuildProfile::Release.directory()).join("bench-calls")
    }

    /// The program that asks questions of repositories.
    pub(crate) fn bench_search_quality(&self) -> PathBuf {
        self.target.join(BuildProfile::Release.directory()).join("bench-search-quality")
    }

    /// The program that keeps results and writes the page of figures.
    pub(crate) fn bench_page(&self) -> PathBuf {
        self.target.join(BuildProfile::Debug.directory()).join("bench-page")
    }

    /// The program that packs a release.
    pub(crate) fn make_dist(&self) -> PathBuf {
        self.target.join(BuildProfile::Debug.directory()).join("make-dist")
    }

    pub(crate) fn docs(&self) -> PathBuf {
        self.root.join("docs")
    }

    /// The plugins that people copy.
    pub(crate) fn plugins(&self) -> PathBuf {
        self.root.join("plugins-example")
    }

    /// The list that names them.
    pub(crate) fn plugin_list(&self) -> PathBuf {
        self.plugins().join("moss-tools.json")
    }

    /// The components: where `plugin_list` expects them, wherever Cargo builds everything else.
    pub(crate) fn components(&self) -> PathBuf {
        self.plugin_target().join(WASM_TARGET).join("release")
    }

    pub(crate) fn plugin_target(&self) -> PathBuf {
        self.plugins().join("target")
    }

    /// The Python environment of the client tests.
    pub(crate) fn python_environment(&self) -> PathBuf {
        self.target.join("clients")
    }

    /// The client in TypeScript.
    pub(crate) fn typescript_client(&self) -> PathBuf {
        self.root.join("tests/clients/typescript")
    }

    /// The packages of the client in TypeScript.
    pub(crate) fn node_environment(&self) -> PathBuf {
        self.target.join("clients-node")
    }

    /// What clients and servers of the Model Context Protocol in Node.js need.
    pub(crate) fn mcp_clients(&self) -> PathBuf {
        self.root.join("tests/clients/mcp")
    }

    /// The packages of these.
    pub(crate) fn mcp_environment(&self) -> PathBuf {
        self.target.join("mcp-node")
    }

    /// Test frameworks and linters that npm brings.
    pub(crate) fn check_packages(&self) -> PathBuf {
        self.root.join("tests/clients/checks")
    }

    /// The packages of these.
    pub(crate) fn check_environment(&self) -> PathBuf {
        self.target.join("checks-node")
    }

    /// The language servers whose definitions those of moss are held against.
    pub(crate) fn language_servers(&self) -> PathBuf {
        self.root.join("tests/clients/language-servers")
    }

    /// The packages of these.
    pub(crate) fn language_server_environment(&self) -> PathBuf {
        self.target.join("language-servers-node")
    }

    /// What the conformance suite needs.
    pub(crate) fn conformance(&self) -> PathBuf {
        self.root.join("tests/clients/conformance")
    }

    /// The packages of the conformance suite.
    pub(crate) fn conformance_environment(&self) -> PathBuf {
        self.target.join("conformance-node")
    }

    /// Projects of plugins that the tests build; what is installed into them stays.
    pub(crate) fn plugin_projects(&self) -> PathBuf {
        self.target.join("plugin-projects")
    }

    pub(crate) fn python_requirements(&self) -> PathBuf {
        self.root.join("tests/clients/requirements.txt")
    }
}

// === impl BuildProfile ===

impl BuildProfile {
    fn directory(self) -> &'static str {
        match self {
            Self::Tour => "tour",
            Self::Debug => "debug",
            Self::Release => "release",
        }
    }

    /// What the daemon has only where it is built to stay: outlines of more languages take a minute to build.
    pub(crate) fn features(self) -> &'static [&'static str] {
        match self {
            Self::Tour | Self::Debug => &[],
            Self::Release => &["--features", "lang-extra"],
        }
    }

    /// What Cargo must be reported.
    pub(crate) fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Tour => &["--profile", "tour"],
            Self::Debug => &[],
            Self::Release => &["--release"],
        }
    }
}
