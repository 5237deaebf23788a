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
const SECRET_WORDS: &[&str] = &["PRIVATE", "SECRET", "PASSW", "PASSPHRASE"];
/// Shortest word that may be a key without a block around it: one of 128 bits, in Base64.
const BARE_KEY_CHARS_MIN: usize = 22;

/// Whether a content is certainly public: blocks of which each is known to be, and text beside them
/// that explains them.
fn is_public(content: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(content) else { return false };
    let upper = text.to_ascii_uppercase();
    if SECRET_WORDS.iter().any(|word| upper.contains(word)) {
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
            (None, None, Some(_)) => {}
            (None, None, None) if !may_hold_key(line) => {}
            _ => return false,
        }
    }
    blocks > 0 && within.is_none()
}

/// Whether a line outside of all blocks may hold a key: in a block that begins in the midst of it, as
/// the whole line, or as what is said of a key. Fingerprints, serial numbers and names are none.
fn may_hold_key(line: &str) -> bool {
    let of_key = |(name, value): (&str, &str)| {
        let value = value.trim_matches([' ', '\t', '"', '\'', ',', ';']);
        name.to_ascii_uppercase().contains("KEY") && is_bare_key(value)
    };
    line.contains("---- BEGIN")
        || line.contains("-----BEGIN")
        || is_bare_key(line)
        || line.split_once([':', '=']).is_some_and(of_key)
}

/// Whether a text is one word of Base64 or of hexadecimal digits that is long enough for a key.
fn is_bare_key(text: &str) -> bool {
    let text = text.trim_end_matches('=');
    let is_of_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/-_".contains(&byte);
    let has = |is: fn(&u8) -> bool| text.as_bytes().iter().any(is);
    let is_hex = || text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_mixed =
        || has(u8::is_ascii_digit) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
    text.len() >= BARE_KEY_CHARS_MIN && text.bytes().all(is_of_base64) && (is_hex() || is_mixed())
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

    /// What openssl and lists of authorities write beside certificates.
    const EXPLAINED: &str = "\
Bag Attributes
    friendlyName: {8D1B2C3A-0000-4000-8000-9A8B7C6D5E4F}
    localKeyID: 54 69 6D 65 20 31 36 30 35
subject=C = US, O = Example, CN = key.example.com
issuer=CN = Example Root CA
serial=0A0141420000015385736A0B85ECA708
SHA256 Fingerprint=96:BC:EC:06:26:49:76:F3:74:60:77:9A:CF:28:C5:A7
##  SHA256: 36105b01631f9fc03b1eca779b44a30a1a5890b9bf8dc07ccb001a07301e01cf
##  https://example.com/releases/mozilla-release/raw-file/default/security/nss/certdata.txt
# Serial: 4835703278459707669005204
GlobalSign Root CA
==================
Certificate:
    Data:
        Serial Number:
            04:00:00:00:00:01:15:4b:5a:c3:94
        Signature Algorithm: sha1WithRSAEncryption
        Subject Public Key Info:
            Public Key Algorithm: rsaEncryption
                RSA Public-Key: (2048 bit)
                Modulus:
                    00:da:0e:e6:99:8d:ce:a3:e3:4f:8a:7e:fb:f1:8b:
                Exponent: 65537 (0x10001)
        X509v3 extensions:
            X509v3 Key Usage: critical
                Certificate Sign, CRL Sign
            X509v3 Subject Key Identifier:
                60:7B:66:1A:45:0D:97:CA:89:50:2F:7D:04:CD:34:A8:FF:FC:FD:4B
            X509v3 Authority Key Identifier:
                keyid:60:7B:66:1A:45:0D:97:CA:89:50:2F:7D:04:CD:34:A8:FF:FC:FD:4B
    Signature Algorithm: sha1WithRSAEncryption
";

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
            EXPLAINED.to_owned() + &block("CERTIFICATE"),
            block("CERTIFICATE") + EXPLAINED,
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
            format!("the key of a\n{}", block("RSA PRIVATE KEY")),
            format!("subject=CN = a\n{certificate}a note\n{}", block("PRIVATE KEY")),
            format!("{certificate}key: -----BEGIN EC KEY-----\n"),
            format!("{certificate}---- BEGIN SSH2 KEY ----\n"),
            // Without a block around them.
            format!("{certificate}MIIEpAIBAAKCAQEA7b3Zq1Yx+2/kQ==\n"),
            format!("zLmTgXw0n9PqvR2sB7aYcQ\n{certificate}"),
            format!("{certificate}  6f1d0c9b8a7e5f4d3c2b1a0099887766\n"),
            format!("{certificate}Master-Key: 6F1D0C9B8A7E5F4D3C2B1A0099887766\n"),
            format!("{certificate}hmac_key = \"zLmTgXw0n9PqvR2sB7aYcQ==\"\n"),
            format!("{certificate}# password: a\n"),
            format!("Passphrase a\n{certificate}"),
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
