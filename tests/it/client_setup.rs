//! `moss setup`: into a client's configuration, checked, and out again byte for byte.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::harness::{Site, binary};

/// Each client, its file, and whether that lies in the home directory or in `.config`.
const CLIENTS: &[(&str, &str, &str)] = &[
    ("claude-code", "home", ".claude.json"),
    ("codex", "home", ".codex/config.toml"),
    ("vscode", "config", "Code/User/mcp.json"),
    ("cursor", "home", ".cursor/mcp.json"),
    ("zed", "config", "zed/settings.json"),
    ("gemini", "home", ".gemini/settings.json"),
    ("qwen", "home", ".qwen/settings.json"),
    (
        "cline",
        "config",
        "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
    ),
    ("jetbrains", "home", ".junie/mcp/mcp.json"),
    ("continue", "home", ".continue/config.yaml"),
    ("opencode", "config", "opencode/opencode.json"),
    ("goose", "config", "goose/config.yaml"),
];

fn file(site: &Site, client: &str) -> PathBuf {
    let (_, place, path) = CLIENTS.iter().find(|(id, ..)| *id == client).unwrap();
    site.outside(place).join(path)
}

fn put(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn done(site: &Site, arguments: &[&str]) -> String {
    let ended = site.run(arguments);
    assert_eq!(ended.code, Some(0), "{arguments:?}: {ended:?}");
    ended.stdout
}

#[test]
fn every_client_is_set_up_without_a_file_and_left_without_one() {
    let site = Site::new();
    for (client, ..) in CLIENTS {
        let path = file(&site, client);
        let said = done(&site, &["setup", client, "--yes"]);
        assert!(said.contains("is not installed yet"), "{client}: {said}");
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(binary().to_str().unwrap()), "{client}: {text}");
        let again = done(&site, &["setup", client, "--yes"]);
        assert!(again.contains("is set up already"), "{client}: {again}");
        done(&site, &["setup", client, "--undo", "--yes"]);
        assert!(!path.exists(), "{client}");
    }
}

#[test]
fn what_is_configured_starts_and_a_tool_works() {
    let site = Site::new();
    for (client, ..) in CLIENTS {
        done(&site, &["setup", client, "--yes", "--set", "read-only"]);
        let report: Value =
            serde_json::from_str(&done(&site, &["setup", client, "--check", "--json"])).unwrap();
        assert!(report["tools"].as_u64().unwrap() > 5, "{report}");
        assert!(report["command"].as_str().unwrap().ends_with(" mcp --set read-only"), "{report}");
    }
    // Where moss's files are is said where it is not usual: no variable of this process is passed on for that.
    let text = std::fs::read_to_string(file(&site, "codex")).unwrap();
    assert!(text.contains("XDG_STATE_HOME"), "{text}");
    done(&site, &["setup", "zed", "--undo", "--yes"]);
    let missing = site.run(&["setup", "zed", "--check"]);
    assert_eq!(missing.code, Some(1), "{missing:?}");
    assert!(missing.stderr.contains("moss setup zed"), "{missing:?}");
    put(
        &file(&site, "cursor"),
        &json!({ "mcpServers": { "moss": { "command": "/no/such/moss", "args": ["mcp"] } } })
            .to_string(),
    );
    let broken = site.run(&["setup", "cursor", "--check"]);
    assert_eq!(broken.code, Some(1), "{broken:?}");
    assert!(broken.stderr.contains("`/no/such/moss mcp` does not serve"), "{broken:?}");
}

#[test]
fn undo_restores_every_byte_also_after_a_second_setup() {
    let site = Site::new();
    for (client, before) in [
        ("claude-code", "{\"a\":1,\n\t\"mcpServers\" : {}}"),
        ("codex", "# mine\r\nmodel = \"x\"\r\n"),
        ("vscode", "{\n  // mine\n  \"servers\": {},\n}"),
        ("goose", "extensions:\n  # none\n  a:\n    enabled: true"),
        ("continue", "mcpServers:\n- name: a\n  command: b\n\n\n"),
    ] {
        let path = file(&site, client);
        put(&path, before);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        done(&site, &["setup", client, "--yes"]);
        done(&site, &["setup", client, "--yes", "--set", "all", "--elicit"]);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains("--elicit"), "{client}: {text}");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        done(&site, &["setup", client, "--undo", "--yes"]);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), before, "{client}");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    }
}

#[test]
fn undo_takes_only_the_entry_out_of_a_file_that_changed_since() {
    let site = Site::new();
    let path = file(&site, "cursor");
    done(&site, &["setup", "cursor", "--yes"]);
    let text = std::fs::read_to_string(&path).unwrap();
    put(&path, &text.replacen('{', "{\n  // a note\n  \"other\": 1,", 1));
    let said = done(&site, &["setup", "cursor", "--undo", "--yes"]);
    assert!(said.contains("it had changed since"), "{said}");
    let left = std::fs::read_to_string(&path).unwrap();
    assert!(left.contains("// a note") && left.contains("\"other\": 1"), "{left}");
    assert!(!left.contains("\"moss\""), "{left}");
}

#[test]
fn undo_leaves_no_key_that_was_made_for_the_entry() {
    let site = Site::new();
    for (client, before, added, left) in [
        (
            "goose",
            Some("GOOSE_MODEL: x\n"),
            "GOOSE_MODE: auto\n",
            Some("GOOSE_MODEL: x\nGOOSE_MODE: auto\n"),
        ),
        (
            "goose",
            Some("extensions:\nGOOSE_MODEL: x\n"),
            "a: b\n",
            Some("extensions:\nGOOSE_MODEL: x\na: b\n"),
        ),
        ("goose", None, "", None),
        ("goose", None, "a: b\n", Some("a: b\n")),
        ("codex", None, "\n# mine\n", Some("# mine\n")),
        ("cursor", None, "// mine\n", Some("{\n}\n// mine\n")),
        (
            "cursor",
            Some("{\"mcpServers\": {}}\n"),
            "// mine\n",
            Some("{\"mcpServers\": {}}\n// mine\n"),
        ),
    ] {
        let path = file(&site, client);
        let _ = std::fs::remove_file(&path);
        if let Some(before) = before {
            put(&path, before);
        }
        done(&site, &["setup", client, "--yes"]);
        let text = std::fs::read_to_string(&path).unwrap();
        put(&path, &format!("{text}{added}"));
        done(&site, &["setup", client, "--undo", "--yes"]);
        let is = std::fs::read_to_string(&path).ok();
        let plain = |text: &str| text.split_whitespace().collect::<String>();
        assert_eq!(is.as_deref().map(plain), left.map(plain), "{client} {before:?}: {is:?}");
    }
}

#[test]
fn nothing_is_written_without_a_yes() {
    let site = Site::new();
    let path = file(&site, "codex");
    put(&path, "model = \"x\"\n");
    let ended = site.run(&["setup", "codex"]);
    assert_eq!(ended.code, Some(4), "{ended:?}");
    assert!(ended.stderr.contains("+[mcp_servers.moss]"), "{ended:?}");
    assert!(ended.stderr.contains("--yes"), "{ended:?}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "model = \"x\"\n");
    let broken = file(&site, "cursor");
    put(&broken, "{ not json");
    let ended = site.run(&["setup", "cursor", "--yes"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert_eq!(std::fs::read_to_string(&broken).unwrap(), "{ not json");
}

#[test]
fn a_file_that_is_a_link_stays_one() {
    let site = Site::new();
    let (path, kept) = (file(&site, "zed"), site.outside("dotfiles/zed.json"));
    put(&kept, "{}\n");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    symlink(&kept, &path).unwrap();
    done(&site, &["setup", "zed", "--yes"]);
    assert!(path.symlink_metadata().unwrap().is_symlink());
    assert!(std::fs::read_to_string(&kept).unwrap().contains("context_servers"));
    done(&site, &["setup", "zed", "--undo", "--yes"]);
    assert_eq!(std::fs::read_to_string(&kept).unwrap(), "{}\n");
}

#[test]
fn the_list_says_what_is_there_and_what_is_set_up() {
    let site = Site::new();
    put(&file(&site, "gemini"), "{}\n");
    done(&site, &["setup", "codex", "--yes"]);
    let listed: Value = serde_json::from_str(&done(&site, &["setup", "--list", "--json"])).unwrap();
    let listed = listed.as_array().unwrap();
    assert_eq!(listed.len(), CLIENTS.len());
    let of = |id: &str| listed.iter().find(|one| one["client"] == id).unwrap();
    assert_eq!(
        (&of("gemini")["installed"], &of("gemini")["command"]),
        (&json!(true), &Value::Null)
    );
    assert!(of("codex")["command"].as_str().unwrap().ends_with(" mcp"));
    assert_eq!(of("zed")["installed"], false);
}
