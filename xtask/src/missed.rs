//! Rows of the page of figures that miss their targets, each with the reason: the page gives it below the table.
//!
//! `cargo test -p moss-tests --test tidy figures` holds it against the results: a miss that is not listed fails, and so
//! does a listed row that meets its target by now.

/// The table and the row, and why it misses its target.
pub const MISSED: &[(&str, &str)] = &[
    (
        "search: grep_search, a word, ripgrep 13.0.0",
        "the lines that match are read from their files and returned, ripgrep only counts them",
    ),
    (
        "search: grep_search, a word and a bracket, ripgrep 13.0.0",
        "the lines that match are read from their files and returned, ripgrep only counts them",
    ),
    (
        "search: grep_search, a class and half a word, ripgrep 13.0.0",
        "half a word stands in many files, and in each of them the parts are read that may have it",
    ),
    (
        "search: get_project_structure, fdfind 8.6.0",
        "a response has manifests, languages and commands of the projects, fd prints names alone",
    ),
    (
        "search: memory, 4.0 million lines",
        "the words of all texts are kept in memory, and a third is the program itself, of which grammars are the most",
    ),
    (
        "mcp: read_file, 16 KiB, against files",
        "the client alone takes 0.59 of the other for the very same result, whoever sends it: see its row, and that over a bare pipe",
    ),
    (
        "mcp: list_directory, 100 files, against files",
        "it has kinds and sizes, and a schema that the client checks; the client alone takes 0.84 for the same result",
    ),
    (
        "mcp: the same, through a daemon",
        "two more processes are woken, and a call over gRPC is made: a bare one takes 0.4 ms on that machine",
    ),
];

/// Targets that are no number of their row, each with what holds it.
pub const STATED: &[(&str, &str)] = &[(
    "edits: commit of an edit, 16 KiB",
    "the daemon counts its waits, and an end-to-end test reads them",
)];

/// Names a row in these lists.
pub fn key(table: &str, row: &str) -> String {
    format!("{table}: {row}")
}

/// Why a row misses its target.
pub fn reason(table: &str, row: &str) -> Option<&'static str> {
    let key = key(table, row);
    MISSED.iter().find(|(missed, _)| *missed == key).map(|(_, reason)| *reason)
}
