//! Variables: which change what programs do, and which are harmless.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::{Assignment, ShellWord, SimpleCommand};

static NAMES: LazyLock<VariableNames> = LazyLock::new(|| {
    toml::from_str(include_str!("environment.toml")).expect("a test reads the table")
});

/// Options of `env` that take variables away.
const CLEARING: [&str; 2] = ["ignore-environment", "unset"];

/// Harmless variables that are numbers.
const NUMBERS: [&str; 7] = [
    "CARGO_NET_RETRY",
    "COLUMNS",
    "LINES",
    "RUST_TEST_THREADS",
    "SOURCE_DATE_EPOCH",
    "UV_HTTP_RETRIES",
    "YARN_HTTP_RETRY",
];

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
fn is_harmless_variable(name: &str) -> bool {
    is_among(&NAMES.harmless, name) && !is_decisive(name)
}

/// Whether a command is given a variable that changes nothing else, with a value that nothing can take for code: some
/// programs evaluate even how many columns there are.
pub(crate) fn is_harmless(assigned: &Assignment) -> bool {
    let name = assigned.name.as_str();
    let is_plain = |c: char| {
        let is_own = match c {
            '=' => name == "RUST_LOG",
            '+' | '/' => name == "TZ",
            _ => matches!(c, '*' | '_' | '.' | ',' | ':' | '@' | '-'),
        };
        c.is_ascii_alphanumeric() || is_own
    };
    let is_plain = |text: &str| match name {
        "DEBIAN_FRONTEND" => text.chars().all(|c| c.is_ascii_alphabetic()),
        name if NUMBERS.contains(&name) => text.chars().all(|c| c.is_ascii_digit()),
        // A zone may have a directory before it, and no other file is meant.
        "TZ" if text.starts_with([':', '/']) || text.contains("..") => false,
        // In arithmetic a name may be set: `PATH=0`, `PATH--`.
        _ => text.chars().all(is_plain) && !text.contains("--"),
    };
    let is_plain = |word: &ShellWord| word.fixed().is_some_and(is_plain);
    is_without_pager(assigned)
        || is_harmless_variable(&assigned.name) && assigned.value.as_ref().is_none_or(is_plain)
}

/// Whether it makes programs print without a pager, as moss does itself.
fn is_without_pager(assigned: &Assignment) -> bool {
    let value = assigned.value.as_ref().and_then(ShellWord::fixed);
    ["PAGER", "GIT_PAGER", "MANPAGER"].contains(&assigned.name.as_str()) && value == Some("cat")
}

/// Whether a variable decides which programs run, or with which code.
pub fn is_decisive(name: &str) -> bool {
    is_among(&NAMES.decisive, name)
}

/// Why nobody can know what setting a variable does; none where that is harmless.
pub(crate) fn why_unclear(assigned: &Assignment) -> Option<String> {
    let name = &assigned.name;
    if is_without_pager(assigned) {
        return None;
    }
    if is_decisive(name) {
        return Some(format!("{name} decides which programs run, or how"));
    }
    let is_locale = name == "LANG" || name.starts_with("LC_");
    let is_plain = |word: &ShellWord| word.fixed().is_some_and(is_plain_locale);
    if is_locale && !assigned.value.as_ref().is_none_or(is_plain) {
        return Some(format!("with what {name} is set to the shell may read other characters"));
    }
    let is_name = |word: &ShellWord| word.fixed().is_some_and(|text| !text.contains('/'));
    if name == "LANGUAGE" && !assigned.value.as_ref().is_none_or(is_name) {
        return Some("LANGUAGE may name a file of texts, by which programs print".to_owned());
    }
    // What commands have from outside they are given anew without an `export`.
    if is_harmless_variable(name) && !is_harmless(assigned) {
        return Some(format!("what {name} is set to may be taken for code"));
    }
    let is_number = |word: &ShellWord| {
        word.fixed().is_some_and(|text| text.chars().all(|c| c.is_ascii_digit()))
    };
    let is_harmless = assigned.value.as_ref().is_none_or(is_number);
    (is_among(&NAMES.evaluated, name) && !is_harmless)
        .then(|| format!("what {name} is set to is arithmetic, which may run commands"))
}

/// Whether a locale has the characters of UTF-8 or of C: in others a character may end with the byte of an operator.
fn is_plain_locale(locale: &str) -> bool {
    let name = locale.split('@').next().unwrap_or(locale);
    let codeset = name.split_once('.').map(|(_, codeset)| codeset.to_ascii_lowercase());
    let is_utf8 = matches!(locale, "" | "C" | "POSIX")
        || codeset.is_some_and(|codeset| ["utf-8", "utf8"].contains(&codeset.as_str()));
    is_utf8 && !locale.contains('/')
}

/// Why nobody can know what a command does that takes variables away: those that moss sets keep programs from running
/// others.
pub(crate) fn why_cleared(command: &SimpleCommand) -> Option<String> {
    let arguments = command.words.get(1..)?;
    let mut options =
        arguments.iter().map_while(ShellWord::fixed).take_while(|word| word.starts_with('-'));
    let is_clearing = match command.program()? {
        "env" => options.any(|word| {
            !word.starts_with("--") && word.contains(['i', 'u']) || word == "-" || {
                let long = word
                    .strip_prefix("--")
                    .and_then(|word| word.split('=').next())
                    .unwrap_or_default();
                !long.is_empty() && CLEARING.iter().any(|name| name.starts_with(long))
            }
        }),
        "exec" => options.any(|word| word.contains('c')),
        "unset" => {
            let is_plain = |word: &ShellWord| word.fixed().is_some_and(|name| !is_decisive(name));
            !arguments.iter().all(is_plain)
        }
        _ => return None,
    };
    is_clearing.then(|| "it takes away variables that keep programs from running others".to_owned())
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
    fn a_harmless_variable_is_so_with_a_value_that_is_no_code() {
        let is_fine = |text: &str| {
            let commands = crate::read(text).unwrap().commands;
            commands.iter().flat_map(|command| &command.assignments).all(is_harmless)
        };
        for text in [
            "COLUMNS='a[$(id)]' x",
            "COLUMNS=PATH=0 x",
            "LINES=PATH-- x",
            "COLUMNS=PATH++ x",
            "DEBIAN_FRONTEND='Noninteractive; BEGIN { }' x",
            "CI=$y x",
            "COLUMNS=PATH x",
            "NODE_ENV=../x x",
            "TERM=../../x x",
            "DEBUG=/a/b x",
            "TZ=:/a/b x",
            "TZ=Europe/../../b x",
            "DEBIAN_FRONTEND=Noninteractive*qx,./x, y",
        ] {
            assert!(!is_fine(text), "{text}");
        }
        for text in [
            "COLUMNS=200 x",
            "RUST_LOG=debug,moss=trace x",
            "TZ=UTC+2 x",
            "TZ=Europe/Berlin x",
            "DEBUG=app:* x",
            "TERM=xterm-256color x",
            "LANG=en_US.UTF-8 x",
        ] {
            assert!(is_fine(text), "{text}");
        }
    }

    /// Of the manual of bash 5.2, "Shell Variables".
    #[test]
    fn what_bash_itself_acts_by_is_known() {
        // They say something, and change nothing of what runs.
        let others = "REPLY MAPFILE OPTARG OPTERR FUNCNAME GROUPS HOSTNAME HOSTTYPE MACHTYPE OSTYPE \
             PIPESTATUS COPROC TIMEFORMAT COLUMNS LINES LANG LC_ALL LC_COLLATE LC_CTYPE \
             LC_MESSAGES LC_NUMERIC LC_TIME";
        let all = "BASH BASHOPTS BASHPID BASH_ALIASES BASH_ARGC BASH_ARGV BASH_ARGV0 BASH_CMDS \
             BASH_COMMAND BASH_COMPAT BASH_ENV BASH_EXECUTION_STRING BASH_LINENO \
             BASH_LOADABLES_PATH BASH_REMATCH BASH_SOURCE BASH_SUBSHELL BASH_VERSINFO \
             BASH_VERSION BASH_XTRACEFD CDPATH CHILD_MAX COLUMNS COMPREPLY COMP_CWORD COMP_KEY \
             COMP_LINE COMP_POINT COMP_TYPE COMP_WORDBREAKS COMP_WORDS COPROC DIRSTACK EMACS ENV \
             EPOCHREALTIME EPOCHSECONDS EUID EXECIGNORE FCEDIT FIGNORE FUNCNAME FUNCNEST \
             GLOBIGNORE GROUPS HISTCMD HISTCONTROL HISTFILE HISTFILESIZE HISTIGNORE HISTSIZE \
             HISTTIMEFORMAT HOME HOSTFILE HOSTNAME HOSTTYPE IFS IGNOREEOF INPUTRC INSIDE_EMACS \
             LANG LC_ALL LC_COLLATE LC_CTYPE LC_MESSAGES LC_NUMERIC LC_TIME LINENO LINES MACHTYPE \
             MAIL MAILCHECK MAILPATH MAPFILE OLDPWD OPTARG OPTERR OPTIND OSTYPE PATH PIPESTATUS \
             POSIXLY_CORRECT PPID PROMPT_COMMAND PROMPT_DIRTRIM PS0 PS1 PS2 PS3 PS4 PWD RANDOM \
             READLINE_ARGUMENT READLINE_LINE READLINE_MARK READLINE_POINT REPLY SECONDS SHELL \
             SHELLOPTS SHLVL SRANDOM TEXTDOMAIN TEXTDOMAINDIR TIMEFORMAT TMOUT TMPDIR UID \
             auto_resume histchars";
        for name in all.split_whitespace() {
            let is_other = || others.split_whitespace().any(|other| other == name);
            assert!(is_decisive(name) || is_among(&NAMES.evaluated, name) || is_other(), "{name}");
        }
    }

    #[test]
    fn a_locale_with_other_characters_is_unclear() {
        let is_unclear = |text: &str| {
            let commands = crate::read(text).unwrap().commands;
            commands
                .iter()
                .any(|command| matches!(crate::classify(command), crate::CommandClass::Unclear(_)))
        };
        for text in [
            "LC_ALL=zh_CN.GBK",
            "LC_CTYPE=ja_JP ls",
            "export LANG=$x",
            "LANG=ja_JP.SJIS@utf8 ls",
            "env LC_ALL=zh_TW.BIG5 ls",
            "LANG=../x/C.UTF-8 ls",
            "LANGUAGE=../../tmp/m ls",
            "export LANGUAGE=$x",
        ] {
            assert!(is_unclear(text), "{text}");
        }
        for text in [
            "LC_ALL=C sort a",
            "LANG=en_US.UTF-8 ls",
            "LC_CTYPE=C.utf8@x ls",
            "LANGUAGE=zh ls",
            "LC_ALL= ls",
        ] {
            assert!(!is_unclear(text), "{text}");
        }
    }

    #[test]
    fn taking_variables_away_is_unclear() {
        let is_unclear = |text: &str| {
            let commands = crate::read(text).unwrap().commands;
            commands.iter().any(|command| why_cleared(command).is_some())
        };
        for text in [
            "env -i git status",
            "env - git status",
            "env -u GIT_CONFIG_PARAMETERS git log",
            "env -vi ls",
            "env -uPATH ls",
            "env --unset=GIT_PAGER git log",
            "env --ignore-environment ls",
            "exec -c git log",
            "unset GIT_PAGER",
            "unset -v HOME; git log",
            "nice env -i git status",
            "unset \"$x\"",
        ] {
            assert!(is_unclear(text), "{text}");
        }
        for text in ["env A=1 ls", "env -0", "env ls -i", "unset x y", "exec ls -c", "env -v ls -u"]
        {
            assert!(!is_unclear(text), "{text}");
        }
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
