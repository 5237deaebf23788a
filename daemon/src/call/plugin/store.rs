//! A plugin's store as one call sees it. In a dry run, what the guest changes is seen by this call
//! and kept by nobody.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use moss_plugin_host::{Plugin, services::GuestStore};
use moss_sdk::ToolError;
use moss_sdk::context::BoxFuture;

use crate::call::{CallScope, record};
use moss_plugins::store::{self, PluginStores, StoreOwner};

/// A plugin's store in the workspace of a call.
pub(super) struct CallStore {
    scope: Arc<CallScope>,
    owner: StoreOwner,
    /// What a dry run changed: values, and none for keys that are gone.
    unkept: Mutex<BTreeMap<String, Option<Vec<u8>>>>,
}

// === impl CallStore ===

impl CallStore {
    pub(super) fn new(scope: Arc<CallScope>, plugin: &Plugin) -> Self {
        let owner =
            StoreOwner { plugin: plugin.name().to_owned(), origin: plugin.origin().to_owned() };
        Self { scope, owner, unkept: Mutex::default() }
    }

    /// Does something with what is kept, where waiting for the disk harms nobody.
    async fn kept<T: Send + 'static>(
        &self,
        work: impl FnOnce(&PluginStores, &StoreOwner) -> Result<T, ToolError> + Send + 'static,
    ) -> Result<T, ToolError> {
        let (workspace, owner) = (Arc::clone(&self.scope.workspace), self.owner.clone());
        let turn = workspace.installed.stores.turn(&owner).await;
        let work = move || {
            let done = work(&workspace.installed.stores, &owner);
            drop(turn);
            done
        };
        self.scope.blocking(work).await?
    }

    /// Changes what is kept: the call is recorded then, however it ends.
    async fn changed<T: Send + 'static>(
        &self,
        change: impl FnOnce(&PluginStores, &StoreOwner) -> Result<T, ToolError> + Send + 'static,
    ) -> Result<T, ToolError> {
        record::release(&self.scope).await.map_err(|error| error.as_tool_error())?;
        self.kept(change).await
    }

    fn unkept(&self) -> MutexGuard<'_, BTreeMap<String, Option<Vec<u8>>>> {
        self.unkept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Holds a dry run to the same bounds as what would be kept.
    async fn set_unkept(
        &self,
        key: String,
        value: Vec<u8>,
        bytes_max: u64,
    ) -> Result<(), ToolError> {
        let mut sizes = self.kept(|stores, owner| stores.sizes(owner)).await?;
        let mut unkept = self.unkept();
        for (key, value) in &*unkept {
            match value {
                Some(value) => sizes.insert(key.clone(), value.len() as u64),
                None => sizes.remove(key),
            };
        }
        sizes.insert(key.clone(), value.len() as u64);
        let bytes = sizes.iter().map(|(key, bytes)| key.len() as u64 + bytes).sum();
        store::check_room(sizes.len() as u64, bytes, bytes_max)?;
        unkept.insert(key, Some(value));
        Ok(())
    }
}

impl GuestStore for CallStore {
    fn get(&self, key: String) -> BoxFuture<'_, Result<Option<Vec<u8>>, ToolError>> {
        Box::pin(async move {
            let unkept = self.unkept().get(&key).cloned();
            match unkept {
                Some(value) => Ok(value),
                None => self.kept(move |stores, owner| stores.get(owner, &key)).await,
            }
        })
    }

    fn set(
        &self,
        key: String,
        value: Vec<u8>,
        bytes_max: u64,
    ) -> BoxFuture<'_, Result<(), ToolError>> {
        Box::pin(async move {
            if self.scope.call.dry_run {
                return self.set_unkept(key, value, bytes_max).await;
            }
            self.changed(move |stores, owner| stores.set(owner, &key, &value, bytes_max)).await
        })
    }

    fn delete(&self, key: String) -> BoxFuture<'_, Result<bool, ToolError>> {
        Box::pin(async move {
            if !self.scope.call.dry_run {
                return self.changed(move |stores, owner| stores.delete(owner, &key)).await;
            }
            let asked = key.clone();
            let kept = self.kept(move |stores, owner| stores.get(owner, &asked)).await?;
            let mut unkept = self.unkept();
            let was_there = unkept.get(&key).map_or(kept.is_some(), Option::is_some);
            // What is not kept needs no note that it is gone: a guest can name as many such keys as it likes.
            match kept {
                Some(_) => unkept.insert(key, None),
                None => unkept.remove(&key),
            };
            Ok(was_there)
        })
    }

    fn keys(&self, prefix: String) -> BoxFuture<'_, Result<Vec<String>, ToolError>> {
        Box::pin(async move {
            let asked = prefix.clone();
            let kept = self.kept(move |stores, owner| stores.keys(owner, &asked)).await?;
            let unkept = self.unkept();
            let is_gone = |key: &String| matches!(unkept.get(key), Some(None));
            let mut keys: Vec<String> = kept.into_iter().filter(|key| !is_gone(key)).collect();
            let set = unkept.iter().filter(|(_, value)| value.is_some()).map(|(key, _)| key);
            keys.extend(set.filter(|key| key.starts_with(&prefix)).cloned());
            keys.sort();
            keys.dedup();
            Ok(keys)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::tests::TestDaemon;

    #[tokio::test]
    async fn a_dry_run_notes_of_deleted_keys_only_those_that_are_kept() {
        let site = TestDaemon::new(&[""]);
        let owner = StoreOwner { plugin: "probe".to_owned(), origin: "/probe.wasm".to_owned() };
        let mut scope = site.scope("probe");
        scope.call.dry_run = true;
        scope.workspace.installed.stores.set(&owner, "kept", b"1", 1_000).unwrap();
        let store = CallStore { scope: Arc::new(scope), owner, unkept: Mutex::default() };
        for is_there in [true, false] {
            assert_eq!(store.delete("kept".to_owned()).await.unwrap(), is_there);
        }
        for number in 0..8 {
            let key = number.to_string();
            assert!(!store.delete(key.clone()).await.unwrap());
            store.set(key.clone(), vec![1], 1_000).await.unwrap();
            assert!(store.delete(key).await.unwrap());
        }
        assert_eq!(store.keys(String::new()).await.unwrap(), Vec::<String>::new());
        assert_eq!(store.unkept().len(), 1);
    }
}
