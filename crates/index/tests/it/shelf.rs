//! A directory for an index in memory, with as much space as a test wants.

use std::any::Any;
use std::collections::BTreeMap;
use std::io::{Error as IoError, ErrorKind};
use std::sync::{Arc, Mutex};

use moss_index::{IndexStore, StoredDraft, StoredPieces};
use moss_workspace::Error;

/// The files; clones are the same directory.
#[derive(Clone, Default)]
pub(crate) struct MemoryShelf(Arc<Mutex<ShelfState>>);

#[derive(Default)]
struct ShelfState {
    files: BTreeMap<String, Arc<Vec<u8>>>,
    /// How many bytes can still be written; none where there is no end.
    space: Option<usize>,
    lock: Option<Arc<()>>,
}

struct ShelfDraft {
    shelf: MemoryShelf,
    name: String,
    bytes: Vec<u8>,
}

struct ShelfFile(Arc<Vec<u8>>);

// === impl MemoryShelf ===

impl MemoryShelf {
    /// A directory with so much space.
    pub(crate) fn with_space(bytes: usize) -> Self {
        let shelf = Self::default();
        shelf.0.lock().unwrap().space = Some(bytes);
        shelf
    }

    /// Another directory with the same files.
    pub(crate) fn copy(&self) -> Self {
        let copy = Self::default();
        copy.0.lock().unwrap().files = self.files();
        copy
    }

    pub(crate) fn files(&self) -> BTreeMap<String, Arc<Vec<u8>>> {
        self.0.lock().unwrap().files.clone()
    }

    pub(crate) fn put(&self, name: &str, bytes: Vec<u8>) {
        self.0.lock().unwrap().files.insert(name.to_owned(), Arc::new(bytes));
    }

    fn take_space(&self, bytes: usize) -> Result<(), Error> {
        let mut state = self.0.lock().unwrap();
        let Some(space) = &mut state.space else { return Ok(()) };
        *space = space.checked_sub(bytes).ok_or_else(|| Error::Io {
            path: "shelf".to_owned(),
            action: "write",
            source: IoError::from(ErrorKind::StorageFull),
        })?;
        Ok(())
    }
}

impl IndexStore for MemoryShelf {
    fn lock(&self) -> Result<Box<dyn Any + Send + Sync>, Error> {
        let mut state = self.0.lock().unwrap();
        if state.lock.as_ref().is_some_and(|lock| Arc::strong_count(lock) > 1) {
            return Err(Error::Busy { what: "the shelf is locked".to_owned() });
        }
        let lock = Arc::new(());
        state.lock = Some(lock.clone());
        Ok(Box::new(lock))
    }

    fn names(&self) -> Result<Vec<String>, Error> {
        Ok(self.files().into_keys().collect())
    }

    fn read(&self, name: &str, bytes_max: u64) -> Result<Option<Vec<u8>>, Error> {
        let file = self.files().get(name).cloned();
        match file {
            Some(file) if file.len() as u64 > bytes_max => {
                Err(Error::Own { path: name.to_owned(), reason: "is too large".to_owned() })
            }
            file => Ok(file.map(|file| file.to_vec())),
        }
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        self.take_space(bytes.len())?;
        self.put(name, bytes.to_vec());
        Ok(())
    }

    fn reader(&self, name: &str) -> Result<Option<Box<dyn StoredPieces>>, Error> {
        let file = self.files().get(name).cloned();
        Ok(file.map(|file| Box::new(ShelfFile(file)) as Box<dyn StoredPieces>))
    }

    fn draft(&self, name: &str) -> Result<Box<dyn StoredDraft>, Error> {
        let (shelf, name) = (self.clone(), name.to_owned());
        Ok(Box::new(ShelfDraft { shelf, name, bytes: Vec::new() }))
    }

    fn remove(&self, name: &str) -> Result<(), Error> {
        self.0.lock().unwrap().files.remove(name);
        Ok(())
    }
}

impl StoredDraft for ShelfDraft {
    fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.shelf.take_space(bytes.len())?;
        self.bytes.extend(bytes);
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), Error> {
        let Self { shelf, name, bytes } = *self;
        shelf.put(&name, bytes);
        Ok(())
    }
}

impl StoredPieces for ShelfFile {
    fn size_bytes(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_exact_at(&self, buffer: &mut [u8], position: u64) -> Result<(), Error> {
        let start = usize::try_from(position).unwrap();
        let piece = start.checked_add(buffer.len()).and_then(|end| self.0.get(start..end));
        let ended = || Error::Io {
            path: "shelf".to_owned(),
            action: "read",
            source: IoError::from(ErrorKind::UnexpectedEof),
        };
        buffer.copy_from_slice(piece.ok_or_else(ended)?);
        Ok(())
    }
}
