//! `wasi:cli/environment`: the variables that were granted. There are no arguments, and the working
//! directory has no name.

use wasmtime_wasi::p2::bindings::cli::environment::Host;

use crate::imports::services::Served;
use moss_plugin_list::grants::OWN_VARIABLES;

impl Host for Served {
    fn get_environment(&mut self) -> wasmtime::Result<Vec<(String, String)>> {
        let granted = &self.rights.held.env;
        if granted.is_empty() {
            return Ok(Vec::new());
        }
        let is_granted = |name: &str| {
            !name.starts_with(OWN_VARIABLES) && granted.iter().any(|granted| granted.matches(name))
        };
        let mut variables = self.services.variables(&is_granted);
        variables.sort();
        Ok(variables)
    }

    fn get_arguments(&mut self) -> wasmtime::Result<Vec<String>> {
        Ok(Vec::new())
    }

    fn initial_cwd(&mut self) -> wasmtime::Result<Option<String>> {
        Ok(None)
    }
}
