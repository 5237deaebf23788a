//! Where a request goes: an absolute URL of HTTP, taken apart, and what a redirect makes of it. Pure.

use std::fmt;

/// Longest URL, in bytes.
const URL_BYTES_MAX: usize = 8 << 10;

/// An absolute URL without its fragment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AbsoluteUrl {
    pub(super) is_tls: bool,
    /// Host and port as they were written, in lower case.
    pub(super) authority: String,
    /// Starts with `/`, also where the URL has no path.
    pub(super) path_and_query: String,
}

// === impl AbsoluteUrl ===

impl AbsoluteUrl {
    /// Reads an absolute URL.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        check_text(text)?;
        let (scheme, rest) = text
            .split_once("://")
            .ok_or_else(|| format!("`{text}` is not a URL such as `https://example.com/`"))?;
        let is_tls = match scheme.to_ascii_lowercase().as_str() {
            "https" => true,
            "http" => false,
            _ => return Err(format!("`{text}` is neither of http nor of https")),
        };
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, rest) = rest.split_at(end);
        check_authority(authority).map_err(|why| format!("`{text}` {why}"))?;
        let rest = without_fragment(rest);
        let path_and_query =
            if rest.starts_with('/') { encoded(rest) } else { format!("/{}", encoded(rest)) };
        Ok(Self { is_tls, authority: authority.to_ascii_lowercase(), path_and_query })
    }

    /// Reads a URL that may be relative to this one.
    pub(super) fn join(&self, location: &str) -> Result<Self, String> {
        check_text(location)?;
        let scheme_end = location.find([':', '/', '?', '#']).unwrap_or(location.len());
        if location[scheme_end..].starts_with(':') {
            return Self::parse(location);
        }
        if location.starts_with("//") {
            return Self::parse(&format!("{}:{location}", self.scheme()));
        }
        let (path, query) = split_query(without_fragment(location));
        let (own_path, own_query) = split_query(&self.path_and_query);
        let (path, query) = if path.starts_with('/') {
            (without_dots(path), query)
        } else if path.is_empty() {
            (own_path.to_owned(), query.or(own_query))
        } else {
            let directory = own_path.rfind('/').map_or("/", |end| &own_path[..=end]);
            (without_dots(&format!("{directory}{path}")), query)
        };
        let query = query.map(|query| format!("?{query}")).unwrap_or_default();
        Ok(Self { path_and_query: encoded(&format!("{path}{query}")), ..self.clone() })
    }

    /// Whom it asks: scheme, host and port.
    pub(super) fn origin(&self) -> (bool, &str, &str) {
        let host_end = self.authority.rfind(']').map_or(0, |end| end + 1);
        let port = self.authority[host_end..].find(':').map(|at| host_end + at);
        match port {
            Some(at) => (self.is_tls, &self.authority[..at], &self.authority[at + 1..]),
            None => (self.is_tls, &self.authority, if self.is_tls { "443" } else { "80" }),
        }
    }

    fn scheme(&self) -> &'static str {
        if self.is_tls { "https" } else { "http" }
    }
}

impl fmt::Display for AbsoluteUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}{}", self.scheme(), self.authority, self.path_and_query)
    }
}

fn check_text(text: &str) -> Result<(), String> {
    if text.len() > URL_BYTES_MAX {
        Err(format!("the URL has more than {URL_BYTES_MAX} bytes"))
    } else if text.chars().any(char::is_control) {
        Err("the URL contains control characters".to_owned())
    } else {
        Ok(())
    }
}

fn check_authority(authority: &str) -> Result<(), &'static str> {
    if authority.is_empty() {
        Err("has no host")
    } else if authority.contains('@') {
        Err("contains a user name: send a header `authorization` instead")
    } else if !authority.is_ascii() {
        Err("has a host that is not ASCII: write it as `xn--…`")
    } else if authority.contains(|c: char| !c.is_ascii_alphanumeric() && !".-_:[]".contains(c)) {
        Err("has a host with characters that no host has")
    } else {
        Ok(())
    }
}

fn without_fragment(text: &str) -> &str {
    text.split_once('#').map_or(text, |(before, _)| before)
}

fn split_query(text: &str) -> (&str, Option<&str>) {
    text.split_once('?').map_or((text, None), |(path, query)| (path, Some(query)))
}

/// Writes what a URL cannot contain as `%XX`.
fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

/// Resolves `.` and `..` in an absolute path.
fn without_dots(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let mut rest = path.split('/').skip(1).peekable();
    while let Some(part) = rest.next() {
        let is_last = rest.peek().is_none();
        match part {
            "." => {}
            ".." => {
                parts.pop();
            }
            part => {
                parts.push(part);
                continue;
            }
        }
        if is_last {
            parts.push("");
        }
    }
    format!("/{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_read() {
        for (text, expected) in [
            ("https://a.example", "https://a.example/"),
            ("HTTP://A.example:8080?q=1#top", "http://a.example:8080/?q=1"),
            ("https://a.example/a b/ü?q=<x>", "https://a.example/a%20b/%C3%BC?q=%3Cx%3E"),
            ("https://[::1]:8443/x%20y", "https://[::1]:8443/x%20y"),
        ] {
            assert_eq!(AbsoluteUrl::parse(text).unwrap().to_string(), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_url_is_refused_with_the_reason() {
        let long = format!("https://a.example/{}", "a".repeat(URL_BYTES_MAX));
        for (text, why) in [
            ("a.example", "is not a URL"),
            ("file:///etc/passwd", "neither of http nor of https"),
            ("https:///x", "has no host"),
            ("https://user:key@a.example/", "contains a user name"),
            ("https://bücher.example/", "not ASCII"),
            ("https://a example/", "characters that no host has"),
            ("https://a.example/\r\nx: y", "control characters"),
            (&long, "more than 8192 bytes"),
        ] {
            let error = AbsoluteUrl::parse(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn redirects_lead_from_where_one_is() {
        let address = AbsoluteUrl::parse("https://a.example/b/c?d").unwrap();
        for (location, expected) in [
            ("https://e.example/", "https://e.example/"),
            ("http://e.example", "http://e.example/"),
            ("//e.example/f", "https://e.example/f"),
            ("/f?g#h", "https://a.example/f?g"),
            ("f", "https://a.example/b/f"),
            ("f:g/", "f"),
            ("./f/../g/.", "https://a.example/b/g/"),
            ("../../../f", "https://a.example/f"),
            ("..", "https://a.example/"),
            ("?g", "https://a.example/b/c?g"),
            ("#h", "https://a.example/b/c?d"),
        ] {
            match address.join(location) {
                Ok(next) => assert_eq!(next.to_string(), expected, "{location}"),
                Err(why) => assert!(why.contains("is not a URL"), "{location}: {why}"),
            }
        }
    }

    #[test]
    fn origins_have_a_port() {
        for (text, origin) in [
            ("https://a.example", (true, "a.example", "443")),
            ("http://a.example:8080", (false, "a.example", "8080")),
            ("http://[::1]", (false, "[::1]", "80")),
            ("http://[::1]:81", (false, "[::1]", "81")),
        ] {
            assert_eq!(AbsoluteUrl::parse(text).unwrap().origin(), origin, "{text}");
        }
    }
}
