//! Bounds on memory that many hold shares of: whoever asks for more than is left is refused, and what
//! is held is given back when its holder ends.

use std::array;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value};

use crate::caller::{Caller, Role};

/// The part of what its role has that a named token has at most: one in so many.
const TOKEN_PARTS: usize = 2;

/// Bytes that are held now.
#[derive(Debug, Clone, Default)]
pub struct Budget(Arc<AtomicUsize>);

/// A budget for callers and one for approvers, whom callers cannot lock out. Of either a named token has a part.
#[derive(Debug, Clone, Default)]
pub struct Budgets {
    callers: Budget,
    approvers: Budget,
    named: Arc<Mutex<HashMap<String, Budget>>>,
}

/// What one holder has of several budgets at once; given back when dropped.
#[derive(Debug)]
pub struct BudgetShare<const N: usize> {
    /// Each with the most that all of its holders may have.
    budgets: [(Budget, usize); N],
    bytes: usize,
}

/// How long the texts of an object are; each value takes some room beside them.
pub fn object_bytes(object: &Map<String, Value>) -> usize {
    object.iter().map(|(key, value)| key.len() + value_bytes(value)).sum()
}

fn value_bytes(value: &Value) -> usize {
    let inner = match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(value_bytes).sum(),
        Value::Object(members) => object_bytes(members),
    };
    inner + size_of::<Value>()
}

// === impl Budget ===

impl Budget {
    fn take(&self, more: usize, bytes_max: usize) -> bool {
        let sum = |held: usize| held.checked_add(more).filter(|sum| *sum <= bytes_max);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, sum).is_ok()
    }

    fn give_back(&self, bytes: usize) {
        self.0.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// How many bytes are held.
    pub fn held(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

// === impl Budgets ===

impl Budgets {
    /// The budget of a role; a caller's where none is known.
    pub fn of(&self, role: Option<Role>) -> &Budget {
        match role {
            Some(Role::Approver) => &self.approvers,
            Some(Role::Caller) | None => &self.callers,
        }
    }

    /// The budgets of a caller, each with its bound: its own, and that of its role, which has so many bytes. What a
    /// single connection may have, a named token always may.
    pub fn shares(
        &self,
        caller: Option<&Caller>,
        bytes_max: usize,
        connection_bytes_max: usize,
    ) -> [(Budget, usize); 2] {
        let of_role = (self.of(caller.map(Caller::role)).clone(), bytes_max);
        let Some(named) = caller.filter(|caller| caller.is_revocable()) else {
            return [(Budget::default(), bytes_max), of_role];
        };
        let mut all = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        // Those of whom nothing is held are forgotten on the way.
        all.retain(|name, own| name == named.name() || Arc::strong_count(&own.0) > 1);
        let own = all.entry(named.name().to_owned()).or_default().clone();
        let own_max = (bytes_max / TOKEN_PARTS).max(connection_bytes_max).min(bytes_max);
        [(own, own_max), of_role]
    }
}

// === impl BudgetShare ===

impl<const N: usize> BudgetShare<N> {
    /// Makes a share of nothing yet, of budgets with the most that each has.
    pub fn new(budgets: [(Budget, usize); N]) -> Self {
        Self { budgets, bytes: 0 }
    }

    /// Holds so many bytes from now on, instead of what it held.
    ///
    /// # Errors
    ///
    /// Which of the budgets has no room for more; it holds what it held.
    pub fn hold(&mut self, bytes: usize) -> Result<(), usize> {
        let Some(more) = bytes.checked_sub(self.bytes) else {
            self.budgets.iter().for_each(|(budget, _)| budget.give_back(self.bytes - bytes));
            self.bytes = bytes;
            return Ok(());
        };
        let full = self.budgets.iter().position(|(budget, max)| !budget.take(more, *max));
        if let Some(full) = full {
            self.budgets[..full].iter().for_each(|(budget, _)| budget.give_back(more));
            return Err(full);
        }
        self.bytes = bytes;
        Ok(())
    }

    /// As [`BudgetShare::hold`], never refused: for what was admitted before and waited outside.
    pub fn hold_again(&mut self, bytes: usize) {
        let more = bytes.saturating_sub(self.bytes);
        self.budgets.iter().for_each(|(budget, _)| {
            budget.0.fetch_add(more, Ordering::Relaxed);
        });
        self.bytes += more;
    }

    /// How many bytes it holds.
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// The most that each budget has.
    pub fn bytes_max(&self) -> [usize; N] {
        array::from_fn(|index| self.budgets[index].1)
    }
}

impl<const N: usize> Drop for BudgetShare<N> {
    fn drop(&mut self) {
        self.budgets.iter().for_each(|(budget, _)| budget.give_back(self.bytes));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_one_budget_refuses_is_held_of_none() {
        let (of_all, of_one) = (Budget::default(), Budget::default());
        let share = || BudgetShare::new([(of_one.clone(), 60), (of_all.clone(), 100)]);
        let (mut first, mut second) = (share(), share());
        assert_eq!(first.hold(50), Ok(()));
        assert_eq!(second.hold(20), Err(0));
        let mut other = BudgetShare::new([(Budget::default(), 60), (of_all.clone(), 100)]);
        assert_eq!(other.hold(51), Err(1));
        assert_eq!((other.budgets[0].0.held(), of_one.held(), of_all.held()), (0, 50, 50));
        assert_eq!((first.hold(10), second.hold(50)), (Ok(()), Ok(())));
        drop((first, second, other));
        assert_eq!((of_one.held(), of_all.held()), (0, 0));
    }

    #[test]
    fn what_was_admitted_is_held_again_beyond_the_bound() {
        let budget = Budget::default();
        let share = || BudgetShare::new([(budget.clone(), 100)]);
        let (mut waits, mut runs) = (share(), share());
        waits.hold(80).unwrap();
        waits.hold(0).unwrap();
        runs.hold(80).unwrap();
        waits.hold_again(80);
        assert_eq!(budget.held(), 160);
        assert_eq!(share().hold(1), Err(0));
        drop((waits, runs));
        assert_eq!(budget.held(), 0);
    }

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

    #[test]
    fn a_named_token_has_half_of_what_its_role_has() {
        let budgets = Budgets::default();
        let named = |name: &str| Caller::named(Role::Caller, name.into(), Arc::new(Unrevoked));
        let share = |caller: &Caller| BudgetShare::new(budgets.shares(Some(caller), 100, 0));
        let mut first = share(&named("ci"));
        assert_eq!(first.hold(40), Ok(()));
        assert_eq!(share(&named("ci")).hold(11), Err(0));
        let mut second = share(&named("other"));
        assert_eq!(second.hold(50), Ok(()));
        assert_eq!(share(&Caller::from(Role::Caller)).hold(11), Err(1));
        assert_eq!(share(&Caller::from(Role::Approver)).hold(100), Ok(()));
        drop((first, second));
        assert_eq!(share(&Caller::from(Role::Caller)).hold(100), Ok(()));
        assert_eq!(share(&named("ci")).hold(50), Ok(()));
        assert_eq!(budgets.named.lock().unwrap().len(), 1);
    }

    #[test]
    fn a_named_token_has_what_one_connection_may_have() {
        let budgets = Budgets::default();
        let named = Caller::named(Role::Caller, "ci".into(), Arc::new(Unrevoked));
        for (connection_bytes_max, expected) in [(0, 50), (30, 50), (70, 70), (200, 100)] {
            let [own, of_role] = budgets.shares(Some(&named), 100, connection_bytes_max);
            assert_eq!((own.1, of_role.1), (expected, 100), "{connection_bytes_max}");
        }
    }

    #[test]
    fn small_values_count_for_what_they_take() {
        let Value::Object(object) = json!({ "a": [0, 0, 0], "b": "four" }) else { unreachable!() };
        assert_eq!(object_bytes(&object), 6 + 5 * size_of::<Value>());
    }
}
