//! Makes an outline of a parsed text: one walk over its tree, without recursion.

mod blanked;
mod lost;
mod naming;
mod nodes;
mod raw;
mod refine;
mod scopes;
mod signature;
mod uses;

use std::cell::Cell;
use std::collections::HashSet;
use std::time::{Duration, Instant};

use tree_sitter::{Node, Tree};

use self::naming::DeclaredName;
pub(crate) use self::nodes::{Step, each_node};
use self::scopes::{Boundary, Scope, Scopes};
use self::signature::NameLine;
use crate::language::Language;
use crate::outline::{Declaration, DeclarationKind, Import, Outline, TextRange};
use crate::rules::pragmas::is_pragma;
use crate::rules::{DeclarationReach, DeclarationRule, LanguageRules, rules};

/// Most declarations of a file.
const DECLARATIONS_MAX: usize = 50_000;
/// Most uses of names in a file.
const USES_MAX: usize = 500_000;
/// After so many nodes or names each the time is looked at.
const NODES_TIMED: usize = 64;

/// The time that a walk has.
struct WalkTime<'a> {
    has_passed: &'a dyn Fn() -> bool,
    seen: Cell<usize>,
    is_over: Cell<bool>,
}

/// What is gathered on the way.
struct OutlineWalk<'a> {
    language: Language,
    rules: &'static LanguageRules,
    text: &'a str,
    time: &'a WalkTime<'a>,
    scopes: Scopes,
    /// Comments and attributes that may belong to what comes next.
    leading: Vec<(TextRange, bool)>,
    /// What stands around declarations: where it ends and where it begins.
    wrappers: Vec<(usize, usize)>,
    /// Where the last import ends.
    import_end: usize,
    /// Where the names of declarations begin.
    declared: HashSet<u32>,
    /// The line of the name that was looked at last.
    line: NameLine,
    outline: Outline,
}

/// Walks over a tree once and notes what is declared, used and imported; none where that takes longer.
pub(crate) fn outline(
    language: Language,
    tree: &Tree,
    text: &str,
    time_max: Duration,
) -> Option<Outline> {
    let started = Instant::now();
    let (mut outline, is_late) = walk(language, tree, text, &|| started.elapsed() > time_max);
    if is_late {
        return None;
    }
    raw::without_signs(&mut outline, text);
    lost::recover(&mut outline, tree, text);
    blanked::add_macros(&mut outline, text);
    Some(outline)
}

/// Walks until the time is over. Returns whether that is so.
fn walk(
    language: Language,
    tree: &Tree,
    text: &str,
    has_passed: &dyn Fn() -> bool,
) -> (Outline, bool) {
    let outline = Outline {
        language,
        declarations: Vec::new(),
        uses: Vec::new(),
        imports: Vec::new(),
        is_cut: false,
    };
    let time = WalkTime { has_passed, seen: Cell::new(0), is_over: Cell::new(false) };
    let mut walk = OutlineWalk {
        language,
        rules: rules(language),
        text,
        time: &time,
        scopes: Scopes::default(),
        leading: Vec::new(),
        wrappers: Vec::new(),
        import_end: 0,
        declared: HashSet::new(),
        line: NameLine::default(),
        outline,
    };
    let is_whole = each_node(tree, |_| !time.is_over.get(), &mut |path| {
        if !time.is_over() {
            walk.look(path);
        }
    });
    walk.outline.is_cut |= !is_whole;
    (walk.outline, time.is_over.get())
}

pub(crate) fn range(node: Node<'_>) -> TextRange {
    bytes(node.start_byte(), node.end_byte())
}

/// Texts are far smaller than what the numbers can hold.
fn bytes(start: usize, end: usize) -> TextRange {
    u32::try_from(start).unwrap_or(u32::MAX)..u32::try_from(end).unwrap_or(u32::MAX)
}

// === impl WalkTime ===

impl WalkTime<'_> {
    /// Whether the time is over, as far as it was looked at.
    fn is_over(&self) -> bool {
        self.seen.set(self.seen.get() + 1);
        if !self.is_over.get() && self.seen.get().is_multiple_of(NODES_TIMED) {
            self.is_over.set((self.has_passed)());
        }
        self.is_over.get()
    }
}

// === impl OutlineWalk ===

impl<'t> OutlineWalk<'t> {
    fn look(&mut self, path: &[Step<'_>]) {
        let at = path[path.len() - 1];
        let (node, kind) = (at.node, at.node.kind());
        self.scopes.leave(node.start_byte());
        if !node.is_named() {
            return;
        }
        if self.rules.comments.contains(&kind) {
            // What is for programs stands between, as attributes do.
            let written = self.text.get(node.byte_range()).unwrap_or_default();
            self.leading.push((range(node), !is_pragma(written)));
        } else if self.rules.attributes.contains(&kind) {
            self.leading.push((range(node), false));
        }
        if self.rules.wrappers.contains(&kind) {
            while self.wrappers.pop_if(|(end, _)| *end <= node.start_byte()).is_some() {}
            self.wrappers.push((node.end_byte(), node.start_byte()));
        }
        if self.rules.functions.contains(&kind) {
            self.scopes.enter(Scope::function(node.end_byte()));
        }
        if let Some((_, field)) = find(self.rules.owners, kind) {
            let owner = node.child_by_field_name(field).and_then(|named| self.owner_name(named));
            self.scopes.enter(Scope::of_type(node.end_byte(), owner));
        }
        if let Some((_, field)) = find(self.rules.imports, kind) {
            self.import(node, field);
        }
        if self.rules.types.contains(&kind) {
            self.scopes.enter(Scope::nameless_type(node.end_byte()));
        }
        let matching = self.rules.declarations.iter().filter(|rule| rule.node == kind);
        for rule in matching {
            if self.declare(rule, path) {
                break;
            }
        }
        if node.child_count() == 0 && self.rules.names.contains(&kind) {
            self.use_name(path);
        }
    }

    /// The first name of a type in what names one: `Map` of `Map<K, V>`.
    fn type_name(&self, named: Node<'_>) -> Option<TextRange> {
        let is_name = |node: &Node<'_>| self.rules.type_names.contains(&node.kind());
        naming::first_within(named, &is_name).map(range)
    }

    /// What names the type that something is made to belong to: what is written, of one without a name.
    fn owner_name(&self, named: Node<'_>) -> Option<TextRange> {
        match naming::nameless_type(named) {
            Some(written) => Some(range(written)),
            None => self.type_name(named),
        }
    }

    fn import(&mut self, node: Node<'_>, field: &str) {
        let path = node.child_by_field_name(field).unwrap_or(node);
        self.import_end = self.import_end.max(node.end_byte());
        let path = naming::without_quotes(self.text, range(path));
        self.outline.imports.push(Import { path, range: range(node) });
    }

    /// Takes what a node declares. Returns whether that is anything.
    fn declare(&mut self, rule: &DeclarationRule, path: &[Step<'_>]) -> bool {
        let node = path[path.len() - 1].node;
        let parent = path.len().checked_sub(2).map(|place| path[place].node);
        if !rule.within.is_empty() && parent.is_none_or(|parent| parent.kind() != rule.within) {
            return false;
        }
        if !refine::may_declare(node, self.text) {
            return false;
        }
        let body = naming::body(node);
        if rule.needs_body && body.is_none() {
            return false;
        }
        let (container, is_in_function) = match rule.reach {
            DeclarationReach::Scope => (self.scopes.container(), self.scopes.is_in_function()),
            DeclarationReach::Type => (self.type_around(), false),
            DeclarationReach::Program => (self.scopes.container(), false),
        };
        // Values of PHP are no functions, whatever their names are.
        if is_in_function && self.language == Language::Php && is_value(rule.kind) {
            return false;
        }
        let mut first = None;
        for name in DeclaredName::all(rule.name, node, self.rules, self.text) {
            let kind = refine::kind(self.language, rule.kind, path, &name, self.text);
            let Some(kind) = kind else { continue };
            let is_local = is_value(kind) && is_in_function;
            if is_local || !self.has_room() {
                continue;
            }
            // A node may both declare a type and be what belongs to it.
            let around = self.scopes.owner().filter(|owner| *owner != name.range);
            let owner = name.owner.or_else(|| self.receiver(node)).or(around);
            let declared = |place: u32| &self.outline.declarations[place as usize];
            let is_of_type =
                owner.is_some() || container.is_some_and(|place| is_type(declared(place).kind));
            let kind = match kind {
                DeclarationKind::Function if is_of_type => DeclarationKind::Method,
                kind => kind,
            };
            let place = u32::try_from(self.outline.declarations.len()).unwrap_or(u32::MAX);
            // What documents the first of several names documents all of them.
            let (begin, documentation) = match first.map(declared) {
                Some(first) => (first.begin, first.documentation.clone()),
                None => self.before(node, body),
            };
            self.declared.insert(name.range.start);
            let comments = self.rules.comments;
            let line = &mut self.line;
            let signature = line.signature((node, body), &name.range, comments, self.text);
            self.outline.declarations.push(Declaration {
                name: name.range,
                kind,
                range: range(node),
                begin,
                signature,
                documentation,
                container,
                owner,
            });
            first.get_or_insert(place);
        }
        let Some(first) = first else { return false };
        let kind = self.outline.declarations[first as usize].kind;
        let is_function = matches!(kind, DeclarationKind::Function | DeclarationKind::Method);
        let of_type = is_type(kind).then_some(Boundary::Type);
        let boundary = if is_function { Some(Boundary::Function) } else { of_type };
        self.scopes.enter(Scope::declaration(node.end_byte(), first, boundary));
        true
    }

    /// Whether there is room and time for another declaration: one node may have very many.
    fn has_room(&mut self) -> bool {
        let has_room = self.outline.declarations.len() < DECLARATIONS_MAX && !self.time.is_over();
        self.outline.is_cut |= !has_room;
        has_room
    }

    /// The declaration around the function that is around; none of a type without a name.
    fn type_around(&self) -> Option<u32> {
        let function = self.scopes.container()?;
        self.outline.declarations[function as usize].container
    }

    /// The type of a Go receiver.
    fn receiver(&self, node: Node<'_>) -> Option<TextRange> {
        self.type_name(node.child_by_field_name("receiver")?)
    }

    /// Where a declaration begins with what stands around and right before it, and what documents it: a text at
    /// the beginning of its body, or comments before it.
    fn before(&mut self, node: Node<'_>, body: Option<Node<'_>>) -> (u32, Option<TextRange>) {
        let (start, wrapped) = (node.start_byte(), self.wrapped(node));
        // What stands around several declarations begins the first of them.
        let declarations = &self.outline.declarations;
        let is_first = |before: usize| {
            declarations.last().is_none_or(|last| (last.range.start as usize) < before)
        };
        let begin =
            |before: usize| bytes(if is_first(before) { before } else { start }, start).start;
        if self.language == Language::Python
            && let Some(text) = body.and_then(|body| naming::first_string(body, self.text))
        {
            return (begin(wrapped), Some(text));
        }
        let (before, around) = self.comments(wrapped);
        // Of several in one declaration each may have its own.
        let found = self.comments(start).1.or(around);
        let begin = begin(before);
        self.forget_leading(start);
        (begin, found.map(|found| naming::trimmed(self.text, found)))
    }

    /// Where what stands right before a byte begins, and the comments there that document what begins at the byte.
    fn comments(&self, mut before: usize) -> (usize, Option<TextRange>) {
        let mut found: Option<TextRange> = None;
        for (range, is_comment) in self.leading.iter().rev() {
            if range.start as usize >= before {
                continue;
            }
            let between = self.text.get(range.end as usize..before).unwrap_or_default();
            let own = self.text.get(range.start as usize..range.end as usize).unwrap_or_default();
            let breaks = between.matches('\n').count() + usize::from(own.ends_with('\n'));
            if !between.trim().is_empty() || breaks > 1 {
                break;
            }
            let begins_line = self.text[..range.start as usize]
                .chars()
                .rev()
                .take_while(|c| *c != '\n')
                .all(char::is_whitespace);
            let documents = self.rules.documenting.is_empty()
                || self.rules.documenting.iter().any(|sign| own.starts_with(sign));
            if *is_comment && !(documents && begins_line) {
                break;
            }
            before = range.start as usize;
            if *is_comment {
                let end = found.as_ref().map_or(range.end, |found| found.end);
                found = Some(range.start..end);
            }
        }
        (before, found)
    }

    /// Where a declaration begins with what stands around it, which may be several: `export const find = …`.
    fn wrapped(&self, node: Node<'_>) -> usize {
        // What stands around the container stands around all that it declares, and is not theirs.
        let container = self.scopes.container().map(|at| &self.outline.declarations[at as usize]);
        let is_inside = |at: usize| container.is_none_or(|outer| at > outer.range.start as usize);
        let mut begin = node.start_byte();
        let around = self.wrappers.iter().rev().filter(|(end, _)| *end >= node.end_byte());
        for (place, (_, start)) in around.take_while(|(_, start)| is_inside(*start)).enumerate() {
            let between = self.text.get(*start..begin).unwrap_or_default();
            // What it is a part of, such as what is exported, has more before it than words.
            if place > 0 && !between.chars().all(|c| c.is_alphabetic() || c.is_whitespace()) {
                break;
            }
            begin = begin.min(*start);
        }
        begin
    }

    /// Forgets comments that stand before what was declared: they belong to nothing later.
    fn forget_leading(&mut self, start: usize) {
        self.leading.retain(|(range, _)| range.start as usize >= start);
    }
}

fn find(
    table: &[(&'static str, &'static str)],
    kind: &str,
) -> Option<(&'static str, &'static str)> {
    table.iter().find(|(node, _)| *node == kind).copied()
}

/// Whether it is of a function alone where a function declares it.
fn is_value(kind: DeclarationKind) -> bool {
    matches!(kind, DeclarationKind::Variable | DeclarationKind::Constant | DeclarationKind::Field)
}

/// Whether functions that lie in it are methods.
fn is_type(kind: DeclarationKind) -> bool {
    matches!(
        kind,
        DeclarationKind::Class
            | DeclarationKind::Struct
            | DeclarationKind::Enum
            | DeclarationKind::Interface
            | DeclarationKind::Trait
            | DeclarationKind::Type
    )
}

#[cfg(test)]
mod tests {
    use super::nodes::DEPTH_MAX;
    use super::*;
    use crate::outliner::Outliner;

    #[test]
    fn a_walk_that_takes_too_long_ends() {
        let text = "fn a() { b(c); }\n".repeat(100);
        let tree = Outliner::default().parse(Language::Rust, &text).unwrap();
        let walk = |time_max| outline(Language::Rust, &tree, &text, time_max);
        assert_eq!(walk(Duration::MAX).unwrap().declarations.len(), 100);
        assert!(walk(Duration::ZERO).is_none());
    }

    #[test]
    fn a_declaration_with_very_many_names_ends_with_the_time() {
        let names: String = (0..10_000).map(|number| format!("a{number},")).collect();
        let text = format!("const {{{names}}} = x;\n// {}\n", "short\n//".repeat(30_000));
        let tree = Outliner::default().parse(Language::JavaScript, &text).unwrap();
        let (outline, is_late) = walk(Language::JavaScript, &tree, &text, &|| true);
        assert!(is_late);
        assert!(outline.declarations.len() < NODES_TIMED, "{}", outline.declarations.len());
    }

    #[test]
    fn what_is_left_out_is_said() {
        let is_cut = |language, text: &str| {
            let outliner = &mut Outliner::within(Duration::from_secs(60));
            outliner.outline(language, text).unwrap().is_cut
        };
        let values = |count| "int value_a = 1;\n".repeat(count);
        assert!(!is_cut(Language::C, &values(DECLARATIONS_MAX)));
        assert!(is_cut(Language::C, &values(DECLARATIONS_MAX + 1)));
        let uses = |count: usize| format!("x = [\n{}]\n", "a, a, a, a,\n".repeat(count / 4));
        assert!(!is_cut(Language::Python, &uses(1_000)));
        assert!(is_cut(Language::Python, &uses(USES_MAX + 4)));
        let deep = |depth: usize| format!("{}{}\n", "[\n".repeat(depth), "]".repeat(depth));
        assert!(!is_cut(Language::Json, &deep(DEPTH_MAX / 2)));
        assert!(is_cut(Language::Json, &deep(DEPTH_MAX + 10)));
    }
}
