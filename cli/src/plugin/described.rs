//! A change of a plugin list as a person is shown it before deciding.

use std::fmt::Write as _;

use moss_proto::v1;
use serde_json::Value;

use crate::ui::{bold, dim, yellow};
use crate::wording::PluginWording;
use crate::{diff, text, views};

/// Shows a change: what plugin, from where, what it asks for, what it would be allowed. All messages
/// are taken apart whole: a field that is not shown does not compile.
pub(crate) fn change(words: &PluginWording, consent: &v1::Consent) -> String {
    let v1::Consent {
        kind: _,
        list: _,
        plugins,
        reason,
        host: _,
        // The text that it is of is shown, plugin by plugin.
        list_blake3: _,
        since_trusted,
        store_keys,
        forgets_store,
    } = consent;
    let mut more = String::new();
    if !reason.is_empty() {
        let _ = writeln!(more, "{}: {}", words.reason, text::line(reason));
    }
    if let Some(keys) = store_keys.filter(|keys| *keys > 0) {
        let stored = (words.stored_keys)(keys, *forgets_store);
        let stored = if *forgets_store { yellow(stored) } else { stored };
        let _ = writeln!(more, "{stored}");
    }
    let mut out = format!("{}\n", bold(heading(words, consent)));
    plugins.iter().for_each(|one| out.push_str(&plugin(words, consent.kind(), one, &more)));
    if let Some(diff) = since_trusted {
        let _ = writeln!(out, "\n{}", dim(words.since_trusted));
        out.push_str(&match diff.as_str() {
            "" => format!("  {}\n", words.list_unchanged),
            diff => diff::colored(diff),
        });
    }
    out
}

fn heading(words: &PluginWording, consent: &v1::Consent) -> String {
    let list = text::line(&consent.list);
    let of_none = v1::ConsentPlugin::default();
    let plugin = consent.plugins.first().unwrap_or(&of_none);
    let (name, whole) = (text::line(&plugin.name), named(plugin));
    match consent.kind() {
        v1::ConsentKind::Add => (words.add)(&whole, &list),
        v1::ConsentKind::Replace => (words.replace)(&whole, &list),
        v1::ConsentKind::Accept => (words.accept)(&whole, &list),
        v1::ConsentKind::Remove => (words.remove)(&name, &list),
        v1::ConsentKind::Trust => (words.trust)(&list),
        v1::ConsentKind::Untrust => (words.untrust)(&list),
        v1::ConsentKind::Fetch => {
            (words.fetch)(&text::line(&consent.host), &text::line(&plugin.source))
        }
        v1::ConsentKind::Unspecified => (words.of_newer_moss)(&list),
    }
}

/// Its name and its version, as far as they are known.
fn named(plugin: &v1::ConsentPlugin) -> String {
    let version = plugin.component.as_ref().map_or("", |component| &component.version);
    let whole = format!("{} {}", text::line(&plugin.name), text::line(version));
    whole.trim_end().to_owned()
}

/// Shows one plugin; `more` is what the change says beside it.
fn plugin(
    words: &PluginWording,
    kind: v1::ConsentKind,
    plugin: &v1::ConsentPlugin,
    more: &str,
) -> String {
    let v1::ConsentPlugin {
        name: _,
        source,
        sha256,
        pinned_sha256,
        signed_by,
        granted,
        // What it leaves out is shown.
        grants_requested: _,
        withheld,
        config_json,
        limits,
        component,
        problem,
    } = plugin;
    let mut out = String::new();
    let (is_listed, is_pinned) = (kind == v1::ConsentKind::Trust, !pinned_sha256.is_empty());
    if is_listed {
        let _ = writeln!(out, "\n{}", bold(named(plugin)));
    }
    let digest = if is_listed && !is_pinned { words.file_sha256 } else { words.sha256 };
    for (key, said) in [
        (words.source, source),
        (digest, sha256),
        (words.pinned, pinned_sha256),
        (words.signed_by, signed_by),
        (words.problem, problem),
    ] {
        // The heading of a download says it.
        let is_said = key == words.source && kind == v1::ConsentKind::Fetch;
        if !said.is_empty() && !is_said {
            let _ = writeln!(out, "{key}: {}", text::line(said));
        }
    }
    out.push_str(more);
    if is_listed {
        if !is_pinned {
            let source = text::line(source);
            let _ = writeln!(out, "{}", yellow((words.not_pinned)(&source)));
        }
        // Of a plugin that is added it is what it may do, what is capped and what has no effect.
        section(&mut out, words.granted, lines_of(granted));
    }
    section(&mut out, words.limits, lines_of(limits));
    if !config_json.is_empty() {
        let _ = writeln!(out, "{}: {}", words.settings, text::json(config_json));
    }
    if let Some(component) = component {
        out.push_str(&capabilities(words, component, withheld));
    }
    out
}

/// Shows what a plugin does, asks for and may do.
fn capabilities(
    words: &PluginWording,
    component: &v1::ConsentComponent,
    withheld: &[String],
) -> String {
    let v1::ConsentComponent {
        version: _,
        tools,
        left_out,
        requested,
        may,
        may_not,
        capped,
        without_effect,
        since_served,
    } = component;
    let mut out = String::new();
    section(&mut out, words.tools, tools.iter().flat_map(|one| tool(words, one)).collect());
    section(&mut out, words.left_out, lines_of(left_out));
    section(&mut out, words.requested, requested.iter().map(request).collect());
    let may = if may.is_empty() { vec![words.nothing.to_owned()] } else { lines_of(may) };
    section(&mut out, words.may, may);
    section(&mut out, words.without_effect, warnings_of(without_effect));
    section(&mut out, words.may_not, warnings_of(may_not));
    section(&mut out, words.capped, warnings_of(capped));
    section(&mut out, words.withheld, warnings_of(withheld));
    if let Some(since) = since_served {
        out.push_str(&since_what_serves(words, since));
    }
    out
}

fn since_what_serves(words: &PluginWording, since: &v1::ConsentDifferences) -> String {
    let v1::ConsentDifferences { differences, texts_diff, same_component } = since;
    let mut differs = lines_of(differences);
    if differs.is_empty() && !same_component {
        differs.push(words.only_code.to_owned());
    }
    let mut out = String::new();
    section(&mut out, words.differences, differs);
    if !texts_diff.is_empty() {
        let _ = writeln!(out, "{}", dim(format!("{}:", words.texts_since)));
        out.push_str(&diff::colored(texts_diff));
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

fn lines_of(lines: &[String]) -> Vec<String> {
    lines.iter().map(|line| text::line(line)).collect()
}

fn warnings_of(lines: &[String]) -> Vec<String> {
    lines.iter().map(|line| yellow(text::line(line))).collect()
}

/// All that a model reads of a tool.
fn tool(words: &PluginWording, tool: &v1::ConsentTool) -> Vec<String> {
    let v1::ConsentTool {
        name,
        own_name,
        title,
        description,
        effect,
        parameters_json,
        output_json,
    } = tool;
    let own = match own_name.as_str() {
        "" => String::new(),
        own => (words.own_name)(&text::line(own)),
    };
    let (name, effect, title) = (text::line(name), text::line(effect), text::line(title));
    let mut lines = vec![format!("{} [{effect}{own}] {title}", bold(name))];
    lines.extend(text::quoted(description).lines().map(ToOwned::to_owned));
    lines.extend(parameters(words, &views::schema(parameters_json)));
    if !output_json.is_empty() {
        lines.push(format!("  {} {}", words.returns, text::line(output_json)));
    }
    lines
}

/// The parameters of a tool, each with its text and with whatever else its schema says; then what the
/// schema says beside them.
fn parameters(words: &PluginWording, schema: &Value) -> Vec<String> {
    let Some(schema) = schema.as_object() else { return Vec::new() };
    let required: Vec<_> =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().collect();
    let properties = schema.get("properties").and_then(Value::as_object);
    let mut lines: Vec<_> = properties
        .into_iter()
        .flatten()
        .map(|(name, property)| {
            let need = if required.iter().any(|key| *key == name) { words.required } else { "" };
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

fn request(request: &v1::ConsentRequest) -> String {
    let v1::ConsentRequest { capability, reason } = request;
    format!("{}: {}", text::line(capability), text::line(reason))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wording::EN;

    const EVIL: &str = "\u{1b}[2J\u{202e}";

    fn plain(consent: &v1::Consent) -> String {
        let shown = change(&EN.plugin, consent);
        assert!(!shown.contains('\u{202e}') && !shown.contains("\u{1b}[2J"), "{shown:?}");
        anstream::adapter::strip_str(&shown).to_string()
    }

    fn of(kind: v1::ConsentKind, plugins: Vec<v1::ConsentPlugin>) -> v1::Consent {
        let list = "/l.json".to_owned();
        v1::Consent { kind: kind.into(), list, plugins, ..Default::default() }
    }

    fn evil_tool() -> v1::ConsentTool {
        let parameters = serde_json::json!({ "type": "object", "required": ["a"], "properties": {
            "a": { "type": "string", "description": format!("First{EVIL}"), "enum": ["x"] },
            "b": { "type": "array", "items": { "description": "Inner." } },
        }});
        v1::ConsentTool {
            name: EVIL.into(),
            own_name: EVIL.into(),
            title: EVIL.into(),
            description: format!("Does{EVIL}\nit."),
            effect: EVIL.into(),
            parameters_json: parameters.to_string(),
            output_json: format!("{{\"description\":\"Out{EVIL}\"}}"),
        }
    }

    /// A plugin all of whose texts are hostile.
    fn evil() -> v1::ConsentPlugin {
        let (evil, lines) = (EVIL.to_owned(), vec![EVIL.to_owned()]);
        let since_served = v1::ConsentDifferences {
            differences: lines.clone(),
            texts_diff: format!("@@ @@\n-old{EVIL}\n+new\n"),
            same_component: false,
        };
        let component = v1::ConsentComponent {
            version: evil.clone(),
            tools: vec![evil_tool()],
            left_out: lines.clone(),
            requested: vec![v1::ConsentRequest { capability: evil.clone(), reason: evil.clone() }],
            may: lines.clone(),
            may_not: lines.clone(),
            capped: lines.clone(),
            without_effect: lines.clone(),
            since_served: Some(since_served),
        };
        v1::ConsentPlugin {
            name: evil.clone(),
            source: evil.clone(),
            sha256: evil.clone(),
            pinned_sha256: evil.clone(),
            signed_by: evil.clone(),
            granted: lines.clone(),
            grants_requested: true,
            withheld: lines.clone(),
            config_json: format!("{{\"k\":\"{EVIL}\"}}"),
            limits: lines,
            component: Some(component),
            problem: evil,
        }
    }

    #[test]
    fn what_a_person_decides_about_is_all_there_and_harmless() {
        let one = v1::Consent { reason: EVIL.into(), ..of(v1::ConsentKind::Add, vec![evil()]) };
        let safe = "\\u{1b}[2J\\u{202e}";
        let expected = format!(
            "add the plugin {safe} {safe} to /l.json\nsource: {safe}\nsha256: {safe}\n\
             pinned: {safe}\nsigned_by: {safe}\nproblem: {safe}\nreason: {safe}\n\
             one call may use:\n  {safe}\nsettings: {{\"k\":\"\\u001b[2J\\u202e\"}}\n\
             tools:\n  {safe} [{safe}, `{safe}` in the plugin] {safe}\n    \
             | Does{safe}\n    | it.\n    \
             a (string, required): First{safe} {{\"enum\":[\"x\"]}}\n    \
             b (array):  {{\"items\":{{\"description\":\"Inner.\"}}}}\n    \
             returns {{\"description\":\"Out{safe}\"}}\n\
             functions that are not tools:\n  {safe}\nasks for:\n  {safe}: {safe}\n\
             may:\n  {safe}\ngranted without effect:\n  {safe}\nmay not:\n  {safe}\n\
             {}:\n  {safe}\n{}:\n  {safe}\n\
             differences from the version that serves:\n  {safe}\n\
             changes of its texts since the version that serves:\n@@ @@\n-old{safe}\n+new\n",
            EN.plugin.capped, EN.plugin.withheld,
        );
        assert_eq!(plain(&one), expected);
        let list = v1::Consent {
            since_trusted: Some(format!("@@ @@\n+{EVIL}\n")),
            ..of(v1::ConsentKind::Trust, vec![evil()])
        };
        let shown = plain(&list);
        let named = format!("trust the list /l.json as it is\n\n{safe} {safe}\nsource: {safe}\n");
        let since = format!("\nsince it was trusted:\n@@ @@\n+{safe}\n");
        assert!(shown.starts_with(&named) && shown.ends_with(&since), "{shown}");
        assert!(shown.contains(&format!("\ngranted:\n  {safe}\n")), "{shown}");
    }

    #[test]
    fn what_is_not_known_is_not_shown() {
        let plugin = v1::ConsentPlugin {
            name: "a".into(),
            sha256: "00ff".into(),
            component: Some(v1::ConsentComponent { version: "1.0".into(), ..Default::default() }),
            ..Default::default()
        };
        for (kind, heading) in [
            (v1::ConsentKind::Add, "add the plugin a 1.0 to /l.json"),
            (v1::ConsentKind::Replace, "replace the plugin a 1.0 in /l.json"),
            (v1::ConsentKind::Accept, "pin the plugin a 1.0 in /l.json"),
            (v1::ConsentKind::Remove, "remove the plugin a from /l.json"),
            (
                v1::ConsentKind::Unspecified,
                "change the list /l.json in a way that only a newer moss knows",
            ),
        ] {
            let shown = plain(&of(kind, vec![plugin.clone()]));
            assert_eq!(shown, format!("{heading}\nsha256: 00ff\nmay:\n  nothing\n"));
        }
        let untrust = plain(&of(v1::ConsentKind::Untrust, Vec::new()));
        assert_eq!(untrust, "stop trusting the list /l.json\n");
    }

    #[test]
    fn each_change_says_what_is_its_own() {
        let plugin = v1::ConsentPlugin { name: "a".into(), ..Default::default() };
        for (store_keys, forgets_store, expected) in [
            (None, false, ""),
            (Some(0), true, ""),
            (Some(1), true, "it keeps 1 key in its store, which is forgotten\n"),
            (
                Some(2),
                false,
                "it keeps 2 keys in its store, which is kept; `--forget-store` deletes it\n",
            ),
        ] {
            let removed = of(v1::ConsentKind::Remove, vec![plugin.clone()]);
            let shown = plain(&v1::Consent { store_keys, forgets_store, ..removed });
            assert_eq!(shown, format!("remove the plugin a from /l.json\n{expected}"));
        }
        let source = "https://h/a.wasm".to_owned();
        let fetched = v1::ConsentPlugin { source, sha256: "00ff".into(), ..Default::default() };
        let fetched = v1::Consent { host: "h".into(), ..of(v1::ConsentKind::Fetch, vec![fetched]) };
        assert_eq!(plain(&fetched), "fetch from h: https://h/a.wasm\nsha256: 00ff\n");
        let unpinned = v1::ConsentPlugin {
            source: "a.wasm".into(),
            sha256: "00ff".into(),
            problem: "gone".into(),
            ..plugin
        };
        let since_trusted = Some(String::new());
        let list = of(v1::ConsentKind::Trust, vec![unpinned]);
        assert_eq!(
            plain(&v1::Consent { since_trusted, ..list }),
            "trust the list /l.json as it is\n\na\nsource: a.wasm\nthe file has sha256: 00ff\n\
             problem: gone\nnot pinned: anyone who can write a.wasm can change its code unnoticed\n\n\
             since it was trusted:\n  nothing changed in the list\n"
        );
    }
}
