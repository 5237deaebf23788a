//! Tests of the module `layers`.

use std::sync::LazyLock;

use moss_sdk::edit::MatchLevel;
use moss_sdk::{Effect, RelPath};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use super::*;
use crate::standing::{AskedEffect, Asker, StandingApproval, narrowest};
use crate::{Protection, decide, decide_for_all_paths, explain};

const TOOLS: &[&str] = &["read_file", "create_file", "delete_file", "word-count"];
const EFFECTS: &[&str] = &["read", "create", "modify", "write", "delete", "exec", "network"];
const GLOBS: &[&str] = &["**", "src/**", "SRC/*", ".git/**", "**/.env", "*.rs"];
static PATHS: LazyLock<Vec<RelPath>> = LazyLock::new(|| {
    ["a.rs", "src/a.rs", "Src/b", ".git/config", ".env", "src/.env"]
        .map(|path| RelPath::parse(path).unwrap())
        .to_vec()
});

/// How an edit was found, and whether it has drift.
const EDITS: &[(Option<MatchLevel>, bool)] = &[
    (None, false),
    (Some(MatchLevel::Exact), false),
    (Some(MatchLevel::BlockAnchor), false),
    (Some(MatchLevel::BlockAnchor), true),
];

/// A rule as it is written, and its verdict apart.
#[derive(Debug, Clone)]
struct Drawn {
    conditions: String,
    opens: bool,
    for_person: bool,
    verdict: Verdict,
}

fn list(key: &str, values: &[&str]) -> String {
    if values.is_empty() { String::new() } else { format!("{key} = {values:?}\n") }
}

fn drawn_rule() -> impl Strategy<Value = Drawn> {
    let verdict = select(vec![Verdict::Allow, Verdict::Ask, Verdict::Deny]);
    let sized = prop::option::weighted(0.2, 0_u64..3);
    (
        subsequence(TOOLS, 0..=2),
        subsequence(EFFECTS, 0..=4),
        subsequence(GLOBS, 0..=2),
        prop::bool::weighted(0.2),
        sized,
        (any::<bool>(), any::<bool>(), prop::bool::weighted(0.2), prop::bool::weighted(0.2)),
        verdict,
    )
        .prop_map(
            |(
                tools,
                effects,
                paths,
                by_plugin,
                size,
                (opens, for_person, all_but, by_level),
                verdict,
            )| {
                let not = if all_but { "not_" } else { "" };
                let mut conditions = list(&format!("{not}tools"), &tools);
                conditions += &list(&format!("{not}paths"), &paths);
                match size {
                    Some(size) => conditions += &format!("size_bytes_min = {size}\n"),
                    None if by_level => conditions += "match_levels = [\"block_anchor\"]\n",
                    None => conditions += &list("effects", &effects),
                }
                if by_plugin {
                    conditions += "plugins = [\"p*\"]\n";
                }
                let opens = opens && !all_but && !paths.is_empty();
                Drawn { conditions, opens, for_person, verdict }
            },
        )
}

fn drawn_layer() -> impl Strategy<Value = Vec<Drawn>> {
    prop::collection::vec(drawn_rule(), 0..5)
}

/// A workspace's rules: those drawn, without what only others may say.
fn restricting(rules: &[Drawn]) -> Vec<Drawn> {
    let restrict = |rule: &Drawn| Drawn {
        opens: false,
        verdict: rule.verdict.max(Verdict::Ask),
        ..rule.clone()
    };
    rules.iter().map(restrict).collect()
}

fn source(rules: &[Drawn]) -> PolicyFile {
    let rules = rules.iter().map(|rule| {
        let open = rule.opens && rule.verdict != Verdict::Deny;
        let protected = if open { "protected = true\n" } else { "" };
        let decision = rule.verdict.as_str();
        let person = rule.for_person && rule.verdict == Verdict::Ask;
        let approver = if person { "approver = \"person\"\n" } else { "" };
        format!("[[rule]]\n{}{protected}{approver}decision = \"{decision}\"\n", rule.conditions)
    });
    let text = format!("version = 1\n{}", rules.collect::<String>());
    PolicyFile { file: "drawn".to_owned(), text: Ok(Some(text)) }
}

fn load(admin: &[Drawn], user: &[Drawn], workspace: &[Drawn]) -> Policy {
    let policy = Policy::load(Sources {
        admin: vec![source(admin)],
        user: Some(source(user)),
        workspace: Some(source(workspace)),
    })
    .unwrap();
    let broken: Vec<_> = policy.problems().map(|problem| problem.one_line()).collect();
    assert_eq!(broken, [""; 0]);
    policy
}

/// Every subject over a small world.
fn subjects() -> impl Iterator<Item = Subject<'static>> {
    let paths = || [None].into_iter().chain(PATHS.iter().map(Some));
    let effects = [Effect::Read, Effect::Write, Effect::Exec];
    Action::ALL.iter().flat_map(move |&action| {
        TOOLS.iter().zip(effects.into_iter().cycle()).flat_map(move |(tool, tool_effect)| {
            let edits = if action == Action::Modify { EDITS } else { &EDITS[..1] };
            let of = move |path| edits.iter().map(move |edit| (path, *edit));
            paths().flat_map(of).map(move |(path, (match_level, drift))| Subject {
                action,
                tool,
                tool_effect,
                plugin: tool.contains('-').then_some("p"),
                caller: "caller",
                path,
                protection: path.and_then(|path| match path.as_str() {
                    ".git/config" => Some(Protection::Metadata),
                    ".env" | "src/.env" => Some(Protection::Secret),
                    _ => None,
                }),
                size_bytes: matches!(action, Action::Create | Action::Modify).then_some(1),
                match_level,
                drift,
                command: None,
                answers: &[],
            })
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn a_workspace_layer_never_widens(
        admin in drawn_layer(), user in drawn_layer(), workspace in drawn_layer()
    ) {
        let without = load(&admin, &user, &[]);
        let with = load(&admin, &user, &restricting(&workspace));
        for subject in subjects() {
            let (before, after) = (decide(&without, &subject), decide(&with, &subject));
            prop_assert!(after.verdict >= before.verdict, "{subject:?}: {before} -> {after}");
        }
    }

    #[test]
    fn what_the_admin_asks_or_denies_is_a_floor(
        admin in drawn_layer(), user in drawn_layer(), workspace in drawn_layer()
    ) {
        let alone = load(&admin, &[], &[]);
        let all = load(&admin, &user, &restricting(&workspace));
        for subject in subjects() {
            let explanation = explain(&alone, &subject);
            let said = explanation.matched.iter().filter(|rule| rule.rule.layer == Layer::Admin);
            let Some(floor) = said.map(|rule| rule.verdict).max() else { continue };
            let decision = decide(&all, &subject);
            prop_assert!(decision.verdict >= floor, "{subject:?}: {floor:?} -> {decision}");
        }
    }

    #[test]
    fn a_stricter_rule_never_gives_a_milder_decision(
        layers in [drawn_layer(), drawn_layer(), drawn_layer()],
        layer in 0_usize..3, index in any::<prop::sample::Index>()
    ) {
        let mut raised = layers.clone();
        raised[2] = restricting(&raised[2]);
        let before = load(&raised[0], &raised[1], &raised[2]);
        prop_assume!(!raised[layer].is_empty());
        let at = index.index(raised[layer].len());
        let rule = &mut raised[layer][at];
        rule.verdict = match rule.verdict {
            Verdict::Allow => Verdict::Ask,
            Verdict::Ask | Verdict::Deny => Verdict::Deny,
        };
        let after = load(&raised[0], &raised[1], &raised[2]);
        for subject in subjects() {
            let (before, after) = (decide(&before, &subject), decide(&after, &subject));
            prop_assert!(after.verdict >= before.verdict, "{subject:?}: {before} -> {after}");
        }
    }

    #[test]
    fn protected_names_need_a_rule_that_opens_them(
        admin in drawn_layer(), user in drawn_layer(), workspace in drawn_layer()
    ) {
        let policy = load(&admin, &user, &restricting(&workspace));
        for subject in subjects().filter(Subject::is_guarded) {
            let opened = policy.matches(&subject).any(|matched| matched.opens_protected);
            let decision = decide(&policy, &subject);
            prop_assert!(decision.protected);
            prop_assert!(opened || decision.verdict == Verdict::Deny, "{subject:?}: {decision}");
        }
    }

    #[test]
    fn what_is_decided_for_all_paths_is_decided_for_each(
        admin in drawn_layer(), user in drawn_layer(), workspace in drawn_layer()
    ) {
        let policy = load(&admin, &user, &restricting(&workspace));
        for subject in subjects().filter(|subject| subject.path.is_some()) {
            let without_path = Subject { path: None, ..subject };
            if let Some(decision) = decide_for_all_paths(&policy, &without_path) {
                prop_assert_eq!(decision, decide(&policy, &subject), "{:?}", subject);
            }
        }
        let all: Vec<_> = [&admin, &user, &workspace].into_iter().flatten().collect();
        if all.is_empty() {
            prop_assert!(subjects().all(|one| decide_for_all_paths(&policy, &one).is_some()));
        }
    }

    #[test]
    fn drift_asks_where_it_is_not_denied(
        admin in drawn_layer(), user in drawn_layer(), workspace in drawn_layer()
    ) {
        let policy = load(&admin, &user, &restricting(&workspace));
        for subject in subjects().filter(|subject| subject.drift) {
            let decision = decide(&policy, &subject);
            let without = decide(&policy, &Subject { drift: false, ..subject });
            prop_assert_eq!(decision.verdict, without.verdict.max(Verdict::Ask));
            let is_named = decision.rule.layer == Layer::Drift;
            prop_assert_eq!(is_named, decision.verdict == Verdict::Ask, "{}", decision);
        }
    }

    #[test]
    fn an_approval_beats_what_the_user_and_the_default_ask_and_nothing_else(
        admin in drawn_layer(), user in drawn_layer(), workspace in drawn_layer(),
        covered in subsequence((0..PATHS.len()).collect::<Vec<_>>(), 1..3),
        tool in select(TOOLS),
        action in select(vec![Action::Read, Action::Create, Action::Modify, Action::Delete])
    ) {
        let policy = load(&admin, &user, &restricting(&workspace));
        let asker = Asker { tool, plugin: tool.contains('-').then_some("p"), caller: "caller" };
        let has_content = matches!(action, Action::Create | Action::Modify);
        let size_bytes = has_content.then_some(1);
        let asked = |path: &usize| AskedEffect { action, path: &PATHS[*path], size_bytes };
        let permissions = narrowest(asker, &covered.iter().map(asked).collect::<Vec<_>>());
        let answers = [Arc::new(StandingApproval::imagined(permissions.unwrap()))];
        for subject in subjects() {
            let before = decide(&policy, &subject);
            let after = decide(&policy, &Subject { answers: &answers, ..subject });
            if before.verdict == after.verdict {
                prop_assert!(after.rule.answer.is_none(), "{}", after);
                continue;
            }
            prop_assert_eq!((before.verdict, after.verdict), (Verdict::Ask, Verdict::Allow));
            prop_assert!(after.rule.answer.is_some(), "{}", after);
            prop_assert!(answers[0].allows(&subject), "{:?}", subject);
            prop_assert!(!subject.is_guarded(), "{:?}", subject);
            let explanation = explain(&policy, &subject);
            let asks = explanation.matched.iter().filter(|rule| rule.verdict == Verdict::Ask);
            for ask in asks {
                prop_assert!(matches!(ask.rule.layer, Layer::User | Layer::Default), "{:?}", ask);
            }
        }
    }

    #[test]
    fn an_explanation_agrees_with_the_decision(
        admin in drawn_layer(), user in drawn_layer(), workspace in drawn_layer()
    ) {
        let policy = load(&admin, &user, &restricting(&workspace));
        for subject in subjects() {
            let explanation = explain(&policy, &subject);
            let decides: Vec<_> = explanation.matched.iter().filter(|rule| rule.decides).collect();
            prop_assert_eq!(decides.len(), 1);
            prop_assert_eq!(&decides[0].rule, explanation.decision.rule.as_ref());
            prop_assert_eq!(decides[0].verdict, explanation.decision.verdict);
            let strictest = explanation.matched.iter().map(|rule| rule.verdict).max();
            prop_assert_eq!(strictest, Some(explanation.decision.verdict));
        }
    }
}

fn file(name: &str, text: &str) -> PolicyFile {
    PolicyFile { file: name.to_owned(), text: Ok(Some(text.to_owned())) }
}

const ALLOW_ALL: &str = "version = 1\n[[rule]]\ndecision = \"allow\"\n";

#[test]
fn a_broken_admin_file_gives_no_policy() {
    let sources =
        |source| Sources { admin: vec![file("a", ALLOW_ALL), source], ..Sources::default() };
    let error = Policy::load(sources(file("admin.toml", "version = 1\nx"))).unwrap_err();
    assert_eq!((error.file.as_str(), error.line), ("admin.toml", 2));
    let unreadable = PolicyFile { file: "b".to_owned(), text: Err("permission denied".to_owned()) };
    assert_eq!(
        Policy::load(sources(unreadable)).unwrap_err().one_line(),
        "b:1:1: cannot be read: permission denied; check its permissions; it must be UTF-8 text"
    );
    let missing = PolicyFile { file: "c".to_owned(), text: Ok(None) };
    assert!(Policy::load(sources(missing)).is_ok());
}

#[test]
fn a_broken_user_or_workspace_file_leaves_only_reads() {
    let broken = || Some(file("broken.toml", "version = 1\n[[rule]]\ndecision = \"alow\""));
    let unreadable = || {
        Some(PolicyFile { file: "broken.toml".to_owned(), text: Err("is a directory".to_owned()) })
    };
    let admin = vec![file("admin.toml", ALLOW_ALL)];
    for (user, workspace, layer) in [
        (broken(), None, Layer::User),
        (None, broken(), Layer::Workspace),
        (unreadable(), None, Layer::User),
        (None, unreadable(), Layer::Workspace),
    ] {
        let policy = Policy::load(Sources { admin: admin.clone(), user, workspace }).unwrap();
        assert_eq!(policy.problems().count(), 1);
        for subject in subjects().filter(|subject| !subject.is_guarded()) {
            let decision = decide(&policy, &subject);
            let reads = subject.action == Action::Read
                || (subject.action == Action::Call && subject.tool_effect == Effect::Read);
            if reads {
                assert_eq!(decision.verdict, Verdict::Allow, "{subject:?}");
            } else {
                assert_eq!((decision.verdict, decision.rule.layer), (Verdict::Deny, layer));
                assert_eq!(decision.rule.file.as_deref(), Some("broken.toml"));
            }
        }
    }
    let policy = Policy::load(Sources { user: broken(), ..Sources::default() }).unwrap();
    let write = subjects().find(|subject| subject.action == Action::Create).unwrap();
    assert_eq!(
        decide(&policy, &write).to_string(),
        "denied by user policy broken.toml:3: only reads are allowed until the file is fixed: \
         column 12: unknown variant `alow`, expected one of `allow`, `ask`, `deny`"
    );
}

#[test]
fn several_admin_files_add_up_to_a_limit() {
    let deny = "version = 1\n[[rule]]\ntools = [\"read_file\"]\ndecision = \"deny\"\n";
    let admin = vec![file("one", ALLOW_ALL), file("two", deny)];
    let policy = Policy::load(Sources { admin, ..Sources::default() }).unwrap();
    let read = subjects().find(|subject| subject.action == Action::Read).unwrap();
    assert_eq!(decide(&policy, &read).to_string(), "denied by admin policy two:2");

    let admin = vec![file("many", ALLOW_ALL); ADMIN_FILES_MAX + 1];
    let error = Policy::load(Sources { admin, ..Sources::default() }).unwrap_err();
    assert!(error.message.contains("more than 16"), "{error}");
}

#[test]
fn a_layer_keeps_its_rules_while_its_file_is_broken() {
    let says = |name: &str, decision: &str| {
        file(name, &format!("version = 1\n[[rule]]\ndecision = \"{decision}\"\n"))
    };
    let sources = |admin: [PolicyFile; 2], user: PolicyFile, workspace: PolicyFile| Sources {
        admin: admin.to_vec(),
        user: Some(user),
        workspace: Some(workspace),
    };
    let broken = || file("broken.toml", "version = 1\n\noops");
    let missing = || PolicyFile { file: "none".to_owned(), text: Ok(None) };
    let listed = |policy: &Policy| -> Vec<_> {
        policy
            .rules()
            .map(|(verdict, rule)| format!("{} {verdict:?}", rule.layer.as_str()))
            .collect()
    };
    let told = |policy: &Policy| -> Vec<_> {
        policy.problems().map(|problem| (problem.error.line, problem.kept)).collect()
    };

    let first = sources([says("a", "ask"), missing()], says("u", "allow"), says("w", "deny"));
    let policy = Policy::load(first.clone()).unwrap();
    assert!(policy.reload(first).is_none(), "nothing changed");

    // Each layer stands for itself; the files of the admin stand together.
    let next = sources([says("a", "deny"), broken()], broken(), says("w", "ask"));
    let policy = policy.reload(next).unwrap();
    assert_eq!(listed(&policy), ["admin Ask", "user Allow", "workspace Ask"]);
    assert_eq!(told(&policy), [(3, true), (3, true)]);
    let problem = policy.problems().next().unwrap().one_line();
    assert!(
        problem.starts_with("broken.toml:3:") && problem.contains("previous rules"),
        "{problem}"
    );

    let next = sources([says("a", "deny"), missing()], says("u", "ask"), broken());
    let policy = policy.reload(next).unwrap();
    assert_eq!(listed(&policy), ["admin Deny", "user Ask", "workspace Ask"]);
    assert_eq!(told(&policy), [(3, true)]);

    // A removed file has no rules any more.
    let policy = policy.reload(sources([missing(), missing()], missing(), missing())).unwrap();
    assert_eq!((listed(&policy), told(&policy)), (Vec::new(), Vec::new()));

    // What was broken at the start has nothing to keep.
    let policy = Policy::load(Sources { user: Some(broken()), ..Sources::default() }).unwrap();
    assert_eq!(told(&policy), [(3, false)]);
    let other = file("broken.toml", "version = 1\noops");
    let policy = policy.reload(Sources { user: Some(other), ..Sources::default() }).unwrap();
    assert_eq!(told(&policy), [(2, false)]);
    assert!(policy.problems().next().unwrap().one_line().contains("only reads pass"));
    let mended = Sources { user: Some(says("u", "ask")), ..Sources::default() };
    let policy = policy.reload(mended).unwrap();
    assert_eq!((listed(&policy), told(&policy)), (vec!["user Ask".to_owned()], Vec::new()));
}
