//! What says that a project uses pytest or unittest, and where it begins.

use crate::project::{ProjectDirectory, ProjectFiles};

/// The directory from which pytest runs: what has fixtures alone, in `conftest.py`, belongs to the project around
/// it, which pytest names its files from.
pub(super) fn pytest_project(files: &ProjectFiles, place: usize) -> usize {
    let is_project = |(_, directory): &(usize, &ProjectDirectory)| {
        configured_pytest(directory).is_some() || is_python(directory)
    };
    files.at_or_above(place).find(is_project).map_or(place, |(at, _)| at)
}

/// The directory from which unittest runs. Files of tests that no project names belong to the project around
/// them, and are run from beside their directory: they import what lies there.
pub(super) fn unittest_project(files: &ProjectFiles, place: usize) -> Option<usize> {
    let directory = &files.directories[place];
    if is_python(directory) {
        return Some(place);
    }
    let mut around = files
        .directories
        .iter()
        .filter(|other| other.path != directory.path && directory.beneath(&other.path).is_some());
    let is_project = |other: &ProjectDirectory| {
        pytest(other).is_some() || (is_python(other) && has_python_tests(other))
    };
    if around.any(is_project) {
        return None;
    }
    let (parent, name) = directory.path.rsplit_once('/').unwrap_or(("", &directory.path));
    let beside = files.directories.iter().position(|other| other.path == parent);
    let is_of_tests = ["test", "tests"].contains(&name);
    Some(beside.filter(|_| is_of_tests).unwrap_or(place))
}

/// What of a directory says that it has tests of pytest.
pub(super) fn pytest(directory: &ProjectDirectory) -> Option<String> {
    let fixtures = || directory.files.contains("conftest.py").then(|| "conftest.py".to_owned());
    let own = || directory.program("pytest").filter(|_| has_python_tests(directory));
    configured_pytest(directory)
        .or_else(fixtures)
        .or_else(|| own().map(|program| format!("{program} and tests")))
}

/// What of a directory says that it is a project of pytest.
fn configured_pytest(directory: &ProjectDirectory) -> Option<String> {
    for name in ["pytest.ini", ".pytest.ini"] {
        if directory.files.contains(name) {
            return Some(name.to_owned());
        }
    }
    for (name, marks) in [
        ("pyproject.toml", &["[tool.pytest", "pytest"][..]),
        ("setup.cfg", &["[tool:pytest]", "pytest"]),
        ("tox.ini", &["[pytest]", "pytest"]),
        ("requirements.txt", &["pytest"]),
        ("requirements-dev.txt", &["pytest"]),
        ("dev-requirements.txt", &["pytest"]),
    ] {
        let text = directory.manifest(name).unwrap_or_default();
        if let Some(mark) = marks.iter().find(|mark| text.contains(**mark)) {
            return Some(format!("{mark} in {name}"));
        }
    }
    None
}

pub(super) fn unittest(directory: &ProjectDirectory) -> Option<String> {
    has_python_tests(directory).then(|| "tests of Python".to_owned())
}

fn has_python_tests(directory: &ProjectDirectory) -> bool {
    let is_test = |name: &String| {
        name.strip_suffix(".py")
            .is_some_and(|stem| stem.starts_with("test_") || stem.ends_with("_test"))
    };
    directory.files.iter().any(is_test)
        || (is_python(directory)
            && ["test", "tests"].iter().any(|name| directory.directories.contains(*name)))
}

/// Whether a directory is a project of Python.
fn is_python(directory: &ProjectDirectory) -> bool {
    directory.has_file(&["pyproject.toml", "setup.py", "setup.cfg", "requirements.txt"])
}
