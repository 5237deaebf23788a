//! Takes secrets and file contents out of what the journal keeps.
//!
//! [`RedactedText`] and [`RedactedArguments`] can only be made here, so that nothing else gets into a record. Masks
//! rather too much than too little: a masked word can be looked up elsewhere, a written secret
//! stays for good.

mod patterns;

use std::borrow::Cow;
use std::sync::LazyLock;

use moss_sdk::ContentHash;
use regex::RegexSet;
use serde::Serialize;
use serde_json::{Map, Value, json};

use moss_sdk::deceptive::is_deceptive;

/// Longest text in a record, in bytes.
pub const TEXT_BYTES_MAX: usize = 1024;
/// Longest text among the arguments that is kept as it is, in bytes.
pub const ARGUMENT_BYTES_MAX: usize = 200;
/// Most values, and most bytes of text, of all arguments together.
pub const ARGUMENTS_VALUES_MAX: usize = 256;
/// Most bytes of text of all arguments together.
pub const ARGUMENTS_BYTES_MAX: usize = 8 * 1024;
/// Longest key that is kept, in bytes.
const KEY_BYTES_MAX: usize = 64;
/// How much of a text is searched for secrets; what lies behind is dropped.
const SCAN_BYTES_MAX: usize = 64 * 1024;

/// How many levels of JSON inside of texts are looked into.
const LEVELS_MAX: usize = 4;

/// What stands in place of a secret.
const MASK: &str = "[redacted]";
/// What stands in place of what is too much.
const OMITTED: &str = "[omitted]";

/// Keys whose values are secrets, wherever they occur in a key's letters and digits.
const SECRET_KEYS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "privatekey",
    "accountkey",
    "sharedkey",
    "signingkey",
    "encryptionkey",
    "masterkey",
    "dbpass",
    "userpass",
    "credential",
    "authorization",
    "cookie",
    "bearer",
];

/// Keys whose values are parts of files.
const CONTENT_KEYS: &[&str] = &[
    "body",
    "code",
    "content",
    "contents",
    "data",
    "diff",
    "diffcontent",
    "find",
    "inserttext",
    "linetext",
    "newlines",
    "newstring",
    "newtext",
    "oldlines",
    "oldstring",
    "oldtext",
    "patch",
    "replace",
    "replacement",
    "replacevalue",
    "search",
    "searchvalue",
    "text",
    "value",
];

/// Shortest secret that has a form of its own, in bytes.
const FORM_BYTES_MIN: usize = 13;
/// What stands before every other one, behind its name.
const BEFORE_SECRETS: &[u8] = b"=: \t";

/// A text without secrets, of bounded length, on one line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct RedactedText(String);

/// Arguments of a call without secrets and without file contents, of bounded size.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct RedactedArguments(Value);

/// Returns a text with every secret that has a known form masked.
pub fn mask(text: &str) -> Cow<'_, str> {
    // Nearly every text is clean: one look at it is enough then, and names need none.
    if is_too_short(text) || !ANY.is_match(text) {
        return Cow::Borrowed(text);
    }
    patterns::ALL.iter().fold(Cow::Borrowed(text), |text, (pattern, replacement)| {
        match pattern.replace_all(&text, *replacement) {
            Cow::Borrowed(_) => text,
            Cow::Owned(masked) => Cow::Owned(masked),
        }
    })
}

/// Whether a text has no room for a secret that is known by its form: such a one is this long, or stands behind a
/// character of these.
fn is_too_short(text: &str) -> bool {
    text.len() < FORM_BYTES_MIN && !text.bytes().any(|byte| BEFORE_SECRETS.contains(&byte))
}

/// Takes secrets out of a value that is passed on: texts are masked, JSON inside of them too, and
/// what stands under the key of a secret. Everything else stays as it is.
pub fn without_secrets(value: Value) -> Value {
    clean(value, LEVELS_MAX)
}

fn clean(value: Value, levels: usize) -> Value {
    match value {
        Value::String(text) => Value::String(clean_text(text, levels)),
        Value::Array(items) => items.into_iter().map(|item| clean(item, levels)).collect(),
        Value::Object(members) => {
            let members = members.into_iter().map(|(key, value)| {
                let value = if is_secret(&letters(&key)) {
                    Value::from(MASK)
                } else {
                    clean(value, levels)
                };
                (key, value)
            });
            Value::Object(members.collect())
        }
        value => value,
    }
}

/// Masks a text. JSON stays JSON: it is masked value by value.
fn clean_text(text: String, levels: usize) -> String {
    let may_be_json = levels > 0 && text.trim_start().starts_with(['{', '[']);
    let inner: Option<Value> = may_be_json.then(|| serde_json::from_str(&text).ok()).flatten();
    let Some(inner) = inner else { return mask(&text).into_owned() };
    let cleaned = clean(inner.clone(), levels - 1);
    // Untouched texts keep their blanks.
    if cleaned == inner { text } else { cleaned.to_string() }
}

/// The letters and digits of a key, lowercase.
fn letters(key: &str) -> String {
    key.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase()
}

fn is_secret(letters: &str) -> bool {
    letters == "pass" || SECRET_KEYS.iter().any(|secret| letters.contains(secret))
}

/// Whether there is anything to mask.
static ANY: LazyLock<RegexSet> = LazyLock::new(|| {
    RegexSet::new(patterns::ALL.iter().map(|(pattern, _)| pattern.as_str()))
        .expect("each of them is a pattern")
});

/// Replaces a content by its size and hash.
fn fingerprint(bytes: &[u8]) -> Value {
    let hash = ContentHash::from_bytes(*blake3::hash(bytes).as_bytes());
    json!({ "bytes": bytes.len(), "hash": hash.to_string() })
}

/// Cuts a text at a character boundary.
fn cut(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}

// === impl RedactedText ===

impl RedactedText {
    /// Masks, bounds, and escapes what JSON leaves and a terminal obeys.
    pub fn new(text: &str) -> Self {
        let masked = mask(cut(text, SCAN_BYTES_MAX));
        let mut kept = cut(&masked, TEXT_BYTES_MAX).to_owned();
        if kept.len() < masked.len() || text.len() > SCAN_BYTES_MAX {
            kept.push('…');
        }
        let deceives = |c: char| c >= ' ' && is_deceptive(c);
        // Of what is ASCII, only its last character can be one: most texts need no closer look.
        if kept.bytes().any(|byte| byte >= 0x7f) && kept.contains(deceives) {
            let escape =
                |c: char| if deceives(c) { c.escape_default().to_string() } else { c.to_string() };
            kept = kept.chars().map(escape).collect();
        }
        Self(kept)
    }

    /// Returns the text without what was taken out.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for RedactedText {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

// === impl RedactedArguments ===

impl RedactedArguments {
    /// Keeps names, numbers and short texts; replaces contents and long texts by size and hash and
    /// secrets by a mask.
    pub fn new(arguments: &Value) -> Self {
        let mut budget =
            RedactionBudget { values: ARGUMENTS_VALUES_MAX, bytes: ARGUMENTS_BYTES_MAX };
        Self(budget.value(arguments))
    }

    /// As [`RedactedArguments::new`], of an object's members.
    pub fn of(members: &Map<String, Value>) -> Self {
        let mut budget =
            RedactionBudget { values: ARGUMENTS_VALUES_MAX, bytes: ARGUMENTS_BYTES_MAX };
        budget.spend(0);
        Self(budget.members(members))
    }

    /// Stands for arguments that are no JSON.
    pub fn unreadable(bytes: &[u8]) -> Self {
        Self(fingerprint(bytes))
    }
}

/// How much may still be kept.
struct RedactionBudget {
    values: usize,
    bytes: usize,
}

// === impl RedactionBudget ===

impl RedactionBudget {
    fn value(&mut self, value: &Value) -> Value {
        if !self.spend(0) {
            return Value::from(OMITTED);
        }
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
            Value::String(text) => self.text(text),
            Value::Array(items) => {
                let mut kept = Vec::new();
                for item in items {
                    if self.values == 0 {
                        kept.push(Value::from(OMITTED));
                        break;
                    }
                    kept.push(self.value(item));
                }
                Value::Array(kept)
            }
            Value::Object(members) => self.members(members),
        }
    }

    fn members(&mut self, members: &Map<String, Value>) -> Value {
        let mut kept = Map::new();
        for (key, value) in members {
            if self.values == 0 {
                kept.insert(OMITTED.to_owned(), Value::from(members.len() - kept.len()));
                break;
            }
            let letters = letters(key);
            let value = if is_secret(&letters) {
                self.spend(MASK.len());
                Value::from(MASK)
            } else if CONTENT_KEYS.contains(&letters.as_str()) {
                self.content(value)
            } else {
                self.value(value)
            };
            let key = cut(&RedactedText::new(key).0, KEY_BYTES_MAX).to_owned();
            self.bytes = self.bytes.saturating_sub(key.len());
            kept.insert(key, value);
        }
        Value::Object(kept)
    }

    fn content(&mut self, value: &Value) -> Value {
        self.spend(100);
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
            Value::String(text) => fingerprint(text.as_bytes()),
            Value::Array(_) | Value::Object(_) => fingerprint(value.to_string().as_bytes()),
        }
    }

    fn text(&mut self, text: &str) -> Value {
        if text.len() > ARGUMENT_BYTES_MAX || text.contains('\n') {
            return self.content(&Value::from(text));
        }
        let text = RedactedText::new(text).0;
        if self.spend(text.len()) { Value::from(text) } else { Value::from(OMITTED) }
    }

    /// Returns whether there was room for so many bytes in one more value.
    fn spend(&mut self, bytes: usize) -> bool {
        let fits = self.values > 0 && self.bytes >= bytes;
        self.values = self.values.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(bytes);
        fits
    }
}

#[cfg(test)]
mod tests;
