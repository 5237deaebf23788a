//! What may be a call, from its first mark to its end.

use super::calls::{self, Inside};
use super::cue::Cue;
use super::data::Data;
use super::live::{self, Live};
use super::mend;
use super::scan::{Found, Scan};
use super::watch::{Shape, Watch};
use super::{CALL_BYTES_MAX, CALLS_MAX, Parser, State, Step, file_edit};
use crate::event::{Code, Event};

/// How far the text after a suspected end is looked at for the real one, in bytes.
const SUSPICION_BYTES_MAX: usize = 64 << 10;
/// How many suspected ends of one frame are tried.
const SUSPECTS_MAX: usize = 8;
/// How often a reply may be read again from an end that was suspected only.
const FALLBACKS_MAX: usize = 64;
const TAG_CLOSE: &str = "[/TOOL]";
const HERMES_CLOSE: &str = "</tool_call>";

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
    /// JSON that is the whole reply.
    Whole,
}

/// What may be a call. Places are counted from its first byte.
#[derive(Debug)]
pub(super) struct Frame {
    kind: Kind,
    /// Where its inside begins.
    body: usize,
    /// What its mark says: the tool, or the attributes of a tag.
    name: Option<String>,
    cue: Cue,
    scan: Scan,
    watch: Watch,
    /// Where its JSON was whole, from the beginning of its inside.
    balanced: Option<usize>,
    /// Where something follows its JSON that is none.
    other: Option<usize>,
    suspect: Option<usize>,
    suspects: usize,
    live: Option<Live>,
    /// How far the end mark was looked for.
    searched: usize,
    /// How far the real end is looked for after a suspected one, in bytes.
    suspicion_bytes_max: usize,
}

/// Where a frame ends, from the beginning of its inside.
struct End {
    body: usize,
    frame: usize,
    /// Whether its end mark is there.
    closed: bool,
}

// === impl Frame ===

impl Frame {
    pub(super) fn new(kind: Kind, body: usize) -> Self {
        let (sign, fence) =
            if let Kind::Fence { sign, run, .. } = kind { (sign, run) } else { (b'`', 0) };
        Self {
            kind,
            body,
            name: None,
            cue: Cue::None,
            scan: Scan::new(sign, fence),
            watch: Watch::new(Shape::Call),
            balanced: None,
            other: None,
            suspect: None,
            suspects: 0,
            live: None,
            searched: 0,
            suspicion_bytes_max: SUSPICION_BYTES_MAX,
        }
    }

    /// Takes what its mark says. The inside is then the arguments.
    pub(super) fn named(mut self, name: &str) -> Self {
        self.name = Some(name.to_owned());
        self.watch = Watch::new(Shape::Arguments);
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
            Kind::Fence { .. } | Kind::Line | Kind::Whole => "",
        }
    }

    /// Looks for its end. `body` is its inside so far.
    fn end(&mut self, body: &str, is_last: bool) -> Option<End> {
        if self.kind == Kind::FileEdit {
            return self.end_of_lines(body);
        }
        loop {
            let found = self.scan.next(body, is_last);
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
                Found::Mark(place) => match self.mark(body, place, is_last) {
                    Ok(Some(end)) => return Some(end),
                    Ok(None) => {}
                    Err(place) => {
                        self.scan.back_to(place);
                        return None;
                    }
                },
                Found::Other(place) => {
                    self.other.get_or_insert(place);
                    let ends = matches!(self.kind, Kind::Tag | Kind::Hermes);
                    if let (true, Some(balanced)) = (ends, self.balanced) {
                        return Some(End { body: balanced, frame: balanced, closed: false });
                    }
                    if self.kind == Kind::Whole {
                        return Some(End { body: place, frame: place, closed: false });
                    }
                }
                Found::Suspect(place) => {
                    self.suspects += 1;
                    let is_end = self.suspects <= SUSPECTS_MAX
                        && mend::values(&body[..place], true).is_some();
                    if is_end {
                        return Some(self.fence_end(body, place));
                    }
                    self.suspect.get_or_insert(place);
                }
            }
        }
    }

    /// Looks whether a mark ends the frame. Fails with its place where more must come to know.
    fn mark(&mut self, body: &str, place: usize, is_last: bool) -> Result<Option<End>, usize> {
        let rest = &body[place..];
        if rest.starts_with(['`', '~']) {
            let end = self.fence_end(body, place);
            let is_run_over = end.frame < body.len() || is_last;
            return if is_run_over { Ok(Some(end)) } else { Err(place) };
        }
        let close = self.close_mark();
        if !close.is_empty() && rest.starts_with(close) {
            return Ok(Some(End { body: place, frame: place + close.len(), closed: true }));
        }
        if !is_last && !close.is_empty() && close.starts_with(rest) {
            return Err(place);
        }
        let is_over = self.scan.is_balanced() && matches!(self.kind, Kind::Tag | Kind::Hermes);
        let balanced = self.balanced.filter(|_| is_over);
        Ok(balanced.map(|place| End { body: place, frame: place, closed: false }))
    }

    fn fence_end(&self, body: &str, place: usize) -> End {
        let sign = body.as_bytes()[place];
        let run = body[place..].bytes().take_while(|byte| *byte == sign).count();
        End { body: place, frame: place + run, closed: true }
    }

    /// Ends at a place that only seemed to be the end, where no better one is near.
    fn end_at_suspect(&self, body: &str, found: Found) -> Option<End> {
        let suspect = self.suspect?;
        let place = match found {
            Found::Nothing => body.len(),
            Found::Balanced(place) | Found::Mark(place) => place,
            Found::Other(place) | Found::Suspect(place) => place,
        };
        (place.saturating_sub(suspect) > self.suspicion_bytes_max)
            .then(|| self.fence_end(body, suspect))
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
    fn last_end(&self, body: &str) -> Option<End> {
        if let (true, Some(balanced)) = (self.scan.is_balanced(), self.balanced) {
            let place = self.other.unwrap_or(body.len());
            let place = if matches!(self.kind, Kind::Fence { .. }) { place } else { balanced };
            return Some(End { body: place, frame: place, closed: false });
        }
        if let Some(suspect) = self.suspect {
            return Some(self.fence_end(body, suspect));
        }
        let close = self.close_mark();
        if close.is_empty() || self.kind == Kind::FileEdit {
            return None;
        }
        let place = body.find(close)?;
        Some(End { body: place, frame: place + close.len(), closed: true })
    }

    /// Reads its inside.
    fn inside(&self, parser: &Parser, body: &str, closed: bool) -> Inside {
        let registry = &parser.registry;
        match (self.kind, &self.name) {
            (Kind::FileEdit, tag) => {
                file_edit::inside(registry, tag.as_deref().unwrap_or_default(), body)
            }
            (_, name) => calls::inside(registry, name.as_deref(), body, closed, self.is_explicit()),
        }
    }
}

// === impl Parser ===

impl Parser {
    /// Goes on with what may be a call.
    pub(super) fn frame(&mut self, mut frame: Box<Frame>, is_last: bool) -> Step {
        if frame.kind != Kind::FileEdit && self.look(&mut frame) {
            return Step::Again;
        }
        let is_over_long = self.rest().len() > CALL_BYTES_MAX;
        let body = self.body(&frame);
        if let Some(end) = frame.end(body, is_last && !is_over_long) {
            self.end(*frame, &end);
            return Step::Again;
        }
        if is_over_long {
            self.too_long(*frame);
            return Step::Again;
        }
        if !is_last {
            self.state = State::Frame(frame);
            return Step::NeedsMore;
        }
        let body = self.body(&frame);
        match frame.last_end(body) {
            Some(end) => self.end(*frame, &end),
            None => self.cut_off(&frame),
        }
        Step::Again
    }

    /// The inside of a frame so far.
    fn body(&self, frame: &Frame) -> &str {
        let rest = self.rest();
        &rest[frame.body..rest.floor_char_boundary(CALL_BYTES_MAX)]
    }

    /// Looks at the JSON of a frame as far as it came. Returns whether it turned out to be no call.
    fn look(&mut self, frame: &mut Frame) -> bool {
        loop {
            let body = self.body(frame);
            frame.watch.look(body, live::BEGIN_BYTES);
            let is_behind = frame.watch.is_behind(body);
            if !frame.is_explicit() && self.is_data(frame) {
                return true;
            }
            if !is_behind {
                break;
            }
            self.begin_live(frame);
        }
        self.begin_live(frame);
        self.advance(frame);
        false
    }

    /// Whether the JSON of a frame that is not marked as a call is none; if so, passes it on.
    fn is_data(&mut self, frame: &Frame) -> bool {
        let watch = &frame.watch;
        let unknown = watch.name().is_some_and(|name| self.registry.resolve(name).is_none());
        let is_none = !watch.is_viable() || unknown;
        match frame.kind {
            Kind::Whole if !watch.is_strict() => {
                // Text that happens to begin with a bracket.
                self.pass(1);
                true
            }
            Kind::Whole if is_none => {
                self.state = State::Data(Data::default());
                true
            }
            Kind::Fence { sign, run, .. } if is_none => {
                let is_block = self.rest().as_bytes()[frame.body - 1] == b'\n';
                if is_block {
                    self.pass(frame.body);
                    self.state = State::Code(vec![run], sign);
                } else {
                    self.pass(run);
                    self.line.toggle_code(run);
                }
                true
            }
            _ => false,
        }
    }

    /// Begins to pass on a call whose arguments are long, when nothing speaks against it.
    fn begin_live(&mut self, frame: &mut Frame) {
        let Some(pending) = frame.watch.pending() else { return };
        let is_whole_reply = frame.kind == Kind::Whole;
        if frame.live.is_some()
            || pending.text.len() < live::BEGIN_BYTES
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
        let may_be_made = self.made.iter().any(|made| {
            made.name == tool.name() && live::is_beginning(tool, &frame.watch, &made.arguments)
        });
        if may_be_made || !live::takes_strings(tool, &pending.key) {
            return;
        }
        let name = tool.name().to_owned();
        frame.live = Some(Live::new(self.begin(&name, None), name));
    }

    /// Passes on what is known by now of the arguments of a call that began.
    fn advance(&mut self, frame: &mut Frame) {
        let Some(live) = &mut frame.live else { return };
        let Some(tool) = self.registry.tool(live.tool()) else { return };
        let before = live.advance(tool, &frame.watch);
        let shown = live.shown();
        if shown.len() > before {
            let (index, fragment) = (live.index, shown[before..].to_owned());
            self.events.push(Event::ArgumentFragment { index, fragment });
        }
    }

    /// Ends a frame: makes its calls, or passes it on as text.
    fn end(&mut self, frame: Frame, end: &End) {
        let begin = self.at + frame.body;
        let body = self.text[begin..begin + end.body].to_owned();
        let length = frame.body + end.frame;
        let mut inside = frame.inside(self, &body, end.closed);
        let is_whole = frame.kind != Kind::Whole || frame.other.is_none();
        let makes = !inside.calls.is_empty()
            && is_whole
            && (frame.is_explicit() || inside.broken == 0)
            && self.begun + inside.calls.len() <= CALLS_MAX + usize::from(frame.live.is_some());
        if frame.is_shown() {
            return self.show(&frame, length, makes);
        }
        if !makes {
            if frame.is_explicit() {
                for diagnostic in inside.diagnostics {
                    self.events.push(Event::Diagnostic(diagnostic));
                }
            }
            return self.no_call(&frame, length);
        }
        if let Some(live) = &frame.live {
            let made = inside.calls.remove(0);
            let json = serde_json::to_string(&made.arguments).unwrap_or_default();
            if live.tool() != made.name || !json.starts_with(live.shown()) {
                self.tell(Code::MalformedJson, "the arguments are written twice, and differ");
                return self.no_call(&frame, length);
            }
            self.make(made, Some((live.index, live.shown().len())));
        }
        self.at += length;
        self.line.forget();
        for made in inside.calls {
            self.make(made, None);
        }
        for diagnostic in inside.diagnostics {
            self.events.push(Event::Diagnostic(diagnostic));
        }
        let has_end_mark = matches!(frame.kind, Kind::Line | Kind::Whole) || end.closed;
        if !has_end_mark {
            self.tell(Code::UnclosedFrame, "the end mark of the call is missing");
        }
    }

    /// Passes on a frame that is only shown.
    fn show(&mut self, frame: &Frame, length: usize, would_call: bool) {
        if frame.is_explicit() || would_call {
            let message = "the words before the call say that it is only shown";
            self.tell(Code::QuotedExample, message);
        }
        let text = self.text[self.at..self.at + length].to_owned();
        self.line.pass_shown(&text);
        super::push_text(&mut self.events, &text);
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
        self.events.push(Event::CallAbandoned { index: live.index, text });
    }

    /// Ends a frame in which the reply ends. Whatever it is, nobody runs it (policy P6).
    fn cut_off(&mut self, frame: &Frame) {
        let watch = &frame.watch;
        let named = watch.name().is_some_and(|name| self.registry.resolve(name).is_some());
        if (frame.is_explicit() || (named && watch.has_arguments())) && !frame.is_shown() {
            self.tell(Code::TruncatedCall, "the reply ends inside of a call; it was not made");
        }
        self.no_call(frame, self.rest().len());
    }

    fn too_long(&mut self, frame: Frame) {
        let message = format!("a call is longer than {CALL_BYTES_MAX} bytes; it is text");
        self.tell(Code::MalformedJson, message);
        let length = self.rest().floor_char_boundary(CALL_BYTES_MAX);
        self.no_call(&frame, length);
        if let Kind::Fence { sign, run, .. } = frame.kind {
            self.state = State::Code(vec![run], sign);
        }
    }
}
