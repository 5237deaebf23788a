//! What authors of plugins need: projects out of templates, checks of a component, a directory to
//! try its tools in. Everything that a project needs is in this program: nothing has to be
//! published.

pub(crate) mod bench;
pub(crate) mod lint;
pub(crate) mod template;
