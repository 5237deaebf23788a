//! What is protected wherever it occurs: secrets, metadata, configuration that runs code.
//!
//! Names are compared as a forgiving file system would: see [`crate::spelling`]. This file only names
//! the protection; policy says what follows from it.

mod copies;
mod keys;
mod names;
mod repository;
mod table;

use moss_sdk::RelPath;

use self::names::KnownContent;
pub use self::table::{ProtectedRow, TABLE};
use crate::error::Error;
use crate::resolve::Resolved;
use crate::root::Workspace;
use crate::spelling::{bare, fold};

/// Why a path is protected; a stricter reason is greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Protection {
    /// Configuration that makes other programs run code: whoever writes it is asked about it.
    Code,
    /// Belongs to version control or to moss: protected against writing.
    Metadata,
    /// Holds a secret: protected against reading and writing.
    Secret,
}

/// Says why a path is protected, by its names alone.
pub fn protection(path: &RelPath) -> Option<Protection> {
    protection_of(path, KnownContent::Unknown)
}

fn protection_of(path: &RelPath, content: KnownContent) -> Option<Protection> {
    let folded: Vec<_> = path.components().map(fold).collect();
    let names: Vec<&str> = folded.iter().map(AsRef::as_ref).collect();
    let bare: Vec<&str> = names.iter().map(|name| bare(name)).collect();
    let by_names = names::of_folded(&names, content);
    if bare == names { by_names } else { by_names.max(names::of_folded(&bare, content)) }
}

/// Whether a path is, or lies beneath, a directory, in any spelling.
fn is_within(path: &RelPath, directory: &RelPath) -> bool {
    let mut names = path.components();
    let is_same = |name: &str, component: &str| {
        name == component || bare(&fold(name)) == bare(&fold(component))
    };
    directory
        .components()
        .all(|component| names.next().is_some_and(|name| is_same(name, component)))
}

// === impl Workspace ===

impl Workspace {
    /// Says why a path is protected, by its names alone; moss's own directories are among them.
    pub fn protection(&self, path: &RelPath) -> Option<Protection> {
        if self.is_own(path) { Some(Protection::Secret) } else { protection(path) }
    }

    /// As [`Workspace::protection`], of a file whose content is known to be public: see
    /// [`OpenedFile::is_public`](crate::OpenedFile::is_public).
    pub fn protection_of_public(&self, path: &RelPath) -> Option<Protection> {
        let own = || self.is_own(path).then_some(Protection::Secret);
        own().or_else(|| protection_of(path, KnownContent::Public))
    }

    /// Whether a path is, or lies beneath, one of moss's own directories.
    pub(crate) fn is_own(&self, path: &RelPath) -> bool {
        self.own.iter().any(|own| is_within(path, own))
    }

    /// Refuses to show what is in one of moss's own directories, by a path that leads there.
    pub(crate) fn check_not_own(&self, path: &RelPath, real: &RelPath) -> Result<(), Error> {
        if !self.is_own(real) {
            return Ok(());
        }
        let reason = "it belongs to moss itself";
        Err(Error::Protected { path: path.clone(), reason })
    }

    /// Says why a path is protected, by its names and by those that it leads to after all links.
    ///
    /// # Errors
    ///
    /// As [`Workspace::resolve`].
    pub fn protection_resolved(&self, path: &RelPath) -> Result<Option<Protection>, Error> {
        let resolved = self.resolve(path)?;
        let named = self.protection(path).max(self.protection(&resolved.path));
        Ok(named.max(self.protection_beside_names(&resolved)))
    }

    /// Says why what a path leads to is protected beside its names: as a secret file, or by what is around it.
    pub fn protection_beside_names(&self, found: &Resolved) -> Option<Protection> {
        if found.identity.is_some_and(|identity| self.secrets.contains(identity)) {
            return Some(Protection::Secret);
        }
        self.protection_around(&found.path, &[])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Option<Protection> {
        protection(&RelPath::parse(text).unwrap())
    }

    #[test]
    fn metadata_is_found_at_any_depth_in_any_spelling() {
        for path in [
            ".git",
            ".git/hooks/pre-commit",
            ".git./x",
            ".git  /x",
            ".git::$INDEX_ALLOCATION/x",
            "moss-tools.json.",
            ".gitmodules::$DATA",
            "vendor/sub/.git/config",
            ".GiT/config",
            ".g\u{200c}it/config",
            "\u{ff0e}git/config",
            ".g\u{131}t".replace('\u{131}', "I").as_str(),
            "a/.MOSS/Policy.toml",
            "MOSS-tools.json",
            "GIT~1/config",
            ".\u{ff47}\u{ff49}\u{ff54}/x",
        ] {
            assert_eq!(check(path), Some(Protection::Metadata), "{path}");
        }
    }

    #[test]
    fn configuration_that_runs_code_is_found_in_any_spelling() {
        for path in [
            ".vscode/tasks.json",
            ".vscode/mcp.json",
            "a/.VSCode/Settings.json",
            "project.code-workspace",
            ".idea/workspace.xml",
            ".idea/runConfigurations/x.xml",
            ".github/workflows/ci.yml",
            "sub/.github/Workflows/deep/ci.yml",
            ".git\u{ad}hub/workflows/ci.yml",
            ".cargo/config.toml",
            "crates/a/.cargo/config",
            ".husky/pre-commit",
            ".husky",
            ".devcontainer/devcontainer.json",
            ".devcontainer.json",
            ".cursor/rules/x.mdc",
            ".mcp.json.",
            "jenkinsfile",
            "lefthook-local.yml",
            ".lefthook-local.json",
            ".lefthook-local/pre-push/x.sh",
            "lefthook.jsonc",
            ".yarnrc",
            ".yarn/releases/yarn-4.5.0.cjs",
            ".yarn/plugins/@yarnpkg/plugin-x.cjs",
            ".pnp.cjs",
            ".pnp.loader.mjs",
            "bunfig.toml",
            ".bunfig.toml",
            "mise.toml",
            "mise.production.local.toml",
            ".mise.toml",
            ".config/mise/conf.d/x.toml",
            ".tool-versions",
            ".direnv/flake-profile-a5d.rc",
            ".direnv/bin/nix-direnv-reload",
            ".gdbinit",
            "sub/.lldbinit",
            ".helix/languages.toml",
            ".clinerules",
            ".clinerules/style.md",
            ".cursorrules",
            ".roo/mcp.json",
            ".roomodes",
            ".opencode/plugin/x.ts",
            "OpenCode.json",
            "opencode.jsonc",
            ".qwen/settings.json",
            ".junie/mcp/mcp.json",
            ".aider.conf.yml",
            ".woodpecker.yaml",
            ".cirrus.yml",
            ".semaphore/semaphore.yml",
            ".builds/alpine.yml",
            "appveyor.yml",
            "azure-pipelines.yaml",
        ] {
            assert_eq!(check(path), Some(Protection::Code), "{path}");
        }
    }

    #[test]
    fn configuration_by_which_tools_run_code_where_they_start_is_found() {
        for path in [
            ".vimrc",
            "sub/_vimrc",
            "_exrc",
            ".gvimrc",
            ".lvimrc",
            ".vim/coc-settings.json",
            ".dir-locals-2.el",
            "x.sublime-project",
            ".gitpod.yml",
            ".kilocode/mcp.json",
            "Crush.json",
            ".crush.json",
            ".amazonq/mcp.json",
            ".amazonq/cli-agents/x.json",
            ".factory/mcp.json",
            ".huskyrc.js",
            "prek.toml",
            ".overcommit.yml",
            ".git-hooks/pre_commit/x.rb",
            ".lintstagedrc",
            ".lintstagedrc.mjs",
            "lint-staged.config.js",
            ".simple-git-hooks.json",
            "simple-git-hooks.cjs",
            "mise/config.local.toml",
            "mise/conf.d/x.toml",
            ".pnpmfile.mjs",
            ".github/hooks/x.json",
            ".forgejo/actions/x/action.yml",
            ".gitea/actions/x/action.yml",
            ".cirrus.star",
            ".drone.star",
            ".drone.jsonnet",
            ".teamcity/settings.kts",
            ".tekton/push.yaml",
            "cloudbuild.yaml",
            "buildspec.yml",
            ".rprofile",
            ".Renviron",
            ".pdbrc",
            "sub/.ghci",
            ".iex.exs",
            ".irbrc",
            ".pryrc",
            ".octaverc",
            ".ocamlinit",
            ".bazelrc",
            "tools/bazel",
            ".mvn/extensions.xml",
            ".mvn/jvm.config",
            ".mvn/wrapper/maven-wrapper.properties",
            ".sbtopts",
        ] {
            assert_eq!(check(path), Some(Protection::Code), "{path}");
        }
    }

    #[test]
    fn the_strictest_reason_counts() {
        assert_eq!(check(".idea/.git/config"), Some(Protection::Metadata));
        assert_eq!(check(".vscode/id_rsa"), Some(Protection::Secret));
        assert_eq!(check(".git/hooks/server.key"), Some(Protection::Secret));
    }

    #[test]
    fn a_public_content_frees_only_names_of_keys() {
        let public = |path| protection_of(&RelPath::parse(path).unwrap(), KnownContent::Public);
        assert_eq!(public("certs/ca.pem"), None);
        assert_eq!(public("certs/CA.KEY."), None);
        assert_eq!(public(".ssh/ca.pem"), Some(Protection::Secret));
        assert_eq!(public("id_rsa.pem"), Some(Protection::Secret));
        assert_eq!(public(".git/ca.pem"), Some(Protection::Metadata));
        assert_eq!(public("store.p12"), Some(Protection::Secret));
    }

    #[test]
    fn secrets_are_found_in_any_spelling() {
        for path in [
            ".env",
            ".envrc",
            ".envrc::$DATA",
            "id_rsa.bak",
            "keys/id_ed25519_work",
            "id_ecdsa-github.old",
            "ID_DSA.PUB.orig",
            ".kube/config",
            "deploy/.docker/config.json",
            ".cargo/credentials.toml",
            "a/.ENV",
            ".env.local",
            ".env.production",
            "deploy/id_rsa",
            "x/server.PEM",
            "tls.key",
            ".netrc",
            ".npmrc",
            ".ssh/config",
            ".dev.vars",
            "worker/.dev.vars.production",
            "AuthKey_2X9R4HXF34.p8",
            "http.keytab",
            "terraform.tfvars",
            "infra/prod.auto.tfvars",
            "infra/Prod.TFVARS.json",
            "ıd_rsa".replace('ı', "I").as_str(),
        ] {
            assert_eq!(check(path), Some(Protection::Secret), "{path}");
        }
    }

    #[test]
    fn a_copy_of_a_secret_is_one() {
        for path in [
            ".env~",
            "a/.ENV~.",
            ".env.swp",
            "#.env#",
            ".#.env",
            ".netrc.bak",
            ".npmrc~",
            ".id_rsa.swp",
            ".cargo/credentials.toml.orig",
            ".docker/.config.json.swp",
            ".kube/#config#",
            "x/server.pem.~1~",
            "store.p12.old",
            ".dev.vars~",
            "prod.tfvars.backup",
        ] {
            assert_eq!(check(path), Some(Protection::Secret), "{path}");
        }
        // What a copy of a key holds decides as it does for the key.
        let public = |path| protection_of(&RelPath::parse(path).unwrap(), KnownContent::Public);
        assert_eq!(public("certs/ca.pem~"), None);
        assert_eq!(public(".ssh/ca.pem~"), Some(Protection::Secret));
        assert_eq!(public("store.p12~"), Some(Protection::Secret));
    }

    #[test]
    fn ordinary_names_are_free() {
        for path in [
            "src/main.rs",
            ".gitignore",
            ".gitattributes",
            ".env.example",
            ".env.sample",
            "a/.env.template",
            "git/config",
            "keys.rs",
            "monkey",
            "id_rsa.pub",
            "id_ed25519_work.PUB",
            "id_token.py",
            "id_rs.txt",
            ".github/dependabot.yml",
            "workflows/ci.yml",
            "cargo/config.toml",
            "kube/config",
            ".docker/daemon.json",
            "docs/husky.md",
            ".env.local.example",
            ".pem",
            ".vscode/extensions.json",
            "environment",
        ] {
            assert_eq!(check(path), None, "{path}");
        }
        assert_eq!(protection(&RelPath::root()), None);
    }

    #[test]
    fn names_that_only_resemble_protected_ones_are_free() {
        for path in [
            // Copies of what is free, and of what is only not written unasked.
            "src/main.rs~",
            ".main.rs.swp",
            "#main.rs#",
            ".gitignore.orig",
            "config.old",
            "jenkinsfile~",
            ".cargo/config.toml.bak",
            // What looks like configuration or a secret, and is neither.
            "lefthook.rs",
            "lefthook/local.go",
            "mise.rs",
            "mise/config.rs",
            "vimrc.vim",
            "tekton/push.yaml",
            "tools/bazel.rs",
            "lint-staged.md",
            "crush.rs",
            "ghci.hs",
            "BUILD.bazel",
            ".bazelversion",
            "mvn/jvm.config",
            "gradle/wrapper/gradle-wrapper.properties",
            ".eslintrc.cjs",
            "eslint.config.js",
            "conftest.py",
            ".profile",
            "src/mise/toml.rs",
            ".config/nextest.toml",
            ".yarn/sdks/typescript/lib/tsc.js",
            ".yarn/cache/x-npm-1.0.0.zip",
            ".yarnclean",
            "yarn.lock",
            "package.json",
            "pnpm-workspace.yaml",
            ".direnv/python-3.12/lib/python3.12/site-packages/x.py",
            ".nvmrc",
            "rust-toolchain.toml",
            "Makefile",
            "AGENTS.md",
            "gdbinit.rs",
            "opencode.rs",
            "opencode/json.go",
            "src/roo/mod.rs",
            ".dev.vars.example",
            "dev.vars",
            "examples/complete/fixtures.us-east-2.tfvars",
            "example.tfvars",
            "terraform.tfvars.example",
            "variables.tf",
            "main.tf.json",
            "src/tfvars.go",
            "keytab.c",
            "p8.rs",
            "backup.rs",
            "certs/ca.crt",
            "azure.yml",
            "docs/appveyor.md",
        ] {
            assert_eq!(check(path), None, "{path}");
        }
    }
}
