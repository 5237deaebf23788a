//! A search as a model writes it: some lines of a text, nearly.

/// Takes lines of a text and spoils them as `script` says; the empty script takes nothing.
pub(crate) fn spoiled(text: &str, script: &[u8]) -> String {
    let [first, count, changes @ ..] = script else { return String::new() };
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    if lines.is_empty() {
        return String::new();
    }
    let first = usize::from(*first) % lines.len();
    let count = 1 + usize::from(*count) % 16;
    let taken = lines.iter().skip(first).take(count);
    let mut taken: Vec<String> = taken.map(|line| (*line).to_owned()).collect();
    for change in changes.chunks_exact(2).take(8) {
        let [how, which] = change else { continue };
        let which = usize::from(*which) % taken.len();
        spoil(&mut taken, *how, which);
        if taken.is_empty() {
            break;
        }
    }
    taken.concat()
}

fn spoil(lines: &mut Vec<String>, how: u8, which: usize) {
    let line = lines[which].clone();
    let all = |lines: &mut Vec<String>, change: &dyn Fn(&str) -> String| {
        lines.iter_mut().for_each(|line| *line = change(line));
    };
    match how % 16 {
        0 => all(lines, &|line| line.trim_start_matches([' ', '\t']).to_owned()),
        1 => all(lines, &|line| format!("    {line}")),
        2 => all(lines, &|line| line.replace("    ", "\t")),
        3 => all(lines, &|line| line.replace('\n', "\r\n")),
        4 => all(lines, &|line| line.replace('"', "\\\"")),
        5 => all(lines, &|line| line.replace('"', "\u{201c}").replace('\'', "\u{2019}")),
        6 => lines.insert(which, "\n".to_owned()),
        7 => lines[which] = line.replace(' ', "  "),
        8 => lines[which] = format!("{}  \n", line.trim_end()),
        9 => lines[which] = line.trim_end_matches(['\n', '\r']).to_owned(),
        10 => lines[which] = line.chars().skip(1).collect(),
        11 => lines[which] = line.chars().map(|c| if c == 'a' { 'e' } else { c }).collect(),
        12 => lines[which] = "// ... existing code ...\n".to_owned(),
        13 => drop(lines.remove(which)),
        14 => all(lines, &|line| format!("```\n{line}")),
        _ => lines.push(line),
    }
}
