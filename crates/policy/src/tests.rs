//! Tests of the module `policy`.

use super::explain::explain_search;
use super::*;

/// Loads a policy from the rules of the three layers.
fn policy(admin: &str, user: &str, workspace: &str) -> Policy {
    let source = |file: &str, rules: &str| PolicyFile {
        file: file.to_owned(),
        text: Ok(Some(format!("version = 1\n{rules}"))),
    };
    let policy = Policy::load(Sources {
        admin: vec![source("/etc/moss/policy.toml", admin)],
        user: Some(source("user.toml", user)),
        workspace: Some(source("workspace.toml", workspace)),
    })
    .unwrap();
    let broken: Vec<_> = policy.problems().map(|problem| problem.one_line()).collect();
    assert_eq!(broken, [""; 0]);
    policy
}

/// A policy file's rule with these conditions and this decision.
fn rule(conditions: &str, decision: &str) -> String {
    format!("[[rule]]\n{conditions}\ndecision = \"{decision}\"\n")
}

const CALL_READ: Subject<'static> = Subject {
    action: Action::Call,
    tool: "read_file",
    tool_effect: Effect::Read,
    plugin: None,
    caller: "caller",
    path: None,
    protection: None,
    size_bytes: None,
    match_level: None,
    drift: false,
    command: None,
    answers: &[],
};
const CALL_WRITE: Subject<'static> =
    Subject { tool: "create_file", tool_effect: Effect::Write, ..CALL_READ };
const CALL_EXEC: Subject<'static> =
    Subject { tool: "run_tests", tool_effect: Effect::Exec, ..CALL_READ };

/// Decides about an action of a tool on `path`.
fn decided(policy: &Policy, call: Subject<'_>, action: Action, path: &str) -> Decision {
    let path = RelPath::parse(path).unwrap();
    decide(policy, &Subject { action, path: Some(&path), ..call })
}

fn verdict(policy: &Policy, call: Subject<'_>, action: Action, path: &str) -> Verdict {
    decided(policy, call, action, path).verdict
}

#[test]
fn without_rules_reads_and_calls_go_ahead_and_effects_ask() {
    let policy = policy("", "", "");
    for &action in Action::ALL {
        let decision = decided(&policy, CALL_WRITE, action, "a");
        let expected = match action {
            Action::Call | Action::Read => Verdict::Allow,
            _ => Verdict::Ask,
        };
        assert_eq!((decision.verdict, decision.rule.layer), (expected, Layer::Default));
    }
}

#[test]
fn layers_combine_to_the_strictest() {
    // admin, user, workspace -> verdict and layer for writing `src/a`
    let cases = [
        ("", "allow", "", Verdict::Allow, Layer::User),
        ("allow", "", "", Verdict::Allow, Layer::Admin),
        ("ask", "allow", "", Verdict::Ask, Layer::Admin),
        ("deny", "allow", "", Verdict::Deny, Layer::Admin),
        ("allow", "ask", "", Verdict::Ask, Layer::User),
        ("allow", "deny", "", Verdict::Deny, Layer::User),
        ("", "allow", "ask", Verdict::Ask, Layer::Workspace),
        ("allow", "allow", "deny", Verdict::Deny, Layer::Workspace),
        ("deny", "deny", "deny", Verdict::Deny, Layer::Admin),
        ("", "", "ask", Verdict::Ask, Layer::Workspace),
        ("", "", "deny", Verdict::Deny, Layer::Workspace),
    ];
    for (admin, user, workspace, expected, layer) in cases {
        let text = |decision: &str| match decision {
            "" => String::new(),
            decision => rule("paths = [\"src/**\"]", decision),
        };
        let policy = policy(&text(admin), &text(user), &text(workspace));
        let decision = decided(&policy, CALL_WRITE, Action::Modify, "src/a");
        let case = format!("{admin}, {user}, {workspace}");
        assert_eq!((decision.verdict, decision.rule.layer), (expected, layer), "{case}");
        let elsewhere = decided(&policy, CALL_WRITE, Action::Modify, "b");
        assert_eq!((elsewhere.verdict, elsewhere.rule.layer), (Verdict::Ask, Layer::Default));
    }
}

#[test]
fn within_a_layer_the_order_of_rules_means_nothing() {
    let three = [rule("", "allow"), rule("", "deny"), rule("", "ask")];
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let all = order.map(|index| three[index].as_str()).concat();
        assert_eq!(verdict(&policy("", &all, ""), CALL_WRITE, Action::Create, "a"), Verdict::Deny);
        let mild = all.replace("deny", "allow");
        assert_eq!(verdict(&policy("", &mild, ""), CALL_WRITE, Action::Create, "a"), Verdict::Ask);
    }
}

#[test]
fn a_call_is_decided_by_what_applies_whatever_it_does() {
    use Verdict::{Allow, Ask, Deny};
    // rule -> verdict at the call of a tool that reads, writes, starts processes
    let cases = [
        ("", "deny", [Deny, Deny, Deny]),
        ("", "ask", [Ask, Allow, Allow]),
        ("", "allow", [Allow, Allow, Allow]),
        ("effects = [\"read\"]", "deny", [Deny, Allow, Allow]),
        ("effects = [\"read\"]", "ask", [Ask, Allow, Allow]),
        ("effects = [\"write\", \"delete\"]", "deny", [Allow, Deny, Allow]),
        ("effects = [\"write\"]", "deny", [Allow, Allow, Allow]),
        ("effects = [\"exec\"]", "deny", [Allow, Allow, Deny]),
        ("effects = [\"exec\"]", "ask", [Allow, Allow, Allow]),
        ("tools = [\"create_*\"]", "deny", [Allow, Deny, Allow]),
        ("plugins = [\"*\"]", "deny", [Allow, Allow, Allow]),
        ("callers = [\"caller\"]", "deny", [Deny, Deny, Deny]),
        ("callers = [\"approver\"]", "deny", [Allow, Allow, Allow]),
        ("paths = [\"**\"]", "deny", [Allow, Allow, Allow]),
        ("size_bytes_min = 0", "deny", [Allow, Allow, Allow]),
    ];
    for (conditions, decision, expected) in cases {
        let policy = policy("", "", "");
        assert_eq!(decide(&policy, &CALL_READ).verdict, Allow);
        let policy = self::policy(&rule(conditions, decision), "", "");
        let verdicts =
            [CALL_READ, CALL_WRITE, CALL_EXEC].map(|call| decide(&policy, &call).verdict);
        assert_eq!(verdicts, expected, "{conditions} {decision}");
    }
}

#[test]
fn people_are_asked_once_about_a_rule_without_paths() {
    let by_tool = policy("", &rule("", "ask"), "");
    assert_eq!(decide(&by_tool, &CALL_READ).verdict, Verdict::Ask);
    assert_eq!(verdict(&by_tool, CALL_READ, Action::Read, "a"), Verdict::Allow);
    assert_eq!(verdict(&by_tool, CALL_WRITE, Action::Read, "a"), Verdict::Allow);
    assert_eq!(verdict(&by_tool, CALL_WRITE, Action::Modify, "a"), Verdict::Ask);

    let by_effect = policy("", &rule("effects = [\"read\"]", "ask"), "");
    assert_eq!(verdict(&by_effect, CALL_READ, Action::Read, "a"), Verdict::Allow);
    assert_eq!(verdict(&by_effect, CALL_WRITE, Action::Read, "a"), Verdict::Ask);

    let by_path = policy("", &rule("paths = [\"a\"]", "ask"), "");
    assert_eq!(decide(&by_path, &CALL_READ).verdict, Verdict::Allow);
    assert_eq!(verdict(&by_path, CALL_READ, Action::Read, "a"), Verdict::Ask);
    assert_eq!(verdict(&by_path, CALL_WRITE, Action::Read, "a"), Verdict::Ask);
}

#[test]
fn restrictions_ignore_the_case_of_paths_and_permissions_do_not() {
    let allow = policy("", &rule("paths = [\"src/**\"]", "allow"), "");
    assert_eq!(verdict(&allow, CALL_WRITE, Action::Modify, "src/a"), Verdict::Allow);
    assert_eq!(verdict(&allow, CALL_WRITE, Action::Modify, "SRC/a"), Verdict::Ask);
    let deny = policy("", "", &rule("paths = [\"Straße/**\"]", "deny"));
    assert_eq!(verdict(&deny, CALL_WRITE, Action::Modify, "STRAßE/a"), Verdict::Deny);
}

#[test]
fn a_rule_can_be_about_all_but_some() {
    let all_but = |key: &str, decision| policy("", &rule(key, decision), "");
    let tools = all_but("not_tools = [\"read_file\", \"create_*\"]", "deny");
    let verdicts = [CALL_READ, CALL_WRITE, CALL_EXEC].map(|call| decide(&tools, &call).verdict);
    assert_eq!(verdicts, [Verdict::Allow, Verdict::Allow, Verdict::Deny]);

    let paths = all_but("not_paths = [\"src/**\"]\neffects = [\"write\", \"read\"]", "deny");
    let of = |path| verdict(&paths, CALL_WRITE, Action::Modify, path);
    // What differs in case is not left out of a deny, but is left out of an allow.
    assert_eq!(["src/a", "b", "SRC/a"].map(of), [Verdict::Ask, Verdict::Deny, Verdict::Deny]);
    let paths = all_but("not_paths = [\"secret/**\"]", "allow");
    let of = |path| verdict(&paths, CALL_WRITE, Action::Modify, path);
    assert_eq!(["secret/a", "b", "Secret/a"].map(of), [Verdict::Ask, Verdict::Allow, Verdict::Ask]);
    // It looks at paths: before a tool runs it does not apply, nor where there is no path.
    assert_eq!(decide(&paths, &CALL_WRITE).rule.layer, Layer::Default);
    let network = Subject { action: Action::Network, ..CALL_WRITE };
    assert_eq!(decide(&paths, &network).verdict, Verdict::Ask);

    let both = all_but("paths = [\"src/**\"]\nnot_paths = [\"src/gen/**\"]", "allow");
    let of = |path| verdict(&both, CALL_WRITE, Action::Modify, path);
    assert_eq!(["src/a", "src/gen/a", "b"].map(of), [Verdict::Allow, Verdict::Ask, Verdict::Ask]);
}

#[test]
fn stars_stay_within_a_name() {
    let policy = policy("", &rule("paths = [\"*.pem\", \"docs/**\"]", "deny"), "");
    let cases = [
        ("a.pem", Verdict::Deny),
        ("d/a.pem", Verdict::Ask),
        ("docs/a/b", Verdict::Deny),
        ("docs", Verdict::Ask),
        ("d/docs/a", Verdict::Ask),
    ];
    for (path, expected) in cases {
        assert_eq!(verdict(&policy, CALL_WRITE, Action::Create, path), expected, "{path}");
    }
}

#[test]
fn an_unknown_size_satisfies_no_allow_and_escapes_no_restriction() {
    let path = RelPath::parse("a").unwrap();
    let at = |policy: &Policy, size_bytes| {
        let subject =
            Subject { action: Action::Create, path: Some(&path), size_bytes, ..CALL_WRITE };
        decide(policy, &subject).verdict
    };
    let small = policy("", &rule("size_bytes_max = 10", "allow"), "");
    assert_eq!([Some(10), Some(11), None].map(|size| at(&small, size)), {
        [Verdict::Allow, Verdict::Ask, Verdict::Ask]
    });
    let large = policy(&rule("size_bytes_min = 11", "deny"), "", "");
    assert_eq!([Some(10), Some(11), None].map(|size| at(&large, size)), {
        [Verdict::Ask, Verdict::Deny, Verdict::Deny]
    });
}

/// Decides about an edit whose locations were searched for.
fn edited(policy: &Policy, match_level: Option<MatchLevel>, drift: bool) -> Decision {
    let path = RelPath::parse("src/a").unwrap();
    let edit = Subject { action: Action::Modify, path: Some(&path), ..CALL_WRITE };
    decide(policy, &Subject { match_level, drift, ..edit })
}

#[test]
fn rules_can_be_about_how_an_edit_was_found() {
    use MatchLevel::{BlockAnchor, ContextAware, Exact};
    let levels = [Some(Exact), Some(BlockAnchor), Some(ContextAware), None];
    let verdicts = |policy: &Policy| levels.map(|level| edited(policy, level, false).verdict);
    let alike = rule("match_levels = [\"block_anchor\", \"context_aware\"]", "deny");
    let all = rule("", "allow");
    assert_eq!(
        verdicts(&policy(&alike, &all, "")),
        [Verdict::Allow, Verdict::Deny, Verdict::Deny, Verdict::Allow]
    );
    assert_eq!(verdicts(&policy("", &all, &alike)), verdicts(&policy(&alike, &all, "")));
    let exact = policy("", &rule("match_levels = [\"exact\"]\nsize_bytes_max = 9", "allow"), "");
    assert_eq!(verdicts(&exact), [Verdict::Ask; 4], "the size is not known");
    let exact = policy("", &rule("match_levels = [\"exact\"]", "allow"), "");
    assert_eq!(verdicts(&exact), [Verdict::Allow, Verdict::Ask, Verdict::Ask, Verdict::Ask]);
    // Nothing else has a level, and a call that may edit is no edit.
    for &action in Action::ALL {
        let expected = match action {
            Action::Call | Action::Read => Verdict::Allow,
            _ => Verdict::Ask,
        };
        assert_eq!(verdict(&policy(&alike, "", ""), CALL_WRITE, action, "a"), expected);
    }
}

#[test]
fn drift_asks_whatever_is_allowed() {
    let level = Some(MatchLevel::BlockAnchor);
    let (allow, ask, deny) = (rule("", "allow"), rule("", "ask"), rule("", "deny"));
    for (admin, user, workspace) in [
        ("", "", ""),
        ("", allow.as_str(), ""),
        (&allow, &allow, ""),
        ("", &ask, ""),
        (&ask, &allow, ""),
        ("", &allow, &ask),
        (&rule("match_levels = [\"block_anchor\"]", "allow"), "", ""),
    ] {
        let decision = edited(&policy(admin, user, workspace), level, true);
        assert_eq!((decision.verdict, decision.rule.layer), (Verdict::Ask, Layer::Drift));
        assert!(!decision.protected);
    }
    for policy in [policy(&deny, &allow, ""), policy("", &deny, ""), policy("", &allow, &deny)] {
        let decision = edited(&policy, level, true);
        assert_eq!(decision.verdict, Verdict::Deny);
        assert_ne!(decision.rule.layer, Layer::Drift);
    }
    assert_eq!(
        edited(&policy("", &allow, ""), level, true).to_string(),
        "needs a confirmation because the file differs: the edit changes lines that differ from \
         what it expects; no rule and no standing approval allows that unseen"
    );
}

#[test]
fn a_change_set_is_asked_about_because_of_its_drift() {
    let ask = policy("", "", "");
    let drift = edited(&ask, Some(MatchLevel::ContextAware), true);
    let plain = edited(&ask, Some(MatchLevel::Exact), false);
    let guarded = Decision { protected: true, ..plain.clone() };
    let layer = |decisions: &[&Decision]| {
        let decisions: Vec<_> = decisions.iter().map(|&decision| decision.clone()).collect();
        strictest(&decisions).unwrap().rule.layer
    };
    assert_eq!(layer(&[&plain, &drift, &plain]), Layer::Drift);
    assert_eq!(layer(&[&drift, &plain]), Layer::Drift);
    assert_eq!(layer(&[&drift, &guarded]), Layer::Default, "a protected name is the stricter ask");
}

#[test]
fn an_explanation_names_drift() {
    let policy = policy("", &rule("", "allow"), "");
    let path = RelPath::parse("src/a").unwrap();
    let edit = Subject { action: Action::Modify, path: Some(&path), drift: true, ..CALL_WRITE };
    let shown = explain(&policy, &edit).to_string();
    assert!(
        shown.contains("  allow by user policy user.toml:2\n> ask   because the file"),
        "{shown}"
    );
}

#[test]
fn an_explanation_reports_what_an_unknown_level_would_decide() {
    use MatchLevel::{BlockAnchor, ContextAware, Exact};
    let exact = "name = \"exact\"\nmatch_levels = [\"exact\"]";
    let alike = "name = \"alike\"\nmatch_levels = [\"context_aware\", \"block_anchor\"]";
    let path = RelPath::parse("src/a").unwrap();
    let edit = Subject { action: Action::Modify, path: Some(&path), ..CALL_WRITE };
    let by_level = |policy: &Policy| -> Vec<_> {
        explain_search(policy, &edit, None)
            .by_level
            .into_iter()
            .map(|found| (found.match_levels, found.drift, found.decision.verdict))
            .collect()
    };
    let drift = (Vec::new(), true, Verdict::Ask);
    assert_eq!(by_level(&policy("", "", "")), std::slice::from_ref(&drift));
    assert_eq!(
        by_level(&policy(&rule(alike, "deny"), &rule(exact, "allow"), "")),
        [
            (vec![Exact], false, Verdict::Allow),
            (vec![BlockAnchor, ContextAware], false, Verdict::Deny),
            drift
        ]
    );
    assert_eq!(by_level(&policy(&rule("", "deny"), &rule(exact, "allow"), "")), []);
}

/// Decides about a protected name.
fn guarded(policy: &Policy, action: Action, path: &str, protection: Protection) -> Decision {
    let path = RelPath::parse(path).unwrap();
    let protection = Some(protection);
    decide(policy, &Subject { action, path: Some(&path), protection, ..CALL_WRITE })
}

#[test]
fn protected_names_are_denied_whatever_ordinary_rules_allow() {
    for allow in ["", &rule("", "allow"), &rule("paths = [\"**\", \".git/**\"]", "allow")] {
        let policy = policy(allow, allow, "");
        for &action in Action::ALL {
            for protection in [Protection::Metadata, Protection::Secret] {
                let decision = guarded(&policy, action, ".git/hooks/x", protection);
                let denied = action.is_write()
                    || (action == Action::Read && protection == Protection::Secret);
                assert_eq!(decision.rule.layer == Layer::Protected, denied);
                assert_eq!(decision.verdict == Verdict::Deny, denied, "{action:?} {protection:?}");
                assert_eq!(decision.protected, denied);
            }
        }
    }
}

#[test]
fn configuration_that_runs_code_is_asked_about_whatever_ordinary_rules_allow() {
    let path = ".github/workflows/ci.yml";
    let on = |policy: &Policy, action| {
        let decision = guarded(policy, action, path, Protection::Code);
        (decision.verdict, decision.rule.layer, decision.protected)
    };
    for allow in ["", &rule("", "allow"), &rule("paths = [\"**\", \".github/**\"]", "allow")] {
        let policy = policy(allow, allow, "");
        for &action in Action::WRITES {
            assert_eq!(on(&policy, action), (Verdict::Ask, Layer::Protected, true), "{action:?}");
        }
        assert_eq!(on(&policy, Action::Read).0, Verdict::Allow);
        assert!(!on(&policy, Action::Read).2);
    }
    let deny = rule("paths = [\".github/**\"]", "deny");
    let allow = rule("paths = [\"**\"]", "allow");
    for policy in [policy(&deny, &allow, ""), policy("", &deny, ""), policy("", &allow, &deny)] {
        assert_eq!(on(&policy, Action::Modify).0, Verdict::Deny);
    }
    let open = |decision| rule("paths = [\".github/**\"]\nprotected = true", decision);
    assert_eq!(on(&policy("", &open("allow"), ""), Action::Modify).0, Verdict::Allow);
    assert_eq!(on(&policy("", &open("ask"), ""), Action::Modify).0, Verdict::Ask);
    assert_eq!(on(&policy("", &open("allow"), &rule("", "ask")), Action::Modify).0, Verdict::Ask);
    assert_eq!(
        guarded(&policy("", &allow, ""), Action::Create, path, Protection::Code).to_string(),
        "needs a confirmation because the name is protected: the file makes other programs run code; \
         a rule with `protected = true` and its path can allow it unasked"
    );
}

#[test]
fn a_rule_that_names_a_protected_file_opens_it_as_far_as_it_says() {
    let open = |decision| rule("paths = [\".env\"]\nprotected = true", decision);
    let read = |policy: &Policy, path| {
        let decision = guarded(policy, Action::Read, path, Protection::Secret);
        (decision.verdict, decision.protected)
    };
    assert_eq!(read(&policy(&open("allow"), "", ""), ".env"), (Verdict::Allow, true));
    assert_eq!(read(&policy("", &open("allow"), ""), ".env"), (Verdict::Allow, true));
    assert_eq!(read(&policy("", &open("ask"), ""), ".env"), (Verdict::Ask, true));
    assert_eq!(read(&policy("", &open("ask"), ""), ".ENV"), (Verdict::Deny, true));
    assert_eq!(read(&policy("", &open("allow"), ""), "d/.env"), (Verdict::Deny, true));
    let deny = rule("paths = [\"**\"]", "deny");
    assert_eq!(read(&policy(&deny, &open("allow"), ""), ".env"), (Verdict::Deny, true));
    assert_eq!(read(&policy("", &open("allow"), &deny), ".env"), (Verdict::Deny, true));
    let ask = rule("paths = [\"**\"]", "ask");
    assert_eq!(read(&policy(&ask, &open("allow"), ""), ".env"), (Verdict::Ask, true));
}

#[test]
fn a_change_set_gets_the_strictest_decision_of_its_files() {
    let policy = policy(
        &rule("paths = [\"no/**\"]", "deny"),
        &[rule("paths = [\"src/**\"]", "allow"), {
            rule("paths = [\".git/**\"]\nprotected = true", "ask")
        }]
        .concat(),
        "",
    );
    let paths = ["src/a", "b", ".git/c", "no/d"].map(|path| RelPath::parse(path).unwrap());
    let subjects: Vec<_> = paths
        .iter()
        .map(|path| Subject {
            action: Action::Modify,
            path: Some(path),
            protection: path.as_str().starts_with(".git").then_some(Protection::Metadata),
            ..CALL_WRITE
        })
        .collect();
    let decisions = decide_all(&policy, &subjects);
    let upto = |count: usize| strictest(&decisions[..count]).map(|d| (d.verdict, d.protected));
    assert_eq!(upto(0), None);
    assert_eq!(upto(1), Some((Verdict::Allow, false)));
    assert_eq!(upto(2), Some((Verdict::Ask, false)));
    assert_eq!(upto(3), Some((Verdict::Ask, true)));
    assert_eq!(upto(4), Some((Verdict::Deny, false)));
    let lines: Vec<_> = decisions.iter().map(|decision| decision.rule.line).collect();
    assert_eq!(lines, [Some(2), None, Some(5), Some(2)]);
}

#[test]
fn who_asks_for_a_person_is_heard_in_every_layer() {
    let of = |conditions: &str| rule(&format!("{conditions}\napprover = \"person\""), "ask");
    let (person, plain) = (of("paths = [\"src/**\"]"), rule("paths = [\"src/**\"]", "ask"));
    let for_person = |policy: &Policy, path: &str| {
        let decision = decided(policy, CALL_WRITE, Action::Modify, path);
        (decision.verdict, decision.for_person)
    };
    for policy in [
        policy(&person, "", ""),
        policy("", &person, ""),
        policy("", "", &person),
        // Another rule asks first, and is the one that is named.
        policy(&plain, &plain, &person),
        policy(&plain, &rule("paths = [\"**\"]", "allow"), &person),
    ] {
        assert_eq!(for_person(&policy, "src/a.rs"), (Verdict::Ask, true));
        assert!(!for_person(&policy, "a.rs").1);
    }
    let denied = policy(&rule("paths = [\"src/**\"]", "deny"), &person, "");
    assert_eq!(for_person(&denied, "src/a.rs"), (Verdict::Deny, false), "nobody is asked");

    let policy = policy("", &person, "");
    let drift = Decision { for_person: false, ..edited(&policy, Some(MatchLevel::Exact), true) };
    let wanted = decided(&policy, CALL_WRITE, Action::Modify, "src/a.rs");
    assert!(strictest(&[drift, wanted]).unwrap().for_person, "of several effects it is the one");
}

#[test]
fn no_standing_approval_answers_what_is_for_a_person() {
    let path = RelPath::parse("src/a.rs").unwrap();
    let asked = standing::AskedEffect { action: Action::Modify, path: &path, size_bytes: Some(1) };
    let asker = standing::Asker { tool: "create_file", plugin: None, caller: "caller" };
    let permissions = standing::narrowest(asker, &[asked]).unwrap();
    let answers = [Arc::new(StandingApproval::imagined(permissions))];
    let subject = Subject {
        action: Action::Modify,
        path: Some(&path),
        size_bytes: Some(1),
        answers: &answers,
        ..CALL_WRITE
    };
    let (plain, person) = (rule("", "ask"), rule("approver = \"person\"", "ask"));
    assert_eq!(decide(&policy("", &plain, ""), &subject).verdict, Verdict::Allow);
    let decision = decide(&policy("", &format!("{plain}{person}"), ""), &subject);
    assert_eq!((decision.verdict, decision.for_person), (Verdict::Ask, true));
}

#[test]
fn decisions_name_their_rule() {
    let admin = "[[rule]]\nname = \"no-migrations\"\npaths = [\"m/**\"]\ndecision = \"deny\"\n\
                 reason = \"migrations are written by hand\"\n";
    let policy = policy(admin, "", &rule("paths = [\"src/**\"]", "ask"));
    let text = |path| decided(&policy, CALL_WRITE, Action::Create, path).to_string();
    assert_eq!(
        text("m/1"),
        "denied by admin policy /etc/moss/policy.toml:2 (no-migrations): \
         migrations are written by hand"
    );
    assert_eq!(text("src/a"), "needs a confirmation by workspace policy workspace.toml:2");
    assert_eq!(text("a"), "needs a confirmation by default: no rule allows it");
    assert_eq!(
        guarded(&policy, Action::Create, ".git/a", Protection::Metadata).to_string(),
        "denied because the name is protected: the file belongs to git or to moss; \
         a rule with `protected = true` and its path can open it"
    );
    let decision = decided(&policy, CALL_WRITE, Action::Create, "src/a");
    assert_eq!(
        serde_json::to_string(&decision).unwrap(),
        "{\"verdict\":\"ask\",\"protected\":false,\
         \"rule\":{\"layer\":\"workspace\",\"file\":\"workspace.toml\",\"line\":2}}"
    );
}

#[test]
fn an_explanation_lists_every_rule_that_matches() {
    let policy = policy(
        &rule("name = \"floor\"", "ask"),
        &[rule("paths = [\"src/**\"]", "allow"), rule("paths = [\"docs/**\"]", "deny")].concat(),
        &rule("effects = [\"create\"]\nreason = \"ask first\"", "ask"),
    );
    let path = RelPath::parse("src/a").unwrap();
    let subject = Subject { action: Action::Create, path: Some(&path), ..CALL_WRITE };
    let explanation = explain(&policy, &subject);
    assert_eq!(explanation.decision, decide(&policy, &subject));
    assert_eq!(
        explanation.to_string(),
        "create by create_file as caller: src/a\n\
         > ask   by admin policy /etc/moss/policy.toml:2 (floor)\n  \
           allow by user policy user.toml:2\n  \
           ask   by workspace policy workspace.toml:2: ask first\n\
         needs a confirmation by admin policy /etc/moss/policy.toml:2 (floor)"
    );
    let json = serde_json::to_value(&explanation).unwrap();
    assert_eq!(json["matched"][1]["rule"]["line"], 2);
    assert_eq!(json["decision"]["rule"]["name"], "floor");
}

#[test]
fn an_explanation_reports_what_an_unknown_size_would_decide() {
    let policy = policy(
        &rule("name = \"huge\"\nsize_bytes_min = 1000", "deny"),
        &rule("name = \"small\"\nsize_bytes_max = 99", "allow"),
        "",
    );
    let path = RelPath::parse("a").unwrap();
    let subject = Subject { action: Action::Modify, path: Some(&path), ..CALL_WRITE };
    let by_size = |subject: &Subject<'_>| -> Vec<_> {
        let explanation = explain(&policy, subject);
        let sized = explanation.by_size.into_iter();
        sized.map(|sized| (sized.from_bytes, sized.decision.verdict)).collect()
    };
    assert_eq!(
        by_size(&subject),
        [(0, Verdict::Allow), (100, Verdict::Ask), (1000, Verdict::Deny)]
    );
    assert_eq!(explain(&policy, &subject).decision.verdict, Verdict::Deny);
    assert_eq!(by_size(&Subject { size_bytes: Some(5), ..subject }), []);
    assert_eq!(by_size(&Subject { action: Action::Delete, ..subject }), []);
}

#[test]
fn the_example_file_loads() {
    let text = include_str!("../policy.example.toml");
    let admin =
        PolicyFile { file: "policy.example.toml".to_owned(), text: Ok(Some(text.to_owned())) };
    let policy = Policy::load(Sources { admin: vec![admin], ..Sources::default() });
    match policy {
        Ok(policy) => assert_eq!(policy.rules().count(), 4),
        Err(error) => panic!("{}", error.one_line()),
    }
}
