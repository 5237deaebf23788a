//! What a connection offers beside tools: resources, prompts, and how what a person types goes on.

use moss_sdk::content::ContentPart;
use moss_sdk::deceptive::quoted;
use rmcp::model::{
    CacheScope, CompleteRequestParams, CompleteResult, CompletionInfo, ErrorData,
    GetPromptRequestParams, GetPromptResult, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ReadResourceResult, Reference, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::Value;

use crate::backend::{CommandArtifact, ToolUse};
use crate::fault::CallFault;
use crate::resources::ResourceReader;
use crate::server::McpConnection;
use crate::{following, listing, prompts, resources, revisions};

/// How long a client may keep what is always the same, in milliseconds.
const FIXED_TTL_MS: u64 = 3_600_000;
/// How long it may keep what the workspace has, in milliseconds: it changes at any moment.
const FILES_TTL_MS: u64 = 0;

/// Sets for how long a list may be kept, in revisions that have that.
macro_rules! keep {
    ($list:expr, $ttl_ms:expr, $context:expr) => {{
        let mut list = $list;
        if $context.protocol_version().is_some_and(|one| revisions::has_hints(&one)) {
            list.ttl_ms = Some($ttl_ms);
            list.cache_scope = Some(CacheScope::Private);
        }
        list
    }};
}

/// Reads by calls on behalf of one request.
struct RequestReader<'a> {
    connection: &'a McpConnection,
    context: &'a RequestContext<RoleServer>,
}

// === impl RequestReader ===

impl ResourceReader for RequestReader<'_> {
    fn has(&self, tool: &str) -> bool {
        self.connection.options.set.may_read_by(tool)
    }

    async fn artifacts(&self) -> Result<Vec<CommandArtifact>, CallFault> {
        self.connection.backend(&self.context.peer).await?.artifacts().await
    }

    async fn refused(&self, paths: Vec<String>) -> Result<Vec<String>, CallFault> {
        self.connection.backend(&self.context.peer).await?.refused(paths).await
    }

    async fn shown(
        &self,
        tool: &str,
        arguments: Value,
    ) -> Result<(Value, Vec<ContentPart>), CallFault> {
        let options = &self.connection.options;
        if !self.has(tool) {
            let message = format!("the tool set `{}` has no tool `{tool}`", options.set.name());
            return Err(CallFault::unknown_tool(message));
        }
        let backend = self.connection.backend(&self.context.peer).await?;
        let call = ToolUse {
            name: tool.to_owned(),
            arguments_json: arguments.to_string(),
            session_id: options.session_id.clone(),
            has_forms: false,
            decides_by_form: false,
            in_rounds: None,
            trace_parent: self.context.meta.get_traceparent().map(ToOwned::to_owned),
        };
        let forms = self.connection.form_life();
        let reply = following::follow(&**backend, call, self.context, forms).await?;
        let output = serde_json::from_str(&reply.result?)
            .map_err(|error| CallFault::new("internal", error.to_string()))?;
        Ok((output, reply.content))
    }
}

// === impl McpConnection ===

impl McpConnection {
    fn reader<'a>(&'a self, context: &'a RequestContext<RoleServer>) -> RequestReader<'a> {
        RequestReader { connection: self, context }
    }

    /// Lists the files of the workspace.
    pub(crate) async fn resources(
        &self,
        cursor: Option<String>,
        context: &RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let page = resources::list(&self.reader(context), cursor.as_deref()).await?;
        Ok(keep!(page, FILES_TTL_MS, context))
    }

    /// Lists how the names of resources are made.
    pub(crate) fn resource_templates(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> ListResourceTemplatesResult {
        keep!(resources::templates(&self.reader(context)), FIXED_TTL_MS, context)
    }

    /// Returns what lies behind a URI, with how long it may be kept.
    pub(crate) async fn resource(
        &self,
        uri: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<ReadResourceResult, ErrorData> {
        let read = resources::read(&self.reader(context), uri).await?;
        Ok(keep!(read, FILES_TTL_MS, context))
    }

    /// Lists the prompts, with how long the list may be kept.
    pub(crate) fn prompts(&self, context: &RequestContext<RoleServer>) -> ListPromptsResult {
        keep!(prompts::list(), FIXED_TTL_MS, context)
    }

    /// Fills in a prompt, with how long it may be kept.
    pub(crate) async fn prompt(
        &self,
        request: &GetPromptRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<GetPromptResult, ErrorData> {
        match request.name.as_str() {
            prompts::NOTES => {
                let notes = self.notes(context).await.map_err(|fault| internal(&fault))?;
                Ok(prompts::notes(notes, &self.options.set))
            }
            prompts::TOOL => prompts::tool(request, &self.callable(context).await?),
            _ => Err(prompts::unknown()),
        }
    }

    /// Completes what a person has begun to type.
    pub(crate) async fn complete(
        &self,
        request: &CompleteRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let (begun, argument) = (&request.argument.value, &request.argument.name);
        let mut values = match &request.r#ref {
            Reference::Resource(template) => {
                check_argument(argument, Some(resources::argument(&template.uri)?), &template.uri)?;
                resources::complete(&self.reader(context), &template.uri, begun).await?
            }
            Reference::Prompt(prompt) if prompt.name == prompts::TOOL => {
                check_argument(argument, Some(prompts::NAME), prompts::TOOL)?;
                let tools = self.callable(context).await?;
                let names = tools.into_iter().map(|tool| tool.name.into_owned());
                names.filter(|name| name.starts_with(begun.as_str())).collect()
            }
            Reference::Prompt(prompt) if prompt.name == prompts::NOTES => {
                check_argument(argument, None, prompts::NOTES)?;
                Vec::new()
            }
            _ => return Err(prompts::unknown()),
        };
        let total = values.len();
        values.truncate(CompletionInfo::MAX_VALUES);
        let mut info = CompletionInfo::default();
        info.has_more = Some(total > values.len());
        info.total = u32::try_from(total).ok();
        info.values = values;
        Ok(CompleteResult::new(info))
    }

    /// How the tools that the client sees are best used.
    async fn notes(&self, context: &RequestContext<RoleServer>) -> Result<String, CallFault> {
        let backend = self.backend(&context.peer).await?;
        let listed = listing::all(backend).await?.into_iter();
        let listed = listed.filter(|tool| self.options.set.lists(tool));
        backend.notes(listed.map(|tool| tool.name.into_owned()).collect()).await
    }

    /// The tools that the client may call.
    async fn callable(&self, context: &RequestContext<RoleServer>) -> Result<Vec<Tool>, ErrorData> {
        let all = self.tools(&context.peer).await;
        let mut tools = all.map_err(|fault| internal(&fault))?;
        tools.retain(|tool| self.options.set.allows(tool));
        Ok(tools)
    }
}

/// Refuses to complete what is no argument of a prompt or of a template.
fn check_argument(name: &str, known: Option<&str>, of: &str) -> Result<(), ErrorData> {
    let message = match known {
        Some(known) if known == name => return Ok(()),
        Some(known) => format!("{of} has no argument `{}`: it has `{known}`", quoted(name)),
        None => format!("{of} has no arguments"),
    };
    Err(ErrorData::invalid_params(message, None))
}

fn internal(fault: &CallFault) -> ErrorData {
    ErrorData::internal_error(fault.to_string(), None)
}
