//! Random documents in all forms and random replacements: bytes outside the spans stay, undo
//! restores every byte.

use moss_sdk::edit::Splice;
use moss_sdk::file::Content;
use moss_workspace::{Resolver, hash};
use proptest::prelude::*;

use crate::fixture::{Fixture, edit, rel};

#[derive(Debug, Clone, Copy)]
enum Form {
    Utf8,
    Utf8Bom,
    Utf16Le,
    Utf16Be,
    Windows1252,
}

fn encode(text: &str, form: Form) -> Vec<u8> {
    let units = |bytes: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(bytes).collect::<Vec<_>>();
    match form {
        Form::Utf8 => text.as_bytes().to_vec(),
        Form::Utf8Bom => [b"\xef\xbb\xbf", text.as_bytes()].concat(),
        Form::Utf16Le => [b"\xff\xfe".to_vec(), units(u16::to_le_bytes)].concat(),
        Form::Utf16Be => [b"\xfe\xff".to_vec(), units(u16::to_be_bytes)].concat(),
        // The letters used here are the same in Latin-1.
        Form::Windows1252 => text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect(),
    }
}

fn form() -> impl Strategy<Value = Form> {
    use Form::{Utf8, Utf8Bom, Utf16Be, Utf16Le, Windows1252};
    prop::sample::select(vec![Utf8, Utf8Bom, Utf16Le, Utf16Be, Windows1252])
}

/// Lines with any line ends, with and without a last one. The words make a legacy text look like
/// what it is.
fn document() -> impl Strategy<Value = String> {
    let word =
        prop::sample::select(vec!["", "a", "fn x() {", "déjà vu", "naïve café", "  \t", "ß"]);
    let end = prop::sample::select(vec!["\n", "\r\n"]);
    let line = (word.clone(), end).prop_map(|(word, end)| format!("{word}{end}"));
    let one_end = prop::sample::select(vec![None, Some("\n"), Some("\r\n")]);
    (prop::collection::vec(line, 0..12), word, one_end).prop_map(|(lines, last, one_end)| {
        let text = lines.concat() + last;
        match one_end {
            None => text,
            Some(end) => text.replace("\r\n", "\n").replace('\n', end),
        }
    })
}

fn replacement() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec!["", "x", "\n", "é", "a\nb", "\r\n", "end\n"]);
    prop::collection::vec(piece, 0..4).prop_map(|pieces| pieces.concat())
}

/// Spans as fractions of the text, so that they fit any text.
fn cuts() -> impl Strategy<Value = Vec<(u16, u16, String)>> {
    prop::collection::vec((any::<u16>(), any::<u16>(), replacement()), 1..4)
}

fn splices(text: &str, cuts: Vec<(u16, u16, String)>) -> Vec<Splice> {
    let at = |fraction: u16| {
        text.floor_char_boundary(text.len() * usize::from(fraction) / usize::from(u16::MAX))
    };
    let spans = cuts.into_iter().map(|(a, b, new)| (at(a.min(b)), at(a.max(b)), new));
    let mut spans: Vec<_> = spans.collect();
    spans.sort();
    let mut end = 0;
    spans.retain(|span| {
        let fits = span.0 >= end;
        end = if fits { span.1 } else { end };
        fits
    });
    spans.into_iter().map(|(start, end, text)| Splice { range: start..end, text }).collect()
}

/// The same result by other means: untouched bytes are cut out of the old file, byte by byte.
fn expected(text: &str, splices: &[Splice], form: Form) -> Vec<Vec<u8>> {
    let bom = encode("", form);
    let part = |text: &str| encode(text, form)[bom.len()..].to_vec();
    let mut kept = vec![bom.clone()];
    let mut done = 0;
    for splice in splices {
        kept.last_mut().unwrap().extend(part(&text[done..splice.range.start]));
        kept.push(Vec::new());
        done = splice.range.end;
    }
    kept.last_mut().unwrap().extend(part(&text[done..]));
    kept
}

/// Takes the untouched parts off a new file from both ends; what is left is new text.
fn new_parts(bytes: &[u8], kept: &[Vec<u8>], news: &[Vec<Vec<u8>>]) -> bool {
    let Some((first, rest)) = kept.split_first() else { return bytes.is_empty() };
    let Some(bytes) = bytes.strip_prefix(&first[..]) else { return false };
    match news.split_first() {
        None => bytes.is_empty() && rest.is_empty(),
        Some((choices, news)) => choices.iter().any(|new| {
            bytes.strip_prefix(&new[..]).is_some_and(|bytes| new_parts(bytes, rest, news))
        }),
    }
}

/// The forms that a new text may take: each line end is one of those that the file has, or its own
/// where the file has none.
fn choices(new: &str, text: &str, form: Form) -> Vec<Vec<u8>> {
    let crlf = text.contains("\r\n");
    let lf = text.replace("\r\n", "").contains('\n');
    let bom = encode("", form).len();
    let mut texts = vec![String::new()];
    let mut rest = new;
    while let Some(at) = rest.find('\n') {
        let (own, line) = match rest[..at].strip_suffix('\r') {
            Some(line) => ("\r\n", line),
            None => ("\n", &rest[..at]),
        };
        let ends: Vec<&str> = match (lf, crlf) {
            (false, false) => vec![own],
            (true, false) => vec!["\n"],
            (false, true) => vec!["\r\n"],
            (true, true) => vec!["\n", "\r\n"],
        };
        let grown = texts.iter().flat_map(|t| ends.iter().map(move |e| format!("{t}{line}{e}")));
        texts = grown.collect();
        rest = &rest[at + 1..];
    }
    texts.iter().map(|t| encode(&format!("{t}{rest}"), form)[bom..].to_vec()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn untouched_bytes_stay_and_undo_restores_all(
        text in document(),
        form in form(),
        cuts in cuts(),
    ) {
        let fixture = Fixture::with(Resolver::Kernel);
        let bytes = encode(&text, form);
        fixture.put("file", &bytes);
        let Content::Text(read) = fixture.workspace.read(&rel("file")).unwrap().content else {
            panic!("not text: {bytes:?}");
        };
        // A few legacy letters do not tell their encoding apart; longer texts do.
        prop_assume!(!matches!(form, Form::Windows1252) || read.text == text);
        prop_assert_eq!(&read.text, &text);
        // Without a letter beyond ASCII it is UTF-8.
        let form = match form {
            Form::Windows1252 if text.is_ascii() => Form::Utf8,
            form => form,
        };

        let splices = splices(&text, cuts);
        let kept = expected(&text, &splices, form);
        let news: Vec<_> = splices.iter().map(|s| choices(&s.text, &text, form)).collect();
        match fixture.commit(vec![edit("file", hash(&bytes), splices)]) {
            Ok(committed) => {
                let now = fixture.get("file");
                prop_assert!(new_parts(&now, &kept, &news), "{:?} -> {:?}", bytes, now);
                fixture.undo(committed.number).unwrap();
                prop_assert_eq!(fixture.get("file"), bytes);
            }
            Err(moss_workspace::Error::NoChange { .. }) => {
                prop_assert_eq!(fixture.get("file"), bytes);
            }
            Err(error) => panic!("{error}"),
        }
    }
}
