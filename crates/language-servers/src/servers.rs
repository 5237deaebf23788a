//! The table of servers: what each is called, which files it knows, and which of its options keep it from running
//! what the project brings.

use std::time::Duration;

use moss_sdk::RelPath;
use serde_json::{Value, json};

use crate::readiness::ReadySign;

/// A server that moss knows how to use.
#[derive(Debug, Clone, Copy)]
pub struct KnownServer {
    /// What it is called, everywhere.
    pub name: &'static str,
    /// Its program and the arguments by which it speaks over its standard streams.
    pub command: &'static [&'static str],
    /// Endings of the names of its files, each with the language as the protocol calls it.
    pub files: &'static [(&'static str, &'static str)],
    /// Files that make a directory the root of a project.
    pub manifests: &'static [&'static str],
    /// Whether it knows nothing without one of these.
    pub needs_manifest: bool,
    /// How it says that it is ready.
    pub ready: ReadySign,
    /// What its log has once the process that knows the project has exited: from then on it replies that it found
    /// nothing, whatever it is asked.
    pub exit_sign: Option<&'static str>,
    /// Variables that it is started with.
    pub environment: &'static [(&'static str, &'static str)],
    /// Its options at the start: no build scripts, no macros that are programs, nothing that is fetched.
    options: fn() -> Value,
    /// What it is sent when it asks for its configuration.
    settings: fn() -> Value,
}

/// Names of files that a server knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServedFiles {
    /// How the name of the file ends.
    pub ending: String,
    /// The language, as the protocol calls it.
    pub language: String,
}

/// A server as it is started and talked to.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerSpec {
    /// What it is called.
    pub name: String,
    /// Its program and its arguments.
    pub words: Vec<String>,
    /// The files that it knows.
    pub files: Vec<ServedFiles>,
    /// Files that make a directory the root of a project.
    pub manifests: Vec<String>,
    /// Whether it knows nothing without one of these.
    pub needs_manifest: bool,
    /// How it says that it is ready.
    pub ready: ReadySign,
    /// What its log has once the process that knows the project has exited: from then on it replies that it found
    /// nothing, whatever it is asked.
    pub exit_sign: Option<&'static str>,
    /// Variables that it is started with.
    pub environment: Vec<(String, String)>,
    /// Its options at the start.
    pub options: Value,
    /// What it is sent when it asks for its configuration.
    pub settings: Value,
}

/// How long a server is quiet after the first text before it counts as ready.
const QUIET: Duration = Duration::from_millis(1_500);
/// Where servers put what they keep: in memory, and gone with them.
const SCRATCH: (&str, &str) = ("XDG_CACHE_HOME", "/tmp/cache");

/// The servers that moss knows.
pub const KNOWN: &[KnownServer] = &[
    KnownServer {
        name: "rust-analyzer",
        command: &["rust-analyzer"],
        files: &[(".rs", "rust")],
        manifests: &["Cargo.toml", "rust-project.json"],
        needs_manifest: true,
        ready: ReadySign::Quiescent,
        exit_sign: None,
        environment: &[
            SCRATCH,
            ("CARGO_NET_OFFLINE", "true"),
            ("CARGO_TARGET_DIR", "/tmp/target"),
            // A toolchain that is missing is not fetched.
            ("RUSTUP_AUTO_INSTALL", "0"),
        ],
        options: rust_options,
        settings: || json!({"rust-analyzer": rust_options()}),
    },
    KnownServer {
        name: "pyright",
        command: &["pyright-langserver", "--stdio"],
        files: &[(".py", "python"), (".pyi", "python")],
        manifests: &["pyrightconfig.json", "pyproject.toml", "setup.py", "setup.cfg"],
        needs_manifest: false,
        ready: ReadySign::Logged("source file"),
        exit_sign: None,
        environment: &[SCRATCH],
        options: || json!({}),
        settings: || {
            json!({"python": {"analysis": {
                "diagnosticMode": "openFilesOnly", "typeCheckingMode": "off", "autoSearchPaths": true,
            }}})
        },
    },
    KnownServer {
        name: "typescript-language-server",
        command: &["typescript-language-server", "--stdio"],
        files: &[
            (".ts", "typescript"),
            (".mts", "typescript"),
            (".cts", "typescript"),
            (".tsx", "typescriptreact"),
            (".js", "javascript"),
            (".mjs", "javascript"),
            (".cjs", "javascript"),
            (".jsx", "javascriptreact"),
        ],
        manifests: &["tsconfig.json", "jsconfig.json", "package.json"],
        needs_manifest: false,
        ready: ReadySign::WorkDone(QUIET),
        exit_sign: Some("[tsserver] Exited"),
        environment: &[SCRATCH],
        options: || json!({"disableAutomaticTypingAcquisition": true, "hostInfo": "moss"}),
        settings: || json!({"diagnostics": {"ignoredCodes": []}}),
    },
    KnownServer {
        name: "gopls",
        command: &["gopls"],
        files: &[(".go", "go")],
        manifests: &["go.work", "go.mod"],
        needs_manifest: true,
        ready: ReadySign::WorkDone(QUIET),
        exit_sign: None,
        environment: &[
            SCRATCH,
            ("GOCACHE", "/tmp/go-build"),
            ("GOFLAGS", "-mod=readonly"),
            ("GOPROXY", "off"),
            ("GOTOOLCHAIN", "local"),
            ("GOTELEMETRY", "off"),
        ],
        options: go_options,
        settings: || json!({"gopls": go_options()}),
    },
    KnownServer {
        name: "clangd",
        command: &["clangd", "--background-index", "--clang-tidy=false", "--log=error"],
        files: &[
            (".c", "c"),
            (".h", "c"),
            (".cc", "cpp"),
            (".cpp", "cpp"),
            (".cxx", "cpp"),
            (".hh", "cpp"),
            (".hpp", "cpp"),
            (".hxx", "cpp"),
        ],
        manifests: &["compile_commands.json", "compile_flags.txt"],
        needs_manifest: false,
        ready: ReadySign::WorkDone(QUIET),
        exit_sign: None,
        environment: &[SCRATCH],
        options: || json!({}),
        settings: || json!({}),
    },
];

fn rust_options() -> Value {
    json!({
        "cargo": {"buildScripts": {"enable": false}, "autoreload": true},
        "procMacro": {"enable": false},
        "checkOnSave": false,
        "cachePriming": {"enable": false},
        "files": {"watcher": "client"},
        "lens": {"enable": false},
        "numThreads": 2,
    })
}

fn go_options() -> Value {
    json!({"expandWorkspaceToModule": true, "staticcheck": false, "vulncheck": "Off"})
}

// === impl KnownServer ===

impl KnownServer {
    /// The server as it is started.
    pub fn spec(&self) -> ServerSpec {
        let texts = |all: &[&str]| all.iter().map(|&text| text.to_owned()).collect();
        let served = |&(ending, language): &(&str, &str)| ServedFiles {
            ending: ending.to_owned(),
            language: language.to_owned(),
        };
        let variable = |&(name, value): &(&str, &str)| (name.to_owned(), value.to_owned());
        ServerSpec {
            name: self.name.to_owned(),
            words: texts(self.command),
            files: self.files.iter().map(served).collect(),
            manifests: texts(self.manifests),
            needs_manifest: self.needs_manifest,
            ready: self.ready,
            exit_sign: self.exit_sign,
            environment: self.environment.iter().map(variable).collect(),
            options: (self.options)(),
            settings: (self.settings)(),
        }
    }
}

// === impl ServerSpec ===

impl ServerSpec {
    /// A server that moss does not know.
    pub fn configured(
        name: &str,
        words: &[String],
        files: Vec<ServedFiles>,
        manifests: &[String],
    ) -> Self {
        let (scratch, place) = SCRATCH;
        Self {
            name: name.to_owned(),
            words: words.to_vec(),
            files,
            manifests: manifests.to_vec(),
            needs_manifest: false,
            ready: ReadySign::WorkDone(QUIET),
            exit_sign: None,
            environment: vec![(scratch.to_owned(), place.to_owned())],
            options: json!({}),
            settings: json!({}),
        }
    }

    /// The language of a file, by its name; none where the server does not know such files.
    pub fn language_of(&self, file_name: &str) -> Option<&str> {
        let known = self.files.iter().find(|files| file_name.ends_with(&files.ending));
        known.map(|files| files.language.as_str())
    }

    /// Whether it is notified when a file changes on the disk: one that it knows, or a manifest.
    pub fn watches(&self, path: &RelPath) -> bool {
        let name = path.file_name().unwrap_or_default();
        self.language_of(name).is_some() || self.manifests.iter().any(|one| one == name)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_ending_is_known_to_one_server() {
        let endings: Vec<_> = KNOWN.iter().flat_map(|known| known.files).collect();
        let each: BTreeSet<_> = endings.iter().map(|(ending, _)| ending).collect();
        assert_eq!(each.len(), endings.len());
        assert!(endings.iter().all(|(ending, _)| ending.starts_with('.')));
    }

    #[test]
    fn servers_run_no_code_of_the_project_where_an_option_keeps_them_from_it() {
        let rust = KNOWN[0].spec();
        assert_eq!(rust.options["cargo"]["buildScripts"]["enable"], false);
        assert_eq!(rust.options["procMacro"]["enable"], false);
        assert_eq!(rust.options["checkOnSave"], false);
        assert_eq!(rust.language_of("lib.rs"), Some("rust"));
        assert_eq!(rust.language_of("lib.py"), None);
    }
}
