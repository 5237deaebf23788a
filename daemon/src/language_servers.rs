//! The language servers of a daemon: which there are, which run, what became of those that do not.
//!
//! One runs for each workspace, project, server and caller: what it sees is what that caller may read. It was
//! decided about when it was started; it ends with the policy under which that was, when nobody asks it for a
//! while, when others need its room, and with the daemon.

mod running;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use moss_language_servers::{KNOWN, ServerSpec};
use moss_policy::Policy;

pub(crate) use self::running::{IsWanted, RunningServer, ServerStart};
use moss_config::Config;

/// How often a server may end by itself within [`DOWN_TIME`] before it is left alone for so long.
const DEATHS_MAX: usize = 2;
const DOWN_TIME: Duration = Duration::from_secs(600);
/// Most servers of which anything is remembered; those that do not run are forgotten first.
const SLOTS_MAX: usize = 256;

/// The servers of a daemon.
#[derive(Debug, Default)]
pub struct ServerPool {
    slots: Mutex<BTreeMap<ServerKey, Arc<ServerSlot>>>,
    /// How many are being started.
    starting: Arc<Mutex<usize>>,
}

/// Room for a server that is being started: it counts as one that runs while this is held.
#[derive(Debug)]
pub(crate) struct ServerRoom(Arc<Mutex<usize>>);

/// For whom a server runs, and where.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ServerKey {
    pub(crate) workspace: String,
    pub(crate) server: String,
    /// The root of its project, relative to that of the workspace.
    pub(crate) project: String,
    pub(crate) caller: String,
}

/// One server, whether it runs or not. Who holds its state starts it.
#[derive(Debug, Default)]
pub(crate) struct ServerSlot {
    pub(crate) state: Arc<tokio::sync::Mutex<SlotState>>,
    running: Mutex<Option<Arc<RunningServer>>>,
}

/// What is known of a server that may have to be started.
#[derive(Debug, Default)]
pub(crate) struct SlotState {
    /// When it ended by itself, lately.
    deaths: Vec<Instant>,
    /// How it ended the last time.
    last_end: String,
    /// Why it is not to be started, as long as that policy is in effect.
    refused: Option<(String, Arc<Policy>)>,
    /// What a person approved to be run: it counts as long as the daemon runs, also once the server was ended.
    pub(crate) approved: Option<String>,
}

/// A server as it is reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerOverview {
    /// What it is called.
    pub name: String,
    /// The root of its project, relative to that of the workspace; empty for that itself.
    pub project: String,
    /// Whether its process runs now.
    pub is_running: bool,
}

/// A server that moss would use, and whether its program is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledServer {
    /// What it is called.
    pub name: String,
    /// Whether its program is found.
    pub is_installed: bool,
}

/// The servers of a configuration, the user's own first.
pub fn configured(config: &Config) -> Vec<ServerSpec> {
    let settings = &config.language_servers;
    if !settings.enabled {
        return Vec::new();
    }
    let added = config.added_language_servers.iter().map(|(name, server)| server.spec(name));
    let is_own = |name: &str| config.added_language_servers.contains_key(name);
    let known = KNOWN.iter().filter(|known| !is_own(known.name)).map(|known| known.spec());
    added.chain(known).filter(|spec| !settings.disabled.contains(&spec.name)).collect()
}

/// The servers of a configuration, with whether they are installed.
pub fn installed(config: &Config) -> Vec<InstalledServer> {
    let look =
        |spec: ServerSpec| InstalledServer { is_installed: is_installed(&spec), name: spec.name };
    configured(config).into_iter().map(look).collect()
}

/// The first server that knows files of a name, of those that are installed.
pub(crate) fn installed_for(config: &Config, name: &str) -> Option<ServerSpec> {
    let mut all = configured(config).into_iter();
    all.find(|spec| spec.language_of(name).is_some() && is_installed(spec))
}

/// Whether the program of a server is there.
fn is_installed(spec: &ServerSpec) -> bool {
    spec.words.first().is_some_and(|program| moss_sandbox::find_program(program).is_some())
}

// === impl ServerPool ===

impl ServerPool {
    /// The place of one server.
    pub(crate) fn slot(&self, key: &ServerKey) -> Arc<ServerSlot> {
        let mut slots = self.lock();
        if let Some(slot) = slots.get(key) {
            return Arc::clone(slot);
        }
        if slots.len() >= SLOTS_MAX {
            // What somebody holds is in use.
            slots.retain(|_, slot| slot.running().is_some() || Arc::strong_count(slot) > 1);
        }
        Arc::clone(slots.entry(key.clone()).or_default())
    }

    /// Makes room for one more server. None where all that run are being asked something or started.
    pub(crate) fn make_room(&self, running_max: usize) -> Option<ServerRoom> {
        let mut starting = self.starting.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let slots: Vec<_> = self.lock().values().cloned().collect();
            let running: Vec<_> =
                slots.iter().filter_map(|slot| Some((slot, slot.running()?))).collect();
            if running.len() + *starting < running_max {
                *starting += 1;
                return Some(ServerRoom(Arc::clone(&self.starting)));
            }
            let idle = running.iter().filter(|(_, server)| !server.is_asked());
            let (slot, server) = idle.min_by_key(|(_, server)| server.used_at())?;
            server.end();
            slot.clear();
        }
    }

    /// The servers of a workspace that run, or did.
    pub fn overview(&self, workspace: &str) -> Vec<ServerOverview> {
        let slots = self.lock();
        let of_workspace = slots.iter().filter(|(key, _)| key.workspace == workspace);
        let mut all: Vec<_> = of_workspace
            .map(|(key, slot)| ServerOverview {
                name: key.server.clone(),
                project: key.project.clone(),
                is_running: slot.running().is_some(),
            })
            .collect();
        all.dedup();
        all
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<ServerKey, Arc<ServerSlot>>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl ServerRoom ===

impl Drop for ServerRoom {
    fn drop(&mut self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
    }
}

// === impl ServerSlot ===

impl ServerSlot {
    /// The server, where it runs.
    pub(crate) fn running(&self) -> Option<Arc<RunningServer>> {
        self.held().clone().filter(|server| server.client.over().is_none())
    }

    pub(crate) fn keep(&self, server: &Arc<RunningServer>) {
        *self.held() = Some(Arc::clone(server));
    }

    fn clear(&self) {
        *self.held() = None;
    }

    /// The server that was started under a policy; one of another is ended. Notes how one ended that runs no
    /// more.
    pub(crate) fn current(
        &self,
        state: &mut SlotState,
        policy: &Arc<Policy>,
    ) -> Option<Arc<RunningServer>> {
        let server = self.held().clone()?;
        if let Some(fault) = server.client.over() {
            if !server.was_ended() {
                state.die(server.said(&fault.to_string()));
            }
            self.clear();
            return None;
        }
        if !Arc::ptr_eq(&server.policy, policy) {
            server.end();
            self.clear();
            return None;
        }
        Some(server)
    }

    fn held(&self) -> MutexGuard<'_, Option<Arc<RunningServer>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl SlotState ===

impl SlotState {
    /// Notes that it ended by itself, or could not be started.
    pub(crate) fn die(&mut self, why: String) {
        self.deaths.push(Instant::now());
        self.last_end = why;
    }

    /// Notes that it is not to be started while a policy is in effect.
    pub(crate) fn refuse(&mut self, why: String, policy: Arc<Policy>) {
        self.refused = Some((why, policy));
    }

    /// Why it was not to be started under a policy.
    pub(crate) fn refusal(&self, policy: &Arc<Policy>) -> Option<&str> {
        let (why, of) = self.refused.as_ref()?;
        Arc::ptr_eq(of, policy).then_some(why)
    }

    /// Why it is left alone for a while, where it ended too often.
    pub(crate) fn down(&mut self) -> Option<String> {
        self.deaths.retain(|death| death.elapsed() < DOWN_TIME);
        let minutes = DOWN_TIME.as_secs() / 60;
        (self.deaths.len() >= DEATHS_MAX).then(|| {
            format!(
                "it failed {DEATHS_MAX} times and is left alone for {minutes} minutes: {}",
                self.last_end
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_of_the_user_come_first_and_what_is_off_is_not_there() {
        let mut config = Config::default();
        let names = |config: &Config| -> Vec<String> {
            configured(config).into_iter().map(|spec| spec.name).collect()
        };
        assert_eq!(names(&config).len(), KNOWN.len());
        let own: moss_config::AddedServerConfig =
            toml::from_str("command = [\"own\"]\nfiles = [\"*.go\"]\nlanguage = \"go\"").unwrap();
        config.added_language_servers.insert("gopls".to_owned(), own);
        assert_eq!(configured(&config)[0].words, ["own"]);
        assert_eq!(names(&config).len(), KNOWN.len());
        config.language_servers.disabled = vec!["gopls".to_owned(), "clangd".to_owned()];
        assert_eq!(names(&config).len(), KNOWN.len() - 2);
        config.language_servers.enabled = false;
        assert!(names(&config).is_empty());
    }

    #[test]
    fn a_server_that_is_not_installed_leaves_its_files_to_another_one() {
        let mut config = Config::default();
        for (name, program) in [("a", "no-such-program-of-moss"), ("b", "sh")] {
            let server =
                format!("command = [\"{program}\"]\nfiles = [\"*.zig\"]\nlanguage = \"zig\"");
            config.added_language_servers.insert(name.to_owned(), toml::from_str(&server).unwrap());
        }
        assert_eq!(installed_for(&config, "main.zig").unwrap().name, "b");
        assert!(installed_for(&config, "main.none-of-them").is_none());
    }

    #[test]
    fn who_fails_twice_is_left_alone() {
        let mut state = SlotState::default();
        state.die("first".to_owned());
        assert_eq!(state.down(), None);
        state.die("it crashed".to_owned());
        assert!(state.down().unwrap().ends_with("10 minutes: it crashed"));
    }

    #[test]
    fn servers_that_are_being_started_take_room() {
        let pool = ServerPool::default();
        let (first, second) = (pool.make_room(2), pool.make_room(2));
        assert!(first.is_some() && second.is_some() && pool.make_room(2).is_none());
        drop(first);
        assert!(pool.make_room(2).is_some());
    }

    #[test]
    fn what_is_remembered_of_servers_that_do_not_run_is_bounded() {
        let pool = ServerPool::default();
        for number in 0..SLOTS_MAX + 10 {
            let text = number.to_string();
            let key = ServerKey {
                workspace: "w".to_owned(),
                server: text.clone(),
                project: String::new(),
                caller: text,
            };
            drop(pool.slot(&key));
        }
        assert!(pool.overview("w").len() <= SLOTS_MAX);
        assert!(pool.overview("other").is_empty());
        assert!(pool.make_room(1).is_some());
    }
}
