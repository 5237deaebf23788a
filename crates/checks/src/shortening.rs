//! Texts within bounds.

/// The beginning of a text.
pub(crate) fn shortened(text: &str, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(bytes_max)])
}

/// The end of a text.
pub(crate) fn ended(text: &str, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    format!("…{}", &text[text.ceil_char_boundary(text.len() - bytes_max)..])
}
