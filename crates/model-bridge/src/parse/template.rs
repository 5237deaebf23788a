//! Calls as the chat templates of well-known open models have them: what a model was trained on it
//! writes, whatever its prompt says. A new form is a row of the [`table`].

mod elements;
mod forms;
mod notation;
mod table;
mod tags;
mod values;

use std::sync::LazyLock;

use super::mark::{FENCE, Not, after, after_blanks, name, of_name, typed, until, without_number};
pub(super) use elements::Elements;
pub(crate) use forms::Forms;
pub(super) use forms::{HERMES, MISTRAL};
pub(super) use notation::CallScanner;
use notation::Notation;
use table::{BARE_LIST, ELEMENT, TEMPLATES};
pub(super) use tags::Tags;

/// The most bytes of the attributes behind it.
const ATTRIBUTES_BYTES_MAX: usize = 128;
/// A name of DeepSeek that is the kind of a call: its name follows.
const KIND: &str = "function";

/// The word that begins the calls of Phi-4, and the bracket that begins those of MiniMax M3: the only
/// marks that do not begin with `<`, each with what follows it.
pub(super) const LEADS: &[(&str, u8)] = &[(WORD, b'['), ("]", b'<')];
const WORD: &str = "functools";

/// A way to write calls.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Template {
    /// What it is called where a model's profile names it.
    form: &'static str,
    /// What may begin a group of calls, or stand before one: some of these, in this order.
    sections: &'static [&'static str],
    /// Whether one of them must be there.
    needs_section: bool,
    /// What begins a call.
    pub(super) call: &'static str,
    /// Whether that alone is so like a tag of a text that it is one only at the beginning of a line,
    /// or right after another call.
    begins_line: bool,
    name: NameForm,
    /// What may stand between its name and the mark that ends that.
    fillers: &'static [&'static str],
    /// What ends a call; empty where its JSON does.
    pub(super) end: &'static str,
    /// What may stand between a call that ends with its JSON and another one, which needs no mark then.
    joint: &'static str,
    /// Whether a group that has begun must end.
    closes_group: bool,
    /// What may end a group of calls, or stand behind one.
    pub(super) after: &'static [&'static str],
    /// Which JSON is a call, or its arguments.
    json: Json,
    /// How it writes calls that are neither JSON nor tags.
    notation: Option<Notation>,
    /// Whether some read a backslash in its texts as it is.
    has_plain_texts: bool,
    parameters: Option<ParameterForm>,
    /// Whether its arguments are elements with the names of parameters.
    has_elements: bool,
    /// What stands before each tag of those.
    tag_mark: &'static str,
    /// Whether nothing marks it: it is a call only where nothing speaks against it.
    pub(super) is_weak: bool,
}

/// How a call names its tool.
#[derive(Debug, PartialEq, Eq)]
enum NameForm {
    /// As a key of the JSON inside.
    Inside,
    /// Up to a mark.
    Until(&'static str),
    /// Up to the quote that ends it; the tag of the call ends right after it, and may be the whole call.
    Attribute,
    /// Up to the quote that ends it, then attributes up to a mark.
    Quoted(&'static str),
    /// As far as its characters are those of a name.
    Word,
}

/// The JSON of a form.
#[derive(Debug, PartialEq, Eq)]
enum Json {
    None,
    /// An object, or a list where that names its tools.
    Any,
    Object,
    /// A list of objects.
    List,
    /// A list of objects whose only key is the name of a tool.
    Keyed,
}

/// How a call writes its arguments where they are no JSON.
#[derive(Debug, PartialEq, Eq)]
struct ParameterForm {
    /// What begins a parameter.
    open: &'static str,
    /// What ends its key.
    key_end: &'static str,
    /// Whether attributes may stand between the key and `>`.
    has_attributes: bool,
    /// What begins its value, where that does not follow at once.
    value_open: &'static str,
    /// What ends its value.
    close: &'static str,
    /// Whether what means something to XML is written as an entity (`&lt;`) in it.
    has_entities: bool,
    /// Whether the model is known to leave out what ends the last one.
    may_end_with_call: bool,
    /// Whether a line end before what ends it belongs to that, whatever begins the value.
    has_own_lines: bool,
}

/// The beginning of a call.
#[derive(Debug)]
pub(super) struct Opening {
    pub(super) template: &'static Template,
    /// How long it is, up to the inside of the call, in bytes.
    pub(super) length: usize,
    pub(super) name: Option<String>,
    /// What its inside is.
    pub(super) holds: Holds,
    /// Whether the mark of a group of calls is before it that must end.
    pub(super) begins_group: bool,
}

/// What the inside of a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    Json,
    Parameters,
    Notation,
    Elements,
    /// Nothing: the end mark follows at once.
    Nothing,
    /// Nothing, not even an end mark: its tag is all of the call.
    Closed,
}

/// Looks whether a call begins here. `may_begin` says whether it is the beginning of a line, or right
/// after another call; `owed` are the marks that may follow that one, by which it is known which of the
/// templates with the same mark continues.
pub(super) fn opening(
    text: &str,
    may_begin: bool,
    owed: Option<&[&str]>,
    forms: &Forms,
) -> Result<Opening, Not> {
    let mut not = Not::Here;
    let mut bytes = text.bytes();
    let rows = match (bytes.next(), bytes.next()) {
        (Some(b'<'), None) => return Err(Not::Yet),
        (Some(b'<'), Some(second)) => &ROWS[usize::from(second)],
        (Some(first), _) => &ROWS[usize::from(first)],
        (None, _) => return Err(Not::Here),
    };
    let rows = || rows.iter().filter(|template| forms.has(template.form));
    let goes_on = |template: &&&Template| owed == Some(template.after);
    for template in rows().filter(goes_on).chain(rows().filter(|template| !goes_on(template))) {
        match template.opening(text, may_begin) {
            Ok(opening) => return Ok(opening),
            Err(Not::Yet) => not = Not::Yet,
            Err(Not::Here) => {}
        }
    }
    Err(not)
}

/// How long what joins another call to the one right before is, where it is here: up to the JSON of
/// that. `owed` are the marks that may follow the one before.
pub(super) fn joined(
    text: &str,
    owed: &'static [&'static str],
    forms: &Forms,
) -> Result<(&'static Template, usize), Not> {
    let joins = |template: &&Template| !template.joint.is_empty() && template.after == owed;
    let template = TEMPLATES.iter().filter(|template| forms.has(template.form)).find(joins);
    let template = template.ok_or(Not::Here)?;
    let rest = after_blanks(after(after_blanks(text)?, template.joint)?)?;
    if rest.starts_with('{') { Ok((template, text.len() - rest.len())) } else { Err(Not::Here) }
}

/// Looks whether a list of calls without a mark begins here. Returns the name of the first, too.
pub(super) fn bare_list<'t>(text: &'t str, forms: &Forms) -> Result<(Opening, &'t str), Not> {
    if !text.starts_with('[') || !forms.has(BARE_LIST.form) {
        return Err(Not::Here);
    }
    let name = notation::first_name(text)?;
    let opening = BARE_LIST.begun(0, None, Holds::Notation, false);
    Ok((opening, name))
}

/// Looks whether an element begins here that may have the name of a tool, and nothing else in its tag.
/// Returns that name, too.
pub(super) fn element<'t>(text: &'t str, forms: &Forms) -> Result<(Opening, &'t str), Not> {
    let (name, rest) = name(after(text, "<")?, |c| c.is_alphanumeric() || c == '_')?;
    if !rest.starts_with('>') || !forms.has(ELEMENT.form) {
        return Err(Not::Here);
    }
    Ok((ELEMENT.begun(name.len() + 2, Some(name), Holds::Elements, false), name))
}

/// The rows of the table, by the second byte of their marks; by the first where that is not `<`.
static ROWS: LazyLock<Vec<Vec<&'static Template>>> = LazyLock::new(|| {
    let mut rows = vec![Vec::new(); 256];
    for template in TEMPLATES {
        let mut seconds: Vec<u8> = template
            .marks()
            .map(|mark| mark.as_bytes()[usize::from(mark.starts_with('<'))])
            .collect();
        seconds.sort_unstable();
        seconds.dedup();
        for second in seconds {
            rows[usize::from(second)].push(template);
        }
    }
    rows
});

/// What begins calls and groups of them, where it begins with `<`.
pub(crate) fn marks() -> impl Iterator<Item = &'static str> {
    TEMPLATES.iter().flat_map(Template::marks).filter(|mark| mark.starts_with('<'))
}

// === impl Template ===

impl Template {
    /// What it may begin with.
    fn marks(&self) -> impl Iterator<Item = &'static str> {
        let sections = self.sections.iter().copied();
        sections.chain((!self.needs_section).then_some(self.call))
    }

    /// Whether a call of it without its end mark, or arguments in tags without that of their group, are
    /// cut off: its calls stand in groups, and it is not a form that is known to lack these marks.
    pub(super) fn must_end(&self) -> bool {
        let may_end_with_call = self.parameters.as_ref().is_some_and(|one| one.may_end_with_call);
        self.closes_group && !may_end_with_call
    }

    /// Whether the keys of its JSON are names of tools.
    pub(super) fn has_keyed_json(&self) -> bool {
        self.json == Json::Keyed
    }

    fn opening(&'static self, text: &str, may_begin: bool) -> Result<Opening, Not> {
        let call = self.after_sections(text, may_begin)?;
        let begins_group = self.closes_group && call.len() < text.len();
        let inner = after(call, self.call)?;
        let (name, rest) = match self.name {
            NameForm::Inside => (None, inner),
            NameForm::Word => {
                let of_word = |c: char| c.is_alphanumeric() || "_-.:".contains(c);
                let (name, rest) = name(after_blanks(inner)?, of_word)?;
                (Some(name), rest)
            }
            NameForm::Until(mark) => {
                let (name, rest) = name(inner, of_name)?;
                let rest = after(self.after_fillers(rest)?, mark)?;
                (Some(without_number(name.trim())), rest)
            }
            NameForm::Attribute => {
                let (name, rest) = name(inner, of_name)?;
                let rest = after_blanks(after(rest, "\"")?)?;
                if let Some(rest) = rest.strip_prefix('/') {
                    let length = text.len() - after(rest, ">")?.len();
                    return Ok(self.begun(length, Some(name), Holds::Closed, begins_group));
                }
                (Some(name.trim()), after(rest, ">")?)
            }
            NameForm::Quoted(mark) => {
                let (name, rest) = name(inner, of_name)?;
                let rest = after(rest, "\"")?;
                let attributes = until(rest, mark, ATTRIBUTES_BYTES_MAX)?;
                (Some(name), &rest[attributes + mark.len()..])
            }
        };
        let (name, rest) = match name {
            Some(KIND) if !after_blanks(rest)?.starts_with('{') => typed(rest)?,
            _ => (name, after_blanks(rest)?),
        };
        let holds = self.holds(rest)?;
        Ok(self.begun(text.len() - rest.len(), name, holds, begins_group))
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

    /// What follows the marks of a group.
    fn after_sections<'t>(&self, text: &'t str, may_begin: bool) -> Result<&'t str, Not> {
        let mut rest = text;
        let mut waits = false;
        for section in self.sections {
            match after(rest, section) {
                Ok(inner) => rest = after_blanks(inner)?,
                Err(Not::Yet) => waits = true,
                Err(Not::Here) => {}
            }
        }
        let has_section = rest.len() < text.len();
        let is_alone = self.needs_section || (self.begins_line && !may_begin);
        match (has_section || !is_alone) && after(rest, self.call) != Err(Not::Here) {
            true => Ok(rest),
            false => Err(if waits { Not::Yet } else { Not::Here }),
        }
    }

    /// What follows what may stand behind a name.
    fn after_fillers<'t>(&self, mut rest: &'t str) -> Result<&'t str, Not> {
        for _ in self.fillers {
            for filler in self.fillers {
                match after(rest, filler) {
                    Ok(inner) => rest = after_blanks(inner)?,
                    Err(Not::Yet) => return Err(Not::Yet),
                    Err(Not::Here) => {}
                }
            }
        }
        Ok(rest)
    }

    /// Says which form of arguments begins here.
    fn holds(&self, rest: &str) -> Result<Holds, Not> {
        match self.notation.map(|notation| notation.begins(rest)) {
            Some(Ok(())) => return Ok(Holds::Notation),
            Some(Err(Not::Yet)) => return Err(Not::Yet),
            Some(Err(Not::Here)) | None => {}
        }
        if self.has_elements {
            return after(rest, self.tag_mark).map(|_| Holds::Elements);
        }
        let is_list = self.name == NameForm::Inside && rest.starts_with('[');
        let is_object = rest.starts_with(['{', '｛']);
        let is_json = match self.json {
            Json::None => false,
            Json::Any => is_list || is_object,
            Json::Object => is_object,
            Json::List | Json::Keyed => is_list && after_blanks(&rest[1..])?.starts_with('{'),
        };
        if is_json {
            return Ok(Holds::Json);
        }
        let open = self.parameters.as_ref().map(|parameters| parameters.open);
        let may_be_empty = self.name != NameForm::Inside && self.notation.is_none();
        let ends = Some(self.end).filter(|end| may_be_empty && !end.is_empty());
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

#[cfg(test)]
mod tests;
