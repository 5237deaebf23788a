//! What is compiled now, and who is notified when it begins. Code that was kept is found, not
//! compiled: nothing of it shows up here.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use moss_plugin_list::units;
use tokio::sync::watch;

/// A component that is compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compiling {
    /// The plugin, by the name that it is loaded under.
    pub plugin: String,
    /// Size of its component, in bytes.
    pub bytes: usize,
    /// When the compiler was started.
    pub since: Timestamp,
    /// Whether the code is kept: the same component is not compiled again then.
    pub is_kept: bool,
    /// Whether it is loaded for a list; else somebody looks at it before it is used.
    pub is_listed: bool,
}

/// What is shown for as long as something is compiled.
pub type CompileIndicator = Option<Box<dyn Any + Send + Sync>>;

/// Hears that something is compiled from now on.
pub type OnCompile = Arc<dyn Fn(&Compiling) -> CompileIndicator + Send + Sync>;

/// All that is compiled now. Cheap to clone.
#[derive(Clone, Default)]
pub struct Compilations(Arc<CompilationsState>);

#[derive(Default)]
struct CompilationsState {
    on_compile: Option<OnCompile>,
    running: Mutex<RunningCompilations>,
    replaced: watch::Sender<()>,
}

#[derive(Default)]
struct RunningCompilations {
    all: BTreeMap<u64, Compiling>,
    /// How many began so far.
    begun: u64,
}

/// Something that is compiled until this is dropped.
pub(crate) struct Compilation {
    of: Compilations,
    number: u64,
    _shown: CompileIndicator,
}

// === impl Compiling ===

impl Compiling {
    /// For how many seconds it has been compiled.
    pub fn seconds(&self) -> u64 {
        let elapsed = Timestamp::now().duration_since(self.since).as_secs();
        u64::try_from(elapsed).unwrap_or(0)
    }
}

impl fmt::Display for Compiling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let often = match self.is_kept {
            true => "this is done once, its code is cached",
            false => "its code cannot be cached, so this is done each time",
        };
        write!(f, "compiling {} ({}); {often}", self.plugin, units::about(self.bytes))
    }
}

// === impl Compilations ===

impl Compilations {
    /// Calls a function with each that begins.
    pub fn reported_to(on_compile: OnCompile) -> Self {
        Self(Arc::new(CompilationsState {
            on_compile: Some(on_compile),
            ..CompilationsState::default()
        }))
    }

    /// Returns what is compiled now, what began first before the others.
    pub fn all(&self) -> Vec<Compiling> {
        self.running().all.values().cloned().collect()
    }

    /// Returns what is compiled now of a plugin that a list names.
    pub fn of_listed(&self, plugin: &str) -> Option<Compiling> {
        let running = self.running();
        let mut all = running.all.values();
        all.find(|compiling| compiling.is_listed && compiling.plugin == plugin).cloned()
    }

    /// Reports when something began or ended.
    pub fn subscribe(&self) -> watch::Receiver<()> {
        self.0.replaced.subscribe()
    }

    /// Counts something as compiled until what is returned is dropped.
    pub(crate) fn begin(&self, compiling: Compiling) -> Compilation {
        let shown = self.0.on_compile.as_ref().and_then(|on_compile| on_compile(&compiling));
        let number = {
            let mut running = self.running();
            running.begun += 1;
            let number = running.begun;
            running.all.insert(number, compiling);
            number
        };
        self.0.replaced.send_replace(());
        Compilation { of: self.clone(), number, _shown: shown }
    }

    fn running(&self) -> MutexGuard<'_, RunningCompilations> {
        self.0.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Compilations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Compilations").field(&self.all()).finish()
    }
}

// === impl Compilation ===

impl Drop for Compilation {
    fn drop(&mut self) {
        self.of.running().all.remove(&self.number);
        self.of.0.replaced.send_replace(());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compiling(plugin: &str, is_listed: bool) -> Compiling {
        let (plugin, since) = (plugin.to_owned(), Timestamp::now());
        Compiling { plugin, bytes: 20_132_660, since, is_kept: true, is_listed }
    }

    #[test]
    fn what_is_compiled_is_reported_and_known_until_it_ends() {
        let told = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&told);
        let compilations = Compilations::reported_to(Arc::new(move |compiling| {
            heard.lock().unwrap().push(compiling.to_string());
            Some(Box::new(Arc::clone(&heard)))
        }));
        let mut replaced = compilations.subscribe();
        let looked_at = compilations.begin(compiling("a", false));
        let listed = compilations.begin(compiling("a", true));
        assert!(replaced.has_changed().unwrap());
        replaced.mark_unchanged();
        assert_eq!(compilations.all().len(), 2);
        assert_eq!(compilations.of_listed("b"), None);
        drop(listed);
        assert!(replaced.has_changed().unwrap());
        assert_eq!(compilations.of_listed("a"), None);
        // What is shown of the other one is still held, beside the two here and the one of the teller.
        assert_eq!(Arc::strong_count(&told), 3);
        drop(looked_at);
        assert_eq!((compilations.all().len(), Arc::strong_count(&told)), (0, 2));
        let line = "compiling a (19.2 MiB); this is done once, its code is cached";
        assert_eq!(*told.lock().unwrap(), [line, line]);
    }
}
