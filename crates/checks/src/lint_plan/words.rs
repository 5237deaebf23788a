//! The words of each linter.

use super::{FILES_MAX, LintWords, relative, tsc};
use crate::bash_word::quoted;
use crate::linter::Linter;
use crate::project::is_in;

// === impl LintWords ===

impl LintWords<'_> {
    /// The commands that check: one, but for what tsc has to be given project by project.
    pub(super) fn commands(&mut self) -> Vec<Vec<String>> {
        match self.row.linter {
            Linter::Tsc => {
                let program = self.program();
                let words = |project: String| format!("--noEmit --pretty false -p {project}");
                let projects = tsc::projects(self.files, self.place, self.target);
                projects
                    .into_iter()
                    .map(|project| vec![program.clone(), words(quoted(&project))])
                    .collect()
            }
            _ => vec![self.command()],
        }
    }

    fn command(&mut self) -> Vec<String> {
        let program = self.program();
        let fixed = |words: &str| vec![program.clone(), words.to_owned()];
        match self.row.linter {
            Linter::Clippy => self.cargo("clippy"),
            Linter::CargoCheck => self.cargo("check"),
            Linter::Ruff => fixed("check --no-fix --no-cache --output-format=json-lines ."),
            Linter::Mypy => {
                let target = if self.mypy_has_files() { "" } else { " ." };
                fixed(&format!("--output=json --no-error-summary{target}"))
            }
            Linter::Pyright => fixed("--outputjson"),
            Linter::Eslint => self.with_path(&program, "-f json --"),
            Linter::Tsc => fixed("--noEmit --pretty false"),
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

    /// A command of cargo: on all of a workspace, because without more words it checks the package at its top
    /// alone.
    fn cargo(&self, verb: &str) -> Vec<String> {
        let extent = match self.files.directories[self.place].is_cargo_workspace() {
            true => "--workspace",
            false => "",
        };
        let words = "--offline --quiet --all-targets --message-format=json";
        vec![format!("cargo {verb}"), extent.to_owned(), words.to_owned()]
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
            self.notes.push(note.clone());
            self.partial = Some(note);
        }
        command
    }

    /// Where relative paths in the output begin: cargo writes those of the workspace of the package.
    pub(super) fn base(&self) -> String {
        let own = self.directory().to_owned();
        if !matches!(self.row.linter, Linter::Clippy | Linter::CargoCheck) {
            return own;
        }
        let workspace = self.files.cargo_workspace(self.place);
        self.files.directories[workspace].path.clone()
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
