//! Rules about Rust files.

use crate::tree::{FILES, File, rust_files};
use crate::{hold, hold_but, rust};

const FILE_LINES_MAX: usize = 400;
const FUNCTION_LINES_MAX: usize = 70;

/// Longer files, each with the reason.
const LONG_FILES: &[(&str, &str)] = &[];
/// Longer functions, each with the reason.
const LONG_FUNCTIONS: &[(&str, &str)] = &[
    (
        "crates/journal/src/tests.rs: every_kind_of_record_reads_back",
        "a table with a record of every kind",
    ),
    (
        "crates/workspace/tests/it/escapes.rs: a_race_between_a_directory_and_a_link_never_leads_out",
        "one race; its threads share what the function owns",
    ),
];
/// Files that may hold `unsafe`, each with the argument why it is sound.
const UNSAFE: &[(&str, &str)] = &[
    (
        "cli/src/memory/program.rs",
        "the loader alone says where the program is mapped; what is unmapped are pages that nobody can \
         have written to, which the kernel reads again from the same file",
    ),
    (
        "cli/src/memory.rs",
        "settings of the allocator are numbers, and what it is told to give back is free: no memory of \
         ours is passed, and none is read",
    ),
    (
        "crates/plugin-host/src/code.rs",
        "compiled code becomes executable: only what was just compiled here, or what the compiler \
         sealed with a secret of this user, checked over every byte",
    ),
    (
        "crates/sandbox/src/system.rs",
        "system calls on numbers and on values that outlive them, between fork and exec or not; what else \
         runs there does so in a process with one thread, or in the memory of one that waits meanwhile",
    ),
    (
        "crates/symbols/src/allocation.rs",
        "blocks for the library of grammars, each with its size before it: they come from the allocator of the \
         program and go back to it with the same size",
    ),
    (
        "sdk/src/guest.rs",
        "generated bindings only: they cross the boundary of a component as its ABI defines",
    ),
];
/// Who may name the library of MCP besides `mcp/`.
const RMCP: &[(&str, &str)] =
    &[("xtask/bench/mcp/echo.rs", "the baseline that the front is measured against")];
/// Who may know the WASM engine besides `crates/plugin-host/`.
const WASMTIME: &[(&str, &str)] =
    &[("xtask/bench/bare/plugin.rs", "the baseline that the plugin host is measured against")];
/// Where `policy::decide` is called.
const DECIDERS: &[(&str, &str)] = &[
    ("daemon/src/call/effect/by_rules.rs", "what rules say by themselves, where no call asks"),
    ("daemon/src/call/effect/decide.rs", "the only place through which effects go"),
    ("crates/policy/src/lib.rs", "defines it"),
    ("crates/policy/src/explain.rs", "explains without doing"),
];
/// Who may name `std::fs` or `tokio::fs` besides `crates/workspace/`.
const FILE_DOORS: &[(&str, &str)] = &[
    ("cli/src/memory.rs", "`/proc` alone says how much memory this process has"),
    ("cli/src/policy/check.rs", "`policy check` reads the file that a person names"),
    ("cli/src/setup/file.rs", "`setup` writes files of other programs, where these want them"),
    ("crates/sandbox/src/groups.rs", "control groups are directories of the kernel"),
    ("crates/sandbox/src/groups/place.rs", "control groups are directories of the kernel"),
    ("crates/sandbox/src/keeper/covers.rs", "looks at what a command sees"),
    ("crates/sandbox/src/keeper/group.rs", "a control group is written to by files of the kernel"),
    ("crates/sandbox/src/record.rs", "what a killed moss leaves is found by who restores it"),
    ("crates/plugins/src/component.rs", "components lie in no workspace"),
    (
        "crates/sandbox/src/content_before.rs",
        "restores what a command may not change, whose process is gone",
    ),
    ("crates/sandbox/src/reached.rs", "reaches directories of commands without a link"),
    ("crates/sandbox/src/cover.rs", "looks at what is to be hidden, and opens no file"),
    ("crates/sandbox/src/real_paths.rs", "finds out what links lead to, and opens no file"),
    ("crates/sandbox/src/bound_sockets.rs", "`/proc` alone says which sockets there are"),
    ("crates/sandbox/src/keeper/streams.rs", "opens `/dev/null`"),
    ("crates/sandbox/src/keeper/memory.rs", "a process asks by `/proc` to be ended first"),
    ("crates/sandbox/src/keeper/temporary.rs", "`/proc` alone says which open files have no name"),
    ("crates/sandbox/src/keeper/tree.rs", "`/proc` alone says which processes there are"),
    (
        "crates/sandbox/src/launcher/namespaces.rs",
        "`/proc` alone takes who the users of a namespace are",
    ),
    (
        "crates/sandbox/src/launcher/root.rs",
        "builds the root directory of a command, in a mount namespace of its own",
    ),
    (
        "crates/sandbox/src/listing.rs",
        "lists home directories and toolchains, which lie in no workspace",
    ),
    ("crates/sandbox/src/index_file.rs", "reads and writes indexes of git as git does it"),
    ("crates/sandbox/src/lookup.rs", "looks for programs, which lie in no workspace"),
    ("crates/sandbox/src/means.rs", "opens moss's own program"),
    ("crates/sandbox/src/carve.rs", "what a command sees of a machine lies in no workspace"),
    ("crates/sandbox/src/toolchains.rs", "what a command sees of a machine lies in no workspace"),
    ("crates/sandbox/src/plan.rs", "what a command sees of a machine lies in no workspace"),
    ("crates/sandbox/src/system.rs", "`/proc` alone says which descriptors a process has"),
    ("crates/sandbox/src/system_layer.rs", "looks at directories of the system"),
    ("crates/sandbox/src/probe.rs", "makes and removes a workspace of its own"),
    (
        "crates/sandbox/src/protected.rs",
        "finds what is protected by names alone, and opens no file",
    ),
    (
        "crates/sandbox/src/tracked_masks.rs",
        "reads the indexes of git, and writes copies where commands have their own files",
    ),
    ("crates/sandbox/src/repository.rs", "follows the files by which git names its directories"),
    (
        "crates/sandbox/src/settings.rs",
        "reads the files by which git names its directories and programs",
    ),
];
/// How many words a doc comment has at least.
const DOC_WORDS_MIN: usize = 4;
/// Shorter doc comments that say what is to be said, each with the reason.
const SHORT_DOCS: &[(&str, &str)] = &[
    ("builtin-tools/src/tools/terminal_job.rs: What to do.", "a text of the tool"),
    ("builtin-tools/src/tools/todo.rs: Being worked on.", "a text of the tool"),
    ("builtin-tools/src/tools/todo.rs: Done.", "a text of the tool"),
    ("builtin-tools/src/tools/todo.rs: Not begun.", "a text of the tool"),
    ("cli/templates/rust/src/lib.rs: The text.", "a text of the tool, for an author to replace"),
    (
        "cli/templates/rust/src/lib.rs: What to shout.",
        "a text of the tool, for an author to replace",
    ),
    ("sdk/src/todo.rs: Being worked on.", "a text of the tool"),
    ("sdk/src/todo.rs: Done.", "a text of the tool"),
    ("sdk/src/todo.rs: Not begun.", "a text of the tool"),
];
/// Tests that may sleep.
const SLEEPERS: &[(&str, &str)] = &[];

#[test]
fn every_rust_file_says_what_it_owns() {
    let offenders = rust_files().filter(|file| !file.text.starts_with("//! "));
    hold("starts with a `//!` header", offenders.map(|file| file.path.clone()));
}

#[test]
fn files_are_short() {
    let long = rust_files().filter(|file| !file.is_test()).filter_map(|file| {
        let lines = file.code_without_tests().lines().count();
        (lines > FILE_LINES_MAX).then(|| (file.path.clone(), format!("{lines} lines")))
    });
    hold_but("at most 400 lines without tests", long, LONG_FILES);
}

#[test]
fn functions_are_short() {
    let long = rust_files().flat_map(|file| {
        let functions = rust::functions(file.code()).into_iter();
        functions.filter(|function| function.lines > FUNCTION_LINES_MAX).map(|function| {
            (format!("{}: {}", file.path, function.name), format!("{} lines", function.lines))
        })
    });
    hold_but("at most 70 lines in a function", long, LONG_FUNCTIONS);
}

#[test]
fn names_say_what_things_are() {
    let vague_files = rust_files().filter_map(|file| {
        let name = file.path.rsplit('/').next()?;
        let vague = ["mod.rs", "utils.rs", "util.rs", "common.rs", "helpers.rs", "helper.rs"];
        vague.contains(&name).then(|| file.path.clone())
    });
    let vague_types = rust_files().flat_map(|file| {
        let words: Vec<&str> =
            file.code().split(|c: char| !c.is_alphanumeric() && c != '_').collect();
        let defined = words.iter().zip(words.iter().skip(1)).filter(|(keyword, name)| {
            matches!(**keyword, "struct" | "enum" | "trait" | "type")
                && (name.ends_with("Manager") || name.ends_with("Helper"))
        });
        defined.map(|(_, name)| format!("{}: {name}", file.path)).collect::<Vec<_>>()
    });
    hold("no vague names", vague_files.chain(vague_types));
}

#[test]
fn every_rust_file_belongs_to_a_crate() {
    let roots = ["lib.rs", "main.rs", "build.rs", "tests/tidy.rs"];
    let orphans = rust_files().filter(|file| {
        !roots.iter().any(|root| file.path.ends_with(root)) && !is_declared(&file.path)
    });
    hold("some other file has its `mod`", orphans.map(|file| file.path.clone()));
}

/// Whether a file that could be the parent of the module declares it.
fn is_declared(path: &str) -> bool {
    let stem = path.strip_suffix(".rs").expect("a Rust file");
    let (directory, module) = stem.rsplit_once('/').expect("no module stands at the root");
    let declares = |file: &File| {
        file.code().lines().any(|line| {
            let declared = line.trim().strip_suffix(';').and_then(|line| line.rsplit_once("mod "));
            declared.is_some_and(|(_, name)| name == module)
        })
    };
    let parents =
        [format!("{directory}.rs"), format!("{directory}/lib.rs"), format!("{directory}/main.rs")];
    FILES.iter().filter(|file| parents.contains(&file.path)).any(declares)
}

#[test]
fn doc_comments_say_something() {
    let trees = ["cli/", "daemon/", "grpc/", "mcp/", "crates/", "sdk/", "builtin-tools/", "xtask/"];
    let code = rust_files()
        .filter(|file| !file.is_test() && trees.iter().any(|tree| file.path.starts_with(tree)));
    let short = code.flat_map(|file| {
        let docs = short_docs(file).into_iter();
        docs.map(|(doc, line)| (format!("{}: {doc}", file.path), format!("line {line}")))
    });
    hold_but("says something, or is deleted", short, SHORT_DOCS);
}

/// The doc comments with too few words, each with the line. The help of an option has no full stop, and units and
/// what a wire calls something are said in few words.
fn short_docs(file: &File) -> Vec<(String, usize)> {
    let end = file.code_without_tests().lines().count();
    let lines: Vec<Option<&str>> =
        file.text.lines().take(end).map(|line| line.trim().strip_prefix("///")).collect();
    let mut short = Vec::new();
    let mut line = 1;
    for block in lines.split(Option::is_none) {
        let doc = block.iter().flatten().flat_map(|text| text.split_whitespace());
        let doc = doc.collect::<Vec<_>>();
        let text = doc.join(" ");
        let is_said =
            text.contains('`') || text.starts_with("Counts from ") || !text.ends_with('.');
        if !doc.is_empty() && doc.len() < DOC_WORDS_MIN && !is_said {
            short.push((text, line));
        }
        line += block.len() + 1;
    }
    short
}

#[test]
fn a_doc_comment_that_says_nothing_is_found() {
    let text = "//! A file.\n/// The queue.\nstruct Queue;\n\n/// Takes what\n/// waits longest.\nfn a() {}\n\
                /// Counts from 1.\n/// `name{…}`.\n/// List files\nfn b() {}\nmod tests {\n    /// Two words.\n}\n";
    assert_eq!(short_docs(&File::of("x.rs", text)), [("The queue.".to_owned(), 2)]);
    for said in ["Counts from 0.", "`name{…}`.", "List files"] {
        let found = short_docs(&File::of("x.rs", &format!("/// {said}\nfn b() {{}}\n")));
        assert!(found.is_empty(), "{found:?}");
    }
}

#[test]
fn unsafe_code_is_listed() {
    let holders =
        naming(|code| rust::has_word(code, "unsafe") || rust::has_word(code, "unsafe_code"));
    hold_but("`unsafe` has an argument in this list", holders, UNSAFE);
}

#[test]
fn only_the_rims_know_grpc() {
    let may = ["proto/", "grpc/src/", "cli/src/client", "tests/", "xtask/"];
    let holders = naming(|code| {
        ["tonic", "tonic_health", "tonic_types"].iter().any(|name| rust::has_word(code, name))
    });
    let holders = holders.filter(|(path, _)| !may.iter().any(|rim| path.starts_with(rim)));
    hold("does not name tonic", holders.map(|(path, _)| path));
}

#[test]
fn only_one_front_uses_the_library_of_mcp() {
    let holders = naming(|code| rust::has_word(code, "rmcp"));
    let holders = holders.filter(|(path, _)| !path.starts_with("mcp/"));
    hold_but("does not name rmcp", holders, RMCP);
}

#[test]
fn only_the_plugin_host_knows_the_engine() {
    let holders =
        naming(|code| rust::has_word(code, "wasmtime") || rust::has_word(code, "wasmtime_wasi"));
    let holders = holders.filter(|(path, _)| !path.starts_with("crates/plugin-host/"));
    hold_but("does not name wasmtime", holders, WASMTIME);
}

#[test]
fn native_tools_know_no_door() {
    let doors = ["fs", "net", "process", "env", "tokio"];
    let holders = naming(|code| {
        doors.iter().any(|door| code.contains(&format!("std::{door}")))
            || rust::has_word(code, "tokio")
    });
    let holders = holders.filter(|(path, _)| path.starts_with("builtin-tools/src/"));
    hold_but("reaches the world through its context only", holders, &[]);
}

#[test]
fn one_function_decides() {
    let callers = naming(|code| {
        code.lines().any(|line| {
            ["decide", "decide_all"].iter().any(|name| {
                line.match_indices(name).any(|(at, _)| {
                    let (before, after) = (&line[..at], &line[at + name.len()..]);
                    let is_method = before.ends_with('.') || before.ends_with("fn ");
                    rust::has_word(line, name)
                        && !is_method
                        && (after.starts_with('(') || before.ends_with("policy::"))
                })
            })
        })
    });
    hold_but("effects are decided in one place", callers, DECIDERS);
}

#[test]
fn files_are_opened_behind_one_door() {
    let without = ["crates/workspace/", "tests/", "xtask/", "sdk/src/guest", "plugins-example/"];
    let holders = naming(|code| {
        let mut after = code.split("std::fs").skip(1);
        code.contains("tokio::fs") || after.any(|rest| !rest.starts_with("::Metadata"))
    });
    let holders = holders.filter(|(path, _)| {
        !path.ends_with("build.rs") && !without.iter().any(|part| path.starts_with(part))
    });
    hold_but("opens files through moss-workspace", holders, FILE_DOORS);
}

#[test]
fn only_the_sandbox_starts_processes() {
    let holders = naming(|code| {
        code.split("process::").skip(1).any(|imported| {
            let group = imported.split(['}', ';']).next().unwrap_or_default();
            let is_group = group.starts_with('{');
            imported.starts_with("Command") || is_group && rust::has_word(group, "Command")
        })
    });
    let may = ["crates/sandbox/", "tests/", "xtask/"];
    let holders = holders.filter(|(path, _)| !may.iter().any(|part| path.starts_with(part)));
    hold_but("starts processes through moss-sandbox", holders, &[]);
}

#[test]
fn nothing_is_left_for_later() {
    let marks = ["todo!", "unimplemented!", "dbg!", "#[ignore"];
    let offences = rust_files().flat_map(|file| {
        let found = marks.iter().filter(|mark| file.code().contains(**mark));
        found.map(|mark| format!("{}: {mark}", file.path))
    });
    hold("no unfinished work", offences);
}

#[test]
fn tests_wait_for_conditions() {
    let sleepers = rust_files().filter_map(|file| {
        let tests = file.code_of_tests();
        let sleeps = tests.contains("thread::sleep") || tests.contains("time::sleep");
        sleeps.then(|| (file.path.clone(), "sleeps".to_owned()))
    });
    hold_but("tests wait for a condition with a bound", sleepers, SLEEPERS);
}

/// The files whose code, without tests, has something.
fn naming(has: impl Fn(&str) -> bool) -> impl Iterator<Item = (String, String)> {
    rust_files()
        .filter(move |file| !file.is_test() && has(file.code_without_tests()))
        .map(|file| (file.path.clone(), "breaks the rule".to_owned()))
}
