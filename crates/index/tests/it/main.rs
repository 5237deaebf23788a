//! Tests of the index from outside.

mod queries;
