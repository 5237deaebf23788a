//! The checker of a whole file: it is fed line by line, finds samples that stand twice, and sums up.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use moss_model_bridge::{RegisteredTool, Registry};
use moss_schema::json;
use serde_json::Value;

use crate::check::{self, CallCounts};
use crate::finding::{self, Finding, FindingCode, FindingSeverity, Findings};
use crate::report::{ClassShare, DataReport, Gate, GateName, Permitted, SampleClass};
use crate::risk::Risks;
use crate::sample;

/// How many different samples are remembered to find doubled ones: 16 bytes each.
const REMEMBERED_MAX: usize = 1 << 23;

/// How a checker works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckOptions {
    /// What calls may do that a person has to be asked about.
    pub risks: Risks,
    /// How many findings the report repeats. Their counts are whole.
    pub findings_max: usize,
}

/// A checker of training data, fed line by line.
///
/// ```
/// use std::sync::Arc;
///
/// use moss_model_bridge::Registry;
/// use moss_model_data::{Checker, CheckOptions};
///
/// let registry = Registry::from_json(r#"[{"name": "read_file", "parameters": {}}]"#)?;
/// let registry = Arc::new(registry);
/// let mut checker = Checker::new(&registry, CheckOptions::default());
/// let verdict = checker.line(r#"{"messages": [{"role": "user", "content": "hello"}]}"#);
/// assert_eq!(verdict.findings[0].pointer, "/messages/0");
/// assert!(!checker.finish().passed);
/// # Ok::<(), moss_model_bridge::RegistryError>(())
/// ```
#[derive(Debug)]
pub struct Checker<'r> {
    registry: &'r Arc<Registry>,
    options: CheckOptions,
    seen: HashMap<u64, u64>,
    tally: CheckTally,
}

/// What a checker says of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineVerdict {
    /// The line, from 1.
    pub line: u64,
    /// What the sample teaches; none where the line is blank or no sample.
    pub class: Option<SampleClass>,
    /// Its findings, at most [`crate::FINDINGS_PER_LINE_MAX`].
    pub findings: Vec<Finding>,
    /// How many more there are.
    pub findings_omitted: usize,
}

#[derive(Debug, Default)]
struct CheckTally {
    lines: u64,
    blank: u64,
    counts: CallCounts,
    with_calls: u64,
    with_valid_calls: u64,
    closed: u64,
    classes: HashMap<SampleClass, u64>,
    tools: HashMap<String, u64>,
    codes: BTreeMap<FindingCode, u64>,
    findings: Vec<Finding>,
    findings_all: u64,
}

/// Adds a value to a hash: the same for values that are equal as JSON written in one order.
///
/// Its depth is bounded by the reader of JSON: 128 levels.
fn hash(value: &Value, hasher: &mut DefaultHasher) {
    match value {
        Value::Null => 0u8.hash(hasher),
        Value::Bool(value) => (1u8, value).hash(hasher),
        Value::Number(number) => (2u8, number).hash(hasher),
        Value::String(text) => (3u8, text).hash(hasher),
        Value::Array(items) => {
            (4u8, items.len()).hash(hasher);
            items.iter().for_each(|item| hash(item, hasher));
        }
        Value::Object(members) => {
            (5u8, members.len()).hash(hasher);
            for (key, value) in members {
                key.hash(hasher);
                hash(value, hasher);
            }
        }
    }
}

// === impl CheckOptions ===

impl Default for CheckOptions {
    /// The risks of the source; a hundred findings.
    fn default() -> Self {
        Self { risks: Risks::default(), findings_max: 100 }
    }
}

// === impl Checker ===

impl<'r> Checker<'r> {
    /// Starts with nothing seen.
    pub fn new(registry: &'r Arc<Registry>, options: CheckOptions) -> Self {
        Self { registry, options, seen: HashMap::new(), tally: CheckTally::default() }
    }

    /// Checks the next line.
    pub fn line(&mut self, line: &str) -> LineVerdict {
        let mut findings = self.next();
        let mut line = line;
        if let Some(rest) = line.strip_prefix('\u{feff}').filter(|_| findings.line == 1) {
            let message = "the file begins with a byte order mark, which is no JSON";
            findings.add(FindingCode::ByteOrderMark, "", message, "save it as UTF-8 without one");
            line = rest;
        }
        if line.trim_ascii().is_empty() {
            self.tally.blank += 1;
            return self.done(None, findings);
        }
        let read = match json::read_lenient(line) {
            Ok((value, twice)) => {
                if let Some(key) = twice {
                    let message = format!("an object has the key `{}` twice", finding::shown(&key));
                    let fix = "keep one of them: readers differ in which they take";
                    findings.add(FindingCode::DuplicateKey, "", message, fix);
                }
                value
            }
            Err(error) => {
                let fix = "write one JSON object on each line";
                let why = error.to_string();
                // The line is this one: its number within itself has no meaning.
                let why = why.rsplit_once(" at line ").map_or(why.as_str(), |(why, _)| why);
                let message = format!("no JSON: {why} at column {}", error.column());
                findings.add(FindingCode::InvalidJson, "", message, fix);
                return self.unread(findings);
            }
        };
        self.sample(&read, findings)
    }

    /// Counts the next line as one that cannot be handed in as text.
    pub fn unreadable(&mut self, why: UnreadableLine) -> LineVerdict {
        let mut findings = self.next();
        match why {
            UnreadableLine::NotUtf8 { byte } => {
                let message = format!("byte {} of the line is no UTF-8", byte + 1);
                findings.add(FindingCode::InvalidUtf8, "", message, "save the file as UTF-8");
            }
            UnreadableLine::TooLong { bytes_max } => {
                let message = format!("the line is longer than {bytes_max} bytes");
                findings.add(FindingCode::LineTooLong, "", message, "split the conversation");
            }
        }
        self.unread(findings)
    }

    fn next(&mut self) -> Findings {
        self.tally.lines += 1;
        Findings::new(self.tally.lines)
    }

    /// A line that is no sample counts as one with wrong arguments that is not closed.
    fn unread(&mut self, findings: Findings) -> LineVerdict {
        self.tally.with_calls += 1;
        self.done(None, findings)
    }

    fn sample(&mut self, value: &Value, mut findings: Findings) -> LineVerdict {
        let line = value.as_object();
        let messages = line.and_then(|line| line.get("messages")).and_then(Value::as_array);
        let (Some(line), Some(messages)) = (line, messages.filter(|all| !all.is_empty())) else {
            let message = "the line is no object with a list of `messages`";
            let fix = "write {\"messages\": [{\"role\", \"content\"}, …], \"tags\", \"quality\"}";
            findings.add(FindingCode::SampleShape, "", message, fix);
            return self.unread(findings);
        };
        let sample = sample::read(self.registry, messages, &mut findings);
        if sample.turns.is_empty() {
            return self.unread(findings);
        }
        let mut counts = check::calls(self.registry, &sample, &mut findings);
        check::permission(&self.options.risks, line, &sample, &mut counts, &mut findings);
        check::replies(self.registry, &sample, &mut findings);
        check::labels(line, counts, &mut findings);
        self.find_double(messages, &mut findings);
        let class = check::class(&sample);
        for call in &sample.calls {
            match self.tally.tools.get_mut(&*call.name) {
                Some(count) => *count += 1,
                None if self.registry.tool(&call.name).is_some() => {
                    self.tally.tools.insert(call.name.to_string(), 1);
                }
                None => {}
            }
        }
        self.tally.add(class, counts, &findings);
        self.done(Some(class), findings)
    }

    fn find_double(&mut self, messages: &[Value], findings: &mut Findings) {
        let mut hasher = DefaultHasher::new();
        messages.iter().for_each(|message| hash(message, &mut hasher));
        let hash = hasher.finish();
        if let Some(first) = self.seen.get(&hash) {
            let message = format!("line {first} has the same messages");
            findings.add(FindingCode::Duplicate, "/messages", message, "keep one of them");
        } else if self.seen.len() < REMEMBERED_MAX {
            self.seen.insert(hash, findings.line);
        }
    }

    fn done(&mut self, class: Option<SampleClass>, findings: Findings) -> LineVerdict {
        for code in &findings.codes {
            *self.tally.codes.entry(*code).or_default() += 1;
        }
        self.tally.findings_all += findings.codes.len() as u64;
        let room = self.options.findings_max.saturating_sub(self.tally.findings.len());
        self.tally.findings.extend(findings.told.iter().take(room).cloned());
        LineVerdict {
            line: findings.line,
            class,
            findings_omitted: findings.codes.len() - findings.told.len(),
            findings: findings.told,
        }
    }

    /// Returns the totals of everything that was added.
    pub fn finish(self) -> DataReport {
        let CheckTally { counts, codes, findings, findings_all, classes, .. } = self.tally;
        let samples = self.tally.lines - self.tally.blank;
        let gates = vec![
            Gate::new(GateName::ToolNames, counts.named, counts.calls - counts.negative),
            Gate::new(GateName::Arguments, self.tally.with_valid_calls, self.tally.with_calls),
            Gate::new(GateName::Closed, self.tally.closed, samples),
            Gate::new(GateName::Permission, counts.high_risk_permitted, counts.high_risk),
        ];
        let read = classes.values().sum();
        let count = |class| classes.get(&class).copied().unwrap_or_default();
        let names = self.registry.tools().map(RegisteredTool::name);
        let is_unused = |name: &&str| !self.tally.tools.contains_key(*name);
        let of = |severity| {
            codes.iter().filter(|(code, _)| code.severity() == severity).map(|(_, n)| n).sum()
        };
        DataReport {
            passed: samples > 0 && gates.iter().all(|gate| gate.passed),
            lines: self.tally.lines,
            blank: self.tally.blank,
            samples,
            calls: counts.calls,
            negative_calls: counts.negative,
            gates,
            mix: SampleClass::ALL.map(|class| ClassShare::new(class, count(class), read)).to_vec(),
            high_risk: Permitted {
                calls: counts.high_risk,
                with_permission: counts.high_risk_permitted,
            },
            writes: Permitted { calls: counts.writes, with_permission: counts.writes_permitted },
            tools_unused: names.filter(is_unused).map(str::to_owned).collect(),
            tools: self.tally.tools.iter().map(|(name, n)| (name.clone(), *n)).collect(),
            errors: of(FindingSeverity::Error),
            warnings: of(FindingSeverity::Warning),
            findings_omitted: findings_all - findings.len() as u64,
            codes,
            findings,
        }
    }
}

/// Why a line cannot be handed in as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnreadableLine {
    /// It is no UTF-8.
    NotUtf8 {
        /// The first byte that is not UTF-8, from 0.
        byte: usize,
    },
    /// It is longer than the caller reads.
    TooLong {
        /// What the caller reads at most.
        bytes_max: usize,
    },
}

// === impl CheckTally ===

impl CheckTally {
    fn add(&mut self, class: SampleClass, counts: CallCounts, findings: &Findings) {
        let all = &mut self.counts;
        all.calls += counts.calls;
        all.negative += counts.negative;
        all.named += counts.named;
        all.high_risk += counts.high_risk;
        all.high_risk_permitted += counts.high_risk_permitted;
        all.writes += counts.writes;
        all.writes_permitted += counts.writes_permitted;
        let is_broken = findings.has(FindingCode::breaks_a_call);
        if counts.calls > 0 || is_broken {
            self.with_calls += 1;
            self.with_valid_calls += u64::from(!is_broken);
        }
        self.closed += u64::from(!findings.has(FindingCode::breaks_the_loop));
        *self.classes.entry(class).or_default() += 1;
    }
}
