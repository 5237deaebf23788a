//! Programs of sed that are said to only read, read by the sed of this machine: none may write or run anything.

use std::process::{Command, Stdio};

use crate::{Numbers, only_reads};

/// Programs in which a `@` is replaced by pieces; behind some a command hides that runs what it is given.
const FRAMES: [&str; 10] = [
    "s/@/@/@",
    "s/@/@/g; s/@e;#/x/",
    "s/@]/g; s/e;#/x/",
    "s/@/@]/e;#/x/",
    "/@/p; s/e;#/x/",
    "/@]/p;s/e;#/x/",
    "1,/@/s/@/@/; s/w made;#/x/",
    "/@/,/@]/p; s/e;#/@/",
    "/@/!s/@]/@/; s/we#/x/",
    "s/x/@/; s/@]/g; s/e;#/x/@",
];
const PIECES: [&str; 42] = [
    "a",
    "b",
    "[",
    "]",
    "^",
    "[^",
    "[]",
    "[^]",
    "[^^",
    "[a]",
    "[^a]",
    "[[:digit:]]",
    "[:",
    ":]",
    "[.",
    ".]",
    "[=",
    "=]",
    "/",
    "\\/",
    "\\",
    "\\]",
    "\\[",
    "\\n",
    "\\c[",
    "\\x5d",
    "-",
    "*",
    ".",
    "$",
    "\\(",
    "\\)",
    "{",
    "}",
    "&",
    "\n",
    "; s/",
    ";#",
    "e",
    "w made",
    "g",
    " ",
];
/// How many programs are put together, and how many of them sed reads at most.
const PROGRAMS: usize = 60_000;
const RUN_MAX: usize = 500;

fn program(numbers: &mut Numbers) -> String {
    let frame = numbers.one_of(&FRAMES);
    numbers.filled(frame, |numbers| {
        let count = numbers.below(4);
        (0..count).map(|_| numbers.one_of(&PIECES)).collect()
    })
}

/// Whether sed finds a command in a program that reads or writes files, or runs programs.
fn does_more(program: &str) -> bool {
    let mut sed = Command::new("sed");
    sed.args(["--sandbox", "-n", program, "/dev/null"]).stdin(Stdio::null());
    let output = sed.output().unwrap();
    String::from_utf8_lossy(&output.stderr).contains("sandbox mode")
}

#[test]
fn what_is_said_of_programs_of_sed_is_so() {
    assert!(does_more("s/[^]/]/g; s/e;#/x/"), "sed with --sandbox is needed");
    assert!(!does_more("s/a/b/"));
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let programs = std::iter::repeat_with(|| program(&mut numbers)).take(PROGRAMS);
    let listed = programs.filter(|program| only_reads(&format!("sed '{program}' a")));
    let run: Vec<_> = listed.take(RUN_MAX).collect();
    assert!(run.len() > 100, "only {} programs were run", run.len());
    for program in run {
        assert!(!does_more(&program), "{program:?}");
    }
}
