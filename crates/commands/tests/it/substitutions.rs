//! Substitutions, here-documents in them, and words that end what stands before them.
//!
//! Bash reads what is in a substitution twice, the second time as it has written it down itself; and where it finds an
//! error there, it goes on with the next line.

use std::path::Path;
use std::process::{Command, Stdio};

use moss_commands::{SimpleCommand, read};

use crate::{Numbers, makes_file, only_reads};

/// Texts in which a `@` is replaced by pieces; each makes the file if bash reads them in another way.
const FRAMES: [&str; 22] = [
    "echo $(@) '\ntouch made\n: '",
    "echo $(ls @) '\ntouch made\n: '",
    "echo \"$(ls; @)\" '\ntouch made\n: '",
    "echo $(x=@ ls) '\ntouch made\n: '",
    "echo $(x=(@)) '\ntouch made\n: '",
    "cat <(@) '\ntouch made\n: '",
    "echo $(for x in @; do @; done) '\ntouch made\n: '",
    "echo $(if @; then @; fi) '\ntouch made\n: '",
    "echo $(case @ in @) @;; esac) '\ntouch made\n: '",
    "echo $([[ @ =~ @ ]]) '\ntouch made\n: '",
    "echo $(f() { @; }) '\ntouch made\n: '",
    "echo $(cat <<E\n@\nE\n) '\ntouch made\n: '",
    "echo $(cat <<'E'\n@touch made@)\nE\n)",
    "echo \"$(cat <<-E @\n@touch made@\n\tE\n)\"",
    "cat <<E\n$(cat <<'F'\n@;touch made;@)\nF\n)\nE",
    "cat <(cat <<E | cat @\n@touch made # )\nE\n@)",
    "a=(1 /dev/null made); uniq -f @",
    "a=(1 /dev/null made); uniq -f \"@\"",
    "f() { uniq -f @; }; f 1 /dev/null made",
    "x=';'; y='a ; '; find . -maxdepth 0 -exec echo @ -exec touch made \\; \\;",
    "x=+; y='{}'; find . -maxdepth 0 -exec echo @ -exec touch made {} @",
    "echo ';' | xargs -IR find . -maxdepth 0 -exec echo @R@ -exec touch made \\; \\;",
];
const PIECES: [&str; 115] = [
    "a",
    "ls",
    "pwd",
    " ",
    " ",
    " ",
    "\n",
    ";",
    "; ",
    "&",
    "&&",
    "|",
    "||",
    "|&",
    " | cat",
    "!",
    "! ",
    "time ",
    "time -p ",
    "\\;",
    "\\&",
    "\\|",
    "\\<",
    "\\(",
    "\\)",
    "\\ ",
    "\\\\",
    "\\'",
    "\\\"",
    "';'",
    "\";\"",
    "'a b'",
    "$'\\n'",
    "$'\\''",
    "x=",
    "x=(",
    "(",
    ")",
    "{ ",
    "; }",
    "}",
    "{",
    "{}",
    " {} ",
    "{\\;,",
    "{a,",
    ",",
    "-o",
    "+",
    " + ",
    "\\; ",
    "E",
    "\nE",
    "E)",
    "\nE)\n",
    "\n\tE",
    "F",
    "\nF)",
    "<<E",
    "<<'E'\n",
    " # ",
    "#",
    "$x",
    "\"$x\"",
    "$y",
    "\"$y\"",
    "${z:-",
    "\"${z:-",
    "${x:+",
    "$@",
    "${a[@]}",
    "${a[*]}",
    "}\"",
    "2>&1",
    "</dev/null",
    "<<<",
    "[[ a ]]",
    " =~ ",
    "esac",
    ">a ",
    " >b",
    "<a ",
    "2>",
    ">&",
    "&>a",
    "<>b",
    " 3<&-",
    ">|",
    "if ",
    "then ",
    "fi ",
    "do ",
    "done ",
    "[[ ",
    " ]]",
    "for ",
    "in ",
    "else ",
    " `ls` ",
    "$(ls)",
    " <(ls) ",
    "$((1+2))",
    "$'a\\'b'",
    "$'\\x26'",
    "~",
    "'\n'",
    "\"\n\"",
    " # '\n",
    "\\\n",
    "\\$",
    "\\`",
    "*",
    "[a]",
    "\\#",
    "-n ",
];
/// How many texts are put together, and how many of them bash runs at most.
const TEXTS: usize = 60_000;
const RUN_MAX: usize = 600;

fn text(numbers: &mut Numbers, frames: &[&'static str]) -> String {
    let frame = numbers.one_of(frames);
    numbers.filled(frame, |numbers| {
        let count = numbers.below(5);
        (0..count).map(|_| numbers.one_of(&PIECES)).collect()
    })
}

#[test]
fn what_only_reads_stays_so_where_bash_reads_it_again() {
    for made in [
        "echo $(a=(\\;)) '\ntouch made\n: '",
        "echo $(cat <<'E'\nEtouch made #\nE\n)",
        "echo $(cat <<'E'\nEtouch made # )\nE\n)",
        "a=(1 /dev/null made); uniq -f \"${z:-${a[@]}}\"",
        "find . -maxdepth 0 -exec echo {\\;,-exec,touch,made,\\;,-exec,true} \\;",
    ] {
        assert!(!only_reads(made), "{made:?}");
    }
    assert!(makes_file("a=(1 /dev/null made); uniq -f \"${z:-${a[@]}}\""), "bash is needed");
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let texts = std::iter::repeat_with(|| text(&mut numbers, &FRAMES)).take(TEXTS);
    let run: Vec<_> = texts.filter(|text| only_reads(text)).take(RUN_MAX).collect();
    assert!(run.len() > 100, "only {} texts were run", run.len());
    for text in run {
        assert!(!makes_file(&text), "{text:?}");
    }
}

/// A function that does what a text does, as bash writes it down; none where bash refuses it.
fn written(text: &str, folder: &Path) -> Option<String> {
    let text = format!("f() {{ {text}\n}}; declare -f f");
    let mut bash = Command::new("bash");
    bash.args(["--norc", "--noprofile", "-c", &text]).current_dir(folder);
    let output = bash.env_remove("BASH_ENV").stdin(Stdio::null()).output().unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    (output.status.success() && output.stderr.is_empty()).then_some(shown)
}

/// What commands come to, whatever blanks and quotes they are written with.
fn bare(commands: &[SimpleCommand]) -> Vec<String> {
    let word = |word: &moss_commands::ShellWord| match word.fixed() {
        Some(text) => format!("{text:?}"),
        None => format!("unknown {:?}", word.starts()),
    };
    let bare = |command: &SimpleCommand| {
        // `[[ a ]]` becomes `[[ -n a ]]`.
        let words: Vec<_> =
            command.words.iter().filter(|word| word.fixed() != Some("-n")).map(word).collect();
        let names: Vec<_> = command.assignments.iter().map(|assigned| &assigned.name).collect();
        let opened: Vec<_> =
            command.redirections.iter().map(|opened| (opened.mode, word(&opened.target))).collect();
        let input = command.input.as_ref().map(word);
        format!("{words:?} {names:?} {opened:?} {input:?}")
    };
    commands.iter().map(bare).collect()
}

#[test]
fn a_substitution_is_the_same_as_bash_writes_it_down() {
    const FRAMES: [&str; 16] = [
        "echo $(@ && cat <<E\n@\nE\n)",
        "echo $({ @; cat <<E\n@\nE\n})",
        "echo \"$(@ | (@; cat <<-'E'\n@\nE\n) )\"",
        "echo $(if ls @; then @; elif @; then @; else @; fi @)",
        "echo $(until @; do @; done | ls @)",
        "echo $(! @ && time @ || { @; } & (@; @) @)",
        "echo $(ls $(@) \"$(@)\" <(@))",
        "echo $(@)",
        "echo $(ls @)",
        "echo \"$(ls; @)\"",
        "cat <(@ | ls)",
        "echo $(for x in @; do ls @; done)",
        "echo $(if ls @; then @; fi)",
        "echo $(while @; do { ls @; } | cat; done)",
        "echo $(cat <<E @\n@\nE\n@)",
        "echo $(cat <<'E' | cat && ls @\n@\nE\n)",
    ];
    let folder = tempfile::tempdir().unwrap();
    let mut numbers = Numbers(0x2545_f491_4f6c_dd1d);
    let texts = std::iter::repeat_with(|| text(&mut numbers, &FRAMES)).take(TEXTS);
    let mut count = 0;
    for text in texts {
        let Ok(script) = read(&text) else { continue };
        let Some(shown) = written(&text, folder.path()) else {
            panic!("{text:?}: bash refuses it");
        };
        match read(&shown) {
            Ok(again) => {
                assert_eq!(bare(&script.commands), bare(&again.commands), "{text:?}: {shown}");
            }
            Err(error) => panic!("{text:?}: {shown}: {error}"),
        }
        count += 1;
        if count == RUN_MAX {
            return;
        }
    }
    panic!("only {count} texts were written down");
}
