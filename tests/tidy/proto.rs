//! Rules about the wire format.

use std::collections::BTreeMap;

use crate::hold;
use crate::tree::{FILES, File};

#[test]
fn every_rpc_has_messages_of_its_own() {
    let mut users: BTreeMap<String, usize> = BTreeMap::new();
    let mut offences = Vec::new();
    for (file, rpc) in rpcs() {
        let Some((name, request, response)) = parts(rpc) else {
            offences.push(format!("{}: not on one line: {rpc}", file.path));
            continue;
        };
        if request != format!("{name}Request") || response != format!("{name}Response") {
            offences.push(format!("{}: {name}({request}) returns ({response})", file.path));
        }
        *users.entry(request.to_owned()).or_default() += 1;
        *users.entry(response.to_owned()).or_default() += 1;
    }
    assert!(!users.is_empty(), "no rpc was found");
    let shared = users.into_iter().filter(|(_, users)| *users > 1);
    hold("messages of its own", offences.into_iter().chain(shared.map(|(message, _)| message)));
}

#[test]
fn packages_follow_directories() {
    let offences = protos().filter(|file| {
        let package = file.text.lines().find_map(|line| line.strip_prefix("package "));
        let directory = file.path.strip_prefix("proto/").and_then(|path| path.rsplit_once('/'));
        package.and_then(|package| package.strip_suffix(';')).map(str::to_owned)
            != directory.map(|(directory, _)| directory.replace('/', "."))
    });
    hold("the package is the directory", offences.map(|file| file.path.clone()));
}

#[test]
fn enumerations_start_unspecified() {
    let offences = protos().flat_map(|file| {
        let lines: Vec<&str> = file.text.lines().map(str::trim).collect();
        let mut bad = Vec::new();
        for (at, line) in lines.iter().enumerate() {
            let Some(name) = line.strip_prefix("enum ").and_then(|rest| rest.strip_suffix(" {"))
            else {
                continue;
            };
            let first = lines[at + 1..].iter().find(|line| !line.starts_with("//"));
            let expected = format!("{}_UNSPECIFIED = 0;", screaming(name));
            if first.is_none_or(|first| *first != expected) {
                bad.push(format!("{}: {name}", file.path));
            }
        }
        bad
    });
    hold("the first value is <NAME>_UNSPECIFIED = 0", offences);
}

fn protos() -> impl Iterator<Item = &'static File> {
    FILES.iter().filter(|file| file.path.starts_with("proto/") && file.path.ends_with(".proto"))
}

fn rpcs() -> impl Iterator<Item = (&'static File, &'static str)> {
    protos().flat_map(|file| {
        let lines = file.text.lines().map(str::trim);
        lines.filter(|line| line.starts_with("rpc ")).map(move |line| (file, line))
    })
}

/// Takes `rpc Name(Request) returns (stream Response);` apart.
fn parts(rpc: &str) -> Option<(&str, &str, &str)> {
    let (name, rest) = rpc.strip_prefix("rpc ")?.split_once('(')?;
    let (request, rest) = rest.split_once(") returns (")?;
    let response = rest.strip_suffix(");")?;
    let [request, response] =
        [request, response].map(|message| message.strip_prefix("stream ").unwrap_or(message));
    Some((name, request, response))
}

/// Writes `ToolKind` as `TOOL_KIND`.
fn screaming(name: &str) -> String {
    let mut text = String::new();
    for (at, c) in name.char_indices() {
        if at > 0 && c.is_uppercase() {
            text.push('_');
        }
        text.extend(c.to_uppercase());
    }
    text
}
