//! Replies that no model writes: however they are cut, they are read alike and nothing is lost.

use proptest::prelude::*;

use super::*;

/// Pieces of which replies are made that no model writes, and marks that are cut off.
const PIECES: &[&str] = &[
    "```",
    "````",
    "~~~",
    "`",
    "``",
    "json action",
    "json",
    "action",
    "rust",
    "markdown",
    "js",
    "\n",
    "\n\n",
    "\r\n",
    " ",
    "  ",
    "> ",
    "- ",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "'",
    "“",
    "”",
    ",",
    "，",
    ":",
    "：",
    "\\",
    "\\n",
    "\\u",
    "tool",
    "name",
    "parameters",
    "arguments",
    "path",
    "content",
    "read_file",
    "create_file",
    "run_tests",
    "{\"tool\":\"read_file\",\"parameters\":{\"path\":\"a\"}}",
    "{\"tool\":\"run_tests\"}",
    "{\"tool\":\"create_file\",\"parameters\":{\"path\":\"a\",\"content\":\"",
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "\"}}",
    "```json action\n",
    "\n```\n",
    "```json\n",
    "[TOOL_CALL]",
    "[TOOL_CALLS]",
    "[ARGS]",
    "[TOOL:",
    "[/TOOL]",
    "[TOOL_CALL]run_tests[ARGS]{}",
    "[TOOL:run_tests]{}[/TOOL]",
    "<tool_call>",
    "</tool_call>",
    "<think>",
    "</think>",
    "<file-edit filePath=\"a\">",
    "</file-edit>",
    "<chat>",
    "</chat>",
    "<thinking>",
    "</thinking>",
    "<pre>",
    "</pre>",
    "<code>",
    "</code>",
    "[/TOOL_CALL]",
    "\u{feff}",
    "\u{a0}",
    "\u{2028}",
    "{'tool':'run_tests','parameters':{}}",
    "{'tool':'",
    "<function=run_tests>",
    "</function>",
    "<parameter=path>",
    "<parameter=target>",
    "</parameter>",
    "<function=run_tests>\n<parameter=target>\na\n</parameter>\n</function>",
    "<|python_tag|>",
    "<|eom_id|>",
    "<|tool_calls_section_begin|>",
    "<|tool_call_begin|>functions.run_tests:0<|tool_call_argument_begin|>",
    "<|tool_call_end|>",
    "<|tool_calls_section_end|>",
    "<｜tool▁calls▁begin｜>",
    "<｜tool▁call▁begin｜>run_tests<｜tool▁sep｜>",
    "<｜tool▁call▁begin｜>function<｜tool▁sep｜>run_tests\n```json\n",
    "\n```<｜tool▁call▁end｜>",
    "<｜tool▁calls▁end｜>",
    "<arg_key>target</arg_key>\n<arg_value>",
    "</arg_value>",
    "<tool_call>run_tests\n",
    "<function_calls>",
    "<invoke name=\"run_tests\">",
    "<parameter name=\"target\">",
    "</invoke>",
    "</function_calls>",
    "<tool_calls>",
    "</tool_calls>",
    "functools",
    "functools[",
    "[TOOL_CALLS]run_tests{}",
    "[run_tests()]",
    "[run_tests(",
    "target='",
    ")",
    ")]",
    "<function_calls>run_tests()",
    "<|tool_call_start|>[",
    "<|tool_call_end|>",
    "<|python_start|>run_tests(",
    "<|tool_call>call:run_tests{",
    "target:<|\"|>",
    "<|\"|>",
    "}<tool_call|>",
    "<run_tests>",
    "<target>",
    "</target>",
    "</run_tests>",
    "]<]minimax[>[",
    "]<]minimax[>[<tool_call>",
    "<invoke name=\"run_tests\">",
    "<|start|>assistant",
    "<|channel|>commentary to=run_tests",
    "<|constrain|>json<|message|>{}",
    "<|call|>",
    "<tool_sep>",
    "<｜tool_calls_begin｜>",
    "function<｜tool_sep｜>",
    "<steptml:invoke name=\"run_tests\">",
    "<|open|>call tool=\"run_tests\"",
    "<|sep|>",
    "Tool result",
    "Observation:",
    "工具结果",
    "format:",
    "For example:",
    "不要执行",
    "你好",
    "é",
    "😀",
    "``` action",
    "> ",
    "`'",
    "w`````````````````````w",
    "```\u{b}",
    // Longer than what is looked at.
    "                       ",
    "\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r",
    "``````````````````````````````",
    concat!(
        "```                                                                                ",
        "                                                                                   ",
        "                                                                                   ",
        "                                      "
    ),
    "TOOL_NAME: read_file",
    "tool: run_tests",
    "```tool\n",
    "to=functions.run_tests",
    "read_file\n",
    "{\"path\":",
    "{\"id\":1,",
    "\"name\":\"run_tests\"",
    "{\"arguments\":{},",
    "never",
    "<|x_tool|>",
    "<invoke name=\"",
    "Action Input:",
    "//",
    "/*",
    "*/",
    "1",
    "true",
    "text",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn any_text_is_read_alike_however_it_is_cut(
        pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..40),
        places in proptest::collection::vec(0..400_usize, 0..12),
    ) {
        let registry = registry();
        let text = pieces.concat();
        let (whole, events) = read(&registry, &[text.as_bytes()], Finish::Stop);
        check_events(&events, &text);
        let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
        let (reply, events) = read(&registry, &bytes, Finish::Stop);
        check_events(&events, &text);
        prop_assert_eq!(&reply, &whole);
        let mut places: Vec<usize> = places.into_iter().map(|place| place % (text.len() + 1)).collect();
        places.extend([0, text.len()]);
        places.sort_unstable();
        let cut: Vec<&[u8]> = places.windows(2).map(|two| &text.as_bytes()[two[0]..two[1]]).collect();
        let (reply, _) = read(&registry, &cut, Finish::Stop);
        prop_assert_eq!(&reply, &whole);
        // What is no call, no thought and nothing made up is text, all of it.
        let taken = ["<chat>", "<think>", "<thinking>"];
        let is_plain = whole.calls.is_empty() && !taken.iter().any(|mark| text.contains(mark));
        if is_plain {
            prop_assert_eq!(&whole.text, &text);
        }
    }

    #[test]
    fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let registry = registry();
        let (whole, events) = read(&registry, &[&bytes], Finish::Length);
        check_events(&events, "bytes");
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        prop_assert_eq!(read(&registry, &single, Finish::Length).0, whole);
    }
}

#[test]
fn what_looks_like_a_call_is_reported_however_it_is_cut() {
    let registry = registry();
    for (text, is_told) in [
        (r#"x {"t{"tool":"read_file","parameters":{}}"#, false),
        (r#"x {"a[read_file(path="b")"#, false),
        (r#"x {{"tool": "read_file", "parameters": {}}"#, true),
        (r#"x { [read_file(path="b")]"#, true),
        (r#"`{` {"tool": "read_file", "parameters": {}}"#, true),
        ("x <run_tests><target>", true),
        ("x <run_tests><other>", false),
        ("x <run_tests> and </run_tests>", true),
        (r#"x {"input": {"a": {}}, "name": "read_file"}"#, true),
        (r#"x {"id": 1, "type": "a", "name": "read_file""#, true),
        (r#"x {"id": 1, "kind": "a", "name": "read_file""#, false),
        ("read_file\n{\"path\":", true),
        ("read_file\n{\"name\":", false),
        ("x read_file json {\"path\":", false),
        (" to=functions.a json{", true),
        (" to=functions.a; json{", false),
        (" to=functions.a; json<|", true),
        (" to=a<|", false),
        ("a\n tool: read_file\nb", true),
        ("a\nAction: read_file", true),
        ("a tool: read_file\n", false),
        ("read: read_file\nAction Input: {\"path\":", true),
        ("```tool\nread_file(path='a')\n```", true),
        ("```py\nread_file(path='a')\n```\n", false),
        ("<|x_tool|>y", true),
        ("<|x_tool|> y", false),
        ("x <run_tests>{\"tool\": 1", true),
    ] {
        for pieces in cuts(text) {
            let (reply, _) = read(&registry, &pieces, Finish::Stop);
            let told =
                reply.diagnostics.iter().any(|told| told.code == DiagnosticCode::UnmarkedCall);
            assert_eq!(told, is_told, "{text} in {} pieces", pieces.len());
        }
    }
}
