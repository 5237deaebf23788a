//! What is declared in ways of which a text has several: at once, by assigning, by pointers, by signs.

use moss_symbols::Language;

use crate::reading::declarations;

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
        (Language::Php, "<?php class A { private $b; }\n", "class A, field A.b"),
        (Language::Java, "@interface A { String[] b() default {}; }\n", "interface A, method A.b"),
    ] {
        assert_eq!(declarations(language, text).join(", "), expected, "{text}");
    }
}
