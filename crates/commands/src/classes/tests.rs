//! Tests of the tables: each entry does as its examples say.

use super::asking::AskingFile;
use super::reading::ReadOnlyFile;
use super::*;
use crate::{bare_words, read};

fn is_read_only(line: &str) -> bool {
    let script = read(line).unwrap_or_else(|error| panic!("{line}: {error}"));
    script.commands.iter().all(|command| classify(command) == CommandClass::ReadOnly)
}

fn is_asked(entry: &AskingEntry, line: &str) -> bool {
    let script = read(line).unwrap_or_else(|error| panic!("{line}: {error}"));
    script.commands.iter().any(|command| entry.is_about(command, &bare_words(command)))
}

#[test]
fn every_entry_of_the_commands_that_read_does_as_its_examples_say() {
    let file: ReadOnlyFile = table(include_str!("../read_only.toml"));
    for entry in &file.command {
        assert!(!entry.examples.is_empty(), "{:?}", entry.argv);
        let wrong = entry.examples.iter().filter(|line| !is_read_only(line));
        assert_eq!(wrong.collect::<Vec<_>>(), Vec::<&String>::new(), "are not read-only");
        let wrong = entry.not.iter().filter(|line| is_read_only(line));
        assert_eq!(wrong.collect::<Vec<_>>(), Vec::<&String>::new(), "are read-only");
    }
}

#[test]
fn every_entry_of_the_commands_that_always_ask_does_as_its_examples_say() {
    let file: AskingFile = table(include_str!("../always_ask.toml"));
    for entry in &file.command {
        assert!(!entry.examples.is_empty(), "{:?}", entry.argv);
        for line in &entry.examples {
            assert!(is_asked(entry, line), "{line} does not match {:?}", entry.argv);
            let script = read(line).unwrap();
            let asks =
                |class| matches!(class, CommandClass::AlwaysAsks(_) | CommandClass::Unclear(_));
            assert!(script.commands.iter().any(|command| asks(classify(command))), "{line}");
        }
        for line in &entry.not {
            assert!(!is_asked(entry, line), "{line} matches {:?}", entry.argv);
        }
    }
}

#[test]
fn a_file_that_is_emptied_always_asks_and_one_that_keeps_nothing_does_not() {
    let class = |line: &str| classify(&read(line).unwrap().commands[0]);
    for line in ["echo a > b", "> b", "ls >| b", "ls &> b", "ls > $x", "(ls) > b", "ls > /tmp/../b"]
    {
        let classes: Vec<_> = read(line).unwrap().commands.iter().map(classify).collect();
        assert!(classes.iter().any(|class| matches!(class, CommandClass::AlwaysAsks(_))), "{line}");
    }
    for line in ["ls > /dev/null", "ls 2>/dev/null", "ls 2>&1", "ls < a"] {
        assert_eq!(class(line), CommandClass::ReadOnly, "{line}");
    }
    assert_eq!(class("ls >> b"), CommandClass::Other);
    assert_eq!(class("ls > /tmp/b"), CommandClass::Other);
}

#[test]
fn variables_that_choose_programs_make_a_command_unclear() {
    for line in [
        "PATH=/tmp ls",
        "export PATH=/tmp",
        "LD_PRELOAD=x ls",
        "env GIT_PAGER=x git log",
        "PATH=/tmp",
        "for PATH in /tmp; do ls; done",
        "PAGER=x git log",
        "IFS=x",
    ] {
        let classes: Vec<_> = read(line).unwrap().commands.iter().map(classify).collect();
        assert!(classes.iter().any(|class| matches!(class, CommandClass::Unclear(_))), "{line}");
    }
    assert!(is_read_only("x=1; LC_ALL=C ls"));
    for line in ["GIT_PAGER=cat git log", "PAGER=cat git diff", "export GIT_PAGER=cat; git log"] {
        assert!(is_read_only(line), "{line}");
    }
    for line in [
        "GIT_PAGER='cat x' git log",
        "PAGER=./cat git log",
        "PAGER=$x git log",
        "GIT_PAGER+=cat git log",
        "LESSPAGER=cat ls",
    ] {
        assert!(always_asks(line), "{line}");
    }
    assert!(!is_read_only("CC=x ls"));
    assert!(!is_read_only("export CC=x"));
}

#[test]
fn a_shell_for_a_login_is_up_to_the_rules() {
    for line in ["bash -lc ls", "bash -l -c ls", "sh -elc ls"] {
        let classes: Vec<_> = read(line).unwrap().commands.iter().map(classify).collect();
        assert_eq!(classes, [CommandClass::Other, CommandClass::ReadOnly], "{line}");
    }
    assert!(is_read_only("bash -c ls") && always_asks("bash -lc 'rm b'"));
}

fn always_asks(line: &str) -> bool {
    let commands = read(line).unwrap_or_else(|error| panic!("{line}: {error}")).commands;
    let asks = |class| matches!(class, CommandClass::AlwaysAsks(_) | CommandClass::Unclear(_));
    commands.iter().any(|command| asks(classify(command)))
}

#[test]
fn what_bash_evaluates_when_it_is_set_makes_a_command_unclear() {
    let evil = "'a[$(rm b)]'";
    let mut lines = Vec::new();
    for name in ["RANDOM", "SRANDOM", "SECONDS", "OPTIND", "HISTCMD", "BASHPID", "LINENO"] {
        lines.extend([
            format!("{name}={evil}"),
            format!("{name}+={evil}"),
            format!("{name}=$x"),
            format!("{name}=({evil})"),
            format!("{name}={evil} ls"),
            format!("for {name} in {evil}; do ls; done"),
            format!("select {name} in {evil}; do ls; done"),
            format!("export {name}={evil}"),
            format!("command export {name}={evil}"),
            format!("declare -r {name}={evil}"),
            format!("f() {{ local {name}={evil}; }}"),
            format!("env {name}={evil} ls"),
            format!("read {name} <<< {evil}"),
            format!("read -r -a {name}"),
            format!("read -ra{name}"),
            format!("mapfile -t {name}"),
            format!("printf -v {name} %s {evil}"),
            format!("printf -v{name} %s {evil}"),
            format!("printf %n {name}"),
            format!("getopts a: {name}"),
            format!("wait -n -p {name}"),
            format!("bash -c \"{name}=x$y\""),
        ]);
    }
    for line in lines {
        assert!(always_asks(&line), "{line}");
    }
}

#[test]
fn what_is_no_word_or_becomes_elements_makes_a_builtin_unclear() {
    for line in [
        "test \"$x\" $! \"$y\"",
        "[ \"$x\" $? \"$y\" ]",
        "a=(1); declare a='($(id))'",
        "read -ra a; declare a=$v",
        "mapfile -t a < f; f() { local a=$1; }; f x",
        "true | true; declare -g PIPESTATUS=$x",
        "typeset -r a=\"$v\"; a=(1)",
    ] {
        let classes: Vec<_> = read(line).unwrap().commands.iter().map(classify).collect();
        assert!(classes.iter().any(|class| matches!(class, CommandClass::Unclear(_))), "{line}");
    }
    // What sets a variable to one text makes no array of it.
    for line in [
        "read -r line; f() { local line=$1; ls \"$line\"; }",
        "printf -v text %s a; f() { declare text=\"$1\"; }",
        "while getopts ab: letter; do f() { local letter=$x; }; done",
    ] {
        let classes: Vec<_> = read(line).unwrap().commands.iter().map(classify).collect();
        assert!(!classes.iter().any(|class| matches!(class, CommandClass::Unclear(_))), "{line}");
    }
}

#[test]
fn an_index_or_an_unknown_name_makes_a_builtin_unclear() {
    for line in [
        "HISTFILE=a; HISTFILESIZE=0",
        "HISTFILESIZE=0 true",
        "POSIXLY_CORRECT=1",
        "read 'a[$(rm b)]'",
        "read $x",
        "read -p",
        "read -a 'a[$(rm b)]'",
        "printf -v 'a[$(rm b)]' x",
        "printf -v \"$x\" x",
        "printf %n 'a[$(rm b)]'",
        "printf 'a%-5hhn' x",
        "printf -- %n x",
        "printf \"$x\" b",
        "printf $x",
        "getopts a 'a[$(rm b)]'",
        "getopts a $x",
        "getopts $x a",
        "wait -p 'a[$(rm b)]'",
        "unset 'a[$(rm b)]'",
        "unset -v \"$x\"",
        "let x=1",
        "let 'a[$(rm b)]'",
        "[ -v 'a[$(rm b)]' ]",
        "[ ! -v 'a[$(rm b)]' ]",
        "test a -a -R \"$x\"",
        "[[ -v 'a[$(rm b)]' ]]",
        "[[ a -eq 1 ]]",
        "[[ $x -lt 1 ]]",
        "[[ 1 -eq 'a[$(rm b)]' ]]",
        "export 'a[$(rm b)]'",
        "export 'a[$(rm b)]=1'",
        "mapfile 'a[$(rm b)]'",
        "mapfile -t \"$x\"",
        "mapfile -C 'rm b' -c 1 a",
        "readarray -c1 -C id a",
        "declare -n r=RANDOM",
        "export x=$y*",
        "export x={a,b}$y",
        "export x=$@",
        "export \"x\"=$y",
        "\\export x=$y",
        "command export x=$y",
        "sh -c 'export x=$y'",
        "export PATH=$x",
        "export x=1 LD_PRELOAD=$y",
        "IFS=$x read a",
        "IFS=/ cat a",
        "IFS=",
        "IFS=x; read a",
        "export IFS=x",
        "i=1; i=$x; [[ $i -eq 1 ]]",
        "i=1; [ $i $x -eq 1 ]",
        "i=1; [ \"$x\" $i \"$y\" ]",
        "i=1; [ -v $i \"$x\" ]",
        "i=1; read i; [ $i -eq 1 ]",
        "env IFS= read a",
        "IFS= f",
        "declare -i x",
    ] {
        assert!(always_asks(line), "{line}");
    }
}

#[test]
fn numbers_and_plain_names_are_fine_for_builtins() {
    for line in [
        "OPTIND=1",
        "SECONDS=0",
        "export RANDOM=42",
        "f() { local OPTIND; }",
        "[[ -v x ]]",
        "[ -v x ]",
        "[[ $? -eq 0 ]]",
        "[[ $# -lt 2 || ${#x} -gt -1 ]]",
        "read -r line",
        "read -p \"$x\" -t 5 a b",
        "printf -v x '%s' a",
        "printf '%s %%n\n' \"$x\"",
        "printf \"$x\"",
        "getopts ab: option",
        "wait $x",
        "wait -n",
        "unset x y",
        "mapfile -t lines",
        "readarray -d '' -n 3 lines",
        "IFS= read -r line",
        "IFS=$'\t' read -r a b",
        "bash -c 'while IFS= read -r line; do ls \"$line\"; done'",
        "export FOO=$HOME BAR=a$(ls)b",
        "f() { local x=$1; }",
        "i=1; [[ $i -lt $((i+1)) && \"${i}\" -gt -1 ]]",
        "i=1; while [ $i -lt 5 ]; do i=$((i+1)); done",
    ] {
        let commands = read(line).unwrap_or_else(|error| panic!("{line}: {error}")).commands;
        for class in commands.iter().map(classify) {
            assert!(!matches!(class, CommandClass::Unclear(_)), "{line}: {class:?}");
        }
    }
}
