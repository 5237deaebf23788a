//! Spellings of one name: forms in which names are compared as the most forgiving file system would
//! compare them.
//!
//! Some file systems ignore letter case, some take composed and decomposed letters for the same, some
//! leave out characters that are not shown, some leave out dots and blanks at the end. What must not
//! be reached under any spelling is compared in these forms; what is allowed never is.

use std::borrow::Cow;

use moss_sdk::deceptive::is_ignorable;
use unicode_normalization::UnicodeNormalization;

/// Brings a name, or a path, into the form in which names are compared: compatibility-normalized and
/// composed, fully case-folded, without what is not shown. `strasse` and `Straße` have one form.
pub fn fold(name: &str) -> Cow<'_, str> {
    if name.is_ascii() {
        let is_lower = !name.bytes().any(|byte| byte.is_ascii_uppercase());
        return if is_lower { name.into() } else { name.to_ascii_lowercase().into() };
    }
    let visible = name.chars().filter(|c| !is_ignorable(*c));
    // Letters such as `ß` only meet their other form on the way through upper case.
    let folded: String = visible
        .nfkc()
        .flat_map(char::to_lowercase)
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .collect();
    // Folding can undo the normalization: once more settles it.
    folded.nfkc().filter(|c| !is_ignorable(*c)).collect::<String>().into()
}

/// What FAT and NTFS take for a name: they leave out dots and blanks at the end, and what follows a
/// colon is a part of the file. The name itself where nothing would be left.
pub fn bare(name: &str) -> &str {
    let cut = name.split_once(':').map_or(name, |(name, _)| name).trim_end_matches(['.', ' ']);
    if cut.is_empty() { name } else { cut }
}

/// As [`bare`], for every name of a path; none where that changes nothing.
pub fn bare_path(path: &str) -> Option<String> {
    if path.split('/').all(|name| bare(name).len() == name.len()) {
        return None;
    }
    Some(path.split('/').map(bare).collect::<Vec<_>>().join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_name_have_one_form() {
        for spellings in [
            &["straße", "STRASSE", "strasse", "Straße", "STRAẞE"][..],
            &["ärger", "a\u{308}rger", "Ärger", "A\u{308}RGER"],
            &["secret", "se\u{ad}cret", "SE\u{200b}CRET", "s\u{34f}ecret", "\u{feff}secret"],
            &["oﬃce", "OFFICE", "office"],
            &["ΣΊΣΥΦΟΣ", "σίσυφος", "σίσυφοσ"],
            &["kelvin", "\u{212a}elvin"],
            &["ｅｎｖ", "env"],
        ] {
            for spelling in spellings {
                assert_eq!(fold(spelling), fold(spellings[0]), "{spelling:?}");
                assert_eq!(fold(&fold(spelling)), fold(spelling), "{spelling:?}");
            }
        }
        assert_ne!(fold("a"), fold("ä"));
        assert_ne!(fold("secret"), fold("secrets"));
    }

    #[test]
    fn ends_that_fat_leaves_out_are_left_out() {
        for (path, expected) in [
            ("a", None),
            ("a.b/c d", None),
            ("...", None),
            ("a./b", Some("a/b")),
            ("a. . /b:c", Some("a/b")),
            ("a/b::$DATA", Some("a/b")),
        ] {
            assert_eq!(bare_path(path).as_deref(), expected, "{path}");
        }
    }
}
