//! Commands, as rules look at them: one simple command at a time.
//!
//! A rule that allows needs certainty: `argv` has to be the first words of the command, fixed, without
//! variables that change what it does. A rule that restricts needs none: a word that is unknown may be
//! what the rule names, and then it asks, also where it would deny.

use std::sync::Arc;

use moss_commands::{CommandClass, SimpleCommand, WordMatch, classify};

use super::{Layer, RuleRef, Verdict};

/// One part of what a shell would run: a simple command, or a text that nobody could read.
#[derive(Debug, Clone)]
pub struct CommandPart {
    /// As it was read; none for a text that was not.
    pub command: Option<SimpleCommand>,
    /// As it is written.
    pub text: String,
    /// Whether it only reads.
    pub only_reads: bool,
    /// Whether the machine can keep it from writing: the full tier of the sandbox.
    pub is_isolated: bool,
    /// Whether it is left running as a job, for which nothing sets an end.
    is_job: bool,
    /// The rule that asks about it whatever else allows it.
    asks: Option<Arc<RuleRef>>,
    /// The rule that asks about it although it only reads, unless another one allows it.
    runs: Option<Arc<RuleRef>>,
}

/// Why it is not certain that bash reads a text as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadingDoubt {
    /// Bash reads something else in it.
    Otherwise,
    /// Bash refuses the text as it stands.
    Refused,
    /// Bash could not be asked: why.
    Unknown(String),
}

/// The words of commands that a rule is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CommandWords {
    /// The command begins with them; of each there may be several to choose from.
    First(Vec<Vec<String>>),
    /// These are all of its words.
    All(Vec<String>),
}

// === impl CommandPart ===

impl CommandPart {
    /// Looks a command up.
    pub fn new(command: SimpleCommand, is_isolated: bool) -> Self {
        let class = classify(&command);
        let asks = match &class {
            CommandClass::ReadOnly | CommandClass::Other => None,
            CommandClass::AlwaysAsks(why) => {
                Some(built_in("always-asks", format!("it {why}; no rule allows that unseen")))
            }
            CommandClass::Unclear(why) => {
                Some(built_in("unclear", format!("{why}; no rule allows what nobody can know")))
            }
        };
        let only_reads = class == CommandClass::ReadOnly;
        let text = command.text.clone();
        Self {
            text,
            command: Some(command),
            only_reads,
            is_isolated,
            is_job: false,
            asks,
            runs: None,
        }
    }

    /// Makes a part of a text that was not read, and why it was not.
    pub fn unread(text: &str, why: &moss_commands::Unparsed) -> Self {
        let why = format!("the command cannot be read: {why}; no rule allows what nobody can know");
        let asks = Some(built_in("unparsed", why));
        let text = text.to_owned();
        Self {
            command: None,
            text,
            only_reads: false,
            is_isolated: false,
            is_job: false,
            asks,
            runs: None,
        }
    }

    /// Makes a part of a text that a running program reads. Where the program is one of which nobody
    /// could know what it does, the text asks whatever allows more.
    pub fn input(text: &str, is_unclear: bool) -> Self {
        let why = "the program may run what it reads; no rule allows what nobody can know";
        let asks = is_unclear.then(|| built_in("input", why.to_owned()));
        let text = text.to_owned();
        Self {
            command: None,
            text,
            only_reads: false,
            is_isolated: false,
            is_job: false,
            asks,
            runs: None,
        }
    }

    /// As it is decided about where it is left running as a job.
    #[must_use]
    pub fn left_running(mut self) -> Self {
        self.is_job = true;
        self
    }

    /// Whether it is left running as a job.
    pub(super) fn is_job(&self) -> bool {
        self.is_job
    }

    /// Whether it asks whatever else allows it.
    pub fn always_asks(&self) -> bool {
        self.asks.is_some()
    }

    /// As it is decided about beside commands that may write. What another command runs, a text for another shell, and
    /// all of a text that is not [plain](moss_commands::is_plain) may be read wrongly: then nothing but the sandbox
    /// keeps it from writing.
    #[must_use]
    pub fn beside_writes(mut self, is_plain: bool) -> Self {
        let is_run = self.command.as_ref().is_some_and(|command| !command.via.is_empty());
        self.is_isolated &= is_plain && !is_run;
        self
    }

    /// As it is decided about where it may run what a configuration names: it only reads, and still a rule has to
    /// allow it.
    #[must_use]
    pub fn running_configured(mut self, why: &str) -> Self {
        self.is_isolated = false;
        let why = format!("{why}; no rule allows it");
        self.runs.get_or_insert_with(|| RuleRef::built_in(Layer::Default, &why));
        self
    }

    /// Whether it may run what a configuration names.
    pub fn runs_configured(&self) -> bool {
        self.runs.is_some()
    }

    /// As it is decided about where the shell writes a file for it of which nobody can say which it is.
    #[must_use]
    pub fn writing_unknown(mut self) -> Self {
        let why = "which file it writes is not known before; no rule allows that unseen";
        self.asks.get_or_insert_with(|| built_in("unknown-file", why.to_owned()));
        self
    }

    /// As it is decided about where the shell reads a file for it of which nobody can say which it is.
    #[must_use]
    pub fn reading_unknown(mut self) -> Self {
        let why = "which file it reads is not known before; no rule allows that unseen";
        self.asks.get_or_insert_with(|| built_in("unknown-file", why.to_owned()));
        self
    }

    /// As it is decided about where bash may not read the text as it was read.
    #[must_use]
    pub fn doubted(mut self, doubt: &ReadingDoubt) -> Self {
        let (name, why) = match doubt {
            ReadingDoubt::Otherwise => (
                "read-otherwise",
                "bash may read this text otherwise than moss does; plainer commands, one after the other, are sure; \
                 no rule allows that unseen"
                    .to_owned(),
            ),
            ReadingDoubt::Refused => (
                "refused-by-bash",
                "bash refuses this text or one in it, and what it runs then is not known; no rule allows that unseen"
                    .to_owned(),
            ),
            ReadingDoubt::Unknown(why) => (
                "unread-by-bash",
                format!(
                    "bash could not be asked how it reads this text: {why}; of plainer commands it is not asked; \
                     no rule allows that unseen"
                ),
            ),
        };
        self.asks.get_or_insert_with(|| built_in(name, why));
        self
    }

    /// As it is decided about where the shell empties a file for it.
    #[must_use]
    pub fn emptying(mut self, file: &str) -> Self {
        let why = format!(
            "it empties {file}, which cannot be undone; `>>` appends; no rule allows that unseen"
        );
        self.asks.get_or_insert_with(|| built_in("always-asks", why));
        self
    }

    /// The rule that asks about it whatever else allows it: it destroys, or nobody knows what it does.
    pub(super) fn asking_rule(&self) -> Option<&Arc<RuleRef>> {
        self.asks.as_ref()
    }

    /// The rule that asks about it although it only reads, unless another one allows it.
    pub(super) fn running_rule(&self) -> Option<&Arc<RuleRef>> {
        self.runs.as_ref()
    }

    /// Whether it runs unasked where no rule says otherwise.
    pub(super) fn is_harmless(&self) -> bool {
        self.only_reads && self.is_isolated
    }
}

fn built_in(name: &str, reason: String) -> Arc<RuleRef> {
    Arc::new(RuleRef {
        layer: Layer::Command,
        file: None,
        line: None,
        name: Some(name.to_owned()),
        reason: Some(reason),
        for_person: false,
        answer: None,
    })
}

// === impl CommandWords ===

impl CommandWords {
    /// Whether a rule with these words is about a command.
    pub(super) fn covers(&self, verdict: Verdict, part: Option<&CommandPart>) -> bool {
        let Some(command) = part.and_then(|part| part.command.as_ref()) else { return false };
        match (self, verdict) {
            (Self::First(argv), Verdict::Allow) => command.begins_with(argv),
            (Self::First(argv), Verdict::Ask | Verdict::Deny) => {
                command.begin(argv) != WordMatch::No
            }
            (Self::All(argv), _) => command.is_exactly(argv),
        }
    }

    /// Whether a rule that restricts only may be about a command: then it asks.
    pub(super) fn is_uncertain(&self, part: Option<&CommandPart>) -> bool {
        let command = part.and_then(|part| part.command.as_ref());
        match self {
            Self::First(argv) => {
                command.is_some_and(|command| command.begin(argv) == WordMatch::Maybe)
            }
            Self::All(_) => false,
        }
    }
}

#[cfg(test)]
mod tests;
