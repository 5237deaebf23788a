//! Texts that are said to only read, run by the bash of this machine: none may make a file.
//!
//! The texts are put together from pieces of bash's grammar, at random but the same each time. Each piece that
//! could run something makes the file; nothing else in them changes anything.

#![allow(clippy::disallowed_methods, reason = "bash itself is compared with")]
#![allow(clippy::unwrap_used, reason = "a test program: what it unwraps is its message")]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

use moss_commands::{CommandClass, ShellWord, classify, read};

mod sed;
mod substitutions;

/// What makes the file, in each way in which a text may have it.
const MAKING: [&str; 18] = [
    " #$(touch made)\n",
    "( #$(touch made)\n)",
    "$(touch made)",
    "`touch made`",
    "\"$(touch made)\"",
    "'a[$(touch made)0]'",
    "; touch made\n",
    "\ntouch made\n",
    "<(touch made)",
    "${x:-$(touch made)}",
    "$\\\n(touch made)",
    "\"$\\\n(touch made)\"",
    "<\\\n(touch made)",
    "(\\\n(touch made))",
    "{\\\ntouch made; }",
    "`\\\ntouch made`",
    "<<\\\n-E\nE\ntouch made\n-E\n",
    ";\\\n; touch made\n",
];
/// Texts in which a `@` is replaced by pieces.
const FRAMES: [&str; 56] = [
    "RANDOM=@",
    "OPTIND+=@",
    "for SECONDS in @; do ls; done",
    "SRANDOM=@ ls",
    "HISTCMD=(@)",
    "[[ a =~ a@ || @ ]]",
    "[[ @ ]]",
    "[[ a =~ @ ]]",
    "[[ a == @ ]]",
    "[[ a != @ && @ ]]",
    "[[ ( a @ ) || @ ]]",
    "[[ -n @ ]]",
    "[[ @ == @ ]]",
    "[[ @\n]]",
    "x=-v; y='a[$(touch made)0]'; [ @ @ ]",
    "x=-v; y='a[$(touch made)0]'; test @ \"$x\" @",
    "x='-v a[$(touch${IFS}made)0]'; [ \"$y\" @ $x@ ]",
    "case @ in @) ls;; esac",
    "case a in @|@) ls;; esac",
    "case a in (@) ls;; esac",
    "case a in\na) @ ;; esac",
    "ls @",
    "ls \"@\"",
    "ls ${x:-@}",
    "ls ${x#@}",
    "ls \"${x%%@}\"",
    "ls ${x/@/@}",
    "ls @ | cat @",
    "x=@",
    "x=(@)",
    "@",
    "for x in @; do ls; done",
    "cat <<E\n@\nE",
    "cat <<'E' @\n@\nE",
    "cat <<< @",
    "ls > /dev/null @",
    "if ls @; then ls; fi",
    "f() { ls @; }; f",
    "echo $(ls @)",
    "cat='a[$(touch made >&2)0]'; (@(cat))",
    "cat='a[$(touch made >&2)0]'; echo $@(cat)@)",
    "[ @ 'a[$(touch made)0]' ]",
    "IFS=@ read x; ls $x",
    "IFS= read -r @ <<< 'a[$(touch made)0]'; [[ @ -eq $@ ]]",
    "read x <<< 'a[$(touch made)0]'; [ @ \"$x\" ]",
    "mapfile -t @ <<< @; [[ $@ -eq 1 ]]",
    "mapfile @ a; [[ ${a[@]} -eq 1 ]]",
    "export x=@",
    "x='a[$(touch made)0]'; local @ y=$x@",
    "f() { local x=@ @; ls @; }; f @",
    "declare @=@",
    "x='a[$(touch made)0]'; echo $((@))",
    "x=1; y='a[$(touch made)0]'; echo $((@x@))",
    "x=1; x=@; y=2; y=$((@)); echo $((y+@))",
    "a1='a[$(touch made)0]'; a=1; x=1; echo $(($x@$a@))",
    "f() { x=$1; echo $((x@)); }; x=1; f @",
];
/// Pieces that mean something to bash somewhere.
const PIECES: [&str; 88] = [
    "a",
    " ",
    " ",
    " ",
    "\n",
    "(",
    ")",
    " #",
    "#",
    "\n#",
    "\\",
    "\\\n",
    "'",
    "\"",
    "$",
    "${",
    "}",
    "{",
    "[",
    "]",
    "[[",
    "]]",
    "a[",
    "a[0]",
    "=",
    "==",
    "!=",
    "=~",
    "+=",
    "x=",
    "RANDOM=",
    "OPTIND=",
    "SECONDS=",
    "|",
    "||",
    "&&",
    "&",
    ";",
    ";;",
    "<",
    ">",
    "<<E",
    "<<<",
    "@(",
    "*(",
    "!(",
    "?(",
    "~",
    "-a",
    "-v ",
    "-eq ",
    "*",
    "\"$x\"",
    "\"$y\"",
    " \"$x\" ",
    "$y",
    "$\\\n",
    "(\\\n",
    "<\\\n",
    ">\\\n",
    "{\\\n",
    "\"\\\n",
    "`\\\n",
    "|\\\n",
    "&\\\n",
    " \\\n",
    "\\\n ",
    "<<-E",
    "{}",
    "{},",
    ",",
    "{a,-v}",
    "''",
    "''{},-v} ",
    "~-",
    "~+",
    "~/",
    "-v",
    "{,a} ",
    "..",
    "+x",
    "x",
    " x=1 ",
    " y=$x ",
    "$x",
    "$((x))",
    "1",
    "-C 'touch made' -c 1 ",
];
/// How many texts are put together, and how many of them bash runs at most.
const TEXTS: usize = 40_000;
const RUN_MAX: usize = 400;

/// Numbers that look random and are the same each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(end).unwrap()).unwrap()
    }

    fn one_of(&mut self, all: &[&'static str]) -> &'static str {
        all[self.below(all.len())]
    }

    /// A few pieces, among them at times one that makes the file.
    fn filling(&mut self) -> String {
        let mut filling = String::new();
        for _ in 0..=self.below(5) {
            let makes = self.below(3) == 0;
            filling.push_str(self.one_of(if makes { &MAKING } else { &PIECES }));
        }
        filling
    }

    fn text(&mut self) -> String {
        let frame = self.one_of(&FRAMES);
        self.filled(frame, Self::filling)
    }

    /// A frame, with something else in the place of each `@`.
    fn filled(&mut self, frame: &str, filling: impl Fn(&mut Self) -> String) -> String {
        let mut text = String::new();
        for part in frame.split_inclusive('@') {
            match part.strip_suffix('@') {
                Some(part) => {
                    text.push_str(part);
                    text.push_str(&filling(self));
                }
                None => text.push_str(part),
            }
        }
        text
    }
}

fn only_reads(text: &str) -> bool {
    read(text).is_ok_and(|script| {
        script.commands.iter().all(|command| classify(command) == CommandClass::ReadOnly)
    })
}

/// Whether bash makes the file when it runs a text.
fn makes_file(text: &str) -> bool {
    let folder = tempfile::tempdir().unwrap();
    // Some wait for what nobody writes.
    Command::new("timeout")
        .args(["10", "bash", "--norc", "--noprofile", "-c", text])
        .current_dir(folder.path())
        .env_remove("BASH_ENV")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    folder.path().join("made").exists()
}

/// Words in which bash may see more than one.
const WORDS: [&str; 47] = [
    "a",
    "b",
    "-v",
    "/",
    "=",
    ":",
    ".",
    "..",
    ",",
    ",",
    "{",
    "{",
    "}",
    "}",
    "{}",
    "{},",
    "{a,b}",
    "{1..3}",
    "''",
    "'}'",
    "'a b'",
    "\"",
    "\"$x\"",
    "$x",
    "$y",
    "${x}",
    "~",
    "~",
    "~-",
    "~+",
    "~1",
    "-",
    "\\",
    "\\\n",
    "*",
    "?",
    "[a-]",
    " ",
    "$@",
    "${a[@]}",
    "${x:-",
    "${z:-",
    "${z-",
    "${x:+",
    "\"${z:-${a[@]}}\"",
    "\"${x+$@}\"",
    "\"${x:+${z-\"$@\"}}\"",
];
/// How many of them are put together, and how many bash shows at most.
const WORD_TEXTS: usize = 40_000;
const SHOWN_MAX: usize = 400;

impl Numbers {
    fn words(&mut self) -> String {
        let mut words = String::from("printf '%s\\0' end ");
        for _ in 0..=self.below(8) {
            words.push_str(self.one_of(&WORDS));
        }
        words
    }
}

/// The words behind `end`, where a text is no more than the one command; none where it is not read.
fn read_words(text: &str) -> Option<Vec<ShellWord>> {
    let commands = read(text).ok()?.commands;
    let [command] = commands.as_slice() else { return None };
    (command.redirections.is_empty()).then(|| command.words[3..].to_vec())
}

/// The words that bash makes of those behind `end`; none where it does not run the text.
fn shown_words(text: &str, folder: &Path) -> Option<Vec<String>> {
    // Bash forgets one from outside that is no folder.
    let text = format!("OLDPWD=--pre=a; a=(-v 'b c' ''); set -- d -e\n{text}");
    let mut bash = Command::new("bash");
    let output = bash
        .args(["--norc", "--noprofile", "-c", &text])
        .current_dir(folder)
        .envs([("x", "-v"), ("y", "-v a"), ("HOME", "/home")])
        .env_remove("BASH_ENV")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    let words = shown.split_terminator('\0').skip(1).map(ToOwned::to_owned);
    output.status.success().then(|| words.collect())
}

/// Whether words may become those that bash shows.
fn may_become(words: &[ShellWord], shown: &[String]) -> bool {
    let Some((first, rest)) = words.split_first() else { return shown.is_empty() };
    let leads = |count: usize| {
        shown.get(..count).is_some_and(|shown| shown.iter().all(|word| begins(first, word)))
            && may_become(rest, &shown[count..])
    };
    match first {
        ShellWord::Fixed(_) | ShellWord::Unknown { is_single: true, .. } => leads(1),
        ShellWord::Unknown { .. } => (0..=shown.len()).any(leads),
    }
}

fn begins(word: &ShellWord, shown: &str) -> bool {
    match word {
        ShellWord::Fixed(text) => text == shown,
        // It stands for a folder, whose path begins with a slash, or for itself.
        ShellWord::Unknown { starts, .. } => match starts.split_once('~') {
            Some((before, _)) => {
                shown.starts_with(&format!("{before}/")) || shown.starts_with(starts)
            }
            None => shown.starts_with(starts.as_str()),
        },
    }
}

#[test]
fn words_become_in_bash_what_is_said_of_them() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a", "b", "ab", "-", "-v", "}"] {
        std::fs::write(folder.path().join(name), "").unwrap();
    }
    let shown = shown_words("printf '%s\\0' end ~- {},a} \"$x\"", folder.path());
    assert_eq!(shown.unwrap(), ["--pre=a", "{},a}", "-v"], "bash is needed");
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let texts = std::iter::repeat_with(|| numbers.words()).take(WORD_TEXTS);
    let mut count = 0;
    for text in texts.filter(|text| text.contains(['{', '~', '$', '*', '?', '['])) {
        let Some(words) = read_words(&text) else { continue };
        let Some(shown) = shown_words(&text, folder.path()) else { continue };
        assert!(may_become(&words, &shown), "{text:?}: {words:?} became {shown:?}");
        count += 1;
        if count == SHOWN_MAX {
            return;
        }
    }
    panic!("only {count} texts were shown");
}

/// The names that a text declares in a function of bash; none where bash refuses it.
fn declared_names(text: &str, folder: &Path) -> Option<BTreeSet<String>> {
    let text = format!("f() {{ {text}\nlocal -p; }}; f c 'd e'");
    let output = Command::new("bash")
        .args(["--norc", "--noprofile", "-c", &text])
        .current_dir(folder)
        .envs([("x", "-v"), ("y", "b c=*"), ("HOME", "/home")])
        .env_remove("BASH_ENV")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    let is_refused = !output.status.success() || !output.stderr.is_empty();
    let declared = shown.lines().filter_map(|line| line.strip_prefix("declare -- "));
    let names = declared.map(|line| line.split('=').next().unwrap().to_owned());
    (!is_refused).then(|| names.collect())
}

#[test]
fn a_builtin_that_declares_sets_in_bash_what_is_said_of_it() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a", "b", "a=b", "a=-", "a=c a"] {
        std::fs::write(folder.path().join(name), "").unwrap();
    }
    let names = |names: &[&str]| Some(names.iter().map(ToString::to_string).collect());
    assert_eq!(declared_names("local a=$y b", folder.path()), names(&["a", "b"]));
    assert_eq!(declared_names("\\local a=$y", folder.path()), names(&["a", "c"]), "it splits");
    let mut numbers = Numbers(0x2545_f491_4f6c_dd1d);
    let texts = std::iter::repeat_with(|| numbers.words()).take(WORD_TEXTS);
    let mut count = 0;
    for text in texts.filter(|text| text.contains(['{', '~', '$', '*', '?', '['])) {
        let text = text.replace("printf '%s\\0' end ", "local a=");
        let Ok(script) = read(&text) else { continue };
        let [command] = script.commands.as_slice() else { continue };
        if command.unclear.is_some() {
            continue;
        }
        let said: BTreeSet<_> =
            command.assignments.iter().map(|assigned| assigned.name.clone()).collect();
        let Some(declared) = declared_names(&text, folder.path()) else {
            panic!("{text:?}: bash refuses it")
        };
        assert_eq!(said, declared, "{text:?}");
        count += 1;
        if count == SHOWN_MAX {
            return;
        }
    }
    panic!("only {count} texts were shown");
}

#[test]
fn what_is_said_to_only_read_makes_no_file_in_bash() {
    assert!(makes_file("ls $(touch made)"), "bash is needed");
    assert!(makes_file("x=-v; y='a[$(touch made)0]'; [ \"$x\" \"$y\" ]"), "its `[` has `-v`");
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let texts = std::iter::repeat_with(|| numbers.text()).take(TEXTS);
    let run: Vec<_> =
        texts.filter(|text| text.contains("made") && only_reads(text)).take(RUN_MAX).collect();
    // Most of those that make the file are refused; what is left is run.
    assert!(run.len() > 50, "only {} texts were run", run.len());
    for text in run {
        assert!(!makes_file(&text), "{text:?}");
    }
}
