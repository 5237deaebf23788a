//! A command that is asked about, as every front shows it.

/// What a person is asked to let run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandQuestion {
    /// The text for bash, whole.
    pub command: String,
    /// The directory in which it runs, relative to the workspace root.
    pub directory: String,
    /// What it may write: `read-only`, `workspace-write` or `danger-full`.
    pub profile: String,
    /// Whether it may reach other machines.
    pub network: bool,
    /// Names of variables of the environment that it is given besides those that every command is given.
    pub environment: Vec<String>,
    /// Sockets that it may connect to: paths, or names of variables that hold one.
    pub sockets: Vec<String>,
    /// How well it is isolated: `full`, `landlock` or `none`.
    pub tier: String,
    /// Every simple command in it; of a text that cannot be read, the text.
    pub parts: Vec<AskedCommand>,
    /// Whether it is left running in the background.
    pub is_background: bool,
    /// Whether the text is not run but written to the standard input of a command that runs already: the
    /// one through which the only part is run.
    pub is_input: bool,
    /// Whether the call goes on without it where nobody allows it.
    pub is_optional: bool,
}

/// One simple command of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedCommand {
    /// As it is written, or as the command that runs it would write it.
    pub text: String,
    /// The commands through which it is run, outermost first.
    pub via: Vec<String>,
    /// Whether it is one that needs the confirmation; the others would run without.
    pub asks: bool,
    /// The rule that says so.
    pub rule: String,
    /// Files that the shell itself writes for it, as they are written.
    pub writes: Vec<String>,
}
