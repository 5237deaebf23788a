//! A text written down anew from what was read in it.
//!
//! Every word stands as it is in the text, and what separates it from the next is another: more blanks than the text has
//! anywhere in a row, each command of a list on a line of its own, no comments. So who reads a word, a comment or a line
//! to begin elsewhere reads other blanks in it.

/// What separates two tokens: blanks, line breaks and comments, or nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TokenGap {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Whether a line ends here, or may end.
    pub(crate) is_line: bool,
    /// How many substitutions are around.
    pub(crate) substitutions: usize,
}

/// Writes a text down anew, with these gaps in it: those around which there are at most so many substitutions. The others
/// stay as they are.
pub(crate) fn rendered(text: &str, gaps: &[TokenGap], substitutions_max: usize) -> String {
    let blanks = " ".repeat(longest_run(text, ' ') + 1);
    let mut rendered = String::with_capacity(text.len() * 2);
    let mut at = 0;
    for gap in gaps.iter().filter(|gap| gap.substitutions <= substitutions_max) {
        rendered.push_str(&text[at..gap.start]);
        at = gap.end;
        // A here-document may end here, and nothing may stand behind its last line.
        if at == text.len() {
            break;
        }
        if gap.is_line {
            rendered.push('\n');
        }
        rendered.push_str(&blanks);
    }
    rendered.push_str(&text[at..]);
    rendered
}

/// The words, and pieces of words around substitutions, in which something is quoted or evaluated that would be more than
/// a word elsewhere; without what bash writes down in another way than it stands in a text.
pub(crate) fn opaque_pieces<'t>(text: &'t str, gaps: &[TokenGap]) -> Vec<&'t str> {
    let starts = [0].into_iter().chain(gaps.iter().map(|gap| gap.end));
    let ends = gaps.iter().map(|gap| gap.start).chain([text.len()]);
    let pieces = starts.zip(ends).map(|(start, end)| &text[start..end]);
    // Here-documents begin with a line break, and are looked at as what commands read.
    let is_rewritten =
        |piece: &str| piece.starts_with('\n') || piece.contains("$'") || piece.contains("\\\n");
    let is_opaque = |piece: &&str| {
        piece.contains([' ', '\t', '\n', ';', '&', '|', '<', '>', '(', ')', '#'])
            && piece.contains(['\'', '"', '\\', '`', '$', '{'])
            && !is_rewritten(piece)
    };
    pieces.filter(is_opaque).collect()
}

/// How often a character follows itself at most.
pub(crate) fn longest_run(text: &str, repeated: char) -> usize {
    let runs = text.split(|c| c != repeated).map(str::len);
    runs.max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::read_text;

    #[test]
    fn words_stay_and_what_separates_them_is_another() {
        for (text, flat, anew) in [
            ("ls -l", "  ls  -l", None),
            ("a=1 b>f;c   # d", "    a=1    b    >    f    ;\n    c", None),
            ("a=(1\n2)", " a=( 1\n 2 )", None),
            ("f() { ls \\\n-l; }\nf", "  f  (  )  {  ls  -l  ;\n  }\n  f", None),
            ("cat <<E;ls # a\nb  c\nE\nid", "   cat   <<   E   ;   ls   \nb  c\nE\n   id", None),
            ("x \"$(a;b)\"", "  x  \"$(a;b)\"", Some("  x  \"$(  a  ;\n  b  )\"")),
        ] {
            let read = read_text(text, 0, 100).unwrap();
            assert_eq!(rendered(text, &read.gaps, 0), flat);
            assert_eq!(rendered(text, &read.gaps, usize::MAX), anew.unwrap_or(flat));
        }
    }
}
