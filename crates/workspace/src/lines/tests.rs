//! Tests of the module `lines`.

use super::*;

const ALL: LineWindow =
    LineWindow { start: 1, lines_max: 100, bytes_max: 1 << 20, line_bytes_max: 1 << 20 };

fn collect(pieces: &[&str], window: LineWindow) -> FileLines {
    let mut collector = Collector::new(window);
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
