//! What an edit costs: finding its location, at every level, against a plain scan of the same text;
//! and committing it, against what any durable replacement of a file takes.
//!
//! Both are measured in this process, in turns with their baselines.

mod commit;
mod history;
mod levels;

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use moss_matching::{Occurrence, locate};
use moss_xtask::rows::{Row, Spread};

use self::levels::{EditCase, Wanted};

/// Times that each location is looked for.
const LOOKS: usize = 40;
/// Times before any is measured.
const WARM_UP: usize = 3;

/// Measures everything; `directory` is on the disk that is meant.
pub(crate) fn measure(directory: &Path) -> Result<Vec<Row>> {
    eprintln!("measuring; this takes about a minute");
    let mut rows = Vec::new();
    for case in levels::cases() {
        rows.push(place(&case)?);
    }
    rows.extend(commit::measure(directory)?);
    rows.extend(history::measure(directory)?);
    Ok(rows)
}

/// Looks for the location of one edit.
fn place(case: &EditCase) -> Result<Row> {
    let EditCase { name, text, search, replace, wanted, target } = case;
    let look = || locate(black_box(text), black_box(search), black_box(replace), Occurrence::Only);
    let is_as_wanted = match (look(), wanted) {
        (Ok(located), Wanted::Level(level)) => located.level == *level,
        (Err(_), Wanted::Absent) => true,
        _ => false,
    };
    if !is_as_wanted {
        bail!("`{name}` is not found as it should be: {wanted:?}, but {:?}", look());
    }
    // A text that is not there, so that all of it is looked at.
    let scan = || black_box(text).find(black_box(levels::ABSENT));
    let (mut looks, mut scans) = (Vec::with_capacity(LOOKS), Vec::with_capacity(LOOKS));
    for number in 0..WARM_UP + LOOKS {
        let (look, scan) = (timed(look), timed(scan));
        if number >= WARM_UP {
            looks.push(look);
            scans.push(scan);
        }
    }
    let row = Row::timed(*name, looks).against(Spread::of(scans));
    Ok(match target {
        Some(target) => row.wanted(target),
        None => row,
    })
}

fn timed<T>(work: impl FnOnce() -> T) -> Duration {
    let started = Instant::now();
    let value = work();
    let duration = started.elapsed();
    drop(black_box(value));
    duration
}
