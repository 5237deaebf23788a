//! The responses of a model that is asked now: its server speaks OpenAI's Chat Completions.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use http::{Request, StatusCode, Uri};
use http_body_util::{BodyExt as _, Full};
use moss_model_bridge::Registry;
use moss_model_data::{OpenCase, QuestionOptions, question, reply};
use moss_network::{Network, RequestBounds};
use moss_plugin_host::services::HttpError;
use moss_proto::v1;
use moss_workspace::{named, own};
use serde_json::{Value, json};

use super::super::super::call::duration;
use super::super::super::error::CliError;
use super::super::super::progress::Meter;
use super::super::super::ui::dim;
use super::super::super::{Session, text};
use super::super::lines::LineReader;
use super::super::registry::unreadable;
use super::RESPONSES_BYTES_MAX;
use moss_dispatch::Outcome;

/// How often a case is asked when the server is busy or fails.
const ATTEMPTS_MAX: u32 = 3;
/// The wait before the second attempt where the server says none; twice as long before the next.
const WAIT_FIRST: Duration = Duration::from_secs(1);
/// The longest wait that a server is granted.
const WAIT_MAX: Duration = Duration::from_secs(60);
/// Longest time to resolve the name, and again to connect.
const CONNECT: Duration = Duration::from_secs(10);
/// Largest request and largest response.
const BODY_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Most bytes of a key.
const KEY_BYTES_MAX: u64 = 16 * 1024;
/// How many cases in a row may stay without a response.
const FAILURES_MAX: u32 = 3;
/// How often responses are saved while others are asked for.
const SAVE_EVERY: Duration = Duration::from_secs(5);
/// How much of what a server says of its failure is reported.
const SAID_CHARS_MAX: usize = 300;

/// For how many lines the reason is shown why they are not asked.
const NOT_ASKED_MAX: usize = 20;

/// Where the model is that is asked.
#[derive(Debug, clap::Args)]
pub(super) struct AskArgs {
    /// Ask the model at URL for the missing responses, one at a time
    ///
    /// URL is the base of an OpenAI-compatible API, such as `http://127.0.0.1:11434/v1` of Ollama:
    /// moss asks `URL/chat/completions`. With `--native-calling yes` the model gets the tools in
    /// the request; otherwise in its system prompt, as `moss bridge prompt` prints it.
    /// Its calls are not run.
    #[arg(long, value_name = "URL", requires = "model", value_parser = base_url)]
    ask: Option<Uri>,

    /// Send the API key in FILE, readable by its owner only, to the server
    #[arg(long, value_name = "FILE", requires = "ask")]
    api_key_file: Option<PathBuf>,

    /// Write all responses to FILE, for --responses: those read and those new
    ///
    /// Also if asking ends early. FILE must not exist, unless it is the file of --responses.
    #[arg(long, alias = "save-answers", value_name = "FILE", requires = "ask")]
    save_responses: Option<PathBuf>,

    /// Timeout of one response, for example 30s or 5m
    #[arg(long, alias = "answer-timeout", value_name = "DURATION", value_parser = duration)]
    #[arg(default_value = "5m", requires = "ask")]
    response_timeout: Duration,
}

/// The server of the model that is asked, and what it may take.
struct Model {
    uri: Uri,
    key: Option<HeaderValue>,
    network: Network,
    bounds: RequestBounds,
}

/// The responses that came, to be written when there are no more, whatever the reason.
struct ResponseRecord<'a> {
    file: Option<&'a PathBuf>,
    lines: String,
    saved: Instant,
}

/// Why there is no response.
enum AskFailure {
    /// Asking again may help, after a while where the server says one.
    Busy(String, Option<Duration>),
    /// This question has no response; others may have one.
    OfThis(String),
    /// There will be none to others.
    OfAny(String),
}

// === impl AskArgs ===

impl AskArgs {
    pub(super) fn is_wanted(&self) -> bool {
        self.ask.is_some()
    }

    /// Refuses to write over a file that is not one of these.
    pub(super) fn check_file(&self, own: &[Option<&PathBuf>]) -> Result<(), CliError> {
        let Some(file) = &self.save_responses else { return Ok(()) };
        let is_there = named::open(file).is_ok_and(|file| file.size_bytes() > Some(0));
        if !is_there || own.contains(&Some(file)) {
            return Ok(());
        }
        let message = format!("--save-responses {}: there is such a file", file.display());
        let error = CliError::new(Outcome::Invalid, "file_unusable", message);
        Err(error.hint("to resume from the responses in it, name it with `--responses` as well"))
    }

    /// Asks for every response that a set does not have, and adds it to those there are.
    pub(super) async fn complete(
        &self,
        set: &Path,
        asking: &QuestionOptions<'_>,
        registry: &Arc<Registry>,
        responses: &mut HashMap<String, Value>,
        session: &Session,
    ) -> Result<(), CliError> {
        let Some(url) = &self.ask else { return Ok(()) };
        let model = self.model(url)?;
        let questions = questions(set, asking, registry, responses, session)?;
        if questions.is_empty() {
            session.ui.note(&dim("the model is not asked: there is a response to every case"));
        }
        let mut record = ResponseRecord::new(self.save_responses.as_ref());
        for (id, response) in responses.iter().collect::<BTreeMap<_, _>>() {
            record.add(id, response);
        }
        // A file that cannot be written is reported before anything is paid for.
        record.save()?;
        let mut meter = Meter::new(&session.ui);
        let total = questions.len() as u64;
        let mut failures = 0;
        for (done, OpenCase { id, body }) in questions.into_iter().enumerate() {
            let message = format!("asking {} for {}", asking.model, text::line(&id));
            meter.show(&v1::CallProgress { message, done: done as u64, total: Some(total) });
            let response = match model.respond(&body).await {
                Err(AskFailure::OfThis(why)) if done > 0 && failures < FAILURES_MAX => {
                    failures += 1;
                    let (id, why) = (text::line(&id), text::line(&why));
                    let note = format!("no response for `{id}`: {why}");
                    session.ui.note(&dim(note));
                    continue;
                }
                response => response,
            };
            failures = 0;
            let response = response.map_err(|why| {
                let why = why.into_message();
                let message = format!("{}: no response for `{id}`: {why}", model.uri);
                CliError::new(Outcome::Failed, "model_failed", message).hint(match record.file {
                    Some(file) if done > 0 => format!(
                        "{done} of {total} responses are in {}: `--responses` reads them",
                        file.display()
                    ),
                    _ => "see whether the URL, the model's name, `--api-key-file` and \
                          `--response-timeout` are right; `--save-responses FILE` keeps what \
                          was received"
                        .to_owned(),
                })
            })?;
            record.add(&id, &response);
            record.save_now_and_then()?;
            responses.insert(id, response);
        }
        meter.clear();
        record.save()
    }

    fn model(&self, url: &Uri) -> Result<Model, CliError> {
        let invalid = |why: &str| {
            let message = format!("--ask {url}: {why}");
            CliError::new(Outcome::Invalid, "usage", message)
        };
        let base = url.to_string();
        let uri = format!("{}/chat/completions", base.trim_end_matches('/'));
        let uri = uri.parse().map_err(|_| invalid("it is no URL"))?;
        let key = self.api_key_file.as_ref().map(|file| {
            let bytes = own::read_secret(file, KEY_BYTES_MAX).map_err(unreadable)?;
            let none = || {
                let message = format!("{}: it holds no key in one line", file.display());
                CliError::new(Outcome::Invalid, "file_unusable", message)
            };
            let text = std::str::from_utf8(&bytes).map_err(|_| none())?;
            let key = text.trim_start_matches('\u{feff}').trim();
            if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
                return Err(none());
            }
            let mut key = HeaderValue::try_from(format!("Bearer {key}")).map_err(|_| none())?;
            key.set_sensitive(true);
            Ok::<_, CliError>(key)
        });
        if key.is_some() && url.scheme_str() != Some("https") && !is_this_machine(url) {
            return Err(invalid("the key would be sent unencrypted; use https"));
        }
        let bounds = RequestBounds {
            connect: CONNECT,
            head: self.response_timeout,
            read_timeout: self.response_timeout,
            request_bytes_max: BODY_BYTES_MAX,
            response_bytes_max: BODY_BYTES_MAX,
        };
        Ok(Model { uri, key: key.transpose()?, network: Network::default(), bounds })
    }
}

fn base_url(text: &str) -> Result<Uri, String> {
    let is_base =
        |url: &Uri| matches!(url.scheme_str(), Some("http" | "https")) && url.query().is_none();
    let url = text.parse().ok().filter(is_base);
    url.ok_or_else(|| "expected a URL such as http://127.0.0.1:11434/v1".to_owned())
}

fn is_this_machine(url: &Uri) -> bool {
    let host = url.host().unwrap_or_default().trim_matches(['[', ']']);
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<std::net::IpAddr>().is_ok_and(|host| host.is_loopback())
}

/// What must be asked, in the order of the set. The reason a line is not asked is reported.
fn questions(
    set: &Path,
    asking: &QuestionOptions<'_>,
    registry: &Arc<Registry>,
    responses: &HashMap<String, Value>,
    session: &Session,
) -> Result<Vec<OpenCase>, CliError> {
    let mut questions = Vec::new();
    let mut ids = HashSet::new();
    let (mut number, mut not_asked, mut bytes) = (0_u64, 0, 0);
    LineReader::open(set, &session.ui)?.each(|line| {
        number += 1;
        let one = match question(line.unwrap_or_default(), registry, asking) {
            Ok(Some(one)) => one,
            Ok(None) => return Ok(()),
            Err(why) => {
                not_asked += 1;
                if not_asked <= NOT_ASKED_MAX {
                    let why = text::line(&why);
                    session.ui.note(&dim(format!("line {number} is not asked: {why}")));
                }
                return Ok(());
            }
        };
        if responses.contains_key(&one.id) {
            return Ok(());
        }
        bytes += one.body.to_string().len();
        let failed = |why: String| {
            let message = format!("{}: {why}", set.display());
            Err(CliError::new(Outcome::Invalid, "file_unusable", message))
        };
        if bytes > RESPONSES_BYTES_MAX {
            return failed(format!(
                "what is to be asked has more than {RESPONSES_BYTES_MAX} bytes"
            ));
        }
        if !ids.insert(one.id.clone()) {
            return failed(format!("two cases are called `{}`", text::line(&one.id)));
        }
        questions.push(one);
        Ok(())
    })?;
    Ok(questions)
}

// === impl Model ===

impl Model {
    /// Asks until there is a response, or no hope.
    async fn respond(&self, body: &Value) -> Result<Value, AskFailure> {
        let mut wait = WAIT_FIRST;
        for attempt in 1.. {
            let asked = tokio::time::timeout(self.bounds.head, self.ask(body)).await;
            match asked.unwrap_or_else(|_| Err(self.too_late())) {
                Err(AskFailure::Busy(_, said)) if attempt < ATTEMPTS_MAX => {
                    tokio::time::sleep(said.unwrap_or(wait).min(WAIT_MAX)).await;
                    wait *= 2;
                }
                done => return done,
            }
        }
        unreachable!("the last attempt returns")
    }

    fn too_late(&self) -> AskFailure {
        AskFailure::OfThis(format!("no response after {:?} (--response-timeout)", self.bounds.head))
    }

    async fn ask(&self, body: &Value) -> Result<Value, AskFailure> {
        let sent = Full::new(body.to_string().into()).map_err(|never| match never {});
        let mut request = Request::post(self.uri.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json");
        if let Some(key) = &self.key {
            request = request.header(AUTHORIZATION, key.clone());
        }
        let request = request
            .body(sent.boxed_unsync())
            .map_err(|error| AskFailure::OfAny(error.to_string()))?;
        let response = self.network.send(request, true, self.bounds).await?;
        let (head, body) = response.into_parts();
        let body = body.collect().await?.to_bytes();
        if head.status != StatusCode::OK {
            let said: String =
                String::from_utf8_lossy(&body).chars().take(SAID_CHARS_MAX).collect();
            let why = format!("its server responds with {}: {}", head.status, text::line(&said));
            let is_busy = head.status.is_server_error()
                || matches!(
                    head.status,
                    StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT
                );
            let seconds = head.headers.get(RETRY_AFTER).and_then(|after| after.to_str().ok());
            let after = seconds.and_then(|after| after.parse().ok()).map(Duration::from_secs);
            // What is wrong with the key, the URL or the name is wrong the next time, too.
            let is_of_any = matches!(
                head.status,
                StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::NOT_FOUND
            );
            return Err(match (is_busy, is_of_any) {
                (true, _) => AskFailure::Busy(why, after),
                (_, true) => AskFailure::OfAny(why),
                _ => AskFailure::OfThis(why),
            });
        }
        let response = serde_json::from_slice(&body)
            .map_err(|error| AskFailure::OfThis(format!("its response is no JSON: {error}")))?;
        reply(&response).map_err(AskFailure::OfThis)
    }
}

// === impl ResponseRecord ===

impl<'a> ResponseRecord<'a> {
    fn new(file: Option<&'a PathBuf>) -> Self {
        Self { file, lines: String::new(), saved: Instant::now() }
    }

    fn add(&mut self, id: &str, response: &Value) {
        self.lines.push_str(&json!({ "id": id, "answer": response }).to_string());
        self.lines.push('\n');
    }

    fn save(&mut self) -> Result<(), CliError> {
        self.saved = Instant::now();
        match self.file {
            Some(file) => named::write(file, self.lines.as_bytes()).map_err(unreadable),
            None => Ok(()),
        }
    }

    /// Saves for the case that nobody gets to save at the end.
    fn save_now_and_then(&mut self) -> Result<(), CliError> {
        if self.saved.elapsed() < SAVE_EVERY { Ok(()) } else { self.save() }
    }
}

impl Drop for ResponseRecord<'_> {
    /// Keeps the responses of a run that failed or was interrupted, which may have cost a lot.
    fn drop(&mut self) {
        if let Some(file) = self.file.filter(|_| !self.lines.is_empty()) {
            // What ended the run is reported; this cannot be.
            let _ = named::write(file, self.lines.as_bytes());
        }
    }
}

// === impl AskFailure ===

impl AskFailure {
    fn into_message(self) -> String {
        match self {
            Self::Busy(why, _) | Self::OfThis(why) | Self::OfAny(why) => why,
        }
    }
}

impl From<HttpError> for AskFailure {
    fn from(error: HttpError) -> Self {
        match error {
            HttpError::Failed(_) | HttpError::Timeout(_) => Self::OfThis(error.to_string()),
            HttpError::RequestTooLarge(_) => Self::OfThis("the request is too large".to_owned()),
            HttpError::ResponseTooLarge(_) => Self::OfThis("the response is too large".to_owned()),
            _ => Self::OfAny(error.to_string()),
        }
    }
}
