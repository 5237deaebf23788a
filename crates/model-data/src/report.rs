//! What was found in a whole file: gates, mix, counts. Figures of gates and mix: source 000, 5.2 and
//! 5.3; requirement A13.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::finding::{Finding, FindingCode};

/// What was found in all lines.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DataReport {
    /// Whether there is a sample and every gate is passed.
    pub passed: bool,
    /// The lines, blank ones too.
    pub lines: u64,
    /// The lines without anything.
    pub blank: u64,
    /// The lines that are not blank: each is a sample, or should be one.
    pub samples: u64,
    /// The calls of all samples.
    pub calls: u64,
    /// Those of them that are wrong and whose result is an error: samples of corrections, not counted
    /// by the gates.
    pub negative_calls: u64,
    /// What the source asks for.
    pub gates: Vec<Gate>,
    /// What kinds of samples there are.
    pub mix: Vec<ClassShare>,
    /// Calls that delete, run commands or reach into the network.
    pub high_risk: Permitted,
    /// Calls that change files or the configuration.
    pub writes: Permitted,
    /// The calls of each tool of the registry.
    pub tools: BTreeMap<String, u64>,
    /// The tools of the registry that no sample calls.
    pub tools_unused: Vec<String>,
    /// Findings that are defects.
    pub errors: u64,
    /// Findings that are worth a look.
    pub warnings: u64,
    /// The findings of each code.
    pub codes: BTreeMap<FindingCode, u64>,
    /// The findings that came first, up to a number.
    pub findings: Vec<Finding>,
    /// How many more there are.
    pub findings_omitted: u64,
}

/// A share that must not be missed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Gate {
    /// Which property of samples is counted.
    pub gate: GateName,
    /// Whether the share is large enough, or there is nothing to count.
    pub passed: bool,
    /// How many are as they should be.
    pub good: u64,
    /// How many were looked at.
    pub of: u64,
    /// The share, from 0 to 1; none of nothing.
    pub share: Option<f64>,
    /// The least share that passes.
    pub least: f64,
}

/// What a gate counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GateName {
    /// Calls whose tool is in the registry.
    ToolNames,
    /// Samples with calls, all of whose arguments satisfy their schemas; a line that cannot be read
    /// is one whose arguments do not.
    Arguments,
    /// Samples that are closed: every call has its result before the conversation continues, an
    /// reply at the end.
    Closed,
    /// High-risk calls with a word about permission or confirmation.
    Permission,
}

/// What a sample teaches. Source: 000, 5.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SampleClass {
    /// One call that works.
    SingleTool,
    /// Several calls that work.
    Chain,
    /// An error, and what is done about it.
    Correction,
    /// No call: the model replies in text.
    PlainChat,
}

/// How many samples are of a class.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClassShare {
    /// What kind of samples.
    pub class: SampleClass,
    /// How many samples are of it.
    pub samples: u64,
    /// Their share of all samples that could be read, from 0 to 1.
    pub share: f64,
    /// The share that the source suggests. Stated, not required.
    pub suggested: f64,
}

/// Calls that a person has to be asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Permitted {
    /// How many such calls there are.
    pub calls: u64,
    /// How many of them stand behind a word about permission or confirmation.
    pub with_permission: u64,
}

// === impl Gate ===

impl Gate {
    pub(crate) fn new(gate: GateName, good: u64, of: u64) -> Self {
        let least = gate.least_permille();
        #[expect(clippy::cast_precision_loss, reason = "a share is shown, not counted with")]
        let share = (of > 0).then(|| good as f64 / of as f64);
        let passed = u128::from(good) * 1000 >= u128::from(of) * u128::from(least);
        Self { gate, passed, good, of, share, least: f64::from(least) / 1000.0 }
    }
}

// === impl GateName ===

impl GateName {
    /// The least share that passes, in thousandths.
    const fn least_permille(self) -> u16 {
        match self {
            Self::ToolNames => 990,
            Self::Arguments => 980,
            Self::Closed | Self::Permission => 1000,
        }
    }

    /// What is counted, in words.
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::ToolNames => "tool names in the registry",
            Self::Arguments => "samples with valid arguments",
            Self::Closed => "conversations closed",
            Self::Permission => "high-risk calls with permission",
        }
    }
}

// === impl SampleClass ===

impl SampleClass {
    /// All of them, in the order of the source.
    pub const ALL: [Self; 4] = [Self::SingleTool, Self::Chain, Self::Correction, Self::PlainChat];

    /// The share that the source suggests.
    pub const fn suggested(self) -> f64 {
        match self {
            Self::SingleTool | Self::Chain => 0.35,
            Self::Correction | Self::PlainChat => 0.15,
        }
    }

    /// What it is, in words.
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::SingleTool => "one tool",
            Self::Chain => "chains of tools",
            Self::Correction => "errors and corrections",
            Self::PlainChat => "plain chat",
        }
    }
}

// === impl ClassShare ===

impl ClassShare {
    pub(crate) fn new(class: SampleClass, samples: u64, of: u64) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "a share is shown, not counted with")]
        let share = if of == 0 { 0.0 } else { samples as f64 / of as f64 };
        Self { class, samples, share, suggested: class.suggested() }
    }
}
