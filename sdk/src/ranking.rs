//! The one order of what a search finds: source before tests before documents before what is
//! vendored or generated, then by path, bytewise by component.
//!
//! Decides by the path alone, so that an index and a scan agree and the same call gives the same
//! result. Case of ASCII letters does not count, but where it marks a word (`ParserTest.java`).

use std::cmp::Ordering;

use crate::path::RelPath;

/// Directories of tests and of what tests use.
const TEST_DIRECTORIES: [&str; 17] = [
    "test",
    "tests",
    "__test__",
    "__tests__",
    "spec",
    "specs",
    "e2e",
    "testdata",
    "test-data",
    "test_data",
    "testsuite",
    "fixtures",
    "__fixtures__",
    "__mocks__",
    "__snapshots__",
    "androidtest",
    "integration_tests",
];
/// Whole names of test files, without what follows the first dot.
const TEST_STEMS: [&str; 3] = ["test", "tests", "conftest"];
/// How the names of test files end before the last dot.
const TEST_ENDINGS: [&str; 10] =
    ["_test", "_tests", "_spec", "-test", "-tests", "-spec", ".test", ".tests", ".spec", ".cy"];
/// Words at the end of such a name that an upper-case letter sets apart.
const TEST_WORDS: [&str; 4] = ["Test", "Tests", "Spec", "TestCase"];
/// Directories beneath which files are documents, in any case of their letters.
const DOCUMENT_DIRECTORIES: [&str; 4] = ["doc", "docs", "documentation", "manual"];
/// What the names of documents end with.
const DOCUMENT_EXTENSIONS: [&str; 10] =
    ["md", "markdown", "mdx", "rst", "txt", "adoc", "asciidoc", "org", "tex", "pod"];
/// Names of documents, whatever follows the first dot.
const DOCUMENT_STEMS: [&str; 10] = [
    "readme",
    "license",
    "licence",
    "copying",
    "notice",
    "authors",
    "contributors",
    "contributing",
    "changelog",
    "changes",
];
/// Names that end as documents do and are read by programs.
const BUILD_FILES: [&str; 3] = ["cmakelists.txt", "robots.txt", "go.txt"];
/// Directories of other people's code and of what programs write.
const VENDORED_DIRECTORIES: [&str; 23] = [
    "vendor",
    "_vendor",
    "vendored",
    "third_party",
    "third-party",
    "thirdparty",
    "node_modules",
    "bower_components",
    "target",
    "dist",
    "out",
    ".venv",
    "venv",
    "site-packages",
    "__pycache__",
    "pods",
    "carthage",
    ".yarn",
    ".next",
    ".nuxt",
    "coverage",
    "generated",
    "__generated__",
];
/// Names of files that programs write.
const GENERATED_NAMES: [&str; 8] = [
    "package-lock.json",
    "npm-shrinkwrap.json",
    "pnpm-lock.yaml",
    "go.sum",
    "go.work.sum",
    "bun.lockb",
    "gradle.lockfile",
    "packages.lock.json",
];
/// What such names end with.
const GENERATED_ENDINGS: [&str; 19] = [
    ".lock",
    ".min.js",
    ".min.mjs",
    ".min.css",
    ".bundle.js",
    ".map",
    ".pb.go",
    ".pb.cc",
    ".pb.h",
    "_pb2.py",
    "_pb2.pyi",
    "_pb2_grpc.py",
    "_pb.js",
    "_pb.d.ts",
    ".g.dart",
    ".freezed.dart",
    ".g.cs",
    ".designer.cs",
    ".snap",
];
/// What such names hold before or after a dot or an underscore.
const GENERATED_WORDS: [&str; 4] = [".generated.", "_generated.", ".gen.", "zz_generated"];

/// What a file is for, by its path. The order is that of search results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PathRank {
    /// Code, configuration and all that is nothing of the following.
    Source,
    /// Tests and what they use.
    Test,
    /// Text for people, such as a README.
    Document,
    /// Other people's code, lock files, generated code.
    Vendored,
}

/// How many ranks there are.
pub const RANKS: usize = 4;

/// Compares two paths by the order of search results.
pub fn compare(a: &RelPath, b: &RelPath) -> Ordering {
    PathRank::of(a).cmp(&PathRank::of(b)).then_with(|| a.cmp_components(b))
}

// === impl PathRank ===

impl PathRank {
    /// Returns what a file is for: the last of the ranks that its directories and its name have.
    pub fn of(path: &RelPath) -> Self {
        let mut components = path.components();
        let Some(name) = components.next_back() else { return Self::Source };
        components.map(Self::of_directory).fold(Self::of_name(name), Self::max)
    }

    /// Returns what the name of a directory says of the files beneath it.
    pub fn of_directory(name: &str) -> Self {
        let is_one_of = |names: &[&str]| names.iter().any(|known| known.eq_ignore_ascii_case(name));
        if is_one_of(&VENDORED_DIRECTORIES) {
            Self::Vendored
        } else if is_one_of(&DOCUMENT_DIRECTORIES) {
            Self::Document
        } else if is_one_of(&TEST_DIRECTORIES) {
            Self::Test
        } else {
            Self::Source
        }
    }

    /// Returns what the name of a file says of it.
    pub fn of_name(name: &str) -> Self {
        let lower = name.to_ascii_lowercase();
        let (stem, extension) = lower.rsplit_once('.').unwrap_or((&lower, ""));
        if is_generated(&lower) {
            Self::Vendored
        } else if is_document(&lower, extension) {
            Self::Document
        } else if is_test(name, &lower, stem) {
            Self::Test
        } else {
            Self::Source
        }
    }
}

fn is_generated(lower: &str) -> bool {
    GENERATED_NAMES.contains(&lower)
        || GENERATED_ENDINGS.iter().any(|ending| lower.ends_with(ending))
        || GENERATED_WORDS.iter().any(|word| lower.contains(word))
}

fn is_document(lower: &str, extension: &str) -> bool {
    if BUILD_FILES.contains(&lower) || (lower.starts_with("requirements") && extension == "txt") {
        return false;
    }
    let stem = lower.split('.').next().unwrap_or(lower);
    let stem = stem.split(['-', '_']).next().unwrap_or(stem);
    let is_named = DOCUMENT_STEMS.contains(&stem) && matches!(extension, "" | "html");
    is_named || DOCUMENT_EXTENSIONS.contains(&extension)
}

fn is_test(name: &str, lower: &str, stem: &str) -> bool {
    let first = lower.split('.').next().unwrap_or(lower);
    if TEST_STEMS.contains(&first) || lower.starts_with("test_") {
        return true;
    }
    let cased = &name[..stem.len()];
    let is_worded = |word: &&str| cased.len() > word.len() && cased.ends_with(*word);
    TEST_ENDINGS.iter().any(|ending| stem.ends_with(ending)) || TEST_WORDS.iter().any(is_worded)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Paths of each rank.
    const RANKED: [(PathRank, &[&str]); RANKS] = [
        (
            PathRank::Source,
            &[
                "src/main.rs",
                "Makefile",
                "Cargo.toml",
                "package.json",
                "CMakeLists.txt",
                "requirements-dev.txt",
                "lib/contest.py",
                "src/latest.ts",
                "attest.go",
                "src/testing/host.rs",
                "src/Request.java",
                "changes.rs",
                "license.go",
                "build/rules.bzl",
                ".github/workflows/ci.yml",
                "src/spectrum.c",
                "src/outer/target.rs",
                "map.ts",
            ],
        ),
        (
            PathRank::Test,
            &[
                "tests/it/main.rs",
                "src/tests.rs",
                "src/test.c",
                "pkg/parse_test.go",
                "test_parse.py",
                "conftest.py",
                "ui/button.test.tsx",
                "ui/button.spec.ts",
                "ui/__tests__/button.js",
                "spec/models/user.rb",
                "app/user_spec.rb",
                "src/test/java/Base.java",
                "src/ParserTest.java",
                "src/ParserTests.cs",
                "core/ParserSpec.scala",
                "testdata/in.json",
                "Tests/Fixtures/a.swift",
            ],
        ),
        (
            PathRank::Document,
            &[
                "README.md",
                "README",
                "LICENSE-MIT",
                "CHANGELOG",
                "docs/conf.py",
                "doc/tests/example.rs",
                "tests/README.md",
                "notes.txt",
                "guide.rst",
            ],
        ),
        (
            PathRank::Vendored,
            &[
                "vendor/github.com/a/b.go",
                "third_party/zlib/zlib.h",
                "web/node_modules/left-pad/README.md",
                "target/debug/build/x.rs",
                "dist/app.js",
                "Cargo.lock",
                "package-lock.json",
                "go.sum",
                "static/jquery.min.js",
                "static/app.js.map",
                "api/service.pb.go",
                "api/service_pb2.py",
                "api/types.generated.ts",
                "k8s/zz_generated.deepcopy.go",
                "tests/vendor/a.rs",
            ],
        ),
    ];

    #[test]
    fn paths_have_the_ranks_that_people_give_them() {
        for (rank, paths) in RANKED {
            for path in paths {
                assert_eq!(PathRank::of(&RelPath::parse(path).unwrap()), rank, "{path}");
            }
        }
        assert_eq!(PathRank::of(&RelPath::root()), PathRank::Source);
    }

    #[test]
    fn paths_of_one_rank_are_ordered_by_component() {
        let expected = [
            "a/b/x.rs",
            "a/b.rs",
            "b.rs",
            "tests/a.rs",
            "z_test.go",
            "a.md",
            "docs/a.rs",
            "a.lock",
        ];
        let mut paths = expected.map(|path| RelPath::parse(path).unwrap());
        paths.reverse();
        paths.sort_by(compare);
        assert_eq!(paths.each_ref().map(RelPath::as_str), expected);
    }
}
