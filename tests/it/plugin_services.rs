//! What moss does for plugins behind their capabilities: HTTP, variables, a store, other tools, the
//! editor. The plugin `probe` does what a test tells it.

mod http;

use std::path::Path;

use moss_proto::v1;
use moss_proto::v1::editor_answer::Answer;
use moss_proto::v1::editor_question::Question;
use serde_json::{Value, json};

use crate::harness::guests::install_compiled;
use crate::harness::{Client, Daemon, Editor, Site, call, failure, output, plugin, range};
use crate::plugins::settled;

/// Puts the probe into the user's list, with what it is granted and more keys of its entry.
pub(crate) fn install_probe(site: &Site, grant: Value, more: Value) {
    let probe = std::fs::read(plugin("probe")).unwrap();
    let mut entry = more;
    entry["grant"] = grant;
    install_compiled(site, &[("probe", &probe, entry)]);
}

/// A daemon with the probe, and a caller.
pub(crate) async fn probed(site: &Site, grant: Value) -> (Daemon, Client) {
    install_probe(site, grant, json!({}));
    served(site).await
}

async fn served(site: &Site) -> (Daemon, Client) {
    let daemon = site.serve();
    let caller = daemon.caller().await;
    for plugin in settled(&caller).await {
        assert_eq!(plugin.error, "");
    }
    (daemon, caller)
}

/// Lets the probe take steps and returns what came of each.
pub(crate) async fn probe(caller: &Client, steps: Value) -> Vec<Value> {
    let done = caller.done("probe", json!({ "steps": steps })).await;
    done["result"].as_array().unwrap().clone()
}

fn set(key: &str, value: &str) -> Value {
    json!({ "do": "set", "key": key, "value": value })
}

fn load(key: &str) -> Value {
    json!({ "do": "load", "key": key })
}

fn ask(tool: &str, arguments: Value) -> Value {
    json!({ "do": "call", "tool": tool, "arguments": arguments })
}

#[tokio::test]
async fn nothing_is_there_that_was_not_granted() {
    let site = Site::new();
    site.write("a.txt", "a\n");
    let (_daemon, caller) = probed(&site, json!({})).await;
    let steps = json!([
        { "do": "get", "url": "http://127.0.0.1:9/" },
        { "do": "env" },
        set("k", "v"),
        ask("read_file", json!({ "path": "a.txt" })),
        { "do": "symbols", "path": "a.txt" },
        { "do": "search", "pattern": "a" },
        { "do": "run", "words": ["ls"] },
        { "do": "declared", "names": ["a"] },
    ]);
    let came = probe(&caller, steps).await;
    assert_eq!(came[1], json!([]));
    for index in [0, 2, 3, 4, 5, 6, 7] {
        assert_eq!(came[index]["error"], "denied", "{}", came[index]);
    }
    // Where its list lies is not exposed to a guest, only to its caller.
    assert!(
        !json!(came).to_string().contains(&*site.outside("config").to_string_lossy()),
        "{came:?}"
    );
    for (step, way) in [
        (set("k", "v"), "\"store\": \"1MiB\""),
        (ask("read_file", json!({})), "\"tools\": [\"read_file\"]"),
        (json!({ "do": "symbols", "path": "a.txt" }), "\"editor\": true"),
        (json!({ "do": "search", "pattern": "a" }), "\"index\": true"),
        (json!({ "do": "run", "words": ["ls", "-l"] }), "\"commands\": [\"ls -l\"]"),
    ] {
        let result = caller.call(call("probe", json!({ "steps": [step], "fail": true }))).await;
        let hint = failure(&result.unwrap()).hint.clone();
        assert!(hint.contains(&format!("moss-tools.json: {way}")), "{hint}");
    }
    for name in ["create_file", "nope"] {
        let steps = json!([ask(name, json!({}))]);
        let result = caller.call(call("probe", json!({ "steps": steps, "fail": true }))).await;
        let hint = failure(&result.unwrap()).hint.clone();
        assert!(hint.contains(name) && !hint.contains("moss-tools.json"), "{hint}");
    }
}

#[tokio::test]
async fn what_the_configuration_withholds_is_not_said_to_be_the_list() {
    let site = Site::new();
    site.config(
        "[plugin_maximum]\nhttp = [\"*.example\"]\nstore_bytes = 10\ntools = []\neditor = false\n\
         index = false\ncommands = [\"cat *\"]\n",
    );
    let grant = json!({
        "http": ["http://127.0.0.1:9"], "store": "1MiB", "tools": ["read_file"], "editor": true,
        "index": true, "commands": ["ls"],
    });
    let (_daemon, caller) = probed(&site, grant).await;
    for (step, key) in [
        (json!({ "do": "get", "url": "http://127.0.0.1:9/" }), "http"),
        (set("key", "more than ten bytes"), "store_bytes"),
        (ask("read_file", json!({})), "tools"),
        (json!({ "do": "symbols", "path": "a.txt" }), "editor"),
        (json!({ "do": "search", "pattern": "a" }), "index"),
        (json!({ "do": "run", "words": ["ls"] }), "commands"),
    ] {
        let result = caller.call(call("probe", json!({ "steps": [step], "fail": true }))).await;
        let hint = failure(&result.unwrap()).hint.clone();
        let bound = format!("`plugin_maximum.{key}` in config.toml");
        assert!(hint.contains(&bound) && !hint.contains("grant it to"), "{hint}");
    }
}

/// What the policy of this test closes to the probe, in one way or another.
const CLOSED: &str = r#"
version = 1
[[rule]]
plugins = ["probe"]
effects = ["read"]
paths = ["closed/**"]
decision = "deny"
[[rule]]
plugins = ["probe"]
effects = ["read"]
paths = ["asked/**"]
decision = "ask"
"#;

#[tokio::test]
async fn a_search_of_a_guest_finds_what_it_may_read_as_it_is_now() {
    let site = Site::new();
    site.user_policy(CLOSED);
    for (path, text) in [
        ("src/a.rs", "// one\nfn wanted() {}\n"),
        ("docs/a.md", "wanted, too\n"),
        ("tests/a.rs", "// WANTED\n"),
        ("closed/a.rs", "wanted canary\n"),
        ("asked/a.rs", "wanted canary\n"),
        (".github/workflows/ci.yml", "wanted: canary\n"),
        (".env", "WANTED=canary\n"),
        (".gitignore", "ignored\n"),
        ("ignored", "wanted canary\n"),
    ] {
        site.write(path, text);
    }
    let root = site.workspace();
    std::fs::hard_link(root.join(".github/workflows/ci.yml"), root.join("docs/ci.md")).unwrap();
    let (_daemon, caller) = probed(&site, json!({ "index": true })).await;
    let search = |pattern: &str| json!({ "do": "search", "pattern": pattern });
    let mut few = search("wanted");
    few["lines"] = json!(1);
    let mut rust = search("wanted");
    rust["types"] = json!("rust");
    let mut none = search("wanted");
    none["lines"] = json!(0);
    let steps = json!([search("wanted"), few, rust, none, search("wanted("), search("canary")]);
    let came = probe(&caller, steps).await;
    let all =
        ["src/a.rs:2:4: fn wanted() {}", "tests/a.rs:1:4: // WANTED", "docs/a.md:1:1: wanted, too"];
    assert_eq!(came[0]["lines"], json!(all));
    assert_eq!((&came[0]["total"], &came[0]["truncated"]), (&json!(3), &json!(false)));
    assert_eq!(came[1]["lines"], json!(all[..1]));
    assert_eq!((&came[1]["total"], &came[1]["truncated"]), (&json!(3), &json!(true)));
    assert_eq!(came[2]["lines"], json!(all[..2]));
    assert_eq!(came[3]["error"], "invalid_arguments", "{}", came[3]);
    assert_eq!(came[4]["error"], "invalid_arguments", "{}", came[4]);
    assert_eq!(came[5]["total"], 0, "{}", came[5]);
    assert!(!json!(came).to_string().contains("canary"), "{came:?}");

    // What the caller itself searches for after that is more, and the next search of the guest no more.
    let own = caller.done("grep_search", json!({ "pattern": "wanted" })).await;
    assert_eq!(own["total_matches"], 7, "{own}");
    site.write("src/b.rs", "wanted now\n");
    let came = probe(&caller, json!([search("wanted")])).await;
    assert_eq!(came[0]["total"], 4, "{}", came[0]);
}

#[tokio::test]
async fn symbols_of_a_guest_are_those_of_files_that_it_may_read() {
    let site = Site::new();
    site.user_policy(CLOSED);
    for (path, text) in [
        ("src/a.rs", "struct A;\nimpl A {\n    /// Says so.\n    fn wanted() {}\n}\n"),
        ("src/b.rs", "fn Wanted() {}\n"),
        ("tests/a.rs", "fn wanted() {}\n"),
        ("closed/a.rs", "fn wanted() {}\n"),
        ("asked/a.rs", "fn wanted() {}\n"),
        // More than one result has room for.
        (".github/workflows/a.py", &"def wanted(): pass\n".repeat(1_000)),
    ] {
        site.write(path, text);
    }
    let root = site.workspace();
    std::fs::hard_link(root.join(".github/workflows/a.py"), root.join("src/linked.py")).unwrap();
    let (_daemon, caller) = probed(&site, json!({ "index": true })).await;
    let declared = |names: &[&str]| json!({ "do": "declared", "names": names });
    let many: Vec<String> = (0..=200).map(|number| format!("n{number}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let steps =
        json!([declared(&["wanted", "A"]), declared(&[]), declared(&["canary"]), declared(&many)]);
    let all = [
        "src/a.rs:3-4 method A.wanted",
        "tests/a.rs:1-1 function .wanted",
        "src/a.rs:1-1 struct .A",
    ];
    // As well before everything is known as after.
    for _ in 0..2 {
        let came = probe(&caller, steps.clone()).await;
        assert_eq!(came[0], json!(all), "{came:?}");
        assert_eq!((&came[1], &came[2]), (&json!([]), &json!([])));
        assert_eq!(came[3]["error"], "invalid_arguments", "{}", came[3]);
        crate::live_tree::ready(&caller).await;
    }
    site.write("src/c.rs", "fn late() {}\n");
    let came = probe(&caller, json!([declared(&["late"])])).await;
    assert_eq!(came[0], json!(["src/c.rs:1-1 function .late"]));
}

/// Rules about commands of the probe.
const COMMANDS: &str = r#"
version = 1
[[rule]]
argv = ["touch"]
paths = ["closed/**", "closed"]
decision = "deny"
[[rule]]
argv = ["mkdir"]
decision = "ask"
[[rule]]
plugins = ["probe"]
exact_argv = ["touch", "made.txt"]
decision = "allow"
"#;

#[tokio::test]
async fn a_guest_runs_the_commands_that_it_was_granted_word_by_word() {
    let site = Site::new();
    site.user_policy(COMMANDS);
    site.write("a.txt", "one\n");
    site.write(".env", "SECRET=canary\n");
    site.write("closed/b.txt", "two\n");
    let grant = json!({ "commands": ["ls", "cat *", "touch *", "rm a.txt", "mkdir new",
        "sh -c *", "false", "head -c * big.txt"] });
    site.write("big.txt", "x".repeat(2_000_000));
    // What it returns is longer than plugins may return by default.
    install_probe(&site, grant, json!({ "limits": { "output": "4MiB" } }));
    let (_daemon, caller) = served(&site).await;
    let run = |words: &[&str]| json!({ "do": "run", "words": words });
    let steps = json!([
        run(&["ls"]),
        run(&["cat", "a.txt"]),
        run(&["touch", "made.txt"]),
        run(&["false"]),
        run(&["cat", "it's; touch x.txt"]),
        run(&["cat", ".env"]),
        run(&["head", "-c", "2000000", "big.txt"]),
    ]);
    let came = probe(&caller, steps).await;
    assert_eq!(came[0]["stdout"], "a.txt\nbig.txt\nclosed\n", "{}", came[0]);
    assert_eq!((&came[1]["stdout"], &came[1]["exit_code"]), (&json!("one\n"), &json!(0)));
    assert_eq!(came[2]["changed"], json!(["made.txt"]), "{}", came[2]);
    assert_eq!(came[3]["exit_code"], 1, "{}", came[3]);
    assert_eq!(came[4]["exit_code"], 1, "{}", came[4]);
    assert!(!site.workspace().join("x.txt").exists());
    assert!(!came[5].to_string().contains("canary"), "{}", came[5]);
    assert_eq!(
        (&came[6]["truncated"], came[6]["stdout"].as_str().unwrap().len()),
        (&json!(true), 1 << 20)
    );

    // Other words, what always asks, what a rule asks about or denies, a directory elsewhere.
    let closed = json!({ "do": "run", "words": ["touch", "made.txt"], "directory": "closed" });
    let outside = json!({ "do": "run", "words": ["ls"], "directory": ".." });
    let steps = json!([
        run(&["ls", "-l"]),
        run(&["cat", "-n"]),
        run(&["touch", "made.txt", "b.txt"]),
        run(&["rm", "a.txt"]),
        run(&["mkdir", "new"]),
        run(&["sh", "-c", "rm a.txt"]),
        closed,
        outside,
        run(&[]),
    ]);
    let came = probe(&caller, steps).await;
    for (at, code) in
        ["denied"; 7].into_iter().chain(["invalid_path", "invalid_arguments"]).enumerate()
    {
        assert_eq!(came[at]["error"], code, "{at}: {}", came[at]);
    }
    assert!(site.workspace().join("a.txt").exists());
    assert!(!site.workspace().join("new").exists() && !site.workspace().join("b.txt").exists());

    // Nothing is written in a dry run.
    std::fs::remove_file(site.workspace().join("made.txt")).unwrap();
    let steps = json!([run(&["cat", "a.txt"]), run(&["touch", "made.txt"])]);
    let dry = v1::Call { dry_run: true, ..call("probe", json!({ "steps": steps })) };
    let came = output(&caller.call(dry).await.unwrap())["result"].clone();
    assert_eq!((&came[0]["stdout"], &came[1]["error"]), (&json!("one\n"), &json!("denied")));
    assert!(!site.workspace().join("made.txt").exists());
}

#[tokio::test]
async fn a_granted_command_that_may_write_needs_a_rule_as_well() {
    let site = Site::new();
    site.user_policy(COMMANDS);
    install_probe(&site, json!({ "commands": ["touch *"] }), json!({}));
    let (_daemon, caller) = served(&site).await;
    let run = |path: &str| json!({ "do": "run", "words": ["touch", path] });
    let came = probe(&caller, json!([run("made.txt"), run("other.txt")])).await;
    assert_eq!(came[0]["changed"], json!(["made.txt"]), "{}", came[0]);
    assert_eq!(came[1]["error"], "denied", "{}", came[1]);
    let said = came[1].to_string();
    assert!(said.contains("grants these words, but the command may write"), "{said}");
    assert!(!site.has("other.txt"));
}

#[tokio::test]
async fn a_guest_searches_so_often_and_no_more() {
    let site = Site::new();
    site.write("a.txt", "a\n");
    let (_daemon, caller) = probed(&site, json!({ "index": true })).await;
    let steps = vec![json!({ "do": "search", "pattern": "a" }); 513];
    let came = probe(&caller, json!(steps)).await;
    assert!(came[..512].iter().all(|found| found["total"] == 1));
    assert_eq!(came[512]["error"], "limit_exceeded", "{}", came[512]);
}

#[tokio::test]
async fn a_guest_sees_the_variables_that_it_was_granted() {
    let site = Site::new();
    install_probe(&site, json!({ "env": ["GREETING", "HOME", "ABSENT"] }), json!({}));
    let mut command = site.serve_command();
    command.env("GREETING", "hello").env("SECRET", "canary").env("MOSS_LOG", "info");
    let daemon = Daemon::start(command, &site.socket(), &site.state());
    let caller = daemon.caller().await;
    settled(&caller).await;
    let came = probe(&caller, json!([{ "do": "env" }])).await;
    let home = site.outside("home");
    assert_eq!(came[0], json!([["GREETING", "hello"], ["HOME", home]]));

    let refused = Site::new();
    install_probe(&refused, json!({ "env": ["MOSS_TOKEN"] }), json!({}));
    let daemon = refused.serve();
    let problem = format!("{:?}", settled(&daemon.caller().await).await);
    assert!(problem.contains("`MOSS_TOKEN` is moss's own, and no plugin sees it"), "{problem}");
}

#[tokio::test]
async fn a_store_outlives_calls_and_the_daemon_and_has_its_bounds() {
    let site = Site::new();
    let (daemon, caller) = probed(&site, json!({ "store": "40B" })).await;
    let came = probe(&caller, json!([load("k"), set("k", "v"), load("k")])).await;
    assert_eq!(came, [Value::Null, Value::Null, json!("v")]);
    daemon.stop();
    let (daemon, caller) = served(&site).await;
    let large = set("large", &"x".repeat(40));
    let long = set(&"k".repeat(257), "");
    let steps = json!([load("k"), large, long, set("kk", ""), { "do": "keys", "prefix": "k" },
        { "do": "delete", "key": "k" }, { "do": "delete", "key": "k" }, { "do": "keys" }]);
    let came = probe(&caller, steps).await;
    assert_eq!(came[0], "v");
    assert_eq!(came[1]["message"], "the store would have 47 bytes; 40 were granted");
    assert_eq!(
        (&came[1]["error"], &came[2]["error"]),
        (&json!("too_large"), &json!("invalid_arguments"))
    );
    assert_eq!(
        came[3..],
        [Value::Null, json!(["k", "kk"]), json!(true), json!(false), json!(["kk"])]
    );
    drop(daemon);
}

#[tokio::test]
async fn a_dry_run_keeps_nothing_and_sees_its_own_changes() {
    let site = Site::new();
    let (_daemon, caller) = probed(&site, json!({ "store": "40B" })).await;
    probe(&caller, json!([set("a", "1"), set("b", "2")])).await;
    let keys = json!({ "do": "keys" });
    let steps = json!([set("a", "3"), set("c", "4"), { "do": "delete", "key": "b" }, load("a"),
        load("b"), &keys, set("d", &"x".repeat(40))]);
    let dry = v1::Call { dry_run: true, ..call("probe", json!({ "steps": steps })) };
    let came = output(&caller.call(dry).await.unwrap())["result"].as_array().unwrap().clone();
    assert_eq!(came[2..6], [json!(true), json!("3"), Value::Null, json!(["a", "c"])]);
    assert_eq!(came[6]["message"], "the store would have 45 bytes; 40 were granted");
    let came = probe(&caller, json!([load("a"), load("b"), keys])).await;
    assert_eq!(came, [json!("1"), json!("2"), json!(["a", "b"])]);
}

/// What the probe finds under `k` after a step, in a workspace of its own daemon.
async fn kept_in(site: &Site, workspace: &Path, first: Value) -> Value {
    let listen = format!("unix:{}", site.socket().display());
    let mut command = site.command(["serve", "--listen", &listen, "--workspace"]);
    command.arg(workspace);
    let daemon = Daemon::start(command, &site.socket(), &site.state());
    let caller = daemon.caller().await;
    settled(&caller).await;
    probe(&caller, json!([first, load("k")])).await.remove(1)
}

#[tokio::test]
async fn workspaces_and_sources_do_not_share_a_store() {
    let site = Site::new();
    let (one, other) = (site.workspace(), site.outside("other"));
    std::fs::create_dir(&other).unwrap();
    let grant = json!({ "store": "1KiB" });
    install_probe(&site, grant.clone(), json!({}));
    let nothing = json!({ "do": "keys" });
    assert_eq!(kept_in(&site, &one, set("k", "v")).await, "v");
    assert_eq!(kept_in(&site, &other, nothing.clone()).await, Value::Null);
    assert_eq!(kept_in(&site, &one, nothing.clone()).await, "v");

    // The same name, from elsewhere.
    let moved = site.outside("config/moss/elsewhere.wasm");
    std::fs::rename(site.outside("config/moss/probe.wasm"), &moved).unwrap();
    let entry = json!({ "name": "probe", "source": "elsewhere.wasm", "grant": grant });
    site.plugin_list(&json!({ "version": 1, "plugins": [entry] }).to_string());
    assert_eq!(kept_in(&site, &one, nothing).await, Value::Null);
}

#[tokio::test]
async fn a_plugin_calls_tools_that_read_and_no_others() {
    let site = Site::new();
    site.user_policy(
        "version = 1\n[[rule]]\neffects = [\"write\"]\ndecision = \"allow\"\n\
         [[rule]]\neffects = [\"read\"]\npaths = [\"asked.txt\"]\ndecision = \"ask\"\n",
    );
    site.write("a.txt", "one\ntwo\n");
    site.write("asked.txt", "canary\n");
    let tools = ["read_file", "create_file", "clarify", "todo", "nothing"];
    let (daemon, caller) = probed(&site, json!({ "tools": tools })).await;
    let before = site.snapshot();
    let steps = json!([
        ask("read_file", json!({ "path": "a.txt" })),
        ask("read_file", json!({ "path": "asked.txt" })),
        ask("read_file", json!({ "pth": "a.txt" })),
        ask("create_file", json!({ "path": "b.txt", "content": "" })),
        ask("clarify", json!({ "question": "?" })),
        ask("todo", json!({ "items": [{ "id": "1", "content": "x", "status": "pending" }] })),
        ask("todo", json!({})),
        ask("nothing", json!({})),
        ask("list_directory", json!({})),
    ]);
    let came = probe(&caller, steps).await;
    assert_eq!(came[0]["content"], "     1\tone\n     2\ttwo");
    let codes = came.iter().map(|one| one["error"].as_str().unwrap_or("")).collect::<Vec<_>>();
    let denied = "denied";
    assert_eq!(
        codes,
        ["", denied, "invalid_arguments", denied, denied, denied, "", "not_found", denied]
    );
    let message = |index: usize| came[index]["message"].as_str().unwrap().to_owned();
    assert_eq!(message(1), "`read_file` needs a confirmation, which no plugin is given");
    assert_eq!(message(3), "`create_file` does more than read: plugins do not call it");
    assert_eq!(message(4), "`clarify` asks a person: plugins do not call it");
    assert_eq!(site.snapshot(), before);

    // Each is a call of its own in the journal, which says who made it.
    daemon.stop();
    let audit = site.run(&["audit", "tail", "--tool", "read_file", "--json"]).stdout;
    let audit: Value = serde_json::from_str(&audit).unwrap();
    let rows = audit["records"].as_array().unwrap().iter().map(|row| &row["record"]);
    let callers: Vec<_> = rows.map(|record| &record["called_by"]["plugin"]).collect();
    assert!(callers.contains(&&json!("probe")), "{audit}");
}

#[tokio::test]
async fn rules_for_a_plugin_hold_for_what_it_calls() {
    let site = Site::new();
    site.write("a.txt", "a\n");
    site.write("private/b.txt", "b\n");
    site.user_policy(
        "version = 1\n[[rule]]\nplugins = [\"probe\"]\npaths = [\"private/**\"]\n\
         effects = [\"read\"]\ndecision = \"deny\"\n",
    );
    let (_daemon, caller) = probed(&site, json!({ "tools": ["read_file"] })).await;
    let read = |path: &str| ask("read_file", json!({ "path": path }));
    let came = probe(&caller, json!([read("a.txt"), read("private/b.txt")])).await;
    assert_eq!(came[0]["content"], "     1\ta");
    assert_eq!(came[1]["error"], "denied", "{}", came[1]);
    assert_eq!(
        caller.done("read_file", json!({ "path": "private/b.txt" })).await["content"],
        "     1\tb"
    );
}

#[tokio::test]
async fn plugins_call_plugins_four_deep_on_one_slot() {
    let site = Site::new();
    site.config("[calls]\nrunning_max = 1\n");
    let (_daemon, caller) = probed(&site, json!({ "tools": ["probe"] })).await;
    let mut step = json!({ "do": "keys" });
    for _ in 0..5 {
        step = ask("probe", json!({ "steps": [step] }));
    }
    let mut came = probe(&caller, json!([step])).await.remove(0);
    for _ in 0..4 {
        came = came["result"][0].take();
    }
    assert_eq!(came["error"], "limit_exceeded", "{came}");
    assert_eq!(came["message"], "tools call tools at most 4 deep");
}

#[tokio::test]
async fn arguments_for_a_tool_have_a_bound_of_their_own() {
    let site = Site::new();
    let (_daemon, caller) = probed(&site, json!({ "tools": ["read_file"] })).await;
    let long = "a".repeat(300 << 10);
    let steps = json!([ask("read_file", json!({ "path": long }))]);
    let came = probe(&caller, steps).await;
    assert_eq!(came[0]["error"], "too_large", "{came:?}");
}

#[tokio::test]
async fn one_call_does_not_lead_to_calls_without_end() {
    let site = Site::new();
    let (_daemon, caller) = probed(&site, json!({ "tools": ["list_directory"] })).await;
    let steps: Vec<_> = (0..520).map(|_| ask("list_directory", json!({ "path": "." }))).collect();
    let came = probe(&caller, steps.into()).await;
    assert!(came[511].get("error").is_none(), "{}", came[511]);
    assert_eq!(came[512]["error"], "limit_exceeded", "{}", came[512]);
}

#[tokio::test]
async fn a_plugin_that_calls_itself_does_not_wait_for_itself() {
    let site = Site::new();
    install_probe(&site, json!({ "tools": ["probe"] }), json!({ "limits": { "calls": 1 } }));
    let (_daemon, caller) = served(&site).await;
    let came = probe(&caller, json!([ask("probe", json!({ "steps": [] }))])).await.remove(0);
    assert_eq!(came["error"], "limit_exceeded", "{came}");
    assert!(came["hint"].as_str().unwrap().contains("limits.calls"), "{came}");
}

#[tokio::test]
async fn the_editor_shows_a_plugin_what_it_may_know() {
    let site = Site::new();
    site.config(crate::editor::PATIENT);
    site.write("a.rs", "fn one() {}\n");
    site.write(".env", "canary\n");
    let (daemon, caller) = probed(&site, json!({ "editor": true })).await;
    let none = probe(&caller, json!([{ "do": "symbols", "path": "a.rs" }])).await;
    assert_eq!(none, [Value::Null]);
    let mut editor = Editor::attach(&daemon.approver().await, "Code").await;
    editor.hold("a.rs", 1, None).await;
    let steps = json!([
        { "do": "symbols", "path": "./a.rs" },
        { "do": "symbols", "path": ".env" },
        { "do": "symbols", "path": "../a.rs" },
    ]);
    let asked = tokio::spawn(async move { probe(&caller, steps).await });
    let (id, question) = editor.question().await;
    assert!(matches!(question, Question::DocumentSymbols(asked) if asked.path == "a.rs"));
    let symbol = v1::DocumentSymbol {
        name: "one".into(),
        kind: "function".into(),
        range: Some(range((0, 0), (0, 11))),
        name_range: Some(range((0, 3), (0, 6))),
        children: Vec::new(),
    };
    let symbols = v1::DocumentSymbols { symbols: vec![symbol] };
    editor.answer(&id, Answer::DocumentSymbols(symbols)).await;
    let came = asked.await.unwrap();
    assert_eq!(came[0], json!(["one"]));
    assert_eq!((&came[1]["error"], &came[2]["error"]), (&json!("denied"), &json!("invalid_path")));
}

#[tokio::test]
async fn a_failing_tool_says_what_it_failed_over() {
    let site = Site::new();
    let (_daemon, caller) = probed(&site, json!({})).await;
    let get = json!({ "do": "get", "url": "https://docs.example/" });
    let result = caller.call(call("probe", json!({ "steps": [get], "fail": true }))).await.unwrap();
    let hint = failure(&result).hint.clone();
    assert!(hint.contains("\"http\": [\"docs.example\"]"), "{hint}");
    let steps = json!([get, { "do": "panic" }]);
    let result = caller.call(call("probe", json!({ "steps": steps }))).await.unwrap();
    let message = failure(&result).message.clone();
    assert!(message.contains("docs.example was not granted"), "{message}");
    // The next call knows nothing of it.
    let result = caller.call(call("probe", json!({ "steps": [{ "do": "panic" }] }))).await.unwrap();
    assert!(!failure(&result).message.contains("docs.example"));
}
