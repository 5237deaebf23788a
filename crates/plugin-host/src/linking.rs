//! From the bytes of a component to code that is linked and has a face.

use std::sync::Arc;

use bytes::Bytes;
use wasmtime::component::{Component, InstancePre};

use crate::bindings::{EXPORT, EXPORT_NAME, EXPORT_PREVIOUS};
use crate::code::{self, CodeId};
use crate::engine::Engine;
use crate::error::LoadError;
use crate::face::Face;
use crate::instance::{self, StoreData};
use crate::plain::{self, Docs, Plain};
use moss_plugin_list::{PluginEntry, Sha256Digest};
use moss_sdk::deceptive::quoted;

/// Checks the bytes and makes code of them.
pub(crate) async fn face(
    engine: &Engine,
    entry: &PluginEntry,
    bytes: Vec<u8>,
) -> Result<(Sha256Digest, Face), LoadError> {
    let component = Bytes::from(bytes);
    let (checked, pinned) = (component.clone(), entry.sha256);
    let digest = blocking(move || code::check(&checked, pinned)).await?;
    let id = CodeId::new(engine.id(), digest);
    let code = engine.compiler().code(&entry.name, id, component.clone()).await?;
    let (engine, name) = (engine.clone(), entry.name.clone());
    let face =
        blocking(move || link(&engine, &name, &component, &code.load(engine.wasm())?)).await?;
    Ok((digest, face))
}

/// Does work that holds a thread for long.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, LoadError> + Send + 'static,
) -> Result<T, LoadError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(LoadError::Compiler(error.to_string())))
}

/// Links code with what is served.
fn link(
    engine: &Engine,
    name: &str,
    bytes: &[u8],
    component: &Component,
) -> Result<Face, LoadError> {
    let link = face_of(engine, component, name, &plain::docs(bytes))?;
    let linker = instance::linker(engine)
        .map_err(|error| LoadError::Import(quoted(&format!("{error:#}"))))?;
    let code = linker
        .instantiate_pre(component)
        .map_err(|error| LoadError::Import(quoted(&format!("{error:#}"))))?;
    link(code).map_err(|error| LoadError::Export(quoted(&format!("{error:#}"))))
}

/// Makes a face of linked code.
type Link = Box<dyn FnOnce(InstancePre<StoreData>) -> wasmtime::Result<Face>>;

/// Looks for the plugin interface, and for ordinary functions if it is missing.
fn face_of(
    engine: &Engine,
    component: &Component,
    name: &str,
    docs: &Docs,
) -> Result<Link, LoadError> {
    let kind = component.component_type();
    let exports: Vec<&str> = kind.exports(engine.wasm()).map(|(name, _)| name).collect();
    if exports.contains(&EXPORT) {
        return Ok(Box::new(Face::current));
    }
    if exports.contains(&EXPORT_PREVIOUS) {
        return Ok(Box::new(Face::previous));
    }
    let other = exports.iter().find(|name| name.split('@').next() == Some(EXPORT_NAME));
    if let Some(other) = other {
        return Err(LoadError::Export(format!(
            "the component exports `{}`, but this moss serves `{EXPORT}` and \
             `{EXPORT_PREVIOUS}`; build it with a matching SDK",
            quoted(other)
        )));
    }
    let plain = Plain::of(engine, component, name, docs).map_err(LoadError::Export)?;
    Ok(Box::new(move |code| Ok(Face::Plain(code, Arc::new(plain)))))
}
