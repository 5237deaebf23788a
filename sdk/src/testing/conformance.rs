//! What every host does alike with the files of a workspace: checks that are written once and run
//! with each host. What they check is what a test on the in-memory host can rely on.
//!
//! Left out is what is not a matter of files (policy, sessions, editors, history, plugins) and what
//! the in-memory host does not have: links, encodings other than UTF-8, permissions, ignore files
//! that are read.

mod listing;
mod proposing;
mod reading;
mod visiting;

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::finish;
use crate::context::{Files, ProposalOutcome};
use crate::edit::ChangeSet;
use crate::error::{ErrorCode, ToolError};
use crate::file::FileSnapshot;
use crate::path::RelPath;

/// A host with an empty workspace that is looked at from both sides: what it says, and what is there.
pub trait ConformanceHost: Files {
    /// Returns the absolute path of its workspace.
    fn root(&self) -> String;

    /// Writes a file, and its missing directories, past the host.
    fn put(&self, path: &str, bytes: &[u8]);

    /// Returns the bytes of a file; none where there is no file.
    fn bytes(&self, path: &str) -> Option<Vec<u8>>;

    /// Leaves a file or a directory out of listings, as an ignore file at the root does.
    fn ignore(&self, path: &str);

    /// Keeps a file from whatever asks nobody.
    fn deny(&self, path: &str);

    /// From now on the call is cancelled.
    fn cancel(&self);

    /// From now on nothing is written.
    fn set_dry_run(&self);

    /// Returns the size of the largest file that is read as a whole.
    fn edit_bytes_max(&self) -> u64;

    /// Returns the size of the largest file that a walk over texts reads.
    fn search_bytes_max(&self) -> u64;

    /// Proposes changes, which nobody has to be asked about.
    ///
    /// # Errors
    ///
    /// As [`Host::propose`](crate::context::Host::propose).
    fn propose(&self, changes: ChangeSet) -> Result<ProposalOutcome, ToolError>;
}

/// A check: it panics where something does not hold.
type ConformanceCheck = fn(&dyn ConformanceHost);

macro_rules! checks {
    ($($file:ident::$check:ident,)*) => { &[$((stringify!($check), $file::$check as ConformanceCheck)),*] };
}

/// The checks by their names.
const CHECKS: &[(&str, ConformanceCheck)] = checks![
    reading::paths_are_read_relative_or_beneath_the_root,
    reading::paths_that_lead_elsewhere_are_refused,
    reading::texts_come_whole_with_their_form,
    reading::what_is_not_text_is_binary,
    reading::what_is_not_a_file_is_not_read,
    reading::bytes_come_as_they_are,
    reading::lines_come_in_windows,
    reading::windows_are_bounded_in_bytes,
    reading::large_files_are_read_in_windows_only,
    listing::entries_come_in_path_order_with_kinds_and_sizes,
    listing::what_is_not_a_directory_is_not_listed,
    listing::ignored_names_are_counted_and_not_entered,
    listing::an_ignored_directory_is_listed_by_its_name,
    listing::the_bound_on_entries_counts_what_is_left_out,
    listing::a_cancelled_call_lists_nothing,
    visiting::texts_are_visited_in_order_and_the_rest_is_counted,
    visiting::bounds_end_a_walk,
    visiting::a_visitor_ends_its_walk,
    visiting::a_cancelled_call_visits_nothing,
    proposing::files_are_made_with_their_directories,
    proposing::files_are_replaced_and_edited,
    proposing::a_deleted_file_leaves_its_directory,
    proposing::a_dry_run_says_what_would_be,
    proposing::changes_of_other_content_are_stale,
    proposing::what_cannot_be_made_is_refused,
    proposing::what_cannot_be_changed_is_refused,
    proposing::changes_that_clash_are_refused,
    proposing::one_refused_change_refuses_all,
];

/// Runs every check with a host of its own and returns the names of those that fail.
pub fn failing<S: ConformanceHost>(make: impl Fn() -> S) -> Vec<&'static str> {
    let fails =
        |check: &ConformanceCheck| catch_unwind(AssertUnwindSafe(|| check(&make()))).is_err();
    CHECKS.iter().filter(|(_, check)| fails(check)).map(|(name, _)| *name).collect()
}

fn rel(path: &str) -> RelPath {
    RelPath::parse(path).expect("the path is well-formed")
}

fn read(host: &dyn ConformanceHost, path: &str) -> Result<FileSnapshot, ToolError> {
    finish(host.read(&rel(path)))
}

/// Fails unless something is refused for a reason, about a path.
fn check_refused<T>(refused: Result<T, ToolError>, code: ErrorCode, path: &str) {
    let Err(error) = refused else { panic!("{path}: not refused") };
    assert_eq!(error.code, code, "{path}: {error}");
    assert!(error.message.contains(path), "{path}: {error}");
}

#[cfg(test)]
mod tests;
