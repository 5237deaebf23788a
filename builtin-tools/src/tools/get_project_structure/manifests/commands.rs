//! Commands that a manifest gives: those that it declares, such as scripts and targets, and those that its
//! tool has for every project. Nothing is run to find them.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use toml::Table;

use super::text::ManifestText;

/// Most commands of one purpose that a manifest gives.
const PER_PURPOSE_MAX: usize = 2;
/// Most bytes of the name of a script or a target.
const NAME_BYTES_MAX: usize = 60;

/// What a command is for; the order of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(in super::super) enum CommandPurpose {
    Build,
    Run,
    Test,
    Lint,
}

use CommandPurpose::{Build, Lint, Run, Test};

/// A command of a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(in super::super) struct ProjectCommand {
    /// What it is for. `lint` also formats and checks types.
    pub(in super::super) purpose: CommandPurpose,
    /// The command, to be run in the directory of the manifest.
    pub(in super::super) command: String,
}

/// What stands around a manifest.
pub(in super::super) trait ManifestSurroundings {
    /// Whether a file of this name is in the directory of the manifest.
    fn has(&self, name: &str) -> bool;
    /// Whether a file of this name is there or in a directory above.
    fn has_here_or_above(&self, name: &str) -> bool;
    /// Whether a directory above has a manifest of the same kind.
    fn is_member(&self) -> bool;
}

/// Words that say what a script or a target is for, by which its name starts or ends.
const WORDS: &[(CommandPurpose, &[&str])] = &[
    (Build, &["build", "compile", "bundle", "dist", "package", "all"]),
    (Run, &["start", "run", "dev", "serve", "server", "preview", "up"]),
    (Test, &["test", "tests", "spec", "e2e", "unit", "coverage"]),
    (Lint, &["lint", "check", "typecheck", "types", "clippy", "vet", "fmt", "format", "style"]),
];

/// What a tool has for every project, by the kind of its manifest.
const CUSTOMARY: &[(&str, &[(CommandPurpose, &str)])] = &[
    ("bazel", &[(Build, "bazel build //..."), (Test, "bazel test //...")]),
    ("cabal", &[(Build, "cabal build"), (Test, "cabal test")]),
    ("cargo", &[(Build, "cargo build"), (Test, "cargo test"), (Lint, "cargo clippy")]),
    (
        "cmake",
        &[(Build, "cmake -S . -B build && cmake --build build"), (Test, "ctest --test-dir build")],
    ),
    ("dart", &[(Test, "dart test"), (Lint, "dart analyze")]),
    ("dotnet", &[(Build, "dotnet build"), (Test, "dotnet test")]),
    ("dune", &[(Build, "dune build"), (Test, "dune test")]),
    ("go", &[(Build, "go build ./..."), (Test, "go test ./..."), (Lint, "go vet ./...")]),
    ("gradle", &[(Build, "gradle build"), (Test, "gradle test")]),
    ("maven", &[(Build, "mvn package"), (Test, "mvn test")]),
    (
        "meson",
        &[(Build, "meson setup build && meson compile -C build"), (Test, "meson test -C build")],
    ),
    ("mix", &[(Build, "mix compile"), (Test, "mix test")]),
    ("rebar", &[(Build, "rebar3 compile"), (Test, "rebar3 eunit")]),
    ("sbt", &[(Build, "sbt compile"), (Test, "sbt test")]),
    ("stack", &[(Build, "stack build"), (Test, "stack test")]),
    ("swift", &[(Build, "swift build"), (Test, "swift test")]),
    ("zig", &[(Build, "zig build")]),
];

/// Lock files, and the package manager that writes each.
const PACKAGE_LOCKS: [(&str, &str); 4] =
    [("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("bun.lock", "bun"), ("bun.lockb", "bun")];

/// Whether the text of a manifest of this kind says more than its name which commands there are.
pub(super) fn need_text(kind: &str) -> bool {
    let kinds =
        ["cargo", "composer", "deno", "dotnet", "just", "make", "npm", "pipenv", "python", "task"];
    kinds.contains(&kind)
}

/// Returns the commands that a manifest gives, at most [`PER_PURPOSE_MAX`] for each purpose.
pub(super) fn commands(
    kind: &str,
    file_name: &str,
    text: &ManifestText,
    around: &dyn ManifestSurroundings,
) -> Vec<ProjectCommand> {
    let declared = match kind {
        "make" => scripts("make", targets(&text.text)),
        "just" => scripts("just", recipes(&text.text)),
        "task" => scripts("task", tasks(&text.text)),
        "npm" => package_scripts(text, around),
        "composer" => scripts("composer run", keys_of_json(text, "scripts")),
        "deno" => scripts("deno task", keys_of_json(text, "tasks")),
        "pipenv" => {
            scripts("pipenv run", text.table().map_or_else(Vec::new, |it| keys(it, &["scripts"])))
        }
        "python" if file_name == "pyproject.toml" => python(text, around),
        "cargo" => cargo(text, around),
        "go" if !around.is_member() && around.has("main.go") => vec![command(Run, "go run .")],
        "dotnet" if runs_as_program(&text.text) => vec![command(Run, "dotnet run")],
        "docker" if file_name.contains("compose") => vec![command(Run, "docker compose up")],
        _ => Vec::new(),
    };
    let mut all = declared;
    all.extend(customary(kind, file_name, around));
    let mut left = [PER_PURPOSE_MAX; 4];
    all.sort_by_key(|command| command.purpose);
    let mut kept: Vec<ProjectCommand> = Vec::new();
    for command in all {
        let left = &mut left[command.purpose as usize];
        if *left > 0 && !kept.contains(&command) {
            *left -= 1;
            kept.push(command);
        }
    }
    kept
}

fn command(purpose: CommandPurpose, command: impl Into<String>) -> ProjectCommand {
    ProjectCommand { purpose, command: command.into() }
}

/// What a tool has for every project. Its outermost manifest builds what is beneath it.
fn customary(
    kind: &str,
    file_name: &str,
    around: &dyn ManifestSurroundings,
) -> Vec<ProjectCommand> {
    // `./...` does not lead into the modules of a workspace of Go.
    if around.is_member() || file_name == "go.work" {
        return Vec::new();
    }
    let known = CUSTOMARY.iter().find(|(name, _)| *name == kind);
    let wrapper = |line: &str| match kind {
        "gradle" if around.has("gradlew") => format!("./gradlew{}", &line["gradle".len()..]),
        "maven" if around.has("mvnw") => format!("./mvnw{}", &line["mvn".len()..]),
        _ => line.to_owned(),
    };
    let lines = known.into_iter().flat_map(|(_, lines)| lines.iter());
    lines.map(|(purpose, line)| command(*purpose, wrapper(line))).collect()
}

/// Says what a script or a target is for, and how well its name says so: first those whose name is the
/// word, then those that start with it, each with the usual word first.
fn purpose(name: &str) -> Option<((usize, usize), CommandPurpose)> {
    let parts: Vec<&str> = name.split([':', '-', '_', '.', '/']).collect();
    // `test:e2e` and `e2e-test` are tests; `build-test-image` says two things, and its start counts.
    let spots = [(usize::from(parts.len() > 1), parts.first()), (2, parts.last())];
    spots.into_iter().find_map(|(rank, part)| {
        let part = part?.to_ascii_lowercase();
        WORDS.iter().find_map(|(purpose, words)| {
            let at = words.iter().position(|word| *word == part)?;
            Some(((rank, at), *purpose))
        })
    })
}

/// Makes commands of the names of scripts: those come first whose whole name is their purpose.
fn scripts(runner: &str, names: Vec<String>) -> Vec<ProjectCommand> {
    let plain = names.into_iter().filter(|name| is_plain(name));
    let mut ranked: Vec<_> = plain
        .filter_map(|name| purpose(&name).map(|(rank, purpose)| (rank, purpose, name)))
        .collect();
    ranked.sort_by_key(|(rank, ..)| *rank);
    let commands = ranked.into_iter();
    commands.map(|(_, purpose, name)| command(purpose, format!("{runner} {name}"))).collect()
}

/// Whether a name may stand in a command as it is: a reader may run it.
fn is_plain(name: &str) -> bool {
    let is_fit = |c: char| c.is_ascii_alphanumeric() || "_-.:/@+".contains(c);
    name.len() <= NAME_BYTES_MAX
        && name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        && name.chars().all(is_fit)
}

/// The targets of a makefile that rules name by themselves.
fn targets(text: &str) -> Vec<String> {
    let rule = |line: &str| {
        let (names, rest) = line.split_once(':')?;
        let is_rule = !line.starts_with([' ', '\t', '#', '.']) && !rest.starts_with(['=', ':']);
        (is_rule && !names.contains(['=', '$', '%', '('])).then(|| names.to_owned())
    };
    let names = text.lines().filter_map(rule);
    names
        .flat_map(|names| names.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
        .collect()
}

/// The recipes of a justfile.
fn recipes(text: &str) -> Vec<String> {
    let recipe = |line: &str| {
        if line.starts_with([' ', '\t', '#', '[']) {
            return None;
        }
        let (head, rest) = line.split_once(':')?;
        let mut words = head.trim_start_matches('@').split_whitespace();
        let name = words.next()?;
        let is_setting = matches!(name, "set" | "alias" | "export" | "import" | "mod");
        // One that needs a parameter does not run by its name.
        let needs_more = words.any(|word| !word.contains('=') && !word.starts_with('*'));
        (!rest.starts_with('=') && !is_setting && !needs_more).then(|| name.to_owned())
    };
    text.lines().filter_map(recipe).collect()
}

/// The tasks of a `Taskfile.yml`: keys one level beneath `tasks`.
fn tasks(text: &str) -> Vec<String> {
    let mut beneath =
        text.lines().skip_while(|line| line.trim_end() != "tasks:").skip(1).peekable();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let Some(level) = beneath.peek().map(|line| indent(line)).filter(|level| *level > 0) else {
        return Vec::new();
    };
    let inside = beneath.take_while(|line| line.trim().is_empty() || indent(line) >= level);
    let keys = inside.filter(|line| indent(line) == level).filter_map(|line| {
        let line = line.trim();
        // A colon in a name is no end of it: `lint:go:`.
        let (key, _) = line.split_once(": ").or_else(|| Some((line.strip_suffix(':')?, "")))?;
        Some(key.trim_matches(['"', '\'']).to_owned())
    });
    keys.collect()
}

fn package_scripts(text: &ManifestText, around: &dyn ManifestSurroundings) -> Vec<ProjectCommand> {
    let stated = text.json().get("packageManager").and_then(Value::as_str);
    let stated = stated.and_then(|stated| stated.split('@').next());
    let known = ["npm", "pnpm", "yarn", "bun"];
    let locked = || PACKAGE_LOCKS.iter().find(|(lock, _)| around.has_here_or_above(lock));
    let manager = known.into_iter().find(|known| stated == Some(known));
    let manager = manager.or_else(|| locked().map(|(_, manager)| *manager)).unwrap_or("npm");
    scripts(&format!("{manager} run"), keys_of_json(text, "scripts"))
}

fn keys_of_json(text: &ManifestText, key: &str) -> Vec<String> {
    let inside = text.json().get(key).and_then(Value::as_object);
    inside.into_iter().flat_map(|inside| inside.keys().cloned()).collect()
}

/// The keys of a table at a path.
fn keys(table: &Table, path: &[&str]) -> Vec<String> {
    let (first, rest) = path.split_first().expect("a path has a key");
    let inside = table.get(*first).and_then(toml::Value::as_table);
    inside.map_or_else(Vec::new, |inside| match rest {
        [] => inside.keys().cloned().collect(),
        _ => keys(inside, rest),
    })
}

fn python(text: &ManifestText, around: &dyn ManifestSurroundings) -> Vec<ProjectCommand> {
    let Some(table) = text.table() else { return Vec::new() };
    let tool = |name: &str| table.get("tool").and_then(|tool| tool.get(name)).is_some();
    let manager = if around.has_here_or_above("uv.lock") || tool("uv") {
        Some("uv")
    } else if around.has("pdm.lock") || tool("pdm") {
        Some("pdm")
    } else {
        (around.has("poetry.lock") || tool("poetry")).then_some("poetry")
    };
    let run = |line: &str| manager.map_or_else(|| line.to_owned(), |it| format!("{it} run {line}"));
    let mut commands = Vec::new();
    let runners = [
        (["tool", "pdm", "scripts"], "pdm run"),
        (["tool", "poe", "tasks"], "poe"),
        (["tool", "taskipy", "tasks"], "task"),
    ];
    for (path, runner) in runners {
        commands.extend(scripts(runner, keys(table, &path)));
    }
    if table.contains_key("build-system") {
        commands.push(command(
            Build,
            manager.map_or("python -m build".into(), |it| format!("{it} build")),
        ));
    }
    let programs = [&["project", "scripts"][..], &["tool", "poetry", "scripts"]];
    let programs = programs.into_iter().flat_map(|path| keys(table, path));
    commands.extend(programs.filter(|name| is_plain(name)).map(|name| command(Run, run(&name))));
    if tool("pytest") || around.has("pytest.ini") || around.has("conftest.py") {
        commands.push(command(Test, run("pytest")));
    }
    if around.has("tox.ini") || tool("tox") {
        commands.push(command(Test, "tox"));
    }
    for (name, line) in [
        ("ruff", "ruff check"),
        ("mypy", "mypy ."),
        ("pyright", "pyright"),
        ("black", "black --check ."),
    ] {
        if tool(name) {
            commands.push(command(Lint, run(line)));
        }
    }
    commands
}

fn cargo(text: &ManifestText, around: &dyn ManifestSurroundings) -> Vec<ProjectCommand> {
    let Some(table) = text.table() else { return Vec::new() };
    let runs = around.has("src/main.rs") || table.contains_key("bin");
    let is_package = table.contains_key("package");
    (is_package && runs).then(|| command(Run, "cargo run")).into_iter().collect()
}

/// Whether a project of .NET makes a program.
fn runs_as_program(text: &str) -> bool {
    text.contains("<OutputType>Exe<") || text.contains("\"Microsoft.NET.Sdk.Web\"")
}

#[cfg(test)]
mod tests;
