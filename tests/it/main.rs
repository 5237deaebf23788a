//! End-to-end tests: the real binary, real sockets, real files, real components.

#![allow(
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a test program: what it unwraps and prints is its message"
)]

mod activation;
mod answers;
mod arguments;
mod auth;
mod bridge_data;
mod bridge_encode;
mod bridge_evaluate;
mod bridge_parse;
mod bridge_requests;
mod bridge_service;
mod broken_syntax;
mod calls;
mod cli;
mod client_setup;
mod command_output;
mod commands;
mod compiling;
mod configuration;
mod confirmation;
mod connections;
mod consent;
mod consent_screen;
mod documents;
mod drift;
mod edit_mistakes;
mod editor;
mod edits;
mod files;
mod find_code_location;
mod full_disk;
mod guide;
mod harness;
mod history;
#[path = "../../crates/plugin-host/tests/it/hostile.rs"]
mod hostile;
mod huge;
mod jobs;
mod journal;
mod kill;
mod kill_side_by_side;
mod limits;
mod listings;
mod live_tree;
mod mcp;
mod mcp_forms;
mod metrics;
mod model_clients;
mod newcomers;
mod paths;
mod plugin_agreed;
mod plugin_develop;
mod plugin_downloads;
mod plugin_examples;
mod plugin_files;
mod plugin_lists;
mod plugin_names;
mod plugin_oci;
mod plugin_registry;
mod plugin_services;
mod plugin_signatures;
mod plugin_warm;
mod plugin_zoo;
mod plugins;
mod plugins_plain;
mod policy;
mod protection;
mod python;
mod reapply;
mod reload;
mod reloads;
mod remote;
mod remote_attacks;
mod ripgrep;
mod run_terminal_cmd;
mod search;
mod search_extremes;
mod serve;
mod shutdown;
mod side_by_side;
mod structure;
mod terminal;
mod text_index;
mod todos;
mod tokens;
mod traces;
mod typescript;
mod undo;
mod unfinished;
mod user_prompt;
