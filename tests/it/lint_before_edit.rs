//! What linters find in a change before anybody agrees to it: on a copy, where they may run, and never as a
//! finding of one that did not check.

use moss_proto::v1;
use serde_json::{Value, json};

use crate::harness::{Client, Site, call, refusing, waiting};

/// A linter that needs nothing but a shell: it complains about each line with TODO.
const CONFIG: &str = "[linters]\ntodos = { command = \"sh lint.sh\", format = \"gnu\", files = [\"*.py\"] }\n\
                      [checks]\nbefore_edit = [\"todos\"]\n";
const SCRIPT: &str = "grep -n TODO src/*.py /dev/null | sed 's/^\\([^:]*:[0-9]*\\):.*/\\1:1: warning: a thing to do [todo]/'\n";
/// Lets the linter run.
const ALLOWING: &str = "version = 1\n[[rule]]\ntools = [\"lint_check\"]\nargv = [\"sh\", \"lint.sh\"]\ndecision = \"allow\"\n";

fn site(script: &str) -> Site {
    let site = Site::new();
    site.config(CONFIG);
    site.user_policy(ALLOWING);
    site.write("lint.sh", script);
    site.write("src/a.py", "x = 1\n# TODO one\ny = 2\n");
    site
}

fn edit() -> Value {
    let new = "# TODO two\nx = 1\n";
    json!({"path": "src/a.py", "oldText": "x = 1\n", "newText": new})
}

/// Dry-runs a call, and returns what stands with its only change.
async fn proposed(client: &Client, tool: &str, arguments: Value) -> v1::FileChange {
    let dry = v1::Call { dry_run: true, ..call(tool, arguments) };
    let mut result = client.call(dry).await.unwrap();
    assert_eq!(result.outcome(), v1::Outcome::Ok, "{result:?}");
    assert_eq!(result.changes.len(), 1, "{result:?}");
    result.changes.remove(0)
}

/// Line, severity, source and rule of each diagnostic.
fn found(change: &v1::FileChange) -> Vec<(u64, &str, &str, &str)> {
    let all = change.diagnostics.iter();
    all.map(|found| {
        (found.line, found.severity.as_str(), found.source.as_str(), found.code.as_str())
    })
    .collect()
}

/// Whether no copy is left.
fn has_no_copy(site: &Site) -> bool {
    let copies = std::fs::read_dir(site.outside("cache/moss/copies")).unwrap();
    copies.flatten().all(|copy| std::fs::read_dir(copy.path()).unwrap().count() == 0)
}

#[tokio::test]
async fn a_dry_run_shows_what_linters_find_new_and_leaves_the_workspace_as_it_is() {
    let site = site(SCRIPT);
    let before = site.snapshot();
    let daemon = site.serve();
    let client = daemon.caller().await;
    let change = proposed(&client, "replace_text", edit()).await;
    assert_eq!(found(&change), [(1, "warning", "todos", "todo")], "{change:?}");
    assert_eq!(change.unchecked, Vec::<String>::new());
    let new = json!({"path": "src/new/b.py", "content": "# TODO three\n"});
    site.write("lint.sh", SCRIPT.replace("src/*.py", "$(find src -name '*.py')"));
    let change = proposed(&client, "create_file", new).await;
    assert_eq!(found(&change), [(1, "warning", "todos", "todo")], "{change:?}");
    let fine = json!({"path": "src/a.py", "oldText": "y = 2", "newText": "y = 3"});
    let change = proposed(&client, "replace_text", fine).await;
    assert_eq!((found(&change), change.unchecked.len()), (Vec::new(), 0), "{change:?}");
    site.write("lint.sh", SCRIPT);
    assert_eq!(site.snapshot(), before);
    assert!(has_no_copy(&site));

    drop(daemon);
    let arguments = edit().to_string();
    let words = ["call", "replace_text", "--args", &arguments, "--dry-run"];
    let ended = site.run(&words);
    let line = "1:1: warning: a thing to do (todos: todo)";
    assert!(ended.stdout.contains("a linter finds something new in src/a.py"), "{ended:?}");
    assert!(ended.stdout.contains(line), "{ended:?}");
    let ended = site.run(&[&words[..], &["--json"]].concat());
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    let diagnostic = &report["changes"][0]["diagnostics"][0];
    assert_eq!((&diagnostic["code"], &diagnostic["line"]), (&json!("todo"), &json!(1)));
}

#[tokio::test]
async fn who_is_asked_sees_what_linters_find() {
    let site = site(SCRIPT);
    let daemon = site.serve();
    let (caller, approver) = (daemon.caller().await, daemon.approver().await);
    let mut events = caller.stream(waiting("replace_text", edit())).await.unwrap();
    let question = events.question().await;
    assert_eq!(found(&question.changes[0]), [(1, "warning", "todos", "todo")], "{question:?}");
    approver.approve(&question).await.unwrap();
    events.end().await.unwrap();
    assert!(site.read("src/a.py").starts_with("# TODO two\nx = 1\n"));
}

#[tokio::test]
async fn a_linter_that_does_not_check_is_said_and_finds_nothing() {
    let site = site(SCRIPT);
    let daemon = site.serve();
    let client = daemon.caller().await;
    for (script, why) in [
        ("echo 'it broke' >&2; exit 3\n", "it broke"),
        ("exec no-such-linter\n", "not installed"),
        (
            "grep -q two src/a.py || { echo gone >&2; exit 3; }\necho 'src/a.py:1:1: error: no [x]'; exit 1\n",
            "which of its 1 findings are new is unknown",
        ),
    ] {
        site.write("lint.sh", script);
        let change = proposed(&client, "replace_text", edit()).await;
        assert_eq!(found(&change), [], "{change:?}");
        let [said] = &change.unchecked[..] else { panic!("{change:?}") };
        assert!(said.starts_with("todos: ") && said.contains(why), "{said}");
    }
    drop(daemon);
    site.config(&CONFIG.replace("[checks]\n", "[checks]\nbefore_edit_ms = 1_500\n"));
    site.write("lint.sh", "sleep 1000\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    let change = proposed(&client, "replace_text", edit()).await;
    assert!(change.unchecked[0].contains("did not end within 1.5 s"), "{change:?}");
    assert!(has_no_copy(&site));
    // A change that does not parse is linted, too: a grammar may be wrong.
    let broken = json!({"path": "src/a.py", "oldText": "x = 1", "newText": "def f(:"});
    let change = proposed(&client, "replace_text", broken).await;
    assert_eq!(change.diagnostics[0].source, "syntax", "{change:?}");
    assert!(change.unchecked[0].contains("did not end within 1.5 s"), "{change:?}");
}

#[tokio::test]
async fn linters_run_only_where_the_configuration_names_them_and_the_policy_lets_them() {
    let site = site("echo 'src/a.py:1:1: error: it ran [x]'; exit 1\n");
    site.user_policy("version = 1\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    let change = proposed(&client, "replace_text", edit()).await;
    assert_eq!(found(&change), []);
    let [said] = &change.unchecked[..] else { panic!("{change:?}") };
    assert!(said.contains("running `sh lint.sh` by lint_check is"), "{said}");
    // Nobody is asked about the linter, only about the edit.
    let refused = client.call(refusing("replace_text", edit())).await.unwrap_err();
    assert!(refused.message().contains("replace_text needs a confirmation"), "{refused:?}");
    drop(daemon);
    site.user_policy(ALLOWING);
    site.config(&CONFIG.replace("[\"todos\"]", "[]"));
    let daemon = site.serve();
    let change = proposed(&daemon.caller().await, "replace_text", edit()).await;
    assert_eq!((found(&change), change.unchecked.len()), (Vec::new(), 0), "{change:?}");
}

#[tokio::test]
async fn a_linter_changes_nothing_but_its_copy_and_sees_no_file_that_the_policy_closes() {
    let site = site("");
    let root = site.workspace().display().to_string();
    site.write("src/secret.py", "hidden = 1\n");
    site.write(
        "lint.sh",
        format!(
            "echo broken > {root}/src/a.py\necho made > {root}/made\necho lost > src/a.py\n\
             cat src/secret.py {root}/src/secret.py\n\
             grep -q hidden src/secret.py {root}/src/secret.py && echo 'src/a.py:1:1: error: it saw [x]'\n\
             ls node_modules/tool && echo 'src/a.py:1:1: error: linked [y]'\nexit 1\n"
        ),
    );
    site.write(".gitignore", "node_modules\n");
    site.write("node_modules/tool", "");
    site.user_policy(&format!("{ALLOWING}[[rule]]\neffects = [\"read\"]\npaths = [\"src/secret.py\"]\ndecision = \"deny\"\n"));
    let before = site.snapshot();
    let daemon = site.serve();
    let new = json!({"path": "src/b.py", "content": "z = 1\n"});
    let script = site.read("lint.sh").replace("src/a.py:", "src/b.py:");
    site.write("lint.sh", script);
    let change = proposed(&daemon.caller().await, "create_file", new).await;
    assert_eq!(found(&change), [(1, "error", "todos", "y")], "{change:?}");
    let mut after = site.snapshot();
    after.retain(|(path, _)| !path.ends_with("lint.sh"));
    let mut expected = before;
    expected.retain(|(path, _)| !path.ends_with("lint.sh"));
    assert_eq!(after, expected);
}
