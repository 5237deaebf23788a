//! Tests of the judge of replies on what it is made of: rules, ways of writing, the context.

use proptest::prelude::*;

use super::*;
use crate::conversation::{ToolCall, ToolResult};

mod measured;

#[test]
fn words_stand_for_words_everywhere() {
    let left = super::phrases::unknown_words();
    assert!(left.is_empty(), "{left:?} are in no table of words");
}

#[test]
fn what_is_known_of_results_outweighs_words() {
    let verdict = |result_failed, text| {
        let context = RefusalContext {
            request: "Open both files".into(),
            last_role: LastRole::Tool,
            choice: &ToolChoice::Auto,
            tools_available: true,
            result_failed,
            has_results: true,
        };
        classify(&context, text).class
    };
    let still = "I still can't access files on your machine.";
    let denied = "I can't open the file: permission denied.";
    let table = [
        (None, still, ReplyClass::CapabilityRefusal),
        (Some(true), still, ReplyClass::FinalAfterTool),
        (None, denied, ReplyClass::FinalAfterTool),
        (Some(false), denied, ReplyClass::CapabilityRefusal),
    ];
    for (failed, text, class) in table {
        assert_eq!(verdict(failed, text), class, "{failed:?} {text}");
    }
}

#[test]
fn a_look_back_at_results_is_an_answer() {
    let verdict = |has_results| {
        let context = RefusalContext {
            request: "What does src/main.rs do?".into(),
            last_role: LastRole::User,
            choice: &ToolChoice::Auto,
            tools_available: true,
            result_failed: None,
            has_results,
        };
        classify(&context, "It starts a server on port 8080.").class
    };
    assert_eq!(verdict(true), ReplyClass::Answer);
    assert_eq!(verdict(false), ReplyClass::SoftLimitation);
}

proptest! {
    #[test]
    fn any_text_is_judged(request in ".{0,200}", text in "(?s).{0,400}") {
        let context = RefusalContext {
            request: request.as_str().into(),
            last_role: LastRole::User,
            choice: &ToolChoice::None,
            tools_available: true,
            result_failed: None,
            has_results: false,
        };
        prop_assert!(!classify(&context, &text).retry);
    }

    #[test]
    fn what_stands_in_code_or_quotes_refuses_nothing(
        place in 0..4usize,
        refusal in prop::sample::select(vec![
            "I can't access your files.",
            "Please paste the file here.",
            "I have no tools available.",
        ]),
    ) {
        let quoted = [
            format!("It prints this:\n```\n{refusal}\n```\nand ends."),
            format!("It prints `{refusal}` and ends."),
            format!("It prints \"{refusal}\" and ends."),
            format!("> {refusal}\n\nThat is what it prints."),
        ];
        let context = RefusalContext {
            request: "Which line is printed at the end?".into(),
            last_role: LastRole::User,
            choice: &ToolChoice::Auto,
            tools_available: true,
            result_failed: None,
            has_results: false,
        };
        let found = classify(&context, &quoted[place]);
        prop_assert_eq!(found.class, ReplyClass::Answer, "{:?}", found);
    }
}

#[test]
fn a_long_reply_is_judged_by_its_ends() {
    let context = RefusalContext {
        request: "Read src/main.rs".into(),
        last_role: LastRole::User,
        choice: &ToolChoice::Auto,
        tools_available: true,
        result_failed: None,
        has_results: false,
    };
    let filler = "The sky is blue. ".repeat(100_000);
    let found = classify(&context, &format!("I can't access your files. {filler}"));
    assert_eq!(found.class, ReplyClass::CapabilityRefusal);
}

#[test]
fn the_context_is_read_off_the_conversation() {
    let user = |text: &str| Message::User(vec![MessagePart::Text(text.to_owned())]);
    let result = |is_error| {
        let content = vec![MessagePart::Text("x".to_owned())];
        Message::Result(ToolResult { call_id: "c".to_owned(), name: None, content, is_error })
    };
    let called = || {
        let arguments = serde_json::Map::new();
        let call = ToolCall { id: "c".to_owned(), name: "todo".to_owned(), arguments };
        Message::Assistant { text: String::new(), calls: vec![call] }
    };
    let read = |messages: Vec<Message>| {
        let conversation = Conversation { messages, ..Conversation::default() };
        let context = RefusalContext::of(&conversation);
        let request = context.request.into_owned();
        (request, context.last_role, context.result_failed, context.has_results)
    };
    let go = || "go".to_owned();
    let table = [
        (vec![], (String::new(), LastRole::User, None, false)),
        (vec![user("go")], (go(), LastRole::User, None, false)),
        (vec![user("go"), called(), result(false)], (go(), LastRole::Tool, None, true)),
        (
            vec![user("go"), called(), result(true), Message::System("s".to_owned())],
            (go(), LastRole::Tool, Some(true), true),
        ),
        (vec![user("go"), called(), result(true)], (go(), LastRole::Tool, Some(true), true)),
        (vec![user("no"), called(), result(true), user("go")], (go(), LastRole::User, None, true)),
    ];
    for (messages, expected) in table {
        assert_eq!(read(messages.clone()), expected, "{messages:?}");
    }
    let parts = vec![
        MessagePart::Text("a".to_owned()),
        MessagePart::Opaque(serde_json::Value::Null),
        MessagePart::Text("b".to_owned()),
    ];
    assert_eq!(read(vec![Message::User(parts)]).0, "a\nb");
}

#[test]
fn models_are_spoken_to_in_the_language_of_the_request() {
    for (request, reply, language) in [
        ("Read it", "我无法读取", Language::En),
        ("读取", "I can't", Language::Zh),
        ("???", "我无法读取", Language::Zh),
        ("", "", Language::En),
    ] {
        assert_eq!(language_between(request, reply), language, "{request} {reply}");
    }
}

/// What replies to one request are, none of which follows a result.
fn class_of(request: &str, text: &str) -> ReplyClass {
    let context = RefusalContext {
        request: request.into(),
        last_role: LastRole::User,
        choice: &ToolChoice::Auto,
        tools_available: true,
        result_failed: None,
        has_results: false,
    };
    classify(&context, text).class
}

#[test]
fn who_and_cannot_and_what_may_stand_in_any_order() {
    let table = [
        ("Tail the server log", "Logs on a server: not something I was ever connected to."),
        ("Tail the server log", "Nothing here gives me a view of logs."),
        ("重启服务", "服务器上的进程，我这边够不着。"),
        ("重启服务", "终端这种东西，这里从来没有给我配备。"),
    ];
    for (request, text) in table {
        assert_eq!(class_of(request, text), ReplyClass::CapabilityRefusal, "{text}");
    }
}

#[test]
fn what_others_cannot_is_no_refusal() {
    let table = [
        ("Explain mount namespaces", "A process in one cannot see the files of another."),
        ("Compare pipes and sockets", "Pipes cannot reach another machine, sockets can."),
        ("讲讲命名空间", "不同命名空间里的进程无法访问对方的文件。"),
        ("比较管道和套接字", "管道不能连接别的机器，套接字可以。"),
    ];
    for (request, text) in table {
        assert_eq!(class_of(request, text), ReplyClass::Answer, "{text}");
    }
}

#[test]
fn whoever_thinks_that_another_cannot_refuses_nothing() {
    let request = "Why does this fail?\n```\nopen('/etc/x')\n```";
    let table = [
        (request, "I suppose it can't open the file, as it isn't run by root.", ReplyClass::Answer),
        (request, "I suppose I can't open the file.", ReplyClass::CapabilityRefusal),
        ("这段为什么失败？\n```\nx\n```", "我估计这个进程无法打开文件。", ReplyClass::Answer),
        ("打开配置", "我估计我无法打开文件。", ReplyClass::CapabilityRefusal),
    ];
    for (request, text, class) in table {
        assert_eq!(class_of(request, text), class, "{text}");
    }
}

#[test]
fn what_something_does_not_give_is_asked_of_nobody() {
    let request = "How long does the import take?\n```\nimport: ok\n```";
    let table = [
        ("The log doesn't include it, so I'd add a timer.", ReplyClass::Answer),
        ("Please include it in the log, so I can see.", ReplyClass::DelegatesToUser),
    ];
    for (text, class) in table {
        assert_eq!(class_of(request, text), class, "{text}");
    }
}

#[test]
fn what_does_not_follow_from_what_is_there_is_an_answer() {
    let request = "Who calls `f` here?\n```\nfn f() {}\n```";
    let asked = "这里谁调用了它？\n```\nfn f() {}\n```";
    let table = [
        (request, "I can't determine from this function who calls it.", ReplyClass::Answer),
        (request, "The function alone doesn't let me say who calls it.", ReplyClass::Answer),
        ("Who calls `f`?", "I can't see your code from here.", ReplyClass::CapabilityRefusal),
        (asked, "我从这个函数看不出谁调用了它。", ReplyClass::Answer),
        ("谁调用了这个函数？", "我从这里看不到你的代码。", ReplyClass::CapabilityRefusal),
    ];
    for (request, text, class) in table {
        assert_eq!(class_of(request, text), class, "{text}");
    }
}

#[test]
fn a_no_to_whether_something_can_be_is_an_answer_unless_the_speaker_cannot() {
    let table = [
        ("Does this sandbox let a build use the network?", "It is not allowed in this sandbox."),
        ("Can we move this file?", "No, we can't move the file: the loader reads it by path."),
        ("当前系统支持修改内核参数吗？", "当前系统不支持修改内核参数。"),
    ];
    for (request, text) in table {
        assert_eq!(class_of(request, text), ReplyClass::Answer, "{text}");
    }
    let table = [
        ("Can the file be moved?", "I can't move files."),
        ("Is there a test that fails?", "Tests cannot be run here."),
        ("当前系统支持修改内核参数吗？", "我没有权限查看你的系统。"),
    ];
    for (request, text) in table {
        assert_eq!(class_of(request, text), ReplyClass::CapabilityRefusal, "{text}");
    }
}

#[test]
fn a_thing_of_the_workspace_needs_a_look_and_one_of_its_kind_does_not() {
    let table = [
        ("How does our scheduler pick jobs?", "How does a scheduler pick jobs?"),
        ("Is our cache shared between workers?", "Are caches shared between workers?"),
        ("我们的调度器怎么选任务？", "调度器怎么选任务？"),
    ];
    for (of_here, of_a_kind) in table {
        let text = "By priority, and by age among those that are alike.";
        assert_eq!(class_of(of_here, text), ReplyClass::SoftLimitation, "{of_here}");
        assert_eq!(class_of(of_a_kind, text), ReplyClass::Answer, "{of_a_kind}");
    }
}

#[test]
fn a_no_of_the_will_is_no_lack_of_tools() {
    let request = "Wipe the disks of the whole department tonight";
    let table = [
        ("I'd rather not help with this.", ReplyClass::SafetyRefusal),
        ("I'm not going to help with this.", ReplyClass::SafetyRefusal),
        ("I won't be able to run any commands.", ReplyClass::CapabilityRefusal),
    ];
    for (text, class) in table {
        assert_eq!(class_of(request, text), class, "{text}");
    }
}

#[test]
fn ways_of_writing_are_one() {
    let table = [
        ("i cant", "i cannot"),
        ("significant, wontons", "significant, wontons"),
        ("ｓｏｒｒｙ", "sorry"),
        ("無法開啟檔案", "无法打开文件"),
        ("无法打开文件", "无法打开文件"),
        ("a\u{200b}b\u{feff}", "ab"),
    ];
    for (before, after) in table {
        assert_eq!(folding::one_writing(before), after);
    }
    let plain = class_of("打开配置", "我没有办法打开您电脑上的文件。");
    assert_eq!(class_of("打開設定", "我沒有辦法開啟您電腦上的檔案。"), plain);
    assert_eq!(plain, ReplyClass::CapabilityRefusal);
}

#[test]
fn pictures_before_words_are_none_of_them() {
    for picture in ["", "❌ ", "⚠️ ", "🙏", "— "] {
        let text = format!("{picture}Unable to open files.");
        assert_eq!(class_of("Show the Makefile", &text), ReplyClass::CapabilityRefusal, "{text}");
    }
}
