//! Compiled code: who makes it, how it is sealed, and the only place where it becomes executable.
//!
//! Compiling is done by a [`Compiler`], which may do it in another process and keep the result: for
//! that there is a form that can be written down, sealed with a key. Nothing but [`compile_sealed`]
//! makes it, and nothing that was not made by it passes [`CodeKey::open`].

use std::fmt;
use std::hash::{Hash as _, Hasher};
use std::sync::Arc;

use bytes::Bytes;
use moss_sdk::context::BoxFuture;
use wasmtime::component::Component;

use crate::engine_config::config;
use crate::error::LoadError;
use moss_plugin_list::Sha256Digest;
use moss_sdk::deceptive::quoted;

/// Most bytes of compiled code of one component.
pub const CODE_BYTES_MAX: usize = 1 << 30;

/// What sealed code starts with after its seal; the number is the version of the form.
const MARK: &[u8; 16] = b"moss plugin 1\0\0\0";
const SEAL_BYTES: usize = blake3::OUT_LEN;
const ID_BYTES: usize = 64;
const CODE_STARTS_AT: usize = SEAL_BYTES + MARK.len() + ID_BYTES;

/// Makes code of components, or finds what was made before.
pub trait Compiler: Send + Sync {
    /// Returns the code of a component, which is a plugin's of this name. Dropping the future ends
    /// the work.
    ///
    /// # Errors
    ///
    /// Where the component is damaged, or a limit on compiling is reached.
    fn code<'a>(
        &'a self,
        plugin: &'a str,
        id: CodeId,
        component: Bytes,
    ) -> BoxFuture<'a, Result<CompiledCode, LoadError>>;
}

/// Compiles on the blocking pool of this process: without a limit on time or memory, and keeps
/// nothing.
#[derive(Debug, Clone, Copy)]
pub struct InProcess;

/// Which code it is: of which component, for which engine and its settings.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct CodeId {
    component: Sha256Digest,
    engine: EngineId,
}

/// Names an engine's version, its settings and what the processor can do.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct EngineId([u8; 32]);

/// The secret that code is sealed with.
#[derive(Clone)]
pub struct CodeKey([u8; 32]);

/// Code that this moss made: here, or somewhere that has the key.
pub struct CompiledCode {
    id: CodeId,
    /// The code, after `starts_at` bytes.
    bytes: Vec<u8>,
    starts_at: usize,
}

/// Compiles a component into sealed code: what a process for that does.
///
/// # Errors
///
/// What is wrong with the component; where the engine cannot be set up.
pub fn compile_sealed(key: &CodeKey, component: &[u8]) -> Result<Vec<u8>, String> {
    let wasm = wasmtime::Engine::new(&config()).map_err(|error| format!("{error:#}"))?;
    let id = CodeId { component: Sha256Digest::of(component), engine: EngineId::of(&wasm) };
    let code = precompile(&wasm, component)?;
    let mut sealed = vec![0; SEAL_BYTES];
    sealed.reserve_exact(CODE_STARTS_AT - SEAL_BYTES + code.len());
    sealed.extend_from_slice(MARK);
    sealed.extend_from_slice(&id.to_bytes());
    sealed.extend_from_slice(&code);
    let seal = key.seal(&sealed[SEAL_BYTES..]);
    sealed[..SEAL_BYTES].copy_from_slice(seal.as_bytes());
    Ok(sealed)
}

fn precompile(wasm: &wasmtime::Engine, component: &[u8]) -> Result<Vec<u8>, String> {
    wasm.precompile_component(component).map_err(|error| quoted(&format!("{error:#}")))
}

// === impl InProcess ===

impl Compiler for InProcess {
    fn code<'a>(
        &'a self,
        _plugin: &'a str,
        id: CodeId,
        component: Bytes,
    ) -> BoxFuture<'a, Result<CompiledCode, LoadError>> {
        let compile = move || {
            let wasm = wasmtime::Engine::new(&config())
                .map_err(|error| LoadError::Compiler(format!("{error:#}")))?;
            let bytes = precompile(&wasm, &component).map_err(LoadError::Invalid)?;
            Ok(CompiledCode { id, bytes, starts_at: 0 })
        };
        Box::pin(async move {
            let compiled = tokio::task::spawn_blocking(compile).await;
            compiled.unwrap_or_else(|error| Err(LoadError::Compiler(error.to_string())))
        })
    }
}

// === impl CodeId ===

impl CodeId {
    pub(crate) fn new(engine: EngineId, component: Sha256Digest) -> Self {
        Self { component, engine }
    }

    /// Reads what sealed code says it is. Whether that is true only [`CodeKey::open`] checks.
    pub fn of_sealed(sealed: &[u8]) -> Option<Self> {
        let id = sealed.get(SEAL_BYTES..)?.strip_prefix(MARK)?.get(..ID_BYTES)?;
        let (component, engine) = id.split_first_chunk()?;
        let engine = EngineId(engine.try_into().ok()?);
        Some(Self { component: Sha256Digest::from_bytes(*component), engine })
    }

    /// Returns the digest of the component.
    pub fn component(&self) -> Sha256Digest {
        self.component
    }

    /// Returns a name that no other code has, of lowercase hexadecimal digits.
    pub fn name(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(MARK).update(&self.to_bytes());
        hasher.finalize().to_hex().to_string()
    }

    fn to_bytes(self) -> [u8; ID_BYTES] {
        let mut bytes = [0; ID_BYTES];
        bytes[..32].copy_from_slice(self.component.as_bytes());
        bytes[32..].copy_from_slice(&self.engine.0);
        bytes
    }
}

impl fmt::Debug for CodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

// === impl EngineId ===

impl EngineId {
    pub(crate) fn of(wasm: &wasmtime::Engine) -> Self {
        let mut fed = Fed(blake3::Hasher::new());
        wasm.precompile_compatibility_hash().hash(&mut fed);
        Self(fed.0.finalize().into())
    }
}

/// Takes what hashes itself into a hash that is the same in every process.
struct Fed(blake3::Hasher);

impl Hasher for Fed {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        let hash: [u8; 32] = self.0.finalize().into();
        hash[..8].iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
    }
}

// === impl CodeKey ===

impl CodeKey {
    /// Takes a secret that nobody else has.
    pub const fn from_bytes(secret: [u8; 32]) -> Self {
        Self(secret)
    }

    /// Returns the secret, for a process that is to compile.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Takes sealed code, if it is the one that is looked for and nothing of it was changed since
    /// it was sealed with this key.
    pub fn open(&self, id: CodeId, sealed: Vec<u8>) -> Option<CompiledCode> {
        let (seal, rest) = sealed.split_at_checked(SEAL_BYTES)?;
        let seal = blake3::Hash::from_slice(seal).ok()?;
        // Compared in constant time.
        if self.seal(rest) != seal {
            return None;
        }
        let is_it = CodeId::of_sealed(&sealed) == Some(id);
        is_it.then_some(CompiledCode { id, bytes: sealed, starts_at: CODE_STARTS_AT })
    }

    fn seal(&self, bytes: &[u8]) -> blake3::Hash {
        blake3::keyed_hash(&self.0, bytes)
    }
}

impl fmt::Debug for CodeKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CodeKey")
    }
}

// === impl CompiledCode ===

impl CompiledCode {
    /// Returns the sealed form, where it has one.
    pub fn sealed(&self) -> Option<&[u8]> {
        (self.starts_at > 0).then_some(&self.bytes)
    }

    /// Checks the code for this engine and makes it executable.
    pub(crate) fn load(self, wasm: &wasmtime::Engine) -> Result<Component, LoadError> {
        if self.id.engine != EngineId::of(wasm) {
            return Err(LoadError::Compiler("the code is for another engine".to_owned()));
        }
        let code = &self.bytes[self.starts_at..];
        #[expect(unsafe_code, reason = "see below, and the list in tests/tidy/code.rs")]
        // SAFETY: what is deserialized must be what this version of the engine serialized. A `CompiledCode`
        // has two origins: `InProcess`, which just did that, and `CodeKey::open`, which takes only
        // what `compile_sealed` sealed with a secret of this user, checked above over every byte,
        // for this very engine (its version and settings are in the id). It lies in memory of this
        // process: nobody changes it after the check.
        let component = unsafe { Component::deserialize(wasm, code) };
        component.map_err(|error| LoadError::Compiler(quoted(&format!("{error:#}"))))
    }
}

impl fmt::Debug for CompiledCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Code").field("id", &self.id).finish_non_exhaustive()
    }
}

impl fmt::Debug for dyn Compiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Compiler")
    }
}

/// Checks that the bytes are those that are pinned and look like a component.
pub(crate) fn check(
    component: &[u8],
    pinned: Option<Sha256Digest>,
) -> Result<Sha256Digest, LoadError> {
    if component.len() > crate::limits::COMPONENT_BYTES_MAX {
        return Err(LoadError::TooLarge(component.len()));
    }
    let digest = Sha256Digest::of(component);
    if let Some(pinned) = pinned.filter(|pinned| *pinned != digest) {
        return Err(LoadError::Digest { pinned: pinned.to_string(), actual: digest.to_string() });
    }
    check_kind(component)?;
    Ok(digest)
}

/// Reports a component from everything else by its first bytes.
fn check_kind(bytes: &[u8]) -> Result<(), LoadError> {
    const MAGIC: &[u8] = b"\0asm";
    const COMPONENT_LAYER: &[u8] = &[1, 0];
    let refused = |what: &str| Err(LoadError::NotAComponent(what.to_owned()));
    if !bytes.starts_with(MAGIC) {
        return refused("the file is not WebAssembly");
    }
    match bytes.get(6..8) {
        Some(COMPONENT_LAYER) => Ok(()),
        Some([0, 0]) => refused(
            "the file is a core WebAssembly module, not a component; build it for wasm32-wasip2",
        ),
        _ => refused("the file is not a WebAssembly component"),
    }
}

/// Compiles in this process by default.
pub(crate) fn in_process() -> Arc<dyn Compiler> {
    Arc::new(InProcess)
}

#[cfg(test)]
mod tests;
