//! Detached signatures of components, as minisign makes them.

use minisign_verify::{PublicKey, Signature};
use moss_plugin_list::Sha256Digest;
use tokio::task::spawn_blocking;

use crate::component::{self, ComponentSource};

/// Largest signature file, in bytes.
pub(super) const SIGNATURE_BYTES_MAX: u64 = 4 << 10;
/// Where the name of a key stands in what is encoded.
const KEY_ID: std::ops::Range<usize> = 2..10;
/// The alphabet of base64.
const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Holds bytes to a signature by one of the signers. Returns the name of the key that signed.
///
/// # Errors
///
/// Where it is no signature, is by somebody else or of something else.
pub(super) fn check(bytes: &[u8], text: &str, signers: &[String]) -> Result<String, String> {
    let signature =
        Signature::decode(text).map_err(|error| format!("not a valid signature: {error}"))?;
    let by = text.lines().nth(1).and_then(key_id).unwrap_or_default();
    let named = |signer: &&String| key_id(signer).as_deref() == Some(&by);
    let Some(signer) = signers.iter().find(named) else {
        let known: Vec<_> = signers.iter().filter_map(|signer| key_id(signer)).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        return Err(format!(
            "the signature is by the key {by}, which is not a signer; signers are: {known} \
             (plugins.signers)"
        ));
    };
    let key = PublicKey::from_base64(signer)
        .map_err(|error| format!("the key of the signer {by} is not valid: {error}"))?;
    match key.verify(bytes, &signature, false) {
        Ok(()) => Ok(by),
        Err(error) => Err(format!("the signature by the key {by} is not of this file: {error}")),
    }
}

/// Names what a signature file holds; `None` if it cannot be read.
pub(super) async fn digest(file: Option<ComponentSource>) -> Option<Sha256Digest> {
    let file = file?;
    let read = spawn_blocking(move || component::read(&file, SIGNATURE_BYTES_MAX, None));
    Some(Sha256Digest::of(&read.await.ok()?.ok()?.bytes?))
}

/// Holds bytes to the signature in a file, where there is one. Returns the name of the key.
///
/// # Errors
///
/// As [`check`]; where the file cannot be read.
pub(super) async fn check_file(
    file: Option<ComponentSource>,
    bytes: &[u8],
    signers: &[String],
) -> Result<Option<String>, String> {
    let Some(file) = file else { return Ok(None) };
    let read = spawn_blocking(move || {
        let read = component::read(&file, SIGNATURE_BYTES_MAX, None)?;
        String::from_utf8(read.bytes.unwrap_or_default())
            .map_err(|_| format!("{}: not text", file.path().display()))
    });
    let text = read.await.unwrap_or_else(|error| Err(error.to_string()))?;
    check(bytes, &text, signers).map(Some)
}

/// The name of a key as minisign writes it, of an encoded key or signature.
fn key_id(encoded: &str) -> Option<String> {
    let bytes = decode(encoded.trim().as_bytes())?;
    let id = bytes.get(KEY_ID)?;
    Some(id.iter().rev().map(|byte| format!("{byte:02X}")).collect())
}

/// Decodes base64 as far as it is needed for a name.
fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    for chunk in text.chunks_exact(4).take(KEY_ID.end.div_ceil(3)) {
        let mut value = 0u32;
        for character in chunk {
            let digit = BASE64.iter().position(|known| known == character)?;
            value = value << 6 | u32::try_from(digit).ok()?;
        }
        bytes.extend_from_slice(&value.to_be_bytes()[1..]);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the tests of minisign-verify: the text `test`.
    const KEY: &str = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";
    const SIGNED: &str = "untrusted comment: signature from minisign secret key\n\
        RUQf6LRCGA9i559r3g7V1qNyJDApGip8MfqcadIgT9CuhV3EMhHoN1mGTkUidF/\
        z7SrlQgXdy8ofjb7bNJJylDOocrCo8KLzZwo=\n\
        trusted comment: timestamp:1633700835\tfile:test\tprehashed\n\
        wLMDjy9FLAuxZ3q4NlEvkgtyhrr0gtTu6KC4KBJdITbbOeAi1zBIYo0v4iTgt8jJpIidRJnp94ABQkJAgAooBQ==\n";

    #[test]
    fn what_a_signer_signed_passes_and_nothing_else() {
        let signers = [KEY.to_owned()];
        assert_eq!(check(b"test", SIGNED, &signers).unwrap(), "E7620F1842B4E81F");
        let refused =
            |bytes: &[u8], text: &str, signers: &[String]| check(bytes, text, signers).unwrap_err();
        assert!(refused(b"Test", SIGNED, &signers).contains("is not of this file"));
        assert!(refused(b"test", "no signature", &signers).contains("not a valid signature"));
        let foreign = refused(b"test", SIGNED, &[]);
        assert!(foreign.contains("by the key E7620F1842B4E81F"), "{foreign}");
        assert!(foreign.contains("signers are: none"), "{foreign}");
    }
}
