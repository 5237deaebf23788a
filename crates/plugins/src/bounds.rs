//! What the configuration makes of an entry: the most that it may have, and whether it may serve at
//! all.

use moss_plugin_list::{Lowered, PluginEntry};

use crate::settings::Settings;

/// Holds an entry to the configuration.
pub(super) fn bound(entry: &mut PluginEntry, settings: &Settings) {
    let maximum = &settings.maximum;
    entry.maximum = maximum.grant.clone();
    let limits = &mut entry.limits;
    limits.lowered = Lowered {
        timeout: lower(&mut limits.timeout, maximum.timeout),
        memory: lower(&mut limits.memory_bytes_max, maximum.memory_bytes),
        output: lower(&mut limits.output_bytes_max, maximum.output_bytes),
    };
}

/// Makes a limit no more than a bound. Returns whether it was.
fn lower<T: PartialOrd>(limit: &mut T, bound: T) -> bool {
    let is_lower = bound < *limit;
    if is_lower {
        *limit = bound;
    }
    is_lower
}

/// Says why an entry may not serve, whatever its component is; none where it may.
pub(super) fn refusal(entry: &PluginEntry, settings: &Settings) -> Option<String> {
    let name = &entry.name;
    if entry.sha256.is_none() && !settings.unpinned {
        return Some(format!(
            "the list does not pin it, which the configuration demands (plugins.unpinned); \
             `moss plugin accept {name}` pins its current file"
        ));
    }
    if entry.is_remote() && entry.signature.is_none() && !settings.remote_unsigned {
        return Some(
            "it is from the network and has no signature, which the configuration demands \
             (plugins.remote_unsigned)"
                .to_owned(),
        );
    }
    None
}
