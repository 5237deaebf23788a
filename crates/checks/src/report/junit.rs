//! JUnit XML, in the dialects of many tools: suites in suites or none around, files and lines or none,
//! characters that XML does not allow.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::{CaseOutcome, TestCase, TestReport, first_line, milliseconds};

/// How deep suites may be nested.
const DEPTH_MAX: usize = 64;
/// Most bytes of the text of one element.
const TEXT_BYTES_MAX: usize = 64 << 10;

/// How ids are made of what a tool writes: `classname` and `name`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JunitNames {
    /// `tests.test_a.TestB` and `test_c[1]`, with the file: `tests/test_a.py::TestB::test_c[1]`.
    Pytest,
    /// The name alone.
    Name,
    /// `Class::method`.
    Php,
}

/// Where a text belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TextPlace {
    Failure,
    Output,
    Nowhere,
}

#[derive(Debug)]
struct JunitReading {
    names: JunitNames,
    report: TestReport,
    /// The files of the suites around, innermost last.
    suites: Vec<Option<String>>,
    case: Option<TestCase>,
    place: TextPlace,
    text: String,
}

/// Reads a report.
pub(crate) fn read(text: &str, names: JunitNames) -> TestReport {
    if text.contains("<!ENTITY") {
        return TestReport::unreadable("the report declares entities of XML");
    }
    let clean: String = text.chars().filter(|c| !c.is_control() || "\n\r\t".contains(*c)).collect();
    let mut reader = Reader::from_str(&clean);
    reader.config_mut().check_end_names = false;
    reader.config_mut().allow_unmatched_ends = true;
    reader.config_mut().allow_dangling_amp = true;
    let mut reading = JunitReading {
        names,
        report: TestReport::default(),
        suites: Vec::new(),
        case: None,
        place: TextPlace::Nowhere,
        text: String::new(),
    };
    let mut depth = 0_usize;
    let mut is_report = false;
    loop {
        match reader.read_event() {
            Ok(Event::Start(element)) => {
                depth += 1;
                is_report |= is_root(&element);
                if depth > DEPTH_MAX {
                    reading.report.problem = Some("the report is nested too deeply".to_owned());
                    break;
                }
                reading.open(&element);
            }
            Ok(Event::Empty(element)) => {
                is_report |= is_root(&element);
                reading.open(&element);
                reading.close(element.name().as_ref());
            }
            Ok(Event::End(element)) => {
                depth = depth.saturating_sub(1);
                reading.close(element.name().as_ref());
            }
            Ok(Event::Text(text)) => reading.write(&text),
            Ok(Event::CData(text)) => reading.write(&text),
            Ok(Event::GeneralRef(name)) => {
                let name = name.to_string();
                reading.write(&resolved(&name));
            }
            Ok(Event::Eof) => break,
            Ok(_) => {}
            Err(error) => {
                reading.report.problem = Some(format!("the report is not whole: {error}"));
                break;
            }
        }
    }
    if reading.case.is_some() || (depth > 0 && reading.report.problem.is_none()) {
        reading.report.problem = Some("the report is not whole: its end is missing".to_owned());
    }
    if !is_report && reading.report.problem.is_none() {
        reading.report.problem = Some("the report is not JUnit XML".to_owned());
    }
    reading.report
}

fn is_root(element: &BytesStart<'_>) -> bool {
    matches!(element.name().as_ref(), "testsuite" | "testsuites")
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

/// An attribute, with the references in it resolved.
fn attribute(element: &BytesStart<'_>, name: &str) -> Option<String> {
    let mut attributes = element.html_attributes();
    let mut named = attributes.with_checks(false).flatten().filter(|one| one.key.as_ref() == name);
    let value = named.next()?.value.into_owned();
    let mut rest = value.as_str();
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
    Some(text)
}

// === impl JunitReading ===

impl JunitReading {
    fn open(&mut self, element: &BytesStart<'_>) {
        match element.name().as_ref() {
            "testsuite" => {
                let file = attribute(element, "file").or_else(|| attribute(element, "filepath"));
                self.suites.push(file);
            }
            "testcase" => self.case = Some(self.opened(element)),
            "failure" => self.end_as(element, CaseOutcome::Failed),
            "error" => self.end_as(element, CaseOutcome::Errored),
            "skipped" => {
                if let Some(case) = &mut self.case {
                    case.outcome = CaseOutcome::Skipped;
                }
                self.begin(TextPlace::Nowhere);
            }
            "system-out" | "system-err" => self.begin(TextPlace::Output),
            // Runs that failed before one that passed count for nothing; those after the last are the same.
            _ => {}
        }
    }

    fn begin(&mut self, place: TextPlace) {
        self.place = place;
        self.text.clear();
    }

    fn opened(&self, element: &BytesStart<'_>) -> TestCase {
        let attribute = |name: &str| attribute(element, name);
        let name = attribute("name").unwrap_or_default();
        let class = attribute("classname").unwrap_or_default();
        let of_suite = self.suites.iter().rev().find_map(Clone::clone);
        let file = attribute("file").or(of_suite);
        let line = attribute("line").and_then(|line| line.parse().ok());
        TestCase {
            id: self.id(&class, &name, file.as_deref()),
            file,
            line,
            duration_ms: attribute("time").and_then(|time| milliseconds(time.parse().ok()?)),
            ..TestCase::default()
        }
    }

    fn id(&self, class: &str, name: &str, file: Option<&str>) -> String {
        match self.names {
            JunitNames::Pytest => pytest_id(class, name, file),
            JunitNames::Name => name.to_owned(),
            JunitNames::Php if !class.is_empty() => format!("{class}::{name}"),
            JunitNames::Php => name.to_owned(),
        }
    }

    fn end_as(&mut self, element: &BytesStart<'_>, outcome: CaseOutcome) {
        if let Some(case) = &mut self.case {
            case.outcome = outcome;
            let message = attribute(element, "message").unwrap_or_default();
            if case.message.is_empty() {
                case.message = message;
            }
        }
        self.begin(TextPlace::Failure);
    }

    fn write(&mut self, text: &str) {
        let room = TEXT_BYTES_MAX.saturating_sub(self.text.len());
        if self.place != TextPlace::Nowhere {
            self.text.push_str(&text[..text.floor_char_boundary(room)]);
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "testsuite" => drop(self.suites.pop()),
            "testcase" => {
                if let Some(case) = self.case.take() {
                    self.report.push(case);
                }
            }
            "failure" | "error" | "system-out" | "system-err" | "skipped" => self.end_text(),
            _ => {}
        }
    }

    fn end_text(&mut self) {
        let text = std::mem::take(&mut self.text);
        let place = std::mem::replace(&mut self.place, TextPlace::Nowhere);
        let Some(case) = &mut self.case else { return };
        match place {
            TextPlace::Failure => {
                if case.message.is_empty() {
                    case.message = first_line(&text);
                }
                case.details.push_str(&text);
            }
            TextPlace::Output => case.output.push_str(&text),
            TextPlace::Nowhere => {}
        }
    }
}

/// The node id of pytest, from what its reports keep of it.
fn pytest_id(class: &str, name: &str, file: Option<&str>) -> String {
    if class.is_empty() {
        // A module that could not be collected has its own name.
        return name.to_owned();
    }
    let parts: Vec<&str> = class.split('.').collect();
    let module = match file {
        Some(file) => file.to_owned(),
        None => {
            // Classes begin with a capital letter, modules do not.
            let is_class = |part: &&str| part.starts_with(char::is_uppercase);
            let modules = parts.iter().position(is_class).unwrap_or(parts.len());
            format!("{}.py", parts[..modules].join("/"))
        }
    };
    let modules = module.trim_end_matches(".py").split('/').count();
    let classes = parts.get(modules..).unwrap_or_default();
    let all = std::iter::once(module.as_str()).chain(classes.iter().copied());
    all.chain([name]).collect::<Vec<_>>().join("::")
}
