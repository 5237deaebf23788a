//! The grants of an entry: read here, and written here in the form in which they are read.

use moss_sdk::RelPath;
use serde_json::{Map, Value, json};

use super::GRANTS_MAX;
use super::limits::{STORES, in_range, parse_size};
use super::source::{ListNode, ListProblem};
use crate::grants::command::CommandPattern;
use crate::grants::host::HostPattern;
use crate::grants::paths::read_globs;
use crate::grants::{FileGrant, Grant, NamePattern, OWN_VARIABLES};
use crate::tool_names::is_tool_name;
use crate::units;

/// Reads what a plugin is granted.
pub(super) fn parse_grant(node: ListNode<'_>) -> Result<Grant, ListProblem> {
    let mut given =
        node.object(&["fs", "http", "env", "store", "tools", "editor", "index", "commands"])?;
    let mut grant = Grant::default();
    if let Some(items) = given.optional("fs") {
        grant.files = each(items, parse_files)?;
    }
    if let Some(items) = given.optional("http") {
        grant.http = each(items, |item| {
            let text = item.string()?;
            HostPattern::parse_granted(text).map_err(|why| item.problem(format!("`{text}` {why}")))
        })?;
    }
    if let Some(items) = given.optional("env") {
        grant.env = each(items, parse_variable)?;
    }
    if let Some(items) = given.optional("tools") {
        grant.tools = each(items, |item| parse_named(item, "a tool"))?;
    }
    if let Some(items) = given.optional("commands") {
        grant.commands = each(items, parse_command)?;
    }
    if let Some(node) = given.optional("store") {
        let size = parse_size(node)?;
        in_range(node, "store", size, STORES.contains(&size), "1B to 64MiB")?;
        grant.store_bytes_max = size as u64;
    }
    if let Some(node) = given.optional("editor") {
        grant.editor = node.boolean()?;
    }
    if let Some(node) = given.optional("index") {
        grant.index = node.boolean()?;
    }
    Ok(grant)
}

fn each<'t, T>(
    items: ListNode<'t>,
    parse: impl Fn(ListNode<'t>) -> Result<T, ListProblem>,
) -> Result<Vec<T>, ListProblem> {
    items.array(GRANTS_MAX)?.map(parse).collect()
}

/// Reads a name. Every name at once is not granted: whoever adds a plugin sees what it gets.
fn parse_named(node: ListNode<'_>, what: &str) -> Result<NamePattern, ListProblem> {
    let name = node.string()?;
    if is_tool_name(name) {
        Ok(NamePattern::Exactly(name.to_owned()))
    } else {
        Err(node.problem(format!("`{name}` is not the name of {what}")))
    }
}

fn parse_variable(node: ListNode<'_>) -> Result<NamePattern, ListProblem> {
    let name = node.string()?;
    if name.starts_with(OWN_VARIABLES) {
        return Err(node.problem(format!("`{name}` is moss's own, and no plugin sees it")));
    }
    parse_named(node, "a variable")
}

/// Reads the words of a command. Every command at once is not granted.
fn parse_command(node: ListNode<'_>) -> Result<CommandPattern, ListProblem> {
    let text = node.string()?;
    match CommandPattern::parse(text) {
        Ok(CommandPattern::Any) => Err(node
            .problem("`*` is not a command")
            .help("grant its words, such as `git rev-parse HEAD`; `*` stands for one of them")),
        Ok(words) => Ok(words),
        Err(why) => Err(node.problem(format!("`{text}` {why}"))),
    }
}

fn parse_files(node: ListNode<'_>) -> Result<FileGrant, ListProblem> {
    let mut files = node.object(&["path", "access", "except"])?;
    let path = files.required("path")?;
    let access = files.required("access")?;
    match access.string()? {
        "read" => {}
        "write" | "read-write" | "readwrite" => {
            return Err(access
                .problem("plugins never write files by themselves")
                .help("grant `read`; a plugin returns the edits that it proposes"));
        }
        other => {
            return Err(access
                .problem(format!("`{other}` is not a kind of access"))
                .help("`read` is the only one"));
        }
    }
    let path = RelPath::parse(path.string()?).map_err(|error| {
        let problem = path.problem(error.message);
        match error.hint {
            Some(hint) => problem.help(hint),
            None => problem,
        }
    })?;
    let mut except = match files.optional("except") {
        Some(globs) => each(globs, parse_glob)?,
        None => Vec::new(),
    };
    except.sort();
    Ok(FileGrant { path, except })
}

fn parse_glob(node: ListNode<'_>) -> Result<String, ListProblem> {
    let glob = node.string()?.to_owned();
    match read_globs(std::slice::from_ref(&glob)) {
        Ok(_) if !glob.is_empty() => Ok(glob),
        Ok(_) => Err(node.problem("the glob is empty")),
        Err(why) => Err(node
            .problem(format!("`{glob}` is not a glob: {why}"))
            .help("`*` stands for a part of a name, `**` for directories, such as `**/*.pem`")),
    }
}

/// Leaves out of a grant what [`parse_grant`] refuses, and makes of the rest what it reads.
pub(super) fn grantable(grant: &Grant) -> Grant {
    let named = |names: &[NamePattern], is_free: fn(&str) -> bool| {
        let is_named =
            |name: &&NamePattern| matches!(name, NamePattern::Exactly(name) if is_free(name));
        names.iter().filter(is_named).cloned().collect()
    };
    let reread = |host: &HostPattern| HostPattern::parse_granted(&host.to_string()).ok();
    Grant {
        files: grant.files.clone(),
        http: grant.http.iter().filter_map(reread).collect(),
        env: named(&grant.env, |name| !name.starts_with(OWN_VARIABLES)),
        store_bytes_max: grant.store_bytes_max.min(*STORES.end() as u64),
        tools: named(&grant.tools, |_| true),
        editor: grant.editor,
        index: grant.index,
        commands: grant
            .commands
            .iter()
            .filter(|one| **one != CommandPattern::Any)
            .cloned()
            .collect(),
    }
}

/// Writes a grant in the form in which it is read; what it does not have is left out.
pub(super) fn written(grant: &Grant) -> Value {
    let mut all = Map::new();
    let texts = |items: Vec<String>| Value::from(items);
    if !grant.files.is_empty() {
        let files = grant.files.iter().map(|files| {
            let mut one = json!({ "path": files.path.as_str(), "access": "read" });
            if !files.except.is_empty() {
                one["except"] = texts(files.except.clone());
            }
            one
        });
        all.insert("fs".to_owned(), files.collect());
    }
    let named = [
        ("http", grant.http.iter().map(ToString::to_string).collect::<Vec<_>>()),
        ("env", grant.env.iter().map(ToString::to_string).collect()),
        ("tools", grant.tools.iter().map(ToString::to_string).collect()),
        ("commands", grant.commands.iter().map(ToString::to_string).collect()),
    ];
    for (key, items) in named.into_iter().filter(|(_, items)| !items.is_empty()) {
        all.insert(key.to_owned(), texts(items));
    }
    if grant.store_bytes_max > 0 {
        let bytes = usize::try_from(grant.store_bytes_max).unwrap_or(usize::MAX);
        all.insert("store".to_owned(), units::size(bytes).into());
    }
    if grant.editor {
        all.insert("editor".to_owned(), true.into());
    }
    if grant.index {
        all.insert("index".to_owned(), true.into());
    }
    Value::Object(all)
}
