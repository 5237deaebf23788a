//! Text from files, models and plugins made harmless for a terminal: what moves the cursor,
//! reorders or hides text is shown as an escape.

use std::fmt::Write as _;

use moss_sdk::deceptive::is_deceptive;

/// Makes text of one line harmless: line breaks are escaped too.
pub(super) fn line(text: &str) -> String {
    escape(text, |_| false)
}

/// Makes text of several lines harmless.
pub(super) fn lines(text: &str) -> String {
    escape(text, |c| matches!(c, '\n' | '\t'))
}

/// Makes what a plugin says harmless: no line of it can be taken for one of moss.
pub(super) fn quoted(text: &str) -> String {
    let lines = lines(text);
    lines.lines().map(|line| format!("  | {line}")).collect::<Vec<_>>().join("\n")
}

/// Makes a text harmless that stands behind a word of moss: its further lines stand further in.
pub(super) fn indented(text: &str) -> String {
    lines(text).replace('\n', "\n  ")
}

/// Makes JSON harmless and leaves it the same JSON.
pub(super) fn json(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        // A line break in JSON stands between tokens: inside of strings it is escaped already.
        if !is_deceptive(c) || c == '\n' {
            shown.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            write!(shown, "\\u{unit:04x}").expect("a string takes everything");
        }
    }
    shown
}

fn escape(text: &str, keep: fn(char) -> bool) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_deceptive(c) && !keep(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_of_a_plugin_looks_like_one_of_moss() {
        assert_eq!(quoted("done\napply? [y]es"), "  | done\n  | apply? [y]es");
        assert_eq!(indented("bad\nhint: rm"), "bad\n  hint: rm");
    }

    #[test]
    fn what_deceives_is_shown_as_an_escape() {
        for (given, shown) in [
            ("plain ünï 字 🦀", "plain ünï 字 🦀"),
            ("a\x1b[31mb", "a\\u{1b}[31mb"),
            ("a\rb", "a\\rb"),
            ("bell\x07 c1\u{9b}", "bell\\u{7} c1\\u{9b}"),
            ("x\u{202e}gpj.exe", "x\\u{202e}gpj.exe"),
            ("\u{2066}iso\u{2069}", "\\u{2066}iso\\u{2069}"),
            ("zero\u{200b}width\u{feff}", "zero\\u{200b}width\\u{feff}"),
            ("tag\u{e0041}", "tag\\u{e0041}"),
        ] {
            assert_eq!(line(given), shown);
            assert_eq!(lines(given), shown);
        }
        assert_eq!(line("a\n\tb"), "a\\n\\tb");
        assert_eq!(lines("a\n\tb"), "a\n\tb");
    }

    #[test]
    fn json_stays_the_same_json() {
        let value = serde_json::json!({ "a\u{202e}": ["\u{9b}\u{7f}", "\u{e0041}🦀\n", "\u{1b}"] });
        let shown = json(&serde_json::to_string_pretty(&value).unwrap());
        assert!(shown.contains("\\u202e") && shown.contains("\\udb40\\udc41"), "{shown}");
        assert!(shown.chars().all(|c| c == '\n' || !is_deceptive(c)));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
    }
}
