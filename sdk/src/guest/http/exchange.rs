//! One request and its response, through `wasi:http`.

use std::time::{Duration, Instant};

use wasip2::clocks::monotonic_clock;
use wasip2::http::outgoing_handler;
use wasip2::http::types::{
    ErrorCode as WasiError, Fields, HeaderError, IncomingResponse, Method, OutgoingBody,
    OutgoingRequest, RequestOptions, Scheme, http_error_code,
};
use wasip2::io::poll::{Pollable, poll};
use wasip2::io::streams::StreamError;

use crate::error::{ErrorCode, ToolError};

use super::address::AbsoluteUrl;
use super::{Request, Response, invalid};

/// Most bytes that WASI takes at once.
const WRITE_BYTES_MAX: usize = 4 << 10;
/// Most bytes that are asked for at once.
const READ_BYTES_MAX: u64 = 64 << 10;

/// Sends a request and reads its response, until a point in time.
pub(super) fn exchange(
    request: &Request,
    address: &AbsoluteUrl,
    end: Instant,
) -> Result<Response, ToolError> {
    let outgoing = outgoing(request, address)?;
    let body = outgoing.body().map_err(|()| refused(address, "the body"))?;
    let late = monotonic_clock::subscribe_duration(nanoseconds(left(end)));
    let failed = |error: &WasiError| explain(address, error);
    let coming =
        outgoing_handler::handle(outgoing, Some(options(end))).map_err(|error| failed(&error))?;
    send(body, &request.body).map_err(|error| failed(&error))?;
    let incoming = loop {
        match coming.get() {
            Some(Ok(Ok(incoming))) => break incoming,
            Some(Ok(Err(error))) => return Err(failed(&error)),
            Some(Err(())) => return Err(refused(address, "a second response")),
            None => wait(&coming.subscribe(), &late, address)?,
        }
    };
    let mut response = Response {
        status: incoming.status(),
        url: address.to_string(),
        headers: headers(&incoming),
        body: Vec::new(),
        is_truncated: false,
    };
    read(&incoming, &mut response, request.body_bytes_max, &late, address)?;
    Ok(response)
}

fn outgoing(request: &Request, address: &AbsoluteUrl) -> Result<OutgoingRequest, ToolError> {
    let fields = Fields::new();
    let mut length = None;
    if !request.body.is_empty() {
        length = Some(("content-length".to_owned(), request.body.len().to_string()));
    }
    for (name, value) in request.headers.iter().chain(&length) {
        fields.append(name, value.as_bytes()).map_err(|error| match error {
            HeaderError::Forbidden => invalid(format!("the header `{name}` cannot be set")),
            _ => invalid(format!("the header `{name}` is not well-formed")),
        })?;
    }
    let outgoing = OutgoingRequest::new(fields);
    let scheme = if address.is_tls { Scheme::Https } else { Scheme::Http };
    outgoing.set_method(&method(&request.method)).map_err(|()| refused(address, "the method"))?;
    outgoing.set_scheme(Some(&scheme)).map_err(|()| refused(address, "the scheme"))?;
    outgoing.set_authority(Some(&address.authority)).map_err(|()| refused(address, "the host"))?;
    outgoing
        .set_path_with_query(Some(&address.path_and_query))
        .map_err(|()| refused(address, "the path"))?;
    Ok(outgoing)
}

fn method(name: &str) -> Method {
    match name {
        "GET" => Method::Get,
        "HEAD" => Method::Head,
        "POST" => Method::Post,
        "PUT" => Method::Put,
        "DELETE" => Method::Delete,
        "CONNECT" => Method::Connect,
        "OPTIONS" => Method::Options,
        "TRACE" => Method::Trace,
        "PATCH" => Method::Patch,
        other => Method::Other(other.to_owned()),
    }
}

/// No part of it takes longer than all of it may.
fn options(end: Instant) -> RequestOptions {
    let options = RequestOptions::new();
    let longest = Some(nanoseconds(left(end)));
    // A host that does not bound a part is bounded by the clock all the same.
    let _ = options.set_connect_timeout(longest);
    let _ = options.set_first_byte_timeout(longest);
    let _ = options.set_between_bytes_timeout(longest);
    options
}

fn send(body: OutgoingBody, bytes: &[u8]) -> Result<(), WasiError> {
    let stream = body.write().map_err(|()| WasiError::InternalError(None))?;
    for part in bytes.chunks(WRITE_BYTES_MAX) {
        match stream.blocking_write_and_flush(part) {
            Ok(()) => {}
            // The other side has heard enough; what it says to that is in the response.
            Err(StreamError::Closed) => break,
            Err(StreamError::LastOperationFailed(error)) => {
                return Err(http_error_code(&error).unwrap_or(WasiError::ConnectionTerminated));
            }
        }
    }
    drop(stream);
    OutgoingBody::finish(body, None)
}

fn headers(incoming: &IncomingResponse) -> Vec<(String, String)> {
    let entries = incoming.headers().entries().into_iter();
    entries
        .map(|(name, value)| {
            (name.to_ascii_lowercase(), String::from_utf8_lossy(&value).into_owned())
        })
        .collect()
}

fn read(
    incoming: &IncomingResponse,
    response: &mut Response,
    bytes_max: usize,
    late: &Pollable,
    address: &AbsoluteUrl,
) -> Result<(), ToolError> {
    let body = incoming.consume().map_err(|()| refused(address, "a second body"))?;
    let stream = body.stream().map_err(|()| refused(address, "a second stream"))?;
    loop {
        match stream.read(READ_BYTES_MAX) {
            Ok(part) if part.is_empty() => wait(&stream.subscribe(), late, address)?,
            Ok(part) => {
                let room = bytes_max - response.body.len();
                response.body.extend_from_slice(&part[..part.len().min(room)]);
                if part.len() > room {
                    response.is_truncated = true;
                    return Ok(());
                }
            }
            Err(StreamError::Closed) => return Ok(()),
            Err(StreamError::LastOperationFailed(error)) => {
                let error = http_error_code(&error).unwrap_or(WasiError::HttpResponseIncomplete);
                return Err(explain(address, &error));
            }
        }
    }
}

/// Waits for something, or for the end of the time.
fn wait(what: &Pollable, late: &Pollable, address: &AbsoluteUrl) -> Result<(), ToolError> {
    if !poll(&[what, late]).contains(&1) {
        return Ok(());
    }
    Err(ToolError::new(ErrorCode::Timeout, format!("{address}: no response in time")))
}

fn left(end: Instant) -> Duration {
    end.saturating_duration_since(Instant::now())
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

fn refused(address: &AbsoluteUrl, what: &str) -> ToolError {
    invalid(format!("{address}: {what} is refused"))
}

fn explain(address: &AbsoluteUrl, error: &WasiError) -> ToolError {
    let failed = |code, what: &str| ToolError::new(code, format!("{address}: {what}"));
    match error {
        WasiError::HttpRequestDenied | WasiError::DestinationIpProhibited => {
            // moss says to the caller who withholds what.
            failed(ErrorCode::Denied, "not permitted")
        }
        WasiError::DnsError(_) | WasiError::DestinationNotFound => {
            failed(ErrorCode::Io, "the host name does not resolve")
        }
        WasiError::DnsTimeout
        | WasiError::ConnectionTimeout
        | WasiError::ConnectionReadTimeout
        | WasiError::ConnectionWriteTimeout
        | WasiError::HttpResponseTimeout => failed(ErrorCode::Timeout, "no response in time"),
        WasiError::ConnectionRefused | WasiError::DestinationUnavailable => {
            failed(ErrorCode::Io, "nothing listens there")
        }
        WasiError::TlsCertificateError
        | WasiError::TlsProtocolError
        | WasiError::TlsAlertReceived(_) => failed(ErrorCode::Io, "no trusted connection"),
        WasiError::HttpResponseIncomplete | WasiError::ConnectionTerminated => {
            failed(ErrorCode::Io, "the connection was interrupted")
        }
        WasiError::HttpRequestBodySize(_) | WasiError::HttpResponseBodySize(_) => {
            failed(ErrorCode::TooLarge, "more bytes than one call may have")
        }
        WasiError::InternalError(Some(what)) => failed(ErrorCode::Io, what),
        other => failed(ErrorCode::Io, &format!("{other:?}")),
    }
}
