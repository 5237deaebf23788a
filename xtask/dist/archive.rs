//! Archives whose bytes follow from their files: in order, owned by nobody in particular, of one time.

use std::collections::BTreeSet;
use std::io::Write as _;

use anyhow::Result;
use flate2::Compression;
use flate2::write::GzEncoder;
use moss_xtask::shipped::ShippedFile;
use tar::{Builder, EntryType, Header};

/// Makes a compressed archive with all files below a directory, and every directory before its files.
pub(crate) fn compressed(directory: &str, files: &[ShippedFile], time: u64) -> Result<Vec<u8>> {
    let mut files: Vec<(String, &ShippedFile)> =
        files.iter().map(|file| (format!("{directory}/{}", file.path), file)).collect();
    files.sort_by(|one, other| one.0.cmp(&other.0));
    let mut builder = Builder::new(Vec::new());
    let mut made = BTreeSet::new();
    for (path, file) in files {
        for (end, _) in path.match_indices('/') {
            if made.insert(path[..end].to_owned()) {
                let mut header = header(EntryType::Directory, 0o755, 0, time);
                builder.append_data(&mut header, &path[..=end], std::io::empty())?;
            }
        }
        let mode = if file.is_executable { 0o755 } else { 0o644 };
        let mut header = header(EntryType::Regular, mode, file.content.len() as u64, time);
        builder.append_data(&mut header, &path, file.content.as_slice())?;
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&builder.into_inner()?)?;
    Ok(encoder.finish()?)
}

fn header(kind: EntryType, mode: u32, bytes: u64, time: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(bytes);
    header.set_mtime(time);
    header.set_uid(0);
    header.set_gid(0);
    header
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn an_archive_has_directories_before_their_files_and_the_same_bytes_again() {
        let file = |path: &str, is_executable| ShippedFile {
            path: path.to_owned(),
            is_executable,
            content: path.as_bytes().to_vec(),
        };
        let files = [file("share/a", false), file("bin/moss", true)];
        let archive = compressed("top", &files, 7).expect("memory takes everything");
        assert_eq!(archive, compressed("top", &files, 7).expect("memory takes everything"));
        let mut plain = Vec::new();
        flate2::read::GzDecoder::new(&archive[..]).read_to_end(&mut plain).expect("it is gzip");
        let mut archive = tar::Archive::new(&plain[..]);
        let entries = archive.entries().expect("it is an archive").map(|entry| {
            let entry = entry.expect("it is an entry");
            let path = entry.path().expect("it has a path").display().to_string();
            (path, entry.header().mode().expect("it has a mode"))
        });
        let entries: Vec<(String, u32)> = entries.collect();
        let expected = [
            ("top/", 0o755),
            ("top/bin/", 0o755),
            ("top/bin/moss", 0o755),
            ("top/share/", 0o755),
            ("top/share/a", 0o644),
        ];
        assert_eq!(entries, expected.map(|(path, mode)| (path.to_owned(), mode)));
    }
}
