//! `moss token`: named tokens, kept in the state directory. A running daemon needs no notification.

use jiff::Timestamp;
use moss_daemon::caller::tokens::{TokenRecord, Tokens, TokensError};
use moss_dispatch::{Outcome, Role};
use moss_grpc::address::Address;
use moss_workspace::own::OwnDir;
use serde_json::{Value, json};

use super::error::CliError;
use super::{Session, table, text};

/// Make and revoke named tokens that policy rules can match
#[derive(Debug, clap::Subcommand)]
pub(super) enum TokenCommand {
    /// Make a token and print its secret, once
    ///
    /// Its holder may call tools, on every socket and port of a daemon, and is the caller NAME in
    /// rules (`callers = ["NAME"]`), questions, history and the audit journal. moss keeps a hash.
    Create(NameArgs),
    /// List the tokens, without their secrets
    List,
    /// Revoke a token at once, also on open connections
    ///
    /// Standing approvals for the name stay: `moss approvals list` shows them.
    Revoke(NameArgs),
}

#[derive(Debug, clap::Args)]
pub(super) struct NameArgs {
    /// The name: lowercase letters, digits, `-`, `_` and `.`
    name: String,
}

pub(super) fn run(command: &TokenCommand, session: &Session) -> Result<Outcome, CliError> {
    if let Some(Address::Tcp(_)) = &session.global.remote.server {
        let message = "tokens are kept on the daemon's machine: run it there, without --server";
        return Err(CliError::invalid(message));
    }
    let tokens = Tokens::open(OwnDir::create(&session.dirs()?.state).map_err(TokensError::from)?);
    match command {
        TokenCommand::Create(args) => {
            let (token, secret) = tokens.create(&args.name, Timestamp::now())?;
            let shown = || json!({ "token": json(&token), "secret": secret });
            session.ui.print_either(shown, || secret.clone())?;
            session.ui.note(&format!(
                "made the token `{}`: its secret is not shown again; keep it in a file that only \
                 its owner can read, for --token-file",
                token.name
            ));
        }
        TokenCommand::List => {
            let listed = tokens.list()?;
            let shown = || json!({ "tokens": listed.iter().map(json).collect::<Vec<_>>() });
            session.ui.print_either(shown, || described(&listed))?;
        }
        TokenCommand::Revoke(args) => {
            let revoked = tokens.revoke(&args.name)?;
            let name = || format!("revoked {}", text::line(&revoked.name));
            session.ui.print_either(|| json!({ "revoked": json(&revoked) }), name)?;
        }
    }
    Ok(Outcome::Ok)
}

fn json(token: &TokenRecord) -> Value {
    json!({
        "name": token.name,
        "role": Role::Caller.as_str(),
        "created_at": token.created_at.to_string(),
    })
}

fn described(tokens: &[TokenRecord]) -> String {
    if tokens.is_empty() {
        return "no tokens: `moss token create NAME` makes one".to_owned();
    }
    let row = |token: &TokenRecord| {
        [token.name.clone(), Role::Caller.as_str().to_owned(), token.created_at.to_string()]
    };
    table::render(["NAME", "ROLE", "CREATED"], &tokens.iter().map(row).collect::<Vec<_>>())
}

// === impl CliError ===

impl From<TokensError> for CliError {
    fn from(error: TokensError) -> Self {
        let (outcome, code) = match &error {
            TokensError::Name(_) | TokensError::Reserved(_) => (Outcome::Invalid, "usage"),
            TokensError::Taken(_) => (Outcome::Failed, "already_exists"),
            TokensError::Unknown(_) => (Outcome::Failed, "token_unknown"),
            TokensError::Full => (Outcome::Failed, "limit_exceeded"),
            TokensError::Broken { .. } => (Outcome::Failed, "tokens_broken"),
            TokensError::State(_) => (Outcome::Failed, "state_unusable"),
        };
        Self::new(outcome, code, error.to_string())
    }
}
