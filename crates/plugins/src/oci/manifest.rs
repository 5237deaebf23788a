//! The manifest of an image that holds a component: which of its layers that is.

use moss_plugin_list::Sha256Digest;
use moss_sdk::deceptive::quoted;
use serde::Deserialize;

/// The media types that a registry may respond with. Some have nothing at the digest of an index for who does not
/// accept one, and then nobody learns that it is one.
pub(super) const MEDIA_TYPES: &str = "application/vnd.oci.image.manifest.v1+json, \
    application/vnd.docker.distribution.manifest.v2+json, application/vnd.oci.image.index.v1+json, \
    application/vnd.docker.distribution.manifest.list.v2+json";
/// Those of manifests of images.
const MANIFESTS: &[&str] = &[
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
];
/// The media types of layers that are components.
const COMPONENTS: &[&str] = &["application/wasm", "application/vnd.wasm.content.layer.v1+wasm"];
/// Most media types, and most digests, that an error shows.
const SHOWN_MAX: usize = 4;

/// The layer that is the component.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ComponentLayer {
    pub(crate) digest: Sha256Digest,
    /// How large it is, as the manifest says.
    pub(super) size_bytes: u64,
}

/// What is read of a manifest. Further keys are others' business.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OciManifest {
    schema_version: u64,
    media_type: Option<String>,
    #[serde(default)]
    layers: Vec<LayerOfManifest>,
    /// What an index has: it names manifests.
    manifests: Option<Vec<ManifestOfIndex>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ManifestOfIndex {
    #[serde(default)]
    media_type: String,
    #[serde(default)]
    digest: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LayerOfManifest {
    media_type: String,
    digest: String,
    size: u64,
}

/// Finds the component.
///
/// # Errors
///
/// Where it is no manifest of an image, or not exactly one of its layers is a component.
pub(super) fn component(bytes: &[u8]) -> Result<ComponentLayer, String> {
    // The error repeats what the manifest says.
    let manifest: OciManifest = serde_json::from_slice(bytes)
        .map_err(|error| format!("the manifest cannot be read: {}", quoted(&error.to_string())))?;
    if let Some(manifests) = &manifest.manifests {
        return Err(of_index(&manifest, manifests));
    }
    if manifest.schema_version != 2 {
        return Err(format!(
            "the manifest has the version {}, and this moss reads version 2",
            manifest.schema_version
        ));
    }
    let is_component = |layer: &&LayerOfManifest| COMPONENTS.contains(&layer.media_type.as_str());
    let components: Vec<_> = manifest.layers.iter().filter(is_component).collect();
    let layer = match components.as_slice() {
        [layer] => layer,
        [] => return Err(of_no_component(&manifest)),
        several => return Err(format!("{} of its layers are components, not one", several.len())),
    };
    let digest = layer.digest.strip_prefix("sha256:").and_then(Sha256Digest::parse);
    let digest = digest.ok_or("the component is named by something else than its SHA-256")?;
    Ok(ComponentLayer { digest, size_bytes: layer.size })
}

/// Why an index is not read, and what to name in its place. Which of its manifests is meant is not guessed.
fn of_index(index: &OciManifest, manifests: &[ManifestOfIndex]) -> String {
    let images = manifests.iter().filter(|one| MANIFESTS.contains(&one.media_type.as_str()));
    let digests = images.filter_map(|one| Sha256Digest::parse(one.digest.strip_prefix("sha256:")?));
    let digests: Vec<_> = digests.map(|digest| format!("@sha256:{digest}")).collect();
    let next = match digests.as_slice() {
        [] => "it names no such manifest by its SHA-256".to_owned(),
        [digest] => format!("name the one manifest in it, {digest}"),
        several => {
            let shown = &several[..several.len().min(SHOWN_MAX)];
            format!("name one of the {} manifests in it: {}", several.len(), shown.join(", "))
        }
    };
    let kind = type_of(index);
    format!(
        "the digest is that of an index ({kind}), and that of a manifest ({}) is expected: {next}",
        MANIFESTS[0]
    )
}

/// Why a manifest of something else is not read.
fn of_no_component(manifest: &OciManifest) -> String {
    let (kind, expected) = (type_of(manifest), COMPONENTS.join(" or "));
    let mut types: Vec<_> = manifest.layers.iter().map(|layer| &*layer.media_type).collect();
    types.sort_unstable();
    types.dedup();
    types.truncate(SHOWN_MAX);
    let found = if types.is_empty() { "no layers".to_owned() } else { shown(&types.join(", ")) };
    format!(
        "none of its layers is of the type {expected}: it is a manifest ({kind}) with {found}; \
         name that of a WebAssembly component"
    )
}

fn type_of(manifest: &OciManifest) -> String {
    manifest.media_type.as_deref().map_or_else(|| "no media type".to_owned(), shown)
}

/// A text of the registry, on one line.
fn shown(text: &str) -> String {
    quoted(text).replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn layer(kind: &str) -> Value {
        json!({ "mediaType": kind, "digest": format!("sha256:{}", "1".repeat(64)), "size": 7 })
    }

    fn of(layers: &[Value]) -> Result<ComponentLayer, String> {
        let manifest = json!({ "schemaVersion": 2, "config": {}, "layers": layers });
        component(manifest.to_string().as_bytes())
    }

    #[test]
    fn the_one_layer_of_wasm_is_the_component() {
        let digest = Sha256Digest::from_bytes([0x11; 32]);
        for kind in COMPONENTS {
            let found = of(&[layer("text/plain"), layer(kind)]);
            assert_eq!(found, Ok(ComponentLayer { digest, size_bytes: 7 }));
        }
    }

    #[test]
    fn what_names_no_component_is_refused_with_a_reason() {
        let named =
            |digest: String| json!({ "mediaType": COMPONENTS[0], "digest": digest, "size": 1 });
        let other = "something else than its SHA-256";
        for (layers, why) in [
            (vec![], "it is a manifest (no media type) with no layers; name that of"),
            (
                vec![layer("text/plain"), layer("text/css"), layer("text/plain")],
                "none of its layers is of the type application/wasm or \
                 application/vnd.wasm.content.layer.v1+wasm: it is a manifest (no media type) with \
                 text/css, text/plain; name that of a WebAssembly component",
            ),
            (vec![layer(COMPONENTS[0]), layer(COMPONENTS[1])], "2 of its layers are components"),
            (vec![named("sha512:00".to_owned())], other),
            (vec![named(format!("sha256:{}", "AB".repeat(32)))], other),
            (vec![named(format!("SHA256:{}", "ab".repeat(32)))], other),
            (vec![named("sha256:../../../../../../../../etc/passwd".to_owned())], other),
            (vec![json!({ "mediaType": COMPONENTS[0], "digest": "", "size": -1 })], "expected u64"),
        ] {
            assert!(of(&layers).unwrap_err().contains(why), "{why}");
        }
        for (text, why) in [
            (&b"<html>"[..], "the manifest cannot be read"),
            (br#"{"schemaVersion": 1}"#, "has the version 1"),
            (br#"{"schemaVersion": 2, "layers": [], "layers": []}"#, "duplicate field `layers`"),
        ] {
            assert!(component(text).unwrap_err().contains(why), "{why}");
        }
    }

    #[test]
    fn an_index_is_refused_with_the_manifests_to_name() {
        let [oci, docker] = [MANIFESTS[0], MANIFESTS[1]];
        let digest = |digit: &str| format!("sha256:{}", digit.repeat(64));
        let (one, two) = (digest("1"), digest("2"));
        let five: Vec<_> = ["1", "2", "3", "4", "5"].map(|digit| (oci, digest(digit))).to_vec();
        let four = five[..4].iter().map(|(_, digest)| format!("@{digest}")).collect::<Vec<_>>();
        for (manifests, next) in [
            (vec![], "it names no such manifest by its SHA-256".to_owned()),
            (vec![("text/plain", one.clone()), (oci, "sha512:1".to_owned())], "no such".to_owned()),
            (vec![("text/plain", two), (oci, one.clone())], format!("one manifest in it, @{one}")),
            (vec![(docker, one.clone())], format!("name the one manifest in it, @{one}")),
            (five, format!("name one of the 5 manifests in it: {}", four.join(", "))),
        ] {
            let named = |(kind, digest): &(&str, String)| json!({ "mediaType": kind, "digest": digest, "size": 1 });
            let kind = "application/vnd.oci.image.index.v1+json";
            let manifests: Vec<_> = manifests.iter().map(named).collect();
            let index = json!({ "schemaVersion": 2, "mediaType": kind, "manifests": manifests });
            let why = component(index.to_string().as_bytes()).unwrap_err();
            let expected =
                format!("that of an index ({kind}), and that of a manifest ({oci}) is expected: ");
            assert!(why.contains(&expected) && why.contains(&next), "{why}");
        }
    }

    #[test]
    fn an_error_repeats_little_of_a_manifest() {
        let hostile = "\u{1b}\nx".repeat(1 << 20);
        let version = json!({ "schemaVersion": &hostile });
        let types =
            json!({ "schemaVersion": 2, "mediaType": &hostile, "layers": [layer(&hostile)] });
        for (manifest, part) in [(version, "invalid type: string"), (types, "none of its layers")] {
            let why = component(manifest.to_string().as_bytes()).unwrap_err();
            assert!(why.contains(part) && why.len() < 20_000, "{} bytes", why.len());
            assert!(!why.contains('\u{1b}'), "{part}");
        }
    }
}
