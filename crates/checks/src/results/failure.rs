//! What is said of a test by itself: that it failed, that it takes long.

use schemars::JsonSchema;
use serde::Serialize;

/// A test that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TestFailure {
    /// What runs it again as `testPattern`: it, or as little more as the framework can choose.
    pub id: String,
    /// Why `id` is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unselectable: Option<Unselectable>,
    /// The file, relative to the workspace root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// What the test said, cut to a bound.
    pub message: String,
    /// What was expected, where the framework says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// What was there instead of `expected`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actual: Option<String>,
    /// The lines of the stack in files of the workspace.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stack: Vec<String>,
    /// The end of what it wrote.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub output_tail: String,
    /// How long it took, in milliseconds, where the report says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Whether it passed when it was run again: then it depends on more than the code.
    #[serde(skip_serializing_if = "is_false")]
    pub flaky: bool,
    /// The directory of its project, where tests of several ran: `path` of a call that runs it again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
}

/// Why a test cannot be chosen to run again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unselectable {
    /// The report has nothing by which the framework could choose it: all tests have to run.
    NoSelector,
}

/// A test that takes long, whether it passes or not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SlowTest {
    /// What runs it again as `testPattern`.
    pub id: String,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
fn is_false(value: &bool) -> bool {
    !value
}
