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

/// Most words before one of a rule that may be options and their values; where there are more, anything may follow.
const LEADING_MAX: usize = 64;

/// Options before a subcommand, by program, of which it is known that the next word is their value.
const LEADING_VALUES: [(&[&str], &[&str]); 8] = [
    (&["cargo"], &["-C", "-Z", "--color", "--config"]),
    (&["docker", "podman"], &["-H", "-c", "-l", "--config", "--context", "--host", "--log-level"]),
    (&["docker-compose"], &["-f", "-p", "--file", "--project-name"]),
    (&["gh", "glab"], &["-R", "--repo"]),
    (&["helm"], &["-n", "--kube-context", "--namespace"]),
    (
        &["kubectl", "oc"],
        &["-n", "-s", "--cluster", "--context", "--kubeconfig", "--namespace", "--server"],
    ),
    (&["npm", "pnpm"], &["-C", "--loglevel", "--prefix"]),
    (&["yarn"], &["--cwd"]),
];

/// One way to read the first words of a command as those of a rule.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RuleBeginning {
    /// Where the words behind them begin.
    pub(crate) end: usize,
    /// Whether none of them is unknown.
    pub(crate) is_known: bool,
    /// Whether an unknown word may bring others along: the rest may be anything.
    pub(crate) is_open: bool,
}

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

/// Finds all ways in which words begin with those of a rule, of which there are `len`: options before each but the first
/// do not count, and of an option that has no value attached the next word may be the value.
pub(crate) fn beginnings(
    words: &[ShellWord],
    len: usize,
    fits: impl Fn(usize, &ShellWord) -> bool,
) -> Vec<RuleBeginning> {
    let mut found = vec![RuleBeginning { end: 0, is_known: true, is_open: false }];
    for index in 0..len {
        let starts = if index == 0 { found } else { behind_options(words, found) };
        let fitting = starts.into_iter().filter_map(|start| {
            if start.is_open {
                return Some(start);
            }
            let word = words.get(start.end).filter(|word| fits(index, word))?;
            let is_known = start.is_known && word.fixed().is_some();
            Some(RuleBeginning { end: start.end + 1, is_known, is_open: !word.is_exactly_one() })
        });
        found = fitting.collect();
    }
    found
}

/// Adds where the next word of a rule may stand behind options.
fn behind_options(words: &[ShellWord], mut starts: Vec<RuleBeginning>) -> Vec<RuleBeginning> {
    let mut looked_at = 0;
    while let Some(&start) = starts.get(looked_at) {
        looked_at += 1;
        let option = words.get(start.end).filter(|word| !start.is_open && may_be_option(word));
        let Some(option) = option else { continue };
        let value = words.get(start.end + 1).filter(|_| may_take_next(option));
        // A pattern becomes several words that all begin as it does: one that fits is seen as it is.
        let is_several = |word: &ShellWord| !word.is_exactly_one() && !word.is_operand();
        if looked_at > LEADING_MAX || is_several(option) || value.is_some_and(is_several) {
            starts.push(RuleBeginning { is_known: false, is_open: true, ..start });
            break;
        }
        let has_value = has_value(words, option);
        // Behind a subcommand these stand alone, as in `docker-compose logs -f`.
        let stands_alone = matches!(option.fixed(), Some("-f" | "-p"));
        let shortest = start.end + if has_value && !stands_alone { 2 } else { 1 };
        for end in shortest..=start.end + 1 + usize::from(value.is_some()) {
            // That the next word is a value is certain of few options.
            let is_certain = has_value == (end != start.end + 1);
            let is_known = start.is_known && option.fixed().is_some() && is_certain;
            match starts.iter_mut().find(|other| other.end == end) {
                Some(other) => other.is_known |= is_known,
                None => starts.push(RuleBeginning { end, is_known, is_open: false }),
            }
        }
    }
    starts
}

/// Whether a word may be an option, or the toolchain that cargo is to use (`+nightly`).
fn may_be_option(word: &ShellWord) -> bool {
    !word.is_operand() || (word.starts().starts_with('+') && word.starts() != "+")
}

/// Whether the word behind an option certainly is its value.
fn has_value(words: &[ShellWord], option: &ShellWord) -> bool {
    let (program, option) = (words.first().and_then(ShellWord::fixed), option.fixed());
    let has = |names: &[&str], text: Option<&str>| text.is_some_and(|text| names.contains(&text));
    LEADING_VALUES.iter().any(|(names, options)| has(names, program) && has(options, option))
}

/// Whether the word behind an option may be its value.
fn may_take_next(option: &ShellWord) -> bool {
    !option.starts().starts_with('+') && !option.starts().contains('=')
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
    /// rules that restrict. The folder of the program does not count, nor do options before a word; a word that is
    /// unknown may be any that begins like it, and may bring others along.
    pub fn begin(&self, argv: &[Vec<String>]) -> WordMatch {
        let fits = |index: usize, word: &ShellWord| {
            argv[index].iter().any(|expected| may_be(word, expected))
        };
        let found = beginnings(&bare_words(self), argv.len(), fits);
        if found.iter().any(|beginning| beginning.is_known) {
            return WordMatch::Yes;
        }
        if found.is_empty() { WordMatch::No } else { WordMatch::Maybe }
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
    fn options_before_a_word_do_not_keep_a_restriction_from_it() {
        let rule = argv("docker push");
        for line in [
            "docker push x",
            "docker --debug push x",
            "docker -l info push x",
            "docker --log-level=info push x",
            "docker --context \"$x\" push y",
            "docker -D --host a -l debug push x",
            "docker -- push",
            "docker -l a* push x",
        ] {
            assert_eq!(command(line).begin(&rule), WordMatch::Yes, "{line}");
        }
        let many = format!("docker{} pull", " -D".repeat(65));
        for line in ["docker \"$x\" push", "docker -$x pull", "docker -l $x pull", &many] {
            assert_eq!(command(line).begin(&rule), WordMatch::Maybe, "{line}");
        }
        for line in [
            "docker ps",
            "docker pull push",
            "docker -l push ps",
            "docker --debug=1 pull push",
            "docker --context=x push-not",
            "docker -l \"$x\" ps",
            "docker --context=\"$x\" ps",
            "docker - push",
        ] {
            assert_eq!(command(line).begin(&rule), WordMatch::No, "{line}");
        }
        let rule = argv("cargo publish");
        assert_eq!(command("cargo +nightly -q publish").begin(&rule), WordMatch::Yes);
        assert_eq!(command("cargo +nightly build publish").begin(&rule), WordMatch::No);
        let rule = argv("docker compose down");
        assert_eq!(command("docker -D compose -f a down").begin(&rule), WordMatch::Maybe);
        assert_eq!(command("docker logs -f a").begin(&argv("docker logs a")), WordMatch::Yes);
        let rule = argv("docker-compose logs a");
        assert_ne!(command("docker-compose logs -f a").begin(&rule), WordMatch::No);
        let rule = argv("docker compose down");
        assert_eq!(command("docker compose -f a ps").begin(&rule), WordMatch::No);
        let rule = argv("python -c");
        assert_eq!(command("python -u -c 1").begin(&rule), WordMatch::Yes);
        assert_eq!(command("python -m pytest -c x").begin(&rule), WordMatch::Maybe);
    }

    #[test]
    fn what_is_allowed_has_no_options_before_a_word() {
        for line in ["docker --debug push x", "docker -l info push x"] {
            assert!(!command(line).begins_with(&argv("docker push")), "{line}");
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
