//! A change of a plugin list as a person is shown it before answering.

use std::fmt::Write as _;

use serde_json::Value;

use crate::ui::{bold, dim, yellow};
use crate::{diff, text};

/// Why something is not granted that was asked for, with a grant of all that is.
const WITHHELD: &str = "not granted, because no list grants so much at once; name what is meant with \
                        --env, --tool, --http or --store";

/// Shows a change: what plugin, from where, what it asks for, what it would be allowed.
pub(crate) fn change(shown: &Value) -> String {
    if shown["action"] == "trust" {
        return trust(shown);
    }
    let said = |key: &str| shown[key].as_str().map(text::line).unwrap_or_default();
    let mut out = String::new();
    let plugin = format!("{} {}", said("name"), said("version"));
    let heading = match shown["action"].as_str() {
        Some("remove") => format!("take the plugin {} out of {}", said("name"), said("list")),
        Some("accept") => format!("pin the plugin {} in {}", plugin.trim_end(), said("list")),
        Some("untrust") => format!("trust the list {} no more", said("list")),
        Some("fetch") => format!("fetch from {}: {}", said("host"), said("source")),
        Some("replace") => format!("replace the plugin {} in {}", plugin.trim_end(), said("list")),
        _ => format!("add the plugin {} to {}", plugin.trim_end(), said("list")),
    };
    let _ = writeln!(out, "{}", bold(heading));
    for key in ["source", "sha256", "pinned", "signed_by", "reason"] {
        let is_said = key == "source" && shown["action"] == "fetch";
        if shown[key].is_string() && !is_said {
            let _ = writeln!(out, "{key}: {}", said(key));
        }
    }
    if let Some(keys) = shown["store_keys"].as_u64().filter(|keys| *keys > 0) {
        let what = match &shown["forgets_store"] {
            Value::Bool(true) => yellow("which is forgotten"),
            _ => "which stays; `--forget-store` forgets it".to_owned(),
        };
        let keys = if keys == 1 { "1 key".to_owned() } else { format!("{keys} keys") };
        let _ = writeln!(out, "it keeps {keys} in its store, {what}");
    }
    out.push_str(&capabilities(shown));
    out
}

/// Shows what a list of a workspace would load.
fn trust(shown: &Value) -> String {
    let list = plain(&shown["list"]);
    let mut out = format!("{}\n", bold(format!("trust the list {list} as it is")));
    for plugin in shown["plugins"].as_array().into_iter().flatten() {
        let name = format!("{} {}", plain(&plugin["name"]), plain(&plugin["version"]));
        let _ = writeln!(out, "\n{}", bold(name.trim_end()));
        let is_pinned = plugin["pinned"].is_string();
        for key in ["source", "sha256", "pinned", "signed_by", "problem"] {
            if plugin[key].is_string() {
                let said = if key == "sha256" && !is_pinned { "the file has sha256" } else { key };
                let _ = writeln!(out, "{said}: {}", plain(&plugin[key]));
            }
        }
        if !is_pinned {
            let source = plain(&plugin["source"]);
            let told = format!("not pinned: who can write {source} can change its code unseen");
            let _ = writeln!(out, "{}", yellow(told));
        }
        section(&mut out, "granted", lines_of(&plugin["granted"], plain));
        section(&mut out, "one call may use", lines_of(&plugin["limits"], plain));
        if plugin["config"].is_object() {
            let _ = writeln!(out, "settings: {}", text::json(&plugin["config"].to_string()));
        }
        out.push_str(&capabilities(plugin));
    }
    if let Some(diff) = shown["since_trusted"].as_str() {
        let _ = writeln!(out, "\n{}", dim("since it was trusted:"));
        out.push_str(&match diff {
            "" => "  nothing changed in the list\n".to_owned(),
            diff => diff::colored(diff),
        });
    }
    out
}

/// Shows what a plugin does, asks for and may do.
fn capabilities(shown: &Value) -> String {
    let mut out = String::new();
    section(
        &mut out,
        "tools",
        shown["tools"].as_array().into_iter().flatten().flat_map(tool).collect(),
    );
    section(&mut out, "functions that are no tools", lines_of(&shown["left_out"], plain));
    section(&mut out, "asks for", lines_of(&shown["requested"], request));
    if shown["may"].is_array() {
        let may = lines_of(&shown["may"], plain);
        section(&mut out, "may", if may.is_empty() { vec!["nothing".to_owned()] } else { may });
    }
    let useless = lines_of(&shown["without_effect"], |line| yellow(plain(line)));
    section(&mut out, "granted without effect", useless);
    section(&mut out, "may not", lines_of(&shown["may_not"], |line| yellow(plain(line))));
    let withheld = lines_of(&shown["withheld"], |line| yellow(plain(line)));
    section(&mut out, WITHHELD, withheld);
    let mut differs = lines_of(&shown["differences"], plain);
    if differs.is_empty() && shown["is_what_serves"] == false {
        differs.push("only its code".to_owned());
    }
    section(&mut out, "differs from what serves", differs);
    if let Some(diff) = shown["texts_since_served"].as_str() {
        let _ = writeln!(out, "{}", dim("what models read of it, since what serves:"));
        out.push_str(&diff::colored(diff));
    }
    out
}

fn section(out: &mut String, heading: &str, lines: Vec<String>) {
    if !lines.is_empty() {
        let _ = writeln!(out, "{}", dim(format!("{heading}:")));
        lines.iter().for_each(|line| {
            let _ = writeln!(out, "  {line}");
        });
    }
}

fn lines_of(items: &Value, line: impl Fn(&Value) -> String) -> Vec<String> {
    items.as_array().into_iter().flatten().map(line).collect()
}

fn plain(line: &Value) -> String {
    text::line(line.as_str().unwrap_or_default())
}

/// All that a model reads of a tool.
fn tool(tool: &Value) -> Vec<String> {
    let (name, title) = (plain(&tool["name"]), plain(&tool["title"]));
    let own = match tool["own_name"].as_str() {
        Some(own) => format!(", `{}` in the plugin", text::line(own)),
        None => String::new(),
    };
    let mut lines = vec![format!("{} [{}{own}] {title}", bold(name), plain(&tool["effect"]))];
    let description = text::quoted(tool["description"].as_str().unwrap_or_default());
    lines.extend(description.lines().map(ToOwned::to_owned));
    lines.extend(parameters(&tool["parameters"]));
    if let Some(output) = tool["output"].as_object() {
        let output = Value::Object(output.clone()).to_string();
        lines.push(format!("  returns {}", text::line(&output)));
    }
    lines
}

/// The parameters of a tool, each with its text and with whatever else its schema says; then what the
/// schema says beside them.
fn parameters(schema: &Value) -> Vec<String> {
    let Some(schema) = schema.as_object() else { return Vec::new() };
    let required: Vec<_> =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().collect();
    let properties = schema.get("properties").and_then(Value::as_object);
    let mut lines: Vec<_> = properties
        .into_iter()
        .flatten()
        .map(|(name, property)| {
            let need = if required.iter().any(|key| *key == name) { ", required" } else { "" };
            let mut rest = property.clone();
            let mut take = |key: &str| match rest.get_mut(key) {
                Some(Value::String(text)) => std::mem::take(text),
                _ => String::new(),
            };
            let (kind, said) = (take("type"), take("description"));
            if let Value::Object(rest) = &mut rest {
                let is_taken = |text: &Value| text.as_str() == Some("");
                rest.retain(|key, value| {
                    !(matches!(key.as_str(), "type" | "description") && is_taken(value))
                });
            }
            let rest = match &rest {
                Value::Object(rest) if rest.is_empty() => String::new(),
                rest => format!(" {}", text::line(&rest.to_string())),
            };
            let (name, kind) = (text::line(name), text::line(&kind));
            format!("  {name} ({kind}{need}): {}{rest}", text::line(&said))
        })
        .collect();
    let known = ["type", "properties", "required"];
    let others: serde_json::Map<_, _> = schema
        .iter()
        .filter(|(key, _)| !known.contains(&key.as_str()))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    if !others.is_empty() {
        lines.push(format!("  {}", text::line(&Value::Object(others).to_string())));
    }
    lines
}

fn request(request: &Value) -> String {
    format!("{}: {}", plain(&request["capability"]), plain(&request["reason"]))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_person_decides_about_is_all_there_and_harmless() {
        let evil = "\u{1b}[2J\u{202e}";
        let shown = change(&json!({
            "action": "add", "name": "a", "version": evil, "list": "l.json", "source": "/a.wasm",
            "sha256": "00ff", "reason": evil,
            "tools": [{
                "name": "t", "title": evil, "effect": "read", "description": format!("Does{evil}\nit."),
                "parameters": { "type": "object", "required": ["a"], "properties": {
                    "a": { "type": "string", "description": format!("First{evil}"), "enum": ["x"] },
                    "b": { "type": "array", "items": { "description": "Inner." } },
                }},
                "output": { "description": "Out." },
            }],
            "texts_since_served": format!("@@ @@\n-old{evil}\n+new\n"),
            "requested": [{ "capability": "read docs", "reason": evil }],
            "may": [], "may_not": ["read docs"], "differences": [evil],
        }));
        assert!(!shown.contains('\u{202e}') && !shown.contains("\u{1b}[2J"), "{shown:?}");
        let shown = anstream::adapter::strip_str(&shown).to_string();
        for line in [
            "source: /a.wasm",
            "sha256: 00ff",
            "  t [read] ",
            "    | Does\\u{1b}",
            "    | it.",
            "    a (string, required): First",
            "{\"enum\":[\"x\"]}",
            "    b (array):  {\"items\":{\"description\":\"Inner.\"}}",
            "returns {\"description\":\"Out.\"}",
            "-old\\u{1b}",
            "may:\n  nothing\n",
        ] {
            assert!(shown.contains(line), "{line}: {shown}");
        }
        assert!(shown.contains("may not:\n  read docs\n"), "{shown}");
    }
}
