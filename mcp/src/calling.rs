//! Calls of tools: which of them a client may make, and what comes back where a person is needed.

use rmcp::model::{CallToolRequestParams, CallToolResponse, ErrorData};
use rmcp::service::{RequestContext, RoleServer};

use crate::backend::{ApprovedEffects, ToolBackend, ToolUse, UseReply};
use crate::fault::CallFault;
use crate::find_tools::FoundTools;
use crate::reply::ReplyForm;
use crate::rounds::{self, CallRound, QuestionRound};
use crate::server::McpConnection;
use crate::set::ToolSet;
use crate::{clarify, find_tools, following, line, listing, reply};

/// How a call ends that did not run: a result that a model can correct itself from, or an error of the protocol.
pub(crate) fn of_fault(fault: CallFault) -> Result<CallToolResponse, ErrorData> {
    match fault.is_of_protocol() {
        true => Err(ErrorData::invalid_params(fault.to_string(), None)),
        false => Ok(reply::of_fault(&fault).into()),
    }
}

// === impl McpConnection ===

impl McpConnection {
    /// Calls a tool. What a model can do something about is a result; that no tool has the name, or that the client
    /// brings a state of another call, is an error.
    pub(crate) async fn call(
        &self,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments_json = line::arguments_json(&request, &context.extensions)?;
        let ended = self.attempt(&request, arguments_json, context).await;
        ended.or_else(|fault| {
            of_fault(match fault.is_unknown_tool() && fault.hint.is_empty() {
                true => fault.hint(self.options.set.names_hint()),
                false => fault,
            })
        })
    }

    async fn attempt(
        &self,
        request: &CallToolRequestParams,
        arguments_json: String,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, CallFault> {
        let (mut name, mut arguments_json) = (request.name.to_string(), arguments_json);
        let backend = self.backend(&context.peer).await?;
        let set = &self.options.set;
        if set.has_more() && name == find_tools::NAME {
            let tools = listing::all(backend).await?;
            match find_tools::found(&arguments_json, &tools, set)? {
                FoundTools::Shown(found) => return Ok(find_tools::result(found).into()),
                // From here on it is a call of that tool.
                FoundTools::Called(tool, arguments) => (name, arguments_json) = (tool, arguments),
            }
        }
        if !matches!(set, ToolSet::Default | ToolSet::All) {
            let tools = listing::all(backend).await?;
            // A name that no tool has is left to who knows the nearest ones.
            if tools.iter().any(|tool| tool.name == name && !set.allows(tool)) {
                let message = format!("the tool set `{}` has no tool `{name}`", set.name());
                return Err(CallFault::unknown_tool(message));
            }
        }
        let has_forms = following::has_forms(context);
        let call = ToolUse {
            name,
            arguments_json,
            session_id: self.options.session_id.clone(),
            has_forms,
            decides_by_form: has_forms && self.options.decides_by_form,
            in_rounds: None,
            trace_parent: context.meta.get_traceparent().map(ToOwned::to_owned),
        };
        if rounds::has_forms(context) {
            return self.round(&**backend, call, request, context).await;
        }
        let reply = following::follow(&**backend, call, context, self.form_life()).await?;
        Ok(reply::of_reply(reply, ReplyForm::of(context)).into())
    }

    /// Makes a call that stands by itself, whose questions are part of its results.
    async fn round(
        &self,
        backend: &dyn ToolBackend,
        call: ToolUse,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, CallFault> {
        let (options, seal) = (&self.options, &self.options.seal);
        let asked = call.clone();
        let named = options.call_name(&asked.name, &asked.arguments_json);
        let is_question = asked.name == clarify::TOOL;
        let question = is_question.then(|| clarify::question(&asked.arguments_json)).flatten();
        let round = match question {
            Some(question) => rounds::answer(request, &question, seal, &named)?,
            None => QuestionRound::Unasked,
        };
        if let QuestionRound::Replied(said) = &round {
            let output = clarify::output(said.as_deref());
            return Ok(reply::of_output(output, ReplyForm::of(context)).into());
        }
        let approved = match options.decides_by_form {
            // The state is that of the question, which is put anew.
            true if round == QuestionRound::Unread => Some(ApprovedEffects::default()),
            true => match rounds::read(request, seal, &named)? {
                CallRound::Approved(approved) => Some(approved),
                CallRound::Denied(effect) => return Err(backend.deny(call, effect).await),
                CallRound::Undecided => return Err(rounds::undecided()),
            },
            // No form decides about effects: what comes along is nobody's.
            false => None,
        };
        let call = ToolUse { in_rounds: approved.clone(), ..call };
        let ended = following::follow(backend, call, context, self.form_life()).await;
        let put =
            |reply: &UseReply| rounds::put(&clarify::open_question(&asked, reply)?, seal, &named);
        match (ended, approved) {
            (Ok(reply), _) => Ok(match put(&reply) {
                Some(question) => question.into(),
                None => reply::of_reply(reply, ReplyForm::of(context)).into(),
            }),
            (Err(fault), Some(approved)) => match rounds::ask(&fault, approved, seal, &named) {
                Some(question) => Ok(question.into()),
                None => Err(fault),
            },
            (Err(fault), None) => Err(fault),
        }
    }
}
