//! Lines that are left out, and placeholders for them.

use super::{Case, check};

const CASES: &[Case] = &[
    ("elision in replace only", "a\nb\nc\n", "a\nb\n", "a\n// ... existing code ...\n", None),
    (
        "placeholder",
        "def f():\n    a()\n    b()\n",
        "def f():\n    a()\n    b()\n",
        "def f():\n    x()\n    # ... rest of the code ...\n",
        None,
    ),
    (
        "literal ellipsis in file",
        "def f():\n    ...\n",
        "def f():\n    ...\n",
        "def f():\n    return 1\n",
        Some("def f():\n    return 1\n"),
    ),
    (
        "two segments changed",
        "class A {\n  a() {}\n  b() {}\n  c() {}\n}\n",
        "class A {\n  // ...\n  c() {}\n}\n",
        "class B {\n  // ...\n  c() { x }\n}\n",
        Some("class B {\n  a() {}\n  b() {}\n  c() { x }\n}\n"),
    ),
    (
        "left-out lines of another block",
        "def load(p):\n    a()\n\ndef close(p):\n    return sock.ping()\n",
        "def load(p):\n    ...\n    return sock.ping()\n",
        "def load(p):\n    ...\n    return None\n",
        None,
    ),
    (
        "a block that is recognized by its first line",
        "[production]\nhost = db.internal\nport = 5432\npool = 10\n\n[staging]\nhost = st.internal\nport = 5433\n",
        "[staging]\nhost = db.internal\nport = 5432\npool = 10\n",
        "[staging]\nhost = db.internal\nport = 5432\npool = 1\n",
        None,
    ),
];

#[test]
fn left_out_lines_stay_and_placeholders_are_not_written() {
    check(CASES);
}
