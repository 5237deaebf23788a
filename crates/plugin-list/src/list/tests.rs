//! Tests of the module `list`.

use serde_json::json;

use std::time::Duration;

use super::*;
use crate::limits::WarmLimits;

/// Wraps an entry's further keys in a list; the entry starts in line 2.
fn list_of(keys: &str) -> String {
    format!(
        "{{ \"version\": 1, \"plugins\": [\n{{ \"name\": \"a\", \"source\": \"a.wasm\"{keys} }}] }}"
    )
}

#[test]
fn a_full_list_is_read() {
    let text = r#"
// The plugins of this project.
{
  "version": 1,
  "plugins": [
    {
      "name": "word-count",
      "source": "plugins/word_count.wasm",
      "sha256": "00000000000000000000000000000000000000000000000000000000000000ff",
      "grant": {
        "fs": [{ "path": "docs", "access": "read" }, { "path": "./src/a", "access": "read" }],
        "http": [],
        "env": []
      },
      "limits": { "timeout": "1500ms", "memory": "128MiB", "output": "64KiB", "calls": 16 },
      "warm": { "instances": 2, "calls": 50, "idle": "2m" },
      "config": { "z": [1, 2.5, -3], "a": { "b": null, "c": "é\n" } }
    },
    { "name": "b", "source": "b.wasm" }
  ]
}"#;
    let list = PluginList::parse("moss-tools.json", text).unwrap();
    let [first, second] = list.plugins.as_slice() else { panic!("two plugins") };
    let mut digest = [0; 32];
    digest[31] = 0xff;
    assert_eq!((first.name.as_str(), first.line), ("word-count", 6));
    assert_eq!(first.source, "plugins/word_count.wasm");
    assert_eq!(first.sha256, Some(Sha256Digest::from_bytes(digest)));
    let read: Vec<_> = first.grant.files.iter().map(|files| files.path.as_str()).collect();
    assert_eq!(read, ["docs", "src/a"]);
    assert_eq!(first.limits.timeout.as_millis(), 1500);
    assert_eq!(first.limits.memory_bytes_max, 128 << 20);
    assert_eq!(first.limits.output_bytes_max, 64 << 10);
    assert_eq!(first.limits.calls_max, 16);
    let warm = WarmLimits { instances_max: 2, calls_max: 50, idle: Duration::from_secs(120) };
    assert_eq!(first.limits.warm, Some(warm));
    assert_eq!(
        Value::Object(first.config.clone()).to_string(),
        r#"{"z":[1,2.5,-3],"a":{"b":null,"c":"é\n"}}"#
    );
    assert_eq!((second.grant.clone(), second.limits), (Grant::default(), PluginLimits::default()));
    assert_eq!(json!(second.config), json!({}));
}

#[test]
fn what_is_wrong_is_said_with_its_location() {
    let cases: &[(&str, &str)] = &[
        ("", "1:1: the file is empty"),
        ("{", "1:1: not JSON: unterminated object"),
        ("{ 'version': 1 }", "1:3: not JSON: single-quoted strings are not allowed"),
        ("[]", "1:1: expected an object, got an array"),
        ("{ \"plugins\": [] }", "1:1: the key `version` is missing"),
        ("{ \"version\": 1 }", "1:1: the key `plugins` is missing"),
        (
            "{ \"version\": 2, \"plugins\": [] }",
            "1:14: unsupported version; this moss reads version 1",
        ),
        ("{ \"version\": \"1\", \"plugins\": [] }", "1:14: expected a number, got a string"),
        ("{ \"version\": 1.5, \"plugins\": [] }", "1:14: expected a whole number"),
        ("{ \"version\": 1, \"plugins\": {} }", "1:28: expected an array, got an object"),
        (
            "{ \"version\": 1, \"plugin\": [] }",
            "1:17: unknown key `plugin`; did you mean `plugins`?",
        ),
        (
            "{ \"version\": 1, \"version\": 1, \"plugins\": [] }",
            "1:17: the key `version` is given twice",
        ),
        (
            "{ \"version\": 1, \"plugins\": [\n  { \"name\": \"a\" }] }",
            "2:3: the key `source` is missing",
        ),
        (
            "{ \"version\": 1, \"plugins\": [\n{ \"name\": \"a\", \"source\": \"a\" },\n\
             { \"name\": \"a\", \"source\": \"b\" }] }",
            "3:11: a plugin named `a` is listed twice; the other one is in line 2",
        ),
    ];
    for (text, expected) in cases {
        let error = PluginList::parse("moss-tools.json", text).unwrap_err();
        assert_eq!(error.to_string(), format!("moss-tools.json:{expected}"), "{text}");
    }
}

#[test]
fn what_is_wrong_in_an_entry_is_said_with_its_location() {
    let cases: &[(&str, &str)] = &[
        (
            ", \"é\": 1",
            "2:36: unknown key `é`; known keys: name, source, sha256, signature, tools, \
             grant, limits, warm, config",
        ),
        (", \"grants\": {}", "2:36: unknown key `grants`; did you mean `grant`?"),
        (
            ", \"sha256\": \"AB\"",
            "2:46: not a SHA-256 digest; expected 64 hexadecimal digits in lowercase",
        ),
        (
            ", \"grant\": { \"http\": [\"ftp://example.org\"] }",
            "2:56: `ftp://example.org` has a scheme other than `https` and `http`",
        ),
        (", \"grant\": { \"env\": [\"*\"] }", "2:55: `*` is not the name of a variable"),
        (
            ", \"grant\": { \"store\": \"1GiB\" }",
            "2:56: `store` is out of range: 1GiB; it can be 1B to 64MiB",
        ),
        (", \"grant\": { \"fs\": \"docs\" }", "2:53: expected an array, got a string"),
        (", \"grant\": { \"fs\": [\"docs\"] }", "2:54: expected an object, got a string"),
        (", \"grant\": { \"fs\": [{ \"path\": \"a\" }] }", "2:54: the key `access` is missing"),
        (
            ", \"grant\": { \"fs\": [{ \"path\": \"a\", \"access\": \"write\" }] }",
            "2:79: plugins never write files by themselves; grant `read`; a plugin returns the \
             edits that it proposes",
        ),
        (
            ", \"grant\": { \"fs\": [{ \"path\": \"a\", \"access\": \"raed\" }] }",
            "2:79: `raed` is not a kind of access; `read` is the only one",
        ),
        (
            ", \"grant\": { \"fs\": [{ \"path\": \"../a\", \"access\": \"read\" }] }",
            "2:64: `../a`: `..` is not allowed; only files beneath the workspace root can be \
             reached",
        ),
    ];
    refused_at(cases);
}

#[test]
fn names_of_tools_are_checked() {
    let given = ", \"tools\": { \"count_words\": \"wc\", \"b\": \"count_words\" }";
    let list = PluginList::parse("l", &list_of(given)).unwrap();
    assert_eq!(json!(list.plugins[0].tools), json!({ "count_words": "wc", "b": "count_words" }));
    refused_at(&[
        (", \"tools\": []", "2:45: expected an object, got an array"),
        (", \"tools\": { \"a\": 1 }", "2:52: expected a string, got a number"),
        (
            ", \"tools\": { \"a\": \"b c\" }",
            "2:52: `b c` cannot name a tool; a name is a letter, then up to 63 letters, digits, \
             `_` or `-`",
        ),
        (
            ", \"tools\": { \"\": \"b\" }",
            "2:51: `` cannot name a tool; a name is a letter, then up to 63 letters, digits, `_` \
             or `-`",
        ),
        (
            ", \"tools\": { \"a\": \"c\", \"b\": \"c\" }",
            "2:62: `a` and `b` would both be named `c`",
        ),
        (", \"tools\": { \"a\": \"c\", \"a\": \"d\" }", "2:57: the key `a` is given twice"),
    ]);
}

#[test]
fn limits_and_settings_out_of_order_are_said_with_their_location() {
    refused_at(&[
        (", \"limits\": { \"calls\": 0 }", "2:57: `calls` is out of range: 0; it can be 1 to 1024"),
        (
            ", \"limits\": { \"timeout\": 10 }",
            "2:59: expected a string, got a number; write it with its unit, such as \"10s\"",
        ),
        (
            ", \"limits\": { \"timeout\": \"10\" }",
            "2:59: `10` is not a duration; expected a whole number and `ms`, `s` or `m`, such as `10s`",
        ),
        (
            ", \"limits\": { \"timeout\": \"0s\" }",
            "2:59: `timeout` is out of range: 0s; it can be 1ms to 10m",
        ),
        (
            ", \"limits\": { \"memory\": \"64MB\" }",
            "2:58: `64MB` is not a size; expected a whole number and `B`, `KiB`, `MiB` or `GiB`, such as \
             `64MiB`",
        ),
        (
            ", \"limits\": { \"output\": \"1GiB\" }",
            "2:58: `output` is out of range: 1GiB; it can be 1B to 64MiB",
        ),
        (
            ", \"limits\": { \"fuel\": \"1\" }",
            "2:48: unknown key `fuel`; known keys: timeout, memory, output, calls",
        ),
        (
            ", \"warm\": { \"calls\": 1 }",
            "2:55: `calls` is out of range: 1; it can be 2 to 1000000",
        ),
        (", \"config\": []", "2:46: expected an object, got an array"),
        (", \"config\": { \"a\": 1, \"a\": 2 }", "2:56: the key `a` is given twice"),
    ]);
}

#[track_caller]
fn refused_at(cases: &[(&str, &str)]) {
    for (keys, expected) in cases {
        let error = PluginList::parse("moss-tools.json", &list_of(keys)).unwrap_err();
        assert_eq!(error.to_string(), format!("moss-tools.json:{expected}"), "{keys}");
    }
}

#[test]
fn names_and_sources_are_checked() {
    for (name, source, expected) in [
        ("A", "a.wasm", "2:11: `A` cannot name a plugin"),
        ("", "a.wasm", "2:11: `` cannot name a plugin"),
        ("a_b", "a.wasm", "2:11: `a_b` cannot name a plugin"),
        ("a", "", "2:26: the source is not a path"),
        ("a", "oci://x/y", "2:26: the reference names no digest, and a tag can lead to"),
        ("a", "ftp://x/y", "2:26: `ftp` sources are not supported by this version"),
        ("a", "http://x/y", "2:26: `http` sources are not supported by this version"),
        ("a", "https://x/y", "2:26: a source on the network needs the key `sha256`"),
        ("a", "https://", "2:26: the URL is not one"),
        ("a", "https://a:b@x/y", "2:26: the URL contains credentials"),
    ] {
        let text = list_of("").replace("\"name\": \"a\"", &format!("\"name\": \"{name}\""));
        let text = text.replace("a.wasm", source);
        let error = PluginList::parse("l", &text).unwrap_err().to_string();
        assert!(error.starts_with(&format!("l:{expected}")), "{error}");
    }
}

#[test]
fn a_list_is_bounded_in_size_and_depth() {
    let huge = " ".repeat(LIST_BYTES_MAX + 1);
    let error = PluginList::parse("l", &huge).unwrap_err();
    assert_eq!(error.to_string(), "l:1:1: the list is larger than 1MiB");
    let deep = list_of(&format!(
        ", \"config\": {{ \"a\": {}{} }}",
        "[".repeat(10_000),
        "]".repeat(10_000)
    ));
    let error = PluginList::parse("l", &deep).unwrap_err().to_string();
    assert!(error.contains("nesting"), "{error}");
}

#[test]
fn as_a_diagnostic_it_shows_the_location() {
    let error = PluginList::parse("moss-tools.json", &list_of(", \"grants\": {}")).unwrap_err();
    let mut shown = String::new();
    miette::GraphicalReportHandler::new_themed(miette::GraphicalTheme::unicode_nocolor())
        .render_report(&mut shown, &error)
        .unwrap();
    for part in ["moss-tools.json:2:36", "\"grants\"", "did you mean `grant`?"] {
        assert!(shown.contains(part), "{shown}");
    }
}

#[test]
fn a_grant_is_written_as_it_is_read() {
    let text = r#"{"fs":[{"path":"docs","access":"read","except":["**/*.pem"]}],
        "http":["*.a.example","http://b:8080"],"env":["LANG"],"tools":["read_file"],
        "store":"1MiB","editor":true,"index":true,
        "commands":["git rev-parse HEAD","npm run *"]}"#;
    let grant = Grant::parse(text).unwrap();
    assert_eq!(Grant::parse(&grant.to_json().to_string()), Ok(grant.clone()));
    assert_eq!(grant.to_json(), serde_json::from_str::<Value>(text).unwrap());
    assert_eq!(Grant::default().to_json(), json!({}));
    let refused = Grant::parse(r#"{"fss": []}"#).unwrap_err();
    assert_eq!(refused, "unknown key `fss`; did you mean `fs`?");
}

#[test]
fn what_is_grantable_is_what_a_list_reads() {
    let all = Grant { store_bytes_max: u64::MAX, ..Grant::everything() };
    let named = Grant::parse(r#"{"env":["LANG"],"tools":["read_file"],"http":["a.example"]}"#);
    let named = named.unwrap();
    let own = crate::grants::NamePattern::Exactly("MOSS_TOKEN".to_owned());
    let mixed = Grant {
        env: [named.env.clone(), all.env.clone(), vec![own]].concat(),
        tools: [all.tools.clone(), named.tools.clone()].concat(),
        ..named.clone()
    };
    assert_eq!(mixed.grantable(), named);
    for grant in [Grant::default(), all, mixed] {
        let grantable = grant.grantable();
        assert!(grant.covers(&grantable));
        assert_eq!(Grant::parse(&grantable.to_json().to_string()), Ok(grantable));
    }
}

#[test]
fn a_list_of_a_workspace_names_only_what_lies_in_it() {
    let of = |source: &str, more: &str| {
        let text = list_of(more).replace("a.wasm", source);
        PluginList::parse_of_workspace("l", &text).map_err(|error| error.to_string())
    };
    let pin = format!(", \"sha256\": \"{}\"", "0".repeat(64));
    assert!(of("build/a.wasm", "").is_ok());
    let remote = of("https://a.example/a.wasm", &pin).unwrap();
    assert!(remote.plugins[0].is_remote());
    for source in ["../a.wasm", "/etc/a.wasm", "a/../../b"] {
        let refused = of(source, "").unwrap_err();
        assert!(refused.starts_with("l:2:26: a workspace's list names only files"), "{refused}");
    }
    let refused = of("a.wasm", ", \"signature\": \"../a.minisig\"").unwrap_err();
    assert!(refused.contains("names only files of the workspace"), "{refused}");
}

#[test]
fn a_signature_on_the_network_is_of_a_component_that_is_pinned() {
    let of = |more: &str| PluginList::parse("l", &list_of(more)).map_err(|error| error.to_string());
    let signed = ", \"signature\": \"https://a.example/a.minisig\"";
    let pin = format!(", \"sha256\": \"{}\"", "0".repeat(64));
    assert!(of(&format!("{signed}{pin}")).is_ok());
    let refused = of(signed).unwrap_err();
    assert!(refused.contains("a signature on the network needs the key `sha256`"), "{refused}");
}
