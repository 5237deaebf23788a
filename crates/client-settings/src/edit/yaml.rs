//! YAML in block style. The whole text is read before and after an edit; an edit replaces or adds whole lines of
//! one entry. Where the servers or the entry are written in another style, or an anchor, an alias or a tag leaves
//! open what they are, the file is left to the person: nothing is guessed.

mod document;
mod members;
mod scalar;

use std::ops::Range;

use serde_json::{Value, json};

use self::document::{YamlContent, YamlDocument, YamlNode, YamlPair};
use super::{NAME, NotEdited};
use crate::clients::FileFormat;

/// The member of an item of a list that has the name of the server.
const ITEM_NAME: &str = "name";

/// A key of the file that has the servers, and how they are written.
#[derive(Debug, Clone, Copy)]
pub(super) struct YamlServers {
    pub(super) key: &'static str,
    pub(super) format: FileFormat,
}

/// Where the servers of a file are.
#[derive(Debug)]
enum ServersBlock<'d> {
    /// There is no such key.
    Absent,
    /// The key has nothing in it.
    Empty(&'d YamlPair),
    /// The key has lines beneath it.
    Lines(&'d YamlPair),
}

/// The entry of moss in a file.
#[derive(Debug)]
struct YamlEntry<'d> {
    value: &'d YamlNode,
    /// Where it begins: at its key, or in a list at its value.
    start: usize,
}

// === impl YamlServers ===

impl YamlServers {
    pub(super) fn entry(self, text: &str) -> Result<Option<Value>, NotEdited> {
        let document = YamlDocument::read(text)?;
        let Some(own) = self.own(&self.block(&document, text)?, text)? else { return Ok(None) };
        Ok(Some(match self.value(&own, text)? {
            Value::Null => json!({}),
            Value::Object(mut all) => {
                all.retain(|name, value| !value.is_null() && self.kept() != Some(name.as_str()));
                Value::Object(all)
            }
            other => other,
        }))
    }

    pub(super) fn with_entry(self, text: &str, new: &Value) -> Result<String, NotEdited> {
        if let Some(edited) = self.updated(text, new)? {
            return Ok(edited);
        }
        let text = self.without_entry(text)?;
        let document = YamlDocument::read(&text)?;
        let (at, end, kept, column) = match self.block(&document, &text)? {
            ServersBlock::Absent => {
                let (before, after) = text.split_at(document.end);
                let (key, written) = (scalar::key(self.key), self.written(new, 2));
                return Ok(format!("{}{key}:\n{written}{after}", ended(before)));
            }
            ServersBlock::Empty(pair) => {
                let end = line_end(&text, pair.value.range.end);
                (pair.colon_end, end, text[pair.value.range.end..end].trim_end(), 2)
            }
            ServersBlock::Lines(pair) => {
                let start = pair.value.range.start;
                let after = line_end(&text, pair.colon_end);
                (after, after, "", start - line_start(&text, start))
            }
        };
        let head = format!("{}{kept}", &text[..at]);
        Ok(format!("{}{}{}", ended(&head), self.written(new, column), &text[end..]))
    }

    /// Makes the text with other values in the entry that there is; `None` without one, or where members of it go.
    fn updated(self, text: &str, new: &Value) -> Result<Option<String>, NotEdited> {
        let document = YamlDocument::read(text)?;
        let own = self.own(&self.block(&document, text)?, text)?;
        let (Some(own), Some(new)) = (own, new.as_object()) else { return Ok(None) };
        self.lines_of(&own, text)?;
        Ok(members::with_values(text, own.value, self.kept(), new))
    }

    pub(super) fn without_entry(self, text: &str) -> Result<String, NotEdited> {
        let document = YamlDocument::read(text)?;
        let Some(own) = self.own(&self.block(&document, text)?, text)? else {
            return Ok(text.to_owned());
        };
        let lines = self.lines_of(&own, text)?;
        Ok(format!("{}{}", &text[..lines.start], &text[lines.end..]))
    }

    /// Removes the key of the servers, where it has nothing in it and no comment.
    pub(super) fn without_empty_key(self, text: &str) -> Result<String, NotEdited> {
        let document = YamlDocument::read(text)?;
        let ServersBlock::Empty(pair) = self.block(&document, text)? else {
            return Ok(text.to_owned());
        };
        let lines = line_start(text, pair.range.start)..line_end(text, pair.range.end);
        let mut next = text[lines.end..].lines().skip_while(|line| line.trim().is_empty());
        let has_comment = text[lines.clone()].contains('#')
            || next.next().is_some_and(|line| {
                line.starts_with([' ', '\t']) && line.trim_start().starts_with('#')
            });
        match has_comment {
            true => Ok(text.to_owned()),
            false => Ok(format!("{}{}", &text[..lines.start], &text[lines.end..])),
        }
    }

    /// Gives the key of the servers the empty value back that it had `before`, as `{}`, where it has none now.
    pub(super) fn with_empty_value(self, text: &str, before: &str) -> Result<String, NotEdited> {
        let document = YamlDocument::read(text)?;
        let (Some(value), ServersBlock::Empty(pair)) =
            (self.empty_value(before), self.block(&document, text)?)
        else {
            return Ok(text.to_owned());
        };
        if !matches!(pair.value.content, YamlContent::Empty) {
            return Ok(text.to_owned());
        }
        let (head, rest) = text.split_at(pair.colon_end);
        Ok(format!("{head}{value}{rest}"))
    }

    /// What is written behind the key of the servers where it has nothing in it, in its line.
    fn empty_value(self, text: &str) -> Option<&str> {
        let document = YamlDocument::read(text).ok()?;
        let ServersBlock::Empty(pair) = self.block(&document, text).ok()? else { return None };
        let value = &text[pair.colon_end..pair.value.range.end.max(pair.colon_end)];
        (!value.contains('\n')).then_some(value)
    }

    /// Whether there is the key of the servers. What cannot be read may have it.
    pub(super) fn has_key(self, text: &str) -> bool {
        let Ok(document) = YamlDocument::read(text) else { return true };
        !matches!(self.block(&document, text), Ok(ServersBlock::Absent))
    }

    /// Everything in a file but the entry, and but a key that would hold that alone.
    pub(super) fn others(self, text: &str) -> Result<Value, NotEdited> {
        let document = YamlDocument::read(text)?;
        let block = self.block(&document, text)?;
        let left_out = match (&block, self.own(&block, text)?) {
            (ServersBlock::Empty(pair), _) => Some(pair.key.range.start),
            (ServersBlock::Lines(pair), Some(_)) if length(&pair.value) == 1 => {
                Some(pair.key.range.start)
            }
            (_, own) => own.map(|own| own.start),
        };
        let root = document.root.as_ref();
        Ok(root.map_or(json!(["mapping"]), |root| shape(root, text, left_out)))
    }

    fn block<'d>(
        self,
        document: &'d YamlDocument,
        text: &str,
    ) -> Result<ServersBlock<'d>, NotEdited> {
        let Some(root) = &document.root else { return Ok(ServersBlock::Absent) };
        let pairs = match &root.content {
            YamlContent::Mapping { pairs, is_block: true }
                if root.mark.is_empty()
                    && line_start(text, root.range.start) == root.range.start =>
            {
                pairs
            }
            _ => return Err(self.by_hand("the file is not a mapping in block style")),
        };
        let Some(pair) = self.named(pairs, text, self.key)? else {
            return Ok(ServersBlock::Absent);
        };
        let YamlNode { range, content, mark } = &pair.value;
        let is_alike = matches!(
            (content, self.format),
            (YamlContent::Mapping { is_block: true, .. }, FileFormat::YamlMap)
                | (YamlContent::Sequence { is_block: true, .. }, FileFormat::YamlList)
        );
        let is_empty = match content {
            YamlContent::Empty => true,
            YamlContent::Scalar => scalar::value(&text[range.clone()]) == Some(Value::Null),
            YamlContent::Alias => false,
            _ => length(&pair.value) == 0,
        };
        // Comments in what is replaced would go.
        let is_bare = |part: &str| !part.contains('#');
        match mark.is_empty() {
            true if is_alike => Ok(ServersBlock::Lines(pair)),
            true if is_empty && is_bare(&text[pair.colon_end..range.end.max(pair.colon_end)]) => {
                Ok(ServersBlock::Empty(pair))
            }
            _ => {
                let kind = if self.format == FileFormat::YamlMap { "mapping" } else { "list" };
                Err(self.by_hand(&format!("`{}` is no {kind} in block style", self.key)))
            }
        }
    }

    /// Finds the entry of moss. In a list it is the item that has the name itself, not somewhere in it.
    fn own<'d>(
        self,
        block: &ServersBlock<'d>,
        text: &str,
    ) -> Result<Option<YamlEntry<'d>>, NotEdited> {
        let ServersBlock::Lines(servers) = block else { return Ok(None) };
        match &servers.value.content {
            YamlContent::Mapping { pairs, .. } => {
                let pair = self.named(pairs, text, NAME)?;
                Ok(pair.map(|pair| YamlEntry { value: &pair.value, start: pair.range.start }))
            }
            YamlContent::Sequence { items, .. } => {
                let mut found = Vec::new();
                for item in items {
                    if self.item_name(item, text)?.as_deref() == Some(NAME) {
                        found.push(YamlEntry { value: item, start: item.range.start });
                    }
                }
                match found.len() {
                    0 | 1 => Ok(found.pop()),
                    _ => Err(self.by_hand(&format!("`{}` has `{NAME}` twice", self.key))),
                }
            }
            _ => Ok(None),
        }
    }

    /// The name of a server in a list; none where it has none.
    fn item_name(self, item: &YamlNode, text: &str) -> Result<Option<String>, NotEdited> {
        let open = || {
            let why = format!("a server of `{}` has a name that moss cannot read", self.key);
            self.by_hand(&why)
        };
        match &item.content {
            YamlContent::Alias => Err(open()),
            YamlContent::Mapping { pairs, .. } => {
                let mut name = None;
                for pair in pairs {
                    match pair.name(text).as_deref() {
                        Some(ITEM_NAME) => name = Some(&pair.value),
                        Some("<<") | None => return Err(open()),
                        Some(_) => {}
                    }
                }
                let read = |value: &YamlNode| match value.content {
                    YamlContent::Empty if value.mark.is_empty() => Ok(None),
                    _ => value.text(text).map(Some).ok_or_else(open),
                };
                name.map_or(Ok(None), read)
            }
            _ => Ok(None),
        }
    }

    /// Finds a key. Where one among them may be it in another form, nothing is found and nothing denied.
    fn named<'d>(
        self,
        pairs: &'d [YamlPair],
        text: &str,
        name: &str,
    ) -> Result<Option<&'d YamlPair>, NotEdited> {
        let mut found = None;
        for pair in pairs {
            match pair.name(text).as_deref() {
                Some("<<") | None => {
                    let line = text[..pair.range.start].matches('\n').count() + 1;
                    let why = format!("the key in line {line} cannot be read by moss");
                    return Err(self.by_hand(&why));
                }
                Some(other) if other == name => found = Some(pair),
                Some(_) => {}
            }
        }
        Ok(found)
    }

    fn value(self, own: &YamlEntry<'_>, text: &str) -> Result<Value, NotEdited> {
        members::json(own.value, text).ok_or_else(|| {
            self.by_hand(&format!(
                "the entry `{NAME}` has an anchor, an alias, a tag or a value that clients read differently"
            ))
        })
    }

    /// The lines of the entry. Comments behind them are a person's: moss writes none.
    fn lines_of(self, own: &YamlEntry<'_>, text: &str) -> Result<Range<usize>, NotEdited> {
        let value = self.value(own, text)?;
        let is_block = matches!(own.value.content, YamlContent::Mapping { is_block: true, .. });
        let start = line_start(text, own.start);
        let lead = &text[start..own.start];
        let is_first = lead.chars().all(|c| c == ' ' || c == '-');
        // In a list the sign of the item may stand in a line before.
        let is_first = is_first && (self.format == FileFormat::YamlMap || lead.contains('-'));
        if !is_first || !(is_block || value.is_null()) {
            return Err(self.by_hand(&format!("the entry `{NAME}` is not in block style")));
        }
        Ok(start..line_end(text, own.value.range.end))
    }

    /// The member of an entry that stays in each: in a list its name.
    fn kept(self) -> Option<&'static str> {
        (self.format == FileFormat::YamlList).then_some(ITEM_NAME)
    }

    fn written(self, entry: &Value, column: usize) -> String {
        let pad = " ".repeat(column);
        let mut lines = match self.format {
            FileFormat::YamlList => format!("{pad}- {ITEM_NAME}: {NAME}\n"),
            _ => format!("{pad}{NAME}:\n"),
        };
        for (name, value) in entry.as_object().into_iter().flatten() {
            if self.kept() != Some(name.as_str()) {
                let (name, value) = (scalar::key(name), scalar::written(value));
                lines.push_str(&format!("{pad}  {name}: {value}\n"));
            }
        }
        lines
    }

    fn by_hand(self, why: &str) -> NotEdited {
        NotEdited::new(format!("{why}: change the entry `{NAME}` of `{}` by hand", self.key))
    }
}

/// What a node says, without what begins at a place.
fn shape(node: &YamlNode, text: &str, left_out: Option<usize>) -> Value {
    let is_left = |start: usize| left_out != Some(start);
    let held = match &node.content {
        YamlContent::Empty => json!(null),
        YamlContent::Scalar => json!(whole_scalar(text, &node.range)),
        YamlContent::Alias => json!(["alias", &text[node.range.clone()]]),
        YamlContent::Mapping { pairs, .. } => {
            let pairs = pairs.iter().filter(|pair| is_left(pair.key.range.start));
            let pair = |pair: &YamlPair| {
                json!([shape(&pair.key, text, left_out), shape(&pair.value, text, left_out)])
            };
            std::iter::once(json!("mapping")).chain(pairs.map(pair)).collect()
        }
        YamlContent::Sequence { items, .. } => {
            let items = items.iter().filter(|item| is_left(item.range.start));
            let item = |item: &YamlNode| shape(item, text, left_out);
            std::iter::once(json!("sequence")).chain(items.map(item)).collect()
        }
    };
    match node.mark.as_str() {
        "" => held,
        mark => json!(["marked", mark, held]),
    }
}

/// A scalar as it is written, with the line ends after it that are its own.
fn whole_scalar<'t>(text: &'t str, range: &Range<usize>) -> &'t str {
    let written = &text[range.clone()];
    let Some(sign) = written.lines().next().filter(|sign| sign.starts_with(['|', '>'])) else {
        return written;
    };
    let rest = &text[range.end..];
    let blank = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
    let own = match sign.contains('+') {
        true => blank,
        false => rest[..blank].find('\n').map_or(0, |at| at + 1),
    };
    &text[range.start..range.end + own]
}

fn length(node: &YamlNode) -> usize {
    match &node.content {
        YamlContent::Mapping { pairs, .. } => pairs.len(),
        YamlContent::Sequence { items, .. } => items.len(),
        _ => 0,
    }
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |end| end + 1)
}

/// Where the line ends that holds a byte, its line end included.
fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |end| at + end + 1)
}

fn ended(text: &str) -> String {
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("{text}{end}")
}
