//! What authors of plugins need: projects out of templates, checks of a component, a place to try
//! its tools in. Everything that a project needs is in this program: nothing has to be published.

pub mod bench;
pub mod lint;
pub mod template;
