//! Which test frameworks a project uses: what its manifests and the names of its files say.

mod python;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::project::{ProjectDirectory, ProjectFiles};

/// A program that runs the tests of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TestFramework {
    /// `cargo test`, where nextest is not configured.
    Cargo,
    /// `cargo nextest run`, where the project configures it.
    Nextest,
    /// pytest, as a program or as a module of Python.
    Pytest,
    /// The `unittest` of Python.
    Unittest,
    /// `jest` of the project, which writes JSON.
    Jest,
    /// `vitest` of the project, which writes JSON.
    Vitest,
    /// `mocha` of the project, with a reporter of moss's that writes JSON.
    Mocha,
    /// `node --test`, the runner of Node.js itself.
    Node,
    /// `bun test`, the runner of Bun itself.
    Bun,
    /// `deno test`, the runner of Deno itself.
    Deno,
    /// `go test`, which writes JSON lines.
    Go,
    /// RSpec, through Bundler where the project uses it.
    Rspec,
    /// PHPUnit, which writes JUnit XML.
    Phpunit,
    /// CTest of CMake, which needs a built directory.
    Ctest,
    /// Bats: tests of shell scripts, in bash.
    Bats,
    /// The tests of Maven.
    Maven,
    /// The tests of Gradle.
    Gradle,
    /// `dotnet test`, which writes TRX.
    Dotnet,
    /// `swift test` of the Swift package manager.
    Swift,
}

/// A framework of a project directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundFramework {
    /// The framework that the project uses.
    pub framework: TestFramework,
    /// Which of [`ProjectFiles::directories`] is its own.
    pub directory: usize,
    /// What says so: `Cargo.toml`, `devDependencies in package.json`.
    pub reason: String,
}

/// Every framework, those first that are asked for by name.
const ALL: [TestFramework; 19] = [
    TestFramework::Nextest,
    TestFramework::Cargo,
    TestFramework::Pytest,
    TestFramework::Unittest,
    TestFramework::Jest,
    TestFramework::Vitest,
    TestFramework::Mocha,
    TestFramework::Node,
    TestFramework::Bun,
    TestFramework::Deno,
    TestFramework::Go,
    TestFramework::Rspec,
    TestFramework::Phpunit,
    TestFramework::Ctest,
    TestFramework::Bats,
    TestFramework::Maven,
    TestFramework::Gradle,
    TestFramework::Dotnet,
    TestFramework::Swift,
];

/// Finds the frameworks of a project, those of the nearest directory first.
pub fn test_frameworks(files: &ProjectFiles) -> Vec<FoundFramework> {
    let mut found: Vec<FoundFramework> = Vec::new();
    for (place, directory) in files.directories.iter().enumerate() {
        for framework in ALL {
            let Some(reason) = framework.reason(directory) else { continue };
            let Some(place) = framework.project_of(files, place) else { continue };
            let directory = &files.directories[place];
            let is_known = found.iter().any(|one| framework.is_covered_by(one, directory, files));
            if !is_known {
                found.push(FoundFramework { framework, directory: place, reason });
            }
        }
    }
    found
}

// === impl TestFramework ===

impl TestFramework {
    /// Its name, as results and parameters have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cargo => "cargo",
            Self::Nextest => "nextest",
            Self::Pytest => "pytest",
            Self::Unittest => "unittest",
            Self::Jest => "jest",
            Self::Vitest => "vitest",
            Self::Mocha => "mocha",
            Self::Node => "node",
            Self::Bun => "bun",
            Self::Deno => "deno",
            Self::Go => "go",
            Self::Rspec => "rspec",
            Self::Phpunit => "phpunit",
            Self::Ctest => "ctest",
            Self::Bats => "bats",
            Self::Maven => "maven",
            Self::Gradle => "gradle",
            Self::Dotnet => "dotnet",
            Self::Swift => "swift",
        }
    }

    /// Every framework, in the order in which they are looked for.
    pub fn all() -> impl Iterator<Item = Self> {
        ALL.into_iter()
    }

    /// Whether tests of a file of this name are its tests.
    pub fn runs_file(self, name: &str) -> bool {
        let extensions: &[&str] = match self {
            Self::Cargo | Self::Nextest => &["rs"],
            Self::Pytest | Self::Unittest => &["py"],
            Self::Jest | Self::Vitest | Self::Mocha | Self::Node | Self::Bun | Self::Deno => {
                &["js", "cjs", "mjs", "jsx", "ts", "cts", "mts", "tsx"]
            }
            Self::Go => &["go"],
            Self::Rspec => &["rb"],
            Self::Phpunit => &["php"],
            Self::Ctest => &["c", "cc", "cpp", "cxx"],
            Self::Bats => &["bats"],
            Self::Maven | Self::Gradle => &["java", "kt", "groovy", "scala"],
            Self::Dotnet => &["cs", "fs", "vb"],
            Self::Swift => &["swift"],
        };
        name.rsplit_once('.').is_some_and(|(_, extension)| extensions.contains(&extension))
    }

    /// What the project calls its own directory in the names of its packages: the module path of Go.
    pub fn prefix(self, directory: &ProjectDirectory) -> Option<String> {
        let text = directory.manifest("go.mod").filter(|_| self == Self::Go)?;
        let module = text.lines().find_map(|line| line.trim().strip_prefix("module "))?;
        Some(module.trim().trim_matches('"').to_owned())
    }

    /// Whether a file of this path has tests, as far as its name says: in Rust those of a module may stand in
    /// any file.
    pub fn is_test_file(self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        let stem = name.split('.').next().unwrap_or(name);
        let lies_in = |directory: &str| path.split('/').rev().skip(1).any(|part| part == directory);
        self.runs_file(name)
            && match self {
                Self::Cargo | Self::Nextest => lies_in("tests"),
                Self::Pytest | Self::Unittest => {
                    stem.starts_with("test_") || stem.ends_with("_test")
                }
                Self::Jest | Self::Vitest | Self::Node | Self::Bun | Self::Deno => {
                    name.contains(".test.")
                        || name.contains(".spec.")
                        || stem.ends_with("_test")
                        || stem.starts_with("test-")
                        || lies_in("__tests__")
                        || (self == Self::Node && lies_in("test"))
                }
                Self::Mocha => {
                    lies_in("test") || name.contains(".test.") || name.contains(".spec.")
                }
                Self::Go => stem.ends_with("_test"),
                Self::Rspec => stem.ends_with("_spec"),
                Self::Phpunit => stem.ends_with("Test"),
                Self::Ctest => false,
                Self::Bats => true,
                Self::Maven | Self::Gradle | Self::Dotnet | Self::Swift => {
                    ["Test", "Tests", "IT", "Spec"].iter().any(|end| stem.ends_with(end))
                }
            }
    }

    /// Whether it can be given a directory, to run what lies in it.
    pub fn takes_directories(self) -> bool {
        matches!(
            self,
            Self::Pytest
                | Self::Jest
                | Self::Vitest
                | Self::Mocha
                | Self::Go
                | Self::Deno
                | Self::Rspec
                | Self::Phpunit
                | Self::Bats
        )
    }

    /// Whether it finds by itself which tests a source file concerns.
    pub fn finds_related(self) -> bool {
        matches!(self, Self::Jest | Self::Vitest)
    }

    /// Whether a framework that was found already runs what this one would in a directory: the same one
    /// nearer by, or one that takes its place.
    fn is_covered_by(
        self,
        known: &FoundFramework,
        directory: &ProjectDirectory,
        files: &ProjectFiles,
    ) -> bool {
        let takes_place = matches!(
            (known.framework, self),
            (Self::Nextest, Self::Cargo) | (Self::Pytest, Self::Unittest)
        );
        let is_inside = files.directories[known.directory].beneath(&directory.path).is_some();
        (known.framework == self || takes_place) && is_inside
    }

    /// The directory from which tests of one are run.
    fn project_of(self, files: &ProjectFiles, place: usize) -> Option<usize> {
        match self {
            Self::Pytest => Some(python::pytest_project(files, place)),
            Self::Unittest => python::unittest_project(files, place),
            _ => Some(place),
        }
    }

    /// The directory in which relative paths of its output begin: Cargo writes those of the workspace of a
    /// package.
    pub fn base(self, files: &ProjectFiles, place: usize) -> &str {
        let place = match self {
            Self::Cargo | Self::Nextest => files.cargo_workspace(place),
            _ => place,
        };
        &files.directories[place].path
    }

    /// What of a directory says that it is used there.
    fn reason(self, directory: &ProjectDirectory) -> Option<String> {
        let file = |names: &[&str]| {
            let found = names.iter().find(|name| directory.files.contains(**name));
            found.map(|name| (*name).to_owned())
        };
        match self {
            Self::Cargo => file(&["Cargo.toml"]),
            Self::Nextest => {
                file(&["Cargo.toml"])?;
                let known = directory.probed.contains(".config/nextest.toml");
                known.then(|| ".config/nextest.toml".to_owned())
            }
            Self::Pytest => python::pytest(directory),
            Self::Unittest => python::unittest(directory),
            Self::Jest => file(&[
                "jest.config.js",
                "jest.config.ts",
                "jest.config.mjs",
                "jest.config.cjs",
                "jest.config.json",
            ])
            .or_else(|| depends(directory, "jest"))
            .or_else(|| section(directory, "jest")),
            Self::Vitest => file(&[
                "vitest.config.ts",
                "vitest.config.js",
                "vitest.config.mts",
                "vitest.config.mjs",
            ])
            .or_else(|| depends(directory, "vitest")),
            Self::Mocha => file(&[
                ".mocharc.json",
                ".mocharc.js",
                ".mocharc.cjs",
                ".mocharc.yml",
                ".mocharc.yaml",
            ])
            .or_else(|| depends(directory, "mocha")),
            Self::Node => script(directory, "--test", "node"),
            Self::Bun => bun(directory),
            Self::Deno => file(&["deno.json", "deno.jsonc"]),
            Self::Go => file(&["go.mod"]),
            Self::Rspec => file(&[".rspec"]).or_else(|| {
                let gems = directory.manifest("Gemfile")?;
                gems.contains("rspec").then(|| "rspec in Gemfile".to_owned())
            }),
            Self::Phpunit => file(&["phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml"])
                .or_else(|| {
                    let manifest = directory.manifest("composer.json")?;
                    let found = manifest.contains("\"phpunit/phpunit\"");
                    found.then(|| "phpunit in composer.json".to_owned())
                }),
            Self::Ctest => file(&["CTestTestfile.cmake"]).or_else(|| {
                let lists = directory.manifest("CMakeLists.txt")?;
                let tests = lists.contains("enable_testing") || lists.contains("include(CTest)");
                tests.then(|| "tests in CMakeLists.txt".to_owned())
            }),
            Self::Bats => suffixed(directory, &[".bats"]),
            Self::Maven => file(&["pom.xml"]),
            Self::Gradle => file(&["build.gradle", "build.gradle.kts"])
                .or_else(|| file(&["settings.gradle", "settings.gradle.kts"])),
            Self::Dotnet => suffixed(directory, &[".sln", ".slnx", ".csproj", ".fsproj"]),
            Self::Swift => file(&["Package.swift"]),
        }
    }
}

fn package(directory: &ProjectDirectory) -> Option<Value> {
    serde_json::from_str(directory.manifest("package.json")?).ok()
}

fn depends(directory: &ProjectDirectory, name: &str) -> Option<String> {
    let package = package(directory)?;
    let lists = ["devDependencies", "dependencies"];
    let list = lists.iter().find(|list| package[**list].get(name).is_some())?;
    Some(format!("{name} in {list} of package.json"))
}

fn section(directory: &ProjectDirectory, name: &str) -> Option<String> {
    package(directory)?.get(name).map(|_| format!("{name} in package.json"))
}

/// Whether the script `test` of a package runs a program with a word.
fn script(directory: &ProjectDirectory, word: &str, program: &str) -> Option<String> {
    let package = package(directory)?;
    let script = package["scripts"]["test"].as_str()?;
    let words: Vec<&str> = script.split_whitespace().collect();
    let runs = words.contains(&program)
        && words.iter().any(|found| *found == word || found.starts_with(&format!("{word}-")));
    runs.then(|| "scripts.test of package.json".to_owned())
}

/// What says that the runner of Bun runs the tests: the script, or its files beside its types.
fn bun(directory: &ProjectDirectory) -> Option<String> {
    let script = script(directory, "test", "bun");
    let has_types =
        ["@types/bun", "bun-types"].iter().any(|name| depends(directory, name).is_some());
    let mut own = ["bunfig.toml", "bun.lock", "bun.lockb"].iter();
    let own = own.find(|name| directory.files.contains(**name));
    let own = own.filter(|_| script.is_some() || has_types).map(|name| (*name).to_owned());
    own.or(script)
}

fn suffixed(directory: &ProjectDirectory, suffixes: &[&str]) -> Option<String> {
    let is_one = |name: &&String| suffixes.iter().any(|suffix| name.ends_with(suffix));
    directory.files.iter().find(is_one).cloned()
}

#[cfg(test)]
mod tests;
