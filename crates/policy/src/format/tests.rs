//! Tests of the module `format`.

use crate::rules::{Restriction, Rule, Ruling};
use crate::{Layer, PolicyError};

/// Reads a user's file.
fn read(text: &str) -> Result<Vec<Rule<Ruling>>, Box<PolicyError>> {
    super::parse(Layer::User, "p.toml", text).map(|file| file.rules)
}

/// Checks the one-line error of a rule that stands from line 3 on.
fn check(rule: &str, expected: &str) {
    let text = format!("version = 1\n[[rule]]\n{rule}");
    assert_eq!(read(&text).unwrap_err().one_line(), format!("p.toml:{expected}"), "{text}");
}

#[test]
fn errors_of_a_file_name_location_and_remedy() {
    let cases = [
        ("", "1:1: missing field `version`; start the file with `version = 1`"),
        ("version = 2", "1:11: version 2 is not known; write `version = 1`, or use a newer moss"),
        ("version = \"1\"", "1:11: invalid type: string \"1\", expected a whole number"),
        (
            "version = 1\nrules = []",
            "2:1: unknown field `rules`, expected one of `version`, `sandbox_min`, `caches`, `rule`; did you mean `rule`?",
        ),
        ("version = 1\n[[rule]\n", "2:8: unclosed array table, expected `]`"),
        ("version = 1\n[[rule]]\n", "2:1: missing field `decision`"),
        (
            "version = 1\n# é\n é = 1",
            "3:2: invalid unquoted key, expected letters, numbers, `-`, `_`",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(read(text).unwrap_err().one_line(), format!("p.toml:{expected}"), "{text}");
    }
}

#[test]
fn errors_of_a_rule_name_location_and_remedy() {
    const KEYS: &str = "`name`, `tools`, `not_tools`, `plugins`, `callers`, `effects`, `paths`, \
                    `not_paths`, `size_bytes_min`, `size_bytes_max`, `match_levels`, `argv`, `exact_argv`, `network`, `profile`, `environment`, `sockets`, `decision`, \
                    `protected`, `approver`, `reason`, `match`, `not_match`";
    check(
        "tool = [\"x\"]\ndecision = \"allow\"",
        &format!("3:1: unknown field `tool`, expected one of {KEYS}; did you mean `tools`?"),
    );
    check(
        "decision = \"deny\"\nsandbox = [\"git\"]",
        &format!("4:1: unknown field `sandbox`, expected one of {KEYS}"),
    );
    check(
        "decision = \"alow\"",
        "3:12: unknown variant `alow`, expected one of `allow`, `ask`, `deny`; \
         did you mean `allow`?",
    );
    check(
        "effects = [\"read\", \"writes\"]\ndecision = \"allow\"",
        "3:20: unknown variant `writes`, expected one of `read`, `create`, `modify`, `write`, \
         `delete`, `exec`, `network`, `register`, `configure`; did you mean `write`?",
    );
    check("tools = \"x\"", "3:9: invalid type: string \"x\", expected a list");
    check("decision = \"deny\"\ndecision = \"deny\"", "4:1: duplicate key");
    check(
        "size_bytes_min = -5",
        "3:18: invalid value: integer `-5`, expected a whole number from 0",
    );
    check(
        "decision = \"deny\"\ntools = []",
        "4:9: an empty list matches nothing; leave the key out to match everything",
    );
    check(
        "decision = \"deny\"\neffects = []",
        "4:11: an empty list matches nothing; leave `effects` out to match every effect",
    );
    check(
        "decision = \"deny\"\nsize_bytes_min = 5\neffects = [\"read\"]",
        "4:18: sizes are those of new content; write `effects = [\"write\"]` in a rule with a size",
    );
    check(
        "decision = \"deny\"\nreason = \"\"\"two\nlines\"\"\"",
        "4:10: `reason` has line breaks, control or invisible characters; \
         write one line of plain text",
    );
}

#[test]
fn globs_that_are_none_or_can_never_match_are_refused() {
    let cases = [
        ("é\", \"[", 15, "`[` is not a glob: unclosed character class; missing ']'"),
        ("\", \"", 10, "an empty glob matches nothing"),
        (
            "/etc/**",
            10,
            "`/etc/**` can never match a workspace path; \
             write the path relative to the workspace root, without the leading slash",
        ),
        (
            "src/",
            10,
            "`src/` can never match a workspace path; \
             write `dir/**` for all that is beneath a directory",
        ),
        (
            "./src",
            10,
            "`./src` can never match a workspace path; write plain names without `.`, `..` \
             and empty ones",
        ),
    ];
    for (globs, column, message) in cases {
        check(
            &format!("paths = [\"{globs}\"]\ndecision = \"deny\""),
            &format!("3:{column}: {message}"),
        );
    }
}

#[test]
fn failing_examples_are_named() {
    let rule = "decision = \"deny\"\npaths = [\"a/**\"]\n";
    check(
        &format!(
            "{rule}match = [{{ tool = \"t\", path = \"a/b\" }}, {{ tool = \"t\", path = \"b\" }}]"
        ),
        "5:40: `match` example 2 (`t` on `b`) does not match the rule; \
         it does not meet `paths`",
    );
    check(
        &format!("{rule}not_match = [{{ tool = \"t\", path = \"A/b\" }}]"),
        "5:14: `not_match` example 1 (`t` on `A/b`) matches the rule; \
         narrow the rule, or move the example to `match`",
    );
    check(
        &format!("{rule}match = [{{ tool = \"t\", path = \"../b\" }}]"),
        "5:31: no workspace path: `../b`: `..` is not allowed",
    );
    check(
        &format!("{rule}match = [{{ tol = \"t\" }}]"),
        "5:12: unknown field `tol`, expected one of `tool`, `effect`, `path`, `plugin`, `caller`, \
         `size_bytes`, `match_level`, `command`; did you mean `tool`?",
    );
}

#[test]
fn examples_see_every_condition() {
    let rules = read(
        r#"version = 1
        [[rule]]
        tools = ["replace_*"]
        plugins = ["p"]
        callers = ["c*"]
        effects = ["write"]
        paths = ["*.rs"]
        size_bytes_min = 10
        size_bytes_max = 20
        decision = "allow"
        match = [
            { tool = "replace_x", plugin = "p", caller = "cc", path = "a.rs", size_bytes = 20 },
        ]
        not_match = [
            { tool = "place_x", plugin = "p", caller = "cc", path = "a.rs", size_bytes = 20 },
            { tool = "replace_x", caller = "cc", path = "a.rs", size_bytes = 20 },
            { tool = "replace_x", plugin = "p", caller = "d", path = "a.rs", size_bytes = 20 },
            { tool = "replace_x", plugin = "p", caller = "cc", path = "d/a.rs", size_bytes = 20 },
            { tool = "replace_x", plugin = "p", caller = "cc", path = "A.RS", size_bytes = 20 },
            { tool = "replace_x", plugin = "p", caller = "cc", path = "a.rs", size_bytes = 21 },
            { tool = "replace_x", plugin = "p", caller = "cc", path = "a.rs", size_bytes = 9 },
            { tool = "replace_x", plugin = "p", caller = "cc", path = "a.rs" },
            { tool = "replace_x", plugin = "p", caller = "cc", path = "a.rs", effect = "delete" },
        ]"#,
    );
    assert_eq!(rules.map_err(|error| error.one_line()).unwrap().len(), 1);
}

#[test]
fn rules_about_match_levels_are_about_edits() {
    const LEVELS: &str = "`exact`, `line_trimmed`, `whitespace_normalized`, `indent_flexible`, \
                          `escape_normalized`, `trimmed_boundary`, `unicode_normalized`, \
                          `block_anchor`, `context_aware`";
    check(
        "match_levels = [\"block_anchors\"]\ndecision = \"ask\"",
        &format!(
            "3:17: unknown variant `block_anchors`, expected one of {LEVELS}; \
             did you mean `block_anchor`?"
        ),
    );
    check(
        "match_levels = []\ndecision = \"ask\"",
        "3:16: an empty list matches nothing; leave `match_levels` out to match every edit",
    );
    for effects in ["\"read\"", "\"write\", \"delete\"", "\"create\""] {
        check(
            &format!("match_levels = [\"exact\"]\neffects = [{effects}]\ndecision = \"ask\""),
            "3:16: match levels are those of edits; \
             write `effects = [\"modify\"]` in a rule with match levels",
        );
    }
    check(
        "match_levels = [\"exact\"]\ndecision = \"ask\"\n\
         match = [{ tool = \"patch\", match_level = \"exakt\" }]",
        &format!("5:42: unknown variant `exakt`, expected one of {LEVELS}; did you mean `exact`?"),
    );
    check(
        "match_levels = [\"exact\"]\ndecision = \"ask\"\n\
         match = [{ tool = \"patch\", match_level = \"block_anchor\" }]",
        "5:10: `match` example 1 (`patch`) does not match the rule; \
         it does not meet `match_levels`",
    );
    let rules = read(
        r#"version = 1
        [[rule]]
        match_levels = ["block_anchor", "context_aware"]
        decision = "ask"
        match = [
            { tool = "patch", path = "a.rs", match_level = "block_anchor" },
            { tool = "patch", path = "a.rs", effect = "modify", match_level = "context_aware" },
        ]
        not_match = [
            { tool = "patch", path = "a.rs", match_level = "exact" },
            { tool = "replace_lines", path = "a.rs" },
            { tool = "create_file", effect = "create", match_level = "block_anchor" },
        ]"#,
    );
    assert_eq!(rules.map_err(|error| error.one_line()).unwrap().len(), 1);
}

#[test]
fn only_rules_that_name_paths_open_protected_names() {
    check(
        "effects = [\"read\", \"register\"]\ndecision = \"allow\"",
        "3:20: no rule allows to register plugins: a person decides about each; leave `register` \
         out; a rule can ask about it or deny it",
    );
    check(
        "decision = \"ask\"\nprotected = true",
        "4:13: `protected` needs `paths`; name the protected files that the rule covers",
    );
    check(
        "decision = \"deny\"\npaths = [\".git/**\"]\nprotected = true",
        "5:13: `protected` opens, deny closes; leave `protected` out: \
         a deny applies to protected names anyway",
    );
}

#[test]
fn a_workspace_has_no_words_to_widen() {
    let error = |rule: &str| {
        let text = format!("version = 1\n[[rule]]\n{rule}");
        super::parse::<Restriction>(Layer::Workspace, "w", &text).unwrap_err().one_line()
    };
    assert_eq!(
        error("decision = \"allow\""),
        "w:3:12: a workspace policy can only ask or deny; write the rule in the user's policy file"
    );
    assert_eq!(
        error("decision = \"ask\"\npaths = [\".git\"]\nprotected = true"),
        "w:5:13: a workspace policy cannot open protected names; \
         write the rule in the user's policy file"
    );
}

#[test]
fn an_approver_belongs_to_a_question() {
    let rules = "version = 1\n[[rule]]\ndecision = \"ask\"\napprover = \"person\"\n[[rule]]\ndecision = \"ask\"";
    let wanted: Vec<_> = read(rules).unwrap().iter().map(|rule| rule.rule.for_person).collect();
    assert_eq!(wanted, [true, false]);
    for decision in ["allow", "deny"] {
        let expected = "4:12: `approver` says who decides a question; write `decision = \"ask\"` in a rule \
                        with `approver`";
        check(
            &format!("paths = [\"a\"]\napprover = \"person\"\ndecision = \"{decision}\""),
            expected,
        );
    }
    check(
        "approver = \"model\"\ndecision = \"ask\"",
        "3:12: unknown variant `model`, expected `person`",
    );
}

#[test]
fn limits_hold() {
    let rules = "[[rule]]\ndecision = \"deny\"\n".repeat(super::RULES_MAX);
    let text = format!("version = 1\n{rules}");
    assert_eq!(read(&text).unwrap().len(), super::RULES_MAX);
    let error = read(&format!("{text}[[rule]]\ndecision = \"deny\"")).unwrap_err();
    assert_eq!((error.line, error.message.as_str()), (1002, "more than 500 rules"));

    let error = read(&format!("version = 1\n#{}", "x".repeat(super::FILE_BYTES_MAX))).unwrap_err();
    assert_eq!(error.message, "the file is larger than 262144 bytes");

    let globs = vec!["\"a\""; super::GLOBS_MAX + 1].join(",");
    check(
        &format!("decision = \"deny\"\ntools = [{globs}]"),
        "4:9: more than 64 globs in one list",
    );
    check(
        &format!("decision = \"deny\"\ntools = [\"{}\"]", "x".repeat(super::GLOB_BYTES_MAX + 1)),
        "4:10: the glob is longer than 512 bytes",
    );
    let examples = vec!["{ tool = \"t\" }"; crate::examples::EXAMPLES_MAX + 1].join(",");
    let error = read(&format!("version = 1\n[[rule]]\ndecision = \"deny\"\nmatch = [{examples}]"));
    assert_eq!(error.unwrap_err().message, "more than 64 `match` examples");
    check(
        &format!("decision = \"deny\"\nname = \"{}\"", "x".repeat(super::NAME_BYTES_MAX + 1)),
        "4:8: `name` is longer than 64 bytes",
    );
}

#[test]
fn a_file_cannot_send_escape_sequences_to_a_terminal() {
    let error = read("version = 1\n\"a\\u001bb\" = 1").unwrap_err();
    assert!(error.message.starts_with("unknown field `a\\u{1b}b`"), "{}", error.message);
    let error = read("version = 1\nx = \"\u{1b}[2J\u{202e}\"").unwrap_err();
    let report = format!("{:?}", miette::Report::new(*error));
    assert!(report.contains("p.toml:2:6"), "{report}");
    assert!(!report.contains("\u{1b}[2J") && !report.contains('\u{202e}'), "{report}");
}
