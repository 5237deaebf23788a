//! `read_file`: lines of a text file, numbered; an image as it is.

use std::num::NonZeroU64;

use moss_matching::lines::{self, Gutters, LineRange};
use moss_sdk::content::{ContentImage, ContentPart};
use moss_sdk::context::Context;
use moss_sdk::file::{FileLines, LineEnding, LineWindow, Lines};
use moss_sdk::{ContentHash, Effect, ErrorCode, RelPath, Tool, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most lines of one result.
const LINES_MAX: usize = 2_000;
/// Most bytes of text of one result.
const BYTES_MAX: usize = 48_000;
/// Most bytes of one line; the rest of the line is cut.
const LINE_BYTES_MAX: usize = 2_000;
/// What most lines need beside their text: a number, a tab, a line feed.
const GUTTER_BYTES: usize = 8;

/// Reads a text file, or a range of its lines. Each line of `content` is shown as its number,
/// right-aligned to six columns, a tab, and the line; the number and the tab are not part of the
/// file.
///
/// One call returns up to 2,000 lines and 48,000 bytes; if there is more, `next_line` says where
/// to continue. Lines longer than 2,000 bytes are cut, with a mark at the cut. Text files of any size
/// can be read. An image (PNG, JPEG, GIF, WebP, up to 3 MiB) is shown as it is, other binary files are
/// refused. Read a file before you change it by line numbers. To see which files there are, use
/// list_directory.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ReadFile {
    /// Path of the file, relative to the workspace root, such as `src/main.rs`; an absolute path
    /// inside the workspace is accepted.
    path: String,
    /// First line to read, counted from 1. Default: 1.
    start_line: Option<NonZeroU64>,
    /// Last line to read, counted from 1, included; at least `startLine`. Default: the last line
    /// of the file. An end past the end of the file means the last line.
    end_line: Option<NonZeroU64>,
}

/// Lines of a text file, or what an image is.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ReadFileOutput {
    /// The file, relative to the workspace root.
    path: String,
    /// The lines, each as its number right-aligned to six columns, a tab, and the text; joined by
    /// line feeds.
    content: String,
    /// The first line in `content`; 0 if it is empty.
    start_line: u64,
    /// The last line in `content`; 0 if it is empty.
    end_line: u64,
    /// How many lines the file has.
    total_lines: u64,
    /// The size of the file in bytes.
    size_bytes: u64,
    /// The hash of the file's content.
    hash: ContentHash,
    /// The encoding of the file; `content` is decoded. `binary` for an image.
    encoding: String,
    /// Whether the file starts with a byte-order mark.
    bom: bool,
    /// How the lines of the file end.
    line_ending: LineEnding,
    /// Whether the last line ends with a line end.
    final_newline: bool,
    /// Whether this is what the user has in an editor and has not saved; it is what edits change.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unsaved: bool,
    /// Whether wanted lines are missing from `content` because of a bound.
    truncated: bool,
    /// The `startLine` with which to continue, where `content` is truncated.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_line: Option<u64>,
    /// The numbers of the lines that were cut because they are too long.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    cut_lines: Vec<u64>,
    /// The media type of an image, such as `image/png`, which is shown beside this.
    #[serde(skip_serializing_if = "Option::is_none")]
    media_type: Option<String>,
    /// What else there is to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

impl Tool for ReadFile {
    const NAME: &'static str = "read_file";
    const TITLE: &'static str = "Read file";
    const EFFECT: Effect = Effect::Read;
    type Output = ReadFileOutput;

    async fn run(self, cx: Context) -> Result<ReadFileOutput, ToolError> {
        let start = self.start_line.unwrap_or(NonZeroU64::MIN);
        let range = LineRange::new(start, self.end_line.unwrap_or(NonZeroU64::MAX))?;
        let path = cx.path(&self.path)?;
        let window = LineWindow {
            start: start.get(),
            lines_max: (range.last - range.first).saturating_add(1).min(LINES_MAX),
            bytes_max: BYTES_MAX,
            line_bytes_max: LINE_BYTES_MAX,
        };
        let file = match cx.read_lines(&path, window).await {
            Err(error) if matches!(error.code, ErrorCode::Binary | ErrorCode::Encoding) => {
                return image(&path, &cx, error).await;
            }
            file => file?,
        };
        if start.get() > file.lines_total.max(1) {
            return Err(lines::out_of_range(&path, start.get(), file.lines_total));
        }
        cx.note_read(&path, file.hash);
        Ok(output(&path, start.get(), self.end_line.map(NonZeroU64::get), file))
    }
}

fn output(path: &RelPath, start: u64, wanted_end: Option<u64>, file: FileLines) -> ReadFileOutput {
    let numbers = || start..;
    let end = start + file.lines.len() as u64 - 1;
    let empty = file.lines.is_empty();
    let wanted_end = wanted_end.unwrap_or(u64::MAX).min(file.lines_total);
    let next_line = (end < wanted_end).then_some(end + 1);
    ReadFileOutput {
        path: path.to_string(),
        content: shown(start, &file.lines),
        start_line: if empty { 0 } else { start },
        end_line: if empty { 0 } else { end },
        total_lines: file.lines_total,
        size_bytes: file.size_bytes,
        hash: file.hash,
        encoding: file.form.encoding,
        bom: file.form.bom,
        line_ending: file.form.line_ending,
        final_newline: file.form.final_newline,
        unsaved: file.unsaved,
        truncated: next_line.is_some(),
        next_line,
        cut_lines: numbers()
            .zip(file.lines.iter())
            .filter(|(_, line)| line.bytes_cut > 0)
            .map(|(number, _)| number)
            .collect(),
        media_type: None,
        note: note(empty, next_line, file.lines_total),
    }
}

/// Shows a file that is no text, where it is an image; otherwise refuses it with the error.
async fn image(
    path: &RelPath,
    cx: &Context,
    refused: ToolError,
) -> Result<ReadFileOutput, ToolError> {
    let Some(file) = cx.read_bytes(path, ContentImage::BYTES_MAX as u64).await? else {
        return Err(refused.hint("an image is shown up to 3 MiB"));
    };
    let (hash, size_bytes) = (file.hash, file.bytes.len() as u64);
    let Ok(image) = ContentImage::new(file.bytes) else { return Err(refused) };
    let media_type = image.kind().media_type();
    let (width, height) = image.size_px();
    cx.add_content(ContentPart::Image(image))?;
    cx.note_read(path, hash);
    Ok(ReadFileOutput {
        path: path.to_string(),
        content: String::new(),
        start_line: 0,
        end_line: 0,
        total_lines: 0,
        size_bytes,
        hash,
        encoding: "binary".to_owned(),
        bom: false,
        line_ending: LineEnding::None,
        final_newline: false,
        unsaved: false,
        truncated: false,
        next_line: None,
        cut_lines: Vec::new(),
        media_type: Some(media_type.to_owned()),
        note: Some(format!("the image, {width} x {height} pixels, is shown beside this")),
    })
}

/// Shows lines with their numbers.
fn shown(start: u64, file: &Lines) -> String {
    let mut text = Vec::with_capacity(file.text_bytes() + file.len() * GUTTER_BYTES);
    let mut gutters = Gutters::starting_at(start);
    for line in file.iter() {
        if !text.is_empty() {
            text.push(b'\n');
        }
        gutters.push(&mut text);
        text.extend_from_slice(line.text.as_bytes());
        if line.bytes_cut > 0 {
            text.extend_from_slice(format!("… [{} more bytes cut]", line.bytes_cut).as_bytes());
        }
    }
    String::from_utf8(text).expect("it is made of texts")
}

fn note(empty: bool, next_line: Option<u64>, lines_total: u64) -> Option<String> {
    if empty {
        return Some("the file is empty: it has 0 lines".to_owned());
    }
    next_line
        .map(|next| format!("the file has {lines_total} lines: continue with startLine = {next}"))
}

#[cfg(test)]
mod tests;
