//! Fetching a file over HTTPS. Redirects are followed, a few, each looked at like the first address.

use std::time::Duration;

use bytes::Bytes;
use http::header::LOCATION;
use http_body::Body as _;
use http_body_util::{BodyExt as _, Empty};
use moss_plugin_host::services::HttpError;
use reqwest::Url;

use super::{Bounds, Network};

/// Most redirects in a row.
const REDIRECTS_MAX: usize = 5;
/// Longest time of a download, its redirects included.
const TIMEOUT: Duration = Duration::from_secs(600);

/// What is fetched.
#[derive(Debug, Clone, Copy)]
pub struct Download<'a> {
    /// Where from: `https` only.
    pub url: &'a str,
    /// A person named the host outright, so that it may be near. The hosts of redirects must be
    /// public unless they are the same one.
    pub may_be_private: bool,
    /// Times; the largest file is `response_bytes_max`.
    pub bounds: Bounds,
}

/// Hears how many bytes there are, of how many where that is known.
pub type OnBytes<'a> = &'a (dyn Fn(u64, Option<u64>) + Sync);

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
        let fetched = tokio::time::timeout(TIMEOUT, self.follow(download, on_bytes)).await;
        fetched.map_err(|_| {
            let seconds = TIMEOUT.as_secs();
            HttpError::Failed(format!("the download takes longer than {seconds} seconds"))
        })?
    }

    async fn follow(
        &self,
        download: Download<'_>,
        on_bytes: OnBytes<'_>,
    ) -> Result<Vec<u8>, HttpError> {
        let refused =
            |what: &str, why: &str| HttpError::Denied(format!("{what} is refused: {why}"));
        let first =
            Url::parse(download.url).map_err(|error| refused("the URL", &error.to_string()))?;
        let mut url = first.clone();
        for hop in 0..=REDIRECTS_MAX {
            let what = if hop == 0 { "the URL" } else { "a redirect" };
            if url.scheme() != "https" {
                return Err(refused(what, "it does not lead to https"));
            }
            url.set_fragment(None);
            let may_be_private = download.may_be_private && is_same_host(&first, &url);
            let body = Empty::<Bytes>::new().map_err(|never| match never {}).boxed_unsync();
            let request = http::Request::get(url.as_str()).body(body);
            let request = request.map_err(|error| refused(what, &error.to_string()))?;
            let response = self.send(request, may_be_private, download.bounds).await?;
            let status = response.status();
            let location = response.headers().get(LOCATION).filter(|_| status.is_redirection());
            if let Some(location) = location {
                let location = location.to_str().ok().and_then(|to| url.join(to).ok());
                url = location.ok_or_else(|| refused("a redirect", "it leads nowhere"))?;
                continue;
            }
            if status != http::StatusCode::OK {
                return Err(HttpError::Failed(format!("the server answered {status}")));
            }
            return collect(response.into_body(), on_bytes).await;
        }
        Err(HttpError::Failed(format!("more than {REDIRECTS_MAX} redirects in a row")))
    }
}

fn is_same_host(one: &Url, other: &Url) -> bool {
    one.host_str() == other.host_str()
        && one.port_or_known_default() == other.port_or_known_default()
}

async fn collect(
    mut body: moss_plugin_host::services::HttpBody,
    on_bytes: OnBytes<'_>,
) -> Result<Vec<u8>, HttpError> {
    let in_all = body.size_hint().exact();
    let mut bytes = Vec::new();
    while let Some(part) = body.frame().await {
        if let Ok(data) = part?.into_data() {
            bytes.extend_from_slice(&data);
            on_bytes(bytes.len() as u64, in_all);
        }
    }
    Ok(bytes)
}
