//! Chinese, in simplified characters.

mod commands;
mod rules;

use moss_sdk::edit::MatchLevel;

use super::{
    ChangeVerbs, EffectWording, JobWording, PluginWording, PromptWording, SetupWording, Wording,
};

pub(super) static ZH: Wording = Wording {
    effect: EffectWording {
        of_plugin: |plugin| format!("（插件 {plugin}）"),
        wants_to_fetch: "要下载一个插件",
        wants_to_change_list: "要修改插件列表",
        wants_to_run: "要执行命令",
        wants_to_embed: "要把这个工作区的文本和查询发送到一个嵌入向量端点",
        embeds: |model, is_here| {
            let place = if is_here { "在本机" } else { "在另一台机器上" };
            format!("模型 {model}，{place}；策略不让调用者读取的文件不会发送")
        },
        wants_to_write_input: "要向正在运行的命令的标准输入写入",
        in_background: "在后台继续运行",
        runs_in: |directory, profile, network, tier| {
            let network = if network { "可访问网络" } else { "无网络" };
            let profile = match profile {
                "read-only" => "只读",
                "workspace-write" => "可写工作区",
                "danger-full" => "无限制",
                other => other,
            };
            let tier = match tier {
                "full" => "完整",
                "landlock" => "Landlock",
                "none" => "无",
                other => other,
            };
            format!("目录 {directory}，{profile}，{network}，隔离：{tier}")
        },
        is_given: "获得变量",
        connects_to: "可连接",
        writes: "写入",
        needs_confirmation: "需要确认",
        wants_to_change_files: |count| format!("要修改 {count} 个文件"),
        arguments: "参数：",
        protected: "包含受保护的名称",
        for_person: "有规则要求由人在 moss 中作出决定",
        truncated: "内容未完整显示",
        truncated_see: |id| format!("内容未完整显示：`moss confirm show {id} --full` 显示全部"),
        rule: "规则：",
        rule_text: rules::rule_text,
        digest: "摘要：",
        found,
        found_by: |level| format!("文本的匹配方式：{level}"),
        is_link: |path, real| format!("{path} 是链接，实际文件为 {real}"),
        verbs: ChangeVerbs { create: "创建", modify: "修改", delete: "删除" },
        done: ChangeVerbs { create: "已创建", modify: "已修改", delete: "已删除" },
        unsaved: "尚未保存：将请编辑器应用此更改，磁盘上的文件保持不变",
        changed_unsaved: "已在编辑器中修改，尚未保存",
        drift: |path, lines| format!("{path}：此编辑要修改的内容中有 {lines} 行与其预期不符"),
        line: |line| format!("第 {line} 行"),
        expected: "预期：",
        actual: "实际：",
        more_lines: |more| format!("另有 {more} 行未显示"),
        breaks: |path, count| match count {
            1 => format!("此更改后 {path} 有语法错误："),
            _ => format!("此更改后 {path} 有 {count} 处语法错误："),
        },
        may_break: |path, count| match count {
            1 => format!("此更改后 {path} 可能有语法错误："),
            _ => format!("此更改后 {path} 可能有 {count} 处语法错误："),
        },
        lints: |path, count| format!("此更改后代码检查工具在 {path} 中新发现 {count} 个问题："),
        unchecked: |path, why| format!("{path} 未经检查：{why}"),
        nothing_changed: "未做任何更改",
        undo_with: |number| format!("撤销：moss history undo {number}"),
        shows_image: |kind, (width, height), size| {
            format!("附有图像：{kind}，{width} × {height}，{size}；--json 输出其内容")
        },
    },
    prompt: PromptWording {
        apply: "应用此更改？",
        proceed: "是否执行？",
        yes_or_no: "[y] 是 / [n] 否",
        with_a_reason: "n 加原因",
        for_session: "[s] 本次会话内允许",
        always: "[a] 始终允许",
        remember: "今后凡符合此规则的操作都不再询问，直接允许？",
        remembered: |id| format!("已记住：`moss approvals revoke {id}` 可撤销"),
        applies_once: |problem| format!("仅本次有效：{problem}"),
        warning: "警告：",
        more: "[回车] 下一屏 / [a] 显示其余全部 / [q] 退出：",
        rest_not_shown: "其余内容未显示",
        reply: "请回答，或按回车跳过：",
        choose: "输入编号或自己的回答，或按回车跳过：",
        waiting_for: |command| format!("等待执行 `{command}`"),
        decided_elsewhere: "已在别处决定，或已过期",
        cannot_decide: "此命令的凭据无权决定：请由批准者在守护进程所在的机器上决定，或使用 \
                        --approver-token-file",
        confirmation: "确认请求",
        origin: |workspace, caller, expiry| {
            format!("工作区 {workspace}，调用者 {caller}，{expiry} 过期")
        },
        remember_allows: |scope| format!("--remember {scope} 将不再询问，直接允许："),
    },
    setup: SetupWording {
        forms: |client| {
            format!(
                "规则要求确认的操作可以在 {client} 中以表单形式询问您（如果它支持表单）。您的回答由该客户端转达：\
                 仅在您相信它会真正询问您时才选择是。否则请在 moss 中批准。"
            )
        },
        use_forms: "使用表单？",
        write: "写入？",
        nobody: "此处无法询问任何人；使用 --yes 可跳过询问直接执行",
    },
    job: JobWording {
        running: "运行中",
        waits: "等待输入",
        exited: |code| format!("已退出，退出码 {code}"),
        killed: |signal| format!("被信号 {signal} 终止"),
        ended: "已结束",
        asks: "它在询问：",
        ended_by: |why| format!("结束原因：{why}"),
        stopped: |id| format!("已停止 {id}"),
        does_not_end: |id| format!("{id} 已被强制终止，但尚未结束"),
    },
    plugin: PluginWording {
        add: |plugin, list| format!("将插件 {plugin} 加入 {list}"),
        replace: |plugin, list| format!("在 {list} 中替换插件 {plugin}"),
        accept: |plugin, list| format!("在 {list} 中固定插件 {plugin} 的版本"),
        remove: |plugin, list| format!("将插件 {plugin} 从 {list} 中移除"),
        trust: |list| format!("信任列表 {list} 的当前内容"),
        untrust: |list| format!("不再信任列表 {list}"),
        fetch: |host, source| format!("从 {host} 下载：{source}"),
        of_newer_moss: |list| format!("以更新版本的 moss 才认识的方式修改列表 {list}"),
        reason: "原因",
        stored_keys,
        since_trusted: "自上次信任以来：",
        list_unchanged: "列表没有变化",
        source: "来源",
        sha256: "sha256",
        file_sha256: "文件的 sha256",
        pinned: "固定为",
        signed_by: "签名者",
        problem: "问题",
        not_pinned: |source| format!("未固定版本：能写入 {source} 的任何人都可以悄悄更改其代码"),
        granted: "已授予",
        limits: "每次调用的上限",
        settings: "设置",
        tools: "工具",
        left_out: "不作为工具的函数",
        requested: "请求",
        may: "可以",
        nothing: "无",
        without_effect: "已授予但不起作用",
        may_not: "不可以",
        capped: "已授予，但超出配置中 `[plugin_maximum]` 的允许范围",
        withheld: "未授予：列表无法一次授予这么多；请用 --env、--tool、--http 或 --store 逐项指明",
        only_code: "仅代码不同",
        differences: "与当前提供服务的版本的差异",
        texts_since: "自当前提供服务的版本以来的文本变化",
        own_name: |own| format!("，在插件中名为 `{own}`"),
        required: "，必填",
        returns: "返回",
        grant_everything: "授予它请求的全部权限？（否：不授予任何权限，接着再询问您）",
        not_loaded: |name, why| format!("{name} 已写入列表，但无法提供服务：{why}"),
        removed: |name| format!("{name} 已从列表中移除"),
        store_deleted: "；其存储已删除",
        store_kept: "；其存储保留，供以后重新安装时使用",
        accepted: |name| format!("{name} 已固定为当前文件"),
        untrusted: "该列表不再受信任：其中的插件都不再提供服务",
        trusted: "已信任该列表的当前内容；用 `moss plugin list` 查看",
        added_without: |name, lacks, source| {
            format!(
                "{name} 已加入列表，但未授予任何权限；它请求：{lacks}；`moss plugin add --replace \
                 --grant-requested {source}` 授予全部，`--fs`、`--http` 等授予一部分"
            )
        },
        added: |name, tool| {
            format!(
                "{name} 已加入列表；可试用 `moss call {tool}`，用 `moss plugin show {name}` 查看"
            )
        },
    },
};

fn found(level: MatchLevel) -> Option<&'static str> {
    Some(match level {
        MatchLevel::Exact => return None,
        MatchLevel::LineTrimmed => "文本在忽略各行首尾空白后匹配",
        MatchLevel::WhitespaceNormalized => "文本在忽略空白差异后匹配",
        MatchLevel::IndentFlexible => "文本在忽略缩进和空行差异后匹配",
        MatchLevel::EscapeNormalized => "文本在还原转义序列后匹配",
        MatchLevel::TrimmedBoundary => "文本在忽略首尾空白后匹配",
        MatchLevel::UnicodeNormalized => "文本在忽略引号、破折号和空格字符的差异后匹配",
        MatchLevel::BlockAnchor => "文本按首行和末行匹配，中间各行只是相似",
        MatchLevel::ContextAware => "文本的各行只是相似",
    })
}

fn stored_keys(keys: u64, is_forgotten: bool) -> String {
    match is_forgotten {
        true => format!("其存储中有 {keys} 个键，将被删除"),
        false => format!("其存储中有 {keys} 个键，将予保留；`--forget-store` 会删除它们"),
    }
}
