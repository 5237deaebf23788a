//! `editTool`: SEARCH/REPLACE blocks, all of them or none.

mod apply;

use moss_matching::lines::LineSpan;
use moss_sdk::context::Context;
use moss_sdk::edit::{ChangeKind, ChangeSet, MatchLevel, Matched};
use moss_sdk::{Effect, ErrorCode, Tool, ToolError};
use schemars::JsonSchema;
use serde::Serialize;

use self::apply::{AppliedBlock, BlockMiss, apply, splices_between};
use crate::blocks;
use crate::edit::{Edit, EditOutput, EditTarget, Stale, check_written_out, until_fresh};
use crate::replacing::explained;

/// How errors call the two parts of a block.
const NAMES: (&str, &str) = ("the SEARCH part", "the REPLACE part");
/// Most blocks of one call.
const BLOCKS_MAX: usize = 500;

/// Applies SEARCH/REPLACE blocks to a file: all of them, or none.
///
/// A block is: a line `------- SEARCH`, the current lines, a line `=======`, the new lines,
/// a line `+++++++ REPLACE`. SEARCH must occur once: copy whole lines from the file, with
/// enough of them around the change. An empty REPLACE part deletes the lines. An empty SEARCH part
/// replaces the whole file, or makes a new one. Several blocks are applied one after the other, in
/// any order of their locations. Never write `...` for lines that you leave out.
#[derive(serde::Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct EditTool {
    /// Path of the file, relative to the workspace root.
    file_path: String,
    /// One or several blocks. Text around them is ignored.
    diff_content: String,
}

/// What the blocks did.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct EditToolOutput {
    #[serde(flatten)]
    edit: EditOutput,
    /// Whether the file is new.
    created: bool,
    /// The blocks, in their order.
    blocks: Vec<BlockOutput>,
}

/// What one block did. Its lines are numbered as the blocks before it left them.
#[derive(Debug, Serialize, JsonSchema)]
struct BlockOutput {
    /// How its SEARCH part was found; absent where it was empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    match_level: Option<MatchLevel>,
    /// The lines that it changed or removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<LineSpan>,
    /// Where the replacement is in the edited file.
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<LineSpan>,
}

impl Tool for EditTool {
    const NAME: &'static str = "editTool";
    const TITLE: &'static str = "Apply SEARCH/REPLACE blocks";
    const EFFECT: Effect = Effect::Write;
    const ALIASES: &'static [(&'static str, &'static [&'static str])] = &[
        ("filePath", &["path", "file_path", "file"]),
        ("diffContent", &["diff", "diff_content", "blocks"]),
    ];
    type Output = EditToolOutput;

    async fn run(self, cx: Context) -> Result<EditToolOutput, ToolError> {
        let blocks = blocks::parse(&self.diff_content).map_err(|error| {
            ToolError::new(ErrorCode::InvalidArguments, error.to_string()).hint(
                "a block is: `------- SEARCH`, the current lines, `=======`, the new lines, `+++++++ REPLACE`; each marker is a separate line",
            )
        })?;
        if blocks.len() > BLOCKS_MAX {
            let count = blocks.len();
            let message = format!("there are {count} blocks; one call accepts {BLOCKS_MAX}");
            return Err(ToolError::new(ErrorCode::LimitExceeded, message)
                .hint("send them in several calls, or write the file anew"));
        }
        drop(blocks);
        until_fresh(async || match EditTarget::open(&cx, &self.file_path).await {
            Ok(target) => self.edit(&cx, &target).await,
            Err(error) if error.code == ErrorCode::NotFound => {
                self.create(&cx, error).await.map(Ok)
            }
            Err(error) => Err(error),
        })
        .await
    }
}

// === impl EditTool ===

impl EditTool {
    async fn edit(
        &self,
        cx: &Context,
        target: &EditTarget,
    ) -> Result<Result<EditToolOutput, Stale>, ToolError> {
        let (text, content) = (target.text.clone(), self.diff_content.clone());
        let applied = cx.compute(move || {
            let blocks = blocks::parse(&content).unwrap_or_default();
            let applied = apply(&text, &blocks)?;
            let splices = splices_between(&text, &applied);
            Ok((applied, splices))
        });
        let (applied, splices) = applied.await?.map_err(|miss| self.explained(target, &miss))?;
        if applied.blocks.iter().any(|block| block.level.is_none()) {
            target.check_whole(cx)?;
            check_written_out(&target.text, &applied.text)?;
        }
        let level = applied.blocks.iter().filter_map(|block| block.level).max();
        let matched = level.map(|level| Matched { level, drift: applied.drift });
        let (before, after) = match &applied.blocks[..] {
            [block] => (block.before, block.after),
            _ => (None, None),
        };
        let edit = Edit { splices, matched, before, after };
        let blocks = applied.blocks.iter().map(BlockOutput::from).collect();
        let proposed = target.propose(cx, edit).await?;
        Ok(proposed.map(|edit| EditToolOutput { edit, created: false, blocks }))
    }

    /// Makes a new file, which one block without a SEARCH part may do.
    async fn create(&self, cx: &Context, missing: ToolError) -> Result<EditToolOutput, ToolError> {
        let blocks = blocks::parse(&self.diff_content).unwrap_or_default();
        let [block] = &blocks[..] else { return Err(missing) };
        let whole = block.splits().find(|split| split.search.is_empty());
        let Some(split) = whole else {
            return Err(missing.hint("to make a new file, leave the SEARCH part empty"));
        };
        let path = cx.path(&self.file_path)?;
        let output = EditOutput::of_new(&path, &split.replace);
        let kind = ChangeKind::Create { content: split.replace };
        let proposed = cx.propose(ChangeSet::one(path, kind)).await?;
        let edit = output.with(proposed.applied()?);
        let blocks = vec![BlockOutput { match_level: None, before: None, after: edit.after() }];
        Ok(EditToolOutput { edit, created: true, blocks })
    }

    fn explained(&self, target: &EditTarget, miss: &BlockMiss) -> ToolError {
        let BlockMiss { index, count, line, search, text, miss } = miss;
        let error = match miss {
            Some(miss) => explained(miss, &target.path, text, search, NAMES),
            None => ToolError::new(
                ErrorCode::Ambiguous,
                "several of its lines may be the separator, and with none of them is the SEARCH \
                 part in the file exactly",
            )
            .hint("copy the SEARCH part from the file, or use replace_lines"),
        };
        let left = match index {
            0 => String::new(),
            1 => " in the text as block 1 would leave it".to_owned(),
            index => format!(" in the text as blocks 1 to {index} would leave it"),
        };
        let place = format!("block {} of {count} (line {line} of `diffContent`)", index + 1);
        let message = format!("nothing was written: {place}{left}: {}", error.message);
        ToolError { message, ..error }
    }
}

// === impl BlockOutput ===

impl From<&AppliedBlock> for BlockOutput {
    fn from(block: &AppliedBlock) -> Self {
        Self { match_level: block.level, before: block.before, after: block.after }
    }
}

#[cfg(test)]
mod tests;
