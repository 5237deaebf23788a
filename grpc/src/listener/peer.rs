//! Who is at the other end of a connection. Who has shown no credential, or one that is revoked,
//! gives way where there is no slot for another one: whoever only holds slots keeps nobody out.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use super::unread::UnreadReplies;
use moss_dispatch::budget::Budget;
use moss_dispatch::{Caller, Role};

/// How long a connection that is dismissed stays, so that what was said on it arrives. Streams of
/// a token that was revoked have ended by then.
const DISMISSAL_WAIT: Duration = Duration::from_secs(2);

/// Who is at the other end, as far as the connection knows. Every request has it in its extensions.
#[derive(Debug, Clone)]
pub struct Peer(Arc<PeerState>);

#[derive(Debug)]
struct PeerState {
    is_remote: bool,
    /// Whether only an approver keeps its slot.
    is_reserved: bool,
    /// Who vouched for it with a credential.
    known: Mutex<Option<Caller>>,
    /// Whether it leaves soon, and nothing is done on it any more.
    is_dismissed: AtomicBool,
    /// Bytes of requests on the connection that are not whole yet.
    arriving: Budget,
    /// Bytes that replies hold which are written for clients of APIs over it.
    encoding: Budget,
    /// Replies on the connection that wait to be read.
    unread: UnreadReplies,
    /// Cancelled to close the connection at once.
    leaves: CancellationToken,
    /// All of its socket.
    peers: Arc<Peers>,
}

/// The peers of a socket, in the order in which they came.
#[derive(Debug)]
pub(super) struct Peers {
    /// How many connections a named token has at most.
    share: usize,
    all: Mutex<VecDeque<Weak<PeerState>>>,
}

/// Why a connection cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Full {
    /// It has a slot that only an approver keeps.
    #[error(
        "all connections of the socket are in use (grpc.connections_max), and the rest is reserved for approvers: close unused connections, or raise the limit"
    )]
    Reserved,
    /// The token has its share.
    #[error(
        "the token `{name}` has all connections of the socket that one token gets, {share}: a \
         quarter of grpc.connections_max. Close some, or reuse open ones"
    )]
    Share {
        /// The name of the token.
        name: String,
        /// How many connections one token gets.
        share: usize,
    },
    /// It was refused before, and is about to be closed.
    #[error("the connection was refused before and is closed (grpc.connections_max): make another")]
    Dismissed,
}

// === impl Peer ===

impl Peer {
    /// Notes who makes a request on the connection. `is_attended` says that an approver's
    /// credential came with it, too.
    ///
    /// # Errors
    ///
    /// Where the connection has no slot for that.
    pub fn vouch(&self, caller: Option<&Caller>, is_attended: bool) -> Result<(), Full> {
        let is_approver =
            is_attended || caller.is_some_and(|caller| caller.role() == Role::Approver);
        if self.0.is_reserved && !is_approver {
            return Err(Full::Reserved);
        }
        if self.0.is_dismissed.load(Ordering::Relaxed) {
            return Err(Full::Dismissed);
        }
        let Some(caller) = caller else { return Ok(()) };
        if self.known().as_ref().is_some_and(|known| !known.is_revoked()) {
            return Ok(());
        }
        self.0.peers.take(self, caller)
    }

    /// Closes the connection when the response has arrived. Until then it gives way.
    pub fn dismiss(&self) {
        if self.0.is_dismissed.swap(true, Ordering::Relaxed) {
            return;
        }
        let leaves = self.0.leaves.clone();
        tokio::spawn(async move {
            tokio::time::sleep(DISMISSAL_WAIT).await;
            leaves.cancel();
        });
    }

    /// Whether a refused request ends it: the token that vouched for it was revoked, or nobody has
    /// vouched for it in a slot that only approvers keep.
    pub fn is_out_of_place(&self) -> bool {
        match &*self.known() {
            Some(known) => known.is_revoked(),
            None => self.0.is_reserved,
        }
    }

    /// Whether the token that vouched for it was revoked.
    pub fn is_revoked(&self) -> bool {
        self.known().as_ref().is_some_and(Caller::is_revoked)
    }

    /// Whether it has to show a credential yet, in time.
    pub(super) fn is_awaited(&self) -> bool {
        (self.0.is_remote || self.0.is_reserved) && self.known().is_none()
    }

    /// Whether it gives way to others.
    fn is_stranger(&self) -> bool {
        let is_revoked = || self.known().as_ref().is_some_and(Caller::is_revoked);
        let is_dismissed = self.0.is_dismissed.load(Ordering::Relaxed);
        !self.0.leaves.is_cancelled() && (is_dismissed || self.is_awaited() || is_revoked())
    }

    /// Whether a token of the name counts it.
    fn is_of(&self, name: &str) -> bool {
        let is_known =
            |known: &Caller| known.is_revocable() && known.name() == name && !known.is_revoked();
        !self.0.leaves.is_cancelled() && self.known().as_ref().is_some_and(is_known)
    }

    /// Waits until it has to end.
    pub(super) fn leaves(&self) -> WaitForCancellationFutureOwned {
        self.0.leaves.clone().cancelled_owned()
    }

    /// The count of the bytes of requests on the connection that are not whole yet.
    pub fn arriving(&self) -> Budget {
        self.0.arriving.clone()
    }

    /// Where bytes of replies are counted that are written for clients of APIs.
    pub fn encoding(&self) -> Budget {
        self.0.encoding.clone()
    }

    /// The replies that wait to be read.
    pub fn unread(&self) -> &UnreadReplies {
        &self.0.unread
    }

    fn known(&self) -> MutexGuard<'_, Option<Caller>> {
        self.0.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl Peers ===

impl Peers {
    pub(super) fn new(share: usize) -> Self {
        Self { share, all: Mutex::default() }
    }

    /// Makes a peer that came.
    pub(super) fn came(self: &Arc<Self>, is_remote: bool, is_reserved: bool) -> Peer {
        let leaves = CancellationToken::new();
        let peer = Peer(Arc::new(PeerState {
            is_remote,
            is_reserved,
            known: Mutex::default(),
            is_dismissed: AtomicBool::default(),
            arriving: Budget::default(),
            encoding: Budget::default(),
            unread: UnreadReplies::new(leaves.clone()),
            leaves,
            peers: Arc::clone(self),
        }));
        let mut all = self.all();
        all.retain(|peer| peer.strong_count() > 0);
        all.push_back(Arc::downgrade(&peer.0));
        peer
    }

    /// Sends the first stranger away that has such a slot. Returns `false` if no stranger has one.
    pub(super) fn send_away(&self, is_reserved: bool) -> bool {
        let all = self.all();
        let mut there = all.iter().filter_map(Weak::upgrade).map(Peer);
        let found = there.find(|peer| peer.0.is_reserved == is_reserved && peer.is_stranger());
        if let Some(peer) = &found {
            peer.0.leaves.cancel();
        }
        found.is_some()
    }

    /// Lets a caller vouch for a peer while its token has less than its share of the others.
    fn take(&self, peer: &Peer, caller: &Caller) -> Result<(), Full> {
        let all = self.all();
        if caller.is_revocable() {
            let others = all.iter().filter_map(Weak::upgrade).map(Peer);
            let is_other = |other: &Peer| !Arc::ptr_eq(&other.0, &peer.0);
            let name = caller.name();
            if others.filter(|other| is_other(other) && other.is_of(name)).count() >= self.share {
                return Err(Full::Share { name: name.to_owned(), share: self.share });
            }
        }
        *peer.known() = Some(caller.clone());
        Ok(())
    }

    fn all(&self) -> MutexGuard<'_, VecDeque<Weak<PeerState>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
