//! `moss setup`: into a client's configuration, checked, and out again byte for byte.

#[path = "../../crates/client-settings/src/edit/tests/files.rs"]
mod files;

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};

use self::files::FILES;
use crate::harness::{Ended, Site, binary};
use crate::terminal::Terminal;

/// Each client, its file, and whether that lies in the home directory or in `.config`.
const CLIENTS: &[(&str, &str, &str)] = &[
    ("claude-code", "home", ".claude.json"),
    ("codex", "home", ".codex/config.toml"),
    ("vscode", "config", "Code/User/mcp.json"),
    ("cursor", "home", ".cursor/mcp.json"),
    ("zed", "config", "zed/settings.json"),
    ("gemini", "home", ".gemini/settings.json"),
    ("qwen", "home", ".qwen/settings.json"),
    ("cline", "home", ".cline/data/settings/cline_mcp_settings.json"),
    ("copilot", "home", ".copilot/mcp-config.json"),
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

/// The copy that a command names of what was there: before, or before the setup.
fn kept_at(said: &str, when: &str) -> PathBuf {
    let (_, rest) = said.split_once(&format!("; what was there {when}: ")).expect(said);
    rest.split(';').next().unwrap().trim().into()
}

fn kept(said: &str, when: &str) -> String {
    std::fs::read_to_string(kept_at(said, when)).unwrap()
}

/// What moss keeps of setups, by names.
fn kept_names(site: &Site) -> Vec<String> {
    let entries = std::fs::read_dir(site.state().join("setup")).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
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
fn a_second_setup_keeps_the_set_of_tools_and_options_of_the_way_go_into_the_entry() {
    let site = Site::new();
    let entry = || std::fs::read_to_string(file(&site, "codex")).unwrap();
    done(&site, &["setup", "codex", "--yes", "--set", "read-only", "--elicit"]);
    done(&site, &["setup", "codex", "--yes", "--server", "unix:run/other.sock"]);
    let text = entry();
    for part in ["\"read-only\"", "\"--elicit\"", "\"--server\"", "\"unix:/"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    done(&site, &["setup", "codex", "--yes", "--set", "default"]);
    let text = entry();
    assert!(!text.contains("read-only") && !text.contains("--server"), "{text}");
    let bare = site.run(&["setup"]);
    assert_eq!(bare.code, Some(2), "{bare:?}");
    assert!(bare.stderr.contains("moss setup --list"), "{bare:?}");
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
fn a_set_without_the_usual_tool_is_checked_with_another_one_or_none() {
    let site = Site::new();
    site.config(
        "[tool_sets]\nlooks = [\"read_file\", \"get_project_structure\"]\nreads = [\"read_file\"]\n",
    );
    for (set, tools, called) in
        [("looks", 2, json!("get_project_structure")), ("reads", 1, Value::Null)]
    {
        done(&site, &["setup", "codex", "--yes", "--set", set]);
        let report: Value =
            serde_json::from_str(&done(&site, &["setup", "codex", "--check", "--json"])).unwrap();
        assert_eq!((&report["tools"], &report["called"]), (&json!(tools), &called), "{report}");
        let said = done(&site, &["setup", "codex", "--check"]);
        assert_eq!(said.contains("none was called"), called.is_null(), "{said}");
    }
}

#[test]
fn a_server_is_checked_in_the_directory_that_its_entry_names() {
    let site = Site::new();
    done(&site, &["setup", "gemini", "--yes"]);
    let path = file(&site, "gemini");
    let entry = std::fs::read_to_string(&path).unwrap();
    let check = |cwd: &Path| {
        let cwd = format!("\"cwd\": {},\n      \"args\"", json!(cwd));
        put(&path, &entry.replacen("\"args\"", &cwd, 1));
        done(&site, &["setup", "gemini", "--check"])
    };
    let at_home = check(&site.outside("home"));
    assert!(at_home.contains("there is no project here"), "{at_home}");
    let in_project = check(&site.workspace());
    assert!(in_project.contains("list_directory works"), "{in_project}");
}

#[test]
fn undo_restores_every_byte_of_every_client_also_after_a_second_setup() {
    let site = Site::new();
    let entry = "{ \"moss\": { \"command\": \"x\", \"args\": [] , \"timeout\":5 } }";
    let of_json = |key: &str| format!("{{\"a\":1,\r\n\t// mine\r\n\t\"{key}\" : {entry},}}");
    let files = [
        ("claude-code", "{\"a\":1,\n\t\"mcpServers\" : {}}".to_owned()),
        ("codex", "# mine\r\nmodel = \"x\"\r\n".to_owned()),
        ("vscode", "{\n  // mine\n  \"servers\": {},\n}".to_owned()),
        ("cursor", of_json("mcpServers")),
        ("zed", of_json("context_servers")),
        ("gemini", of_json("mcpServers")),
        ("qwen", "\n".to_owned()),
        ("cline", of_json("mcpServers")),
        ("copilot", "\u{feff}{ \"mcpServers\": { } }".to_owned()),
        ("jetbrains", of_json("mcpServers")),
        ("continue", "mcpServers:\r\n- name: a\r\n  command: b\r\n\r\n\r\n".to_owned()),
        ("opencode", "{\"mcp\": {}}".to_owned()),
        ("goose", "extensions:\n  # none\n  a:\n    enabled: true".to_owned()),
    ];
    assert_eq!(files.len(), CLIENTS.len());
    let files = files.iter().map(|(client, before)| (*client, before.as_str()));
    for (client, before) in files.chain(FILES.iter().map(|(client, _, text)| (*client, *text))) {
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
fn a_second_setup_keeps_what_somebody_changed_in_the_entry() {
    let site = Site::new();
    let path = file(&site, "cursor");
    done(&site, &["setup", "cursor", "--yes"]);
    let text = std::fs::read_to_string(&path).unwrap();
    let changed = text.replace("\"args\"", "\"timeout\": 90, // slow\n      \"args\"");
    assert_ne!(changed, text);
    put(&path, &changed);
    let again = done(&site, &["setup", "cursor", "--yes"]);
    assert!(again.contains("is set up already"), "{again}");
    done(&site, &["setup", "cursor", "--yes", "--set", "all"]);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("\"timeout\": 90, // slow") && text.contains("--set"), "{text}");
}

#[test]
fn variables_of_clients_say_where_their_files_are() {
    let site = Site::new();
    let elsewhere = site.outside("elsewhere");
    for (client, variable, path) in [
        ("claude-code", "CLAUDE_CONFIG_DIR", ".claude.json"),
        ("codex", "CODEX_HOME", "config.toml"),
        ("copilot", "COPILOT_HOME", "mcp-config.json"),
        ("cline", "CLINE_DATA_DIR", "settings/cline_mcp_settings.json"),
        ("cline", "CLINE_MCP_SETTINGS_PATH", ""),
    ] {
        let named = elsewhere.join(variable);
        let path = if path.is_empty() { named.clone() } else { named.join(path) };
        let run = |arguments: &[&str]| {
            let ended = Ended::of(site.command(arguments).env(variable, &named));
            assert_eq!(ended.code, Some(0), "{variable}: {ended:?}");
        };
        run(&["setup", client, "--yes"]);
        assert!(std::fs::read_to_string(&path).unwrap().contains("moss"), "{variable}");
        assert!(!file(&site, client).exists(), "{variable}");
        run(&["setup", client, "--undo", "--yes"]);
        assert!(!path.exists(), "{variable}");
        // One that names no place is none.
        let ended = Ended::of(site.command(["setup", client, "--yes"]).env(variable, "here"));
        assert_eq!(ended.code, Some(0), "{variable}: {ended:?}");
        assert!(file(&site, client).exists(), "{variable}");
        done(&site, &["setup", client, "--undo", "--yes"]);
    }
}

#[test]
fn an_older_extension_of_cline_keeps_its_file() {
    let site = Site::new();
    let older = site
        .outside("config")
        .join("Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json");
    put(&older, "{ \"mcpServers\": {} }\n");
    done(&site, &["setup", "cline", "--yes"]);
    assert!(std::fs::read_to_string(&older).unwrap().contains("moss"));
    done(&site, &["setup", "cline", "--undo", "--yes"]);
    put(&file(&site, "cline"), "{}\n");
    done(&site, &["setup", "cline", "--yes"]);
    assert!(std::fs::read_to_string(file(&site, "cline")).unwrap().contains("moss"));
    assert_eq!(std::fs::read_to_string(&older).unwrap(), "{ \"mcpServers\": {} }\n");
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
fn a_new_file_does_not_hide_the_one_that_a_client_has() {
    let site = Site::new();
    let path = file(&site, "continue");
    put(&path.with_file_name("config.json"), "{ \"models\": [] }");
    let refused = site.run(&["setup", "continue", "--yes"]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("config.json, which it reads no more"), "{refused:?}");
    assert!(!path.exists());
    put(&path, "name: Mine\nversion: 1.0.0\nschema: v1\n");
    done(&site, &["setup", "continue", "--yes"]);
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
fn a_link_to_a_file_that_does_not_exist_yet_stays_a_link() {
    let site = Site::new();
    let (path, kept) = (file(&site, "zed"), site.outside("dotfiles/zed.json"));
    std::fs::create_dir_all(kept.parent().unwrap()).unwrap();
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    // By way of another one, which names its neighbor alone.
    symlink("zed.json", kept.with_file_name("link")).unwrap();
    symlink(kept.with_file_name("link"), &path).unwrap();
    for _ in 0..2 {
        done(&site, &["setup", "zed", "--yes"]);
        assert!(path.symlink_metadata().unwrap().is_symlink());
        assert!(!kept.symlink_metadata().unwrap().is_symlink());
        assert!(std::fs::read_to_string(&kept).unwrap().contains("context_servers"));
        done(&site, &["setup", "zed", "--undo", "--yes"]);
        assert!(path.symlink_metadata().unwrap().is_symlink());
        assert!(!kept.exists());
    }
}

#[test]
fn a_link_into_a_directory_that_does_not_exist_is_refused() {
    let site = Site::new();
    let (path, kept) = (file(&site, "zed"), site.outside("dotfiles/zed.json"));
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    symlink(&kept, &path).unwrap();
    let ended = site.run(&["setup", "zed", "--yes"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stderr.contains("whose directory does not exist"), "{ended:?}");
    assert!(path.symlink_metadata().unwrap().is_symlink());
    assert!(!kept.parent().unwrap().exists());
}

#[test]
fn a_fifo_is_refused_at_once() {
    let site = Site::new();
    let path = file(&site, "cursor");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, 0o600.into(), 0)
        .unwrap();
    for arguments in [&["setup", "cursor", "--yes"][..], &["setup", "cursor", "--undo", "--yes"]] {
        let ended = site.run(arguments);
        assert_eq!(ended.code, Some(1), "{ended:?}");
        assert!(ended.stderr.contains("not a regular file"), "{ended:?}");
    }
    done(&site, &["setup", "--list"]);
}

/// An entry of the name that moss uses, with another server behind it.
const OWN: &str = "{\n  \"mcpServers\": {\n    \"moss\": {\n      \"url\": \"https://x.example\",\n      \
                   \"headers\": { \"K\": \"v\" }\n    }\n  }\n}\n";

/// What a configuration holds beneath the name that moss uses.
fn entry(path: &Path) -> Value {
    let all: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    all["mcpServers"]["moss"].clone()
}

/// Another program adds a key at the start of a file.
fn add_key(path: &Path, key: &str) {
    let text = std::fs::read_to_string(path).unwrap();
    put(path, &text.replacen('{', &format!("{{\n  \"{key}\": 1,"), 1));
}

#[test]
fn undo_puts_the_entry_of_before_into_a_file_that_changed_since() {
    let own: Value = serde_json::from_str(OWN).unwrap();
    let own = &own["mcpServers"]["moss"];
    // With a change before the undo, and between two setups.
    for is_between in [false, true] {
        let site = Site::new();
        let path = file(&site, "cursor");
        put(&path, OWN);
        done(&site, &["setup", "cursor", "--yes"]);
        assert!(entry(&path)["url"].is_null());
        add_key(&path, "other");
        if is_between {
            done(&site, &["setup", "cursor", "--yes", "--set", "all"]);
        }
        let said = done(&site, &["setup", "cursor", "--undo", "--yes"]);
        assert!(said.contains("it had changed since"), "{said}");
        assert_eq!(&entry(&path), own, "{is_between}");
        let left = std::fs::read_to_string(&path).unwrap();
        assert!(left.contains("\"other\": 1"), "{left}");
        // All of it stays kept.
        assert_eq!(kept(&said, "before the setup"), OWN);
        // What stands there now is not moss's to remove.
        let again = done(&site, &["setup", "cursor", "--undo", "--yes"]);
        assert!(again.contains("is not set up"), "{again}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), left);
        // The next setup begins with that file.
        done(&site, &["setup", "cursor", "--yes"]);
        let said = done(&site, &["setup", "cursor", "--undo", "--yes"]);
        assert!(said.contains("is what it was before"), "{said}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), left);
    }
}

#[test]
fn undo_removes_the_entry_where_the_file_changed_between_two_setups() {
    let site = Site::new();
    let path = file(&site, "cursor");
    put(&path, "{}\n");
    done(&site, &["setup", "cursor", "--yes"]);
    add_key(&path, "other");
    done(&site, &["setup", "cursor", "--yes", "--set", "all"]);
    done(&site, &["setup", "cursor", "--yes", "--set", "read-only"]);
    let said = done(&site, &["setup", "cursor", "--undo", "--yes"]);
    assert!(said.contains("has no entry of moss any more"), "{said}");
    let left: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(left, json!({ "other": 1 }));
}

#[test]
fn a_setup_begins_anew_where_somebody_restored_the_file() {
    let site = Site::new();
    let path = file(&site, "cursor");
    put(&path, OWN);
    done(&site, &["setup", "cursor", "--yes"]);
    put(&path, OWN);
    add_key(&path, "other");
    let restored = std::fs::read_to_string(&path).unwrap();
    done(&site, &["setup", "cursor", "--yes"]);
    done(&site, &["setup", "cursor", "--undo", "--yes"]);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), restored);
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

#[test]
fn a_person_is_asked_about_forms_and_about_what_is_written() {
    let site = Site::new();
    let path = file(&site, "cursor");
    for (forms, write, is_written) in [("y", "n", false), ("n", "y", true), ("y", "y", true)] {
        let mut terminal = Terminal::start(site.command(["setup", "cursor"]));
        terminal.wait_for("Use forms?");
        terminal.type_in(&format!("{forms}\n"));
        terminal.wait_for("Write it?");
        terminal.type_in(&format!("{write}\n"));
        let (code, screen) = terminal.end();
        assert_eq!(code, Some(if is_written { 0 } else { 4 }), "{screen}");
        assert!(screen.contains("The client relays your decision"), "{screen}");
        assert_eq!(path.exists(), is_written, "{screen}");
        if is_written {
            let text = std::fs::read_to_string(&path).unwrap();
            assert_eq!(text.contains("--elicit"), forms == "y", "{text}");
        }
    }
}

/// Servers in the configuration of Continue that hold the name of moss somewhere, and are others.
const OTHERS: &str = "mcpServers:\n  - name: other\n    command: foo\n    args:\n      - |\n        name: moss\n  \
                      - name: another\n    command: bar\n    env:\n      name: moss\n";

#[test]
fn a_server_that_only_holds_the_name_is_not_taken_for_the_entry() {
    let site = Site::new();
    let path = file(&site, "continue");
    put(&path, OTHERS);
    let undone = done(&site, &["setup", "continue", "--undo", "--yes"]);
    assert!(undone.contains("is not set up"), "{undone}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), OTHERS);
    done(&site, &["setup", "continue", "--yes"]);
    let text = std::fs::read_to_string(&path).unwrap();
    let (_, servers) = OTHERS.split_once('\n').unwrap();
    assert!(text.ends_with(servers), "{text}");
    put(&path, &format!("{text}# mine\n"));
    done(&site, &["setup", "continue", "--undo", "--yes"]);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("{OTHERS}# mine\n"));
}

#[test]
fn undo_without_a_setup_keeps_what_it_removes() {
    let site = Site::new();
    for (client, text) in [
        ("continue", "mcpServers:\n  - name: moss\n    command: mine\n"),
        ("cursor", "{ \"mcpServers\": { \"moss\": { \"command\": \"mine\" } } }"),
    ] {
        let path = file(&site, client);
        // The second time there is a record of a setup that was undone.
        for _ in 0..2 {
            put(&path, text);
            let said = done(&site, &["setup", client, "--undo", "--yes"]);
            assert!(!std::fs::read_to_string(&path).unwrap().contains("mine"), "{client}");
            assert_eq!(kept(&said, "before"), text, "{client}");
            put(&path, &text.replace("moss", "other"));
            done(&site, &["setup", client, "--yes"]);
            let text = std::fs::read_to_string(&path).unwrap();
            put(&path, &format!("{text}\n"));
            done(&site, &["setup", client, "--undo", "--yes"]);
        }
    }
}

#[test]
fn yaml_that_leaves_something_open_is_refused_and_stays_as_it_is() {
    let site = Site::new();
    for (client, text) in [
        ("goose", "extensions:\n  moss: {cmd: /old, enabled: true}\n"),
        ("goose", "? extensions\n: a:\n    enabled: true\n"),
        ("goose", "{extensions: {}}\n"),
        ("goose", "a: [\n"),
        ("continue", "mcpServers:\n  - {name: moss, command: mine}\n"),
    ] {
        let path = file(&site, client);
        put(&path, text);
        for arguments in [&["setup", client, "--yes"][..], &["setup", client, "--undo", "--yes"]] {
            let ended = site.run(arguments);
            assert_eq!(ended.code, Some(1), "{text}: {ended:?}");
            assert!(ended.stderr.starts_with("error: "), "{text}: {ended:?}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
    }
}

#[test]
fn an_entry_that_is_switched_off_is_reported_as_such() {
    let site = Site::new();
    for (client, switch, off) in [
        ("codex", "enabled = false\n", "`enabled = false`"),
        ("goose", "    enabled: false\n", "`enabled: false`"),
    ] {
        let path = file(&site, client);
        done(&site, &["setup", client, "--yes"]);
        let text = std::fs::read_to_string(&path).unwrap();
        put(&path, &format!("{}{switch}", text.replace("    enabled: true\n", "")));
        for arguments in
            [&["setup", client, "--yes"][..], &["setup", client, "--yes", "--set", "all"]]
        {
            let said = done(&site, arguments);
            assert!(said.contains(&format!("it is switched off there ({off})")), "{said}");
        }
        let ended = site.run(&["setup", client, "--check"]);
        assert_eq!(ended.code, Some(1), "{ended:?}");
        assert!(ended.stderr.contains("starts no moss") && ended.stderr.contains(off), "{ended:?}");
        let listed = done(&site, &["setup", "--list"]);
        assert!(listed.contains(&format!("nothing: switched off ({off})")), "{listed}");
    }
    let listed: Value = serde_json::from_str(&done(&site, &["setup", "--list", "--json"])).unwrap();
    let codex = listed.as_array().unwrap().iter().find(|one| one["client"] == "codex").unwrap();
    assert_eq!(codex["switched_off"], "enabled = false");
}

#[test]
fn a_list_has_the_set_and_the_forms_of_each_and_says_which_file_cannot_be_read() {
    let site = Site::new();
    done(&site, &["setup", "codex", "--yes", "--set", "all", "--elicit"]);
    done(&site, &["setup", "zed", "--yes"]);
    put(&file(&site, "cursor"), "{ not json");
    put(
        &file(&site, "gemini"),
        "{ \"mcpServers\": { \"moss\": { \"url\": \"https://x.example\" } } }",
    );
    let listed: Value = serde_json::from_str(&done(&site, &["setup", "--list", "--json"])).unwrap();
    let row = |client: &str| {
        listed.as_array().unwrap().iter().find(|one| one["client"] == client).unwrap().clone()
    };
    for (client, set, elicit) in [
        ("codex", json!("all"), json!(true)),
        ("zed", json!("default"), json!(false)),
        ("qwen", Value::Null, Value::Null),
        ("cursor", Value::Null, Value::Null),
    ] {
        let row = row(client);
        assert_eq!((&row["set"], &row["elicit"]), (&set, &elicit), "{row}");
        assert_eq!(row["error"].is_null(), client != "cursor", "{row}");
    }
    assert!(row("cursor")["error"].as_str().unwrap().contains("not JSON"), "{listed}");
    let shown = done(&site, &["setup", "--list"]);
    let line = |client: &str| shown.lines().find(|line| line.starts_with(client)).unwrap();
    assert!(line("cursor").contains("not known: "), "{shown}");
    assert!(line("gemini").contains("starts no command"), "{shown}");
    assert!(line("qwen").trim_end().ends_with(" -"), "{shown}");
}

#[test]
fn what_changes_is_shown_whatever_the_file_is_called() {
    let site = Site::new();
    for name in ["a\u{1b}b.json", "tab\there.json", "plain.json"] {
        let path = site.outside(name);
        let mut command = site.command(["setup", "cline"]);
        command.env("CLINE_MCP_SETTINGS_PATH", &path);
        let ended = Ended::of(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
        assert_eq!(ended.code, Some(4), "{ended:?}");
        assert!(ended.stderr.contains("+    \"moss\": {"), "{name:?}: {ended:?}");
        assert!(!ended.stderr.contains("a\u{1b}b"), "{ended:?}");
    }
}

#[test]
fn a_check_in_a_home_directory_says_that_there_is_no_project() {
    let site = Site::new();
    done(&site, &["setup", "cursor", "--yes"]);
    let check = |arguments: &[&str]| {
        let mut command = site.command(arguments);
        command.current_dir(site.outside("home"));
        let ended = Ended::of(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
        assert_eq!(ended.code, Some(0), "{ended:?}");
        ended
    };
    let ended = check(&["setup", "cursor", "--check"]);
    assert!(ended.stdout.contains("but there is no project here"), "{ended:?}");
    let report: Value =
        serde_json::from_str(&check(&["setup", "cursor", "--check", "--json"]).stdout).unwrap();
    assert_eq!(report["called"], Value::Null, "{report}");
}

#[test]
fn undo_leaves_comments_behind_the_entry_of_codex() {
    let site = Site::new();
    let path = file(&site, "codex");
    for (behind, left) in [
        ("\n# MY SECTION\n\n# about z\n[z]\na=1\n", "# MY SECTION\n\n# about z\n[z]\na=1\n"),
        ("  # indented\n[z]\na=1\n", "  # indented\n[z]\na=1\n"),
        ("\n  # at the end\n", "  # at the end\n"),
    ] {
        put(&path, "a=1\n");
        done(&site, &["setup", "codex", "--yes"]);
        let text = std::fs::read_to_string(&path).unwrap();
        put(&path, &format!("{text}{behind}"));
        done(&site, &["setup", "codex", "--undo", "--yes"]);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("a=1\n\n{left}"));
    }
}

#[test]
fn undo_keeps_what_a_person_wrote_in_the_entry() {
    for (client, before, place, added) in [
        ("codex", Some("a=1\n"), "args = ", "startup_timeout_sec = 5\nargs = "),
        ("codex", None, "args = ", "# slow\nargs = "),
        ("cursor", Some("{ \"a\": 1 }\n"), "\"args\"", "\"timeout\": 5, \"args\""),
        ("cursor", Some("{}\n"), "\n    }\n", "\n    } // note\n"),
        ("cursor", None, "\"args\"", "\"timeout\": 5, \"args\""),
        ("continue", Some("name: a\n"), "    args", "    timeout: 5 # note\n    args"),
        ("continue", None, "    args", "    timeout: 5 # note\n    args"),
    ] {
        let site = Site::new();
        let path = file(&site, client);
        if let Some(before) = before {
            put(&path, before);
        }
        done(&site, &["setup", client, "--yes"]);
        let text = std::fs::read_to_string(&path).unwrap();
        let changed = text.replacen(place, added, 1);
        assert_ne!(changed, text, "{client}");
        put(&path, &changed);
        let said = done(&site, &["setup", client, "--undo", "--yes"]);
        assert_eq!(path.exists(), before.is_some(), "{client}");
        assert_eq!(kept(&said, "before"), changed, "{client}");
        if let Some(before) = before {
            assert_eq!(kept(&said, "before the setup"), before, "{client}");
        }
    }
}

#[test]
fn each_file_of_a_client_has_a_setup_of_its_own() {
    let site = Site::new();
    let [one, other] = ["one", "other"].map(|name| site.outside(name));
    let own = "# mine\n[mcp_servers.moss]\nurl = \"https://x.example\"\n";
    let run = |home: &Path, arguments: &[&str]| {
        let mut command = site.command(arguments);
        command.env("CODEX_HOME", home).stdout(Stdio::piped()).stderr(Stdio::piped());
        let ended = Ended::of(&mut command);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        ended.stdout
    };
    let text = |home: &Path| std::fs::read_to_string(home.join("config.toml")).unwrap();
    put(&one.join("config.toml"), own);
    put(&other.join("config.toml"), "a=1\n");
    let said = run(&one, &["setup", "codex", "--yes"]);
    run(&other, &["setup", "codex", "--yes"]);
    assert_eq!(kept(&said, "before"), own);
    let set_up = text(&other);
    let undone = run(&one, &["setup", "codex", "--undo", "--yes"]);
    assert!(undone.contains("is what it was before"), "{undone}");
    assert_eq!((text(&one).as_str(), text(&other)), (own, set_up));
    // The usual file is another one.
    let undone = done(&site, &["setup", "codex", "--undo", "--yes"]);
    assert!(undone.contains("is not set up"), "{undone}");
    // A path is the same in another spelling.
    run(&other.join("."), &["setup", "codex", "--undo", "--yes"]);
    assert_eq!(text(&other), "a=1\n");
}

#[test]
fn a_copy_that_was_named_stays_after_another_setup() {
    let site = Site::new();
    let path = file(&site, "cursor");
    let own = OWN.replace("example\",", "example\", // mine");
    put(&path, &own);
    let first = done(&site, &["setup", "cursor", "--yes"]);
    add_key(&path, "other");
    let undone = done(&site, &["setup", "cursor", "--undo", "--yes"]);
    assert!(!std::fs::read_to_string(&path).unwrap().contains("// mine"));
    for key in ["more", "most"] {
        done(&site, &["setup", "cursor", "--yes"]);
        add_key(&path, key);
        done(&site, &["setup", "cursor", "--undo", "--yes"]);
    }
    assert_eq!(kept(&first, "before"), own);
    assert_eq!(kept(&undone, "before the setup"), own);
    assert!(kept(&undone, "before").contains("\"other\": 1"));
    // Nor does one without a setup take the place of another.
    let site = Site::new();
    let path = file(&site, "cursor");
    let said = ["one", "two"].map(|command| {
        put(&path, &OWN.replace("https://x.example", command));
        done(&site, &["setup", "cursor", "--undo", "--yes"])
    });
    assert!(kept(&said[0], "before").contains("one") && kept(&said[1], "before").contains("two"));
}

#[test]
fn ten_copies_are_kept_of_a_file_and_the_oldest_goes() {
    let site = Site::new();
    let path = file(&site, "cursor");
    let copies: Vec<_> = (0..12)
        .map(|number: u32| {
            put(&path, &OWN.replace("\"v\"", &number.to_string()));
            kept_at(&done(&site, &["setup", "cursor", "--undo", "--yes"]), "before")
        })
        .collect();
    let are_there: Vec<_> = copies.iter().map(|copy| copy.exists()).collect();
    assert_eq!(are_there, [vec![false; 2], vec![true; 10]].concat(), "{:?}", kept_names(&site));
}

#[test]
fn a_record_of_an_older_moss_counts_for_its_own_file() {
    for is_changed in [false, true] {
        let site = Site::new();
        let path = file(&site, "codex");
        let before = "a=1\n";
        put(&path, before);
        done(&site, &["setup", "codex", "--yes"]);
        let names = kept_names(&site);
        let record = names.iter().find(|name| name.ends_with(".json")).unwrap();
        let older = site.state().join("setup/codex.json");
        std::fs::rename(older.with_file_name(record), &older).unwrap();
        // In another file it is nothing.
        let mut command = site.command(["setup", "codex", "--undo", "--yes"]);
        command.env("CODEX_HOME", site.outside("other"));
        let other = Ended::of(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
        assert!(other.stdout.contains("is not set up"), "{other:?}");
        let text = std::fs::read_to_string(&path).unwrap();
        put(&path, &if is_changed { format!("{text}[z]\n") } else { text });
        let said = done(&site, &["setup", "codex", "--undo", "--yes"]);
        assert_eq!(said.contains("is what it was before"), !is_changed, "{said}");
        let left = std::fs::read_to_string(&path).unwrap();
        assert_eq!(left, if is_changed { "a=1\n\n[z]\n" } else { before });
        let again = done(&site, &["setup", "codex", "--undo", "--yes"]);
        assert!(again.contains("is not set up"), "{again}");
        // The older version named it to a person.
        let record: Value = serde_json::from_slice(&std::fs::read(&older).unwrap()).unwrap();
        assert_eq!(record["before"], before);
    }
}

#[test]
fn what_a_client_writes_meanwhile_stays() {
    let of_client = "{ \"a\": 2 }\n";
    for is_undo in [false, true].repeat(8) {
        let site = Site::new();
        let path = file(&site, "cursor");
        put(&path, "{ \"a\": 1 }\n");
        let mut arguments = vec!["setup", "cursor", "--yes"];
        if is_undo {
            done(&site, &arguments);
            arguments.push("--undo");
        }
        let written = path.with_file_name("written by the client");
        put(&written, of_client);
        let is_drafted = || {
            let names = std::fs::read_dir(path.parent().unwrap()).unwrap();
            names.flatten().any(|entry| entry.file_name().to_string_lossy().ends_with("moss-draft"))
        };
        let mut command = site.command(&arguments);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        while child.try_wait().unwrap().is_none() && !is_drafted() {
            std::thread::yield_now();
        }
        std::fs::rename(&written, &path).unwrap();
        let ended = child.wait_with_output().unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), of_client, "{ended:?}");
        assert!(!is_drafted());
        if !ended.status.success() {
            let said = String::from_utf8_lossy(&ended.stderr);
            assert!(said.contains("changed meanwhile; nothing was written"), "{said}");
            let is_recorded = kept_names(&site).iter().any(|name| name.ends_with(".json"));
            assert_eq!(is_recorded, is_undo, "{ended:?}");
        }
    }
}

#[test]
fn a_list_is_of_no_single_client() {
    let site = Site::new();
    let ended = site.run(&["setup", "codex", "--list"]);
    assert!(ended.stderr.contains("cannot be used with"), "{ended:?}");
    assert!(!ended.stderr.contains("mcp_servers"), "{ended:?}");
}

#[test]
fn a_hard_link_is_reported_before_it_is_cut() {
    let site = Site::new();
    let (path, other) = (file(&site, "cursor"), site.outside("cursor.json"));
    put(&path, "{}\n");
    std::fs::hard_link(&path, &other).unwrap();
    let ended = site.run(&["setup", "cursor"]);
    assert!(ended.stderr.contains("is a hard link"), "{ended:?}");
    let ended = site.run(&["setup", "cursor", "--yes"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(std::fs::read_to_string(&other).unwrap(), "{}\n");
    let ended = site.run(&["setup", "cursor", "--undo", "--yes"]);
    assert!(!ended.stderr.contains("is a hard link"), "{ended:?}");
}

#[test]
fn undo_gives_an_empty_key_of_yaml_its_value_back() {
    let site = Site::new();
    for (client, before) in [
        ("goose", "extensions: {}\nb: 1\n"),
        ("goose", "extensions: {} # none\n"),
        ("continue", "name: a\nmcpServers: []\n"),
        ("goose", "extensions:\nb: 1\n"),
    ] {
        let path = file(&site, client);
        put(&path, before);
        done(&site, &["setup", client, "--yes"]);
        let text = std::fs::read_to_string(&path).unwrap();
        put(&path, &format!("{text}z: 1\n"));
        done(&site, &["setup", client, "--undo", "--yes"]);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("{before}z: 1\n"));
    }
}
