//! What XML reports have in common: elements with attributes, characters that XML does not allow.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

/// How deep elements may be nested.
const DEPTH_MAX: usize = 64;
/// Most bytes of the text of one element.
pub(crate) const TEXT_BYTES_MAX: usize = 64 << 10;

/// What a reader of a report is shown, one after the other.
#[derive(Debug)]
pub(crate) enum XmlPart<'a> {
    /// An element begins, with its attributes.
    Start(&'a XmlElement<'a>),
    /// The element of this name ends, also an empty one.
    End(&'a str),
    /// Text in the innermost element.
    Text(&'a str),
}

/// The beginning of an element.
#[derive(Debug)]
pub(crate) struct XmlElement<'a>(BytesStart<'a>);

/// Shows a report part by part. Returns what of it is not whole.
pub(crate) fn read(text: &str, mut show: impl FnMut(XmlPart<'_>)) -> Option<String> {
    let clean: String = text.chars().filter(|c| !c.is_control() || "\n\r\t".contains(*c)).collect();
    let mut reader = Reader::from_str(&clean);
    reader.config_mut().check_end_names = false;
    reader.config_mut().allow_unmatched_ends = true;
    reader.config_mut().allow_dangling_amp = true;
    let mut depth = 0_usize;
    loop {
        match reader.read_event() {
            Ok(Event::Start(element)) => {
                depth += 1;
                if depth > DEPTH_MAX {
                    return Some("the report is nested too deeply".to_owned());
                }
                show(XmlPart::Start(&XmlElement(element)));
            }
            Ok(Event::Empty(element)) => {
                let element = XmlElement(element);
                show(XmlPart::Start(&element));
                show(XmlPart::End(&element.name()));
            }
            Ok(Event::End(element)) => {
                depth = depth.saturating_sub(1);
                show(XmlPart::End(element.name().as_ref()));
            }
            Ok(Event::Text(text)) => show(XmlPart::Text(&text)),
            Ok(Event::CData(text)) => show(XmlPart::Text(&text)),
            Ok(Event::DocType(text)) if text.contains("<!ENTITY") => {
                return Some("the report declares entities of XML".to_owned());
            }
            Ok(Event::GeneralRef(name)) => show(XmlPart::Text(&resolved(&name))),
            Ok(Event::Eof) if depth > 0 => {
                return Some("the report is not whole: its end is missing".to_owned());
            }
            Ok(Event::Eof) => return None,
            Ok(_) => {}
            Err(error) => return Some(format!("the report is not whole: {error}")),
        }
    }
}

/// Adds text to that of an element, within bounds.
pub(crate) fn add_text(text: &mut String, more: &str) {
    let room = TEXT_BYTES_MAX.saturating_sub(text.len());
    text.push_str(&more[..more.floor_char_boundary(room)]);
}

// === impl XmlElement ===

impl XmlElement<'_> {
    pub(crate) fn name(&self) -> String {
        self.0.name().as_ref().to_owned()
    }

    /// An attribute, with the references in it resolved.
    pub(crate) fn attribute(&self, name: &str) -> Option<String> {
        let [value] = self.attributes([name]);
        value
    }

    /// Attributes of these names, read in one go, with the references in them resolved.
    pub(crate) fn attributes<const COUNT: usize>(
        &self,
        names: [&str; COUNT],
    ) -> [Option<String>; COUNT] {
        let mut values = [const { None }; COUNT];
        for one in self.0.html_attributes().with_checks(false).flatten() {
            let place = names.iter().position(|name| one.key.as_ref() == *name);
            if let Some(value) = place.and_then(|place| values.get_mut(place)) {
                value.get_or_insert_with(|| unescaped(&one.value));
            }
        }
        values
    }
}

/// The value of an attribute with the references in it resolved.
fn unescaped(value: &str) -> String {
    let mut rest = value;
    let mut text = String::with_capacity(rest.len());
    while let Some((before, after)) = rest.split_once('&') {
        text.push_str(before);
        match after.split_once(';').filter(|(name, _)| name.len() <= 8) {
            Some((name, after)) => {
                text.push_str(&resolved(name));
                rest = after;
            }
            None => {
                text.push('&');
                rest = after;
            }
        }
    }
    text.push_str(rest);
    text
}

/// A reference to a character.
fn resolved(name: &str) -> String {
    match name {
        "lt" => "<".to_owned(),
        "gt" => ">".to_owned(),
        "amp" => "&".to_owned(),
        "quot" => "\"".to_owned(),
        "apos" => "'".to_owned(),
        _ => {
            let number = match name.strip_prefix("#x") {
                Some(digits) => u32::from_str_radix(digits, 16).ok(),
                None => name.strip_prefix('#').and_then(|digits| digits.parse().ok()),
            };
            number.and_then(char::from_u32).map_or_else(|| format!("&{name};"), String::from)
        }
    }
}
