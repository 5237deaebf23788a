//! The forms in which models were trained to write calls, in the order in which they are tried.
//!
//! Sources are the chat templates that the makers publish with their models, and the form that
//! Anthropic describes for calls in text.

use super::{Json, NameForm, Notation, ParameterForm, Template};

/// What most rows have in common.
const ROW: Template = Template {
    form: "",
    sections: &[],
    needs_section: false,
    call: "",
    begins_line: false,
    name: NameForm::Inside,
    fillers: &[],
    end: "",
    joint: "",
    closes_group: false,
    after: &[],
    json: Json::None,
    notation: None,
    has_plain_texts: false,
    parameters: None,
    has_elements: false,
    tag_mark: "",
    is_weak: false,
};

/// `<parameter name="key">value</parameter>`.
const fn named(open: &'static str, close: &'static str) -> Option<ParameterForm> {
    Some(ParameterForm {
        open,
        key_end: "\"",
        has_attributes: true,
        value_open: "",
        close,
        has_entities: false,
        may_end_with_call: false,
        has_own_lines: false,
    })
}

const fn with_entities(parameters: Option<ParameterForm>) -> Option<ParameterForm> {
    match parameters {
        Some(parameters) => Some(ParameterForm { has_entities: true, ..parameters }),
        None => None,
    }
}

/// `<arg_key>key</arg_key><arg_value>value</arg_value>`.
const fn paired([open, key_end, value_open, close]: [&'static str; 4]) -> Option<ParameterForm> {
    Some(ParameterForm {
        open,
        key_end,
        has_attributes: false,
        value_open,
        close,
        has_entities: false,
        may_end_with_call: false,
        has_own_lines: false,
    })
}

/// `<invoke name="tool">…</invoke>` in a group.
const fn invoke(
    form: &'static str,
    sections: &'static [&'static str],
    after: &'static [&'static str],
    [call, end]: [&'static str; 2],
    parameters: Option<ParameterForm>,
) -> Template {
    Template {
        form,
        sections,
        call,
        begins_line: true,
        name: NameForm::Attribute,
        end,
        closes_group: !sections.is_empty(),
        after,
        json: Json::Object,
        parameters,
        ..ROW
    }
}

/// JSON that names its tool, between two marks or up to its own end.
const fn json(
    form: &'static str,
    call: &'static str,
    end: &'static str,
    after: &'static [&'static str],
    json: Json,
) -> Template {
    Template { form, call, end, after, json, ..ROW }
}

/// `[tool(key="value")]` between two marks.
const fn python(form: &'static str, call: &'static str, end: &'static str) -> Template {
    Template { form, call, end, notation: Some(Notation::Python), ..ROW }
}

/// `call:tool{key:value}` between two marks, texts between marks of their own.
const fn gemma(
    form: &'static str,
    [call, end]: [&'static str; 2],
    quote: &'static str,
    after: &'static [&'static str],
) -> Template {
    let notation = Some(Notation::Gemma { quote });
    Template { form, call, name: NameForm::Word, end, after, notation, ..ROW }
}

/// A message of Harmony to a tool, from the mark before its name.
const fn harmony(call: &'static str) -> Template {
    Template {
        form: "harmony",
        sections: &["<|start|>assistant"],
        call,
        name: NameForm::Until("<|message|>"),
        fillers: &["<|channel|>commentary", "<|channel|>analysis", "<|constrain|>json"],
        after: &["<|call|>"],
        json: Json::Object,
        ..ROW
    }
}

pub(super) static TEMPLATES: &[Template] = &[
    // Qwen3-Coder, with JSON inside Llama 3.1, with a tag of its own around Seed-OSS.
    Template {
        form: "qwen3_coder",
        sections: &["<tool_call>", "<seed:tool_call>"],
        call: "<function=",
        begins_line: true,
        name: NameForm::Until(">"),
        end: "</function>",
        closes_group: true,
        after: &["</tool_call>", "</seed:tool_call>", "<|eom_id|>", "<|eot_id|>"],
        json: Json::Any,
        parameters: Some(ParameterForm {
            open: "<parameter=",
            key_end: ">",
            has_attributes: false,
            value_open: "",
            close: "</parameter>",
            has_entities: false,
            may_end_with_call: true,
            has_own_lines: true,
        }),
        ..ROW
    },
    // Kimi K2.
    Template {
        form: "kimi_k2",
        sections: &["<|tool_calls_section_begin|>", "<|tool_call_section_begin|>"],
        call: "<|tool_call_begin|>",
        name: NameForm::Until("<|tool_call_argument_begin|>"),
        end: "<|tool_call_end|>",
        closes_group: true,
        after: &["<|tool_calls_section_end|>", "<|tool_call_section_end|>"],
        json: Json::Any,
        ..ROW
    },
    // DeepSeek R1, V3, V3.1.
    Template {
        form: "deepseek_v3",
        sections: &["<｜tool▁calls▁begin｜>"],
        call: "<｜tool▁call▁begin｜>",
        name: NameForm::Until("<｜tool▁sep｜>"),
        end: "<｜tool▁call▁end｜>",
        closes_group: true,
        after: &["<｜tool▁calls▁end｜>", "<｜end▁of▁sentence｜>"],
        json: Json::Any,
        ..ROW
    },
    // Llama 3.1.
    Template {
        joint: ";",
        ..json("llama3", "<|python_tag|>", "", &["<|eom_id|>", "<|eot_id|>"], Json::Any)
    },
    // GLM-4.5, and with JSON inside Laguna.
    Template {
        form: "glm4",
        call: "<tool_call>",
        name: NameForm::Word,
        end: "</tool_call>",
        json: Json::Object,
        parameters: paired(["<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>"]),
        ..ROW
    },
    // Hunyuan V3.
    Template {
        form: "hunyuan",
        sections: &["<tool_calls>"],
        call: "<tool_call>",
        name: NameForm::Until("<tool_sep>"),
        end: "</tool_call>",
        closes_group: true,
        after: &["</tool_calls>"],
        parameters: paired(["<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>"]),
        ..ROW
    },
    // LongCat.
    Template {
        form: "longcat",
        call: "<longcat_tool_call>",
        name: NameForm::Word,
        end: "</longcat_tool_call>",
        parameters: paired([
            "<longcat_arg_key>",
            "</longcat_arg_key>",
            "<longcat_arg_value>",
            "</longcat_arg_value>",
        ]),
        ..ROW
    },
    json("longcat", "<longcat_tool_call>", "</longcat_tool_call>", &[], Json::Any),
    // Anthropic's calls in text.
    invoke(
        "anthropic",
        &["<function_calls>"],
        &["</function_calls>"],
        ["<invoke name=\"", "</invoke>"],
        named("<parameter name=\"", "</parameter>"),
    ),
    // MiniMax M2.
    invoke(
        "minimax_m2",
        &["<minimax:tool_call>"],
        &["</minimax:tool_call>"],
        ["<invoke name=\"", "</invoke>"],
        with_entities(named("<parameter name=\"", "</parameter>")),
    ),
    // DeepSeek V3.2 and V4.
    invoke(
        "deepseek_v32",
        &["<｜DSML｜function_calls>", "<｜DSML｜tool_calls>"],
        &["</｜DSML｜function_calls>", "</｜DSML｜tool_calls>"],
        ["<｜DSML｜invoke name=\"", "</｜DSML｜invoke>"],
        named("<｜DSML｜parameter name=\"", "</｜DSML｜parameter>"),
    ),
    // Step3.
    invoke(
        "step3",
        &["<｜tool_calls_begin｜>", "<｜tool_call_begin｜>", "function<｜tool_sep｜>"],
        &["<｜tool_call_end｜>", "<｜tool_calls_end｜>"],
        ["<steptml:invoke name=\"", "</steptml:invoke>"],
        named("<steptml:parameter name=\"", "</steptml:parameter>"),
    ),
    // Glimmer: the same tags in a message to the user are text.
    Template {
        needs_section: true,
        begins_line: false,
        ..invoke(
            "glimmer",
            &["<|message|><atem:function_calls>"],
            &["</atem:function_calls>", "<|eom|>", "<|eot|>"],
            ["<atem:invoke name=\"", "</atem:invoke>"],
            named("<atem:parameter name=\"", "</atem:parameter>"),
        )
    },
    // MiniMax M3.
    Template {
        form: "minimax_m3",
        sections: &["]<]minimax[>[<tool_call>"],
        call: "]<]minimax[>[<invoke name=\"",
        name: NameForm::Until("\">"),
        end: "]<]minimax[>[</invoke>",
        after: &["]<]minimax[>[</tool_call>"],
        has_elements: true,
        tag_mark: "]<]minimax[>[",
        ..ROW
    },
    // MiniCPM5.
    invoke(
        "minicpm5",
        &[],
        &[],
        ["<function name=\"", "</function>"],
        with_entities(named("<param name=\"", "</param>")),
    ),
    // Kimi K3.
    Template {
        form: "kimi_k3",
        sections: &["<|open|>tools<|sep|>"],
        call: "<|open|>call tool=\"",
        name: NameForm::Quoted("<|sep|>"),
        end: "<|close|>call<|sep|>",
        after: &["<|close|>tools<|sep|>"],
        parameters: named("<|open|>argument key=\"", "<|close|>argument<|sep|>"),
        ..ROW
    },
    // MiniMax M1 and Hunyuan A13B.
    json("minimax_m1", "<tool_calls>", "</tool_calls>", &[], Json::Any),
    // Apertus.
    json("apertus", "<|tools_prefix|>", "<|tools_suffix|>", &[], Json::Keyed),
    // Nemotron.
    json("nemotron", "<TOOLCALL>", "</TOOLCALL>", &[], Json::Any),
    // Cohere Command.
    json("cohere", "<|START_ACTION|>", "<|END_ACTION|>", &[], Json::Any),
    // Granite 3 and 4, and Granite 20B.
    json("granite", "<|tool_call|>", "", &[], Json::List),
    json("granite", "<function_call>", "", &["</function_call>"], Json::Object),
    // GigaChat 3 and 3.1.
    json("gigachat", "<|message_sep|>\n\nfunction call<|role_sep|>", "", &["</s>"], Json::Object),
    json("gigachat", "<|function_call|>", "", &["</s>"], Json::Object),
    // InternLM2.
    Template {
        sections: &["<|action_start|>"],
        needs_section: true,
        ..json("internlm2", "<|plugin|>", "<|action_end|>", &[], Json::Object)
    },
    // Inkling.
    json("inkling", "<|content_invoke_tool_json|>", "<|end_message|>", &[], Json::Object),
    // Phi-4 Mini and Firefunction.
    json("phi4", super::WORD, "", &[], Json::List),
    // Sarashina.
    json("sarashina", "<|tool_calls|>", "", &[], Json::List),
    // gpt-oss: what a message is for, and to whom, stands in either order.
    harmony("<|channel|>commentary to="),
    harmony("<|channel|>analysis to="),
    Template { needs_section: true, ..harmony("to=") },
    // LFM2: Python or JSON.
    Template {
        json: Json::Any,
        has_plain_texts: true,
        ..python("lfm2", "<|tool_call_start|>", "<|tool_call_end|>")
    },
    // Llama 4.
    python("pythonic", "<|python_start|>", "<|python_end|>"),
    // Olmo 3.
    python("olmo3", "<function_calls>", "</function_calls>"),
    // Gemma 4 and FunctionGemma.
    gemma(
        "gemma",
        ["<|tool_call>call:", "<tool_call|>"],
        "<|\"|>",
        &["<|tool_response>", "<turn|>"],
    ),
    gemma(
        "gemma",
        ["<start_function_call>call:", "<end_function_call>"],
        "<escape>",
        &["<start_function_response>", "<end_of_turn>"],
    ),
];

/// `<tool><key>value</key></tool>`, as Cline asks for it.
pub(super) static ELEMENT: Template =
    Template { form: "cline", has_elements: true, is_weak: true, ..ROW };

/// A list of calls as Python has it, without a mark.
pub(super) static BARE_LIST: Template =
    Template { form: "pythonic", notation: Some(Notation::Python), is_weak: true, ..ROW };
