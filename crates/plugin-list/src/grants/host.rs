//! Which hosts a plugin may reach: patterns of scheme, name and port.

use std::fmt;

/// Longest pattern, in bytes: a name of DNS, a scheme and a port.
const PATTERN_BYTES_MAX: usize = 280;

/// A pattern of hosts: `api.example.com`, `*.example.com` (every name below, not the name itself),
/// `*` (every name). Without a scheme it means HTTPS; without a port, the one of the scheme.
///
/// Whoever owns a name decides where it leads. A grant reaches private addresses only where its name
/// can have no other, or where it says `private:` before the pattern.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostPattern {
    scheme: Scheme,
    name: NameOfHost,
    port: Option<u16>,
    /// Whether it may have a private address; only grants say so.
    private: Option<bool>,
}

/// Names that only the machine or its network can know.
const LOCAL_ENDINGS: &[&str] = &[".localhost", ".local", ".internal", ".lan", ".home.arpa"];
/// What stands before a pattern of a grant whose hosts may have private addresses.
const PRIVATE: &str = "private:";

/// How a host is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scheme {
    /// `https`: encrypted, to a host that proves its name.
    Https,
    /// `http`: anybody on the way can read and change what is said.
    Http,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum NameOfHost {
    /// Any name, by any scheme, at any port.
    Everything,
    Any,
    Below(String),
    Exactly(String),
}

// === impl HostPattern ===

impl HostPattern {
    /// Every host, however it is spoken to: for what is requested, and at most allowed. No pattern
    /// says this.
    pub const EVERYTHING: Self =
        Self { scheme: Scheme::Https, name: NameOfHost::Everything, port: None, private: None };

    /// Reads a pattern.
    ///
    /// # Errors
    ///
    /// What is wrong with it, as a sentence part that follows its text.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        if text.len() > PATTERN_BYTES_MAX {
            return Err("is too long");
        }
        let (scheme, rest) = match text.split_once("://") {
            None => (Scheme::Https, text),
            Some(("https", rest)) => (Scheme::Https, rest),
            Some(("http", rest)) => (Scheme::Http, rest),
            Some(_) => return Err("has a scheme other than `https` and `http`"),
        };
        let (name, port) = split_port(rest)?;
        let name = name.to_ascii_lowercase();
        let name = match name.strip_prefix("*.") {
            Some(below) if is_name(below) && !is_address(below) => {
                NameOfHost::Below(below.to_owned())
            }
            None if name == "*" => NameOfHost::Any,
            None if is_name(&name) || is_address(&name) => NameOfHost::Exactly(name),
            _ => return Err("is not a host; write `api.example.com`, `*.example.com` or `*`"),
        };
        let port = port.filter(|port| *port != scheme.port());
        Ok(Self { scheme, name, port, private: None })
    }

    /// Reads a pattern of a grant.
    ///
    /// # Errors
    ///
    /// As [`Self::parse`].
    pub fn parse_granted(text: &str) -> Result<Self, &'static str> {
        let (is_told, text) = match text.strip_prefix(PRIVATE) {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let pattern = Self::parse(text)?;
        if is_told && pattern.name == NameOfHost::Any {
            return Err("is every host; `private:` needs a name, such as `private:*.example.com`");
        }
        Ok(Self { private: Some(is_told || pattern.is_local()), ..pattern })
    }

    /// Whether a request may go to this host. The name is in lower case, an address of IPv6 in
    /// brackets.
    pub fn matches(&self, scheme: Scheme, name: &str, port: u16) -> bool {
        let matches_name = match &self.name {
            NameOfHost::Everything => return true,
            NameOfHost::Any => true,
            NameOfHost::Exactly(exactly) => exactly == name,
            NameOfHost::Below(below) => is_below(name, below),
        };
        matches_name && self.scheme == scheme && self.port() == port
    }

    /// Whether a host may have a private address.
    pub fn may_be_private(&self) -> bool {
        self.private == Some(true)
    }

    /// Whether the name stands for the machine itself or one on its network, whoever is asked.
    fn is_local(&self) -> bool {
        let NameOfHost::Exactly(name) = &self.name else { return false };
        is_address(name)
            || !name.contains('.')
            || LOCAL_ENDINGS.iter().any(|ending| name.ends_with(ending))
    }

    /// Returns the pattern of what both match; none where that is nothing.
    pub fn meet(&self, other: &Self) -> Option<Self> {
        let inner = if self.spans(other) { other } else { other.spans(self).then_some(self)? };
        let private = match (self.private, other.private) {
            (Some(one), Some(other)) => Some(one && other),
            (one, other) => one.or(other),
        };
        Some(Self { private, ..inner.clone() })
    }

    /// Whether all that `other` matches is matched by this, at the same addresses.
    pub fn covers(&self, other: &Self) -> bool {
        self.spans(other) && (self.private != Some(false) || other.private != Some(true))
    }

    /// Whether all names that `other` matches are matched by this.
    fn spans(&self, other: &Self) -> bool {
        let covers_name = match (&self.name, &other.name) {
            (NameOfHost::Everything, _) => return true,
            (_, NameOfHost::Everything) => return false,
            (NameOfHost::Any, _) => true,
            (NameOfHost::Exactly(mine), NameOfHost::Exactly(theirs)) => mine == theirs,
            (NameOfHost::Below(mine), NameOfHost::Exactly(theirs)) => is_below(theirs, mine),
            (NameOfHost::Below(mine), NameOfHost::Below(theirs)) => {
                mine == theirs || is_below(theirs, mine)
            }
            (NameOfHost::Exactly(_) | NameOfHost::Below(_), _) => false,
        };
        covers_name && self.scheme == other.scheme && self.port == other.port
    }

    fn port(&self) -> u16 {
        self.port.unwrap_or(self.scheme.port())
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.may_be_private() && !self.is_local() {
            f.write_str(PRIVATE)?;
        }
        if self.scheme == Scheme::Http {
            f.write_str("http://")?;
        }
        match &self.name {
            NameOfHost::Everything => f.write_str("*")?,
            // `*` alone says the same in a grant; where it says more, this does not.
            NameOfHost::Any if self.scheme == Scheme::Https => f.write_str("https://*")?,
            NameOfHost::Any => f.write_str("*")?,
            NameOfHost::Below(name) => write!(f, "*.{name}")?,
            NameOfHost::Exactly(name) => f.write_str(name)?,
        }
        match self.port {
            Some(port) => write!(f, ":{port}"),
            None => Ok(()),
        }
    }
}

// === impl Scheme ===

impl Scheme {
    /// Returns the usual port.
    pub const fn port(self) -> u16 {
        match self {
            Self::Https => 443,
            Self::Http => 80,
        }
    }
}

fn is_below(name: &str, of: &str) -> bool {
    name.strip_suffix(of).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
}

fn split_port(text: &str) -> Result<(&str, Option<u16>), &'static str> {
    // The colons of an address of IPv6 stand in brackets.
    match text.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => {
            let digits = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
            match port.parse::<u16>() {
                Ok(number) if digits && number > 0 => Ok((name, Some(number))),
                _ => Err("has a port that is not a number from 1 to 65535"),
            }
        }
        _ => Ok((text, None)),
    }
}

fn is_address(name: &str) -> bool {
    let bracketed = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    match bracketed {
        Some(inside) => inside.parse::<std::net::Ipv6Addr>().is_ok(),
        None => name.parse::<std::net::Ipv4Addr>().is_ok(),
    }
}

/// Whether it is a name of DNS, in ASCII.
fn is_name(name: &str) -> bool {
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    (1..=253).contains(&name.len()) && name.split('.').all(is_label)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> HostPattern {
        HostPattern::parse(text).unwrap_or_else(|why| panic!("{text}: {why}"))
    }

    #[test]
    fn a_pattern_is_written_as_it_is_read() {
        for text in [
            "a.example",
            "*.a.example",
            "https://*",
            "http://*:81",
            "http://a:8080",
            "[::1]:8443",
            "a:444",
        ] {
            assert_eq!(pattern(text).to_string(), text);
        }
        assert_eq!(pattern("https://A.example:443").to_string(), "a.example");
        assert_eq!(pattern("http://a:80").to_string(), "http://a");
        assert_eq!(pattern("*").to_string(), "https://*");
        assert_eq!(HostPattern::EVERYTHING.to_string(), "*");
        for text in [
            "",
            "a/b",
            "a*.example",
            "*.",
            "*.*.a",
            "ftp://a",
            "a:",
            "a:0",
            "a:+1",
            "a b",
            "user@a",
            "*.1.2.3.4",
        ] {
            assert!(HostPattern::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn only_a_grant_says_that_an_address_may_be_private() {
        let granted = |text: &str| HostPattern::parse_granted(text).unwrap();
        for (text, is_private) in [
            ("a.example", false),
            ("*", false),
            ("*.a.example", false),
            ("private:a.example", true),
            ("private:http://*.a.example:81", true),
            ("http://localhost:8080", true),
            ("https://wiki", true),
            ("nas.local", true),
            ("http://10.0.0.1", true),
            ("[::1]:8443", true),
        ] {
            assert_eq!(granted(text).may_be_private(), is_private, "{text}");
            assert!(!pattern(text.trim_start_matches(PRIVATE)).may_be_private(), "{text}");
        }
        for text in ["private:a.example", "a.example", "http://localhost:8080"] {
            assert_eq!(granted(text).to_string(), text);
        }
        assert!(HostPattern::parse_granted("private:*").is_err());
        assert!(HostPattern::parse("private:a.example").is_err());
        let (wide, named) = (granted("*"), granted("private:a.example"));
        assert!(!wide.covers(&named), "it is not what the other allows");
        assert!(HostPattern::EVERYTHING.covers(&named));
        let requested = pattern("a.example");
        assert!(!requested.meet(&wide).unwrap().may_be_private());
        assert!(requested.meet(&named).unwrap().may_be_private());
        assert!(!pattern("localhost").meet(&wide).unwrap().may_be_private());
        assert!(HostPattern::EVERYTHING.meet(&named).unwrap().may_be_private());
    }

    #[test]
    fn a_pattern_matches_what_it_says_and_covers_what_it_matches() {
        use Scheme::{Http, Https};
        assert!(pattern("a.example").matches(Https, "a.example", 443));
        assert!(!pattern("a.example").matches(Http, "a.example", 443));
        assert!(!pattern("a.example").matches(Https, "a.example", 8443));
        assert!(!pattern("a.example").matches(Https, "b.a.example", 443));
        assert!(pattern("*.a.example").matches(Https, "b.a.example", 443));
        assert!(!pattern("*.a.example").matches(Https, "a.example", 443));
        assert!(!pattern("*.a.example").matches(Https, "ba.example", 443));
        assert!(pattern("*").matches(Https, "b.example", 443));
        let covers = [
            ("*", "a.example", true),
            ("*", "http://a.example", false),
            ("*.example", "*.a.example", true),
            ("*.a.example", "*.example", false),
            ("*.example", "example", false),
            ("a.example", "*", false),
            ("a:1", "a", false),
            ("*", "http://localhost:8080", false),
        ];
        for (outer, inner, expected) in covers {
            assert_eq!(pattern(outer).covers(&pattern(inner)), expected, "{outer} {inner}");
            assert!(HostPattern::EVERYTHING.covers(&pattern(inner)), "{inner}");
            assert!(!pattern(outer).covers(&HostPattern::EVERYTHING), "{outer}");
        }
    }
}
