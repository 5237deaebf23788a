//! The examples of a rule: what it must match and what it must not, checked when it is read.

use moss_sdk::edit::MatchLevel;
use moss_sdk::{Effect, RelPath};
use serde::Deserialize;
use toml::Spanned;

use super::effect_word::EffectWord;
use super::error::{PolicyFault, shown};
use super::rules::Conditions;
use super::{Action, CommandPart, Subject, Verdict};

/// Most examples in one list.
pub(super) const EXAMPLES_MAX: usize = 64;
/// One example as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExampleForm {
    tool: String,
    effect: Option<EffectWord>,
    path: Option<Spanned<String>>,
    plugin: Option<String>,
    #[serde(default)]
    caller: String,
    size_bytes: Option<u64>,
    match_level: Option<MatchLevel>,
    command: Option<Spanned<String>>,
}

/// Refuses a rule that does not treat its examples as they say.
pub(super) fn check(
    conditions: &Conditions,
    verdict: Verdict,
    examples: &[Spanned<ExampleForm>],
    expected: bool,
) -> Result<(), PolicyFault> {
    let key = if expected { "match" } else { "not_match" };
    if let Some(example) = examples.get(EXAMPLES_MAX) {
        return Err(PolicyFault::new(
            example.span(),
            format!("more than {EXAMPLES_MAX} `{key}` examples"),
        ));
    }
    for (index, example) in examples.iter().enumerate() {
        let form = example.as_ref();
        let what = format!("`{key}` example {} ({})", index + 1, form.shown());
        match (form.mismatch(conditions, verdict)?, expected) {
            (Some(condition), true) => {
                return Err(PolicyFault::new(
                    example.span(),
                    format!("{what} does not match the rule"),
                )
                .help(format!("it does not meet `{condition}`")));
            }
            (None, false) => {
                return Err(PolicyFault::new(example.span(), format!("{what} matches the rule"))
                    .help("narrow the rule, or move the example to `match`"));
            }
            (Some(_), false) | (None, true) => {}
        }
    }
    Ok(())
}

// === impl ExampleForm ===

impl ExampleForm {
    /// Returns the condition that fails for every effect that the example can mean; none if the
    /// rule matches one of them.
    fn mismatch(
        &self,
        conditions: &Conditions,
        verdict: Verdict,
    ) -> Result<Option<&'static str>, PolicyFault> {
        let path = match &self.path {
            None => None,
            Some(text) => Some(RelPath::parse(text.as_ref()).map_err(|error| {
                PolicyFault::new(text.span(), format!("no workspace path: {}", error.message))
            })?),
        };
        let actions = self.effect.map_or(Action::ALL, |word| word.actions());
        let parts = self.parts()?;
        let mut nearest = None;
        for &action in actions {
            let with_parts = parts.iter().flat_map(|part| {
                [Effect::Read, Effect::Write, Effect::Exec].map(|effect| (part, effect))
            });
            for (part, tool_effect) in with_parts {
                let subject = Subject {
                    action,
                    tool: &self.tool,
                    tool_effect,
                    plugin: self.plugin.as_deref(),
                    caller: &self.caller,
                    path: path.as_ref(),
                    protection: None,
                    size_bytes: self.size_bytes,
                    match_level: self.match_level,
                    drift: false,
                    command: part.as_ref(),
                    answers: &[],
                };
                match conditions.mismatch(verdict, &subject) {
                    None => return Ok(None),
                    Some("effects") => {
                        nearest.get_or_insert("effects");
                    }
                    Some(condition) => nearest = Some(condition),
                }
            }
        }
        Ok(nearest)
    }

    /// The commands that the example names; none and nothing else where it names none.
    fn parts(&self) -> Result<Vec<Option<CommandPart>>, PolicyFault> {
        let Some(text) = &self.command else { return Ok(vec![None]) };
        let script = moss_commands::read(text.as_ref())
            .map_err(|error| PolicyFault::new(text.span(), format!("no command: {error}")))?;
        Ok(script
            .commands
            .into_iter()
            .map(|command| Some(CommandPart::new(command, true)))
            .collect())
    }

    fn shown(&self) -> String {
        let path = self.path.as_ref().map(|path| format!(" on {}", shown(path.as_ref())));
        format!("{}{}", shown(&self.tool), path.unwrap_or_default())
    }
}
