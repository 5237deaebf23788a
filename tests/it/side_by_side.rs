//! Edits of one file by many processes at once, some through a daemon and some beside it: none is
//! lost, and each is made or says what to do.

use std::collections::BTreeMap;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::harness::{Client, Ended, Site};
use crate::journal::records;
use crate::kill::entries_of;

/// Edits through the daemon, and as many beside it.
const EDITS: usize = 8;
const LINES: usize = 8 * EDITS;

/// An edit on its way.
struct Editing {
    line: usize,
    child: Child,
}

fn numbered(count: usize) -> String {
    (0..count).map(|line| format!("let value_{line} = {line};\n")).collect()
}

/// What an edit makes of a line. Numbers of lines hold while others edit, texts in any case.
fn edited(line: usize, by_text: bool) -> String {
    let more = if by_text { format!("let more_{line} = 1;\n") } else { String::new() };
    format!("let value_{line} = -1;\n{more}")
}

/// A moss that finds no daemon.
fn beside(site: &Site, arguments: &[&str]) -> Command {
    let mut command = site.command(arguments);
    command.env("XDG_RUNTIME_DIR", site.outside("elsewhere"));
    command
}

/// Starts edits of lines of their own, all before any is waited for.
fn start(site: &Site, by_text: bool) -> Vec<Editing> {
    let start = |edit: usize| {
        let line = 4 * edit;
        let arguments = match by_text {
            true => json!({
                "path": "a.rs",
                "old_string": format!("let value_{line} = {line};\n"),
                "new_string": edited(line, by_text),
            }),
            false => json!({
                "path": "a.rs", "startLine": line + 1, "endLine": line + 1,
                "newText": edited(line, by_text).trim_end(),
            }),
        };
        let tool = if by_text { "patch" } else { "replace_lines" };
        let arguments = arguments.to_string();
        let words = ["call", tool, "--args", &arguments, "--confirm", "allow", "--json"];
        let mut command =
            if edit.is_multiple_of(2) { beside(site, &words) } else { site.command(words) };
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        Editing { line, child }
    };
    (0..2 * EDITS).map(start).collect()
}

/// What became of edits: the lines of those that were made, and what the others said.
fn ended(edits: Vec<Editing>) -> (BTreeMap<usize, u64>, Vec<(usize, Value)>) {
    let (mut made, mut refused) = (BTreeMap::new(), Vec::new());
    for Editing { line, child } in edits {
        let output = child.wait_with_output().unwrap();
        let told: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {output:?}"));
        match told["outcome"].as_str() {
            Some("ok") => drop(made.insert(line, told["history"].as_u64().unwrap())),
            _ => refused.push((line, told)),
        }
    }
    (made, refused)
}

/// Holds the file, the history and the journal to what was reported.
async fn check(site: &Site, client: &Client, made: &BTreeMap<usize, u64>, by_text: bool) {
    let text = site.read("a.rs");
    for line in (0..2 * EDITS).map(|edit| 4 * edit) {
        assert_eq!(
            text.contains(&edited(line, by_text)),
            made.contains_key(&line),
            "{line}: {text}"
        );
    }
    let added = if by_text { made.len() } else { 0 };
    assert_eq!(text.lines().count(), LINES + added, "{text}");
    let numbers = || made.values().copied().collect::<std::collections::BTreeSet<_>>();
    let entries = entries_of(client).await.iter().map(|entry| entry.number).collect();
    assert_eq!(numbers(), entries);
    let committed = records(site).into_iter().filter(|record| record["kind"] == "committed");
    let recorded = committed.map(|record| record["history"].as_u64().unwrap()).collect();
    assert_eq!(numbers(), recorded);
    let verified =
        Ended::of(site.command(["audit", "verify"]).stdout(Stdio::piped()).stderr(Stdio::piped()));
    assert_eq!(verified.code, Some(0), "{verified:?}");
}

#[tokio::test]
async fn edits_of_one_file_by_many_processes_are_made_or_say_what_to_do() {
    for (by_text, allows) in [(true, true), (false, true), (true, false), (false, false)] {
        let site = if allows { Site::allowing() } else { Site::new() };
        site.write("a.rs", numbered(LINES));
        let daemon = site.serve();
        let client = daemon.caller().await;
        std::fs::create_dir_all(site.outside("elsewhere")).unwrap();
        for (mut status, code) in [(beside(&site, &["status"]), 5), (site.command(["status"]), 0)] {
            let ended = Ended::of(status.stdout(Stdio::piped()).stderr(Stdio::piped()));
            assert_eq!(ended.code, Some(code), "{ended:?}");
        }
        let (made, refused) = ended(start(&site, by_text));
        check(&site, &client, &made, by_text).await;
        // Where nobody is asked, whoever meets another edit tries again; where somebody was, what they
        // approved is not made into something else.
        assert!(!made.is_empty() && (refused.is_empty() || !allows), "{refused:?}");
        for (line, told) in refused {
            let error = &told["error"];
            assert_eq!(error["code"], "conflict", "{line}: {told}");
            assert!(error["hint"].as_str().unwrap().contains("read it again"), "{line}: {told}");
        }
        daemon.stop();
    }
}
