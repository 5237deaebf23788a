//! Where the sources lie that reports do not name by their paths: those of the JVM have packages and bare names of files,
//! Swift Testing has a module and one.

use std::collections::{BTreeMap, BTreeSet};

/// Endings of what is compiled to classes.
const ENDINGS: [&str; 4] = ["java", "kt", "groovy", "scala"];

/// Sources by package and name, `com/example/CalcTest.java`, or by module and name, `CalcTests/Sums.swift`.
pub type NamedSources = BTreeMap<String, String>;

/// Finds the files of some names among all paths of a project. One that lies in several of its modules is in none.
pub fn named_sources<'a>(
    names: &BTreeSet<String>,
    paths: impl Iterator<Item = &'a str>,
) -> NamedSources {
    let mut wanted: BTreeMap<&str, Vec<&String>> = BTreeMap::new();
    for name in names {
        wanted.entry(last(name)).or_default().push(name);
    }
    let mut found: BTreeMap<&String, BTreeSet<&str>> = BTreeMap::new();
    for path in paths {
        for name in wanted.get(last(path)).into_iter().flatten() {
            if is_source(path, name) {
                found.entry(name).or_default().insert(path);
            }
        }
    }
    let only = |(name, paths): (&String, BTreeSet<&str>)| {
        let mut paths = paths.into_iter();
        let path = paths.next().filter(|_| paths.next().is_none())?;
        Some((name.clone(), path.to_owned()))
    };
    found.into_iter().filter_map(only).collect()
}

fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Whether a path is that of a package and name. Kotlin may leave out what all of its packages begin with; the files of a
/// module of Swift lie anywhere in its directory.
fn is_source(path: &str, name: &str) -> bool {
    if path == name || path.strip_suffix(name).is_some_and(|before| before.ends_with('/')) {
        return true;
    }
    if name.ends_with(".swift") {
        return name.split_once('/').is_some_and(|(module, _)| is_in_module(path, module));
    }
    let is_end = |inside: &str| {
        !inside.is_empty() && name.strip_suffix(inside).is_some_and(|before| before.ends_with('/'))
    };
    name.ends_with(".kt")
        && ["/kotlin/", "/java/"]
            .iter()
            .any(|set| path.rsplit_once(set).is_some_and(|(_, inside)| is_end(inside)))
}

/// Whether a directory of a path is that of a module, whose name has `_` for what no identifier has.
fn is_in_module(path: &str, module: &str) -> bool {
    let is_it = |name: &str| name.replace(|c: char| !c.is_alphanumeric(), "_") == module;
    path.rsplit_once('/').is_some_and(|(directories, _)| directories.split('/').any(is_it))
}

/// `at app//com.example.CalcTest.adds(CalcTest.java:12)`: `com/example/CalcTest.java`, and the line.
pub(crate) fn frame_name(line: &str) -> Option<(String, u64)> {
    let (method, location) = line.trim().strip_prefix("at ")?.split_once('(')?;
    let (file, number) = location.split_once(')')?.0.split_once(':')?;
    let is_source = file.rsplit_once('.').is_some_and(|(_, ending)| ENDINGS.contains(&ending));
    let method = method.rsplit('/').next().unwrap_or(method);
    let (class, _) = method.rsplit_once('.')?;
    let number = number.parse().ok().filter(|_| is_source && !file.contains('/'))?;
    Some((in_package(class, file), number))
}

/// What the file of a class may be called.
pub(crate) fn names_of_class(class: &str) -> Vec<String> {
    let simple = class.rsplit('.').next().unwrap_or(class);
    let outer = simple.split('$').next().unwrap_or(simple).to_owned();
    ENDINGS.map(|ending| in_package(class, &format!("{outer}.{ending}"))).to_vec()
}

fn in_package(class: &str, file: &str) -> String {
    match class.rsplit_once('.') {
        Some((package, _)) => format!("{}/{file}", package.replace('.', "/")),
        None => file.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_name_a_package_and_a_file() {
        for (line, expected) in [
            (
                "\tat com.example.CalcTest.adds(CalcTest.java:12)",
                Some(("com/example/CalcTest.java", 12)),
            ),
            ("at app//a.CalcTest$Inner.f(CalcTest.kt:3)", Some(("a/CalcTest.kt", 3))),
            (
                "at java.base/java.lang.reflect.Method.invoke(Method.java:580)",
                Some(("java/lang/reflect/Method.java", 580)),
            ),
            ("at CalcTest.adds(CalcTest.java:7)", Some(("CalcTest.java", 7))),
            ("at a.B.c(Native Method)", None),
            ("at a.B.c(Unknown Source)", None),
            ("at f (calc.test.js:4:82)", None),
            ("com.example.CalcTest.adds(CalcTest.java:12)", None),
        ] {
            let found = frame_name(line);
            let found = found.as_ref().map(|(name, number)| (name.as_str(), *number));
            assert_eq!(found, expected, "{line}");
        }
    }

    #[test]
    fn a_source_is_found_where_only_one_has_its_package_and_name() {
        let paths = [
            "app/src/test/java/com/example/CalcTest.java",
            "app/src/test/java/com/other/CalcTest.java",
            "lib/src/test/kotlin/deep/ListTest.kt",
            "one/src/test/java/a/Twice.java",
            "two/src/test/java/a/Twice.java",
            "src/test/groovy/Plain.groovy",
            "Tests/calc-tests/deep/Sums.swift",
            "Tests/OtherTests/Sums.swift",
            "checks/Odd.swift",
        ];
        let names = [
            "com/example/CalcTest.java",
            "com/example/deep/ListTest.kt",
            "a/Twice.java",
            "Plain.groovy",
            "java/lang/reflect/Method.java",
            "calc_tests/Sums.swift",
            "Sums.swift",
            "OddTests/Odd.swift",
            "Odd.swift",
        ];
        let names = names.map(str::to_owned).into_iter().collect();
        let found: Vec<_> = named_sources(&names, paths.into_iter()).into_iter().collect();
        let expected = [
            ("Odd.swift", "checks/Odd.swift"),
            ("Plain.groovy", "src/test/groovy/Plain.groovy"),
            ("calc_tests/Sums.swift", "Tests/calc-tests/deep/Sums.swift"),
            ("com/example/CalcTest.java", "app/src/test/java/com/example/CalcTest.java"),
            ("com/example/deep/ListTest.kt", "lib/src/test/kotlin/deep/ListTest.kt"),
        ];
        let expected = expected.map(|(name, path)| (name.to_owned(), path.to_owned()));
        assert_eq!(found, expected);
    }
}
