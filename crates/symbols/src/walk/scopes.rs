//! What the walk is in: declarations, functions and owners, by where they end.

use crate::outline::TextRange;

/// A part of the text with an end: a declaration, a function, or what belongs to a type.
#[derive(Debug)]
pub(super) struct Scope {
    end: usize,
    declaration: Option<u32>,
    is_function: bool,
    /// What it makes belong to a type.
    owner: Option<TextRange>,
}

/// Those around the node that is looked at, the innermost last.
#[derive(Debug, Default)]
pub(super) struct Scopes(Vec<Scope>);

// === impl Scope ===

impl Scope {
    /// A function without a name.
    pub(super) fn function(end: usize) -> Self {
        Self { end, declaration: None, is_function: true, owner: None }
    }

    /// What belongs to a type that is declared elsewhere.
    pub(super) fn of_type(end: usize, owner: Option<TextRange>) -> Self {
        Self { end, declaration: None, is_function: false, owner }
    }

    /// A declaration, by its place.
    pub(super) fn declaration(end: usize, place: u32, is_function: bool) -> Self {
        Self { end, declaration: Some(place), is_function, owner: None }
    }
}

// === impl Scopes ===

impl Scopes {
    pub(super) fn enter(&mut self, scope: Scope) {
        self.0.push(scope);
    }

    /// Leaves those that end before a byte.
    pub(super) fn leave(&mut self, start: usize) {
        while self.0.last().is_some_and(|scope| scope.end <= start) {
            self.0.pop();
        }
    }

    /// Returns the place of the innermost declaration; none at the top of a file.
    pub(super) fn container(&self) -> Option<u32> {
        self.0.iter().rev().find_map(|scope| scope.declaration)
    }

    /// The type that things belong to here; none within a function or another declaration.
    pub(super) fn owner(&self) -> Option<TextRange> {
        self.0.last().and_then(|scope| scope.owner.clone())
    }

    pub(super) fn is_in_function(&self) -> bool {
        self.0.iter().rev().any(|scope| scope.is_function)
    }
}
