//! Edits of real files, and the same edits with the mistakes that models make.

/// A language, as far as an edit is made of its lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Python,
    JavaScript,
    Rust,
}

/// An edit as it is meant: the lines that go and those that come, with all their white space.
#[derive(Debug, Clone)]
pub(crate) struct Meant {
    pub(crate) before: String,
    pub(crate) search: String,
    pub(crate) replace: String,
    pub(crate) after: String,
}

/// A small generator of numbers that are the same in every run.
#[derive(Debug, Clone)]
pub(crate) struct Numbers(u64);

/// What a model gets wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mistake {
    None,
    DedentedBoth,
    DedentedSearch,
    DedentedReplacement,
    FirstLineOfBoth,
    FirstLineOfSearch,
    FirstLineOfReplacement,
    FlatSearch,
    FlatBoth,
    OneFlatLine,
    PartOfIndentation,
    HalfUnits,
    TabsForBlanks,
    DeeperBoth,
    DeeperSearch,
    NumbersWithBars,
    NumbersWithColons,
    NumbersOfSearch,
    EscapedBoth,
    EscapedReplacement,
    BlankLines,
    InnerBlanks,
    TrailingBlanks,
    NoLastLineEnd,
    Fence,
}

pub(crate) const MISTAKES: [Mistake; 25] = [
    Mistake::None,
    Mistake::DedentedBoth,
    Mistake::DedentedSearch,
    Mistake::DedentedReplacement,
    Mistake::FirstLineOfBoth,
    Mistake::FirstLineOfSearch,
    Mistake::FirstLineOfReplacement,
    Mistake::FlatSearch,
    Mistake::FlatBoth,
    Mistake::OneFlatLine,
    Mistake::PartOfIndentation,
    Mistake::HalfUnits,
    Mistake::TabsForBlanks,
    Mistake::DeeperBoth,
    Mistake::DeeperSearch,
    Mistake::NumbersWithBars,
    Mistake::NumbersWithColons,
    Mistake::NumbersOfSearch,
    Mistake::EscapedBoth,
    Mistake::EscapedReplacement,
    Mistake::BlankLines,
    Mistake::InnerBlanks,
    Mistake::TrailingBlanks,
    Mistake::NoLastLineEnd,
    Mistake::Fence,
];

/// Most lines that an edit replaces.
const LINES_MAX: usize = 8;

/// Makes an edit of some lines of a text; none where it makes no sense there.
pub(crate) fn meant(before: &str, language: Language, numbers: &mut Numbers) -> Option<Meant> {
    let lines: Vec<&str> = before.split_inclusive('\n').collect();
    let first = numbers.below(lines.len());
    let count = 1 + numbers.below(LINES_MAX.min(lines.len() - first));
    let taken = &lines[first..first + count];
    if taken[0].trim().is_empty() || !taken[count - 1].ends_with('\n') {
        return None;
    }
    let mut new: Vec<String> = taken.iter().map(|line| (*line).to_owned()).collect();
    for _ in 0..=numbers.below(2) {
        change(&mut new, language, numbers);
    }
    let (search, replace) = (taken.concat(), new.concat());
    let is_once = before.matches(&search).count() == 1;
    if search == replace || !is_once || search.trim().is_empty() {
        return None;
    }
    let head: String = lines[..first].concat();
    let after = [&head, &*replace, &before[head.len() + search.len()..]].concat();
    Some(Meant { before: before.to_owned(), search, replace, after })
}

fn change(lines: &mut Vec<String>, language: Language, numbers: &mut Numbers) {
    let which = numbers.below(lines.len().max(1));
    if lines.is_empty() {
        return;
    }
    match numbers.below(6) {
        0 | 1 => lines[which] = renamed(&lines[which], "_new"),
        2 => lines.insert(which + 1, renamed(&lines[which], "_more")),
        3 => lines.insert(0, renamed(&lines[0], "_before")),
        4 => drop(lines.remove(which)),
        _ => wrap(lines, language),
    }
}

/// Changes the first word of a line that is no keyword.
fn renamed(line: &str, by: &str) -> String {
    const KEYWORDS: &str = " and as assert async await break case catch class const continue def del \
                            elif else enum except export finally fn for from function global if impl \
                            import in is lambda let loop match mod mut new not or pass pub raise return \
                            self static struct super switch this throw trait try type typeof use var \
                            void where while with yield None True False null true false ";
    let mut end = 0;
    for word in line.split(|c: char| !c.is_alphanumeric() && c != '_') {
        let start = end + line[end..].find(word).unwrap_or(0);
        end = start + word.len();
        let is_name = word.len() > 2 && word.starts_with(|c: char| c.is_ascii_lowercase());
        if is_name && !KEYWORDS.contains(&format!(" {word} ")) {
            return [&line[..end], by, &line[end..]].concat();
        }
    }
    line.to_owned()
}

fn wrap(lines: &mut Vec<String>, language: Language) {
    let Some(indent) = lines.first().map(|line| indent(line).to_owned()) else { return };
    let unit = if indent.starts_with('\t') { "\t" } else { "    " };
    let deeper = |line: &mut String| {
        if !line.trim().is_empty() {
            line.insert_str(0, unit);
        }
    };
    lines.iter_mut().for_each(deeper);
    let (open, close) = match language {
        Language::Python => ("if True:", None),
        Language::JavaScript => ("if (true) {", Some("}")),
        Language::Rust => ("if true {", Some("}")),
    };
    lines.insert(0, format!("{indent}{open}\n"));
    lines.extend(close.map(|close| format!("{indent}{close}\n")));
}

/// Returns search and replacement of an edit with a mistake in them.
pub(crate) fn spoiled(meant: &Meant, mistake: Mistake, numbers: &mut Numbers) -> (String, String) {
    let (search, replace) = (&*meant.search, &*meant.replace);
    let both = |change: &dyn Fn(&str) -> String| (change(search), change(replace));
    let of_search = |change: &dyn Fn(&str) -> String| (change(search), replace.to_owned());
    let flat = |text: &str| each(text, &|_, line| line.trim_start_matches([' ', '\t']).to_owned());
    let deeper = |text: &str| each(text, &|_, line| format!("    {line}"));
    let first = meant.before[..meant.before.find(search).unwrap_or(0)].matches('\n').count() + 1;
    let which = numbers.below(search.matches('\n').count().max(1));
    let numbered = |mark: &'static str| {
        move |text: &str| each(text, &|at, line| format!("{}{mark}{line}", first + at))
    };
    match mistake {
        Mistake::None => (search.to_owned(), replace.to_owned()),
        Mistake::DedentedBoth => {
            let common = common_indent(search).min(common_indent(replace));
            both(&|text| each(text, &|_, line| line[common.min(indent(line).len())..].to_owned()))
        }
        Mistake::DedentedSearch => of_search(&dedented),
        Mistake::DedentedReplacement => (search.to_owned(), dedented(replace)),
        Mistake::FirstLineOfBoth => both(&first_line_flat),
        Mistake::FirstLineOfSearch => of_search(&first_line_flat),
        Mistake::FirstLineOfReplacement => (search.to_owned(), first_line_flat(replace)),
        Mistake::FlatSearch => of_search(&flat),
        Mistake::FlatBoth => both(&flat),
        Mistake::OneFlatLine => of_search(&|text| {
            each(text, &|at, line| {
                if at == which { line.trim_start().to_owned() } else { line.to_owned() }
            })
        }),
        Mistake::PartOfIndentation => {
            let cut = 1 + numbers.below(8);
            let less = |text: &str| {
                let cut = cut.min(indent(text).len());
                text[cut..].trim_end_matches('\n').to_owned()
            };
            both(&less)
        }
        Mistake::HalfUnits => both(&|text| {
            each(text, &|_, line| {
                [&indent(line)[..indent(line).len() / 2], line.trim_start_matches([' ', '\t'])]
                    .concat()
            })
        }),
        Mistake::TabsForBlanks => both(&|text| {
            each(text, &|_, line| {
                indent(line).replace("    ", "\t") + line.trim_start_matches([' ', '\t'])
            })
        }),
        Mistake::DeeperBoth => both(&deeper),
        Mistake::DeeperSearch => of_search(&deeper),
        Mistake::NumbersWithBars => both(&numbered(" | ")),
        Mistake::NumbersWithColons => both(&numbered(": ")),
        Mistake::NumbersOfSearch => of_search(&numbered(" | ")),
        Mistake::EscapedBoth => both(&escaped),
        Mistake::EscapedReplacement => (search.to_owned(), line_ends_escaped(replace)),
        Mistake::BlankLines => both(&|text| format!("\n{text}\n")),
        Mistake::InnerBlanks => of_search(&|text| text.replace(", ", ",  ").replace(" = ", "=")),
        Mistake::TrailingBlanks => both(&|text| text.replace('\n', "  \n")),
        Mistake::NoLastLineEnd => both(&|text| text.trim_end_matches('\n').to_owned()),
        Mistake::Fence => both(&|text| format!("```\n{text}```\n")),
    }
}

fn each(text: &str, change: &dyn Fn(usize, &str) -> String) -> String {
    text.split_inclusive('\n').enumerate().map(|(at, line)| change(at, line)).collect()
}

fn first_line_flat(text: &str) -> String {
    text.trim_start_matches([' ', '\t']).to_owned()
}

fn dedented(text: &str) -> String {
    let common = common_indent(text);
    each(text, &|_, line| line[common.min(indent(line).len())..].to_owned())
}

fn common_indent(text: &str) -> usize {
    let filled = text.lines().filter(|line| !line.trim().is_empty());
    filled.map(|line| indent(line).len()).min().unwrap_or(0)
}

fn escaped(text: &str) -> String {
    text.trim_end_matches('\n')
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\t', "\\t")
        .replace('\n', "\\n")
}

fn line_ends_escaped(text: &str) -> String {
    text.trim_end_matches('\n').replace('\t', "\\t").replace('\n', "\\n") + "\n"
}

fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

// === impl Numbers ===

impl Numbers {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(2).wrapping_add(1))
    }

    /// A number from 0 on, below another (xorshift64*).
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let number = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33;
        usize::try_from(number).unwrap_or(0) % end.max(1)
    }
}
