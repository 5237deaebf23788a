//! Variables: which change what programs do, and which are harmless.

use std::sync::LazyLock;

use serde::Deserialize;

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
}

/// Whether a variable changes at most how a program writes what it finds.
pub(crate) fn is_harmless_variable(name: &str) -> bool {
    is_among(&NAMES.harmless, name) && !is_decisive(name)
}

/// Whether a variable decides which programs run, or with which code.
pub(crate) fn is_decisive(name: &str) -> bool {
    is_among(&NAMES.decisive, name)
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
}
