//! What is compiled while a command works: a line that moves where somebody looks, one plain line
//! elsewhere, nothing beside JSON. Nobody knows how far a compiler is: there is no bar.

use std::sync::Arc;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use moss_plugins::compiling::{Compilations, CompileIndicator, OnCompile};

use super::text;
use super::ui::{Ui, dim};

/// How often the line moves.
const MOVES_EVERY: Duration = Duration::from_millis(100);

/// Something that takes its time, shown until this is dropped.
pub(super) struct CompileProgress(ProgressBar);

/// Follows what daemons of this process compile.
pub(super) fn compilations(ui: Ui) -> Compilations {
    if ui.json() {
        return Compilations::default();
    }
    let steps = Steps::new(ui);
    let on_compile: OnCompile = Arc::new(move |compiling| -> CompileIndicator {
        let step = steps.begin(&compiling.to_string())?;
        Some(Box::new(step))
    });
    Compilations::reported_to(on_compile)
}

/// What takes its time, one line each.
pub(super) struct Steps {
    ui: Ui,
    lines: MultiProgress,
}

// === impl Steps ===

impl Steps {
    pub(super) fn new(ui: Ui) -> Self {
        Self { ui, lines: MultiProgress::new() }
    }

    /// Shows a step; where nobody looks it is reported at once, and there is nothing to hold.
    pub(super) fn begin(&self, what: &str) -> Option<CompileProgress> {
        let what = text::line(what);
        if self.ui.json() {
            return None;
        }
        if !self.ui.interactive() {
            self.ui.note(&dim(what));
            return None;
        }
        let line = self.lines.add(ProgressBar::new_spinner());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
            line.set_style(style);
        }
        line.set_message(what);
        line.enable_steady_tick(MOVES_EVERY);
        Some(CompileProgress(line))
    }
}

// === impl CompileProgress ===

impl Drop for CompileProgress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
