//! The TOML form of a policy file, and its way into compiled rules.
//!
//! ```toml
//! version = 1
//!
//! [[rule]]
//! name = "no-migrations"                        # optional, shown in decisions
//! tools = ["create_file", "replace_*"]          # globs over tool names
//! not_tools = ["replace_lines"]                 # all tools but these
//! plugins = ["word-*"]                          # globs over plugin names; built-in: no match
//! callers = ["caller"]                          # globs over the names of credentials
//! effects = ["write", "delete"]                 # read, create, modify, write, delete, exec,
//!                                               # network, register; write = create + modify
//! paths = ["migrations/**"]                     # globs, relative to the workspace root
//! not_paths = ["migrations/drafts/**"]          # all paths but these
//! size_bytes_min = 1                            # of the new content, both inclusive
//! size_bytes_max = 100000
//! argv = ["git", ["status", "diff"]]            # of commands: their first words, each one or one of a list
//! exact_argv = ["make", "all"]                  # of commands: all of their words
//! network = true                                # of commands: whether they reach other machines
//! profile = "danger-full"                       # of commands: they may do whatever their user may
//! environment = ["NPM_TOKEN"]                   # of commands: names of variables that they are given
//! sockets = ["SSH_AUTH_SOCK"]                   # of commands: sockets that they may connect to
//! match_levels = ["exact", "line_trimmed"]      # how an edit was located: the levels of
//!                                               # moss_sdk::edit::MatchLevel
//! decision = "deny"                             # allow, ask or deny
//! protected = true                              # allow and ask only: also for protected names
//! approver = "person"                           # ask only: a person decides in moss, no form
//! reason = "migrations are written by hand"     # optional, shown to people and models
//! match = [{ tool = "create_file", path = "migrations/1.sql" }]
//! not_match = [{ tool = "create_file", path = "src/a.rs" }]
//! ```
//!
//! A rule matches where all its conditions are met; an absent condition always holds; a condition
//! with several values holds where one of them does. The order of rules means nothing: within a
//! file deny beats ask and ask beats allow.
//!
//! **Globs.** `*` and `?` stay within a name, `**` crosses `/`: `*.pem` is in the root only,
//! `**/*.pem` anywhere, `docs/**` all beneath `docs`. `ask` and `deny` ignore the case of paths so
//! that they hold on every file system; `allow` and `protected = true` do not.
//!
//! **Calls.** A rule without `paths`, `not_paths`, sizes, match levels and words of commands is also
//! looked at before a tool runs: a deny that covers all that the tool may do refuses the call, an ask
//! about reading asks at the call of a tool that reads. An ask about anything else waits for the
//! effect, to show it. A tool that writes is asked about reading only if `effects` or `paths` say so.
//!
//! **Match levels** are those of edits whose locations were searched for: no other effect has one.
//! An edit of lines that are not as it says asks, whatever rules allow.
//!
//! **Commands.** `argv` and `exact_argv` are words of commands: see the module `words`; what is granted them: see
//! the module `grants`. `caches = ["~/.cache/tool"]`, beside `version`, are directories that they may write.
//!
//! **Protected names** (git's and moss's own files, key files) are denied by default. Only a rule
//! with `protected = true` and `paths` opens them: `src/**` must not open `src/vendor/.git/hooks`.
//!
//! **Workspaces.** A workspace's file has neither `decision = "allow"` nor `protected`.
//!
//! **Examples.** `match` and `not_match` are checked when the file is read. An example has `tool`
//! and optionally `effect`, `path`, `plugin`, `caller`, `size_bytes`, `match_level`, `command`; without `effect`
//! it stands for all effects.
//!
//! Unknown keys are refused: a condition that nothing enforces must not look enforced.

mod approver;
mod glob_lists;
mod grants;
mod words;

use std::collections::BTreeSet;
use std::sync::Arc;

use moss_sdk::edit::MatchLevel;
use serde::Deserialize;
use toml::Spanned;

use self::approver::{ApproverForm, for_person};
use self::glob_lists::{globs, path_globs};
use self::grants::{GrantsForm, ProfileWord, Texts, caches, rule_grants};
use self::words::{ArgvWordForm, check_allowed, command_words};
use super::effect_word::EffectWord;
use super::error::{PolicyError, PolicyFault};
use super::examples::{self, ExampleForm};
use super::globs::Over;
use super::rules::{Conditions, Restriction, Rule, RuleVerdict, Ruling};
use super::{Action, Layer, RuleRef, SandboxMin, Verdict};
use moss_sdk::deceptive::is_deceptive;

/// Largest policy file, in bytes.
pub const FILE_BYTES_MAX: usize = 256 * 1024;
/// Most rules in a file.
pub const RULES_MAX: usize = 500;
/// Most globs in one condition.
pub const GLOBS_MAX: usize = 64;
/// Longest glob, in bytes.
pub const GLOB_BYTES_MAX: usize = 512;
/// Longest name of a rule, in bytes.
pub const NAME_BYTES_MAX: usize = 64;
/// Longest reason of a rule, in bytes.
pub const REASON_BYTES_MAX: usize = 500;

/// The one version of the form.
const VERSION: i64 = 1;

/// A verdict type that a layer's rules are read into.
pub(super) trait LayerVerdict: RuleVerdict {
    /// Whether the layer may grant commands what not every command may.
    const GRANTS: bool;

    /// Refuses what the layer may not say.
    fn read(
        decision: Spanned<Verdict>,
        protected: Option<Spanned<bool>>,
    ) -> Result<Self, PolicyFault>;
}

type GlobTexts = Texts;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PolicyFileForm {
    version: Spanned<i64>,
    sandbox_min: Option<SandboxMin>,
    caches: Texts,
    #[serde(default)]
    rule: Vec<Spanned<RuleForm>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleForm {
    name: Option<Spanned<String>>,
    tools: GlobTexts,
    not_tools: GlobTexts,
    plugins: GlobTexts,
    callers: GlobTexts,
    effects: Option<Spanned<Vec<Spanned<EffectWord>>>>,
    paths: GlobTexts,
    not_paths: GlobTexts,
    size_bytes_min: Option<Spanned<u64>>,
    size_bytes_max: Option<Spanned<u64>>,
    match_levels: Option<Spanned<Vec<MatchLevel>>>,
    argv: Option<Spanned<Vec<ArgvWordForm>>>,
    exact_argv: Option<Spanned<Vec<String>>>,
    network: Option<Spanned<bool>>,
    profile: Option<Spanned<ProfileWord>>,
    environment: Texts,
    sockets: Texts,
    decision: Spanned<Verdict>,
    protected: Option<Spanned<bool>>,
    approver: Option<Spanned<ApproverForm>>,
    reason: Option<Spanned<String>>,
    #[serde(default, rename = "match")]
    matching: Vec<Spanned<ExampleForm>>,
    #[serde(default)]
    not_match: Vec<Spanned<ExampleForm>>,
}

/// What one file says.
#[derive(Debug)]
pub(super) struct FileRules<V> {
    pub(super) rules: Vec<Rule<V>>,
    pub(super) sandbox_min: Option<SandboxMin>,
    /// Directories that commands may write besides.
    pub(super) caches: BTreeSet<String>,
}

/// Reads and compiles a policy file.
pub(super) fn parse<V: LayerVerdict>(
    layer: Layer,
    file: &str,
    text: &str,
) -> Result<FileRules<V>, Box<PolicyError>> {
    compile(layer, file, text).map_err(|fault| PolicyError::locate(file, text, fault))
}

fn compile<V: LayerVerdict>(
    layer: Layer,
    file: &str,
    text: &str,
) -> Result<FileRules<V>, PolicyFault> {
    if text.len() > FILE_BYTES_MAX {
        return Err(PolicyFault::new(
            0..0,
            format!("the file is larger than {FILE_BYTES_MAX} bytes"),
        ));
    }
    let form: PolicyFileForm =
        toml::from_str(text).map_err(|error| PolicyFault::of_toml(&error))?;
    if *form.version.as_ref() != VERSION {
        let message = format!("version {} is not known", form.version.as_ref());
        return Err(PolicyFault::new(form.version.span(), message)
            .help(format!("write `version = {VERSION}`, or use a newer moss")));
    }
    if let Some(rule) = form.rule.get(RULES_MAX) {
        return Err(PolicyFault::new(rule.span(), format!("more than {RULES_MAX} rules")));
    }
    let rules = form.rule.into_iter().map(|form| {
        let line = text[..form.span().start].matches('\n').count() + 1;
        rule(form.into_inner(), layer, file, line)
    });
    let rules = rules.collect::<Result<_, _>>()?;
    Ok(FileRules { rules, sandbox_min: form.sandbox_min, caches: caches::<V>(form.caches)? })
}

fn rule<V: LayerVerdict>(
    form: RuleForm,
    layer: Layer,
    file: &str,
    line: usize,
) -> Result<Rule<V>, PolicyFault> {
    let decision = *form.decision.as_ref();
    if let Some(protected) = &form.protected
        && form.paths.is_none()
    {
        return Err(PolicyFault::new(protected.span(), "`protected` needs `paths`")
            .help("name the protected files that the rule covers"));
    }
    if decision == Verdict::Allow {
        check_allowed(form.effects.as_ref())?;
    }
    let command = command_words(form.argv, form.exact_argv, form.effects.as_ref())?;
    let RuleForm { network, profile, environment, sockets, .. } = form;
    let granting = GrantsForm { network, profile, environment, sockets };
    let grants = rule_grants::<V>(granting, decision, command.is_some())?;
    let for_person = for_person(form.approver.as_ref(), decision)?;
    let verdict = V::read(form.decision, form.protected)?;
    let ignore_case = decision != Verdict::Allow && !verdict.opens_protected();
    let conditions = Conditions {
        tools: globs(form.tools, Over::Names)?,
        not_tools: globs(form.not_tools, Over::Names)?,
        plugins: globs(form.plugins, Over::Names)?,
        callers: globs(form.callers, Over::Names)?,
        effects: effects(
            form.effects,
            form.size_bytes_min.as_ref().or(form.size_bytes_max.as_ref()),
            form.match_levels.as_ref(),
            command.is_some(),
        )?,
        paths: path_globs(form.paths, ignore_case)?,
        not_paths: path_globs(form.not_paths, !ignore_case)?,
        size_bytes_min: form.size_bytes_min.map(Spanned::into_inner),
        size_bytes_max: form.size_bytes_max.map(Spanned::into_inner),
        match_levels: form.match_levels.map(Spanned::into_inner),
        command,
    };
    examples::check(&conditions, decision, &form.matching, true)?;
    examples::check(&conditions, decision, &form.not_match, false)?;
    let name = form.name.map(|name| label(name, "name", NAME_BYTES_MAX)).transpose()?;
    let reason = form.reason.map(|reason| label(reason, "reason", REASON_BYTES_MAX)).transpose()?;
    let (file, line) = (Some(file.to_owned()), Some(line));
    let rule = RuleRef { layer, file, line, name, reason, for_person, answer: None };
    Ok(Rule { conditions, verdict, grants, rule: Arc::new(rule) })
}

/// Reads a text that decisions show: short, on one line, as it looks.
fn label(text: Spanned<String>, key: &str, bytes_max: usize) -> Result<String, PolicyFault> {
    let span = text.span();
    let text = text.into_inner();
    if text.len() > bytes_max {
        return Err(PolicyFault::new(span, format!("`{key}` is longer than {bytes_max} bytes")));
    }
    if text.chars().any(is_deceptive) {
        let message = format!("`{key}` has line breaks, control or invisible characters");
        return Err(PolicyFault::new(span, message).help("write one line of plain text"));
    }
    Ok(text)
}

/// Sizes are those of new content, so a rule with a size is about creating and modifying; one with
/// match levels is about modifying.
fn effects(
    words: Option<Spanned<Vec<Spanned<EffectWord>>>>,
    size: Option<&Spanned<u64>>,
    levels: Option<&Spanned<Vec<MatchLevel>>>,
    is_of_commands: bool,
) -> Result<Option<Vec<Action>>, PolicyFault> {
    if let Some(levels) = levels.filter(|levels| levels.as_ref().is_empty()) {
        return Err(PolicyFault::new(levels.span(), "an empty list matches nothing")
            .help("leave `match_levels` out to match every edit"));
    }
    let Some(words) = words else {
        if is_of_commands {
            return Ok(Some(vec![Action::Exec]));
        }
        let with_size = size.map(|_| vec![Action::Create, Action::Modify]);
        return Ok(levels.map(|_| vec![Action::Modify]).or(with_size));
    };
    let actions: Vec<_> =
        words.as_ref().iter().flat_map(|word| word.as_ref().actions()).copied().collect();
    if actions.is_empty() {
        return Err(PolicyFault::new(words.span(), "an empty list matches nothing")
            .help("leave `effects` out to match every effect"));
    }
    let sized = |action: &Action| matches!(action, Action::Create | Action::Modify);
    if let Some(size) = size
        && !actions.iter().all(sized)
    {
        return Err(PolicyFault::new(size.span(), "sizes are those of new content")
            .help("write `effects = [\"write\"]` in a rule with a size"));
    }
    if let Some(levels) = levels
        && !(actions.contains(&Action::Modify) && actions.iter().all(sized))
    {
        return Err(PolicyFault::new(levels.span(), "match levels are those of edits")
            .help("write `effects = [\"modify\"]` in a rule with match levels"));
    }
    Ok(Some(actions))
}

// === impl FileRules ===

impl<V> Default for FileRules<V> {
    fn default() -> Self {
        Self { rules: Vec::new(), sandbox_min: None, caches: BTreeSet::new() }
    }
}

// === impl Ruling ===

impl LayerVerdict for Ruling {
    const GRANTS: bool = true;

    fn read(
        decision: Spanned<Verdict>,
        protected: Option<Spanned<bool>>,
    ) -> Result<Self, PolicyFault> {
        let Some(protected) = protected.filter(|protected| *protected.as_ref()) else {
            return Ok(Self::Ordinary(decision.into_inner()));
        };
        match decision.as_ref() {
            Verdict::Allow => Ok(Self::OpenAllow),
            Verdict::Ask => Ok(Self::OpenAsk),
            Verdict::Deny => {
                Err(PolicyFault::new(protected.span(), "`protected` opens, deny closes")
                    .help("leave `protected` out: a deny applies to protected names anyway"))
            }
        }
    }
}

// === impl Restriction ===

impl LayerVerdict for Restriction {
    const GRANTS: bool = false;

    fn read(
        decision: Spanned<Verdict>,
        protected: Option<Spanned<bool>>,
    ) -> Result<Self, PolicyFault> {
        if let Some(protected) = protected {
            let message = "a workspace policy cannot open protected names";
            return Err(PolicyFault::new(protected.span(), message)
                .help("write the rule in the user's policy file"));
        }
        match decision.as_ref() {
            Verdict::Ask => Ok(Self::Ask),
            Verdict::Deny => Ok(Self::Deny),
            Verdict::Allow => {
                Err(PolicyFault::new(decision.span(), "a workspace policy can only ask or deny")
                    .help("write the rule in the user's policy file"))
            }
        }
    }
}

#[cfg(test)]
mod tests;
