//! Who may decide what a rule asks.

use serde::Deserialize;
use toml::Spanned;

use crate::Verdict;
use crate::error::PolicyFault;

/// Who has to decide, as a rule names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ApproverForm {
    /// A person, where moss itself asks: no form that a client passes on.
    Person,
}

/// Whether a person decides in moss alone. Only what asks is decided by somebody.
pub(super) fn for_person(
    approver: Option<&Spanned<ApproverForm>>,
    decision: Verdict,
) -> Result<bool, PolicyFault> {
    let Some(approver) = approver else { return Ok(false) };
    if decision != Verdict::Ask {
        return Err(PolicyFault::new(approver.span(), "`approver` says who decides a question")
            .help("write `decision = \"ask\"` in a rule with `approver`"));
    }
    let ApproverForm::Person = approver.as_ref();
    Ok(true)
}
