//! The TOML form of standing approvals. What can be read is exactly what can be written: a rule
//! that says more than an approval may is refused, with its location.
//!
//! ```toml
//! version = 1
//!
//! [[approval]]
//! id = "3f2a9c0d1e2f"
//! approved_at = "2026-11-21T13:00:00Z"
//! expires_at = "2026-12-21T13:00:00Z"
//! component = "…"                               # of a plugin's tool: SHA-256 of its code
//!
//! [[approval.rule]]                             # as in a policy file, without globs
//! tools = ["replace_text"]
//! callers = ["caller"]
//! effects = ["modify"]
//! paths = ["src/main.rs"]
//! size_bytes_max = 65536
//! decision = "allow"
//!
//! [[approval.rule]]                             # of a command: all of its words, and where it runs
//! tools = ["run_terminal_cmd"]
//! callers = ["caller"]
//! effects = ["exec"]
//! paths = ["."]
//! exact_argv = ["cargo", "test"]
//! is_job = true                                 # only where it is left running; without it, only where it is not
//! decision = "allow"
//! ```

use std::fmt::Write as _;

use jiff::{Timestamp, ToSpan as _};
use moss_sdk::RelPath;
use moss_sdk::deceptive::is_deceptive;
use serde::Deserialize;
use toml::Spanned;

use super::{ACTIONS, Permission, StandingApproval, escape, unescape};
use crate::error::{PolicyError, PolicyFault, shown};
use crate::{Action, Verdict};

/// Largest file of approvals, in bytes.
pub const FILE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Longest time that an approval may apply, in days.
pub const DAYS_MAX: u64 = 365;
/// Longest name of an approval, in bytes.
const ID_BYTES_MAX: usize = 64;

/// The one version of the form.
const VERSION: i64 = 1;
const HEADER: &str = "\
# Standing approvals. `moss approvals list` shows them, `moss approvals revoke ID` revokes one.
# Rules with globs belong in policy.toml.
version = 1
";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ApprovalsFileForm {
    version: Spanned<i64>,
    /// Files of version 0.1 call it `answer`.
    #[serde(default, alias = "answer")]
    approval: Vec<Spanned<ApprovalForm>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ApprovalForm {
    id: Spanned<String>,
    /// Files of version 0.1 call it `answered_at`.
    #[serde(alias = "answered_at")]
    approved_at: Timestamp,
    expires_at: Spanned<Timestamp>,
    component: Option<String>,
    /// 0.1 counted here. The journal does.
    #[serde(default, rename = "uses")]
    _uses: u64,
    #[serde(rename = "last_used_at")]
    _last_used_at: Option<Timestamp>,
    rule: Spanned<Vec<ApprovalRuleForm>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ApprovalRuleForm {
    tools: Spanned<Vec<Spanned<String>>>,
    plugins: Option<Spanned<Vec<Spanned<String>>>>,
    callers: Spanned<Vec<Spanned<String>>>,
    effects: Spanned<Vec<Action>>,
    paths: Spanned<Vec<Spanned<String>>>,
    size_bytes_max: Option<u64>,
    exact_argv: Option<Spanned<Vec<String>>>,
    /// Files of version 0.1 have none: what they allow is never left running.
    is_job: Option<Spanned<bool>>,
    decision: Spanned<Verdict>,
}

/// Reads a file of approvals.
///
/// # Errors
///
/// The first thing wrong with it, with its location.
pub fn parse(file: &str, text: &str) -> Result<Vec<StandingApproval>, Box<PolicyError>> {
    read(file, text).map_err(|fault| PolicyError::locate(file, text, fault))
}

/// Says that a file of approvals cannot be read at all.
pub fn unreadable(file: &str, reason: String) -> Box<PolicyError> {
    PolicyError::unusable(file, reason, "check its permissions, or remove it")
}

/// Writes a file of approvals.
pub fn render(all: &[StandingApproval]) -> String {
    let mut text = HEADER.to_owned();
    for answer in all {
        let _ = write!(text, "\n[[approval]]\nid = {}\n", quoted(&answer.id));
        let _ = writeln!(text, "approved_at = \"{}\"", answer.approved_at);
        text.push_str(&limits(answer.expires_at, answer.component.as_deref()));
        text.push_str(&rules(&answer.permissions));
    }
    text
}

/// Writes what of an approval says what it allows and how long, as the file has it.
pub fn terms(permissions: &[Permission], component: Option<&str>, expires_at: Timestamp) -> String {
    format!("[[approval]]\n{}{}", limits(expires_at, component), rules(permissions))
}

fn limits(expires_at: Timestamp, component: Option<&str>) -> String {
    let component =
        component.map(|digest| format!("component = {}\n", quoted(digest))).unwrap_or_default();
    format!("expires_at = \"{expires_at}\"\n{component}")
}

fn rules(permissions: &[Permission]) -> String {
    let mut text = String::new();
    for permission in permissions {
        let _ = write!(text, "\n[[approval.rule]]\n{}", permission.to_toml());
    }
    text
}

/// Writes a text as TOML does: plainly where it can, so that a glob reads as it is.
pub(super) fn quoted(text: &str) -> String {
    if text.contains(['\\', '"']) && !text.contains('\'') && !text.chars().any(is_deceptive) {
        return format!("'{text}'");
    }
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if is_deceptive(c) => {
                let _ = write!(quoted, "\\U{:08X}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

fn read(file: &str, text: &str) -> Result<Vec<StandingApproval>, PolicyFault> {
    if text.len() > FILE_BYTES_MAX {
        return Err(PolicyFault::new(
            0..0,
            format!("the file is larger than {FILE_BYTES_MAX} bytes"),
        ));
    }
    let form: ApprovalsFileForm =
        toml::from_str(text).map_err(|error| PolicyFault::of_toml(&error))?;
    if *form.version.as_ref() != VERSION {
        let message = format!("version {} is not known", form.version.as_ref());
        return Err(PolicyFault::new(form.version.span(), message).help("use a newer moss"));
    }
    let mut all: Vec<StandingApproval> = Vec::with_capacity(form.approval.len());
    for form in form.approval {
        let span = form.span();
        let answer = approval(form.into_inner(), file)?;
        if all.iter().any(|other| other.id == answer.id) {
            let message = format!("a second approval {}", shown(&answer.id));
            return Err(PolicyFault::new(span, message).help("remove one of them"));
        }
        all.push(answer);
    }
    Ok(all)
}

fn approval(form: ApprovalForm, file: &str) -> Result<StandingApproval, PolicyFault> {
    let id = form.id.as_ref();
    if id.is_empty() || id.len() > ID_BYTES_MAX || !id.chars().all(|c| c.is_ascii_alphanumeric()) {
        let message = format!("{} is not an ID of an approval", shown(id));
        return Err(PolicyFault::new(form.id.span(), message).help("write letters and digits"));
    }
    let hours = i64::try_from(DAYS_MAX * 24).unwrap_or(i64::MAX);
    let latest = form.approved_at.checked_add(hours.hours()).unwrap_or(Timestamp::MAX);
    let expires_at = *form.expires_at.as_ref();
    if expires_at > latest {
        let message = format!("an approval applies for at most {DAYS_MAX} days");
        return Err(PolicyFault::new(form.expires_at.span(), message).help("write an earlier time"));
    }
    if form.rule.as_ref().is_empty() {
        return Err(
            PolicyFault::new(form.rule.span(), "an approval without a rule").help("remove it")
        );
    }
    let id = form.id.into_inner();
    let rule = StandingApproval::rule_of(&id, "always", Some(file.to_owned()), expires_at);
    let permissions =
        form.rule.into_inner().into_iter().map(permission).collect::<Result<_, _>>()?;
    Ok(StandingApproval {
        id,
        permissions,
        component: form.component,
        approved_at: form.approved_at,
        expires_at,
        rule,
    })
}

fn permission(form: ApprovalRuleForm) -> Result<Permission, PolicyFault> {
    if *form.decision.as_ref() != Verdict::Allow {
        return Err(PolicyFault::new(form.decision.span(), "an approval can only allow")
            .help("write other rules into policy.toml"));
    }
    let action = match form.effects.as_ref().as_slice() {
        [action] if ACTIONS.contains(action) => *action,
        [Action::Exec] => Action::Exec,
        _ => {
            return Err(PolicyFault::new(
                form.effects.span(),
                "an approval covers one kind of effect",
            )
            .help("write one of read, create, modify, delete, exec"));
        }
    };
    let has_content = matches!(action, Action::Create | Action::Modify);
    if form.size_bytes_max.is_some() != has_content {
        return Err(PolicyFault::new(
            form.effects.span(),
            "`size_bytes_max` belongs to new content",
        )
        .help("write it with create and modify, and only there"));
    }
    if form.exact_argv.is_some() != (action == Action::Exec) {
        let message = "`exact_argv` belongs to commands";
        return Err(PolicyFault::new(form.effects.span(), message)
            .help("write it with exec, and only there"));
    }
    if let Some(argv) = form.exact_argv.as_ref().filter(|argv| argv.as_ref().is_empty()) {
        return Err(PolicyFault::new(argv.span(), "a command without words").help("remove it"));
    }
    if let Some(is_job) = form.is_job.as_ref().filter(|_| action != Action::Exec) {
        let message = "`is_job` belongs to commands";
        return Err(
            PolicyFault::new(is_job.span(), message).help("write it with exec, and only there")
        );
    }
    let mut paths = std::collections::BTreeSet::new();
    for glob in form.paths.as_ref() {
        let path = RelPath::parse(&literal(glob)?).map_err(|error| {
            PolicyFault::new(glob.span(), format!("no path: {}", error.message))
        })?;
        paths.insert(path);
    }
    if paths.is_empty() {
        return Err(
            PolicyFault::new(form.paths.span(), "an approval needs paths").help("remove it")
        );
    }
    Ok(Permission {
        tool: only(&form.tools)?,
        plugin: form.plugins.as_ref().map(only).transpose()?,
        caller: only(&form.callers)?,
        action,
        paths,
        size_bytes_max: form.size_bytes_max,
        argv: form.exact_argv.map(Spanned::into_inner),
        is_job: form.is_job.is_some_and(Spanned::into_inner),
    })
}

/// Reads a list of one name.
fn only(list: &Spanned<Vec<Spanned<String>>>) -> Result<String, PolicyFault> {
    match list.as_ref().as_slice() {
        [name] => literal(name),
        _ => {
            Err(PolicyFault::new(list.span(), "an approval names exactly one")
                .help("write one name"))
        }
    }
}

fn literal(glob: &Spanned<String>) -> Result<String, PolicyFault> {
    unescape(glob.as_ref()).ok_or_else(|| {
        PolicyFault::new(
            glob.span(),
            format!("{} matches more than one name", shown(glob.as_ref())),
        )
        .help("write rules with globs into policy.toml")
    })
}

// === impl StandingApproval ===

impl StandingApproval {
    /// Writes what it allows and until when, as its file has it.
    pub fn terms(&self) -> String {
        terms(&self.permissions, self.component.as_deref(), self.expires_at)
    }
}

// === impl Permission ===

impl Permission {
    /// Writes it as a rule of a policy file, without the heading.
    pub fn to_toml(&self) -> String {
        let one = |name: &str| format!("[{}]", quoted(&escape(name)));
        let mut text = format!("tools = {}\n", one(&self.tool));
        if let Some(plugin) = &self.plugin {
            let _ = writeln!(text, "plugins = {}", one(plugin));
        }
        let _ = writeln!(text, "callers = {}", one(&self.caller));
        let _ = writeln!(text, "effects = [\"{}\"]", self.action.as_str());
        let paths: Vec<_> = self.paths.iter().map(|path| quoted(&escape(path.as_str()))).collect();
        let _ = match paths.as_slice() {
            [path] => writeln!(text, "paths = [{path}]"),
            paths => writeln!(text, "paths = [\n    {},\n]", paths.join(",\n    ")),
        };
        if let Some(argv) = &self.argv {
            let words: Vec<_> = argv.iter().map(|word| quoted(word)).collect();
            let _ = writeln!(text, "exact_argv = [{}]", words.join(", "));
        }
        if self.is_job {
            text.push_str("is_job = true\n");
        }
        if let Some(max) = self.size_bytes_max {
            let _ = writeln!(text, "size_bytes_max = {max}");
        }
        text + "decision = \"allow\"\n"
    }
}
