//! What a person is asked to agree to of plugins, as wire types. Each of our types is taken apart
//! whole: what is added to one and is not passed on does not compile.

use moss_proto::v1;
use serde_json::{Map, Value};

use moss_dispatch::consent::{
    Accepted, Added, Allowed, CapabilityRequest, ChangeStage, Component, Consent, Fetched,
    Inspection, ListedPlugin, Look, PluginsChanged, Removed, SinceServed, ToolDescription, Trusted,
};
use moss_sdk::Effect;

pub(super) fn plugins_changed(changed: &PluginsChanged) -> v1::PluginsChanged {
    let PluginsChanged { consent, stage } = changed;
    let not_loaded_because = match stage {
        ChangeStage::Shown => None,
        ChangeStage::Applied { loaded: _, not_loaded_because } => not_loaded_because.clone(),
    };
    v1::PluginsChanged {
        consent: Some(to_proto(consent)),
        applied: stage.is_applied(),
        loaded: stage.is_loaded(),
        not_loaded_because: not_loaded_because.unwrap_or_default(),
    }
}

pub(super) fn to_proto(consent: &Consent) -> v1::Consent {
    use v1::ConsentKind as Kind;
    match consent {
        Consent::Add(added) => self::added(Kind::Add, added),
        Consent::Replace(added) => self::added(Kind::Replace, added),
        Consent::Accept(accepted) => self::accepted(accepted),
        Consent::Remove(removed) => self::removed(removed),
        Consent::Trust(trusted) => self::trusted(trusted),
        Consent::Untrust { list } => {
            v1::Consent { kind: Kind::Untrust.into(), list: list.clone(), ..Default::default() }
        }
        Consent::Fetch(fetched) => self::fetched(fetched),
    }
}

fn added(kind: v1::ConsentKind, added: &Added) -> v1::Consent {
    let Added {
        name,
        source,
        signed_by,
        component,
        granted,
        allowed,
        withheld,
        config,
        reason,
        list,
    } = added;
    let plugin = v1::ConsentPlugin {
        name: name.clone(),
        source: source.clone(),
        signed_by: signed_by.clone().unwrap_or_default(),
        granted: granted.clone(),
        grants_requested: withheld.is_some(),
        withheld: withheld.clone().unwrap_or_default(),
        config_json: settings(config),
        ..found(component, allowed)
    };
    v1::Consent {
        kind: kind.into(),
        list: list.clone(),
        plugins: vec![plugin],
        reason: reason.clone(),
        ..Default::default()
    }
}

fn accepted(accepted: &Accepted) -> v1::Consent {
    let Accepted { name, source, pinned, signed_by, component, granted, allowed, list } = accepted;
    let plugin = v1::ConsentPlugin {
        name: name.clone(),
        source: source.clone(),
        pinned_sha256: pinned.clone().unwrap_or_default(),
        signed_by: signed_by.clone().unwrap_or_default(),
        granted: granted.clone(),
        ..found(component, allowed)
    };
    v1::Consent {
        kind: v1::ConsentKind::Accept.into(),
        list: list.clone(),
        plugins: vec![plugin],
        ..Default::default()
    }
}

fn removed(removed: &Removed) -> v1::Consent {
    let Removed { name, sha256, store_keys, forgets_store, list } = removed;
    let plugin = v1::ConsentPlugin {
        name: name.clone(),
        sha256: sha256.clone().unwrap_or_default(),
        ..Default::default()
    };
    v1::Consent {
        kind: v1::ConsentKind::Remove.into(),
        list: list.clone(),
        plugins: vec![plugin],
        store_keys: *store_keys,
        forgets_store: *forgets_store,
        ..Default::default()
    }
}

fn trusted(trusted: &Trusted) -> v1::Consent {
    let Trusted { list, list_blake3, plugins, since_trusted } = trusted;
    v1::Consent {
        kind: v1::ConsentKind::Trust.into(),
        list: list.clone(),
        plugins: plugins.iter().map(listed).collect(),
        list_blake3: list_blake3.clone(),
        since_trusted: since_trusted.clone(),
        ..Default::default()
    }
}

fn listed(plugin: &ListedPlugin) -> v1::ConsentPlugin {
    let ListedPlugin { name, source, pinned, granted, limits, config, look } = plugin;
    let looked = match look {
        Look::Found(looked) => {
            let Inspection { signed_by, component, allowed } = &**looked;
            let signed_by = signed_by.clone().unwrap_or_default();
            v1::ConsentPlugin { signed_by, ..found(component, allowed) }
        }
        Look::Problem { problem } => {
            v1::ConsentPlugin { problem: problem.clone(), ..Default::default() }
        }
    };
    v1::ConsentPlugin {
        name: name.clone(),
        source: source.clone(),
        pinned_sha256: pinned.clone().unwrap_or_default(),
        granted: granted.clone(),
        limits: limits.clone(),
        config_json: settings(config),
        ..looked
    }
}

fn fetched(fetched: &Fetched) -> v1::Consent {
    let Fetched { host, source, sha256 } = fetched;
    let plugin = v1::ConsentPlugin {
        source: source.clone(),
        sha256: sha256.clone().unwrap_or_default(),
        ..Default::default()
    };
    v1::Consent {
        kind: v1::ConsentKind::Fetch.into(),
        host: host.clone(),
        plugins: vec![plugin],
        ..Default::default()
    }
}

/// The part of a plugin that its component says, and what comes of it.
fn found(component: &Component, allowed: &Allowed) -> v1::ConsentPlugin {
    let Component { version, sha256, tools, left_out, requested } = component;
    let Allowed { may, may_not, capped, without_effect, since_served } = allowed;
    let component = v1::ConsentComponent {
        version: version.clone(),
        tools: tools.iter().map(tool).collect(),
        left_out: left_out.clone(),
        requested: requested.iter().map(request).collect(),
        may: may.clone(),
        may_not: may_not.clone(),
        capped: capped.clone(),
        without_effect: without_effect.clone(),
        since_served: since_served.as_ref().map(differences),
    };
    let component = Some(component);
    v1::ConsentPlugin { sha256: sha256.clone(), component, ..Default::default() }
}

fn tool(tool: &ToolDescription) -> v1::ConsentTool {
    let ToolDescription { name, own_name, title, description, effect, parameters, output } = tool;
    let effect = match effect {
        Effect::Read => "read",
        Effect::Write => "write",
        Effect::Exec => "exec",
    };
    v1::ConsentTool {
        name: name.clone(),
        own_name: own_name.clone().unwrap_or_default(),
        title: title.clone(),
        description: description.clone(),
        effect: effect.to_owned(),
        parameters_json: parameters.to_string(),
        output_json: output.to_string(),
    }
}

fn request(request: &CapabilityRequest) -> v1::ConsentRequest {
    let CapabilityRequest { capability, reason } = request.clone();
    v1::ConsentRequest { capability, reason }
}

fn differences(since: &SinceServed) -> v1::ConsentDifferences {
    let SinceServed { differences, texts, same_component } = since.clone();
    let texts_diff = texts.unwrap_or_default();
    v1::ConsentDifferences { differences, texts_diff, same_component }
}

/// The JSON of settings; empty where there are none.
fn settings(config: &Map<String, Value>) -> String {
    if config.is_empty() {
        return String::new();
    }
    serde_json::to_string(config).expect("keys are texts")
}
