//! What the files of an index are called, whichever version of moss wrote it: nothing else in its directory is
//! moss's to remove.

use crate::manifest::MANIFEST;
use crate::segment::SEGMENT;
use crate::store::LOCK;

/// How files begin and end that are not whole yet.
const UNFINISHED: (&str, &str) = (".moss-", ".tmp");

/// Whether a file has the name of a manifest or a segment of any version, or of one that is not whole yet.
pub fn is_index_file(file: &str) -> bool {
    let is_segment = || {
        let (format, number) = file.strip_suffix(SEGMENT)?.split_once('-')?;
        Some(is_decimal(format) && is_hexadecimal(number, 8))
    };
    let is_unfinished = || {
        let random = file.strip_prefix(UNFINISHED.0)?.strip_suffix(UNFINISHED.1)?;
        Some(is_hexadecimal(random, 32))
    };
    is_manifest(file) || is_segment().or_else(is_unfinished).unwrap_or(false)
}

/// Whether a directory with a file of this name has an index: its lock, or a manifest of any version.
pub fn marks_index(file: &str) -> bool {
    file == LOCK || is_manifest(file)
}

fn is_manifest(file: &str) -> bool {
    file.strip_prefix(MANIFEST).is_some_and(is_decimal)
}

fn is_decimal(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_hexadecimal(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coding::FORMAT;
    use crate::segment::SegmentName;

    #[test]
    fn files_of_an_index_are_known_by_their_names() {
        let segment = SegmentName { number: 27, size_bytes: 0, checksum: 0 }.file();
        let unfinished = format!(".moss-{:032x}.tmp", u128::MAX);
        let manifest = format!("manifest-{FORMAT}");
        for file in ["manifest-4000", "12-0000000a.segment", &segment, &unfinished, &manifest] {
            assert!(is_index_file(file), "{file}");
        }
        for file in [
            LOCK,
            "",
            "letter.txt",
            "manifest-",
            "manifest-1.json",
            "my.segment",
            "1-film.segment",
            "-0000000a.segment",
            "1-0000000A.segment",
            ".moss-1.tmp",
            "x.tmp",
        ] {
            assert!(!is_index_file(file), "{file}");
        }
        assert!(marks_index(LOCK) && marks_index(&manifest));
        assert!(!marks_index(&segment) && !marks_index("manifest-"));
    }
}
