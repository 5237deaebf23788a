//! What may be a call, from its first mark to its end.

mod ends;
mod reading;

use super::calls::{self, Inside};
use super::cue::Cue;
use super::file_edit;
use super::live::LiveCall;
use super::mark::{HERMES_CLOSE, TAG_CLOSE};
use super::scan::Scan;
use super::template::{CallScanner, Elements, Holds, Opening, Tags, Template};
use super::watch::{JsonShape, JsonWatcher};
use crate::registry::Registry;
pub(super) use reading::NO_CALL;

/// How far the text after a suspected end is looked at for the real one, in bytes.
const SUSPICION_BYTES_MAX: usize = 64 << 10;
/// How often a reply may be read again from an end that was suspected only.
const FALLBACKS_MAX: usize = 64;
/// What may end a call on a line.
const LINE_CLOSES: &[&str] = &["[/TOOL_CALL]", "[/TOOL_CALLS]"];
/// Said where a call of a form that always ends its calls does not end.
const UNENDED: &str = "the call has no end mark; it was not made";
/// Said where a reply ends inside of a call.
pub(super) const CUT_OFF: &str = "the reply ends inside of a call; it was not made";

/// The form of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FrameKind {
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
    kind: FrameKind,
    /// Where its inside begins.
    body: usize,
    /// Whether it stands in a line of text.
    is_in_line: bool,
    /// Whether that ends a sentence, and whether nothing stands behind it on the line.
    is_after_sentence: bool,
    ends_line: bool,
    /// Where one value ends and another one begins, in JSON that is the whole reply.
    joints: Vec<usize>,
    /// What its mark says: the tool, or the attributes of a tag.
    name: Option<String>,
    cue: Cue,
    scan: Scan,
    watch: JsonWatcher,
    /// Where its JSON was whole, from the beginning of its inside.
    balanced: Option<usize>,
    /// Where something follows its JSON that is not JSON.
    other: Option<usize>,
    /// Where another call seems to begin.
    next: Option<usize>,
    suspect: Option<usize>,
    suspects: usize,
    live: Option<LiveCall>,
    /// How far the end mark was looked for.
    searched: usize,
    /// Marks of which one has to follow before its end is looked for: one ends its group.
    awaits: &'static [&'static str],
    /// The arguments, where they stand in tags.
    tags: Option<Tags>,
    /// The calls, where they are neither JSON nor tags.
    brackets: Option<CallScanner>,
    /// The arguments, where they are elements.
    elements: Option<Elements>,
    /// Whether its mark is all of it.
    is_mark_only: bool,
    /// Whether its form is that of a chat template that writes values of every type: what is made of its
    /// values that they do not say is reported.
    is_typed: bool,
    /// Whether the mark of a group of calls is before it.
    begins_group: bool,
    /// Marks that may follow it and belong to it.
    after: &'static [&'static str],
    /// How far the real end is looked for after a suspected one, in bytes.
    suspicion_bytes_max: usize,
}

// === impl Frame ===

impl Frame {
    pub(super) fn new(kind: FrameKind, body: usize) -> Self {
        let (sign, fence) =
            if let FrameKind::Fence { sign, run, .. } = kind { (sign, run) } else { (b'`', 0) };
        Self {
            kind,
            body,
            is_in_line: false,
            is_after_sentence: false,
            ends_line: false,
            joints: Vec::new(),
            name: None,
            cue: Cue::None,
            scan: Scan::new(sign, fence),
            watch: JsonWatcher::new(JsonShape::Call),
            balanced: None,
            other: None,
            next: None,
            suspect: None,
            suspects: 0,
            live: None,
            searched: 0,
            awaits: &[],
            tags: None,
            brackets: None,
            elements: None,
            is_mark_only: false,
            is_typed: kind == FrameKind::Hermes,
            begins_group: false,
            after: if kind == FrameKind::Line { LINE_CLOSES } else { &[] },
            suspicion_bytes_max: SUSPICION_BYTES_MAX,
        }
    }

    /// Begins a call of a chat template.
    pub(super) fn of(opening: Opening) -> Self {
        let Opening { template, length, name, holds, begins_group } = opening;
        let ends_with_json = template.end.is_empty() && holds == Holds::Json;
        let kind = if ends_with_json { FrameKind::Line } else { FrameKind::Template(template) };
        let mut frame = Self::new(kind, length);
        frame.scan = Scan::new(b'`', 0).with_tokens();
        frame.after = template.after;
        frame.tags = (holds == Holds::Parameters).then(Tags::default);
        frame.elements = (holds == Holds::Elements).then(Elements::default);
        frame.is_mark_only = holds == Holds::Closed;
        frame.is_typed = matches!(holds, Holds::Json | Holds::Notation);
        frame.begins_group = begins_group;
        if begins_group && holds != Holds::Json && template.must_end() {
            frame.awaits = template.after;
        }
        frame.brackets = (holds == Holds::Notation).then(CallScanner::default);
        match name {
            Some(name) => frame.named(&name),
            None => frame,
        }
    }

    /// Begins a call that follows another one of a chat template without a mark of its own.
    pub(super) fn joined_to(template: &'static Template, body: usize) -> Self {
        let mut frame = Self::new(FrameKind::Line, body).typed();
        frame.scan = Scan::new(b'`', 0).with_tokens();
        frame.after = template.after;
        frame
    }

    /// Takes that its form is that of a chat template.
    pub(super) fn typed(mut self) -> Self {
        self.is_typed = true;
        self
    }

    /// Takes what its mark says. The inside is then the arguments.
    pub(super) fn named(mut self, name: &str) -> Self {
        self.name = Some(name.to_owned());
        self.watch = JsonWatcher::new(JsonShape::Arguments);
        self
    }

    /// Takes that text stands before it on its line: it is only spoken of, whatever follows.
    pub(super) fn in_line(mut self) -> Self {
        self.is_in_line = true;
        self.awaits = &[];
        self
    }

    /// Takes that a sentence stands before it on its line: what ends the line is more than spoken of.
    pub(super) fn after_sentence(mut self) -> Self {
        self.is_after_sentence = true;
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
        !matches!(self.kind, FrameKind::Whole | FrameKind::Fence { is_explicit: false, .. })
            && !self.is_weak()
    }

    /// Whether it is a form of calls that nothing marks.
    fn is_weak(&self) -> bool {
        matches!(self.kind, FrameKind::Template(template) if template.is_weak)
    }

    /// Whether it is no call without its end mark, whatever it holds.
    fn must_end(&self) -> bool {
        matches!(self.kind, FrameKind::Template(template) if template.must_end())
    }

    /// Whether its inside is JSON.
    fn is_json(&self) -> bool {
        let is_marked_up = self.tags.is_some() || self.elements.is_some();
        let is_other = is_marked_up || self.brackets.is_some() || self.is_mark_only;
        self.kind != FrameKind::FileEdit && !is_other
    }

    /// Whether it ends where something follows its JSON that is not JSON.
    fn ends_with_json(&self) -> bool {
        matches!(self.kind, FrameKind::Tag | FrameKind::Hermes | FrameKind::Template(_))
    }

    /// Whether it is only shown (policy P7).
    fn is_shown(&self) -> bool {
        self.cue == Cue::Strong || (self.cue == Cue::Weak && !self.is_explicit())
    }

    /// The mark that ends it, besides a fence.
    fn close_mark(&self) -> &'static str {
        match self.kind {
            FrameKind::Tag => TAG_CLOSE,
            FrameKind::Hermes => HERMES_CLOSE,
            FrameKind::FileEdit => file_edit::CLOSE,
            FrameKind::Template(template) => template.end,
            FrameKind::Fence { .. } | FrameKind::Line | FrameKind::Whole => "",
        }
    }

    /// Reads what stands between its marks as calls.
    fn inside(&self, registry: &Registry, body: &str, closed: bool) -> Inside {
        let mut inside = self.written(registry, body, closed);
        if self.is_typed {
            inside.diagnostics.append(&mut inside.typed);
        }
        inside
    }

    fn written(&self, registry: &Registry, body: &str, closed: bool) -> Inside {
        match (self.kind, &self.name) {
            (FrameKind::FileEdit, tag) => {
                file_edit::inside(registry, tag.as_deref().unwrap_or_default(), body)
            }
            (FrameKind::Template(template), Some(name)) if let Some(tags) = &self.tags => {
                tags.inside(template, registry, name, body)
            }
            (FrameKind::Template(template), Some(name)) if let Some(elements) = &self.elements => {
                elements.inside(template, registry, name, body)
            }
            (FrameKind::Template(template), name) if let Some(brackets) = &self.brackets => {
                brackets.calls(template, registry, name.as_deref(), body)
            }
            (FrameKind::Template(template), None) if template.has_keyed_json() => {
                calls::keyed(registry, body, closed)
            }
            (FrameKind::Whole, _) if !self.joints.is_empty() => self.joined_inside(registry, body),
            (_, name) => calls::inside(registry, name.as_deref(), body, closed, self.is_explicit()),
        }
    }

    /// Reads several values, each by itself.
    fn joined_inside(&self, registry: &Registry, body: &str) -> Inside {
        let mut inside = Inside::default();
        let ends = self.joints.iter().copied().chain([body.len()]);
        let mut from = 0;
        for end in ends {
            inside.append(calls::inside(registry, None, &body[from..end], false, false));
            from = end + 1;
        }
        inside
    }
}
