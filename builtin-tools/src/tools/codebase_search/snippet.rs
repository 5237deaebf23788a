//! The lines of a place that say most about why it was found.

/// Most lines of a snippet.
const LINES_MAX: usize = 12;
/// Most bytes of one line.
const LINE_BYTES_MAX: usize = 160;

/// Returns the lines of a place, or those of them that have most of some words, and the number of the
/// first.
pub(super) fn snippet(text: &str, (first, last): (u32, u32), words: &[&str]) -> (u32, String) {
    let count = (last + 1).saturating_sub(first) as usize;
    let lines: Vec<&str> =
        text.lines().skip(first.saturating_sub(1) as usize).take(count).collect();
    let start = best_start(&lines, words);
    let shown = lines.iter().skip(start).take(LINES_MAX).map(|line| cut(line));
    let shown: Vec<String> = shown.collect();
    (first + u32::try_from(start).unwrap_or_default(), shown.join("\n"))
}

/// Where the window begins that has most words; the first of several.
fn best_start(lines: &[&str], words: &[&str]) -> usize {
    if lines.len() <= LINES_MAX {
        return 0;
    }
    let words: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    let has = |line: &&str| {
        let line = line.to_lowercase();
        words.iter().filter(|word| line.contains(word.as_str())).count()
    };
    let counts: Vec<usize> = lines.iter().map(has).collect();
    let windows = counts.windows(LINES_MAX).map(|window| window.iter().sum::<usize>());
    let best = windows.enumerate().max_by_key(|(at, sum)| (*sum, std::cmp::Reverse(*at)));
    best.map_or(0, |(at, _)| at)
}

fn cut(line: &str) -> String {
    let line = line.trim_end();
    if line.len() <= LINE_BYTES_MAX {
        return line.to_owned();
    }
    format!("{}…", &line[..line.floor_char_boundary(LINE_BYTES_MAX)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_with_most_words_are_shown() {
        let text: String = (1..=100).map(|n| format!("line {n}\n")).collect();
        let (start, shown) = snippet(&text, (10, 80), &["40", "42"]);
        assert!((30..=40).contains(&start), "{start}");
        assert!(shown.contains("line 40\n") && shown.contains("line 42"), "{shown}");
        assert_eq!(snippet(&text, (5, 6), &["x"]), (5, "line 5\nline 6".to_owned()));
        assert_eq!(snippet(&text, (200, 300), &[]), (200, String::new()));
        let long = "é".repeat(500);
        assert!(snippet(&long, (1, 1), &[]).1.len() < 200);
    }
}
