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
    /// Long options without a value, or with one behind `=`.
    pub(crate) long: Vec<String>,
    /// Long options with a value behind `=` or in the next word.
    pub(crate) long_values: Vec<String>,
    /// Whether `-5` is an option.
    pub(crate) numeric: bool,
    /// Whether long options begin with one dash, and there are no others.
    pub(crate) single_dash: bool,
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
}

// === impl OptionForms ===

impl OptionForms {
    /// Adds what another list has.
    pub(crate) fn extend(&mut self, other: &Self) {
        self.flags.push_str(&other.flags);
        self.values.push_str(&other.values);
        self.long.extend(other.long.iter().cloned());
        self.long_values.extend(other.long_values.iter().cloned());
        self.numeric |= other.numeric;
        self.single_dash |= other.single_dash;
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
            let Some(text) = word.fixed() else { return Err(word.shown()) };
            if text == "--" && !self.single_dash {
                sorted.operands_at = sorted.operands_at.min(index + 1);
                sorted.operands.extend(rest.map(|(_, word)| word));
                break;
            }
            let OptionWord { names, value } = self.names(text).ok_or_else(|| word.shown())?;
            let value = match value {
                OptionValue::None => None,
                OptionValue::Attached(text) => Some(ShellWord::Fixed(text)),
                // A value that becomes several words brings others along.
                OptionValue::Next => match rest.next() {
                    Some((_, value)) if value.is_one() => Some(value.clone()),
                    _ => return Err(word.shown()),
                },
            };
            sorted.options.extend(names.into_iter().map(|name| (name, None)));
            if let Some(last) = sorted.options.last_mut() {
                last.1 = value;
            }
        }
        Ok(sorted)
    }

    /// Reads a word of options; none where one is not known.
    fn names(&self, text: &str) -> Option<OptionWord> {
        let has = |list: &[String], name: &str| list.iter().any(|known| known == name);
        let one = |name: String, value| Some(OptionWord { names: vec![name], value });
        let wanted =
            |is_wanted: bool| if is_wanted { OptionValue::Next } else { OptionValue::None };
        if self.single_dash {
            let name = text.strip_prefix('-')?;
            let wants_value = has(&self.long_values, name);
            let is_known = wants_value || has(&self.long, name);
            return one(text.to_owned(), wanted(wants_value)).filter(|_| is_known);
        }
        if let Some(long) = text.strip_prefix("--") {
            let (name, attached) =
                long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
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
            let is_number = letter.is_ascii_digit() && (self.numeric || index > 0);
            if !self.flags.contains(letter) && !is_number {
                return None;
            }
            names.push(format!("-{letter}"));
        }
        Some(OptionWord { names, value: OptionValue::None })
    }
}

// === impl ShellWord ===

impl ShellWord {
    /// Whether it becomes one word, or several of which only the first could be taken for a value.
    fn is_one(&self) -> bool {
        match self {
            Self::Fixed(_) => true,
            Self::Unknown { is_single, .. } => *is_single || self.is_operand(),
        }
    }
}
