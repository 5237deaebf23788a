//! Tests of the module `text`.

use std::ops::Range;

use moss_sdk::edit::{Splice, splice};

use super::*;

fn edit(text: &str, range: Range<usize>, new: &str) -> String {
    splice(text, &[Splice { range, text: new.to_owned() }]).unwrap()
}

#[test]
fn forms_are_recognized_and_written_back() {
    let utf16 = |text: &str| -> Vec<u8> {
        [0xff, 0xfe].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect()
    };
    let cases: [(&[u8], &str, bool, LineEnding, bool); 9] = [
        (b"", "UTF-8", false, LineEnding::None, true),
        (b"a", "UTF-8", false, LineEnding::None, false),
        (b"a\nb\n", "UTF-8", false, LineEnding::Lf, true),
        (b"a\r\nb\r\n", "UTF-8", false, LineEnding::Crlf, true),
        (b"a\r\nb\nc", "UTF-8", false, LineEnding::Mixed, false),
        (b"\xef\xbb\xbfa\r", "UTF-8", true, LineEnding::None, false),
        (&utf16("a\r\nü"), "UTF-16LE", true, LineEnding::Crlf, false),
        (b"\xfe\xff\0a\0\n", "UTF-16BE", true, LineEnding::Lf, true),
        (b"caf\xe9 au lait, na\xefve\n", "windows-1252", false, LineEnding::Lf, true),
    ];
    for (bytes, encoding, bom, ending, newline) in cases {
        let decoded = decode(bytes).unwrap();
        let form = TextForm {
            encoding: encoding.to_owned(),
            bom,
            line_ending: ending,
            final_newline: newline,
        };
        assert_eq!(decoded.form, form, "{bytes:?}");
        assert_eq!(encode(&decoded.text, &decoded.form).unwrap(), bytes);
    }
}

#[test]
fn chinese_and_japanese_legacy_texts_are_recognized() {
    let chinese = "这是一个用于测试编码检测的中文文本文件，内容是普通的句子。\n第二行也是中文。\n";
    let japanese = "これは文字コードの検出を試すための日本語の文章です。\n二行目も日本語です。\n";
    for (encoding, text) in [(encoding_rs::GBK, chinese), (encoding_rs::SHIFT_JIS, japanese)] {
        let bytes = encoding.encode(text).0;
        let decoded = decode(&bytes).unwrap();
        assert_eq!(
            (decoded.form.encoding.as_str(), decoded.text.as_str()),
            (encoding.name(), text)
        );
    }
}

#[test]
fn what_is_not_text_is_refused() {
    for bytes in
        [&b"a\0b"[..], b"\x7fELF\x01\x01\xff\0", b"\xff\xfea\0\0\0", b"\x89PNG\x01\x02\xff"]
    {
        assert_eq!(decode(bytes), Err(NotText::Binary), "{bytes:?}");
    }
    for bytes in [&b"\xff\xfea"[..], b"\xff\xfe\0\xd8a\0", b"\xef\xbb\xbf\xff"] {
        assert_eq!(decode(bytes), Err(NotText::Encoding), "{bytes:?}");
    }
}

#[test]
fn damaged_texts_are_searched_for_what_they_hold() {
    // What rg finds as well.
    for (bytes, expected) in [
        (&b"Gr\xc3\xb6\xc3\x9fe \xff\n"[..], "Größe \u{fffd}\n"),
        (b"\xef\xbb\xbfok\xff\n", "ok\u{fffd}\n"),
        (b"\xff\xfe\0\xd8a\0", "\u{fffd}a"),
        (b"\xff\xfea\0b", "a\u{fffd}"),
    ] {
        assert_eq!(decode_searched(bytes).unwrap(), expected, "{bytes:?}");
    }
    // Others are decoded as they are read.
    let japanese =
        encoding_rs::SHIFT_JIS.encode("これは文字コードの検出を試すための文章です。\n").0;
    let texts =
        [&b"caf\xe9 au lait, na\xefve\n"[..], &japanese, "Größe".as_bytes(), b"\xff\xfea\0"];
    for bytes in texts {
        assert_eq!(decode_searched(bytes).unwrap(), decode(bytes).unwrap().text, "{bytes:?}");
    }
    for bytes in
        [&b"a\0b"[..], b"\xc3\xb6\xc3\xb6\xff\0", b"\xff\xfe\0\0\0\xd8", b"\xc3\xb6\x01\xff"]
    {
        assert_eq!(decode_searched(bytes), Err(NotText::Binary), "{bytes:?}");
    }
}

#[test]
fn a_character_that_the_encoding_lacks_is_named() {
    let form = decode(b"caf\xe9 au lait, na\xefve\n").unwrap().form;
    assert_eq!(encode("a漢b", &form), Err('漢'));
}

#[test]
fn new_line_ends_are_those_around_the_span() {
    // (text, span, new, result)
    let cases = [
        ("a\r\nb\r\n", 0..1, "x\ny", "x\r\ny\r\nb\r\n"),
        ("a\r\nb\r\n", 6..6, "c\n", "a\r\nb\r\nc\r\n"),
        ("a\r\nb", 4..4, "\nc\n", "a\r\nb\r\nc\r\n"),
        ("a\nb\n", 2..2, "x\r\n", "a\nx\nb\n"),
        ("a\nb\r\nc\n", 2..5, "x\n", "a\nx\r\nc\n"),
        ("a\nb\r\nc\n", 0..5, "x\ny\nz\n", "x\ny\r\nz\r\nc\n"),
        ("a\nb\r\nc\n", 2..2, "x\n", "a\nx\r\nb\r\nc\n"),
        ("a\nb\r\nc\n", 7..7, "x\n", "a\nb\r\nc\nx\n"),
        ("a", 1..1, "\nb\r\n", "a\nb\r\n"),
        ("", 0..0, "a\r\nb\n", "a\r\nb\n"),
        ("a\r\nb", 0..3, "", "b"),
        ("a\rb\r\n", 1..2, "-\r", "a-\rb\r\n"),
    ];
    for (text, range, new, result) in cases {
        assert_eq!(edit(text, range.clone(), new), result, "{text:?} {range:?} {new:?}");
    }
}

#[test]
fn bad_replacements_are_named() {
    let at = |range: Range<usize>| Splice { range, text: String::new() };
    #[allow(clippy::reversed_empty_ranges, reason = "it is what is tested")]
    let cases = [
        vec![at(0..9)],
        vec![at(2..1)],
        vec![at(2..3)],
        vec![at(0..1), at(0..1)],
        vec![at(1..1), at(0..1)],
    ];
    for splices in cases {
        let fault = splice("aü b", &splices).unwrap_err();
        assert_eq!(fault.position, splices.len(), "{splices:?}");
    }
}
