//! How a frame that is only shown is recognized: the words before it.

use std::sync::LazyLock;

use regex::Regex;

/// Words that forbid, at the beginning of a clause.
const FORBID: &[&str] = &["do not", "don't", "never", "not to be"];
/// What is said of calls alone: whatever follows, they are forbidden.
const DEED_OF_CALLS: &[&str] = &["execute", "be executed"];
/// What else they forbid.
const DEED: &[&str] =
    &["executed", "run", "call", "called", "send", "use", "do", "write", "make", "copy"];
/// What they forbid it to; nothing after it, or these.
const OBJECT: &[&str] = &[
    "it",
    "this",
    "that",
    "these",
    "those",
    "them",
    "any of this",
    "yet",
    "the following",
    "the above",
    "what follows",
    "anything here",
    "anything below",
];
/// Words for what is shown, after some of these.
const SHOWN: &[&str] = &[
    "block", "blocks", "call", "calls", "action", "actions", "command", "commands", "example",
    "json",
];
const SHOWN_BY: &[&str] = &["the", "the next", "the following", "this", "that", "these", "those"];
/// What forbids in Chinese, and what it forbids.
const FORBID_ZH: &[&str] = &["不要", "请勿", "切勿", "勿", "别", "禁止"];
/// Those whose object does not matter where they forbid to execute.
const FORBID_ALL_ZH: &[&str] = &["不要", "请勿", "切勿", "禁止"];
const EXECUTE_ZH: &str = "执行";
const DEED_ZH: &[&str] = &["执行", "运行", "调用", "照做", "复制"];
/// What may follow it: the end of a clause, or a word for what is shown.
const OBJECT_ZH: &[&str] = &["它", "此", "这", "以下", "下面", "上面", "上述", "下列", "该"];
/// Who speaks of what he does himself.
const SELF_ZH: &[&str] = &["我", "我们", "我先", "我们先"];
/// Words for how something is written, and what follows them where that is shown.
const FORM: &[&str] = &["format", "syntax"];
const FORM_NEXT: &[&str] =
    &["is", "of", "for", "looks", "below", "to call", "to use", "as follows", "follows", "exactly"];
/// What points at a form.
const FORM_BEFORE: &[&str] = &["this", "the following", "that", "such a", "the same"];
const FORM_ZH: &[&str] = &["格式", "语法", "写法", "用法"];
const FORM_NEXT_ZH: &[&str] = &["如下", "是", "为", "示例", "说明", "要求", "（", "("];
const FORM_BEFORE_ZH: &[&str] = &["以下", "如下", "下列", "下面的", "这个", "这种", "此", "该"];
/// Words that show how something looks.
const LIKE: &[&str] = &["looks like", "look like", "looks like this", "look like this", "像这样"];
/// Words of somebody who is about to act: what they speak of is what they work on.
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
    "reading",
    "rewriting",
    "我来",
    "我将",
    "让我",
    "我会",
    "我先",
    "修复",
    "修正",
    "检查",
    "读取",
    "查看",
    "修改",
    "重新",
    "看一下",
    "看看",
];
/// Words that introduce an example.
const EXAMPLE: &[&str] = &[
    "for example",
    "example:",
    "example (",
    "an example",
    "examples:",
    "e.g.",
    "for instance",
    "例如",
    "比如",
    "示例",
    "举例",
    "例子",
    "譬如",
];

/// Finds any of the cue words: hardly a line has one.
static TELLING: LazyLock<Regex> = LazyLock::new(|| {
    let words = [FORBID, FORBID_ZH, FORM, FORM_ZH, LIKE, EXAMPLE, &["example"]].concat();
    let words: Vec<String> = words.iter().map(|word| regex::escape(word)).collect();
    #[expect(clippy::unwrap_used, reason = "a list of words is always a pattern")]
    Regex::new(&words.join("|")).unwrap()
});

/// How strongly the words before a frame say that it is only shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum Cue {
    /// The words say nothing of that.
    #[default]
    None,
    /// It may be an example: only what is marked as a call is one.
    Weak,
    /// It is only shown, however it is marked.
    Strong,
}

// === impl Cue ===

impl Cue {
    /// Reads the line before a frame.
    pub(super) fn of(line: &str) -> Self {
        let line = line.to_lowercase();
        if !TELLING.is_match(&line) {
            return Self::None;
        }
        let acts = || has(&line, ACTING);
        if forbids(&line) || ((shows_form(&line) || ends_like(&line)) && !acts()) {
            Self::Strong
        } else if (has(&line, EXAMPLE) || speaks_of_example(&line)) && !acts() {
            Self::Weak
        } else {
            Self::None
        }
    }
}

/// Whether words forbid something, whatever it is.
pub(super) fn forbids_anything(words: &str) -> bool {
    let words = words.to_lowercase();
    let mut all = FORBID.iter().chain(FORBID_ZH);
    all.any(|forbid| after(&words, forbid).next().is_some())
}

fn has(line: &str, words: &[&str]) -> bool {
    words.iter().any(|word| line.contains(word))
}

/// The positions after a word that stands by itself.
fn after<'l>(line: &'l str, word: &'l str) -> impl Iterator<Item = (&'l str, &'l str)> {
    line.match_indices(word).filter_map(move |(place, _)| {
        let (before, rest) = (&line[..place], &line[place + word.len()..]);
        let is_word = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
        let stands_alone = !word.is_ascii()
            || !(is_word(before.chars().next_back()) || is_word(rest.chars().next()));
        stands_alone.then_some((before, rest))
    })
}

/// Whether nothing follows but the end of a clause.
fn ends_clause(rest: &str) -> bool {
    let rest = rest.trim_start_matches([' ', '*', '_', '`']);
    rest.chars().next().is_none_or(|c| ".:!,;)]-—。：！，；）".contains(c))
}

fn forbids(line: &str) -> bool {
    let begins_clause = |before: &str| {
        let before = before.trim_end_matches([' ', '*', '_', '"', '\'']);
        let last = before.chars().next_back();
        last.is_none_or(|c| !c.is_alphanumeric())
            || before.ends_with("please")
            || before.ends_with("but")
    };
    let in_english = FORBID.iter().any(|forbid| {
        after(line, forbid).filter(|(before, _)| begins_clause(before)).any(|(_, rest)| {
            let rest = rest.trim_start();
            DEED_OF_CALLS.iter().filter_map(|deed| rest.strip_prefix(*deed)).any(ends_word)
                || DEED
                    .iter()
                    .filter_map(|deed| rest.strip_prefix(*deed))
                    .any(|rest| ends_clause(rest) || is_of_what_is_shown(rest.trim_start()))
        })
    });
    in_english || FORBID_ZH.iter().any(|forbid| forbids_in_chinese(line, forbid))
}

fn forbids_in_chinese(line: &str, forbid: &str) -> bool {
    after(line, forbid).any(|(before, rest)| {
        let rest = rest.trim_start();
        let of_all = FORBID_ALL_ZH.contains(&forbid)
            && rest.starts_with(EXECUTE_ZH)
            && !SELF_ZH.iter().any(|who| before.ends_with(who));
        of_all
            || DEED_ZH.iter().filter_map(|deed| rest.strip_prefix(deed)).any(|rest| {
                ends_clause(rest) || OBJECT_ZH.iter().any(|word| rest.starts_with(word))
            })
    })
}

/// Whether words are about what is shown.
fn is_of_what_is_shown(object: &str) -> bool {
    let ends = |rest: &str| ends_clause(rest) || rest.starts_with(" yet");
    let shown = |rest: &str| {
        let rest = rest.trim_start();
        let mut words = SHOWN.iter().filter_map(|word| rest.strip_prefix(*word));
        words.any(|rest| ends(rest) || rest.starts_with(" below") || rest.starts_with(" above"))
    };
    OBJECT.iter().filter_map(|word| object.strip_prefix(*word)).any(ends)
        || SHOWN_BY.iter().filter_map(|word| object.strip_prefix(*word)).any(shown)
}

fn ends_word(rest: &str) -> bool {
    !rest.starts_with(char::is_alphanumeric)
}

/// Whether a line speaks of an example, which is no part of a path or a name.
fn speaks_of_example(line: &str) -> bool {
    after(line, "example").any(|(before, rest)| {
        let is_name = |c: char| matches!(c, '/' | '\\' | '_' | '-');
        !before.ends_with(|c| is_name(c) || c == '.')
            && !rest.starts_with(is_name)
            && !rest.strip_prefix('.').is_some_and(|rest| rest.starts_with(char::is_alphanumeric))
    })
}

fn shows_form(line: &str) -> bool {
    let ends = |rest: &str| rest.trim_end_matches([':', '：', '.', '。', '*', ' ']).is_empty();
    let in_english = FORM.iter().any(|word| {
        after(line, word).any(|(before, rest)| {
            let next = rest.trim_start();
            let before = before.trim_end();
            let goes_on = |word: &&str| {
                next.strip_prefix(*word)
                    .is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
            };
            ends(rest)
                || next.starts_with([':', '('])
                || FORM_NEXT.iter().any(goes_on)
                || FORM_BEFORE.iter().any(|words| before.ends_with(words))
        })
    });
    in_english
        || FORM_ZH.iter().any(|word| {
            after(line, word).any(|(before, rest)| {
                ends(rest)
                    || FORM_BEFORE_ZH.iter().any(|words| before.ends_with(words))
                    || rest.starts_with(['：', ':'])
                    || FORM_NEXT_ZH.iter().any(|next| rest.starts_with(next))
            })
        })
}

fn ends_like(line: &str) -> bool {
    let line = line.trim_end_matches([':', '：', ' ', '*']);
    LIKE.iter().any(|words| line.ends_with(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_before_a_frame_decide_whether_it_is_shown() {
        for (line, cue) in [
            ("Reading it now:", Cue::None),
            ("动作格式如下（不要执行）：", Cue::Strong),
            ("Do NOT execute this:", Cue::Strong),
            ("An example (do not run it):", Cue::Strong),
            ("Example. Do not execute it yet:", Cue::Strong),
            ("The call syntax is:", Cue::Strong),
            ("The format of a call:", Cue::Strong),
            ("Use this format to call tools:", Cue::Strong),
            ("Tool calls have this format:", Cue::Strong),
            ("A call looks like this:", Cue::Strong),
            ("请勿执行以下内容：", Cue::Strong),
            ("调用语法：", Cue::Strong),
            ("Let me fix the format of main.rs:", Cue::None),
            ("我来修复格式：", Cue::None),
            ("Getting more information about the project.", Cue::None),
            ("Formatting the code:", Cue::None),
            ("Reading the formatter config:", Cue::None),
            ("There is a syntax error in a.rs.", Cue::None),
            ("main.rs 有一个语法错误：", Cue::None),
            ("先运行格式化：", Cue::None),
            ("读取配置文件的格式：", Cue::None),
            ("文件格式不对，重新写入：", Cue::None),
            ("The file is in an unknown format. Reading it:", Cue::None),
            ("The command was not executed. Retrying:", Cue::None),
            ("I don't run anything yet; first I look.", Cue::None),
            ("This code is never run, so delete it:", Cue::None),
            ("先读取，不执行测试：", Cue::None),
            ("For example:", Cue::Weak),
            ("Here is an example:", Cue::Weak),
            ("例如：", Cue::Weak),
            ("Reading examples/a.rs:", Cue::None),
            ("", Cue::None),
        ] {
            assert_eq!(Cue::of(line), cue, "{line}");
        }
    }
}
