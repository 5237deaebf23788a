//! Calls as the chat templates of well-known open models have them: what a model was trained on it
//! writes, whatever its prompt says.
//!
//! Sources are the chat templates that the makers publish with Kimi K2, DeepSeek R1 to V4,
//! Llama 3.1, Qwen3-Coder, Seed-OSS, GLM-4.5, MiniMax M1 and M2, and the form that Anthropic describes
//! for calls in text. A new one is a row of [`TEMPLATES`].

mod tags;
mod values;

pub(super) use tags::Tags;

/// The most white space between marks, in bytes.
const BLANK_BYTES_MAX: usize = 64;
/// The most bytes of the name of a tool in a mark.
const NAME_BYTES_MAX: usize = 160;
/// A name of DeepSeek that is the kind of a call: its name follows.
const KIND: &str = "function";
/// What may stand around JSON inside of a call.
const FENCE: &str = "```";
/// What that may say.
const FENCE_INFO: &str = "json";

/// A way to write calls.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Template {
    /// What may begin a group of calls, each way to write it.
    sections: &'static [&'static str],
    /// What begins a call.
    call: &'static str,
    /// Whether that alone is so like a tag of a text that it is one only at the beginning of a line,
    /// or right after another call.
    begins_line: bool,
    name: Name,
    /// What ends a call; empty where its JSON does.
    pub(super) end: &'static str,
    /// What may end a group of calls, or stand behind one.
    pub(super) after: &'static [&'static str],
    has_json: bool,
    parameters: Option<Parameters>,
}

/// How a call names its tool.
#[derive(Debug, PartialEq, Eq)]
enum Name {
    /// In its JSON.
    Inside,
    /// Up to a mark.
    Until(&'static str),
    /// Up to the quote that ends it; the tag of the call ends right after it, and may be the whole call.
    Attribute,
    /// As far as its characters are those of a name.
    Word,
}

/// How a call writes its arguments where they are no JSON.
#[derive(Debug, PartialEq, Eq)]
struct Parameters {
    /// What begins one.
    open: &'static str,
    /// What ends its key.
    key_end: &'static str,
    /// Whether attributes may stand between the key and `>`.
    has_attributes: bool,
    /// What begins its value, where that does not follow at once.
    value_open: &'static str,
    /// What ends it.
    close: &'static str,
    /// Whether what means something to XML is written as an entity (`&lt;`) in it.
    has_entities: bool,
    /// Whether the model is known to leave out what ends the last one.
    may_end_with_call: bool,
}

/// `<parameter name="key">value</parameter>`.
const fn named(open: &'static str, close: &'static str) -> Parameters {
    Parameters {
        open,
        key_end: "\"",
        has_attributes: true,
        value_open: "",
        close,
        has_entities: false,
        may_end_with_call: false,
    }
}

/// `<invoke name="tool">…</invoke>` in a group.
const fn invoke(
    sections: &'static [&'static str],
    after: &'static [&'static str],
    [call, end]: [&'static str; 2],
    parameters: Parameters,
) -> Template {
    Template {
        sections,
        call,
        begins_line: true,
        name: Name::Attribute,
        end,
        after,
        has_json: true,
        parameters: Some(parameters),
    }
}

static TEMPLATES: &[Template] = &[
    // Qwen3-Coder, with another tag around it Seed-OSS, and with JSON inside Llama 3.1.
    Template {
        sections: &["<tool_call>", "<seed:tool_call>"],
        call: "<function=",
        begins_line: true,
        name: Name::Until(">"),
        end: "</function>",
        after: &["</tool_call>", "</seed:tool_call>", "<|eom_id|>", "<|eot_id|>"],
        has_json: true,
        parameters: Some(Parameters {
            open: "<parameter=",
            key_end: ">",
            has_attributes: false,
            value_open: "",
            close: "</parameter>",
            has_entities: false,
            may_end_with_call: true,
        }),
    },
    // Kimi K2.
    Template {
        sections: &["<|tool_calls_section_begin|>", "<|tool_call_section_begin|>"],
        call: "<|tool_call_begin|>",
        begins_line: false,
        name: Name::Until("<|tool_call_argument_begin|>"),
        end: "<|tool_call_end|>",
        after: &["<|tool_calls_section_end|>", "<|tool_call_section_end|>"],
        has_json: true,
        parameters: None,
    },
    // DeepSeek R1, V3, V3.1.
    Template {
        sections: &["<｜tool▁calls▁begin｜>"],
        call: "<｜tool▁call▁begin｜>",
        begins_line: false,
        name: Name::Until("<｜tool▁sep｜>"),
        end: "<｜tool▁call▁end｜>",
        after: &["<｜tool▁calls▁end｜>", "<｜end▁of▁sentence｜>"],
        has_json: true,
        parameters: None,
    },
    // Llama 3.1.
    Template {
        sections: &[],
        call: "<|python_tag|>",
        begins_line: false,
        name: Name::Inside,
        end: "",
        after: &["<|eom_id|>", "<|eot_id|>"],
        has_json: true,
        parameters: None,
    },
    // GLM-4.5.
    Template {
        sections: &[],
        call: "<tool_call>",
        begins_line: false,
        name: Name::Word,
        end: "</tool_call>",
        after: &[],
        has_json: false,
        parameters: Some(Parameters {
            open: "<arg_key>",
            key_end: "</arg_key>",
            has_attributes: false,
            value_open: "<arg_value>",
            close: "</arg_value>",
            has_entities: false,
            may_end_with_call: false,
        }),
    },
    // Anthropic's calls in text.
    invoke(
        &["<function_calls>"],
        &["</function_calls>"],
        ["<invoke name=\"", "</invoke>"],
        named("<parameter name=\"", "</parameter>"),
    ),
    // MiniMax M2.
    invoke(
        &["<minimax:tool_call>"],
        &["</minimax:tool_call>"],
        ["<invoke name=\"", "</invoke>"],
        Parameters { has_entities: true, ..named("<parameter name=\"", "</parameter>") },
    ),
    // DeepSeek V3.2 and V4.
    invoke(
        &["<｜DSML｜function_calls>", "<｜DSML｜tool_calls>"],
        &["</｜DSML｜function_calls>", "</｜DSML｜tool_calls>"],
        ["<｜DSML｜invoke name=\"", "</｜DSML｜invoke>"],
        named("<｜DSML｜parameter name=\"", "</｜DSML｜parameter>"),
    ),
    // MiniMax M1.
    Template {
        sections: &[],
        call: "<tool_calls>",
        begins_line: false,
        name: Name::Inside,
        end: "</tool_calls>",
        after: &[],
        has_json: true,
        parameters: None,
    },
];

/// The beginning of a call.
#[derive(Debug)]
pub(super) struct Opening {
    pub(super) template: &'static Template,
    /// How long it is, up to the inside of the call, in bytes.
    pub(super) length: usize,
    pub(super) name: Option<String>,
    /// What its inside is.
    pub(super) holds: Holds,
    /// Whether a mark of a group of calls is before it.
    pub(super) begins_group: bool,
}

/// What the inside of a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    Json,
    Parameters,
    /// Nothing: the end mark follows at once.
    Nothing,
    /// Nothing, not even an end mark: its tag is all of the call.
    Closed,
}

/// Why a text is not what was looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Not {
    /// It is something else.
    Here,
    /// More must come to know.
    Yet,
}

/// Looks whether a call begins here. `may_begin` says whether it is the beginning of a line, or right
/// after another call; `owed` are the marks that may follow that one, by which it is known which of the
/// templates with the same mark goes on.
pub(super) fn opening(text: &str, may_begin: bool, owed: Option<&[&str]>) -> Result<Opening, Not> {
    let mut not = Not::Here;
    // What no mark goes on with is no beginning of one.
    if !matches!(
        text.as_bytes().get(1),
        None | Some(b'|' | 0xef | b't' | b'f' | b'i' | b'm' | b's')
    ) {
        return Err(not);
    }
    let goes_on = |template: &&Template| owed == Some(template.after);
    let (same, others) = (TEMPLATES.iter(), TEMPLATES.iter());
    for template in same.filter(goes_on).chain(others.filter(|template| !goes_on(template))) {
        match template.opening(text, may_begin) {
            Ok(opening) => return Ok(opening),
            Err(Not::Yet) => not = Not::Yet,
            Err(Not::Here) => {}
        }
    }
    Err(not)
}

/// What begins calls and groups of them; each begins with `<`.
pub(crate) fn marks() -> impl Iterator<Item = &'static str> {
    TEMPLATES.iter().flat_map(|template| template.sections.iter().copied().chain([template.call]))
}

/// What follows a mark.
fn after<'t>(text: &'t str, mark: &str) -> Result<&'t str, Not> {
    text.strip_prefix(mark).ok_or(if mark.starts_with(text) { Not::Yet } else { Not::Here })
}

/// What follows white space.
fn after_blanks(text: &str) -> Result<&str, Not> {
    let rest = text.trim_start();
    if text.len() - rest.len() > BLANK_BYTES_MAX {
        return Err(Not::Here);
    }
    if rest.is_empty() { Err(Not::Yet) } else { Ok(rest) }
}

/// What follows the fence that may begin JSON.
fn after_fence(text: &str) -> Result<&str, Not> {
    let inner = after(text, FENCE)?;
    let rest = match after(inner, FENCE_INFO) {
        Err(Not::Here) => inner,
        other => other?,
    };
    after_blanks(rest)
}

/// A name, and what follows it.
fn name(text: &str, of_name: impl Fn(char) -> bool) -> Result<(&str, &str), Not> {
    let near = &text[..text.floor_char_boundary(NAME_BYTES_MAX + 1)];
    match near.find(|c| !of_name(c)) {
        Some(0) => Err(Not::Here),
        Some(length) => Ok(text.split_at(length)),
        None if near.len() > NAME_BYTES_MAX => Err(Not::Here),
        None => Err(Not::Yet),
    }
}

/// Whether a character may be one of a name that ends with a mark.
fn of_name(c: char) -> bool {
    !c.is_control() && !"<>{}[]\"`".contains(c)
}

/// Leaves out the number that Kimi K2 puts behind a name.
fn without_number(name: &str) -> &str {
    match name.rsplit_once(':') {
        Some((name, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => name,
    }
}

// === impl Template ===

impl Template {
    fn opening(&'static self, text: &str, may_begin: bool) -> Result<Opening, Not> {
        let section = self.after_section(text)?;
        if section.is_none() && self.begins_line && !may_begin {
            return Err(Not::Here);
        }
        let inner = after(section.unwrap_or(text), self.call)?;
        let (name, rest) = match self.name {
            Name::Inside => (None, inner),
            Name::Word => {
                let of_word = |c: char| c.is_alphanumeric() || "_-.:".contains(c);
                let (name, rest) = name(after_blanks(inner)?, of_word)?;
                (Some(name), rest)
            }
            Name::Until(mark) => {
                let (name, rest) = name(inner, of_name)?;
                let rest = after(rest, mark)?;
                (Some(without_number(name.trim())), rest)
            }
            Name::Attribute => {
                let (name, rest) = name(inner, of_name)?;
                let rest = after_blanks(after(rest, "\"")?)?;
                if let Some(rest) = rest.strip_prefix('/') {
                    let length = text.len() - after(rest, ">")?.len();
                    return Ok(self.begun(length, Some(name), Holds::Closed, section.is_some()));
                }
                (Some(name.trim()), after(rest, ">")?)
            }
        };
        let (name, rest) = match name {
            Some(KIND) if !after_blanks(rest)?.starts_with('{') => typed(rest)?,
            _ => (name, after_blanks(rest)?),
        };
        let holds = self.holds(rest)?;
        Ok(self.begun(text.len() - rest.len(), name, holds, section.is_some()))
    }

    fn begun(
        &'static self,
        length: usize,
        name: Option<&str>,
        holds: Holds,
        begins_group: bool,
    ) -> Opening {
        Opening { template: self, length, name: name.map(str::to_owned), holds, begins_group }
    }

    /// What follows the mark of a group of calls; none where there is no such mark.
    fn after_section<'t>(&self, text: &'t str) -> Result<Option<&'t str>, Not> {
        for section in self.sections {
            match after(text, section) {
                Ok(inner) => return after_blanks(inner).map(Some),
                Err(Not::Yet) => return Err(Not::Yet),
                Err(Not::Here) => {}
            }
        }
        Ok(None)
    }

    /// What begins here.
    fn holds(&self, rest: &str) -> Result<Holds, Not> {
        let is_list = self.name == Name::Inside && rest.starts_with('[');
        if self.has_json && (is_list || rest.starts_with(['{', '｛'])) {
            return Ok(Holds::Json);
        }
        let open = self.parameters.as_ref().map(|parameters| parameters.open);
        let ends = Some(self.end).filter(|_| self.name != Name::Inside);
        let mut not = Not::Here;
        for (mark, holds) in [(open, Holds::Parameters), (ends, Holds::Nothing)] {
            match mark.map(|mark| after(rest, mark)) {
                Some(Ok(_)) => return Ok(holds),
                Some(Err(Not::Yet)) => not = Not::Yet,
                Some(Err(Not::Here)) | None => {}
            }
        }
        Err(not)
    }

    /// How long what ends a call is, from the first character after its JSON.
    pub(super) fn end_after_json(&self, text: &str) -> Result<usize, Not> {
        let rest = match after(text, FENCE) {
            Ok(inner) => after_blanks(inner)?,
            Err(Not::Yet) => return Err(Not::Yet),
            Err(Not::Here) => text,
        };
        Ok(text.len() - after(rest, self.end)?.len())
    }
}

/// `function<｜tool▁sep｜>name`, a line end, and JSON in a fence: the name and the JSON.
fn typed(text: &str) -> Result<(Option<&str>, &str), Not> {
    let (name, rest) = name(after_blanks(text)?, of_name)?;
    let rest = after_blanks(rest)?;
    let json = if rest.starts_with('`') { after_fence(rest)? } else { rest };
    Ok((Some(name.trim()), json))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How much of a text is held back because it may become a mark, in bytes, at the most.
    const HELD_BYTES_MAX: usize = 24;

    #[test]
    fn what_is_no_mark_is_known_soon() {
        for mark in marks() {
            assert!(mark.starts_with('<'));
            let places = mark.char_indices().map(|(place, _)| place).filter(|place| *place > 0);
            for place in places {
                let other = format!("{}#", &mark[..place]);
                assert_eq!(opening(&other, true, None).err(), Some(Not::Here), "{other}");
                assert_eq!(opening(&mark[..place], true, None).err(), Some(Not::Yet), "{mark}");
            }
            // What is longer is a token of its model: no text begins so.
            let is_token = ["<|tool_", "<｜"].iter().any(|begin| mark.starts_with(begin));
            assert!(mark.len() <= HELD_BYTES_MAX + 1 || is_token, "{mark}");
        }
    }
}
