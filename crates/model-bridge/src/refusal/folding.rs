//! One way of writing for what is written in several: width, traditional characters, haste.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;

/// How far full-width letters are from those of ASCII.
const WIDE_OFFSET: u32 = 0xfee0;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FoldingTable {
    traditional: String,
    words: BTreeMap<String, String>,
    typed: BTreeMap<String, String>,
}

struct TextFolding {
    characters: HashMap<char, char>,
    words: Vec<(String, String)>,
    typed: HashMap<String, String>,
}

static FOLDING: LazyLock<TextFolding> = LazyLock::new(|| {
    let table: FoldingTable =
        toml::from_str(include_str!("fold.toml")).expect("the committed table");
    let characters: Vec<char> = table.traditional.chars().collect();
    // The longest first: one word may begin another.
    let mut words: Vec<(String, String)> = table.words.into_iter().collect();
    words.sort_by_key(|(word, _)| std::cmp::Reverse(word.len()));
    TextFolding {
        characters: characters.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect(),
        words,
        typed: table.typed.into_iter().collect(),
    }
});

static WORD: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?-u:\b)[a-z]+(?-u:\b)").expect("a pattern of ours"));

/// Writes text of lower case in simplified characters of usual width.
pub(super) fn one_writing(text: &str) -> String {
    let folding = &*FOLDING;
    let mut is_traditional = false;
    let plain: String = text
        .chars()
        .filter(|c| !matches!(c, '\u{200b}'..='\u{200d}' | '\u{feff}' | '\u{fe0f}'))
        .map(|c| match c {
            'ａ'..='ｚ' | 'Ａ'..='Ｚ' | '０'..='９' | '＇' => {
                char::from_u32(u32::from(c) - WIDE_OFFSET).unwrap_or(c).to_ascii_lowercase()
            }
            _ => folding.characters.get(&c).map_or(c, |simple| {
                is_traditional = true;
                *simple
            }),
        })
        .collect();
    let plain = if is_traditional {
        let words = folding.words.iter();
        words.fold(plain, |text, (word, meaning)| text.replace(word, meaning))
    } else {
        plain
    };
    if !plain.is_ascii() && !plain.bytes().any(|byte| byte.is_ascii_lowercase()) {
        return plain;
    }
    let typed = |found: &regex::Captures<'_>| {
        let word = &found[0];
        folding.typed.get(word).map_or_else(|| word.to_owned(), Clone::clone)
    };
    WORD.replace_all(&plain, typed).into_owned()
}
