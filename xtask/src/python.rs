//! The Python environment of the client tests: made in the target directory, kept until the
//! requirements change.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::child;
use crate::layout::Layout;

/// Oldest Python that the requirements support.
const PYTHON_MIN: &str = "3.11";

/// Makes the environment and returns its interpreter.
pub(crate) fn environment(layout: &Layout) -> Result<PathBuf> {
    let file = layout.python_requirements();
    let requirements =
        fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let directory = layout.python_environment();
    let python = directory.join("bin/python");
    let installed = directory.join("installed.txt");
    if python.exists() && fs::read_to_string(&installed).is_ok_and(|text| text == requirements) {
        return Ok(python);
    }
    check_python()?;
    child::run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&directory))?;
    let mut install = Command::new(&python);
    install.args(["-m", "pip", "install", "--quiet", "--requirement"]).arg(&file);
    child::run(&mut install).context("the client tests need these packages, once, from PyPI")?;
    fs::write(&installed, requirements)
        .with_context(|| format!("cannot write {}", installed.display()))?;
    Ok(python)
}

fn check_python() -> Result<()> {
    let check = format!(
        "import sys, venv, ensurepip; \
         sys.exit(sys.version_info < ({}))",
        PYTHON_MIN.replace('.', ", ")
    );
    let fits = Command::new("python3").args(["-c", &check]).output();
    if !fits.is_ok_and(|output| output.status.success()) {
        bail!(
            "the tests of other languages' clients need python3, {PYTHON_MIN} or newer, with venv \
             and pip: install them (Debian and Ubuntu: `apt install python3 python3-venv`; \
             Fedora: `dnf install python3`; macOS: `brew install python`), then try again"
        );
    }
    Ok(())
}
