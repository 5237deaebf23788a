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
    script.commands.iter().any(|command| entry.is(&bare_words(command)))
}

#[test]
fn every_entry_of_the_commands_that_read_does_as_its_examples_say() {
    let file: ReadOnlyFile = table(include_str!("../read_only.toml"));
    for entry in &file.command {
        assert!(!entry.examples.is_empty(), "{:?}", entry.argv);
        for line in &entry.examples {
            assert!(is_read_only(line), "{line} is not read-only");
        }
        for line in &entry.not {
            assert!(!is_read_only(line), "{line} is read-only");
        }
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
    assert!(!is_read_only("CC=x ls"));
    assert!(!is_read_only("export CC=x"));
}
