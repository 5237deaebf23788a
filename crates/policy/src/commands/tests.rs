//! Tests of rules about commands: a table of command lines, and denied ones in whatever surroundings.

use moss_commands::read;
use moss_sdk::{Effect, RelPath};
use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::{
    Action, Decision, Policy, PolicyFile, SandboxMin, Sources, Subject, command_grants, decide,
    granted_command, strictest,
};

/// The rules under which the table is decided.
const RULES: &str = r#"
version = 1

[[rule]]
name = "builds"
argv = ["cargo", ["build", "check", "test"]]
decision = "allow"
match = [{ tool = "run_terminal_cmd", command = "cargo test -p a" }]
not_match = [{ tool = "run_terminal_cmd", command = "cargo run" }, { tool = "run_terminal_cmd", command = "CC=x cargo test" }]

[[rule]]
name = "scripts"
argv = ["npm", "run"]
decision = "allow"

[[rule]]
name = "everything-of-make"
exact_argv = ["make", "all"]
decision = "allow"

[[rule]]
name = "commits"
argv = ["git", ["add", "commit", "switch", "stash", "push", "checkout", "branch", "reset", "clean"]]
decision = "allow"

[[rule]]
name = "removes"
argv = ["rm"]
decision = "allow"

[[rule]]
name = "no-network"
argv = [["curl", "wget", "nc", "ssh", "scp"]]
decision = "deny"

[[rule]]
name = "no-cluster"
argv = [["docker", "kubectl"], ["push", "apply"]]
decision = "deny"

[[rule]]
name = "no-env"
argv = ["printenv"]
decision = "ask"
"#;
/// Command lines, each with its verdict and the rule that gives it.
const TABLE: &str = include_str!("table.tsv");
/// The fewest lines that the table has.
const LINES_MIN: usize = 250;

fn policy(admin: &str, user: &str, workspace: &str) -> Policy {
    let source = |file: &str, text: &str| PolicyFile {
        file: file.to_owned(),
        text: Ok(Some(text.to_owned()).filter(|text| !text.is_empty())),
    };
    let sources = Sources {
        admin: vec![source("admin", admin)],
        user: Some(source("user", user)),
        workspace: Some(source("workspace", workspace)),
    };
    let policy = Policy::load(sources).unwrap();
    let problems: Vec<_> = policy.problems().map(|problem| problem.one_line()).collect();
    assert_eq!(problems, [""; 0]);
    policy
}

fn parts(line: &str, is_isolated: bool) -> Vec<CommandPart> {
    match read(line) {
        Ok(script) => script
            .commands
            .into_iter()
            .map(|command| CommandPart::new(command, is_isolated))
            .collect(),
        Err(error) => vec![CommandPart::unread(line, &error)],
    }
}

fn of_part<T>(part: &CommandPart, look: impl FnOnce(&Subject<'_>) -> T) -> T {
    let root = RelPath::root();
    let subject = Subject {
        action: Action::Exec,
        tool: "run_terminal_cmd",
        tool_effect: Effect::Exec,
        plugin: None,
        caller: "caller",
        path: Some(&root),
        protection: None,
        size_bytes: None,
        match_level: None,
        drift: false,
        command: Some(part),
        answers: &[],
    };
    look(&subject)
}

fn decide_part(policy: &Policy, part: &CommandPart) -> Decision {
    of_part(part, |subject| decide(policy, subject))
}

fn decided(policy: &Policy, line: &str, is_isolated: bool) -> Decision {
    let each: Vec<_> =
        parts(line, is_isolated).iter().map(|part| decide_part(policy, part)).collect();
    strictest(&each).cloned().unwrap()
}

/// The name of the rule, or `reads` and `default` for the built-in ones without a name.
fn named(decision: &Decision) -> String {
    match (&decision.rule.name, decision.verdict) {
        (Some(name), _) => name.clone(),
        (None, Verdict::Allow) => "reads".to_owned(),
        (None, _) => "default".to_owned(),
    }
}

#[test]
fn every_line_of_the_table_is_decided_as_it_says() {
    let policy = policy("", RULES, "");
    let lines: Vec<_> =
        TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let mut wrong = Vec::new();
    for line in &lines {
        let mut fields = line.splitn(3, '\t');
        let (verdict, rule) = (fields.next().unwrap(), fields.next().unwrap());
        let command = fields.next().unwrap().replace("\\n", "\n");
        let found = decided(&policy, &command, true);
        let (found_verdict, found_rule) = (found.verdict.as_str(), named(&found));
        if (found_verdict, found_rule.as_str()) != (verdict, rule) {
            wrong.push(format!("{line}: {found_verdict} {found_rule}: {}", found.rule));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(lines.len() >= LINES_MIN, "{}", lines.len());
}

#[test]
fn without_full_isolation_what_only_reads_asks_as_well() {
    let policy = policy("", RULES, "");
    assert_eq!(decided(&policy, "ls", true).verdict, Verdict::Allow);
    assert_eq!(decided(&policy, "ls", false).verdict, Verdict::Ask);
    assert_eq!(decided(&policy, "cargo test", false).verdict, Verdict::Allow);
}

#[test]
fn the_grant_of_a_plugin_lets_run_what_only_reads_and_nothing_more() {
    let policy = policy("", RULES, "");
    let granted = |line: &str, is_isolated: bool| {
        let parts = parts(line, is_isolated);
        let each = parts.iter().map(|part| granted_command(decide_part(&policy, part), part));
        strictest(&each.collect::<Vec<_>>()).cloned().unwrap()
    };
    for line in ["git rev-parse HEAD", "sh -c 'git log | head'", "cargo test"] {
        for is_isolated in [true, false] {
            let decision = granted(line, is_isolated);
            assert_eq!(decision.verdict, Verdict::Allow, "{line}: {decision}");
        }
    }
    for line in ["yarn build", "touch a", "sh -c 'ls; touch a'", "env A=1 touch a"] {
        let decision = granted(line, true);
        assert_eq!(decision.verdict, Verdict::Ask, "{line}");
        assert!(decision.to_string().contains("but the command may write"), "{line}: {decision}");
    }
    for line in ["rm a", "$x", "git checkout ."] {
        assert_eq!(granted(line, true).rule.layer, Layer::Command, "{line}");
    }
}

#[test]
fn a_rule_that_allows_everything_allows_nothing_that_destroys_or_is_unknown() {
    let all = "version = 1\n[[rule]]\ndecision = \"allow\"\n";
    let policy = policy(all, all, "");
    for line in ["ls", "cargo run", "make x"] {
        assert_eq!(decided(&policy, line, true).verdict, Verdict::Allow, "{line}");
    }
    for line in ["cargo -q build", "cargo +nightly test", "npm -s run test", "docker -D ps"] {
        assert_eq!(decided(&policy, line, true).verdict, Verdict::Allow, "{line}");
    }
    for line in ["cargo -q publish", "gh -R a/b pr merge 1", "terraform -chdir=x destroy"] {
        assert_eq!(decided(&policy, line, true).rule.layer, Layer::Command, "{line}");
    }
    for line in ["rm a", "make x; git checkout .", "$x", "eval $x", "if", "PATH=. make", "a > b"] {
        let decision = decided(&policy, line, true);
        assert_eq!(
            (decision.verdict, decision.rule.layer),
            (Verdict::Ask, Layer::Command),
            "{line}"
        );
    }
}

#[test]
fn a_workspace_restricts_and_rules_ask_about_what_only_reads() {
    let ask = "version = 1\n[[rule]]\nargv = [\"ls\"]\ndecision = \"ask\"\n";
    let policy = policy("", RULES, ask);
    assert_eq!(decided(&policy, "ls -l", true).verdict, Verdict::Ask);
    assert_eq!(decided(&policy, "cat a", true).verdict, Verdict::Allow);
}

#[test]
fn the_strictest_isolation_that_a_layer_names_applies() {
    let says = |min: &str| match min {
        "" => String::new(),
        min => format!("version = 1\nsandbox_min = \"{min}\"\n"),
    };
    for (admin, user, workspace, expected) in [
        ("", "", "", SandboxMin::Full),
        ("none", "", "", SandboxMin::None),
        ("", "landlock", "", SandboxMin::Landlock),
        ("none", "landlock", "", SandboxMin::Landlock),
        ("full", "none", "", SandboxMin::Full),
        ("", "", "none", SandboxMin::Full),
        ("none", "none", "landlock", SandboxMin::Landlock),
    ] {
        let policy = policy(&says(admin), &says(user), &says(workspace));
        assert_eq!(policy.sandbox_min(), expected, "{admin} {user} {workspace}");
    }
}

#[test]
fn for_what_only_reads_landlock_is_enough_where_no_layer_names_more() {
    let says = |min: &str| match min {
        "" => String::new(),
        min => format!("version = 1\nsandbox_min = \"{min}\"\n"),
    };
    for (admin, user, workspace, expected) in [
        ("", "", "", SandboxMin::Landlock),
        ("", "", "none", SandboxMin::Landlock),
        ("", "", "full", SandboxMin::Full),
        ("", "full", "", SandboxMin::Full),
        ("none", "", "", SandboxMin::None),
        ("none", "landlock", "", SandboxMin::Landlock),
    ] {
        let policy = policy(&says(admin), &says(user), &says(workspace));
        assert_eq!(policy.sandbox_min_to_read(), expected, "{admin} {user} {workspace}");
    }
}

#[test]
fn a_command_reaches_the_network_where_a_rule_says_so_and_none_says_no() {
    const OPEN: &str = "[[rule]]\nargv = [\"npm\", \"ci\"]\ndecision = \"ask\"\nnetwork = true\n";
    const CLOSED: &str = "[[rule]]\nargv = [\"npm\"]\ndecision = \"ask\"\nnetwork = false\n";
    const ALLOWED: &str = "[[rule]]\nargv = [\"npm\"]\ndecision = \"allow\"\n";
    let text = |rules: &str| match rules {
        "" => String::new(),
        rules => format!("version = 1\n{rules}"),
    };
    for (admin, user, workspace, line, expected) in [
        ("", OPEN, "", "npm ci", true),
        ("", OPEN, "", "npm ci --silent", true),
        ("", OPEN, "", "npm install", false),
        ("", OPEN, "", "npm $x", false),
        ("", OPEN, "", "NODE_OPTIONS=-rx npm ci", false),
        ("", ALLOWED, "", "npm ci", false),
        (OPEN, "", "", "npm ci", true),
        (CLOSED, OPEN, "", "npm ci", false),
        ("", OPEN, CLOSED, "npm ci", false),
        ("", OPEN, CLOSED, "npm $x", false),
    ] {
        let policy = policy(&text(admin), &text(user), &text(workspace));
        let all = parts(line, true);
        let opens =
            |part: &CommandPart| of_part(part, |subject| command_grants(&policy, subject).network);
        assert_eq!(all.iter().all(opens), expected, "{line}: {admin} {user} {workspace}");
    }
    let policy = Policy::load(Sources {
        workspace: Some(PolicyFile { file: "workspace".to_owned(), text: Ok(Some(text(OPEN))) }),
        ..Sources::default()
    });
    let policy = policy.unwrap();
    let problems: Vec<_> = policy.problems().map(|problem| problem.one_line()).collect();
    assert!(problems[0].contains("cannot let commands reach the network"), "{problems:?}");
}

#[test]
fn rules_about_commands_say_what_is_wrong_with_them() {
    for (keys, expected) in [
        ("network = true", "`network` is about commands"),
        ("argv = [\"a\"]\nexact_argv = [\"a\"]", "`argv` and `exact_argv` in one rule"),
        ("argv = []", "an empty list matches nothing"),
        ("argv = [\"a\", []]", "an empty list matches nothing"),
        ("exact_argv = []", "an empty list matches nothing"),
        ("argv = [\"a\"]\neffects = [\"read\"]", "only commands have words"),
        (
            "argv = [\"a\"]\nmatch = [{ tool = \"t\", command = \"b\" }]",
            "`match` example 1 (`t`) does not match the rule",
        ),
        ("argv = [\"a\"]\nmatch = [{ tool = \"t\", command = \"if\" }]", "no command: byte 2"),
    ] {
        let text = format!("version = 1\n[[rule]]\ndecision = \"ask\"\n{keys}\n");
        let file = PolicyFile { file: "user".to_owned(), text: Ok(Some(text)) };
        let policy = Policy::load(Sources { user: Some(file), ..Sources::default() }).unwrap();
        let problems: Vec<_> = policy.problems().map(|problem| problem.one_line()).collect();
        assert!(problems.iter().any(|problem| problem.contains(expected)), "{keys}: {problems:?}");
    }
}

/// Command lines that nothing may run unasked.
const DENIED: &[&str] = &[
    "rm -rf x",
    "rm x",
    "git checkout .",
    "git reset --hard",
    "git clean -fd",
    "git clean -n --no-dry-run -fd",
    "git clean --dry-run --no-dry -fd",
    "git push -f",
    "docker -l info push x",
    "kubectl -n prod apply -f x",
    "kubectl -n prod delete pod x",
    "npm --loglevel error publish",
    "cargo +nightly publish",
    "curl http://x",
    "wget x",
    "ssh host",
    "dd of=x",
    "chmod -R 0 .",
    "find . -delete",
    "truncate -s0 a",
    "cp a b",
    "$x",
    "python x.py",
    "unknown-program",
    "./ls",
    "> a",
    "PATH=. ls",
    "sudo ls",
    "git -c core.pager=x log",
    "rg --pre x y",
    "sort -o a b",
    "sed -i p a",
    "eval $x",
    "source a",
    "make",
    "git diff --output=x",
    "tee a",
    "bash x.sh",
];
/// Command lines that run unasked.
const ALLOWED: &[&str] = &[
    "ls",
    "cat a b",
    "git status",
    "cargo test",
    "rg foo",
    "head -3 a",
    "echo 'a b'",
    "x=1",
    "true",
];
/// Ways to put one command line, `@`, beside or into others, `%`.
const WRAPPINGS: &[&str] = &[
    "@",
    "%; @",
    "@; %",
    "% && @",
    "% || @",
    "% | @",
    "@ | %",
    "@ & %",
    "(@)",
    "{ @; }",
    "(%; (@))",
    "! @",
    "time @",
    "if %; then @; fi",
    "if @; then %; fi",
    "while %; do @; done",
    "for i in a b; do @; done",
    "until @; do %; done",
    "case a in b) @;; esac",
    "case a in b) %;; *) @ ;; esac",
    "f() { @; }; f",
    "function f { @; }",
    "echo $(@)",
    "echo \"$(@)\"",
    "echo \"a $(%; @) b\"",
    "cat <(@)",
    "x=$(@)",
    "ls \"$(echo $(@))\"",
    "echo `@`",
    "%\n@",
    "@\n%",
    "cat <<E\n$(@)\nE\n",
    "echo ${x:-$(@)}",
    "[[ -n $(@) ]]",
    "% # c\n@",
    "%;\n\n  @",
    "{ %; @; } | cat",
    "@ 2>/dev/null",
    "@ >/dev/null 2>&1",
    "ls && { % || @; }",
];
/// Commands that run the words behind them; for lines that are no more than words.
const RUNNERS: &[&str] = &[
    "env ",
    "nohup ",
    "nice -n 5 ",
    "timeout 5 ",
    "command ",
    "exec ",
    "xargs ",
    "stdbuf -o0 ",
    "setsid ",
    "env -i A=1 ",
    "sudo ",
    "ionice -c 3 ",
    "/usr/bin/env ",
    "time -p ",
    "busybox ",
    "builtin ",
    "strace -f ",
    "ltrace ",
    "taskset -c 0 ",
    "prlimit --nofile=64 ",
    "eatmydata ",
    "parallel ",
    "chrt -b 0 ",
    "setarch -R ",
    "find . -exec ",
];

fn is_only_words(line: &str) -> bool {
    !line.contains(['>', '$', '\'', ';', '=']) && !line.starts_with("PATH")
}

fn wrapped(denied: &str, steps: &[(&str, &str, u8)]) -> String {
    let mut line = denied.to_owned();
    for (wrapping, allowed, kind) in steps {
        line = match kind {
            // Backticks end at the next one: within others they are no backticks. `$(` and `(` are arithmetic.
            0..=5
                if !(wrapping.contains('`') && line.contains('`')
                    || wrapping.contains("$(@") && line.starts_with('(')) =>
            {
                wrapping.replace('%', allowed).replace('@', &line)
            }
            6 if !line.contains(['\'', '\n']) => format!("sh -c '{line}'"),
            7 if !line.contains(['\'', '\n']) => format!("bash -euc '{line}'"),
            8 if !line.contains(['\'', '\n']) => format!("eval '{line}'"),
            _ => format!("{allowed}; {line}"),
        };
    }
    line
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, ..ProptestConfig::default() })]

    #[test]
    fn no_denied_part_runs_unasked_whatever_stands_around_it(
        denied in select(DENIED),
        runner in proptest::option::of(select(RUNNERS)),
        steps in proptest::collection::vec((select(WRAPPINGS), select(ALLOWED), 0_u8..10), 0..4),
    ) {
        thread_local! {
            static POLICY: Policy = policy("", RULES, "");
        }
        let start = match runner.filter(|_| is_only_words(denied)) {
            Some("find . -exec ") => format!("find . -exec {denied} {{}} +"),
            Some(runner) => format!("{runner}{denied}"),
            None => denied.to_owned(),
        };
        let line = wrapped(&start, &steps);
        let decision = POLICY.with(|policy| decided(policy, &line, true));
        prop_assert_ne!(decision.verdict, Verdict::Allow, "{}", line);
    }
}

#[test]
fn what_runs_unasked_alone_runs_unasked_in_plain_surroundings() {
    let policy = policy("", RULES, "");
    // Whether a name is that of a function is known only when it is called.
    for wrapping in WRAPPINGS.iter().filter(|wrapping| !wrapping.contains("f")) {
        let line = wrapping.replace('%', "ls").replace('@', "git status");
        assert_eq!(decided(&policy, &line, true).verdict, Verdict::Allow, "{line}");
    }
}

#[test]
fn each_doubt_of_how_bash_reads_a_text_asks_by_a_rule_of_its_own() {
    let rules = "version = 1\n[[rule]]\nargv = [\"touch\"]\ndecision = \"allow\"\n";
    let policy = policy("", rules, "");
    let why = "it took longer than 5 seconds";
    for (doubt, rule, reason) in [
        (ReadingDoubt::Otherwise, "read-otherwise", "otherwise than moss"),
        (ReadingDoubt::Refused, "refused-by-bash", "bash refuses"),
        (ReadingDoubt::Unknown(why.to_owned()), "unread-by-bash", why),
    ] {
        let [part] = <[CommandPart; 1]>::try_from(parts("touch a", true)).unwrap();
        assert_eq!(decide_part(&policy, &part).verdict, Verdict::Allow);
        let found = decide_part(&policy, &part.doubted(&doubt));
        assert_eq!((found.verdict, named(&found)), (Verdict::Ask, rule.to_owned()));
        assert!(found.rule.to_string().contains(reason), "{}", found.rule);
    }
}
