//! Names of tools and workspaces that there are not.

use std::fmt;

use moss_plugin_list::units;

/// A name that no tool has.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UnknownTool {
    /// The name, cut for display.
    pub name: String,
    /// Names that the caller may have meant, nearest first.
    pub nearest: Vec<String>,
    /// Whether plugins are still being loaded: one of them may have it.
    pub is_loading: bool,
    /// Plugins that are listed and not loaded: one of them may have it.
    pub not_loaded: Vec<String>,
    /// What is compiled of those now.
    pub compiling: Vec<Unready>,
}

/// A plugin that is compiled now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unready {
    /// Name of the plugin.
    pub plugin: String,
    /// Size of its component, in bytes.
    pub bytes: usize,
    /// For how many seconds it has been compiled.
    pub seconds: u64,
}

/// A workspace that the daemon does not serve.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnknownWorkspace {
    /// It is another one.
    #[error("the daemon does not serve the workspace {asked}; it serves {served}")]
    NotServed {
        /// What was asked for.
        asked: String,
        /// The roots that it serves, for the message.
        served: String,
    },
    /// None was named and there are several.
    #[error("name a workspace: the daemon serves {served}")]
    NotNamed {
        /// The roots that it serves, for the message.
        served: String,
    },
}

/// What keeps the tools of a plugin away that is compiled.
fn unready(compiling: &Unready) -> String {
    let (size, seconds) = (units::about(compiling.bytes), compiling.seconds);
    format!("`{}` ({size}) is being compiled, for {seconds} s so far", compiling.plugin)
}

// === impl UnknownTool ===

impl fmt::Display for UnknownTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no tool `{}`", self.name)?;
        if let [first, others @ ..] = self.compiling.as_slice() {
            write!(f, " yet: the plugin {}", unready(first))?;
            others.iter().try_for_each(|other| write!(f, ", `{}` as well", other.plugin))?;
            f.write_str("; try again once `moss plugin list` says that it is ready")?;
            return match self.nearest.as_slice() {
                [] => Ok(()),
                nearest => write!(f, "; or did you mean `{}`?", nearest.join("`, `")),
            };
        }
        if self.is_loading {
            return f.write_str(" yet: plugins are still being loaded; try again in a moment");
        }
        // How tools are listed is another thing for each who calls.
        if !self.nearest.is_empty() {
            write!(f, "; did you mean `{}`?", self.nearest.join("`, `"))?;
        }
        match self.not_loaded.as_slice() {
            [] => Ok(()),
            plugins => write!(
                f,
                " ({} in the lists, but not loaded; `moss plugin list` says why)",
                match plugins {
                    [plugin] => format!("the plugin `{plugin}` is"),
                    plugins => format!("the plugins `{}` are", plugins.join("`, `")),
                }
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plugins_that_are_not_loaded_are_named() {
        let not_loaded = vec!["a".to_owned(), "b".to_owned()];
        let unknown = UnknownTool { name: "x".to_owned(), not_loaded, ..UnknownTool::default() };
        assert_eq!(
            unknown.to_string(),
            "there is no tool `x` (the plugins `a`, `b` are in the lists, but not loaded; `moss plugin \
             list` says why)"
        );
    }

    #[test]
    fn plugins_that_are_compiled_are_named_with_what_helps() {
        let compiling =
            |plugin: &str| Unready { plugin: plugin.to_owned(), bytes: 2 << 20, seconds: 3 };
        let nearest = vec!["y".to_owned()];
        let compiling = vec![compiling("a"), compiling("b")];
        let unknown =
            UnknownTool { name: "x".to_owned(), nearest, compiling, ..UnknownTool::default() };
        let told = unknown.to_string();
        let (start, end) = (
            "there is no tool `x` yet: the plugin `a` (2.0 MiB) is being compiled, for ",
            " s so far, `b` as well; try again once `moss plugin list` says that it is ready; or \
             did you mean `y`?",
        );
        assert!(told.starts_with(start) && told.ends_with(end), "{told}");
    }
}
