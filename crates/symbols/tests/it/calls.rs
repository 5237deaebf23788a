//! What is called where something is created or shown, and the names of constructors.

use moss_symbols::{Language, UseKind};

use crate::reading::{outline, slice, uses};

#[test]
fn what_is_created_or_shown_is_called() {
    for (language, text, expected) in [
        (Language::Java, "class A { B b = new B<C>(d()) { }; }\n", "B, d"),
        (Language::Java, "class A { void f() { a.run(new Outer.Inner(1)); } }\n", "run, Inner"),
        (Language::Php, "<?php new A(new \\B\\C(D)); new $e; new static(); new F;\n", "A, C, F"),
        (Language::Php, "<?php new namespace\\A(); new class(b()) extends C {};\n", "A, b"),
        (Language::Cpp, "auto a = new B(c()); auto d = new e::F<G>{1};\n", "B, c, F"),
        (Language::Cpp, "auto a = B{1}; auto c = d::E<F>{};\n", "B, E"),
        (Language::JavaScript, "new A(); new b.C(D);\n", "A, C"),
        (
            Language::Ruby,
            "A.new(B)\nC::D.new.run\na.new\nA.of(1)\n",
            "A, new, D, new, run, new, of",
        ),
        (Language::Python, "A(B)\nc.D()\n", "A, D"),
        (
            Language::Tsx,
            "const A = () => <B.C><D<E> f={g}><h i=\"j\"/><k.l/></D></B.C>;\n",
            "C, D, l",
        ),
        (Language::JavaScript, "const a = <B {...c}>d<e>f</e></B>;\n", "B"),
    ] {
        assert_eq!(uses(language, text, UseKind::Call).join(", "), expected, "{text}");
    }
}

#[cfg(feature = "lang-extra")]
#[test]
fn what_further_languages_create_is_called() {
    for (language, text, expected) in [
        (Language::CSharp, "class A { B b = new C.D<E>(F()); }\n", "D, F"),
        (Language::Scala, "class A { val b = new C[D](1); val e = new f.G }\n", "C, G"),
        (Language::Dart, "var a = new B<C>(d()); var e = const F(1);\n", "B, d, F"),
        (Language::Kotlin, "val a = B(d())\n", "B, d"),
        (Language::Swift, "let a = B(c())\n", "B, c"),
    ] {
        assert_eq!(uses(language, text, UseKind::Call).join(", "), expected, "{text}");
    }
}

#[test]
fn constructors_are_called_by_the_names_of_their_types() {
    for (language, text, expected) in [
        (
            Language::Python,
            "class A:\n    def __init__(self): pass\n    def b(self): pass\n",
            "A, A, b",
        ),
        (Language::Php, "<?php class A { function __construct() {} function b() {} }\n", "A, A, b"),
        (Language::Ruby, "class A\n  def initialize; end\n  def b; end\nend\n", "A, A, b"),
        (Language::TypeScript, "class A { constructor() {} b() {} }\n", "A, A, b"),
        (Language::JavaScript, "function constructor() {}\n", "constructor"),
        (Language::Java, "class A { A() {} void b() {} }\n", "A, A, b"),
        (Language::Cpp, "A::A(int n) {}\n", "A"),
    ] {
        let outline = outline(language, text);
        let name = |one| slice(text, outline.called_name(one, text));
        let names: Vec<&str> = outline.declarations.iter().map(name).collect();
        assert_eq!(names.join(", "), expected, "{text}");
    }
}
