//! Under which names the server is reached. A page in a browser can have any name lead to this
//! machine, and then talk to it as its own: a request that names another host, or comes from a page of
//! one, is refused.

use http::header::{HOST, HeaderMap, HeaderValue, ORIGIN};
use http::uri::{Authority, Uri};

use super::refusal::HttpRefusal;

/// Names of this machine that no page elsewhere can have.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// The names of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReachableNames(Vec<String>);

// === impl ReachableNames ===

impl ReachableNames {
    /// Takes the names and addresses by which clients reach the server, beside those that only this
    /// machine has.
    pub fn new(names: impl IntoIterator<Item = String>) -> Self {
        let given = names.into_iter().map(|name| plain(&name));
        Self(LOOPBACK.map(ToOwned::to_owned).into_iter().chain(given).collect())
    }

    /// Holds a request to them. Which port it names does not matter: it may be forwarded.
    pub(super) fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), HttpRefusal> {
        let mut hosts = headers.get_all(HOST).iter();
        let host = hosts.next().map_or("", text);
        let named = host.parse::<Authority>().ok().and_then(|authority| name_in(&authority));
        let is_other = |name: &str| {
            uri.authority().is_some_and(|authority| name_in(authority).as_deref() != Some(name))
        };
        match named {
            Some(name) if hosts.next().is_none() && self.have(&name) && !is_other(&name) => {}
            _ => {
                let named = uri.authority().map_or(host, Authority::as_str);
                return Err(HttpRefusal::foreign_host(named));
            }
        }
        let mut origins = headers.get_all(ORIGIN).iter().map(text);
        match origins.find(|origin| !self.have_origin(origin)) {
            Some(origin) => Err(HttpRefusal::foreign_origin(origin)),
            None => Ok(()),
        }
    }

    fn have(&self, name: &str) -> bool {
        self.0.iter().any(|known| known == name)
    }

    /// Whether a page is one of a host of ours, on any port.
    fn have_origin(&self, origin: &str) -> bool {
        let Ok(uri) = origin.parse::<Uri>() else { return false };
        let is_web = matches!(uri.scheme_str(), Some("http" | "https"));
        let name = uri.authority().and_then(name_in);
        is_web && name.is_some_and(|name| self.have(&name))
    }
}

/// A value that is no text names nothing.
fn text(value: &HeaderValue) -> &str {
    value.to_str().unwrap_or_default()
}

/// The name in an authority that is one, perhaps with a port: of `127.0.0.1:80.evil.example` it would be the half
/// before the colon.
fn name_in(authority: &Authority) -> Option<String> {
    let behind = authority.as_str().strip_prefix(authority.host())?;
    let is_port = |port: &str| {
        !port.is_empty() && port.chars().all(|c| c.is_ascii_digit()) && port.parse::<u16>().is_ok()
    };
    let is_whole = behind.is_empty() || behind.strip_prefix(':').is_some_and(is_port);
    is_whole.then(|| plain(authority.host()))
}

/// A name as names are compared: in lower case, without brackets and without the dot of the root.
fn plain(name: &str) -> String {
    let name = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(name);
    name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_hosts_and_pages_of_this_server_are_let_in() {
        let names = ReachableNames::new(["Moss.Example".to_owned(), "10.0.0.7".to_owned()]);
        for (hosts, origin, is_fine) in [
            (&["localhost:4000"][..], None, true),
            (&["LOCALHOST."], None, true),
            (&["[::1]:4000"], None, true),
            (&["127.0.0.1"], Some("http://localhost:6274"), true),
            (&["moss.example:443"], Some("https://moss.example"), true),
            (&["10.0.0.7:1"], None, true),
            (&["evil.example:4000"], None, false),
            (&["evil.example"], Some("http://evil.example"), false),
            (&["localhost.evil.example"], None, false),
            (&["127.0.0.1.evil.example"], None, false),
            (&["localhost@evil.example"], None, false),
            (&["evil.example@localhost"], None, false),
            (&["127.0.0.1:14334.evil.example"], None, false),
            (&["localhost:80:evil.example"], None, false),
            (&["localhost:"], None, false),
            (&["localhost:+80"], None, false),
            (&["localhost:65536"], None, false),
            (&["[::1]:1.evil.example"], None, false),
            (&["[::1]evil.example"], None, false),
            (&["localhost"], Some("http://localhost:80.evil.example"), false),
            (&["localhost"], Some("http://evil.example@localhost"), false),
            (&["localhost", "evil.example"], None, false),
            (&["localhost", "localhost"], None, false),
            (&["local host"], None, false),
            (&[""], None, false),
            (&[], None, false),
            (&["0.0.0.0"], None, false),
            (&["localhost"], Some("http://evil.example"), false),
            (&["localhost"], Some("http://localhost.evil.example"), false),
            (&["localhost"], Some("null"), false),
            (&["localhost"], Some("localhost"), false),
            (&["localhost"], Some("file://localhost"), false),
            (&["localhost"], Some(""), false),
            (&["localhost"], Some("http://"), false),
        ] {
            let mut headers = HeaderMap::new();
            for host in hosts {
                headers.append(HOST, host.parse().unwrap());
            }
            if let Some(origin) = origin {
                headers.insert(ORIGIN, origin.parse().unwrap());
            }
            let checked = names.check(&Uri::from_static("/mcp"), &headers);
            assert_eq!(checked.is_ok(), is_fine, "{hosts:?} {origin:?}");
        }
    }

    #[test]
    fn a_host_in_the_request_line_is_held_to_the_same() {
        let names = ReachableNames::new([]);
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::from_static("localhost"));
        for (uri, is_fine) in [("http://localhost:1/mcp", true), ("http://evil.example/mcp", false)]
        {
            assert_eq!(names.check(&Uri::from_static(uri), &headers).is_ok(), is_fine, "{uri}");
        }
    }
}
