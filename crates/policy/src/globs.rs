//! The globs of one condition, over characters: `?` is one of them in any script, and a rule that
//! ignores case ignores it in every alphabet, and with it every other spelling that a forgiving file
//! system takes for the same name.

use std::borrow::Cow;

use globset::GlobBuilder;
use moss_sdk::glob::over_characters;
use moss_workspace::spelling::{bare_path, fold};
use regex::{RegexSet, RegexSetBuilder};

/// Characters that mean something in a glob.
const GLOB_CHARACTERS: &[char] = &['*', '?', '[', ']', '{', '}', ',', '\\'];

/// Most memory of the compiled globs of one condition, in bytes.
const COMPILED_BYTES_MAX: usize = 10 << 20;

/// Compiled globs; a name matches where one of them does.
#[derive(Debug, Clone)]
pub(super) struct Globs {
    globs: RegexSet,
    /// The names themselves, where no glob says more than one: most rules name tools so, and every call asks.
    names: Option<Box<[Box<str>]>>,
    /// Whether other spellings of a name make no difference.
    ignore_spelling: bool,
    /// The globs in the form in which spellings are compared, where that is another one.
    folded: Option<RegexSet>,
}

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

/// Why globs cannot be used.
#[derive(Debug)]
pub(super) enum Unusable {
    /// The one at this position is not a glob.
    Glob { position: usize, error: globset::ErrorKind },
    /// They are too large together.
    TooLarge,
}

/// Reads a glob into a regular expression over characters.
fn expression(glob: &str, over: Over) -> Result<String, globset::ErrorKind> {
    let mut builder = GlobBuilder::new(glob);
    builder.backslash_escape(true);
    if let Over::Paths { ignore_case } = over {
        builder.literal_separator(true).case_insensitive(ignore_case);
    }
    let glob = builder.build().map_err(|error| error.kind().clone())?;
    Ok(over_characters(glob.regex()))
}

/// Brings the names in a glob into the form in which spellings are compared; what the glob says of
/// single characters stays as it is.
fn folded(glob: &str) -> String {
    let mut folded = String::with_capacity(glob.len());
    let mut name = String::new();
    let mut characters = glob.chars();
    while let Some(c) = characters.next() {
        match c {
            '\\' => name.extend(characters.next()),
            c if GLOB_CHARACTERS.contains(&c) => {
                push_name(&mut folded, &mut name);
                folded.push(c);
                if c == '[' {
                    push_class(&mut folded, &mut characters);
                }
            }
            c => name.push(c),
        }
    }
    push_name(&mut folded, &mut name);
    folded
}

fn push_name(folded: &mut String, name: &mut String) {
    for c in fold(name).chars() {
        if GLOB_CHARACTERS.contains(&c) {
            folded.push('\\');
        }
        folded.push(c);
    }
    name.clear();
}

/// Copies the characters of a class up to its end.
fn push_class(folded: &mut String, characters: &mut std::str::Chars<'_>) {
    let mut is_first = true;
    for c in characters {
        folded.push(c);
        match c {
            '!' | '^' if is_first => {}
            ']' if !is_first => return,
            _ => is_first = false,
        }
    }
}

// === impl Globs ===

impl Globs {
    /// Compiles globs; where one is not valid, returns which, and why.
    pub(super) fn new(globs: &[&str], over: Over) -> Result<Self, Unusable> {
        let compile = |globs: &[Cow<'_, str>]| {
            let expressions = globs.iter().enumerate().map(|(position, glob)| {
                expression(glob, over).map_err(|error| Unusable::Glob { position, error })
            });
            RegexSetBuilder::new(expressions.collect::<Result<Vec<_>, _>>()?)
                .dot_matches_new_line(true)
                .size_limit(COMPILED_BYTES_MAX)
                .build()
                .map_err(|_| Unusable::TooLarge)
        };
        let ignore_spelling = matches!(over, Over::Paths { ignore_case: true });
        let has_forms = ignore_spelling && !globs.iter().all(|glob| glob.is_ascii());
        let folded: Vec<_> = globs.iter().map(|glob| folded(glob).into()).collect();
        let folded = has_forms.then(|| compile(&folded)).transpose()?;
        let is_plain =
            over == Over::Names && !globs.iter().any(|glob| glob.contains(GLOB_CHARACTERS));
        let names = is_plain.then(|| globs.iter().map(|glob| (*glob).into()).collect());
        let globs = compile(&globs.iter().map(|glob| Cow::Borrowed(*glob)).collect::<Vec<_>>())?;
        Ok(Self { globs, names, ignore_spelling, folded })
    }

    pub(super) fn is_match(&self, name: &str) -> bool {
        if let Some(names) = &self.names {
            return names.iter().any(|known| **known == *name);
        }
        self.globs.is_match(name) || self.ignore_spelling && self.matches_spelling(name)
    }

    fn matches_spelling(&self, name: &str) -> bool {
        let bare = bare_path(name);
        // Of plain letters, all that differs is the case, which is ignored already.
        if name.is_ascii() && bare.is_none() && self.folded.is_none() {
            return false;
        }
        let globs = self.folded.as_ref().unwrap_or(&self.globs);
        globs.is_match(&fold(name)) || bare.is_some_and(|bare| globs.is_match(&fold(&bare)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_written_out_match_themselves_alone() {
        let globs = Globs::new(&["read_file", "a.b", "ä"], Over::Names).unwrap();
        for (name, is_named) in
            [("read_file", true), ("a.b", true), ("ä", true), ("axb", false), ("Read_file", false)]
        {
            assert_eq!(globs.is_match(name), is_named, "{name}");
            let mixed = Globs::new(&["read_file", "a.b", "ä", "other*"], Over::Names).unwrap();
            assert_eq!(mixed.is_match(name), is_named, "{name}");
        }
        for name in ["read_fil", "read_files", "", "a.b\n"] {
            assert!(!globs.is_match(name), "{name:?}");
        }
    }

    fn matches(glob: &str, over: Over, name: &str) -> bool {
        Globs::new(&[glob], over).unwrap().is_match(name)
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

    #[test]
    fn spellings_of_one_name_are_ignored_with_case() {
        for (glob, name) in [
            ("private/straße.txt", "private/STRASSE.txt"),
            ("private/strasse.txt", "private/straße.txt"),
            ("ärger/**", "a\u{308}rger/x"),
            ("a\u{308}rger/**", "Ärger/x"),
            ("secret/*.txt", "se\u{ad}cret/a.txt"),
            ("se\u{200b}cret/*.txt", "secret/a.txt"),
            ("**/oﬃce/[ab]?.md", "x/OFFICE/bé.md"),
            ("{straße,weg}/*", "strasse/1"),
            ("\\[ß\\]/*", "[SS]/1"),
            ("secrets/**", "secrets./db.json"),
            ("secrets/db.json", "SECRETS/db.json::$DATA"),
            ("[ä]/b", "a\u{308}/b"),
            ("[!]]ß", "xss"),
        ] {
            assert!(matches(glob, Over::Paths { ignore_case: true }, name), "{glob} {name}");
            let exact = Over::Paths { ignore_case: false };
            assert!(!matches(glob, exact, name), "what allows is exact: {glob} {name}");
        }
        for (glob, name) in [
            ("straße", "strase"),
            ("a", "ä"),
            ("secrets/**", "secrets.d/x"),
            ("＊", "x"),
            ("a/*", "a./b/c"),
        ] {
            assert!(!matches(glob, Over::Paths { ignore_case: true }, name), "{glob} {name}");
        }
    }
}
