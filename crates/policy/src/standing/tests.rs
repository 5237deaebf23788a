//! Tests of the module `standing`.

use std::sync::LazyLock;

use moss_sdk::Effect;
use moss_sdk::edit::MatchLevel;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use super::*;
use crate::{CommandPart, Policy, PolicyFile, Protection, Sources, Verdict, decide};

/// Names that mean something in globs, and what such globs would match besides.
const NAMES: &[&str] = &[
    "src/a.rs",
    "src/A.rs",
    "src/[a].rs",
    "src/*.rs",
    "src/?.rs",
    "src/{a,b}.rs",
    "src/b.rs",
    "~",
    "~/x",
    "a\\b",
    "ab",
    "a'b",
    "a\"b",
    "**",
    "!a",
    "[!a]",
    "src/**",
    "a,b",
    "-",
    "é",
    "É",
];
const TOOLS: &[&str] = &["create_file", "create*", "replace_text"];
const PLUGINS: &[Option<&str>] = &[None, Some("p"), Some("p*")];
static PATHS: LazyLock<Vec<RelPath>> =
    LazyLock::new(|| NAMES.iter().map(|name| RelPath::parse(name).unwrap()).collect());

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn asker() -> Asker<'static> {
    Asker { tool: "replace_text", plugin: None, caller: "caller" }
}

fn answer(permissions: Vec<Permission>) -> StandingApproval {
    let (id, expires_at) = ("abc".to_owned(), at("2026-12-01T00:00:00Z"));
    let rule = StandingApproval::rule_of(&id, "always", Some("a.toml".to_owned()), expires_at);
    let approved_at = at("2026-11-01T00:00:00Z");
    StandingApproval { id, permissions, component: None, approved_at, expires_at, rule }
}

fn modify<'a>(path: &'a RelPath, size_bytes: u64) -> AskedEffect<'a> {
    AskedEffect { action: Action::Modify, path, size_bytes: Some(size_bytes) }
}

/// Every subject over a small world.
fn subjects() -> impl Iterator<Item = Subject<'static>> {
    let sizes = [None, Some(0), Some(SIZE_BYTES_MIN), Some(SIZE_BYTES_MIN + 1)];
    let by = TOOLS.iter().flat_map(|tool| PLUGINS.iter().map(move |plugin| (*tool, *plugin)));
    by.flat_map(move |(tool, plugin)| {
        ["caller", "approver"].into_iter().flat_map(move |caller| {
            Action::ALL.iter().flat_map(move |&action| {
                PATHS.iter().map(Some).chain([None]).flat_map(move |path| {
                    sizes.map(move |size_bytes| Subject {
                        action,
                        tool,
                        tool_effect: Effect::Write,
                        plugin,
                        caller,
                        path,
                        protection: None,
                        size_bytes,
                        match_level: None,
                        drift: false,
                        command: None,
                        answers: &[],
                    })
                })
            })
        })
    })
}

fn drawn() -> impl Strategy<Value = (Asker<'static>, Vec<AskedEffect<'static>>)> {
    let asker = (select(TOOLS), select(PLUGINS)).prop_map(|(tool, plugin)| Asker {
        tool,
        plugin,
        caller: "caller",
    });
    let effects = subsequence((0..PATHS.len()).collect::<Vec<_>>(), 1..4).prop_flat_map(|all| {
        let one = |index: usize| {
            (select(ACTIONS), 0..SIZE_BYTES_MIN).prop_map(move |(action, size)| {
                let has_content = matches!(action, Action::Create | Action::Modify);
                let size_bytes = has_content.then_some(size);
                AskedEffect { action, path: &PATHS[index], size_bytes }
            })
        };
        all.into_iter().map(one).collect::<Vec<_>>()
    });
    (asker, effects)
}

/// The user's file that says what permissions say.
fn told(permissions: &[Permission]) -> Policy {
    let rules = permissions.iter().map(|permission| format!("[[rule]]\n{}", permission.to_toml()));
    let text = format!("version = 1\n{}", rules.collect::<String>());
    let user = Some(PolicyFile { file: "u".to_owned(), text: Ok(Some(text.clone())) });
    let policy = Policy::load(Sources { user, ..Sources::default() }).unwrap();
    assert_eq!(policy.problems().count(), 0, "{text}");
    policy
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn an_approval_allows_what_its_text_says_and_no_more((asker, effects) in drawn()) {
        let permissions = narrowest(asker, &effects).unwrap();
        let policy = told(&permissions);
        let answer = answer(permissions);
        for subject in subjects() {
            let says = decide(&policy, &subject);
            let says = says.verdict == Verdict::Allow && says.rule.layer == Layer::User;
            // A rule without a plugin speaks about the tools of plugins as well; an approval does
            // not.
            let says = says && subject.plugin == asker.plugin;
            prop_assert_eq!(answer.allows(&subject), says, "{:?}", subject);
            if !answer.allows(&subject) { continue }
            let asked = effects.iter().any(|effect| {
                effect.action == subject.action && Some(effect.path) == subject.path
            });
            prop_assert!(asked, "{:?}", subject);
            prop_assert_eq!(
                (subject.tool, subject.plugin, subject.caller),
                (asker.tool, asker.plugin, asker.caller)
            );
        }
        for effect in &effects {
            let asked = Subject {
                action: effect.action,
                tool: asker.tool,
                tool_effect: Effect::Write,
                plugin: asker.plugin,
                caller: asker.caller,
                path: Some(effect.path),
                protection: None,
                size_bytes: effect.size_bytes,
                match_level: None,
                drift: false,
                command: None,
                answers: &[],
            };
            prop_assert!(answer.allows(&asked));
        }
    }

    #[test]
    fn what_is_written_is_read((asker, effects) in drawn()) {
        let mut answer = answer(narrowest(asker, &effects).unwrap());
        answer.component = asker.plugin.map(|_| "0a".repeat(32));
        let stored = vec![answer.clone()];
        let text = file::render(&stored);
        prop_assert_eq!(file::parse("a.toml", &text).unwrap(), stored);
        let terms =
            file::terms(&answer.permissions, answer.component.as_deref(), answer.expires_at);
        for line in terms.lines() {
            prop_assert!(text.lines().any(|written| written == line), "{}", line);
        }
    }
}

#[test]
fn protected_names_are_never_covered() {
    let path = RelPath::parse("src/a.rs").unwrap();
    let answers = [Arc::new(answer(narrowest(asker(), &[modify(&path, 1)]).unwrap()))];
    let open =
        "version = 1\n[[rule]]\npaths = [\"src/**\"]\nprotected = true\ndecision = \"ask\"\n";
    let user = Some(PolicyFile { file: "u".to_owned(), text: Ok(Some(open.to_owned())) });
    let policy = Policy::load(Sources { user, ..Sources::default() }).unwrap();
    let subject = Subject {
        action: Action::Modify,
        tool: "replace_text",
        tool_effect: Effect::Write,
        plugin: None,
        caller: "caller",
        path: Some(&path),
        protection: None,
        size_bytes: Some(1),
        match_level: None,
        drift: false,
        command: None,
        answers: &answers,
    };
    assert_eq!(decide(&policy, &subject).verdict, Verdict::Allow);
    for protection in [Protection::Code, Protection::Metadata, Protection::Secret] {
        let guarded = Subject { protection: Some(protection), ..subject };
        assert_eq!(decide(&policy, &guarded).verdict, Verdict::Ask);
    }
}

#[test]
fn drift_is_never_covered() {
    let path = RelPath::parse("src/a.rs").unwrap();
    let answers = [Arc::new(answer(narrowest(asker(), &[modify(&path, 1)]).unwrap()))];
    let covered = subjects().find(|subject| answers[0].allows(subject)).unwrap();
    let drifted = Subject { drift: true, answers: &answers, ..covered };
    assert!(!answers[0].allows(&drifted));
    let policy = Policy::load(Sources::default()).unwrap();
    let found = Subject { drift: false, match_level: Some(MatchLevel::BlockAnchor), ..drifted };
    assert_eq!(decide(&policy, &found).verdict, Verdict::Allow);
    assert_eq!(decide(&policy, &drifted).verdict, Verdict::Ask);
}

#[test]
fn what_cannot_be_written_as_a_rule_is_not_offered() {
    let path = RelPath::parse("src/a.rs").unwrap();
    for action in [Action::Call, Action::Exec, Action::Network, Action::Register, Action::Configure]
    {
        let effect = AskedEffect { action, path: &path, size_bytes: None };
        assert_eq!(narrowest(asker(), &[modify(&path, 1), effect]), None, "{action:?}");
    }
    assert_eq!(narrowest(asker(), &[]), None);
    let reordered = RelPath::parse("src/\u{202e}sr.a").unwrap();
    assert_eq!(narrowest(asker(), &[modify(&reordered, 1)]), None);
    let long = RelPath::parse(&format!("{0}/{0}/{0}", "n".repeat(200))).unwrap();
    assert_eq!(narrowest(asker(), &[modify(&long, 1)]), None);
    let many: Vec<_> = (0..=GLOBS_MAX).map(|n| RelPath::parse(&n.to_string()).unwrap()).collect();
    let effects: Vec<_> = many.iter().map(|path| modify(path, 1)).collect();
    assert_eq!(narrowest(asker(), &effects), None);
    assert!(narrowest(asker(), &effects[1..]).is_some());
}

#[test]
fn what_is_not_drawn_is_written_as_an_escape() {
    let text = file::quoted("a\u{202e}b\u{e0041}");
    assert_eq!(text, r#""a\U0000202Eb\U000E0041""#);
    let read: toml::Table = toml::from_str(&format!("a = {text}")).unwrap();
    assert_eq!(read["a"].as_str(), Some("a\u{202e}b\u{e0041}"));
}

#[test]
fn the_text_is_a_rule_of_a_policy_file() {
    let paths = ["b [1].rs", "a.rs", "gone"].map(|path| RelPath::parse(path).unwrap());
    let effects = [
        modify(&paths[0], 40_000),
        AskedEffect { action: Action::Delete, path: &paths[2], size_bytes: Some(0) },
        modify(&paths[1], 10),
    ];
    let asker = Asker { plugin: Some("license-header"), ..asker() };
    let permissions = narrowest(asker, &effects).unwrap();
    let until = at("2026-12-01T00:00:00Z");
    assert_eq!(
        file::terms(&permissions, Some("0a0b"), until),
        r#"[[approval]]
expires_at = "2026-12-01T00:00:00Z"
component = "0a0b"

[[approval.rule]]
tools = ["replace_text"]
plugins = ["license-header"]
callers = ["caller"]
effects = ["modify"]
paths = [
    "a.rs",
    'b \[1\].rs',
]
size_bytes_max = 80000
decision = "allow"

[[approval.rule]]
tools = ["replace_text"]
plugins = ["license-header"]
callers = ["caller"]
effects = ["delete"]
paths = ["gone"]
decision = "allow"
"#
    );
}

/// A file of one approval, in which one line is replaced.
fn file_with(line: &str, by: &str) -> String {
    let path = RelPath::parse("a").unwrap();
    let answer = answer(narrowest(asker(), &[modify(&path, 1)]).unwrap());
    let text = file::render(&[answer]);
    assert!(text.contains(line), "{text}");
    text.replacen(line, by, 1)
}

#[test]
fn counts_that_an_older_version_wrote_are_read_and_dropped() {
    let path = RelPath::parse("src/a.rs").unwrap();
    let answer = answer(narrowest(asker(), &[modify(&path, 1)]).unwrap());
    let text = file::render(std::slice::from_ref(&answer));
    let counted = "uses = 2\nlast_used_at = \"2026-11-02T03:04:05.678Z\"\n\n[[approval.rule]]";
    let older = text.replacen("[[approval.rule]]", counted, 1);
    assert_ne!(older, text);
    let read = file::parse("a.toml", &older).unwrap();
    assert_eq!(read, [answer]);
    assert_eq!(file::render(&read), text);
}

#[test]
fn names_that_an_older_version_wrote_are_read() {
    let older = r#"version = 1

[[answer]]
id = "abc"
answered_at = "2026-11-01T00:00:00Z"
expires_at = "2026-12-01T00:00:00Z"

[[answer.rule]]
tools = ["replace_text"]
callers = ["caller"]
effects = ["modify"]
paths = ["src/a.rs"]
size_bytes_max = 65536
decision = "allow"
"#;
    let read = file::parse("answers.toml", older).unwrap();
    assert_eq!((read.len(), read[0].approved_at), (1, at("2026-11-01T00:00:00Z")));
    let today = file::render(&read);
    assert!(today.contains("[[approval]]") && !today.contains("answer"), "{today}");
    assert_eq!(file::parse("answers.toml", &today).unwrap(), read);
}

#[test]
fn a_file_that_says_more_than_an_approval_may_is_refused_with_its_location() {
    for (line, by, message) in [
        ("paths = [\"a\"]", "paths = [\"**\"]", "`**` matches more than one name"),
        ("paths = [\"a\"]", "paths = []", "an approval needs paths"),
        ("paths = [\"a\"]", "paths = [\"../a\"]", "no path"),
        ("paths = [\"a\"]", "", "missing field `paths`"),
        ("paths = [\"a\"]", "paths = [\"a\"]\nprotected = true", "unknown field `protected`"),
        ("tools = [\"replace_text\"]", "tools = [\"*\"]", "matches more than one name"),
        ("tools = [\"replace_text\"]", "tools = [\"a\", \"b\"]", "an approval names exactly one"),
        ("effects = [\"modify\"]", "effects = [\"modify\", \"create\"]", "one kind of effect"),
        ("effects = [\"modify\"]", "effects = [\"register\"]", "one kind of effect"),
        ("effects = [\"modify\"]", "effects = [\"write\"]", "unknown variant `write`"),
        ("size_bytes_max = 65536\n", "", "`size_bytes_max` belongs"),
        ("decision = \"allow\"", "decision = \"deny\"", "can only allow"),
        ("2026-12-01", "2027-12-01", "at most 365 days"),
        ("2026-12-01", "someday", "as year"),
        ("id = \"abc\"", "id = \"a b\"", "is not an ID of an approval"),
        ("version = 1", "version = 2", "version 2 is not known"),
        ("approved_at", "given_at", "unknown field `given_at`"),
    ] {
        let error = file::parse("approvals.toml", &file_with(line, by)).unwrap_err();
        assert!(error.message.contains(message), "{by}: {}", error.message);
        assert!(error.line > 2, "{by}: {error}");
    }
    let twice = file_with("", "") + file_with("", "").split_once("version = 1\n").unwrap().1;
    assert!(file::parse("a", &twice).unwrap_err().message.contains("a second approval `abc`"));
    assert_eq!(file::parse("a", "version = 1\n").unwrap(), []);
}

/// The words that are offered for the parts of a text that ask; none where nothing is.
fn offered(text: &str) -> Option<Vec<String>> {
    let commands = moss_commands::read(text).unwrap().commands;
    let parts: Vec<_> = commands.into_iter().map(|one| CommandPart::new(one, true)).collect();
    let asked: Vec<_> = parts.iter().filter(|part| !part.is_harmless()).collect();
    let permissions = narrowest_commands(asker(), &RelPath::root(), &asked)?;
    assert!(permissions.iter().all(|one| one.paths == BTreeSet::from([RelPath::root()])));
    Some(permissions.into_iter().map(|one| one.argv.unwrap().join(" ")).collect())
}

#[test]
fn commands_are_offered_by_all_words_of_each_part_that_asks() {
    for (text, expected) in [
        ("touch a", &["touch a"][..]),
        ("git status && touch a", &["touch a"]),
        ("touch a; touch b | wc -l", &["touch a", "touch b"]),
        ("touch a; touch a", &["touch a"]),
        ("timeout 5 make all", &["make all"]),
        ("touch 'a b' \"c\"", &["touch a b c"]),
    ] {
        assert_eq!(offered(text).unwrap_or_default(), expected, "{text}");
    }
}

#[test]
fn nothing_is_offered_for_what_is_another_command_each_time_or_always_asks() {
    for text in [
        "touch $x",
        "env A=1 touch a",
        "touch *",
        "$x a",
        "touch \"$(date)\"",
        "rm a",
        "git status && rm *",
        "touch a; rm b",
        "sudo touch a",
        "git checkout .",
        "X=1 make",
        "ls",
    ] {
        assert_eq!(offered(text), None, "{text}");
    }
}

#[test]
fn an_approval_of_a_command_covers_these_words_in_this_directory_alone() {
    let given = |text: &str| {
        let command = moss_commands::read(text).unwrap().commands.swap_remove(0);
        CommandPart::new(command, true)
    };
    let root = RelPath::root();
    let permissions = narrowest_commands(asker(), &root, &[&given("make all")]).unwrap();
    let approval = answer(permissions);
    let sub = RelPath::parse("sub").unwrap();
    let allows = |text: &str, path: &RelPath| {
        let part = given(text);
        approval.allows(&Subject {
            action: Action::Exec,
            tool: "replace_text",
            tool_effect: Effect::Exec,
            plugin: None,
            caller: "caller",
            path: Some(path),
            protection: None,
            size_bytes: None,
            match_level: None,
            drift: false,
            command: Some(&part),
            answers: &[],
        })
    };
    assert!(allows("make all", &root) && allows("'make' \"all\"", &root));
    assert!(!allows("make all", &sub));
    for text in ["make", "make all x", "make $x", "CC=x make all", "make all*"] {
        assert!(!allows(text, &root), "{text}");
    }
}

#[test]
fn an_approval_of_a_command_covers_no_job_and_one_of_a_job_nothing_else() {
    let command = moss_commands::read("make all").unwrap().commands.swap_remove(0);
    let once = CommandPart::new(command, true);
    let job = once.clone().left_running();
    let root = RelPath::root();
    let allows = |approval: &StandingApproval, part: &CommandPart| {
        approval.allows(&Subject {
            action: Action::Exec,
            tool: "replace_text",
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
        })
    };
    for (given, other) in [(&once, &job), (&job, &once)] {
        let approval = answer(narrowest_commands(asker(), &root, &[given]).unwrap());
        let written = file::render(std::slice::from_ref(&approval));
        let read = file::parse("a", &written).unwrap().swap_remove(0);
        assert_eq!(written.contains("is_job = true"), given.is_job());
        for approval in [&approval, &read] {
            assert!(allows(approval, given) && !allows(approval, other), "{written}");
        }
    }
    let written = file_with("decision = ", "is_job = true\ndecision = ");
    assert!(file::parse("a", &written).is_err(), "{written}");
}
