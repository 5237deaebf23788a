//! Tests of what rules grant commands.

use moss_sdk::{Effect, RelPath};

use super::*;
use crate::{Action, CommandPart, Policy, PolicyFile, Sources, Subject, command_grants};

fn policy(admin: &str, user: &str, workspace: &str) -> Policy {
    let file = |name: &str, rules: &str| {
        let text = (!rules.is_empty()).then(|| format!("version = 1\n{rules}"));
        PolicyFile { file: name.to_owned(), text: Ok(text) }
    };
    Policy::load(Sources {
        admin: vec![file("admin", admin)],
        user: Some(file("user", user)),
        workspace: Some(file("workspace", workspace)),
    })
    .unwrap()
}

/// What is wrong with a rule of a user or of a workspace.
fn problems(user: &str, workspace: &str) -> String {
    let policy = policy("", user, workspace);
    policy.problems().map(|problem| problem.one_line()).collect()
}

/// What the first part of a text is granted.
fn granted(policy: &Policy, text: &str) -> CommandGrants {
    let command = moss_commands::read(text).unwrap().commands.swap_remove(0);
    let part = CommandPart::new(command, true);
    let root = RelPath::root();
    let subject = Subject {
        action: Action::Exec,
        tool: "run_terminal_cmd",
        tool_effect: Effect::Exec,
        plugin: None,
        caller: "caller",
        path: Some(&root),
        protection: None,
        size_bytes: None,
        match_level: None,
        drift: false,
        command: Some(&part),
        answers: &[],
    };
    command_grants(policy, &subject)
}

fn names(all: &BTreeSet<String>) -> String {
    all.iter().map(String::as_str).collect::<Vec<_>>().join(" ")
}

fn rule(argv: &str, keys: &str) -> String {
    format!("[[rule]]\nargv = [\"{argv}\"]\ndecision = \"ask\"\n{keys}\n")
}

#[test]
fn a_command_is_granted_what_a_rule_says_and_none_takes_away() {
    let open = rule(
        "npm",
        "profile = \"danger-full\"\nenvironment = [\"NPM_TOKEN\"]\nsockets = [\"SSH_AUTH_SOCK\"]",
    );
    let closed = rule("npm", "profile = \"workspace-write\"\nenvironment = []\nsockets = []");
    let more = rule("npm", "environment = [\"OTHER\"]\nsockets = [\"/run/a\", \"~/b\"]");
    for (admin, user, workspace, text, expected) in [
        ("", &*open, "", "npm publish", (true, "NPM_TOKEN", "SSH_AUTH_SOCK")),
        (&open, "", "", "npm publish", (true, "NPM_TOKEN", "SSH_AUTH_SOCK")),
        ("", &open, "", "npm \"$x\"", (true, "NPM_TOKEN", "SSH_AUTH_SOCK")),
        (&more, &open, "", "npm publish", (true, "NPM_TOKEN OTHER", "/run/a SSH_AUTH_SOCK ~/b")),
        ("", &open, "", "npx publish", (false, "", "")),
        ("", &open, "", "$npm publish", (false, "", "")),
        ("", &open, "", "NODE_OPTIONS=-rx npm publish", (false, "", "")),
        (&closed, &open, "", "npm publish", (false, "", "")),
        (&open, &closed, "", "npm publish", (false, "", "")),
        ("", &open, &closed, "npm publish", (false, "", "")),
    ] {
        let found = granted(&policy(admin, user, workspace), text);
        let found = (found.danger_full, names(&found.environment), names(&found.sockets));
        let (danger_full, environment, sockets) = expected;
        let expected = (danger_full, environment.to_owned(), sockets.to_owned());
        assert_eq!(found, expected, "{text}: {admin} {user} {workspace}");
    }
}

#[test]
fn what_a_shell_expands_beside_a_command_is_a_part_that_no_rule_names() {
    let policy = policy("", &rule("make", "environment = [\"TOKEN\"]"), "");
    for text in [
        "case \"${x?$TOKEN}\" in a) make pub;; esac",
        "case a in \"${x?$TOKEN}\") make pub;; esac",
        "case $TOKEN in s*) make pub;; esac",
    ] {
        let parts = moss_commands::read(text).unwrap().commands;
        assert_eq!(parts.len(), 2, "{text}");
        assert_eq!(names(&granted(&policy, text).environment), "TOKEN", "{text}");
        let last = parts.last().unwrap();
        assert!(last.words[0].fixed() == Some(":") && last.words.len() > 2, "{text}: {last:?}");
    }
}

#[test]
fn what_takes_away_needs_no_certainty() {
    let open = rule("npm", "environment = [\"NPM_TOKEN\"]");
    let closed = "[[rule]]\nargv = [\"npm\", \"publish\"]\ndecision = \"ask\"\nenvironment = []\n";
    let policy = policy("", &open, closed);
    assert_eq!(names(&granted(&policy, "npm ci").environment), "NPM_TOKEN");
    assert_eq!(names(&granted(&policy, "npm $x").environment), "");
}

#[test]
fn a_workspace_grants_nothing() {
    for (keys, expected) in [
        ("profile = \"danger-full\"", "cannot let commands out of the sandbox"),
        ("environment = [\"NPM_TOKEN\"]", "cannot give commands variables"),
        ("sockets = [\"SSH_AUTH_SOCK\"]", "cannot let commands connect to sockets"),
        ("network = true", "cannot let commands reach the network"),
    ] {
        let found = problems("", &rule("npm", keys));
        assert!(found.contains(expected), "{keys}: {found}");
        assert_eq!(problems(&rule("npm", keys), ""), "", "{keys}");
    }
    for keys in ["profile = \"workspace-write\"", "environment = []", "sockets = []"] {
        assert_eq!(problems("", &rule("npm", keys)), "", "{keys}");
    }
    assert!(problems("", "caches = [\"~/.cache/x\"]").contains("cannot name caches"));
}

#[test]
fn grants_need_words_and_a_command_that_may_run() {
    for keys in [
        "network = true",
        "profile = \"danger-full\"",
        "environment = [\"NPM_TOKEN\"]",
        "sockets = [\"/run/a\"]",
    ] {
        let bare = format!("[[rule]]\ndecision = \"ask\"\n{keys}\n");
        assert!(problems(&bare, "").contains("is about commands"), "{keys}");
        let denied = rule("npm", keys).replace("\"ask\"", "\"deny\"");
        assert!(problems(&denied, "").contains("that is denied reaches nothing"), "{keys}");
    }
    let found = problems(&rule("npm", "profile = \"read-only\""), "");
    assert!(found.contains("`workspace-write` or `danger-full`"), "{found}");
}

#[test]
fn variables_that_choose_what_runs_are_refused() {
    for name in [
        "LD_PRELOAD",
        "BASH_ENV",
        "ENV",
        "PATH",
        "IFS",
        "NODE_OPTIONS",
        "PYTHONPATH",
        "GIT_SSH_COMMAND",
        "GIT_EXTERNAL_DIFF",
        "GIT_CONFIG_COUNT",
        "SSH_ASKPASS",
        "HOME",
        "MAKEFILES",
        "_JAVA_OPTIONS",
        "LUA_PATH_5_4",
        "XDG_CONFIG_HOME",
        "MOSS_TOKEN",
        "SSH_AUTH_SOCK",
        "API_*",
        "A=B",
        "",
        "1A",
        "A B",
    ] {
        let found = problems(&rule("npm", &format!("environment = [\"{name}\"]")), "");
        assert!(
            found.contains(&format!("`{name}`")) || name.is_empty() && !found.is_empty(),
            "{name}: {found}"
        );
    }
    for name in
        ["NPM_TOKEN", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "HTTPS_PROXY", "no_proxy", "_X1"]
    {
        assert_eq!(
            problems(&rule("npm", &format!("environment = [\"{name}\"]")), ""),
            "",
            "{name}"
        );
    }
}

#[test]
fn sockets_are_paths_or_variables_that_hold_one() {
    for text in [
        "LD_PRELOAD",
        "DOCKER_HOST",
        "run/a",
        "/run/../a",
        "~",
        "~/",
        "~/../a",
        "/",
        "~root/a",
        "/run//a",
    ] {
        let found = problems(&rule("git", &format!("sockets = [\"{text}\"]")), "");
        assert!(found.contains("is no socket"), "{text}: {found}");
    }
    for text in ["SSH_AUTH_SOCK", "/run/user/1000/gnupg/S.gpg-agent", "~/.agent.sock"] {
        assert_eq!(problems(&rule("git", &format!("sockets = [\"{text}\"]")), ""), "", "{text}");
    }
}

#[test]
fn caches_of_the_admin_and_the_user_are_named_together() {
    let policy = policy("caches = [\"/var/cache/x/\"]", "caches = [\"~/.cache/y\"]", "");
    assert_eq!(policy.caches().collect::<Vec<_>>(), ["/var/cache/x/", "~/.cache/y"]);
    for text in ["~", "~/", "/", "x", "~/../x", "~/.cache/./x", "~user/x"] {
        let found = problems(&format!("caches = [\"{text}\"]"), "");
        assert!(found.contains("is no directory for a cache"), "{text}: {found}");
    }
}
