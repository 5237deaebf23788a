//! Checks from outside: texts in, values out.

mod syntax;
