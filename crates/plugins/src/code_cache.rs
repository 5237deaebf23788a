//! Compiled code of plugins between two starts, in the state directory: sealed with a key that only
//! the user can read. Whatever there is that was not sealed with it is only a miss.

use std::path::Path;

use moss_plugin_host::code::{CODE_BYTES_MAX, CodeId, CodeKey, CompiledCode};
use moss_workspace::{Error, own::OwnDir};

/// The directory, in the state directory.
const DIRECTORY: &str = "code";
/// The key, beside it.
const KEY_FILE: &str = "code.key";
const KEY_BYTES: usize = 32;

/// The directory with the code, and its key. Several processes may use one.
#[derive(Debug)]
pub(super) struct CodeCache {
    directory: OwnDir,
    key: CodeKey,
}

// === impl CodeCache ===

impl CodeCache {
    /// Opens the cache of a state directory; makes what is missing.
    ///
    /// # Errors
    ///
    /// Where a directory or the key cannot be made, or others may read or write it.
    pub(super) fn open(state: &Path) -> Result<Self, Error> {
        let state = OwnDir::create(state)?;
        let directory = state.subdirectory(DIRECTORY)?;
        Ok(Self { directory, key: load_or_create_key(&state)? })
    }

    pub(super) fn key(&self) -> &CodeKey {
        &self.key
    }

    /// Finds code. What is there and is not it will be replaced.
    pub(super) fn find(&self, id: CodeId) -> Option<CompiledCode> {
        let name = id.name();
        let sealed = match self.directory.read(&name, CODE_BYTES_MAX as u64) {
            Ok(sealed) => sealed?,
            Err(error) => {
                tracing::warn!(%error, "cached code of a plugin cannot be read; it is compiled again");
                return None;
            }
        };
        let Some(code) = self.key.open(id, sealed) else {
            let file = self.directory.path().join(name);
            tracing::warn!(
                file = %file.display(),
                "cached code of a plugin was changed; it is compiled again"
            );
            return None;
        };
        if let Err(error) = self.directory.touch(&name) {
            tracing::debug!(%error, "code that was used counts as unused");
        }
        Some(code)
    }

    /// Keeps code, and forgets what was used least recently where all of it together is too large.
    pub(super) fn keep(&self, id: CodeId, code: &CompiledCode, bytes_max: u64) {
        let Some(sealed) = code.sealed().filter(|sealed| sealed.len() as u64 <= bytes_max) else {
            return;
        };
        let kept = self.directory.write(&id.name(), sealed);
        if let Err(error) = kept.and_then(|()| self.shrink(bytes_max)) {
            tracing::warn!(%error, "code of a plugin is not cached: it is compiled at every start");
        }
    }

    fn shrink(&self, bytes_max: u64) -> Result<(), Error> {
        let mut files = self.directory.files()?;
        files.sort_unstable_by_key(|file| file.modified);
        let mut bytes: u64 = files.iter().map(|file| file.size_bytes).sum();
        for file in files {
            if bytes <= bytes_max {
                break;
            }
            self.directory.remove(&file.name)?;
            bytes -= file.size_bytes;
        }
        Ok(())
    }
}

fn load_or_create_key(state: &OwnDir) -> Result<CodeKey, Error> {
    loop {
        if let Some(bytes) = state.read(KEY_FILE, KEY_BYTES as u64)? {
            if let Ok(secret) = <[u8; KEY_BYTES]>::try_from(bytes) {
                return Ok(CodeKey::from_bytes(secret));
            }
            // Cut short by somebody: what was sealed with the old one is lost, and made again.
            state.remove(KEY_FILE)?;
        }
        state.create_new(KEY_FILE, &random_secret())?;
    }
}

/// Returns a secret that is not written down.
pub(super) fn random_key() -> CodeKey {
    CodeKey::from_bytes(random_secret())
}

fn random_secret() -> [u8; KEY_BYTES] {
    let mut secret = [0; KEY_BYTES];
    getrandom::fill(&mut secret).expect("the system has randomness");
    secret
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::PathBuf;

    use moss_plugin_host::code::compile_sealed;
    use moss_plugin_list::Sha256Digest;

    use super::*;

    const ROOMY: u64 = 1 << 30;

    /// A component with so many bytes of nothing in it: code of its own for each number.
    fn component(number: u8) -> Vec<u8> {
        // A custom section with an empty name.
        [b"\0asm\x0d\0\x01\0", &[0, 2, 0, number][..]].concat()
    }

    fn keep(cache: &CodeCache, number: u8, bytes_max: u64) -> CodeId {
        let component = component(number);
        let sealed = compile_sealed(cache.key(), &component).unwrap();
        let id = CodeId::of_sealed(&sealed).unwrap();
        assert_eq!(id.component(), Sha256Digest::of(&component));
        let code = cache.key().open(id, sealed).unwrap();
        cache.keep(id, &code, bytes_max);
        id
    }

    fn file(state: &Path, id: CodeId) -> PathBuf {
        state.join(DIRECTORY).join(id.name())
    }

    #[test]
    fn code_is_found_again_by_another_process() {
        let state = tempfile::tempdir().unwrap();
        let cache = CodeCache::open(state.path()).unwrap();
        let id = keep(&cache, 1, ROOMY);
        let other = CodeCache::open(state.path()).unwrap();
        assert!(other.find(id).is_some());
        for (path, mode) in [(state.path().join(KEY_FILE), 0o600), (file(state.path(), id), 0o600)]
        {
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, mode, "{path:?}");
        }
        let directory = state.path().join(DIRECTORY).metadata().unwrap();
        assert_eq!(directory.permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn what_was_changed_or_came_from_elsewhere_is_a_miss() {
        let state = tempfile::tempdir().unwrap();
        let cache = CodeCache::open(state.path()).unwrap();
        let (id, other) = (keep(&cache, 1, ROOMY), keep(&cache, 2, ROOMY));
        let whole = std::fs::read(file(state.path(), id)).unwrap();
        let mut changed = whole.clone();
        *changed.last_mut().unwrap() ^= 1;
        let foreign = std::fs::read(file(state.path(), other)).unwrap();
        for bytes in [&changed[..], &whole[..whole.len() / 2], b"", &foreign] {
            std::fs::write(file(state.path(), id), bytes).unwrap();
            assert!(cache.find(id).is_none());
        }
        std::fs::write(file(state.path(), id), whole).unwrap();
        assert!(cache.find(id).is_some());
    }

    #[test]
    fn a_key_that_was_lost_makes_every_file_a_miss() {
        let state = tempfile::tempdir().unwrap();
        let id = keep(&CodeCache::open(state.path()).unwrap(), 1, ROOMY);
        std::fs::write(state.path().join(KEY_FILE), "short").unwrap();
        let cache = CodeCache::open(state.path()).unwrap();
        assert!(cache.find(id).is_none());
        keep(&cache, 1, ROOMY);
        assert!(cache.find(id).is_some());
    }

    #[test]
    fn what_was_used_least_recently_goes_first() {
        let state = tempfile::tempdir().unwrap();
        let cache = CodeCache::open(state.path()).unwrap();
        let [first, second] = [1, 2].map(|number| keep(&cache, number, ROOMY));
        let size = file(state.path(), first).metadata().unwrap().len();
        let past = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
        for (id, age) in [(first, 2), (second, 1)] {
            let file = std::fs::File::options().write(true).open(file(state.path(), id)).unwrap();
            file.set_modified(past - std::time::Duration::from_secs(age)).unwrap();
        }
        assert!(cache.find(first).is_some());
        let third = keep(&cache, 3, 2 * size + size / 2);
        assert_eq!([first, second, third].map(|id| cache.find(id).is_some()), [true, false, true]);
        let too_large = keep(&cache, 4, size / 2);
        assert!(cache.find(too_large).is_none());
    }
}
