//! Options of commands: which words are options, which are their values, and which are operands.

use serde::Deserialize;

use crate::ShellWord;

/// The options that are known of a command.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct OptionForms {
    /// Letters of options without a value.
    pub(crate) flags: String,
    /// Letters of options with a value, attached or in the next word.
    pub(crate) values: String,
    /// Letters of options that may have a value, but only attached: never the next word.
    pub(crate) attached: String,
    /// Letters of options with a value in the next word, which stand last in theirs; or a number attached.
    pub(crate) last_values: String,
    /// Long options without a value, or with one behind `=`: never the next word.
    pub(crate) long: Vec<String>,
    /// Long options with a value behind `=` or in the next word.
    pub(crate) long_values: Vec<String>,
    /// Long options that take the next two words whatever they are.
    pub(crate) long_pairs: Vec<String>,
    /// Whether `-5` is an option.
    pub(crate) numeric: bool,
    /// Whether long options begin with one dash, and there are no others; with `numeric` those of one letter
    /// may have a number attached.
    pub(crate) single_dash: bool,
    /// Options that take the next word whatever that is, also one with a dash; `*` stands for all with a value.
    pub(crate) any_values: Vec<String>,
    /// Whether the value behind `=` may be unknown.
    #[serde(skip)]
    pub(crate) unknown_values: bool,
}

/// The words of a command, separated.
#[derive(Debug, Default)]
pub(crate) struct SortedWords<'a> {
    /// The options, as `-x` or `--long`, with their values where they have one.
    pub(crate) options: Vec<(String, Option<ShellWord>)>,
    /// Words that are neither an option nor the value of one.
    pub(crate) operands: Vec<&'a ShellWord>,
    /// Where the operands begin; the number of words where there are none.
    pub(crate) operands_at: usize,
}

/// The options in one word.
#[derive(Debug)]
struct OptionWord {
    names: Vec<String>,
    /// That of the last one.
    value: OptionValue,
}

/// The value of an option.
#[derive(Debug)]
enum OptionValue {
    None,
    Attached(String),
    /// It is the word behind the option.
    Next,
    /// They are the two words behind it.
    NextTwo,
}

// === impl OptionForms ===

impl OptionForms {
    /// Adds what another list has.
    pub(crate) fn extend(&mut self, other: &Self) {
        self.flags.push_str(&other.flags);
        self.values.push_str(&other.values);
        self.attached.push_str(&other.attached);
        self.last_values.push_str(&other.last_values);
        self.long.extend(other.long.iter().cloned());
        self.long_values.extend(other.long_values.iter().cloned());
        self.numeric |= other.numeric;
        self.single_dash |= other.single_dash;
        self.any_values.extend(other.any_values.iter().cloned());
        self.long_pairs.extend(other.long_pairs.iter().cloned());
    }

    /// Separates words; with `only_leading`, options end at the first operand.
    ///
    /// # Errors
    ///
    /// The first word that is an option that is not known, or that may be one.
    pub(crate) fn sort<'a>(
        &self,
        words: &'a [ShellWord],
        only_leading: bool,
    ) -> Result<SortedWords<'a>, String> {
        let mut sorted = SortedWords { operands_at: words.len(), ..SortedWords::default() };
        let mut rest = words.iter().enumerate();
        while let Some((index, word)) = rest.next() {
            if word.is_operand() {
                sorted.operands_at = sorted.operands_at.min(index);
                if only_leading {
                    sorted.operands.extend(&words[index..]);
                    break;
                }
                sorted.operands.push(word);
                continue;
            }
            let Some(text) = word.fixed() else {
                let option = self.attached_unknown(word).ok_or_else(|| word.shown())?;
                sorted.options.push(option);
                continue;
            };
            if text == "--" && !self.single_dash {
                sorted.operands_at = sorted.operands_at.min(index + 1);
                sorted.operands.extend(rest.map(|(_, word)| word));
                break;
            }
            let OptionWord { names, value } = self.names(text).ok_or_else(|| word.shown())?;
            let value = match value {
                OptionValue::None => None,
                OptionValue::Attached(text) => Some(ShellWord::Fixed(text)),
                OptionValue::Next => match rest.next() {
                    Some((_, value)) if self.is_value(value, names.last()) => Some(value.clone()),
                    _ => return Err(word.shown()),
                },
                OptionValue::NextTwo => {
                    let is_one = |next: Option<(_, &ShellWord)>| {
                        next.is_some_and(|(_, word): (usize, _)| word.is_exactly_one())
                    };
                    if !is_one(rest.next()) || !is_one(rest.next()) {
                        return Err(word.shown());
                    }
                    None
                }
            };
            sorted.options.extend(names.into_iter().map(|name| (name, None)));
            if let Some(last) = sorted.options.last_mut() {
                last.1 = value;
            }
        }
        Ok(sorted)
    }

    /// Whether a word is the value of the option before it. What becomes several words, or none, is more or
    /// less than that; and what begins with a dash is an option itself where the program takes the next word only
    /// at times, or in another version.
    fn is_value(&self, word: &ShellWord, option: Option<&String>) -> bool {
        let takes_any = |known: &String| known == "*" || Some(known) == option;
        word.is_exactly_one() && (word.is_operand() || self.any_values.iter().any(takes_any))
    }

    /// Reads `--NAME="$x"`: one option, whatever the value is. A letter would take the next word where that is empty.
    fn attached_unknown(&self, word: &ShellWord) -> Option<(String, Option<ShellWord>)> {
        let ShellWord::Unknown { starts, is_single: true, .. } = word else { return None };
        let is_attached = self.unknown_values && !self.single_dash && starts.starts_with("--");
        let (_, value) = starts.split_once('=').filter(|_| is_attached)?;
        let name = self.names(starts)?.names.pop()?;
        let starts = value.to_owned();
        Some((name, Some(ShellWord::Unknown { text: word.shown(), starts, is_single: true })))
    }

    /// Reads a word of options; none where one is not known.
    fn names(&self, text: &str) -> Option<OptionWord> {
        let has = |list: &[String], name: &str| list.iter().any(|known| known == name);
        let one = |name: String, value| Some(OptionWord { names: vec![name], value });
        let wanted =
            |is_wanted: bool| if is_wanted { OptionValue::Next } else { OptionValue::None };
        if self.single_dash {
            let name = text.strip_prefix('-')?;
            let letter = name.trim_end_matches(|c: char| c.is_ascii_digit());
            if self.numeric && letter.len() == 1 && letter != name && has(&self.long_values, letter)
            {
                let value = OptionValue::Attached(name[letter.len()..].to_owned());
                return one(format!("-{letter}"), value);
            }
            let wants_value = has(&self.long_values, name);
            let is_known = wants_value || has(&self.long, name);
            return one(text.to_owned(), wanted(wants_value)).filter(|_| is_known);
        }
        if let Some(long) = text.strip_prefix("--") {
            let (name, attached) =
                long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
            if has(&self.long_pairs, long) {
                return one(text.to_owned(), OptionValue::NextTwo);
            }
            let wants_value = has(&self.long_values, name);
            let is_known = wants_value || has(&self.long, name);
            let value = match attached {
                Some(value) => OptionValue::Attached(value.to_owned()),
                None => wanted(wants_value),
            };
            return one(format!("--{name}"), value).filter(|_| is_known);
        }
        let mut names = Vec::new();
        let letters = text.strip_prefix('-')?;
        for (index, letter) in letters.char_indices() {
            let rest = &letters[index + letter.len_utf8()..];
            if self.values.contains(letter) {
                names.push(format!("-{letter}"));
                let value = match rest {
                    "" => OptionValue::Next,
                    rest => OptionValue::Attached(rest.to_owned()),
                };
                return Some(OptionWord { names, value });
            }
            if self.attached.contains(letter) {
                names.push(format!("-{letter}"));
                return Some(OptionWord { names, value: OptionValue::Attached(rest.to_owned()) });
            }
            if self.last_values.contains(letter) {
                names.push(format!("-{letter}"));
                let is_number = rest.chars().all(|c| c.is_ascii_digit());
                let value = match rest {
                    "" => OptionValue::Next,
                    rest => OptionValue::Attached(rest.to_owned()),
                };
                return is_number.then_some(OptionWord { names, value });
            }
            let is_number = letter.is_ascii_digit() && self.numeric;
            if !self.flags.contains(letter) && !is_number {
                return None;
            }
            names.push(format!("-{letter}"));
        }
        Some(OptionWord { names, value: OptionValue::None })
    }
}
