//! What the syntax of one file costs, in each language that is checked.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Result, bail};
use moss_xtask::rows::Row;
use serde_json::json;

use super::called;
use crate::caller::BenchClient;

/// How many lines each file has, or a few more.
const LINES: usize = 5_000;
/// How often each is checked, and how often before that, unmeasured.
const ROUNDS: usize = 20;
const WARM: usize = 2;
/// Where the files lie.
const DIRECTORY: &str = "languages";

/// Code of each language, with the ending of its files; `#` stands for a number.
const CODE: [(&str, &str); 15] = [
    ("c", "static int f_#(int a) {\n  int b = a + #;\n  return b * 2;\n}\n\n"),
    ("cpp", "template <class T>\nT f_#(T a) {\n  auto b = a + #;\n  return b * 2;\n}\n\n"),
    ("go", "func f#(a int) int {\n\tb := a + #\n\treturn b * 2\n}\n\n"),
    ("java", "class A# {\n  int f(int a) {\n    int b = a + #;\n    return b * 2;\n  }\n}\n\n"),
    ("js", "function f_#(a) {\n  const b = a + #;\n  return b * 2;\n}\n\n"),
    ("json", "{\n  \"a\": #,\n  \"b\": [1, 2],\n  \"c\": null\n}\n"),
    ("lua", "local function f_#(a)\n  local b = a + #\n  return b * 2\nend\n\n"),
    ("php", "<?php\nfunction f_#(int $a): int {\n  $b = $a + #;\n  return $b * 2;\n}\n?>\n"),
    ("py", "def f_#(a: int) -> int:\n    b = a + #\n    return b * 2\n\n\n"),
    ("rb", "def f_#(a)\n  b = a + #\n  b * 2\nend\n\n"),
    ("rs", "fn f_#(a: u32) -> u32 {\n    let b = a + #;\n    b * 2\n}\n\n"),
    ("toml", "[a.f_#]\nb = #\nc = [\"x\", \"y\"]\nd = true\n\n"),
    ("ts", "function f_#(a: number): number {\n  const b = a + #;\n  return b * 2;\n}\n\n"),
    ("tsx", "const F# = (a: number) => (\n  <div id=\"x\">\n    {a + #}\n  </div>\n);\n\n"),
    ("yaml", "f_#:\n  b: #\n  c:\n    - x\n    - \"y\"\n"),
];

/// Writes a file of 5,000 lines in each language.
pub(super) fn lay_out(workspace: &Path) -> Result<()> {
    let directory = workspace.join(DIRECTORY);
    fs::create_dir_all(&directory)?;
    for (ending, code) in CODE {
        let count = LINES.div_ceil(code.lines().count());
        let mut text = String::new();
        for number in 0..count {
            write!(text, "{}", code.replace('#', &number.to_string()))?;
        }
        fs::write(directory.join(format!("a.{ending}")), text)?;
    }
    Ok(())
}

/// Checks the syntax of each file alone.
pub(super) async fn measure(caller: &BenchClient) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (ending, _) in CODE {
        let path = format!("{DIRECTORY}/a.{ending}");
        let mut times = Vec::new();
        for round in 0..WARM + ROUNDS {
            let (time, output) = called(caller, "lint_check", json!({ "path": path })).await?;
            if output["files_parsed"] != 1 || output["status"] != "clean" {
                bail!("{path} is not clean: {output}");
            }
            if round >= WARM {
                times.push(time);
            }
        }
        rows.push(Row::timed(format!("syntax of 5,000 lines, .{ending}"), times).wanted("< 50 ms"));
    }
    Ok(rows)
}
