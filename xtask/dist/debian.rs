//! A package of Debian: an `ar` archive of a version, what the system needs to know, and the files.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use moss_xtask::shipped::ShippedFile;

use crate::archive;

/// How `ar` ends each of its headers.
const HEADER_END: &str = "`\n";
const DESCRIPTION: &str = "\
Coding tools behind one policy: propose, confirm, commit, undo
 moss is one daemon that gives editors and models a safe set of coding tools.
 A tool proposes a change; one function decides by rules whether it is allowed,
 asked about or denied; the host commits it atomically and can undo it.
";

/// Debian's name of this machine's architecture.
pub(crate) fn architecture() -> Option<&'static str> {
    match (std::env::consts::OS, std::env::consts::ARCH) {
        ("linux", "x86_64") => Some("amd64"),
        ("linux", "aarch64") => Some("arm64"),
        ("linux", "riscv64") => Some("riscv64"),
        _ => None,
    }
}

/// Makes the package. The files lie below `/usr`.
pub(crate) fn package(
    files: &[ShippedFile],
    version: &str,
    architecture: &str,
    time: u64,
) -> Result<Vec<u8>> {
    let binary = files.iter().find(|file| file.is_executable).context("no program to pack")?;
    let bytes: usize = files.iter().map(|file| file.content.len()).sum();
    let control = control(version, architecture, bytes, &needs(&binary.content));
    let control =
        ShippedFile { path: "control".to_owned(), is_executable: false, content: control.into() };
    let mut files = files.to_vec();
    files.push(copyright(&files)?);
    let below_usr =
        files.into_iter().map(|file| ShippedFile { path: format!("usr/{}", file.path), ..file });
    let data = archive::compressed(".", &below_usr.collect::<Vec<_>>(), time)?;
    let mut package = b"!<arch>\n".to_vec();
    add(&mut package, "debian-binary", b"2.0\n", time);
    add(&mut package, "control.tar.gz", &archive::compressed(".", &[control], time)?, time);
    add(&mut package, "data.tar.gz", &data, time);
    Ok(package)
}

/// Adds a member: name, time, owner, group, mode and length in columns, then the content, to an even
/// number of bytes.
fn add(package: &mut Vec<u8>, name: &str, content: &[u8], time: u64) {
    let length = content.len();
    let header =
        format!("{name:<16}{time:<12}{:<6}{:<6}{:<8}{length:<10}{HEADER_END}", 0, 0, 100_644);
    package.extend_from_slice(header.as_bytes());
    package.extend_from_slice(content);
    if !length.is_multiple_of(2) {
        package.push(b'\n');
    }
}

fn control(version: &str, architecture: &str, bytes: usize, needs: &str) -> String {
    let kibibytes = bytes.div_ceil(1024);
    // A version that comes before the one without what stands behind its hyphen.
    let version = version.replacen('-', "~", 1);
    format!(
        "Package: moss\nVersion: {version}\nArchitecture: {architecture}\n\
         Maintainer: The developers of moss <developers@moss.invalid>\n\
         Installed-Size: {kibibytes}\nDepends: {needs}\nSection: devel\nPriority: optional\n\
         Description: {DESCRIPTION}"
    )
}

/// The licences where Debian looks for them.
fn copyright(files: &[ShippedFile]) -> Result<ShippedFile> {
    let mut content = b"MIT OR Apache-2.0, at your option. The Apache licence, version 2.0, is \
        in /usr/share/common-licenses/Apache-2.0.\n\n"
        .to_vec();
    let mit = files.iter().find(|file| file.path.ends_with("LICENSE-MIT"));
    content.extend_from_slice(&mit.context("no LICENSE-MIT")?.content);
    let path = "share/doc/moss/copyright".to_owned();
    Ok(ShippedFile { path, is_executable: false, content })
}

/// The packages that have what a program is linked with: the names of the symbol versions of the C
/// library stand in it, the newest one counts.
fn needs(program: &[u8]) -> String {
    const VERSION: &[u8] = b"GLIBC_2.";
    let starts = program.windows(VERSION.len()).enumerate();
    let starts = starts.filter(|(_, here)| *here == VERSION).map(|(at, _)| at + VERSION.len());
    let minor = |at: usize| {
        let digits = program[at..].iter().take_while(|byte| byte.is_ascii_digit());
        let digits: String = digits.map(|byte| char::from(*byte)).collect();
        digits.parse::<u32>().ok()
    };
    let mut needs = BTreeMap::new();
    if let Some(minor) = starts.filter_map(minor).max() {
        needs.insert("libc6", format!("libc6 (>= 2.{minor})"));
    }
    let library = b"libgcc_s.so.1";
    if program.windows(library.len()).any(|here| here == library) {
        needs.insert("libgcc-s1", "libgcc-s1".to_owned());
    }
    needs.into_values().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_padded_to_even_lengths() {
        let mut package = Vec::new();
        add(&mut package, "debian-binary", b"2.0", 5);
        let expected = "debian-binary   5           0     0     100644  3         `\n2.0\n";
        assert_eq!(String::from_utf8_lossy(&package), expected);
    }

    #[test]
    fn a_program_needs_the_newest_version_that_it_names() {
        let program = b"..GLIBC_2.9\0GLIBC_2.34\0GLIBC_2.4\0libgcc_s.so.1\0GLIBC_2.x";
        assert_eq!(needs(program), "libc6 (>= 2.34), libgcc-s1");
        assert_eq!(needs(b"static"), "");
    }

    #[test]
    fn a_version_before_a_release_sorts_before_it() {
        assert!(control("1.0.0-rc.1", "amd64", 1025, "").contains("Version: 1.0.0~rc.1\n"));
        assert!(control("1.0.0", "amd64", 1025, "").contains("Installed-Size: 2\n"));
    }
}
