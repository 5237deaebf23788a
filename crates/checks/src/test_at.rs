//! Which test stands at a line of a file.

use moss_symbols::{Declaration, DeclarationKind, Language, Outliner};

use crate::framework::TestFramework;
use crate::report::escaped;

/// How many lines above the cursor a test of JavaScript or Bats is looked for.
const LINES_MAX: usize = 2_000;

// === impl TestFramework ===

impl TestFramework {
    /// What chooses the test at a line of a file, which counts from 1, as a pattern of the framework. None
    /// where no test is known to stand there.
    pub fn test_at(
        self,
        outliner: &mut Outliner,
        path: &str,
        text: &str,
        line: usize,
    ) -> Option<String> {
        match self {
            Self::Jest | Self::Vitest | Self::Mocha | Self::Node | Self::Bun => {
                called_test(text, line).map(|name| escaped(&name))
            }
            Self::Deno => called_test(text, line),
            Self::Bats => above(text, line, |line| quoted_after(line, "@test"))
                .map(|name| format!("^{}$", escaped(&name))),
            Self::Rspec => above(text, line, example),
            Self::Ctest => None,
            _ => self.declared_test(outliner, path, text, line),
        }
    }

    fn declared_test(
        self,
        outliner: &mut Outliner,
        path: &str,
        text: &str,
        line: usize,
    ) -> Option<String> {
        let outline = outliner.outline(Language::of_text(path, text)?, text).ok()?;
        let at =
            text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum::<usize>();
        let end = at + text[at..].find('\n').unwrap_or(text.len() - at);
        let surrounds = |declaration: &&Declaration| {
            (declaration.range.start as usize) <= end && at <= declaration.range.end as usize
        };
        let is_function = |declaration: &&Declaration| {
            matches!(declaration.kind, DeclarationKind::Function | DeclarationKind::Method)
        };
        let name = |declaration: &Declaration| {
            let range = declaration.name.start as usize..declaration.name.end as usize;
            text.get(range).unwrap_or_default().to_owned()
        };
        // The outer stand before the inner.
        let mut found = outline.declarations.iter().filter(surrounds).filter(is_function);
        let is_test =
            |declaration: &&Declaration| self.is_test_name(&name(declaration), text, declaration);
        let test = found.rfind(is_test)?;
        let mut names = vec![name(test)];
        let mut around = test.container;
        while let Some(container) = around {
            let container = outline.declarations.get(container as usize)?;
            names.insert(0, name(container));
            around = container.container;
        }
        Some(match self {
            Self::Pytest => format!("{path}::{}", names.join("::")),
            Self::Cargo | Self::Nextest => names.join("::"),
            Self::Go => format!("^{}$", name(test)),
            Self::Maven => names.join("#"),
            Self::Unittest | Self::Gradle | Self::Dotnet => names.join("."),
            _ => escaped(&name(test)),
        })
    }

    /// Whether a function is a test: by its name, in Rust and on the JVM by what stands before it.
    fn is_test_name(self, name: &str, text: &str, declaration: &Declaration) -> bool {
        let before = text.get(..declaration.range.start as usize).unwrap_or_default();
        let marks = before.lines().rev().take(8).take_while(|line| {
            let line = line.trim();
            line.is_empty() || line.starts_with(['#', '@', '[', '/', '*'])
        });
        let inside =
            text.get(declaration.signature.start as usize..declaration.signature.end as usize);
        let has_mark = marks.chain(inside.unwrap_or_default().lines()).any(|line| {
            ["test]", "test(", "rstest", "@Test", "@ParameterizedTest", "[Fact", "[Theory"]
                .iter()
                .any(|mark| line.contains(mark))
        });
        match self {
            Self::Pytest | Self::Unittest | Self::Phpunit | Self::Swift => name.starts_with("test"),
            Self::Go => ["Test", "Example", "Fuzz"].iter().any(|start| name.starts_with(start)),
            _ => has_mark,
        }
    }
}

/// The name of the test or group that a line of JavaScript lies in, as far as the text says: the last that
/// begins at it or above it.
fn called_test(text: &str, line: usize) -> Option<String> {
    above(text, line, |line| {
        let line = line.trim_start();
        ["it", "test", "describe", "suite", "Deno.test", "t.test"].iter().find_map(|call| {
            let rest = line.strip_prefix("await ").unwrap_or(line).strip_prefix(call)?;
            // `it(`, `it.only(`.
            let (between, _) = rest.split_once('(')?;
            let is_call = between.is_empty() || between.starts_with('.');
            is_call.then(|| quoted_after(rest, "("))?
        })
    })
}

/// The name of the example or group of RSpec that a line begins: `it 'adds' do`, `RSpec.describe("calc")`.
fn example(line: &str) -> Option<String> {
    let line = line.trim_start();
    let line = line.strip_prefix("RSpec.").unwrap_or(line);
    ["it", "specify", "example", "describe", "context"].iter().find_map(|call| {
        let rest = line.strip_prefix(call)?;
        let is_call = rest.starts_with([' ', '(']);
        // A name that is only known when it runs chooses nothing.
        let name = is_call.then(|| quoted_after(rest, &rest[..1]))??;
        (!name.contains("#{")).then_some(name)
    })
}

/// What a line at or above another one says.
fn above(text: &str, line: usize, says: impl Fn(&str) -> Option<String>) -> Option<String> {
    let lines: Vec<&str> = text.lines().take(line).collect();
    lines.iter().rev().take(LINES_MAX).find_map(|line| says(line))
}

/// The text in quotes behind a word.
fn quoted_after(line: &str, word: &str) -> Option<String> {
    let (_, rest) = line.split_once(word)?;
    let rest = rest.trim_start();
    let quote = rest.chars().next().filter(|c| "\"'`".contains(*c))?;
    let mut name = String::new();
    let mut characters = rest[1..].chars();
    while let Some(c) = characters.next() {
        match c {
            '\\' => name.extend(characters.next()),
            // A part that is only known when it runs.
            '$' if quote == '`' && characters.clone().next() == Some('{') => return None,
            c if c == quote => return (!name.is_empty()).then_some(name),
            c => name.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_test_at_a_line_is_found() {
        let rust = "fn a() {}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn adds() {\n        assert!(true);\n    }\n\n    fn helper() {}\n}\n";
        let python = "class TestA:\n    def test_b(self):\n        x = 1\n        assert x\n\ndef helper():\n    pass\n";
        let js = "describe('calc', () => {\n  it('adds (1)', () => {\n    expect(1);\n  });\n  it.only(\"it's\", () => {\n  });\n});\n";
        let go = "package a\n\nfunc TestAdds(t *testing.T) {\n\tx := 1\n}\n\nfunc help() {\n}\n";
        let bats = "@test \"adds\" {\n  true\n}\n";
        let ruby = "RSpec.describe 'calc' do\n  it('adds (1)') do\n    x = 1\n  end\n  it \"it's\" do\n    x\n  end\nend\n";
        let java = "class CalcTest {\n    @Test\n    void adds() {\n        int x = 1;\n    }\n}\n";
        for (framework, path, text, line, expected) in [
            (TestFramework::Cargo, "src/a.rs", rust, 7, Some("tests::adds")),
            (TestFramework::Cargo, "src/a.rs", rust, 1, None),
            (TestFramework::Cargo, "src/a.rs", rust, 10, None),
            (
                TestFramework::Pytest,
                "tests/test_a.py",
                python,
                4,
                Some("tests/test_a.py::TestA::test_b"),
            ),
            (TestFramework::Pytest, "tests/test_a.py", python, 7, None),
            (TestFramework::Jest, "a.test.js", js, 3, Some("adds \\(1\\)")),
            (TestFramework::Jest, "a.test.js", js, 5, Some("it's")),
            (TestFramework::Go, "a_test.go", go, 4, Some("^TestAdds$")),
            (TestFramework::Go, "a_test.go", go, 8, None),
            (TestFramework::Bats, "a.bats", bats, 2, Some("^adds$")),
            (TestFramework::Rspec, "spec/a_spec.rb", ruby, 3, Some("adds (1)")),
            (TestFramework::Rspec, "spec/a_spec.rb", ruby, 6, Some("it's")),
            (TestFramework::Rspec, "spec/a_spec.rb", ruby, 1, Some("calc")),
            (TestFramework::Rspec, "spec/a_spec.rb", "iterate 'x'\n", 1, None),
            (TestFramework::Rspec, "spec/a_spec.rb", "it \"is #{x}\" do\n", 1, None),
            (TestFramework::Maven, "CalcTest.java", java, 4, Some("CalcTest#adds")),
            (TestFramework::Cargo, "src/a.rs", "", 99, None),
        ] {
            let found = framework.test_at(&mut Outliner::default(), path, text, line);
            assert_eq!(found.as_deref(), expected, "{framework:?} {line}");
        }
    }
}
