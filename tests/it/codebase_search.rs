//! Questions over code: answered from what the files hold at that moment, and never from what the policy
//! closes.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Value, json};

use crate::harness::{Client, Editor, Site, failure, until};
use crate::listings::{has, printed};
use crate::live_tree;

const RETRY: &str = "/// Tries again after a pause that doubles each time.\npub fn retry_with_backoff() {\n    pause();\n}\n";

async fn ask(client: &Client, query: &str) -> Value {
    client.done("codebase_search", json!({"query": query})).await
}

/// The results as path and symbol.
fn found(output: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let results = output["results"].as_array().unwrap().iter();
    results.map(|one| (text(&one["path"]), text(&one["symbol"]))).collect()
}

fn first(output: &Value) -> (String, String) {
    found(output).into_iter().next().unwrap_or_default()
}

fn at(path: &str, symbol: &str) -> (String, String) {
    (path.to_owned(), symbol.to_owned())
}

#[tokio::test]
async fn answers_are_of_this_moment_whoever_changed_what() {
    let site = Site::allowing();
    site.write("src/net.rs", RETRY);
    site.write(
        "src/config.py",
        "def load_config(path):\n    \"\"\"Reads settings.\"\"\"\n    return path\n",
    );
    let daemon = site.serve();
    let client = daemon.caller().await;
    // Before everything is known, too.
    assert_eq!(
        first(&ask(&client, "retry after a pause").await),
        at("src/net.rs", "retry_with_backoff")
    );
    live_tree::ready(&client).await;
    let chinese = ask(&client, "在哪里读取配置").await;
    assert_eq!(first(&chinese), at("src/config.py", "load_config"), "{chinese}");
    for turn in 0..30 {
        // Written, moved and removed from outside, each asked for at once.
        let (path, moved) = (format!("src/made{turn}.rs"), format!("lib/moved{turn}.rs"));
        // Numbers would be words of both.
        let letters: String =
            format!("{turn:02}").bytes().map(|digit| char::from(digit + 49)).collect();
        let name = format!("frobnicate{letters}");
        site.write(&path, format!("fn {name}() {{}}\n"));
        let made = ask(&client, &name).await;
        assert_eq!((first(&made), &made["files_pending"]), (at(&path, &name), &json!(0)), "{made}");
        let other = format!("defragment{letters}");
        fs::write(site.workspace().join(&path), format!("fn {other}() {{}}\n")).unwrap();
        assert_eq!(first(&ask(&client, &other).await), at(&path, &other));
        assert_eq!(found(&ask(&client, &name).await), [], "{name}");
        fs::create_dir_all(site.workspace().join("lib")).unwrap();
        fs::rename(site.workspace().join(&path), site.workspace().join(&moved)).unwrap();
        assert_eq!(first(&ask(&client, &other).await), at(&moved, &other));
        fs::remove_file(site.workspace().join(&moved)).unwrap();
        assert_eq!(found(&ask(&client, &other).await), [], "{other}");
    }
    // Changed by moss itself.
    let edit =
        json!({"path": "src/net.rs", "oldText": "retry_with_backoff", "newText": "attempt_anew"});
    client.done("replace_text", edit).await;
    assert_eq!(first(&ask(&client, "attempt_anew").await), at("src/net.rs", "attempt_anew"));
    client.done("delete_file", json!({"path": "src/net.rs"})).await;
    assert_eq!(found(&ask(&client, "attempt_anew").await), []);

    // A command without a daemon reads the files itself.
    drop(daemon);
    let ended = site.run(&["call", "codebase_search", "query=reading settings", "--json"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let printed: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(first(&printed["output"]), at("src/config.py", "load_config"));
}

/// Files of the other branch, which come and go at once.
const BRANCH_FILES: usize = 400;

#[tokio::test]
async fn a_switched_branch_is_answered_with_the_symbols_that_are_there() {
    let site = Site::new();
    site.write("main.rs", "fn main() {\n    shared_entry();\n}\n");
    site.write("here/shared.rs", "pub fn shared_entry() {}\n");
    // The same file on the other branch, and many that this one does not have.
    let other = site.outside("other");
    fs::create_dir_all(&other).unwrap();
    fs::write(other.join("shared.rs"), "\n\npub fn shared_entry() {}\n").unwrap();
    for number in 0..BRANCH_FILES {
        let text = format!("pub fn branch_only_{number}() {{\n    shared_entry();\n}}\n");
        fs::write(other.join(format!("f{number}.rs")), text).unwrap();
    }
    let daemon = site.serve();
    let client = daemon.caller().await;
    live_tree::ready(&client).await;
    let (here, kept) = (site.workspace().join("here"), site.outside("kept"));
    let defined = async |name: &str| {
        let arguments = json!({"search": name, "searchType": "exact", "findReferences": true});
        let found = client.done("find_code_location", arguments).await;
        let line = found["locations"][0]["line"].clone();
        (found["total_locations"].clone(), line, found["total_references"].clone())
    };
    for round in 0..3 {
        assert_eq!(defined("shared_entry").await, (json!(1), json!(1), json!(1)), "{round}");
        assert_eq!(defined("branch_only_7").await.0, json!(0), "{round}");
        assert_eq!(found(&ask(&client, "branch_only_7").await), [], "{round}");
        fs::rename(&here, &kept).unwrap();
        fs::rename(&other, &here).unwrap();
        let uses = json!(BRANCH_FILES + 1);
        assert_eq!(defined("shared_entry").await, (json!(1), json!(3), uses), "{round}");
        assert_eq!(defined("branch_only_7").await.0, json!(1), "{round}");
        let answer = ask(&client, "branch_only_7").await;
        assert_eq!(first(&answer), at("here/f7.rs", "branch_only_7"), "{answer}");
        fs::rename(&here, &other).unwrap();
        fs::rename(&kept, &here).unwrap();
    }
}

/// Whether a directory has a file with a text in it.
fn is_stored(directory: &Path, text: &str) -> bool {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).any(|path| match path.is_dir() {
        true => is_stored(&path, text),
        false => fs::read(path).unwrap().windows(text.len()).any(|part| part == text.as_bytes()),
    })
}

#[tokio::test]
async fn symbols_of_what_the_policy_denies_are_in_no_answer_and_not_on_the_disk() {
    let site = Site::new();
    site.user_policy(
        "version = 1\n[[rule]]\neffects = [\"read\"]\npaths = [\"private/**\"]\ndecision = \"deny\"\n",
    );
    site.write("open/a.rs", "pub fn open_entry() {}\n");
    let closed = "/// Reached by the open entry.\npub fn closed_caller() {\n    open_entry();\n}\n";
    site.write("private/closed_name.rs", closed);
    let daemon = site.serve();
    let client = daemon.caller().await;
    live_tree::ready(&client).await;
    let asked = [
        ("codebase_search", json!({"query": "open entry"})),
        ("codebase_search", json!({"query": "closed_caller"})),
        ("codebase_search", json!({"query": "open/a.rs:1"})),
        ("find_code_location", json!({"search": "open_entry", "findReferences": true})),
        ("find_code_location", json!({"search": "closed_caller"})),
        ("get_project_structure", json!({})),
    ];
    for (tool, arguments) in asked {
        // The note of what was not found names what was asked for.
        let mut output = client.done(tool, arguments.clone()).await;
        output.as_object_mut().unwrap().remove("note");
        let output = output.to_string();
        assert!(!output.contains("closed_"), "{tool} {arguments}: {output}");
    }
    daemon.stop();
    let cache = site.outside("cache");
    assert!(is_stored(&cache, "a.rs"), "it proves nothing");
    for name in ["closed_name", "closed_caller", "Reached by"] {
        assert!(!is_stored(&cache, name), "{name}");
    }
}

#[tokio::test]
async fn unsaved_text_stands_for_the_file() {
    let site = Site::new();
    site.write("a.rs", "fn on_disk() {}\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    live_tree::ready(&client).await;
    assert_eq!(first(&ask(&client, "on_disk").await), at("a.rs", "on_disk"));
    let mut editor = Editor::attach(&daemon.approver().await, "Code").await;
    editor.hold("a.rs", 7, Some("\nfn nobody_saved() {}\n")).await;
    let unsaved = ask(&client, "nobody_saved").await;
    assert_eq!(
        (first(&unsaved), &unsaved["results"][0]["line"]),
        (at("a.rs", "nobody_saved"), &json!(2))
    );
    assert_eq!(found(&ask(&client, "on_disk").await), []);
    editor.hold("a.rs", 8, None).await;
    assert_eq!(first(&ask(&client, "on_disk").await), at("a.rs", "on_disk"));
    assert_eq!(found(&ask(&client, "nobody_saved").await), []);
}

#[tokio::test]
async fn what_may_not_be_read_is_not_found_and_changes_no_answer() {
    let rules = |denied: &str| {
        format!(
            "version = 1\n[[rule]]\neffects = [\"read\"]\npaths = [{denied}]\ndecision = \"deny\"\n\
             [[rule]]\neffects = [\"read\"]\npaths = [\"shared/**\"]\ndecision = \"ask\"\n"
        )
    };
    let plain = Site::new();
    plain.write("open/a.rs", RETRY);
    plain.write("late/b.rs", "fn late_needle() {}\n");
    let site = Site::new();
    site.user_policy(&rules("\"private/**\""));
    site.write("open/a.rs", RETRY);
    site.write("late/b.rs", "fn late_needle() {}\n");
    for closed in ["private/a.rs", "shared/b.rs", "keys/server.pem", "out/c.rs"] {
        site.write(closed, RETRY);
    }
    site.write(".gitignore", "out/\n");
    let (daemon, open) = (site.serve(), plain.serve());
    let (client, other) = (daemon.caller().await, open.caller().await);
    live_tree::ready(&client).await;
    live_tree::ready(&other).await;
    for query in ["retry after a pause", "retry_with_backoff", "late needle"] {
        let (with, without) = (ask(&client, query).await, ask(&other, query).await);
        assert_eq!(with["results"], without["results"], "{query}");
    }
    // Rules of later apply to the next question.
    site.user_policy(&rules("\"private/**\", \"late/**\""));
    let gone = async || found(&ask(&client, "late needle").await).is_empty();
    until("the rules are read", gone).await;
}

#[tokio::test]
async fn what_is_no_question_is_refused_and_the_rest_is_answered() {
    let site = Site::new();
    site.write("a.rs", RETRY);
    site.write("twin.rs", "mod one {\n    fn twin() {}\n}\nmod two {\n    fn twin() {}\n}\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    for query in ["", " \n ", "the of and", "???", "a.rs:900"] {
        let result = client.ran("codebase_search", json!({"query": query})).await;
        assert!(!failure(&result).hint.is_empty(), "{query:?}");
    }
    let long = format!("{}retry_with_backoff", "lorem_ipsum dolor ".repeat(600));
    assert_eq!(first(&ask(&client, &long).await), at("a.rs", "retry_with_backoff"));
    let twins = found(&ask(&client, "twin").await);
    assert_eq!(twins[..2], [at("twin.rs", "twin"), at("twin.rs", "twin")]);
    let related = ask(&client, "a.rs:2").await;
    assert!(!found(&related).contains(&at("a.rs", "retry_with_backoff")), "{related}");
}

/// Makes what git takes for a signature.
const SIGNING: &str = "#!/bin/sh\ncat > /dev/null\nprintf '\\n[GNUPG:] SIG_CREATED D\\n' >&2\n\
                       printf '%s\\n' '-----BEGIN PGP SIGNATURE-----' '' A= '-----END PGP SIGNATURE-----'\n";
/// Ends the git that runs it.
const ENDING: &str = "#!/bin/sh\nkill -9 $PPID\n";

/// Puts a program into the workspace; returns its path.
fn program(site: &Site, name: &str, text: &str) -> String {
    let path = site.write(name, text);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

/// Commits all files as they are, signed by a program.
fn commit(site: &Site, subject: &str, signing: &str) {
    printed(site, "git", &["add", "."]);
    let signing = format!("gpg.program={signing}");
    let settings = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", &signing];
    let all = [settings.as_slice(), &["commit", "--quiet", "-S", "-m", subject]].concat();
    printed(site, "git", &all);
}

#[tokio::test]
async fn subjects_of_commits_count_for_who_may_run_git_unasked() {
    if !has("git") {
        return;
    }
    let site = Site::new();
    printed(&site, "git", &["init", "--quiet"]);
    let (signing, ending) =
        (program(&site, "bin/signing", SIGNING), program(&site, "bin/ending", ENDING));
    site.write("src/a.rs", "fn one() {}\n");
    commit(&site, "Zebras have stripes", &signing);
    site.write("src/b.rs", "fn two() {}\n");
    commit(&site, "Giraffes have necks", &signing);
    // Were one of them run, git would print nothing.
    for key in ["core.fsmonitor", "core.pager", "pager.log", "gpg.program", "core.hooksPath"] {
        printed(&site, "git", &["config", key, &ending]);
    }
    printed(&site, "git", &["config", "log.showSignature", "true"]);
    let daemon = site.serve();
    let client = daemon.caller().await;
    live_tree::ready(&client).await;
    let stripes = ask(&client, "zebra stripes").await;
    assert_eq!(first(&stripes), at("src/a.rs", "one"), "{stripes}");
    assert_eq!(stripes["results"][0]["why"], "commits: zebra, stripes");
    assert_eq!(first(&ask(&client, "necks of giraffes").await), at("src/b.rs", "two"));

    // Whom the policy lets run nothing unasked is not told what git says.
    let deny_git = "effects = [\"read\"]\npaths = [\".git/**\"]\ndecision = \"deny\"";
    for rule in [
        "effects = [\"exec\"]\ndecision = \"deny\"",
        "effects = [\"exec\"]\ndecision = \"ask\"",
        deny_git,
    ] {
        site.user_policy(&format!("version = 1\n[[rule]]\n{rule}\n"));
        let gone = async || found(&ask(&client, "zebra stripes").await).is_empty();
        until("the rules are read", gone).await;
        site.user_policy("version = 1\n");
        let back = async || !found(&ask(&client, "zebra stripes").await).is_empty();
        until("the rules are gone", back).await;
    }
}

#[tokio::test]
async fn what_is_no_repository_is_searched_without_complaint() {
    let site = Site::new();
    site.write("a.rs", RETRY);
    site.write(".git/HEAD", "nonsense\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    live_tree::ready(&client).await;
    let answer = ask(&client, "retry after a pause").await;
    assert_eq!(first(&answer), at("a.rs", "retry_with_backoff"));
    assert_eq!(answer.get("note"), None, "{answer}");
}
