//! `moss plugin add`.

use std::path::{Path, PathBuf};

use moss_plugin_list::Grant;
use moss_proto::v1;
use moss_proto::v1::change_plugins_request::Change;
use serde_json::{Value, json};

use super::changing::{self, Adjusted, DecisionArgs};
use super::renaming::renamed;
use super::{described, develop};
use crate::Session;
use crate::error::CliError;
use crate::prompt;
use moss_dispatch::Outcome;

/// Add a plugin to a list
///
/// Inspects the component in an instance without any access, and shows its tools, its requests
/// and what it would be allowed: nothing, unless you grant it here. The list pins the digest.
#[derive(Debug, clap::Args)]
pub(crate) struct AddArgs {
    /// The component: a `.wasm` file, the directory of a project, which is built first, an
    /// `https://` URL, which needs `--sha256`, or `oci://HOST/NAME@sha256:HEX`
    #[arg(value_name = "FILE|DIR|URL|REFERENCE")]
    source: String,

    /// Expected name; by default the component's own name
    #[arg(long)]
    name: Option<String>,

    /// The list; by default your own, `moss-tools.json` in the configuration directory
    #[arg(long, value_name = "FILE")]
    list: Option<PathBuf>,

    /// The SHA-256 that the component must have
    #[arg(long, value_name = "HEX")]
    sha256: Option<String>,

    /// Its detached signature, as minisign makes them
    #[arg(long, value_name = "FILE|URL")]
    signature: Option<String>,

    #[command(flatten)]
    grants: GrantArgs,

    /// Its settings, a JSON object
    #[arg(long, value_name = "JSON")]
    config: Option<String>,

    /// Rename one of its tools, such as `count_words=wc`
    #[arg(long, value_name = "OWN=NAME")]
    rename: Vec<String>,

    /// Replace the entry of the same name
    #[arg(long)]
    replace: bool,

    #[command(flatten)]
    decision: DecisionArgs,
}

/// What it is granted.
#[derive(Debug, clap::Args)]
struct GrantArgs {
    /// Grant everything that it requests
    #[arg(long, conflicts_with_all = ["grant", "fs", "http", "env", "tool", "store", "editor", "index", "command"])]
    grant_requested: bool,

    /// Grant this, as lists have it
    #[arg(long, value_name = "JSON", conflicts_with_all = ["fs", "http", "env", "tool", "store", "editor", "index", "command"])]
    grant: Option<String>,

    /// Let it read a file or directory of the workspace
    #[arg(long, value_name = "PATH")]
    fs: Vec<String>,

    /// Let it reach a host, such as `api.example.com` or `*.example.com`
    #[arg(long, value_name = "HOST")]
    http: Vec<String>,

    /// Let it read an environment variable
    #[arg(long, value_name = "NAME")]
    env: Vec<String>,

    /// Let it call a read-only tool of moss
    #[arg(long, value_name = "NAME")]
    tool: Vec<String>,

    /// Let it store this much between calls, such as `1MiB`
    #[arg(long, value_name = "SIZE")]
    store: Option<String>,

    /// Let it ask the editor for symbols
    #[arg(long)]
    editor: bool,

    /// Let it search all texts of the workspace that it may read
    #[arg(long)]
    index: bool,

    /// Let it run a command with exactly these words, such as `git rev-parse HEAD`; `*` is one word.
    /// One that may write needs a rule of the policy that allows it as well
    #[arg(long, value_name = "WORDS")]
    command: Vec<String>,
}

pub(super) async fn run(args: AddArgs, session: &Session) -> Result<Outcome, CliError> {
    check(&args)?;
    let grant = args.grants.to_json();
    let is_open = grant.is_empty() && !args.grants.grant_requested;
    let source = match Path::new(&args.source).is_dir() {
        true => absolute(Some(develop::component_of(Path::new(&args.source), session).await?))?,
        false => place(Some(args.source))?,
    };
    let add = v1::AddPlugin {
        list: absolute(args.list)?,
        name: args.name.unwrap_or_default(),
        source,
        signature: place(args.signature)?,
        sha256: args.sha256.unwrap_or_default(),
        grant_json: grant,
        grant_requested: args.grants.grant_requested,
        replace: args.replace,
        config_json: args.config.unwrap_or_default(),
        tools: renamed(&args.rename)?,
    };
    let request = v1::ChangePluginsRequest { change: Some(Change::Add(add)), ..Default::default() };
    let ui = &session.ui;
    changing::run(session, request, args.decision, async |shown, request| {
        let mut components = shown.consent.plugins.iter().filter_map(|one| one.component.as_ref());
        if !is_open || components.all(|component| component.may_not.is_empty()) {
            return Ok(Adjusted::Nothing);
        }
        ui.note(&described::change(&ui.wording().plugin, &shown.consent));
        let granted = prompt::agree(ui, ui.wording().plugin.grant_everything).await?;
        if let Some(Change::Add(add)) = &mut request.change {
            add.grant_requested = granted;
        }
        Ok(if granted { Adjusted::Request } else { Adjusted::Shown })
    })
    .await
}

/// Refuses what no list could say, by the option that says it.
fn check(args: &AddArgs) -> Result<(), CliError> {
    args.grants.check()?;
    if args.source.starts_with("https://") && args.sha256.is_none() {
        let message = "a source on the network needs `--sha256 HEX`: the list pins it";
        return Err(CliError::invalid(message));
    }
    match args.config.as_deref().map(serde_json::from_str::<Value>) {
        None | Some(Ok(Value::Object(_))) => Ok(()),
        Some(Ok(_)) => Err(CliError::invalid("`--config`: expected a JSON object")),
        Some(Err(error)) => Err(CliError::invalid(format!("`--config`: not JSON: {error}"))),
    }
}

/// A URL, or a path as it is for a daemon.
fn place(text: Option<String>) -> Result<String, CliError> {
    match text {
        Some(url) if url.contains("://") => Ok(url),
        path => absolute(path.map(PathBuf::from)),
    }
}

/// A path as it is for a daemon, which is somewhere else.
pub(super) fn absolute(path: Option<PathBuf>) -> Result<String, CliError> {
    let Some(path) = path else { return Ok(String::new()) };
    let absolute = std::path::absolute(&path)?;
    // Without links and `..`, where there is such a file.
    let real = absolute.canonicalize().unwrap_or(absolute);
    let text = real.to_str().map(ToOwned::to_owned);
    text.ok_or_else(|| CliError::invalid(format!("{}: not UTF-8", path.display())))
}

// === impl GrantArgs ===

impl GrantArgs {
    fn check(&self) -> Result<(), CliError> {
        let parsed = |said: String, grant: &str| match Grant::parse(grant) {
            Ok(_) => Ok(()),
            Err(why) => Err(CliError::invalid(format!("`{said}`: {why}"))),
        };
        if let Some(grant) = &self.grant {
            parsed("--grant".to_owned(), grant)?;
        }
        for path in &self.fs {
            let grant = json!({ "fs": [{ "path": path, "access": "read" }] });
            parsed(format!("--fs {path}"), &grant.to_string())?;
        }
        let lists = [
            ("http", &self.http),
            ("env", &self.env),
            ("tool", &self.tool),
            ("command", &self.command),
        ];
        for (option, names) in lists {
            let key = match option {
                "tool" => "tools",
                "command" => "commands",
                other => other,
            };
            for name in names {
                parsed(format!("--{option} {name}"), &json!({ key: [name] }).to_string())?;
            }
        }
        match &self.store {
            Some(size) => parsed(format!("--store {size}"), &json!({ "store": size }).to_string()),
            None => Ok(()),
        }
    }

    /// The grant as lists have it; nothing where none of the options is given.
    fn to_json(&self) -> String {
        if let Some(grant) = &self.grant {
            return grant.clone();
        }
        let mut all = serde_json::Map::new();
        let files = self.fs.iter().map(|path| json!({ "path": path, "access": "read" }));
        let pairs = [
            ("fs", files.collect::<Vec<Value>>()),
            ("http", self.http.iter().map(|host| json!(host)).collect()),
            ("env", self.env.iter().map(|name| json!(name)).collect()),
            ("tools", self.tool.iter().map(|name| json!(name)).collect()),
            ("commands", self.command.iter().map(|words| json!(words)).collect()),
        ];
        for (key, items) in pairs.into_iter().filter(|(_, items)| !items.is_empty()) {
            all.insert(key.to_owned(), Value::Array(items));
        }
        if let Some(size) = &self.store {
            all.insert("store".to_owned(), json!(size));
        }
        if self.editor {
            all.insert("editor".to_owned(), json!(true));
        }
        if self.index {
            all.insert("index".to_owned(), json!(true));
        }
        if all.is_empty() { String::new() } else { Value::Object(all).to_string() }
    }
}
