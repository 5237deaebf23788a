//! Edits of real files in three languages, with the mistakes that models make in them: what was
//! source code before, and is by the edit's own word, is source code after an edit that nobody was
//! asked about.

mod generated;

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use moss_proto::v1;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::harness::{Site, refusing};
use generated::{Language, MISTAKES, Meant, Mistake, Numbers, meant, spoiled};

/// How many edits there are in all, unless `MOSS_TEST_EDITS` says so.
const EDITS: usize = 1_000;
/// Share of them that must be made without a question: a host that asks always would break nothing.
const MADE_MIN: f64 = 0.75;
/// How many clients make them.
const CLIENTS: usize = 8;
/// Where the numbers begin, unless `MOSS_TEST_SEED` says so.
const SEED: usize = 1;

/// An edit as a model sends it.
struct Sent {
    mistake: Mistake,
    meant: Meant,
    search: String,
    replace: String,
}

#[tokio::test]
async fn source_code_stays_source_code_unless_somebody_was_asked() {
    let number = |name: &str, default| {
        std::env::var(name).map_or(default, |text| text.parse().expect("a number"))
    };
    let count = number("MOSS_TEST_EDITS", EDITS).div_ceil(3);
    let seed = number("MOSS_TEST_SEED", SEED);
    let mut made = 0;
    let mut all = 0;
    for language in [Language::Python, Language::JavaScript, Language::Rust] {
        let sent = sent(language, count, u64::try_from(seed).unwrap());
        all += sent.len();
        let results = applied(&sent).await;
        made += results.len();
        let texts: Vec<&str> = results.iter().map(|(_, after)| after.as_str()).collect();
        let broken: Vec<String> = parses(language, &texts)
            .into_iter()
            .zip(&results)
            .filter(|(parses, _)| !parses)
            .map(|(_, (sent, _))| {
                let Sent { mistake, search, replace, .. } = sent;
                format!("{language:?} {mistake:?}\n--- search\n{search}\n--- replace\n{replace}")
            })
            .collect();
        assert!(broken.is_empty(), "{}\n{} broken", broken.join("\n\n"), broken.len());
    }
    assert!(all >= 3 * count, "{all} edits");
    assert!(made as f64 >= MADE_MIN * all as f64, "{made} of {all} were made");
}

/// Makes edits with mistakes, of sources that stay such by their own word.
fn sent(language: Language, count: usize, seed: u64) -> Vec<Sent> {
    let sources = sources(language);
    assert!(sources.len() >= 10, "{language:?}: {} sources", sources.len());
    let mut numbers = Numbers::new(seed);
    let mut all = Vec::new();
    while all.len() < count {
        let mut some = Vec::new();
        while some.len() < count {
            let before = &sources[numbers.below(sources.len())];
            let Some(meant) = meant(before, language, &mut numbers) else { continue };
            let mistake = MISTAKES[numbers.below(MISTAKES.len())];
            let (search, replace) = spoiled(&meant, mistake, &mut numbers);
            some.push(Sent { mistake, meant, search, replace });
        }
        let afters: Vec<&str> = some.iter().map(|sent| sent.meant.after.as_str()).collect();
        let stated: Vec<String> = some.iter().map(Sent::stated).collect();
        let stated: Vec<&str> = stated.iter().map(String::as_str).collect();
        let is_source = parses(language, &afters).into_iter().zip(parses(language, &stated));
        let kept = some.into_iter().zip(is_source).filter(|(_, (meant, stated))| *meant && *stated);
        all.extend(kept.map(|(sent, _)| sent));
    }
    all
}

/// Makes edits, each in a file of its own; returns those that were made unasked, and what they made.
async fn applied(all: &[Sent]) -> Vec<(&Sent, String)> {
    let site = Site::allowing();
    let daemon = site.serve();
    let mut calls = JoinSet::new();
    for client in 0..CLIENTS {
        let caller = daemon.caller().await;
        let mine: Vec<_> = all.iter().enumerate().skip(client).step_by(CLIENTS).collect();
        let mine: Vec<_> = mine.into_iter().map(|(at, sent)| (at, sent.arguments(at))).collect();
        for (at, sent) in all.iter().enumerate().skip(client).step_by(CLIENTS) {
            site.write(&path(at), &sent.meant.before);
        }
        calls.spawn(async move {
            let mut made = Vec::new();
            for (at, arguments) in mine {
                let result = caller.call(refusing("patch", arguments)).await;
                let is_made = matches!(&result, Ok(done) if done.outcome() == v1::Outcome::Ok);
                made.push((at, is_made));
            }
            made
        });
    }
    let mut made = Vec::new();
    for (at, is_made) in calls.join_all().await.into_iter().flatten() {
        let after = site.read(&path(at));
        match is_made {
            true => made.push((&all[at], after)),
            false => assert_eq!(after, all[at].meant.before),
        }
    }
    made
}

fn path(at: usize) -> String {
    format!("{at}.txt")
}

fn sources(language: Language) -> Vec<String> {
    let texts = match language {
        Language::Python => answer(python("sources"), &Value::Null),
        Language::JavaScript => {
            let modules = std::env::var_os("MOSS_TEST_NODE_MODULES");
            let modules = modules.expect("MOSS_TEST_NODE_MODULES is set by `cargo xtask test`");
            let mut node = javascript("sources");
            node.arg(modules);
            answer(node, &Value::Null)
        }
        Language::Rust => return rust_sources(),
    };
    serde_json::from_value(texts).unwrap()
}

/// The sources of moss itself.
fn rust_sources() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut folders: Vec<_> = ["sdk/src", "crates/workspace/src", "builtin-tools/src"]
        .map(|folder| root.join(folder))
        .into();
    let mut texts = Vec::new();
    while let Some(folder) = folders.pop() {
        let mut entries: Vec<_> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        entries.sort();
        for path in entries {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                texts.push(std::fs::read_to_string(path).unwrap());
            }
        }
    }
    texts.retain(|text| (2_000..30_000).contains(&text.len()));
    texts
}

fn parses(language: Language, texts: &[&str]) -> Vec<bool> {
    let parsed = match language {
        Language::Python => answer(python("parses"), &json!(texts)),
        Language::JavaScript => answer(javascript("parses"), &json!(texts)),
        Language::Rust => {
            return texts.iter().map(|text| syn::parse_file(text).is_ok()).collect();
        }
    };
    let parsed: Vec<bool> = serde_json::from_value(parsed).unwrap();
    assert_eq!(parsed.len(), texts.len());
    parsed
}

fn script(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("it/edit_mistakes").join(name)
}

fn python(task: &str) -> Command {
    let python = std::env::var_os("MOSS_TEST_PYTHON");
    let mut command = Command::new(python.expect("MOSS_TEST_PYTHON is set by `cargo xtask test`"));
    command.arg("-B").arg(script("python.py")).arg(task);
    command
}

fn javascript(task: &str) -> Command {
    let mut command = Command::new("node");
    command.arg(script("javascript.js")).arg(task);
    command
}

/// Runs a program that reads JSON and prints JSON.
fn answer(mut command: Command, input: &Value) -> Value {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the program starts");
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_string();
    let writer = std::thread::spawn(move || {
        // One that reads nothing has closed it.
        let _ = stdin.write_all(input.as_bytes());
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success(), "{command:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

// === impl Sent ===

impl Sent {
    fn arguments(&self, at: usize) -> Value {
        json!({"path": path(at), "old_string": self.search, "new_string": self.replace})
    }

    /// What the edit says by itself, where it has a location but for white space at the ends of
    /// lines; else what is meant.
    fn stated(&self) -> String {
        let trimmed = |text: &str| -> String {
            let lines = text.split('\n').map(|line| line.trim_end_matches([' ', '\t', '\r']));
            lines.collect::<Vec<_>>().join("\n")
        };
        let (before, search) = (trimmed(&self.meant.before), trimmed(&self.search));
        match before.matches(&search).count() {
            1 => before.replacen(&search, &self.replace, 1),
            _ => self.meant.after.clone(),
        }
    }
}
