//! What Maven and Gradle choose of the tests whose names their reports have: methods, rows of them, classes.
//!
//! A report has the name that a test shows, which need not be that of its method. What is not surely a method is chosen
//! by its class: more runs then, and never another test alone.

use crate::framework::TestFramework;

/// What has a meaning in patterns of Maven, where nothing can be escaped.
const SPECIAL: [char; 7] = [',', '+', '#', '*', '?', '%', '!'];
/// Longest name that is chosen by itself.
const NAME_BYTES_MAX: usize = 500;
/// What reports call a class that could not be prepared.
const OF_CLASS: [&str; 3] = ["initializationError", "executionError", "classMethod"];

/// What runs a test again, by what its report has of it: its class, its name, the stack where it failed. None of a failure of
/// which no class is known.
pub(crate) fn id(
    framework: TestFramework,
    class: &str,
    name: &str,
    stack: Option<&str>,
) -> Option<String> {
    // What stands for a class may be the name that it shows, or that of a feature of Cucumber: one without a package is a
    // class where the stack has it.
    let is_plain = class.split(['.', '$']).all(|part| !part.is_empty() && identifier(part) == part);
    let is_class = (is_plain && class.contains('.'))
        || (!class.is_empty() && stack.is_none_or(|stack| passes_class(stack, class)));
    if !is_class {
        return None;
    }
    Some(match method(framework, class, name, stack) {
        Some(method) => format!("{}{}{method}", of_class(framework, class), mark(framework)),
        None => of_class(framework, class),
    })
}

/// The ids that a test has where it fails, by the one that it has where it passes.
pub(crate) fn failing_ids(framework: TestFramework, id: &str) -> Vec<String> {
    // Dots of a method are none in its id.
    let (class, method) = id.rsplit_once(mark(framework)).unwrap_or((id, ""));
    let methods = parts(method).skip(1);
    let methods = methods.map(|part| format!("{class}{}{part}", mark(framework)));
    methods.chain([class.to_owned()]).collect()
}

/// The selectors of an id or a pattern. A row, `test[0]`, is a test by this name with JUnit 4, and one of a method with
/// JUnit 5: both are chosen. Parameters, which reports have, choose nothing.
pub(crate) fn selectors(framework: TestFramework, pattern: &str) -> Vec<String> {
    // Maven runs all tests of a project where no method stands behind the mark.
    let pattern = pattern.trim_end_matches('#');
    let whole = vec![pattern.to_owned()];
    let Some(at) = pattern.find(['[', '(', '{']) else { return whole };
    let (before, rest) = pattern.split_at(at);
    let Some((class, method)) = before.rsplit_once(mark(framework)) else { return whole };
    // What else has a meaning in it is the caller's own.
    let is_class = !class.is_empty() && !class.trim_start_matches('*').contains(SPECIAL);
    if !is_class || method.is_empty() || identifier(method) != method {
        return whole;
    }
    let is_maven = framework == TestFramework::Maven;
    match rest.starts_with('[') {
        true if is_maven && rest.contains([',', '+', '%', '!']) => whole,
        true if is_maven => vec![format!("{before}+{method}{rest}")],
        true => vec![before.to_owned(), pattern.to_owned()],
        false if rest.ends_with([')', '}', ']']) && !rest.contains('#') => vec![before.to_owned()],
        false => whole,
    }
}

/// What stands between a class and its method.
fn mark(framework: TestFramework) -> char {
    if framework == TestFramework::Maven { '#' } else { '.' }
}

/// A pattern of a class.
fn of_class(framework: TestFramework, class: &str) -> String {
    match framework {
        TestFramework::Maven => literal(framework, class),
        // What begins with a capital letter is for Gradle a class without its package.
        _ if class.starts_with(char::is_uppercase) && class.contains('.') => format!("*{class}"),
        _ => class.to_owned(),
    }
}

/// A pattern of the method of a test, or of its row; none where the whole class has to be chosen.
fn method(
    framework: TestFramework,
    class: &str,
    name: &str,
    stack: Option<&str>,
) -> Option<String> {
    let simple = class.rsplit('.').next().unwrap_or(class);
    if name.is_empty() || [class, simple].contains(&name) || OF_CLASS.contains(&name) {
        return None;
    }
    let passes = |part: &str| stack.is_none_or(|stack| passes_method(stack, part));
    let plain = identifier(name);
    let rest = &name[plain.len()..];
    // Maven has names of methods unless it is configured otherwise, Gradle those that are shown.
    let is_method = !plain.is_empty() && (framework == TestFramework::Maven || passes(plain));
    let found = match rest.chars().next() {
        None if is_method => plain,
        Some('[') if is_method && name.len() > NAME_BYTES_MAX => {
            return Some(format!("{plain}[*]"));
        }
        Some('[') if is_method => name,
        Some('(' | '{') if !plain.is_empty() => plain,
        _ => match name.strip_suffix("()") {
            Some(bare) if !bare.is_empty() => bare,
            _ => parts(name).find(|part| passes(part))?,
        },
    };
    (found.len() <= NAME_BYTES_MAX).then(|| literal(framework, found))
}

/// A name, and what is left of it where parameters and numbers of rows are no part of it, the longest first.
fn parts(name: &str) -> impl Iterator<Item = &str> {
    let ends: Vec<usize> = name.match_indices(['(', '{', '[']).map(|(at, _)| at).collect();
    let shorter = ends.into_iter().rev().map(|at| name[..at].trim_end());
    std::iter::once(name).chain(shorter).filter(|part| !part.is_empty())
}

/// The lines of a stack that are frames: `a.B.adds(B.java:3)`.
fn frames(stack: &str) -> impl Iterator<Item = &str> {
    let frames = stack.lines().filter_map(|line| line.trim_start().strip_prefix("at "));
    // A module or what loaded the class stands before it.
    frames.map(|frame| frame.rsplit('/').next().unwrap_or(frame))
}

/// Whether a stack passes a class.
fn passes_class(stack: &str, class: &str) -> bool {
    frames(stack).any(|frame| frame.strip_prefix(class).is_some_and(|rest| rest.starts_with('.')))
}

/// Whether a stack passes a method, or what is made in it.
fn passes_method(stack: &str, method: &str) -> bool {
    let (own, lambda) = (format!(".{method}("), format!(".lambda${method}$"));
    frames(stack).any(|frame| frame.contains(&own) || frame.contains(&lambda))
}

/// The identifier that a text begins with.
fn identifier(text: &str) -> &str {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let end = text.find(|c| !is_part(c)).unwrap_or(text.len());
    if text.starts_with(|c: char| c.is_ascii_digit()) { "" } else { &text[..end] }
}

/// A name as a pattern that matches it: what has a meaning in patterns stands for any character there. Nothing can be
/// escaped.
fn literal(framework: TestFramework, name: &str) -> String {
    let last = name.len() - name.chars().next_back().map_or(0, char::len_utf8);
    let character = |(at, c): (usize, char)| match framework {
        TestFramework::Maven if SPECIAL.contains(&c) => '?',
        TestFramework::Maven if c.is_control() => '?',
        // Blanks around a pattern are no part of it.
        TestFramework::Maven if c.is_whitespace() && (at == 0 || at == last) => '?',
        TestFramework::Maven => c,
        // A dot would end the name of a package.
        _ if c == '.' || c.is_control() => '*',
        _ => c,
    };
    name.char_indices().map(character).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The last is a class whose stack passes neither.
    const STACK: &str = "java.lang.AssertionError: .other( \n\tat a.B.adds(B.java:3)\n\tat a.B.adds two, (1.5) more(B.kt:4)\n\
                         \tat a.B.lambda$made$0(B.java:9)\n\tat a.B$when empty.pops(B.kt:9)\n\tat app//Top.adds(Top.java:2)\n";

    #[test]
    fn an_id_chooses_the_method_of_its_test_or_its_class() {
        for (name, maven, gradle) in [
            ("adds", "a.B#adds", "a.B.adds"),
            ("adds()", "a.B#adds", "a.B.adds"),
            ("adds(int)[1]", "a.B#adds", "a.B.adds"),
            ("adds(int, int)[2]", "a.B#adds", "a.B.adds"),
            ("adds{int, String}[2]", "a.B#adds", "a.B.adds"),
            ("adds[0]", "a.B#adds[0]", "a.B.adds[0]"),
            (
                "adds[1: a, b #2 + c? 1.5* (x) [y]]",
                "a.B#adds[1: a? b ?2 ? c? 1.5? (x) [y]]",
                "a.B.adds[1: a, b #2 + c? 1*5* (x) [y]]",
            ),
            ("made[1]", "a.B#made[1]", "a.B.made[1]"),
            // Names with blanks are those of methods where the stack has them.
            ("adds two, (1.5) more", "a.B#adds two? (1.5) more", "a.B.adds two, (1*5) more"),
            (
                "adds two, (1.5) more [x: 1, #0]",
                "a.B#adds two? (1.5) more",
                "a.B.adds two, (1*5) more",
            ),
            (
                "adds two, (1.5) more(int)[1]",
                "a.B#adds two? (1.5) more",
                "a.B.adds two, (1*5) more",
            ),
            ("nothing here()", "a.B#nothing here", "a.B.nothing here"),
            // What only a person reads chooses nothing.
            ("[1] 2 + 3", "a.B", "a.B"),
            ("1", "a.B", "a.B"),
            ("other [1]", "a.B", "a.B"),
            ("%regex[.*]", "a.B", "a.B"),
            ("!adds", "a.B", "a.B"),
            ("", "a.B", "a.B"),
            ("a.B", "a.B", "a.B"),
            ("B", "a.B", "a.B"),
            ("initializationError", "a.B", "a.B"),
            // Gradle shows other names than those of methods, Maven does not.
            ("other", "a.B#other", "a.B"),
            ("other[0]", "a.B#other[0]", "a.B"),
        ] {
            for (framework, expected) in
                [(TestFramework::Maven, maven), (TestFramework::Gradle, gradle)]
            {
                let found = id(framework, "a.B", name, Some(STACK));
                assert_eq!(found.as_deref(), Some(expected), "{framework:?} {name}");
                // The same test is known again once it passes.
                let passed = id(framework, "a.B", name, None).expect("a class");
                let known = failing_ids(framework, &passed);
                assert!(
                    passed == expected || known.iter().any(|id| id == expected),
                    "{framework:?} {name}: {passed} {known:?}"
                );
            }
        }
    }

    #[test]
    fn a_class_that_is_none_is_not_chosen() {
        for (class, maven, gradle) in [
            ("a.B$Inner", Some("a.B$Inner#adds"), Some("a.B$Inner.adds")),
            ("a.B$when empty", Some("a.B$when empty#adds"), Some("a.B$when empty.adds")),
            ("Top", Some("Top#adds"), Some("Top.adds")),
            // A feature of Cucumber.
            ("Login", None, None),
            ("B", None, None),
            ("A.b.C", Some("A.b.C#adds"), Some("*A.b.C.adds")),
            ("a calculator", None, None),
            ("%regex[.*]", None, None),
            ("", None, None),
        ] {
            for (framework, expected) in
                [(TestFramework::Maven, maven), (TestFramework::Gradle, gradle)]
            {
                let found = id(framework, class, "adds", Some(STACK));
                assert_eq!(found.as_deref(), expected, "{framework:?} {class}");
            }
        }
        let long = format!("adds[{}]", "x".repeat(NAME_BYTES_MAX));
        assert_eq!(
            id(TestFramework::Maven, "a.B", &long, Some(STACK)).as_deref(),
            Some("a.B#adds[*]")
        );
    }

    #[test]
    fn a_row_is_chosen_by_both_of_its_names_and_a_case_by_its_method() {
        for (framework, pattern, expected) in [
            (TestFramework::Maven, "a.B#adds[0]", &["a.B#adds+adds[0]"][..]),
            (TestFramework::Maven, "a.B#adds[1: [y]]", &["a.B#adds+adds[1: [y]]"]),
            (TestFramework::Maven, "a.B#adds", &["a.B#adds"]),
            (TestFramework::Maven, "B#a[0],B#b[1]", &["B#a[0],B#b[1]"]),
            (TestFramework::Maven, "%regex[a.B#.*]", &["%regex[a.B#.*]"]),
            (TestFramework::Maven, "a.B#adds it [0]", &["a.B#adds it [0]"]),
            (TestFramework::Gradle, "a.B.adds[0]", &["a.B.adds", "a.B.adds[0]"]),
            (TestFramework::Gradle, "a.B.adds[1*5]", &["a.B.adds", "a.B.adds[1*5]"]),
            (TestFramework::Gradle, "*B.*[2]", &["*B.*[2]"]),
            (TestFramework::Gradle, "*A.b.C.adds[0]", &["*A.b.C.adds", "*A.b.C.adds[0]"]),
            (TestFramework::Gradle, "a.B.adds", &["a.B.adds"]),
            // Names as reports have them.
            (TestFramework::Maven, "a.B#sums(int, int)[2]", &["a.B#sums"]),
            (TestFramework::Maven, "a.B#sums{int, int}[2]", &["a.B#sums"]),
            (TestFramework::Maven, "B#a(int),B#b(int)", &["B#a(int),B#b(int)"]),
            (TestFramework::Maven, "a.B#two words (x)", &["a.B#two words (x)"]),
            (TestFramework::Maven, "a.B#", &["a.B"]),
            (TestFramework::Gradle, "a.B.adds()", &["a.B.adds"]),
            (TestFramework::Gradle, "a.B.adds(int)[1]", &["a.B.adds"]),
        ] {
            assert_eq!(selectors(framework, pattern), expected, "{framework:?} {pattern}");
        }
    }
}
