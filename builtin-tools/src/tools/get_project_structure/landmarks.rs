//! What stands out among the files of a project, inferred from their names: where programs start,
//! where the tests are, what runs in continuous integration, what to read first.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use moss_checks::{test_directory, test_pattern};
use moss_sdk::RelPath;
use moss_sdk::file::EntryKind;
use moss_sdk::tree_listing::{EntryNumber, TreeNames};
use schemars::JsonSchema;
use serde::Serialize;

use super::languages::{FileLanguages, Languages, Purpose};
use super::manifests::{self, ManifestKind};

/// Most manifests of one result.
const MANIFESTS_MAX: usize = 50;
/// Most test directories of one result.
const TEST_DIRECTORIES_MAX: usize = 30;
/// Most patterns of test names of one result.
const TEST_NAMES_MAX: usize = 10;
/// Most files of continuous integration of one result.
const CI_MAX: usize = 20;
/// Most documents of one result.
const DOCUMENTS_MAX: usize = 20;

/// Directories with other people's code, or with material of tests: what is in them is no landmark.
const FOREIGN: &[&str] = &[
    "__fixtures__",
    "__snapshots__",
    "bower_components",
    "fixtures",
    "node_modules",
    "site-packages",
    "testdata",
    "third-party",
    "third_party",
    "thirdparty",
    "vendor",
    "vendored",
];
/// Ends of the names of files called `main` that programs start in.
const MAINS: &[&str] = &[
    "adb", "c", "cc", "cjs", "cpp", "cs", "cxx", "d", "dart", "erl", "f90", "go", "hs", "java",
    "jl", "js", "jsx", "kt", "lua", "m", "mjs", "ml", "mm", "nim", "odin", "php", "py", "rb", "rs",
    "scala", "swift", "ts", "tsx", "v", "zig",
];
/// Other names of such files, in lower case.
const STARTS: &[&str] = &[
    "__main__.py",
    "app.py",
    "app.swift",
    "application.java",
    "artisan",
    "asgi.py",
    "config.ru",
    "index.php",
    "manage.py",
    "program.cs",
    "program.fs",
    "wsgi.py",
];
/// Files and directories of continuous integration; those with a slash at the end hold its files.
const CI: &[&str] = &[
    ".appveyor.yml",
    ".buildkite/",
    ".builds/",
    ".ci/",
    ".circleci/",
    ".cirrus.yml",
    ".drone.yml",
    ".forgejo/workflows/",
    ".gitea/workflows/",
    ".github/workflows/",
    ".gitlab-ci.yml",
    ".travis.yml",
    ".woodpecker.yml",
    ".woodpecker/",
    "appveyor.yml",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
    "cloudbuild.yaml",
    "jenkinsfile",
];
/// Starts of names of files in the root that describe the project, in lower case.
const DOCUMENTS: &[&str] = &[
    "agents.md",
    "architecture",
    "changelog",
    "changes",
    "claude.md",
    "code_of_conduct",
    "contributing",
    "copying",
    "design",
    "gemini.md",
    "history.md",
    "licence",
    "license",
    "notice",
    "readme",
    "security",
];

/// Tests of a project.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct Tests {
    /// How many files of code are tests, by their name or that of their directory.
    files: u64,
    /// Directories with tests, by their names and by what manifests say, the outermost.
    pub(super) directories: Vec<TestDirectory>,
    /// How files with tests are named, the most frequent first.
    pub(super) names: Vec<TestName>,
}

/// A directory with tests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct TestDirectory {
    /// Relative to the workspace root.
    path: String,
    /// How many files of code it has, those of directories in it included.
    files: u64,
}

/// A pattern of names of tests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct TestName {
    /// The pattern, such as `*_test.go`.
    pattern: String,
    /// How many files have such a name.
    files: u64,
}

/// What stands out among the files of a project, by their names alone.
pub(super) struct Landmarks {
    pub(super) languages: FileLanguages,
    /// Manifests, those higher up first.
    pub(super) manifests: Vec<(EntryNumber, ManifestKind)>,
    /// How many there are.
    pub(super) manifests_total: usize,
    /// Files that programs start in by their names, in path order.
    pub(super) starts: Vec<RelPath>,
    pub(super) tests: Tests,
    pub(super) ci: Vec<String>,
    pub(super) documents: Vec<String>,
}

/// What the directory of files says of them.
struct DirectorySigns<'a> {
    /// As seen from the one that is looked at; empty for that one.
    directory: &'a str,
    is_foreign: bool,
    /// The outermost directory of tests.
    tests: Option<&'a str>,
    is_ci: bool,
}

/// Test files as they are counted.
#[derive(Default)]
struct TestCounts<'a> {
    files: u64,
    directories: BTreeMap<&'a str, u64>,
    names: BTreeMap<String, u64>,
}

// === impl Landmarks ===

impl Landmarks {
    /// Looks at names in path order.
    pub(super) fn find(names: &TreeNames) -> Self {
        let languages = Languages::new();
        let mut tests = TestCounts::default();
        let mut manifests = Vec::new();
        let mut found = Self {
            languages: vec![None; names.len()].into(),
            manifests: Vec::new(),
            manifests_total: 0,
            starts: Vec::new(),
            tests: Tests::default(),
            ci: Vec::new(),
            documents: Vec::new(),
        };
        let directories = names.directories().iter();
        let signs: Vec<_> =
            directories.map(|directory| DirectorySigns::of(names.seen(directory))).collect();
        let is_file = |number: &&EntryNumber| names.kind(**number) == EntryKind::File;
        for &number in names.in_order().iter().filter(is_file) {
            let around = &signs[names.directory_of(number)];
            let given_name = names.name(number);
            if around.is_foreign || FOREIGN.contains(&given_name) {
                continue;
            }
            let name = given_name.to_lowercase();
            let language = languages.of(&name);
            found.languages[number as usize] = language;
            let is_code = language.is_some_and(|language| language.purpose() == Purpose::Code);
            let is_test = is_code && tests.count(around.tests, given_name);
            if let Some(kind) = manifests::kind(&name) {
                manifests.push((number, kind));
            }
            if !is_test && is_start(around.directory, &name) {
                found.starts.push(names.path(number));
            }
            let is_root = around.directory.is_empty();
            let is_ci = around.is_ci || is_root && CI.contains(&name.as_str());
            if is_ci && found.ci.len() < CI_MAX {
                found.ci.push(names.path(number).to_string());
            }
            let is_document = is_root && DOCUMENTS.iter().any(|start| name.starts_with(start));
            if is_document && found.documents.len() < DOCUMENTS_MAX {
                found.documents.push(names.path(number).to_string());
            }
        }
        found.tests = tests.of(names);
        found.manifests_total = manifests.len();
        let depth = |number| {
            let directory = signs[names.directory_of(number)].directory;
            if directory.is_empty() { 0 } else { 1 + directory.matches('/').count() }
        };
        manifests.sort_by_key(|(number, _)| depth(*number));
        manifests.truncate(MANIFESTS_MAX);
        found.manifests = manifests;
        found
    }
}

/// Whether programs start in a file by custom, or the crate of a library does.
fn is_start(directory: &str, name: &str) -> bool {
    let ends_with = |end: &str| {
        directory.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    };
    STARTS.contains(&name)
        || name.strip_prefix("main.").is_some_and(|ending| MAINS.contains(&ending))
        || (name == "lib.rs" && ends_with("src"))
        || (name.ends_with(".rs") && ends_with("src/bin"))
}

// === impl Tests ===

impl Tests {
    /// Adds a directory that a manifest names, unless it is in one that is there already.
    pub(super) fn add(&mut self, names: &TreeNames, languages: &FileLanguages, stated: &RelPath) {
        let is_within = |path: &RelPath, directory: &str| {
            let rest = path.as_str().strip_prefix(directory);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let is_known = self.directories.iter().any(|known| is_within(stated, &known.path));
        if is_known || self.directories.len() == TEST_DIRECTORIES_MAX {
            return;
        }
        let beneath = names.directories().iter();
        let beneath = beneath.filter(|directory| is_within(&directory.path, stated.as_str()));
        let is_code = |file: &u32| {
            let language = languages[*file as usize];
            language.is_some_and(|language| language.purpose() == Purpose::Code)
        };
        let files = beneath.flat_map(|directory| directory.entries.clone()).filter(is_code).count();
        self.directories.push(TestDirectory { path: stated.to_string(), files: files as u64 });
        self.directories.sort_by_key(|directory| Reverse(directory.files));
    }
}

// === impl DirectorySigns ===

impl<'a> DirectorySigns<'a> {
    fn of(directory: &'a str) -> Self {
        let lower = format!("{}/", directory.to_lowercase());
        Self {
            directory,
            is_foreign: directory.split('/').any(|part| FOREIGN.contains(&part)),
            tests: test_directory(directory),
            is_ci: CI.iter().any(|ci| ci.ends_with('/') && lower.starts_with(ci)),
        }
    }
}

// === impl TestCounts ===

impl<'a> TestCounts<'a> {
    /// Counts a file of code, if it is a test.
    fn count(&mut self, directory: Option<&'a str>, name: &str) -> bool {
        let pattern = test_pattern(name);
        let is_test = directory.is_some() || pattern.is_some();
        self.files += u64::from(is_test);
        directory.into_iter().for_each(|path| *self.directories.entry(path).or_default() += 1);
        pattern.into_iter().for_each(|pattern| *self.names.entry(pattern).or_default() += 1);
        is_test
    }

    /// What was counted, with the paths of directories as those of a listing are.
    fn of(self, listed: &TreeNames) -> Tests {
        let mut directories: Vec<_> = self.directories.into_iter().collect();
        directories.sort_by_key(|&(_, files)| Reverse(files));
        directories.truncate(TEST_DIRECTORIES_MAX);
        let mut names: Vec<_> = self.names.into_iter().collect();
        names.sort_by_key(|&(_, files)| Reverse(files));
        names.truncate(TEST_NAMES_MAX);
        let base =
            listed.directories().first().map_or_else(RelPath::root, |base| base.path.clone());
        let directory = |(path, files): (&str, u64)| {
            let path = if base.is_root() { path.to_owned() } else { format!("{base}/{path}") };
            TestDirectory { path, files }
        };
        Tests {
            files: self.files,
            directories: directories.into_iter().map(directory).collect(),
            names: names.into_iter().map(|(pattern, files)| TestName { pattern, files }).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_start_where_custom_has_it() {
        for path in [
            "src/main.rs",
            "a/src/bin/tool.rs",
            "src/lib.rs",
            "cmd/x/main.go",
            "pkg/__main__.py",
            "manage.py",
            "Main.java",
        ] {
            let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
            assert!(is_start(directory, &name.to_lowercase()), "{path}");
        }
        for path in ["main.css", "main", "lib.rs", "xsrc/lib.rs", "src/bin/a.py", "domain.rs"] {
            let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
            assert!(!is_start(directory, name), "{path}");
        }
    }
}
