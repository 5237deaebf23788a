//! What a rule grants the commands that it is about, and the caches that a file names.
//!
//! `network = true`, `profile = "danger-full"`, `environment = ["NPM_TOKEN"]` and `sockets = ["SSH_AUTH_SOCK"]` grant
//! commands of these words something where they run; `network = false`, `profile = "workspace-write"` and empty
//! lists keep them from it whatever other rules say. A workspace can only do the latter.

use std::collections::BTreeSet;

use moss_commands::decides_programs;
use serde::Deserialize;
use toml::Spanned;

use super::{GLOB_BYTES_MAX, GLOBS_MAX, LayerVerdict};
use crate::Verdict;
use crate::error::{PolicyFault, shown};
use crate::grants::RuleGrants;
use moss_sdk::deceptive::is_deceptive;

/// A list of texts, each with its place.
pub(super) type Texts = Option<Spanned<Vec<Spanned<String>>>>;

/// Variables that say through whom the network is reached: they run nothing.
const PROXIES: [&str; 5] = ["ALL_PROXY", "FTP_PROXY", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"];
/// How the names of moss's own variables begin.
const OWN_VARIABLES: &str = "MOSS_";
/// How the names of variables end that hold the path of a socket.
const SOCKET_NAMES: [&str; 2] = ["SOCK", "SOCKET"];

/// What a command may write, as a rule says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ProfileWord {
    WorkspaceWrite,
    DangerFull,
}

/// The keys of a rule that grant something.
pub(super) struct GrantsForm {
    pub(super) network: Option<Spanned<bool>>,
    pub(super) profile: Option<Spanned<ProfileWord>>,
    pub(super) environment: Texts,
    pub(super) sockets: Texts,
}

/// A key that grants something, or takes it away.
struct GrantingKey {
    span: std::ops::Range<usize>,
    name: &'static str,
    grants: bool,
    /// What a workspace cannot do.
    does: &'static str,
}

/// Reads what a rule grants.
pub(super) fn rule_grants<V: LayerVerdict>(
    form: GrantsForm,
    decision: Verdict,
    has_words: bool,
) -> Result<RuleGrants, PolicyFault> {
    for key in form.keys() {
        key.check::<V>(decision, has_words)?;
    }
    let GrantsForm { network, profile, environment, sockets } = form;
    Ok(RuleGrants {
        network: network.map(Spanned::into_inner),
        danger_full: profile.map(|profile| profile.into_inner() == ProfileWord::DangerFull),
        environment: environment.map(|names| list(names, check_variable)).transpose()?,
        sockets: sockets.map(|names| list(names, check_socket)).transpose()?,
    })
}

/// Reads the caches of a file.
pub(super) fn caches<V: LayerVerdict>(texts: Texts) -> Result<BTreeSet<String>, PolicyFault> {
    let Some(texts) = texts else { return Ok(BTreeSet::new()) };
    if !V::GRANTS {
        let message = "a workspace policy cannot name caches";
        return Err(
            PolicyFault::new(texts.span(), message).help("name them in the user's policy file")
        );
    }
    list(texts, |text| {
        let is_deep = text.trim_start_matches(['~', '/']).split('/').any(|name| !name.is_empty());
        let is_one = is_place(text) && is_deep;
        let help = "write an absolute path, or one that begins with `~/`, without `.` and `..`";
        if is_one { Ok(()) } else { Err(("is no directory for a cache".to_owned(), help)) }
    })
}

type Unfit = (String, &'static str);

fn list(
    texts: Spanned<Vec<Spanned<String>>>,
    check: impl Fn(&str) -> Result<(), Unfit>,
) -> Result<BTreeSet<String>, PolicyFault> {
    let span = texts.span();
    let texts = texts.into_inner();
    if texts.len() > GLOBS_MAX {
        return Err(PolicyFault::new(span, format!("more than {GLOBS_MAX} names in one list")));
    }
    let read = |text: Spanned<String>| {
        let span = text.span();
        let text = text.into_inner();
        let unfit = |(why, help): Unfit| {
            PolicyFault::new(span.clone(), format!("{} {why}", shown(&text))).help(help)
        };
        if text.len() > GLOB_BYTES_MAX || text.chars().any(is_deceptive) {
            return Err(unfit((
                "is too long, or has characters that do not show".to_owned(),
                "write a plain name",
            )));
        }
        check(&text).map_err(unfit)?;
        Ok(text)
    };
    texts.into_iter().map(read).collect()
}

fn check_variable(name: &str) -> Result<(), Unfit> {
    if !is_variable(name) {
        let why = "is no name of a variable".to_owned();
        return Err((why, "name each variable, without its value and without `*`"));
    }
    if SOCKET_NAMES.iter().any(|end| name.ends_with(end)) {
        return Err(("names a socket".to_owned(), "write it in `sockets`"));
    }
    if name.starts_with(OWN_VARIABLES) {
        return Err(("is moss's own".to_owned(), "no command is given it"));
    }
    let is_proxy = PROXIES.contains(&name.to_ascii_uppercase().as_str());
    if decides_programs(name) && !is_proxy {
        let why = "decides which programs run, or with which code".to_owned();
        return Err((why, "set it in the command itself, which then asks"));
    }
    Ok(())
}

fn check_socket(text: &str) -> Result<(), Unfit> {
    let is_named = is_variable(text) && SOCKET_NAMES.iter().any(|end| text.ends_with(end));
    if is_named || is_place(text) {
        return Ok(());
    }
    let help = "write its path, or the name of a variable that ends with `SOCK` or `SOCKET`, such as `SSH_AUTH_SOCK`";
    Err(("is no socket".to_owned(), help))
}

fn is_variable(name: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    name.starts_with(is_letter) && name.chars().all(|c| is_letter(c) || c.is_ascii_digit())
}

/// Whether a text is an absolute path, or one from the home directory, that means what it looks like.
fn is_place(text: &str) -> bool {
    let path = text.strip_prefix("~/").or_else(|| text.strip_prefix('/'));
    path.is_some_and(|path| {
        let path = path.strip_suffix('/').unwrap_or(path);
        !path.is_empty() && path.split('/').all(|name| !matches!(name, "" | "." | ".."))
    })
}

// === impl GrantsForm ===

impl GrantsForm {
    fn keys(&self) -> impl Iterator<Item = GrantingKey> {
        let network = self.network.as_ref().map(|network| GrantingKey {
            span: network.span(),
            name: "network",
            grants: *network.as_ref(),
            does: "let commands reach the network",
        });
        let profile = self.profile.as_ref().map(|profile| GrantingKey {
            span: profile.span(),
            name: "profile",
            grants: *profile.as_ref() == ProfileWord::DangerFull,
            does: "let commands out of the sandbox",
        });
        let environment = self.environment.as_ref().map(|names| GrantingKey {
            span: names.span(),
            name: "environment",
            grants: !names.as_ref().is_empty(),
            does: "give commands variables",
        });
        let sockets = self.sockets.as_ref().map(|names| GrantingKey {
            span: names.span(),
            name: "sockets",
            grants: !names.as_ref().is_empty(),
            does: "let commands connect to sockets",
        });
        [network, profile, environment, sockets].into_iter().flatten()
    }
}

// === impl GrantingKey ===

impl GrantingKey {
    fn check<V: LayerVerdict>(
        &self,
        decision: Verdict,
        has_words: bool,
    ) -> Result<(), PolicyFault> {
        let Self { span, name, grants, does } = self;
        let fault =
            |message: String, help: &str| Err(PolicyFault::new(span.clone(), message).help(help));
        if !has_words {
            let message = format!("`{name}` is about commands");
            return fault(message, "name them with `argv` or `exact_argv`");
        }
        if decision == Verdict::Deny {
            let message = "a command that is denied reaches nothing".to_owned();
            return fault(message, &format!("leave `{name}` out"));
        }
        if *grants && !V::GRANTS {
            let message = format!("a workspace policy cannot {does}");
            return fault(message, "write the rule in the user's policy file");
        }
        Ok(())
    }
}
