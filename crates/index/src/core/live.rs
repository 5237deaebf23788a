//! A segment in use: which of its documents are still the current ones.

use std::sync::Arc;

use crate::numbers::SegmentNumbers;
use crate::segment::IndexSegment;

/// Once so large a part of a segment is out of date, it is written anew: one in so many.
const STALE_PART: u32 = 4;

/// A segment in use.
pub(crate) struct LiveSegment {
    pub(crate) segment: Arc<IndexSegment>,
    pub(crate) numbers: SegmentNumbers,
    /// How many of its numbers are of current documents.
    pub(crate) live: u32,
    /// How many documents have another mark by now than is written.
    pub(crate) remarked: u32,
    /// Whether it has something that must not stay in a file.
    pub(crate) must_rewrite: bool,
}

// === impl LiveSegment ===

impl LiveSegment {
    pub(super) fn new(segment: Arc<IndexSegment>, numbers: SegmentNumbers) -> Self {
        Self { segment, numbers, live: 0, remarked: 0, must_rewrite: false }
    }

    pub(crate) fn number(&self) -> u32 {
        self.segment.name.number
    }

    /// Roughly how much memory it takes.
    pub(super) fn memory_bytes(&self) -> usize {
        self.numbers.memory_bytes() + self.segment.memory_bytes()
    }

    /// Whether writing it anew is worth the while.
    pub(crate) fn is_stale(&self) -> bool {
        let stale = (self.segment.numbers - self.live).saturating_add(self.remarked);
        self.must_rewrite || stale > self.segment.numbers / STALE_PART
    }
}
