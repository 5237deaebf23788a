//! The faces that a component can show: a plugin of the current contract, of the one before, or
//! ordinary functions. Every face describes itself and is called in the words of the current one.

use std::sync::Arc;

use wasmtime::Store;
use wasmtime::component::{Instance, InstancePre};

use crate::bindings::{self, Returned, previous, tools, types};
use crate::instance::StoreData;
use crate::plain::Plain;

/// Linked code, by the face of its component.
#[derive(Clone)]
pub(crate) enum Face {
    /// A plugin of the current contract.
    Current(bindings::PluginPre<StoreData>),
    /// A plugin of the contract before.
    Previous(previous::PluginPre<StoreData>),
    /// A component with ordinary functions.
    Plain(InstancePre<StoreData>, Arc<Plain>),
}

/// An instance, by the face of its component.
pub(crate) enum LiveInstance {
    Current(bindings::Plugin),
    Previous(previous::Plugin),
    Plain(Instance, Arc<Plain>),
}

// === impl Face ===

impl Face {
    pub(crate) fn current(code: InstancePre<StoreData>) -> wasmtime::Result<Self> {
        bindings::PluginPre::new(code).map(Self::Current)
    }

    pub(crate) fn previous(code: InstancePre<StoreData>) -> wasmtime::Result<Self> {
        previous::PluginPre::new(code).map(Self::Previous)
    }

    /// What of the component is no tool, each with the reason.
    pub(crate) fn left_out(&self) -> &[String] {
        match self {
            Self::Current(_) | Self::Previous(_) => &[],
            Self::Plain(_, plain) => plain.left_out(),
        }
    }

    /// Makes an instance and asks it what it is.
    pub(crate) async fn describe(
        &self,
        store: &mut Store<StoreData>,
    ) -> wasmtime::Result<tools::Description> {
        match self {
            Self::Current(code) => {
                let instance = code.instantiate_async(&mut *store).await?;
                instance.moss_plugin_tools().call_describe(store).await
            }
            Self::Previous(code) => {
                let instance = code.instantiate_async(&mut *store).await?;
                Ok(instance.moss_plugin_tools().call_describe(store).await?.into())
            }
            Self::Plain(code, plain) => {
                code.instantiate_async(&mut *store).await?;
                Ok(plain.describe())
            }
        }
    }

    /// Makes an instance in a store, which it shares with nobody.
    pub(crate) async fn instantiate(
        &self,
        store: &mut Store<StoreData>,
    ) -> wasmtime::Result<LiveInstance> {
        Ok(match self {
            Self::Current(code) => LiveInstance::Current(code.instantiate_async(store).await?),
            Self::Previous(code) => LiveInstance::Previous(code.instantiate_async(store).await?),
            Self::Plain(code, plain) => {
                LiveInstance::Plain(code.instantiate_async(store).await?, Arc::clone(plain))
            }
        })
    }
}

// === impl LiveInstance ===

impl LiveInstance {
    /// Runs a tool in it.
    pub(crate) async fn call(
        &self,
        store: &mut Store<StoreData>,
        tool: &str,
        arguments: &str,
        output_bytes_max: usize,
    ) -> wasmtime::Result<Returned> {
        match self {
            Self::Current(instance) => {
                instance.moss_plugin_tools().call_call(store, tool, arguments).await
            }
            Self::Previous(instance) => {
                let returned =
                    instance.moss_plugin_tools().call_call(store, tool, arguments).await?;
                Ok(returned.map(Into::into).map_err(Into::into))
            }
            Self::Plain(instance, plain) => {
                plain.call(instance, store, tool, arguments, output_bytes_max).await
            }
        }
    }
}

// === impl Description ===

impl From<previous::tools::Description> for tools::Description {
    fn from(old: previous::tools::Description) -> Self {
        Self {
            name: old.name,
            version: old.version,
            capabilities: old.capabilities.into_iter().map(Into::into).collect(),
            settings: None,
            tools: old.tools.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<previous::tools::Capability> for tools::Capability {
    fn from(old: previous::tools::Capability) -> Self {
        let kind = if old.kind == "fs.read" { "fs".to_owned() } else { old.kind };
        Self { kind, scope: old.scope, reason: old.reason }
    }
}

impl From<previous::tools::Tool> for tools::Tool {
    fn from(old: previous::tools::Tool) -> Self {
        Self {
            name: old.name,
            title: old.title,
            description: old.description,
            effect: match old.effect {
                previous::tools::Effect::Read => tools::Effect::Read,
                previous::tools::Effect::Write => tools::Effect::Write,
            },
            parameters: old.parameters,
            output: old.output,
            annotations: tools::Annotations {
                destructive: None,
                idempotent: None,
                open_world: None,
            },
            examples: Vec::new(),
        }
    }
}

// === impl Outcome ===

impl From<previous::tools::Outcome> for tools::Outcome {
    fn from(old: previous::tools::Outcome) -> Self {
        Self { output: old.output, edits: old.edits.into_iter().map(Into::into).collect() }
    }
}

impl From<previous::tools::Edit> for tools::Edit {
    fn from(old: previous::tools::Edit) -> Self {
        use previous::tools::Edit as Old;
        match old {
            Old::Create(edit) => {
                Self::Create(tools::CreateFile { path: edit.path, content: edit.content })
            }
            Old::Write(edit) => Self::Write(tools::WriteFile {
                path: edit.path,
                expected_hash: edit.expected_hash,
                content: edit.content,
            }),
            Old::ReplaceText(edit) => Self::ReplaceText(tools::ReplaceText {
                path: edit.path,
                old_text: edit.old_text,
                new_text: edit.new_text,
            }),
            Old::Delete(edit) => Self::Delete(tools::DeleteFile {
                path: edit.path,
                expected_hash: edit.expected_hash,
            }),
        }
    }
}

// === impl Error ===

impl From<previous::tools::Error> for types::Error {
    fn from(old: previous::tools::Error) -> Self {
        use previous::tools::ErrorCode as Old;
        let code = match old.code {
            Old::InvalidArguments => types::ErrorCode::InvalidArguments,
            Old::InvalidPath => types::ErrorCode::InvalidPath,
            Old::NotFound => types::ErrorCode::NotFound,
            Old::AlreadyExists => types::ErrorCode::AlreadyExists,
            Old::NotAFile => types::ErrorCode::NotAFile,
            Old::NotADirectory => types::ErrorCode::NotADirectory,
            Old::Binary => types::ErrorCode::Binary,
            Old::Encoding => types::ErrorCode::Encoding,
            Old::TooLarge => types::ErrorCode::TooLarge,
            Old::OutOfRange => types::ErrorCode::OutOfRange,
            Old::NoMatch => types::ErrorCode::NoMatch,
            Old::Ambiguous => types::ErrorCode::Ambiguous,
            Old::NoChange => types::ErrorCode::NoChange,
            Old::Conflict => types::ErrorCode::Conflict,
            Old::LimitExceeded => types::ErrorCode::LimitExceeded,
            Old::Io => types::ErrorCode::Io,
            Old::Failed => types::ErrorCode::Failed,
        };
        Self { code, message: old.message, hint: old.hint }
    }
}
