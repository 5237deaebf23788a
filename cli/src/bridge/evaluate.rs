//! `moss bridge evaluate`.

mod ask;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::listed_as::Lang;
use moss_model_data::{Evaluation, Evaluator, QuestionOptions, Statement};
use moss_workspace::named;
use serde_json::{Value, json};

use super::super::error::CliError;
use super::super::ui::{bold, dim, red};
use super::super::{Session, interruptible, table, text};
use super::lines::LineReader;
use super::registry::{RegistryArgs, unreadable};
use super::training;
use ask::AskArgs;
use moss_dispatch::Outcome;

/// Most bytes of recorded responses that are held at once.
const RESPONSES_BYTES_MAX: usize = 512 * 1024 * 1024;

/// Score a model's responses to an evaluation set
///
/// FILE is JSONL: a case on each line, `{"id", "messages", "tools", "expect": {"calls",
/// "must_not_call", "text_has"}, "answer": {"content", "tool_calls"}}`. Prints the rates of tool-call
/// success, valid arguments, task completion and safety violations. Responses are recorded ones, or with
/// --ask new ones of a model.
#[derive(Debug, clap::Args)]
pub(crate) struct EvaluateArgs {
    /// The cases to evaluate, as JSONL
    file: PathBuf,

    #[command(flatten)]
    registry: RegistryArgs,

    /// Read the responses to cases without one from FILE: JSONL of {"id", "answer"}
    #[arg(long, alias = "answers", value_name = "FILE")]
    responses: Option<PathBuf>,

    /// Show at most N failures; all are counted
    #[arg(long, value_name = "N", default_value_t = 20)]
    max_failures: usize,

    #[command(flatten)]
    ask: AskArgs,

    #[command(flatten)]
    stated: Stated,
}

/// What the compatibility statement says beside the rates.
#[derive(Debug, clap::Args)]
struct Stated {
    /// Write the compatibility statement to FILE, as Markdown
    #[arg(long, value_name = "FILE", requires = "model")]
    statement: Option<PathBuf>,

    /// Write the compatibility statement to FILE, as JSON
    #[arg(long, value_name = "FILE", requires = "model")]
    statement_json: Option<PathBuf>,

    /// Name and version of the model, for the statement and for requests
    #[arg(long, value_name = "NAME")]
    model: Option<String>,

    /// Context length of the model in tokens, for the statement
    #[arg(long, value_name = "TOKENS")]
    context_length: Option<u64>,

    /// Whether the model's API has tool calls, for the statement and to ask it
    #[arg(long, value_name = "YES_NO")]
    native_calling: Option<YesNo>,

    /// What a field is called in the model's API, for the statement; can be repeated
    #[arg(long, value_name = "FIELD=NAME", value_parser = pair)]
    field: Vec<(String, String)>,

    /// A known limit of the model, for the statement; can be repeated
    #[arg(long, value_name = "TEXT")]
    known_limit: Vec<String>,

    /// Language of the statement and of the tool prompt
    #[arg(long, value_enum, default_value_t)]
    language: Lang,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum YesNo {
    /// The API has tool calls
    Yes,
    /// The API has none: models call in text
    No,
}

pub(super) async fn run(args: &EvaluateArgs, session: &Session) -> Result<Outcome, CliError> {
    let registry = args.registry.load(session)?;
    let mut responses = match &args.responses {
        Some(file) => read_responses(file, session)?,
        None => HashMap::new(),
    };
    let asking = args.stated.asking();
    if args.ask.is_wanted() {
        args.ask.check_file(&[args.responses.as_ref()])?;
        let asked = args.ask.complete(&args.file, &asking, &registry, &mut responses, session);
        interruptible(asked).await?;
    }
    let mut evaluator = Evaluator::new(&registry, training::risks(), args.max_failures);
    LineReader::open(&args.file, &session.ui)?.each(|line| {
        match line {
            Ok(line) => evaluator.line(line, |id| responses.remove(id)),
            Err(_) => evaluator.unreadable("the line is too long, or no UTF-8"),
        }
        Ok(())
    })?;
    let evaluation = evaluator.finish();
    session.ui.print_either(|| json!(evaluation), || evaluation_text(&evaluation))?;
    args.stated.write(&evaluation)?;
    if !responses.is_empty() {
        let message = format!("{} recorded responses belong to no case", responses.len());
        session.ui.note(&dim(message));
    }
    let is_whole = evaluation.cases > 0 && evaluation.unreadable.is_empty();
    Ok(if is_whole { Outcome::Ok } else { Outcome::Failed })
}

fn read_responses(file: &Path, session: &Session) -> Result<HashMap<String, Value>, CliError> {
    let mut responses = HashMap::new();
    let mut bytes = 0;
    let mut number: u64 = 0;
    LineReader::open(file, &session.ui)?.each(|line| {
        number += 1;
        let failed = |why: &str| {
            let message = format!("{}:{number}: {why}", file.display());
            CliError::new(Outcome::Invalid, "file_unusable", message)
        };
        let line = line.map_err(|_| failed("the line is too long, or no UTF-8"))?;
        let line = line.trim_start_matches('\u{feff}').trim();
        if line.is_empty() {
            return Ok(());
        }
        bytes += line.len();
        if bytes > RESPONSES_BYTES_MAX {
            return Err(failed(&format!(
                "the responses have more than {RESPONSES_BYTES_MAX} bytes"
            )));
        }
        let mut read: Value =
            serde_json::from_str(line).map_err(|error| failed(&format!("no JSON: {error}")))?;
        let id = read.get("id").and_then(Value::as_str).map(str::to_owned);
        let id = id.ok_or_else(|| failed("expected {\"id\", \"answer\"}"))?;
        let response = read.get_mut("answer").map(Value::take).unwrap_or(read);
        match responses.insert(id, response) {
            None => Ok(()),
            Some(_) => Err(failed("the id has a response already")),
        }
    })?;
    Ok(responses)
}

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((field, name)) if !field.is_empty() && !name.is_empty() => {
            Ok((field.to_owned(), name.to_owned()))
        }
        _ => Err("expected FIELD=NAME, such as arguments=input".to_owned()),
    }
}

/// The result for people.
fn evaluation_text(evaluation: &Evaluation) -> String {
    let mut shown = String::new();
    for unread in &evaluation.unreadable {
        let message = text::line(&unread.message);
        let _ = writeln!(shown, "{}: {}", bold(format!("line {}", unread.line)), red(message));
    }
    for failure in &evaluation.failures {
        let place = format!("line {} {}", failure.line, text::line(&failure.id));
        let _ = writeln!(shown, "{}", bold(place));
        for problem in &failure.problems {
            let _ = writeln!(shown, "  {}", text::line(problem));
        }
    }
    if evaluation.failures_omitted > 0 {
        let more = evaluation.failures_omitted;
        let _ =
            writeln!(shown, "{}", dim(format!("… {more} more: use --max-failures N to show them")));
    }
    if !shown.is_empty() {
        shown.push('\n');
    }
    let rows = evaluation.rates.named().map(|(name, rate)| {
        [name.replace('_', " "), rate.percent(), format!("{} of {}", rate.count, rate.of)]
    });
    shown.push_str(&table::render(["RATE", "SHARE", "COUNTED"], &rows));
    let Evaluation { cases, unanswered, repaired_calls, .. } = evaluation;
    let _ = writeln!(
        shown,
        "\n{cases} cases, {unanswered} without a response, {repaired_calls} calls were valid only after repair"
    );
    shown
}

// === impl Stated ===

impl Stated {
    /// How the model is asked.
    fn asking(&self) -> QuestionOptions<'_> {
        QuestionOptions {
            model: self.model.as_deref().unwrap_or_default(),
            native: self.native_calling == Some(YesNo::Yes),
            language: self.language(),
        }
    }

    fn language(&self) -> moss_model_bridge::Language {
        match self.language {
            Lang::En => moss_model_bridge::Language::En,
            Lang::Zh => moss_model_bridge::Language::Zh,
        }
    }

    fn write(&self, evaluation: &Evaluation) -> Result<(), CliError> {
        let Some(model) = &self.model else { return Ok(()) };
        let mut statement = Statement::new(model, evaluation);
        statement.context_tokens = self.context_length;
        statement.native_calls = self.native_calling.map(|response| response == YesNo::Yes);
        statement.field_mapping = self.field.iter().cloned().collect();
        statement.known_limits.clone_from(&self.known_limit);
        let language = self.language();
        if let Some(file) = &self.statement {
            named::write(file, statement.markdown(language).as_bytes()).map_err(unreadable)?;
        }
        if let Some(file) = &self.statement_json {
            let mut json = serde_json::to_vec_pretty(&statement).map_err(std::io::Error::from)?;
            json.push(b'\n');
            named::write(file, &json).map_err(unreadable)?;
        }
        Ok(())
    }
}
