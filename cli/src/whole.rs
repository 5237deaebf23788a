//! All of an effect that is too long to be shown at once: page by page, on a terminal screen by
//! screen. What a person did not go through to its end counts as not shown.

use std::io;

use crate::client::Client;
use moss_proto::v1;

use super::error::CliError;
use super::prompt;
use super::ui::{Ui, bold, dim};
use super::{diff, text};

/// Lines of a screen whose size is not known.
const SCREEN_LINES: usize = 24;

/// Shows all of a confirmation. Returns whether it was gone through to its end; not on a terminal it
/// always is.
pub(super) async fn show(
    ui: &Ui,
    client: &Client,
    confirmation: &v1::Confirmation,
) -> Result<bool, CliError> {
    let mut screen = Pager { ui, left: screen_lines(), is_rest_wanted: !ui.interactive() };
    let mut colors = diff::Colors::default();
    let mut change = None;
    let mut page_token = String::new();
    loop {
        let page = client.confirmation_page(&confirmation.id, &page_token, true).await?;
        for part in page.parts {
            if change.replace(part.change) != Some(part.change) {
                colors = diff::Colors::default();
                let shown = confirmation.changes.get(part.change as usize);
                let path = shown.map(|change| text::line(&change.path)).unwrap_or_default();
                if !screen.take(&bold(path)).await? {
                    return Ok(false);
                }
            }
            // A line may continue in the next part: each piece is shown on a line of its own.
            for line in part.text.split_terminator('\n') {
                if !screen.take(&colors.line(line)).await? {
                    return Ok(false);
                }
            }
        }
        // The person has come to the end of the page: it counts as shown from here on.
        client.confirmation_page(&confirmation.id, &page_token, false).await?;
        if page.next_page_token.is_empty() {
            return Ok(true);
        }
        page_token = page.next_page_token;
    }
}

/// Returns the text of all pages.
pub(super) async fn read(
    client: &Client,
    confirmation: &v1::Confirmation,
) -> Result<Vec<String>, CliError> {
    let mut texts = vec![String::new(); confirmation.changes.len()];
    let mut page_token = String::new();
    loop {
        let page = client.confirmation_page(&confirmation.id, &page_token, false).await?;
        for part in page.parts {
            if let Some(text) = texts.get_mut(part.change as usize) {
                text.push_str(&part.text);
            }
        }
        if page.next_page_token.is_empty() {
            return Ok(texts);
        }
        page_token = page.next_page_token;
    }
}

fn screen_lines() -> usize {
    let size = rustix::termios::tcgetwinsize(io::stderr());
    size.map_or(SCREEN_LINES, |size| usize::from(size.ws_row)).max(4) - 2
}

/// What is shown at once.
struct Pager<'a> {
    ui: &'a Ui,
    left: usize,
    is_rest_wanted: bool,
}

// === impl Pager ===

impl Pager<'_> {
    /// Shows a line; asks first where the screen is full. Returns whether to continue.
    async fn take(&mut self, line: &str) -> io::Result<bool> {
        if self.left == 0 && !self.is_rest_wanted {
            match prompt::more(self.ui).await? {
                prompt::More::Screen => self.left = screen_lines(),
                prompt::More::Rest => self.is_rest_wanted = true,
                prompt::More::Nothing => {
                    self.ui.note(&dim(self.ui.wording().prompt.rest_not_shown));
                    return Ok(false);
                }
            }
        }
        self.left = self.left.saturating_sub(1);
        match self.ui.interactive() {
            true => self.ui.note(&format!("{line}\n")),
            false => self.ui.print(line)?,
        }
        Ok(true)
    }
}
