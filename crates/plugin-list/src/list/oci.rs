//! Names of components in registries of OCI images: always by the digest of their manifest. A tag
//! can lead to something else tomorrow, so that none is enough.

use std::fmt;

use super::Sha256Digest;

/// How a reference starts.
const SCHEME: &str = "oci://";
/// Longest name of a repository, in bytes.
const REPOSITORY_BYTES_MAX: usize = 255;
/// Longest tag, in bytes.
const TAG_BYTES_MAX: usize = 128;
/// What a reference looks like.
const FORM: &str = "`oci://HOST/NAME@sha256:` and 64 hexadecimal digits in lowercase";

/// A component in a registry, by its manifest: `oci://HOST/NAME@sha256:…`. A tag may stand before
/// the `@`; it is ignored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OciReference {
    /// The host of the registry, with its port where one is said.
    pub registry: String,
    /// The name of the repository.
    pub repository: String,
    /// The digest of the manifest.
    pub manifest: Sha256Digest,
}

// === impl OciReference ===

impl OciReference {
    /// Whether a source is meant to be one.
    pub fn is_meant(source: &str) -> bool {
        source.starts_with(SCHEME)
    }

    /// Reads a reference.
    ///
    /// # Errors
    ///
    /// What is wrong with it, and what to write instead.
    pub fn parse(text: &str) -> Result<Self, String> {
        let unreadable = |what: &str| format!("{what}; expected {FORM}");
        let rest = text.strip_prefix(SCHEME).ok_or_else(|| unreadable("not an OCI reference"))?;
        let Some((place, digest)) = rest.split_once('@') else {
            return Err(unreadable(
                "the reference names no digest, and a tag can lead to something else tomorrow",
            ));
        };
        let digest = digest.strip_prefix("sha256:").and_then(Sha256Digest::parse);
        let manifest = digest.ok_or_else(|| unreadable("the reference has no valid digest"))?;
        let (registry, name) =
            place.split_once('/').ok_or_else(|| unreadable("the reference names no repository"))?;
        let (repository, tag) =
            name.split_once(':').map_or((name, None), |(name, tag)| (name, Some(tag)));
        if !is_registry(registry) {
            return Err(unreadable("the reference has no valid host"));
        }
        if !is_repository(repository) {
            return Err(unreadable("the reference has no valid repository"));
        }
        if tag.is_some_and(|tag| !is_tag(tag)) {
            return Err(unreadable("the reference has no valid tag"));
        }
        let (registry, repository) = (registry.to_owned(), repository.to_owned());
        Ok(Self { registry, repository, manifest })
    }

    /// Returns where all versions of it are: what it is without its digest.
    pub fn origin(&self) -> String {
        format!("{SCHEME}{}/{}", self.registry, self.repository)
    }
}

impl fmt::Display for OciReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@sha256:{}", self.origin(), self.manifest)
    }
}

fn is_registry(registry: &str) -> bool {
    let authority = registry.parse::<http::uri::Authority>();
    authority.is_ok_and(|authority| !authority.host().is_empty())
}

/// Parts of lowercase letters and digits, which `.`, `_` and `-` may divide.
fn is_repository(name: &str) -> bool {
    let is_edge = |byte: Option<u8>| {
        byte.is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    let is_part = |part: &str| {
        is_edge(part.bytes().next())
            && is_edge(part.bytes().next_back())
            && !part.contains("..")
            && part.bytes().all(|byte| is_edge(Some(byte)) || b"._-".contains(&byte))
    };
    name.len() <= REPOSITORY_BYTES_MAX && name.split('/').all(is_part)
}

fn is_tag(tag: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    tag.len() <= TAG_BYTES_MAX
        && tag.bytes().next().is_some_and(is_word)
        && tag.bytes().all(|byte| is_word(byte) || b".-".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reference(place: &str) -> String {
        format!("oci://{place}@sha256:{}", "0a".repeat(32))
    }

    #[test]
    fn a_reference_is_a_host_a_repository_and_a_digest() {
        for (place, registry, repository) in [
            ("ghcr.io/owner/name", "ghcr.io", "owner/name"),
            ("ghcr.io/owner/name:1.2.0", "ghcr.io", "owner/name"),
            ("localhost:5000/a-b_c.d", "localhost:5000", "a-b_c.d"),
            ("[::1]:5000/a/b/c/d", "[::1]:5000", "a/b/c/d"),
        ] {
            let parsed = OciReference::parse(&reference(place)).unwrap();
            assert_eq!((&*parsed.registry, &*parsed.repository), (registry, repository));
            assert_eq!(parsed.to_string(), reference(&format!("{registry}/{repository}")));
        }
    }

    #[test]
    fn what_is_no_reference_is_refused_with_what_to_write() {
        for (text, why) in [
            ("oci://ghcr.io/owner/name".to_owned(), "names no digest"),
            ("oci://ghcr.io/owner/name:latest".to_owned(), "a tag can lead to something else"),
            ("oci://ghcr.io/a@sha256:00".to_owned(), "the reference has no valid digest"),
            (
                format!("oci://ghcr.io/a@sha512:{}", "0".repeat(128)),
                "the reference has no valid digest",
            ),
            (
                format!("oci://ghcr.io/a@sha256:{}", "AB".repeat(32)),
                "the reference has no valid digest",
            ),
            (reference("ghcr.io"), "names no repository"),
            (reference("/a"), "the reference has no valid host"),
            (reference("gh cr/a"), "the reference has no valid host"),
            (reference("ghcr.io/"), "the reference has no valid repository"),
            (reference("ghcr.io/Owner/name"), "the reference has no valid repository"),
            (reference("ghcr.io/a/../b"), "the reference has no valid repository"),
            (reference("ghcr.io/a//b"), "the reference has no valid repository"),
            (reference("ghcr.io/a?b"), "the reference has no valid repository"),
            (reference("ghcr.io/a%2f"), "the reference has no valid repository"),
            (reference("ghcr.io/a:-"), "the reference has no valid tag"),
            (reference("user:word@ghcr.io/a"), "the reference has no valid digest"),
        ] {
            let refused = OciReference::parse(&text).unwrap_err();
            assert!(refused.contains(why) && refused.contains("@sha256:"), "{text}: {refused}");
        }
    }
}
