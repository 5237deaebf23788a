//! Ways from a value to its parts, as schemas take them.

/// One step into a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PathSegment<'s> {
    /// To a field; to any that is there where no name is given.
    Key(Option<&'s str>),
    /// To an item; to any.
    Item(Option<usize>),
}

/// Whether two ways may lead to one part, or one of them through where the other leads.
pub(super) fn collide(one: &[PathSegment<'_>], other: &[PathSegment<'_>]) -> bool {
    one.iter().zip(other).all(|(one, other)| one.meets(other))
}

// === impl PathSegment ===

impl PathSegment<'_> {
    fn meets(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Key(Some(one)), Self::Key(Some(other))) => one == other,
            (Self::Item(Some(one)), Self::Item(Some(other))) => one == other,
            (Self::Key(_), Self::Key(_)) | (Self::Item(_), Self::Item(_)) => true,
            (Self::Key(_), Self::Item(_)) | (Self::Item(_), Self::Key(_)) => false,
        }
    }
}
