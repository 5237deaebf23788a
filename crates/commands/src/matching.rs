//! Words of commands against words of rules.

use crate::environment::is_harmless;
use crate::{ShellWord, SimpleCommand};

/// Options before git's subcommand that take the next word.
pub(crate) const GIT_VALUES: [&str; 8] = [
    "-C",
    "-c",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--config-env",
    "--super-prefix",
    "--attr-source",
];
/// Those that take none; nobody knows what stands behind others.
pub(crate) const GIT_FLAGS: [&str; 16] = [
    "-P",
    "--no-pager",
    "--no-replace-objects",
    "--no-lazy-fetch",
    "--no-optional-locks",
    "--no-advice",
    "--bare",
    "--literal-pathspecs",
    "--glob-pathspecs",
    "--noglob-pathspecs",
    "--icase-pathspecs",
    "--version",
    "-v",
    "--help",
    "-h",
    "--html-path",
];

/// Returns the words of a command as rules that restrict look at them: the program by the last part
/// of its name, and git without what stands before its subcommand.
pub fn bare_words(command: &SimpleCommand) -> Vec<ShellWord> {
    let Some((first, rest)) = command.words.split_first() else { return Vec::new() };
    let name = match first {
        ShellWord::Fixed(name) => {
            ShellWord::Fixed(name.rsplit('/').next().unwrap_or(name).to_owned())
        }
        unknown @ ShellWord::Unknown { .. } => unknown.clone(),
    };
    // The programs of git stand in a folder of their own, too: `git-clean` is `git clean`.
    if let Some(own) = name.fixed().and_then(|name| name.strip_prefix("git-")) {
        let git = ["git", own].map(|word| ShellWord::Fixed(word.to_owned()));
        return git.into_iter().chain(rest.iter().cloned()).collect();
    }
    if name.fixed() != Some("git") {
        return [name].into_iter().chain(rest.iter().cloned()).collect();
    }
    match subcommand_at(rest) {
        Ok(at) => [name].into_iter().chain(rest[at..].iter().cloned()).collect(),
        Err(_) => vec![name, ShellWord::unknown("…")],
    }
}

/// Where git's subcommand stands among the words behind `git`.
///
/// # Errors
///
/// The first word before it that may become an option, or several words: what follows may be anything then.
pub(crate) fn subcommand_at(words: &[ShellWord]) -> Result<usize, &ShellWord> {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let Some(text) = word.fixed() else {
            return if word.is_operand() { Ok(at) } else { Err(word) };
        };
        if !text.starts_with('-') {
            break;
        }
        let value = words.get(at + 1).filter(|_| GIT_VALUES.contains(&text));
        if let Some(several) = value.filter(|value| !value.is_exactly_one()) {
            return Err(several);
        }
        at += if value.is_some() { 2 } else { 1 };
    }
    Ok(at)
}

/// Whether the words of a command are those of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WordMatch {
    /// They are not, whatever the unknown ones become.
    No,
    /// They are, if unknown ones become what the rule names.
    Maybe,
    /// They are, whatever the unknown ones become.
    Yes,
}

/// Whether a word may become a text; `a*` stands for all that begin so.
pub(crate) fn may_be(word: &ShellWord, expected: &str) -> bool {
    match (word, expected.strip_suffix('*')) {
        (ShellWord::Fixed(text), Some(start)) => text.starts_with(start),
        (ShellWord::Fixed(text), None) => text == expected,
        (ShellWord::Unknown { starts, .. }, Some(start)) => {
            start.starts_with(starts.as_str()) || starts.starts_with(start)
        }
        (ShellWord::Unknown { starts, .. }, None) => expected.starts_with(starts.as_str()),
    }
}

// === impl SimpleCommand ===

impl SimpleCommand {
    /// Whether it certainly begins with words, of each of which there may be several to choose from;
    /// the program by its name or by its path in a folder of the system. A command for which variables
    /// are set that may change what it does does not.
    pub fn begins_with(&self, argv: &[Vec<String>]) -> bool {
        if self.words.len() < argv.len() || !self.has_harmless_variables() {
            return false;
        }
        self.words.iter().zip(argv).enumerate().all(|(index, (word, expected))| {
            let is_one = |text: &str| expected.iter().any(|expected| expected == text);
            word.fixed().is_some_and(is_one) || (index == 0 && self.program().is_some_and(is_one))
        })
    }

    /// Whether it is exactly these words, and the shell does nothing else for it.
    pub fn is_exactly(&self, argv: &[String]) -> bool {
        let is_same = |(word, expected): (&ShellWord, &String)| {
            word.fixed().is_some_and(|word| word == expected)
        };
        self.words.len() == argv.len()
            && self.words.iter().zip(argv).all(is_same)
            && self.assignments.is_empty()
            && self.redirections.is_empty()
            && self.input.is_none()
            && !self.is_fed
            && !self.has_variables
            && self.unclear.is_none()
    }

    /// Whether it begins with words, or may, of each of which there may be several to choose from: for
    /// rules that restrict. The folder of the program does not count, nor do git's options before its
    /// subcommand; a word that is unknown may be any that begins like it, and may bring others along.
    pub fn begin(&self, argv: &[Vec<String>]) -> WordMatch {
        let bare = bare_words(self);
        let mut found = WordMatch::Yes;
        for (index, expected) in argv.iter().enumerate() {
            let Some(word) = bare.get(index) else { return WordMatch::No };
            if !expected.iter().any(|expected| may_be(word, expected)) {
                return WordMatch::No;
            }
            if word.fixed().is_none() {
                found = WordMatch::Maybe;
            }
            if matches!(word, ShellWord::Unknown { is_single: false, .. }) {
                return found;
            }
        }
        found
    }

    fn has_harmless_variables(&self) -> bool {
        self.assignments.iter().all(is_harmless)
    }
}

#[cfg(test)]
mod tests {
    use super::WordMatch;
    use crate::{SimpleCommand, read};

    fn command(text: &str) -> SimpleCommand {
        read(text).unwrap().commands.pop().unwrap()
    }

    fn argv(text: &str) -> Vec<Vec<String>> {
        let word = |word: &str| word.split('|').map(ToOwned::to_owned).collect();
        text.split(' ').map(word).collect()
    }

    #[test]
    fn what_is_allowed_begins_exactly_so() {
        let rule = argv("cargo test|build");
        for line in [
            "cargo test",
            "cargo build --release",
            "/usr/bin/cargo test $x",
            "RUST_LOG=a cargo test",
        ] {
            assert!(command(line).begins_with(&rule), "{line}");
        }
        for line in [
            "cargo",
            "cargo run",
            "./cargo test",
            "cargo $x",
            "CC=x cargo test",
            "cargo +nightly test",
        ] {
            assert!(!command(line).begins_with(&rule), "{line}");
        }
    }

    #[test]
    fn what_is_restricted_may_begin_so() {
        let rule = argv("git push|fetch");
        for line in [
            "git push",
            "/x/git push -f",
            "git -C a push",
            "git $x",
            "git \"p$x\"",
            "git -c a=b fetch",
            "git -C a{,b} status",
            "git --git-dir $x status",
            "git \"-$x\" a status",
        ] {
            assert_ne!(command(line).begin(&rule), WordMatch::No, "{line}");
        }
        assert_eq!(command("git -C a push").begin(&rule), WordMatch::Yes);
        assert_eq!(command("git $x").begin(&rule), WordMatch::Maybe);
        for line in ["git", "git status", "git \"s$x\"", "echo git push"] {
            assert_eq!(command(line).begin(&rule), WordMatch::No, "{line}");
        }
    }

    #[test]
    fn what_another_part_gives_to_read_is_not_exactly_the_words() {
        let rule = ["git".to_owned(), "apply".to_owned()];
        let is_exactly = |text: &str| {
            let commands = read(text).unwrap().commands;
            commands.iter().any(|command| command.is_exactly(&rule))
        };
        for text in [
            "cat p | git apply",
            "cat p |& git apply",
            "cat p | { git apply; }",
            "cat p | (cd x; git apply)",
            "cat p | while true; do git apply; done",
            "cat p | env git apply",
            "cat p | sh -c 'git apply'",
            "cat p | echo \"$(git apply)\"",
            "cat p | tee >(git apply)",
            "cat p > >(git apply)",
            "{ git apply; } < p",
            "if git apply; then ls; fi < p",
            "for x in a; do git apply; done <<< p",
            "(git apply) <<E\np\nE",
            "{ git apply; } <&3",
            "git apply <&3",
            "git apply 0>&3",
            "env git apply < p",
            "env git apply <<< p",
            "sh -c 'git apply' < p",
            "sh <<E\ngit apply\np\nE",
            "exec < p; git apply",
            "exec <&3\ngit apply",
            "command exec 0< p; git apply",
            "f() { git apply; }; cat p | f",
            "function f { git apply; }\nf < p",
        ] {
            assert!(!is_exactly(text), "{text}");
        }
        for text in [
            "git apply",
            "git apply | cat",
            "cat < p; git apply",
            "git apply; cat p | wc",
            "{ git apply; } > x",
            "sh -c 'git apply'",
        ] {
            assert!(is_exactly(text), "{text}");
        }
    }

    #[test]
    fn what_is_given_variables_is_not_exactly_the_words() {
        let rule = ["make".to_owned(), "all".to_owned()];
        let is_exactly = |text: &str| {
            let commands = read(text).unwrap().commands;
            commands.iter().any(|command| command.is_exactly(&rule))
        };
        for text in [
            "export NODE_ENV=production; make all",
            "export x=1; make all",
            "x=1; export x; make all",
            "declare -x x=1; make all",
            "TZ=x; make all",
            "LANG=C\nmake all",
            "read TZ; make all",
            "for TZ in a; do make all; done",
            "f() { make all; }; CI=1 f",
            "env CI=1 sh -c 'make all'",
            "CI=1 nice make all",
        ] {
            assert!(!is_exactly(text), "{text}");
        }
        for text in ["x=1; make all", "for f in a b; do make all; done", "local x=1; make all"] {
            assert!(is_exactly(text), "{text}");
        }
    }

    #[test]
    fn exactly_leaves_nothing_open() {
        let rule = ["make".to_owned(), "all".to_owned()];
        assert!(command("make 'all'").is_exactly(&rule));
        for line in
            ["make all x", "make", "A=1 make all", "make all > x", "make $x", "/usr/bin/make all"]
        {
            assert!(!command(line).is_exactly(&rule), "{line}");
        }
    }
}
