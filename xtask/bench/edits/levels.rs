//! Edits whose locations are found at every level, in files of two sizes.

use moss_sdk::edit::MatchLevel;

/// What the baseline does not find.
pub(super) const ABSENT: &str = "§ nowhere §";

/// The lines that edits are about, in the middle of the file.
const REGION: &str = "\
fn weigh(circle: &Circle) -> f64 {
    let radius = circle.measure(\"edge\", 0.5);
    let weight = radius * DENSITY - offset;
    report(weight, radius);
    archive.store(weight);
    weight
}
";
/// The line that every edit changes, and what it becomes.
const OLD: &str = "report(weight, radius);";
const NEW: &str = "report(weight, radius, unit);";

/// An edit whose location is looked for.
pub(super) struct EditCase {
    pub(super) name: &'static str,
    pub(super) text: String,
    pub(super) search: String,
    pub(super) replace: String,
    pub(super) wanted: Wanted,
    /// What is wished for.
    pub(super) target: Option<&'static str>,
}

/// Where the text is to be found.
#[derive(Debug, Clone, Copy)]
pub(super) enum Wanted {
    Level(MatchLevel),
    Absent,
}

/// How a search differs from the file, and at which level it is found.
type SearchCase = ([&'static str; 2], fn() -> String, Wanted);

const SEARCHES: &[SearchCase] = &[
    (
        ["exact, 2,000 lines", "exact, 20,000 lines"],
        || REGION.to_owned(),
        Wanted::Level(MatchLevel::Exact),
    ),
    (
        ["line_trimmed, 2,000 lines", "line_trimmed, 20,000 lines"],
        || REGION.replace(";\n", ";  \n"),
        Wanted::Level(MatchLevel::LineTrimmed),
    ),
    (
        ["whitespace_normalized, 2,000 lines", "whitespace_normalized, 20,000 lines"],
        || REGION.replace(" * ", "  *  "),
        Wanted::Level(MatchLevel::WhitespaceNormalized),
    ),
    (
        ["indent_flexible, 2,000 lines", "indent_flexible, 20,000 lines"],
        || REGION.replace("offset;\n", "offset;\n\n"),
        Wanted::Level(MatchLevel::IndentFlexible),
    ),
    (
        ["escape_normalized, 2,000 lines", "escape_normalized, 20,000 lines"],
        || REGION.replace('"', "\\\""),
        Wanted::Level(MatchLevel::EscapeNormalized),
    ),
    (
        ["trimmed_boundary, 2,000 lines", "trimmed_boundary, 20,000 lines"],
        || format!("\n\n\n{REGION}\n\n\n"),
        Wanted::Level(MatchLevel::TrimmedBoundary),
    ),
    (
        ["unicode_normalized, 2,000 lines", "unicode_normalized, 20,000 lines"],
        || REGION.replace("\"edge\"", "\u{201c}edge\u{201d}"),
        Wanted::Level(MatchLevel::UnicodeNormalized),
    ),
    (
        ["block_anchor, 2,000 lines", "block_anchor, 20,000 lines"],
        || REGION.replace("DENSITY - offset", "DENSITY - margin"),
        Wanted::Level(MatchLevel::BlockAnchor),
    ),
    (
        ["context_aware, 2,000 lines", "context_aware, 20,000 lines"],
        || REGION.replace("fn weigh(circle: &Circle)", "fn weigh(circle: Circle)"),
        Wanted::Level(MatchLevel::ContextAware),
    ),
    (
        ["not found, 2,000 lines", "not found, 20,000 lines"],
        || {
            let unlike = |line: &str| format!("{}\n", line.chars().rev().collect::<String>());
            let lines: String = REGION.lines().map(unlike).collect();
            lines.replace(&OLD.chars().rev().collect::<String>(), OLD)
        },
        Wanted::Absent,
    ),
];

pub(super) fn cases() -> Vec<EditCase> {
    let large = text(|_, bytes| bytes <= 1 << 20);
    let mut cases = vec![case(
        "exact, 1 MiB",
        large,
        REGION.to_owned(),
        Wanted::Level(MatchLevel::Exact),
        Some("< 1 ms"),
    )];
    for (size, lines) in [2_000, 20_000].into_iter().enumerate() {
        for (names, search, wanted) in SEARCHES {
            let text = text(|count, _| count <= lines);
            cases.push(case(names[size], text, search(), *wanted, Some("< 50 ms")));
        }
    }
    cases
}

fn case(
    name: &'static str,
    text: String,
    search: String,
    wanted: Wanted,
    target: Option<&'static str>,
) -> EditCase {
    let replace = search.replace(OLD, NEW);
    EditCase { name, text, search, replace, wanted, target }
}

/// A source file as sources are, many of its lines alike, with the region in its middle; it grows
/// as long as `fits` takes its lines and bytes.
fn text(fits: impl Fn(usize, usize) -> bool) -> String {
    let mut functions: Vec<String> = Vec::new();
    let (mut lines, mut bytes) = (REGION.lines().count() + 1, REGION.len() + 1);
    loop {
        let number = functions.len();
        let mut function = format!("fn step_{number}(state: &mut State) {{\n");
        for line in 0..7 {
            function.push_str(&format!(
                "    let value_{line} = state.compute(\"part {line}\", {number});\n"
            ));
        }
        function.push_str("}\n\n");
        lines += function.lines().count();
        bytes += function.len();
        if !fits(lines, bytes) {
            break;
        }
        functions.push(function);
    }
    functions.insert(functions.len() / 2, format!("{REGION}\n"));
    functions.concat()
}
