//! What the READMEs quote of the page of figures is what stands there.

use crate::hold;
use crate::tree::file;

const PAGE: &str = "docs/performance.md";

#[test]
fn the_readmes_quote_the_figures_of_the_page() {
    let page = &file(PAGE).text;
    let (_, short) = page.split_once("## In short\n\n").expect("the page begins with the figures");
    let table = short.split("\n\n").next().unwrap_or_default();
    let quoted: Vec<&str> = table.lines().skip(2).collect();
    assert_eq!(quoted.len(), 3, "{PAGE} has other figures than three:\n{table}");
    let english = &file("README.md").text;
    let missing = quoted.iter().filter(|line| !english.lines().any(|other| other == **line));
    let missing = missing.map(|line| format!("README.md has not: {line}"));
    // What is measured has another name there, the numbers are the same.
    let chinese = &file("README.zh.md").text;
    let numbers = |line: &str| line.splitn(3, '|').nth(2).unwrap_or_default().to_owned();
    let other = quoted.iter().filter(|line| {
        !chinese.lines().any(|other| other.starts_with("| ") && numbers(other) == numbers(line))
    });
    let other = other.map(|line| format!("README.zh.md has not: …{}", numbers(line)));
    hold("quotes docs/performance.md", missing.chain(other));
}
