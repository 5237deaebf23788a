//! Where the tests of a project are: by the names of files and directories, and as its manifests have it. Pure.

use serde_json::Value;

/// Names of directories with tests, in lower case.
const TEST_DIRECTORIES: &[&str] = &[
    "__tests__",
    "androidtest",
    "e2e",
    "integration-tests",
    "integration_tests",
    "integrationtest",
    "spec",
    "specs",
    "test",
    "tests",
    "testsuite",
    "unit-tests",
    "unittests",
];
/// Directories that hold what is tested as well: they are named for other reasons.
const SOURCES: [&str; 3] = ["lib", "src", "source"];
/// Most locations that one manifest names.
const STATED_MAX: usize = 50;

/// The pattern of names of tests that a name has.
pub fn test_pattern(name: &str) -> Option<String> {
    let (stem, ending) = name.split_once('.').filter(|(stem, _)| !stem.is_empty())?;
    let last = name.rsplit_once('.')?.1;
    if matches!(stem, "test" | "tests" | "conftest") && ending == last {
        return Some(name.to_owned());
    }
    if stem.starts_with("test_") {
        return Some(format!("test_*.{last}"));
    }
    let before_last = &name[..name.len() - last.len()];
    for part in [".test.", ".spec.", ".e2e.", ".cy."] {
        if before_last.ends_with(part) {
            return Some(format!("*{part}{last}"));
        }
    }
    let stem = &before_last[..before_last.len() - 1];
    let ends = ["_test", "_tests", "_spec", "-test", "-spec"];
    let words = ["Test", "Tests", "Spec", "TestCase", "IT"];
    let end = ends.into_iter().chain(words).find(|end| {
        stem.strip_suffix(end).is_some_and(|rest| rest.ends_with(|c: char| c.is_alphanumeric()))
    })?;
    let is_word = words.contains(&end);
    let has_words = ["cs", "fs", "groovy", "java", "kt", "php", "scala", "swift", "vb"];
    (!is_word || has_words.contains(&last)).then(|| format!("*{end}.{last}"))
}

/// The outermost directory on the way to a directory that holds tests, itself included.
pub fn test_directory(directory: &str) -> Option<&str> {
    let ends = directory.match_indices('/').map(|(end, _)| end).chain([directory.len()]);
    ends.map(|end| &directory[..end]).find(|directory| {
        let name = directory.rsplit_once('/').map_or(*directory, |(_, name)| name);
        TEST_DIRECTORIES.contains(&name.to_lowercase().as_str())
    })
}

/// The directories that a manifest says tests are in, as seen from its own; some may not exist. What cannot be read
/// is passed over.
pub fn stated_test_directories(file_name: &str, text: &str) -> Vec<String> {
    let mut stated = match file_name {
        "Cargo.toml" => {
            let paths = values(text, "[[test]]", "path").into_iter();
            let directories = paths.filter_map(|path| Some(path.rsplit_once('/')?.0.to_owned()));
            directories.filter(|path| !SOURCES.contains(&path.as_str())).collect()
        }
        "pyproject.toml" => pytest_directories(text, "[tool.pytest.ini_options]"),
        "pytest.ini" | "tox.ini" => pytest_directories(text, "[pytest]"),
        "setup.cfg" => pytest_directories(text, "[tool:pytest]"),
        "package.json" => {
            let package: Value = serde_json::from_str(text).unwrap_or_default();
            jest_directories(package.get("jest").unwrap_or(&Value::Null))
        }
        "jest.config.json" => jest_directories(&serde_json::from_str(text).unwrap_or_default()),
        "pom.xml" => maven_directory(text).into_iter().collect(),
        _ => Vec::new(),
    };
    stated.retain(|path| !path.is_empty());
    stated.truncate(STATED_MAX);
    stated
}

/// The texts of a key in all sections of a name, of TOML or an INI file: one, an array, or words over several lines.
fn values(text: &str, section: &str, key: &str) -> Vec<String> {
    let mut values = Vec::new();
    let (mut is_inside, mut is_continued) = (false, false);
    for line in text.lines() {
        let line = line.split_once(" #").map_or(line, |(line, _)| line).trim_end();
        let is_indented = line.starts_with([' ', '\t']);
        let line = line.trim_start();
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        let assigned = line.split_once('=').filter(|(name, _)| name.trim_end() == key);
        if !is_indented && line.starts_with('[') {
            (is_inside, is_continued) = (line == section, false);
        } else if let Some((_, rest)) = assigned.filter(|_| is_inside) {
            values.extend(texts(rest));
            let is_array = rest.trim_start().starts_with('[');
            is_continued = !rest.contains(']') && (is_array || !rest.contains(['"', '\'']));
        } else if is_continued && (is_indented || line.starts_with(['"', '\'', ']'])) {
            values.extend(texts(line));
            is_continued = !line.contains(']');
        } else {
            is_continued = false;
        }
    }
    values
}

/// The quoted texts of a line; where there are none, its words.
fn texts(line: &str) -> Vec<String> {
    let mut quoted = line.split(['"', '\'']).skip(1).step_by(2).peekable();
    if quoted.peek().is_some() {
        return quoted.map(str::to_owned).collect();
    }
    line.split([' ', '\t', '[', ']', ','])
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The directories that pytest looks for tests in, but for those of all sources.
fn pytest_directories(text: &str, section: &str) -> Vec<String> {
    let stated = values(text, section, "testpaths").into_iter().map(|path| plain(&path));
    stated.filter(|path| !is_of_sources(path)).collect()
}

/// Whether a path is that of all sources, or of the whole project.
fn is_of_sources(path: &str) -> bool {
    path.is_empty() || SOURCES.contains(&path)
}

/// The directories that Jest looks for tests in, but for those of all sources.
fn jest_directories(settings: &Value) -> Vec<String> {
    let root = strings(settings, "rootDir").first().map_or(String::new(), |root| plain(root));
    let below = |path: &str| {
        let path = plain(path.trim_start_matches("<rootDir>").trim_start_matches('/'));
        let is_source = is_of_sources(&path);
        let inside = if root.is_empty() { path } else { format!("{root}/{path}") };
        (!is_source).then_some(inside)
    };
    let stated = ["roots", "testMatch"].into_iter().flat_map(|key| strings(settings, key));
    stated.filter_map(below).collect()
}

/// The texts of a key: one, or an array.
fn strings<'a>(settings: &'a Value, key: &str) -> Vec<&'a str> {
    match settings.get(key) {
        Some(Value::Array(values)) => values.iter().filter_map(Value::as_str).collect(),
        Some(Value::String(value)) => vec![value],
        _ => Vec::new(),
    }
}

/// The start of a path that has no wildcards.
fn plain(path: &str) -> String {
    let names = path.split('/').take_while(|name| !name.contains(['*', '?', '(', '[', '{']));
    names.filter(|name| !matches!(*name, "" | ".")).collect::<Vec<_>>().join("/")
}

fn maven_directory(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("<testSourceDirectory>")?;
    let (path, _) = rest.split_once("</testSourceDirectory>")?;
    let path = path.trim();
    let own = ["${project.basedir}/", "${basedir}/"].iter();
    let path = own.fold(path, |path, own| path.strip_prefix(own).unwrap_or(path));
    Some(path.trim_end_matches('/').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_say_where_tests_are() {
        let cargo = "[package]\nname = \"a\"\n[[test]]\nname = \"x\"\npath = \"checks/it/x.rs\"\n\
                     [[test]]\npath = \"src/y.rs\"\n[[bin]]\npath = \"tools/b.rs\"\n\
                     [[test]]\npath = \"z.rs\" # beside it\n";
        let array = "[tool.pytest.ini_options]\naddopts = \"-q\"\ntestpaths = [\n    \"checks\", # a\n  \
                     'more/checks',\n]\npythonpath = \"src\"\n";
        let ini = "[pytest]\n; testpaths = none\ntestpaths =\n    checks\n    more/checks\naddopts = -q\n";
        let both = &["checks", "more/checks"][..];
        let jest = r#"{ "rootDir": "./web", "roots": ["<rootDir>/checks", "<rootDir>"],
                        "testMatch": ["<rootDir>/more/**/*.check.js", "**/a.js"] }"#;
        let package = format!("{{ \"jest\": {jest} }}");
        let in_web = &["web/checks", "web/more"][..];
        let pom =
            "<build>\n<testSourceDirectory> ${project.basedir}/checks/ </testSourceDirectory>";
        for (file, text, expected) in [
            ("Cargo.toml", cargo, &["checks/it"][..]),
            ("Cargo.toml", "[[test]\npath", &[]),
            ("pyproject.toml", array, both),
            (
                "pyproject.toml",
                "[tool.pytest.ini_options]\ntestpaths = \"checks\"\nx = 'y'",
                &["checks"],
            ),
            (
                "pyproject.toml",
                "[tool.pytest.ini_options]\ntestpaths = ['checks', 'more/checks']",
                both,
            ),
            ("pyproject.toml", "[tool.other]\ntestpaths = ['checks']", &[]),
            ("pytest.ini", ini, both),
            ("tox.ini", "[tox]\ntestpaths = a\n[pytest]\ntestpaths = checks more/checks\n", both),
            ("setup.cfg", "[tool:pytest]\ntestpaths = checks\n[x]\n  more\n", &["checks"]),
            ("pytest.ini", "[pytest]\ntestpaths = .\n", &[]),
            ("tox.ini", "[pytest]\ntestpaths = src tests\n", &["tests"]),
            ("setup.cfg", "[tool:pytest]\ntestpaths = checks/\n", &["checks"]),
            (
                "pyproject.toml",
                "[tool.pytest.ini_options]\ntestpaths = [\"checks/*\"]\n",
                &["checks"],
            ),
            ("package.json", &package, in_web),
            ("package.json", "[]", &[]),
            ("jest.config.json", jest, in_web),
            ("jest.config.json", r#"{ "roots": ["<rootDir>/src", "checks/"] }"#, &["checks"]),
            ("pom.xml", pom, &["checks"]),
            ("go.mod", "module a", &[]),
        ] {
            assert_eq!(stated_test_directories(file, text), expected, "{file}: {text}");
        }
    }

    #[test]
    fn names_of_tests_have_a_pattern() {
        for (name, pattern) in [
            ("a_test.go", Some("*_test.go")),
            ("test_a.py", Some("test_*.py")),
            ("conftest.py", Some("conftest.py")),
            ("a.test.ts", Some("*.test.ts")),
            ("a.b.spec.tsx", Some("*.spec.tsx")),
            ("tests.rs", Some("tests.rs")),
            ("a_spec.rb", Some("*_spec.rb")),
            ("UserTest.java", Some("*Test.java")),
            ("UserTests.cs", Some("*Tests.cs")),
            ("Latest.java", None),
            ("Contest.py", None),
            ("test.py.txt", None),
            ("attest.rs", None),
            ("_test.go", None),
            (".test", None),
            ("test", None),
        ] {
            assert_eq!(test_pattern(name).as_deref(), pattern, "{name}");
        }
    }

    #[test]
    fn the_outermost_directory_of_tests_counts() {
        for (path, directory) in [
            ("tests/it", Some("tests")),
            ("a/src/test/java/tests", Some("a/src/test")),
            ("web/__tests__", Some("web/__tests__")),
            ("Tests", Some("Tests")),
            ("", None),
            ("contests", None),
        ] {
            assert_eq!(test_directory(path), directory, "{path}");
        }
    }
}
