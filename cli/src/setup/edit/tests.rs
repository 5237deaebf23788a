//! Every client's format, with comments and other servers: in, again, and out.

use super::super::clients::{self, CLIENTS, ServerCommand};
use super::*;

/// A file of each client as people have it.
const FILES: &[(&str, &str)] = &[
    (
        "claude-code",
        "{\n  \"numStartups\": 12,\n  \"mcpServers\": {\n    \"github\": {\n      \"type\": \"stdio\",\n      \
         \"command\": \"npx\",\n      \"args\": [\"-y\", \"x\"]\n    }\n  },\n  \"projects\": { \"/a\": {} }\n}\n",
    ),
    (
        "codex",
        "# Mine.\nmodel = \"o9\" # the best\n\n[mcp_servers.docs]\ncommand = \"npx\" # node\nargs = [\n  \
         \"-y\", # yes\n]\n\n# Where I work.\n[projects.\"/a b\"]\ntrust_level = \"trusted\"\n",
    ),
    (
        "vscode",
        "{\n\t// Servers of mine\n\t\"servers\": {\n\t\t\"docs\": { \"type\": \"http\", \"url\": \
         \"https://x.example\" }, // remote\n\t},\n\t\"inputs\": [],\n}\n",
    ),
    ("cursor", "{\"mcpServers\":{\"a\":{\"command\":\"a\"}}}"),
    (
        "zed",
        "// Zed settings\n//\n{\n  \"theme\": \"One\", /* dark */\n  \"context_servers\": {\n    // none yet\n  \
         },\n}\n",
    ),
    ("gemini", "{\n  // look\n  \"ui\": { \"theme\": \"Dark\" }\n}\n"),
    ("qwen", "{\n    \"mcpServers\": {}\n}"),
    (
        "cline",
        "{\n  \"mcpServers\": {\n    \"a\": { \"command\": \"a\", \"disabled\": true }\n  }\n}\n",
    ),
    ("jetbrains", "{ \"mcpServers\": { } }\n"),
    (
        "continue",
        "name: Local Config\nversion: 1.0.0\nschema: v1\nmodels: # mine\n  - name: GPT\n    provider: openai\n\
         # servers\nmcpServers:\n  # docs first\n  - name: docs\n    command: npx\n    args:\n      - \"-y\"\n\
         rules:\n  - Be brief\n",
    ),
    (
        "opencode",
        "{\n  \"$schema\": \"https://schema.example/config.json\",\n  // tools\n  \"mcp\": {\n    \"a\": { \"type\": \
         \"local\", \"command\": [\"a\"] },\n  },\n}\n",
    ),
    (
        "goose",
        "GOOSE_MODEL: x # the model\nextensions:\n  # built in\n  developer:\n    bundled: true\n    \
         enabled: true\n    type: builtin\n\n  memory:\n    enabled: false\nGOOSE_MODE: auto\n",
    ),
];

fn server(args: &[&str]) -> ServerCommand {
    let args = args.iter().map(|arg| (*arg).to_owned()).collect();
    let environment = [("XDG_STATE_HOME".to_owned(), "/my \"state\"".to_owned())].into();
    ServerCommand { command: "/opt/a b/\"moss\"".to_owned(), args, environment }
}

#[test]
fn every_client_has_a_file_here() {
    let here: Vec<_> = FILES.iter().map(|(id, _)| *id).collect();
    let all: Vec<_> = CLIENTS.iter().map(|client| client.id).collect();
    assert_eq!(here, all);
}

#[test]
fn an_entry_comes_into_each_file_and_every_line_stays() {
    for (id, text) in FILES {
        let client = clients::find(id).unwrap();
        let new = client.entry(&server(&["mcp"]));
        let edited = with_entry(client, Some(text), &new).unwrap_or_else(|e| panic!("{id}: {e}"));
        assert_eq!(entry(client, &edited).unwrap(), Some(new), "{id}: {edited}");
        // Every comment and every word is there, in its order; only commas and brackets move.
        let words = |text: &str| -> Vec<String> {
            let of_line = |line: &str| {
                let kept = |c: &char| !c.is_whitespace() && !",{}".contains(*c);
                line.chars().filter(kept).collect::<String>()
            };
            text.lines().map(of_line).filter(|line| !line.is_empty()).collect()
        };
        if text.lines().count() > 1 {
            let mut after = words(&edited).into_iter();
            for line in words(text) {
                assert!(after.any(|other| other == line), "{id}: {line} is gone from\n{edited}");
            }
        }
    }
}

#[test]
fn an_entry_is_replaced_and_removed_again() {
    for (id, text) in FILES {
        let client = clients::find(id).unwrap();
        let once = with_entry(client, Some(text), &client.entry(&server(&["mcp"]))).unwrap();
        let new = client.entry(&server(&["mcp", "--set", "all"]));
        let twice = with_entry(client, Some(&once), &new).unwrap_or_else(|e| panic!("{id}: {e}"));
        assert_eq!(entry(client, &twice).unwrap(), Some(new), "{id}: {twice}");
        let removed = without_entry(client, &twice).unwrap_or_else(|e| panic!("{id}: {e}"));
        assert_eq!(entry(client, &removed).unwrap(), None, "{id}: {removed}");
        assert_eq!(entry(client, text).unwrap(), None);
        for line in text.lines().filter(|line| line.contains("//") || line.contains('#')) {
            assert!(
                removed.contains(line.trim_end_matches(',')),
                "{id}: {line} is gone from {removed}"
            );
        }
    }
}

#[test]
fn a_file_that_is_not_there_is_made() {
    for client in CLIENTS {
        let new = client.entry(&server(&["mcp"]));
        for none in [None, Some(""), Some("\n")] {
            let made =
                with_entry(client, none, &new).unwrap_or_else(|e| panic!("{}: {e}", client.id));
            assert_eq!(entry(client, &made).unwrap(), Some(new.clone()), "{}: {made}", client.id);
            assert!(made.starts_with(client.preamble), "{made}");
        }
    }
}

#[test]
fn what_cannot_be_edited_is_left_to_the_person() {
    for (id, text, why) in [
        ("cursor", "{", "not JSON"),
        ("cursor", "[]", "not an object"),
        ("cursor", "{\"mcpServers\": []}", "not an object"),
        ("codex", "a = ", "not TOML"),
        ("codex", "mcp_servers = { docs = { command = \"x\" } }\n", "by hand"),
        ("goose", "extensions: { developer: { enabled: true } }\n", "by hand"),
        ("goose", "a: 1\n---\nextensions:\n  a: 1\n", "by hand"),
        ("goose", "extensions:\n\tdeveloper: 1\n", "by hand"),
        ("continue", "mcpServers: [{ name: docs }]\n", "by hand"),
    ] {
        let client = clients::find(id).unwrap();
        let error = with_entry(client, Some(text), &client.entry(&server(&["mcp"]))).unwrap_err();
        assert!(error.to_string().contains(why), "{id}: {text}: {error}");
    }
}

#[test]
fn empty_values_make_room() {
    for (id, text, expected) in [
        ("goose", "extensions: {}\nx: 1\n", "extensions:\n  moss:\n"),
        ("goose", "extensions: # none\n", "extensions: # none\n  moss:\n"),
        ("continue", "mcpServers: []\n", "mcpServers:\n  - name: moss\n"),
        ("continue", "mcpServers:\n- name: a\n", "mcpServers:\n- name: moss\n"),
    ] {
        let client = clients::find(id).unwrap();
        let edited = with_entry(client, Some(text), &client.entry(&server(&["mcp"]))).unwrap();
        assert!(edited.starts_with(expected), "{edited}");
    }
}
