//! One tool as a person reads it: what it does, its parameters, an example call.

use moss_proto::v1;

use crate::parameters::{self, Parameter};
use crate::ui::{bold, dim};
use crate::{text, views};

/// Widest line, in characters.
const WIDTH: usize = 96;
/// What stands before a parameter's text.
const INDENT: &str = "      ";

/// Writes a tool for a person.
pub(super) fn tool(tool: &v1::Tool, example: &str) -> String {
    let mut facts = vec![views::effect(tool.effect()), text::line(&tool.toolset)];
    if !tool.plugin.is_empty() {
        facts.push(format!("plugin {}", text::line(&tool.plugin)));
    }
    let mut shown = format!(
        "{}: {} {}\n\n",
        bold(text::line(&tool.name)),
        text::line(&tool.title),
        dim(format!("({})", facts.join(", ")))
    );
    for paragraph in text::lines(&tool.description).split("\n\n") {
        shown.push_str(&wrapped(paragraph, ""));
        shown.push('\n');
    }
    let parameters = parameters::of(tool);
    shown.push_str(&format!("{}\n", bold("Parameters")));
    if parameters.is_empty() {
        shown.push_str("  none\n");
    }
    for one in &parameters {
        shown.push_str(&format!("  {}  {}\n", bold(text::line(&one.name)), facts_of(one, tool)));
        shown.push_str(&wrapped(&text::lines(&one.description), INDENT));
    }
    shown + &format!("\n{}\n  {}\n", bold("Example"), text::lines(example))
}

fn facts_of(parameter: &Parameter, tool: &v1::Tool) -> String {
    let mut facts = vec![parameter.kind()];
    match &parameter.default {
        _ if parameter.is_required => facts.push("required".to_owned()),
        Some(default) => facts.push(format!("default: {}", text::line(default))),
        None => facts.push("optional".to_owned()),
    }
    let others = tool.aliases.iter().find(|names| names.parameter == parameter.name);
    if let Some(names) = others.filter(|names| !names.aliases.is_empty()) {
        facts.push(format!("also {}", text::line(&names.aliases.join(", "))));
    }
    facts.join(", ")
}

/// Breaks text into lines at spaces.
fn wrapped(paragraph: &str, indent: &str) -> String {
    let mut lines = String::new();
    let mut width = 0;
    for word in paragraph.split_whitespace() {
        let chars = word.chars().count();
        if width > 0 && width + 1 + chars > WIDTH {
            lines.push('\n');
            width = 0;
        }
        let before = if width == 0 { indent } else { " " };
        lines.push_str(before);
        lines.push_str(word);
        width += before.len() + chars;
    }
    if width > 0 {
        lines.push('\n');
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parameter_is_shown_with_type_need_and_default() {
        let schema = serde_json::json!({
            "properties": {
                "path": { "type": "string", "description": "Path of the file." },
                "limit": { "type": "number", "default": 50, "description": "Most matches." },
            },
            "required": ["path"],
        });
        let mut one = v1::Tool {
            name: "look".into(),
            title: "Look".into(),
            description: "Looks.\n\nLong.".into(),
            toolset: "base".into(),
            parameters_json: schema.to_string(),
            aliases: vec![v1::ParameterAliases {
                parameter: "path".into(),
                aliases: vec!["file".into()],
            }],
            ..v1::Tool::default()
        };
        one.set_effect(v1::Effect::Read);
        let shown = anstream::adapter::strip_str(&tool(&one, "moss call look path=a")).to_string();
        assert_eq!(
            shown,
            "look: Look (read, base)\n\nLooks.\n\nLong.\n\nParameters\n  \
             path  text, required, also file\n      Path of the file.\n  \
             limit  number, default: 50\n      Most matches.\n\n\
             Example\n  moss call look path=a\n"
        );
    }

    #[test]
    fn long_texts_are_broken_at_spaces() {
        let text = "word ".repeat(60);
        let lines = wrapped(&text, INDENT);
        assert!(
            lines.lines().all(|line| line.len() <= WIDTH && line.starts_with(INDENT)),
            "{lines}"
        );
        assert_eq!(lines.split_whitespace().count(), 60);
    }
}
