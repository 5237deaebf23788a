//! Files whose data is read otherwise than their language says: JSON with commas behind last values, templates.

use moss_symbols::Language;

/// Names of JSON files whose readers allow commas behind last values, less what is between their first dot and the last.
const RELAXED_NAMES: &[&str] = &[
    ".babelrc.json",
    ".eslintrc.json",
    ".jscsrc.json",
    ".oxlintrc.json",
    ".swcrc.json",
    "api-extractor.json",
    "biome.json",
    "deno.json",
    "devcontainer.json",
    "jsconfig.json",
    "language-configuration.json",
    "nx.json",
    "pyrightconfig.json",
    "rush.json",
    "tsconfig.json",
    "tsdoc.json",
    "turbo.json",
    "typedoc.json",
    "wrangler.json",
];
/// Directories of which all JSON is such.
const RELAXED_DIRECTORIES: &[&str] = &[".devcontainer", ".vscode", ".zed"];

/// What of a JSON text is no JSON.
#[derive(Debug, Default)]
struct RelaxedJson {
    has_comments: bool,
    /// Where commas behind last values are.
    commas: Vec<usize>,
}

/// Whether a text is one of which data is made: by Helm, Jinja or the like.
pub(super) fn is_template(language: Language, text: &str) -> bool {
    let is_data = matches!(language, Language::Yaml | Language::Json | Language::Toml);
    // In workflows of GitHub `${{` is part of a value.
    let opens = |at: usize| !text[..at].ends_with('$');
    is_data && (text.contains("{%") || text.match_indices("{{").any(|(at, _)| opens(at)))
}

/// JSON without the commas behind last values, where its readers allow them, as its name or its comments show. It has the
/// same length; none for other texts.
pub(super) fn without_last_commas(language: Language, path: &str, text: &str) -> Option<String> {
    if language != Language::Json {
        return None;
    }
    let relaxed = RelaxedJson::of(text);
    if relaxed.commas.is_empty() || !(relaxed.has_comments || allows_last_commas(path)) {
        return None;
    }
    let mut plain = text.to_owned();
    for at in relaxed.commas {
        plain.replace_range(at..=at, " ");
    }
    Some(plain)
}

fn allows_last_commas(path: &str) -> bool {
    let mut parts = path.rsplit('/');
    let name = parts.next().unwrap_or(path).to_ascii_lowercase();
    let is_relaxed = |known: &&str| {
        let stem = known.strip_suffix(".json").unwrap_or(known);
        let rest = name.strip_prefix(stem).filter(|rest| rest.starts_with(['.', '-']));
        rest.is_some_and(|rest| rest.ends_with(".json"))
    };
    RELAXED_NAMES.iter().any(is_relaxed)
        || parts.any(|directory| RELAXED_DIRECTORIES.contains(&directory))
}

// === impl RelaxedJson ===

impl RelaxedJson {
    fn of(text: &str) -> Self {
        let (bytes, mut relaxed) = (text.as_bytes(), Self::default());
        // The last comma, as long as only blanks and comments stand behind it.
        let mut comma = None;
        let mut at = 0;
        while at < bytes.len() {
            let behind = |end: &str, from: usize| {
                text[from..].find(end).map(|found| from + found + end.len())
            };
            match bytes[at] {
                b'"' => {
                    comma = None;
                    at = string_end(bytes, at);
                    continue;
                }
                b'/' if bytes.get(at + 1) == Some(&b'/') => {
                    relaxed.has_comments = true;
                    at = behind("\n", at + 2).unwrap_or(bytes.len());
                    continue;
                }
                b'/' if bytes.get(at + 1) == Some(&b'*') => {
                    relaxed.has_comments = true;
                    at = behind("*/", at + 2).unwrap_or(bytes.len());
                    continue;
                }
                b',' => comma = Some(at),
                b'}' | b']' => relaxed.commas.extend(comma.take()),
                byte if byte.is_ascii_whitespace() => {}
                _ => comma = None,
            }
            at += 1;
        }
        relaxed
    }
}

/// Behind the text that begins at a quote.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_behind_last_values_are_blanked_where_the_reader_allows_them() {
        for (path, text, expected) in [
            ("tsconfig.json", "{\"a\": [1, 2,], }", Some("{\"a\": [1, 2 ]  }")),
            ("a/tsconfig.app.json", "[1,]", Some("[1 ]")),
            (".vscode/x.json", "[1 , // c\n]", Some("[1   // c\n]")),
            ("a.json", "[1, /* c */]", Some("[1  /* c */]")),
            ("a.json", "[\"// no\", 1,]", None),
            ("package.json", "[1,]", None),
            ("mytsconfig.json", "[1,]", None),
            ("tsconfig.json", "[\",]\", \"\\\",]\"]", None),
            ("tsconfig.json", "[1", None),
            ("tsconfig.json", "[é,]", Some("[é ]")),
        ] {
            let plain = without_last_commas(Language::Json, path, text);
            assert_eq!(plain.as_deref(), expected, "{path} {text}");
        }
    }

    #[test]
    fn templates_are_known_by_their_signs() {
        assert!(is_template(Language::Yaml, "a: {{ b }}"));
        assert!(is_template(Language::Json, "{% if a %}{}{% endif %}"));
        assert!(!is_template(Language::Yaml, "a: ${{ b }}"));
        assert!(!is_template(Language::Rust, "fn a() {{ }}"));
    }
}
