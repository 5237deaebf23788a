//! Lines of a file of any size: one at a time, each of bounded length.

use std::io::{BufRead as _, BufReader, Read};
use std::path::Path;

use moss_model_data::UnreadableLine;
use moss_proto::v1;
use moss_workspace::named;

use super::super::error::CliError;
use super::super::progress::Meter;
use super::super::ui::Ui;
use super::registry::unreadable;

/// Stands for standard input in place of a file.
const STDIN: &str = "-";
/// The longest line that is read, in bytes.
const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// How much is read at once.
const BUFFER_BYTES: usize = 256 * 1024;
/// After how many lines the progress is reported.
const LINES_PER_UPDATE: u64 = 2048;

/// The lines of a file.
pub(super) struct LineReader<'u> {
    reader: BufReader<Box<dyn Read>>,
    buffer: Vec<u8>,
    done: u64,
    total: Option<u64>,
    count: u64,
    meter: Meter<'u>,
    message: String,
}

// === impl LineReader ===

impl<'u> LineReader<'u> {
    /// Opens a file; `-` is standard input.
    pub(super) fn open(file: &Path, ui: &'u Ui) -> Result<Self, CliError> {
        if file == Path::new(STDIN) {
            return Ok(Self::of(Box::new(std::io::stdin()), None, "standard input".to_owned(), ui));
        }
        let opened = named::open(file).map_err(unreadable)?;
        let total = opened.size_bytes();
        Ok(Self::of(Box::new(opened), total, file.display().to_string(), ui))
    }

    fn of(reader: Box<dyn Read>, total: Option<u64>, message: String, ui: &'u Ui) -> Self {
        Self {
            total,
            reader: BufReader::with_capacity(BUFFER_BYTES, reader),
            buffer: Vec::new(),
            done: 0,
            count: 0,
            meter: Meter::new(ui),
            message,
        }
    }

    /// Hands every line to a function, in order, or why it is no text.
    pub(super) fn each(
        mut self,
        mut take: impl FnMut(Result<&str, UnreadableLine>) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        while self.fill()? {
            self.show_progress();
            if self.buffer.len() > LINE_BYTES_MAX {
                take(Err(UnreadableLine::TooLong { bytes_max: LINE_BYTES_MAX }))?;
                continue;
            }
            let text = std::str::from_utf8(&self.buffer);
            take(text.map_err(|error| UnreadableLine::NotUtf8 { byte: error.valid_up_to() }))?;
        }
        self.meter.clear();
        Ok(())
    }

    /// Reads the next line without its end; false at the end of the file.
    fn fill(&mut self) -> std::io::Result<bool> {
        self.buffer.clear();
        let most = LINE_BYTES_MAX as u64 + 1;
        let mut read = (&mut self.reader).take(most).read_until(b'\n', &mut self.buffer)?;
        if read == 0 {
            return Ok(false);
        }
        if self.buffer.last() == Some(&b'\n') {
            self.buffer.pop();
        } else if self.buffer.len() > LINE_BYTES_MAX {
            read += self.reader.skip_until(b'\n')?;
        }
        self.done += read as u64;
        Ok(true)
    }

    fn show_progress(&mut self) {
        self.count += 1;
        if self.count.is_multiple_of(LINES_PER_UPDATE) {
            self.meter.show(&v1::CallProgress {
                message: self.message.clone(),
                done: self.done,
                total: self.total,
            });
        }
    }
}
