//! The rounds of a request that a script responds to. What it asks for goes out and comes back as with calls of moss's
//! own tools: in a state that is sealed for this request of this caller, for a while, once.

use rmcp::model::{ErrorData, InputRequests};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::calling;
use crate::fault::CallFault;
use crate::rounds::{self, InputBrought, InputTaken};
use crate::seal::{AskedEffects, StateSeal};

/// An error of the protocol.
#[derive(Debug, Clone, PartialEq)]
pub struct ScriptedError {
    /// The code, such as -32602.
    pub code: i32,
    /// What is wrong, as the error of the protocol says it.
    pub message: String,
    /// What the protocol wants beside it.
    pub data: Option<Value>,
}

/// How far a request has come.
#[derive(Debug, Clone, Copy)]
pub struct ScriptedRounds<'a> {
    brought: InputBrought<'a>,
    seal: &'a StateSeal,
    /// What names the request exactly.
    named: &'a [&'a str],
}

/// A round that a request comes back from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScriptedRound {
    /// Its number, from 1.
    pub number: u8,
    /// Whether all that it asked for has come; otherwise it asks anew.
    pub is_over: bool,
}

/// Reads a value of the protocol.
pub(crate) fn read<T: DeserializeOwned>(answer: Value) -> Result<T, ErrorData> {
    serde_json::from_value(answer)
        .map_err(|error| ErrorData::internal_error(format!("the script: {error}"), None))
}

/// How the server ends a call that has this fault.
fn refused(fault: CallFault) -> ScriptedError {
    match calling::of_fault(fault) {
        Err(error) => ScriptedError::of(error),
        Ok(_) => {
            ScriptedError::of(ErrorData::internal_error("a result in place of an error", None))
        }
    }
}

// === impl ScriptedRounds ===

impl<'a> ScriptedRounds<'a> {
    pub(crate) fn new(
        brought: InputBrought<'a>,
        seal: &'a StateSeal,
        named: &'a [&'a str],
    ) -> Self {
        Self { brought, seal, named }
    }

    /// Takes what the request comes back with; none where nothing was asked for yet. `has` says of the number of
    /// a round whether responses have all that it asked for.
    ///
    /// # Errors
    ///
    /// How the server refuses a state that is not one that was made for the request.
    pub fn taken(
        self,
        has: impl FnOnce(u8, &Value) -> bool,
    ) -> Result<Option<ScriptedRound>, ScriptedError> {
        let number =
            |asked: &AskedEffects| asked.digests.first().and_then(|one| one.parse::<u8>().ok());
        let taken = self.brought.take(self.seal, self.named, |asked, responses| {
            has(number(asked)?, &json!(responses)).then_some(())
        });
        let (asked, is_over) = match taken.map_err(refused)? {
            InputTaken::Unasked => return Ok(None),
            InputTaken::Unread(asked) => (asked, false),
            InputTaken::Read(asked, ()) => (asked, true),
        };
        Ok(number(&asked).map(|number| ScriptedRound { number, is_over }))
    }

    /// Makes the result that asks for these, by name, in the round with a number.
    ///
    /// # Errors
    ///
    /// Where they are no requests of the protocol, or nothing can be sealed.
    pub fn asking(self, requests: Value, number: u8) -> Result<Value, ScriptedError> {
        let requests = read::<InputRequests>(requests).map_err(ScriptedError::of)?;
        let asked = AskedEffects { digests: vec![number.to_string()], offers_session: false };
        let result = rounds::required(requests, &asked, self.seal, self.named);
        let unsealed = || ScriptedError::of(ErrorData::internal_error("no state was sealed", None));
        result.map(|result| json!(result)).ok_or_else(unsealed)
    }
}

// === impl ScriptedError ===

impl ScriptedError {
    fn of(error: ErrorData) -> Self {
        Self { code: error.code.0, message: error.message.into_owned(), data: error.data }
    }
}
