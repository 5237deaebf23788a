//! What results of a SARIF run refer to: its rules, its files, the directories that their paths begin in.

use serde_json::Value;

use crate::lint_output::fields::{list_at, number_at, text_at};

/// Most directories that are named by one another.
const BASES_MAX: usize = 8;

/// A run whose results are read.
pub(super) struct SarifRun<'v> {
    run: &'v Value,
}

/// The element of a list that a number names.
fn nth(list: &[Value], number: Option<i64>) -> Option<&Value> {
    list.get(usize::try_from(number?).ok()?)
}

/// The path that a URI names.
fn path_of(uri: &str) -> String {
    let path = match uri.strip_prefix("file:") {
        // Behind two slashes is the name of a machine, mostly empty.
        Some(rest) => match rest.strip_prefix("//") {
            Some(behind) => &behind[behind.find('/').unwrap_or(0)..],
            None => rest,
        },
        None => uri,
    };
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|_| *first == b'%');
        let escaped = digits
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match escaped {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| path.to_owned())
}

// === impl SarifRun ===

impl<'v> SarifRun<'v> {
    pub(super) fn new(run: &'v Value) -> Self {
        Self { run }
    }

    /// The path that a location names, by its own URI or by its place among the files of the run; empty where it names
    /// none.
    pub(super) fn artifact(&self, location: &Value) -> String {
        let named = || nth(list_at(self.run, "/artifacts"), number_at(location, "/index"));
        let location = match location.get("uri") {
            None => named().map_or(location, |artifact| &artifact["location"]),
            Some(_) => location,
        };
        path_of(&self.uri(location))
    }

    /// The URI of a location behind those of the directories that it begins in, as far as the run says where they are.
    fn uri(&self, location: &Value) -> String {
        let mut uri = text_at(location, "/uri");
        let mut base = text_at(location, "/uriBaseId");
        for _ in 0..BASES_MAX {
            let is_whole = uri.is_empty() || uri.starts_with("file:") || uri.starts_with('/');
            let around = self.run["originalUriBaseIds"].get(&base);
            let Some(around) = around.filter(|_| !is_whole && !base.is_empty()) else { break };
            let directory = text_at(around, "/uri");
            uri = match directory.is_empty() || directory.ends_with('/') {
                true => format!("{directory}{uri}"),
                false => format!("{directory}/{uri}"),
            };
            base = text_at(around, "/uriBaseId");
        }
        uri
    }

    /// The name of the rule of a result.
    pub(super) fn rule_id(&self, result: &Value) -> String {
        let own = [text_at(result, "/ruleId"), text_at(result, "/rule/id")];
        let own = own.into_iter().find(|id| !id.is_empty());
        own.or_else(|| Some(text_at(self.rule(result)?, "/id"))).unwrap_or_default()
    }

    /// How bad a result is whose rule alone says it.
    pub(super) fn default_level(&self, result: &Value) -> Option<String> {
        let level = text_at(self.rule(result)?, "/defaultConfiguration/level");
        Some(level).filter(|level| !level.is_empty())
    }

    /// The message of a result: its own, or one of its rule with what belongs into its gaps.
    pub(super) fn message(&self, result: &Value) -> String {
        let own = text_at(result, "/message/text");
        let id = text_at(result, "/message/id");
        if !own.is_empty() || id.is_empty() {
            return own;
        }
        let strings = self.rule(result).map(|rule| &rule["messageStrings"]);
        let mut text = strings.map_or_else(String::new, |all| text_at(&all[&id], "/text"));
        for (at, argument) in list_at(result, "/message/arguments").iter().enumerate() {
            text = text.replace(&format!("{{{at}}}"), argument.as_str().unwrap_or_default());
        }
        text
    }

    /// The description of the rule of a result, by its place or by its name.
    fn rule(&self, result: &Value) -> Option<&'v Value> {
        let extension = number_at(result, "/rule/toolComponent/index");
        let rules = match extension.filter(|at| *at >= 0) {
            Some(at) => list_at(nth(list_at(self.run, "/tool/extensions"), Some(at))?, "/rules"),
            None => list_at(self.run, "/tool/driver/rules"),
        };
        let place = number_at(result, "/ruleIndex").or(number_at(result, "/rule/index"));
        let id = [text_at(result, "/ruleId"), text_at(result, "/rule/id")];
        let id = id.into_iter().find(|id| !id.is_empty());
        // A part of a rule is named behind a slash.
        let is_it = |rule: &&Value| {
            let (known, id) = (text_at(rule, "/id"), id.as_deref().unwrap_or_default());
            !known.is_empty()
                && (id == known
                    || id.strip_prefix(&known).is_some_and(|rest| rest.starts_with('/')))
        };
        nth(rules, place).or_else(|| rules.iter().find(is_it))
    }
}
