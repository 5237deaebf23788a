//! Names under which editors and people keep a copy beside a file: backups, swap files, locks. Whoever
//! may not read a file may not read what was copied from it.

/// What is put behind a name, in folded form.
const ENDS: &[&str] = &[
    "~",
    ".backup",
    ".bak",
    ".kate-swp",
    ".old",
    ".orig",
    ".save",
    ".tmp",
    ".un~",
    "___jb_old___",
    "___jb_tmp___",
];

/// The names that a folded name may be a copy of; none for most.
pub(super) fn originals(name: &str) -> impl Iterator<Item = &str> {
    let copied = std::iter::successors(original(name), |name| original(name));
    // Swap files begin with a dot that their files need not have.
    copied.flat_map(|name| {
        let undotted = name.strip_prefix('.').filter(|name| !name.is_empty());
        [Some(name), undotted].into_iter().flatten()
    })
}

/// The name without one mark of a copy.
fn original(name: &str) -> Option<&str> {
    let ended =
        || ENDS.iter().filter_map(|end| name.strip_suffix(end)).min_by_key(|rest| rest.len());
    let rest = of_emacs(name).or_else(|| of_vim(name)).or_else(|| of_moss(name)).or_else(ended)?;
    if rest.is_empty() { None } else { Some(rest) }
}

/// `#NAME#`, `.#NAME` and `NAME.~1~`.
fn of_emacs(name: &str) -> Option<&str> {
    let saved = || name.strip_prefix('#')?.strip_suffix('#');
    let numbered = || {
        let (rest, number) = name.strip_suffix('~')?.rsplit_once(".~")?;
        number.bytes().all(|byte| byte.is_ascii_digit()).then_some(rest)
    };
    saved().or_else(|| name.strip_prefix(".#")).or_else(numbered)
}

/// `NAME.set-aside-by-moss`, and the same with a number: what a command made in the place of it.
fn of_moss(name: &str) -> Option<&str> {
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit());
    bare.strip_suffix(".set-aside-by-moss")
}

/// `.NAME.swp`, and `.swo`, `.swn` and so on where there is one already.
fn of_vim(name: &str) -> Option<&str> {
    let (rest, end) = name.rsplit_once('.')?;
    let letter = end.strip_prefix("sw")?;
    matches!(letter.as_bytes(), [b'a'..=b'p']).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, expected: &[&str]) {
        assert_eq!(originals(name).collect::<Vec<_>>(), expected, "{name}");
    }

    #[test]
    fn a_copy_is_of_the_name_without_its_marks() {
        check(".env~", &[".env", "env"]);
        check("key.pem.set-aside-by-moss", &["key.pem"]);
        check(".npmrc.set-aside-by-moss2", &[".npmrc", "npmrc"]);
        check("#.env#", &[".env", "env"]);
        check(".#key.pem", &["key.pem"]);
        check("key.pem.~12~", &["key.pem"]);
        check(".id_rsa.swp", &[".id_rsa", "id_rsa"]);
        check("key.pem.swo", &["key.pem"]);
        check(".key.pem.un~", &[".key.pem", "key.pem"]);
        check("key.pem.bak~", &["key.pem.bak", "key.pem"]);
        check("#key.pem.old#", &["key.pem.old", "key.pem"]);
    }

    #[test]
    fn other_names_are_of_no_other() {
        for name in ["", "~", "#", "##", ".#", ".swp", "main.rs", "a.swift", "a.swz", ".env", "a#"]
        {
            check(name, &[]);
        }
    }
}
