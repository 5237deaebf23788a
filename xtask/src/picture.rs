//! Pictures as SVG: a card with text, lines and boxes on it, the same bytes for the same content.
//!
//! A card has its own background, so that it can be read on a light page and on a dark one; its
//! colours follow what the reader's system prefers. It knows nothing of what it shows.

use std::fmt::{Display, Write as _};

/// A colour that follows the reader's system: its name, what it is on light and on dark.
type Colour = (&'static str, &'static str, &'static str);

const COLOURS: &[Colour] = &[
    ("card", "#ffffff", "#0d1117"),
    ("edge", "#d0d7de", "#30363d"),
    ("ink", "#1f2328", "#e6edf3"),
    ("faint", "#59636e", "#9198a1"),
    ("blue", "#0969da", "#58a6ff"),
    ("orange", "#bc4c00", "#f0883e"),
    ("box", "#ddf4ff", "#121d2f"),
    ("boxedge", "#54aeff", "#1f6feb"),
];
/// What every card has.
const STYLE: &str = "\
text{font-family:ui-sans-serif,system-ui,\"DejaVu Sans\",sans-serif;font-size:12px}
text{fill:$ink}
.card{fill:$card;stroke:$edge}
";
/// How round the corners of cards and boxes are.
const RADIUS: u32 = 6;

/// A picture that is being drawn.
#[derive(Debug)]
pub struct Picture {
    width: u32,
    height: u32,
    title: String,
    style: String,
    body: String,
}

/// Where something begins, and how large it is.
#[derive(Debug, Clone, Copy)]
pub struct Rect {
    /// Distance from the left edge of the picture.
    pub x: f64,
    /// Distance from its upper edge.
    pub y: f64,
    /// How far it goes to the right.
    pub width: f64,
    /// How far it goes down.
    pub height: f64,
}

// === impl Picture ===

impl Picture {
    /// Begins a card of this size in pixels; the title is for those who cannot see it.
    pub fn new(title: &str, width: u32, height: u32) -> Self {
        let mut picture = Self {
            width,
            height,
            title: title.to_owned(),
            style: String::new(),
            body: String::new(),
        };
        picture.style(STYLE);
        let (width, height) = (f64::from(width) - 1.0, f64::from(height) - 1.0);
        picture.rounded("card", Rect { x: 0.5, y: 0.5, width, height });
        picture
    }

    /// Adds rules of CSS, one on a line; `$ink` and its like are the colours of the card.
    pub fn style(&mut self, rules: &str) {
        self.style.push_str(rules);
    }

    /// Draws a box with round corners.
    pub fn rounded(&mut self, class: &str, Rect { x, y, width, height }: Rect) {
        let size = format!("width=\"{}\" height=\"{}\"", Number(width), Number(height));
        self.element(&format!(
            "<rect class=\"{class}\" x=\"{}\" y=\"{}\" {size} rx=\"{RADIUS}\"/>",
            Number(x),
            Number(y)
        ));
    }

    /// Draws a line through points.
    pub fn path(&mut self, class: &str, points: &[(f64, f64)]) {
        let points: Vec<String> =
            points.iter().map(|(x, y)| format!("{},{}", Number(*x), Number(*y))).collect();
        self.element(&format!(
            "<polyline class=\"{class}\" fill=\"none\" points=\"{}\"/>",
            points.join(" ")
        ));
    }

    /// Draws a dot of fixed size around a point.
    pub fn dot(&mut self, class: &str, (x, y): (f64, f64)) {
        self.element(&format!(
            "<circle class=\"{class}\" cx=\"{}\" cy=\"{}\" r=\"3.5\"/>",
            Number(x),
            Number(y)
        ));
    }

    /// Writes a text whose base line begins at a point, or where its class anchors it.
    pub fn text(&mut self, class: &str, (x, y): (f64, f64), text: &str) {
        self.element(&format!(
            "<text class=\"{class}\" x=\"{}\" y=\"{}\">{}</text>",
            Number(x),
            Number(y),
            escaped(text)
        ));
    }

    /// Adds an element as it is.
    pub fn element(&mut self, element: &str) {
        self.body.push_str(element);
        self.body.push('\n');
    }

    /// Returns the SVG file, with colours for light and dark backgrounds.
    pub fn finish(self) -> String {
        let Self { width, height, title, style, body } = self;
        let light = coloured(&style, |(_, light, _)| light);
        let dark: String = style.lines().filter(|rule| rule.contains('$')).collect();
        let dark = coloured(&dark, |(_, _, dark)| dark);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\">\n<title>{}</title>\n\
             <style>\n{light}@media (prefers-color-scheme:dark){{{dark}}}\n</style>\n\
             {body}</svg>\n",
            escaped(&title)
        )
    }
}

/// Puts colours in place of their names. Renderers need no variables for that.
fn coloured(rules: &str, of: fn(Colour) -> &'static str) -> String {
    let put = |rules: String, colour: &Colour| {
        let name = format!("${}", colour.0);
        // A name ends where the declaration does.
        let ends = [";", "}"].map(|end| (format!("{name}{end}"), format!("{}{end}", of(*colour))));
        ends.iter().fold(rules, |rules, (from, to)| rules.replace(from, to))
    };
    COLOURS.iter().fold(rules.to_owned(), put)
}

/// Returns a text as it stands between tags.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            // XML has no other control characters.
            c if c.is_control() && c != '\n' => {
                let _ = write!(escaped, "\u{fffd}");
            }
            c => escaped.push(c),
        }
    }
    escaped
}

/// A coordinate, with one digit behind the point where it needs one.
struct Number(f64);

impl Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let tenths = (self.0 * 10.0).round() / 10.0;
        if tenths.fract() == 0.0 { write!(f, "{tenths:.0}") } else { write!(f, "{tenths:.1}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_a_card_with_its_content_escaped() {
        let mut picture = Picture::new("a < b", 20, 10);
        picture.text("name", (1.0, 2.25), "x & \u{7}");
        picture.dot("dot", (3.0, 4.0));
        let svg = picture.finish();
        assert!(svg.contains("<title>a &lt; b</title>"));
        assert!(svg.contains("<text class=\"name\" x=\"1\" y=\"2.3\">x &amp; \u{fffd}</text>"));
        assert!(svg.contains("<circle class=\"dot\" cx=\"3\" cy=\"4\" r=\"3.5\"/>"));
        assert!(svg.contains(".card{fill:#ffffff;stroke:#d0d7de}\n"));
        assert!(svg.contains("dark){text{fill:#e6edf3}.card{fill:#0d1117;stroke:#30363d}}\n"));
        assert!(svg.contains("width=\"19\" height=\"9\" rx=\"6\""));
    }
}
