//! What a component asks its host for, read from its bytes without compiling them.

use wasmparser::{Encoding, Parser, Payload};

/// Returns the names of what a component imports, such as `wasi:http/types@0.2.6`; none where it is no
/// component, or no whole one.
pub fn imported_names(component: &[u8]) -> Option<Vec<String>> {
    let mut names = Vec::new();
    // What lies in it has imports of its own, which it is given by what it lies in.
    let mut depth = 0_usize;
    for payload in Parser::new(0).parse_all(component) {
        match payload.ok()? {
            Payload::Version { encoding: Encoding::Module, .. } if depth == 0 => return None,
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::ComponentImportSection(imports) if depth == 0 => {
                for import in imports {
                    let name = import.ok()?.name;
                    names.push([name.name, name.version_suffix.unwrap_or_default()].concat());
                }
            }
            _ => {}
        }
    }
    Some(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Option<Vec<String>> {
        imported_names(&wat::parse_str(text).unwrap())
    }

    #[test]
    fn imports_are_those_of_the_component_itself() {
        let component = r#"(component
            (import "wasi:http/types@0.2.6" (instance))
            (component (import "inner" (func)))
            (core module (import "env" "f" (func)))
            (import "log" (func)))"#;
        assert_eq!(names(component).unwrap(), ["wasi:http/types@0.2.6", "log"]);
        assert_eq!(names("(component)").unwrap(), [""; 0]);
    }

    #[test]
    fn what_is_no_whole_component_has_none() {
        assert_eq!(names(r#"(module (import "env" "f" (func)))"#), None);
        let component = wat::parse_str(r#"(component (import "log" (func)))"#).unwrap();
        assert_eq!(imported_names(&component[..component.len() - 1]), None);
        assert_eq!(imported_names(b"text"), None);
    }
}
