//! What an explanation says of a call, held against the call itself: tools of moss and of plugins, names of files and
//! policies.

use std::os::unix::fs::symlink;

use moss_proto::v1;
use serde_json::{Value, json};

use crate::calls::TOOLS;
use crate::harness::guests::{PathEdit, install, install_compiled, with_path};
use crate::harness::{Client, Site, plugin, reason, refusing};
use crate::plugins::settled;
use crate::policy::explained;

/// What is in every file.
const TEXT: &str = "old line\n";
/// Files that are there. Of the last two another name than its real one is asked for.
const FILES: &[&str] = &[
    "open/a.txt",
    "asked/a.txt",
    "hidden/a.txt",
    "fixed/a.txt",
    "code/.vscode/tasks.json",
    "secret/.env",
    LINK,
    SETTINGS,
];
/// A link to the first file, to which nothing may be written under its own name.
const LINK: &str = "link.txt";
/// A link to a protected file, which rules may open under that name alone.
const SETTINGS: &str = "settings";
/// Files that are not there.
const MISSING: &[&str] = &[
    "open/new.txt",
    "asked/new.txt",
    "hidden/new.txt",
    "fixed/new.txt",
    "new/.vscode/tasks.json",
    "new/.env",
];
/// What all policies have.
const RULES: &str = "version = 1
[[rule]]
effects = [\"read\"]
paths = [\"asked/**\"]
decision = \"ask\"
[[rule]]
effects = [\"read\"]
paths = [\"hidden/**\"]
decision = \"deny\"
[[rule]]
effects = [\"write\", \"delete\"]
paths = [\"fixed/**\", \"link.txt\"]
decision = \"deny\"
";
/// What one of them has beside that.
const POLICIES: &[&str] = &[
    "",
    "[[rule]]\neffects = [\"write\", \"delete\"]\ndecision = \"allow\"\n",
    "[[rule]]\neffects = [\"read\"]\ndecision = \"ask\"\n",
    "[[rule]]\ndecision = \"ask\"\n",
    "[[rule]]\ndecision = \"deny\"\n",
    "[[rule]]\neffects = [\"read\", \"write\"]\npaths = [\"secret/.env\"]\nprotected = true\ndecision = \"allow\"\n",
    "[[rule]]\nplugins = [\"*\"]\ndecision = \"deny\"\n",
    "[[rule]]\ndecision = \"allow\"\n[[rule]]\nplugins = [\"*\"]\neffects = [\"create\"]\ndecision = \"ask\"\n",
];
/// Plugins, each with a tool of its name: one only reads, one makes a file, one writes to a file that is there.
const READER: &str = "reader";
const MAKER: &str = "making";
const WRITER: &str = "writer";
/// Tools that skip files which they may not read, and end all the same.
const SKIPPING: &[&str] = &["grep_search", "find_code_location"];
/// Tools of moss of which no call is made here: what they do does not follow from their arguments, they ask a person by
/// themselves, or nothing is there that they could run.
const LEFT_OUT: &[&str] = &[
    "codebase_search",
    "diff_history",
    "get_cursor_context",
    "reapply",
    "lint_check",
    "run_tests",
    "clarify",
    "terminal_job",
    "moss_register_plugin_tool",
];

/// Tools that look at a directory: that of the file.
const OF_DIRECTORIES: &[&str] =
    &["list_directory", "get_project_structure", "file_search", "run_terminal_cmd"];

/// The arguments by which a tool looks at a file that is there, or changes it: of tools of moss those by which their
/// paths are tested.
fn of_file(tool: &str, path: &str) -> Option<Value> {
    let directory = path.rsplit_once('/').map_or(".", |(directory, _)| directory);
    Some(match tool {
        READER | WRITER => json!({"path": path}),
        // These two name no file.
        "todo" => json!({"items": [{"id": "1", "content": "look"}]}),
        "moss_update_asi_user_prompt" => json!({"content": "Use tabs.", "mode": "append"}),
        _ => {
            let named = if OF_DIRECTORIES.contains(&tool) { directory } else { path };
            crate::paths::path_calls(named).into_iter().find(|(called, _)| *called == tool)?.1
        }
    })
}

/// What becomes of a call, as an explanation says it; none where it ends without a look at the file that it names.
async fn met(client: &Client, tool: &str, arguments: &Value) -> Option<v1::Decision> {
    match client.call(refusing(tool, arguments.clone())).await {
        Ok(result) => {
            assert_eq!(result.outcome(), v1::Outcome::Ok, "{tool} {arguments}: {:?}", result.error);
            let is_seen =
                !SKIPPING.contains(&tool) || result.output_json.contains(crate::paths::SOUGHT);
            is_seen.then_some(v1::Decision::Allow)
        }
        Err(status) => Some(match reason(&status).as_str() {
            "CONFIRMATION_REQUIRED" => v1::Decision::Ask,
            "DENIED_BY_POLICY" => v1::Decision::Deny,
            _ => panic!("{tool} {arguments}: {status:?}"),
        }),
    }
}

fn set_up(site: &Site) {
    for path in FILES.iter().filter(|path| ![LINK, SETTINGS].contains(*path)) {
        if !site.has(path) || site.read(path) != TEXT {
            site.write(path, TEXT);
        }
    }
    for path in MISSING {
        let _ = std::fs::remove_file(site.workspace().join(path));
    }
}

#[tokio::test]
async fn an_explanation_says_what_becomes_of_the_call() {
    let site = Site::new();
    install(
        &site,
        &[
            (READER, &with_path(READER, None), json!({})),
            (MAKER, &with_path(MAKER, Some(PathEdit::Create)), json!({})),
            (WRITER, &with_path(WRITER, Some(PathEdit::Write)), json!({})),
        ],
    );
    set_up(&site);
    symlink("open/a.txt", site.workspace().join(LINK)).unwrap();
    symlink("secret/.env", site.workspace().join(SETTINGS)).unwrap();
    let tools = || TOOLS.iter().copied().filter(|tool| !LEFT_OUT.contains(tool));
    let is_meant = |(tool, path): &(&str, &&str)| match *tool {
        // What a plugin makes of a file that readers may not see is explained as if nothing were there.
        WRITER => !path.starts_with("hidden/"),
        // Neither goes through a link.
        "delete_file" | "find_code_location" => ![LINK, SETTINGS].contains(*path),
        _ => true,
    };
    let pairs =
        tools().chain([READER, WRITER]).flat_map(|tool| FILES.iter().map(move |p| (tool, p)));
    let there = pairs.filter(is_meant).map(|(tool, path)| {
        (tool, of_file(tool, path).unwrap_or_else(|| panic!("no call of {tool}")))
    });
    let missing = ["create_file", MAKER].into_iter().flat_map(|tool| {
        MISSING.iter().map(move |path| match tool {
            MAKER => (tool, json!({"path": path})),
            _ => (tool, json!({"path": path, "content": "new\n"})),
        })
    });
    let calls: Vec<(&str, Value)> = there.chain(missing).collect();
    let mut wrong = Vec::new();
    for policy in POLICIES {
        site.user_policy(&format!("{RULES}{policy}"));
        let daemon = site.serve();
        let client = daemon.caller().await;
        settled(&client).await;
        for (tool, arguments) in &calls {
            set_up(&site);
            // Nobody is asked here: the call ends at the first effect that is not allowed.
            let explained = explained(&client, tool, arguments.clone()).await;
            let mut each = explained.steps.iter().map(v1::PolicyStep::decision);
            let said = each.find(|said| *said != v1::Decision::Allow);
            let said = said.unwrap_or(v1::Decision::Allow);
            let met = met(&client, tool, arguments).await;
            let is_true = met.map_or(said != v1::Decision::Allow, |met| met == said);
            if !is_true {
                wrong.push(format!("{policy:?}: {tool} {arguments}: said {said:?}, met {met:?}"));
            }
        }
        daemon.stop();
    }
    assert!(wrong.is_empty(), "{} of them:\n{}", wrong.len(), wrong.join("\n"));
}

#[tokio::test]
async fn a_plugin_is_said_to_read_what_it_may_read_by_its_grant() {
    let site = Site::new();
    for path in ["open/a.txt", "open/a.pem", "open/left/a.txt", "beside/a.txt"] {
        site.write(path, TEXT);
    }
    symlink("../beside/a.txt", site.workspace().join("open/link.txt")).unwrap();
    let files =
        json!([{ "path": "open", "access": "read", "except": ["**/*.pem", "open/left/**"] }]);
    let word_count = std::fs::read(plugin("word_count")).unwrap();
    install_compiled(&site, &[("word-count", &word_count, json!({ "grant": { "fs": files } }))]);
    let daemon = site.serve();
    let client = daemon.caller().await;
    settled(&client).await;
    for (path, is_read) in [
        ("open/a.txt", true),
        ("open/a.pem", false),
        ("open/left/a.txt", false),
        ("open/link.txt", false),
        ("beside/a.txt", false),
    ] {
        let arguments = json!({ "path": path });
        let result = client.ran("word_count", arguments.clone()).await;
        let has_read = result.error.is_none() && result.output_json.contains("\"words\":2");
        assert_eq!(has_read, is_read, "{path}: {result:?}");
        // The call itself, and reading the file.
        let explained = explained(&client, "word_count", arguments).await;
        let effects = 1 + usize::from(is_read);
        assert_eq!(explained.steps.len(), effects, "{path}: {:?}", explained.steps);
    }
    daemon.stop();
}
