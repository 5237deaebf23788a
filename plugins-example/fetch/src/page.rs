//! What a response holds, and how it is read. Pure.

/// How wide lines of readable text are, in columns.
const WIDTH: usize = 100;
/// How much of a body is read to detect text, in bytes.
const SAMPLE_BYTES: usize = 1 << 10;

/// What a response is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Html,
    Text,
    Binary,
}

// === impl Kind ===

impl Kind {
    /// Reports by what the host says; otherwise by the bytes.
    pub(crate) fn of(content_type: &str, body: &[u8]) -> Self {
        let name = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let sample = &body[..body.len().min(SAMPLE_BYTES)];
        let is_text = name.starts_with("text/")
            || ["json", "xml", "javascript", "yaml", "toml", "x-www-form-urlencoded"]
                .iter()
                .any(|kind| name.ends_with(kind));
        match name.as_str() {
            "text/html" | "application/xhtml+xml" => Self::Html,
            "" if sample.contains(&0) => Self::Binary,
            "" if decoded(sample).trim_start().starts_with('<') => Self::Html,
            "" => Self::Text,
            _ if is_text => Self::Text,
            _ => Self::Binary,
        }
    }
}

/// Reads a body as UTF-8; what is none of it becomes `\u{fffd}`.
pub(crate) fn decoded(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned()
}

/// Makes HTML readable: headings, lists, tables, links as footnotes; no scripts, styles or pictures.
pub(crate) fn readable(body: &[u8]) -> Result<String, String> {
    let html = decoded(body);
    html2text::config::plain()
        .link_footnotes(true)
        .no_table_borders()
        .allow_width_overflow()
        .string_from_read(html.as_bytes(), WIDTH)
        .map(|text| text.trim().to_owned())
        .map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_are_what_the_host_says_or_what_they_look_like() {
        for (content_type, body, expected) in [
            ("text/html; charset=utf-8", &b"x"[..], Kind::Html),
            ("TEXT/HTML", b"x", Kind::Html),
            ("text/plain", b"<p>", Kind::Text),
            ("application/json", b"{}", Kind::Text),
            ("application/ld+json", b"{}", Kind::Text),
            ("image/svg+xml", b"<svg>", Kind::Text),
            ("image/png", b"x", Kind::Binary),
            ("", b" <!doctype html>", Kind::Html),
            ("", b"a", Kind::Text),
            ("", b"a\0", Kind::Binary),
        ] {
            assert_eq!(Kind::of(content_type, body), expected, "{content_type} {body:?}");
        }
    }

    #[test]
    fn pages_become_readable() {
        let html = "<html><head><title>T</title><style>p {}</style></head><body>\
                    <h1>One</h1><script>let x = 1;</script>\
                    <p>Two <a href=\"/x\">three</a> &amp; four</p>\
                    <ul><li>five</li><li>six</li></ul>\
                    <pre>a\n  b</pre></body></html>";
        let text = readable(html.as_bytes()).unwrap();
        for part in ["# One", "Two [three]", "& four", "* five", "* six", "a\n  b", "/x"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        for part in ["let x", "p {}", "<p>"] {
            assert!(!text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn broken_pages_are_read_as_far_as_possible() {
        let deep = format!("{}x", "<div>".repeat(1000));
        for html in ["<p>a<b>b<p>c", "", "<", "a & b", "<table><tr><td>a", deep.as_str()] {
            assert!(readable(html.as_bytes()).is_ok(), "{html:.20}");
        }
        assert_eq!(decoded(b"\xef\xbb\xbfa\xff"), "a\u{fffd}");
    }
}
