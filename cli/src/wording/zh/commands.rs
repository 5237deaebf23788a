//! Why a command asks, in Chinese. What moss reads in its words stays as it is written.

/// How a reason ends: what asks whatever a rule allows.
const UNSEEN: (&str, &str) = ("; no rule allows that unseen", "；任何规则都不能免除查看");
const UNKNOWN: (&str, &str) =
    ("; no rule allows what nobody can know", "；任何规则都不能允许无法预知的操作");
/// What the shell does for a command, around the name of a file.
const EMPTIES: (&str, &str) = ("empties ", ", which cannot be undone; `>>` appends");
const UNREAD: &str = "the command cannot be read: ";
/// Why bash does not say how it reads a text, around what kept it.
const UNREAD_BY_BASH: (&str, &str) = (
    "bash could not be asked how it reads this text: ",
    "; of plainer commands it is not asked; no rule allows that unseen",
);
/// What commands do that always ask.
const ALWAYS_ASK: &[(&str, &str)] = &[
    (
        "changes files in place, which cannot be undone; the tools that edit keep a history",
        "会就地修改文件且无法撤销，编辑工具则保留历史",
    ),
    (
        "changes how the shell reads what follows, or runs what a variable says",
        "会改变 shell 对后续内容的读法，或运行变量给出的内容",
    ),
    (
        "changes the rights of a whole tree, which cannot be undone",
        "会更改整个目录树的权限且无法撤销",
    ),
    ("changes what a cluster runs", "会改变集群运行的内容"),
    ("changes what an account has", "会更改账户拥有的内容"),
    ("changes what others see", "会改变他人看到的内容"),
    ("changes what others see, or an account", "会改变他人看到的内容，或更改账户"),
    ("cuts off what files hold", "会截断文件内容"),
    ("destroys what a device holds", "会毁掉设备上的内容"),
    ("discards changes of files without a trace", "会丢弃文件的修改，不留痕迹"),
    (
        "discards changes of files without a trace; `git switch` changes branches safely",
        "会丢弃文件的修改，不留痕迹；`git switch` 可安全切换分支",
    ),
    ("discards changes of files, or moves a branch", "会丢弃文件的修改，或移动分支"),
    ("empties the files that it writes; -a appends", "会清空它要写入的文件，-a 为追加"),
    ("ends other processes", "会结束其他进程"),
    ("may change or remove what a database holds", "可能更改或删除数据库中的内容"),
    ("may replace a file, which cannot be undone", "可能替换文件且无法撤销"),
    (
        "may replace a file, which cannot be undone; -n keeps what is there",
        "可能替换文件且无法撤销，-n 保留已有文件",
    ),
    ("moves a file to where nothing is kept", "会把文件移到不予保留的位置"),
    ("may replace or remove what others have", "可能替换或删除他人已有的内容"),
    ("may set a program that git runs", "可能设置由 git 运行的程序"),
    ("overwrites a file or a device", "会覆盖文件或设备"),
    ("publishes for others, which cannot be undone", "会向他人发布且无法撤销"),
    ("removes a working tree", "会删除工作树"),
    ("removes containers, or what they hold", "会删除容器或其中的内容"),
    (
        "removes files for good; `delete_file` can be undone",
        "会彻底删除文件，`delete_file` 则可以撤销",
    ),
    ("removes files that git does not know", "会删除 git 未跟踪的文件"),
    ("removes files, or runs another program", "会删除文件或运行其他程序"),
    ("removes files; `delete_file` can be undone", "会删除文件，`delete_file` 则可以撤销"),
    ("removes or moves a branch", "会删除或移动分支"),
    ("removes or moves a tag", "会删除或移动标签"),
    ("removes or overwrites files", "会删除或覆盖文件"),
    ("removes what the repository keeps", "会删除仓库保存的内容"),
    ("removes what was put aside", "会删除用 stash 收起的内容"),
    ("may change what a reference stands for", "可能更改引用所指的内容"),
    ("replaces a file", "会替换文件"),
    ("replaces a file with a link", "会用链接替换文件"),
    ("replaces a file, which cannot be undone", "会替换文件且无法撤销"),
    ("rewrites or removes what the repository keeps", "会改写或删除仓库保存的内容"),
    ("runs a command that moss does not look at", "会运行 moss 不检查的命令"),
    (
        "runs a command that moss does not look at, or changes files",
        "会运行 moss 不检查的命令，或修改文件",
    ),
    ("runs a text that moss does not read", "会运行 moss 不读取的文本"),
    ("runs another program", "会运行其他程序"),
    ("runs a program that an option names", "会运行选项所指定的程序"),
    ("makes hooks of files that an option names", "会把选项所指定的文件变成钩子"),
    (
        "runs what its list of steps says, which anything may have written",
        "会运行其步骤列表中的内容，而该列表可能由任何程序写入",
    ),
    ("sends files to others", "会把文件发送给他人"),
    ("runs commands in submodules, or removes them", "会在子模块中运行命令，或删除子模块"),
    ("runs commands with other rights, elsewhere or later", "会以其他权限、在别处或稍后运行命令"),
    ("stops or changes what the machine runs", "会停止或改变本机运行的内容"),
];

/// The reason of a rule about one command; none where it is of another rule.
pub(super) fn reason(text: &str) -> Option<String> {
    if let Some(why) = text.strip_suffix(UNKNOWN.0) {
        let why = match why.strip_prefix(UNREAD) {
            Some(problem) => format!("无法读懂该命令：{problem}"),
            None => why.to_owned(),
        };
        return Some(why + UNKNOWN.1);
    }
    if let Some(why) = text.strip_prefix(UNREAD_BY_BASH.0) {
        let why = why.strip_suffix(UNREAD_BY_BASH.1)?;
        return Some(format!(
            "无法询问 bash 如何解读这段文本：{why}；更简单的命令无需询问{}",
            UNSEEN.1
        ));
    }
    let does = text.strip_prefix("it ")?.strip_suffix(UNSEEN.0)?;
    let emptied = || does.strip_prefix(EMPTIES.0)?.strip_suffix(EMPTIES.1);
    let chinese = match ALWAYS_ASK.iter().find(|(english, _)| *english == does) {
        Some((_, chinese)) => (*chinese).to_owned(),
        None => format!("会清空 {} 且无法撤销，`>>` 为追加", emptied()?),
    };
    Some(format!("该命令{chinese}{}", UNSEEN.1))
}

#[cfg(test)]
mod tests {
    use super::reason;

    #[test]
    fn reason_of_a_command_is_chinese_around_its_words() {
        for (english, chinese) in [
            (
                "it removes files for good; `delete_file` can be undone; no rule allows that unseen",
                "该命令会彻底删除文件，`delete_file` 则可以撤销；任何规则都不能免除查看",
            ),
            (
                "it empties a.txt, which cannot be undone; `>>` appends; no rule allows that unseen",
                "该命令会清空 a.txt 且无法撤销，`>>` 为追加；任何规则都不能免除查看",
            ),
            (
                "the command cannot be read: byte 3: x; no rule allows what nobody can know",
                "无法读懂该命令：byte 3: x；任何规则都不能允许无法预知的操作",
            ),
            (
                "bash could not be asked how it reads this text: there is no bash; of plainer commands it is not asked; \
                 no rule allows that unseen",
                "无法询问 bash 如何解读这段文本：there is no bash；更简单的命令无需询问；任何规则都不能免除查看",
            ),
            (
                "`eval` without its text; no rule allows what nobody can know",
                "`eval` without its text；任何规则都不能允许无法预知的操作",
            ),
        ] {
            assert_eq!(reason(english).as_deref(), Some(chinese));
        }
        assert_eq!(reason("it says so"), None);
        assert_eq!(reason("it flies; no rule allows that unseen"), None);
    }
}
