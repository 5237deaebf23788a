//! Slots for running calls. A call that waits for a person gives its slot away.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use moss_dispatch::{Caller, QueueFull};
use tokio::sync::oneshot;

/// A bounded number of slots with a bounded queue. No caller has more than half of the queue, none with a token of its
/// own more than half of the slots, and who waits has its turn caller by caller.
#[derive(Debug)]
pub struct Permits {
    slots: Arc<Slots>,
    queued_max: usize,
}

/// A slot, given back when dropped.
#[derive(Debug)]
pub struct Permit {
    slots: Arc<Slots>,
    caller: Arc<str>,
}

#[derive(Debug)]
struct Slots {
    running_max: usize,
    taken: Mutex<TakenSlots>,
}

#[derive(Debug, Default)]
struct TakenSlots {
    running: usize,
    /// Those that run or wait.
    callers: HashMap<Arc<str>, CallerSlots>,
    /// Those of which a call waits, in the order of their turns.
    turns: VecDeque<Arc<str>>,
    /// The number of the next call that waits.
    next: u64,
}

/// What one caller has, and what it waits for.
#[derive(Debug, Default)]
struct CallerSlots {
    running: usize,
    running_max: usize,
    /// Calls that had a slot already: before all others of the caller.
    returning: VecDeque<SlotWaiter>,
    queued: VecDeque<SlotWaiter>,
}

#[derive(Debug)]
struct SlotWaiter {
    number: u64,
    slot: oneshot::Sender<Permit>,
}

/// A call that waits, removed when dropped.
struct WaitingCall<'a> {
    slots: &'a Slots,
    caller: Arc<str>,
    number: u64,
}

/// Either a slot, or where it will be.
enum SlotRequest<'a> {
    Taken(Permit),
    Waits(oneshot::Receiver<Permit>, WaitingCall<'a>),
}

// === impl Permits ===

impl Permits {
    /// Makes slots for so many calls, with a queue for so many more.
    pub fn new(running_max: usize, queued_max: usize) -> Self {
        let slots = Arc::new(Slots { running_max, taken: Mutex::default() });
        Self { slots, queued_max }
    }

    /// Takes a slot for a call of somebody, waiting in the queue for it.
    ///
    /// # Errors
    ///
    /// Where the queue, or the caller's share of it, is full.
    pub async fn acquire(&self, caller: &Caller) -> Result<Permit, QueueFull> {
        Ok(self.enqueue(caller)?.wait().await)
    }

    fn enqueue(&self, caller: &Caller) -> Result<SlotRequest<'_>, QueueFull> {
        self.slots.request(caller.name(), self.share_of(caller), Some(self.queued_max))
    }

    /// Takes a slot for a call of somebody that gave its own away, before those of the same caller that had none yet:
    /// never refused, or a decision of a person would be lost.
    pub async fn resume(&self, caller: &Caller) -> Permit {
        let request = self.slots.request(caller.name(), self.share_of(caller), None);
        request.expect("without a bound none is refused").wait().await
    }

    /// The most slots that a caller has at once.
    fn share_of(&self, caller: &Caller) -> usize {
        let all = self.slots.running_max;
        // Whoever has the token of the role is one of many, who would share half.
        if caller.is_revocable() { (all / 2).max(1) } else { all }
    }

    /// Calls that have a slot.
    pub fn running(&self) -> usize {
        self.slots.taken().running
    }

    /// Calls that wait for their first one.
    pub fn queued(&self) -> usize {
        self.slots.taken().queued()
    }
}

// === impl Slots ===

impl Slots {
    fn taken(&self) -> MutexGuard<'_, TakenSlots> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn request(
        self: &Arc<Self>,
        caller: &str,
        running_max: usize,
        queued_max: Option<usize>,
    ) -> Result<SlotRequest<'_>, QueueFull> {
        let caller: Arc<str> = caller.into();
        let mut taken = self.taken();
        let of_caller = taken.callers.get(&caller).map_or(0, |of| of.running);
        // Where a slot is free, no call waits that may have it.
        if taken.running < self.running_max && of_caller < running_max {
            taken.start(&caller, running_max);
            return Ok(SlotRequest::Taken(Permit { slots: Arc::clone(self), caller }));
        }
        if let Some(queued_max) = queued_max {
            taken.has_room(&caller, queued_max)?;
        }
        let number = taken.next;
        taken.next += 1;
        let (slot, slot_later) = oneshot::channel();
        let TakenSlots { callers, turns, .. } = &mut *taken;
        let of_caller = callers.entry(Arc::clone(&caller)).or_default();
        of_caller.running_max = running_max;
        if !of_caller.is_waiting() {
            turns.push_back(Arc::clone(&caller));
        }
        let queue = match queued_max {
            Some(_) => &mut of_caller.queued,
            None => &mut of_caller.returning,
        };
        queue.push_back(SlotWaiter { number, slot });
        drop(taken);
        Ok(SlotRequest::Waits(slot_later, WaitingCall { slots: self, caller, number }))
    }
}

// === impl TakenSlots ===

impl TakenSlots {
    fn queued(&self) -> usize {
        self.callers.values().map(|of_caller| of_caller.queued.len()).sum()
    }

    fn has_room(&self, caller: &str, queued_max: usize) -> Result<(), QueueFull> {
        let (waiting, share_max) = (self.queued(), queued_max.div_ceil(2));
        if waiting >= queued_max {
            return Err(QueueFull { waiting, is_share: false });
        }
        if self.callers.get(caller).is_some_and(|of| of.queued.len() >= share_max) {
            return Err(QueueFull { waiting: share_max, is_share: true });
        }
        Ok(())
    }

    fn start(&mut self, caller: &Arc<str>, running_max: usize) {
        self.running += 1;
        let of_caller = self.callers.entry(Arc::clone(caller)).or_default();
        of_caller.running += 1;
        of_caller.running_max = running_max;
    }

    /// Takes a slot back, and gives it to the first call that waits, of the first caller that may have one more.
    fn end(&mut self, caller: &Arc<str>) -> Option<(Arc<str>, SlotWaiter)> {
        self.running -= 1;
        if let Some(of_caller) = self.callers.get_mut(caller) {
            of_caller.running -= 1;
        }
        let callers = &self.callers;
        let turn = self
            .turns
            .iter()
            .position(|name| callers.get(name).is_some_and(CallerSlots::may_start));
        let next = turn.and_then(|turn| self.turns.remove(turn)).and_then(|name| {
            let of_next = self.callers.get_mut(&name)?;
            let waiter = of_next.returning.pop_front().or_else(|| of_next.queued.pop_front())?;
            let running_max = of_next.running_max;
            if of_next.is_waiting() {
                self.turns.push_back(Arc::clone(&name));
            }
            self.start(&name, running_max);
            Some((name, waiter))
        });
        self.forget(caller);
        next
    }

    /// Removes a call that waits, where it still does.
    fn leave(&mut self, caller: &Arc<str>, number: u64) {
        let Some(of_caller) = self.callers.get_mut(caller) else { return };
        of_caller.returning.retain(|waiter| waiter.number != number);
        of_caller.queued.retain(|waiter| waiter.number != number);
        if !of_caller.is_waiting() {
            self.turns.retain(|name| name != caller);
        }
        self.forget(caller);
    }

    fn forget(&mut self, caller: &Arc<str>) {
        if self.callers.get(caller).is_some_and(|of| of.running == 0 && !of.is_waiting()) {
            self.callers.remove(caller);
        }
    }
}

// === impl CallerSlots ===

impl CallerSlots {
    fn is_waiting(&self) -> bool {
        !(self.returning.is_empty() && self.queued.is_empty())
    }

    fn may_start(&self) -> bool {
        self.running < self.running_max
    }
}

// === impl SlotRequest ===

impl SlotRequest<'_> {
    async fn wait(self) -> Permit {
        match self {
            Self::Taken(permit) => permit,
            // A slot that comes after the call was cancelled is given back with the receiver.
            Self::Waits(slot, _waiting) => slot.await.expect("only the call itself stops waiting"),
        }
    }
}

// === impl Permit ===

impl Drop for Permit {
    fn drop(&mut self) {
        let next = self.slots.taken().end(&self.caller);
        if let Some((caller, waiter)) = next {
            let permit = Self { slots: Arc::clone(&self.slots), caller };
            // Who stopped waiting at this moment gives it to the next one.
            drop(waiter.slot.send(permit));
        }
    }
}

// === impl WaitingCall ===

impl Drop for WaitingCall<'_> {
    fn drop(&mut self) {
        self.slots.taken().leave(&self.caller, self.number);
    }
}

#[cfg(test)]
mod tests {
    use moss_dispatch::{Role, Standing};
    use moss_sdk::ContentHash;

    use super::*;

    #[derive(Debug)]
    struct Valid;

    impl Standing for Valid {
        fn id(&self) -> ContentHash {
            ContentHash::from_bytes([0; 32])
        }

        fn is_revoked(&self) -> bool {
            false
        }
    }

    fn named(name: &str) -> Caller {
        Caller::named(Role::Caller, name.to_owned(), Arc::new(Valid))
    }

    /// Has a call wait whose slot is given back as soon as it has it, and says so.
    fn wait(
        permits: &Arc<Permits>,
        caller: &Caller,
        had: &Arc<Mutex<Vec<String>>>,
    ) -> tokio::task::JoinHandle<()> {
        let (permits, caller, had) = (Arc::clone(permits), caller.clone(), Arc::clone(had));
        tokio::spawn(async move {
            let permit = permits.acquire(&caller).await.unwrap();
            had.lock().unwrap().push(caller.name().to_owned());
            drop(permit);
        })
    }

    async fn until_queued(permits: &Permits, count: usize) {
        while permits.queued() != count {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn queue_is_bounded_and_slots_go_round_by_caller() {
        let permits = Arc::new(Permits::new(1, 6));
        let [a, b, c] = ["a", "b", "c"].map(named);
        let first = permits.acquire(&a).await.unwrap();
        let had = Arc::default();
        let mut waiting = Vec::new();
        for (caller, count) in [&a, &a, &a, &b, &c, &b].into_iter().zip(1..) {
            waiting.push(wait(&permits, caller, &had));
            until_queued(&permits, count).await;
        }
        let full = QueueFull { waiting: 6, is_share: false };
        assert_eq!(permits.acquire(&c).await.unwrap_err(), full);
        drop(first);
        for waiting in waiting {
            waiting.await.unwrap();
        }
        assert_eq!(*had.lock().unwrap(), ["a", "b", "c", "a", "b", "a"]);
        assert_eq!((permits.running(), permits.queued()), (0, 0));
        assert!(permits.slots.taken().callers.is_empty() && permits.slots.taken().turns.is_empty());
    }

    #[tokio::test]
    async fn a_caller_has_half_of_the_queue() {
        let permits = Permits::new(1, 4);
        let [a, b] = ["a", "b"].map(named);
        let _first = permits.acquire(&a).await.unwrap();
        let mine = [permits.enqueue(&a).unwrap(), permits.enqueue(&a).unwrap()];
        let share = QueueFull { waiting: 2, is_share: true };
        assert_eq!(permits.acquire(&a).await.unwrap_err(), share);
        let _other = permits.enqueue(&b).unwrap();
        drop(mine);
        permits.enqueue(&a).unwrap();
    }

    #[tokio::test]
    async fn a_named_token_has_half_of_the_slots_and_the_token_of_the_role_all() {
        let permits = Arc::new(Permits::new(4, 8));
        let [a, b] = ["a", "b"].map(named);
        let had = Arc::default();
        let mine = [permits.acquire(&a).await.unwrap(), permits.acquire(&a).await.unwrap()];
        let waiting = wait(&permits, &a, &had);
        until_queued(&permits, 1).await;
        // Others do not wait behind it, and what they give back is not its.
        drop(permits.acquire(&b).await.unwrap());
        assert_eq!((permits.running(), permits.queued()), (2, 1));
        drop(mine);
        waiting.await.unwrap();
        let plain = Caller::from(Role::Caller);
        let mut all = Vec::new();
        for _ in 0..4 {
            all.push(permits.acquire(&plain).await.unwrap());
        }
        assert_eq!(permits.running(), 4);
    }

    #[tokio::test]
    async fn a_call_that_resumes_is_before_its_callers_queue_and_within_its_share() {
        let permits = Arc::new(Permits::new(2, 8));
        let [a, b] = ["a", "b"].map(named);
        let had = Arc::default();
        let first = permits.acquire(&a).await.unwrap();
        let waiting = [wait(&permits, &a, &had), wait(&permits, &a, &had)];
        until_queued(&permits, 2).await;
        let resumed = {
            let (permits, a) = (Arc::clone(&permits), a.clone());
            tokio::spawn(async move { permits.resume(&a).await })
        };
        while permits.slots.taken().callers["a"].returning.is_empty() {
            tokio::task::yield_now().await;
        }
        drop(permits.acquire(&b).await.unwrap());
        assert_eq!(permits.running(), 1);
        drop(first);
        let resumed = resumed.await.unwrap();
        assert!(had.lock().unwrap().is_empty());
        drop(resumed);
        for waiting in waiting {
            waiting.await.unwrap();
        }
        assert_eq!((permits.running(), permits.queued()), (0, 0));
    }

    #[tokio::test]
    async fn who_stops_waiting_keeps_neither_its_location_nor_a_slot() {
        let permits = Arc::new(Permits::new(1, 4));
        let [a, b] = ["a", "b"].map(named);
        let had = Arc::default();
        let first = permits.acquire(&a).await.unwrap();
        let dropped = permits.enqueue(&b).unwrap();
        let granted = permits.enqueue(&b).unwrap();
        let waiting = wait(&permits, &a, &had);
        until_queued(&permits, 3).await;
        drop(dropped);
        assert_eq!(permits.queued(), 2);
        // It has the slot, and nobody looks at it.
        drop(first);
        assert_eq!((permits.running(), permits.queued()), (1, 1));
        drop(granted);
        waiting.await.unwrap();
        assert_eq!((permits.running(), permits.queued()), (0, 0));
        assert!(permits.slots.taken().callers.is_empty() && permits.slots.taken().turns.is_empty());
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn slots_are_all_there_after_many_calls_of_which_some_are_cancelled() {
        let permits = Arc::new(Permits::new(3, 10_000));
        let callers = ["a", "b", "c"].map(named);
        let mut running = Vec::new();
        for round in 0..3_000_usize {
            let (permits, caller) = (Arc::clone(&permits), callers[round % 3].clone());
            running.push(tokio::spawn(async move {
                let permit = match round % 5 {
                    0 => permits.resume(&caller).await,
                    _ => permits.acquire(&caller).await.unwrap(),
                };
                tokio::task::yield_now().await;
                drop(permit);
            }));
            if round % 4 == 0 {
                running[round / 2].abort();
            }
            tokio::task::yield_now().await;
        }
        for call in running {
            assert!(call.await.map_or_else(|error| error.is_cancelled(), |()| true));
        }
        assert_eq!((permits.running(), permits.queued()), (0, 0));
        assert!(permits.slots.taken().callers.is_empty() && permits.slots.taken().turns.is_empty());
    }
}
