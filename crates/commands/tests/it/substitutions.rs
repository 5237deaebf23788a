//! Substitutions, here-documents in them, and words that end what stands before them.
//!
//! Bash reads what is in a substitution twice, the second time as it has written it down itself; and where it finds an
//! error there, it goes on with the next line.

use std::io::Write as _;
use std::process::{Command, Stdio};

use moss_commands::{as_function, is_like, read};

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

/// A text as bash writes it down without running it; none where bash refuses it.
fn written(text: &str) -> Option<String> {
    let mut bash = Command::new("bash");
    bash.args(["--norc", "--noprofile", "--pretty-print"]).env_remove("BASH_ENV");
    let mut bash = bash.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    bash.stdin.take().unwrap().write_all(as_function(text).as_bytes()).unwrap();
    let output = bash.wait_with_output().unwrap();
    output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
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
    let mut numbers = Numbers(0x2545_f491_4f6c_dd1d);
    let texts = std::iter::repeat_with(|| text(&mut numbers, &FRAMES)).take(TEXTS);
    let mut count = 0;
    for text in texts {
        if read(&text).is_err() {
            continue;
        }
        let Some(shown) = written(&text) else { panic!("{text:?}: bash refuses it") };
        assert!(is_like(&text, &shown), "{text:?}: {shown}: {:?}", read(&shown));
        count += 1;
        if count == RUN_MAX {
            return;
        }
    }
    panic!("only {count} texts were written down");
}

#[test]
fn usual_texts_that_are_not_plain_are_the_same_as_bash_writes_them_down() {
    let texts = [
        "git commit -m \"$(cat <<'EOF'\nFix: the $(thing) `x`\n\n- a\nEOF\n)\" && git push",
        "python3 - <<'EOF'\nimport os\nprint(\"a $x\")\nEOF",
        "cat > a.txt <<EOF\none $HOME\n\ttwo\nEOF",
        "cat <<-EOF > b.txt\n\tone\n\tEOF\nls b.txt",
        "if [[ -f a && ! -d b ]]; then make; elif [ -n \"$x\" ]; then ls; else echo no; fi",
        "[[ $x == a* ]] && make || echo \"${x:-none}\"",
        "[[ \"$x\" =~ ^a+$ ]] && make",
        "for f in $(git ls-files '*.rs'); do rustfmt \"$f\"; done",
        "for ((i=0; i<3; i++)); do make; done",
        "n=$((2 + 3)); echo \"$n\" >> out.txt",
        "case \"$1\" in\n  a|b) make ;;\n  *) echo \"no\" ;;\nesac",
        "diff <(ls a) <(ls b) > d.txt",
        "x=`git rev-parse HEAD`; echo \"$x\"",
        "printf '%s\\n' $'a\\tb' > f",
        "while IFS= read -r l; do echo \"${l%%:*}\"; done < <(rg -n x)",
        "mkdir -p src/{a,b}/tests && touch src/{a,b}/mod.rs",
        "a=(1 2 3); echo \"${a[@]}\" \"${#a[@]}\"",
        "f() { make \"$1\"; }; f x",
        "set -euo pipefail; make 2>&1 | tee log; echo \"${PIPESTATUS[0]}\"",
        "docker run --rm -v \"$(pwd)\":/w -w /w img make",
        "make VERSION=\"$(git describe --tags)\" # the version",
        "grep -q x <<< \"$y\" && make",
        "timeout 5 bash -c 'for i in 1 2; do make; done; echo \"$(date)\"'",
        "cd a && (cd b; make) && { ls; } >> log 2>&1 &",
        "select x in a; do make; done",
        "time make; ! make; coproc make",
    ];
    let mut count = 0;
    for text in texts.into_iter().filter(|text| read(text).is_ok()) {
        let shown = written(text).unwrap_or_else(|| panic!("{text:?}: bash refuses it"));
        assert!(is_like(text, &shown), "{text:?}: {shown}: {:?}", read(&shown));
        count += 1;
    }
    assert!(count > 20, "only {count} texts are read");
}
