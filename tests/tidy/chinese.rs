//! Texts that people see in Chinese have one for each English text, and none that is left over.

use std::collections::BTreeSet;

use crate::tree::file;
use crate::{hold, rust};

/// Where rules that are built in have their reasons.
const RULES: [&str; 2] = ["crates/policy/src/built_in.rs", "crates/policy/src/commands.rs"];
/// Where rules say of which layer they are, and the layers that are files.
const LAYERS: &str = "crates/policy/src/rule_ref.rs";
const FILES: [&str; 3] = ["admin", "user", "workspace"];
/// What commands that always ask do.
const COMMANDS: &str = "crates/commands/src/always_ask.toml";

#[test]
fn reasons_of_rules_that_are_built_in_have_their_chinese() {
    let texts = RULES.iter().flat_map(|path| rust::strings(&file(path).text));
    let reasons = texts.filter(|text| is_reason(text)).collect();
    hold_to(&reasons, "REASONS", "cli/src/wording/zh/rules.rs");
}

#[test]
fn layers_of_rules_have_their_chinese() {
    let texts = rust::strings(&file(LAYERS).text).into_iter();
    let texts = texts.filter(|text| text.starts_with("because ") || text.starts_with("by "));
    let texts = texts.flat_map(|text| match text.split_once("{}") {
        Some((before, after)) => FILES.map(|layer| format!("{before}{layer}{after}")).to_vec(),
        None => vec![text],
    });
    hold_to(&texts.collect(), "LAYERS", "cli/src/wording/zh/rules.rs");
}

#[test]
fn reasons_of_commands_that_always_ask_have_their_chinese() {
    let table: toml::Table = file(COMMANDS).text.parse().unwrap();
    let commands = table["command"].as_array().unwrap().iter();
    let reasons = commands.map(|command| command["reason"].as_str().unwrap().to_owned()).collect();
    hold_to(&reasons, "ALWAYS_ASK", "cli/src/wording/zh/commands.rs");
}

/// Fails with what a table of Chinese texts lacks of the English ones, and what it has besides them.
fn hold_to(english: &BTreeSet<String>, name: &str, path: &str) {
    let (_, table) = file(path).text.split_once(&format!("const {name}: ")).expect("it is there");
    let (table, _) = table.split_once("\n];").expect("the table ends");
    let translated: BTreeSet<String> =
        rust::strings(table).into_iter().filter(|text| text.is_ascii()).collect();
    let lack = english.difference(&translated).map(|text| format!("no Chinese of: {text}"));
    let left = translated.difference(english).map(|text| format!("nothing says: {text}"));
    hold(&format!("{name} in {path}"), lack.chain(left));
}

/// Whether a text is a whole reason: neither a name nor a form that a reason is put into.
fn is_reason(text: &str) -> bool {
    text.contains(' ') && !text.contains('{')
}
