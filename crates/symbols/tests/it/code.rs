//! Each language: declarations, what documents them, their signatures, calls, types and imports.

use moss_symbols::{Language, UseKind};

use crate::reading::{declarations, documentation, imports, outline, signature, slice, uses};

const RUST: &str = r#"
use std::collections::{BTreeMap, HashMap};

/// How many.
pub const COUNT: usize = 3;
static NAME: &str = "x";

/// A store.
///
/// Of things.
#[derive(Debug)]
pub struct Store<T> {
    /// What it holds.
    items: Vec<T>,
}

enum Kind { One, Two(u8) }

pub trait Shape {
    type Unit;
    fn area(&self) -> f64;
}

// A remark that documents nothing.
impl<T: Clone> Store<T> {
    /// Adds one.
    pub fn add(
        &mut self,
        item: T,
    ) -> usize {
        let local = item.clone();
        self.items.push(local);
        helper(self.items.len())
    }
}

impl Shape for Kind {
    type Unit = u8;
    fn area(&self) -> f64 { 0.0 }
}

macro_rules! twice { ($e:expr) => { $e }; }

fn helper(n: usize) -> usize { twice!(n); crate::deep::run(n); n.into::<u8>(); n }

#[cfg(test)]
mod tests {
    #[test]
    fn adds() {}
}
"#;

#[test]
fn rust() {
    assert_eq!(
        declarations(Language::Rust, RUST),
        [
            "constant COUNT",
            "variable NAME",
            "struct Store",
            "field Store.items",
            "enum Kind",
            "variant Kind.One",
            "variant Kind.Two",
            "trait Shape",
            "type Shape.Unit",
            "method Shape.area",
            "method Store.add",
            "type Kind.Unit",
            "method Kind.area",
            "macro twice",
            "function helper",
            "module tests",
            "function tests.adds",
        ]
    );
    let documented = documentation(Language::Rust, RUST);
    let of = |name: &str| {
        documented.iter().find(|(known, _)| known == name).map(|(_, text)| text.as_str())
    };
    assert_eq!(of("COUNT"), Some("/// How many."));
    assert_eq!(of("Store"), Some("/// A store.\n///\n/// Of things."));
    assert_eq!(of("items"), Some("/// What it holds."));
    assert_eq!(of("add"), Some("/// Adds one."));
    assert_eq!(of("helper"), None);
    assert_eq!(
        signature(Language::Rust, RUST, "add"),
        "pub fn add( &mut self, item: T, ) -> usize"
    );
    assert_eq!(signature(Language::Rust, RUST, "Store"), "pub struct Store<T>");
    let calls = uses(Language::Rust, RUST, UseKind::Call);
    assert_eq!(calls, ["clone", "push", "helper", "len", "twice", "run", "into"]);
    assert_eq!(imports(Language::Rust, RUST), ["std::collections::{BTreeMap, HashMap}"]);
    let imported = uses(Language::Rust, RUST, UseKind::Import);
    assert_eq!(imported, ["std", "collections", "BTreeMap", "HashMap"]);
    assert!(uses(Language::Rust, RUST, UseKind::Type).contains(&"Store".to_owned()));
}

const PYTHON: &str = r#"
import os.path
from typing import List

LIMIT = 3
names = []

# Reads things.
# All of them.
class Reader(Base):
    """Reads a file."""

    size: int = 0

    @property
    def name(self) -> str:
        """Its name."""
        value = compute(self)
        return value.strip()

    class Inner:
        pass


async def main(path: List[str], *, deep=True):
    def nested():
        return 1
    Reader().name
    os.path.join(path)
"#;

#[test]
fn python() {
    assert_eq!(
        declarations(Language::Python, PYTHON),
        [
            "constant LIMIT",
            "variable names",
            "class Reader",
            "variable Reader.size",
            "method Reader.name",
            "class Reader.Inner",
            "function main",
            "function main.nested",
        ]
    );
    let documented = documentation(Language::Python, PYTHON);
    let expected = [("Reader", "\"\"\"Reads a file.\"\"\""), ("name", "\"\"\"Its name.\"\"\"")];
    assert_eq!(documented, expected.map(|(name, text)| (name.to_owned(), text.to_owned())));
    assert_eq!(
        signature(Language::Python, PYTHON, "main"),
        "async def main(path: List[str], *, deep=True)"
    );
    let calls = uses(Language::Python, PYTHON, UseKind::Call);
    assert_eq!(calls, ["compute", "strip", "Reader", "join"]);
    assert_eq!(imports(Language::Python, PYTHON), ["os.path", "typing"]);
    assert!(uses(Language::Python, PYTHON, UseKind::Type).contains(&"List".to_owned()));
}

const JAVASCRIPT: &str = r#"
import { readFile } from "node:fs";

const LIMIT = 3;
let state = {};

/** Runs it. */
export default function run(input) {
  const local = 1;
  return helper(input).then((x) => x.done());
}

export const arrow = async (a, b) => {
  inner(a);
};

class Box extends Base {
  size = 3;
  #hidden = 1;
  constructor() { super(); }
  static of(x) { return new Box(x); }
}
"#;

#[test]
fn javascript() {
    assert_eq!(
        declarations(Language::JavaScript, JAVASCRIPT),
        [
            "constant LIMIT",
            "variable state",
            "function run",
            "function arrow",
            "class Box",
            "field Box.size",
            "field Box.#hidden",
            "method Box.constructor",
            "method Box.of",
        ]
    );
    assert_eq!(
        documentation(Language::JavaScript, JAVASCRIPT),
        [("run".to_owned(), "/** Runs it. */".to_owned())]
    );
    assert_eq!(signature(Language::JavaScript, JAVASCRIPT, "run"), "function run(input)");
    assert_eq!(signature(Language::JavaScript, JAVASCRIPT, "arrow"), "arrow = async (a, b) =>");
    let calls = uses(Language::JavaScript, JAVASCRIPT, UseKind::Call);
    assert_eq!(calls, ["helper", "then", "done", "inner", "Box"]);
    assert_eq!(imports(Language::JavaScript, JAVASCRIPT), ["node:fs"]);
}

const TYPESCRIPT: &str = r#"
import type { A } from './a';

export interface Shape<T> {
  area: number;
  scale(by: number): Shape<T>;
}

export type Pair = [Shape<A>, string];

export enum Color { Red, Green = 2 }

// Not abstract for fun.
export abstract class Base<T> implements Shape<T> {
  private readonly list: T[] = [];
  abstract name(): string;
  public get size(): number { return this.list.length; }
}

namespace Inner { export function deep(): void {} }

declare function outside(x: Pair): void;
"#;

#[test]
fn typescript() {
    let expected = [
        "interface Shape",
        "field Shape.area",
        "method Shape.scale",
        "type Pair",
        "enum Color",
        "variant Color.Red",
        "variant Color.Green",
        "class Base",
        "field Base.list",
        "method Base.name",
        "method Base.size",
        "module Inner",
        "function Inner.deep",
        "function outside",
    ];
    assert_eq!(declarations(Language::TypeScript, TYPESCRIPT), expected);
    assert_eq!(declarations(Language::Tsx, TYPESCRIPT), expected);
    assert_eq!(
        documentation(Language::TypeScript, TYPESCRIPT),
        [("Base".to_owned(), "// Not abstract for fun.".to_owned())]
    );
    assert_eq!(imports(Language::TypeScript, TYPESCRIPT), ["./a"]);
    let types = uses(Language::TypeScript, TYPESCRIPT, UseKind::Type);
    assert!(types.contains(&"Pair".to_owned()), "{types:?}");
    let markup = "const View = (props) => <Button onClick={props.go}>x</Button>;";
    assert_eq!(declarations(Language::Tsx, markup), ["function View"]);
}

const GO: &str = r#"
package shop

import (
	"fmt"
	str "strings"
)

// Limit is the most.
const Limit = 3

var count, total int

// Cart holds things.
type Cart struct {
	Items []Item
	name  string
}

type Priced interface {
	Price() int
}

type ID = string

// Add puts one in.
func (c *Cart) Add(item Item) error {
	local := str.TrimSpace(item.Name)
	fmt.Println(local)
	return c.check(item)
}

func New[T any](x T) *Cart { return &Cart{} }
"#;

#[test]
fn go() {
    assert_eq!(
        declarations(Language::Go, GO),
        [
            "constant Limit",
            "variable count",
            "variable total",
            "struct Cart",
            "field Cart.Items",
            "field Cart.name",
            "interface Priced",
            "method Priced.Price",
            "type ID",
            "method Cart.Add",
            "function New",
        ]
    );
    let documented = documentation(Language::Go, GO);
    let names: Vec<&str> = documented.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["Limit", "Cart", "Add"]);
    assert_eq!(documented[1].1, "// Cart holds things.");
    assert_eq!(signature(Language::Go, GO, "Add"), "func (c *Cart) Add(item Item) error");
    assert_eq!(uses(Language::Go, GO, UseKind::Call), ["TrimSpace", "Println", "check"]);
    assert_eq!(imports(Language::Go, GO), ["fmt", "strings"]);
}

const JAVA: &str = r#"
package shop;

import java.util.List;

/** A cart. */
public class Cart<T> implements Priced {
    /** How many. */
    private static final int LIMIT = 3;
    private List<T> items;

    @Override
    public int price(Item item) throws IOException {
        int local = item.cost();
        return helper(local) + new Sum(local).total();
    }

    Cart() { this.items = null; }

    enum State { OPEN, CLOSED }
    interface Inner { void run(); }
    record Point(int x, int y) {}
}
"#;

#[test]
fn java() {
    assert_eq!(
        declarations(Language::Java, JAVA),
        [
            "class Cart",
            "field Cart.LIMIT",
            "field Cart.items",
            "method Cart.price",
            "method Cart.Cart",
            "enum Cart.State",
            "variant State.OPEN",
            "variant State.CLOSED",
            "interface Cart.Inner",
            "method Inner.run",
            "class Cart.Point",
        ]
    );
    let documented = documentation(Language::Java, JAVA);
    let names: Vec<&str> = documented.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["Cart", "LIMIT"]);
    assert_eq!(uses(Language::Java, JAVA, UseKind::Call), ["cost", "helper", "Sum", "total"]);
    assert_eq!(imports(Language::Java, JAVA), ["import java.util.List;"]);
}

const C: &str = r#"
#include <stdio.h>
#include "own.h"
#define LIMIT 3
#define SQUARE(x) ((x) * (x))

/* A list. */
struct list {
    int length;
    struct list *next;
    int (*compare)(int, int);
};

typedef struct list list_t;
typedef int (*callback)(void *);
enum color { RED, GREEN = 2 };
static int count = 0;
int prototype(int a);

/* Adds one. */
static int *add(struct list *l, int n)
{
    int local = SQUARE(n);
    l->compare(n, local);
    return helper(l);
}
"#;

#[test]
fn c() {
    assert_eq!(
        declarations(Language::C, C),
        [
            "macro LIMIT",
            "macro SQUARE",
            "struct list",
            "field list.length",
            "field list.next",
            "field list.compare",
            "type list_t",
            "type callback",
            "enum color",
            "variant color.RED",
            "variant color.GREEN",
            "variable count",
            "function add",
        ]
    );
    let documented = documentation(Language::C, C);
    let names: Vec<&str> = documented.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["list", "add"]);
    assert_eq!(signature(Language::C, C, "add"), "static int *add(struct list *l, int n)");
    assert_eq!(uses(Language::C, C, UseKind::Call), ["SQUARE", "compare", "helper"]);
    assert_eq!(imports(Language::C, C), ["stdio.h", "own.h"]);
}

const CPP: &str = r#"
#include <vector>

namespace shop {

/// A cart.
template <typename T>
class Cart : public Base {
 public:
  explicit Cart(int n);
  int size() const { return items_.size(); }
  virtual void clear() = 0;
 private:
  std::vector<T> items_;
};

using Number = long;
enum class State { Open, Closed };

}  // namespace shop

template <typename T>
int shop::Cart<T>::total(int by) {
  auto f = [](int x) { return x; };
  return std::max(by, helper<T>(f(1)));
}
"#;

#[test]
fn cpp() {
    assert_eq!(
        declarations(Language::Cpp, CPP),
        [
            "module shop",
            "class shop.Cart",
            "method Cart.Cart",
            "method Cart.size",
            "method Cart.clear",
            "field Cart.items_",
            "type shop.Number",
            "enum shop.State",
            "variant State.Open",
            "variant State.Closed",
            "method Cart.total",
        ]
    );
    let documented = documentation(Language::Cpp, CPP);
    assert_eq!(documented, [("Cart".to_owned(), "/// A cart.".to_owned())]);
    assert_eq!(uses(Language::Cpp, CPP, UseKind::Call), ["size", "max", "helper", "f"]);
    assert_eq!(imports(Language::Cpp, CPP), ["vector"]);
}

const RUBY: &str = r#"
require "json"

module Shop
  LIMIT = 3

  # A cart.
  class Cart < Base
    def add(item)
      check(item)
      @items.push item
    end

    def self.empty?
      new.size.zero?
    end
  end
end

def helper; end
"#;

#[test]
fn ruby() {
    assert_eq!(
        declarations(Language::Ruby, RUBY),
        [
            "module Shop",
            "constant Shop.LIMIT",
            "class Shop.Cart",
            "method Cart.add",
            "method Cart.empty?",
            "function helper",
        ]
    );
    let documented = documentation(Language::Ruby, RUBY);
    assert_eq!(documented, [("Cart".to_owned(), "# A cart.".to_owned())]);
    let calls = uses(Language::Ruby, RUBY, UseKind::Call);
    assert_eq!(calls, ["require", "check", "push", "size", "zero?"]);
}

const PHP: &str = r#"<?php
namespace Shop;

use Shop\Base\Thing;

const LIMIT = 3;

/** A cart. */
final class Cart extends Thing implements Priced
{
    private array $items = [];
    const MAX = 1;

    public function add(Item $item): void
    {
        $local = $item->cost();
        helper($local);
        self::check(new Sum());
    }
}

interface Priced { public function price(); }
trait Logs { }
enum State { case Open; }
function helper($x) { return $x; }
"#;

#[test]
fn php() {
    assert_eq!(
        declarations(Language::Php, PHP),
        [
            "constant LIMIT",
            "class Cart",
            "field Cart.items",
            "constant Cart.MAX",
            "method Cart.add",
            "interface Priced",
            "method Priced.price",
            "trait Logs",
            "enum State",
            "variant State.Open",
            "function helper",
        ]
    );
    let documented = documentation(Language::Php, PHP);
    assert_eq!(documented, [("Cart".to_owned(), "/** A cart. */".to_owned())]);
    assert_eq!(uses(Language::Php, PHP, UseKind::Call), ["cost", "helper", "check", "Sum"]);
}

const BASH: &str = r#"
LIMIT=3
# Runs it.
run() {
  local x=1
  helper "$x" | grep -v y
}
function other { run; }
run
"#;

#[test]
fn bash() {
    let expected = ["variable LIMIT", "function run", "function other"];
    assert_eq!(declarations(Language::Bash, BASH), expected);
    let documented = documentation(Language::Bash, BASH);
    assert_eq!(documented, [("run".to_owned(), "# Runs it.".to_owned())]);
    assert_eq!(uses(Language::Bash, BASH, UseKind::Call), ["helper", "grep", "run", "run"]);
}

const LUA: &str = r#"
local M = {}
-- Adds.
function M.add(a, b) return helper(a) + b end
local function helper(x) return M.add(x, 1) end
function M:method() self:other() end
"#;

#[test]
fn lua() {
    let expected = ["method M.add", "function helper", "method M.method"];
    assert_eq!(declarations(Language::Lua, LUA), expected);
    assert_eq!(uses(Language::Lua, LUA, UseKind::Call), ["helper", "add", "other"]);
}

#[test]
fn signatures_end_before_comments_and_are_the_line_of_the_name_without_a_body() {
    for (language, text, name, expected) in [
        (Language::Python, "def a(b) -> str:  # Only c.\n    pass\n", "a", "def a(b) -> str"),
        (Language::Python, "class A:  # B.\n    '''c'''\n", "A", "class A"),
        (Language::Python, "A = [  # B.\n    '#',\n]\n", "A", "A = ["),
        (Language::Python, "A = '# no'\n", "A", "A = '# no'"),
        (Language::Ruby, "module M # Doc\n  A = 1\nend\n", "M", "module M"),
        (Language::Ruby, "class A # Doc\nend\n", "A", "class A"),
        (Language::C, "int a(int b) /* c */ // d\n{\n}\n", "a", "int a(int b)"),
        (Language::C, "int a(int b, /* c */ int d) {}\n", "a", "int a(int b, /* c */ int d)"),
        (Language::C, "int a = 1, /* b */ c = 2; // d\n", "a", "int a = 1, /* b */ c = 2;"),
        (
            Language::TypeScript,
            "export const a = (b: C): D => // e\n  // f\n  b.g();\n",
            "a",
            "a = (b: C): D =>",
        ),
        (Language::TypeScript, "interface A {\n  b: C // d\n}\n", "b", "b: C"),
        (
            Language::JavaScript,
            "const {\n  Axios,\n  AxiosError, // an error\n  all\n} = axios;\n",
            "AxiosError",
            "AxiosError",
        ),
        (Language::JavaScript, "const { a, b } = c;\n", "b", "{ a, b } = c"),
        (
            Language::Java,
            "class A {\n  @B(1)\n  public abstract int c(\n    int d);\n}\n",
            "c",
            "@B(1) public abstract int c(",
        ),
        (Language::Bash, "case x in a# ) ;; esac\na() # b\n{\n}\n", "a", "a()"),
    ] {
        assert_eq!(signature(language, text, name), expected, "{text}");
    }
}

#[test]
fn what_is_declared_in_a_group_is_documented_in_it() {
    for (language, text, expected) in [
        (
            Language::Go,
            "package p\n\n// c\nconst (\n\t// d\n\ta = 1\n\tb = 2 // x\n\t// e\n\tf = 3\n)\n",
            "a // d, f // e",
        ),
        (Language::Go, "package p\n\n// c\nconst (\n\ta = 1\n\tb = 2\n)\n", "a // c"),
        (
            Language::JavaScript,
            "let a = 1,\n  // d\n  b = 2;\nexport let /* x */ c = 3;\n",
            "b // d",
        ),
    ] {
        let found = documentation(language, text);
        let said: Vec<String> = found.iter().map(|(name, said)| format!("{name} {said}")).collect();
        assert_eq!(said.join(", "), expected, "{text}");
    }
}

#[test]
fn what_is_for_programs_documents_nothing() {
    for (language, text, expected) in [
        (Language::Bash, "#!/bin/bash\n# d\na() { :; }\n", "# d"),
        (Language::Bash, "#!/bin/bash\na() { :; }\n", ""),
        (Language::Python, "#!/usr/bin/env python3\n# -*- coding: utf-8 -*-\ndef a(): pass\n", ""),
        (Language::Python, "# d\n# type: ignore\n@b\ndef a(): pass\n", "# d"),
        (Language::Python, "def a():\n    r\"\"\"d\"\"\"\n", "\"\"\"d\"\"\""),
        (Language::Python, "def a():\n    U'd'\n", "'d'"),
        (Language::Python, "# d\ndef a():\n    b'e'\n", "# d"),
        (Language::Python, "# d\ndef a():\n    f'e{b}'\n", "# d"),
        (Language::JavaScript, "/* eslint-disable no-console */\nfunction a() {}\n", ""),
        (
            Language::TypeScript,
            "/** d */\n// @ts-expect-error\nexport const a = () => {};\n",
            "/** d */",
        ),
        (Language::TypeScript, "//#region a\nfunction a() {}\n//#endregion\n", ""),
        (Language::Go, "package b\n\n// d\n//nolint:all\nfunc a() {}\n", "// d"),
        (Language::Go, "package b\n\n//go:generate c\ntype a int\n", ""),
        (Language::Ruby, "# frozen_string_literal: true\ndef a; end\n", ""),
        (Language::Cpp, "// NOLINTNEXTLINE\nint a() { return 1; }\n", ""),
    ] {
        let found = documentation(language, text);
        let said: Vec<&str> = found.iter().map(|(_, said)| said.as_str()).collect();
        assert_eq!(said.join("; "), expected, "{text}");
    }
}

#[test]
fn what_lies_in_something_exported_decorated_or_generic_is_documented() {
    for (language, text) in [
        (Language::TypeScript, "export class A {\n  /** d */\n  b(): void {}\n}\n"),
        (Language::TypeScript, "/** d */\nexport const b = 1, c = 2;\n"),
        (Language::TypeScript, "/** d */\nexport declare const b: number;\n"),
        (
            Language::JavaScript,
            "export default f(() => {\n  /** d */\n  const b = () => {};\n});\n",
        ),
        (Language::JavaScript, "export default class A {\n  /** d */\n  b() {}\n}\n"),
        (Language::TypeScript, "export interface A {\n  /** d */\n  b: string;\n}\n"),
        (Language::Cpp, "template <class T>\nclass A {\n  /** d */\n  int b() { return 1; }\n};\n"),
        (Language::Python, "@c\nclass A:\n    # d\n    def b(self): pass\n"),
    ] {
        let found = documentation(language, text);
        let [(name, said)] = found.as_slice() else { panic!("{found:?}: {text}") };
        assert_eq!((name.as_str(), said.trim_matches(['/', '*', '#', ' '])), ("b", "d"), "{text}");
    }
}

#[test]
fn declarations_begin_with_what_stands_around_and_before_them() {
    for (language, text, name, expected) in [
        (
            Language::Python,
            "class A:\n    @c\n    @d(1)\n    def b(self):\n        'x'\n",
            "b",
            "@c",
        ),
        (Language::Python, "def a(): pass\n\n@c\ndef b(): pass\n", "b", "@c"),
        (Language::Rust, "fn a() {}\n/// D.\n#[e]\npub fn b() {}\n", "b", "/// D."),
        (Language::Rust, "#[e]\nmod m {\n    fn b() {}\n}\n", "b", "fn b"),
        (Language::TypeScript, "/** D. */\nexport class b {}\n", "b", "/** D."),
        (Language::Java, "class A {\n  @Override\n  int b() { return 1; }\n}\n", "b", "@Override"),
        // What stands around several begins the first.
        (Language::Go, "package a\n\nconst (\n\ta = 1\n\tb = 2\n)\n", "a", "const ("),
        (Language::Go, "package a\n\nconst (\n\ta = 1\n\tb = 2\n)\n", "b", "b = 2"),
    ] {
        let outline = outline(language, text);
        let mut found = outline.declarations.iter();
        let found = found.find(|one| slice(text, &one.name) == name).unwrap();
        assert!(text[found.begin as usize..].starts_with(expected), "{text}: {found:?}");
    }
}
