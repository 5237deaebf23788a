//! What the pages for engineers name is there: files, names of code, what commands test.
//!
//! A name counts as there where it occurs as a word: that it means what the page says of it, nobody can check.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::manifests::{CRATES, package};
use crate::tree::{FILES, File, file, root, rust_files};
use crate::{hold, rust};

const CHANGING: &str = "docs/changing-moss.md";
const PAGES: [&str; 2] = ["docs/architecture.md", CHANGING];
/// Endings of files that names of code are looked for in.
const SOURCES: [&str; 7] = ["rs", "toml", "proto", "md", "py", "ts", "wit"];
/// Endings by which a name without a directory is one of a file.
const ENDINGS: [&str; 11] =
    ["rs", "toml", "proto", "md", "py", "ts", "wit", "json", "svg", "yaml", "txt"];
/// What is no source of names: the page itself, what was once, and the mistakes below.
const NO_SOURCES: [&str; 3] = [CHANGING, "CHANGELOG.md", "tests/tidy/named.rs"];
/// Options of cargo that are followed by a value.
const VALUED: [&str; 3] = ["-p", "--test", "--features"];

/// The words of each source.
static WORDS: LazyLock<Vec<HashSet<&str>>> = LazyLock::new(|| {
    let sources = FILES.iter().filter(|file| {
        let (_, ending) = file.path.rsplit_once('.').unwrap_or_default();
        SOURCES.contains(&ending) && !NO_SOURCES.contains(&file.path.as_str())
    });
    sources.map(|file| words(&file.text).collect()).collect()
});

/// What stands in backticks in prose.
#[derive(Debug)]
struct Quoted {
    /// What stands between the last one and this one, each blank a space.
    before: String,
    name: String,
}

/// A command that runs tests.
#[derive(Debug, Default, PartialEq, Eq)]
struct TestCommand<'a> {
    package: &'a str,
    target: Option<&'a str>,
    filter: Option<&'a str>,
}

#[test]
fn files_that_pages_for_engineers_name_are_there() {
    for page in PAGES {
        let text = &file(page).text;
        let named = quoted(text).iter().filter(|quoted| is_file(&quoted.name)).count();
        assert!(named > 10, "{page} names {named} files");
        hold(&format!("{page} names files that there are"), missing_files(text));
    }
}

#[test]
fn names_of_code_on_the_page_occur_in_a_source() {
    hold(&format!("{CHANGING} names what there is"), missing_names(&file(CHANGING).text));
}

#[test]
fn names_of_code_on_the_page_stand_in_the_file_that_it_gives() {
    let text = &file(CHANGING).text;
    let given = placed(&quoted(text)).len();
    assert!(given > 300, "{CHANGING} gives the file of {given} names");
    hold(&format!("{CHANGING} gives the file of a name"), misplaced_names(text));
}

#[test]
fn commands_on_the_page_run_tests() {
    let text = &file(CHANGING).text;
    let commands = test_commands(text).len();
    assert!(commands > 20, "{CHANGING} has {commands} commands");
    hold(&format!("{CHANGING} has commands that run tests"), idle_commands(text));
}

/// The files that a text names and that are not there. `calls::` names `tests/it/calls.rs`.
fn missing_files(text: &str) -> Vec<String> {
    let is_missing = |name: &str| match name.strip_suffix("::").filter(|module| is_word(module)) {
        Some(module) => {
            let (topic, folder) = (format!("tests/it/{module}.rs"), format!("tests/it/{module}/"));
            !FILES.iter().any(|file| file.path.ends_with(&topic) || file.path.contains(&folder))
        }
        None if !is_file(name) => false,
        None if name.contains('/') => !root().join(name).exists(),
        None => files_at(name).next().is_none(),
    };
    let quoted = quoted(text).into_iter().map(|quoted| quoted.name);
    quoted.filter(|name| is_missing(name)).collect()
}

/// The names of code in a text that occur in no source: all words of a path such as `Type::name` in one of them.
fn missing_names(text: &str) -> Vec<String> {
    let quoted = quoted(text).into_iter().map(|quoted| quoted.name);
    let missing = quoted.filter(|name| {
        let Some(words) = code_words(name) else { return false };
        let is_path = !name.contains(' ');
        let occurs = |words: &[&str]| {
            WORDS.iter().any(|known| words.iter().all(|word| is_among(word, known)))
        };
        if is_path { !occurs(&words) } else { words.iter().any(|word| !occurs(&[word])) }
    });
    missing.collect()
}

/// The names of code in a text that are not in the file in which it says that they are.
fn misplaced_names(text: &str) -> Vec<String> {
    let quoted = quoted(text);
    let misplaced = placed(&quoted).into_iter().filter(|(name, file)| {
        let words = code_words(name).unwrap_or_default();
        let holds = |file: &File| words.iter().all(|word| rust::has_word(&file.text, word));
        !words.is_empty() && !file.contains("NAME") && !files_at(file).any(holds)
    });
    misplaced.map(|(name, file)| format!("`{name}` is not in {file}")).collect()
}

/// The commands in a text that run no test, or those of a package that is not there.
fn idle_commands(text: &str) -> Vec<String> {
    let mut offences = Vec::new();
    for line in test_commands(text) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let command = TestCommand::read(&words);
        let directory = CRATES
            .iter()
            .map(|(directory, _)| *directory)
            .find(|at| package(at) == command.package);
        match directory {
            None => offences.push(format!("`{line}`: there is no package `{}`", command.package)),
            Some(directory) if !command.finds_a_test(directory) => {
                offences.push(format!("`{line}`: no test of {directory}/ is called so"));
            }
            Some(_) => {}
        }
    }
    offences
}

// === impl TestCommand ===

impl<'a> TestCommand<'a> {
    /// Reads the words behind `cargo test`, or `cargo xtask test`.
    fn read(words: &[&'a str]) -> Self {
        if let ["cargo", "xtask", "test", "--", filter @ ..] = words {
            let filter = filter.first().copied();
            return Self { package: "moss-tests", target: Some("it"), filter };
        }
        let mut command = Self::default();
        let mut words = words.iter().skip(2);
        while let Some(word) = words.next() {
            let value = VALUED.contains(word).then(|| words.next().copied().unwrap_or_default());
            match (*word, value) {
                ("-p", Some(value)) => command.package = value,
                ("--test", value) => command.target = value,
                (word, None) if !word.starts_with('-') => command.filter = Some(word),
                _ => {}
            }
        }
        command
    }

    /// Whether a test of the crate in a directory is run.
    fn finds_a_test(&self, directory: &str) -> bool {
        let inner = CRATES.iter().map(|(other, _)| *other).filter(|other| {
            other.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
        });
        let inner: Vec<&str> = inner.collect();
        rust_files().any(|file| {
            let Some(path) = beneath(file, directory) else { return false };
            let is_inner = inner.iter().any(|inner| beneath(file, inner).is_some());
            let (target, module) = module_of(path);
            let is_meant = self.target.is_none() || self.target == target;
            !is_inner
                && is_meant
                && tests_of(file, &module)
                    .any(|test| self.filter.is_none_or(|filter| test.contains(filter)))
        })
    }
}

/// The program of tests that a file of a crate belongs to, none for one of its library, and its module.
fn module_of(path: &str) -> (Option<&str>, String) {
    let stem = path.strip_suffix(".rs").unwrap_or(path);
    let (target, module) = match stem.strip_prefix("src/") {
        Some(module) => (None, module),
        None => {
            let stem = stem.strip_prefix("tests/").unwrap_or(stem);
            let (target, module) = stem.split_once('/').unwrap_or((stem, ""));
            (Some(target), module)
        }
    };
    let is_root = matches!(module, "lib" | "main");
    (target, if is_root { String::new() } else { module.replace('/', "::") })
}

/// The tests in a file, as the programs of tests call them.
fn tests_of<'f>(file: &'f File, module: &'f str) -> impl Iterator<Item = String> {
    let (mut inline, mut is_test) = ("", false);
    file.code().lines().filter_map(move |line| {
        if let Some(name) = line.strip_prefix("mod ").and_then(|rest| rest.strip_suffix(" {")) {
            inline = name;
        }
        let line = line.trim();
        is_test |= line.starts_with("#[test]") || line.starts_with("#[tokio::test");
        let (_, name) = line.split_once("fn ").filter(|_| is_test)?;
        is_test = false;
        let name = words(name).next()?;
        let parts = [module, inline, name].into_iter().filter(|part| !part.is_empty());
        Some(parts.collect::<Vec<_>>().join("::"))
    })
}

/// The commands of a text that run tests, in prose and in blocks.
fn test_commands(text: &str) -> Vec<String> {
    let blocks = text.split("\n```").skip(1).step_by(2).flat_map(str::lines).map(str::to_owned);
    let lines = quoted(text).into_iter().map(|quoted| quoted.name).chain(blocks);
    let commands = lines.flat_map(|line| {
        let parts = line.split("&&").filter_map(|part| {
            let starts = ["cargo test ", "cargo xtask test -- "].map(|start| part.find(start));
            starts.into_iter().flatten().next().map(|start| part[start..].trim().to_owned())
        });
        parts.collect::<Vec<_>>()
    });
    commands.collect()
}

fn quoted(text: &str) -> Vec<Quoted> {
    let prose = text.split("\n```").step_by(2).collect::<Vec<_>>().join("\n");
    let on_one_line = |part: &str| part.split_whitespace().collect::<Vec<_>>().join(" ");
    let parts: Vec<String> = prose.split('`').map(on_one_line).collect();
    let pairs = parts.chunks_exact(2);
    pairs.map(|pair| Quoted { before: pair[0].clone(), name: pair[1].clone() }).collect()
}

/// The names of which a text says in which file they are: `X` in `FILE`, `X` and `Y` of `FILE`, `X` in `Y` of `FILE`.
fn placed(quoted: &[Quoted]) -> Vec<(&str, &str)> {
    let files = (1..quoted.len()).filter(|at| is_file(&quoted[*at].name));
    let placed = files.flat_map(|at| {
        let names = names_before(quoted, at).into_iter();
        names.map(move |name| (name, quoted[at].name.as_str()))
    });
    placed.collect()
}

/// The names that are said to be in the file at a position.
fn names_before(quoted: &[Quoted], at: usize) -> Vec<&str> {
    let is_in = |at: usize| matches!(quoted[at].before.as_str(), "in" | "of");
    if is_in(at) {
        let start = list_start(quoted, at - 1);
        let mut names: Vec<&str> = quoted[start..at].iter().map(|one| one.name.as_str()).collect();
        if start + 1 == at && start > 0 && is_in(start) {
            let outer = list_start(quoted, start - 1);
            names.extend(quoted[outer..start].iter().map(|one| one.name.as_str()));
        }
        return names;
    }
    // `X` in `FILE` and in `OTHER`; of more than a list nobody knows what is in the other.
    let is_further = matches!(quoted[at].before.as_str(), "and in" | "and of" | ", in" | ", of");
    if is_further && at > 1 && is_file(&quoted[at - 1].name) {
        let is_list = !is_in(at - 1) || !is_in(list_start(quoted, at - 2));
        return if is_list { names_before(quoted, at - 1) } else { Vec::new() };
    }
    Vec::new()
}

/// Where the list of names begins that ends at a position.
fn list_start(quoted: &[Quoted], end: usize) -> usize {
    let mut start = end;
    let is_next = |at: usize| matches!(quoted[at].before.as_str(), "," | ", and" | "and" | "or");
    while start > 0 && is_next(start) && !is_file(&quoted[start - 1].name) {
        start -= 1;
    }
    start
}

/// The words of what is code by its looks; none of a path, an option and the like.
fn code_words(name: &str) -> Option<Vec<&str>> {
    let is_code = name.chars().all(|c| c.is_alphanumeric() || "_:.<>()!=[]& ".contains(c));
    let found = words(name).filter(|word| *word != "_");
    (is_code && !is_file(name)).then(|| found.collect())
}

/// Whether a word is among those of a source; `try_` and `_count` are parts of one.
fn is_among(word: &str, known: &HashSet<&str>) -> bool {
    known.contains(word)
        || word.ends_with('_') && known.iter().any(|other| other.starts_with(word))
        || word.starts_with('_') && known.iter().any(|other| other.ends_with(word))
}

/// Whether what stands in backticks is a file or a directory of the repository by its looks; a pattern with `NAME`
/// is none.
fn is_file(name: &str) -> bool {
    if name.contains("NAME") || name.contains(char::is_whitespace) {
        return false;
    }
    if let Some((first, _)) = name.split_once('/') {
        return FILES.iter().any(|file| beneath(file, first).is_some());
    }
    let is_named = |stem: &str| stem.starts_with(char::is_alphanumeric);
    let is_part = |c: char| c.is_alphanumeric() || "._-".contains(c);
    name.rsplit_once('.').is_some_and(|(stem, ending)| {
        is_named(stem) && ENDINGS.contains(&ending) && name.chars().all(is_part)
    })
}

/// The files that a path means: one, all of a directory, or those of a name without a directory.
fn files_at(name: &str) -> impl Iterator<Item = &'static File> {
    let is_there = FILES.iter().any(|file| file.path == name);
    let (directory, end) = (name.trim_end_matches('/').to_owned(), format!("/{name}"));
    let name = name.to_owned();
    FILES.iter().filter(move |file| {
        let is_meant = beneath(file, &directory).is_some()
            || !is_there && !name.contains('/') && file.path.ends_with(&end);
        file.path == name || is_meant
    })
}

/// The path of a file from a directory in which it lies.
fn beneath<'f>(file: &'f File, directory: &str) -> Option<&'f str> {
    file.path.strip_prefix(directory)?.strip_prefix('/')
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

fn is_word(text: &str) -> bool {
    words(text).next() == Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_gone_is_found() {
        for (text, gone) in [
            ("`tests/tidy.rs`, `tests/tidy/`, `tidy.rs` and `calls::`", ""),
            ("`docs/NAME.md`, `a/b.rs`, `cargo xtask`, `.proto`, `Tool::of`", ""),
            ("see `docs/gone.md`\n```sh\nls `docs/lost.md`\n```\n`gone/`", "docs/gone.md"),
            ("`gone.rs` beside it, `cli/src/gone/`", "gone.rs, cli/src/gone/"),
            ("then `gone::`", "gone::"),
        ] {
            assert_eq!(missing_files(text).join(", "), gone, "{text}");
        }
    }

    #[test]
    fn a_name_that_is_gone_is_found() {
        for name in [
            "TONIC",
            "is_surely_broken",
            "tell_catalogs",
            "tells_paths_apart",
            "the_landlock_tier_lets_through_what_its_table_says_and_no_more",
            "calls_answers_commits_and_connections_are_counted",
            "Daemon::is_surely_broken",
            "policy.tells_paths_apart()",
            "gone_at_its_end_",
        ] {
            assert_eq!(missing_names(&format!("one `{name}` here")), [name]);
        }
        let there = "`FILE_DOORS`, `Daemon::new`, `section!`, `From<StartError>`, `_ => true`, `try_`, `_bucket`, \
                     `KNOWN[0]`, `launcher.is_some()`, `--no-option`, `x-extra`, `moss audit tail`, `a_b/c_d`";
        assert_eq!(missing_names(there), [""; 0]);
    }

    #[test]
    fn a_path_is_one_whose_words_stand_together() {
        assert_eq!(missing_names("`SandboxMin::of_tool`"), ["SandboxMin::of_tool"]);
    }

    #[test]
    fn a_name_in_another_file_is_found() {
        let files = "daemon/src/call/effect/command/files.rs";
        for (text, found) in [
            ("`protected_kind` in\n`daemon/src/call/effect/command/files.rs`", "protected_kind"),
            ("by `answered` in `daemon/src/call/record.rs`", "answered"),
            ("`is_surely_broken` in `builtin-tools/src/tools/`", "is_surely_broken"),
            ("`protected_kind` in `by_rules.rs` and in `kinds.rs`", ""),
            ("`protected_kind` in `by_rules.rs` and in `files.rs`", "protected_kind"),
            ("`protected_kind`, `Subject` in `daemon/src/call/effect/`", ""),
            ("`read`, `gone_a` and `gone_b` of `daemon/src/explain.rs`", "gone_a, gone_b"),
            ("`gone` in `explain` of `daemon/src/explain.rs`", "gone"),
            ("`gone`: `explain` in `daemon/src/explain.rs`", ""),
        ] {
            let misplaced = misplaced_names(text);
            let names = misplaced.iter().filter_map(|one| one.split('`').nth(1));
            assert_eq!(names.collect::<Vec<_>>().join(", "), found, "{text}");
        }
        let text = format!("`protected_kind` in `{files}`");
        assert_eq!(misplaced_names(&text), [format!("`protected_kind` is not in {files}")]);
    }

    #[test]
    fn a_command_that_runs_no_test_is_found() {
        for (command, is_idle) in [
            ("cargo test -p moss-daemon auth", true),
            ("cargo test -p moss-grpc auth", false),
            ("cargo test -p moss-daemon config", true),
            ("cargo test -p moss-config", false),
            ("cargo test -p moss-gone", true),
            ("cargo test -p\nmoss-sdk gone::", true),
            ("UPDATE_PICTURES=1 cargo test -p moss-tests --test tidy house", false),
            ("cargo test -p moss-tests --test it house::", true),
            ("cargo test -p moss-sdk --features host", false),
            ("cargo xtask test -- calls::", false),
            ("cargo xtask test -- gone::", true),
            ("cargo xtask test", false),
        ] {
            let found = idle_commands(&format!("then `{command}`."));
            assert_eq!(found.len(), usize::from(is_idle), "{command}: {found:?}");
        }
        let block =
            "Run\n\n```sh\ncargo build -p moss && cargo test -p moss-tests --test it gone::\n```\n";
        assert_eq!(idle_commands(block).len(), 1);
    }

    #[test]
    fn tests_are_called_by_their_modules() {
        for (path, target, module) in [
            ("src/lib.rs", None, ""),
            ("src/call/effect/tests.rs", None, "call::effect::tests"),
            ("tests/it/main.rs", Some("it"), ""),
            ("tests/it/groups.rs", Some("it"), "groups"),
            ("tidy.rs", Some("tidy"), ""),
            ("tidy/house.rs", Some("tidy"), "house"),
        ] {
            assert_eq!(module_of(path), (target, module.to_owned()), "{path}");
        }
        let text = "#[test]\nfn a() {}\nfn no() {}\nmod tests {\n    #[tokio::test(flavor = \"x\")]\n    \
                    #[expect(x)]\n    async fn b() {}\n}\n";
        let file = File::of("src/x.rs", text);
        assert_eq!(tests_of(&file, "x").collect::<Vec<_>>(), ["x::a", "x::tests::b"]);
    }
}
