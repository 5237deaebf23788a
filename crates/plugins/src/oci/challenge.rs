//! How a registry says where tokens are to be had, and the response from there.

use serde::Deserialize;

/// A demand for a token.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Challenge {
    /// The URL that gives tokens.
    pub(super) realm: String,
    pub(super) service: Option<String>,
    pub(super) scope: Option<String>,
}

#[derive(Deserialize)]
struct TokenResponse {
    token: Option<String>,
    access_token: Option<String>,
}

// === impl Challenge ===

impl Challenge {
    /// Reads a header `www-authenticate`; none where it demands something else, or is garbled.
    pub(super) fn parse(header: &str) -> Option<Self> {
        let (scheme, mut rest) = header.trim().split_once(' ')?;
        if !scheme.eq_ignore_ascii_case("bearer") {
            return None;
        }
        let (mut realm, mut service, mut scope) = (None, None, None);
        while !rest.trim().is_empty() {
            let (key, after) = rest.split_once('=')?;
            let (value, after) = value(after)?;
            match key.trim().to_ascii_lowercase().as_str() {
                "realm" => realm = Some(value),
                "service" => service = Some(value),
                "scope" => scope = Some(value),
                _ => {}
            }
            let after = after.trim_start();
            rest = match after.strip_prefix(',') {
                Some(rest) => rest,
                None if after.is_empty() => after,
                None => return None,
            };
        }
        Some(Self { realm: realm?, service, scope })
    }
}

/// Takes a value off the front: a word, or a text in quotes, in which commas may stand.
fn value(text: &str) -> Option<(String, &str)> {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find(',').unwrap_or(text.len());
        return Some((text[..end].trim().to_owned(), &text[end..]));
    };
    let mut value = String::new();
    let mut chars = quoted.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '"' => return Some((value, &quoted[at + 1..])),
            '\\' => value.push(chars.next()?.1),
            char => value.push(char),
        }
    }
    None
}

/// Finds the token in the response of who gives them.
pub(super) fn token(answer: &[u8]) -> Option<String> {
    let answer: TokenResponse = serde_json::from_slice(answer).ok()?;
    answer.token.or(answer.access_token).filter(|token| !token.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_challenge_says_where_tokens_are() {
        let parsed = Challenge::parse(
            "Bearer realm=\"https://auth.example/token\",service=\"a \\\"b\\\"\", \
             scope=\"repository:o/n:pull,push\",error=invalid_token",
        );
        let expected = Challenge {
            realm: "https://auth.example/token".to_owned(),
            service: Some("a \"b\"".to_owned()),
            scope: Some("repository:o/n:pull,push".to_owned()),
        };
        assert_eq!(parsed, Some(expected));
        let bare = Challenge::parse("bearer REALM=https://a.example/t").unwrap();
        assert_eq!((&*bare.realm, bare.service), ("https://a.example/t", None));
        for other in [
            "",
            "Bearer",
            "Basic realm=\"x\"",
            "Bearer service=\"x\"",
            "Bearer realm=\"x",
            "Bearer realm=\"x\" scope=\"y\"",
            "Bearer realm",
        ] {
            assert_eq!(Challenge::parse(other), None, "{other}");
        }
    }

    #[test]
    fn a_token_has_one_of_two_names() {
        assert_eq!(token(br#"{"token": "a", "expires_in": 3}"#).as_deref(), Some("a"));
        assert_eq!(token(br#"{"access_token": "b"}"#).as_deref(), Some("b"));
        assert_eq!(token(br#"{"token": ""}"#), None);
        assert_eq!(token(b"no"), None);
    }
}
