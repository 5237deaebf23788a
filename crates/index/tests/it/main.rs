//! Tests of the index from outside.

mod damage;
mod folder;
mod kills;
mod queries;
mod shelf;
mod updates;
