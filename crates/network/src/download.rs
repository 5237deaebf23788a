//! Fetching a file over HTTPS. Redirects are followed, a few, each looked at like the first address.

use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, HeaderValue, LOCATION, WWW_AUTHENTICATE};
use http::{HeaderMap, StatusCode};
use http_body::Body as _;
use http_body_util::{BodyExt as _, Empty};
use moss_plugin_host::services::{HttpBody, HttpError};
use reqwest::Url;
use tokio::sync::mpsc;

use super::{Network, PrivateHost, RequestBounds};

/// Most redirects in a row.
const REDIRECTS_MAX: usize = 5;
/// Longest URL that is followed, in bytes: those of files that are elsewhere carry signatures.
const URL_BYTES_MAX: usize = 8 << 10;
/// Longest time of a download, its redirects included.
const TIMEOUT: Duration = Duration::from_secs(600);
/// Bytes that are passed on together, however small the parts are in which they come.
const BLOCK_BYTES: usize = 64 << 10;

/// A file to fetch, and what it may be.
#[derive(Debug, Clone, Copy)]
pub struct Download<'a> {
    /// Where from: `https` only.
    pub url: &'a str,
    /// A person named the host outright, so that it may be near. The hosts of redirects must be
    /// public unless they are the same one.
    pub may_be_private: bool,
    /// Times; the largest file is `response_bytes_max`.
    pub bounds: RequestBounds,
    /// The media types that are wanted, as the header `accept` has them; none for any.
    pub accept: Option<&'a str>,
    /// A token for the host of the URL. No other host hears of it, wherever redirects lead.
    pub token: Option<&'a str>,
}

/// What a server made of a download.
#[derive(Debug)]
pub enum DownloadResult {
    /// The whole file, within the limit on its size.
    File(Vec<u8>),
    /// It demands a token. What it says about how to come by one, as it says it.
    Challenge(Vec<String>),
}

/// Hears how many bytes there are, of how many where that is known: once for each 64 KiB, and at the end.
pub type OnBytes<'a> = &'a (dyn Fn(u64, Option<u64>) + Sync);

/// Reads the URL of a download. A person decides by its host, so that one which stands for another,
/// such as `0x7f.1` for `127.0.0.1`, is refused.
///
/// # Errors
///
/// Where it is no URL, holds credentials, or its host can be understood in two ways.
pub fn parse(url: &str) -> Result<Url, HttpError> {
    let uri: http::Uri = url.parse().map_err(|_| refused("the URL", "it is not one"))?;
    super::url(&uri)
}

// === impl Network ===

impl Network {
    /// Fetches a file.
    ///
    /// # Errors
    ///
    /// Where it is not there, or not to be had from where it is; where it is too large or takes too
    /// long.
    pub async fn download(
        &self,
        download: Download<'_>,
        on_bytes: OnBytes<'_>,
    ) -> Result<Vec<u8>, HttpError> {
        match self.ask(download, on_bytes).await? {
            DownloadResult::File(bytes) => Ok(bytes),
            DownloadResult::Challenge(_) => Err(status_error(StatusCode::UNAUTHORIZED)),
        }
    }

    /// As [`Network::download`], for who can come by a token where the server demands one.
    ///
    /// # Errors
    ///
    /// As [`Network::download`].
    pub async fn ask(
        &self,
        download: Download<'_>,
        on_bytes: OnBytes<'_>,
    ) -> Result<DownloadResult, HttpError> {
        let fetched = tokio::time::timeout(TIMEOUT, self.follow(download, on_bytes)).await;
        let fetched = fetched.map_err(|_| {
            let seconds = TIMEOUT.as_secs();
            HttpError::Failed(format!("the download takes longer than {seconds} seconds"))
        })?;
        fetched.map_err(|error| match error {
            // Each download has a limit of its own: no setting of requests raises it.
            HttpError::ResponseTooLarge(bytes_max) => {
                HttpError::Failed(format!("it has more than {bytes_max} bytes"))
            }
            error => error,
        })
    }

    async fn follow(
        &self,
        download: Download<'_>,
        on_bytes: OnBytes<'_>,
    ) -> Result<DownloadResult, HttpError> {
        let first = parse(download.url)?;
        let mut url = first.clone();
        for hop in 0..=REDIRECTS_MAX {
            let what = if hop == 0 { "the URL" } else { "a redirect" };
            if url.scheme() != "https" {
                return Err(refused(what, "it does not lead to https"));
            }
            if url.as_str().len() > URL_BYTES_MAX {
                return Err(refused(what, &format!("it is longer than {URL_BYTES_MAX} bytes")));
            }
            url.set_fragment(None);
            let private = match download.may_be_private && is_same_host(&first, &url) {
                true => PrivateHost::Allowed,
                false => PrivateHost::NotNamed,
            };
            let request = request(&download, &first, &url);
            let request = request.map_err(|error| refused(what, &error.to_string()))?;
            let response = self.send_to(private, request, download.bounds).await?;
            let status = response.status();
            let location = response.headers().get(LOCATION).filter(|_| status.is_redirection());
            if let Some(location) = location {
                let location = location.to_str().ok().and_then(|to| url.join(to).ok());
                url = location.ok_or_else(|| refused("a redirect", "it has no valid target"))?;
                continue;
            }
            if status == StatusCode::UNAUTHORIZED && is_same_host(&first, &url) {
                return Ok(DownloadResult::Challenge(challenges(response.headers())));
            }
            if status != StatusCode::OK {
                return Err(status_error(status));
            }
            let file = self.collect(response.into_body(), on_bytes).await;
            return file.map(DownloadResult::File);
        }
        Err(HttpError::Failed(format!("more than {REDIRECTS_MAX} redirects in a row")))
    }

    /// Reads a file to its end. The thread of the network makes blocks of what comes: a server that sends
    /// each byte by itself keeps nobody else busy.
    async fn collect(&self, body: HttpBody, on_bytes: OnBytes<'_>) -> Result<Vec<u8>, HttpError> {
        let in_all = body.size_hint().exact();
        let (sender, mut blocks) = mpsc::channel(1);
        let passed_on = self.traffic.run(pass_on(body, sender))?;
        let mut bytes = Vec::new();
        while let Some(block) = blocks.recv().await {
            bytes.extend_from_slice(&block);
            on_bytes(bytes.len() as u64, in_all);
        }
        passed_on.await.map_err(|error| HttpError::Failed(error.to_string()))??;
        Ok(bytes)
    }
}

fn refused(what: &str, why: &str) -> HttpError {
    HttpError::Denied(format!("{what} is refused: {why}"))
}

fn status_error(status: StatusCode) -> HttpError {
    HttpError::Failed(format!("the server responded with {status}"))
}

/// What is sent to a URL on the way that began at the first.
fn request(
    download: &Download<'_>,
    first: &Url,
    url: &Url,
) -> Result<http::Request<HttpBody>, http::Error> {
    let body = Empty::<Bytes>::new().map_err(|never| match never {}).boxed_unsync();
    let mut request = http::Request::get(url.as_str());
    if let Some(accept) = download.accept {
        request = request.header(ACCEPT, accept);
    }
    if let Some(token) = download.token.filter(|_| is_same_host(first, url)) {
        let mut value = HeaderValue::try_from(format!("Bearer {token}"))?;
        value.set_sensitive(true);
        request = request.header(AUTHORIZATION, value);
    }
    request.body(body)
}

fn challenges(headers: &HeaderMap) -> Vec<String> {
    let all = headers.get_all(WWW_AUTHENTICATE).iter();
    all.filter_map(|value| value.to_str().ok().map(ToOwned::to_owned)).collect()
}

fn is_same_host(one: &Url, other: &Url) -> bool {
    one.host_str() == other.host_str()
        && one.port_or_known_default() == other.port_or_known_default()
}

/// Passes a body on in blocks, as long as somebody waits for them.
async fn pass_on(mut body: HttpBody, blocks: mpsc::Sender<Vec<u8>>) -> Result<(), HttpError> {
    let mut block = Vec::new();
    while let Some(part) = body.frame().await {
        let Ok(data) = part?.into_data() else { continue };
        block.extend_from_slice(&data);
        if block.len() >= BLOCK_BYTES && blocks.send(std::mem::take(&mut block)).await.is_err() {
            return Ok(());
        }
    }
    if !block.is_empty() {
        // Who does not wait any more misses it.
        let _ = blocks.send(block).await;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_for_its_own_host_only() {
        let bounds = RequestBounds {
            connect: Duration::ZERO,
            head: Duration::ZERO,
            read_timeout: Duration::ZERO,
            request_bytes_max: 0,
            response_bytes_max: 0,
        };
        let download = Download {
            url: "https://a.example/x",
            may_be_private: true,
            bounds,
            accept: Some("application/wasm"),
            token: Some("secret"),
        };
        let first = Url::parse(download.url).unwrap();
        for (to, is_told) in [
            ("https://a.example/x", true),
            ("https://A.example:443/y?z", true),
            ("https://a.example:444/x", false),
            ("https://b.a.example/x", false),
            ("https://example/x", false),
        ] {
            let request = request(&download, &first, &Url::parse(to).unwrap()).unwrap();
            assert_eq!(request.headers()[ACCEPT], "application/wasm");
            let token = request.headers().get(AUTHORIZATION).map(HeaderValue::as_bytes);
            assert_eq!(token, is_told.then_some(&b"Bearer secret"[..]), "{to}");
        }
        let broken = Download { token: Some("a\nb"), ..download };
        assert!(request(&broken, &first, &first).is_err());
    }
}
