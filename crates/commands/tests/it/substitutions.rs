//! Substitutions, here-documents in them, and words that end what stands before them.
//!
//! Bash reads what is in a substitution twice, the second time as it has written it down itself; and where it finds an
//! error there, it goes on with the next line.

use std::io::Write as _;
use std::process::{Command, Stdio};

use moss_commands::{SecondReading, is_plain, read};

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

/// What bash writes down of a script, without running it; none where it refuses that.
fn printed(script: &str) -> Option<String> {
    let mut bash = Command::new("bash");
    bash.args(["--norc", "--noprofile", "--pretty-print"]).env_remove("BASH_ENV");
    let mut bash = bash.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    bash.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    let output = bash.wait_with_output().unwrap();
    output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
}

/// Fails where bash reads a text otherwise.
fn hold_same(text: &str) {
    let second = SecondReading::of(text).unwrap_or_else(|error| panic!("{text:?}: {error}"));
    let Some(printed) = printed(&second.script()) else { panic!("{text:?}: bash refuses it") };
    assert!(second.is_same(&printed), "{text:?}: {printed}");
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
        hold_same(&text);
        count += 1;
        if count == RUN_MAX {
            return;
        }
    }
    panic!("only {count} texts were written down");
}

/// Usual texts that are not plain: bash has to write each down as moss reads it, or it asks without a reason.
const USUAL: [&str; 62] = [
    "git commit -m \"$(cat <<'EOF'\nFix: the $(thing) `x`\n\n- a\nEOF\n)\" && git push",
    "python3 - <<'EOF'\nimport os\nprint(\"a $x\")\nEOF",
    "python3 - <<'EOF'\nfor a in b:\n        if a:\n                print(\"\"\"(a);#\"\"\")\nEOF\nls # c",
    "cat > a.txt <<EOF\none $HOME\n\ttwo\nEOF",
    "cat <<-EOF > b.txt\n\tone\n\tEOF\nls b.txt",
    "cat > v.txt <<EOF && git add v.txt\nversion=$(git describe --tags)\ndate=\"$(date +\"%F\")\"\nEOF",
    "cat <<EOF | tee a; ls\n`date` \\`x\\`\nEOF\nid",
    "cat <<A; cat <<'B' # two\na\nA\nb\nB\nls",
    "if [[ -f a && ! -d b ]]; then make; elif [ -n \"$x\" ]; then ls; else echo no; fi",
    "[[ $x == a* ]] && make || echo \"${x:-none}\"",
    "[[ ( -n \"$x\" || -f a ) &&\n  $y != *b ]] && ls",
    "[[ \"$x\" =~ ^a+$ ]] && make",
    "for f in $(git ls-files '*.rs'); do rustfmt \"$f\"; done",
    "for f in $(git diff --name-only | grep -v '^x'); do\n  # each\n  sed -n '1,2p' \"$f\" # shown\ndone",
    "for f\nin a b; do ls $(echo a); done; for g; do :; done",
    "n=$((2 + 3)); echo \"$n\" >> out.txt",
    "i=0; while [ $i -lt 3 ]; do i=$((i + 1)); echo \"$((i * (2 + i)))\"; done",
    "case \"$1\" in\n  a|b) make ;;\n  *) echo \"no\" ;;\nesac",
    "case x in (a) ls;; b|c) ls; ls;& *) esac",
    "diff <(ls a) <(ls b) > d.txt",
    "diff <(jq -S . a.json) <(jq -S . b.json) || true",
    "x=`git rev-parse HEAD`; echo \"$x\"",
    "printf '%s\\n' $'a\\tb' > f",
    "while IFS= read -r l; do echo \"${l%%:*}\"; done < <(rg -n x)",
    "mkdir -p src/{a,b}/tests && touch src/{a,b}/mod.rs",
    "ls src/*.{rs,toml} 2>/dev/null|head -5",
    "a=(1 2 3); echo \"${a[@]}\" \"${#a[@]}\"",
    "files=(\n  a.txt  # first\n  'b c.txt'\n)\nfor f in \"${files[@]}\"; do cat \"$f\"; done",
    "x+=(a b); a=() b=1 c=$(ls) ls",
    "f() { make \"$1\"; }; f x",
    "function f { local x=$1; ls \"$x\"; }\nf a",
    "f()\n(\n  cd a && ls\n)\nf",
    "set -euo pipefail; make 2>&1 | tee log; echo \"${PIPESTATUS[0]}\"",
    "set -e\n\n# build\nmake -j$(nproc) \\\n  CFLAGS='-O2 -g' \\\n  all\n",
    "docker run --rm -v \"$(pwd)\":/w -w /w img make",
    "make VERSION=\"$(git describe --tags)\" # the version",
    "grep -q x <<< \"$y\" && make",
    "grep -c \"$(printf 'a\\tb')\" <<<'a' >/dev/null",
    "timeout 5 bash -c 'for i in 1 2; do make; done; echo \"$(date)\"'",
    "bash -c \"ls; echo \\$(date)\"; sh -c 'ls `pwd`'",
    "find . -name '*.rs' -exec sh -c 'wc -l \"$1\" | sed \"s/ .*//\"' _ {} \\;",
    "find . \\( -name a -o -name b \\) -print0 | xargs -0 -n1 bash -c 'echo \"${0##*/}\"'",
    "cd a && (cd b; make) && { ls; } >> log 2>&1 &",
    "cd \"$(git rev-parse --show-toplevel)\" && git log -1 --format=%h",
    "(ls;id)>f 2>&1;{ ls; }|cat",
    "ls $(echo a;echo b)&&id||ls;!  ls|&cat",
    "echo \"a$(echo \"b$(echo 'c  d')\")  e\"",
    "echo \"$(if [ -f a ]; then cat a; else echo none; fi)\"",
    "echo \"$(for i in 1 2; do\n  echo $i\ndone)\" $( (ls) ) $(\n  ls\n)",
    "select x in a; do make; done",
    "time make; ! make",
    "time -p ls $(pwd); until false; do ls; done",
    "curl -s x | jq -r '.[] | {a: .b, c}' | sort -u",
    "awk '{print $1, $2}' f | sort | uniq -c",
    "awk 'BEGIN { while ((\"ls\" | getline l) > 0) print l }'",
    "rg 'foo\\(' -g '*.{ts,tsx}' | head -n 20",
    "sed -E 's/(a|b)\\{2\\}/\\1/' f",
    "git log --format='%h %s' $(git merge-base main HEAD)..HEAD",
    "git show HEAD:a.txt | diff - <(cat a.txt) && echo \"same $(date +%s)\"",
    "kill -0 $! 2>/dev/null; wait $!; echo $? $(jobs -p)",
    "echo ${x:-$(ls a)} \"${y:+$(id)}\" ${z//a/b}",
    "export A=$(ls) B=\"$(id)\"; declare -r C=c; ls >&2 2>&- 3>&1",
];
/// Usual texts that moss does not read at all.
const UNREAD: [&str; 3] =
    ["for ((i=0; i<3; i++)); do make; done", "coproc make", "((x > 1)) && make"];

#[test]
fn usual_texts_that_are_not_plain_are_the_same_to_bash() {
    for text in USUAL {
        read(text).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        hold_same(text);
    }
    for text in UNREAD {
        assert!(read(text).is_err(), "{text}");
    }
}

/// The texts in the tables of commands, and those of which rules decide.
fn lines_of_tables() -> Vec<String> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = |path: &str| std::fs::read_to_string(folder.join(path)).unwrap();
    let mut lines = Vec::new();
    for table in ["src/always_ask.toml", "src/read_only.toml"] {
        let table: toml::Table = text(table).parse().unwrap();
        for entry in table["command"].as_array().unwrap() {
            let texts = ["examples", "not"].into_iter().filter_map(|key| entry.get(key));
            let texts = texts.flat_map(|texts| texts.as_array().unwrap());
            lines.extend(texts.map(|text| text.as_str().unwrap().to_owned()));
        }
    }
    let decided = text("../policy/src/commands/table.tsv");
    let decided = decided.lines().filter_map(|line| line.rsplit('\t').next());
    lines.extend(decided.map(|line| line.replace("\\n", "\n")));
    lines
}

#[test]
fn lines_of_the_tables_are_the_same_to_bash() {
    let is_compared = |line: &&String| !is_plain(line) && read(line).is_ok();
    let lines = lines_of_tables();
    let compared: Vec<_> = lines.iter().filter(is_compared).collect();
    assert!(compared.len() > 50, "only {} of {} lines are compared", compared.len(), lines.len());
    for line in compared {
        hold_same(line);
    }
}
