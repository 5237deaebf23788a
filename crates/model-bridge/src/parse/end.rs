//! The end of what may be a call, as every form of calls finds it.

/// Where a frame ends, from the beginning of its inside.
pub(super) struct FrameEnd {
    /// Where its inside does.
    pub(super) body: usize,
    /// Where its end mark does.
    pub(super) frame: usize,
    /// Whether that is there.
    pub(super) closed: bool,
}
