//! Which variables a command is given: those of a table, those that policy grants, and a few that
//! keep programs from waiting for somebody, or for a network that is off. All others are removed, and
//! their names reported.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use crate::command::{CommandEnvironment, NetworkMode};
use crate::text_search::stands_alone;

/// Names that are passed on; `PREFIX_*` stands for all that start so. None of them makes a program
/// run or load something else.
pub(crate) const ALLOWED: &[&str] = &[
    "GIT_AUTHOR_*",
    "GIT_COMMITTER_*",
    "HOME",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "LOGNAME",
    "PATH",
    "TZ",
    "USER",
    // Where toolchains are.
    "ANDROID_HOME",
    "ANDROID_SDK_ROOT",
    "CARGO_HOME",
    "CARGO_TARGET_DIR",
    "CONDA_PREFIX",
    "DOTNET_ROOT",
    "GOBIN",
    "GOCACHE",
    "GOMODCACHE",
    "GOPATH",
    "GOROOT",
    "GRADLE_USER_HOME",
    "JAVA_HOME",
    "M2_HOME",
    "MAVEN_HOME",
    "NPM_CONFIG_CACHE",
    "NVM_DIR",
    "PYENV_ROOT",
    "RBENV_ROOT",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "SDKMAN_DIR",
    "VIRTUAL_ENV",
    "VOLTA_HOME",
    "npm_config_cache",
    // Whom the network is trusted to be: names of files.
    "CURL_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
];
/// What is set for every command: nothing asks, pages or paints.
const SET: &[(&str, &str)] = &[
    ("TERM", "dumb"),
    ("NO_COLOR", "1"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GH_PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("SYSTEMD_PAGER", "cat"),
    ("GIT_EDITOR", "true"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", "true"),
    ("SSH_ASKPASS", "true"),
    ("DEBIAN_FRONTEND", "noninteractive"),
    ("PIP_NO_INPUT", "1"),
];
/// What is set where the network is off, unless it is granted: package managers retry at once or not at all. By
/// themselves npm and pnpm wait for more than a minute, others for about ten seconds. None is set to be offline, since
/// there may be a registry of the command's own on its loopback interface.
const SET_OFFLINE: &[(&str, &str)] = &[
    ("CARGO_NET_RETRY", "0"),
    // Only a retry makes pip say why it finds no package; without one it says that the package does not exist.
    ("PIP_RETRIES", "1"),
    ("UV_HTTP_RETRIES", "0"),
    ("YARN_HTTP_RETRY", "0"),
    ("npm_config_fetch_retries", "0"),
    // From pnpm 11 on that does not read the names of npm.
    ("pnpm_config_fetch_retries", "0"),
];
/// What git reads beside its settings: the cleaning up that it begins in the background behind a commit would be killed
/// with the command, and leave locks that keep others from it.
const GIT_SETTINGS: [GivenSetting; 2] = [("gc.auto", "0"), ("maintenance.auto", "false")];
/// How many settings git finds in its environment, and how the variables of each begin.
const GIT_SETTINGS_COUNT: &str = "GIT_CONFIG_COUNT";
const GIT_SETTING: [&str; 2] = ["GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_"];
/// What a shell sets by itself, whatever it is given.
const OF_SHELL: [&str; 4] = ["OLDPWD", "PWD", "SHLVL", "_"];
/// Where programs are looked up when nobody says.
pub(crate) const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// A setting of git: its name and value.
pub(crate) type GivenSetting = (&'static str, &'static str);

/// The environment of one command.
#[derive(Debug, Default)]
pub(crate) struct SelectedEnvironment {
    pub(crate) variables: BTreeMap<OsString, OsString>,
    /// Names that were not passed on, in order.
    pub(crate) removed: Vec<String>,
    /// Names that were passed on because they are granted, in order.
    pub(crate) granted: Vec<String>,
}

/// Selects what a command is given.
pub(crate) fn select(
    environment: &CommandEnvironment,
    network: NetworkMode,
) -> SelectedEnvironment {
    let mut selected = SelectedEnvironment::default();
    let path = (OsString::from("PATH"), OsString::from(PATH));
    selected.variables.extend([path]);
    for (name, value) in &environment.from {
        let is_allowed = ALLOWED.iter().any(|pattern| matches(pattern, name));
        let is_granted = environment.granted.iter().any(|pattern| matches(pattern, name));
        if (is_allowed || is_granted) && is_passable(name, value) && is_read_alike(name, value) {
            let value = if name == "PATH" { absolute_parts(value) } else { value.clone() };
            selected.variables.insert(name.clone(), value);
            if !is_allowed {
                selected.granted.push(name.to_string_lossy().into_owned());
            }
        } else {
            selected.removed.push(name.to_string_lossy().into_owned());
        }
    }
    let fixed = SET.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
    selected.variables.extend(fixed);
    let offline = SET_OFFLINE.iter().filter(|_| network == NetworkMode::Off);
    for (name, value) in offline {
        selected.variables.entry(name.into()).or_insert_with(|| value.into());
    }
    let set = environment.set.iter().filter(|(name, value)| is_passable(name, value)).cloned();
    selected.variables.extend(set);
    selected.removed.retain(|name| !selected.variables.contains_key(OsStr::new(name)));
    for names in [&mut selected.removed, &mut selected.granted] {
        names.sort();
        names.dedup();
    }
    selected
}

/// The parts of a `PATH` that say where they are, and are there: others, an empty one among them, lie wherever a command
/// runs, or a command may make them, which would then find other programs by the names of those of the system.
fn absolute_parts(path: &OsStr) -> OsString {
    let absolute = std::env::split_paths(path).filter(|part| part.is_absolute() && part.is_dir());
    match std::env::join_paths(absolute) {
        Ok(path) if !path.is_empty() => path,
        _ => PATH.into(),
    }
}

/// Whether a variable can be passed on at all.
fn is_passable(name: &OsStr, value: &OsStr) -> bool {
    let has = |text: &OsStr, byte| text.as_encoded_bytes().contains(&byte);
    !name.is_empty() && !has(name, b'=') && !has(name, 0) && !has(value, 0)
}

/// Whether the shell reads a text by a variable as moss does: not where a locale has other characters than UTF-8 or C,
/// of which one may end with the byte of an operator.
fn is_read_alike(name: &OsStr, value: &OsStr) -> bool {
    if name != "LANG" && !name.as_encoded_bytes().starts_with(b"LC_") {
        return true;
    }
    let Some(locale) = value.to_str() else { return false };
    let name = locale.split('@').next().unwrap_or(locale);
    let codeset = name.split_once('.').map(|(_, codeset)| codeset.to_ascii_lowercase());
    matches!(locale, "" | "C" | "POSIX")
        || codeset.is_some_and(|codeset| ["utf-8", "utf8"].contains(&codeset.as_str()))
}

/// Those of some names of variables that one of some texts has as a word, less what a shell sets by itself.
pub(crate) fn named_in(names: &[String], texts: &[&str]) -> Vec<String> {
    let is_named = |name: &&String| {
        let is_of_shell = OF_SHELL.contains(&name.as_str());
        !is_of_shell && texts.iter().any(|text| stands_alone(text, name))
    };
    names.iter().filter(is_named).cloned().collect()
}

/// Names of variables that commands have from outside or from moss; `PREFIX_*` stands for all that start so.
pub fn environment_names() -> impl Iterator<Item = &'static str> {
    let set = SET.iter().chain(SET_OFFLINE).map(|(name, _)| *name);
    let of_git = ["GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_*", "GIT_CONFIG_VALUE_*"];
    ALLOWED.iter().copied().chain(set).chain(of_git)
}

fn matches(pattern: &str, name: &OsStr) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.as_encoded_bytes().starts_with(start.as_bytes()),
        None => name == pattern,
    }
}

// === impl SelectedEnvironment ===

impl SelectedEnvironment {
    /// Adds what one command needs: its temporary directory, and settings of git beside those of all commands.
    pub(crate) fn add(&mut self, temporary: PathBuf, of_command: &[GivenSetting]) {
        self.variables.insert("TMPDIR".into(), temporary.into());
        self.add_git_settings(of_command);
    }

    /// Adds to the settings that git finds in its environment, behind those that are there. A number of them that git
    /// refuses stays as it is.
    fn add_git_settings(&mut self, of_command: &[GivenSetting]) {
        let count = self.variables.get(OsStr::new(GIT_SETTINGS_COUNT));
        let known = count.map_or(Some(0), |count| count.to_str()?.parse::<u16>().ok());
        let Some(known) = known.map(usize::from) else { return };
        let all = GIT_SETTINGS.iter().chain(of_command);
        for (place, (name, value)) in (known..).zip(all) {
            let [key_of, value_of] = GIT_SETTING.map(|start| format!("{start}{place}").into());
            self.variables.extend([(key_of, name.into()), (value_of, value.into())]);
        }
        let count = (known + GIT_SETTINGS.len() + of_command.len()).to_string();
        self.variables.insert(GIT_SETTINGS_COUNT.into(), count.into());
    }
}

// === impl CommandEnvironment ===

impl Default for CommandEnvironment {
    /// Takes the variables of this process.
    fn default() -> Self {
        Self { from: std::env::vars_os().collect(), granted: Vec::new(), set: Vec::new() }
    }
}

impl CommandEnvironment {
    /// Names of the variables that a command would not be given, in order.
    pub fn removed(&self, network: NetworkMode) -> Vec<String> {
        select(self, network).removed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selected(granted: &[&str], network: NetworkMode) -> SelectedEnvironment {
        let from = [
            ("PATH", "/bin"),
            ("LC_ALL", "C"),
            ("HOME", "/h"),
            ("API_KEY", "secret"),
            ("LD_PRELOAD", "/evil.so"),
            ("BASH_ENV", "/evil"),
            ("PAGER", "less"),
            ("CARGO_NET_RETRY", "7"),
            ("BASH_FUNC_ls%%", "() { evil; }"),
        ];
        let environment = CommandEnvironment {
            from: from.map(|(name, value)| (name.into(), value.into())).to_vec(),
            granted: granted.iter().map(|&name| name.to_owned()).collect(),
            set: vec![("GIVEN".into(), "1".into())],
        };
        select(&environment, network)
    }

    #[test]
    fn programs_are_never_looked_up_where_a_command_runs() {
        let path = |path: &str| absolute_parts(OsStr::new(path));
        assert_eq!(path(".:/usr/bin::venv/bin:/bin:"), "/usr/bin:/bin");
        for relative in ["", ".", ":", "venv/bin"] {
            assert_eq!(path(relative), PATH, "{relative}");
        }
        let from = vec![("PATH".into(), ".:/bin".into())];
        let environment = CommandEnvironment { from, granted: Vec::new(), set: Vec::new() };
        assert_eq!(select(&environment, NetworkMode::Off).variables[OsStr::new("PATH")], "/bin");
    }

    #[test]
    fn only_names_of_the_table_are_passed_on_and_others_are_named() {
        let environment = selected(&[], NetworkMode::On);
        assert_eq!(environment.variables[OsStr::new("HOME")], "/h");
        assert_eq!(environment.variables[OsStr::new("LC_ALL")], "C");
        assert_eq!(environment.variables[OsStr::new("GIVEN")], "1");
        assert_eq!(environment.variables[OsStr::new("PAGER")], "cat");
        let removed = ["API_KEY", "BASH_ENV", "BASH_FUNC_ls%%", "CARGO_NET_RETRY", "LD_PRELOAD"];
        assert_eq!(environment.removed, removed);
        assert!(!environment.variables.contains_key(OsStr::new("API_KEY")));
    }

    #[test]
    fn a_removed_name_is_known_in_a_text_by_the_whole_word() {
        let names = ["API_KEY", "LS_COLORS", "PWD", "_"].map(str::to_owned);
        let named = |texts: &[&str]| named_in(&names, texts);
        for text in ["KeyError: 'API_KEY'", "curl -H \"$API_KEY\"", "${API_KEY:?unset}"] {
            assert_eq!(named(&["", text]), ["API_KEY"], "{text}");
        }
        for text in ["MY_API_KEY=1", "API_KEYS", "api_key", "cd $PWD; let _ = 1;"] {
            assert_eq!(named(&[text]), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn a_locale_with_other_characters_is_not_passed_on() {
        let passed = |name: &str, value: &str| is_read_alike(OsStr::new(name), OsStr::new(value));
        for value in ["zh_CN.GBK", "ja_JP", "ja_JP.SJIS@utf8", "zh_TW.BIG5"] {
            assert!(!passed("LC_ALL", value) && !passed("LANG", value), "{value}");
        }
        assert!(
            passed("LC_CTYPE", "de_DE.UTF-8@euro")
                && passed("LANG", "C.utf8")
                && passed("LC_ALL", "POSIX")
        );
        assert!(passed("LANGUAGE", "zh_CN.GBK"));
    }

    #[test]
    fn a_granted_name_is_passed_on() {
        let environment = selected(&["API_*"], NetworkMode::Off);
        assert_eq!(environment.variables[OsStr::new("API_KEY")], "secret");
        assert!(!environment.removed.iter().any(|name| name == "API_KEY"));
        assert_eq!(environment.granted, ["API_KEY"]);
    }

    #[test]
    fn settings_that_git_is_given_stand_behind_those_of_the_person() {
        let settings = |own: &[(&str, &str)], of_command: &[GivenSetting]| {
            let from = own.iter().map(|(name, value)| (name.into(), value.into())).collect();
            let granted = vec!["GIT_CONFIG_*".to_owned()];
            let environment = CommandEnvironment { from, granted, set: Vec::new() };
            let mut selected = select(&environment, NetworkMode::Off);
            selected.add_git_settings(of_command);
            let found = selected.variables.into_iter();
            let found =
                found.map(|(name, value)| format!("{}={}", name.display(), value.display()));
            found.filter(|line| line.starts_with("GIT_CONFIG")).collect::<Vec<_>>()
        };
        let given = |first, names: &[&str], values: &[&str]| {
            let count = [format!("GIT_CONFIG_COUNT={}", first + names.len())];
            let line = |kind, (place, text): (usize, &&str)| {
                format!("GIT_CONFIG_{kind}_{}={text}", first + place)
            };
            let names = names.iter().enumerate().map(|name| line("KEY", name));
            let values = values.iter().enumerate().map(|value| line("VALUE", value));
            count.into_iter().chain(names).chain(values).collect::<Vec<_>>()
        };
        let (names, values) = (["gc.auto", "maintenance.auto", "a.b"], ["0", "false", "c"]);
        assert_eq!(settings(&[], &[]), given(0, &names[..2], &values[..2]));
        assert_eq!(settings(&[], &[("a.b", "c")]), given(0, &names, &values));
        let own = [
            ("GIT_CONFIG_COUNT", "1"),
            ("GIT_CONFIG_KEY_0", "user.name"),
            ("GIT_CONFIG_VALUE_0", "A"),
        ];
        let mut both = given(1, &names, &values);
        both.extend(["GIT_CONFIG_KEY_0=user.name".into(), "GIT_CONFIG_VALUE_0=A".into()]);
        both.sort();
        assert_eq!(settings(&own, &[("a.b", "c")]), both);
        for refused in ["many", "70000"] {
            let line = format!("GIT_CONFIG_COUNT={refused}");
            let own = [("GIT_CONFIG_COUNT", refused)];
            assert_eq!(settings(&own, &[("a.b", "c")]), [line]);
        }
    }

    #[test]
    fn retries_are_few_where_the_network_is_off_unless_granted() {
        let found = |granted: &[&str], network, name: &str| {
            selected(granted, network).variables.get(OsStr::new(name)).cloned()
        };
        let (off, on) = (NetworkMode::Off, NetworkMode::On);
        assert_eq!(found(&[], off, "npm_config_fetch_retries"), Some("0".into()));
        assert_eq!(found(&[], on, "npm_config_fetch_retries"), None);
        assert_eq!(found(&[], off, "CARGO_NET_RETRY"), Some("0".into()));
        assert_eq!(found(&["CARGO_NET_RETRY"], off, "CARGO_NET_RETRY"), Some("7".into()));
    }
}
