//! What compiles before it tests: Cargo, Go, CTest, .NET, Swift.

use std::collections::BTreeSet;

use super::{TestChoice, TestSelection, Words, doc_tests};
use crate::bash_word::{joined, quoted};
use crate::framework::TestFramework;
use crate::project::ProjectDirectory;

/// What chosen Rust files are to Cargo.
#[derive(Debug, Default, PartialEq, Eq)]
struct CargoTargets {
    /// `--test api`, several of them.
    targets: Vec<String>,
    /// The beginnings of the names of tests: `deep::part::`.
    modules: Vec<String>,
}

// === impl Words ===

impl Words<'_> {
    pub(super) fn cargo(&self) -> Vec<String> {
        const TEST: &str = "cargo test --offline --no-fail-fast --color never";
        let start = match self.choice.coverage {
            true => format!(
                "cargo llvm-cov --lcov --output-path {} --offline --no-fail-fast --color never",
                self.report("coverage.lcov")
            ),
            false => TEST.to_owned(),
        };
        let chosen = CargoTargets::of(&self.choice.files, self.cargo_manifest());
        let (documented, exact) = self.cargo_ids();
        let filters = match (self.ids(), self.pattern()) {
            (Some(_), _) => format!("-- --exact {}", joined(exact.iter().map(|id| quoted(id)))),
            (_, Some(pattern)) => format!("-- {}", quoted(pattern)),
            (None, None) if chosen.modules.is_empty() => String::new(),
            (None, None) => {
                format!("-- {}", joined(chosen.modules.iter().map(|module| quoted(module))))
            }
        };
        let run = vec![start, self.cargo_extent(&chosen), filters];
        if documented.is_empty() {
            return run;
        }
        let extent = self.cargo_extent(&CargoTargets::default());
        let words = joined(documented.iter().map(|word| quoted(word)));
        let documented = vec![format!("{TEST} --doc"), extent, format!("-- {words}")];
        if exact.is_empty() {
            return documented;
        }
        // Both run, whatever comes of the first, and the whole fails where one of them does.
        let (first, second) = (joined(run), joined(documented));
        vec![format!("if {first}; then {second}; else {second}; false; fi")]
    }

    /// What chooses those of the ids that are of tests in documentation, and the other ids.
    fn cargo_ids(&self) -> (BTreeSet<&str>, Vec<&str>) {
        let ids = self.ids().unwrap_or_default().iter().map(String::as_str);
        let (documented, exact): (Vec<&str>, Vec<&str>) =
            ids.partition(|id| doc_tests::word(id).is_some());
        // A pattern may be such an id, too.
        let all = documented.into_iter().chain(self.pattern());
        (all.filter_map(doc_tests::word).collect(), exact)
    }

    pub(super) fn nextest(&self) -> Vec<String> {
        let chosen = CargoTargets::of(&self.choice.files, self.cargo_manifest());
        let filters = match (self.ids(), self.pattern()) {
            (Some(ids), _) => {
                let exact: Vec<_> =
                    ids.iter().map(|id| format!("test(={})", in_filter(id))).collect();
                format!("-E {}", quoted(&exact.join(" + ")))
            }
            (_, Some(pattern)) if !chosen.modules.is_empty() => {
                let modules: Vec<String> =
                    chosen.modules.iter().map(|module| format!("test(/^{module}/)")).collect();
                let both = format!("({}) & test(~{})", modules.join(" + "), in_filter(pattern));
                format!("-E {}", quoted(&both))
            }
            (_, Some(pattern)) => format!("-- {}", quoted(pattern)),
            (None, None) if chosen.modules.is_empty() => String::new(),
            (None, None) => {
                format!("-- {}", joined(chosen.modules.iter().map(|module| quoted(module))))
            }
        };
        vec![
            "cargo nextest run --offline --no-fail-fast --color never".to_owned(),
            format!("--tool-config-file moss:{}", self.report("nextest.toml")),
            self.cargo_extent(&chosen),
            filters,
        ]
    }

    fn cargo_manifest(&self) -> &str {
        self.directory().manifest("Cargo.toml").unwrap_or_default()
    }

    /// Which packages and targets: all of a workspace where nothing is chosen.
    fn cargo_extent(&self, chosen: &CargoTargets) -> String {
        match self.choice.files.is_empty() && self.directory().is_cargo_workspace() {
            true => "--workspace".to_owned(),
            false => chosen.targets.join(" "),
        }
    }

    pub(super) fn go(&self) -> Vec<String> {
        let is_file =
            |file: &str| file.rsplit('/').next().is_some_and(|name| name.ends_with(".go"));
        let packages: BTreeSet<String> = self
            .choice
            .files
            .iter()
            .map(|file| match (is_file(file), file.rsplit_once('/')) {
                (false, _) => format!("./{file}/..."),
                (true, None) => ".".to_owned(),
                (true, Some((directory, _))) => format!("./{directory}"),
            })
            .collect();
        let packages = match packages.is_empty() {
            true => "./...".to_owned(),
            false => joined(packages.iter().map(|package| quoted(package))),
        };
        let run = match (self.ids(), self.pattern()) {
            (Some(ids), _) => {
                // A part of a test is run with all of it.
                let top: BTreeSet<&str> =
                    ids.iter().filter_map(|id| id.split('/').next()).collect();
                let top: Vec<&str> = top.into_iter().collect();
                format!("-run {}", quoted(&format!("^(?:{})$", top.join("|"))))
            }
            (_, Some(pattern)) => format!("-run {}", quoted(pattern)),
            (None, None) => String::new(),
        };
        // A result of an earlier run does not show which tests are flaky.
        let again = if self.ids().is_some() { "-count=1" } else { "" };
        let coverage = match self.choice.coverage {
            true => format!("-coverprofile={}", self.report("cover.out")),
            false => String::new(),
        };
        vec!["go test -json".to_owned(), again.to_owned(), run, coverage, packages]
    }

    pub(super) fn ctest(&self) -> Vec<String> {
        let directory = self.directory();
        let is_built_here = directory.files.contains("CTestTestfile.cmake");
        let build = if is_built_here { "." } else { "build" };
        vec![
            // Tests of what was built before would not be those of the files as they are.
            format!("cmake --build {build} &&"),
            format!("ctest --test-dir {build} --output-on-failure --no-tests=error"),
            format!("--output-junit {}", self.report("ctest.xml")),
            self.expression("-R "),
        ]
    }

    pub(super) fn dotnet(&self) -> Vec<String> {
        let filter = match (self.ids(), self.pattern()) {
            (Some(ids), _) => {
                let exact: Vec<_> =
                    ids.iter().map(|id| format!("FullyQualifiedName={id}")).collect();
                Some(exact.join("|"))
            }
            // An expression of its own, or a part of a name.
            (_, Some(pattern)) if pattern.contains(['=', '~', '|']) => Some(pattern.to_owned()),
            (_, Some(pattern)) => Some(format!("FullyQualifiedName~{pattern}")),
            (None, None) => None,
        };
        vec![
            // By default the console has what failed only.
            "dotnet test --no-restore --nologo --logger trx --logger 'console;verbosity=normal'"
                .to_owned(),
            match self.choice.coverage {
                true => "--collect 'XPlat Code Coverage;Format=lcov'".to_owned(),
                false => String::new(),
            },
            format!("--results-directory {}", quoted(self.reports)),
            filter.map_or_else(String::new, |filter| format!("--filter {}", quoted(&filter))),
        ]
    }

    pub(super) fn swift(&self) -> Vec<String> {
        vec![
            "swift test --disable-automatic-resolution --parallel".to_owned(),
            format!("--xunit-output {}", self.report("swift.xml")),
            self.expression("--filter "),
        ]
    }
}

// === impl CargoTargets ===

impl CargoTargets {
    /// What each file is; everything where some cannot be chosen together.
    fn of(files: &[String], manifest: &str) -> Self {
        let mut found = Self::default();
        let mut has_all = false;
        for file in files {
            let Some(path) = file.strip_suffix(".rs") else {
                has_all = true;
                continue;
            };
            if let Some(inside) = path.strip_prefix("tests/") {
                match test_target(inside, manifest) {
                    Some(name) => found.targets.push(format!("--test {}", quoted(&name))),
                    // What several tests have in common, or a module of one that has another name.
                    None => has_all = true,
                }
                continue;
            }
            let Some(module) = path.strip_prefix("src/") else {
                has_all = true;
                continue;
            };
            let module = module.strip_suffix("/mod").unwrap_or(module);
            match module {
                "lib" | "main" => has_all = true,
                _ if module.starts_with("bin/") => has_all = true,
                _ => found.modules.push(format!("{}::", module.replace('/', "::"))),
            }
        }
        found.targets.dedup();
        // The name of a module would choose among the tests of a target, too.
        if has_all || (!found.targets.is_empty() && !found.modules.is_empty()) {
            return Self::default();
        }
        found
    }
}

/// The target that a file in `tests`, without its ending, is of: `api` is one, `api/main` as well, and of `api/part` where the
/// manifest has `path = "tests/api/main.rs"`.
fn test_target(inside: &str, manifest: &str) -> Option<String> {
    let Some((name, rest)) = inside.split_once('/') else { return Some(inside.to_owned()) };
    let main = format!("\"tests/{name}/main.rs\"");
    let sections = manifest.split("[[test]]").skip(1);
    let values = |section: &str, key: &str| -> Option<String> {
        let mut lines = section.lines().take_while(|line| !line.starts_with('['));
        let line = lines.find(|line| line.split('=').next().map(str::trim) == Some(key))?;
        Some(line.split_once('=')?.1.trim().to_owned())
    };
    let mut declared = sections.filter(|section| values(section, "path").as_ref() == Some(&main));
    let declared = declared.next().and_then(|section| values(section, "name"));
    match declared {
        Some(declared) => Some(declared.trim_matches('"').to_owned()),
        None => (rest == "main").then(|| name.to_owned()),
    }
}

/// Where the tests of a Rust file stand in their program: `deep::part::`, nothing at its top. None of a file of
/// which only its program knows.
pub(crate) fn rust_module(path: &str) -> Option<String> {
    let path = path.strip_suffix(".rs")?;
    // The first directory beneath these is that of one program.
    let of_program = |rest: &str| match rest.split_once('/') {
        Some((_, inside)) => inside.to_owned(),
        None => String::new(),
    };
    let inside = match path.strip_prefix("src/") {
        Some(source) => match source.strip_prefix("bin/") {
            Some(rest) => of_program(rest),
            None => source.to_owned(),
        },
        None => of_program(path.strip_prefix("tests/")?),
    };
    let inside = inside.strip_suffix("/mod").unwrap_or(&inside);
    Some(match inside {
        "" | "lib" | "main" => String::new(),
        inside => format!("{}::", inside.replace('/', "::")),
    })
}

/// What more cargo runs than the files that were chosen.
pub(super) fn widened_by_cargo(
    framework: TestFramework,
    choice: &TestChoice,
    project: &ProjectDirectory,
) -> Option<String> {
    let manifest = project.manifest("Cargo.toml").unwrap_or_default();
    let chosen = CargoTargets::of(&choice.files, manifest);
    let files = choice.files.join(", ");
    match (&choice.selection, chosen == CargoTargets::default()) {
        (TestSelection::All, true) => Some(format!(
            "cargo cannot choose the tests of {files} alone: all of the package were run"
        )),
        (TestSelection::Pattern(_), is_all)
            if is_all || (framework == TestFramework::Cargo && !chosen.modules.is_empty()) =>
        {
            Some(format!(
                "cargo cannot choose by name among the tests of {files} alone: those of the whole package with \
                 that name were run"
            ))
        }
        _ => None,
    }
}

/// A text in a filter of nextest.
fn in_filter(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if "\\),/".contains(c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// Has nextest write a report, whatever the project configures otherwise.
pub(super) fn nextest_configuration(reports: &str) -> String {
    let path = toml_text(&format!("{reports}/nextest.xml"));
    format!(
        "[profile.default.junit]\npath = {path}\nstore-success-output = false\nstore-failure-output = true\n"
    )
}

fn toml_text(text: &str) -> String {
    let escaped: String = text
        .chars()
        .map(|c| match c {
            '"' | '\\' => format!("\\{c}"),
            c if c.is_control() => format!("\\u{:04x}", u32::from(c)),
            c => c.to_string(),
        })
        .collect();
    format!("\"{escaped}\"")
}
