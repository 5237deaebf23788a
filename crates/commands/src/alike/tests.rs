//! Planted wrong readings, which differ from what bash writes down, and right ones, which do not.

#![allow(clippy::disallowed_methods, reason = "bash itself is compared with")]

use std::io::Write as _;
use std::process::{Command, Stdio};

use super::*;
use crate::rendering::TokenGap;

/// A script as bash writes it down without running it; none where bash refuses it.
fn printed(script: &str) -> Option<String> {
    let mut bash = Command::new("bash");
    bash.args(["--norc", "--noprofile", "--pretty-print"]).env_remove("BASH_ENV");
    bash.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut bash = bash.spawn().unwrap();
    bash.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    let output = bash.wait_with_output().unwrap();
    output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
}

fn is_same(text: &str) -> bool {
    let second = SecondReading::of(text).unwrap_or_else(|error| panic!("{text:?}: {error}"));
    printed(&second.script()).is_some_and(|printed| {
        println!("{second:?}\n{printed}");
        second.is_same(&printed)
    })
}

/// What bash writes down of a text and of a rendering of it, as a reader makes it that has found these gaps.
fn printed_of(text: &str, gaps: &[TokenGap]) -> Option<(String, String)> {
    let [flat, anew] = [0, usize::MAX].map(|depth| rendered(text, gaps, depth));
    let one = ComparedText { text: text.to_owned(), flat, anew, pieces: BTreeMap::new() };
    let second = SecondReading::with(vec![one]).unwrap();
    let printed = printed(&second.script())?;
    let parts = second.parts(&printed)?;
    assert_eq!(parts[0], SUBSTITUTION_ANEW);
    Some((parts[1].to_owned(), parts[3].to_owned()))
}

#[test]
fn blanks_and_quotes_make_no_difference_and_commands_do() {
    for (text, printed) in [
        ("a=1 b  'c'\"d\" >f;", "a=1 b cd > f\n"),
        ("for f in *; do cat $f; done", "for f in *;\ndo\n    cat $f;\ndone\n"),
        ("[[ a ]]", "[[ -n a ]]"),
    ] {
        assert!(is_like(text, printed), "{text}");
    }
    for (text, printed) in [
        ("ls", "ls; id"),
        ("ls a", "ls"),
        ("ls a b", "ls 'a b'"),
        ("ls > f", "ls >> f"),
        ("a=1 ls", "a=2 ls"),
        ("cat <<< a", "cat <<< b"),
        ("test -n a", "test a"),
        ("echo \"$x\"", "echo $x"),
        ("ls", "ls |"),
    ] {
        assert!(!is_like(text, printed), "{text}");
    }
}

/// Each text has a `@` where a reader with a defect takes one token to end and the next one to begin, or a `«…»`
/// that it takes for a comment.
#[test]
fn a_reader_that_begins_words_lines_or_comments_elsewhere_is_seen() {
    for (planted, is_line) in [
        // An array ends no word.
        ("CI=(1)@make rm -r x", false),
        ("a=(1)«#; id»", false),
        ("a=(1 2)@\"b\"@$(id)", false),
        ("declare a=(1)@b", false),
        // Neither do quotes and substitutions.
        ("ls a«#; id»", false),
        ("ls 'a'«# b»; id", false),
        ("ls $(id)«# b»; id", false),
        ("ls `id`@-l", false),
        ("echo \"a@ b\"", false),
        ("echo \"a;@ b\"", true),
        ("echo 'a@' b", false),
        ("echo a\\;@id", true),
        ("echo a\\@ b", false),
        ("echo $'a\\'@ b'", false),
        ("echo ${x:-a@ b}", false),
        ("echo ${x«#; id»}", false),
        // Descriptors and what is no redirection.
        ("echo 2@>f", false),
        ("echo a\\>@f", false),
        ("echo {a,@b}", false),
        // What stands in a here-document.
        ("cat <<E\na@ b\nE", false),
        ("cat <<'E'\na\n«# b»\nE", false),
        ("cat <<E\n E@\nE\nid", false),
        // In a substitution the same.
        ("echo \"$(ls a@b)\"", false),
        ("echo \"$(ls 'a@)' b)\"", false),
        ("echo $(ls a«#; id»)", false),
        ("echo \"$(ls) @) b\"", false),
        ("diff <(ls a\\;@b) c", true),
        ("[[ a =~ (b@|c) ]]", false),
    ] {
        let (mut text, mut gaps, mut start) = (String::new(), Vec::new(), 0);
        for c in planted.chars() {
            match c {
                '@' => start = text.len(),
                '«' => {
                    start = text.len();
                    continue;
                }
                '»' => {}
                c => {
                    text.push(c);
                    continue;
                }
            }
            gaps.push(TokenGap { start, end: text.len(), is_line, substitutions: 0 });
        }
        // Where bash refuses the rendering, that is seen as well.
        if let Some((text, rendering)) = printed_of(&text, &gaps) {
            assert_ne!(text, rendering, "{planted:?}");
        }
        assert!(printed(&text).is_some(), "{text:?}: bash refuses it");
    }
}

/// Each text has a `«…»` that a reader with a defect takes for a part of one word or here-document, and of which bash
/// makes more. It is written as bash writes such lines down, in so far as somebody can foresee that.
#[test]
fn what_is_more_than_a_word_to_bash_is_written_down_in_another_way() {
    for planted in [
        "echo «'a\\';\n    id;\n    : '»b'",
        "echo «'a';\n    id;\n    : 'b'»",
        "echo «'a';\n        id;\n        : 'b'»",
        "cat <<E\n«a\nE\n\n    id»",
        "cat <<E\n«a\nE\n\n            id»",
        "echo «a > b;\n    id»",
    ] {
        let text: String = planted.chars().filter(|c| !matches!(c, '«' | '»')).collect();
        let (_, taken) = planted.split_once('«').unwrap();
        let (taken, _) = taken.split_once('»').unwrap();
        let printed = printed_of(&text, &[]);
        let (printed, _) = printed.unwrap_or_else(|| panic!("{text:?}: bash refuses it"));
        let pieces = BTreeMap::from([(taken.to_owned(), 1)]);
        let one = ComparedText { text, flat: String::new(), anew: String::new(), pieces };
        assert!(!printed.contains(taken) && !one.holds(&printed), "{planted:?}: {printed}");
    }
    for text in
        ["echo 'a;\n    id'", "a=('b c' \"d\n    e\"); for x in \"$y z\" `ls a`; do ls; done"]
    {
        let second = SecondReading::of(text).unwrap();
        assert!(!second.texts[0].pieces.is_empty(), "{text:?}");
        assert!(is_same(text), "{text:?}");
    }
}

#[test]
fn a_here_document_that_ends_elsewhere_is_another() {
    let text = "cat <<E\n$x\nE\nid";
    let (printed, _) = printed_of(text, &[]).unwrap();
    assert!(is_like(text, &printed), "{printed}");
    assert!(!is_like("cat <<E\n$x\nE\n", &printed));
    let bodies = ["cat <<E\n$x\nE", "cat <<E\n$x\n$y\nE", "cat <<E\n$x \nE"];
    assert!(bodies.iter().skip(1).all(|other| !is_like(bodies[0], other)));
}

#[test]
fn texts_that_bash_copies_are_compared_for_themselves() {
    let texts = |text: &str| {
        let second = SecondReading::of(text).unwrap();
        second.texts.into_iter().map(|one| one.text).collect::<BTreeSet<_>>()
    };
    for (text, inner) in [
        ("echo `ls; [[ -n a ]]`", "ls; [[ -n a ]]"),
        ("bash -c 'a=(1); ls \"${a[@]}\"'", "a=(1); ls \"${a[@]}\""),
        ("bash -c 'echo `a=(1)`'", "a=(1)"),
        ("cat <<E\n$(ls \"a\")\nE", ": \"$(ls \"a\")\n\""),
        (
            "cat <<E\n\"a\" \\\"b\\\" \\\\\"c $(ls \"a\")\nE",
            ": \"\\\"a\\\" \\\\\\\"b\\\\\\\" \\\\\\\"c $(ls \"a\")\n\"",
        ),
        ("cat <<E\n`a=(1)`\nE", "a=(1)"),
        ("echo $(echo $(a[1] (1)))", "a"),
    ] {
        if read(text).is_err() {
            continue;
        }
        assert!(texts(text).contains(inner), "{text:?}: {:?}", texts(text));
        assert!(is_same(text), "{text:?}");
    }
    assert_eq!(texts("cat <<E\n$x\nE\necho `ls`").len(), 1);
}

#[test]
fn a_text_cannot_write_down_what_divides_the_functions() {
    assert_eq!(SecondReading::of("echo text_1 a__b $(:)").unwrap().mark, "text___");
    for text in
        ["echo $(:); echo $'text\\x5f2 () \\n{ \\n    id\\n}\\n'", "ls; echo $(:) $'text\\x5f1'"]
    {
        let second = SecondReading::of(text).unwrap();
        assert_eq!(second.mark, "text_");
        assert!(!second.is_same(&printed(&second.script()).unwrap()), "{text}");
    }
}

#[test]
fn older_versions_of_bash_are_asked_about_words_as_they_stand() {
    let second = SecondReading::of("echo $(ls   -l) \"$(id  a;ls)\"").unwrap();
    let new = printed(&second.script()).unwrap();
    assert!(second.is_same(&new));
    // They write no substitution anew.
    let old = |texts: [&str; 3]| {
        let function = |(at, body)| format!("text_{at} () \n{{ \n    {body}\n}}\n");
        [": $(:   :)"].into_iter().chain(texts).enumerate().map(function).collect::<String>()
    };
    let text = &*second.texts[0].text;
    assert!(second.is_same(&old([text, text, &second.texts[0].anew])));
    assert!(!second.is_same(&old([text, "echo $(ls   -l)", text])));
    assert!(
        !second.is_same(
            &old([text, text, text]).replace(":   :", ": :").replacen("ls   -l", "ls -l", 1)
        )
    );
}
