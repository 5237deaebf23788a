//! What is declared in ways of which a text has several: at once, by assigning, by pointers, by signs.

use moss_symbols::Language;

use crate::reading::{declarations, outline, slice};

#[test]
fn each_name_of_a_declaration_is_declared() {
    for (language, text, expected) in [
        (
            Language::Go,
            "package a\nvar a, b int\nconst C, D = 1, 2\n",
            "variable a, variable b, constant C, constant D",
        ),
        (Language::Go, "package a\ntype P struct { x, y int }\n", "struct P, field P.x, field P.y"),
        (Language::C, "int a = 1, *b, c[2];\n", "variable a, variable b, variable c"),
        (Language::C, "struct p { int x, y; };\n", "struct p, field p.x, field p.y"),
        (
            Language::Python,
            "a, b = 1, 2\n(c, d) = e\n",
            "variable a, variable b, variable c, variable d",
        ),
        (
            Language::JavaScript,
            "const { a, b: c, d = 1, ...e } = f();\nlet [g, [h], i = 2] = f();\n",
            "variable a, variable c, variable d, variable e, variable g, variable h, variable i",
        ),
        (
            Language::JavaScript,
            "const { a } = require('./b');\nconst { c } = (await import('./d')).e;\n",
            "",
        ),
    ] {
        assert_eq!(declarations(language, text).join(", "), expected, "{text}");
    }
}

#[test]
fn what_points_to_a_function_is_a_variable_and_what_is_defined_elsewhere_is_nothing() {
    for (language, text, expected) in [
        (Language::C, "int (*run)(void);\n", "variable run"),
        (Language::C, "int *run(void);\nint run2(int (*f)(int));\n", ""),
        (Language::C, "struct s { void (*run)(int); };\n", "struct s, field s.run"),
        (
            Language::Cpp,
            "struct s { void (*run)(int); void go(); };\n",
            "struct s, field s.run, method s.go",
        ),
        (
            Language::C,
            "extern int count;\nint count;\nextern int set = 1;\n",
            "variable count, variable set",
        ),
    ] {
        assert_eq!(declarations(language, text).join(", "), expected, "{text}");
    }
}

#[test]
fn functions_are_declared_by_assigning_them() {
    for (language, text, expected) in [
        (Language::JavaScript, "exports.a = function () {};\nexports.b = 1;\n", "function a"),
        (Language::JavaScript, "module.exports = function c() {};\n", "function c"),
        (Language::JavaScript, "Store.prototype.add = () => {};\n", "method Store.add"),
        (
            Language::JavaScript,
            "const a = function a() {};\nconst B = class {};\n",
            "function a, class B",
        ),
        (Language::JavaScript, "on('x', function late() {});\n", "function late"),
        (Language::JavaScript, "A.prototype.b = b;\nA.prototype.c = 1;\nA.d = d;\n", "method A.b"),
        (Language::JavaScript, "on(class Late {});\n", "class Late"),
        (Language::JavaScript, "A.B = class C {};\n", "class A.B, class B.C"),
        (Language::JavaScript, "const A = class A {};\n", "class A"),
        (
            Language::TypeScript,
            "export const o = { a: () => 1, b: 2 };\n",
            "variable o, method o.a",
        ),
        (Language::Lua, "local M = {}\nM.a = function() end\nM.b = 1\n", "method M.a"),
        (Language::Lua, "return { a = function() end, b = 1 }\n", "function a"),
    ] {
        assert_eq!(declarations(language, text).join(", "), expected, "{text}");
    }
}

#[test]
fn names_may_be_signs_and_have_signs() {
    for (language, text, expected) in [
        (
            Language::Ruby,
            "class A\n  def <=>(o); end\n  def a=(v); end\nend\n",
            "class A, method A.<=>, method A.a=",
        ),
        (
            Language::Cpp,
            "struct A { ~A() {} bool operator==(int) { return true; } };\n",
            "struct A, method A.~A, method A.operator==",
        ),
        (
            Language::JavaScript,
            "class A { 'b-c'() {} }\nf({ 'd': () => 1, get 'e'() {} });\n",
            "class A, method A.b-c, method d, method e",
        ),
        (
            Language::TypeScript,
            "interface A { 'b-c': number }\nenum D { E, 'f', 'g' = 1 }\n",
            "interface A, field A.b-c, enum D, variant D.E, variant D.f, variant D.g",
        ),
        (
            Language::JavaScript,
            "class A { *[Symbol.iterator]() { let b; } [c]() { let d; } static { let e; } }\n",
            "class A, method A.[Symbol.iterator], method A.[c]",
        ),
        (Language::TypeScript, "namespace A.B { function c() {} }\n", "module A.B, function B.c"),
        (Language::TypeScript, "declare module 'a' { const b: number; }\n", "variable b"),
        (Language::Php, "<?php class A { private $b; }\n", "class A, field A.b"),
        (Language::Java, "@interface A { String[] b() default {}; }\n", "interface A, method A.b"),
    ] {
        assert_eq!(declarations(language, text).join(", "), expected, "{text}");
    }
}

#[test]
fn calls_of_ruby_declare_what_they_name() {
    for (text, expected) in [
        (
            "class A\n  attr_accessor :b, 'c', D\n  attr_reader(:e)\nend\n",
            "class A, field A.b, field A.c, field A.e",
        ),
        (
            "class A\n  alias_method :b?, :c\n  alias d e\n  define_method(:f) { g = 1 }\nend\n",
            "class A, method A.b?, method A.d, method A.f",
        ),
        ("class A\n  mattr_accessor :b, default: 1\nend\n", "class A, field A.b"),
        ("class A\n  attr_accessor *B\n  define_method(c) {}\n  d :e\nend\n", "class A"),
        ("def a\n  attr_reader :b\nend\n", "function a"),
    ] {
        assert_eq!(declarations(Language::Ruby, text).join(", "), expected, "{text}");
    }
}

#[test]
fn constructors_and_templates_of_a_class_are_its_methods_before_they_are_defined() {
    for (text, expected) in [
        (
            "class A {\n  explicit A(int n);\n  virtual ~A();\n  operator bool() const;\n};\n",
            "class A, method A.A, method A.~A, method A.operator bool",
        ),
        (
            "class A {\n  template <class T> A(T t);\n#if B\n  A();\n#endif\n};\n",
            "class A, method A.A, method A.A",
        ),
        ("class A { friend A b(int n); friend class C; };\n", "class A"),
        ("A a(int n);\ntemplate <class T> T b(T t);\n", ""),
    ] {
        assert_eq!(declarations(Language::Cpp, text).join(", "), expected, "{text}");
    }
}

#[test]
fn what_is_implemented_for_a_type_without_a_name_belongs_to_it() {
    for (of, container) in [
        ("str", "str"),
        ("&'static mut str", "str"),
        ("i32", "i32"),
        ("[u8]", "[u8]"),
        ("&[T]", "[T]"),
        ("[u8; 4]", "[u8; 4]"),
        ("(u8, A)", "(u8, A)"),
        ("()", "()"),
        ("*const u8", "*const u8"),
        ("fn(u8) -> u8", "fn(u8) -> u8"),
        ("&A<u8>", "A"),
        ("std::vec::Vec<u8>", "Vec"),
        ("Box<dyn B>", "Box"),
        ("dyn B + Send", "B"),
    ] {
        let text = format!("impl<T> From<Code> for {of} {{ const C: u8 = 1; fn from() {{}} }}\n");
        let expected = format!("constant {container}.C, method {container}.from");
        assert_eq!(declarations(Language::Rust, &text).join(", "), expected, "{text}");
    }
}

#[test]
fn what_is_defined_of_a_template_belongs_to_it() {
    for (text, expected) in [
        ("template <class T>\nvoid Box<T>::put(T t) {}\n", "method Box.put"),
        ("template <>\nvoid a::Box<int>::put(int t) {}\n", "method Box.put"),
        ("void Box<int>::Inner::put() {}\n", "method Inner.put"),
        ("template <>\nclass Box<int> { void put(int t) {} };\n", "class Box, method Box.put"),
        ("template <>\nstruct std::hash<Box> { int a; };\n", "struct std.hash, field hash.a"),
    ] {
        assert_eq!(declarations(Language::Cpp, text).join(", "), expected, "{text}");
    }
}

#[test]
fn types_with_macros_before_their_names_have_their_members() {
    for (text, expected) in [
        (
            "class Q_EXPORT Widget : public A, private B<int> {\n public:\n  void show();\n\
             \x20 int a() { return 1; }\n  int b;\n};\n",
            "class Widget, method Widget.show, method Widget.a, field Widget.b",
        ),
        ("class EXPORT Widget {\n  int b;\n};\n", "class Widget, field Widget.b"),
        ("struct EXPORT Widget final : A { int b; };\n", "struct Widget, field Widget.b"),
        ("class EXPORT Widget;\nstruct A b;\nstruct C d{};\n", "variable b, variable d"),
        ("struct A *b() { int c; return 0; }\nstruct A d() { int c; }\n", "function b, function d"),
        ("enum class EXPORT A : int { B };\n", "enum A, variant A.B"),
    ] {
        assert_eq!(declarations(Language::Cpp, text).join(", "), expected, "{text}");
    }
    let text = "struct EXPORT list { int length; struct list *next; };\n";
    let expected = "struct list, field list.length, field list.next";
    assert_eq!(declarations(Language::C, text).join(", "), expected);
    let text = "namespace a { class EXPORT(1) B : C { D e; }; }\n";
    let outline = outline(Language::Cpp, text);
    let used: Vec<_> =
        outline.uses.iter().map(|one| (slice(text, &one.name), one.container)).collect();
    assert_eq!(used, [("EXPORT", Some(1)), ("C", Some(1)), ("D", Some(2))]);
}

#[test]
fn members_of_types_are_declared_wherever_the_type_is() {
    for (language, text, expected) in [
        (
            Language::TypeScript,
            "function f() { class A { b = 1; c() { const d = 1; } } }\n",
            "function f, class f.A, field A.b, method A.c",
        ),
        (
            Language::TypeScript,
            "function f() { interface A { b: number } return new (class { c = 1 }); }\n",
            "function f, interface f.A, field A.b, field f.c",
        ),
        (
            Language::Php,
            "<?php function f() { $a = 1; return new class { public $b; function c() {} }; }\n",
            "function f, field f.b, method f.c",
        ),
        (
            Language::Python,
            "def f():\n    a = 1\n    class B:\n        c = 1\n",
            "function f, class f.B, variable B.c",
        ),
        (
            Language::Rust,
            "fn f() { struct A { b: u8 } let c = 1; }\n",
            "function f, struct f.A, field A.b",
        ),
    ] {
        assert_eq!(declarations(language, text).join(", "), expected, "{text}");
    }
}

#[test]
fn parameters_of_constructors_may_be_fields() {
    for (language, text, expected) in [
        (
            Language::TypeScript,
            "class A { constructor(private readonly b: B, public c = 1, readonly d?: D, e?: E) {} }\n",
            "class A, method A.constructor, field A.b, field A.c, field A.d",
        ),
        (
            Language::Php,
            "<?php class A { function __construct(private int $b, public readonly int $c, $d) {} }\n",
            "class A, method A.__construct, field A.b, field A.c",
        ),
    ] {
        assert_eq!(declarations(language, text).join(", "), expected, "{text}");
    }
}

#[test]
fn calls_and_assignments_of_php_declare_what_is_global() {
    for (text, expected) in [
        ("define('A', 1); \\define(\"B\", 2);", "constant A, constant B"),
        ("defined('A') or Define('A', 1); f('B');", "constant A"),
        ("define(\"A_$b\", 1); define($c, 2);", ""),
        ("function a() { define('B', 1); }", "function a, constant a.B"),
        ("$a = $b = 1; $c =& $d; $e->f = 4; $g[1] = 5;", "variable a, variable a.b, variable c"),
        ("if ($a = 1) { $b = 2; }", "variable a, variable b"),
        ("$a = function () { $b = 1; };", "variable a"),
        ("function a() { $b = 1; }", "function a"),
    ] {
        let text = format!("<?php {text}\n");
        assert_eq!(declarations(Language::Php, &text).join(", "), expected, "{text}");
    }
}
