//! How the reader of replies continues with what may be a call: begins to pass it on, ends it, or
//! finds that it is no call.

use super::super::calls::{Inside, UNESCAPED};
use super::super::data::DataBlock;
use super::super::end::FrameEnd;
use super::super::live::{self, LiveCall};
use super::super::{CALL_BYTES_MAX, CALLS_MAX, ParseStep, Parser, ParserState, push_text, sloppy};
use super::{CUT_OFF, FALLBACKS_MAX, Frame, FrameKind, UNENDED};
use crate::diagnostic::DiagnosticCode;
use crate::event::ReplyEvent;

/// Said of JSON without a mark.
pub(in crate::parse) const NO_CALL: &str = "JSON names a tool and is no call as it stands";

// === impl Parser ===

impl Parser {
    /// Continues with what may be a call.
    pub(in crate::parse) fn frame(&mut self, mut frame: Box<Frame>, is_last: bool) -> ParseStep {
        if frame.is_json() && self.look(&mut frame) {
            return ParseStep::Again;
        }
        let is_over_long = self.rest().len() > CALL_BYTES_MAX;
        let body = self.body(&frame);
        if let Some(end) = frame.end(&self.registry, body, is_last && !is_over_long) {
            self.end(*frame, &end);
            return ParseStep::Again;
        }
        if is_over_long {
            self.too_long(*frame);
            return ParseStep::Again;
        }
        if !is_last {
            self.state = ParserState::Frame(frame);
            return ParseStep::NeedsMore;
        }
        // What is repaired at the end of the reply makes the rest of it be read again.
        let has_tags = frame.tags.is_some();
        let may_repair = !has_tags || (!self.is_cut && self.fallbacks < FALLBACKS_MAX);
        let body = self.body(&frame);
        match may_repair.then(|| frame.last_end(&self.registry, body)).flatten() {
            Some(end) => {
                self.fallbacks += usize::from(has_tags);
                self.end(*frame, &end);
            }
            None => self.cut_off(&frame),
        }
        ParseStep::Again
    }

    /// The inside of a frame so far.
    fn body(&self, frame: &Frame) -> &str {
        let rest = self.rest();
        &rest[frame.body..rest.floor_char_boundary(CALL_BYTES_MAX)]
    }

    /// Looks at the JSON of a frame as far as it came. Returns whether it turned out to be no call.
    fn look(&mut self, frame: &mut Frame) -> bool {
        // Nothing so short is passed on early, and only what is not marked may be found to be none.
        if frame.is_explicit() && self.body(frame).len() < live::BEGIN_BYTES {
            return false;
        }
        loop {
            let body = self.body(frame);
            let is_long = frame.watch.look(body, live::BEGIN_BYTES);
            let is_behind = frame.watch.is_behind(body);
            if !frame.is_explicit() && self.is_data(frame) {
                return true;
            }
            // Now or never: whether a call is passed on early must not depend on where it was cut.
            if is_long {
                self.begin_live(frame);
            }
            if !is_behind {
                break;
            }
        }
        self.advance(frame);
        false
    }

    /// Whether the JSON of a frame that is not marked as a call is no call; if so, passes it on.
    fn is_data(&mut self, frame: &Frame) -> bool {
        let watch = &frame.watch;
        let unknown = watch.name().is_some_and(|name| self.registry.resolve(name).is_none());
        let is_none = !watch.is_viable() || unknown;
        match frame.kind {
            FrameKind::Whole if !watch.is_strict() => {
                if self.is_meant(frame) != Some(false) {
                    return false;
                }
                // Text that happens to begin with a bracket.
                self.pass(1);
                true
            }
            FrameKind::Whole if is_none => {
                self.state = ParserState::Data(DataBlock::default());
                true
            }
            FrameKind::Fence { sign, run, .. } if is_none => {
                let is_block = self.rest().as_bytes()[frame.body - 1] == b'\n';
                if is_block {
                    self.pass(frame.body);
                    self.state = ParserState::Code(vec![run], sign);
                } else {
                    self.pass(run);
                    self.line.toggle_code(run);
                }
                true
            }
            _ => false,
        }
    }

    /// Whether JSON that is the whole reply and not strict is meant as a call; none where more must
    /// come to know.
    fn is_meant(&self, frame: &Frame) -> Option<bool> {
        let is_named = frame.watch.name().is_some_and(|name| self.registry.resolve(name).is_some());
        if is_named { Some(true) } else { sloppy::names_tool(&self.registry, self.body(frame)) }
    }

    /// Begins to pass on a call whose arguments are long, when nothing speaks against it.
    fn begin_live(&mut self, frame: &mut Frame) {
        let Some(pending) = frame.watch.pending() else { return };
        let is_whole_reply = frame.kind == FrameKind::Whole;
        if frame.live.is_some()
            || frame.is_shown()
            || is_whole_reply
            || frame.watch.is_late()
            || self.begun >= CALLS_MAX
        {
            return;
        }
        let name = frame.name.as_deref().or(frame.watch.name());
        let Some(tool) = name.and_then(|name| self.registry.resolve(name)) else { return };
        // One that was made already is not made again: what is the same so far may be one.
        let made = self.made.of_tool(tool.name());
        let may_be_made = live::is_beginning(tool, &frame.watch, made);
        if may_be_made || !live::takes_strings(tool, &pending.key) {
            return;
        }
        let name = tool.name().to_owned();
        frame.live = Some(LiveCall::new(self.begin(&name, None), name));
    }

    /// Passes on what is known by now of the arguments of a call that began.
    fn advance(&mut self, frame: &mut Frame) {
        let Some(live) = &mut frame.live else { return };
        let Some(tool) = self.registry.tool(live.tool()) else { return };
        let before = live.advance(tool, &frame.watch);
        let shown = live.shown();
        if shown.len() > before {
            let (index, fragment) = (live.index, shown[before..].to_owned());
            self.events.push(ReplyEvent::ArgumentFragment { index, fragment });
        }
    }

    /// Ends a frame: makes its calls, or passes it on as text.
    fn end(&mut self, frame: Frame, end: &FrameEnd) {
        let body = &self.rest()[frame.body..frame.body + end.body];
        let length = frame.body + end.frame;
        let lacks_fence = frame.lacks_fence(self.rest(), end);
        let mut inside = frame.inside(&self.registry, body, end.closed);
        // What is not marked at all is a call where it is the whole reply, and one value (policy P3).
        let is_one = frame.other.is_none() && inside.values <= 1 + frame.joints.len();
        let is_whole = frame.kind != FrameKind::Whole || is_one;
        let mut makes = !inside.calls.is_empty()
            && is_whole
            && (frame.is_explicit() || inside.broken == 0)
            && self.begun + inside.calls.len() <= CALLS_MAX + usize::from(frame.live.is_some());
        // In a sentence, marks around a few words are only spoken of.
        let is_spoken = frame.is_in_line && !body.contains('\n') && !frame.ends_line;
        if frame.is_shown() || is_spoken {
            return self.show(&frame, length, makes);
        }
        if makes && frame.must_end() && !end.closed {
            inside = Inside::default().none(DiagnosticCode::TruncatedCall, UNENDED);
            makes = false;
        }
        if !makes {
            let is_sloppy = frame.kind == FrameKind::Whole && is_whole && !frame.watch.is_strict();
            if frame.is_explicit() || frame.is_weak() || frame.live.is_some() || is_sloppy {
                for diagnostic in inside.diagnostics {
                    self.events.push(ReplyEvent::Diagnostic(diagnostic));
                }
            } else if self.is_alike(&frame) && frame.balanced.is_some() {
                return self.no_whole_reply(&frame, length);
            }
            return self.no_call(&frame, length);
        }
        if let Some(live) = &frame.live {
            let made = inside.calls.remove(0);
            let json = serde_json::to_string(&made.arguments).unwrap_or_default();
            if live.tool() != made.name || !json.starts_with(live.shown()) {
                self.note(DiagnosticCode::MalformedJson, UNESCAPED);
                return self.no_call(&frame, length);
            }
            self.make(made, Some((live.index, live.shown().len())));
        }
        self.in_group |= frame.begins_group;
        let ends_line = self.rest()[..length].trim_end_matches([' ', '\t', '\r']).ends_with('\n');
        self.at += length;
        self.line.forget(frame.after, ends_line);
        for made in inside.calls {
            self.make(made, None);
        }
        for diagnostic in inside.diagnostics {
            self.events.push(ReplyEvent::Diagnostic(diagnostic));
        }
        if lacks_fence {
            self.note(DiagnosticCode::UnclosedFrame, "the fence around the arguments has no end");
        }
        let has_end_mark = matches!(frame.kind, FrameKind::Line | FrameKind::Whole) || end.closed;
        if !has_end_mark {
            self.note(DiagnosticCode::UnclosedFrame, "the end mark of the call is missing");
        }
    }

    /// Whether JSON that is not marked as a call names a tool: where it began the reply, or has arguments.
    fn is_alike(&self, frame: &Frame) -> bool {
        let is_near = frame.kind == FrameKind::Whole || frame.watch.has_arguments();
        is_near && sloppy::names_tool(&self.registry, &self.rest()[frame.body..]) == Some(true)
    }

    /// Passes on JSON that names a tool and is not all that is there: it is reported, unless a
    /// sentence continues behind it that speaks against it.
    fn no_whole_reply(&mut self, frame: &Frame, length: usize) {
        if frame.kind != FrameKind::Whole {
            self.report_alike(NO_CALL);
            return self.no_call(frame, length);
        }
        let behind = frame.body + frame.balanced.unwrap_or(0);
        let gap = self.rest()[behind.min(length)..length].to_owned();
        self.no_call(frame, length);
        self.stand_behind(&gap);
    }

    /// Passes on a frame that is only shown.
    fn show(&mut self, frame: &Frame, length: usize, would_call: bool) {
        if frame.is_explicit() || would_call {
            let message = "the words before the call say that it is only shown";
            self.note(DiagnosticCode::QuotedExample, message);
        }
        let text = self.text[self.at..self.at + length].to_owned();
        self.line.pass_shown(&text);
        push_text(&mut self.events, &text);
        self.at += length;
    }

    /// Passes on a frame that is no call.
    fn no_call(&mut self, frame: &Frame, length: usize) {
        if frame.suspect.is_some() {
            self.fallbacks += 1;
        }
        let Some(live) = &frame.live else { return self.pass(length) };
        let text = self.text[self.at..self.at + length].to_owned();
        self.line.pass(&text);
        self.at += length;
        self.events.push(ReplyEvent::CallAbandoned { index: live.index, text });
    }

    /// Ends a frame in which the reply ends. Whatever it is, nobody runs it (policy P6).
    fn cut_off(&mut self, frame: &Frame) {
        let watch = &frame.watch;
        let named = watch.name().is_some_and(|name| self.registry.resolve(name).is_some());
        let is_sloppy = frame.kind == FrameKind::Whole && !watch.is_strict();
        let is_meant = is_sloppy && self.is_meant(frame) == Some(true);
        let is_marked = frame.is_explicit() || frame.is_weak();
        let is_meant = is_meant || (frame.kind == FrameKind::Whole && self.is_alike(frame));
        if (is_marked || is_meant || (named && watch.has_arguments())) && !frame.is_shown() {
            self.note(DiagnosticCode::TruncatedCall, CUT_OFF);
            self.in_group = false;
        }
        self.no_call(frame, self.rest().len());
    }

    fn too_long(&mut self, frame: Frame) {
        let message = format!("a call is longer than {CALL_BYTES_MAX} bytes; it is text");
        self.note(DiagnosticCode::MalformedJson, message);
        let length = self.rest().floor_char_boundary(CALL_BYTES_MAX);
        self.no_call(&frame, length);
        if let FrameKind::Fence { sign, run, .. } = frame.kind {
            self.state = ParserState::Code(vec![run], sign);
        }
    }
}
