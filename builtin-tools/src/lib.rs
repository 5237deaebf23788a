//! The native tools of moss.
//!
//! [`all`] is the one table; its order is the order of listings. A tool is one file in `tools`,
//! named like the tool; what two tools share is a module named by a noun. Tools read and propose
//! through their [`Context`](moss_sdk::Context): nothing here opens a file, starts a process or
//! asks anybody.

pub mod blocks;
#[cfg(test)]
mod check;
mod closest;
mod edit;
mod extent;
mod line_ops;
mod project;
mod replacing;
mod result_page;
pub mod roots;
mod text;
mod tools;
mod wildcards;

pub use tools::grep_search::line_search::LineSearch;
pub use tools::lint_check::asked::linters_of;

use moss_sdk::ToolSpec;
use moss_sdk::tool::{AnyTool, erased};

/// Returns every tool that works, in the order of listings.
pub fn all() -> Vec<Box<dyn AnyTool>> {
    vec![
        erased::<tools::codebase_search::CodebaseSearch>(),
        erased::<tools::read_file::ReadFile>(),
        erased::<tools::replace_lines::ReplaceLines>(),
        erased::<tools::insert_line::InsertLine>(),
        erased::<tools::delete_lines::DeleteLines>(),
        erased::<tools::replace_text::ReplaceText>(),
        erased::<tools::list_directory::ListDirectory>(),
        erased::<tools::get_project_structure::GetProjectStructure>(),
        erased::<tools::get_cursor_context::GetCursorContext>(),
        erased::<tools::create_file::CreateFile>(),
        erased::<tools::delete_file::DeleteFile>(),
        erased::<tools::grep_search::GrepSearch>(),
        erased::<tools::file_search::FileSearch>(),
        erased::<tools::find_code_location::FindCodeLocation>(),
        erased::<tools::run_terminal_cmd::RunTerminalCmd>(),
        erased::<tools::reapply::Reapply>(),
        erased::<tools::diff_history::DiffHistory>(),
        erased::<tools::lint_check::LintCheck>(),
        erased::<tools::run_tests::RunTests>(),
        // Beyond the specification.
        erased::<tools::patch::Patch>(),
        erased::<tools::edit_tool::EditTool>(),
        erased::<tools::clarify::Clarify>(),
        erased::<tools::todo::Todo>(),
        erased::<tools::terminal_job::TerminalJob>(),
        erased::<tools::moss_register_plugin_tool::RegisterPlugin>(),
        erased::<tools::moss_update_asi_user_prompt::UpdateUserPrompt>(),
    ]
}

/// Describes every tool of [`all`], in the same order, in English, whole and in brief, and Chinese.
pub fn specs() -> Vec<ToolSpec> {
    let (mut chinese, mut brief) = (text::chinese(), text::brief());
    all()
        .iter()
        .map(|tool| {
            let mut spec = tool.spec();
            spec.text_zh = chinese.remove(&spec.name);
            spec.text_brief = brief.remove(&spec.name).map(|brief| brief.over(&spec.text));
            spec
        })
        .collect()
}

#[cfg(test)]
mod tests;
