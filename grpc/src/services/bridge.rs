//! `moss.v1.BridgeService`: what turns the text of models into calls, and replies into the words of
//! APIs, for editors that talk to models themselves. Reads only; nothing is called.

mod events;
mod exchange;
mod reading;
mod requests;
mod sequence;
mod tools;
mod writing;

use std::pin::Pin;
use std::sync::Arc;

use moss_dispatch::{Caller, Reason, blocking::heavy};
use moss_model_bridge::{
    self as bridge, PromptRequest, Registry, ToolChoice, encode::estimate_tokens,
};
use moss_proto::v1;
use moss_proto::v1::bridge_service_server::BridgeService;
use moss_proto::v1::normalize_response::Result as Outcome;
use moss_proto::v1::tool_choice::Choice;
use moss_proto::v1::{encode_request, parse_request};
use prost::Message as _;
use tokio_stream::Stream;
use tonic::{Extensions, Request, Response, Status, Streaming};

use self::exchange::ResponseSender;
use self::reading::ParseExchange;
use self::writing::{EncodeExchange, WireWriter};
use super::error::{self, invalid_field};
use super::from_proto;
use super::methods::methods;
use crate::listener::Peer;
use moss_catalog::{Language, SchemaForm};
use moss_daemon::state::Daemon;
use moss_daemon::user_prompt;
use moss_dispatch::budget::BudgetShare;

/// Longest id, and seed of ids, in bytes.
const ID_BYTES_MAX: usize = 64;

#[derive(Debug, Clone)]
pub(super) struct BridgeRpc(pub(super) Arc<Daemon>);

type Responses<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

methods! {
    BridgeService for BridgeRpc {
        type ParseStream = Responses<v1::ParseResponse>;
        type EncodeStream = Responses<v1::EncodeResponse>;
        fn parse(Streaming<v1::ParseRequest>) -> Responses<v1::ParseResponse>;
        fn encode(Streaming<v1::EncodeRequest>) -> Responses<v1::EncodeResponse>;
        fn render_prompt(v1::RenderPromptRequest) -> v1::RenderPromptResponse;
        fn normalize(v1::NormalizeRequest) -> v1::NormalizeResponse;
    }
}

impl BridgeRpc {
    async fn parse(
        &self,
        request: Request<Streaming<v1::ParseRequest>>,
    ) -> Result<Response<Responses<v1::ParseResponse>>, Status> {
        let caller = caller(request.extensions());
        let mut told = request.into_inner();
        let first = exchange::first(&mut told).await?;
        let Some(parse_request::Message::Start(start)) = first.and_then(|first| first.message)
        else {
            return Err(exchange::no_start("something else came"));
        };
        let options = options(&start)?;
        let chosen = start.tools.unwrap_or_default();
        let tools = {
            let asker = (&*self.0, caller.as_ref());
            tools::of(asker, chosen, SchemaForm::Strict, Language::En).await?
        };
        let (answers, stream) = ResponseSender::new(&self.0, caller);
        let reading = ParseExchange::new(answers, Arc::new(tools.registry), options);
        self.0.tasks.spawn(exchange::run(reading, told));
        Ok(Response::new(Box::pin(stream)))
    }

    async fn encode(
        &self,
        request: Request<Streaming<v1::EncodeRequest>>,
    ) -> Result<Response<Responses<v1::EncodeResponse>>, Status> {
        let share = self.encoding_share(request.extensions());
        let caller = caller(request.extensions());
        let mut told = request.into_inner();
        let first = exchange::first(&mut told).await?;
        let Some(encode_request::Message::Start(start)) = first.and_then(|first| first.message)
        else {
            return Err(exchange::no_start("something else came"));
        };
        let writer = WireWriter::new(start)?;
        let (answers, stream) = ResponseSender::new(&self.0, caller);
        let writing = EncodeExchange::new(answers, writer, share)?;
        self.0.tasks.spawn(exchange::run(writing, told));
        Ok(Response::new(Box::pin(stream)))
    }

    async fn render_prompt(
        &self,
        request: Request<v1::RenderPromptRequest>,
    ) -> Result<Response<v1::RenderPromptResponse>, Status> {
        let caller = caller(request.extensions());
        let asker = (&*self.0, caller.as_ref());
        let request = request.into_inner();
        let language = from_proto::language(request.language)?;
        let form = form(request.form)?;
        let step = step(request.step)?;
        let choice = choice(request.choice)?;
        from_proto::bounded("model", &request.model, from_proto::NAME_BYTES_MAX)?;
        let chosen = request.tools.unwrap_or_default();
        let tools = tools::of(asker, chosen, SchemaForm::Published, language).await?;
        tools::whole("tools.tools_json", &tools.registry)?;
        if let ToolChoice::Tool(name) = &choice
            && tools.registry.tool(name).is_none()
        {
            return Err(invalid_field("choice.tool", "none of the tools has this name"));
        }
        let (parallel, omits_own) = (!request.single_call, request.omit_user_prompt);
        let daemon = Arc::clone(&self.0);
        let registry = tools.registry;
        let text = heavy((&self.0.cpu_permits, caller.as_ref()), move || {
            let own = match omits_own {
                true => String::new(),
                false => user_prompt::read(&daemon.setup.dirs)?.unwrap_or_default(),
            };
            let registry: &Registry = &registry;
            let language = spoken(language);
            let (choice, own) = (&choice, own.as_str());
            let request = PromptRequest { registry, choice, parallel, language, form, own, step };
            Ok::<_, moss_sdk::ToolError>(bridge::render_prompt(&request))
        })
        .await
        .map_err(error::broken)?
        .map_err(|refusal| error::internal(&refusal.to_string()))?;
        Ok(Response::new(v1::RenderPromptResponse {
            tokens_estimated: estimate_tokens(&text),
            text,
            catalog_digest: tools.catalog_digest,
            settings: Some(settings(&request.model)),
        }))
    }

    async fn normalize(
        &self,
        request: Request<v1::NormalizeRequest>,
    ) -> Result<Response<v1::NormalizeResponse>, Status> {
        let caller = caller(request.extensions());
        let v1::NormalizeRequest { api, body_json, remembered_tools_json } = request.into_inner();
        let api = requests::api("api", api)?;
        let remembered =
            tools::remembered((&self.0, caller.as_ref()), remembered_tools_json).await?;
        let read = heavy((&self.0.cpu_permits, caller.as_ref()), move || {
            requests::read(api, &body_json, &remembered).map_or_else(
                |error| Outcome::Refused(requests::refused(api, error)),
                Outcome::Normalized,
            )
        });
        let response = v1::NormalizeResponse { result: Some(read.await.map_err(error::broken)?) };
        let (size, bytes_max) = (response.encoded_len(), self.0.config().grpc.response_bytes_max);
        if size > bytes_max {
            return Err(too_large("the conversation", size, bytes_max));
        }
        Ok(Response::new(response))
    }
}

impl BridgeRpc {
    /// What a reply may hold of the memory of its connection, of its caller and of its role.
    fn encoding_share(&self, extensions: &Extensions) -> BudgetShare<3> {
        let limits = &self.0.config().grpc;
        let (bytes_max, connection_bytes_max) =
            (limits.encoding_bytes_max, limits.connection_encoding_bytes_max);
        let caller = extensions.get::<Caller>();
        let [own, of_all] = self.0.encoding.shares(caller, bytes_max, connection_bytes_max);
        let of_connection = extensions.get::<Peer>().map(Peer::encoding).unwrap_or_default();
        BudgetShare::new([(of_connection, connection_bytes_max), own, of_all])
    }
}

/// Who asks, where that is known.
fn caller(extensions: &Extensions) -> Option<Caller> {
    extensions.get::<Caller>().cloned()
}

/// Makes the status of a response that has more bytes than one may have.
fn too_large(what: &str, size: usize, bytes_max: usize) -> Status {
    let message =
        format!("{what} has {size} bytes; the limit is {bytes_max} (grpc.response_bytes_max)");
    error::status(Reason::ResponseTooLarge, &message, &[])
}

/// Refuses what is no part of an id: it has letters and digits, and some signs.
fn word(field: &str, text: &str, signs: &str) -> Result<(), Status> {
    from_proto::bounded(field, text, ID_BYTES_MAX)?;
    if text.chars().all(|c| c.is_ascii_alphanumeric() || signs.contains(c)) {
        return Ok(());
    }
    let message = format!("only ASCII letters, digits and the signs `{signs}` make an id");
    Err(invalid_field(field, &message))
}

fn options(start: &v1::ParseStart) -> Result<bridge::ParseOptions, Status> {
    word("start.id_seed", &start.id_seed, "_-")?;
    from_proto::bounded("start.model", &start.model, from_proto::NAME_BYTES_MAX)?;
    Ok(bridge::ParseOptions {
        id_seed: start.id_seed.clone(),
        keeps_ids: start.keep_ids,
        begins_in_thought: start.begins_in_thought,
        forms: bridge::forms(&start.model),
    })
}

fn form(form: i32) -> Result<bridge::PromptDetail, Status> {
    match v1::PromptForm::try_from(form) {
        Ok(v1::PromptForm::Unspecified | v1::PromptForm::Short) => Ok(bridge::PromptDetail::Short),
        Ok(v1::PromptForm::Long) => Ok(bridge::PromptDetail::Long),
        Err(_) => Err(invalid_field("form", "no such value")),
    }
}

fn step(step: i32) -> Result<bridge::ReplyPurpose, Status> {
    match v1::PromptStep::try_from(step) {
        Ok(v1::PromptStep::Unspecified | v1::PromptStep::Act) => Ok(bridge::ReplyPurpose::Act),
        Ok(v1::PromptStep::Summary) => Ok(bridge::ReplyPurpose::Summary),
        Err(_) => Err(invalid_field("step", "no such value")),
    }
}

fn choice(choice: Option<v1::ToolChoice>) -> Result<ToolChoice, Status> {
    match choice.map(|choice| choice.choice) {
        None | Some(Some(Choice::Auto(_))) => Ok(ToolChoice::Auto),
        Some(Some(Choice::None(_))) => Ok(ToolChoice::None),
        Some(Some(Choice::Any(_))) => Ok(ToolChoice::Any),
        Some(Some(Choice::Tool(name))) => Ok(ToolChoice::Tool(name)),
        Some(None) => Err(invalid_field("choice", "is empty, or of an unknown kind")),
    }
}

fn spoken(language: Language) -> bridge::Language {
    match language {
        Language::En => bridge::Language::En,
        Language::Zh => bridge::Language::Zh,
    }
}

fn settings(model: &str) -> v1::ModelSettings {
    let profile = bridge::profile(model);
    v1::ModelSettings {
        temperature: profile.temperature,
        stop: profile.stop.clone(),
        result_room_percent: profile.result_room_percent.into(),
    }
}
