//! `wasi:http`: requests to hosts that were granted, a bounded number of them. What is served to a
//! guest is the outgoing side; nobody sends requests to a guest.

use std::sync::Arc;
use std::time::Duration;

use http::Uri;
use http_body_util::BodyExt as _;
use wasmtime::StoreContextMut;
use wasmtime::component::{Linker, Resource, ResourceTable};
use wasmtime_wasi_http::p2::add_only_http_to_linker_async;
use wasmtime_wasi_http::p2::bindings::http::types::ErrorCode;
use wasmtime_wasi_http::{
    Error, RequestOptions, WasiBody, WasiHttpCtx, WasiHttpCtxView, WasiHttpHooks, WasiHttpView,
};

use crate::imports::services::Served;
use crate::imports::trouble::Trouble;
use crate::services::{HttpError, HttpOptions, Wait};
use moss_plugin_list::grants::{
    Grant,
    host::{HostPattern, Scheme},
};
use moss_sdk::deceptive::quoted;

/// Most requests of one call.
pub(crate) const REQUESTS_MAX: usize = 64;
/// Most requests of one call whose responses are not read to their ends.
pub(crate) const REQUESTS_OPEN_MAX: usize = 8;

/// The host's side of `wasi:http` for one call.
pub(crate) struct Http {
    context: WasiHttpCtx,
    door: Door,
}

/// Lets requests of one call out, within its limits.
struct Door {
    served: Served,
    requests: usize,
    /// Shared with every request that is open.
    open: Arc<()>,
}

/// A request that is not sent: what the guest sees, and what people see.
struct RefusedRequest {
    error: Error,
    reason: String,
}

type HttpResult = Result<(http::Response<WasiBody>, BodyEnd), Error>;
type BodyEnd = Box<dyn Future<Output = Result<(), Error>> + Send>;

/// The interface in the version that the bindings link.
const TYPES: &str = "wasi:http/types@0.2.12";

/// Links the interfaces of `wasi:http`.
pub(crate) fn add_to_linker<T: WasiHttpView + 'static>(
    linker: &mut Linker<T>,
) -> wasmtime::Result<()> {
    add_only_http_to_linker_async(linker)?;
    // The one of the engine does not know the errors of bodies again.
    linker.allow_shadowing(true);
    linker.instance(TYPES)?.func_wrap(
        "http-error-code",
        |mut store: StoreContextMut<'_, T>, (error,): (Resource<wasmtime::Error>,)| {
            let error = store.data_mut().http().table.get(&error)?;
            Ok((error.downcast_ref::<Error>().map(code_of_body),))
        },
    )?;
    linker.allow_shadowing(false);
    Ok(())
}

/// The code of an error that ends the body of a response.
fn code_of_body(error: &Error) -> ErrorCode {
    match error {
        Error::ConnectionReadTimeout => ErrorCode::ConnectionReadTimeout,
        Error::HttpResponseBodySize(bytes) => ErrorCode::HttpResponseBodySize(*bytes),
        _ => ErrorCode::HttpResponseIncomplete,
    }
}

// === impl Http ===

impl Http {
    pub(crate) fn new(served: Served) -> Self {
        let door = Door { served, requests: 0, open: Arc::default() };
        Self { context: WasiHttpCtx::new(), door }
    }

    pub(crate) fn view<'a>(&'a mut self, table: &'a mut ResourceTable) -> WasiHttpCtxView<'a> {
        WasiHttpCtxView { hooks: &mut self.door, table, ctx: &mut self.context }
    }
}

// === impl Door ===

impl Door {
    /// Says whether a request may go out, and whether to a private address.
    fn permit(&mut self, uri: &Uri) -> Result<bool, RefusedRequest> {
        let denied = |reason| RefusedRequest { error: Error::HttpRequestDenied, reason };
        let busy = |reason| RefusedRequest { error: Error::ConnectionLimitReached, reason };
        if self.requests == REQUESTS_MAX {
            return Err(busy(format!("a call sends at most {REQUESTS_MAX} requests")));
        }
        // One is the door's own.
        if Arc::strong_count(&self.open) > REQUESTS_OPEN_MAX {
            return Err(busy(format!("a call has at most {REQUESTS_OPEN_MAX} requests open")));
        }
        if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
            return Err(denied("a URL must not contain credentials".to_owned()));
        }
        let scheme = match uri.scheme_str() {
            Some("http") => Scheme::Http,
            _ => Scheme::Https,
        };
        let name = uri.host().unwrap_or_default().to_ascii_lowercase();
        let port = uri.port_u16().unwrap_or(scheme.port());
        let granted = self.served.rights.held.http.iter();
        let mut matching = granted.filter(|host| host.matches(scheme, &name, port)).peekable();
        if matching.peek().is_none() {
            return Err(denied(self.why_not(scheme, &name, port)));
        }
        let may_be_private = matching.any(HostPattern::may_be_private);
        self.requests += 1;
        Ok(may_be_private)
    }

    /// Says why a host is not asked.
    fn why_not(&self, scheme: Scheme, name: &str, port: u16) -> String {
        let by = match scheme {
            Scheme::Http => "http",
            Scheme::Https => "https",
        };
        let Ok(host) = HostPattern::parse(&format!("{by}://{name}:{port}")) else {
            return format!("`{}` is not a host that can be granted", quoted(name));
        };
        let has = |grant: &Grant| grant.http.iter().any(|known| known.matches(scheme, name, port));
        let why = self.served.rights.why_not(&format!("\"http\": [\"{host}\"]"), "http", has);
        format!("{host} was not granted: {why}")
    }
}

impl WasiHttpHooks for Door {
    /// Who sends the request takes it from the URI.
    fn set_host_header(&mut self) -> bool {
        false
    }

    fn send_request(
        &mut self,
        request: http::Request<WasiBody>,
        options: Option<RequestOptions>,
        _: BodyEnd,
    ) -> Box<dyn Future<Output = HttpResult> + Send> {
        let (permitted, trouble) = (self.permit(request.uri()), self.served.trouble.clone());
        let went_well = trouble.clone();
        let (services, open) = (Arc::clone(&self.served.services), Arc::clone(&self.open));
        Box::new(async move {
            let may_be_private = permitted.map_err(|refusal| refusal.note_in(&trouble))?;
            let host = request.uri().host().unwrap_or_default().to_owned();
            let failed = move |error: HttpError| {
                let reason = match &error {
                    HttpError::Denied(why) => why.clone(),
                    error => format!("the request to {} failed: {error}", quoted(&host)),
                };
                RefusedRequest { reason, error: error.into() }.note_in(&trouble)
            };
            let request = request.map(|body| {
                body.map_err(|error| HttpError::Failed(error.to_string())).boxed_unsync()
            });
            let sent = services.send(request, http_options(options, may_be_private)).await;
            let response = sent.map_err(&failed)?;
            went_well.clear();
            let response = response.map(|body| {
                let failed = move |error| {
                    // The request is open as long as its body is there.
                    let _open = &open;
                    failed(error)
                };
                body.map_err(failed).boxed_unsync()
            });
            Ok((response, Box::new(std::future::ready(Ok(()))) as BodyEnd))
        })
    }
}

fn http_options(options: Option<RequestOptions>, may_be_private: bool) -> HttpOptions {
    let options = options.unwrap_or_default();
    HttpOptions {
        may_be_private,
        connect_timeout: options.connect_timeout.unwrap_or(Duration::MAX),
        first_byte_timeout: options.first_byte_timeout.unwrap_or(Duration::MAX),
        between_bytes_timeout: options.between_bytes_timeout.unwrap_or(Duration::MAX),
    }
}

// === impl RefusedRequest ===

impl RefusedRequest {
    fn note_in(self, trouble: &Trouble) -> Error {
        trouble.note(self.reason);
        self.error
    }
}

impl From<HttpError> for Error {
    fn from(error: HttpError) -> Self {
        match error {
            HttpError::Denied(_) => Self::HttpRequestDenied,
            HttpError::Name(reason) => Self::DnsError { rcode: Some(reason), info_code: None },
            HttpError::Connect(_) => Self::ConnectionRefused,
            HttpError::Tls(_) => Self::TlsCertificateError,
            HttpError::Timeout(Wait::Name) => Self::DnsTimeout,
            HttpError::Timeout(Wait::Connection) => Self::ConnectionTimeout,
            HttpError::Timeout(Wait::Response) => Self::HttpResponseTimeout,
            HttpError::Timeout(Wait::Body) => Self::ConnectionReadTimeout,
            HttpError::RequestTooLarge(bytes) => Self::HttpRequestBodySize(Some(bytes)),
            HttpError::ResponseTooLarge(bytes) => Self::HttpResponseBodySize(Some(bytes)),
            HttpError::Failed(reason) => Self::InternalError(Some(reason)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rights::Rights;
    use crate::services::NoServices;

    fn door(hosts: &[&str]) -> Door {
        let host = |text: &&str| HostPattern::parse_granted(text).unwrap();
        let grant = Grant { http: hosts.iter().map(host).collect(), ..Grant::default() };
        let rights = Rights::of("p", "l.json", Grant::everything(), grant);
        Http::new(Served::new(Arc::new(rights), Arc::new(NoServices))).door
    }

    fn permit(door: &mut Door, uri: &str) -> Result<bool, String> {
        door.permit(&uri.parse().unwrap()).map_err(|refusal| refusal.reason)
    }

    #[test]
    fn a_request_is_let_out_where_a_host_was_granted() {
        let mut door =
            door(&["*.a.example", "private:b.a.example", "http://[::1]:8080", "c.example:444"]);
        for (uri, expected) in [
            ("https://c.a.example/x", Some(false)),
            ("https://B.A.example:443/", Some(true)),
            ("https://c.example:444/", Some(false)),
            ("http://[::1]:8080/", Some(true)),
            ("https://a.example/", None),
            ("https://c.a.example:444/", None),
            ("http://c.a.example/", None),
            ("https://c.example/", None),
            ("https://a.example@c.example:444/", None),
            ("https://c.a.example.b.example/", None),
            ("http://[::1]/", None),
        ] {
            assert_eq!(permit(&mut door, uri).ok(), expected, "{uri}");
        }
    }

    #[test]
    fn a_refusal_says_what_to_grant() {
        let mut door = door(&[]);
        for (uri, pattern) in [
            ("https://A.example/x?y", "a.example"),
            ("https://a.example:8443", "a.example:8443"),
            ("http://a.example", "http://a.example"),
            ("http://[::1]:80/", "http://[::1]"),
        ] {
            let reason = permit(&mut door, uri).unwrap_err();
            assert!(reason.ends_with(&format!("\"http\": [\"{pattern}\"]")), "{reason}");
        }
        assert_eq!(permit(&mut door, "/").unwrap_err(), "`` is not a host that can be granted");
    }

    #[test]
    fn requests_are_counted() {
        let mut door = door(&["a.example"]);
        let mut open = Vec::new();
        for _ in 0..REQUESTS_OPEN_MAX {
            assert_eq!(permit(&mut door, "https://a.example/"), Ok(false));
            open.push(Arc::clone(&door.open));
        }
        let busy = permit(&mut door, "https://a.example/").unwrap_err();
        assert_eq!(busy, "a call has at most 8 requests open");
        open.clear();
        for _ in REQUESTS_OPEN_MAX..REQUESTS_MAX {
            assert_eq!(permit(&mut door, "https://a.example/"), Ok(false));
        }
        let spent = permit(&mut door, "https://a.example/").unwrap_err();
        assert_eq!(spent, "a call sends at most 64 requests");
    }
}
