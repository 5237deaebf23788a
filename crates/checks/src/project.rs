//! What is known of a project: what lies in the directories around a file, and its manifests.

use std::collections::{BTreeMap, BTreeSet};

/// Files whose text shows how a project is tested and linted. Others are known by their names only.
pub const MANIFESTS: &[&str] = &[
    "Cargo.toml",
    "CMakeLists.txt",
    "Gemfile",
    ".eslintrc.json",
    ".golangci.yaml",
    ".golangci.yml",
    ".mypy.ini",
    ".pre-commit-config.yaml",
    "biome.json",
    "composer.json",
    "dev-requirements.txt",
    "go.mod",
    "mypy.ini",
    "package.json",
    "pom.xml",
    "pyproject.toml",
    "pytest.ini",
    "requirements-dev.txt",
    "requirements.txt",
    "setup.cfg",
    "tox.ini",
    "tsconfig.json",
];
/// Files of a project that may lie where ignore files keep walks out, relative to a directory: its own
/// programs, which go before those of the machine, and one configuration.
pub const PROBES: &[&str] = &[
    ".config/nextest.toml",
    ".venv/bin/coverage",
    ".venv/bin/clang-tidy",
    ".venv/bin/mypy",
    ".venv/bin/pyright",
    ".venv/bin/pytest",
    ".venv/bin/python",
    ".venv/bin/ruff",
    ".venv/bin/shellcheck",
    ".venv/bin/yamllint",
    "bin/phpunit",
    "bin/rspec",
    "build/CMakeCache.txt",
    "bin/rubocop",
    "build/compile_commands.json",
    "node_modules/.bin/bats",
    "node_modules/.bin/biome",
    "node_modules/.bin/bun",
    "node_modules/.bin/deno",
    "node_modules/.bin/eslint",
    "node_modules/.bin/jest",
    "node_modules/.bin/markdownlint",
    "node_modules/.bin/markdownlint-cli2",
    "node_modules/.bin/mocha",
    "node_modules/.bin/oxlint",
    "node_modules/.bin/pyright",
    "node_modules/.bin/tsc",
    "node_modules/.bin/vitest",
    "venv/bin/clang-tidy",
    "venv/bin/coverage",
    "venv/bin/mypy",
    "venv/bin/pyright",
    "test/__init__.py",
    "tests/__init__.py",
    "venv/bin/pytest",
    "venv/bin/python",
    "venv/bin/ruff",
    "venv/bin/shellcheck",
    "venv/bin/yamllint",
    "vendor/bin/phpstan",
    "vendor/bin/phpunit",
];

/// The directories from that of a file up to the workspace root, the nearest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProjectFiles {
    /// The directories, the nearest first; the last is the workspace root.
    pub directories: Vec<ProjectDirectory>,
}

/// What is known of one directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProjectDirectory {
    /// Relative to the workspace root, with `/`; empty for the root itself.
    pub path: String,
    /// Names of the files in it.
    pub files: BTreeSet<String>,
    /// Names of the directories in it.
    pub directories: BTreeSet<String>,
    /// Texts of those of [`MANIFESTS`] that are in it, by name.
    pub manifests: BTreeMap<String, String>,
    /// Those of [`PROBES`] that are there.
    pub probed: BTreeSet<String>,
    /// Names of links in it that lead out of the workspace, where they are named like directories of [`PROBES`]: what is in
    /// them is taken to be there, as commands may see it.
    pub outward: BTreeSet<String>,
}

// === impl ProjectFiles ===

impl ProjectFiles {
    /// The directory at a place and those that it lies in, the nearest first, each with its place.
    pub(crate) fn at_or_above(
        &self,
        place: usize,
    ) -> impl Iterator<Item = (usize, &ProjectDirectory)> {
        let path = self.directories[place].path.as_str();
        let holds = move |directory: &ProjectDirectory| is_in(path, &directory.path);
        self.directories.iter().enumerate().filter(move |(_, directory)| holds(directory))
    }

    /// The place of the directory of the workspace of Cargo that a package belongs to, its own outside of any:
    /// paths in messages begin there.
    pub fn cargo_workspace(&self, place: usize) -> usize {
        let package = &self.directories[place];
        let holds = |(_, around): &(usize, &ProjectDirectory)| {
            let inside = package.beneath(&around.path).unwrap_or_default();
            around.is_cargo_workspace() && (inside.is_empty() || !around.excludes(inside))
        };
        self.at_or_above(place).find(holds).map_or(place, |(at, _)| at)
    }

    /// A program of the project itself, of a directory or the nearest one around it that has it, relative to
    /// that directory: workspaces of packages keep their programs at the top.
    pub fn program(&self, directory: usize, name: &str) -> Option<String> {
        let from = self.directories.get(directory)?;
        self.directories[directory..].iter().find_map(|around| {
            let inside = from.beneath(&around.path)?;
            let program = around.program(name)?;
            let up = inside.split('/').filter(|part| !part.is_empty()).count();
            Some(format!("{}{program}", "../".repeat(up)))
        })
    }

    /// What to say of a command of a directory whose program was not found: that the program lies behind a link which leads
    /// to what commands do not see. None where no such link is in the command.
    pub fn unseen_link(&self, directory: usize, command: &str) -> Option<String> {
        let from = self.directories.get(directory)?;
        let link = self.directories[directory..].iter().find_map(|around| {
            let inside = from.beneath(&around.path)?;
            let up = inside.split('/').filter(|part| !part.is_empty()).count();
            let runs = |name: &&String| {
                let mut programs = PROBES.iter().filter(|probe| is_in(probe, name));
                programs.any(|probe| command.contains(&format!("{}{probe}", "../".repeat(up))))
            };
            let name = around.outward.iter().find(runs)?;
            Some(match around.path.as_str() {
                "" => name.clone(),
                path => format!("{path}/{name}"),
            })
        })?;
        Some(format!(
            "`{link}` is a link that leads out of the workspace, to what commands do not see (`readlink {link}` shows where): make \
             it in the project itself, or serve the directory above both; docs/sandbox.md says what commands see"
        ))
    }
}

/// Whether a path is a directory or lies in it, both relative to the same one.
pub(crate) fn is_in(path: &str, directory: &str) -> bool {
    directory.is_empty()
        || path == directory
        || path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
}

// === impl ProjectDirectory ===

impl ProjectDirectory {
    /// The text of a manifest, where it is there.
    pub fn manifest(&self, name: &str) -> Option<&str> {
        self.manifests.get(name).map(String::as_str)
    }

    /// Whether a file of one of these names is there.
    pub fn has_file(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.files.contains(*name))
    }

    /// Whether it is the top of a workspace of Cargo.
    pub(crate) fn is_cargo_workspace(&self) -> bool {
        let manifest = self.manifest("Cargo.toml").unwrap_or_default();
        manifest
            .lines()
            .any(|line| line.starts_with("[workspace]") || line.starts_with("[workspace."))
    }

    /// Whether its workspace of Cargo leaves out a directory in it.
    fn excludes(&self, inside: &str) -> bool {
        let manifest = self.manifest("Cargo.toml").unwrap_or_default();
        let section = manifest.lines().skip_while(|line| !line.starts_with("[workspace]")).skip(1);
        let section: Vec<&str> = section.take_while(|line| !line.starts_with('[')).collect();
        let section = section.join("\n");
        let list = section.split("exclude").nth(1).and_then(|rest| rest.split(']').next());
        let mut names = list.unwrap_or_default().split('"').skip(1).step_by(2);
        names.any(|name| is_in(inside, name.trim_end_matches('/')))
    }

    /// What its path has more than that of a directory around it; none where it lies elsewhere.
    pub(crate) fn beneath(&self, around: &str) -> Option<&str> {
        match (around.is_empty(), self.path.strip_prefix(around)) {
            (true, _) => Some(&self.path),
            (false, Some("")) => Some(""),
            (false, rest) => rest?.strip_prefix('/'),
        }
    }

    /// A program of the project itself, relative to the directory.
    pub fn program(&self, name: &str) -> Option<String> {
        let is_it = |path: &&String| path.rsplit_once('/').is_some_and(|(_, last)| last == name);
        self.probed.iter().find(is_it).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_behind_a_link_out_of_the_workspace_is_named_with_that_link() {
        let directory = |path: &str, outward: &[&str]| ProjectDirectory {
            path: path.to_owned(),
            outward: outward.iter().map(|name| (*name).to_owned()).collect(),
            ..ProjectDirectory::default()
        };
        let around = [directory("app/py", &[]), directory("app", &[".venv", "tests"])];
        let files = ProjectFiles { directories: [&around[..], &[directory("", &[])]].concat() };
        for (command, link) in [
            ("../.venv/bin/pytest -v ../tests/a.py", Some("app/.venv")),
            ("pytest -v ../tests/a.py", None),
            ("venv/bin/pytest -v", None),
        ] {
            let unseen = files.unseen_link(0, command);
            assert_eq!(unseen.is_some(), link.is_some(), "{command}: {unseen:?}");
            let named = format!("`{}` is a link", link.unwrap_or_default());
            assert!(unseen.is_none_or(|unseen| unseen.starts_with(&named)), "{command}");
        }
    }
}
