//! The revisions of the protocol that are spoken.

use rmcp::model::ProtocolVersion;

/// The revisions that are spoken, oldest first.
pub(crate) const REVISIONS: &[ProtocolVersion] = &[
    ProtocolVersion::V_2025_03_26,
    ProtocolVersion::V_2025_06_18,
    ProtocolVersion::V_2025_11_25,
    ProtocolVersion::V_2026_07_28,
];

/// Whether results may have links to resources.
pub(crate) fn has_links(revision: &ProtocolVersion) -> bool {
    revision.as_str() >= ProtocolVersion::V_2025_06_18.as_str()
}

/// Whether tools have pictures.
pub(crate) fn has_icons(revision: &ProtocolVersion) -> bool {
    revision.as_str() >= ProtocolVersion::V_2025_11_25.as_str()
}

/// Whether lists say for how long they may be kept.
pub(crate) fn has_hints(revision: &ProtocolVersion) -> bool {
    revision.as_str() >= ProtocolVersion::V_2026_07_28.as_str()
}
