//! How a call or a command ended: one word for programs, one exit code.

use moss_sdk::ErrorCode;
use serde::Serialize;

/// How a call or a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The call succeeded, or its effect was shown in a dry run.
    Ok,
    /// It ran and failed.
    Failed,
    /// It makes no sense: usage, an unknown tool, arguments that break the schema.
    Invalid,
    /// Policy or a person said no.
    Denied,
    /// It needs a decision that nobody can make here.
    Unconfirmed,
    /// No daemon can be used: none responds, it is another version, or it does not accept who asks.
    Unavailable,
    /// Its time is over.
    Timeout,
    /// Somebody broke it off.
    Cancelled,
}

// === impl Outcome ===

impl Outcome {
    /// Every outcome, for tables that must cover them all.
    pub const ALL: &[Self] = &[
        Self::Ok,
        Self::Failed,
        Self::Invalid,
        Self::Denied,
        Self::Unconfirmed,
        Self::Unavailable,
        Self::Timeout,
        Self::Cancelled,
    ];

    /// Returns the word, the same on every front.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "failed",
            Self::Invalid => "invalid",
            Self::Denied => "denied",
            Self::Unconfirmed => "unconfirmed",
            Self::Unavailable => "unavailable",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
        }
    }

    /// Returns the code that a process ends with.
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Failed => 1,
            Self::Invalid => 2,
            Self::Denied => 3,
            Self::Unconfirmed => 4,
            Self::Unavailable => 5,
            Self::Timeout => 124,
            Self::Cancelled => 130,
        }
    }

    /// Returns how a call ended whose tool failed with a code.
    pub const fn of_tool(code: ErrorCode) -> Self {
        macro_rules! outcome {
            (
                ($code:ident)
                $($(#[$doc:meta])* $failed:ident $word:literal $outcome:ident $contract:ident;)*
            ) => {
                match $code {
                    $(ErrorCode::$failed => Self::$outcome,)*
                    _ => Self::Failed,
                }
            };
        }
        moss_sdk::error_codes!(outcome(code))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_exit_codes_are_those_of_the_guide() {
        let guide = include_str!("../../../docs/getting-started.md");
        let (_, section) = guide.split_once("## Exit codes").unwrap();
        let rows = section.lines().skip_while(|line| !line.starts_with("| ---")).skip(1);
        let expected: Vec<(String, u8)> = rows
            .take_while(|line| line.starts_with('|'))
            .map(|row| {
                let mut cells = row.split('|').map(str::trim).skip(1);
                let code = cells.next().unwrap().parse().unwrap();
                (cells.next().unwrap().trim_matches('`').to_owned(), code)
            })
            .collect();
        let found: Vec<_> =
            Outcome::ALL.iter().map(|o| (o.as_str().to_owned(), o.exit_code())).collect();
        assert_eq!(found, expected);
        for outcome in Outcome::ALL {
            assert_eq!(serde_json::to_value(outcome).unwrap(), outcome.as_str());
        }
    }

    #[test]
    fn every_code_of_a_tool_has_its_outcome() {
        for code in ErrorCode::ALL {
            let expected = match code {
                ErrorCode::InvalidArguments => Outcome::Invalid,
                ErrorCode::Denied => Outcome::Denied,
                ErrorCode::Unconfirmed => Outcome::Unconfirmed,
                ErrorCode::Timeout => Outcome::Timeout,
                ErrorCode::Cancelled => Outcome::Cancelled,
                _ => Outcome::Failed,
            };
            assert_eq!(Outcome::of_tool(*code), expected, "{code}");
        }
    }
}
