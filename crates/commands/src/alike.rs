//! Whether two texts come to the same commands, whatever blanks and quotes they are written with.

use crate::{RedirectionMode, ShellWord, SimpleCommand, read};

/// What is known of a word: its text, or how all that it becomes begins and whether that is one word.
type Known<'a> = (Option<&'a str>, &'a str, bool);

/// What a command comes to, but for where its input comes from: into a function anything may be piped.
#[derive(Debug, PartialEq, Eq)]
struct BareCommand<'a> {
    words: Vec<Known<'a>>,
    assignments: Vec<(&'a str, Option<Known<'a>>)>,
    redirections: Vec<(RedirectionMode, Known<'a>, bool)>,
    input: Option<Known<'a>>,
    via: &'a [String],
    is_wrapper: bool,
    is_unclear: bool,
}

/// A text as the body of a function: bash writes each command of it down in a line of its own, so that none is taken for
/// a comment of another. What leaves the function early is no such text to it, either.
pub fn as_function(text: &str) -> String {
    format!("text ()\n{{\n{text}\n}}\n")
}

/// Whether a text has the same commands as the form in which bash writes down [`as_function`] of it; not where one of
/// them is not read.
///
/// Both are read here: so it shows where lines, here-documents, comments and what bash writes anew in `$(…)` are
/// otherwise, not how a word is read that bash writes down as it is.
pub fn is_like(text: &str, printed: &str) -> bool {
    let (Ok(one), Ok(other)) = (read(text), read(printed)) else { return false };
    let (one, other) = (one.commands.iter(), other.commands.iter());
    one.map(BareCommand::of).eq(other.map(BareCommand::of))
}

/// The texts that the commands of a text give to shells, which bash writes down as words; none where the text is not
/// read.
pub fn nested_texts(text: &str) -> Vec<String> {
    let commands = read(text).map(|script| script.commands).unwrap_or_default();
    commands.into_iter().filter_map(|command| command.script).collect()
}

fn known(word: &ShellWord) -> Known<'_> {
    (word.fixed(), word.starts(), word.is_exactly_one())
}

// === impl BareCommand ===

impl<'a> BareCommand<'a> {
    fn of(command: &'a SimpleCommand) -> Self {
        // bash writes `[[ -n a ]]` where the text has `[[ a ]]`.
        let is_test = command.words.first().and_then(ShellWord::fixed) == Some("[[");
        let words = command.words.iter().filter(|word| !is_test || word.fixed() != Some("-n"));
        let assigned = command.assignments.iter();
        let opened = command.redirections.iter();
        Self {
            words: words.map(known).collect(),
            assignments: assigned
                .map(|one| (one.name.as_str(), one.value.as_ref().map(known)))
                .collect(),
            redirections: opened.map(|one| (one.mode, known(&one.target), one.is_output)).collect(),
            input: command.input.as_ref().map(known),
            via: &command.via,
            is_wrapper: command.is_wrapper,
            is_unclear: command.unclear.is_some(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
