//! The compatibility statement of a model: versions, context, calls, fields, results, limits.
//! Source: 000, 8 and 10; requirement A14.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::LazyLock;

use moss_model_bridge::Language;
use serde::{Deserialize, Serialize};

use crate::evaluate::{Evaluation, Rate, Rates};
use crate::product::{PRODUCT_VERSION, SPEC_VERSION};

/// What is known of a model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Statement {
    /// The model and its version.
    pub model: String,
    /// The version of the specification: `v1.0`.
    pub spec_version: &'static str,
    /// The version of the product whose tools and forms of calls are meant: `v2.5.146`.
    pub product_version: &'static str,
    /// How many tokens it can look at; none where it is not stated.
    pub context_tokens: Option<u64>,
    /// Whether its API has tool calls; none where it is not stated.
    pub native_calls: Option<bool>,
    /// What fields of the specification are called in the model's API, in pairs.
    pub field_mapping: BTreeMap<String, String>,
    /// What it cannot do.
    pub known_limits: Vec<String>,
    /// The cases that it was evaluated with.
    pub cases: u64,
    /// Those that have no response.
    pub unanswered: u64,
    /// Calls that fit only after they were repaired.
    pub repaired_calls: u64,
    /// How often it did what it should.
    pub rates: Rates,
}

#[derive(Deserialize)]
struct StatementTexts {
    en: BTreeMap<String, String>,
    zh: BTreeMap<String, String>,
}

static TEXTS: LazyLock<StatementTexts> = LazyLock::new(|| {
    serde_json::from_str(include_str!("statement.json")).expect("the table is tested")
});

/// Text that was given, on one line and with nothing that ends a cell of a table.
fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

// === impl Statement ===

impl Statement {
    /// States what an evaluation showed of a model. What only its maker knows is not stated yet.
    pub fn new(model: impl Into<String>, evaluation: &Evaluation) -> Self {
        Self {
            model: model.into(),
            spec_version: SPEC_VERSION,
            product_version: PRODUCT_VERSION,
            context_tokens: None,
            native_calls: None,
            field_mapping: BTreeMap::new(),
            known_limits: Vec::new(),
            cases: evaluation.cases,
            unanswered: evaluation.unanswered,
            repaired_calls: evaluation.repaired_calls,
            rates: evaluation.rates,
        }
    }

    /// Writes it as Markdown.
    pub fn markdown(&self, language: Language) -> String {
        let texts = match language {
            Language::En => &TEXTS.en,
            Language::Zh => &TEXTS.zh,
        };
        let text = |key: &str| texts.get(key).map_or("", String::as_str);
        let not_stated = || text("not_stated").to_owned();
        let context = self.context_tokens;
        let context = context.map_or_else(not_stated, |n| format!("{n} {}", text("tokens")));
        let native = self.native_calls.map(|native| text(if native { "yes" } else { "no" }));
        let native = native.map_or_else(not_stated, str::to_owned);
        let mut page = format!("# {}: {}\n\n", text("title"), plain(&self.model));
        for (key, value) in [
            ("model", plain(&self.model)),
            ("spec", self.spec_version.to_owned()),
            ("product", self.product_version.to_owned()),
            ("context", context),
            ("native", native),
        ] {
            let _ = writeln!(page, "- {}: {value}", text(key));
        }
        let _ = write!(page, "\n## {}\n\n", text("mapping"));
        if self.field_mapping.is_empty() {
            let _ = writeln!(page, "{}", text("mapping_none"));
        } else {
            let _ = writeln!(page, "| {} | {} |", text("mapping_here"), text("mapping_there"));
            page.push_str("| --- | --- |\n");
            for (here, there) in &self.field_mapping {
                let _ = writeln!(page, "| {} | {} |", plain(here), plain(there));
            }
        }
        self.write_results(&mut page, &text);
        let _ = write!(page, "\n## {}\n\n{}\n", text("settings"), text("temperature"));
        let _ = write!(page, "\n## {}\n\n", text("limits"));
        if self.known_limits.is_empty() {
            let _ = writeln!(page, "{}", text("limits_none"));
        }
        for limit in &self.known_limits {
            let _ = writeln!(page, "- {}", plain(limit));
        }
        page
    }

    fn write_results<'t>(&self, page: &mut String, text: &impl Fn(&str) -> &'t str) {
        let counted = text("cases")
            .replace("{cases}", &self.cases.to_string())
            .replace("{unanswered}", &self.unanswered.to_string())
            .replace("{repaired}", &self.repaired_calls.to_string());
        let _ = write!(page, "\n## {}\n\n{counted}\n\n", text("results"));
        let _ = writeln!(page, "| {} | {} | {} |", text("what"), text("share"), text("counted"));
        page.push_str("| --- | --- | --- |\n");
        for (key, rate) in self.rates.named() {
            let Rate { count, of, .. } = rate;
            let _ = writeln!(page, "| {} | {} | {count} / {of} |", text(key), rate.percent());
        }
    }
}

// === impl Rates ===

impl Rates {
    /// The rates with their names.
    pub fn named(&self) -> [(&'static str, Rate); 4] {
        [
            ("tool_call_success", self.tool_call_success),
            ("argument_validity", self.argument_validity),
            ("task_completion", self.task_completion),
            ("safety_violation", self.safety_violation),
        ]
    }
}

// === impl Rate ===

impl Rate {
    /// The share as people read it; `-` of nothing.
    pub fn percent(&self) -> String {
        self.rate.map_or_else(|| "-".to_owned(), |rate| format!("{:.1} %", rate * 100.0))
    }
}
