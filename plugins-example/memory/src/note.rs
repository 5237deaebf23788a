//! One note: its bounds, its identifier, its time.

use std::hash::{BuildHasher, RandomState};
use std::time::{SystemTime, UNIX_EPOCH};

use moss::{ErrorCode, ToolError};

/// Longest text, in bytes.
const TEXT_BYTES_MAX: usize = 8 << 10;
/// Most tags of a note.
const TAGS_MAX: usize = 10;
/// Longest tag, in bytes.
const TAG_BYTES_MAX: usize = 40;
/// Signs that are not taken for each other.
const ID_SIGNS: &[u8] = b"23456789abcdefghjkmnpqrstuvwxyz";
/// How many signs an identifier has.
const ID_LENGTH: usize = 6;

/// What is kept of a note.
#[moss::data]
pub(crate) struct Note {
    /// The text.
    pub(crate) text: String,
    /// The words to find it by, in small letters.
    pub(crate) tags: Vec<String>,
    /// When it was saved, in UTC.
    pub(crate) saved_at: String,
}

impl Note {
    /// Makes a note of now.
    pub(crate) fn new(text: &str, tags: &[String]) -> Result<Self, ToolError> {
        let invalid = |message: String| ToolError::new(ErrorCode::InvalidArguments, message);
        let text = text.trim();
        if text.is_empty() {
            return Err(invalid("the text is empty".to_owned()));
        }
        if text.len() > TEXT_BYTES_MAX {
            let message = format!("the text has {} bytes, at most {TEXT_BYTES_MAX}", text.len());
            return Err(ToolError::new(ErrorCode::TooLarge, message)
                .hint("save the essence, or several notes"));
        }
        if tags.len() > TAGS_MAX {
            return Err(invalid(format!("{} tags, at most {TAGS_MAX}", tags.len())));
        }
        let mut tags: Vec<String> = tags.iter().map(|tag| tag.trim().to_lowercase()).collect();
        if let Some(tag) = tags.iter().find(|tag| tag.is_empty() || tag.len() > TAG_BYTES_MAX) {
            return Err(invalid(format!("`{tag}`: a tag has 1 to {TAG_BYTES_MAX} bytes")));
        }
        tags.sort();
        tags.dedup();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok(Self { text: text.to_owned(), tags, saved_at: utc(now.as_secs()) })
    }
}

/// Makes a short identifier that is hard to meet twice.
pub(crate) fn random_id() -> String {
    let mut rest = RandomState::new().hash_one(ID_LENGTH);
    let signs = ID_SIGNS.len() as u64;
    let sign = |_| {
        let sign = ID_SIGNS[(rest % signs) as usize];
        rest /= signs;
        char::from(sign)
    };
    (0..ID_LENGTH).map(sign).collect()
}

/// Writes seconds since 1970 as `2026-01-31T10:20:30Z`.
fn utc(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Years begin in March here, so that a leap day is the last day of one.
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_in_utc() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_164_800, "2024-02-29T00:00:00Z"),
            (1_772_323_199, "2026-02-28T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(utc(seconds), expected, "{seconds}");
        }
    }

    #[test]
    fn notes_have_bounds() {
        let tags = |count: usize| (0..count).map(|tag| tag.to_string()).collect::<Vec<_>>();
        for (text, tags, why) in [
            (" \n", tags(0), "the text is empty"),
            (&*"x".repeat(TEXT_BYTES_MAX + 1), tags(0), "at most 8192"),
            ("x", tags(11), "at most 10"),
            ("x", vec![" ".to_owned()], "a tag has"),
            ("x", vec!["x".repeat(41)], "a tag has"),
        ] {
            let error = Note::new(text, &tags).unwrap_err();
            assert!(error.message.contains(why), "{error}");
        }
        let tags = ["CI", " ci ", "build"].map(ToOwned::to_owned);
        let note = Note::new(" x \n", &tags).unwrap();
        assert_eq!((note.text.as_str(), note.tags.join(" ").as_str()), ("x", "build ci"));
    }

    #[test]
    fn identifiers_differ() {
        let ids: std::collections::BTreeSet<_> =
            std::iter::repeat_with(random_id).take(100).collect();
        assert!(ids.len() > 90, "{ids:?}");
        assert!(ids.iter().all(|id| id.len() == ID_LENGTH));
    }
}
