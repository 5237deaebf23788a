//! Looks at locations that somebody else named: what is declared or used there, in the texts as they are now. Where a
//! text has no name at a location, it was named for another text: it is left out and counted.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use moss_ranking::{FileTypes, is_strange_name};
use moss_sdk::RelPath;
use moss_sdk::context::{TextFinding, TextScanner, TextVisitor};
use moss_sdk::editor::{Location, Position};
use moss_sdk::file::VisitedText;
use moss_symbols::{Language, Outliner};

use super::found::{FileCode, FoundCode, LOCATIONS_MAX};
use super::lined::LinedText;

/// Where a file begins.
const FILE_START: Position = Position { line: 0, character: 0 };

/// What is wanted of each location.
#[derive(Debug, Clone)]
pub(super) enum PlacedGoal {
    Declarations,
    /// Uses of what has one of these names.
    Uses(Arc<BTreeSet<String>>),
}

/// The visitor of the files that have them.
#[derive(Debug)]
pub(super) struct PlacedFinding {
    places: Arc<BTreeMap<RelPath, Vec<Position>>>,
    goal: PlacedGoal,
    types: Option<FileTypes>,
    file: Option<RelPath>,
    pub(super) found: FoundCode,
    /// Locations at which there is no name.
    pub(super) misfits: u64,
    /// Locations at which there is another name, and no sign of why.
    pub(super) strangers: u64,
}

struct PlacedFinder {
    places: Arc<BTreeMap<RelPath, Vec<Position>>>,
    goal: PlacedGoal,
    outliner: Outliner,
}

/// What one file has.
struct PlacedCode {
    code: FileCode,
    misfits: u64,
    strangers: u64,
}

// === impl PlacedFinding ===

impl PlacedFinding {
    pub(super) fn new(
        locations: &[Location],
        goal: PlacedGoal,
        types: Option<FileTypes>,
        file: Option<RelPath>,
    ) -> Self {
        let mut places: BTreeMap<RelPath, Vec<Position>> = BTreeMap::new();
        for location in locations {
            places.entry(location.path.clone()).or_default().push(location.span.start);
        }
        for positions in places.values_mut() {
            positions.sort_unstable();
            positions.dedup();
        }
        let (places, found) = (Arc::new(places), FoundCode::default());
        Self { places, goal, types, file, found, misfits: 0, strangers: 0 }
    }
}

impl TextVisitor for PlacedFinding {
    fn wants(&self, path: &RelPath) -> bool {
        self.places.contains_key(path)
            && self.file.as_ref().is_none_or(|file| file == path)
            && self.types.as_ref().is_none_or(|types| types.admits(path))
    }

    fn scanner(&self) -> Box<dyn TextScanner> {
        let places = Arc::clone(&self.places);
        Box::new(PlacedFinder { places, goal: self.goal.clone(), outliner: Outliner::default() })
    }

    fn gather(&mut self, finding: TextFinding) -> ControlFlow<()> {
        let placed: PlacedCode = *finding.downcast().expect("a placed finder found it");
        self.misfits += placed.misfits;
        self.strangers += placed.strangers;
        self.found.take(placed.code);
        ControlFlow::Continue(())
    }
}

// === impl PlacedFinder ===

impl TextScanner for PlacedFinder {
    fn scan(&mut self, file: VisitedText<'_>) -> Option<TextFinding> {
        let positions = self.places.get(file.path)?;
        let language = Language::of_text(file.path.as_str(), file.text);
        let outline = language.and_then(|known| self.outliner.outline(known, file.text).ok());
        let lined = LinedText::new(file.text);
        let (mut code, mut misfits, mut strangers) = (FileCode::default(), 0, 0);
        for position in positions {
            // One use of a line is shown, and to look for more in a long one takes long.
            let line = position.line as usize + 1;
            let is_use = matches!(self.goal, PlacedGoal::Uses(_));
            if is_use && line == code.last_use_line {
                continue;
            }
            // What is said to be defined there is the file, such as a module: it has no name in its text.
            let is_file = !is_use && *position == FILE_START;
            let Some(at) = lined.name_at(*position).or(is_file.then_some(0)) else {
                misfits += 1;
                continue;
            };
            match &self.goal {
                PlacedGoal::Uses(names) => {
                    strangers += u64::from(is_strange_name(file.text, outline.as_ref(), at, names));
                    code.add_use(file.path, line, || lined.used_at(outline.as_ref(), at));
                }
                PlacedGoal::Declarations => {
                    code.total_locations += 1;
                    if code.locations.len() < LOCATIONS_MAX {
                        code.locations.push(lined.declared_at(file.path, outline.as_ref(), at));
                    }
                }
            }
        }
        Some(Box::new(PlacedCode { code, misfits, strangers }))
    }
}
