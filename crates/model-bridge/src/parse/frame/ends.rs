//! Where a frame ends: at its mark, where its JSON does, or where something else begins.

use super::super::end::FrameEnd;
use super::super::fence::begins_call;
use super::super::mark::{FENCE, Not};
use super::super::repair::{self, KnownKeys};
use super::super::scan::{NEXT_FRAME, ScanHit};
use super::super::template::Template;
use super::{Frame, FrameKind};
use crate::diagnostic::RepairKind;
use crate::registry::Registry;

/// How many suspected ends of one frame are tried.
const SUSPECTS_MAX: usize = 8;

/// What may stand between calls that are the whole reply.
const JOINT: char = ';';
/// The most blanks after it, or after a call on its line, in bytes.
const BLANK_BYTES_MAX: usize = 64;

/// Whether another object follows what may stand between two; none where more must come to know.
fn joins(text: &str, is_last: bool) -> Option<bool> {
    let rest = text.strip_prefix(JOINT)?;
    let next = rest.trim_start();
    if next.is_empty() && !is_last && rest.len() <= BLANK_BYTES_MAX {
        return None;
    }
    Some(next.starts_with('{') && rest.len() - next.len() <= BLANK_BYTES_MAX)
}

/// Whether nothing but blanks, the end mark of the group or another call follows on the line; none where
/// more must come to know.
fn ends_line(text: &str, template: &Template, is_last: bool) -> Option<bool> {
    let blank = [' ', '\t', '\r'];
    let mut next = text.trim_start_matches(blank);
    if text.len() - next.len() > BLANK_BYTES_MAX {
        return Some(false);
    }
    let after = template.after.iter().find_map(|mark| next.strip_prefix(*mark));
    next = after.map_or(next, |rest| rest.trim_start_matches(blank));
    let mut marks = template.after.iter().chain([&template.call]);
    if !is_last && marks.any(|mark| mark.starts_with(next) && next.len() < mark.len()) {
        return None;
    }
    Some(next.is_empty() || next.starts_with('\n') || next.starts_with(template.call))
}

// === impl Frame ===

impl Frame {
    /// Looks for its end. `body` is its inside so far.
    pub(super) fn end(
        &mut self,
        registry: &Registry,
        body: &str,
        is_last: bool,
    ) -> Option<FrameEnd> {
        if !self.has_awaited(body) {
            return None;
        }
        if self.is_mark_only {
            return Some(FrameEnd { body: 0, frame: 0, closed: true });
        }
        if self.kind == FrameKind::FileEdit {
            return self.end_of_lines(body);
        }
        if let (FrameKind::Template(template), Some(tags)) = (self.kind, &mut self.tags) {
            return tags.end(template, body);
        }
        if let (FrameKind::Template(template), Some(elements)) = (self.kind, &mut self.elements) {
            let tool = self.name.as_deref().and_then(|name| registry.resolve(name));
            return elements.end(template, tool, body);
        }
        if let (FrameKind::Template(template), Some(brackets)) = (self.kind, &mut self.brackets) {
            return brackets.end(template, body, is_last);
        }
        self.end_of_json(registry, body, is_last)
    }

    /// Whether one of the marks came that it waits for.
    fn has_awaited(&mut self, body: &str) -> bool {
        let Some(longest) = self.awaits.iter().map(|mark| mark.len()).max() else { return true };
        let new = &body.as_bytes()[self.searched..];
        let came = |mark: &&str| memchr::memmem::find(new, mark.as_bytes()).is_some();
        if self.awaits.iter().any(came) {
            self.awaits = &[];
            self.searched = 0;
            return true;
        }
        self.searched = body.len().saturating_sub(longest).max(self.searched);
        false
    }

    fn end_of_json(&mut self, registry: &Registry, body: &str, is_last: bool) -> Option<FrameEnd> {
        loop {
            let found = self.scan.next(body, is_last);
            if let Some(end) = self.end_at_fence(body, found) {
                return Some(end);
            }
            if let Some(end) = self.end_at_suspect(body, found) {
                return Some(end);
            }
            let end = match found {
                ScanHit::Nothing => return None,
                ScanHit::Balanced(place) => {
                    self.balanced = Some(place);
                    self.other = None;
                    let end = FrameEnd { body: place, frame: place, closed: true };
                    Ok((self.kind == FrameKind::Line).then_some(end))
                }
                ScanHit::Mark(place) => self.mark(registry, body, place, is_last),
                ScanHit::Other(place) => self.other(body, place, is_last),
                ScanHit::Suspect(place) => {
                    self.suspects += 1;
                    let is_end = self.suspects <= SUSPECTS_MAX
                        && self.reads_well(registry, body, place, self.suspects == 1);
                    if is_end {
                        return Some(self.fence_end(body, place));
                    }
                    self.suspect.get_or_insert(place);
                    Ok(None)
                }
            };
            match end {
                Ok(Some(end)) => return Some(end),
                Ok(None) => {}
                Err(place) => {
                    self.scan.back_to(place);
                    return None;
                }
            }
        }
    }

    /// Looks whether something behind the JSON ends the frame. Fails with its position where more
    /// must come to know.
    fn other(
        &mut self,
        body: &str,
        place: usize,
        is_last: bool,
    ) -> Result<Option<FrameEnd>, usize> {
        let rest = &body[place..];
        let is_whole = self.kind == FrameKind::Whole;
        // One bracket too many, which the reader of the JSON leaves out.
        if !is_whole && rest.starts_with(['}', ']', '｝', '］']) {
            return Ok(None);
        }
        if is_whole && rest.starts_with(JOINT) && joins(rest, is_last).ok_or(place)? {
            self.joints.push(place);
            return Ok(None);
        }
        if let (true, Some(balanced)) = (self.ends_with_json(), self.balanced) {
            return self.end_after_json(body, balanced, place, is_last).ok_or(place).map(Some);
        }
        self.other.get_or_insert(place);
        if rest.starts_with(NEXT_FRAME) {
            self.next.get_or_insert(place);
        }
        Ok(is_whole.then_some(FrameEnd { body: place, frame: place, closed: false }))
    }

    /// Looks whether a mark ends the frame. Fails with its position where more must come to know.
    fn mark(
        &mut self,
        registry: &Registry,
        body: &str,
        place: usize,
        is_last: bool,
    ) -> Result<Option<FrameEnd>, usize> {
        let rest = &body[place..];
        if rest.starts_with(['`', '~']) {
            let end = self.fence_end(body, place);
            let is_run_over = end.frame < body.len() || is_last;
            if !is_run_over {
                return Err(place);
            }
            match begins_call(&body[end.frame..], is_last) {
                None => return Err(place),
                // It is the next one that begins: this one's end mark is missing.
                Some(true) if self.scan.is_balanced() => {
                    return Ok(Some(FrameEnd { body: place, frame: place, closed: false }));
                }
                Some(_) => {}
            }
            return Ok(Some(self.sooner(registry, body, end)));
        }
        let close = self.close_mark();
        if !close.is_empty() && rest.starts_with(close) {
            if let (true, FrameKind::Template(template)) = (self.is_after_sentence, self.kind) {
                let after = &rest[close.len()..];
                self.ends_line = ends_line(after, template, is_last).ok_or(place)?;
            }
            return Ok(Some(FrameEnd { body: place, frame: place + close.len(), closed: true }));
        }
        if !is_last && !close.is_empty() && close.starts_with(rest) {
            return Err(place);
        }
        let is_over = self.scan.is_balanced() && self.ends_with_json();
        let balanced = self.balanced.filter(|_| is_over);
        Ok(balanced.map(|place| FrameEnd { body: place, frame: place, closed: false }))
    }

    /// The end at a position where something follows the JSON; none where more must come to know.
    fn end_after_json(
        &self,
        body: &str,
        balanced: usize,
        place: usize,
        is_last: bool,
    ) -> Option<FrameEnd> {
        let unclosed = FrameEnd { body: balanced, frame: balanced, closed: false };
        let FrameKind::Template(template) = self.kind else { return Some(unclosed) };
        match template.end_after_json(&body[place..]) {
            Ok(length) => Some(FrameEnd { body: balanced, frame: place + length, closed: true }),
            Err(Not::Yet) if !is_last => None,
            Err(_) => Some(unclosed),
        }
    }

    /// Whether its inside reads as JSON up to a position. `may_guess` says whether the ends of
    /// strings may be recognized by what follows them.
    fn reads_well(&self, registry: &Registry, body: &str, place: usize, may_guess: bool) -> bool {
        repair::values(&body[..place], true, self.keys(registry))
            .is_ok_and(|repaired| may_guess || !repaired.changes.contains(&RepairKind::InnerQuotes))
    }

    fn keys<'r>(&self, registry: &'r Registry) -> KnownKeys<'r> {
        match &self.name {
            Some(name) => KnownKeys::of_arguments(registry, registry.resolve(name)),
            None => KnownKeys::of_calls(registry),
        }
    }

    /// The first suspected end instead of a later one that is doubtful: what is between them may be
    /// another call.
    fn sooner(&self, registry: &Registry, body: &str, end: FrameEnd) -> FrameEnd {
        match self.suspect {
            Some(suspect) if !self.reads_well(registry, body, end.body, false) => {
                self.fence_end(body, suspect)
            }
            _ => end,
        }
    }

    fn fence_end(&self, body: &str, place: usize) -> FrameEnd {
        let sign = body.as_bytes()[place];
        let run = body[place..].bytes().take_while(|byte| *byte == sign).count();
        FrameEnd { body: place, frame: place + run, closed: true }
    }

    /// Ends at a position that only seemed to be the end, where no better one is near.
    fn end_at_suspect(&self, body: &str, found: ScanHit) -> Option<FrameEnd> {
        let suspect = self.suspect?;
        let place = found.place().unwrap_or(body.len());
        (place.saturating_sub(suspect) > self.suspicion_bytes_max)
            .then(|| self.fence_end(body, suspect))
    }

    /// Ends what would be the whole reply where a fence begins a line: it is not, whatever JSON is
    /// open there.
    fn end_at_fence(&mut self, body: &str, found: ScanHit) -> Option<FrameEnd> {
        if self.kind != FrameKind::Whole {
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
            return Some(FrameEnd { body: place, frame: place, closed: false });
        }
        self.searched = to.saturating_sub(3).max(from);
        None
    }

    fn end_of_lines(&mut self, body: &str) -> Option<FrameEnd> {
        let close = self.close_mark();
        let from = self.searched;
        if let Some(place) = memchr::memmem::find(&body.as_bytes()[from..], close.as_bytes()) {
            let place = from + place;
            return Some(FrameEnd { body: place, frame: place + close.len(), closed: true });
        }
        self.searched = body.len().saturating_sub(close.len()).max(from);
        None
    }

    /// Whether the fence that its mark begins around its JSON does not end. `text` begins with its mark.
    pub(super) fn lacks_fence(&self, text: &str, end: &FrameEnd) -> bool {
        let behind = self.body + end.body..self.body + end.frame;
        matches!(self.kind, FrameKind::Template(_))
            && text[..self.body].contains(FENCE)
            && !text[behind].contains(FENCE)
    }

    /// Where it ends when the reply does, if it is whole.
    pub(super) fn last_end(&mut self, registry: &Registry, body: &str) -> Option<FrameEnd> {
        if !self.awaits.is_empty() {
            return None;
        }
        if let (FrameKind::Template(template), Some(tags)) = (self.kind, &mut self.tags) {
            return tags.last_end(template, body);
        }
        if let (FrameKind::Template(template), Some(brackets)) = (self.kind, &self.brackets) {
            return brackets.last_end(template);
        }
        if let (true, Some(balanced)) = (self.scan.is_balanced(), self.balanced) {
            let place = self.next.or(self.other).unwrap_or(body.len());
            let place = if matches!(self.kind, FrameKind::Fence { .. }) { place } else { balanced };
            let end = FrameEnd { body: place, frame: place, closed: false };
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
        Some(FrameEnd { body: place, frame: place + close.len(), closed: true })
    }
}
