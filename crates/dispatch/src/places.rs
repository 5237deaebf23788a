//! Places for work that takes a thread: each role has its own, so that callers cannot lock out approvers, and a named
//! token has at most half of those of its role.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::caller::{Caller, Role};

/// The part of the places of its role that a named token has at most: one in so many.
const TOKEN_PARTS: usize = 2;

/// A bounded number of places for each role.
#[derive(Debug)]
pub struct RolePlaces {
    callers: Arc<Semaphore>,
    approvers: Arc<Semaphore>,
    /// The places of named tokens that have or wait for some.
    named: Mutex<HashMap<String, Arc<Semaphore>>>,
    places_max: usize,
}

/// A place, given back when dropped.
#[derive(Debug)]
pub struct RolePlace {
    _of_role: OwnedSemaphorePermit,
    _of_token: Option<OwnedSemaphorePermit>,
}

/// Waits for a place, in the order of those who ask.
async fn one_of(places: &Arc<Semaphore>) -> OwnedSemaphorePermit {
    Arc::clone(places).acquire_owned().await.expect("the semaphore is never closed")
}

// === impl RolePlaces ===

impl RolePlaces {
    /// Makes so many places for each role.
    pub fn new(places_max: usize) -> Self {
        let [callers, approvers] = [(); 2].map(|()| Arc::new(Semaphore::new(places_max)));
        Self { callers, approvers, named: Mutex::default(), places_max }
    }

    /// Waits for a place; for one of those of callers where nobody is known.
    pub async fn acquire(&self, caller: Option<&Caller>) -> RolePlace {
        // Its own first: what waits for that takes no place from others.
        let token =
            caller.filter(|caller| caller.is_revocable()).map(|caller| self.of_token(caller));
        let of_token = match &token {
            Some(places) => Some(one_of(places).await),
            None => None,
        };
        let of_role = match caller.map(Caller::role) {
            Some(Role::Approver) => one_of(&self.approvers).await,
            Some(Role::Caller) | None => one_of(&self.callers).await,
        };
        RolePlace { _of_role: of_role, _of_token: of_token }
    }

    fn of_token(&self, caller: &Caller) -> Arc<Semaphore> {
        let mut all = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        // Those that have and want none are forgotten on the way: a place holds what it is of.
        all.retain(|_, places| Arc::strong_count(places) > 1);
        let own_max = (self.places_max / TOKEN_PARTS).max(1);
        let own = || Arc::new(Semaphore::new(own_max));
        Arc::clone(all.entry(caller.name().to_owned()).or_insert_with(own))
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    #[derive(Debug)]
    struct Unrevoked;

    impl crate::caller::Standing for Unrevoked {
        fn is_revoked(&self) -> bool {
            false
        }

        fn id(&self) -> moss_sdk::ContentHash {
            moss_sdk::ContentHash::from_bytes([0; 32])
        }
    }

    /// A place that there is without waiting.
    fn at_once(places: &RolePlaces, caller: Option<&Caller>) -> Option<RolePlace> {
        let mut waiting = pin!(places.acquire(caller));
        match waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(place) => Some(place),
            Poll::Pending => None,
        }
    }

    #[test]
    fn callers_leave_the_places_of_approvers_and_a_token_those_of_others() {
        let places = RolePlaces::new(4);
        let named = |name: &str| Caller::named(Role::Caller, name.into(), Arc::new(Unrevoked));
        let (ci, other, callers) = (named("ci"), named("other"), Caller::from(Role::Caller));
        let mine = [at_once(&places, Some(&ci)).unwrap(), at_once(&places, Some(&ci)).unwrap()];
        assert!(at_once(&places, Some(&ci)).is_none(), "it has half");
        let its = at_once(&places, Some(&other)).unwrap();
        let unnamed = at_once(&places, Some(&callers)).unwrap();
        assert!(at_once(&places, Some(&other)).is_none() && at_once(&places, None).is_none());
        let approver = Caller::from(Role::Approver);
        let apart: Vec<_> = (0..4).filter_map(|_| at_once(&places, Some(&approver))).collect();
        assert_eq!(apart.len(), 4);
        drop((mine, its, unnamed));
        assert!(at_once(&places, Some(&ci)).is_some());
        assert_eq!(places.named.lock().unwrap().len(), 1);
    }

    #[test]
    fn a_token_has_one_of_one() {
        let named = Caller::named(Role::Caller, "ci".into(), Arc::new(Unrevoked));
        assert!(at_once(&RolePlaces::new(1), Some(&named)).is_some());
    }
}
