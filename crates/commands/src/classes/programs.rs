//! Programs of sed and awk, as far as they write files that they name themselves. Of a program that
//! is not read nothing is known here: it is as any other text that a command is given.

use std::sync::LazyLock;

use regex::Regex;

use crate::ShellWord;

/// Files of which nothing is lost when they are written, and the start of those that are the command's own.
const HARMLESS: [&str; 3] = ["/dev/null", "/dev/stderr", "/dev/stdout"];
const OWN: &str = "/tmp/";
/// Why such a program asks.
const REPLACES: &str = "may replace a file, which cannot be undone";
const RUNS: &str = "runs a command that moss does not look at";
/// Letters of options of sed without a value.
const SED_FLAGS: &str = "Enrsuz";

/// Strings and regular expressions of awk. In front of each other they may look like parts of one, so that both
/// orders are looked at.
static AWK_STRING: LazyLock<Regex> = LazyLock::new(|| regex(r#""([^"\\\n]|\\.)*""#));
static AWK_REGEX: LazyLock<Regex> = LazyLock::new(|| regex(r"/([^/\\\n]|\\.)*/"));
/// What writes nothing that is lost: it appends, or goes to a stream or a temporary file.
static AWK_HARMLESS: LazyLock<Regex> =
    LazyLock::new(|| regex(r#">>|>\s*"(/dev/(null|stderr|stdout)|/tmp/[^"./][^".]*(\.[^".]+)*)""#));
/// Deepest parentheses of a program that is read.
const AWK_DEPTH_MAX: usize = 64;
static AWK_GROUP: LazyLock<Regex> = LazyLock::new(|| regex(r"\([^()]*\)"));
static AWK_WRITES: LazyLock<Regex> = LazyLock::new(|| regex(r"(?-u:\b)printf?(?-u:\b)[^;{}\n]*>"));

fn regex(text: &str) -> Regex {
    Regex::new(text).expect("a test compares programs with it")
}

/// Why a command asks that is sed or awk with a program that replaces a file, or, in sed, runs a command.
pub(super) fn reason(bare: &[ShellWord]) -> Option<&'static str> {
    let (name, words) = bare.split_first()?;
    match name.fixed()? {
        "sed" | "gsed" => SedReader { rest: &sed_program(words) }.reason(),
        "awk" | "gawk" | "mawk" | "nawk" => {
            awk_program(words).filter(|program| awk_writes(program)).map(|_| REPLACES)
        }
        _ => None,
    }
}

/// The fixed parts of the program of sed: the values of its options, else the first operand.
fn sed_program(words: &[ShellWord]) -> String {
    let (mut parts, mut operand, mut has_option) = (Vec::new(), None, false);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word.is_operand() || word.fixed().is_none() {
            operand = operand.or(Some(word));
            continue;
        }
        let text = word.starts();
        let letters = text.trim_start_matches('-').trim_start_matches(|c| SED_FLAGS.contains(c));
        let long = text.strip_prefix("--").map(|long| long.split_once('=').unwrap_or((long, "")));
        let value = match long {
            Some((name, value)) if !name.is_empty() && "expression".starts_with(name) => value,
            Some((name, _)) => {
                has_option |= !name.is_empty() && "file".starts_with(name);
                continue;
            }
            None if letters.starts_with(['e', 'f']) => letters,
            None => continue,
        };
        has_option = true;
        let attached = value.strip_prefix('e').filter(|_| long.is_none()).unwrap_or(value);
        let is_file = long.is_none() && value.starts_with('f');
        let value = match attached {
            "" => words.next().and_then(ShellWord::fixed).unwrap_or_default(),
            "f" if is_file => {
                words.next();
                continue;
            }
            attached => attached,
        };
        parts.extend(Some(value).filter(|_| !is_file));
    }
    match operand.and_then(ShellWord::fixed) {
        Some(program) if !has_option => program.to_owned(),
        _ => parts.join("\n"),
    }
}

/// The program of awk, where a word is it.
fn awk_program(words: &[ShellWord]) -> Option<&str> {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.fixed()? {
            "--" => return words.next()?.fixed(),
            "-F" | "-v" => {
                words.next()?;
            }
            "-e" | "--source" => return words.next()?.fixed(),
            text if text.len() > 1 && text.starts_with('-') => {
                if text.starts_with("-f") || text.starts_with("--file") {
                    return None;
                }
            }
            text => return Some(text),
        }
    }
    None
}

/// Whether a program of awk prints to a file. Within parentheses `>` compares.
fn awk_writes(program: &str) -> bool {
    let program = AWK_HARMLESS.replace_all(program, "");
    let strings_first = AWK_STRING.replace_all(&program, "0");
    let regexes_first = AWK_REGEX.replace_all(&program, "0");
    let regexes_first = AWK_STRING.replace_all(&regexes_first, "0");
    [strings_first, regexes_first].into_iter().any(|program| {
        let mut program = program.into_owned();
        for _ in 0..AWK_DEPTH_MAX {
            if !AWK_GROUP.is_match(&program) {
                return AWK_WRITES.is_match(&program);
            }
            program = AWK_GROUP.replace_all(&program, "0").into_owned();
        }
        // Deeper than anybody writes: what it does is not known.
        true
    })
}

/// A program of sed that is read command by command.
struct SedReader<'p> {
    rest: &'p str,
}

// === impl SedReader ===

impl<'p> SedReader<'p> {
    /// Why one of its commands asks, unless another one before that is not read.
    fn reason(&mut self) -> Option<&'static str> {
        let separates = |c: char| c.is_whitespace() || ";{}!,$+~".contains(c) || c.is_ascii_digit();
        loop {
            self.rest = self.rest.trim_start_matches(separates);
            match self.next()? {
                '/' => self.regex('/')?,
                '\\' => {
                    let delimiter = self.next()?;
                    self.regex(delimiter)?;
                }
                's' => {
                    let delimiter = self.next()?;
                    self.regex(delimiter)?;
                    self.text(delimiter)?;
                    self.rest = self
                        .rest
                        .trim_start_matches(|c: char| "gpiImM".contains(c) || c.is_ascii_digit());
                    match self.rest.chars().next() {
                        Some('e') => return Some(RUNS),
                        Some('w') if self.replaces() => return Some(REPLACES),
                        _ => {}
                    }
                }
                'y' => {
                    let delimiter = self.next()?;
                    self.text(delimiter)?;
                    self.text(delimiter)?;
                }
                'e' => return Some(RUNS),
                'w' | 'W' if self.replaces() => return Some(REPLACES),
                'w' | 'W' => {}
                'a' | 'i' | 'c' => while self.line().ends_with('\\') {},
                'r' | 'R' | '#' => {
                    self.line();
                }
                ':' | 'b' | 't' | 'T' => {
                    self.rest = self.rest.trim_start_matches(|c: char| !";}\n".contains(c));
                }
                '=' | 'd' | 'D' | 'F' | 'g' | 'G' | 'h' | 'H' | 'I' | 'l' | 'L' | 'M' | 'n'
                | 'N' | 'p' | 'P' | 'q' | 'Q' | 'x' | 'z' => {}
                _ => return None,
            }
        }
    }

    fn next(&mut self) -> Option<char> {
        let mut characters = self.rest.chars();
        let next = characters.next();
        self.rest = characters.as_str();
        next
    }

    /// The rest of the line.
    fn line(&mut self) -> &'p str {
        let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
        self.rest = rest;
        line
    }

    /// Reads the name of a file: whether what it held is lost.
    fn replaces(&mut self) -> bool {
        let file = self.line().trim_start_matches('w').trim();
        let is_own = file.starts_with(OWN) && !file.contains("..");
        !HARMLESS.contains(&file) && !is_own
    }

    /// Reads up to a delimiter.
    fn text(&mut self, delimiter: char) -> Option<()> {
        loop {
            match self.next()? {
                '\\' => {
                    self.next()?;
                }
                c if c == delimiter => return Some(()),
                _ => {}
            }
        }
    }

    /// The same for a regular expression: in brackets the delimiter is a part of them.
    fn regex(&mut self, delimiter: char) -> Option<()> {
        loop {
            match self.next()? {
                c if c == delimiter => return Some(()),
                '\\' => {
                    self.next()?;
                }
                '[' => self.brackets()?,
                _ => {}
            }
        }
    }

    fn brackets(&mut self) -> Option<()> {
        self.rest = self.rest.strip_prefix('^').unwrap_or(self.rest);
        // One that stands first is a part of them.
        self.rest = self.rest.strip_prefix(']').unwrap_or(self.rest);
        loop {
            match self.next()? {
                ']' => return Some(()),
                '[' => {
                    let class = self.rest.chars().next().filter(|c| ":.=".contains(*c));
                    let Some(class) = class else { continue };
                    let end = format!("{class}]");
                    let at = self.rest[1..].find(&end)?;
                    self.rest = &self.rest[1 + at + end.len()..];
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::reason;
    use crate::{bare_words, read};

    fn asks(line: &str) -> bool {
        let script = read(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        reason(&bare_words(&script.commands[0])).is_some()
    }

    #[test]
    fn a_program_that_writes_a_file_of_its_own_is_found() {
        for line in [
            "sed -n 'w victim' a",
            "sed -n '1,5w victim' a",
            "sed -n '/x/wvictim' a",
            "sed 's/a/b/w victim' a",
            "sed 's/a/b/gw victim' a",
            "sed -e p -e 's|a|b|w victim' a",
            "sed -ne 'w victim' a",
            "sed -nes/a/b/wv a",
            "sed --expression='w victim' a",
            "sed --debug 'w victim' a",
            "sed '/a/{p;w victim\n}' a",
            "sed 's/[/]/g; s/e;#/x/' a",
            "sed '1e rm x' a",
            "sed 's/a/rm x/e' a",
            "sed 'y/a/b/;w v' a",
            "sed 'a\\\nx\nw v' a",
            "sed '$!{s/[^/]*$/x/;W v\n}' a",
            "sed 'w /tmp/../v' a",
            "awk '{print > \"victim\"}' a",
            "awk -F: '{printf \"%s\", $1 >\"victim\"}' a",
            "awk '{print>$1}' a",
            "awk 'NR>3 {print ($1 > 2) > \"v\"}' a",
            "awk '/\"/ {print > \"victim\"}' a",
            "awk '{print $1/2 > \"a/b\"}' a",
            "gawk -v x=1 -- '{print > \"v\"}' a",
            "awk '{print > \"/tmp/../v\"}' a",
        ] {
            assert!(asks(line), "{line}");
        }
    }

    #[test]
    fn a_program_that_only_prints_is_left_to_the_rules() {
        for line in [
            "sed -n 1,5p write.txt",
            "sed -n '/we/,/ew/p' a",
            "sed 's/\\/we/ew/' w",
            "sed 's/[^/]*/word/' a",
            "sed 's/[]/w]/w/g; s,e,w,' a",
            "sed 's/[[:space:]/w]/w/' a",
            "sed -n '$=' a",
            "sed '/^$/d;s/ *#.*//' a",
            "sed '1i we write' a",
            "sed ':a;N;$!ba;s/\\n/ w/g' a",
            "sed -e 's/a/b/' -e '/e/!d' a",
            "sed -f p.sed 'w'",
            "sed -n \"${n}p\" a",
            "sed -n 'w /dev/stdout' a",
            "sed 's/a/b/w /tmp/v' a",
            "sed \\\\w",
            "awk '{print $1}' a",
            "awk '$1 > 2 {print $1}' a",
            "awk '{ if ($3 > 5) print $1 }' a",
            "awk '{print ($1 > 2) ? \"a\" : \"b\"}' a",
            "awk '{print \"a -> b\", $1}' a",
            "awk '{print $1/2 \" -> \" $2/3}' a",
            "awk '{print > \"/dev/stderr\"}' a",
            "awk '{print >> \"log\"}' a",
            "awk '{print > \"/tmp/v.txt\"}' a",
            "awk '{print}; $1 > 2' a",
            "awk -f p.awk '{print > \"v\"}'",
            "awk \"$x\" a",
            "cat 'w victim'",
        ] {
            assert!(!asks(line), "{line}");
        }
    }
}
