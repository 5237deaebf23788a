//! Texts that are said to only read, run by the bash of this machine: none may make a file.
//!
//! The texts are put together from pieces of bash's grammar, at random but the same each time. Each piece that
//! could run something makes the file; nothing else in them changes anything.

#![allow(clippy::disallowed_methods, reason = "bash itself is compared with")]
#![allow(clippy::unwrap_used, reason = "a test program: what it unwraps is its message")]

use std::process::{Command, Stdio};

use moss_commands::{CommandClass, classify, read};

/// What makes the file, in each way in which a text may have it.
const MAKING: [&str; 10] = [
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
];
/// Texts in which a `@` is replaced by pieces.
const FRAMES: [&str; 39] = [
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
];
/// Pieces that mean something to bash somewhere.
const PIECES: [&str; 56] = [
    "a", " ", " ", " ", "\n", "(", ")", " #", "#", "\n#", "\\", "\\\n", "'", "\"", "$", "${", "}",
    "{", "[", "]", "[[", "]]", "a[", "a[0]", "=", "==", "!=", "=~", "+=", "x=", "RANDOM=",
    "OPTIND=", "SECONDS=", "|", "||", "&&", "&", ";", ";;", "<", ">", "<<E", "<<<", "@(", "*(",
    "!(", "?(", "~", "-a", "-v ", "-eq ", "*", "\"$x\"", "\"$y\"", " \"$x\" ", "$y",
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
        let mut text = String::new();
        for part in self.one_of(&FRAMES).split_inclusive('@') {
            match part.strip_suffix('@') {
                Some(part) => {
                    text.push_str(part);
                    text.push_str(&self.filling());
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
    Command::new("bash")
        .args(["--norc", "--noprofile", "-c", text])
        .current_dir(folder.path())
        .env_remove("BASH_ENV")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    folder.path().join("made").exists()
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
