//! What a model is shown of a chunk to make a vector of it: where it is, what it is called, what documents it, how
//! it begins.

use moss_sdk::RelPath;
use moss_symbols::{Outline, TextRange};

use crate::analysis::{FileRole, TextAnalyzer, head};
use crate::chunk::{self, TextChunk};

/// Most bytes of a passage: about 400 tokens.
const PASSAGE_BYTES_MAX: usize = 1_600;
/// Most bytes of documentation in one.
const DOCUMENTATION_BYTES_MAX: usize = 600;

/// A chunk as a model is shown it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// Its first and its last line, from 1.
    pub lines: (u32, u32),
    /// The lines as a result shows them.
    pub text: String,
}

// === impl TextAnalyzer ===

impl TextAnalyzer {
    /// The chunks of a text, the same as [`TextAnalyzer::analyze`] finds and in their order. None of a file that is
    /// vendored, generated or holds data: they are many, and say little.
    pub fn passages(&mut self, path: &RelPath, text: &str) -> Option<Vec<Passage>> {
        let (outline, _) = self.outline(path, text);
        let outline = outline.as_ref();
        let read = Self::read_part(text, outline);
        let (chunks, _) = chunk::chunks(read, outline);
        let role = FileRole::of_chunks(path, outline, &chunks);
        if matches!(role, FileRole::Vendored | FileRole::Data) {
            return None;
        }
        let passage = |chunk: &TextChunk| Passage {
            lines: chunk.lines,
            text: shown(path, (read, outline), chunk),
        };
        Some(chunks.iter().map(passage).collect())
    }
}

fn shown(path: &RelPath, (text, outline): (&str, Option<&Outline>), chunk: &TextChunk) -> String {
    let slice =
        |range: &TextRange| text.get(range.start as usize..range.end as usize).unwrap_or_default();
    let mut shown = path.to_string();
    let declaration = chunk.declaration.zip(outline).map(|(at, outline)| &outline.declarations[at]);
    let name = declaration.map(|declaration| slice(&declaration.name));
    let scope: Vec<&str> = chunk.containers.iter().rev().map(slice).chain(name).collect();
    if !scope.is_empty() {
        shown.push('\n');
        shown.push_str(&scope.join(" · "));
    }
    if let Some(documentation) = &chunk.documentation {
        shown.push('\n');
        shown.push_str(head(slice(documentation).trim(), DOCUMENTATION_BYTES_MAX));
    }
    for piece in &chunk.pieces {
        if shown.len() >= PASSAGE_BYTES_MAX {
            break;
        }
        // It begins with the signature.
        let piece = text[piece.clone()].trim();
        if !piece.is_empty() {
            shown.push('\n');
            shown.push_str(piece);
        }
    }
    shown.truncate(shown.floor_char_boundary(PASSAGE_BYTES_MAX));
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passages(path: &str, text: &str) -> Option<Vec<Passage>> {
        TextAnalyzer::default().passages(&RelPath::parse(path).unwrap(), text)
    }

    #[test]
    fn a_chunk_is_shown_with_where_it_is_and_what_documents_it() {
        let text = "struct Client;\n\nimpl Client {\n    /// Sends one request.\n    fn send(&self) {\n        go();\n    }\n}\n";
        let found = passages("src/net.rs", text).unwrap();
        let send = found.iter().find(|passage| passage.lines == (4, 7)).unwrap();
        assert_eq!(
            send.text,
            "src/net.rs\nClient · send\n/// Sends one request.\nfn send(&self) {\n        go();\n    }"
        );
    }

    #[test]
    fn passages_are_the_chunks_of_the_index_and_bounded() {
        let body = "    let x = étape(x);\n".repeat(400);
        let text = format!("use a;\n\nfn long() {{\n{body}}}\n\nfn short() {{}}\n");
        let path = RelPath::parse("src/a.rs").unwrap();
        let mut analyzer = TextAnalyzer::default();
        let found = analyzer.passages(&path, &text).unwrap();
        let analyzed = analyzer.analyze(&path, &text);
        let lines: Vec<_> = analyzed.chunks.iter().map(|chunk| chunk.lines).collect();
        assert_eq!(found.iter().map(|passage| passage.lines).collect::<Vec<_>>(), lines);
        assert!(found.len() > 3);
        assert!(found.iter().all(|passage| passage.text.len() <= PASSAGE_BYTES_MAX));
    }

    #[test]
    fn passages_are_the_chunks_of_the_index_in_every_language() {
        let c = "struct a { int b; };\n\nint c(void)\n{\n  return 1;\n}\n";
        let cpp = "namespace a {\n\nclass B {\n public:\n  int c() { return 1; }\n  int d();\n};\n\n\
                   template <class T>\nT e(T t) {\n  return t;\n}\n\n}\n";
        let mut analyzer = TextAnalyzer::default();
        for (name, text) in [
            ("a.h", c),
            ("a.h", cpp),
            ("a.c", c),
            ("a.c", cpp),
            ("a.hpp", cpp),
            ("a.cc", cpp),
            ("a.go", "package a\n\ntype b struct{}\n\nfunc (b) c() {\n}\n"),
            ("a.java", "class A {\n  int b;\n\n  void c() {\n  }\n}\n"),
            ("a.js", "class A {\n  b() {\n  }\n}\n\nfunction c() {\n}\n"),
            ("a.ts", "const a = <T>b;\n\nclass A {\n  b(): void {\n  }\n}\n"),
            ("a.tsx", "const A = () => <b>c</b>;\n\nclass D {\n  e() {\n  }\n}\n"),
            ("a.lua", "local function a()\nend\n\nfunction b()\nend\n"),
            ("a.md", "# A\n\nb\n\n## C\n\nd\n"),
            ("a.php", "<?php\nclass A {\n  function b() {\n  }\n}\n"),
            ("a.py", "class A:\n    def b(self):\n        pass\n\n\ndef c():\n    pass\n"),
            ("Gemfile", "module A\n  def b\n  end\nend\n"),
            ("a.rs", "struct A;\n\nimpl A {\n    fn b() {\n    }\n}\n"),
            ("a.sh", "a() {\n  :\n}\n\nb() {\n  :\n}\n"),
        ] {
            let path = RelPath::parse(name).unwrap();
            let found = analyzer.passages(&path, text).expect("it is no data");
            let found: Vec<_> = found.iter().map(|passage| passage.lines).collect();
            let analyzed = analyzer.analyze(&path, text);
            let chunks: Vec<_> = analyzed.chunks.iter().map(|chunk| chunk.lines).collect();
            assert_eq!(found, chunks, "{name}: {text}");
        }
    }

    #[test]
    fn data_and_what_is_vendored_has_none() {
        for path in ["package.json", "data.bin", "vendor/a/b.go", "node_modules/a/index.js"] {
            assert_eq!(passages(path, "function a() {}\n"), None, "{path}");
        }
        assert!(passages("docs/a.md", "# A\n\ntext\n").is_some());
        assert_eq!(passages("src/empty.rs", ""), Some(Vec::new()));
    }
}
