//! Which frameworks a project is found to have.

use super::*;

/// Directories, the nearest first, each with its files; a name with `/` at its end is a directory, `a=b` a file
/// with a text.
fn found(directories: &[(&str, &[&str])]) -> Vec<String> {
    let directory = |(path, names): &(&str, &[&str])| {
        let mut directory =
            ProjectDirectory { path: (*path).to_owned(), ..ProjectDirectory::default() };
        for name in *names {
            match (name.split_once('='), name.strip_suffix('/')) {
                (Some((name, text)), _) => {
                    directory.files.insert(name.to_owned());
                    directory.manifests.insert(name.to_owned(), text.to_owned());
                }
                (None, Some(name)) => drop(directory.directories.insert(name.to_owned())),
                (None, None) => drop(directory.files.insert((*name).to_owned())),
            }
        }
        directory
    };
    let files = ProjectFiles { directories: directories.iter().map(directory).collect() };
    let shown = |one: &FoundFramework| {
        format!("{} {}", one.framework.name(), files.directories[one.directory].path)
    };
    test_frameworks(&files).iter().map(shown).collect()
}

#[test]
fn manifests_name_frameworks_and_the_nearest_counts() {
    for (directories, expected) in [
        (&[("", &["Cargo.toml"][..])][..], &["cargo "][..]),
        (&[("a", &["Cargo.toml"]), ("", &["Cargo.toml"])], &["cargo a"]),
        (
            &[("a", &["go.mod"]), ("", &["Cargo.toml", "conftest.py"])],
            &["go a", "cargo ", "pytest "],
        ),
        // Neighbours are projects of their own.
        (&[("a", &["go.mod"]), ("b", &["go.mod"])], &["go a", "go b"]),
        (&[("", &["package.json={\"devDependencies\": {\"vitest\": \"4\"}}"])], &["vitest "]),
        (&[("", &["package.json={\"scripts\": {\"test\": \"node --test\"}}"])], &["node "]),
        (&[("", &["package.json={\"scripts\": {\"test\": \"bun test\"}}"])], &["bun "]),
        (
            &[("", &["bun.lock", "package.json={\"devDependencies\": {\"@types/bun\": \"1\"}}"])],
            &["bun "],
        ),
        (&[("", &["bun.lock", "package.json={}"])], &[]),
        (&[("", &["package.json={broken"])], &[]),
        (&[("", &["CMakeLists.txt=enable_testing()"])], &["ctest "]),
        (&[("", &["CMakeLists.txt=project(x)"])], &[]),
        (&[("", &["pom.xml"])], &["maven "]),
        (&[("", &["build.gradle.kts"])], &["gradle "]),
        (&[("", &["App.sln"])], &["dotnet "]),
        (&[("", &["Package.swift"])], &["swift "]),
        (&[("", &["a.bats"])], &["bats "]),
        (&[("", &["README.md"])], &[]),
    ] {
        assert_eq!(found(directories), expected, "{directories:?}");
    }
}

#[test]
fn files_of_python_tests_belong_to_the_project_around_them() {
    for (directories, expected) in [
        (
            &[
                ("py/tests", &["test_a.py"][..]),
                ("py", &["pyproject.toml=[tool.pytest]"]),
                ("", &[]),
            ][..],
            &["pytest py"][..],
        ),
        (
            &[
                ("py/tests/deep", &["test_a.py"]),
                ("py/tests", &[]),
                ("py", &["setup.py", "tests/"]),
                ("", &[]),
            ],
            &["unittest py"],
        ),
        // Fixtures alone make no project.
        (
            &[
                ("py/tests/unit", &["test_a.py", "conftest.py"]),
                ("py/tests", &["conftest.py"]),
                ("py", &["pyproject.toml"]),
                ("", &[]),
            ],
            &["pytest py"],
        ),
        (&[("tests", &["conftest.py"]), ("", &["pytest.ini"])], &["pytest "]),
        (&[("tests", &["conftest.py"]), ("", &["a.py"])], &["pytest tests"]),
        // Without a project they run from beside their directory.
        (&[("app/tests", &["test_a.py"]), ("app", &["a.py"]), ("", &[])], &["unittest app"]),
        (&[("tests", &["test_a.py"]), ("", &["a.py"])], &["unittest "]),
        (&[("app", &["test_a.py"]), ("", &[])], &["unittest app"]),
        (&[("", &["test_a.py"])], &["unittest "]),
    ] {
        assert_eq!(found(directories), expected, "{directories:?}");
    }
}
