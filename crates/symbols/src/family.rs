//! Languages whose files use names of each other.

/// The family of languages that a file is of, by how its name ends; files of one family use names of each other. What
/// is of no known family is one with those that end alike.
pub fn language_family(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    match name.rsplit_once('.').map_or("", |(_, ending)| ending) {
        "js" | "jsx" | "mjs" | "cjs" | "ts" | "tsx" | "mts" | "cts" | "vue" | "svelte" => "js",
        "c" | "h" | "cc" | "cpp" | "cxx" | "hh" | "hpp" | "hxx" | "m" | "mm" => "c",
        "java" | "kt" | "kts" | "scala" => "java",
        "py" | "pyi" => "py",
        ending => ending,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_one_family_end_differently() {
        for (one, other, is_same) in [
            ("src/a.ts", "web/b.tsx", true),
            ("a.mjs", "b.js", true),
            ("a.cpp", "include/a.h", true),
            ("A.java", "B.kt", true),
            ("a.rs", "b.rs", true),
            ("a.rs", "a.py", false),
            ("a.c", "a.java", false),
            ("Makefile", "LICENSE", true),
            ("dir.ts/Makefile", "b.ts", false),
        ] {
            assert_eq!(language_family(one) == language_family(other), is_same, "{one} {other}");
        }
    }
}
