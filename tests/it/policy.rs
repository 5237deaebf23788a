//! The policy of the real files: layers, protected names, broken files, and what explains it all.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use moss_proto::v1;
use serde_json::{Value, json};
use tonic::Code;

use crate::harness::{Client, Daemon, Site, details, failure, output, reason, refusing, waiting};

/// What becomes of a call that changes a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Allowed,
    Asked,
    Denied,
}

use Fate::{Allowed, Asked, Denied};

pub(crate) async fn fate(client: &Client, tool: &str, arguments: Value) -> Fate {
    match client.call(refusing(tool, arguments)).await {
        Ok(result) => {
            output(&result);
            Allowed
        }
        Err(status) => match (status.code(), reason(&status).as_str()) {
            (Code::FailedPrecondition, "CONFIRMATION_REQUIRED") => Asked,
            (Code::PermissionDenied, "DENIED_BY_POLICY") => Denied,
            _ => panic!("{status:?}"),
        },
    }
}

pub(crate) async fn create(client: &Client, path: &str) -> Fate {
    fate(client, "create_file", json!({"path": path, "content": "x\n"})).await
}

fn rule(decision: &str) -> String {
    format!("version = 1\n[[rule]]\neffects = [\"write\"]\ndecision = \"{decision}\"\n")
}

pub(crate) async fn explained(
    client: &Client,
    tool: &str,
    arguments: Value,
) -> v1::ExplainPolicyResponse {
    let request = v1::ExplainPolicyRequest {
        tool: tool.to_owned(),
        arguments_json: arguments.to_string(),
        ..Default::default()
    };
    client.policy().explain_policy(request).await.unwrap().into_inner()
}

#[tokio::test]
async fn the_strictest_layer_wins() {
    // Admin, user, workspace, and what becomes of a new file.
    for (admin, user, workspace, expected) in [
        (None, None, None, Asked),
        (None, Some("allow"), None, Allowed),
        (None, Some("ask"), None, Asked),
        (None, Some("deny"), None, Denied),
        (None, None, Some("deny"), Denied),
        (None, Some("allow"), Some("ask"), Asked),
        (None, Some("allow"), Some("deny"), Denied),
        (Some("allow"), None, None, Allowed),
        (Some("allow"), Some("ask"), None, Asked),
        (Some("ask"), Some("allow"), None, Asked),
        (Some("deny"), Some("allow"), None, Denied),
        (Some("deny"), Some("allow"), Some("ask"), Denied),
    ] {
        let mut site = Site::new();
        if let Some(decision) = admin {
            site.admin_policy(&rule(decision));
        }
        if let Some(decision) = user {
            site.user_policy(&rule(decision));
        }
        if let Some(decision) = workspace {
            site.workspace_policy(&rule(decision));
        }
        let daemon = site.serve();
        let client = daemon.caller().await;
        let found = create(&client, "a.txt").await;
        assert_eq!(found, expected, "{admin:?} {user:?} {workspace:?}");
        assert_eq!(site.has("a.txt"), expected == Allowed);
        let explained = explained(&client, "create_file", json!({"path": "b.txt", "content": ""}));
        let decision = match expected {
            Allowed => v1::Decision::Allow,
            Asked => v1::Decision::Ask,
            Denied => v1::Decision::Deny,
        };
        assert_eq!(explained.await.decision(), decision, "{admin:?} {user:?} {workspace:?}");
    }
}

#[tokio::test]
async fn rules_match_tools_paths_and_sizes() {
    let site = Site::new();
    site.user_policy(
        r#"version = 1
[[rule]]
effects = ["write"]
paths = ["src/**"]
size_bytes_max = 10
decision = "allow"
[[rule]]
name = "no-migrations"
effects = ["write", "delete"]
paths = ["migrations/**"]
decision = "deny"
reason = "written by hand"
[[rule]]
tools = ["delete_*"]
decision = "deny"
"#,
    );
    site.write("src/real.rs", "x\n");
    symlink("../migrations", site.workspace().join("src/alias")).unwrap();
    site.write("migrations/1.sql", "one\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    assert_eq!(create(&client, "src/a.rs").await, Allowed);
    assert_eq!(create(&client, "lib/a.rs").await, Asked);
    let large = json!({"path": "src/b.rs", "content": "0123456789\n"});
    assert_eq!(fate(&client, "create_file", large).await, Asked);
    for path in ["migrations/2.sql", "Migrations/2.sql", "src/alias/2.sql"] {
        assert_eq!(create(&client, path).await, Denied, "{path}");
    }
    let edit = json!({"path": "src/alias/1.sql", "oldText": "one", "newText": "two"});
    assert_eq!(fate(&client, "replace_text", edit).await, Denied);
    // A rule without paths refuses the call before anything is looked at.
    assert_eq!(fate(&client, "delete_file", json!({"path": "missing"})).await, Denied);
    let status =
        client.call(refusing("create_file", json!({"path": "migrations/3", "content": ""})));
    let status = status.await.unwrap_err();
    assert!(status.message().contains("written by hand"), "{}", status.message());
    let facts = details(&status).error_info().unwrap().metadata.clone();
    assert!(facts["rule"].contains("policy.toml:7") && facts["rule"].contains("no-migrations"));
    assert_eq!(site.read("migrations/1.sql"), "one\n");
}

/// Policy texts that cannot be used, and the line at fault.
fn malformed() -> [(&'static str, u32); 6] {
    [
        ("version = 1\n[[rule]\n", 2),
        ("version = 2\n", 1),
        ("version = 1\n[[rule]]\ndecision = \"alow\"\n", 3),
        ("version = 1\n[[rule]]\ndecision = \"deny\"\npath = [\"a\"]\n", 4),
        ("version = 1\n[[rule]]\ndecision = \"deny\"\npaths = [\"../a\"]\n", 4),
        (
            "version = 1\n[[rule]]\ndecision = \"deny\"\npaths = [\"a/**\"]\nmatch = [{ tool = \"x\", path = \"b\" }]\n",
            5,
        ),
    ]
}

#[tokio::test]
async fn a_malformed_admin_policy_stops_the_daemon() {
    for (text, line) in malformed() {
        let mut site = Site::allowing();
        let file = site.admin_policy(text);
        let ended = site.serve_refused();
        assert_eq!(ended.code, Some(2), "{ended:?}");
        let place = format!("{}:{line}:", file.display());
        assert!(ended.stderr.contains(&place), "{place} is not in {}", ended.stderr);
        assert!(!site.socket().exists());
    }
    let mut site = Site::allowing();
    let missing = site.outside("missing.toml").display().to_string();
    site.argument("--admin-policy").argument(&missing);
    let ended = site.serve_refused();
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.contains(&missing), "{}", ended.stderr);
}

async fn assert_reads_only(site: &Site, daemon: &Daemon, place: &str) {
    let client = daemon.caller().await;
    client.done("read_file", json!({"path": "a.txt"})).await;
    client.done("list_directory", json!({"path": "."})).await;
    for (tool, arguments) in [
        ("create_file", json!({"path": "new.txt", "content": "x\n"})),
        ("replace_text", json!({"path": "a.txt", "oldText": "old", "newText": "new"})),
        ("delete_file", json!({"path": "a.txt"})),
    ] {
        let status = client.call(waiting(tool, arguments)).await.unwrap_err();
        assert_eq!(reason(&status), "DENIED_BY_POLICY", "{tool}");
        assert!(status.message().contains(place), "{place} is not in {}", status.message());
    }
    assert_eq!(site.read("a.txt"), "old\n");
    let problem = client.load().await.workspaces[0].policy_problem.clone();
    assert!(problem.contains(place), "{place} is not in {problem}");
    assert!(daemon.log().contains(place), "{place} is not logged");
}

#[tokio::test]
async fn a_malformed_user_or_workspace_policy_leaves_reads_only() {
    for (text, line) in malformed() {
        let site = Site::new();
        site.write("a.txt", "old\n");
        let file = site.user_policy(text);
        let daemon = site.serve();
        assert_reads_only(&site, &daemon, &format!("{}:{line}", file.display())).await;

        let site = Site::allowing();
        site.write("a.txt", "old\n");
        site.workspace_policy(text);
        let daemon = site.serve();
        assert_reads_only(&site, &daemon, &format!(".moss/policy.toml:{line}")).await;
    }
}

#[tokio::test]
async fn a_workspace_cannot_allow_or_open() {
    for text in [rule("allow"), format!("{}paths = [\".env\"]\nprotected = true\n", rule("ask"))] {
        let site = Site::allowing();
        site.write("a.txt", "old\n");
        site.workspace_policy(&text);
        let daemon = site.serve();
        assert_reads_only(&site, &daemon, ".moss/policy.toml:").await;
    }
}

#[tokio::test]
async fn a_policy_that_others_can_write_is_not_believed() {
    let site = Site::allowing();
    site.write("a.txt", "old\n");
    let file = site.outside("config/moss/policy.toml");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o666)).unwrap();
    let daemon = site.serve();
    assert_reads_only(&site, &daemon, &file.display().to_string()).await;
}

#[tokio::test]
async fn explanations_name_the_rules_and_where_they_stand() {
    let site = Site::new();
    let user = site.user_policy(&format!("# mine\n{}", rule("allow")));
    site.workspace_policy(&format!("{}paths = [\"docs/**\"]\nreason = \"frozen\"\n", rule("deny")));
    site.write("docs/a.md", "x\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    let edit = |path: &str| json!({"path": path, "oldText": "x", "newText": "y"});
    let explained_edit = explained(&client, "replace_text", edit("docs/a.md")).await;
    assert_eq!(explained_edit.decision(), v1::Decision::Deny);
    let step = explained_edit.steps.iter().find(|s| s.effect == "modify docs/a.md").unwrap();
    let deciding = step.deciding.clone().unwrap();
    assert_eq!(
        (deciding.layer.as_str(), deciding.file.as_str(), deciding.line, deciding.reason.as_str()),
        ("workspace", ".moss/policy.toml", 2, "frozen")
    );
    let layers: Vec<_> = step.matching.iter().map(|rule| rule.layer.as_str()).collect();
    assert_eq!(layers, ["user", "workspace"]);
    assert_eq!(
        (step.matching[0].file.as_str(), step.matching[0].line),
        (user.to_str().unwrap(), 3)
    );
    let read = explained(&client, "read_file", json!({"path": "docs/a.md"})).await;
    assert_eq!(read.decision(), v1::Decision::Allow);
    assert!(read.steps.iter().any(|step| step.effect == "read docs/a.md"), "{read:?}");
    let secret = explained(&client, "read_file", json!({"path": ".env"})).await;
    assert_eq!(secret.decision(), v1::Decision::Deny);
    assert!(secret.steps.iter().any(|s| s.deciding.as_ref().unwrap().layer == "protected"));
    for (tool, arguments, why) in [
        ("reed_file", "{}", "TOOL_UNKNOWN"),
        ("read_file", "{}", "ARGUMENTS_INVALID"),
        ("read_file", "[", "ARGUMENTS_INVALID"),
        ("read_file", r#"{"path":"../a"}"#, "ARGUMENTS_INVALID"),
    ] {
        let request = v1::ExplainPolicyRequest {
            tool: tool.to_owned(),
            arguments_json: arguments.to_owned(),
            ..Default::default()
        };
        let status = client.policy().explain_policy(request).await.unwrap_err();
        assert_eq!(reason(&status), why, "{tool} {arguments}");
    }
    // Explaining is not doing.
    assert!(client.numbers().await.is_empty());
}

#[tokio::test]
async fn the_rules_in_effect_are_listed_with_what_is_broken() {
    let mut site = Site::new();
    site.admin_policy(&format!("{}approver = \"person\"\n", rule("ask")));
    site.user_policy(&format!("{}name = \"mine\"\n", rule("allow")));
    site.workspace_policy("version = 1\n[[rule]]\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    let listed = client.policy().list_policy_rules(v1::ListPolicyRulesRequest::default()).await;
    let listed = listed.unwrap().into_inner();
    let rules: Vec<_> = listed
        .rules
        .iter()
        .map(|rule| {
            (rule.layer.as_str(), rule.line, rule.name.as_str(), rule.decision(), &*rule.approver)
        })
        .collect();
    assert_eq!(
        rules,
        [
            ("admin", 2, "", v1::Decision::Ask, "person"),
            ("user", 2, "mine", v1::Decision::Allow, "")
        ]
    );
    let shown = site.run(&["policy", "show"]).stdout;
    assert!(shown.contains("APPROVER") && shown.contains("ask       person "), "{shown}");
    let shown = site.run(&["policy", "explain", "create_file", "path=a", "content=b"]).stdout;
    assert!(shown.contains("approver person"), "{shown}");
    assert_eq!(listed.problems.len(), 1);
    assert!(listed.problems[0].contains(".moss/policy.toml:2"), "{:?}", listed.problems);
}

#[tokio::test]
async fn an_allowed_undo_needs_no_answer_and_a_denied_one_gets_none() {
    let site = Site::new();
    site.user_policy(&rule("allow"));
    let daemon = site.serve();
    let client = daemon.caller().await;
    assert_eq!(create(&client, "a.txt").await, Allowed);
    // The undo of a creation is a deletion, about which no rule speaks.
    let status = client.undo(1).await.unwrap_err();
    assert_eq!(reason(&status), "CONFIRMATION_REQUIRED");
    drop(client);
    daemon.stop();
    site.workspace_policy("version = 1\n[[rule]]\neffects = [\"delete\"]\ndecision = \"deny\"\n");
    let daemon = site.serve();
    let status = daemon.caller().await.undo(1).await.unwrap_err();
    assert_eq!(reason(&status), "DENIED_BY_POLICY");
    assert_eq!(site.read("a.txt"), "x\n");
    let missing = daemon.caller().await.undo(7).await.unwrap();
    assert_eq!(failure(&missing).code, "not_found");
}

#[tokio::test]
async fn an_explanation_knows_sizes_or_says_that_they_matter() {
    let site = Site::new();
    site.user_policy(
        "version = 1\n[[rule]]\nname = \"small\"\neffects = [\"write\"]\nsize_bytes_max = 10\n\
         decision = \"allow\"\n",
    );
    site.write("a.txt", "x\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    let create = async |content: &str| {
        let arguments = json!({"path": "new.txt", "content": content});
        explained(&client, "create_file", arguments).await.decision()
    };
    assert_eq!(create("0123456789").await, v1::Decision::Allow);
    assert_eq!(create("0123456789+").await, v1::Decision::Ask);
    let arguments = json!({"path": "a.txt", "oldText": "x", "newText": "y"});
    let edit = explained(&client, "replace_text", arguments).await;
    assert_eq!(edit.decision(), v1::Decision::Allow);
    let long = json!({"path": "a.txt", "oldText": "x", "newText": "0123456789"});
    let long = explained(&client, "replace_text", long).await;
    assert_eq!(long.decision(), v1::Decision::Ask);
    let by_size = &edit.steps.last().unwrap().by_size;
    let sized: Vec<_> = by_size.iter().map(|s| (s.from_bytes, s.decision())).collect();
    assert_eq!(sized, [(0, v1::Decision::Allow), (11, v1::Decision::Ask)]);
    assert_eq!(by_size[0].deciding.as_ref().unwrap().name, "small");
    let words = ["policy", "explain", "replace_text", "path=a.txt", "oldText=x", "newText=y"];
    let shown = site.run(&words).stdout;
    assert!(shown.contains("depends on the size: 0 to 10 bytes: allow user"), "{shown}");
    assert!(shown.contains("depends on the size: from 11 bytes: ask default"), "{shown}");
}

#[tokio::test]
async fn an_explanation_reports_what_the_level_of_a_match_would_decide() {
    let site = Site::new();
    site.user_policy(
        "version = 1\n[[rule]]\neffects = [\"write\"]\ndecision = \"allow\"\n\
         [[rule]]\nname = \"alike\"\nmatch_levels = [\"block_anchor\", \"context_aware\"]\n\
         decision = \"deny\"\n",
    );
    site.write("a.txt", "x\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    let searched = json!({"path": "a.txt", "oldText": "x", "newText": "y"});
    let edit = explained(&client, "replace_text", searched).await;
    assert_eq!(edit.decision(), v1::Decision::Allow);
    let by_level = &edit.steps.last().unwrap().by_level;
    let levels: Vec<_> = by_level.iter().map(|found| found.match_levels.join(" ")).collect();
    assert_eq!(levels, ["block_anchor context_aware", ""]);
    assert_eq!((by_level[0].decision(), by_level[0].drift), (v1::Decision::Deny, false));
    assert_eq!((by_level[1].decision(), by_level[1].drift), (v1::Decision::Ask, true));
    assert_eq!(by_level[1].deciding.as_ref().unwrap().layer, "drift");
    let numbered = json!({"path": "a.txt", "startLine": 1, "endLine": 1, "newText": "y"});
    let numbered = explained(&client, "replace_lines", numbered).await;
    assert!(numbered.steps.iter().all(|step| step.by_level.is_empty()), "{numbered:?}");
    let words = ["policy", "explain", "replace_text", "path=a.txt", "oldText=x", "newText=y"];
    let shown = site.run(&words).stdout;
    assert!(shown.contains("is found: block_anchor, context_aware: deny user"), "{shown}");
    assert!(
        shown.contains("where lines differ from what the edit expects: ask drift: "),
        "{shown}"
    );
}
