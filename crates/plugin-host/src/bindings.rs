//! The Rust side of the contract, generated: the current version, and the one before it. Nothing
//! outside this crate sees these types.

/// The current version: `sdk/wit`.
mod current {
    wasmtime::component::bindgen!({
        path: "../../sdk/wit",
        world: "plugin",
        imports: {
            "moss:plugin/editor": async,
            "moss:plugin/store": async,
            "moss:plugin/toolbox": async,
            "moss:plugin/index": async,
            "moss:plugin/commands": async,
        },
        exports: { default: async },
    });
}

/// The version before: `plugin-host/wit/0.1.0`.
pub(crate) mod previous {
    wasmtime::component::bindgen!({
        path: "wit/0.1.0",
        world: "plugin",
        exports: { default: async },
    });

    pub(crate) use self::exports::moss::plugin::tools;
    pub(crate) use self::moss::plugin::context;
}

pub(crate) use self::current::exports::moss::plugin::tools;
pub(crate) use self::current::moss::plugin::{
    commands, content, context, editor, index, store, toolbox, types,
};
pub(crate) use self::current::{Plugin, PluginPre};

/// What a tool returned.
pub(crate) type Returned = Result<tools::Outcome, types::Error>;

/// The interface that a component of the current version exports.
pub(crate) const EXPORT: &str = "moss:plugin/tools@0.2.0";
/// The same of the version before.
pub(crate) const EXPORT_PREVIOUS: &str = "moss:plugin/tools@0.1.0";
/// The same without a version, to distinguish a plugin for another moss from none.
pub(crate) const EXPORT_NAME: &str = "moss:plugin/tools";
