//! What tells that a frame for a call is shown, not made: the words before it.

/// Words before which nothing is to be done, whatever follows.
const NEVER: &[&str] = &[
    "do not execute",
    "don't execute",
    "not execute",
    "do not run",
    "don't run",
    "not to be run",
    "not to be executed",
    "do not call",
    "don't call",
    "never send",
    "never run",
    "不要执行",
    "不要运行",
    "不要调用",
    "请勿执行",
    "请勿运行",
    "别执行",
    "勿执行",
    "不会执行",
    "不执行",
];
/// Words that speak of how something is written.
const FORM: &[&str] = &["format", "syntax", "格式", "语法", "写法"];
/// Words of somebody who is about to act: the form that they speak of is what they work on.
const ACTING: &[&str] = &[
    "i'll ",
    "i will ",
    "let me ",
    "let's ",
    "i'm going to ",
    "i am going to ",
    "now i ",
    "fix",
    "check",
    "reformat",
    "format the",
    "run the format",
    "我来",
    "我将",
    "让我",
    "我会",
    "我先",
    "修复",
    "修正",
    "检查",
];
/// Words that introduce an example.
const EXAMPLE: &[&str] = &[
    "example",
    "e.g.",
    "for instance",
    "such as this",
    "例如",
    "比如",
    "示例",
    "举例",
    "例子",
    "譬如",
];

/// How strongly the words before a frame say that it is only shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum Cue {
    /// Not at all.
    #[default]
    None,
    /// It may be an example: only what is marked as a call is one.
    Weak,
    /// It is shown.
    Strong,
}

// === impl Cue ===

impl Cue {
    /// Reads the line before a frame.
    pub(super) fn of(line: &str) -> Self {
        let line = line.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| line.contains(word));
        if has(NEVER) || (has(FORM) && !has(ACTING)) {
            Self::Strong
        } else if has(EXAMPLE) {
            Self::Weak
        } else {
            Self::None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_before_a_frame_tell_whether_it_is_shown() {
        for (line, cue) in [
            ("Reading it now:", Cue::None),
            ("动作格式如下（不要执行）：", Cue::Strong),
            ("Do NOT execute this:", Cue::Strong),
            ("The call syntax is:", Cue::Strong),
            ("The format of a call:", Cue::Strong),
            ("Let me fix the format of main.rs:", Cue::None),
            ("我来修复格式：", Cue::None),
            ("For example:", Cue::Weak),
            ("例如：", Cue::Weak),
            ("", Cue::None),
        ] {
            assert_eq!(Cue::of(line), cue, "{line}");
        }
    }
}
