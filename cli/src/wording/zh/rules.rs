//! Rules in Chinese: who made one, and the reasons of those that are built in. Names, places and reasons that
//! people wrote stay as they are.

use super::commands;

/// How the text of a rule begins.
const LAYERS: [(&str, &str); 7] = [
    ("by admin policy", "管理员策略"),
    ("by user policy", "用户策略"),
    ("by workspace policy", "工作区策略"),
    ("because the name is protected", "名称受保护"),
    ("because the file differs", "文件内容与预期不符"),
    ("because of the command", "命令本身"),
    ("by default", "默认"),
];

/// Why a rule that is built in says what it says.
const REASONS: [(&str, &str); 16] = [
    ("reading needs no rule", "读取无需规则"),
    ("what a call does is decided by effect", "调用按其产生的影响逐一裁定"),
    ("no rule allows it", "没有规则允许"),
    ("the command only reads, and the sandbox holds it to that", "该命令只读，并由沙箱保证"),
    (
        "the file makes other programs run code; a rule with `protected = true` and its path can allow it unasked",
        "该文件会使其他程序执行代码；带有 `protected = true` 及其路径的规则可免除询问",
    ),
    (
        "the file belongs to git or to moss; a rule with `protected = true` and its path can open it",
        "该文件属于 git 或 moss；带有 `protected = true` 及其路径的规则可开放它",
    ),
    (
        "the file is likely to contain secrets; a rule with `protected = true` and its path can open it",
        "该文件可能含有机密；带有 `protected = true` 及其路径的规则可开放它",
    ),
    (
        "the edit changes lines that differ from what it expects; no rule and no standing approval allows that unseen",
        "此编辑会修改与其预期不符的行；任何规则或长期批准都不能免除查看",
    ),
    (
        "a person looks at each plugin and at what it may do; no rule allows it unseen",
        "每个插件及其权限都须由人查看；任何规则都不能免除",
    ),
    ("the list of plugins grants these words, which only read", "插件列表授予了这些只读的命令"),
    (
        "the list of plugins grants these words, but the command may write, and no rule allows it",
        "插件列表授予了这些命令，但该命令可能写入，且没有规则允许",
    ),
    (
        "the program may run what it reads; no rule allows what nobody can know",
        "该程序可能执行它读入的内容；任何规则都不能允许无法预知的操作",
    ),
    (
        "bash may read this text otherwise than moss does; plainer commands, one after the other, are sure; no rule allows that unseen",
        "bash 对这段文本的解读可能与 moss 不同；请改用更简单的命令逐条执行；任何规则都不能免除查看",
    ),
    (
        "bash refuses this text or one in it, and what it runs then is not known; no rule allows that unseen",
        "bash 拒绝这段文本或其中的文本，因此无法得知它会运行什么；任何规则都不能免除查看",
    ),
    (
        "which file it reads is not known before; no rule allows that unseen",
        "事先无法得知它读取哪个文件；任何规则都不能免除查看",
    ),
    (
        "which file it writes is not known before; no rule allows that unseen",
        "事先无法得知它写入哪个文件；任何规则都不能免除查看",
    ),
];

pub(super) fn rule_text(text: &str) -> String {
    let Some((layer, chinese)) = LAYERS.iter().find(|(layer, _)| text.starts_with(layer)) else {
        return text.to_owned();
    };
    let rest = &text[layer.len()..];
    let Some((place, reason)) = rest.split_once(": ") else { return format!("{chinese}{rest}") };
    let reason = match REASONS.iter().find(|(english, _)| *english == reason) {
        Some((_, chinese)) => (*chinese).to_owned(),
        None => commands::reason(reason).unwrap_or_else(|| reason.to_owned()),
    };
    format!("{chinese}{place}：{reason}")
}

#[cfg(test)]
mod tests {
    use super::rule_text;

    #[test]
    fn who_made_a_rule_and_why_is_chinese_and_what_people_wrote_stays() {
        for (english, chinese) in [
            ("by default: no rule allows it", "默认：没有规则允许"),
            (
                "by user policy /a/policy.toml:3 (x): why not",
                "用户策略 /a/policy.toml:3 (x)：why not",
            ),
            ("by workspace policy b.toml:1", "工作区策略 b.toml:1"),
            (
                "because of the command (input): the program may run what it reads; no rule allows \
                 what nobody can know",
                "命令本身 (input)：该程序可能执行它读入的内容；任何规则都不能允许无法预知的操作",
            ),
            ("something else", "something else"),
        ] {
            assert_eq!(rule_text(english), chinese);
        }
    }
}
