//! Sets of tools that the user names, for clients that shall see these alone.

use toml::{Table, Value};

use super::Override;

/// The section that has them; its keys are the names.
pub(super) const SECTION: &str = "tool_sets";
/// Most sets of a user.
const SETS_MAX: usize = 64;
/// Most tools of one.
const TOOLS_MAX: usize = 256;
/// Longest name of a set, in bytes.
const NAME_BYTES_MAX: usize = 32;
/// Names that mean something already.
const TAKEN: [&str; 3] = ["default", "read-only", "all"];

/// Puts a set in its place: that of the user, or what an administrator leaves of it.
///
/// # Errors
///
/// What is wrong with it.
pub(super) fn put(
    sets: &mut Table,
    name: &str,
    tools: &Value,
    take: Override,
) -> Result<(), String> {
    if TAKEN.contains(&name) {
        return Err("the name is taken by a set that there always is".to_owned());
    }
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name.is_empty() || name.len() > NAME_BYTES_MAX || !name.chars().all(is_plain) {
        return Err(format!(
            "the name of a set has at most {NAME_BYTES_MAX} characters: a to z, 0 to 9 and `-`"
        ));
    }
    let expected = || format!("expected a list of at most {TOOLS_MAX} names of tools");
    let listed = tools.as_array().filter(|tools| tools.len() <= TOOLS_MAX).ok_or_else(expected)?;
    if !listed.iter().all(Value::is_str) {
        return Err(expected());
    }
    let kept = match (take, sets.get(name).and_then(Value::as_array)) {
        (Override::Bound, Some(own)) => {
            own.iter().filter(|tool| listed.contains(tool)).cloned().collect()
        }
        (Override::Bound | Override::Replace, _) => listed.clone(),
    };
    if !sets.contains_key(name) && sets.len() == SETS_MAX {
        return Err(format!("there are {SETS_MAX} sets already"));
    }
    sets.insert(name.to_owned(), Value::Array(kept));
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::{Config, ConfigSource};

    fn resolve(user: &str, admin: &str) -> Result<Config, String> {
        let source = |text| Some(ConfigSource { file: Path::new("config.toml"), text });
        Config::resolve(source(user), source(admin)).map_err(|error| error.to_string())
    }

    #[test]
    fn sets_are_the_users_as_far_as_an_administrator_leaves_them() {
        let user = "[tool_sets]\nmine = [\"read_file\", \"patch\"]\nother = []";
        let admin = "[tool_sets]\nmine = [\"patch\", \"todo\"]\nours = [\"todo\"]";
        let sets = resolve(user, admin).unwrap().tool_sets;
        let sets: Vec<_> =
            sets.iter().map(|(name, tools)| (name.as_str(), tools.join(" "))).collect();
        let expected = [("mine", "patch"), ("other", ""), ("ours", "todo")];
        assert_eq!(sets, expected.map(|(name, tools)| (name, tools.to_owned())));
    }

    #[test]
    fn sets_change_while_a_daemon_runs() {
        let before = resolve("[tool_sets]\na = [\"x\"]\nb = []", "").unwrap();
        let read = resolve("[tool_sets]\na = [\"y\"]", "").unwrap();
        let (after, waiting) = before.renewed(&read);
        assert_eq!((after.tool_sets, waiting), (read.tool_sets, Vec::new()));
    }

    #[test]
    fn what_is_no_set_is_refused_by_name() {
        for (text, why) in [
            ("all = []", "`all` in [tool_sets]: the name is taken"),
            ("Mine = []", "the name of a set has at most 32 characters"),
            ("mine = \"x\"", "expected a list of at most 256 names of tools"),
            ("mine = [1]", "expected a list of at most 256 names of tools"),
        ] {
            let error = resolve(&format!("[tool_sets]\n{text}"), "").unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }
}
