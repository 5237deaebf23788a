//! Manifests: which files say what a project is built with, what it is called, and where its
//! programs start.

mod commands;
mod text;

use moss_sdk::deceptive::escaped;
use serde_json::Value;
use toml::Table;

pub(super) use self::commands::{ManifestSurroundings, ProjectCommand};
pub(super) use self::text::ManifestText;

/// Most bytes of a name.
const NAME_BYTES_MAX: usize = 100;
/// Most files that one manifest names.
const STARTS_MAX: usize = 200;
/// Names of scripts beside a package.json, or in `src` beside it, that a package starts in by
/// custom.
const PACKAGE_STARTS: [&str; 4] = ["index", "server", "app", "cli"];
/// Ends of the names of scripts.
const SCRIPTS: [&str; 6] = ["ts", "tsx", "js", "jsx", "mjs", "cjs"];

/// What a file is the manifest of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ManifestKind {
    /// What builds it or what reads the file, as a result says it.
    pub(super) name: &'static str,
    source: NameSource,
}

/// What a manifest says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Facts {
    /// The name of the project, with escapes in the place of deceptive characters.
    pub(super) name: Option<String>,
    /// Files that its programs start in, as the manifest names them; some may not exist.
    pub(super) starts: Vec<String>,
}

/// Where the name of a project stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NameSource {
    /// The manifest has no name of the project.
    Unnamed,
    /// In the name of the file, before the last dot.
    Stem,
    /// On the first line that starts with this word.
    Line(&'static str),
    Cargo,
    Package,
    /// In a JSON object under `name`.
    Json,
    Pyproject,
    Pom,
}

use NameSource::{Cargo, Json, Line, Package, Pom, Pyproject, Stem, Unnamed};

/// Kinds of manifests, and their names in lower case; those that are the end of a name have their dot.
const MANIFESTS: &[(&str, NameSource, &[&str])] = &[
    ("gradle", Unnamed, &["build.gradle", "build.gradle.kts"]),
    ("sbt", Line("name"), &["build.sbt"]),
    ("zig", Unnamed, &["build.zig"]),
    ("cargo", Cargo, &["cargo.toml"]),
    ("cmake", Line("project"), &["cmakelists.txt"]),
    (
        "docker",
        Unnamed,
        &["compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml", "dockerfile"],
    ),
    ("composer", Json, &["composer.json"]),
    ("autotools", Unnamed, &["configure.ac"]),
    ("deno", Json, &["deno.json"]),
    ("dune", Line("(name"), &["dune-project"]),
    ("jest", Unnamed, &["jest.config.json"]),
    ("conda", Line("name"), &["environment.yml"]),
    ("nix", Unnamed, &["flake.nix"]),
    ("bundler", Unnamed, &["gemfile"]),
    ("make", Unnamed, &["gnumakefile", "makefile"]),
    ("go", Line("module"), &["go.mod"]),
    ("go", Unnamed, &["go.work"]),
    ("just", Unnamed, &["justfile"]),
    ("meson", Line("project"), &["meson.build"]),
    ("mix", Line("app"), &["mix.exs"]),
    ("bazel", Unnamed, &["module.bazel"]),
    ("npm", Package, &["package.json"]),
    ("swift", Line("name"), &["package.swift"]),
    ("pipenv", Unnamed, &["pipfile"]),
    ("maven", Pom, &["pom.xml"]),
    ("dart", Line("name"), &["pubspec.yaml"]),
    ("python", Pyproject, &["pyproject.toml"]),
    ("pytest", Unnamed, &["pytest.ini", "tox.ini"]),
    ("rebar", Unnamed, &["rebar.config"]),
    ("pip", Unnamed, &["requirements.txt"]),
    ("gradle", Line("rootProject.name"), &["settings.gradle", "settings.gradle.kts"]),
    ("python", Line("name"), &["setup.cfg", "setup.py"]),
    ("stack", Unnamed, &["stack.yaml"]),
    ("task", Unnamed, &["taskfile.yaml", "taskfile.yml"]),
    ("cabal", Stem, &[".cabal"]),
    ("dotnet", Stem, &[".csproj", ".fsproj", ".sln", ".vbproj"]),
    ("bundler", Stem, &[".gemspec"]),
];

/// Says what a file is the manifest of, by its name in lower case.
pub(super) fn kind(name: &str) -> Option<ManifestKind> {
    let last = name.rsplit_once('.').map(|(_, last)| last);
    let is_so = |known: &str| match known.strip_prefix('.') {
        Some(ending) => last == Some(ending),
        None => name == known,
    };
    let (name, source, _) =
        MANIFESTS.iter().find(|(.., known)| known.iter().any(|known| is_so(known)))?;
    Some(ManifestKind { name, source: *source })
}

// === impl ManifestKind ===

impl ManifestKind {
    /// Whether the text of the manifest is needed to say what it says.
    pub(super) fn needs_text(self) -> bool {
        !matches!(self.source, Unnamed | Stem)
            || commands::need_text(self.name)
            || matches!(self.name, "jest" | "pytest")
    }

    /// Returns the commands that a manifest gives. `text` is missing where it may not be read.
    pub(super) fn commands(
        self,
        file_name: &str,
        text: Option<&ManifestText>,
        around: &dyn ManifestSurroundings,
    ) -> Vec<ProjectCommand> {
        let unread = ManifestText::default();
        let text = text.or_else(|| (!self.needs_text()).then_some(&unread));
        text.map_or_else(Vec::new, |text| commands::commands(self.name, file_name, text, around))
    }

    /// Files that programs may start in where those that the manifest names do not exist, such as
    /// what is built first.
    pub(super) fn customary_starts(self) -> Vec<String> {
        if self.source != Package {
            return Vec::new();
        }
        let names = PACKAGE_STARTS
            .iter()
            .flat_map(|name| SCRIPTS.iter().map(move |ending| format!("{name}.{ending}")));
        names.flat_map(|name| [format!("src/{name}"), name]).collect()
    }

    /// Reads what a manifest says. One that is invalid is ignored.
    pub(super) fn facts(self, file_name: &str, text: &ManifestText) -> Facts {
        let mut facts = match self.source {
            Unnamed => Facts::default(),
            Stem => {
                Facts { name: file_name.rsplit_once('.').map(|n| n.0.into()), starts: Vec::new() }
            }
            Line(word) => Facts { name: after(&text.text, word), starts: Vec::new() },
            Cargo => text.table().map(cargo).unwrap_or_default(),
            Pyproject => text.table().map(pyproject).unwrap_or_default(),
            Package | Json => package(text.json()),
            Pom => Facts { name: artifact(&text.text), starts: Vec::new() },
        };
        let is_fit = |name: &String| {
            !name.is_empty() && name.len() <= NAME_BYTES_MAX && !name.chars().any(char::is_control)
        };
        facts.name = facts.name.filter(is_fit).map(|name| escaped(&name));
        facts.starts.truncate(STARTS_MAX);
        facts
    }
}

/// Returns the first value that stands after a word at the start of a line.
fn after(text: &str, word: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let line = line.trim_start();
        let start = line.get(..word.len()).filter(|start| start.eq_ignore_ascii_case(word))?;
        let rest = &line[start.len()..];
        if rest.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '-') {
            return None;
        }
        let value = rest.trim_start_matches([' ', '\t', ':', '=', '(', '"', '\'']);
        let end = value.find([' ', '\t', ',', ')', '"', '\'', ';', '#']).unwrap_or(value.len());
        (end > 0).then(|| value[..end].to_owned())
    })
}

fn cargo(table: &Table) -> Facts {
    let text = |value: &toml::Value, key: &str| value.get(key)?.as_str().map(str::to_owned);
    let programs = table.get("bin").and_then(toml::Value::as_array).into_iter().flatten();
    let targets = programs.chain(table.get("lib"));
    Facts {
        name: table.get("package").and_then(|package| text(package, "name")),
        starts: targets.filter_map(|target| text(target, "path")).collect(),
    }
}

fn pyproject(table: &Table) -> Facts {
    let projects = [table.get("project"), table.get("tool").and_then(|tool| tool.get("poetry"))];
    let project = || projects.into_iter().flatten();
    let name = project().find_map(|project| project.get("name")?.as_str().map(str::to_owned));
    let scripts = project().filter_map(|project| project.get("scripts")?.as_table());
    let functions = scripts.flat_map(Table::values).filter_map(toml::Value::as_str);
    let starts = functions.flat_map(|function| {
        let module = function.split(':').next().unwrap_or_default().replace('.', "/");
        [format!("{module}.py"), format!("{module}/__init__.py")]
    });
    let starts = starts.flat_map(|path| [format!("src/{path}"), path]);
    Facts { name, starts: starts.collect() }
}

fn package(object: &Value) -> Facts {
    let mut named: Vec<&str> = Vec::new();
    for key in ["main", "module", "bin"] {
        match object.get(key) {
            Some(Value::String(path)) => named.push(path),
            Some(Value::Object(paths)) => named.extend(paths.values().filter_map(Value::as_str)),
            _ => {}
        }
    }
    let whole = |path: &str| [path.to_owned(), format!("{path}.js"), format!("{path}/index.js")];
    Facts {
        name: object.get("name").and_then(Value::as_str).map(str::to_owned),
        starts: named.into_iter().flat_map(whole).collect(),
    }
}

/// Returns the name of a Maven project, which is not that of its parent.
fn artifact(text: &str) -> Option<String> {
    let (before, after) = text.split_once("<parent>").unwrap_or((text, ""));
    let own = |text: &str| {
        let (_, rest) = text.split_once("<artifactId>")?;
        rest.split_once("</artifactId>").map(|(name, _)| name.trim().to_owned())
    };
    let after = after.split_once("</parent>").map_or("", |(_, after)| after);
    own(before).or_else(|| own(after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_say_what_their_project_is_called() {
        let pom = "<project>\n<parent><artifactId>p</artifactId></parent>\n\
                   <artifactId> a </artifactId>\n<dependencies><artifactId>d</artifactId>";
        for (file, text, kind_name, name) in [
            ("Cargo.toml", "[package]\nname = \"a\"\n", "cargo", Some("a")),
            ("Cargo.toml", "[workspace]\n", "cargo", None),
            ("Cargo.toml", "[package\nname = \"a\"\n", "cargo", None),
            ("Cargo.toml", "[package]\nname = 7\n", "cargo", None),
            ("package.json", "{\"name\": \"@a/b\"}", "npm", Some("@a/b")),
            ("package.json", "{\"name\": \"a\\u0007\"}", "npm", None),
            ("package.json", "[]", "npm", None),
            ("pyproject.toml", "[project]\nname = 'a'\n", "python", Some("a")),
            ("pyproject.toml", "[tool.poetry]\nname = 'a'\n", "python", Some("a")),
            ("setup.py", "setup(\n    name=\"a\",\n)", "python", Some("a")),
            ("setup.cfg", "[metadata]\nname = a\n", "python", Some("a")),
            ("go.mod", "// x\nmodule example.org/a\n\ngo 1.22\n", "go", Some("example.org/a")),
            ("pom.xml", pom, "maven", Some("a")),
            ("settings.gradle.kts", "rootProject.name = \"a\"\n", "gradle", Some("a")),
            ("CMakeLists.txt", "PROJECT (a LANGUAGES C)\n", "cmake", Some("a")),
            ("mix.exs", "  [\n    app: :a,\n", "mix", Some("a")),
            ("pubspec.yaml", "name: a\n", "dart", Some("a")),
            ("meson.build", "project('a', 'c')\n", "meson", Some("a")),
            ("dune-project", "(lang dune 3.0)\n(name a)\n", "dune", Some("a")),
            ("Ä.csproj", "<Project/>", "dotnet", Some("Ä")),
            ("Makefile", "name = a\n", "make", None),
        ] {
            let kind = kind(&file.to_lowercase()).unwrap();
            assert_eq!(kind.name, kind_name, "{file}");
            assert_eq!(
                kind.facts(file, &text.to_owned().into()).name.as_deref(),
                name,
                "{file}: {text}"
            );
        }
        let long = format!("module {}\n", "x".repeat(NAME_BYTES_MAX + 1));
        assert_eq!(kind("go.mod").unwrap().facts("go.mod", &long.into()).name, None);
        for name in ["main.rs", "package-lock.json", "csproj", "go.mod.bak", ""] {
            assert_eq!(kind(name), None, "{name}");
        }
    }

    #[test]
    fn deceptive_characters_of_a_name_are_escaped() {
        let named =
            |file: &str, text: &str| kind(file).unwrap().facts(file, &text.to_owned().into()).name;
        let package = "{\"name\": \"cat\u{202e}txt.exe\u{2028}x\"}";
        assert_eq!(named("package.json", package).unwrap(), r"cat\u{202e}txt.exe\u{2028}x");
        let cargo = "[package]\nname = \"cat\u{202e}\u{2028}\"\n";
        assert_eq!(named("cargo.toml", cargo).unwrap(), r"cat\u{202e}\u{2028}");
        assert_eq!(named("cat\u{202e}.csproj", "").unwrap(), r"cat\u{202e}");
        assert_eq!(named("go.mod", "module \u{e9}\u{732b}\n").unwrap(), "\u{e9}\u{732b}");
    }

    #[test]
    fn manifests_say_where_programs_start() {
        let starts = |file: &str, text: &str| {
            kind(file).unwrap().facts(file, &text.to_owned().into()).starts
        };
        let cargo = "[[bin]]\nname = \"a\"\npath = \"a.rs\"\n[[bin]]\nname = \"b\"\n";
        assert_eq!(starts("cargo.toml", cargo), ["a.rs"]);
        let package = r#"{"main": "./a.js", "bin": {"x": "b", "y": 3}}"#;
        assert_eq!(starts("package.json", package)[0], "./a.js");
        assert!(starts("package.json", package).contains(&"b/index.js".to_owned()));
        let python = "[project.scripts]\nx = \"a.b:main\"\n";
        assert!(starts("pyproject.toml", python).contains(&"src/a/b.py".to_owned()));
        assert!(starts("pyproject.toml", python).contains(&"a/b/__init__.py".to_owned()));
    }
}
