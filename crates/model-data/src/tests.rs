//! Tests of the checker: what is found in a line, what is not, and what the report sums up.

use std::sync::Arc;

use moss_model_bridge::Registry;
use serde_json::{Value, json};

use super::*;

pub(super) fn registry() -> Arc<Registry> {
    let object = |properties: Value, required: Value| {
        json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        })
    };
    let text = json!({ "type": "string" });
    let tools = json!([
        {
            "name": "read_file",
            "parameters": object(
                json!({ "path": text, "startLine": { "type": "integer" } }),
                json!(["path"]),
            ),
            "aliases": { "path": ["filePath"] },
        },
        { "name": "grep_search", "parameters": object(json!({ "pattern": text }), json!(["pattern"])) },
        { "name": "delete_file", "parameters": object(json!({ "path": text }), json!(["path"])) },
        {
            "name": "create_file",
            "parameters": object(json!({ "path": text, "content": text }), json!(["path", "content"])),
        },
        { "name": "get_project_structure", "parameters": object(json!({}), json!([])) },
    ]);
    Arc::new(Registry::from_json(&tools.to_string()).unwrap())
}

/// A sample with its labels.
pub(super) fn labelled(messages: Value) -> Value {
    json!({
        "messages": messages,
        "tags": ["t"],
        "quality": { "schema_valid": true, "tools_from_registry": true },
    })
}

fn user() -> Value {
    json!({ "role": "user", "content": "please" })
}

fn says(text: &str) -> Value {
    json!({ "role": "assistant", "content": text })
}

fn calls(name: &str, arguments: Value) -> Value {
    let call = json!({ "id": "call_1", "name": name, "arguments": arguments });
    json!({ "role": "assistant", "content": null, "tool_calls": [call] })
}

fn gives(content: &str) -> Value {
    json!({ "role": "tool", "tool_call_id": "call_1", "content": content })
}

fn verdict(line: &str) -> LineVerdict {
    Checker::new(&registry(), CheckOptions::default()).line(line)
}

/// The codes and positions of what is found in messages.
fn found(messages: &[Value]) -> Vec<(FindingCode, String)> {
    let verdict = verdict(&labelled(Value::from(messages)).to_string());
    verdict.findings.into_iter().map(|finding| (finding.code, finding.pointer)).collect()
}

fn read(path: &str) -> Value {
    calls("read_file", json!({ "path": path }))
}

#[test]
fn sound_samples_have_no_findings() {
    let function = json!({ "role": "assistant", "content": null, "tool_calls": [
        { "id": "a", "type": "function",
          "function": { "name": "read_file", "arguments": "{\"path\":\"a\"}" } },
        { "id": "b", "function": { "name": "get_project_structure", "arguments": {} } },
    ]});
    let result = |id: &str| json!({ "role": "tool", "tool_call_id": id, "content": "x" });
    for messages in [
        vec![user(), says("hello")],
        vec![json!({ "role": "system", "content": "s" }), user(), read("a"), gives("x"), says("x")],
        vec![
            user(),
            read("a"),
            json!({ "role": "tool", "name": "read_file", "content": "x" }),
            says("y"),
        ],
        vec![user(), read("a"), json!({ "role": "tool", "content": { "n": 1 } }), says("y")],
        vec![user(), function, result("b"), result("a"), says("y"), user(), says("z")],
        vec![user(), read("a"), gives("x"), says("Summary\nAGENT_STATUS: STOP")],
        vec![user(), read("a"), gives("error: no such file"), says("The file is not there.")],
    ] {
        assert_eq!(found(&messages), [], "{messages:?}");
    }
}

#[test]
fn turns_that_break_the_loop_are_found_where_they_are() {
    use FindingCode::*;
    let two = |first: &str, second: &str| {
        let call =
            |id: &str| json!({ "id": id, "name": "read_file", "arguments": { "path": "a" } });
        json!({ "role": "assistant", "tool_calls": [call(first), call(second)] })
    };
    for (messages, expected) in [
        (vec![user()], (NotClosed, "/messages/0")),
        (vec![user(), read("a")], (NotClosed, "/messages/1")),
        (vec![user(), read("a"), gives("x")], (NotClosed, "/messages/2")),
        (vec![user(), read("a"), says("x")], (ResultMissing, "/messages/1/tool_calls/0")),
        (vec![user(), gives("x"), says("x")], (ResultOrphan, "/messages/1")),
        (vec![user(), read("a"), gives("x"), gives("x"), says("x")], (ResultTwice, "/messages/3")),
        (
            vec![user(), two("call_1", "call_2"), gives("x"), says("x")],
            (ResultMissing, "/messages/1/tool_calls/1"),
        ),
        (
            vec![user(), two("call_1", "call_1"), gives("x"), gives("x"), says("x")],
            (CallIdRepeated, "/messages/1/tool_calls/1/id"),
        ),
        (
            vec![user(), two("a", "b"), json!({ "role": "tool", "content": "x" }), gives("x")],
            (ResultOrphan, "/messages/2"),
        ),
        (
            vec![
                user(),
                read("a"),
                json!({ "role": "tool", "tool_call_id": "call_1",
                "name": "grep_search", "content": "" }),
                says("x"),
            ],
            (ResultName, "/messages/2/name"),
        ),
        (vec![user(), user(), says("x")], (RoleOrder, "/messages/1")),
        (vec![says("x")], (RoleOrder, "/messages/0")),
        (vec![user(), says("x"), says("y")], (RoleOrder, "/messages/2")),
        (vec![user(), read("a"), gives("x"), user(), says("y")], (RoleOrder, "/messages/3")),
        (
            vec![user(), json!({ "role": "system", "content": "" }), says("y")],
            (RoleOrder, "/messages/1"),
        ),
        (vec![user(), says(" ")], (EmptyTurn, "/messages/1")),
        (vec![user(), says("x\nAGENT_STATUS: CONTINUE")], (NotClosed, "/messages/1/content")),
        (vec![user(), says("x\nAGENT_STATUS: OK")], (StatusLine, "/messages/1/content")),
        (
            vec![user(), says("AGENT_STATUS: DONE\nAGENT_STATUS: STOP")],
            (StatusLine, "/messages/1/content"),
        ),
        (
            vec![json!({ "role": "bot", "content": "" }), user(), says("x")],
            (MessageShape, "/messages/0/role"),
        ),
        (vec![json!("hello"), user(), says("x")], (MessageShape, "/messages/0")),
        (
            vec![json!({ "role": "user", "content": 7 }), says("x")],
            (MessageShape, "/messages/0/content"),
        ),
    ] {
        let all = found(&messages);
        assert!(all.contains(&(expected.0, expected.1.to_owned())), "{messages:?}: {all:?}");
        assert!(all.len() <= 3, "{all:?}");
    }
}

#[test]
fn calls_are_held_to_the_registry_as_they_are_written() {
    use FindingCode::*;
    let place = "/messages/1/tool_calls/0";
    for (name, arguments, code, rest, fix) in [
        ("Read_File", json!({ "path": "a" }), ToolUnknown, "/name", "`read_file`"),
        ("reed_file", json!({ "path": "a" }), ToolUnknown, "/name", "`read_file`"),
        ("bash", json!({}), ToolUnknown, "/name", "of the registry"),
        (
            "read_file",
            json!({ "filePath": "a" }),
            ArgumentsInvalid,
            "/arguments/filePath",
            "write `path` for",
        ),
        ("read_file", json!({}), ArgumentsInvalid, "/arguments/path", "`path` (needed)"),
        ("read_file", json!({ "path": 1 }), ArgumentsInvalid, "/arguments/path", "`startLine`,"),
        (
            "read_file",
            json!({ "path": "a", "startLine": "3" }),
            ArgumentsInvalid,
            "/arguments/startLine",
            "`read_file` takes",
        ),
        ("read_file", json!("{\"path\":\"a\"}"), ArgumentsNotObject, "/arguments", "object itself"),
        ("read_file", json!(["a"]), ArgumentsNotObject, "/arguments", "{\"key\": value}"),
    ] {
        let messages = [user(), calls(name, arguments.clone()), gives("x"), says("y")];
        let line = labelled(Value::from(&messages[..])).to_string();
        let findings = verdict(&line).findings;
        let first = &findings[0];
        assert_eq!(
            (first.code, &*first.pointer),
            (code, &*format!("{place}{rest}")),
            "{arguments}"
        );
        assert!(first.fix.contains(fix), "{first:?}");
        let claims = findings.iter().filter(|finding| finding.code == QualityWrong).count();
        assert!(claims >= 1, "{findings:?}");
        // The same call, refused: it shows how to fix one.
        let messages =
            [user(), calls(name, arguments), gives("error: invalid"), says("It failed.")];
        assert_eq!(found(&messages), [(NegativeCall, place.to_owned())]);
    }
}

#[test]
fn shapes_of_calls_are_held_to_the_source() {
    use FindingCode::*;
    for (call, code) in [
        (json!("read_file"), CallShape),
        (json!({ "id": "call_1", "arguments": {} }), CallShape),
        (json!({ "name": "read_file", "arguments": { "path": "a" } }), CallShape),
        (json!({ "id": "call_1", "name": "read_file" }), ArgumentsNotObject),
        (
            json!({ "id": "call_1", "function": { "name": "read_file", "arguments": "{" } }),
            ArgumentsNotObject,
        ),
    ] {
        let turn = json!({ "role": "assistant", "tool_calls": [call] });
        let result = json!({ "role": "tool", "content": "x" });
        let all = found(&[user(), turn, result, says("y")]);
        assert!(all.iter().any(|(found, _)| *found == code), "{all:?}");
    }
}

#[test]
fn what_the_assistant_says_is_held_to_what_it_does() {
    use FindingCode::*;
    let mut beside = read("a");
    beside["content"] = json!("I look.");
    for (messages, expected) in [
        (vec![user(), says("工具执行:read_file 成功")], vec![NarratedCall]),
        (vec![user(), beside, gives("x"), says("y")], vec![TextBesideCalls]),
        (
            vec![user(), read("a"), gives("error: no such file"), says("Done, all is fine.")],
            vec![IgnoredError],
        ),
        (vec![user(), read("a"), gives("{\"ok\": true}"), says("Done, all is fine.")], vec![]),
    ] {
        let codes: Vec<_> = found(&messages).into_iter().map(|(code, _)| code).collect();
        assert_eq!(codes, expected, "{messages:?}");
    }
}

#[test]
fn calls_in_text_are_calls_where_they_can_be_read_as_they_are_written() {
    use FindingCode::*;
    let action =
        "```json action\n{\"tool\": \"read_file\", \"parameters\": {\"path\": \"a\"}}\n```";
    let line = "[TOOL_CALL]read_file[ARGS]{\"path\": \"a\"}";
    let result = json!({ "role": "tool", "name": "read_file", "content": "x" });
    let mut same = read("a");
    same["content"] = json!(action);
    let mut other = read("b");
    other["content"] = json!(action);
    for (messages, expected) in [
        (vec![user(), says(action), result.clone(), says("y")], vec![]),
        (vec![user(), says(line), result.clone(), says("y")], vec![]),
        (vec![user(), says(action)], vec![NotClosed]),
        (vec![user(), says(action), says("y")], vec![ResultMissing, RoleOrder]),
        (vec![user(), says("```json action\n{\"tool\": \n```")], vec![ActionText]),
        (vec![user(), same, gives("x"), says("y")], vec![]),
        (vec![user(), other, gives("x"), says("y")], vec![ActionText, QualityWrong]),
        (vec![user(), says("```rust\nfn main() {}\n```")], vec![]),
    ] {
        let codes: Vec<_> = found(&messages).into_iter().map(|(code, _)| code).collect();
        let has_all = expected.iter().all(|code| codes.contains(code));
        assert!(has_all && expected.is_empty() == codes.is_empty(), "{messages:?}: {codes:?}");
    }
}

#[test]
fn high_risk_needs_a_word_about_permission_before_it() {
    let delete = || calls("delete_file", json!({ "path": "a" }));
    let write = || calls("create_file", json!({ "path": "a", "content": "" }));
    let asks = json!({ "role": "user", "content": "Delete a. I confirm it." });
    let system = json!({ "role": "system", "content": "删除前须经用户确认。" });
    for (messages, expected) in [
        (vec![user(), delete(), gives("x"), says("y")], Some(FindingCode::PermissionMissing)),
        (
            vec![user(), delete(), gives("x"), says("I have permission.")],
            Some(FindingCode::PermissionMissing),
        ),
        (vec![user(), write(), gives("x"), says("y")], Some(FindingCode::WriteUnconfirmed)),
        (vec![asks, delete(), gives("x"), says("y")], None),
        (vec![system, user(), delete(), gives("x"), says("y")], None),
        (vec![user(), delete(), gives("{\"error\":\"denied\"}"), says("It was denied.")], None),
    ] {
        let codes: Vec<_> = found(&messages).into_iter().map(|(code, _)| code).collect();
        assert_eq!(codes, expected.into_iter().collect::<Vec<_>>(), "{messages:?}");
    }
}

#[test]
fn labels_are_compared_with_what_was_found() {
    let messages = json!([user(), says("x")]);
    for (line, expected) in [
        (json!({ "messages": messages }), vec!["tags", "quality_shape"]),
        (
            json!({ "messages": messages, "tags": "t", "quality": { "schema_valid": 1 } }),
            vec!["tags", "quality_shape", "quality_shape"],
        ),
        (
            json!({ "messages": messages, "tags": [],
                "quality": { "schema_valid": false, "tools_from_registry": true } }),
            vec!["quality_wrong"],
        ),
    ] {
        let findings = verdict(&line.to_string()).findings;
        let codes: Vec<Value> = findings.iter().map(|finding| json!(finding.code)).collect();
        assert_eq!(Value::from(codes), json!(expected), "{line}");
    }
}

#[test]
fn lines_that_are_no_samples_are_reported_by_what_they_are() {
    for (line, code) in [
        ("{", FindingCode::InvalidJson),
        ("[]", FindingCode::SampleShape),
        ("{\"messages\":[]}", FindingCode::SampleShape),
        ("{\"messages\":{}}", FindingCode::SampleShape),
        ("\u{feff}{", FindingCode::ByteOrderMark),
    ] {
        let verdict = verdict(line);
        assert_eq!(verdict.findings[0].code, code, "{line}");
        assert_eq!(verdict.class, None);
    }
    let line = format!("\u{feff}{}\r", labelled(json!([user(), says("x")])));
    assert_eq!(verdict(&line).findings.len(), 1);
    let twice = "{\"messages\":[{\"role\":\"user\",\"content\":\"a\",\"content\":\"b\"}]}";
    assert_eq!(verdict(twice).findings[0].code, FindingCode::DuplicateKey);
}

#[test]
fn report_sums_up_lines_and_gates() {
    let registry = registry();
    let mut checker =
        Checker::new(&registry, CheckOptions { findings_max: 2, ..CheckOptions::default() });
    let chat = labelled(json!([user(), says("x")])).to_string();
    let single = labelled(json!([user(), read("a"), gives("x"), says("y")])).to_string();
    assert_eq!(checker.line(&chat).class, Some(SampleClass::PlainChat));
    assert_eq!(checker.line(&single).class, Some(SampleClass::SingleTool));
    assert_eq!(checker.line("  \r").class, None);
    assert_eq!(checker.line(&chat).findings[0].message, "line 1 has the same messages");
    checker.line("broken");
    checker.unreadable(UnreadableLine::NotUtf8 { byte: 4 });
    let report = checker.finish();
    assert_eq!((report.lines, report.blank, report.samples, report.calls), (6, 1, 5, 1));
    assert_eq!((report.errors, report.warnings), (2, 1));
    assert_eq!((report.findings.len(), report.findings_omitted), (2, 1));
    let gates: Vec<_> = report.gates.iter().map(|gate| (gate.good, gate.of, gate.passed)).collect();
    assert_eq!(gates, [(1, 1, true), (1, 3, false), (3, 5, false), (0, 0, true)]);
    assert!(!report.passed);
    assert_eq!(report.tools["read_file"], 1);
    assert_eq!(report.tools_unused.len(), 4);
    let shares: Vec<_> = report.mix.iter().map(|kind| kind.samples).collect();
    assert_eq!(shares, [1, 0, 0, 2]);
}

#[test]
fn the_sample_of_the_source_passes_against_the_tools_of_the_source() {
    let tools = asi_tools();
    assert_eq!(tools.len(), 22);
    let registry = Arc::new(Registry::new(tools).unwrap());
    let mut checker = Checker::new(&registry, CheckOptions::default());
    let line = json!({
        "messages": [
            { "role": "system", "content": "只用已注册的工具。" },
            { "role": "user", "content": "找到处理登录的函数。" },
            { "role": "assistant", "content": null, "tool_calls": [{ "id": "call_1",
                "name": "codebase_search", "arguments": { "query": "login", "limit": 10 } }] },
            { "role": "tool", "name": "codebase_search", "content": "{\"matches\":[]}" },
            { "role": "assistant", "content": "没有找到。" },
        ],
        "tags": ["retrieve", "explain", "asi_v1"],
        "quality": { "schema_valid": true, "tools_from_registry": true },
    });
    assert_eq!(checker.line(&line.to_string()).findings, []);
    assert!(checker.finish().passed);
}

#[test]
fn gates_are_those_of_the_source() {
    for (good, of, name, passed) in [
        (99, 100, GateName::ToolNames, true),
        (989, 1000, GateName::ToolNames, false),
        (98, 100, GateName::Arguments, true),
        (979, 1000, GateName::Arguments, false),
        (999_999, 1_000_000, GateName::Closed, false),
        (0, 0, GateName::Closed, true),
        (u64::MAX - 1, u64::MAX, GateName::Permission, false),
    ] {
        assert_eq!(Gate::new(name, good, of).passed, passed, "{good}/{of}");
    }
    let nothing = Checker::new(&registry(), CheckOptions::default()).finish();
    assert!(!nothing.passed);
}

#[test]
fn findings_of_one_line_are_bounded_and_counted() {
    let mut messages = vec![user()];
    messages.extend(std::iter::repeat_n(says(""), 100));
    let verdict = verdict(&labelled(Value::from(messages)).to_string());
    assert_eq!(verdict.findings.len(), FINDINGS_PER_LINE_MAX);
    assert!(verdict.findings_omitted > 100);
    let many = vec![json!(0); MESSAGES_MAX + 1];
    let verdict = super::tests::verdict(&labelled(Value::from(many)).to_string());
    assert_eq!(verdict.findings[0].code, FindingCode::SampleShape);
}

fn recorded(extra: Vec<Value>) -> String {
    let call = |id: &str, name: &str, arguments: Value| {
        let call =
            json!({ "id": id, "function": { "name": name, "arguments": arguments.to_string() } });
        json!({ "role": "assistant", "content": null, "tool_calls": [call] })
    };
    let result =
        |id: &str, content: &str| json!({ "role": "tool", "tool_call_id": id, "content": content });
    let mut messages = vec![
        json!({ "role": "system", "content": "s" }),
        json!({ "role": "user", "content": "earlier" }),
        says("yes"),
        json!({ "role": "user", "content": "read it, token=abc", "time": 7 }),
        call("a", "read_file", json!({ "file": "x" })),
        result("a", "{\"error\":{\"code\":\"arguments_invalid\"}}"),
        call("b", "read_file", json!({ "path": "x" })),
        result("b", "{\"text\":\"y\"}"),
    ];
    messages.extend(extra);
    json!({ "messages": messages }).to_string()
}

#[test]
fn corrected_calls_become_samples() {
    let redact = |value: Value| {
        serde_json::from_str(&value.to_string().replace("token=abc", "[redacted]")).unwrap()
    };
    let made = corrections(&registry(), &recorded(vec![says("It says y."), user()]), redact);
    assert_eq!((made.lines.len(), made.left_out.len()), (1, 0));
    let line = &made.lines[0];
    assert_eq!(line["tags"], json!(["correction", "arguments_invalid"]));
    let roles: Vec<&Value> =
        line["messages"].as_array().unwrap().iter().map(|message| &message["role"]).collect();
    assert_eq!(
        json!(roles),
        json!(["system", "user", "assistant", "tool", "assistant", "tool", "assistant"])
    );
    assert_eq!(line["messages"][1], json!({ "role": "user", "content": "read it, [redacted]" }));
    let call = json!([{ "id": "b", "name": "read_file", "arguments": { "path": "x" } }]);
    assert_eq!(line["messages"][4]["tool_calls"], call);
    let verdict = verdict(&line.to_string());
    let codes: Vec<_> = verdict.findings.iter().map(|finding| finding.code).collect();
    assert_eq!(
        (verdict.class, codes),
        (Some(SampleClass::Correction), vec![FindingCode::NegativeCall])
    );
}

#[test]
fn conversations_without_corrections_are_left_out_with_a_reason() {
    let registry = registry();
    for (line, reason) in [
        ("{".to_owned(), SkipReason::NoConversation),
        (recorded(vec![]), SkipReason::NotAnswered),
        (recorded(vec![gives("x")]), SkipReason::Disordered),
        (labelled(json!([user(), says("x")])).to_string(), SkipReason::NothingToLearn),
        (
            labelled(json!([user(), read("a"), gives("error: x"), says("It failed.")])).to_string(),
            SkipReason::NotRepaired,
        ),
    ] {
        let made = corrections(&registry, &line, |value| value);
        assert_eq!((made.lines.len(), made.left_out), (0, vec![reason]), "{line}");
    }
    // A call that does not fit any more without its secret is no sample.
    let made = corrections(&registry, &recorded(vec![says("y")]), |value| {
        serde_json::from_str(&value.to_string().replace("{\"path\":\"x\"}", "{\"path\":0}"))
            .unwrap()
    });
    assert_eq!((made.lines.len(), made.left_out), (0, vec![SkipReason::NotValid]));
}

#[test]
fn pairs_have_a_right_turn_and_one_that_is_wrong_in_a_known_way() {
    let registry = registry();
    let line = recorded(vec![says("It says y.")]);
    let made = preferences(&registry, &line, |value| value);
    let flaws: Vec<&Value> = made.lines.iter().map(|pair| &pair["tags"][1]).collect();
    assert_eq!(json!(flaws), json!(["made_up_tool", "made_up_arguments", "ignored_error"]));
    for pair in &made.lines {
        assert_eq!(pair["prompt"].as_array().unwrap().len(), 6);
        assert_eq!(pair["chosen"][0]["tool_calls"][0]["arguments"], json!({ "path": "x" }));
    }
    let wrong = |pair: usize| &made.lines[pair]["rejected"][0]["tool_calls"][0];
    assert!(registry.resolve(wrong(0)["name"].as_str().unwrap()).is_none());
    assert_eq!(wrong(1)["name"], "read_file");
    assert!(!registry.tool("read_file").unwrap().fits(&wrong(1)["arguments"]));
    let pretended = made.lines[2]["rejected"][0]["content"].as_str().unwrap();
    assert!(phrases::reports_success_only(pretended));
    assert_eq!(preferences(&registry, &line, |value| value), made);
}

#[test]
fn pairs_about_errors_are_in_the_language_of_the_user() {
    let asks = json!({ "role": "user", "content": "读取 a" });
    let line = labelled(json!([asks, read("a"), gives("error: x"), says("读取失败。")]));
    let made = preferences(&registry(), &line.to_string(), |value| value);
    assert_eq!(made.lines.len(), 1);
    assert_eq!(made.lines[0]["chosen"][0]["content"], "读取失败。");
    let pretended = made.lines[0]["rejected"][0]["content"].as_str().unwrap();
    assert!(!pretended.is_ascii(), "{pretended}");
}

mod laws {
    use proptest::prelude::*;

    use super::*;

    /// A turn of few kinds, right ones and wrong ones.
    fn turn() -> impl Strategy<Value = Value> {
        let name =
            prop::sample::select(vec!["read_file", "grep_search", "delete_file", "bash", ""]);
        let arguments = prop::sample::select(vec![
            json!({ "path": "a" }),
            json!({ "pattern": "x" }),
            json!({ "file": 1 }),
            json!("{\"path\":\"a\"}"),
            json!(null),
        ]);
        let id = prop::sample::select(vec!["a", "b", "c", ""]);
        let text = prop::sample::select(vec![
            "",
            "Done.",
            "It failed.",
            "error: x",
            "{\"error\":{\"code\":\"e\"}}",
            "工具执行:read_file",
            "AGENT_STATUS: DONE",
            "[TOOL_CALL]read_file[ARGS]{\"path\":\"a\"}",
            "```json action\n{\"tool\":\"read_file\",\"parameters\":{\"path\":\"a\"}}\n```",
            "```json action\n{",
        ]);
        let calls = (id.clone(), name, arguments).prop_map(|(id, name, arguments)| {
            let call = json!({ "id": id, "name": name, "arguments": arguments });
            json!({ "role": "assistant", "content": null, "tool_calls": [call] })
        });
        let result = (id, text.clone())
            .prop_map(|(id, text)| json!({ "role": "tool", "tool_call_id": id, "content": text }));
        let says = (prop::sample::select(vec!["user", "assistant", "system"]), text)
            .prop_map(|(role, text)| json!({ "role": role, "content": text }));
        prop_oneof![3 => calls, 3 => result, 3 => says, 1 => Just(json!(7))]
    }

    /// A question, and rounds of calls with their results, then an answer.
    fn rounds() -> impl Strategy<Value = Vec<Value>> {
        let arguments = prop::sample::select(vec![json!({ "path": "a" }), json!({ "file": "a" })]);
        let name = prop::sample::select(vec!["read_file", "delete_file", "bash"]);
        let content = prop::sample::select(vec!["x", "error: x", "{\"error\":{\"code\":\"e\"}}"]);
        let round = prop::collection::vec((name, arguments, content), 0..5);
        (round, any::<bool>()).prop_map(|(rounds, is_answered)| {
            let mut messages = vec![user()];
            for (place, (name, arguments, content)) in rounds.into_iter().enumerate() {
                let id = format!("call_{place}");
                let call = json!({ "id": id, "name": name, "arguments": arguments });
                messages.push(json!({ "role": "assistant", "tool_calls": [call] }));
                messages.push(json!({ "role": "tool", "tool_call_id": id, "content": content }));
            }
            if is_answered {
                messages.push(says("That is what there is."));
            }
            messages
        })
    }

    proptest! {
        #[test]
        fn every_line_has_a_verdict(turns in prop::collection::vec(turn(), 0..8)) {
            let line = labelled(Value::from(turns)).to_string();
            let registry = registry();
            let mut checker = Checker::new(&registry, CheckOptions::default());
            let verdict = checker.line(&line);
            prop_assert_eq!(&verdict, &Checker::new(&registry, CheckOptions::default()).line(&line));
            let report = checker.finish();
            prop_assert_eq!(report.errors + report.warnings, verdict.findings.len() as u64);
            if report.passed {
                let is_broken = |finding: &Finding| finding.code.breaks_the_loop();
                prop_assert!(!verdict.findings.iter().any(is_broken));
            }
            let value: Value = serde_json::from_str(&line).unwrap();
            for finding in &verdict.findings {
                // The position is in the line, or is a key that is missing there.
                let parent = finding.pointer.rsplit_once('/').map_or("", |(parent, _)| parent);
                prop_assert!(value.pointer(parent).is_some(), "{:?}", finding);
            }
        }

        #[test]
        fn what_is_made_of_records_can_be_learned_from(messages in rounds()) {
            let registry = registry();
            let line = json!({ "messages": messages }).to_string();
            for sample in corrections(&registry, &line, |value| value).lines {
                let mut checker = Checker::new(&registry, CheckOptions::default());
                let verdict = checker.line(&sample.to_string());
                prop_assert_eq!(verdict.class, Some(SampleClass::Correction));
                let gates = checker.finish().gates;
                prop_assert!(gates[..3].iter().all(|gate| gate.passed), "{}", sample);
            }
            for pair in preferences(&registry, &line, |value| value).lines {
                prop_assert_ne!(&pair["chosen"], &pair["rejected"]);
            }
        }
    }
}
