//! `moss.v1.PolicyService`.

use std::sync::Arc;

use jiff::Timestamp;
use moss_dispatch::{CallError, Caller, Reason, SessionKey};
use moss_proto::v1;
use moss_proto::v1::policy_service_server::PolicyService;
use tonic::{Request, Response, Status};

use super::methods::methods;
use super::{error, from_proto, look_up, to_proto};
use moss_daemon::approvals::{ApprovalsError, ListedApproval};
use moss_daemon::explain;
use moss_daemon::recorded_decision::{self, KeepError};
use moss_daemon::state::{Daemon, WorkspaceState};
use moss_journal::audit::uses::ApprovalUses;
use moss_policy::explain::{Explanation, FoundDecision};
use moss_policy::{ReadingDoubt, RuleRef, Verdict};
use moss_schema::arguments;
use std::collections::HashMap;

/// Who decides about what a rule asks, as policy files have it.
const PERSON: &str = "person";

#[derive(Debug, Clone)]
pub(super) struct PolicyRpc(pub(super) Arc<Daemon>);

methods! {
    PolicyService for PolicyRpc {
        fn list_policy_rules(v1::ListPolicyRulesRequest) -> v1::ListPolicyRulesResponse;
        fn list_standing_approvals(v1::ListStandingApprovalsRequest) -> v1::ListStandingApprovalsResponse;
        fn revoke_standing_approval(v1::RevokeStandingApprovalRequest) -> v1::RevokeStandingApprovalResponse;
        fn explain_policy(v1::ExplainPolicyRequest) -> v1::ExplainPolicyResponse;
    }
}

impl PolicyRpc {
    async fn list_policy_rules(
        &self,
        request: Request<v1::ListPolicyRulesRequest>,
    ) -> Result<Response<v1::ListPolicyRulesResponse>, Status> {
        let caller = from_proto::caller(request.extensions())?;
        let workspace = from_proto::workspace(&self.0, &request.into_inner().workspace)?;
        let policy = workspace.policy.load();
        let mut rules: Vec<_> =
            policy.rules().map(|(verdict, rule_ref)| rule(verdict, rule_ref)).collect();
        let listed = standing_approvals((&self.0, &caller), &workspace).await?;
        let stored = listed.iter().filter(|listed| listed.session.is_none());
        rules.extend(stored.map(|listed| rule(Verdict::Allow, &listed.answer.rule)));
        Ok(Response::new(v1::ListPolicyRulesResponse { rules, problems: problems(&workspace) }))
    }

    async fn list_standing_approvals(
        &self,
        request: Request<v1::ListStandingApprovalsRequest>,
    ) -> Result<Response<v1::ListStandingApprovalsResponse>, Status> {
        let caller = from_proto::caller(request.extensions())?;
        let workspace = from_proto::workspace(&self.0, &request.into_inner().workspace)?;
        let listed = standing_approvals((&self.0, &caller), &workspace).await?;
        let uses = uses((&self.0, &caller), &workspace).await?;
        let shown =
            listed.iter().map(|listed| to_proto::standing_approval(listed, uses_of(&uses, listed)));
        Ok(Response::new(v1::ListStandingApprovalsResponse {
            approvals: shown.collect(),
            problem: workspace.answers.problem().unwrap_or_default(),
        }))
    }

    async fn revoke_standing_approval(
        &self,
        request: Request<v1::RevokeStandingApprovalRequest>,
    ) -> Result<Response<v1::RevokeStandingApprovalResponse>, Status> {
        let caller = from_proto::caller(request.extensions())?;
        let request = request.into_inner();
        let workspace = from_proto::workspace(&self.0, &request.workspace)?;
        let listed =
            recorded_decision::revoke(&workspace, request.id).await.map_err(|refusal| {
                match &refusal {
                    KeepError::Approvals(ApprovalsError::Unknown(_)) => {
                        error::status(Reason::ApprovalUnknown, &refusal.to_string(), &[])
                    }
                    _ => error::status(Reason::ApprovalsUnusable, &refusal.to_string(), &[]),
                }
            })?;
        let uses = uses_of(&uses((&self.0, &caller), &workspace).await?, &listed);
        let approval = Some(to_proto::standing_approval(&listed, uses));
        Ok(Response::new(v1::RevokeStandingApprovalResponse { approval }))
    }

    async fn explain_policy(
        &self,
        request: Request<v1::ExplainPolicyRequest>,
    ) -> Result<Response<v1::ExplainPolicyResponse>, Status> {
        let (_, extensions, request) = request.into_parts();
        let asker = from_proto::caller(&extensions)?;
        let caller = match request.caller.as_str() {
            "" => asker.name().to_owned(),
            named => named.to_owned(),
        };
        from_proto::bounded("caller", &caller, from_proto::NAME_BYTES_MAX)?;
        let workspace = from_proto::workspace(&self.0, &request.workspace)?;
        let text = request.arguments_json;
        let parsed = look_up((&self.0, &asker), move || arguments::parse(&text)).await?;
        let arguments =
            parsed.map_err(|violation| error::call(&CallError::Invalid(vec![violation])))?;
        let session_id = Some(request.session_id).filter(|id| !id.is_empty());
        let session =
            session_id.map(|session_id| SessionKey { caller: caller.clone(), session_id });
        let asked = Arc::new(AskedExplanation {
            daemon: Arc::clone(&self.0),
            asker,
            workspace,
            tool: request.tool,
            arguments,
            caller,
            session,
        });
        let mut found = asked.explained(None).await?;
        let verdict = match found.allowing_sessions.is_empty() {
            true => strictest(&found.steps),
            false => Some(Verdict::Allow),
        };
        let place = self.0.lookups.acquire(Some(&asked.asker)).await;
        let doubt = explain::doubt(&self.0, &asked.tool, &asked.arguments, verdict).await;
        // What follows takes its own.
        drop(place);
        if doubt.is_some() {
            found = asked.explained(doubt).await?;
        }
        Ok(Response::new(v1::ExplainPolicyResponse {
            decision: strictest(&found.steps).map_or(v1::Decision::Unspecified, decision).into(),
            steps: found.steps.iter().map(step).collect(),
            problems: found.problems,
            allowing_sessions: found.allowing_sessions,
        }))
    }
}

/// A call that is to be explained.
struct AskedExplanation {
    daemon: Arc<Daemon>,
    /// Who wants to know.
    asker: Caller,
    workspace: Arc<WorkspaceState>,
    tool: String,
    arguments: serde_json::Map<String, serde_json::Value>,
    caller: String,
    session: Option<SessionKey>,
}

/// What was found of it.
struct FoundExplanation {
    steps: Vec<Explanation>,
    allowing_sessions: Vec<String>,
    problems: Vec<String>,
}

// === impl AskedExplanation ===

impl AskedExplanation {
    /// Explains the call, where bash may read its command otherwise.
    async fn explained(
        self: &Arc<Self>,
        doubt: Option<ReadingDoubt>,
    ) -> Result<FoundExplanation, Status> {
        let asked = Arc::clone(self);
        let find = move || asked.find(doubt.as_ref());
        let found = look_up((&self.daemon, &self.asker), find).await?;
        found.map_err(|refusal| error::call(&refusal))
    }

    fn find(&self, doubt: Option<&ReadingDoubt>) -> Result<FoundExplanation, CallError> {
        let workspace = (&*self.workspace, doubt);
        let (arguments, session) = (self.arguments.clone(), self.session.as_ref());
        let steps = explain::call(workspace, &self.tool, arguments, &self.caller, session);
        let steps = steps.map_err(|refusal| match refusal {
            CallError::UnknownTool(unknown) => {
                CallError::UnknownTool(self.daemon.with_plugins(&self.workspace, unknown))
            }
            refusal => refusal,
        })?;
        let allowing_sessions = match (strictest(&steps), session) {
            (Some(Verdict::Ask), None) => {
                explain::allowing_sessions(workspace, &self.tool, &self.arguments, &self.caller)
            }
            _ => Vec::new(),
        };
        Ok(FoundExplanation { steps, allowing_sessions, problems: problems(&self.workspace) })
    }
}

fn strictest(explained: &[Explanation]) -> Option<Verdict> {
    explained.iter().map(|step| step.decision.verdict).max()
}

fn problems(workspace: &WorkspaceState) -> Vec<String> {
    let policy = workspace.policy.load();
    let of_files = policy.problems().map(|problem| problem.one_line());
    of_files.chain(workspace.answers.problem()).collect()
}

/// The approvals in effect, those that another process stored meanwhile included.
async fn standing_approvals(
    asker: (&Daemon, &Caller),
    workspace: &Arc<WorkspaceState>,
) -> Result<Vec<ListedApproval>, Status> {
    let workspace = Arc::clone(workspace);
    let list = move || {
        workspace.answers.reload();
        workspace.answers.list(Timestamp::now())
    };
    look_up(asker, list).await
}

/// How often each approval was used, from the journal.
async fn uses(
    asker: (&Daemon, &Caller),
    workspace: &Arc<WorkspaceState>,
) -> Result<HashMap<String, ApprovalUses>, Status> {
    let workspace = Arc::clone(workspace);
    let counted = look_up(asker, move || workspace.journal.approval_uses()).await?;
    counted.map_err(|error| error::internal(&error.to_string()))
}

fn uses_of(uses: &HashMap<String, ApprovalUses>, listed: &ListedApproval) -> ApprovalUses {
    uses.get(&listed.answer.id).copied().unwrap_or_default()
}

fn step(explanation: &Explanation) -> v1::PolicyStep {
    let verdict = explanation.decision.verdict;
    v1::PolicyStep {
        effect: effect(explanation),
        decision: decision(verdict).into(),
        deciding: Some(rule(verdict, &explanation.decision.rule)),
        matching: explanation
            .matched
            .iter()
            .map(|matched| rule(matched.verdict, &matched.rule))
            .collect(),
        by_size: explanation
            .by_size
            .iter()
            .map(|sized| v1::SizedDecision {
                from_bytes: sized.from_bytes,
                decision: decision(sized.decision.verdict).into(),
                deciding: Some(rule(sized.decision.verdict, &sized.decision.rule)),
            })
            .collect(),
        by_level: explanation.by_level.iter().map(found).collect(),
        command_unknown: explanation.lacks_command(),
    }
}

/// Names what is done, and to what.
fn effect(explanation: &Explanation) -> String {
    let action = explanation.action.as_str();
    match (&explanation.command, &explanation.path) {
        (Some(command), Some(directory)) if directory != "." => {
            format!("{action} {command} in {directory}")
        }
        (Some(command), _) => format!("{action} {command}"),
        (None, Some(path)) => format!("{action} {path}"),
        (None, None) => action.to_owned(),
    }
}

fn found(found: &FoundDecision) -> v1::FoundDecision {
    v1::FoundDecision {
        match_levels: found.match_levels.iter().map(ToString::to_string).collect(),
        drift: found.drift,
        decision: decision(found.decision.verdict).into(),
        deciding: Some(rule(found.decision.verdict, &found.decision.rule)),
    }
}

fn rule(verdict: Verdict, rule: &RuleRef) -> v1::PolicyRule {
    v1::PolicyRule {
        layer: rule.layer.as_str().to_owned(),
        file: rule.file.as_deref().unwrap_or_default().to_owned(),
        line: rule.line.and_then(|line| u32::try_from(line).ok()).unwrap_or_default(),
        name: rule.name.clone().unwrap_or_default(),
        decision: decision(verdict).into(),
        reason: rule.reason.clone().unwrap_or_default(),
        approver: if rule.for_person { PERSON.to_owned() } else { String::new() },
    }
}

fn decision(verdict: Verdict) -> v1::Decision {
    match verdict {
        Verdict::Allow => v1::Decision::Allow,
        Verdict::Ask => v1::Decision::Ask,
        Verdict::Deny => v1::Decision::Deny,
    }
}
