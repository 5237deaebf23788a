//! The Rust side of `sdk/wit`, generated. Nothing outside this crate sees these types.

wasmtime::component::bindgen!({
    path: "../sdk/wit",
    world: "plugin",
    exports: { default: async },
});

pub(crate) use self::exports::moss::plugin::tools;
pub(crate) use self::moss::plugin::context;

/// The interface that a component must export to be a plugin.
pub(crate) const EXPORT: &str = "moss:plugin/tools@0.1.0";
/// The same without its version, to tell an old plugin from none.
pub(crate) const EXPORT_NAME: &str = "moss:plugin/tools";
