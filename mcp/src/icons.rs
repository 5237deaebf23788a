//! Pictures that clients show beside names: of moss, and of tools by what they do.

use rmcp::model::{Icon, Tool};

/// What a picture begins with.
macro_rules! svg {
    ($shapes:literal) => {
        concat!(
            "data:image/svg+xml,%3Csvg%20xmlns='http://www.w3.org/2000/svg'%20viewBox='0%200%2032%2032'%3E",
            $shapes,
            "%3C/svg%3E",
        )
    };
}

/// Two leaves on a stem.
const MOSS: &str = svg!(
    "%3Cpath%20fill='%23486b2e'%20d='M15%2030V17C5%2017%203%209%203%204c9%200%2012%205%2012%2011%200-6%205-10%2014-10%200%208-4%2013-12%2013v12z'/%3E"
);
/// An eye, for tools that only read.
const READS: &str = svg!(
    "%3Cpath%20fill='none'%20stroke='%23486b2e'%20stroke-width='3'%20d='M3%2016s5-9%2013-9%2013%209%2013%209-5%209-13%209-13-9-13-9z'/%3E%3Ccircle%20cx='16'%20cy='16'%20r='4'%20fill='%23486b2e'/%3E"
);
/// A pencil, for tools that may change something.
const CHANGES: &str = svg!("%3Cpath%20fill='%23486b2e'%20d='M4%2022v6h6L26%2012l-6-6z'/%3E");

/// The picture of moss.
pub(crate) fn of_moss() -> Icon {
    svg(MOSS)
}

/// Gives a tool the picture of what it does, where it has none.
pub(crate) fn give(tool: &mut Tool) {
    let annotations = tool.annotations.as_ref();
    let reads = annotations.and_then(|hints| hints.read_only_hint) == Some(true);
    let icon = svg(if reads { READS } else { CHANGES });
    tool.icons.get_or_insert_with(|| vec![icon]);
}

fn svg(source: &str) -> Icon {
    Icon::new(source).with_mime_type("image/svg+xml")
}
