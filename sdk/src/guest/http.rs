//! Requests over HTTP, one after the other. Capability [`http`](crate::Capability::http), feature
//! `http` of the SDK.
//!
//! Everything has a bound: the time, the bytes of the response, the redirects. moss checks every
//! request, those that redirects lead to as well, against the hosts that were granted.
//!
//! ```no_run
//! # extern crate moss_sdk as moss;
//! use std::time::Duration;
//!
//! use moss::ToolError;
//! use moss::guest::http;
//!
//! #[moss::data]
//! struct Release {
//!     tag_name: String,
//! }
//!
//! fn latest() -> Result<String, ToolError> {
//!     let response = http::Request::get("https://api.example.com/releases/latest")
//!         .header("accept", "application/json")
//!         .timeout(Duration::from_secs(5))
//!         .send()?
//!         .success()?;
//!     Ok(response.json::<Release>()?.tag_name)
//! }
//! ```

mod address;
mod exchange;

use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{ErrorCode, ToolError};

use self::address::AbsoluteUrl;
use self::exchange::exchange;

/// Longest that a request and its redirects take by default.
pub const TIMEOUT: Duration = Duration::from_secs(10);
/// Most bytes of a response that are read by default.
pub const BODY_BYTES_MAX: usize = 1 << 20;
/// Most redirects that are followed by default.
pub const REDIRECTS_MAX: usize = 5;

/// Headers that speak for somebody: a redirect to another host does not get them.
const PRIVATE_HEADERS: &[&str] = &["authorization", "cookie", "proxy-authorization"];

/// A request, made step by step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    method: String,
    url: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    /// A value that has no form in JSON.
    fault: Option<String>,
    timeout: Duration,
    body_bytes_max: usize,
    redirects_max: usize,
}

/// What a server sent back, whole: its status may be one of failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The status, such as 200.
    pub status: u16,
    /// The URL that responded, after all redirects.
    pub url: String,
    /// The headers in the order in which they came; their names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, up to the bound.
    pub body: Vec<u8>,
    /// Whether there is more of it than the bound allows.
    pub is_truncated: bool,
}

/// Gets what is at a URL, with the usual bounds.
///
/// # Errors
///
/// As [`Request::send`].
pub fn get(url: impl Into<String>) -> Result<Response, ToolError> {
    Request::get(url).send()
}

// === impl Request ===

impl Request {
    /// Makes a request of a method and an absolute URL.
    pub fn new(method: impl Into<String>, url: impl Into<String>) -> Self {
        Self {
            method: method.into().to_ascii_uppercase(),
            url: url.into(),
            headers: Vec::new(),
            body: Vec::new(),
            fault: None,
            timeout: TIMEOUT,
            body_bytes_max: BODY_BYTES_MAX,
            redirects_max: REDIRECTS_MAX,
        }
    }

    /// Makes a request that gets what is at a URL.
    pub fn get(url: impl Into<String>) -> Self {
        Self::new("GET", url)
    }

    /// Makes a request that posts a body to a URL. Say what it is with the header `content-type`.
    pub fn post(url: impl Into<String>, body: impl Into<Vec<u8>>) -> Self {
        Self::new("POST", url).body(body)
    }

    /// Adds a header; one that is there under the same name stays.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_ascii_lowercase(), value.into()));
        self
    }

    /// Sets the body; the last one counts.
    #[must_use]
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// Sets a body of JSON, and the header that says so.
    #[must_use]
    pub fn json(mut self, value: &impl Serialize) -> Self {
        match serde_json::to_vec(value) {
            Ok(body) => self.body = body,
            Err(error) => self.fault = Some(error.to_string()),
        }
        self.header("content-type", "application/json")
    }

    /// Bounds the time that it takes, with all its redirects.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Bounds the bytes of the body that are read: what is beyond is left out.
    #[must_use]
    pub fn body_bytes_max(mut self, bytes: usize) -> Self {
        self.body_bytes_max = bytes;
        self
    }

    /// Bounds the redirects that are followed; with 0, a redirect is a response like any other.
    #[must_use]
    pub fn redirects_max(mut self, redirects: usize) -> Self {
        self.redirects_max = redirects;
        self
    }

    /// Sends it, follows redirects and reads the response. Any status is a response:
    /// [`Response::success`] makes errors of those that are none.
    ///
    /// # Errors
    ///
    /// `InvalidArguments` for a request that cannot be sent; `Denied` for a host that was not granted;
    /// `Timeout`; `LimitExceeded` for too many redirects; `Io` where the network fails.
    pub fn send(mut self) -> Result<Response, ToolError> {
        if let Some(fault) = &self.fault {
            return Err(invalid(format!("the body of the request: {fault}")));
        }
        let end = Instant::now() + self.timeout;
        let mut address = AbsoluteUrl::parse(&self.url).map_err(invalid)?;
        let mut redirects = 0;
        loop {
            let response = exchange(&self, &address, end)?;
            let Some(next) = self.next(&response, &address)? else { return Ok(response) };
            redirects += 1;
            if redirects > self.redirects_max {
                let message = format!("{}: more than {} redirects", self.url, self.redirects_max);
                return Err(ToolError::new(ErrorCode::LimitExceeded, message));
            }
            address = next;
        }
    }

    /// Where a response leads to, if it is a redirect; changes the request as it demands.
    fn next(
        &mut self,
        response: &Response,
        address: &AbsoluteUrl,
    ) -> Result<Option<AbsoluteUrl>, ToolError> {
        let location = match response.status {
            301 | 302 | 303 | 307 | 308 if self.redirects_max > 0 => response.header("location"),
            _ => None,
        };
        let Some(location) = location else { return Ok(None) };
        let next = address.join(location).map_err(|why| {
            ToolError::new(ErrorCode::Io, format!("{address} redirects badly: {why}"))
        })?;
        let keeps_method = matches!(response.status, 307 | 308)
            || matches!(self.method.as_str(), "GET" | "HEAD")
            || response.status != 303 && self.method != "POST";
        if !keeps_method {
            self.method = "GET".to_owned();
            self.body.clear();
            self.headers.retain(|(name, _)| !name.starts_with("content-"));
        }
        if next.origin() != address.origin() {
            self.headers.retain(|(name, _)| !PRIVATE_HEADERS.contains(&name.as_str()));
        }
        Ok(Some(next))
    }
}

// === impl Response ===

impl Response {
    /// Returns the first header of a name.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers.find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// Whether the status says that it went well.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Returns it if the status says that it went well.
    ///
    /// # Errors
    ///
    /// `NotFound` for the statuses 404 and 410, `Denied` for 401 and 403, `Io` for any other.
    pub fn success(self) -> Result<Self, ToolError> {
        if self.is_success() {
            return Ok(self);
        }
        let code = match self.status {
            404 | 410 => ErrorCode::NotFound,
            401 | 403 => ErrorCode::Denied,
            _ => ErrorCode::Io,
        };
        Err(ToolError::new(code, format!("{} responds with status {}", self.url, self.status)))
    }

    /// Returns the body as text.
    ///
    /// # Errors
    ///
    /// `Encoding` where it is not UTF-8, `TooLarge` where it is truncated.
    pub fn text(&self) -> Result<&str, ToolError> {
        if self.is_truncated {
            let message = format!("{}: more than {} bytes", self.url, self.body.len());
            return Err(ToolError::new(ErrorCode::TooLarge, message));
        }
        std::str::from_utf8(&self.body).map_err(|_| {
            ToolError::new(ErrorCode::Encoding, format!("{}: not UTF-8 text", self.url))
        })
    }

    /// Reads the body as JSON.
    ///
    /// # Errors
    ///
    /// As [`Response::text`]; `Io` where it is not JSON that fits the type.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, ToolError> {
        serde_json::from_str(self.text()?)
            .map_err(|error| ToolError::new(ErrorCode::Io, format!("{}: {error}", self.url)))
    }
}

fn invalid(message: impl Into<String>) -> ToolError {
    ToolError::new(ErrorCode::InvalidArguments, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(status: u16, location: &str) -> Response {
        Response {
            status,
            url: "https://a.example/x".to_owned(),
            headers: vec![("location".to_owned(), location.to_owned())],
            body: b"{\"n\": 1}".to_vec(),
            is_truncated: false,
        }
    }

    #[test]
    fn redirects_change_a_request_as_their_status_says() {
        for (method, status, expected) in [
            ("GET", 301, "GET"),
            ("POST", 301, "GET"),
            ("POST", 302, "GET"),
            ("PUT", 302, "PUT"),
            ("PUT", 303, "GET"),
            ("HEAD", 303, "HEAD"),
            ("POST", 307, "POST"),
            ("POST", 308, "POST"),
        ] {
            let mut request = Request::new(method, "https://a.example/x").json(&1);
            let address = AbsoluteUrl::parse(&request.url).unwrap();
            let next = request.next(&response(status, "/y"), &address).unwrap().unwrap();
            assert_eq!(next.to_string(), "https://a.example/y");
            assert_eq!(request.method, expected, "{method} {status}");
            let keeps_body = expected == method && method != "GET" && method != "HEAD";
            assert!(!keeps_body || request.body == b"1", "{method} {status}");
            assert!(expected == method || request.headers.is_empty(), "{method} {status}");
        }
    }

    #[test]
    fn another_host_does_not_get_what_speaks_for_somebody() {
        for (location, is_kept) in [
            ("/y", true),
            ("https://a.example:443/y", true),
            ("https://b.example/y", false),
            ("http://a.example/y", false),
            ("https://a.example:8443/y", false),
        ] {
            let mut request = Request::get("https://a.example/x").header("Authorization", "k");
            let address = AbsoluteUrl::parse(&request.url).unwrap();
            request.next(&response(302, location), &address).unwrap().unwrap();
            assert_eq!(!request.headers.is_empty(), is_kept, "{location}");
        }
    }

    #[test]
    fn what_is_no_redirect_is_a_response() {
        let mut request = Request::get("https://a.example/x");
        let address = AbsoluteUrl::parse(&request.url).unwrap();
        for status in [200, 304, 404] {
            assert_eq!(request.next(&response(status, "/y"), &address), Ok(None));
        }
        let error = request.next(&response(302, "ftp://a.example"), &address).unwrap_err();
        assert!(error.message.starts_with("https://a.example/x redirects badly: "), "{error}");
        let mut request = request.redirects_max(0);
        assert_eq!(request.next(&response(302, "/y"), &address), Ok(None));
    }

    #[test]
    fn bodies_are_read_whole_or_not_at_all() {
        let whole = response(200, "");
        assert_eq!(whole.json::<serde_json::Value>().unwrap()["n"], 1);
        assert_eq!(whole.header("Location"), Some(""));
        let cut = Response { is_truncated: true, ..whole.clone() };
        assert_eq!(cut.text().unwrap_err().code, ErrorCode::TooLarge);
        let binary = Response { body: vec![0xff], ..whole };
        assert_eq!(binary.text().unwrap_err().code, ErrorCode::Encoding);
        for (status, code) in
            [(404, ErrorCode::NotFound), (403, ErrorCode::Denied), (500, ErrorCode::Io)]
        {
            assert_eq!(response(status, "").success().unwrap_err().code, code);
        }
    }
}
