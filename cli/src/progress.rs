//! How far a call is: a bar where somebody looks, elsewhere a line now and then.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use moss_proto::v1;

use super::text;
use super::ui::{Ui, dim};

/// Where nobody looks, a long call says so often how far it is.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// Prints the progress of a call.
pub(super) struct Meter<'a> {
    ui: &'a Ui,
    /// While it is shown.
    bar: Option<ProgressBar>,
    /// When the last line was printed, or the call began.
    printed_at: Instant,
}

// === impl Meter ===

impl<'a> Meter<'a> {
    pub(super) fn new(ui: &'a Ui) -> Self {
        Self { ui, bar: None, printed_at: Instant::now() }
    }

    pub(super) fn show(&mut self, progress: &v1::CallProgress) {
        if !self.ui.interactive() {
            if self.printed_at.elapsed() >= LINE_EVERY {
                self.printed_at = Instant::now();
                self.ui.note(&dim(line(progress)));
            }
            return;
        }
        let bar = self.bar.get_or_insert_with(|| ProgressBar::new(0));
        let template = match progress.total {
            Some(_) => "{msg} {bar:30} {percent}%",
            // A step without numbers.
            None if progress.done == 0 => "{msg}",
            None => "{msg} {human_pos}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_message(text::line(&progress.message));
        bar.set_length(progress.total.unwrap_or(progress.done));
        bar.set_position(progress.done);
    }

    /// Takes the bar away, before something else is shown.
    pub(super) fn clear(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

fn line(progress: &v1::CallProgress) -> String {
    let message = text::line(&progress.message);
    match progress.total.filter(|total| *total > 0) {
        Some(total) => {
            let percent = u128::from(progress.done) * 100 / u128::from(total);
            format!("{message} {}/{total} ({percent}%)", progress.done)
        }
        None if progress.done == 0 => message,
        None => format!("{message} {}", progress.done),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_without_an_end_reports_how_far_it_is() {
        let mut progress = v1::CallProgress { message: "files\r".into(), done: 3, total: None };
        assert_eq!(line(&progress), "files\\r 3");
        progress.done = 0;
        assert_eq!(line(&progress), "files\\r");
        (progress.done, progress.total) = (3, Some(9));
        assert_eq!(line(&progress), "files\\r 3/9 (33%)");
    }
}
