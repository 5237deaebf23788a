//! What may be a call, from its first mark to its end.

mod reading;

use super::calls::{self, Inside};
use super::cue::Cue;
use super::file_edit;
use super::live::Live;
use super::mend::{self, Keys};
use super::prose;
use super::scan::{Found, NEXT_FRAME, Scan};
use super::template::{Holds, Not, Opening, Tags, Template};
use super::watch::{Shape, Watch};
use crate::event::Change;
use crate::registry::Registry;

/// How far the text after a suspected end is looked at for the real one, in bytes.
const SUSPICION_BYTES_MAX: usize = 64 << 10;
/// How many suspected ends of one frame are tried.
const SUSPECTS_MAX: usize = 8;
/// How often a reply may be read again from an end that was suspected only.
const FALLBACKS_MAX: usize = 64;
pub(super) const TAG_CLOSE: &str = "[/TOOL]";
/// What may end a call on a line.
const LINE_CLOSES: &[&str] = &["[/TOOL_CALL]", "[/TOOL_CALLS]"];
pub(super) const HERMES_CLOSE: &str = "</tool_call>";
/// Said where a reply ends inside of a call.
pub(super) const CUT_OFF: &str = "the reply ends inside of a call; it was not made";

/// The form of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Between fences of so many backticks, or tildes.
    Fence { sign: u8, run: usize, is_explicit: bool },
    /// `[TOOL_CALL]name[ARGS]{…}`: ends with its JSON.
    Line,
    /// `[TOOL:name]{…}[/TOOL]`.
    Tag,
    /// `<tool_call>{…}</tool_call>`.
    Hermes,
    /// `<file-edit …>…</file-edit>`.
    FileEdit,
    /// A call of a chat template that has an end mark.
    Template(&'static Template),
    /// JSON that is the whole reply.
    Whole,
}

/// What may be a call. Places are counted from its first byte.
#[derive(Debug)]
pub(super) struct Frame {
    kind: Kind,
    /// Where its inside begins.
    body: usize,
    /// Whether it stands in a line of text.
    is_in_line: bool,
    /// What its mark says: the tool, or the attributes of a tag.
    name: Option<String>,
    cue: Cue,
    scan: Scan,
    watch: Watch,
    /// Where its JSON was whole, from the beginning of its inside.
    balanced: Option<usize>,
    /// Where something follows its JSON that is none.
    other: Option<usize>,
    /// Where another call seems to begin.
    next: Option<usize>,
    suspect: Option<usize>,
    suspects: usize,
    live: Option<Live>,
    /// How far the end mark was looked for.
    searched: usize,
    /// The arguments, where they stand in tags.
    tags: Option<Tags>,
    /// Marks that may follow it and belong to it.
    after: &'static [&'static str],
    /// How far the real end is looked for after a suspected one, in bytes.
    suspicion_bytes_max: usize,
}

/// Where a frame ends, from the beginning of its inside.
pub(super) struct End {
    /// Where its inside does.
    pub(super) body: usize,
    /// Where its end mark does.
    pub(super) frame: usize,
    /// Whether that is there.
    pub(super) closed: bool,
}

// === impl Frame ===

impl Frame {
    pub(super) fn new(kind: Kind, body: usize) -> Self {
        let (sign, fence) =
            if let Kind::Fence { sign, run, .. } = kind { (sign, run) } else { (b'`', 0) };
        Self {
            kind,
            body,
            is_in_line: false,
            name: None,
            cue: Cue::None,
            scan: Scan::new(sign, fence),
            watch: Watch::new(Shape::Call),
            balanced: None,
            other: None,
            next: None,
            suspect: None,
            suspects: 0,
            live: None,
            searched: 0,
            tags: None,
            after: if kind == Kind::Line { LINE_CLOSES } else { &[] },
            suspicion_bytes_max: SUSPICION_BYTES_MAX,
        }
    }

    /// Begins a call of a chat template.
    pub(super) fn of(opening: Opening) -> Self {
        let Opening { template, length, name, holds } = opening;
        let kind = if template.end.is_empty() { Kind::Line } else { Kind::Template(template) };
        let mut frame = Self::new(kind, length);
        frame.scan = Scan::new(b'`', 0).with_tokens();
        frame.after = template.after;
        frame.tags = (holds == Holds::Parameters).then(Tags::default);
        match name {
            Some(name) => frame.named(&name),
            None => frame,
        }
    }

    /// Takes what its mark says. The inside is then the arguments.
    pub(super) fn named(mut self, name: &str) -> Self {
        self.name = Some(name.to_owned());
        self.watch = Watch::new(Shape::Arguments);
        self
    }

    /// Takes that text stands before it on its line.
    pub(super) fn in_line(mut self) -> Self {
        self.is_in_line = true;
        self
    }

    /// Takes how the words before it speak of it.
    pub(super) fn shown_by(mut self, cue: Cue) -> Self {
        self.cue = cue;
        self
    }

    /// Takes how often the reply was read again already: what makes every frame end late would be
    /// read over and over.
    pub(super) fn patient(mut self, fallbacks: usize) -> Self {
        if fallbacks >= FALLBACKS_MAX {
            self.suspicion_bytes_max = 0;
        }
        self
    }

    fn is_explicit(&self) -> bool {
        !matches!(self.kind, Kind::Whole | Kind::Fence { is_explicit: false, .. })
    }

    /// Whether its inside is JSON.
    fn is_json(&self) -> bool {
        self.kind != Kind::FileEdit && self.tags.is_none()
    }

    /// Whether it ends where something follows its JSON that is none.
    fn ends_with_json(&self) -> bool {
        matches!(self.kind, Kind::Tag | Kind::Hermes | Kind::Template(_))
    }

    /// Whether it is only shown (policy P7).
    fn is_shown(&self) -> bool {
        self.cue == Cue::Strong || (self.cue == Cue::Weak && !self.is_explicit())
    }

    /// The mark that ends it, besides a fence.
    fn close_mark(&self) -> &'static str {
        match self.kind {
            Kind::Tag => TAG_CLOSE,
            Kind::Hermes => HERMES_CLOSE,
            Kind::FileEdit => file_edit::CLOSE,
            Kind::Template(template) => template.end,
            Kind::Fence { .. } | Kind::Line | Kind::Whole => "",
        }
    }

    /// Looks for its end. `body` is its inside so far.
    fn end(&mut self, registry: &Registry, body: &str, is_last: bool) -> Option<End> {
        if self.kind == Kind::FileEdit {
            return self.end_of_lines(body);
        }
        if let (Kind::Template(template), Some(tags)) = (self.kind, &mut self.tags) {
            return tags.end(template, body);
        }
        loop {
            let found = self.scan.next(body, is_last);
            if let Some(end) = self.end_at_fence(body, found) {
                return Some(end);
            }
            if let Some(end) = self.end_at_suspect(body, found) {
                return Some(end);
            }
            match found {
                Found::Nothing => return None,
                Found::Balanced(place) => {
                    self.balanced = Some(place);
                    self.other = None;
                    if self.kind == Kind::Line {
                        return Some(End { body: place, frame: place, closed: true });
                    }
                }
                Found::Mark(place) => match self.mark(registry, body, place, is_last) {
                    Ok(Some(end)) => return Some(end),
                    Ok(None) => {}
                    Err(place) => {
                        self.scan.back_to(place);
                        return None;
                    }
                },
                // One bracket too many, which the reader of the JSON leaves out.
                Found::Other(place)
                    if self.kind != Kind::Whole
                        && body[place..].starts_with(['}', ']', '｝', '］']) => {}
                Found::Other(place) => {
                    if let (true, Some(balanced)) = (self.ends_with_json(), self.balanced) {
                        let end = self.end_after_json(body, balanced, place, is_last);
                        if end.is_none() {
                            self.scan.back_to(place);
                        }
                        return end;
                    }
                    self.other.get_or_insert(place);
                    if body[place..].starts_with(NEXT_FRAME) {
                        self.next.get_or_insert(place);
                    }
                    if self.kind == Kind::Whole {
                        return Some(End { body: place, frame: place, closed: false });
                    }
                }
                Found::Suspect(place) => {
                    self.suspects += 1;
                    let is_end = self.suspects <= SUSPECTS_MAX
                        && self.reads_well(registry, body, place, self.suspects == 1);
                    if is_end {
                        return Some(self.fence_end(body, place));
                    }
                    self.suspect.get_or_insert(place);
                }
            }
        }
    }

    /// Looks whether a mark ends the frame. Fails with its place where more must come to know.
    fn mark(
        &mut self,
        registry: &Registry,
        body: &str,
        place: usize,
        is_last: bool,
    ) -> Result<Option<End>, usize> {
        let rest = &body[place..];
        if rest.starts_with(['`', '~']) {
            let end = self.fence_end(body, place);
            let is_run_over = end.frame < body.len() || is_last;
            if !is_run_over {
                return Err(place);
            }
            match prose::begins_call(&body[end.frame..], is_last) {
                None => return Err(place),
                // It is the next one that begins: this one's end mark is missing.
                Some(true) if self.scan.is_balanced() => {
                    return Ok(Some(End { body: place, frame: place, closed: false }));
                }
                Some(_) => {}
            }
            return Ok(Some(self.sooner(registry, body, end)));
        }
        let close = self.close_mark();
        if !close.is_empty() && rest.starts_with(close) {
            return Ok(Some(End { body: place, frame: place + close.len(), closed: true }));
        }
        if !is_last && !close.is_empty() && close.starts_with(rest) {
            return Err(place);
        }
        let is_over = self.scan.is_balanced() && self.ends_with_json();
        let balanced = self.balanced.filter(|_| is_over);
        Ok(balanced.map(|place| End { body: place, frame: place, closed: false }))
    }

    /// The end at a place where something follows the JSON; none where more must come to know.
    fn end_after_json(
        &self,
        body: &str,
        balanced: usize,
        place: usize,
        is_last: bool,
    ) -> Option<End> {
        let unclosed = End { body: balanced, frame: balanced, closed: false };
        let Kind::Template(template) = self.kind else { return Some(unclosed) };
        match template.end_after_json(&body[place..]) {
            Ok(length) => Some(End { body: balanced, frame: place + length, closed: true }),
            Err(Not::Yet) if !is_last => None,
            Err(_) => Some(unclosed),
        }
    }

    /// Whether its inside reads as JSON up to a place. `may_guess` says whether the ends of strings
    /// may be told by what follows them.
    fn reads_well(&self, registry: &Registry, body: &str, place: usize, may_guess: bool) -> bool {
        mend::values(&body[..place], true, self.keys(registry))
            .is_some_and(|mended| may_guess || !mended.changes.contains(&Change::InnerQuotes))
    }

    fn keys<'r>(&self, registry: &'r Registry) -> Keys<'r> {
        match &self.name {
            Some(name) => Keys::of_arguments(registry, registry.resolve(name)),
            None => Keys::of_calls(registry),
        }
    }

    /// The first suspected end instead of a later one that is doubtful: what is between them may be
    /// another call.
    fn sooner(&self, registry: &Registry, body: &str, end: End) -> End {
        match self.suspect {
            Some(suspect) if !self.reads_well(registry, body, end.body, false) => {
                self.fence_end(body, suspect)
            }
            _ => end,
        }
    }

    fn fence_end(&self, body: &str, place: usize) -> End {
        let sign = body.as_bytes()[place];
        let run = body[place..].bytes().take_while(|byte| *byte == sign).count();
        End { body: place, frame: place + run, closed: true }
    }

    /// Ends at a place that only seemed to be the end, where no better one is near.
    fn end_at_suspect(&self, body: &str, found: Found) -> Option<End> {
        let suspect = self.suspect?;
        let place = found.place().unwrap_or(body.len());
        (place.saturating_sub(suspect) > self.suspicion_bytes_max)
            .then(|| self.fence_end(body, suspect))
    }

    /// Ends what would be the whole reply where a fence begins a line: it is not, whatever JSON is
    /// open there.
    fn end_at_fence(&mut self, body: &str, found: Found) -> Option<End> {
        if self.kind != Kind::Whole {
            return None;
        }
        let from = self.searched.min(body.len());
        let to = found.place().unwrap_or(body.len()).max(from);
        let looked_at = &body.as_bytes()[from..to];
        let fences = ["\n```", "\n~~~"].iter();
        let first = fences.filter_map(|fence| memchr::memmem::find(looked_at, fence.as_bytes()));
        if let Some(place) = first.min() {
            let place = from + place;
            self.other = Some(place);
            return Some(End { body: place, frame: place, closed: false });
        }
        self.searched = to.saturating_sub(3).max(from);
        None
    }

    fn end_of_lines(&mut self, body: &str) -> Option<End> {
        let close = self.close_mark();
        let from = self.searched;
        if let Some(place) = memchr::memmem::find(&body.as_bytes()[from..], close.as_bytes()) {
            let place = from + place;
            return Some(End { body: place, frame: place + close.len(), closed: true });
        }
        self.searched = body.len().saturating_sub(close.len()).max(from);
        None
    }

    /// Where it ends when the reply does, if it is whole.
    fn last_end(&self, registry: &Registry, body: &str) -> Option<End> {
        if let (true, Some(balanced)) = (self.scan.is_balanced(), self.balanced) {
            let place = self.next.or(self.other).unwrap_or(body.len());
            let place = if matches!(self.kind, Kind::Fence { .. }) { place } else { balanced };
            let end = End { body: place, frame: place, closed: false };
            return Some(self.sooner(registry, body, end));
        }
        if let Some(suspect) = self.suspect {
            return Some(self.fence_end(body, suspect));
        }
        let close = self.close_mark();
        if close.is_empty() || !self.is_json() {
            return None;
        }
        let place = body.find(close)?;
        Some(End { body: place, frame: place + close.len(), closed: true })
    }

    /// Reads its inside.
    fn inside(&self, registry: &Registry, body: &str, closed: bool) -> Inside {
        match (self.kind, &self.name) {
            (Kind::FileEdit, tag) => {
                file_edit::inside(registry, tag.as_deref().unwrap_or_default(), body)
            }
            (Kind::Template(_), Some(name)) if let Some(tags) = &self.tags => {
                tags.inside(registry, name, body)
            }
            (_, name) => calls::inside(registry, name.as_deref(), body, closed, self.is_explicit()),
        }
    }
}
