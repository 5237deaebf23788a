//! The standing approvals of a workspace: those of sessions in memory, those for always in
//! `approvals.toml` in the state directory.
//!
//! The file is replaced as a whole under a lock between processes, and read again where another
//! process replaced it. A broken file is left alone: no stored approval is in effect then, and none
//! is added. The audit journal records how often approvals were used.

mod loaded;

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use jiff::{SignedDuration, Timestamp};
use moss_workspace::own::OwnDir;

pub use self::loaded::check;
use self::loaded::{LoadedApprovals, load};
use moss_dispatch::{ApprovalScope, Offer, SessionKey};
use moss_policy::PolicyError;
use moss_policy::standing::file;
use moss_policy::standing::{Asker, Permission, StandingApproval};

/// The file in the state directory of a workspace.
pub const FILE_NAME: &str = "approvals.toml";
/// Its name in 0.1: read where the new one is absent, removed by the next change.
const OLD_FILE_NAME: &str = "answers.toml";
const LOCK_NAME: &str = "approvals.lock";
/// Longest wait for another process that changes the file.
const LOCK_WAIT: Duration = Duration::from_secs(5);
/// How far in the future an approval may have been given: clocks are set back.
const CLOCK_SLACK: SignedDuration = SignedDuration::from_hours(24);
/// Digits of an approval's name.
const ID_DIGITS: usize = 12;

/// The standing approvals of a workspace.
#[derive(Debug)]
pub struct StandingApprovals {
    directory: OwnDir,
    limits: ArcSwap<moss_config::AnswersConfig>,
    stored: ArcSwap<LoadedApprovals>,
    /// Held from reading the file to `stored`: what was read before a change does not take its place.
    reading: Mutex<()>,
    inner: Mutex<SessionApprovals>,
}

/// Who asks, with all that an approval is bound to.
#[derive(Debug, Clone, Copy)]
pub struct Situation<'a> {
    /// The tool and its caller.
    pub asker: Asker<'a>,
    /// The digest of the plugin's component.
    pub component: Option<&'a str>,
    /// The session, if the caller names one.
    pub session: Option<&'a SessionKey>,
}

/// An approval as people list it.
#[derive(Debug, Clone)]
pub struct ListedApproval {
    /// What it allows, as it was given.
    pub answer: Arc<StandingApproval>,
    /// The session that it applies to; none for one that is stored.
    pub session: Option<String>,
    /// When it ends: the limits of today may be shorter than those it was given under.
    pub ends_at: Timestamp,
}

/// Why an approval applies only once, or cannot be revoked.
#[derive(Debug, thiserror::Error)]
pub enum ApprovalsError {
    /// There are too many.
    #[error(
        "{0} standing approvals are stored already (approvals.approvals_max); revoke one first"
    )]
    Full(usize),
    /// The file is broken: whatever is in it is not written over.
    #[error("{0}; fix or remove it")]
    Broken(Box<PolicyError>),
    /// The file cannot be written.
    #[error(transparent)]
    State(#[from] moss_workspace::Error),
    /// There is no such approval.
    #[error("there is no standing approval `{0}`")]
    Unknown(String),
}

#[derive(Debug)]
struct SessionApprovals {
    /// The approvals of sessions, oldest first.
    sessions: Vec<(SessionKey, Arc<StandingApproval>)>,
}

/// When an approval ends that may apply for so many hours.
fn ends_after(answer: &StandingApproval, hours: u64) -> Timestamp {
    let hold = SignedDuration::from_hours(i64::from(u32::try_from(hours).unwrap_or(u32::MAX)));
    let latest = answer.approved_at.checked_add(hold).unwrap_or(Timestamp::MAX);
    latest.min(answer.expires_at)
}

// === impl StandingApprovals ===

impl StandingApprovals {
    /// Opens the approvals in a state directory, which must exist. Waits for the disk.
    ///
    /// # Errors
    ///
    /// Where the directory is not the user's own. A broken file is no error: see
    /// [`StandingApprovals::problem`].
    pub fn open(
        state: &Path,
        limits: moss_config::AnswersConfig,
    ) -> Result<Self, moss_workspace::Error> {
        let directory = OwnDir::open(state)?;
        let stored = ArcSwap::from_pointee(load(&directory));
        let inner = SessionApprovals { sessions: Vec::new() };
        let limits = ArcSwap::from_pointee(limits);
        Ok(Self { directory, limits, stored, reading: Mutex::default(), inner: Mutex::new(inner) })
    }

    /// Puts other limits into effect, for what was approved before as well.
    pub fn limit(&self, limits: moss_config::AnswersConfig) {
        self.limits.store(Arc::new(limits));
    }

    /// Whether the file is another one than was read. Only looks at its name.
    pub fn is_outdated(&self) -> bool {
        loaded::version(&self.directory) != self.stored.load().version
    }

    /// Reads the file again. Waits for the disk.
    pub fn reload(&self) {
        let _reading = self.reading();
        self.stored.store(Arc::new(load(&self.directory)));
    }

    /// What is wrong with the file, and what applies meanwhile.
    pub fn problem(&self) -> Option<String> {
        let stored = self.stored.load();
        let problem = stored.problem.as_ref()?;
        Some(format!(
            "{} (no stored approval is in effect until the file is fixed or removed)",
            problem.one_line()
        ))
    }

    /// Returns the approvals that somebody's effects are held against.
    pub fn in_effect(&self, of: Situation<'_>, now: Timestamp) -> Vec<Arc<StandingApproval>> {
        let is_for = |answer: &StandingApproval| {
            answer.component.as_deref() == of.component && answer.is_for(of.asker)
        };
        let mut found = Vec::new();
        if self.limits.load().always {
            let stored = self.stored.load();
            let of_file = stored.answers.iter();
            found.extend(of_file.filter(|a| is_for(a) && self.holds(a, now)).cloned());
        }
        if let Some(session) = of.session.filter(|_| self.limits.load().session) {
            let inner = self.lock();
            let of_session = inner.sessions.iter().filter(|(key, _)| key == session);
            let of_session = of_session.map(|(_, answer)| answer);
            found
                .extend(of_session.filter(|a| is_for(a) && now < self.session_ends_at(a)).cloned());
        }
        found
    }

    /// Offers to remember an approval: for the session, and for always where that may be stored.
    pub fn offers(
        &self,
        of: Situation<'_>,
        permissions: &[Permission],
        question: moss_sdk::ContentHash,
        now: Timestamp,
    ) -> Vec<Offer> {
        let hours = |hours: u64| SignedDuration::from_hours(i64::try_from(hours).unwrap_or(0));
        let until = |hold| now.checked_add(hold).unwrap_or(now);
        let offer = |scope, until| Offer::new(scope, permissions, of.component, until, question);
        let limits = self.limits.load();
        let mut offers = Vec::new();
        if let Some(session) = of.session.filter(|_| self.limits.load().session) {
            let until = until(hours(limits.session_hours));
            offers.push(offer(ApprovalScope::Session(session.clone()), until));
        }
        let stored = self.stored.load();
        let has_room = stored.answers.len() < limits.approvals_max;
        if limits.always && stored.problem.is_none() && has_room {
            offers.push(offer(ApprovalScope::Always, until(hours(24 * limits.always_days))));
        }
        offers
    }

    /// Keeps an approval as it was offered. Waits for the disk.
    ///
    /// # Errors
    ///
    /// Where it cannot be stored; nothing is remembered then.
    pub fn remember(
        &self,
        offer: &Offer,
        now: Timestamp,
    ) -> Result<Arc<StandingApproval>, ApprovalsError> {
        let id = crate::ids::random()[..ID_DIGITS].to_owned();
        match &offer.scope {
            ApprovalScope::Session(key) => {
                let answer = Arc::new(offer.approval(id, None, now));
                let mut inner = self.lock();
                let is_same = |other: &StandingApproval| offer.is_of(other);
                inner
                    .sessions
                    .retain(|(k, other)| now < other.expires_at && !(k == key && is_same(other)));
                if inner.sessions.len() >= self.limits.load().approvals_max {
                    inner.sessions.remove(0);
                }
                inner.sessions.push((key.clone(), Arc::clone(&answer)));
                Ok(answer)
            }
            ApprovalScope::Always => {
                let file = self.directory.path().join(FILE_NAME).display().to_string();
                let answer = offer.approval(id, Some(file), now);
                let stored = answer.clone();
                self.change(now, |all| {
                    all.retain(|other| !offer.is_of(other));
                    if all.len() >= self.limits.load().approvals_max {
                        return Err(ApprovalsError::Full(all.len()));
                    }
                    all.push(stored);
                    Ok(())
                })?;
                Ok(Arc::new(answer))
            }
        }
    }

    /// Revokes an approval, at once. Waits for the disk.
    ///
    /// # Errors
    ///
    /// Where there is no such approval, or the file cannot be changed.
    pub fn revoke(&self, id: &str, now: Timestamp) -> Result<ListedApproval, ApprovalsError> {
        let unknown = || ApprovalsError::Unknown(id.to_owned());
        let listed = self.list(now).into_iter().find(|listed| listed.answer.id == id);
        if listed.as_ref().is_some_and(|listed| listed.session.is_some()) {
            self.lock().sessions.retain(|(_, answer)| answer.id != id);
            return listed.ok_or_else(unknown);
        }
        let mut revoked = None;
        self.change(now, |all| {
            let index = all.iter().position(|stored| stored.id == id).ok_or_else(unknown)?;
            revoked = Some(all.remove(index));
            Ok(())
        })?;
        let answer = revoked.ok_or_else(unknown)?;
        Ok(ListedApproval {
            ends_at: self.ends_at(&answer),
            answer: Arc::new(answer),
            session: None,
        })
    }

    /// Lists the approvals in effect: of the file, then of sessions, oldest first.
    pub fn list(&self, now: Timestamp) -> Vec<ListedApproval> {
        let inner = self.lock();
        let stored = self.stored.load();
        let of_file = stored.answers.iter().filter(|answer| self.holds(answer, now));
        let mut listed: Vec<_> = of_file
            .filter(|_| self.limits.load().always)
            .map(|answer| ListedApproval {
                answer: Arc::clone(answer),
                session: None,
                ends_at: self.ends_at(answer),
            })
            .collect();
        let in_effect = |answer: &StandingApproval| now < self.session_ends_at(answer);
        let of_sessions = inner.sessions.iter().filter(|(_, answer)| in_effect(answer));
        let of_sessions = of_sessions.filter(|_| self.limits.load().session);
        listed.extend(of_sessions.map(|(key, answer)| ListedApproval {
            answer: Arc::clone(answer),
            session: Some(key.session_id.clone()),
            ends_at: self.session_ends_at(answer),
        }));
        listed
    }

    /// Changes the file, under its lock: what is over goes.
    fn change(
        &self,
        now: Timestamp,
        change: impl FnOnce(&mut Vec<StandingApproval>) -> Result<(), ApprovalsError>,
    ) -> Result<(), ApprovalsError> {
        let _lock = self.directory.lock(LOCK_NAME, LOCK_WAIT)?;
        let _reading = self.reading();
        let loaded = load(&self.directory);
        if let Some(problem) = &loaded.problem {
            let problem = problem.clone();
            self.stored.store(Arc::new(loaded));
            return Err(ApprovalsError::Broken(problem));
        }
        let holds = |answer: &&Arc<StandingApproval>| now < self.ends_at(answer);
        let mut all: Vec<_> =
            loaded.answers.iter().filter(holds).map(|answer| answer.as_ref().clone()).collect();
        change(&mut all)?;
        self.directory.write(FILE_NAME, file::render(&all).as_bytes())?;
        // Only then: the new file wins where both exist. What was changed stays so where the old one cannot be removed.
        if let Err(error) = self.directory.remove(OLD_FILE_NAME) {
            tracing::warn!(%error, "the approvals of moss 0.1 are still there; remove that file");
        }
        let version = self.directory.version(FILE_NAME)?;
        self.stored.store(Arc::new(LoadedApprovals::new(version, all)));
        Ok(())
    }

    /// Lists the sessions of a caller that have an approval for a tool, the latest first.
    pub fn sessions_of(&self, tool: &str, caller: &str, now: Timestamp) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        for listed in self.list(now).into_iter().rev() {
            let mut permissions = listed.answer.permissions.iter();
            let is_of_call = permissions.any(|of| of.tool == tool && of.caller == caller);
            let session = listed.session.filter(|session| is_of_call && !found.contains(session));
            found.extend(session);
        }
        found
    }

    fn ends_at(&self, answer: &StandingApproval) -> Timestamp {
        ends_after(answer, self.limits.load().always_days * 24)
    }

    fn session_ends_at(&self, answer: &StandingApproval) -> Timestamp {
        ends_after(answer, self.limits.load().session_hours)
    }

    fn holds(&self, answer: &StandingApproval, now: Timestamp) -> bool {
        let earliest = answer.approved_at.checked_sub(CLOCK_SLACK).unwrap_or(Timestamp::MIN);
        earliest <= now && now < self.ends_at(answer)
    }

    fn reading(&self) -> MutexGuard<'_, ()> {
        self.reading.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, SessionApprovals> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
