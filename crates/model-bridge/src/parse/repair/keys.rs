//! What is known of the keys of a call: a quote before one of them ends a string, a quote before
//! other words may stand in it.

use super::super::call_keys::{ARGUMENT_KEYS, LIST_KEY, NAME_KEYS, OTHER_KEYS};
use crate::registry::{RegisteredTool, Registry};

/// What is known of the keys of a text.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::parse) struct KnownKeys<'r> {
    registry: Option<&'r Registry>,
    tool: Option<&'r RegisteredTool>,
    /// Whether the text is the arguments of a call, not the call.
    is_arguments: bool,
}

/// What a bracket holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JsonRole {
    /// The keys of a call.
    Call,
    /// The arguments of one.
    Arguments,
    /// A list whose elements are calls.
    List,
    /// Something inside of an argument.
    Other,
}

// === impl KnownKeys ===

impl<'r> KnownKeys<'r> {
    /// The keys of calls of any of these tools.
    pub(in crate::parse) fn of_calls(registry: &'r Registry) -> Self {
        Self { registry: Some(registry), ..Self::default() }
    }

    /// The arguments of a tool.
    pub(in crate::parse) fn of_arguments(
        registry: &'r Registry,
        tool: Option<&'r RegisteredTool>,
    ) -> Self {
        Self { registry: Some(registry), tool, is_arguments: true }
    }

    /// Takes the name of the tool, once it is read.
    pub(super) fn named(&mut self, name: &str) {
        if let Some(registry) = self.registry {
            self.tool = registry.resolve(name);
        }
    }

    /// What the outermost bracket holds.
    pub(super) fn outermost(&self, is_object: bool) -> JsonRole {
        match (self.registry, is_object) {
            (None, _) => JsonRole::Other,
            (_, true) if self.is_arguments => JsonRole::Arguments,
            (_, true) => JsonRole::Call,
            (_, false) => JsonRole::List,
        }
    }

    /// Whether a key can stand in a bracket. Whatever is inside of an argument can have any.
    pub(super) fn may_stand(&self, role: JsonRole, key: &str) -> bool {
        let of_call = |key: &str| {
            let lists = [NAME_KEYS, ARGUMENT_KEYS, OTHER_KEYS];
            key == LIST_KEY || lists.iter().any(|keys| keys.contains(&key))
        };
        match role {
            JsonRole::Call => of_call(key) || self.is_parameter(key),
            JsonRole::Arguments => self.is_parameter(key),
            JsonRole::List | JsonRole::Other => true,
        }
    }

    fn is_parameter(&self, key: &str) -> bool {
        match (self.tool, self.registry) {
            (Some(tool), _) => tool.parameter(key).is_some(),
            (None, Some(registry)) => registry.tools().any(|tool| tool.parameter(key).is_some()),
            (None, None) => true,
        }
    }
}

// === impl JsonRole ===

impl JsonRole {
    /// What a bracket holds that stands at a key of this one, or in this list.
    pub(super) fn inside(self, key: &str, is_object: bool) -> Self {
        match (self, is_object) {
            (Self::List, true) => Self::Call,
            (Self::Call, true) if ARGUMENT_KEYS.contains(&key) => Self::Arguments,
            (Self::Call, true) if key == "function" => Self::Call,
            (Self::Call, false) if key == LIST_KEY => Self::List,
            _ => Self::Other,
        }
    }

    /// Whether the keys of it are known.
    pub(super) fn is_known(self) -> bool {
        matches!(self, Self::Call | Self::Arguments)
    }
}
