//! Every client's format, with comments and other servers: in, again, and out.

mod files;

use self::files::FILES;
use super::*;
use crate::clients::{self, CLIENTS, ServerCommand};

fn server(args: &[&str]) -> ServerCommand {
    let args = args.iter().map(|arg| (*arg).to_owned()).collect();
    let environment = [("XDG_STATE_HOME".to_owned(), "/my \"state\"".to_owned())].into();
    ServerCommand { command: "/opt/a b/\"moss\"".to_owned(), args, environment }
}

#[test]
fn every_client_has_a_file_here() {
    let here: Vec<_> = FILES.iter().map(|(id, ..)| *id).collect();
    let all: Vec<_> = CLIENTS.iter().map(|client| client.id).collect();
    assert_eq!(here, all);
}

#[test]
fn an_entry_comes_into_each_file_and_every_line_stays() {
    for (id, _, text) in FILES {
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
    for (id, _, text) in FILES {
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
        ("goose", "extensions:\n\tdeveloper: 1\n", "not YAML"),
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

/// An entry that somebody has changed, and what has to stay of it.
const CHANGED: &[(&str, &str, &[&str])] = &[
    (
        "claude-code",
        "{\n  \"mcpServers\": {\n    \"moss\": {\n      // mine\n      \"type\": \"stdio\",\n      \"command\": \"/old\",\n      \
         \"args\": [\"mcp\"],\n      \"env\": { \"A\": \"1\", \"XDG_STATE_HOME\": \"/old\" }, // kept\n      \"timeout\": 9\n    }\n  }\n}\n",
        &["// mine", "\"A\": \"1\"", "// kept", "\"timeout\": 9"],
    ),
    (
        "codex",
        "[mcp_servers.moss] # mine\ncommand = \"/old#\"  # the \"newest\" # one\nargs = [\n  \"mcp\", # all\n] # small\n# slow disk\nstartup_timeout_sec = 20\n\n\
         [mcp_servers.moss.env]\nA = \"1\" # kept\n\n[mcp_servers.moss.tools.patch]\napproval_mode = \"approve\"\n\n[other]\nx = 1\n",
        &[
            "[mcp_servers.moss] # mine",
            "  # the \"newest\" # one\n",
            "] # small\n",
            "# slow disk\nstartup_timeout_sec = 20",
            "A = \"1\" # kept",
            "[mcp_servers.moss.tools.patch]\napproval_mode = \"approve\"",
            "[other]\nx = 1",
        ],
    ),
    (
        "codex",
        "[mcp_servers.moss]\ncommand = \"/old\"\nenv = { A = \"1\" }\nenabled = false\n",
        &["A = \"1\"", "enabled = false"],
    ),
    (
        "zed",
        "{ \"context_servers\": { \"moss\": { \"source\": \"custom\", \"enabled\": false, \"command\": \"/old\", \"args\": [] } } }\n",
        &["\"enabled\": false"],
    ),
    (
        "cline",
        "{ \"mcpServers\": { \"moss\": { \"command\": \"/old\", \"disabled\": true, \"autoApprove\": [\"read_file\"] } } }\n",
        &["\"disabled\": true", "\"autoApprove\": [\"read_file\"]"],
    ),
    (
        "copilot",
        "{ \"mcpServers\": { \"moss\": { \"type\": \"local\", \"command\": \"/old\", \"args\": [], \"tools\": [\"read_file\"] } } }\n",
        &["\"tools\": [\"read_file\"]"],
    ),
    (
        "opencode",
        "{\n  \"mcp\": {\n    \"moss\": { \"type\": \"local\", \"command\": [\"/old\"], \"enabled\": false, \"timeout\": 7 }\n  }\n}\n",
        &["\"enabled\": false", "\"timeout\": 7"],
    ),
    (
        "opencode",
        "{ \"mcp\": { \"servers\": { \"moss\": { \"type\": \"local\", \"command\": [\"/old\"], \"disabled\": true } } } }\n",
        &["\"servers\"", "\"disabled\": true"],
    ),
    (
        "continue",
        "mcpServers:\n  - name: moss # mine\n    command: /old\n    args:\n      - mcp\n      - --set\n    # kept\n    env:\n      A: one\n    \
         connectionTimeout: 9 # s\n  - name: b\n    command: c\n",
        &["- name: moss # mine", "# kept", "A", "connectionTimeout: 9 # s", "  - name: b\n"],
    ),
    (
        "goose",
        "extensions:\n  moss:\n    # mine\n    name: moss\n    type: stdio\n    cmd: '/old'\n    args: [mcp]\n    enabled: false\n    timeout: 60\n    \
         envs:\n      A: one\n    available_tools:\n    - read_file\n    - patch\n  memory:\n    enabled: true\n",
        &[
            "# mine",
            "enabled: false",
            "timeout: 60",
            "available_tools:\n    - read_file\n    - patch\n",
            "  memory:\n    enabled: true\n",
        ],
    ),
];

#[test]
fn what_somebody_changed_in_the_entry_stays() {
    let now = server(&["mcp", "--set", "all"]);
    for (id, text, kept) in CHANGED {
        let client = clients::find(id).unwrap();
        let old = entry(client, text).unwrap().unwrap_or_else(|| panic!("{id}: {text}"));
        let new = client.updated(&old, &now, &["XDG_STATE_HOME", "XDG_CACHE_HOME"]);
        let edited = with_entry(client, Some(text), &new).unwrap_or_else(|e| panic!("{id}: {e}"));
        assert_eq!(entry(client, &edited).unwrap().as_ref(), Some(&new), "{id}: {edited}");
        let started = client.command(&new).unwrap();
        assert_eq!((&started.command, &started.args), (&now.command, &now.args), "{id}: {edited}");
        assert_eq!(started.environment["XDG_STATE_HOME"], "/my \"state\"", "{id}: {edited}");
        for part in *kept {
            assert!(edited.contains(part), "{id}: {part} is gone from\n{edited}");
        }
        // A second time changes nothing.
        assert_eq!(client.updated(&new, &now, &["XDG_STATE_HOME"]), new, "{id}");
        assert_eq!(&with_entry(client, Some(&edited), &new).unwrap(), &edited, "{id}");
        let removed = without_entry(client, &edited).unwrap_or_else(|e| panic!("{id}: {e}"));
        assert_eq!(entry(client, &removed).unwrap(), None, "{id}: {removed}");
    }
}

#[test]
fn an_entry_that_starts_nothing_is_replaced() {
    let text = "{ \"mcpServers\": { \"moss\": { \"url\": \"https://x.example\" } } }\n";
    let (client, now) = (clients::find("cursor").unwrap(), server(&["mcp"]));
    let old = entry(client, text).unwrap().unwrap();
    let new = client.updated(&old, &now, &[]);
    assert_eq!(new, client.entry(&now));
    assert!(!with_entry(client, Some(text), &new).unwrap().contains("url"));
}

#[test]
fn lines_that_end_as_on_windows_all_do_so_afterwards() {
    for (id, _, text) in FILES {
        let client = clients::find(id).unwrap();
        let text = text.replace('\n', "\r\n");
        let new = client.entry(&server(&["mcp"]));
        let edited = with_entry(client, Some(&text), &new).unwrap_or_else(|e| panic!("{id}: {e}"));
        assert_eq!(entry(client, &edited).unwrap(), Some(new), "{id}: {edited}");
        if text.contains('\n') {
            assert_eq!(edited.replace("\r\n", "").matches('\n').count(), 0, "{id}: {edited:?}");
        }
        let removed = without_entry(client, &edited).unwrap_or_else(|e| panic!("{id}: {e}"));
        assert_eq!(entry(client, &removed).unwrap(), None, "{id}: {removed}");
    }
}

#[test]
fn servers_of_opencode_stay_where_they_are() {
    let client = clients::find("opencode").unwrap();
    for (text, is_nested) in [
        ("{}", false),
        ("{ \"mcp\": {} }", false),
        // The first version takes nothing but servers there.
        ("{ \"mcp\": { \"timeout\": { \"startup\": 5 } } }", true),
        ("{ \"mcp\": { \"servers\": {} } }", true),
        ("{ \"mcp\": { \"servers\": { \"type\": { \"type\": \"local\" } } } }", true),
        ("{ \"mcp\": { \"a\": { \"type\": \"remote\", \"url\": \"https://x.example\" } } }", false),
        ("{ \"mcp\": { \"servers\": { \"enabled\": false } } }", false),
        (
            "{ \"mcp\": { \"servers\": { \"a\": { \"type\": \"local\" } }, \"b\": { \"enabled\": true } } }",
            true,
        ),
    ] {
        let new = new_entry(client, Some(text), &server(&["mcp"]));
        assert_eq!(new.get("enabled").is_some(), !is_nested, "{text}");
        let edited = with_entry(client, Some(text), &new).unwrap();
        let all = json::value(&edited).unwrap().unwrap();
        assert_eq!(all["mcp"]["servers"].get(NAME).is_some(), is_nested, "{edited}");
        assert_eq!(all["mcp"].get(NAME).is_some(), !is_nested, "{edited}");
        let removed = without_entry(client, &edited).unwrap();
        let left = without_empty_keys(client, &removed, text).unwrap();
        assert_eq!(json::value(&left).unwrap(), json::value(text).unwrap(), "{left}");
    }
}

/// YAML that moss leaves alone, and a part of the reason.
const LEFT_ALONE: &[(&str, &str, &str)] = &[
    // The file as a whole.
    ("goose", "{extensions: {a: {enabled: true}}}\n", "not a mapping in block style"),
    ("goose", "{\n  extensions: {a: {enabled: true}}\n}\n", "not a mapping in block style"),
    ("goose", "--- {extensions: {}}\n", "not a mapping in block style"),
    ("goose", "hello\n", "not a mapping in block style"),
    ("goose", "- a\n", "not a mapping in block style"),
    ("goose", "  extensions:\n    a: 1\n", "not a mapping in block style"),
    ("goose", "!!map\na: 1\n", "not a mapping in block style"),
    ("goose", "a: [\n", "not YAML"),
    ("goose", "a: b: c\n", "not YAML"),
    ("goose", "a:\n  b: 1\n c: 2\n", "not YAML"),
    ("goose", "a: \"x\" y\n", "not YAML"),
    ("goose", "a: 'x\n", "not YAML"),
    ("goose", "a: 1\n---\nextensions: {}\n", "several documents"),
    ("goose", "a: 1\n...\nextensions: {}\n", "several documents"),
    // The key of the servers.
    ("goose", "? extensions\n: a:\n    enabled: true\n", "the key in line 1"),
    ("goose", "a: &k x\n*k : 1\n", "the key in line 2"),
    ("goose", "a: &d {extensions: {}}\n<<: *d\n", "the key in line 2"),
    ("goose", "!!str extensions:\n  a: 1\n", "the key in line 1"),
    ("goose", "extensions:\n  a: 1\n\"extensions\":\n  b: 1\n", "`extensions` twice"),
    ("goose", "\"ext\\x65nsions\":\n  a: 1\nextensions:\n  b: 1\n", "`extensions` twice"),
    ("goose", "extensions: &all\n  a: 1\nb: *all\n", "no mapping in block style"),
    ("goose", "extensions: &all\nb: *all\n", "no mapping in block style"),
    ("goose", "extensions: !!map\n  a: 1\n", "no mapping in block style"),
    ("goose", "b: &b {}\nextensions: *b\n", "no mapping in block style"),
    ("goose", "extensions: {a: 1}\n", "no mapping in block style"),
    ("goose", "extensions: {\n  # mine\n}\n", "no mapping in block style"),
    ("goose", "extensions: |\n  moss:\n    cmd: x\n", "no mapping in block style"),
    ("goose", "extensions:\n  - moss\n", "no mapping in block style"),
    ("continue", "mcpServers:\n  moss:\n    command: x\n", "no list in block style"),
    // Other servers.
    ("goose", "b: &b {moss: {}}\nextensions:\n  <<: *b\n", "the key in line 3"),
    ("goose", "extensions:\n  ? moss\n  : cmd: x\n", "the key in line 2"),
    ("continue", "mcpServers:\n  - &a {name: a}\n  - *a\n", "a name that moss cannot read"),
    ("continue", "a: &a {name: moss}\nmcpServers:\n  - <<: *a\n    command: b\n", "cannot read"),
    ("continue", "a: &a moss\nmcpServers:\n  - name: *a\n", "a name that moss cannot read"),
    ("continue", "mcpServers:\n  - name: !!str moss\n", "a name that moss cannot read"),
    ("continue", "mcpServers:\n  - ? name\n    : moss\n", "a name that moss cannot read"),
    ("continue", "mcpServers:\n  - name: moss\n  - \"name\": moss\n", "`moss` twice"),
    ("continue", "mcpServers:\n  - name: moss\n    name: moss\n", "`name` twice"),
    // The entry.
    ("goose", "extensions:\n  moss: {cmd: /old, enabled: true}\n", "not in block style"),
    ("goose", "extensions:\n  moss: {cmd: /old,\n    enabled: true}\n", "not in block style"),
    ("goose", "extensions:\n  moss: true\n", "not in block style"),
    ("goose", "extensions:\n  moss: &m\n    cmd: /old\n", "an anchor"),
    ("goose", "extensions:\n  moss: &m\n", "an anchor"),
    ("goose", "extensions:\n  moss:\n    cmd: &c /old\n", "an anchor"),
    ("goose", "extensions:\n  moss:\n    cmd: !!str /old\n", "a tag"),
    ("goose", "a: &a {}\nextensions:\n  moss: *a\n", "an alias"),
    ("goose", "a: &a {}\nextensions:\n  moss:\n    <<: *a\n    cmd: /old\n", "an alias"),
    ("goose", "extensions:\n  moss:\n    cmd: /old\n    enabled: yes\n", "read differently"),
    ("goose", "extensions:\n  moss:\n    cmd: /old\n    timeout: 010\n", "read differently"),
    ("goose", "extensions:\n  moss:\n    cmd: /old\n  'moss':\n    cmd: x\n", "`moss` twice"),
    ("continue", "mcpServers:\n  - {name: moss, command: /old}\n", "not in block style"),
    ("continue", "mcpServers:\n  -\n    name: moss\n    command: /old\n", "not in block style"),
    ("continue", "mcpServers:\n  - &m\n    name: moss\n", "an anchor"),
];

#[test]
fn yaml_that_leaves_something_open_is_left_alone() {
    for (id, text, why) in LEFT_ALONE {
        let client = clients::find(id).unwrap();
        for text in [(*text).to_owned(), text.replace('\n', "\r\n"), format!("\u{feff}{text}")] {
            let new = client.entry(&server(&["mcp"]));
            let error = with_entry(client, Some(&text), &new).expect_err(&text).to_string();
            assert!(error.contains(why), "{id}: {text}: {error}");
            let error = without_entry(client, &text).expect_err(&text).to_string();
            assert!(error.contains(why), "{id}: {text}: {error}");
        }
    }
}

/// YAML without an entry of moss, in spellings that moss knows. Some of them only look as if they had one.
const WITHOUT_ENTRY: &[(&str, &str)] = &[
    ("goose", "# only\n"),
    ("goose", "---\n"),
    ("goose", "# mine\n---\n# all\na: 1\n"),
    ("goose", "a: 1\n...\n# the end\n"),
    ("goose", "%YAML 1.2\n---\na: 1 # one\n...\n"),
    ("goose", "extensions:\n"),
    ("goose", "extensions: # none\nb: 1\n"),
    ("goose", "\"extensions\":\n  a: 1 # one\n\n# end\n"),
    ("goose", "'extensions' :\n    a: 1\n    \"b\": {moss: 1}\n"),
    ("goose", "\"ext\\u0065nsions\" : # all\n # first\n a: 1\nb: 2\n"),
    ("goose", "a: |\n  extensions:\n    moss:\n      cmd: x\nb: 1\n"),
    ("goose", "a: \"\n  extensions:\n  moss:\"\nb: 'it''s\n\n  moss:'\n"),
    ("goose", "extensions:\n  a:\n    moss:\n      cmd: x\n  b: &b\n    - moss\n  c: *b\n"),
    ("goose", "extensions:\n  a: &a\n    x: 1\n  b:\n    <<: *a\n  c: !!set {moss}\n"),
    (
        "goose",
        "extensions:\n  a:\n    env: |\n      # no comment\n\n       moss: 1\n\n\n# one\nb: >-\n  c\n",
    ),
    ("goose", "extensions:\n  a: |+\n    x\n\n\nb: [1,\n  2] # two\n"),
    ("goose", "a: yes\nextensions:\n  b: 0x10\n"),
    (
        "continue",
        "mcpServers:\n  - name: other\n    command: foo\n    args:\n      - |\n        name: moss\n",
    ),
    ("continue", "mcpServers:\n  - name: other\n    command: foo\n    env:\n      name: moss\n"),
    (
        "continue",
        "mcpServers:\n- name: other\n  args:\n  - name: moss\n  - - name: moss\n- - name: moss\n",
    ),
    ("continue", "mcpServers:\n  - {name: other, env: {name: moss}}\n  - name: moss moss\n"),
    ("continue", "mcpServers:\n  - uses: a/b # name: moss\n  # - name: moss\n  - moss\n  -\n"),
    ("continue", "mcpServers:\n  - name: moss\n      and more\n  -   name: |\n        moss\n"),
    ("continue", "x: &x\n  command: a\nmcpServers:\n  - &o\n    name: other\ny: *o\n"),
    (
        "continue",
        "\"mcpServers\":\n-   \"name\": mos\n    command: \"moss\"\nrules:\n  - >\n    name: moss\n",
    ),
];

#[test]
fn an_entry_comes_into_yaml_and_out_of_it_byte_for_byte() {
    for (id, text) in WITHOUT_ENTRY {
        let client = clients::find(id).unwrap();
        for text in [(*text).to_owned(), text.replace('\n', "\r\n"), format!("\u{feff}{text}")] {
            let new = client.entry(&server(&["mcp"]));
            assert_eq!(entry(client, &text), Ok(None), "{text}");
            assert_eq!(without_entry(client, &text).as_ref(), Ok(&text));
            let edited =
                with_entry(client, Some(&text), &new).unwrap_or_else(|e| panic!("{text}: {e}"));
            assert_eq!(entry(client, &edited).unwrap().as_ref(), Some(&new), "{edited}");
            let mut lines = edited.lines();
            for line in text.lines() {
                assert!(lines.any(|other| other == line), "{line:?} is gone from\n{edited}");
            }
            let removed = without_entry(client, &edited).unwrap();
            let removed = without_empty_keys(client, &removed, &text).unwrap();
            assert_eq!(removed, text);
        }
    }
}

#[test]
fn an_entry_is_known_in_each_spelling_and_only_its_lines_change() {
    for (id, text, expected) in [
        (
            "goose",
            "\"extensions\" : # all\n  'moss' : # mine\n    \"cmd\" : /old # where\n    args: # words\n    - a # one\n    enabled: True\n\n  b: 1\n",
            "\"extensions\" : # all\n  'moss' : # mine\n    \"cmd\" : \"/new\" # where\n    args: [\"mcp\"] # words # one\n    enabled: True\n\n  b: 1\n",
        ),
        (
            "goose",
            "extensions:\n  moss:\n    cmd: >-\n      /old\n      name\n    # args\n    args: [\"a\",\n      b]\n    envs:\n  # b\n  b: 1\n",
            "extensions:\n  moss:\n    cmd: \"/new\"\n    # args\n    args: [\"mcp\"]\n    envs:\n  # b\n  b: 1\n",
        ),
        (
            "continue",
            "mcpServers:\n-   \"name\": 'moss'\n    command: \"/ol\\\n      d\"\n",
            "mcpServers:\n-   \"name\": 'moss'\n    command: \"/new\"\n    args: [\"mcp\"]\n",
        ),
        (
            "continue",
            "mcpServers:\n  - command: /old\n    args: []\n    name: moss # mine\n  - name: b\n",
            "mcpServers:\n  - command: \"/new\"\n    args: [\"mcp\"]\n    name: moss # mine\n  - name: b\n",
        ),
        (
            "continue",
            "mcpServers:\n  - name: |-\n      moss\n    command: /old",
            "mcpServers:\n  - name: |-\n      moss\n    command: \"/new\"\n    args: [\"mcp\"]\n",
        ),
    ] {
        let client = clients::find(id).unwrap();
        let now = ServerCommand {
            command: "/new".to_owned(),
            args: vec!["mcp".to_owned()],
            environment: std::collections::BTreeMap::new(),
        };
        let old = entry(client, text).unwrap().unwrap_or_else(|| panic!("{text}"));
        let mut new = client.updated(&old, &now, &[]);
        // What is not there yet and not started by is of no interest here.
        new.as_object_mut().unwrap().retain(|key, _| {
            old.get(key).is_some() || matches!(key.as_str(), "command" | "cmd" | "args")
        });
        assert_eq!(with_entry(client, Some(text), &new).as_deref(), Ok(expected));
        assert_eq!(entry(client, &without_entry(client, expected).unwrap()), Ok(None));
    }
}

#[test]
fn characters_that_yaml_does_not_take_are_escaped() {
    let client = clients::find("goose").unwrap();
    let command = "/a\u{7f}\u{85}\u{2028}\u{feff}/\u{1f600} \\ \"'#: ".to_owned();
    let environment = [("a: #b".to_owned(), "yes".to_owned()), ("no".to_owned(), "1".to_owned())];
    let now = ServerCommand { command, args: Vec::new(), environment: environment.into() };
    let edited = with_entry(client, None, &client.entry(&now)).unwrap();
    assert!(edited.contains("/a\\u007f\\u0085\\u2028\\ufeff/"), "{edited}");
    assert_eq!(client.command(&entry(client, &edited).unwrap().unwrap()), Some(now));
}

#[test]
fn a_byte_order_mark_stays_where_it_is() {
    for (id, _, text) in FILES {
        let client = clients::find(id).unwrap();
        let marked = format!("\u{feff}{text}");
        let new = client.entry(&server(&["mcp"]));
        let edited =
            with_entry(client, Some(&marked), &new).unwrap_or_else(|e| panic!("{id}: {e}"));
        let plain = with_entry(client, Some(text), &new).unwrap();
        assert_eq!(edited, format!("\u{feff}{plain}"), "{id}");
        assert_eq!(entry(client, &edited).unwrap(), Some(new), "{id}");
        assert!(without_entry(client, &edited).unwrap().starts_with('\u{feff}'), "{id}");
    }
}
