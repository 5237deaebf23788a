//! The layers of the house, and their picture in `docs/`: drawn from the table below and nothing else.

use std::fs;

use moss_xtask::picture::{Picture, Rect};

use crate::hold;
use crate::manifests::{CRATES, CrateFacts, crates};
use crate::tree::root;

/// A crate: its directory, and what it is in a few words.
type Room = (&'static str, &'static str);

/// The layers, from the highest to the lowest: what each is, and its crates.
const LAYERS: &[(&str, &[Room])] = &[
    ("the command line", &[("cli", "the binary moss: commands")]),
    ("fronts", &[("grpc", "services, listeners, TLS"), ("mcp", "clients that speak MCP")]),
    (
        "the daemon",
        &[
            ("daemon", "a call's life, its effects, state"),
            ("crates/editors", "what people see unsaved"),
            ("crates/live-index", "what is there, as it is now"),
            ("crates/config", "every limit and its default"),
        ],
    ),
    (
        "tools",
        &[
            ("builtin-tools", "native tools"),
            ("crates/catalog", "all tools, ready to be called"),
            ("crates/plugins", "lists, loading, registration"),
            ("crates/network", "the only door to the network"),
            ("crates/embeddings", "vectors that an endpoint makes"),
        ],
    ),
    (
        "doors and decisions",
        &[
            ("crates/policy", "one pure function decides"),
            ("crates/commands", "reads shell commands"),
            ("crates/journal", "what happened, for good"),
            ("crates/dispatch", "calls, whatever the front"),
            ("crates/workspace", "the only door to files"),
            ("crates/index", "which files may match"),
            ("crates/sandbox", "the only door to processes"),
            ("crates/removal", "removes what commands left"),
            ("crates/plugin-list", "what lists of plugins say"),
            ("crates/plugin-host", "alone knows the WASM engine"),
            ("crates/symbols", "what source files declare"),
            ("crates/ranking", "what answers a question"),
            ("crates/checks", "tests, linters, their reports"),
            ("crates/language-servers", "asks what they know"),
            ("crates/schema", "arguments, validation"),
            ("crates/matching", "where an edit belongs"),
            ("crates/merge", "three-way merges of lines"),
            ("crates/model-bridge", "calls in model text"),
            ("crates/model-data", "data for models"),
            ("crates/client-settings", "entries in files of clients"),
        ],
    ),
    ("contracts", &[("sdk", "the contract of tools"), ("proto", "the wire format moss.v1")]),
];
/// Crates that stand beside the house: developers' and tests', and a part of one that is in it.
const OUTSIDE: [&str; 3] = ["sdk/macros", "tests", "xtask"];
const PICTURE: &str = "docs/house.svg";

const WIDTH: f64 = 900.0;
const LABEL_WIDTH: f64 = 172.0;
const ROOMS_IN_A_ROW: usize = 3;
const ROOM: (f64, f64) = (220.0, 48.0);
const GAP: f64 = 12.0;
const MARGIN: f64 = 16.0;
const STYLE: &str = "\
.layer{fill:none;stroke:$edge}
.room{fill:$box;stroke:$boxedge}
.name{font-size:13px;font-weight:600}
.role,.number{fill:$faint}
.arrow{stroke:$faint;stroke-width:1.5}
";

#[test]
fn every_crate_stands_in_one_layer() {
    let mut in_layers: Vec<&str> = LAYERS
        .iter()
        .flat_map(|(_, rooms)| rooms.iter().map(|(directory, _)| *directory))
        .collect();
    let mut listed: Vec<&str> = CRATES.iter().map(|(directory, _)| *directory).collect();
    listed.retain(|directory| !OUTSIDE.contains(directory));
    in_layers.sort_unstable();
    listed.sort_unstable();
    assert_eq!(in_layers, listed);
}

#[test]
fn no_crate_depends_on_a_higher_layer() {
    hold("layers of the picture", above(&crates()));
}

/// What crates need that stands in a higher layer than they do.
pub(crate) fn above(crates: &[CrateFacts]) -> Vec<String> {
    let layer = |one: &CrateFacts| {
        LAYERS.iter().position(|(_, rooms)| rooms.iter().any(|(room, _)| *room == one.directory))
    };
    let of = |one: &CrateFacts| {
        let needed = crates.iter().filter(|other| one.needs.contains(&other.package));
        // Those outside stand above all others.
        let own = layer(one);
        let up =
            needed.filter(|other| own.is_some() && layer(other).is_some_and(|at| Some(at) < own));
        let line = |other: &CrateFacts| {
            format!("{} depends on {}, which is above it", one.directory, other.package)
        };
        up.map(line).collect::<Vec<_>>()
    };
    crates.iter().flat_map(of).collect()
}

#[test]
fn the_picture_of_the_house_is_current() {
    let (file, drawn) = (root().join(PICTURE), drawn());
    if std::env::var_os("UPDATE_PICTURES").is_some() {
        fs::write(&file, &drawn).unwrap();
    }
    let is_current = fs::read_to_string(&file).is_ok_and(|text| text == drawn);
    assert!(
        is_current,
        "{PICTURE} is old: `UPDATE_PICTURES=1 cargo test -p moss-tests --test tidy house` draws it"
    );
}

fn drawn() -> String {
    let heights: Vec<f64> = LAYERS.iter().map(|(_, rooms)| height(rooms.len())).collect();
    let gaps = GAP * (LAYERS.len() - 1) as f64;
    let total = MARGIN * 2.0 + heights.iter().sum::<f64>() + gaps;
    let mut picture = Picture::new("The layers of moss", WIDTH as u32, total as u32);
    picture.style(STYLE);
    let mut y = MARGIN;
    for (at, (name, rooms)) in LAYERS.iter().enumerate() {
        let frame = Rect { x: MARGIN, y, width: WIDTH - MARGIN * 2.0, height: heights[at] };
        picture.rounded("layer", frame);
        let middle = y + heights[at] / 2.0;
        picture.text("name", (MARGIN * 2.0, middle - 2.0), name);
        let number = format!("layer {}", LAYERS.len() - at);
        picture.text("number", (MARGIN * 2.0, middle + 15.0), &number);
        for (number, (directory, role)) in rooms.iter().enumerate() {
            let (row, column) = (number / ROOMS_IN_A_ROW, number % ROOMS_IN_A_ROW);
            let x = MARGIN + LABEL_WIDTH + column as f64 * (ROOM.0 + GAP);
            let top = y + GAP + row as f64 * (ROOM.1 + GAP);
            picture.rounded("room", Rect { x, y: top, width: ROOM.0, height: ROOM.1 });
            picture.text("name", (x + GAP, top + 20.0), directory);
            picture.text("role", (x + GAP, top + 37.0), role);
        }
        y += heights[at];
        if at + 1 < LAYERS.len() {
            arrow(&mut picture, (MARGIN * 2.0 + 20.0, y), GAP);
        }
        y += GAP;
    }
    picture.finish()
}

fn height(rooms: usize) -> f64 {
    let rows = rooms.div_ceil(ROOMS_IN_A_ROW) as f64;
    GAP + rows * (ROOM.1 + GAP)
}

/// An arrow from a layer to the one that it uses.
fn arrow(picture: &mut Picture, (x, y): (f64, f64), length: f64) {
    let end = y + length;
    picture.path("arrow", &[(x, y), (x, end)]);
    picture.path("arrow", &[(x - 4.0, end - 5.0), (x, end), (x + 4.0, end - 5.0)]);
}
