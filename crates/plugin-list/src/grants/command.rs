//! Commands that a plugin may run, by their words: `git rev-parse HEAD`, `npm run *`.
//!
//! Words are compared exactly, one by one, and there are as many as the pattern has. `*` stands for one
//! word that is no option. A pattern that is `*` alone stands for every command: plugins may ask so, and
//! an administrator may allow so, but nobody grants it.

use std::fmt;

/// Most words of a pattern.
const WORDS_MAX: usize = 32;
/// Longest pattern, in bytes.
const PATTERN_BYTES_MAX: usize = 1_000;
/// Stands for one word, or for every command.
const ANY: &str = "*";

/// The words of a command.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum CommandPattern {
    /// Every command, as `*` grants it.
    Any,
    /// Commands whose words are these, one by one.
    Words(Vec<CommandWord>),
}

/// One word of a command.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum CommandWord {
    /// Any word that does not begin with `-`.
    Any,
    /// A word that is exactly this text.
    Exactly(String),
}

// === impl CommandPattern ===

impl CommandPattern {
    /// Reads a pattern: words with spaces between them.
    ///
    /// # Errors
    ///
    /// Why it is not valid.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        if text == ANY {
            return Ok(Self::Any);
        }
        if text.len() > PATTERN_BYTES_MAX {
            return Err("is longer than 1,000 bytes");
        }
        let words: Vec<_> = text.split_whitespace().map(CommandWord::of).collect();
        if words.len() > WORDS_MAX {
            return Err("has more than 32 words");
        }
        match words.first() {
            None => return Err("has no words"),
            Some(CommandWord::Any) => return Err("does not say which program it runs"),
            Some(CommandWord::Exactly(program)) if program.starts_with('-') => {
                return Err("begins with an option, not with a program");
            }
            Some(CommandWord::Exactly(_)) => {}
        }
        let is_plain = |c: char| !c.is_control() && !"'\"\\`$&|;<>()".contains(c);
        if !text.chars().all(is_plain) {
            return Err(
                "has quotes or other characters of a shell; no shell reads it: write the words \
                        as the program gets them",
            );
        }
        Ok(Self::Words(words))
    }

    /// Whether a command with these words is meant.
    pub fn matches(&self, words: &[String]) -> bool {
        match self {
            Self::Any => true,
            Self::Words(mine) => {
                mine.len() == words.len()
                    && mine.iter().zip(words).all(|(mine, word)| mine.matches(word))
            }
        }
    }

    pub(super) fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Any, _) => true,
            (Self::Words(_), Self::Any) => false,
            (Self::Words(mine), Self::Words(theirs)) => {
                mine.len() == theirs.len()
                    && mine.iter().zip(theirs).all(|(mine, theirs)| mine.covers(theirs))
            }
        }
    }

    pub(super) fn meet(&self, other: &Self) -> Option<Self> {
        match (self, other) {
            (Self::Any, other) => Some(other.clone()),
            (mine, Self::Any) => Some(mine.clone()),
            (Self::Words(mine), Self::Words(theirs)) if mine.len() == theirs.len() => {
                let words = mine.iter().zip(theirs).map(|(mine, theirs)| mine.meet(theirs));
                words.collect::<Option<_>>().map(Self::Words)
            }
            _ => None,
        }
    }
}

impl fmt::Display for CommandPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Words(words) = self else { return f.write_str(ANY) };
        for (at, word) in words.iter().enumerate() {
            let space = if at == 0 { "" } else { " " };
            match word {
                CommandWord::Any => write!(f, "{space}{ANY}")?,
                CommandWord::Exactly(word) => write!(f, "{space}{word}")?,
            }
        }
        Ok(())
    }
}

// === impl CommandWord ===

impl CommandWord {
    fn of(text: &str) -> Self {
        if text == ANY { Self::Any } else { Self::Exactly(text.to_owned()) }
    }

    fn matches(&self, word: &str) -> bool {
        match self {
            Self::Any => !word.starts_with('-'),
            Self::Exactly(exactly) => exactly == word,
        }
    }

    fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Any, Self::Any) => true,
            (Self::Any, Self::Exactly(word)) => self.matches(word),
            (Self::Exactly(_), _) => self == other,
        }
    }

    fn meet(&self, other: &Self) -> Option<Self> {
        if self.covers(other) {
            Some(other.clone())
        } else {
            other.covers(self).then(|| self.clone())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn words_are_compared_one_by_one() {
        for (pattern, command, expected) in [
            ("git rev-parse HEAD", "git rev-parse HEAD", true),
            ("git rev-parse HEAD", "git rev-parse HEAD --all", false),
            ("git rev-parse HEAD", "git rev-parse", false),
            ("git rev-parse HEAD", "GIT rev-parse HEAD", false),
            ("npm run *", "npm run test", true),
            ("npm run *", "npm run --prefix", false),
            ("npm run *", "npm run test more", false),
            ("npm run *", "npm run", false),
            ("*", "anything at all", true),
        ] {
            let matches = CommandPattern::parse(pattern).unwrap().matches(&words(command));
            assert_eq!(matches, expected, "{pattern}: {command}");
        }
        assert!(!CommandPattern::parse("a").unwrap().matches(&[]));
    }

    #[test]
    fn what_two_patterns_allow_is_what_both_allow() {
        let meet = |one: &str, other: &str| {
            let [one, other] = [one, other].map(|text| CommandPattern::parse(text).unwrap());
            let met = one.meet(&other);
            assert_eq!(met, other.meet(&one));
            if let Some(met) = &met {
                assert!(one.covers(met) && other.covers(met));
            }
            met.map(|met| met.to_string())
        };
        assert_eq!(meet("*", "git log").as_deref(), Some("git log"));
        assert_eq!(meet("npm run *", "npm run test").as_deref(), Some("npm run test"));
        assert_eq!(meet("npm run *", "npm * test").as_deref(), Some("npm run test"));
        assert_eq!(meet("npm run *", "npm run -s"), None);
        assert_eq!(meet("npm run", "npm run test"), None);
        assert_eq!(meet("git log", "git diff"), None);
    }

    #[test]
    fn what_is_no_pattern_says_why() {
        for (text, why) in [
            ("", "no words"),
            ("  ", "no words"),
            ("* a", "which program"),
            ("-c a", "an option"),
            ("sh -c 'a b'", "quotes"),
            ("a; b", "quotes"),
            ("a $b", "quotes"),
        ] {
            let refused = CommandPattern::parse(text).unwrap_err();
            assert!(refused.contains(why), "{text}: {refused}");
        }
        let long = vec!["a"; 33].join(" ");
        assert_eq!(CommandPattern::parse(&long), Err("has more than 32 words"));
    }
}
