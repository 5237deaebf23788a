//! What a shell command does, read as bash reads it and never run: every simple command with its
//! words, what it assigns and which files it opens, and to which class each belongs.
//!
//! [`read`] is strict. It reads the part of bash's grammar that means one thing whatever the
//! surroundings are; everything else is [`Unparsed`], and who decides about it asks a person. So a
//! text that is read wrongly is a defect, and one that is refused is not. Nothing here opens a file,
//! and nothing recurses deeper than [`DEPTH_MAX`].
//!
//! What bash would only know when it runs (a variable, a pattern, the output of a command) is
//! [`ShellWord::Unknown`]. Commands that run others (`env`, `xargs`, `sh -c`, `find -exec`) are
//! unfolded: what they run stands in the list as well. [`classify`] looks one command up in two
//! tables, `read_only.toml` and `always_ask.toml`.

use std::fmt;

mod alike;
mod ansi;
mod builtins;
mod classes;
mod environment;
mod git_settings;
mod links;
mod matching;
mod numbers;
mod options;
mod plain;
mod reader;
mod rendering;
mod unfold;
mod wrappers;

pub use self::alike::SecondReading;
pub use self::classes::{CommandClass, classify};
pub use self::environment::is_decisive as decides_programs;
pub use self::git_settings::{GitSetting, git_settings};
pub use self::links::MadeLinks;
pub use self::matching::{WordMatch, bare_words};
pub use self::plain::is_plain;

/// Longest text that is read, in bytes.
pub const SCRIPT_BYTES_MAX: usize = 64 * 1024;
/// Most simple commands in one text, with those that others run.
pub const COMMANDS_MAX: usize = 256;
/// Most words in one text.
pub const WORDS_MAX: usize = 16 * 1024;
/// How deep lists, substitutions and commands that run others may be nested.
pub const DEPTH_MAX: usize = 24;

/// Names of the streams that a command writes to.
const STREAMS: [&str; 4] = ["/dev/stdout", "/dev/stderr", "/dev/fd/1", "/dev/fd/2"];
/// What bash opens a connection for in place of a file.
const CONNECTIONS: [&str; 2] = ["/dev/tcp/", "/dev/udp/"];

/// A text, read whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellScript {
    /// Every simple command that may run, and nothing else that could: in the order in which they
    /// end, those inside a substitution before the command around them, those that a command runs
    /// behind it.
    pub commands: Vec<SimpleCommand>,
}

/// One program or builtin with its words; or, without words, an assignment or a redirection alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimpleCommand {
    /// The name and the arguments.
    pub words: Vec<ShellWord>,
    /// What is assigned for it, or by it.
    pub assignments: Vec<Assignment>,
    /// The files that the shell opens for it.
    pub redirections: Vec<Redirection>,
    /// The commands through which it is run, outermost first: `["sudo", "env"]`.
    pub via: Vec<String>,
    /// As it is written, or as it would be.
    pub text: String,
    /// Whether what it runs stands in the list as commands of their own, so that it adds nothing.
    pub is_wrapper: bool,
    /// Why nobody can know what it runs.
    pub unclear: Option<String>,
    /// What the text gives it to read: a here-document or a here-string.
    pub input: Option<ShellWord>,
    /// Whether it may read what another part gives it: through a pipe, or by a redirection around it or before it.
    pub is_fed: bool,
    /// Whether the text sets variables that programs may be given.
    has_variables: bool,
    /// Variables whose values are evaluated as arithmetic for it, or nearby.
    evaluates: Vec<String>,
    /// Variables that a builtin sets to what nobody knows.
    sets: Vec<String>,
    /// The text that it gives to a shell.
    script: Option<String>,
    /// Whether it calls a function that the text has defined by then: what that does stands in the list as well.
    calls_function: bool,
}

/// A word, as far as it is known before anything runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShellWord {
    /// This text, whatever the shell knows.
    Fixed(String),
    /// Something that only the shell will know.
    Unknown {
        /// As it is written.
        text: String,
        /// The text with which every word begins that it becomes; may be empty.
        starts: String,
        /// Whether it becomes exactly one word.
        is_single: bool,
    },
}

/// A variable that is set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// Name of the variable.
    pub name: String,
    /// What it is set to; none where only its name is exported.
    pub value: Option<ShellWord>,
}

/// A file that the shell opens, or a copy of a descriptor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirection {
    /// What happens to the file.
    pub mode: RedirectionMode,
    /// The word that names the file.
    pub target: ShellWord,
    /// Whether the file becomes the standard output.
    pub is_output: bool,
}

/// What a redirection does to its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RedirectionMode {
    /// Opens it for reading, as `<` does.
    Read,
    /// Makes it, and empties it where there is one.
    Truncate,
    /// Makes it, and writes behind what there is.
    Append,
    /// Makes it, reads and writes it.
    ReadWrite,
}

/// Why a text is not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unparsed {
    /// Where, in bytes from the start.
    pub at: usize,
    /// What is there that is not read.
    pub reason: String,
}

/// Reads a text and unfolds what its commands run.
///
/// # Errors
///
/// The first thing that is no bash, or that is bash of which one cannot say what it runs.
pub fn read(text: &str) -> Result<ShellScript, Unparsed> {
    let mut commands = unfold::unfold(reader::read(text, 0)?)?;
    note_emptied_streams(&mut commands);
    // Without the function its name is that of a program.
    if commands.iter().any(|command| command.program() == Some("unset")) {
        commands.iter_mut().for_each(|command| command.calls_function = false);
    }
    let numbers = numbers::NumberVariables::of(&commands);
    numbers::check_evaluated(&commands, &numbers)?;
    commands.iter_mut().for_each(|command| builtins::note_tested(command, &numbers));
    builtins::note_expanded(&mut commands);
    if commands.iter().any(SimpleCommand::gives_variables) {
        commands.iter_mut().for_each(|command| command.has_variables = true);
    }
    // What the shell itself reads from then on, all behind it read.
    if commands.iter().any(|command| command.program() == Some("exec") && command.takes_input()) {
        commands.iter_mut().for_each(|command| command.is_fed = true);
    }
    Ok(ShellScript { commands })
}

/// `> /dev/stdout` opens the file that the standard output is, and empties it: also one that `>>` opened.
fn note_emptied_streams(commands: &mut [SimpleCommand]) {
    if !commands.iter().any(|command| command.writes().next().is_some()) {
        return;
    }
    let empties = |opened: &&Redirection| {
        opened.mode == RedirectionMode::Truncate
            && opened.target.fixed().is_some_and(|path| STREAMS.contains(&path))
    };
    for command in commands {
        let opened = command.redirections.iter().find(empties).map(|opened| &opened.target);
        // It opens what it is given in the same way, unless it appends.
        let given = || {
            let words = command.words.iter().filter(|_| command.program() == Some("tee"));
            words.into_iter().find(|word| word.fixed().is_some_and(|path| STREAMS.contains(&path)))
        };
        let Some(emptied) = opened.or_else(given) else { continue };
        let why = format!("it may empty a file by way of {}", emptied.shown());
        command.unclear.get_or_insert(why);
    }
}

/// Writes a word so that bash reads it as that text.
pub fn quote(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./,:=@%+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

// === impl ShellScript ===

impl ShellScript {
    /// As it is where the standard streams are a terminal: some commands then write to a file instead.
    #[must_use]
    pub fn on_terminal(mut self) -> Self {
        for command in &mut self.commands {
            let is_output =
                |opened: &Redirection| opened.is_output && opened.mode != RedirectionMode::Read;
            if command.redirections.iter().any(is_output) {
                continue;
            }
            let name = command.program().unwrap_or_default();
            command.redirections.extend(wrappers::terminal_output(name));
        }
        self
    }
}

// === impl SimpleCommand ===

impl SimpleCommand {
    fn new(text: impl Into<String>) -> Self {
        Self {
            words: Vec::new(),
            assignments: Vec::new(),
            redirections: Vec::new(),
            via: Vec::new(),
            text: text.into(),
            is_wrapper: false,
            unclear: None,
            input: None,
            is_fed: false,
            has_variables: false,
            evaluates: Vec::new(),
            sets: Vec::new(),
            script: None,
            calls_function: false,
        }
    }

    /// Whether something else than the input of the whole text is read through it.
    fn takes_input(&self) -> bool {
        let reads = |opened: &Redirection| {
            matches!(opened.mode, RedirectionMode::Read | RedirectionMode::ReadWrite)
        };
        self.is_fed || self.input.is_some() || self.redirections.iter().any(reads)
    }

    /// Whether programs behind it may be given variables that it sets: those that it exports, and those whose names are
    /// like those of exported ones.
    fn gives_variables(&self) -> bool {
        let is_exporting = !self.words.is_empty() && !builtins::sets_own(self);
        let is_own = |name: &str| name.starts_with(|c: char| c.is_ascii_lowercase());
        let is_given = |assigned: &Assignment| is_exporting || !is_own(&assigned.name);
        self.assignments.iter().any(is_given) || self.sets.iter().any(|name| !is_own(name))
    }

    /// Whether a shell itself looks its name up, which finds builtins before programs.
    fn is_for_shell(&self) -> bool {
        let last = self.via.last().map(String::as_str);
        last.is_none_or(|name| unfold::SHELLS.contains(&name) || unfold::EVALUATING.contains(&name))
    }

    /// Returns the words where all are fixed; none where one is not.
    pub fn fixed_words(&self) -> Option<Vec<&str>> {
        self.words.iter().map(ShellWord::fixed).collect()
    }

    /// Returns the name of the program without the folder of the system in which it is; none where
    /// it is unknown, and whole where it is in another folder.
    pub fn program(&self) -> Option<&str> {
        let word = self.words.first()?.fixed()?;
        let of_system = ["/bin/", "/usr/bin/", "/usr/local/bin/"];
        let name = of_system.iter().find_map(|folder| word.strip_prefix(folder)).unwrap_or(word);
        Some(if name.contains('/') { word } else { name })
    }

    /// Whether it is git, which may run what the configuration of a repository names.
    pub fn is_git(&self) -> bool {
        let is_version = || self.words.get(1).and_then(ShellWord::fixed) == Some("--version");
        self.program() == Some("git") && !(self.words.len() == 2 && is_version())
    }

    /// Returns the redirections that change files: all but those to devices that keep nothing.
    pub fn writes(&self) -> impl Iterator<Item = &Redirection> {
        self.redirections
            .iter()
            .filter(|redirection| redirection.mode != RedirectionMode::Read)
            .filter(|redirection| !redirection.target.is_sink())
    }

    /// Whether the shell may open a connection for it, which bash does for `/dev/tcp/HOST/PORT`.
    pub fn may_connect(&self) -> bool {
        self.redirections.iter().any(|opened| {
            let starts = opened.target.starts();
            opened.target.is_connection()
                || (opened.target.fixed().is_none()
                    && CONNECTIONS.iter().any(|path| path.starts_with(starts)))
        })
    }
}

// === impl ShellWord ===

impl ShellWord {
    /// Returns the text of a fixed word.
    pub fn fixed(&self) -> Option<&str> {
        match self {
            Self::Fixed(text) => Some(text),
            Self::Unknown { .. } => None,
        }
    }

    /// Returns the text with which all begins that it may become.
    pub fn starts(&self) -> &str {
        match self {
            Self::Fixed(text) => text,
            Self::Unknown { starts, .. } => starts,
        }
    }

    /// Whether it can be nothing but operands: it begins with something else than a dash.
    pub fn is_operand(&self) -> bool {
        match self {
            Self::Fixed(text) => !text.starts_with('-') || text == "-",
            Self::Unknown { starts, .. } => !starts.is_empty() && !starts.starts_with('-'),
        }
    }

    /// Whether it becomes one word, neither several nor none.
    pub(crate) fn is_exactly_one(&self) -> bool {
        matches!(self, Self::Fixed(_) | Self::Unknown { is_single: true, .. })
    }

    /// Writes it for people: a fixed word as bash reads it, another as it is written.
    pub fn shown(&self) -> String {
        match self {
            Self::Fixed(text) => quote(text),
            Self::Unknown { text, .. } => text.clone(),
        }
    }

    fn unknown(text: impl Into<String>) -> Self {
        Self::Unknown { text: text.into(), starts: String::new(), is_single: false }
    }

    /// Whether a redirection to it certainly opens a connection.
    fn is_connection(&self) -> bool {
        CONNECTIONS.iter().any(|path| self.starts().starts_with(path))
    }

    /// Whether what is written there is discarded.
    fn is_sink(&self) -> bool {
        self.fixed().is_some_and(|path| path == "/dev/null" || STREAMS.contains(&path))
    }
}

// === impl Unparsed ===

impl Unparsed {
    fn new(at: usize, reason: impl Into<String>) -> Self {
        Self { at, reason: reason.into() }
    }
}

impl fmt::Display for Unparsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: {}", self.at, self.reason)
    }
}

impl std::error::Error for Unparsed {}

#[cfg(test)]
mod tests;
