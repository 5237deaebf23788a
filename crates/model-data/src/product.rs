//! The product whose tools and forms of calls the data is about. Source: 000, 3.

use moss_model_bridge::ToolDefinition;

/// The version of the product whose tools [`asi_tools`] are. Source: 000, 3.
pub const PRODUCT_VERSION: &str = "v2.5.146";
/// The version of the specification of the source.
pub const SPEC_VERSION: &str = "v1.0";

/// The 22 tools of the source, each held to what its text says: closed, lines and counts whole,
/// values that are listed in prose as an enumeration. Source: 000, 3.4.
pub fn asi_tools() -> Vec<ToolDefinition> {
    serde_json::from_str(include_str!("asi-tools.json")).expect("the list is tested")
}
