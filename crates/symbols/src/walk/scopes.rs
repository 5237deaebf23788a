//! What the walk is in: declarations, functions and owners, by where they end.

use crate::outline::TextRange;

/// What values belong to: those of a function are its own, those of a type are not, wherever it is declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Boundary {
    Function,
    Type,
}

/// A part of the text with an end: a declaration, a function, or what belongs to a type.
#[derive(Debug)]
pub(super) struct Scope {
    end: usize,
    declaration: Option<u32>,
    boundary: Option<Boundary>,
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
        Self { end, declaration: None, boundary: Some(Boundary::Function), owner: None }
    }

    /// A type without a name.
    pub(super) fn nameless_type(end: usize) -> Self {
        Self { end, declaration: None, boundary: Some(Boundary::Type), owner: None }
    }

    /// What belongs to a type that is declared elsewhere.
    pub(super) fn of_type(end: usize, owner: Option<TextRange>) -> Self {
        Self { end, declaration: None, boundary: None, owner }
    }

    /// A declaration, by its place.
    pub(super) fn declaration(end: usize, place: u32, boundary: Option<Boundary>) -> Self {
        Self { end, declaration: Some(place), boundary, owner: None }
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

    /// Whether values that are declared here are those of a function.
    pub(super) fn is_in_function(&self) -> bool {
        let innermost = self.0.iter().rev().find_map(|scope| scope.boundary);
        innermost == Some(Boundary::Function)
    }
}
