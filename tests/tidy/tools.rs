//! What pages say about the native tools is what there is: how many, and which.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::tree::{FILES, file};
use crate::{hold, rust};

const TABLE: &str = "builtin-tools/src/lib.rs";
const TOOLS: &str = "builtin-tools/src/tools/";
const SPECIFICATION: &str = "builtin-tools/tests/fixtures/builtin-tools.json";
const LANGUAGES: &str = "crates/symbols/src/language.rs";
const ONES: [&str; 20] = [
    "none",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];
const TENS: [&str; 10] =
    ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];

/// The names of native tools, as the specification has them and as there are.
struct ToolNames {
    specified: BTreeSet<String>,
    /// Those of the specification that work.
    working: BTreeSet<String>,
    /// Those that the specification does not have.
    further: BTreeSet<String>,
}

#[test]
fn pages_count_the_native_tools_right() {
    let names = ToolNames::read();
    let [specified, working, further] =
        [&names.specified, &names.working, &names.further].map(BTreeSet::len);
    let of = format!("Of the {specified} tools of the ASI specification {} work", spelled(working));
    let expected = [
        ("README.md", format!("{of}, and {} more: ", spelled(further))),
        (
            "README.zh.md",
            format!(
                "ASI 规范的 {specified} 个工具中已有 {working} 个可用，此外还有 {further} 个："
            ),
        ),
        ("docs/tools.md", format!("{of}; ")),
    ];
    let missing = expected.iter().filter(|(page, text)| !joined(page).contains(text.as_str()));
    hold("counts of tools", missing.map(|(page, text)| format!("{page} lacks: {text}")));
}

#[test]
fn page_of_tools_lists_those_that_work_and_those_that_do_not() {
    let names = ToolNames::read();
    let page = &file("docs/tools.md").text;
    let missing: BTreeSet<String> = names.specified.difference(&names.working).cloned().collect();
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    let (_, list) = page.split_once("\nBeyond them there are\n\n").expect("it lists the others");
    let (list, _) = list.split_once("\n\n").expect("the list ends");
    let items = list.lines().filter_map(|line| line.strip_prefix("- ")?.split(", which").next());
    let not_yet = page.lines().filter_map(|line| line.strip_prefix("Not there yet: "));
    let differ = [
        ("the table", quoted(rows.filter_map(|row| row.split(" | ").next())), names.working),
        ("the list below it", quoted(items), names.further),
        ("*Not there yet*", quoted(not_yet), missing),
    ];
    let differ = differ.into_iter().filter(|(_, listed, there)| listed != there);
    hold(
        "docs/tools.md lists the tools",
        differ.map(|(place, listed, there)| format!("{place} has {listed:?}, there are {there:?}")),
    );
}

#[test]
fn page_of_tools_counts_the_languages_with_a_grammar_right() {
    let parsed = syn::parse_file(&file(LANGUAGES).text).unwrap();
    let mut enums = parsed.items.iter().filter_map(|item| match item {
        syn::Item::Enum(one) if one.ident == "Language" => Some(one),
        _ => None,
    });
    let variants = &enums.next().expect("languages are one enumeration").variants;
    let extra = variants.iter().filter(|one| one.attrs.iter().any(|of| of.path().is_ident("cfg")));
    let (all, extra) = (variants.len(), extra.count());
    let text = format!("grammars of {} languages, in released binaries of {all} |", all - extra);
    assert!(file("docs/tools.md").text.contains(&text), "docs/tools.md lacks: {text}");
}

#[test]
fn page_of_tools_names_the_parameters_beyond_the_specification() {
    let page = joined("docs/tools.md");
    let tools = FILES.iter().filter_map(|file| {
        let name = file.path.strip_prefix(TOOLS)?.strip_suffix(".rs")?;
        Some((name, further_parameters(&file.text)))
    });
    let texts = tools.filter_map(|(tool, names)| {
        let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
        let (last, first) = names.split_last()?;
        let first = first.join(", ");
        let and = if first.is_empty() { "" } else { " and " };
        Some(format!("{first}{and}{last} of `{tool}`"))
    });
    let texts: Vec<_> = texts.collect();
    assert!(!texts.is_empty(), "no tool has any");
    hold("docs/tools.md names", texts.into_iter().filter(|text| !page.contains(text)));
}

/// The fields of a tool that its specification does not have.
fn further_parameters(tool: &str) -> Vec<String> {
    let parsed = syn::parse_file(tool).unwrap();
    let structs = parsed.items.iter().filter_map(|item| match item {
        syn::Item::Struct(one) => Some(one),
        _ => None,
    });
    let is_further = |field: &syn::Field| {
        let mut lists =
            field.attrs.iter().filter_map(|attribute| attribute.meta.require_list().ok());
        lists.any(|list| {
            list.path.is_ident("schemars") && list.tokens.to_string().contains("x-extra")
        })
    };
    let fields = structs.flat_map(|one| one.fields.iter()).filter(|field| is_further(field));
    fields.filter_map(|field| Some(field.ident.as_ref()?.to_string())).collect()
}

#[test]
fn numbers_are_spelled_in_english() {
    assert_eq!(
        [0, 7, 19, 20, 26, 99, 100].map(spelled),
        ["none", "seven", "nineteen", "twenty", "twenty-six", "ninety-nine", "100",]
    );
}

/// A page as one line, so that a sentence is found wherever its lines break.
fn joined(page: &str) -> String {
    file(page).text.replace('\n', " ")
}

/// What stands in backticks.
fn quoted<'t>(texts: impl Iterator<Item = &'t str>) -> BTreeSet<String> {
    texts.flat_map(|text| text.split('`').skip(1).step_by(2)).map(str::to_owned).collect()
}

fn spelled(number: usize) -> String {
    match (number / 10, number % 10) {
        (0 | 1, _) => ONES[number].to_owned(),
        (tens @ 2..=9, 0) => TENS[tens].to_owned(),
        (tens @ 2..=9, ones) => format!("{}-{}", TENS[tens], ONES[ones]),
        _ => number.to_string(),
    }
}

// === impl ToolNames ===

impl ToolNames {
    fn read() -> Self {
        let specification: Value = serde_json::from_str(&file(SPECIFICATION).text).unwrap();
        let tools = specification["tools"].as_array().unwrap().iter();
        let specified: BTreeSet<String> =
            tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
        let table = file(TABLE).code();
        let modules =
            table.split("erased::<tools::").skip(1).filter_map(|rest| rest.split("::").next());
        let there: BTreeSet<String> = modules.map(name_of).collect();
        assert!(there.len() > 1, "{TABLE} has another form: {there:?}");
        Self {
            working: there.intersection(&specified).cloned().collect(),
            further: there.difference(&specified).cloned().collect(),
            specified,
        }
    }
}

/// The name of the tool in a module.
fn name_of(module: &str) -> String {
    let path = format!("builtin-tools/src/tools/{module}.rs");
    let text = &file(&path).text;
    let (_, rest) = text.split_once("const NAME: &'static str = ").expect("a tool has a name");
    rust::strings(rest).into_iter().next().expect("it is a text")
}
