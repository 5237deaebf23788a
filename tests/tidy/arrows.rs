//! Arrows between files: within a crate no file needs another that needs it, but for a child module that needs what
//! is above it. Whoever moves one file then moves that one alone.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::hold_but;
use crate::rust;
use crate::tree::{File, rust_files};

/// Circles that stay, by their first file, each with its reason.
const CIRCLES: &[(&str, &str)] = &[];

/// A module by its path in its crate: `call::record` is `["call", "record"]`, the root is empty.
type Module = Vec<String>;

/// The modules of a crate and what their files say.
struct Crate {
    /// The names that each brings into its scope: what `use` says.
    uses: BTreeMap<Module, Vec<Vec<String>>>,
    /// Other paths in each file.
    paths: BTreeMap<Module, Vec<Vec<String>>>,
}

#[test]
fn no_files_need_each_other() {
    let mut crates: BTreeMap<&str, Vec<(Module, &str)>> = BTreeMap::new();
    for file in rust_files().filter(|file| !file.is_test()) {
        if let Some((directory, module)) = module_of(file) {
            crates.entry(directory).or_default().push((module, file.code_without_tests()));
        }
    }
    let circles = crates.into_iter().flat_map(|(directory, files)| {
        let circles = Crate::new(files).circles();
        circles.into_iter().map(move |circle| {
            let place = |module: &Module| match module.is_empty() {
                true => format!("{directory}/src"),
                false => format!("{directory}/src/{}.rs", module.join("/")),
            };
            let all: Vec<String> = circle.iter().map(place).collect();
            (all[0].clone(), format!("needs itself by {}", all[1..].join(", ")))
        })
    });
    hold_but("no circle of files", circles, CIRCLES);
}

#[test]
fn a_circle_is_found_wherever_it_is_closed() {
    let circles = |files: &[(&str, &str)]| {
        let files = files.iter().map(|(name, code)| {
            let module = name.split("::").filter(|part| !part.is_empty()).map(str::to_owned);
            (module.collect(), *code)
        });
        Crate::new(files.collect()).circles().len()
    };
    let apart = [("", "mod a;\nmod b;\nuse self::a::A;"), ("a", "pub struct A;"), ("b", "")];
    assert_eq!(circles(&apart), 0);
    let direct = [("", ""), ("a", "use crate::b::B;\n"), ("b", "fn f(_: super::a::A) {}")];
    assert_eq!(circles(&direct), 1);
    let exported =
        [("", "pub use self::a::{A, Other};"), ("a", "use crate::b;"), ("b", "use crate::A;")];
    assert_eq!(circles(&exported), 1);
    let family = [("a", "mod c;\nuse self::c::C;"), ("a::c", "use super::A;"), ("", "")];
    assert_eq!(circles(&family), 0);
    let through_a_child = [
        ("", ""),
        ("a", "mod c;\nuse self::c::C;"),
        ("a::c", "use crate::b::B;"),
        ("b", "use crate::a::A;"),
    ];
    assert_eq!(circles(&through_a_child), 1);
    let three = [
        ("", ""),
        ("a", "use crate::b::{self, x};"),
        ("b", "use crate::{\n    c::d::D,\n};"),
        ("c", "mod d;"),
        ("c::d", "use super::super::a::A;"),
    ];
    assert_eq!(circles(&three), 1);
}

/// The directory of the crate of a file, and its module there; none for what is no source of a crate.
fn module_of(file: &File) -> Option<(&str, Module)> {
    let (directory, inner) = file.path.split_once("/src/")?;
    let stem = inner.strip_suffix(".rs")?;
    let module = match stem {
        "lib" | "main" => Vec::new(),
        _ => stem.split('/').map(str::to_owned).collect(),
    };
    Some((directory, module))
}

// === impl Crate ===

impl Crate {
    fn new(files: Vec<(Module, &str)>) -> Self {
        let mut uses: BTreeMap<Module, Vec<Vec<String>>> = BTreeMap::new();
        let mut paths: BTreeMap<Module, Vec<Vec<String>>> = BTreeMap::new();
        for (module, code) in files {
            let (imported, rest) = rust::imports(code);
            uses.entry(module.clone()).or_default().extend(imported);
            paths.entry(module).or_default().extend(rust::paths(&rest));
        }
        uses.entry(Vec::new()).or_default();
        Self { uses, paths }
    }

    /// The circles, each from its first module on, in the order in which they need each other.
    fn circles(&self) -> Vec<Vec<Module>> {
        let arrows = self.arrows();
        let mut seen = BTreeSet::new();
        let mut circles = Vec::new();
        for module in arrows.keys() {
            if seen.contains(module) {
                continue;
            }
            if let Some(circle) = shortest_circle(module, &arrows) {
                seen.extend(circle.iter().cloned());
                circles.push(circle);
            }
        }
        circles
    }

    /// Which modules each needs that are not above it: a child needs its parent, which is no circle of theirs.
    fn arrows(&self) -> BTreeMap<Module, BTreeSet<Module>> {
        let needed = |module: &Module| {
            let of_paths = self.paths.get(module).into_iter().flatten();
            let all = self.uses[module].iter().chain(of_paths);
            let found = all.filter_map(|path| self.resolve(module, path, 0));
            found.filter(|other| !module.starts_with(other)).collect()
        };
        self.uses.keys().map(|module| (module.clone(), needed(module))).collect()
    }

    /// The module that a path leads to, through what other modules pass on.
    fn resolve(&self, module: &Module, path: &[String], depth: usize) -> Option<Module> {
        const PASSED_ON_MAX: usize = 8;
        let mut at = module.clone();
        let mut rest = path;
        match path.first()?.as_str() {
            "crate" => at.clear(),
            "self" => {}
            "super" => {}
            first => {
                at.push(first.to_owned());
                if !self.uses.contains_key(&at) {
                    return None;
                }
                at.pop();
            }
        }
        while let Some(("crate" | "self", after)) = split(rest) {
            rest = after;
        }
        while let Some(("super", after)) = split(rest) {
            at.pop();
            rest = after;
        }
        while let Some((name, after)) = split(rest) {
            at.push(name.to_owned());
            if !self.uses.contains_key(&at) {
                at.pop();
                let passed_on = self.uses[&at].iter().find(|path| {
                    depth < PASSED_ON_MAX && path.last().is_some_and(|last| last == name)
                });
                let further = passed_on.and_then(|path| self.resolve(&at, path, depth + 1));
                return Some(further.unwrap_or(at));
            }
            rest = after;
        }
        Some(at)
    }
}

fn split(path: &[String]) -> Option<(&str, &[String])> {
    path.split_first().map(|(first, rest)| (first.as_str(), rest))
}

/// The shortest way from a module back to itself.
fn shortest_circle(
    start: &Module,
    arrows: &BTreeMap<Module, BTreeSet<Module>>,
) -> Option<Vec<Module>> {
    let mut from: BTreeMap<&Module, &Module> = BTreeMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(module) = queue.pop_front() {
        for next in arrows.get(module).into_iter().flatten() {
            if next == start {
                let mut circle = vec![module.clone()];
                let mut at = module;
                while at != start {
                    at = from[at];
                    circle.push(at.clone());
                }
                circle.reverse();
                return Some(circle);
            }
            if !from.contains_key(next) {
                from.insert(next, module);
                queue.push_back(next);
            }
        }
    }
    None
}
