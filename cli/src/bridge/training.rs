//! What data for models is held to where no registry is named.

use moss_catalog::{SchemaForm, definition};
use moss_model_bridge::{Registry, RegistryError};
use moss_model_data::{Risk, Risks, asi_tools};
use moss_sdk::spec::Effect;

/// The registry that data for models is held to where none is named: the built-in tools with their
/// strict schemas, and those of the specification that this version of moss does not have.
///
/// # Errors
///
/// Where a schema cannot be compiled: a defect.
pub(super) fn training_registry() -> Result<Registry, RegistryError> {
    let specs = moss_builtin_tools::specs();
    let mut tools: Vec<_> = specs.iter().map(|spec| definition(spec, SchemaForm::Strict)).collect();
    let missing = asi_tools();
    let missing =
        missing.into_iter().filter(|tool| specs.iter().all(|spec| spec.name != tool.name));
    tools.extend(missing);
    Registry::new(tools)
}

/// What calls of the built-in tools and of those of the specification may do that a person has to
/// be asked about.
pub(super) fn risks() -> Risks {
    let mut risks = Risks::default();
    for spec in moss_builtin_tools::specs() {
        let risk = match spec.effect {
            // The name distinguishes deletions from other writes.
            _ if risks.of(&spec.name).is_some() => continue,
            Effect::Read => continue,
            Effect::Write => Risk::Write,
            Effect::Exec => Risk::Command,
        };
        risks.insert(spec.name, risk);
    }
    risks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_is_in_the_registry_once_and_risky_ones_are_known() {
        let registry = training_registry().unwrap();
        for tool in asi_tools() {
            assert!(registry.tool(&tool.name).is_some(), "{}", tool.name);
        }
        let risks = risks();
        for spec in moss_builtin_tools::specs() {
            assert!(registry.tool(&spec.name).is_some());
            let is_read = spec.effect == Effect::Read;
            assert_eq!(risks.of(&spec.name).is_none(), is_read, "{}", spec.name);
        }
        assert_eq!(risks.of("delete_file"), Some(Risk::Deletion));
    }

    #[test]
    fn schemas_of_the_specification_agree_with_those_of_the_tools() {
        let published = |name: &str| {
            let specs = moss_builtin_tools::specs();
            specs.into_iter().find(|spec| spec.name == name).map(|spec| spec.parameters)
        };
        for tool in asi_tools() {
            let Some(ours) = published(&tool.name) else { continue };
            let keys = |schema: &serde_json::Value| -> Vec<String> {
                let mut keys: Vec<_> =
                    schema["properties"].as_object().unwrap().keys().cloned().collect();
                keys.sort();
                keys
            };
            assert_eq!(keys(&tool.parameters), keys(&ours), "{}", tool.name);
        }
    }
}
