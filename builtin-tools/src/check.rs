//! Calls tools in tests as the daemon does: by name, with arguments that fit the strict schema,
//! with a result that fits the declared one.

use moss_sdk::testing::MemoryHost;
use moss_sdk::{ErrorCode, ToolError};
use serde_json::Value;

/// Calls a tool of the table.
pub(crate) fn call(host: &MemoryHost, name: &str, arguments: Value) -> Result<Value, ToolError> {
    let tool = crate::all()
        .into_iter()
        .find(|tool| tool.spec().name == name)
        .unwrap_or_else(|| panic!("{name} is not in the table"));
    let spec = tool.spec();
    fits(&spec.parameters_strict, &arguments);
    let output = host.call(tool.as_ref(), arguments)?;
    fits(&spec.output, &output);
    Ok(output)
}

/// Calls a tool that must fail, without writing; returns how.
pub(crate) fn refused(host: &MemoryHost, name: &str, arguments: Value) -> ToolError {
    let shown = arguments.to_string();
    match call(host, name, arguments) {
        Ok(output) => panic!("{name} {shown} gave {output}"),
        Err(error) => {
            assert_ne!(error.code, ErrorCode::Internal, "{name} {shown}: {error}");
            assert_eq!(host.proposals(), [], "{name} {shown} proposed changes, then failed");
            error
        }
    }
}

fn fits(schema: &Value, value: &Value) {
    let validator = jsonschema::validator_for(schema).expect("the schema is one");
    let errors: Vec<String> = validator.iter_errors(value).map(|e| e.to_string()).collect();
    assert!(errors.is_empty(), "{value} does not fit its schema: {errors:?}");
}
