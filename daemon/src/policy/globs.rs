//! The globs of one condition, over characters: `?` is one of them in any script, and a rule that
//! ignores case ignores it in every alphabet.

use globset::GlobBuilder;
use moss_sdk::glob::over_characters;
use regex::{RegexSet, RegexSetBuilder};

/// Most memory of the compiled globs of one condition, in bytes.
const COMPILED_BYTES_MAX: usize = 10 << 20;

/// Compiled globs; a name matches where one of them does.
#[derive(Debug, Clone)]
pub(super) struct Globs(RegexSet);

/// What globs are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Over {
    /// Paths: `*` stays within a name, `**` crosses `/`.
    Paths {
        /// Whether letter case makes no difference.
        ignore_case: bool,
    },
    /// Names of tools, plugins or callers.
    Names,
}

/// The globs are too large together.
#[derive(Debug)]
pub(super) struct TooLarge;

/// Reads a glob into a regular expression over characters.
pub(super) fn expression(glob: &str, over: Over) -> Result<String, globset::ErrorKind> {
    let mut builder = GlobBuilder::new(glob);
    builder.backslash_escape(true);
    if let Over::Paths { ignore_case } = over {
        builder.literal_separator(true).case_insensitive(ignore_case);
    }
    let glob = builder.build().map_err(|error| error.kind().clone())?;
    Ok(over_characters(glob.regex()))
}

// === impl Globs ===

impl Globs {
    /// Compiles what [`expression`] made of globs.
    pub(super) fn new(expressions: &[String]) -> Result<Self, TooLarge> {
        RegexSetBuilder::new(expressions)
            .dot_matches_new_line(true)
            .size_limit(COMPILED_BYTES_MAX)
            .build()
            .map(Self)
            .map_err(|_| TooLarge)
    }

    pub(super) fn is_match(&self, name: &str) -> bool {
        self.0.is_match(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(glob: &str, over: Over, name: &str) -> bool {
        Globs::new(&[expression(glob, over).unwrap()]).unwrap().is_match(name)
    }

    #[test]
    fn wildcards_are_about_characters() {
        let paths = Over::Paths { ignore_case: false };
        for (glob, name) in [
            ("private/?.txt", "private/é.txt"),
            ("private/?.txt", "private/中.txt"),
            ("[é中].txt", "中.txt"),
            ("**/*.md", "a/b/ü.md"),
            ("*", "a\nb"),
            ("dir/**", "dir/a\n/b"),
        ] {
            assert!(matches(glob, paths, name), "{glob} {name}");
        }
        for (glob, name) in [("?", "éé"), ("[!é]", "é"), ("*", "a/b"), ("É", "é"), ("?", "/")]
        {
            assert!(!matches(glob, paths, name), "{glob} {name}");
        }
        assert!(matches("plug*", Over::Names, "plug/in"));
    }

    #[test]
    fn case_is_ignored_in_every_alphabet() {
        let paths = Over::Paths { ignore_case: true };
        for (glob, name) in [("ÉTÉ", "été"), ("ωμ", "ΩΜ"), ("[Д]a", "дA"), ("straße", "STRAẞE")]
        {
            assert!(matches(glob, paths, name), "{glob} {name}");
        }
    }
}
