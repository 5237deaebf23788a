//! Parts of texts as people read them: short, in one line, without the signs of comments.

/// A text in one line, cut. Of a long one no more is read than is shown.
pub fn one_line(text: &str, bytes_max: usize) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if line.len() > bytes_max {
            break;
        }
        let blank = if line.is_empty() { "" } else { " " };
        line.extend([blank, &word[..word.ceil_char_boundary(bytes_max + 1)]]);
    }
    cut(line, bytes_max)
}

/// What documents a declaration, without the signs of comments.
pub fn plain_documentation(text: &str, bytes_max: usize) -> String {
    let bare = |line: &str| {
        let line = line.trim();
        let line = line.trim_start_matches(['/', '*', '#', '!', '"', '\'', '-', ';']);
        let line = line.trim_end_matches("*/").trim_end_matches("\"\"\"").trim_end_matches("'''");
        line.trim().to_owned()
    };
    let lines: Vec<String> = text.lines().map(bare).filter(|line| !line.is_empty()).collect();
    cut(lines.join("\n"), bytes_max)
}

fn cut(mut text: String, bytes_max: usize) -> String {
    if text.len() > bytes_max {
        text.truncate(text.floor_char_boundary(bytes_max));
        text.push('…');
    }
    text
}
