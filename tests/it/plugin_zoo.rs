//! Every hostile component in the real daemon: each ends in its own error, while a neighbour that is
//! called all the time notices nothing, and the daemon's memory goes back to its level. No name of a
//! file leads a plugin to what it was not granted.
//!
//! `cargo xtask bench zoo` shows the table with times; nothing here is held to a time.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use moss_proto::v1;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::harness::guests::{self, zoo_named};
use crate::harness::{Client, Daemon, Site, call, failure, plugin, reason, until};
use crate::hostile::{Described, End, Member, PLAIN, ZOO, assemble_named, describing};
use crate::plugins::settled;

/// The time that a hostile plugin is given.
const TIMEOUT: Duration = Duration::from_millis(300);
/// Hostile calls at the same time.
const AT_ONCE: usize = 8;
/// Clients that call the neighbour all the time.
const CALLERS: usize = 2;
/// The plugin that is no member.
const NEIGHBOUR: &str = "fit";
/// What a daemon may hold more than before: memory of finished calls that is kept for the next.
const KEPT_BYTES_MAX: u64 = 96 << 20;
/// How much of an error the table shows.
const ENDED_CHARS_MAX: usize = 100;
/// From this size on a component of zeros is written as a hole.
const HOLE_BYTES_MIN: usize = 1 << 20;

/// What became of a member.
struct Row {
    number: usize,
    name: &'static str,
    ended: String,
    took: Option<Duration>,
}

/// The calls of the neighbour, all of which must succeed.
#[derive(Default)]
struct Neighbour {
    calls: AtomicUsize,
    ends: AtomicBool,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_member_of_the_zoo_ends_in_its_error_and_harms_nobody() {
    let site = Site::new();
    let before = site.snapshot();
    install(&site);
    let daemon = site.serve();
    let client = daemon.caller().await;
    let plugins = settled(&client).await;
    let level = resident_bytes(&daemon);
    let neighbour = Arc::new(Neighbour::default());
    let mut callers = JoinSet::new();
    for _ in 0..CALLERS {
        callers.spawn(Arc::clone(&neighbour).go_on(daemon.caller().await));
    }
    until("the neighbour is called", async || neighbour.calls() > 0).await;

    let mut rows = Vec::new();
    for members in members().collect::<Vec<_>>().chunks(AT_ONCE) {
        let calls = neighbour.calls();
        let mut ended = JoinSet::new();
        for (called, member) in members {
            let plugin = plugins.iter().find(|plugin| plugin.name == *called).unwrap().clone();
            ended.spawn(end(client.clone(), called.clone(), member, plugin));
        }
        let mut ended = ended.join_all().await;
        ended.sort_by_key(|row| row.number);
        rows.extend(ended);
        until("the neighbour is called on", async || neighbour.calls() > calls).await;
    }
    neighbour.ends.store(true, Ordering::Relaxed);
    callers.join_all().await;

    until("the calls are over", async || client.load().await.calls_running == 0).await;
    until("the memory is back", async || resident_bytes(&daemon) <= level + KEPT_BYTES_MAX).await;
    show(&rows, neighbour.calls(), level, resident_bytes(&daemon));
    assert_eq!(client.done(NEIGHBOUR, json!({})).await, json!({}));
    assert_eq!(site.snapshot(), before);
    daemon.stop();
}

#[tokio::test]
async fn what_a_plugin_says_about_itself_is_held_against_it() {
    let broken = Described { output: r#"{"type":"object","required":["v"]}"#, ..PLAIN };
    let slow = r#"{"type":"object","properties":{"text":{"type":"string","pattern":"^(a+)+$"}}}"#;
    let slow = Described { parameters: slow, ..PLAIN };
    let shadow = Described { tools: &["read_file"], ..PLAIN };
    let site = Site::new();
    let components = [
        ("out", describing("out", &broken)),
        ("slo", describing("slo", &slow)),
        ("sha", describing("sha", &shadow)),
        ("fic", assemble_named("fickle", "fic")),
    ];
    let listed: Vec<_> =
        components.iter().map(|(name, bytes)| (*name, bytes.as_slice(), json!({}))).collect();
    guests::install(&site, &listed);
    let daemon = site.serve();
    let client = daemon.caller().await;
    let plugins = settled(&client).await;
    let errors: Vec<_> = plugins.iter().map(|plugin| plugin.error.as_str()).collect();
    assert_eq!([errors[0], errors[1], errors[3]], ["", "", ""]);
    assert!(errors[2].contains("`read_file`"), "{}", errors[2]);
    assert_eq!(plugins[2].state(), v1::PluginState::Failed);

    let result = client.ran("out", json!({})).await;
    let error = failure(&result);
    assert_eq!(error.code, "plugin_failed", "{}", error.message);
    assert!(error.message.contains('v'), "{}", error.message);
    let nearly = json!({ "text": format!("{}!", "a".repeat(10_000)) });
    let status = client.call(call("slo", nearly)).await.unwrap_err();
    assert_eq!(reason(&status), "ARGUMENTS_INVALID");

    // It would say something else if it were asked again.
    let first = description(&client, "fic").await;
    assert!(first.ends_with("oes it."), "{first}");
    for _ in 0..5 {
        client.done("fic", json!({})).await;
        assert_eq!(description(&client, "fic").await, first);
    }
    daemon.stop();
}

/// What models read about a tool.
async fn description(client: &Client, tool: &str) -> String {
    let listed = client.tools().list_tools(v1::ListToolsRequest::default()).await.unwrap();
    let mut tools = listed.into_inner().tools.into_iter();
    tools.find(|listed| listed.name == tool).unwrap().description
}

#[tokio::test]
async fn no_name_leads_a_plugin_out_of_what_it_was_granted() {
    let site = Site::new();
    site.user_policy(
        "version = 1\n[[rule]]\neffects = [\"read\"]\npaths = [\"docs/denied/**\"]\n\
         decision = \"deny\"\n",
    );
    std::fs::write(site.outside("secret"), "SECRET\n").unwrap();
    for path in ["outside.txt", "docs/denied/a.txt", "docs/left/a.txt", ".git/config", ".env"] {
        site.write(path, "SECRET\n");
    }
    site.write("docs/plain.txt", "plain text\n");
    for (link, target) in [
        ("absolute", site.outside("secret").to_str().unwrap()),
        ("relative", "../../secret"),
        ("beside", "../outside.txt"),
        ("slash", "../outside.txt/"),
        ("up", ".."),
        ("root", "/"),
        ("loop", "loop"),
        ("chain", "relative"),
        ("back", "../docs/denied"),
        ("environ", "/proc/self/environ"),
        ("descriptors", "/proc/self/fd"),
        ("here", "/proc/self/cwd"),
    ] {
        std::os::unix::fs::symlink(target, site.workspace().join("docs").join(link)).unwrap();
    }
    let grant = json!({ "fs": [
        { "path": "docs", "access": "read", "except": ["docs/left/**"] },
    ]});
    let word_count = std::fs::read(plugin("word_count")).unwrap();
    guests::install_compiled(&site, &[("word-count", &word_count, json!({ "grant": grant }))]);
    let daemon = site.serve();
    let client = daemon.caller().await;
    settled(&client).await;
    let counted = client.done("word_count", json!({"path": "docs/plain.txt"})).await;
    assert_eq!(counted["total"]["words"], 2);
    let workspace = site.workspace().to_str().unwrap().to_owned();
    for path in ESCAPES.iter().map(ToString::to_string).chain([
        format!("{workspace}/outside.txt"),
        format!("{workspace}/docs/../outside.txt"),
        format!("{workspace}-beside/a"),
        site.outside("secret").to_str().unwrap().to_owned(),
    ]) {
        let result = client.ran("word_count", json!({"path": path})).await;
        if result.error.is_none() {
            let output: Value = serde_json::from_str(&result.output_json).unwrap();
            let is_plain = |file: &Value| file["path"] == "docs/plain.txt" && file["words"] == 2;
            let files = output["files"].as_array().unwrap();
            assert!(files.iter().all(is_plain), "{path}: {output}");
        }
    }
    // What is beneath the grant is found, and nothing else.
    let all = client.done("word_count", json!({"path": "docs"})).await;
    assert_eq!(all["total"]["words"], 2, "{all}");
    daemon.stop();
}

/// Names that mean something that was not granted, or nothing.
const ESCAPES: &[&str] = &[
    "",
    ".",
    "./",
    "..",
    "../",
    "../secret",
    "../../../../../../etc/passwd",
    "/",
    "/etc/passwd",
    "//etc/passwd",
    "/proc/self/environ",
    "/proc/self/mem",
    "/dev/zero",
    "~/.ssh/id_rsa",
    "file:///etc/passwd",
    "..%2f..%2fetc%2fpasswd",
    "..\\..\\etc\\passwd",
    "\u{ff0e}\u{ff0e}\u{ff0f}secret",
    "docs\0/../../secret",
    "outside.txt",
    ".env",
    ".git/config",
    "DOCS/plain.txt",
    "docs-beside/a",
    "docs/../outside.txt",
    "docs/./../outside.txt",
    "docs/denied/a.txt",
    "docs/denied/../denied/a.txt",
    "docs/left/a.txt",
    "docs/absolute",
    "docs/relative",
    "docs/relative/",
    "docs/beside",
    "docs/beside/.",
    "docs/slash",
    "docs/up/outside.txt",
    "docs/up/docs/up/outside.txt",
    "docs/root/etc/passwd",
    "docs/loop",
    "docs/chain",
    "docs/back/a.txt",
    "docs/environ",
    "docs/descriptors/0",
    "docs/here/outside.txt",
    "docs/plain.txt/../denied/a.txt",
];

/// The members with the names that their plugins have here.
fn members() -> impl Iterator<Item = (String, &'static Member)> {
    ZOO.iter().enumerate().map(|(number, member)| (format!("z{number:02}"), member))
}

/// Lists all of them, and the neighbour.
fn install(site: &Site) {
    let folder = site.outside("config/moss");
    let entry = |name: &str| json!({ "name": name, "source": format!("{name}.wasm") });
    let mut entries = vec![entry(NEIGHBOUR)];
    write(&folder.join(format!("{NEIGHBOUR}.wasm")), &zoo_named("polite", NEIGHBOUR));
    for (called, member) in members() {
        write(&folder.join(format!("{called}.wasm")), &member.component(&called));
        let mut entry = entry(&called);
        entry["limits"] = json!({ "timeout": format!("{}ms", TIMEOUT.as_millis()) });
        entries.push(entry);
    }
    site.plugin_list(&json!({ "version": 1, "plugins": entries }).to_string());
}

fn write(path: &Path, bytes: &[u8]) {
    if bytes.len() >= HOLE_BYTES_MIN && bytes.iter().all(|byte| *byte == 0) {
        let file = std::fs::File::create(path).unwrap();
        file.set_len(bytes.len() as u64).unwrap();
    } else {
        std::fs::write(path, bytes).unwrap();
    }
}

/// Lets a member do what it does, and holds it to its end.
async fn end(client: Client, called: String, member: &'static Member, plugin: v1::Plugin) -> Row {
    let (name, error) = (member.name, plugin.error);
    let number = ZOO.iter().position(|other| other.name == name).unwrap();
    if let End::Refused(part) = member.end {
        assert!(error.contains(part), "{name}: `{part}` is not in `{error}`");
        return Row { number, name, ended: error, took: None };
    }
    assert_eq!(error, "", "{name} is not loaded");
    let started = Instant::now();
    let result = client.call(call(&called, json!({}))).await.unwrap();
    let took = Some(started.elapsed());
    let ended = match member.end {
        End::Fails(code, part) => {
            let error = failure(&result);
            assert_eq!(error.code, code, "{name}: {}", error.message);
            assert!(error.message.contains(part), "{name}: `{part}` is not in `{}`", error.message);
            assert_ne!(error.hint, "", "{name}: nobody says what to do");
            format!("{code}: {}", error.message)
        }
        End::Refused(_) | End::Polite => {
            let output: Value = serde_json::from_str(&result.output_json).unwrap();
            assert_eq!(output, json!({}), "{name}");
            "nothing happens".to_owned()
        }
    };
    Row { number, name, ended, took }
}

/// The memory that the daemon holds.
fn resident_bytes(daemon: &Daemon) -> u64 {
    let status = format!("/proc/{}/status", daemon.pid());
    // Without /proc nothing is known, and nothing held to it.
    let Ok(status) = std::fs::read_to_string(status) else { return 0 };
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() << 10
}

/// Prints what became of all; tests show it on request.
fn show(rows: &[Row], calls: usize, level: u64, after: u64) {
    eprintln!("| member | ends | ms | over its deadline |\n| --- | --- | --- | --- |");
    for row in rows {
        let ended = row.ended.lines().next().unwrap_or_default().replace('|', "\\|");
        let (_, ended) = ended.split_once(".wasm: ").unwrap_or(("", &ended));
        let ended = ended.chars().take(ENDED_CHARS_MAX).collect::<String>();
        let (took, over) = match row.took {
            Some(took) => {
                let over = took.checked_sub(TIMEOUT).map(|over| over.as_millis().to_string());
                (took.as_millis().to_string(), over.unwrap_or_else(|| "-".to_owned()))
            }
            None => ("not loaded".to_owned(), "-".to_owned()),
        };
        eprintln!("| {} | {ended} | {took} | {over} |", row.name);
    }
    eprintln!(
        "{} members; {calls} calls of the neighbour, none failed; memory {} MiB before, {} MiB after",
        rows.len(),
        level >> 20,
        after >> 20
    );
}

// === impl Neighbour ===

impl Neighbour {
    async fn go_on(self: Arc<Self>, client: Client) {
        while !self.ends.load(Ordering::Relaxed) {
            assert_eq!(client.done(NEIGHBOUR, json!({})).await, json!({}));
            self.calls.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }
}
