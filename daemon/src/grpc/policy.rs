//! `moss.v1.PolicyService`.

use std::sync::Arc;

use moss_proto::v1;
use moss_proto::v1::policy_service_server::PolicyService;
use tonic::{Request, Response, Status};

use super::{error, from_proto};
use crate::call::CallError;
use crate::policy::explain::Explanation;
use crate::policy::{self, RuleRef, Verdict};
use crate::state::Daemon;
use crate::{arguments, explain};

#[derive(Debug)]
pub(super) struct Policy(pub(super) Arc<Daemon>);

#[tonic::async_trait]
impl PolicyService for Policy {
    async fn list_policy_rules(
        &self,
        request: Request<v1::ListPolicyRulesRequest>,
    ) -> Result<Response<v1::ListPolicyRulesResponse>, Status> {
        let workspace = from_proto::workspace(&self.0, &request.into_inner().workspace)?;
        let policy = workspace.policy.load();
        Ok(Response::new(v1::ListPolicyRulesResponse {
            rules: policy.rules().map(|(verdict, rule_ref)| rule(verdict, rule_ref)).collect(),
            problems: problems(&policy),
        }))
    }

    async fn explain_policy(
        &self,
        request: Request<v1::ExplainPolicyRequest>,
    ) -> Result<Response<v1::ExplainPolicyResponse>, Status> {
        let (_, extensions, request) = request.into_parts();
        let role = from_proto::role(&extensions)?;
        let workspace = from_proto::workspace(&self.0, &request.workspace)?;
        let (explained, problems) = tokio::task::spawn_blocking(move || {
            let arguments = arguments::parse(&request.arguments_json)
                .map_err(|violation| CallError::Invalid(vec![violation]))?;
            let explained = explain::call(&workspace, &request.tool, arguments, role)?;
            Ok((explained, problems(&workspace.policy.load())))
        })
        .await
        .map_err(|_| error::internal("explaining broke"))?
        .map_err(|refusal: CallError| error::call(&refusal))?;
        let strictest = explained.iter().map(|step| step.decision.verdict).max();
        Ok(Response::new(v1::ExplainPolicyResponse {
            decision: strictest.map_or(v1::Decision::Unspecified, decision).into(),
            steps: explained.iter().map(step).collect(),
            problems,
        }))
    }
}

fn problems(policy: &policy::Policy) -> Vec<String> {
    policy.problems().map(|problem| problem.one_line()).collect()
}

fn step(explanation: &Explanation) -> v1::PolicyStep {
    let path = explanation.path.as_ref().map_or_else(String::new, |path| format!(" {path}"));
    let verdict = explanation.decision.verdict;
    v1::PolicyStep {
        effect: format!("{}{path}", explanation.action.as_str()),
        decision: decision(verdict).into(),
        deciding: Some(rule(verdict, &explanation.decision.rule)),
        matching: explanation
            .matched
            .iter()
            .map(|matched| rule(matched.verdict, &matched.rule))
            .collect(),
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
    }
}

fn decision(verdict: Verdict) -> v1::Decision {
    match verdict {
        Verdict::Allow => v1::Decision::Allow,
        Verdict::Ask => v1::Decision::Ask,
        Verdict::Deny => v1::Decision::Deny,
    }
}
