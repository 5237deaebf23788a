//! What the configuration says of plugins.

use std::time::Duration;

use moss_network::RequestBounds;
use moss_plugin_list::Grant;

/// What the configuration says of plugins; `config.toml` names each the same.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Most plugins of all lists together.
    pub plugins_max: usize,
    /// Largest component, in bytes.
    pub component_bytes_max: u64,
    /// Whether an entry may do without a pin.
    pub unpinned: bool,
    /// Whether a component from the network may do without a signature.
    pub remote_unsigned: bool,
    /// The public keys whose signatures count.
    pub signers: Vec<String>,
    /// Longest time to compile one component.
    pub compile_timeout: Duration,
    /// Most memory to compile one component, in bytes.
    pub compile_memory_bytes: u64,
    /// Most compiled code that is kept, in bytes.
    pub cache_bytes_max: u64,
    /// What any plugin may have at most.
    pub maximum: Maximum,
    /// Most calls of plugins that run at once, those that they make of each other included.
    pub calls_max: usize,
    /// What bounds a download.
    pub bounds: RequestBounds,
}

/// What any plugin may have at most.
#[derive(Debug, Clone, PartialEq)]
pub struct Maximum {
    /// What it may do outside itself.
    pub grant: Grant,
    /// Longest run of a call.
    pub timeout: Duration,
    /// Most memory of a call, in bytes.
    pub memory_bytes: usize,
    /// Most output of a call, in bytes.
    pub output_bytes: usize,
}

#[cfg(test)]
impl Settings {
    /// What the configuration says where nobody changes it.
    pub(crate) fn roomy() -> Self {
        Self {
            plugins_max: 64,
            component_bytes_max: 64 << 20,
            unpinned: true,
            remote_unsigned: true,
            signers: Vec::new(),
            compile_timeout: Duration::from_mins(1),
            compile_memory_bytes: 2 << 30,
            cache_bytes_max: 1 << 30,
            maximum: Maximum {
                grant: Grant::everything(),
                timeout: Duration::from_mins(10),
                memory_bytes: 1 << 30,
                output_bytes: 64 << 20,
            },
            calls_max: 8,
            bounds: RequestBounds {
                connect: Duration::from_secs(1),
                head: Duration::from_secs(1),
                read_timeout: Duration::from_secs(1),
                request_bytes_max: 1 << 20,
                response_bytes_max: 1 << 20,
            },
        }
    }
}
