//! The picture of a session: some steps of the tour as they stood on the terminal, as SVG.
//!
//! A terminal is dark on every page, so the picture keeps its colours on a light one.

use moss_xtask::picture::{Picture, escaped};

use super::screen::ScreenLine;

/// The steps that are on the picture.
const STEPS: [&str; 3] = ["Propose an edit", "Confirm it", "Undo it"];
/// Most lines of an output; of a longer one so many are shown from its start and its end.
const OUTPUT_LINES_MAX: usize = 14;
const OUTPUT_LINES: (usize, usize) = (5, 3);
/// Longest line, in characters; an output is cut there, a command continues below.
const LINE_CHARS_MAX: usize = 100;
/// How long digests are, in hexadecimal digits.
const DIGEST_DIGITS: usize = 64;
/// The size of a character and of a line, in pixels.
const CHAR_WIDTH: f64 = 7.8;
const LINE_HEIGHT: f64 = 18.0;
const MARGIN: f64 = 20.0;
/// Where the first line stands: below the bar of the window.
const TOP: f64 = 52.0;
const STYLE: &str = "\
.card{fill:#0d1117;stroke:#30363d}
text{fill:#e6edf3;font-family:ui-monospace,SFMono-Regular,Menlo,\"DejaVu Sans Mono\",monospace;font-size:13px}
.said{fill:#9198a1}
.typed{fill:#e6edf3;font-weight:600}
.prompt{fill:#3fb950}
.bold{font-weight:600}
.dim{fill:#9198a1}
.red{fill:#ff7b72}
.green{fill:#7ee787}
.yellow{fill:#d29922}
.blue{fill:#79c0ff}
.cyan{fill:#56d4dd}
.close{fill:#ff5f57}
.shrink{fill:#febc2e}
.grow{fill:#28c840}
";

/// Draws what the tour has shown as a picture.
pub(super) fn drawn(tour: &[ScreenLine]) -> String {
    let lines = lines(tour);
    let width = MARGIN * 2.0 + LINE_CHARS_MAX as f64 * CHAR_WIDTH;
    let height = TOP + lines.len() as f64 * LINE_HEIGHT;
    let mut picture = Picture::new(
        "A session of moss: an edit is shown, confirmed and undone",
        width as u32,
        height as u32,
    );
    picture.style(STYLE);
    for (at, class) in ["close", "shrink", "grow"].into_iter().enumerate() {
        picture.dot(class, (MARGIN + 4.0 + at as f64 * 18.0, 20.0));
    }
    for (at, line) in lines.iter().enumerate() {
        let y = TOP + at as f64 * LINE_HEIGHT;
        if !line.is_empty() {
            picture.element(&format!(
                "<text xml:space=\"preserve\" x=\"{MARGIN}\" y=\"{y}\">{line}</text>"
            ));
        }
    }
    picture.finish()
}

/// Says where a picture shows other sentences or commands than the tour; outputs differ from one machine to another.
pub(super) fn difference(tour: &[ScreenLine], picture: &str) -> Option<String> {
    let new = drawn(tour);
    let (new, old) = (said(&new), said(picture));
    let at = new.iter().zip(&old).position(|(new, old)| new != old);
    let at = at.or_else(|| (new.len() != old.len()).then(|| new.len().min(old.len())))?;
    let [new, old] = [new, old].map(|lines| lines.get(at).cloned().unwrap_or_default());
    Some(format!("the tour: {new}\nthe picture: {old}"))
}

/// The lines of a picture that the tour itself says or types; digests are those of one run.
fn said(picture: &str) -> Vec<String> {
    let classes = ["said", "typed"].map(|class| format!("<tspan class=\"{class}\">"));
    let lines = picture.lines().filter(|line| classes.iter().any(|class| line.contains(class)));
    let texts = lines.filter_map(|line| line.split_once("\">"));
    texts.map(|(_, text)| without_digests(text)).collect()
}

fn without_digests(text: &str) -> String {
    let is_digest =
        |word: &str| word.len() == DIGEST_DIGITS && word.chars().all(|c| c.is_ascii_hexdigit());
    let parts = text.split_inclusive(|c: char| !c.is_ascii_alphanumeric());
    let parts = parts.map(|part| {
        let word = part.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        if is_digest(word) { part.replace(word, "DIGEST") } else { part.to_owned() }
    });
    parts.collect()
}

/// The lines of the picture, with their colours as elements.
fn lines(tour: &[ScreenLine]) -> Vec<String> {
    let (mut lines, mut output) = (Vec::new(), Vec::new());
    let mut is_shown = false;
    for line in tour {
        if let ScreenLine::Title(title) = line {
            is_shown = STEPS.contains(&title.as_str());
        }
        if !is_shown {
            lines.append(&mut without_middle(&mut output));
            continue;
        }
        if !matches!(line, ScreenLine::Printed(_)) {
            lines.append(&mut without_middle(&mut output));
        }
        match line {
            ScreenLine::Title(_) if lines.is_empty() => {}
            ScreenLine::Title(_) => lines.push(String::new()),
            ScreenLine::Said(text) => lines.push(span("said", &format!("# {text}"))),
            ScreenLine::Typed(command) => {
                if lines.last().is_some_and(|line: &String| !line.contains("\"said\"")) {
                    lines.push(String::new());
                }
                let mut prompt = span("prompt", "$ ");
                for part in wrapped(command) {
                    lines.push(prompt + &span("typed", &part));
                    prompt = "    ".to_owned();
                }
            }
            ScreenLine::Printed(text) => output.push(coloured(text)),
        }
    }
    lines.append(&mut without_middle(&mut output));
    lines
}

/// Takes the lines of an output; those in the middle of a long one become dots.
fn without_middle(output: &mut Vec<String>) -> Vec<String> {
    let mut lines = std::mem::take(output);
    let (head, tail) = OUTPUT_LINES;
    if lines.len() > OUTPUT_LINES_MAX {
        let end = lines.len() - tail;
        lines.splice(head..end, [span("dim", "  …")]);
    }
    lines
}

/// The lines of a command, broken between its arguments, with what a shell needs at their ends.
fn wrapped(command: &str) -> Vec<String> {
    const CHARS_MAX: usize = LINE_CHARS_MAX - 6;
    let mut lines = vec![String::new()];
    let mut is_quoted = false;
    for word in command.split(' ') {
        let was_quoted = is_quoted;
        is_quoted ^= !word.matches('\'').count().is_multiple_of(2);
        let line = lines.last_mut().expect("there is a line from the start");
        let is_long = line.chars().count() + 1 + word.chars().count() > CHARS_MAX;
        if !line.is_empty() && is_long && !was_quoted {
            line.push_str(" \\");
            lines.push(word.to_owned());
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}

fn span(class: &str, text: &str) -> String {
    match class {
        "" => escaped(text),
        class => format!("<tspan class=\"{class}\">{}</tspan>", escaped(text)),
    }
}

/// Turns the colours of a terminal into elements.
fn coloured(line: &str) -> String {
    let mut drawn = String::new();
    let (mut is_bold, mut colour, mut left) = (false, "", LINE_CHARS_MAX);
    for (at, part) in line.split("\u{1b}[").enumerate() {
        let mut text = part;
        if at > 0 {
            let (codes, rest) = part.split_once('m').unwrap_or(("", part));
            text = rest;
            for code in codes.split(';') {
                match code {
                    "" | "0" => (is_bold, colour) = (false, ""),
                    "1" => is_bold = true,
                    "2" => colour = "dim",
                    "31" | "91" => colour = "red",
                    "32" | "92" => colour = "green",
                    "33" | "93" => colour = "yellow",
                    "34" | "94" => colour = "blue",
                    "36" | "96" => colour = "cyan",
                    _ => {}
                }
            }
        }
        let shown: String = text.chars().take(left).collect();
        left -= shown.chars().count();
        if !shown.is_empty() {
            let bold = if is_bold { "bold" } else { "" };
            drawn.push_str(&span(format!("{bold} {colour}").trim(), &shown));
        }
    }
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_of_a_terminal_become_classes() {
        let line = "\u{1b}[1m\u{1b}[31merror:\u{1b}[0m a < b";
        assert_eq!(coloured(line), "<tspan class=\"bold red\">error:</tspan> a &lt; b");
    }

    #[test]
    fn a_picture_with_other_commands_or_sentences_is_old() {
        let tour = |sentence: &str, digest: &str, printed: &str| {
            [
                ScreenLine::Title(STEPS[1].to_owned()),
                ScreenLine::Said(sentence.to_owned()),
                ScreenLine::Typed(format!("moss call --confirm {}", digest.repeat(DIGEST_DIGITS))),
                ScreenLine::Printed(printed.to_owned()),
            ]
        };
        let picture = drawn(&tour("A sentence.", "a", "one"));
        assert_eq!(difference(&tour("A sentence.", "b", "two\nmore"), &picture), None);
        let other = difference(&tour("Another one.", "a", "one"), &picture).unwrap();
        assert!(other.contains("# Another one.") && other.contains("# A sentence."), "{other}");
        assert!(difference(&tour("A sentence.", "abc", "one"), &picture).is_some());
        assert!(difference(&tour("A sentence.", "a", "one")[..2], &picture).is_some());
    }

    #[test]
    fn only_some_steps_are_on_the_picture() {
        let tour = [
            ScreenLine::Title("Look".to_owned()),
            ScreenLine::Typed("moss status".to_owned()),
            ScreenLine::Title(STEPS[0].to_owned()),
            ScreenLine::Said("A sentence.".to_owned()),
            ScreenLine::Typed("moss call".to_owned()),
            ScreenLine::Printed("x".repeat(200)),
        ];
        let lines = lines(&tour);
        assert_eq!(lines.len(), 3);
        assert_eq!(lines[2].len(), LINE_CHARS_MAX);
        assert!(lines[1].contains("$ ") && lines[1].contains("moss call"));
        assert_eq!(wrapped(&"word ".repeat(30)).len(), 2);
        let mut long = vec!["x".to_owned(); 40];
        assert_eq!(without_middle(&mut long).len(), 9);
    }
}
