//! The linters that moss knows, and what says that a project uses one.

use crate::lint_output::LintFormat;
use crate::project::{ProjectDirectory, ProjectFiles, is_in};

/// A linter, a type checker or a compiler that checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Linter {
    Clippy,
    CargoCheck,
    Ruff,
    Mypy,
    Pyright,
    Eslint,
    Tsc,
    Biome,
    Oxlint,
    Golangci,
    GoVet,
    Shellcheck,
    Yamllint,
    Rubocop,
    Phpstan,
    Cppcheck,
    ClangTidy,
    Markdownlint,
    MarkdownlintCli2,
    Hadolint,
}

/// What is known of a linter.
#[derive(Debug)]
pub(crate) struct LinterRow {
    pub(crate) linter: Linter,
    /// Its name in results.
    pub(crate) name: &'static str,
    /// Its program, as an error about a missing one names it.
    pub(crate) program: &'static str,
    pub(crate) format: LintFormat,
    /// Extensions of the files that it reads.
    extensions: &'static [&'static str],
    /// Files in a directory that say it is used there.
    configurations: &'static [&'static str],
    /// Texts in manifests that say so.
    mentions: &'static [(&'static str, &'static str)],
    /// Exit statuses beside 0 that only say that there are findings.
    pub(crate) finding_codes: &'static [i32],
    /// What brings it. moss does not run it.
    pub(crate) install: &'static str,
}

const NPM: &str =
    "`npm install` in the directory of the project, or that of another package manager";
const JAVASCRIPT: &[&str] =
    &["js", "cjs", "mjs", "jsx", "ts", "cts", "mts", "tsx", "vue", "svelte"];
const C: &[&str] = &["c", "cc", "cpp", "cxx", "h", "hh", "hpp", "hxx"];
const PRE_COMMIT: &str = ".pre-commit-config.yaml";

/// Every linter, in the order in which they run.
#[rustfmt::skip]
pub(crate) const LINTERS: &[LinterRow] = &[
    LinterRow {
        linter: Linter::Clippy, name: "clippy", program: "cargo-clippy", format: LintFormat::Cargo,
        extensions: &["rs", "toml"],
        configurations: &["clippy.toml", ".clippy.toml"],
        mentions: &[("Cargo.toml", "lints.clippy")],
        finding_codes: &[101],
        install: "`rustup component add clippy`",
    },
    LinterRow {
        linter: Linter::CargoCheck, name: "cargo check", program: "cargo", format: LintFormat::Cargo,
        extensions: &["rs", "toml"],
        configurations: &["Cargo.toml"],
        mentions: &[],
        finding_codes: &[101],
        install: "https://rustup.rs installs it",
    },
    LinterRow {
        linter: Linter::Ruff, name: "ruff", program: "ruff", format: LintFormat::Ruff,
        extensions: &["py", "pyi", "ipynb"],
        configurations: &["ruff.toml", ".ruff.toml"],
        mentions: &[
            ("pyproject.toml", "[tool.ruff"), ("pyproject.toml", "\"ruff"), (PRE_COMMIT, "id: ruff"),
            ("requirements-dev.txt", "ruff"), ("dev-requirements.txt", "ruff"),
        ],
        finding_codes: &[1],
        install: "`python3 -m pip install ruff` in the environment of the project",
    },
    LinterRow {
        linter: Linter::Mypy, name: "mypy", program: "mypy", format: LintFormat::Mypy,
        extensions: &["py", "pyi"],
        configurations: &["mypy.ini", ".mypy.ini"],
        mentions: &[("pyproject.toml", "[tool.mypy"), ("setup.cfg", "[mypy"), (PRE_COMMIT, "id: mypy")],
        finding_codes: &[1],
        install: "`python3 -m pip install mypy` in the environment of the project",
    },
    LinterRow {
        linter: Linter::Pyright, name: "pyright", program: "pyright", format: LintFormat::Pyright,
        extensions: &["py", "pyi"],
        configurations: &["pyrightconfig.json"],
        mentions: &[("pyproject.toml", "[tool.pyright"), ("package.json", "\"pyright\"")],
        finding_codes: &[1],
        install: "`npm install --save-dev pyright` in the directory of the project",
    },
    LinterRow {
        linter: Linter::Eslint, name: "eslint", program: "eslint", format: LintFormat::Eslint,
        extensions: JAVASCRIPT,
        configurations: &[
            "eslint.config.js", "eslint.config.mjs", "eslint.config.cjs", "eslint.config.ts",
            "eslint.config.mts", "eslint.config.cts", ".eslintrc", ".eslintrc.js", ".eslintrc.cjs",
            ".eslintrc.json", ".eslintrc.yaml", ".eslintrc.yml",
        ],
        mentions: &[("package.json", "\"eslintConfig\"")],
        finding_codes: &[1],
        install: NPM,
    },
    LinterRow {
        linter: Linter::Tsc, name: "tsc", program: "tsc", format: LintFormat::Tsc,
        extensions: &["ts", "cts", "mts", "tsx"],
        configurations: &["tsconfig.json"],
        mentions: &[],
        finding_codes: &[1, 2],
        install: NPM,
    },
    LinterRow {
        linter: Linter::Biome, name: "biome", program: "biome", format: LintFormat::Biome,
        extensions: &["js", "cjs", "mjs", "jsx", "ts", "cts", "mts", "tsx", "json", "jsonc", "css", "graphql"],
        configurations: &["biome.json", "biome.jsonc", ".biome.json", ".biome.jsonc"],
        mentions: &[],
        finding_codes: &[1],
        install: NPM,
    },
    LinterRow {
        linter: Linter::Oxlint, name: "oxlint", program: "oxlint", format: LintFormat::Oxlint,
        extensions: JAVASCRIPT,
        configurations: &[".oxlintrc.json", "oxlint.config.ts"],
        mentions: &[("package.json", "\"oxlint\"")],
        finding_codes: &[1],
        install: NPM,
    },
    LinterRow {
        linter: Linter::Golangci, name: "golangci-lint", program: "golangci-lint",
        format: LintFormat::Golangci,
        extensions: &["go"],
        configurations: &[".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json"],
        mentions: &[],
        finding_codes: &[1],
        install: "`go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@latest`",
    },
    LinterRow {
        linter: Linter::GoVet, name: "go vet", program: "go", format: LintFormat::GoVet,
        extensions: &["go"],
        configurations: &["go.mod"],
        mentions: &[],
        finding_codes: &[1, 2],
        install: "the distribution of Go has it",
    },
    LinterRow {
        linter: Linter::Shellcheck, name: "shellcheck", program: "shellcheck",
        format: LintFormat::Shellcheck,
        extensions: &["sh", "bash", "ksh", "bats"],
        configurations: &[".shellcheckrc", "shellcheckrc"],
        mentions: &[(PRE_COMMIT, "id: shellcheck")],
        finding_codes: &[1],
        install: "`apt install shellcheck` or `brew install shellcheck`",
    },
    LinterRow {
        linter: Linter::Yamllint, name: "yamllint", program: "yamllint", format: LintFormat::Yamllint,
        extensions: &["yaml", "yml"],
        configurations: &[".yamllint", ".yamllint.yaml", ".yamllint.yml"],
        mentions: &[(PRE_COMMIT, "id: yamllint")],
        finding_codes: &[1, 2],
        install: "`python3 -m pip install yamllint` in the environment of the project",
    },
    LinterRow {
        linter: Linter::Rubocop, name: "rubocop", program: "rubocop", format: LintFormat::Rubocop,
        extensions: &["rb", "rake", "gemspec"],
        configurations: &[".rubocop.yml"],
        mentions: &[],
        finding_codes: &[1],
        install: "`bundle install`, or `gem install rubocop`",
    },
    LinterRow {
        linter: Linter::Phpstan, name: "phpstan", program: "phpstan", format: LintFormat::Phpstan,
        extensions: &["php"],
        configurations: &["phpstan.neon", "phpstan.neon.dist", "phpstan.dist.neon"],
        mentions: &[],
        finding_codes: &[1],
        install: "`composer install` in the directory of the project",
    },
    LinterRow {
        linter: Linter::Cppcheck, name: "cppcheck", program: "cppcheck", format: LintFormat::Cppcheck,
        extensions: C,
        configurations: &[],
        mentions: &[("CMakeLists.txt", "CPPCHECK"), (PRE_COMMIT, "id: cppcheck")],
        finding_codes: &[],
        install: "`apt install cppcheck` or `brew install cppcheck`",
    },
    LinterRow {
        linter: Linter::ClangTidy, name: "clang-tidy", program: "clang-tidy",
        format: LintFormat::ClangTidy,
        extensions: C,
        configurations: &[".clang-tidy"],
        mentions: &[],
        finding_codes: &[1],
        install: "`apt install clang-tidy`, or `brew install llvm`",
    },
    LinterRow {
        linter: Linter::Markdownlint, name: "markdownlint", program: "markdownlint",
        format: LintFormat::Markdownlint,
        extensions: &["md", "markdown"],
        configurations: &[
            ".markdownlint.json", ".markdownlint.jsonc", ".markdownlint.yaml", ".markdownlint.yml",
            ".markdownlintrc",
        ],
        mentions: &[(PRE_COMMIT, "id: markdownlint\n")],
        finding_codes: &[1],
        install: "`npm install --save-dev markdownlint-cli` in the directory of the project",
    },
    LinterRow {
        linter: Linter::MarkdownlintCli2, name: "markdownlint-cli2", program: "markdownlint-cli2",
        format: LintFormat::MarkdownlintCli2,
        extensions: &["md", "markdown"],
        configurations: &[
            ".markdownlint-cli2.jsonc", ".markdownlint-cli2.yaml", ".markdownlint-cli2.cjs",
            ".markdownlint-cli2.mjs",
        ],
        mentions: &[("package.json", "\"markdownlint-cli2\""), (PRE_COMMIT, "id: markdownlint-cli2")],
        finding_codes: &[1],
        install: NPM,
    },
    LinterRow {
        linter: Linter::Hadolint, name: "hadolint", program: "hadolint", format: LintFormat::Hadolint,
        extensions: &["dockerfile"],
        configurations: &[".hadolint.yaml", ".hadolint.yml"],
        mentions: &[(PRE_COMMIT, "id: hadolint")],
        finding_codes: &[1],
        install: "`brew install hadolint`, or its image or release",
    },
];

// === impl LinterRow ===

impl LinterRow {
    /// Whether it reads a file of this name.
    pub(crate) fn reads(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        let is_image = ["Dockerfile", "Containerfile"].iter().any(|stem| {
            name == *stem || name.strip_prefix(stem).is_some_and(|rest| rest.starts_with('.'))
        });
        if self.linter == Linter::Hadolint && is_image {
            return true;
        }
        // Of cargo's own files the manifest alone says what is compiled.
        match name.rsplit_once('.') {
            Some((_, "toml")) => name == "Cargo.toml" && self.extensions.contains(&"toml"),
            Some((_, extension)) => {
                let extension = extension.to_ascii_lowercase();
                self.extensions.contains(&extension.as_str())
            }
            None => false,
        }
    }

    /// What of the directory at a place says that the project uses it there.
    pub(crate) fn reason(&self, files: &ProjectFiles, place: usize) -> Option<String> {
        let directory = &files.directories[place];
        match self.linter {
            Linter::Clippy if directory.files.contains("Cargo.toml") => {
                // What is configured above applies to the packages below.
                files.at_or_above(place).find_map(|(_, directory)| self.says(directory))
            }
            Linter::Clippy => None,
            _ => self.says(directory),
        }
    }

    fn says(&self, directory: &ProjectDirectory) -> Option<String> {
        let file = self.configurations.iter().find(|name| directory.files.contains(**name));
        if let Some(name) = file {
            return Some((*name).to_owned());
        }
        let mentions = |(name, text): &&(&str, &str)| {
            directory.manifest(name).is_some_and(|manifest| manifest.contains(text))
        };
        let (name, text) = self.mentions.iter().find(mentions)?;
        Some(format!("`{}` in {name}", text.trim()))
    }

    /// Whether a file of this name may say that a project uses it.
    pub(crate) fn is_configured_by(&self, name: &str) -> bool {
        let mut mentions = self.mentions.iter();
        self.configurations.contains(&name) || mentions.any(|(manifest, _)| *manifest == name)
    }

    /// Whether a run in one directory checks what lies in another, too.
    pub(crate) fn covers(&self, files: &ProjectFiles, outer: usize, inner: usize) -> bool {
        let path = |place: usize| files.directories[place].path.as_str();
        let is_inside = is_in(path(inner), path(outer));
        is_inside
            && match self.linter {
                Linter::Clippy | Linter::CargoCheck => files.cargo_workspace(inner) == outer,
                // They check a project: one that lies in its directory is another.
                Linter::Mypy
                | Linter::Pyright
                | Linter::Tsc
                | Linter::Golangci
                | Linter::GoVet
                | Linter::Phpstan => false,
                _ => true,
            }
    }

    /// Whether another linter that runs does its work, too.
    pub(crate) fn is_covered_by(&self, other: Linter) -> bool {
        matches!(
            (self.linter, other),
            (Linter::CargoCheck, Linter::Clippy)
                | (Linter::GoVet, Linter::Golangci)
                | (Linter::Markdownlint, Linter::MarkdownlintCli2)
        )
    }
}
