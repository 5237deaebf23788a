//! The clients that are known: one row each, from which help, lists and edits follow.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// How a configuration file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileFormat {
    /// JSON, with comments and trailing commas where the client takes them.
    Json,
    /// TOML, in which the servers are tables.
    Toml,
    /// YAML in which the servers are a mapping.
    YamlMap,
    /// YAML in which the servers are a list.
    YamlList,
}

/// What an entry of a client looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryForm {
    /// The keys `command` and `args`.
    Plain,
    /// The same with a `type`.
    Typed,
    /// The same with a `source`.
    Sourced,
    /// One list of the command and its arguments.
    OneList,
    /// As Goose has extensions.
    Extension,
    /// With the tools that it may use, as Copilot has them.
    WithTools,
}

/// What a client shall start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerCommand {
    /// A path, or a name that is looked up in PATH.
    pub command: String,
    /// What follows it, one word each.
    pub args: Vec<String>,
    /// Variables that it needs beside those that every client passes on.
    pub environment: BTreeMap<String, String>,
}

/// A client, and where and how its servers are configured.
#[derive(Debug)]
pub struct ClientRow {
    /// What it is called on the command line.
    pub id: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// Its configuration file: the first that exists of several, or else the first.
    pub files: &'static [(BaseDirectory, &'static str)],
    /// Variables by which people put it elsewhere, and the path beneath what they name.
    pub variables: &'static [(&'static str, &'static str)],
    /// How that file is written.
    pub format: FileFormat,
    /// The key whose value has the servers.
    pub key: &'static str,
    /// What an entry in it looks like.
    pub form: EntryForm,
    /// Members of an entry with the value by which the client leaves it alone.
    switches: &'static [(&'static str, bool)],
    /// What the file of a client that has none yet begins with.
    pub preamble: &'static str,
    /// A file beneath the home directory that the client reads no more once it has the other.
    pub replaced: Option<&'static str>,
}

/// What a path begins at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BaseDirectory {
    /// The directory that HOME names, which most clients use.
    Home,
    /// `~/.config`, or what XDG_CONFIG_HOME names.
    Config,
    /// Where editors made with Electron keep theirs.
    Applications,
}

use BaseDirectory::{Applications, Config, Home};
use EntryForm::{Extension, OneList, Plain, Sourced, Typed, WithTools};
use FileFormat::{Json, Toml, YamlList, YamlMap};

/// The name of the entry.
pub const NAME: &str = "moss";

const CLINE_SETTINGS: &str = "settings/cline_mcp_settings.json";
/// What every Cline reads: the extension of editors, the command line.
const CLINE: &str = ".cline/data/settings/cline_mcp_settings.json";
/// Where older extensions have it.
const CLINE_EXTENSION: &str =
    "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json";
/// The keys of an entry that say what is started.
const STARTING_KEYS: [&str; 4] = ["command", "cmd", "args", "type"];
/// How clients have a server switched off.
const ENABLED: (&str, bool) = ("enabled", false);
const DISABLED: (&str, bool) = ("disabled", true);
const CONTINUE: &str = "name: Local Config\nversion: 1.0.0\nschema: v1\n";

/// Every client that is known, in the order of lists.
pub const CLIENTS: &[ClientRow] = &[
    ClientRow {
        variables: &[("CLAUDE_CONFIG_DIR", ".claude.json")],
        ..row("claude-code", "Claude Code", &[(Home, ".claude.json")], Json, "mcpServers", Typed)
    },
    ClientRow {
        variables: &[("CODEX_HOME", "config.toml")],
        switches: &[ENABLED],
        ..row("codex", "Codex", &[(Home, ".codex/config.toml")], Toml, "mcp_servers", Plain)
    },
    row("vscode", "VS Code", &[(Applications, "Code/User/mcp.json")], Json, "servers", Typed),
    row("cursor", "Cursor", &[(Home, ".cursor/mcp.json")], Json, "mcpServers", Plain),
    ClientRow {
        switches: &[ENABLED],
        ..row("zed", "Zed", &[(Config, "zed/settings.json")], Json, "context_servers", Sourced)
    },
    row("gemini", "Gemini CLI", &[(Home, ".gemini/settings.json")], Json, "mcpServers", Plain),
    row("qwen", "Qwen Code", &[(Home, ".qwen/settings.json")], Json, "mcpServers", Plain),
    ClientRow {
        variables: &[("CLINE_MCP_SETTINGS_PATH", ""), ("CLINE_DATA_DIR", CLINE_SETTINGS)],
        switches: &[DISABLED],
        ..row(
            "cline",
            "Cline",
            &[(Home, CLINE), (Applications, CLINE_EXTENSION)],
            Json,
            "mcpServers",
            Plain,
        )
    },
    ClientRow {
        variables: &[("COPILOT_HOME", "mcp-config.json")],
        ..row(
            "copilot",
            "Copilot CLI",
            &[(Home, ".copilot/mcp-config.json")],
            Json,
            "mcpServers",
            WithTools,
        )
    },
    row(
        "jetbrains",
        "JetBrains Junie",
        &[(Home, ".junie/mcp/mcp.json")],
        Json,
        "mcpServers",
        Plain,
    ),
    ClientRow {
        preamble: CONTINUE,
        replaced: Some(".continue/config.json"),
        ..row(
            "continue",
            "Continue",
            &[(Home, ".continue/config.yaml")],
            YamlList,
            "mcpServers",
            Plain,
        )
    },
    ClientRow {
        switches: &[ENABLED, DISABLED],
        ..row(
            "opencode",
            "OpenCode",
            &[(Config, "opencode/opencode.json"), (Config, "opencode/opencode.jsonc")],
            Json,
            "mcp",
            OneList,
        )
    },
    ClientRow {
        switches: &[ENABLED],
        ..row("goose", "Goose", &[(Config, "goose/config.yaml")], YamlMap, "extensions", Extension)
    },
];

const fn row(
    id: &'static str,
    title: &'static str,
    files: &'static [(BaseDirectory, &'static str)],
    format: FileFormat,
    key: &'static str,
    form: EntryForm,
) -> ClientRow {
    let (variables, switches, preamble, replaced) = (&[], &[], "", None);
    ClientRow { id, title, files, variables, format, key, form, switches, preamble, replaced }
}

/// Finds a client by its name.
pub fn find(id: &str) -> Option<&'static ClientRow> {
    CLIENTS.iter().find(|client| client.id == id)
}

// === impl ClientRow ===

impl ClientRow {
    /// The entry for a command, in the client's form.
    pub fn entry(&self, server: &ServerCommand) -> Value {
        let ServerCommand { command, args, environment } = server;
        let mut entry = match self.form {
            Plain => json!({ "command": command, "args": args }),
            Typed => json!({ "type": "stdio", "command": command, "args": args }),
            Sourced => json!({ "source": "custom", "command": command, "args": args, "env": {} }),
            OneList => {
                let all: Vec<&String> = std::iter::once(command).chain(args).collect();
                json!({ "type": "local", "command": all })
            }
            WithTools => {
                json!({ "type": "local", "command": command, "args": args, "tools": ["*"] })
            }
            Extension => json!({
                "name": NAME, "type": "stdio", "enabled": true, "cmd": command, "args": args,
                "envs": {}, "timeout": 300,
            }),
        };
        if !environment.is_empty() {
            entry[self.environment_key()] = json!(environment);
        }
        entry
    }

    /// The entry for a command where there is one already: what it starts is replaced, and everything else that
    /// somebody set in it stays, as variables, time limits and leave for tools. Variables of `own` are moss's.
    pub fn updated(&self, old: &Value, server: &ServerCommand, own: &[&str]) -> Value {
        let new = self.entry(server);
        let Some(members) = old.as_object().filter(|_| self.command(old).is_some()) else {
            return new;
        };
        let mut merged = members.clone();
        for (key, value) in new.as_object().into_iter().flatten() {
            let variables = merged.get(key).and_then(Value::as_object);
            if key == self.environment_key()
                && let Some(variables) = variables
            {
                let mut variables = variables.clone();
                variables.retain(|name, _| !own.contains(&name.as_str()));
                variables.extend(value.as_object().cloned().unwrap_or_default());
                merged.insert(key.clone(), Value::Object(variables));
            } else if STARTING_KEYS.contains(&key.as_str()) || !merged.contains_key(key) {
                merged.insert(key.clone(), value.clone());
            }
        }
        let without = server.environment.is_empty();
        let variables = merged.get_mut(self.environment_key()).filter(|_| without);
        if let Some(variables) = variables.and_then(Value::as_object_mut) {
            variables.retain(|name, _| !own.contains(&name.as_str()));
        }
        Value::Object(merged)
    }

    /// What in an entry keeps the client from starting it, as its file has it.
    pub fn switched_off(&self, entry: &Value) -> Option<String> {
        let (key, value) = self.switches.iter().find(|(key, off)| entry[*key] == *off)?;
        Some(match self.format {
            Json => format!("\"{key}\": {value}"),
            Toml => format!("{key} = {value}"),
            YamlMap | YamlList => format!("{key}: {value}"),
        })
    }

    /// The key of an entry that has the variables.
    fn environment_key(&self) -> &'static str {
        match self.form {
            Plain | Typed | Sourced | WithTools => "env",
            OneList => "environment",
            Extension => "envs",
        }
    }

    /// Reads the command out of an entry; none where it is not in the client's form.
    pub fn command(&self, entry: &Value) -> Option<ServerCommand> {
        let texts = |value: &Value| -> Option<Vec<String>> {
            value.as_array()?.iter().map(|one| one.as_str().map(ToOwned::to_owned)).collect()
        };
        let variables = entry[self.environment_key()].as_object().into_iter().flatten();
        let variables = variables.filter_map(|(name, value)| Some((name, value.as_str()?)));
        let environment = variables.map(|(name, value)| (name.clone(), value.to_owned())).collect();
        if self.form == OneList {
            let mut all = texts(&entry["command"])?.into_iter();
            return Some(ServerCommand { command: all.next()?, args: all.collect(), environment });
        }
        let key = if self.form == Extension { "cmd" } else { "command" };
        let args = match &entry["args"] {
            Value::Null => Vec::new(),
            args => texts(args)?,
        };
        Some(ServerCommand { command: entry[key].as_str()?.to_owned(), args, environment })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_says_what_it_starts() {
        let mut server = ServerCommand {
            command: "/a b/moss".into(),
            args: vec!["mcp".into()],
            environment: BTreeMap::new(),
        };
        for value in [None, Some("/data/state")] {
            let variables = value.map(|value| ("XDG_STATE_HOME".to_owned(), value.to_owned()));
            server.environment.extend(variables);
            for client in CLIENTS {
                let entry = client.entry(&server);
                assert_eq!(client.command(&entry), Some(server.clone()), "{}", client.id);
                assert_eq!(client.command(&json!({ "url": "https://x.example" })), None);
            }
        }
    }

    #[test]
    fn an_entry_that_is_switched_off_says_so_in_the_words_of_its_file() {
        for (id, entry, expected) in [
            ("codex", json!({ "enabled": false }), Some("enabled = false")),
            ("codex", json!({ "enabled": true }), None),
            ("zed", json!({ "enabled": false }), Some("\"enabled\": false")),
            ("cline", json!({ "disabled": true }), Some("\"disabled\": true")),
            ("cline", json!({ "disabled": false }), None),
            ("opencode", json!({ "enabled": false }), Some("\"enabled\": false")),
            ("opencode", json!({ "disabled": true }), Some("\"disabled\": true")),
            ("goose", json!({ "enabled": false }), Some("enabled: false")),
            // It does not read such a key.
            ("copilot", json!({ "disabled": true }), None),
            ("cursor", json!({}), None),
        ] {
            assert_eq!(
                find(id).unwrap().switched_off(&entry).as_deref(),
                expected,
                "{id}: {entry}"
            );
        }
    }
}
