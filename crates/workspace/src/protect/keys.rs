//! What a file whose name is that of a key holds: a key, or only what is public.

use crate::read::OpenedFile;

/// Largest file that is looked through, in bytes: lists of all authorities are smaller.
const BYTES_MAX: u64 = 1 << 20;
/// What the blocks of files say of themselves that hold nothing secret.
const PUBLIC_LABELS: &[&str] = &[
    "CERTIFICATE",
    "TRUSTED CERTIFICATE",
    "X509 CERTIFICATE",
    "CERTIFICATE REQUEST",
    "NEW CERTIFICATE REQUEST",
    "X509 CRL",
    "PUBLIC KEY",
    "RSA PUBLIC KEY",
    "DSA PUBLIC KEY",
    "EC PUBLIC KEY",
    "DH PARAMETERS",
    "PGP PUBLIC KEY BLOCK",
];
/// Words that stand in no file that is public.
const SECRET_WORDS: &[&str] = &["PRIVATE", "SECRET"];

/// Whether a content is certainly public: text in blocks of which each is known to be.
fn is_public(content: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(content) else { return false };
    if SECRET_WORDS.iter().any(|word| text.to_ascii_uppercase().contains(word)) {
        return false;
    }
    let mut within = None;
    let mut blocks = 0;
    for line in text.lines().map(str::trim) {
        match (label(line, "-----BEGIN "), label(line, "-----END "), within) {
            (Some(begun), _, None) if PUBLIC_LABELS.contains(&begun) => {
                within = Some(begun);
                blocks += 1;
            }
            (None, Some(ended), Some(begun)) if ended == begun => within = None,
            (None, None, _) => {}
            _ => return false,
        }
    }
    blocks > 0 && within.is_none()
}

fn label<'a>(line: &'a str, start: &str) -> Option<&'a str> {
    line.strip_prefix(start)?.strip_suffix("-----")
}

// === impl OpenedFile ===

impl OpenedFile<'_> {
    /// Whether its content is certainly public, such as certificates. What is neither known to be
    /// public nor to be a key counts as a key.
    pub fn is_public(&self) -> bool {
        self.bytes_up_to(BYTES_MAX).is_some_and(|content| is_public(&content))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(label: &str) -> String {
        format!("-----BEGIN {label}-----\nMIIB0zCC\n-----END {label}-----\n")
    }

    #[test]
    fn certificates_and_public_keys_are_public() {
        for text in [
            block("CERTIFICATE"),
            block("PUBLIC KEY"),
            format!(
                "subject=CN = a\n{}\n# the next\r\n{}",
                block("CERTIFICATE"),
                block("X509 CRL")
            ),
        ] {
            assert!(is_public(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn whatever_is_not_known_to_be_public_is_a_key() {
        let certificate = block("CERTIFICATE");
        for text in [
            block("PRIVATE KEY"),
            block("RSA PRIVATE KEY"),
            block("OPENSSH PRIVATE KEY"),
            block("ENCRYPTED PRIVATE KEY"),
            block("PGP PRIVATE KEY BLOCK"),
            block("SOMETHING NEW"),
            format!("{certificate}{}", block("EC PRIVATE KEY")),
            format!("{certificate}AGE-SECRET-KEY-1QQQ\n"),
            format!("{certificate}-----BEGIN X-----\n"),
            certificate.replace("-----END CERTIFICATE-----\n", ""),
            "d41d8cd98f00b204e9800998ecf8427e\n".to_owned(),
            "the key of the machine\n".to_owned(),
            String::new(),
        ] {
            assert!(!is_public(text.as_bytes()), "{text}");
        }
        // As DER, and in another encoding.
        assert!(!is_public(b"\x30\x82\x04\xa4\x02\x01\x00\x02"));
        let utf16: Vec<u8> = certificate.encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert!(!is_public(&utf16));
    }
}
