//! What a result shows beside its output: texts, JSON, images, links. A value that exists can be shown
//! on every front: an image is one of the kinds that models and clients read, a link leads to the web or
//! to a resource of moss.

mod image;

use serde_json::Value;

pub use self::image::{ContentImage, ImageKind};

use crate::deceptive::first_deceptive;
use crate::error::{ErrorCode, ToolError};
use crate::path::RelPath;

/// Most parts beside the output of one call.
pub const CONTENT_PARTS_MAX: usize = 16;
/// Longest address of a link, in bytes.
const URI_BYTES_MAX: usize = 2 << 10;
/// Longest name of a link, in bytes.
const LINK_NAME_BYTES_MAX: usize = 256;
/// What an address begins with.
const SCHEMES: [&str; 3] = ["https://", "http://", "moss://"];
/// What the address of a file of the workspace begins with.
const FILES: &str = "moss://files/";

/// One thing that a result shows beside its output.
#[derive(Debug, Clone, PartialEq)]
pub enum ContentPart {
    /// A text for models and people.
    Text(String),
    /// A value for programs, which models read as text.
    Json(Value),
    /// An image, which clients show to models that take images.
    Image(ContentImage),
    /// Where to find more.
    Link(ContentLink),
}

/// An address and what it leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentLink {
    uri: String,
    name: String,
}

// === impl ContentPart ===

impl ContentPart {
    /// Returns how much of the bound on results it takes, in bytes.
    pub fn size_bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Json(value) => value.to_string().len(),
            Self::Image(image) => image.data().len(),
            Self::Link(link) => link.uri.len() + link.name.len(),
        }
    }
}

// === impl ContentLink ===

impl ContentLink {
    /// Makes a link.
    ///
    /// # Errors
    ///
    /// `InvalidArguments` for an address that is not `https://`, `http://` or `moss://` in printable
    /// ASCII of up to 2 KiB, and for a name that is empty, longer than 256 bytes or has characters that
    /// are not seen.
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Result<Self, ToolError> {
        let (uri, name) = (uri.into(), name.into());
        let invalid = |what: String| ToolError::new(ErrorCode::InvalidArguments, what);
        if uri.len() > URI_BYTES_MAX {
            return Err(invalid(format!(
                "the address of a link has more than {URI_BYTES_MAX} bytes"
            )));
        }
        let has_scheme =
            SCHEMES.iter().any(|scheme| uri.len() > scheme.len() && uri.starts_with(scheme));
        if !has_scheme || !uri.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(invalid("the address of a link is not one that clients open".to_owned())
                .hint(
                    "begin it with https://, http:// or moss://, and write other characters as %XX",
                ));
        }
        if name.trim().is_empty() || name.len() > LINK_NAME_BYTES_MAX {
            let what = format!("the name of a link has 1 to {LINK_NAME_BYTES_MAX} bytes");
            return Err(invalid(what).hint("say in a few words what it leads to"));
        }
        if let Some(hidden) = first_deceptive(&name) {
            let code = u32::from(hidden);
            return Err(invalid(format!(
                "the name of a link contains the character U+{code:04X}, which is not seen as what it is"
            )));
        }
        Ok(Self { uri, name })
    }

    /// Links to a file of the workspace, as clients read it from moss.
    ///
    /// # Errors
    ///
    /// As [`ContentLink::new`], for paths that are too long or deceptive.
    pub fn to_file(path: &RelPath) -> Result<Self, ToolError> {
        let name = path.file_name().unwrap_or_else(|| path.as_str());
        Self::new(file_uri(path.as_str()), name)
    }

    /// Returns the URI under which it can be read.
    pub fn uri(&self) -> &str {
        &self.uri
    }

    /// Returns what it leads to, in words.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// Returns the address under which clients read a file of the workspace.
pub fn file_uri(path: &str) -> String {
    let mut uri = String::with_capacity(FILES.len() + path.len());
    uri.push_str(FILES);
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte));
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_where_clients_go() {
        for uri in ["https://a.example/b?c=d#e", "http://[::1]:80/", "moss://files/a%20b.txt"] {
            let link = ContentLink::new(uri, "a page").unwrap();
            assert_eq!((link.uri(), link.name()), (uri, "a page"));
        }
        let long = format!("https://{}", "a".repeat(URI_BYTES_MAX));
        for uri in [
            "",
            "https://",
            "a.txt",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "data:text/html,x",
            "HTTPS://a",
            "https://a b",
            "https://ü",
            "https://a\u{202e}",
            long.as_str(),
        ] {
            let error = ContentLink::new(uri, "a page").unwrap_err();
            assert_eq!(error.code, ErrorCode::InvalidArguments, "{uri}");
        }
        let long = "n".repeat(LINK_NAME_BYTES_MAX + 1);
        for name in ["", " ", "a\nb", "a\u{202e}b", "\u{200b}", long.as_str()] {
            assert!(ContentLink::new("https://a", name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn files_have_addresses() {
        let path = RelPath::parse("src/a b/ü%.txt").unwrap();
        let link = ContentLink::to_file(&path).unwrap();
        assert_eq!(link.uri(), "moss://files/src/a%20b/%C3%BC%25.txt");
        assert_eq!(link.name(), "ü%.txt");
    }

    #[test]
    fn parts_count_what_they_carry() {
        let link = ContentLink::new("https://a", "bc").unwrap();
        for (part, size) in [
            (ContentPart::Text("ab".into()), 2),
            (ContentPart::Json(serde_json::json!({ "a": 1 })), 7),
            (ContentPart::Image(ContentImage::new(image::tests::GIF.to_vec()).unwrap()), 13),
            (ContentPart::Link(link), 11),
        ] {
            assert_eq!(part.size_bytes(), size, "{part:?}");
        }
    }
}
