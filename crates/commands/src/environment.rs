//! Variables: which change what programs do, and which are harmless.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::{Assignment, ShellWord};

static NAMES: LazyLock<VariableNames> = LazyLock::new(|| {
    toml::from_str(include_str!("environment.toml")).expect("a test reads the table")
});

/// Names of variables; one that ends with `*` stands for all that begin so, one that begins with it
/// for all that end so.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct VariableNames {
    harmless: Vec<String>,
    decisive: Vec<String>,
    evaluated: Vec<String>,
}

/// Whether a variable changes at most how a program writes what it finds.
pub(crate) fn is_harmless_variable(name: &str) -> bool {
    is_among(&NAMES.harmless, name) && !is_decisive(name)
}

/// Whether a variable decides which programs run, or with which code.
pub fn is_decisive(name: &str) -> bool {
    is_among(&NAMES.decisive, name)
}

/// Why nobody can know what setting a variable does; none where that is harmless.
pub(crate) fn why_unclear(assigned: &Assignment) -> Option<String> {
    let name = &assigned.name;
    if is_decisive(name) {
        return Some(format!("{name} decides which programs run, or how"));
    }
    let is_number = |word: &ShellWord| {
        word.fixed().is_some_and(|text| text.chars().all(|c| c.is_ascii_digit()))
    };
    let is_harmless = assigned.value.as_ref().is_none_or(is_number);
    (is_among(&NAMES.evaluated, name) && !is_harmless)
        .then(|| format!("what {name} is set to is arithmetic, which may run commands"))
}

fn is_among(patterns: &[String], name: &str) -> bool {
    patterns.iter().any(|pattern| match (pattern.strip_suffix('*'), pattern.strip_prefix('*')) {
        (Some(start), _) => name.starts_with(start),
        (_, Some(end)) => name.ends_with(end),
        (None, None) => name == pattern,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_that_choose_programs_are_known() {
        for name in
            ["PATH", "LD_PRELOAD", "GIT_EXTERNAL_DIFF", "PAGER", "MANPAGER", "BASH_ENV", "IFS"]
        {
            assert!(is_decisive(name), "{name}");
            assert!(!is_harmless_variable(name), "{name}");
        }
        for name in ["LC_ALL", "RUST_BACKTRACE", "NO_COLOR"] {
            assert!(is_harmless_variable(name), "{name}");
        }
        assert!(!is_decisive("CC") && !is_harmless_variable("CC"));
    }

    #[test]
    fn a_variable_that_is_evaluated_is_harmless_only_as_a_number() {
        let why = |name: &str, value: Option<ShellWord>| {
            why_unclear(&Assignment { name: name.to_owned(), value })
        };
        let fixed = |text: &str| Some(ShellWord::Fixed(text.to_owned()));
        for name in ["RANDOM", "SECONDS", "OPTIND", "BASHPID"] {
            assert_eq!(why(name, fixed("17")), None);
            assert_eq!(why(name, None), None);
            assert!(why(name, fixed("x[$(id)]")).unwrap().contains("arithmetic"), "{name}");
            assert!(why(name, Some(ShellWord::unknown("$x"))).is_some(), "{name}");
        }
        assert_eq!(why("x", fixed("x[$(id)]")), None);
        assert!(why("HISTFILESIZE", fixed("0")).is_some());
    }
}
