//! Changing a plugin list: shown first, then decided, then done with the digest that was approved.

use crate::client::{Client, NeededTools};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use moss_proto::v1;
use moss_proto::v1::change_plugins_request::Change;
use moss_sdk::ErrorCode;
use serde_json::{Value, json};

use super::described;
use crate::compiling::Steps;
use crate::confirming::{self, Confirm};
use crate::error::CliError;
use crate::prompt;
use crate::report::CallReport;
use crate::ui::{Ui, dim, yellow};
use crate::wording::PluginWording;
use crate::{Session, effect, text, undoing};
use moss_dispatch::Outcome;

/// How a change is resolved.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct DecisionArgs {
    /// Approve the change without asking
    #[arg(long, conflicts_with = "dry_run")]
    pub(super) yes: bool,

    /// Show the effect and its digest, do nothing
    #[arg(long)]
    pub(super) dry_run: bool,
}

/// What became of a change after a first look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Adjusted {
    /// Nobody was asked yet.
    Nothing,
    /// It was shown and stays as it is.
    Shown,
    /// It asks for something else now.
    Request,
}

/// What a change would do.
#[derive(Debug)]
pub(super) struct Preview {
    pub(super) result: v1::CallResult,
    pub(super) consent: v1::Consent,
}

/// Changes a list; `adjust` may ask for more once the change was shown, and change the request.
pub(super) async fn run(
    session: &Session,
    request: v1::ChangePluginsRequest,
    decision: DecisionArgs,
    adjust: impl AsyncFnOnce(&Preview, &mut v1::ChangePluginsRequest) -> Result<Adjusted, CliError>,
) -> Result<Outcome, CliError> {
    session
        .with_client(NeededTools::Plugins, async |client| {
            change(session, client, request, decision, adjust).await
        })
        .await
}

async fn change(
    session: &Session,
    client: &Client,
    mut request: v1::ChangePluginsRequest,
    decision: DecisionArgs,
    adjust: impl AsyncFnOnce(&Preview, &mut v1::ChangePluginsRequest) -> Result<Adjusted, CliError>,
) -> Result<Outcome, CliError> {
    let ui = &session.ui;
    let mut shown = look(ui, client, &request).await?;
    let is_failed = |shown: &Preview| shown.result.error.is_some();
    let asks = !decision.yes && !decision.dry_run && ui.interactive() && !ui.json();
    let mut is_shown = false;
    if asks && !is_failed(&shown) {
        match adjust(&shown, &mut request).await? {
            Adjusted::Nothing => {}
            Adjusted::Shown => is_shown = true,
            Adjusted::Request => shown = look(ui, client, &request).await?,
        }
    }
    if let Some(nothing) = nothing_to_do(&request, &shown) {
        let said = format!(
            "nothing to accept: {}",
            text::line(nothing["message"].as_str().unwrap_or_default())
        );
        ui.print_either(|| nothing, || said)?;
        return Ok(Outcome::Ok);
    }
    if is_failed(&shown) {
        return CallReport::of_result(shown.result, true).show(ui);
    }
    if !ui.json() {
        if !is_shown {
            ui.note(&described::change(&ui.wording().plugin, &shown.consent));
        }
        ui.note(&effect::changes(ui.wording(), &shown.result.changes));
        if !asks && !decision.yes && !decision.dry_run {
            ui.note(&effect::digest(ui.wording(), &shown.result.digest));
        }
    }
    if decision.dry_run {
        if ui.json() {
            return CallReport::of_result(shown.result, true).show(ui);
        }
        ui.print(&effect::digest(ui.wording(), &shown.result.digest))?;
        return Ok(Outcome::Ok);
    }
    if let Err(error) = approve(session, &shown, decision, asks).await {
        return if ui.json() { unapproved(shown, error).show(ui) } else { Err(error) };
    }
    request.approved_digests = vec![shown.result.digest];
    let done = client.change_plugins(request, |_| {}).await?;
    if ui.json() || done.error.is_some() {
        return CallReport::of_result(done, false).show(ui);
    }
    let v1::PluginsChanged { consent, applied: _, loaded: _, not_loaded_because } =
        done.plugins_changed.unwrap_or_default();
    let consent = consent.unwrap_or_default();
    match not_loaded_because.as_str() {
        "" => ui.note(&dim(done_line(&ui.wording().plugin, &consent))),
        why => {
            let name = of_one(&consent).map_or("it", |plugin| &plugin.name);
            let told = (ui.wording().plugin.not_loaded)(&text::line(name), &text::line(why));
            ui.note(&yellow(told));
        }
    }
    Ok(Outcome::Ok)
}

/// What programs get of a change that nobody said yes to.
fn unapproved(shown: Preview, error: CliError) -> CallReport {
    let call_id = Some(shown.result.call_id).filter(|id| !id.is_empty());
    let output = serde_json::from_str(&shown.result.output_json).unwrap_or_default();
    CallReport::of_error(&shown.result.tool, call_id, error).with_output(output)
}

/// What is printed where the file of a plugin holds what was accepted already.
fn nothing_to_do(request: &v1::ChangePluginsRequest, shown: &Preview) -> Option<Value> {
    let error = shown.result.error.as_ref()?;
    let Some(Change::Accept(accept)) = &request.change else { return None };
    (error.code == ErrorCode::NoChange.as_str()).then(|| {
        json!({
            "outcome": Outcome::Ok, "name": accept.name, "applied": false,
            "message": error.message,
        })
    })
}

/// Works a change out, and does nothing.
async fn look(
    ui: &Ui,
    client: &Client,
    request: &v1::ChangePluginsRequest,
) -> Result<Preview, CliError> {
    let request = v1::ChangePluginsRequest { dry_run: true, ..request.clone() };
    let (bar, steps) = (progress_bar(ui), Steps::new(*ui));
    let mut step = None;
    let told = |progress: &v1::CallProgress| {
        if progress.done > 0 || progress.total.is_some() {
            bar.set_length(progress.total.unwrap_or(progress.done));
            bar.set_position(progress.done);
        } else if !client.is_alone() {
            // What a daemon of this process compiles is shown as with every command.
            bar.finish_and_clear();
            step = steps.begin(&progress.message);
        }
    };
    let result = client.change_plugins(request, told).await;
    bar.finish_and_clear();
    drop(step);
    let result = result?;
    let changed = result.plugins_changed.clone().unwrap_or_default();
    match changed.consent {
        Some(consent) => Ok(Preview { result, consent }),
        None if result.error.is_some() => Ok(Preview { result, consent: v1::Consent::default() }),
        None => Err(CliError::new(
            Outcome::Unavailable,
            "daemon_incompatible",
            "the daemon does not say what would change: it is another version of moss",
        )),
    }
}

/// Shows how far a download is, where somebody looks.
fn progress_bar(ui: &Ui) -> ProgressBar {
    let target = match ui.interactive() && !ui.json() {
        true => ProgressDrawTarget::stderr(),
        false => ProgressDrawTarget::hidden(),
    };
    let style = ProgressStyle::with_template("{bar:40} {bytes}/{total_bytes} {eta}");
    let bar = ProgressBar::with_draw_target(None, target);
    match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// Gets a yes to exactly what was shown.
async fn approve(
    session: &Session,
    shown: &Preview,
    decision: DecisionArgs,
    asks: bool,
) -> Result<(), CliError> {
    let confirm = &session.global.confirm;
    let confirmation = v1::Confirmation {
        tool: shown.result.tool.clone(),
        changes: shown.result.changes.clone(),
        arguments_json: shown.result.output_json.clone(),
        consent: Some(shown.consent.clone()),
        digest: shown.result.digest.clone(),
        registers: true,
        ..v1::Confirmation::default()
    };
    let unconfirmed = |why: &str| Err(CliError::unconfirmed(why, &confirmation));
    let approved = confirming::approved_digests(confirm);
    if !approved.is_empty() {
        return match approved.contains(&shown.result.digest) {
            true => Ok(()),
            false => unconfirmed("the effect differs from the approved one; show it again"),
        };
    }
    match confirm.first() {
        Some(Confirm::Deny) => {
            Err(CliError::new(Outcome::Denied, "denied_by_person", "denied: nothing was changed"))
        }
        _ if decision.yes => Ok(()),
        Some(Confirm::Allow) => {
            unconfirmed("`--confirm allow` does not cover plugins; `--yes` does, or the digest")
        }
        _ if asks && effect::is_cut(&shown.result.changes) => Err(undoing::too_long(&confirmation)),
        _ if asks => match prompt::agree(&session.ui, session.ui.wording().prompt.proceed).await? {
            true => Ok(()),
            false => Err(CliError::new(
                Outcome::Denied,
                "denied_by_person",
                "denied: nothing was changed",
            )),
        },
        _ => unconfirmed("nobody can decide here; `--yes` approves what is shown"),
    }
}

/// The plugin of a change that is about one.
fn of_one(consent: &v1::Consent) -> Option<&v1::ConsentPlugin> {
    match consent.kind() {
        v1::ConsentKind::Trust | v1::ConsentKind::Untrust => None,
        v1::ConsentKind::Add
        | v1::ConsentKind::Replace
        | v1::ConsentKind::Accept
        | v1::ConsentKind::Remove
        | v1::ConsentKind::Fetch
        | v1::ConsentKind::Unspecified => consent.plugins.first(),
    }
}

/// Reports what became of the store of a plugin that is removed.
fn kept(words: &PluginWording, consent: &v1::Consent) -> &'static str {
    match (consent.store_keys.unwrap_or_default(), consent.forgets_store) {
        (0, _) => "",
        (_, true) => words.store_deleted,
        (_, false) => words.store_kept,
    }
}

/// Reports what was done, and what is next.
fn done_line(words: &PluginWording, consent: &v1::Consent) -> String {
    let of_none = v1::ConsentPlugin::default();
    let plugin = of_one(consent).unwrap_or(&of_none);
    let name = text::line(&plugin.name);
    match consent.kind() {
        v1::ConsentKind::Remove => (words.removed)(&name) + kept(words, consent),
        v1::ConsentKind::Accept => (words.accepted)(&name),
        v1::ConsentKind::Untrust => words.untrusted.to_owned(),
        v1::ConsentKind::Trust => words.trusted.to_owned(),
        v1::ConsentKind::Add
        | v1::ConsentKind::Replace
        | v1::ConsentKind::Fetch
        | v1::ConsentKind::Unspecified => added_line(words, &name, plugin),
    }
}

fn added_line(words: &PluginWording, name: &str, plugin: &v1::ConsentPlugin) -> String {
    let component = plugin.component.clone().unwrap_or_default();
    if plugin.granted.is_empty() && !component.may_not.is_empty() {
        let lacks = component.may_not.iter().map(|line| text::line(line));
        let (lacks, source) = (lacks.collect::<Vec<_>>().join(", "), text::line(&plugin.source));
        return (words.added_without)(name, &lacks, &source);
    }
    let tool =
        component.tools.first().map_or_else(|| "TOOL".to_owned(), |tool| text::line(&tool.name));
    (words.added)(name, &tool)
}
