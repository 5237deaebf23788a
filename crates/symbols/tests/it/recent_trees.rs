//! A text that is parsed by way of its earlier versions has the errors that it has by itself.

use moss_symbols::{Language, Outliner, RecentTrees};
use proptest::prelude::*;

/// Code of each language that is checked, and what may be put into it.
const CODE: [(Language, &str, &[&str]); 15] = [
    (
        Language::Rust,
        "/// d {n}\nimpl<'a> A<'a> {\n    fn f{n}(&self) -> Vec<u8> { c::d!(e, {n}) }\n}\n\nconst B{n}: &str = r#\"b\"#;\n",
        &["/*", "*/", "r#\"", "\"#", "'", "{", "}", "fn x() {}\n", "//"],
    ),
    (
        Language::Python,
        "@x\nclass A{n}(B):\n    '''d'''\n    def f(self, *, y={n}) -> int:\n        if y:\n            return g(f'{y!r}')\n        return 1\n\n",
        &["'''", "\"", "(", ")", ":", "\n", "    ", "\n  x", "return\n", "#", "\\\n"],
    ),
    (
        Language::TypeScript,
        "export const a{n} = async <T,>(b: C): Promise<T> => {\n  d.e(`${f} {n}`);\n  return /x+/g as T;\n};\n",
        &["`", "${", "}", "/", "<", "=>", "(", "\n", "type X = {};\n", "*/"],
    ),
    (
        Language::Tsx,
        "const A{n} = () => <div className=\"x\">\n  {b} text\n</div>;\n",
        &["<b>", "</b>", "{", "}", "\"", "<", "`", "\n", "const x = 1;\n"],
    ),
    (
        Language::JavaScript,
        "class A{n} {\n  #b = 1;\n  c() { return `x${this.#b}` + /[/]/.source }\n}\n",
        &["`", "${", "}", "/", "\n", "(", "let x\n", "<!--", "'"],
    ),
    (
        Language::Go,
        "type A{n} struct{ b int }\n\nfunc (a *A{n}) F(x []int) (int, error) {\n\treturn x[{n}:], `raw`\n}\n\n",
        &["`", "\"", "{", "}", "\n", "var x int\n", "(", "/*"],
    ),
    (
        Language::Java,
        "class A{n}<T extends B> {\n  int c = {n};\n  String s() { return \"\"\"\n    x\"\"\"; }\n}\n",
        &["\"\"\"", "\"", "{", "}", ";", "class X {}\n", "<", "/*"],
    ),
    (
        Language::C,
        "#define A{n} 1\nstatic int f{n}(const char *a) {\n  return a[{n}] ? 'x' : A{n};\n}\n\n",
        &["#if 1\n", "#endif\n", "\"", "'", "{", "}", "\\\n", "/*", "int x;\n"],
    ),
    (
        Language::Cpp,
        "template <class T> int N::f{n}(T (*g)(int)) {\n  auto s = R\"d(x)d\";\n  return g(1) + {n};\n}\n\n",
        &["R\"(", ")\"", "<", ">", "{", "}", "::", "int x;\n", "\n"],
    ),
    (
        Language::Php,
        "<?php\nclass A{n} {\n  private $b = {n};\n  function c() { return <<<E\n  x $this\n  E; }\n}\n?>\n<p>x</p>\n",
        &["<?php ", "?>", "<<<E\n", "E;\n", "\"", "{", "}", "$x;\n"],
    ),
    (
        Language::Ruby,
        "class A{n}\n  def b(c:, **d)\n    x = <<~E\n      t #{c}\n    E\n    %w[a b].map { |y| y / {n} }\n  end\nend\n",
        &["<<~E\n", "E\n", "end\n", "#{", "}", "%w[", "/", "def x; end\n", "\""],
    ),
    (
        Language::Lua,
        "local function f{n}(...)\n  local s = [[x]]\n  return s .. {n}, ...\nend\n\n",
        &["[[", "]]", "--[[", "end\n", "\"", "(", "\n", "x = 1\n"],
    ),
    (
        Language::Json,
        "{\"a\": [{n}, null, {\"b\": \"c\"}], \"d\": true}\n",
        &["{", "}", "[", "]", ",", "\"", "1", "\n"],
    ),
    (
        Language::Toml,
        "[a.b{n}]\nc = 1979-05-27T07:32:00Z\nd = [\"x\", '''y''', {n}]\n\n",
        &["[", "]", "'''", "\"", "x = 1\n", "\n", "="],
    ),
    (
        Language::Yaml,
        "a{n}:\n  - b: {c: {n}}\n  - \"e\": |\n      x\n      y\n    f: &g 1\n",
        &["{", "}", ": ", "- ", "\n", "  ", "|\n", "\"", "x: 1\n", "#", "\t"],
    ),
];

/// A text that is large enough for its tree to be kept.
fn text_of(code: &str) -> String {
    let mut text = String::new();
    for number in 0_usize.. {
        text.push_str(&code.replace("{n}", &number.to_string()));
        if text.len() > 5 << 10 {
            break;
        }
    }
    text
}

/// One edit: where, how much is removed, and which piece is put there.
#[derive(Debug, Clone)]
struct RandomEdit {
    start: prop::sample::Index,
    removed: usize,
    piece: prop::sample::Index,
    /// Whether it is made to the text before the last edit, as if nobody had agreed to that.
    is_anew: bool,
}

impl RandomEdit {
    fn any() -> impl Strategy<Value = Self> {
        let all = (
            any::<prop::sample::Index>(),
            0_usize..12,
            any::<prop::sample::Index>(),
            any::<bool>(),
        );
        all.prop_map(|(start, removed, piece, is_anew)| Self { start, removed, piece, is_anew })
    }

    fn made_to(&self, text: &str, pieces: &[&str]) -> String {
        let start = text.floor_char_boundary(self.start.index(text.len() + 1));
        let end = text.floor_char_boundary((start + self.removed).min(text.len()));
        // The last is none.
        let piece = pieces.get(self.piece.index(pieces.len() + 1)).unwrap_or(&"");
        format!("{}{piece}{}", &text[..start], &text[end..])
    }
}

#[test]
fn the_code_of_each_language_parses_so_that_its_tree_is_kept() {
    for (language, code, _) in CODE {
        let (trees, mut outliner) = (RecentTrees::default(), Outliner::default());
        let found = trees.syntax_errors(&mut outliner, "a", language, &text_of(code)).unwrap();
        assert_eq!(found, [], "{language:?}");
        assert!(trees.nodes() > 100, "{language:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn earlier_versions_never_change_what_is_found(
        which in 0..CODE.len(),
        edits in prop::collection::vec(RandomEdit::any(), 1..8),
    ) {
        let (language, code, pieces) = CODE[which];
        let (trees, mut outliner) = (RecentTrees::default(), Outliner::default());
        let mut text = text_of(code);
        let mut before = text.clone();
        for edit in &edits {
            let found = trees.syntax_errors(&mut outliner, "a", language, &text).unwrap();
            let alone = Outliner::default().syntax_errors(language, &text).unwrap();
            prop_assert_eq!(found, alone, "{:?}", language);
            if edit.is_anew {
                text.clone_from(&before);
            }
            let next = edit.made_to(&text, pieces);
            before = std::mem::replace(&mut text, next);
        }
    }
}

#[test]
fn a_tree_is_of_its_name_and_language() {
    let (trees, mut outliner) = (RecentTrees::default(), Outliner::default());
    let mut errors = |name: &str, language, text: &str| {
        trees.syntax_errors(&mut outliner, name, language, text).unwrap().len()
    };
    let (_, code, _) = CODE[0];
    let rust = text_of(code);
    assert_eq!(errors("a", Language::Rust, &rust), 0);
    // The same text is none of another language, and what follows is none of the text before.
    assert!(errors("a", Language::Python, &rust) > 0);
    assert!(errors("a", Language::Rust, &format!("{rust}}}\n")) > 0);
    assert_eq!(errors("b", Language::Rust, &rust), 0);
    assert_eq!(errors("a", Language::Rust, &rust), 0);
    assert!(trees.nodes() > 2_000);
}
