//! Generates the wire types of `moss.v1` with a compiler written in Rust: no `protoc` is needed.

use std::error::Error;
use std::path::PathBuf;

use prost::Message as _;

const FILES: &[&str] = &[
    "bridge",
    "confirmations",
    "editor",
    "history",
    "index",
    "jobs",
    "plugins",
    "policy",
    "status",
    "tools",
    "user_prompt",
];

fn main() -> Result<(), Box<dyn Error>> {
    let files: Vec<String> = FILES.iter().map(|file| format!("moss/v1/{file}.proto")).collect();
    for file in &files {
        println!("cargo::rerun-if-changed={file}");
    }
    let descriptors = protox::compile(&files, ["."])?;
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    std::fs::write(out.join("moss_v1.bin"), descriptors.encode_to_vec())?;
    tonic_prost_build::configure().compile_fds(descriptors)?;
    Ok(())
}
