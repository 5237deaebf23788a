//! Components in registries of OCI images: the manifest by its digest, then the one layer that is a
//! component. Everything comes through the one door to the network. Nobody logs in: a registry that
//! demands a token gives one to whoever asks, or it is of no use here.

mod challenge;
mod manifest;

use moss_plugin_list::{OciReference, Sha256Digest};
use moss_sdk::deceptive::quoted;
use reqwest::Url;

use self::challenge::Challenge;
pub(super) use self::manifest::ComponentLayer;
use crate::environment::Environment;
use moss_network::RequestBounds;
use moss_network::download::{Download, DownloadResult, OnBytes};

/// Largest manifest, in bytes: registries take no larger ones.
const MANIFEST_BYTES_MAX: u64 = 4 << 20;
/// Largest response of who gives tokens, in bytes.
const TOKEN_BYTES_MAX: u64 = 64 << 10;

/// A registry while a component is pulled from it.
struct OciRegistry<'a> {
    environment: &'a Environment,
    reference: &'a OciReference,
    /// Asked for at most once.
    token: Option<String>,
}

/// What is asked of a registry.
struct RegistryRequest<'a> {
    /// The path beneath the repository.
    path: String,
    accept: Option<&'a str>,
    bytes_max: u64,
}

/// Says which component a manifest names.
///
/// # Errors
///
/// Why the manifest is not to be had, or names no component.
pub(super) async fn layer(
    environment: &Environment,
    reference: &OciReference,
) -> Result<ComponentLayer, String> {
    let mut registry = OciRegistry { environment, reference, token: None };
    registry.layer().await.map_err(|why| format!("{reference}: {why}"))
}

/// Gets the component that a manifest names, which must have this digest.
///
/// # Errors
///
/// As [`layer`]; where the component is not to be had, or is another one.
pub(super) async fn pull(
    environment: &Environment,
    reference: &OciReference,
    digest: Sha256Digest,
    on_bytes: OnBytes<'_>,
) -> Result<Vec<u8>, String> {
    let mut registry = OciRegistry { environment, reference, token: None };
    let pulled = registry.pull(digest, on_bytes).await;
    pulled.map_err(|why| format!("{reference}: {why}"))
}

// === impl OciRegistry ===

impl OciRegistry<'_> {
    async fn layer(&mut self) -> Result<ComponentLayer, String> {
        let digest = self.reference.manifest;
        let asked = RegistryRequest {
            path: format!("manifests/sha256:{digest}"),
            accept: Some(manifest::MEDIA_TYPES),
            bytes_max: MANIFEST_BYTES_MAX,
        };
        let bytes = self.get(&asked, &|_, _| {}).await.map_err(|why| format!("manifest: {why}"))?;
        let found = Sha256Digest::of(&bytes);
        if found != digest {
            return Err(format!("the registry responded with a manifest of the digest {found}"));
        }
        manifest::component(&bytes)
    }

    async fn pull(
        &mut self,
        digest: Sha256Digest,
        on_bytes: OnBytes<'_>,
    ) -> Result<Vec<u8>, String> {
        let layer = self.layer().await?;
        let named = layer.digest;
        if named != digest {
            return Err(format!("its component has the sha256 {named}, but {digest} is asked for"));
        }
        let bytes_max = self.environment.settings().component_bytes_max;
        if layer.size_bytes > bytes_max {
            let (size, mebibytes_max) = (layer.size_bytes, bytes_max >> 20);
            return Err(format!("{size} bytes, at most {mebibytes_max}MiB are loaded"));
        }
        let asked =
            RegistryRequest { path: format!("blobs/sha256:{digest}"), accept: None, bytes_max };
        let bytes = self.get(&asked, on_bytes).await.map_err(|why| format!("component: {why}"))?;
        match Sha256Digest::of(&bytes) {
            found if found == digest => Ok(bytes),
            found => Err(format!("the registry responded with a component of the sha256 {found}")),
        }
    }

    /// Gets something of the repository; with a token where the registry demands one.
    async fn get(
        &mut self,
        asked: &RegistryRequest<'_>,
        on_bytes: OnBytes<'_>,
    ) -> Result<Vec<u8>, String> {
        let challenges = match self.ask(asked, on_bytes).await? {
            DownloadResult::File(bytes) => return Ok(bytes),
            DownloadResult::Challenge(challenges) if self.token.is_none() => challenges,
            DownloadResult::Challenge(_) => return Err(refused()),
        };
        let challenge = challenges.iter().find_map(|text| Challenge::parse(text));
        let challenge = challenge.ok_or_else(|| {
            "the registry demands something else than a token, and moss does not log in to registries".to_owned()
        })?;
        self.token = Some(self.token(&challenge).await?);
        match self.ask(asked, on_bytes).await? {
            DownloadResult::File(bytes) => Ok(bytes),
            DownloadResult::Challenge(_) => Err(refused()),
        }
    }

    async fn ask(
        &self,
        asked: &RegistryRequest<'_>,
        on_bytes: OnBytes<'_>,
    ) -> Result<DownloadResult, String> {
        let OciReference { registry, repository, .. } = self.reference;
        let url = format!("https://{registry}/v2/{repository}/{}", asked.path);
        let download = Download {
            url: &url,
            // A person wrote the reference, or agreed to it.
            may_be_private: true,
            bounds: self.bounds(asked.bytes_max),
            accept: asked.accept,
            token: self.token.as_deref(),
        };
        let fetched = self.environment.network.ask(download, on_bytes).await;
        fetched.map_err(|error| error.to_string())
    }

    /// Asks for a token as anybody can.
    async fn token(&self, challenge: &Challenge) -> Result<String, String> {
        let realm = &challenge.realm;
        let place = quoted(realm);
        let failed = |why: String| format!("the registry sends to {place} for a token: {why}");
        let mut url = Url::parse(realm).map_err(|error| failed(error.to_string()))?;
        if url.scheme() != "https" {
            return Err(failed("that is not https".to_owned()));
        }
        let scope = format!("repository:{}:pull", self.reference.repository);
        if let Some(service) = &challenge.service {
            url.query_pairs_mut().append_pair("service", service);
        }
        url.query_pairs_mut().append_pair("scope", challenge.scope.as_ref().unwrap_or(&scope));
        let home = Url::parse(&format!("https://{}/", self.reference.registry)).ok();
        let download = Download {
            url: url.as_str(),
            // Nobody named another host than that of the registry.
            may_be_private: home.is_some_and(|home| home.origin() == url.origin()),
            bounds: self.bounds(TOKEN_BYTES_MAX),
            accept: None,
            token: None,
        };
        let bytes = self.environment.network.download(download, &|_, _| {}).await;
        let bytes = bytes.map_err(|error| failed(error.to_string()))?;
        challenge::token(&bytes).ok_or_else(|| failed("the response has none".to_owned()))
    }

    fn bounds(&self, bytes_max: u64) -> RequestBounds {
        RequestBounds { response_bytes_max: bytes_max, ..self.environment.settings().bounds }
    }
}

fn refused() -> String {
    "the registry does not give it to anonymous clients, and moss does not log in to registries"
        .to_owned()
}
