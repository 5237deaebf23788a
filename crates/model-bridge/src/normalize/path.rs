//! Places in a request body. One is made on the way down and written only when it is shown.

use std::fmt;

/// A position in a request body.
#[derive(Debug, Clone, Copy)]
pub(super) enum Path<'a> {
    /// The whole of it.
    Root,
    /// A field of an object.
    Key(&'a Self, &'a str),
    /// An item of an array, from 0.
    Item(&'a Self, usize),
}

// === impl Path ===

impl<'a> Path<'a> {
    pub(super) fn key(&'a self, name: &'a str) -> Self {
        Self::Key(self, name)
    }

    pub(super) fn item(&'a self, index: usize) -> Self {
        Self::Item(self, index)
    }

    pub(super) fn is_root(&self) -> bool {
        matches!(self, Self::Root)
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Key(Self::Root, name) => f.write_str(name),
            Self::Key(above, name) => write!(f, "{above}.{name}"),
            Self::Item(above, index) => write!(f, "{above}[{index}]"),
        }
    }
}
