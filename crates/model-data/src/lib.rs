//! Data that models learn tool calls from: a checker of it, what is made of recorded conversations,
//! and what scores the responses of a model. Source: 000, 5 and 6; requirements A13 and A14.
//!
//! A line is a sample: `{"messages": […], "tags": […], "quality": {…}}`. Lines come in, verdicts go
//! out; who calls has the file. Nothing is coerced: what a model shall learn is held to the registry
//! as it is written.

mod action;
mod call;
mod check;
mod checker;
mod corrections;
mod evaluate;
mod finding;
mod outcome;
mod phrases;
mod preferences;
mod product;
mod question;
mod recorded;
mod report;
mod response;
mod risk;
mod sample;
mod statement;

pub use checker::{CheckOptions, Checker, LineVerdict, UnreadableLine};
pub use corrections::corrections;
pub use evaluate::{
    Evaluation, EvaluationCase, Evaluator, Expectation, ExpectedCall, FailedCase, Rate, Rates,
    Unread,
};
pub use finding::{FINDINGS_PER_LINE_MAX, Finding, FindingCode, FindingSeverity};
pub use preferences::{Flaw, preferences};
pub use product::{PRODUCT_VERSION, SPEC_VERSION, asi_tools};
pub use question::{OpenCase, QuestionOptions, question, reply};
pub use recorded::{Converted, SkipReason};
pub use report::{ClassShare, DataReport, Gate, GateName, Permitted, SampleClass};
pub use risk::{Risk, Risks};
pub use sample::{CALLS_MAX, MESSAGES_MAX};
pub use statement::Statement;

#[cfg(test)]
mod tests;
