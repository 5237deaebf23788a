//! Fetching a component from the network before anybody saw it: asked about by its host. No standing
//! approval and no blanket yes allows it.

use std::sync::Arc;

use moss_plugin_list::{OciReference, Sha256Digest};
use moss_sdk::{ErrorCode, ToolError};

use super::Effects;
use super::ask::Ask;
use crate::call::held_records::OnRecord;
use crate::call::record;
use crate::call::stop::EffectStop;
use moss_dispatch::{
    Work,
    consent::{Consent, Fetched},
};
use moss_network::download;
use moss_plugins::registration;
use moss_policy::{Action, Verdict};

// === impl Effects ===

impl Effects {
    /// Decides about fetching a component: then the call is on record. None where it was fetched from there before. A
    /// person who names a URL has said yes.
    pub(super) async fn permit_download(
        &self,
        url: &str,
        sha256: Option<Sha256Digest>,
    ) -> Result<Option<OnRecord>, EffectStop> {
        let host = host_of(url)
            .map_err(|why| ToolError::new(ErrorCode::InvalidArguments, format!("{url}: {why}")))?;
        // What a registry says of a reference is asked each time.
        let is_fetched = |digest| registration::is_fetched(&self.scope.daemon.plugins, url, digest);
        if !OciReference::is_meant(url) && sha256.is_some_and(is_fetched) {
            return Ok(None);
        }
        let policy = self.scope.workspace.policy.load_full();
        let decision = self.decide(&policy, Action::Network, None);
        let recorded = record::decided(&self.scope, Action::Network, None, None, &decision).await;
        recorded?;
        // What a rule allows at large is no yes to this URL: a tool's caller may have made it up.
        match decision.verdict {
            Verdict::Deny => Err(self.denied(&decision).into()),
            _ if matches!(self.scope.call.work, Work::ChangePlugins(_)) => {
                Ok(Some(record::release(&self.scope).await?))
            }
            _ if self.scope.call.dry_run => {
                let message = format!("{url} was not fetched yet, and a dry run fetches nothing");
                Err(ToolError::new(ErrorCode::NotFound, message).into())
            }
            Verdict::Allow | Verdict::Ask => {
                let sha256 = sha256.map(|digest| digest.to_string());
                let consent = Consent::Fetch(Fetched { host, source: url.to_owned(), sha256 });
                let arguments = consent.to_json();
                let digest = self.digest_of("network", &arguments);
                let (arguments, consent) = (Some(arguments), Some(Arc::new(consent)));
                let ask = Ask { arguments, consent, ..Ask::of(digest, &decision) };
                Ok(Some(self.ask(ask).await?))
            }
        }
    }
}

/// The host that a URL or a reference leads to, with its port where it says one.
fn host_of(url: &str) -> Result<String, String> {
    if OciReference::is_meant(url) {
        let registry = OciReference::parse(url)?.registry;
        download::parse(&format!("https://{registry}/")).map_err(|error| error.to_string())?;
        return Ok(registry);
    }
    if !url.is_ascii() {
        return Err("a URL is in ASCII; a host of other letters is written as `xn--…`".to_owned());
    }
    let uri: http::Uri = url.parse().map_err(|_| "not a URL".to_owned())?;
    if uri.scheme_str() != Some("https") {
        return Err("not an `https://` URL".to_owned());
    }
    let authority = uri.authority().ok_or("it has no host")?;
    if authority.as_str().contains('@') {
        return Err("it has credentials in it".to_owned());
    }
    download::parse(url).map_err(|error| error.to_string())?;
    Ok(authority.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_is_asked_about_a_host_that_can_be_read() {
        assert_eq!(host_of("https://a.example:8443/p.wasm").unwrap(), "a.example:8443");
        let reference = format!("oci://ghcr.io/a/b@sha256:{}", "0".repeat(64));
        assert_eq!(host_of(&reference).unwrap(), "ghcr.io");
        for (url, why) in [
            ("https://\u{430}.example/p.wasm", "in ASCII"),
            ("https://a.example@b.example/p.wasm", "credentials"),
            ("http://a.example/p.wasm", "not an `https://`"),
            ("https://a.example\\@b.example/", "not a URL"),
            ("oci://ghcr.io/a/b:latest", "names no digest"),
            ("https://0x7f.1/p.wasm", "written in an ambiguous way"),
            ("https://2130706433/p.wasm", "written in an ambiguous way"),
            ("https://127.0.0.1./p.wasm", "written in an ambiguous way"),
        ] {
            let refused = host_of(url).unwrap_err();
            assert!(refused.contains(why), "{url}: {refused}");
        }
        let number = format!("oci://2130706433/a@sha256:{}", "0".repeat(64));
        assert!(host_of(&number).unwrap_err().contains("written in an ambiguous way"));
    }
}
