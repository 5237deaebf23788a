//! Tests of the module `lines`.

use super::*;

const ALL: LineWindow =
    LineWindow { start: 1, lines_max: 100, bytes_max: 1 << 20, line_bytes_max: 1 << 20 };

fn collect(pieces: &[&str], window: LineWindow) -> FileLines {
    let mut collector = Collector::new(window, 0);
    pieces.iter().for_each(|piece| collector.push(piece));
    collector.finish(handle::hash(b""), 0, "UTF-8", false)
}

fn texts(lines: &FileLines) -> Vec<&str> {
    lines.lines.iter().map(|line| line.text).collect()
}

#[test]
fn any_chunking_gives_the_same_lines() {
    let text = "a\r\nb\n\n\rc\rd\r\r\né\ne\r";
    let whole = collect(&[text], ALL);
    assert_eq!(texts(&whole), ["a", "b", "", "\rc\rd\r", "é", "e\r"]);
    assert_eq!(whole.lines_total, 6);
    for cut in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
        assert_eq!(collect(&[&text[..cut], &text[cut..]], ALL), whole, "cut at {cut}");
    }
    let characters: Vec<String> = text.chars().map(String::from).collect();
    let characters: Vec<&str> = characters.iter().map(String::as_str).collect();
    assert_eq!(collect(&characters, ALL), whole);
}

#[test]
fn any_chunks_of_a_file_are_decoded_alike() {
    let text = "a\u{feff}é\n\u{feff}€\u{10348}\0z\r\n";
    let decoded = |chunks: &[&[u8]]| {
        let mut decoding = Decoding::of(chunks[0], 0);
        let mut seen = String::new();
        let are_fit = chunks.iter().all(|chunk| decoding.decode(chunk, |text| seen.push_str(text)));
        let is_intact = are_fit && decoding.end(|text| seen.push_str(text));
        is_intact.then_some((seen, decoding.encoding.name(), decoding.bom))
    };
    let utf_16: Vec<u8> =
        std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    let marked = format!("\u{feff}{text}");
    let cases = [
        (text.as_bytes(), "UTF-8", false),
        (marked.as_bytes(), "UTF-8", true),
        (&utf_16, "UTF-16LE", true),
    ];
    for (bytes, encoding, bom) in cases {
        let wanted = Some((text.to_owned(), encoding, bom));
        // A mark is looked for in the first chunk, which is longer.
        for one in 3..bytes.len() {
            for other in one..bytes.len() {
                let chunks = [&bytes[..one], &bytes[one..other], &bytes[other..]];
                assert_eq!(decoded(&chunks), wanted, "{encoding}, cut at {one} and {other}");
            }
        }
        assert_eq!(decoded(&[&bytes[..bytes.len() - 1], b"\xff"]).is_some(), encoding != "UTF-8");
    }
    assert_eq!(decoded(&[b"a\xe2\x82"]), None);
    assert_eq!(decoded(&[b"abc", b"\xe2\x82", b""]), None);
}

#[test]
fn totals_count_an_unfinished_last_line_and_not_an_empty_one() {
    for (text, total, newline) in
        [("", 0, true), ("\n", 1, true), ("a", 1, false), ("a\n", 1, true), ("a\n\nb", 3, false)]
    {
        let lines = collect(&[text], ALL);
        assert_eq!((lines.lines_total, lines.form.final_newline), (total, newline), "{text:?}");
        assert_eq!(lines.lines.len() as u64, total);
    }
}

#[test]
fn windows_bound_lines_and_bytes() {
    let text = "one\ntwo\nthree\nfour\n";
    let window = |start, lines_max, bytes_max, line_bytes_max| LineWindow {
        start,
        lines_max,
        bytes_max,
        line_bytes_max,
    };
    assert_eq!(texts(&collect(&[text], window(2, 2, 99, 99))), ["two", "three"]);
    assert_eq!(texts(&collect(&[text], window(1, 9, 6, 99))), ["one", "two"]);
    assert_eq!(texts(&collect(&[text], window(3, 9, 1, 99))), ["three"]);
    assert_eq!(texts(&collect(&[text], window(5, 9, 99, 99))), Vec::<&str>::new());
    let cut = collect(&["aéb", "cd\nx"], window(1, 9, 99, 2));
    assert_eq!(texts(&cut), ["a", "x"]);
    assert_eq!(cut.lines.iter().next().unwrap().bytes_cut, 5);
}

#[test]
fn bytes_that_are_no_text_are_lines_however_they_come() {
    let bytes = b"a\xff\xfeb\r\n\xef\xbb\xbf\xe2\x82\xac\0\xe2\x82\ncut \xf0\x9f\n\nlast \xc3";
    let whole = String::from_utf8_lossy(bytes);
    let read = |size| {
        let mut lines = ReplacingLines::new(ALL, bytes.len() as u64);
        bytes.chunks(size).for_each(|chunk| lines.push(chunk));
        lines.finish()
    };
    let expected = read(bytes.len());
    assert_eq!(texts(&expected), whole.lines().collect::<Vec<_>>());
    assert_eq!((expected.lines_total, expected.size_bytes), (5, bytes.len() as u64));
    assert_eq!(expected.hash, handle::hash(bytes));
    assert!(!expected.form.final_newline);
    for size in 1..bytes.len() {
        assert_eq!(read(size), expected, "chunks of {size}");
    }
}
