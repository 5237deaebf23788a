//! One module per tool, named like the tool. A tool holds its parameters, its bounds and its
//! result; it refuses what its arguments cannot mean.

pub(crate) mod clarify;
pub(crate) mod codebase_search;
pub(crate) mod create_file;
pub(crate) mod delete_file;
pub(crate) mod delete_lines;
pub(crate) mod diff_history;
pub(crate) mod edit_tool;
pub(crate) mod file_search;
pub(crate) mod find_code_location;
pub(crate) mod get_cursor_context;
pub(crate) mod get_project_structure;
pub(crate) mod grep_search;
pub(crate) mod insert_line;
pub(crate) mod lint_check;
pub(crate) mod list_directory;
pub(crate) mod moss_register_plugin_tool;
pub(crate) mod moss_update_asi_user_prompt;
pub(crate) mod patch;
pub(crate) mod read_file;
pub(crate) mod reapply;
pub(crate) mod replace_lines;
pub(crate) mod replace_text;
pub(crate) mod run_terminal_cmd;
pub(crate) mod run_tests;
pub(crate) mod terminal_job;
pub(crate) mod todo;
