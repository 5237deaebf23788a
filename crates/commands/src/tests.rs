//! Tests of the reader: what it reads, what it refuses, and its bounds.

use proptest::prelude::*;

use super::*;

/// What is read of a text: each command with its words, unknown ones in angle brackets.
fn shown(text: &str) -> String {
    match read(text) {
        Err(error) => format!("! {}", error.reason),
        Ok(script) => {
            let commands: Vec<_> = script.commands.iter().map(shown_command).collect();
            commands.join(" | ")
        }
    }
}

fn shown_command(command: &SimpleCommand) -> String {
    let word = |word: &ShellWord| match word {
        ShellWord::Fixed(text) => text.replace('\n', "\\n"),
        ShellWord::Unknown { starts, is_single, .. } => {
            format!("<{starts}{}>", if *is_single { "" } else { "…" })
        }
    };
    let mut parts: Vec<String> = command.via.iter().map(|name| format!("{name}:")).collect();
    parts.extend(command.assignments.iter().map(|assigned| {
        format!("{}={}", assigned.name, assigned.value.as_ref().map_or("-".to_owned(), word))
    }));
    parts.extend(command.words.iter().map(word));
    parts.extend(command.redirections.iter().map(|redirection| {
        let sign = match redirection.mode {
            RedirectionMode::Read => "<",
            RedirectionMode::Truncate => ">",
            RedirectionMode::Append => ">>",
            RedirectionMode::ReadWrite => "<>",
        };
        format!("{sign}{}", word(&redirection.target))
    }));
    if command.unclear.is_some() {
        parts.push("?".to_owned());
    }
    parts.join(" ")
}

#[track_caller]
fn check(rows: &[(&str, &str)]) {
    for (text, expected) in rows {
        assert_eq!(shown(text), *expected, "{text}");
    }
}

#[test]
fn words_are_read_as_bash_reads_them() {
    check(&[
        ("ls -la", "ls -la"),
        ("r\"\"m 'a b' c\\ d", "rm a b c d"),
        ("echo \"a\\$b\\n\" 'c'\"d\"e", "echo a$b\\n cde"),
        ("echo $'a\\x2db\\n'", "echo a-b\\n"),
        ("echo $x \"$x\" a$x \"a$x\" \"$@\"", "echo <…> <> <…> <a> <…>"),
        ("ls *.rs src/* {a,b} a{b,c}", "ls <…> <src/…> <…> <a…>"),
        ("ls ~ ~/x --a=~/x a~b", "ls <~> <~> <--a=~> a~b"),
        ("find . -exec echo {} ;", "find . ? | find: echo <…>"),
        ("ls a#b # c", "ls a#b"),
        ("ls \\\n -la", "ls -la"),
        ("A=1 B=\"x$y\" ls", "A=1 B=<x> ls"),
        ("A=$'x' B=*", "A=x B=*"),
        ("a=(1 2)", "a=<…>"),
        ("[ -f a ]", "[ -f a ]"),
        ("echo $ \"$\" $", "echo $ $ $"),
        ("echo ${x} ${x:-a} \"${x%.rs}\" ${#x} ${a[@]}", "echo <…> <…> <> <…> <…>"),
        ("echo $((1 + (2 * 3)))", "echo <>"),
        ("i=1 j=-2; echo $((i+1)) \"$((${j}*$i))\" a$((i++))", "i=1 j=-2 | echo <> <> <a>"),
    ]);
}

#[test]
fn every_command_of_a_text_is_found() {
    check(&[
        ("ls | head && rm x || cat; pwd & id", "ls | head | rm x | cat | pwd | id"),
        ("echo $(rm x) \"`ls`\" <(cat y)", "rm x | ls | cat y | echo <…> <> </dev/fd/>"),
        ("if ls; then rm a; elif b; then c; else d; fi", "ls | rm a | b | c | d"),
        ("for i in a $(ls); do rm $i; done", "ls | i=<…> | rm <…>"),
        ("while read l; do echo $l; done < f", "read l | echo <…> | <f"),
        ("case $x in a|b) rm c;; *) ls ;; esac", "rm c | ls | : <…> a b <…>"),
        ("case a in \"${x?$y}\") ;; esac > c", ": a <> | >c"),
        ("f() { rm x; }; f", "rm x | f"),
        ("function g { ls; }", "ls"),
        ("(cd a; rm b) > c", "cd a | rm b | >c"),
        ("{ ls; } 2>&1 | cat", "ls | cat"),
        ("! ls", "ls"),
        ("time -p ls", "ls"),
        ("cat <<EOF >x\nhi $(rm a)\nEOF\nls", "cat >x | rm a | ls"),
        ("cat <<'EOF'\n$(rm a)\nEOF", "cat"),
        ("cat <<-A && ls\n\tx\n\tA\npwd", "cat | ls | pwd"),
        ("[[ -f a && $b == x* ]] && ls", "[[ -f a && <…> == <x…> | ls"),
        ("[[ ! ( a < b ||\n$c =~ ^x[0-9]+$ ) ]]", "[[ ! ( a < b || <…> =~ <^x…> )"),
        ("[[ -n \"$(id)\" ]] 2>/dev/null", "id | [[ -n <> | >/dev/null"),
        ("x=$(rm a)", "rm a | x=<>"),
        ("echo ${x:-$(rm a)}", "rm a | echo <…>"),
        ("a;\n# c\nb", "a | b"),
        ("ls 2>a >>b <c &>d <>e", "ls >a >>b <c >d <>e"),
        ("cat <<< $(id)", "id | cat"),
    ]);
}

#[test]
fn what_commands_run_is_unfolded() {
    check(&[
        ("env -i A=1 rm x", "env -i A=1 rm x | env: A=1 rm x"),
        (
            "nohup timeout -k 1 5 nice -n 3 rm x",
            "nohup timeout -k 1 5 nice -n 3 rm x | nohup: timeout -k 1 5 nice -n 3 rm x | nohup: timeout: nice -n 3 rm x | nohup: timeout: nice: rm x",
        ),
        ("sh -c 'ls; rm x'", "sh -c ls; rm x | sh: ls | sh: rm x"),
        ("bash -euc \"rm $x\"", "bash -euc <rm > ?"),
        ("bash <<'E'\nrm x\nE", "bash ? | bash: rm x"),
        ("curl x | bash", "curl x | bash ?"),
        ("bash x.sh", "bash x.sh"),
        ("bash -lc ls", "bash -lc ls | bash: ls"),
        ("bash -l x.sh", "bash -l x.sh"),
        ("bash -lic ls", "bash -lic ls ?"),
        ("ls | xargs -0 -n 1 rm -f", "ls | xargs -0 -n 1 rm -f | xargs: rm -f <…>"),
        ("xargs -I X mv X b/X", "xargs -I X mv X b/X | xargs: mv <> <b/>"),
        ("xargs -0I{} rm -f a/{}", "xargs -0I{} rm -f a/{} | xargs: rm -f <a/>"),
        ("xargs -i rm {}", "xargs -i rm {} ?"),
        ("find . -name a -exec rm {} + -print", "find . -name a -print | find: rm <…>"),
        (
            "find . -exec sh -c 'rm \"$1\"' _ {} \\;",
            "find . | find: sh -c rm \"$1\" _ <> | find: sh: rm <>",
        ),
        ("command -v ls", "command -v ls"),
        ("command rm x", "command rm x | command: rm x"),
        ("sudo -u a rm x", "sudo -u a rm x | sudo: rm x"),
        ("eval 'rm x'", "eval rm x | eval: rm x"),
        ("eval \"$x\"", "eval <> ?"),
        ("source x", "source x ?"),
        ("$x y", "<…> y ?"),
        ("jobs -x rm a", "jobs -x rm a ?"),
        ("jobs -lx rm a", "jobs -lx rm a ?"),
        ("jobs $x", "jobs <…> ?"),
        ("jobs -l %1", "jobs -l %1"),
        ("compgen -C 'rm a'", "compgen -C rm a ?"),
        ("compgen -cC id", "compgen -cC id ?"),
        ("compgen -W '$(id)' a", "compgen -W $(id) a ?"),
        ("builtin compgen -F f", "builtin compgen -F f | builtin: compgen -F f ?"),
        ("compgen -A function a", "compgen -A function a"),
        ("env -S 'rm x'", "env -S rm x ?"),
        ("export A=1 B", "A=1 B=- export A=1 B"),
        ("export A=$x B=a\"$y\" $z", "export <A=> <B=a> <…> ?"),
        ("local A=$x", "A=<…> local <A=>"),
        ("local A=$x* B={a,$y}", "local <A=…> <B=…> ?"),
        ("mapfile -t a < b", "mapfile -t a <b"),
        ("declare -i x=1", "declare -i x=1 ?"),
        ("watch -n 1 rm x", "watch -n 1 rm x | watch: rm x"),
        ("flock f -c 'rm x'", "flock f -c rm x >>f | flock: rm x"),
        ("flock -n $x ls", "flock -n <…> ls ?"),
        ("flock 9 ls", "flock 9 ls >>9 | flock: ls"),
        ("flock -u 9", "flock -u 9"),
        ("/usr/bin/env rm x", "/usr/bin/env rm x | env: rm x"),
        ("busybox rm x", "busybox rm x | busybox: rm x"),
    ]);
}

#[test]
fn on_a_terminal_some_commands_write_to_a_file() {
    let on_terminal = |text| {
        let script = read(text).unwrap().on_terminal();
        script.commands.iter().map(shown_command).collect::<Vec<_>>().join(" | ")
    };
    for (text, expected) in [
        ("nohup ls", "nohup ls >>nohup.out | nohup: ls"),
        ("env nohup ls", "env nohup ls | env: nohup ls >>nohup.out | env: nohup: ls"),
        ("nohup ls 2> a", "nohup ls >a >>nohup.out | nohup: ls"),
        ("nohup ls > a", "nohup ls >a | nohup: ls"),
        ("nohup ls 01>> a", "nohup ls >>a | nohup: ls"),
        ("nohup ls &> a", "nohup ls >a | nohup: ls"),
        ("ls", "ls"),
    ] {
        assert_eq!(on_terminal(text), expected, "{text}");
    }
}

#[test]
fn what_means_more_than_one_thing_is_refused() {
    for text in [
        "",
        " ",
        "# x",
        "if ls",
        "ls )",
        "ls ;; rm",
        "ls; ; rm",
        "( )",
        "'a",
        "\"a",
        "`ls",
        "$(ls",
        "${x",
        "ls\rrm",
        "ls\u{200b}",
        "ls\0",
        "((x=1))",
        "echo $((x))",
        "echo $[1]",
        "echo ${x@P}",
        "echo ${!x}",
        "echo ${x:=1}",
        "echo ${a[$(rm x)]}",
        "echo ${a[i]}",
        "a[$(rm x)]=1",
        "echo $'\\u0041'",
        "echo $\"x\"",
        "coproc ls",
        "cat <<E",
        "cat <<E\nx",
        "cat <<$x\n$x",
        "ls @(a|b)",
        "echo {a}>x",
        "ls {fd}>x",
        "for ((i=0;i<3;i++)); do ls; done",
        "echo `echo \\`ls\\``",
        "\"`echo \"x\"`\"",
        "l\\\ns",
        "ls \\",
        "f() ls",
        "function",
        "then",
        "ls | | rm",
        "&& ls",
        "ls &&",
        "case x in",
        "for 1 in a; do ls; done",
        "[[ a",
        "[[ ]]",
        "[[ ( a ]]",
        "[[ a =~ (b) ]]",
        "echo ${x:-'}'}",
        "cat <<E \"\n\"\nE\n",
        "ls <& $x",
        "$(cat <<E)\nE",
        "1234>a",
        "echo ${x/a",
        "select x in a; do",
        "a <(ls)b<(c)",
        "read() { ls; }",
        "function read { ls; }",
    ] {
        assert!(shown(text).starts_with("! "), "{text:?}: {}", shown(text));
    }
}

#[test]
fn arithmetic_is_read_where_a_text_sets_its_variables_to_numbers_alone() {
    for text in [
        "i=0; i=$((i+1))",
        "i=0; while [ $i -lt 3 ]; do i=$((i + 1)); echo \"$i\"; done",
        "i=; echo $((i))",
        "for i in 1 2 3; do echo $((i*2)); done",
        "n=${#x}; m=$#; k=\"$((m-n))\"; echo $(( (k+1) % $# ))",
        "f() { local i=$((1+2)) j; j=3; echo $((i*j)); }",
        "export i=1; bash -c 'echo $((i))'",
        "i=1; cat <<E\n$((i+1))\nE",
        "i=1; echo ${x:-$((i))} `ls $((i))`",
        "i=1; unset i; echo $((i))",
    ] {
        assert!(!shown(text).contains(['!', '?']), "{text:?}: {}", shown(text));
    }
}

#[test]
fn descriptors_that_are_read_and_what_follows_an_array_are_refused() {
    for text in [
        "echo a 1<f >/dev/stdout",
        "{ echo a >>/dev/stdout; } 1<f",
        "ls 2<>f 2>/dev/stderr",
        "exec 3<f",
        "echo a <f 1>&0 >/dev/stdout",
        "echo a <f 3>&00- >&3",
        "ls 3<&0",
        "CI=(1)make rm",
        "a=(1)#; id",
        "a=(1)2>f",
    ] {
        assert!(read(text).is_err(), "{text}");
    }
    for text in ["ls 2>&1 3>&- 4<&-", "make <&3", "cat 0<f >/dev/stdout", "a=(1); ls", "(a=(1))"] {
        assert!(read(text).is_ok(), "{text}");
    }
}

#[test]
fn arithmetic_with_what_may_be_no_number_is_refused() {
    let evil = "x='a[$(rm b)]'; ";
    for text in [
        "echo $((i))",
        "i=$((i+1))",
        "local i; echo $((i))",
        "i=1; i=$x; echo $((i))",
        "echo $((i)); i=1; i=a",
        "i=1; i+=$x; echo $((i))",
        "i=1; i+=1; echo $((i))",
        "i=1; i=(1); echo $((i))",
        "i=1; i=$((1))$x; echo $((i))",
        "i=1; i=$((1))a; echo $((i))",
        "i=1; i=\"$((1))\"$x\"((1))\"; echo $((i))",
        "i=1; i=$i; echo $((i))",
        "i=1; j=1; read i j; echo $((j))",
        "i=1; read -a i; echo $((i))",
        "i=1; mapfile i; echo $((i))",
        "i=1; printf -v i '%s' \"$x\"; echo $((i))",
        "i=1; getopts a i; echo $((i))",
        "i=1; wait -n -p i; echo $((i))",
        "i=1; f() { local i=$x; }; echo $((i))",
        "i=1; export i=$x; echo $((i))",
        "i=1; i=$x ls; echo $((i))",
        "i=1; eval 'i=a'; echo $((i))",
        "i=1; env i=$x bash -c 'echo $((i))'",
        "i=1; env i=a bash -c 'echo $((i))'",
        "for i in 1 $x; do echo $((i)); done",
        "for i; do echo $((i)); done",
        "select i in 1 2; do echo $((i)); done",
        "i=1; for i in a; do echo $((i)); done",
        "echo ${y:-$((i))}",
        "cat <<E\n$((i))\nE",
        "bash -c 'echo $((i))'; find . -exec sh -c 'echo $((i))' ;",
        "_=1; echo $((_))",
        "X=1; echo $((X))",
        "REPLY=1; read <<< 'a[$(rm b)]'; echo $((REPLY))",
        "i=1; echo $((i[0]))",
        "i=1; echo $((a$i))",
        "i=1; echo $(($i''x))",
        "i=1; a1='a[$(rm b)]'; echo $((a${i}))",
        "i=1; echo $(($ia))",
        "i=1; echo $((${i}a))",
        "i=1; echo $((1i))",
        "i=1; echo $((0xi))",
        "i=1; echo $((${i:-a}))",
        "i=1; echo $((${#i}))",
        "i=1; echo $(($1))",
        "i=1; echo $(($@))",
        "i=1; echo $((i+$(rm b)))",
        "i=1; echo $((i)|(rm))",
        "i=1; echo $((i) )",
        "i=1; echo $((iX))",
    ] {
        let text = format!("{evil}{text}");
        assert!(shown(&text).contains(['!', '?']), "{text:?}: {}", shown(&text));
    }
}

#[test]
fn what_bash_reads_as_part_of_a_word_is_no_comment() {
    for text in [
        "[[ a =~ x( #$(rm b)\n) ]]",
        "[[ a =~ x|( #$(rm b)\n) ]]",
        "[[ a =~ x(y)( #$(rm b)\n) ]]",
        "[[ a =~ || b ]]",
        "[[ a =~ |b ]]",
        "[[ a =~ b|c ]]",
        "[[ a == x( #$(rm b)\n) ]]",
        "[[ a = x( #$(rm b)\n) ]]",
        "[[ a == @(x #$(rm b)\n) ]]",
        "[[ a != *( #$(rm b)\n) ]]",
        "[[ a == ?(b) ]]",
        "[[ a == x || a =~ b( #$(rm b)\n) ]]",
        "[[ a( #$(rm b)\n) == a ]]",
        "[[ a == b\n#$(rm b)\n]]",
        "[[ #x\na ]]",
        "[[ a == #x\n ]]",
        "[[ a[ #$(rm b)\n] ]]",
        "[[ a[ && b ] ]]",
        "[[ a b ]]",
        "[[ a b c ]]",
        "[[ a == ]] ]]",
        "[[ -f ]]",
        "[[ a << b ]]",
        "[[ a < (b) ]]",
        "[[ a ( b ) ]]",
        "[[ a\n== b ]]",
        "[[ a ) ]]",
        "[[ ( ) ]]",
        "[[ a && ]]",
        "ls > #x",
        "cat <<< #x",
        "case #x\na in a) ls;; esac",
        "case a in a|#x\nb) ls;; esac",
        "case a in x( #\n) ls;; esac",
    ] {
        assert!(shown(text).starts_with("! "), "{text:?}: {}", shown(text));
    }
}

#[test]
fn a_word_that_may_end_an_action_of_find_is_unclear() {
    for text in [
        "find a -exec touch b {\\;,-delete,-exec,true} \\;",
        "find a -exec cat {} {\\;,-exec,id,\\;,-exec,cat,{}} \\;",
        "x=';'; find a -exec touch b \"$x\" -delete -exec true \\;",
        "x=';'; find a -exec touch b $x -delete -exec true \\;",
        "find a -exec touch b \"$(ls)\" -delete -exec true \\;",
        "find a -exec touch b * -delete -exec true \\;",
        "find a -exec touch b ? \\;",
        "find a -exec touch {} \"$x\" -delete -exec true \\;",
        "find a -exec touch \"{$x\" + -delete -exec true \\;",
        "find a -exec touch \"$x\" + -delete -exec true \\;",
        "find a -exec touch + -delete \\;",
        "find a -ok touch {} + -delete \\;",
        "find a -okdir touch {} + -delete \\;",
        "find a -exec touch $@ \\;",
        "xargs -I@ find F -exec cat {} @ -delete -exec true \\;",
        "xargs -I@ find F -exec cat {} @x -delete -exec true \\;",
        "xargs find F -exec cat {}",
        "env find a -exec touch b \"$x\" -delete -exec true \\;",
    ] {
        assert!(shown(text).contains('?'), "{text:?}: {}", shown(text));
    }
    check(&[
        ("find a -exec cat {} \\; -exec ls a{}b \\;", "find a | find: cat <> | find: ls <a>"),
        ("find a -exec cat b \"-$x\" {} + -print", "find a -print | find: cat b <-> <…>"),
        ("find a -exec cat \"b{}$x\" \"c$x\" \"d{$x\" \\;", "find a | find: cat <b> <c> <d>"),
        (
            "find a -exec xargs -I @ rm {} @ \\;",
            "find a | find: xargs -I @ rm <> @ | find: xargs: rm <> <>",
        ),
    ]);
}

#[test]
fn what_xargs_puts_into_a_word_that_is_not_known_may_be_where_it_begins() {
    check(&[
        ("xargs -I@ rg \"@$x\" b", "xargs -I@ rg <@> b | xargs: rg <> b"),
        ("xargs -Iab rg \"ca$x\" b", "xargs -Iab rg <ca> b | xargs: rg <c> b"),
        ("xargs -Iab rg \"cb$x\" b", "xargs -Iab rg <cb> b | xargs: rg <cb> b"),
    ]);
}

#[test]
fn what_bash_reads_as_an_operator_or_refuses_is_no_word() {
    for text in [
        "in a",
        "ls <<<2>&1",
        ">&-rm a",
        "ls 2<&-a",
        "ls >2>&1",
        "for x in 2>a; do ls; done",
        "cat <<E $'\\n'\nE\n",
    ] {
        assert!(shown(text).starts_with("! "), "{text:?}: {}", shown(text));
    }
}

#[test]
fn what_becomes_several_words_in_quotes_does_so_within_an_operand() {
    check(&[
        ("ls \"${x:-${a[@]}}\" \"${x:-$@}\" \"${x+${a[@]}}\"", "ls <…> <…> <…>"),
        ("ls \"a${x:+${y-${z#$@}}}\" \"${x%${@:1}}\" \"${x/a/$@}\"", "ls <…> <…> <…>"),
        ("ls \"${x:-$*}\" \"a${x:-${a[*]}$y$(b)}\"", "b | ls <> <a>"),
        ("ls a${x:-\"$@\"}", "ls <…>"),
        ("[ -n \"${x:-${a[@]}}\" ]", "[ -n <…> ] ?"),
        ("timeout 5\"${x:+${a[@]}}\" touch b", "timeout <…> touch b ?"),
    ]);
}

#[test]
fn what_bash_reads_in_two_ways_in_a_substitution_is_refused() {
    for text in [
        "echo $(cat <<'E'\nErm -rf a #\nE\n)",
        "echo $(cat <<'E'\nErm -rf a # )\nE\n)",
        "echo $(cat <<-E\n\tErm -rf a # )\n\tE\n)",
        "echo $(cat <<E\n\tErm -rf a # )\nE\n)",
        "cat <(cat <<'E'\nE)\nE\n)",
        "ls > >(cat <<'E'\nE)\nE\n)",
        "echo \"$( (cat <<'E'\nE)\nE\n) )\"",
        "cat <<F\n$(cat <<'E'\nE)\nE\n)\nF",
        "echo $(echo `cat <<'E'\nE)\nE\n`)",
        "echo ${x:-$(cat <<E\nE)\nE\n)}",
        "sh -c 'echo $(cat <<E\nE)\nE\n)' ",
        "echo $(cat <<E | cat && uniq ; cat a\nE\n)",
        "echo $(while a\\&; do ls; done)",
        "echo $(if ls > \\&; then ls; fi)",
        "echo $(<a if ls; then ls; fi)",
        "echo $(<a time ls)",
        "echo $(>&2 [[ a ]])",
        "echo $(cat <<E; ls\nE\n)",
        "echo $(cat <<E & ls\nE\n)",
        "echo $(cat <<E # ls\nE\n)",
        "echo $(cat <<E\nE\nls)",
        "echo $( (cat <<E\nE\n) > a)",
        "echo $(while ls; do pwd; done <<E <<F\nE\nF\n)",
        "echo $(a=(\\;)) '\nrm -r a\n: '",
        "echo $(a=(1))",
        "cat <(a+=(\\&))",
        "ls > >(a=(\\())",
        "echo $(if ls; then a=(\\|); fi)",
        "echo $(case a in a) ls;; esac)",
        "echo $(select x in a; do ls; done)",
        "echo $(f() { ls; }; f)",
        "echo $(function f { ls; })",
        "echo `echo $(a=(1))`",
    ] {
        assert!(shown(text).contains(['!', '?']), "{text:?}: {}", shown(text));
    }
    check(&[
        ("echo \"$(cat <<'E'\n$x (a) fE\n E)\nE\n)\"", "cat | echo <>"),
        ("cat <<E\nE)\nE", "cat"),
        ("a=(\\;); case a in b) ls;; esac", "a=<…> | ls | : a b"),
        ("echo $(ls); a=(1); f() { ls; }", "ls | echo <…> | a=<…> | ls"),
        ("echo $(for x in a; do [[ -f a ]] && ls; done)", "x=<…> | [[ -f a | ls | echo <…>"),
    ]);
}

#[test]
fn bounds_hold() {
    let nested = |open: &str, close: &str, count: usize| {
        format!("{}ls{}", open.repeat(count), close.repeat(count))
    };
    for text in [
        nested("(", ")", 10_000),
        nested("$(", ")", 10_000),
        nested("{ ", ";}", 10_000),
        nested("\"$(", ")\"", 10_000),
        nested("${x:-", "}", 10_000),
        nested("<(", ")", 10_000),
        nested("if ", ";then ls;fi", 4000),
        nested("sh -c ls; env ", "", 1000),
        "env ".repeat(10_000) + "ls",
        "ls;".repeat(COMMANDS_MAX + 1),
        "a ".repeat(WORDS_MAX + 1),
        "a".repeat(SCRIPT_BYTES_MAX + 1),
        "! ".repeat(30_000) + ";",
        "(".repeat(60_000),
        "((".repeat(30_000),
        "[[ (".repeat(10_000),
        "case x in ".repeat(6000),
        "<<a ".repeat(10_000),
    ] {
        assert!(read(&text).is_err(), "{}", &text[..20]);
    }
    assert!(read(&"ls;".repeat(COMMANDS_MAX)).is_ok());
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in any::<Vec<u8>>()) {
        let _ = read(&String::from_utf8_lossy(&text));
    }

    #[test]
    fn no_row_of_shell_characters_makes_it_panic(
        text in proptest::collection::vec(prop::sample::select(vec![
            "$", "(", ")", "{", "}", "[", "]", "`", "\"", "'", "\\", "\n", ";", "&", "|", "<", ">", "<<", "E",
            " ", "if ", "fi ", "for ", "in ", "do ", "done ", "case ", "esac ", "a", "=", "x=", "#", "~", "*",
            "[[ ", " ]]", "time ", "! ", "sh -c ", "find ", "-exec ", "{} ", "xargs ", "-I ", "é", "1", "@", "env ",
        ]), 0..40)
    ) {
        if let Ok(script) = read(&text.concat()) {
            for command in &script.commands {
                let _ = classify(command);
            }
        }
    }

    #[test]
    fn a_quoted_word_is_read_as_it_was(word in "[ -~é]{0,20}") {
        let script = read(&format!("echo {}", quote(&word))).unwrap();
        prop_assert_eq!(script.commands[0].words[1].fixed(), Some(word.as_str()));
    }
}
