//! The manifest of an image that holds a component: which of its layers that is.

use moss_plugin_list::Sha256Digest;
use moss_sdk::deceptive::quoted;
use serde::Deserialize;

/// The media types of manifests that are read.
pub(super) const MEDIA_TYPES: &str = "application/vnd.oci.image.manifest.v1+json";
/// The media types of layers that are components.
const COMPONENTS: &[&str] = &["application/wasm", "application/vnd.wasm.content.layer.v1+wasm"];

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
    #[serde(default)]
    layers: Vec<LayerOfManifest>,
    /// What an index has: it names manifests.
    manifests: Option<serde::de::IgnoredAny>,
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
    if manifest.manifests.is_some() {
        return Err("the digest is that of an index; name one of the manifests in it".to_owned());
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
        [] => return Err(format!("none of its layers is of the type {}", COMPONENTS.join(" or "))),
        several => return Err(format!("{} of its layers are components, not one", several.len())),
    };
    let digest = layer.digest.strip_prefix("sha256:").and_then(Sha256Digest::parse);
    let digest = digest.ok_or("the component is named by something else than its SHA-256")?;
    Ok(ComponentLayer { digest, size_bytes: layer.size })
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
            (vec![], "none of its layers is of the type application/wasm"),
            (vec![layer("text/plain")], "none of its layers"),
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
            (br#"{"schemaVersion": 2, "manifests": []}"#, "that of an index"),
            (br#"{"schemaVersion": 1}"#, "has the version 1"),
            (br#"{"schemaVersion": 2, "layers": [], "layers": []}"#, "duplicate field `layers`"),
        ] {
            assert!(component(text).unwrap_err().contains(why), "{why}");
        }
    }

    #[test]
    fn an_error_repeats_little_of_a_manifest() {
        let manifest = json!({ "schemaVersion": "\u{1b}x".repeat(1 << 20) }).to_string();
        let why = component(manifest.as_bytes()).unwrap_err();
        assert!(why.contains("invalid type: string") && why.len() < 2000, "{} bytes", why.len());
    }
}
