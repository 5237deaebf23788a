//! Plots: points of rows as lines on a card, with axes that fit them.

use moss_xtask::picture::Picture;
use moss_xtask::rows::{Row, Unit, grouped};

use crate::results::All;
use crate::tables::Plot;

const WIDTH: u32 = 640;
const HEIGHT: u32 = 300;
/// The corners of the field between the axes.
const LEFT: f64 = 74.0;
const RIGHT: f64 = 616.0;
const TOP: f64 = 62.0;
const BOTTOM: f64 = 250.0;
/// From here on the largest value is shown so many times as high as the smallest by powers of ten.
const LOGARITHMIC_FROM: f64 = 16.0;
/// Most lines across the field.
const GRID_LINES_MAX: f64 = 5.0;
const STYLE: &str = "\
.title{font-size:14px;font-weight:600}
.tick,.axis{fill:$faint}
.tick{font-size:11px}
.right{text-anchor:end}
.middle{text-anchor:middle}
.grid{stroke:$edge;stroke-width:1}
.own{stroke:$blue;stroke-width:2}
.p99{stroke:$blue;stroke-width:1.5;stroke-dasharray:5 4}
.bare{stroke:$orange;stroke-width:2}
circle.own{fill:$blue;stroke:none}
circle.bare{fill:$orange;stroke:none}
";

/// A line of a plot: its class, its name, its values.
struct PlotLine {
    class: &'static str,
    name: &'static str,
    values: Vec<f64>,
}

/// From values to where they stand.
#[derive(Debug, Clone, Copy)]
struct Axis {
    /// The values at both ends.
    ends: (f64, f64),
    /// The positions of the two ends in the picture.
    at: (f64, f64),
    is_logarithmic: bool,
}

/// The rows that have points of a plot, from left to right.
pub(crate) fn points<'a>(plot: &Plot, rows: &'a [Row]) -> Vec<(f64, &'a Row)> {
    let of_plot = |row: &'a Row| {
        let point = row.point.as_ref().filter(|point| point.plot == plot.name)?;
        Some((point.x as f64, row))
    };
    let mut points: Vec<_> = rows.iter().filter_map(of_plot).collect();
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    points
}

/// Draws a plot; none where there is nothing to connect.
pub(crate) fn drawn(plot: &Plot, results: &All) -> Option<String> {
    let points = points(plot, &results.get(plot.table)?.rows);
    let (first, last) = (points.first()?, points.last()?);
    if points.len() < 2 {
        return None;
    }
    let unit = first.1.unit;
    let lines = lines(plot, &points);
    let values = || lines.iter().flat_map(|line| line.values.iter().copied());
    let (least, most) = (values().fold(f64::MAX, f64::min), values().fold(0.0, f64::max));
    let across = Axis::new((first.0, last.0), (LEFT + 12.0, RIGHT - 12.0));
    let up = Axis::new((least, most), (BOTTOM, TOP)).rounded();

    let mut picture = Picture::new(plot.title, WIDTH, HEIGHT);
    picture.style(STYLE);
    picture.text("title", (20.0, 28.0), plot.title);
    for tick in up.ticks() {
        let y = up.place(tick);
        picture.path("grid", &[(LEFT, y), (RIGHT, y)]);
        picture.text("tick right", (LEFT - 8.0, y + 4.0), &tick_text(unit, tick));
    }
    for (x, _) in &points {
        let text = grouped(*x as u64);
        picture.text("tick middle", (across.place(*x), BOTTOM + 18.0), &text);
    }
    let label = if across.is_logarithmic { ", on a logarithmic scale" } else { "" };
    let label = format!("{}{label}", plot.grows);
    picture.text("axis middle", ((LEFT + RIGHT) / 2.0, BOTTOM + 38.0), &label);
    for line in &lines {
        let values = points.iter().zip(&line.values);
        let path: Vec<_> =
            values.map(|((x, _), value)| (across.place(*x), up.place(*value))).collect();
        picture.path(line.class, &path);
        if line.class != "p99" {
            path.iter().for_each(|point| picture.dot(line.class, *point));
        }
    }
    legend(&mut picture, &lines);
    Some(picture.finish())
}

/// The lines of a plot; one that would have a hole is left out.
fn lines(plot: &Plot, points: &[(f64, &Row)]) -> Vec<PlotLine> {
    let line = |class, name, value: &dyn Fn(&Row) -> Option<u64>| {
        let values: Option<Vec<f64>> =
            points.iter().map(|(_, row)| value(row).map(|value| value as f64)).collect();
        values.map(|values| PlotLine { class, name, values })
    };
    let bare = |row: &Row| row.baseline.filter(|_| plot.has_baseline).map(|spread| spread.median);
    let lines = [
        line("p99", "moss, p99", &|row| row.value.p99),
        line("bare", "bare", &bare),
        line("own", "moss", &|row| Some(row.value.median)),
    ];
    lines.into_iter().flatten().collect()
}

fn legend(picture: &mut Picture, lines: &[PlotLine]) {
    const STEP: f64 = 92.0;
    let mut x = RIGHT - STEP * lines.len() as f64;
    for line in lines.iter().rev() {
        picture.path(line.class, &[(x, 48.0), (x + 22.0, 48.0)]);
        picture.text("tick", (x + 28.0, 52.0), line.name);
        x += STEP;
    }
}

/// A value beside its line: round, so without what a table has behind the point.
fn tick_text(unit: Unit, value: f64) -> String {
    let shown = unit.shown(value as u64);
    let Some((number, name)) = shown.split_once(' ') else { return shown };
    let number = if number.contains('.') {
        number.trim_end_matches('0').trim_end_matches('.')
    } else {
        number
    };
    format!("{number} {name}")
}

// === impl Axis ===

impl Axis {
    fn new(ends: (f64, f64), at: (f64, f64)) -> Self {
        let is_logarithmic = ends.0 > 0.0 && ends.1 / ends.0 >= LOGARITHMIC_FROM;
        Self { ends, at, is_logarithmic }
    }

    /// Lets the ends be round numbers: powers of ten, or zero and a multiple of the step.
    fn rounded(mut self) -> Self {
        self.ends = if self.is_logarithmic {
            let down = 10_f64.powf(self.ends.0.log10().floor());
            (down, 10_f64.powf(self.ends.1.log10().ceil()))
        } else {
            let step = step(self.ends.1);
            (0.0, (self.ends.1 / step).ceil() * step)
        };
        self
    }

    fn place(&self, value: f64) -> f64 {
        let scaled = |value: f64| if self.is_logarithmic { value.log10() } else { value };
        let (low, high) = (scaled(self.ends.0), scaled(self.ends.1));
        let part = if high > low { (scaled(value) - low) / (high - low) } else { 0.5 };
        self.at.0 + part * (self.at.1 - self.at.0)
    }

    fn ticks(&self) -> Vec<f64> {
        let (low, high) = self.ends;
        if self.is_logarithmic {
            let powers = low.log10().round() as i32..=high.log10().round() as i32;
            return powers.map(|power| 10_f64.powi(power)).collect();
        }
        let step = step(high);
        (0..=(high / step).round() as u32).map(|count| f64::from(count) * step).collect()
    }
}

/// The smallest of 1, 2, 5, 10, … that crosses so much in few steps.
fn step(most: f64) -> f64 {
    let rough = (most / GRID_LINES_MAX).max(f64::MIN_POSITIVE);
    let power = 10_f64.powf(rough.log10().floor());
    let factors = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= rough * 0.999);
    factors.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_are_round_and_logarithmic_where_much_grows() {
        let up = Axis::new((1.2e6, 2.3e6), (100.0, 0.0)).rounded();
        assert_eq!(up.ticks(), [0.0, 5e5, 1e6, 1.5e6, 2e6, 2.5e6]);
        assert_eq!((up.place(0.0), up.place(2.5e6)), (100.0, 0.0));
        let up = Axis::new((1.5e5, 4e7), (100.0, 0.0)).rounded();
        assert_eq!(up.ticks(), [1e5, 1e6, 1e7, 1e8]);
        assert_eq!(tick_text(Unit::Nanoseconds, 1e6), "1 ms");
        assert_eq!(tick_text(Unit::Nanoseconds, 5e5), "500 µs");
        assert_eq!(tick_text(Unit::PerSecond, 5e3), "5,000/s");
    }
}
