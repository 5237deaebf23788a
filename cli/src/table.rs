//! Tables on the terminal: columns as wide as what stands in them, up to a bound.

use super::text;
use super::ui::bold;

/// Widest that a cell makes the others of its column, in characters: a longer one stands out.
const WIDTH_MAX: usize = 200;

/// Lays rows out under a heading. Cells are made harmless here.
pub(super) fn render<const N: usize>(heading: [&str; N], rows: &[[String; N]]) -> String {
    let rows: Vec<[String; N]> =
        rows.iter().map(|row| row.each_ref().map(|cell| text::line(cell))).collect();
    let mut widths = heading.map(|cell| cell.chars().count());
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count()).min(WIDTH_MAX);
        }
    }
    let mut table = bold(lay(heading, widths)) + "\n";
    for row in &rows {
        table.push_str(&lay(row.each_ref().map(String::as_str), widths));
        table.push('\n');
    }
    table
}

fn lay<const N: usize>(cells: [&str; N], widths: [usize; N]) -> String {
    let padded = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
    padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [["a".to_owned(), "long\n".to_owned()], ["longer".to_owned(), String::new()]];
        let plain = anstream::adapter::strip_str(&render(["X", "Y"], &rows)).to_string();
        assert_eq!(plain, "X       Y\na       long\\n\nlonger\n");
    }

    #[test]
    fn a_cell_of_any_length_is_shown_whole_and_widens_no_other() {
        let long = "x".repeat(usize::from(u16::MAX) + 1);
        let rows = [[long.clone(), "y".to_owned()], ["a".to_owned(), long.clone()]];
        let plain = anstream::adapter::strip_str(&render(["X", "Y"], &rows)).to_string();
        let lines: Vec<_> = plain.lines().collect();
        assert_eq!(lines[1], format!("{long}  y"));
        assert_eq!(lines[2], format!("a{}{long}", " ".repeat(WIDTH_MAX + 1)));
    }
}
