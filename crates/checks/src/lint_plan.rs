//! Which linters run for a path, where, and by which command. Nothing is installed or downloaded, fixed or
//! formatted, and no configuration of the project is changed.

use crate::bash_word::{joined, quoted};
use crate::lint_output::LintFormat;
use crate::linter::{LINTERS, Linter, LinterRow};
use crate::project::{ProjectFiles, is_in};
use crate::run::CheckCommand;

/// Most files that a command names.
const FILES_MAX: usize = 50;
/// Most runs of one call.
const RUNS_MAX: usize = 20;

/// What is checked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LintTarget {
    /// The file or the directory, relative to the workspace root; empty for the root itself.
    pub path: String,
    /// Whether it is a file.
    pub is_file: bool,
    /// The file, or the files in the directory, relative to the workspace root.
    pub files: Vec<String>,
}

/// A linter that the user configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnLinter {
    /// Its name.
    pub name: String,
    /// A text for bash; `{path}` stands for what is checked.
    pub command: String,
    /// How it writes what it finds.
    pub format: LintFormat,
    /// Names of the files that it reads: `*.kt`, `Dockerfile`. Empty: of all.
    pub files: Vec<String>,
    /// Files in a directory that say it is used there. Empty: it is used in the workspace root.
    pub when: Vec<String>,
}

/// A run that is planned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedLint {
    /// The linter.
    pub name: String,
    /// What says that the project uses it.
    pub reason: String,
    /// What is run.
    pub command: CheckCommand,
    /// What was asked for and is not done, one sentence each.
    pub notes: Vec<String>,
    /// The directory that relative paths in its output begin in.
    pub(crate) base: String,
    pub(crate) format: LintFormat,
    pub(crate) finding_codes: &'static [i32],
    pub(crate) program: String,
    pub(crate) install: String,
}

/// The words of one command, as they come to be.
struct LintWords<'a> {
    files: &'a ProjectFiles,
    place: usize,
    row: &'a LinterRow,
    target: &'a LintTarget,
    notes: Vec<String>,
}

/// Plans the runs for a target: of linters that the directories around it configure, the nearest first, and
/// for a directory also of those that the directories in it configure.
pub fn planned_lints(
    around: &ProjectFiles,
    beneath: &ProjectFiles,
    target: &LintTarget,
    own: &[OwnLinter],
) -> Vec<PlannedLint> {
    let mut planned: Vec<(Linter, PlannedLint)> = Vec::new();
    for row in LINTERS {
        if let Some(nearest) = found(row, around, target).first() {
            planned.push((row.linter, row.plan(around, nearest, target)));
            continue;
        }
        for one in found(row, beneath, target) {
            planned.push((row.linter, row.plan(beneath, &one, target)));
        }
    }
    let at = |linter: &PlannedLint| linter.command.directory.clone();
    let all: Vec<(Linter, String)> =
        planned.iter().map(|(linter, plan)| (*linter, at(plan))).collect();
    planned.retain(|(linter, plan)| {
        let row = LINTERS.iter().find(|row| row.linter == *linter);
        !all.iter().any(|(other, directory)| {
            *directory == at(plan) && row.is_some_and(|row| row.is_covered_by(*other))
        })
    });
    let known = planned.into_iter().map(|(_, plan)| plan);
    let own = own.iter().flat_map(|own| own.plans(around, beneath, target));
    known.chain(own).take(RUNS_MAX).collect()
}

/// Places of the directories that configure a linter which reads something of the target there, and why.
fn found(row: &LinterRow, files: &ProjectFiles, target: &LintTarget) -> Vec<(usize, String)> {
    let places = 0..files.directories.len();
    let found = places.filter_map(|place| {
        let path = &files.directories[place].path;
        let has_file = target.files.iter().any(|file| is_in(file, path) && row.reads(file));
        let reason = has_file.then(|| row.reason(files, place)).flatten()?;
        Some((place, reason))
    });
    found.collect()
}

/// A path relative to a directory that it lies in; `.` for the directory itself, and where it lies around it.
fn relative(path: &str, directory: &str) -> String {
    if !is_in(path, directory) || path == directory {
        return ".".to_owned();
    }
    let inside = path[directory.len()..].trim_start_matches('/');
    match inside.starts_with('-') {
        true => format!("./{inside}"),
        false => inside.to_owned(),
    }
}

// === impl LinterRow ===

impl LinterRow {
    fn plan(
        &self,
        files: &ProjectFiles,
        (place, reason): &(usize, String),
        target: &LintTarget,
    ) -> PlannedLint {
        let directory = files.directories[*place].path.clone();
        let mut words = LintWords { files, place: *place, row: self, target, notes: Vec::new() };
        let command = joined(words.command());
        PlannedLint {
            name: self.name.to_owned(),
            reason: reason.clone(),
            base: words.base(),
            command: CheckCommand { command, directory },
            notes: words.notes,
            format: self.format,
            finding_codes: self.finding_codes,
            program: self.program.to_owned(),
            install: self.install.to_owned(),
        }
    }
}

// === impl PlannedLint ===

impl PlannedLint {
    /// The directory of all that it reads, relative to the workspace root, less what the directories above
    /// configure; empty for the root itself.
    pub fn base(&self) -> &str {
        &self.base
    }
}

// === impl LintWords ===

impl LintWords<'_> {
    fn command(&mut self) -> Vec<String> {
        let program = self.program();
        let fixed = |words: &str| vec![program.clone(), words.to_owned()];
        match self.row.linter {
            Linter::Clippy => vec![
                "cargo clippy --offline --quiet --all-targets --message-format=json".to_owned(),
            ],
            Linter::CargoCheck => {
                vec!["cargo check --offline --quiet --all-targets --message-format=json".to_owned()]
            }
            Linter::Ruff => fixed("check --no-fix --no-cache --output-format=json-lines ."),
            Linter::Mypy => {
                let target = if self.mypy_has_files() { "" } else { " ." };
                fixed(&format!("--output=json --no-error-summary{target}"))
            }
            Linter::Pyright => fixed("--outputjson"),
            Linter::Eslint => self.with_path(&program, "-f json --"),
            Linter::Tsc => fixed("--noEmit --pretty false -p ."),
            Linter::Biome => fixed("lint --reporter=rdjson --max-diagnostics=none ."),
            Linter::Oxlint => fixed("--format=json ."),
            Linter::Golangci if self.is_second_golangci() => {
                fixed("run --output.json.path=stdout --show-stats=false ./...")
            }
            Linter::Golangci => fixed("run --out-format=json ./..."),
            Linter::GoVet => vec!["go vet ./...".to_owned()],
            Linter::Shellcheck => self.with_files(&program, "-f json1 --"),
            Linter::Yamllint => self.with_path(&program, "-f parsable --"),
            Linter::Rubocop => self.with_path(&program, "--format json --force-exclusion --"),
            Linter::Phpstan => fixed("analyse --error-format=json --no-progress"),
            Linter::Cppcheck => self.with_path(
                &program,
                "--quiet --enable=warning,performance,portability \
                 --template='{file}:{line}:{column}: {severity}: {message} [{id}]'",
            ),
            Linter::ClangTidy => {
                let probed = &self.files.directories[self.place].probed;
                let database = match probed.contains("build/compile_commands.json") {
                    true => "--quiet -p build",
                    false => "--quiet",
                };
                self.with_files(&program, database)
            }
            Linter::Markdownlint => self.with_files(&program, "--json --"),
            Linter::MarkdownlintCli2 => self.with_files(&program, "--no-globs"),
            Linter::Hadolint => self.with_files(&program, "-f json --"),
        }
    }

    /// The program of the project, or that of the machine.
    fn program(&self) -> String {
        if let Some(own) = self.files.program(self.place, self.row.program) {
            return quoted(&own);
        }
        let gems = self.files.directories[self.place].manifest("Gemfile").unwrap_or_default();
        match self.row.linter {
            Linter::Rubocop if gems.contains("rubocop") => "bundle exec rubocop".to_owned(),
            _ => self.row.program.to_owned(),
        }
    }

    fn directory(&self) -> &str {
        &self.files.directories[self.place].path
    }

    /// A command that names the target.
    fn with_path(&self, program: &str, words: &str) -> Vec<String> {
        let target = quoted(&relative(&self.target.path, self.directory()));
        vec![program.to_owned(), words.to_owned(), target]
    }

    /// A command that names the files of the target that the linter reads.
    fn with_files(&mut self, program: &str, words: &str) -> Vec<String> {
        let reads = |file: &&String| is_in(file, self.directory()) && self.row.reads(file);
        let all: Vec<&String> = self.target.files.iter().filter(reads).collect();
        let mut command = vec![program.to_owned(), words.to_owned()];
        // A name is a glob for this one, unless a colon says otherwise.
        let mark = if self.row.linter == Linter::MarkdownlintCli2 { ":" } else { "" };
        let named = all.iter().take(FILES_MAX);
        command.extend(
            named.map(|file| quoted(&format!("{mark}{}", relative(file, self.directory())))),
        );
        if all.len() > FILES_MAX {
            let note = format!(
                "{} checks {FILES_MAX} of {} files: name a smaller directory for the others",
                self.row.name,
                all.len()
            );
            self.notes.push(note);
        }
        command
    }

    /// Where relative paths in the output begin: cargo writes those of the workspace of the package.
    fn base(&self) -> String {
        let own = self.directory().to_owned();
        if !matches!(self.row.linter, Linter::Clippy | Linter::CargoCheck) {
            return own;
        }
        let mut all = self.files.at_or_above(self.place);
        let workspace = all.find(|(_, directory)| {
            directory.manifest("Cargo.toml").is_some_and(|text| text.contains("[workspace"))
        });
        workspace.map_or(own, |(_, directory)| directory.path.clone())
    }

    /// Whether the configuration says which files mypy checks.
    fn mypy_has_files(&self) -> bool {
        let directory = &self.files.directories[self.place];
        let section = |name: &str, heading: &str| {
            let text = directory.manifest(name).unwrap_or_default();
            let mut lines = text.lines().map(str::trim).skip_while(|line| *line != heading).skip(1);
            lines.by_ref().take_while(|line| !line.starts_with('[')).any(|line| {
                let key = line.split_once('=').map_or(line, |(key, _)| key).trim();
                matches!(key, "files" | "packages" | "modules")
            })
        };
        section("pyproject.toml", "[tool.mypy]")
            || ["mypy.ini", ".mypy.ini", "setup.cfg"].iter().any(|name| section(name, "[mypy]"))
    }

    /// Whether the configuration is one of the second version of golangci-lint.
    fn is_second_golangci(&self) -> bool {
        let directory = &self.files.directories[self.place];
        let mut names = [".golangci.yml", ".golangci.yaml"].iter();
        let text = names.find_map(|name| directory.manifest(name));
        // Files of other formats are not read: the second version has been the only one since 2025.
        text.is_none_or(|text| {
            text.lines().any(|line| {
                let value = line.strip_prefix("version:").map(str::trim);
                value.is_some_and(|value| value.trim_matches(['"', '\'']).starts_with('2'))
            })
        })
    }
}

// === impl OwnLinter ===

impl OwnLinter {
    fn plans(
        &self,
        around: &ProjectFiles,
        beneath: &ProjectFiles,
        target: &LintTarget,
    ) -> Vec<PlannedLint> {
        if let Some((directory, reason)) = self.found(around, target).into_iter().next() {
            return vec![self.plan(directory, reason, target)];
        }
        let found = self.found(beneath, target).into_iter();
        found.map(|(directory, reason)| self.plan(directory, reason, target)).collect()
    }

    /// The directories in which it is used, and what says so.
    fn found(&self, files: &ProjectFiles, target: &LintTarget) -> Vec<(String, String)> {
        let found = files.directories.iter().filter_map(|directory| {
            let has_file =
                target.files.iter().any(|file| is_in(file, &directory.path) && self.reads(file));
            let reason = match self.when.iter().find(|name| directory.files.contains(*name)) {
                Some(name) => name.clone(),
                None if self.when.is_empty() && directory.path.is_empty() => {
                    "the configuration of moss".to_owned()
                }
                None => return None,
            };
            has_file.then(|| (directory.path.clone(), reason))
        });
        found.collect()
    }

    fn reads(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        let matches = |pattern: &String| match pattern.strip_prefix('*') {
            Some(end) => name.ends_with(end),
            None => name == pattern,
        };
        self.files.is_empty() || self.files.iter().any(matches)
    }

    fn plan(&self, directory: String, reason: String, target: &LintTarget) -> PlannedLint {
        let path = quoted(&relative(&target.path, &directory));
        let first = self.command.split_whitespace().next().unwrap_or_default();
        PlannedLint {
            name: self.name.clone(),
            reason,
            base: directory.clone(),
            command: CheckCommand { command: self.command.replace("{path}", &path), directory },
            notes: Vec::new(),
            format: self.format,
            finding_codes: &[1, 2],
            program: first.to_owned(),
            install: "install it, or correct its command in `[linters]` of the configuration"
                .to_owned(),
        }
    }
}
