//! An endpoint that makes vectors of texts: where it is, what it is sent, what can go wrong.

use std::net::IpAddr;
use std::time::Duration;

use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use http::{Request, StatusCode, Uri};
use http_body_util::{BodyExt as _, Full};
use moss_network::{Network, RequestBounds};
use moss_ranking::{DIMENSIONS_MAX, MeaningVector, PassageKey};
use serde_json::json;

use crate::api::{EmbeddingApi, EndpointFault};
use crate::response;

/// Most texts of one request.
pub const BATCH_TEXTS_MAX: usize = 16;
/// A text of which every model makes a vector.
const PROBE: &str = "text";
/// Largest request: texts are bounded by who makes them.
const REQUEST_BYTES_MAX: u64 = 1 << 20;
/// Largest response: so many vectors, written at length, have room in it.
const RESPONSE_BYTES_MAX: u64 = 8 << 20;
/// Longest URL, and name of a model, in bytes.
const TEXT_BYTES_MAX: usize = 512;

/// An endpoint as it is configured.
#[derive(Clone)]
pub struct EmbeddingEndpoint {
    api: EmbeddingApi,
    url: String,
    uri: Uri,
    model: String,
    dimensions: Option<usize>,
    token: Option<HeaderValue>,
}

/// How long a request may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestTimes {
    /// To resolve the name, and again to connect.
    pub connect: Duration,
    /// All of it, the last byte of the response included.
    pub whole: Duration,
}

/// The hash by which the vector of a text is known, whichever file it is of.
pub fn passage_key(text: &str) -> PassageKey {
    blake3::hash(text.as_bytes()).into()
}

// === impl EmbeddingEndpoint ===

impl EmbeddingEndpoint {
    /// Reads where an endpoint is and which model makes vectors there, of so many numbers where that is said.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn new(
        api: EmbeddingApi,
        url: &str,
        model: &str,
        dimensions: Option<usize>,
    ) -> Result<Self, String> {
        let is_plain = |text: &str| {
            (1..=TEXT_BYTES_MAX).contains(&text.len()) && !text.contains(char::is_control)
        };
        if !is_plain(model) {
            return Err("`model` names no model".to_owned());
        }
        if dimensions.is_some_and(|count| !(1..=DIMENSIONS_MAX).contains(&count)) {
            return Err(format!("`dimensions` is from 1 to {DIMENSIONS_MAX}"));
        }
        let no_url = || "`url` is no URL such as http://127.0.0.1:11434".to_owned();
        if !is_plain(url) {
            return Err(no_url());
        }
        moss_network::download::parse(url).map_err(|error| format!("`url`: {error}"))?;
        let base: Uri = url.parse().map_err(|_| no_url())?;
        if !matches!(base.scheme_str(), Some("http" | "https")) || base.query().is_some() {
            return Err(no_url());
        }
        let url = url.trim_end_matches('/').to_owned();
        let uri = format!("{url}/{}", api.path()).parse().map_err(|_| no_url())?;
        let model = model.to_owned();
        Ok(Self { api, url, uri, model, dimensions, token: None })
    }

    /// Has a secret sent along.
    ///
    /// # Errors
    ///
    /// Where it would be sent unencrypted to another machine, or is no secret in one line.
    pub fn with_token(mut self, token: &str) -> Result<Self, String> {
        if self.uri.scheme_str() != Some("https") && !self.is_this_machine() {
            return Err("the token would be sent unencrypted; use https".to_owned());
        }
        let token = token.trim_start_matches('\u{feff}').trim();
        if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err("the token is not one line of visible characters".to_owned());
        }
        let mut value = HeaderValue::try_from(format!("Bearer {token}"))
            .map_err(|_| "the token cannot be sent".to_owned())?;
        value.set_sensitive(true);
        self.token = Some(value);
        Ok(self)
    }

    /// Its URL, as people know it.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The model that makes the vectors.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// The host, with its port where the URL says one.
    pub fn host(&self) -> &str {
        self.uri.authority().map_or("", http::uri::Authority::as_str)
    }

    /// Whether it is on this machine, by what the URL says.
    pub fn is_this_machine(&self) -> bool {
        let host = self.uri.host().unwrap_or_default().trim_matches(['[', ']']);
        host.eq_ignore_ascii_case("localhost")
            || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    }

    /// Names it, its model and how long its vectors are: what has another name makes other vectors. No secret is in it.
    pub fn id(&self) -> [u8; 32] {
        let dimensions = self.dimensions.unwrap_or_default().to_string();
        let mut hasher = blake3::Hasher::new();
        for part in [self.api.as_str(), &self.url, &self.model, &dimensions] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        hasher.finalize().into()
    }

    /// Asks for the vectors of texts, in their order, each as long as `expected` where that is known.
    ///
    /// # Errors
    ///
    /// Why there are none. What is sent back counts as a whole or not at all.
    pub async fn embed(
        &self,
        network: &Network,
        texts: &[String],
        expected: Option<usize>,
        times: RequestTimes,
    ) -> Result<Vec<MeaningVector>, EndpointFault> {
        let whole = tokio::time::timeout(times.whole, self.ask(network, texts, times));
        let body = whole.await.unwrap_or(Err(EndpointFault::Timeout(times.whole)))?;
        let rows = response::rows(self.api, &body)?;
        response::vectors(&rows, texts.len(), self.dimensions.or(expected))
    }

    /// Asks for the vectors of texts, in their order. None where it makes none of one of these, and does of a word: then
    /// the fault is that text's and not the endpoint's.
    ///
    /// # Errors
    ///
    /// As [`embed`](Self::embed), where it makes none of the word either.
    pub async fn embed_if_it_can(
        &self,
        network: &Network,
        texts: &[String],
        expected: Option<usize>,
        times: RequestTimes,
    ) -> Result<Option<Vec<MeaningVector>>, EndpointFault> {
        match self.embed(network, texts, expected, times).await {
            Err(fault) if fault.may_be_of_text() => {
                let probe = [PROBE.to_owned()];
                let made = self.embed(network, &probe, expected, times).await;
                made.map(|_| None).map_err(|_| fault)
            }
            made => made.map(Some),
        }
    }

    async fn ask(
        &self,
        network: &Network,
        texts: &[String],
        times: RequestTimes,
    ) -> Result<Vec<u8>, EndpointFault> {
        let bounds = RequestBounds {
            connect: times.connect,
            head: times.whole,
            read_timeout: times.whole,
            request_bytes_max: REQUEST_BYTES_MAX,
            response_bytes_max: RESPONSE_BYTES_MAX,
        };
        let sent = Full::new(self.body(texts).into()).map_err(|never| match never {});
        let mut request = Request::post(self.uri.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json");
        if let Some(token) = &self.token {
            request = request.header(AUTHORIZATION, token.clone());
        }
        let request = request.body(sent.boxed_unsync());
        let request = request.map_err(|error| EndpointFault::Unreachable(error.to_string()))?;
        let failed = |error| EndpointFault::of(error, times.whole);
        // Who configured it named the host outright: it may be near.
        let response = network.send(request, true, bounds).await.map_err(failed)?;
        let (head, body) = response.into_parts();
        if head.status.is_redirection() {
            return Err(EndpointFault::Redirect(head.status));
        }
        let body = body.collect().await.map_err(failed)?.to_bytes();
        if head.status != StatusCode::OK {
            let said = response::said(&body);
            return Err(EndpointFault::Status { status: head.status, said });
        }
        Ok(body.to_vec())
    }

    fn body(&self, texts: &[String]) -> Vec<u8> {
        let mut body = match self.api {
            EmbeddingApi::Ollama => {
                json!({ "model": self.model, "input": texts, "truncate": true })
            }
            EmbeddingApi::OpenAi => {
                json!({ "model": self.model, "input": texts, "encoding_format": "float" })
            }
        };
        if let Some(dimensions) = self.dimensions {
            body["dimensions"] = dimensions.into();
        }
        body.to_string().into_bytes()
    }
}

impl std::fmt::Debug for EmbeddingEndpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EmbeddingEndpoint")
            .field("url", &self.url)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
