//! What the files of a workspace are to a command: what it may not write, and what it may not even read.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use moss_policy::{Action, Policy, Verdict};
use moss_sandbox::ProtectedKind;
use moss_sdk::RelPath;
use moss_workspace::Protection;

use crate::call::effect::by_rules::{decidable, is_shipped, protected_kind};
use crate::call::effect::{Effects, ToolFacts};

/// Says of each path on a walk what it is to a command, by the rules of one moment.
pub(super) struct FileKinds<'a> {
    effects: &'a Effects,
    policy: Arc<Policy>,
    tool: ToolFacts,
    /// What is decided about all files at once that are protected alike; none where paths are distinguished.
    alike: RefCell<HashMap<AlikeFiles, Option<Verdict>>>,
}

/// What is done to files, and what protects their names.
type AlikeFiles = (Action, Option<Protection>);

// === impl FileKinds ===

impl<'a> FileKinds<'a> {
    pub(super) fn new(effects: &'a Effects, policy: Arc<Policy>) -> Self {
        Self { effects, policy, tool: effects.tool(), alike: RefCell::default() }
    }

    /// What a path is to a command; none where it is a file like any other.
    pub(super) fn of(&self, relative: &Path) -> Option<ProtectedKind> {
        // A name that cannot be read may be that of a secret.
        let Some(path) = decidable(relative) else { return Some(ProtectedKind::Masked) };
        let files = &self.effects.scope.workspace.files;
        let named = files.protection(&path);
        let kind_of =
            |named| protected_kind(|action| self.verdict(action, &path, named), &path, named);
        let kind = kind_of(named);
        // Lists of authorities come with packages, which neither work without them nor can be removed with them.
        if kind.is_some() && is_shipped(&path) && self.is_public(&path, named) {
            return kind_of(files.protection_of_public(&path));
        }
        kind
    }

    /// Whether a file with the name of a key holds what is public alone.
    fn is_public(&self, path: &RelPath, named: Option<Protection>) -> bool {
        let files = &self.effects.scope.workspace.files;
        if files.protection_of_public(path) == named {
            return false;
        }
        let opened = files.open_for_reading(path);
        opened.is_ok_and(|opened| {
            let around = files.resolve(path).ok().and_then(|at| files.protection_beside_names(&at));
            opened.real() == path && around.is_none() && opened.is_public()
        })
    }

    fn verdict(&self, action: Action, path: &RelPath, named: Option<Protection>) -> Verdict {
        let rules = (&*self.policy, &self.tool);
        let mut alike = self.alike.borrow_mut();
        let decide = || self.effects.decide_alike(rules, action, named);
        let known = *alike.entry((action, named)).or_insert_with(decide);
        known.unwrap_or_else(|| self.effects.decide_named(rules, action, (path, named)).verdict)
    }
}
