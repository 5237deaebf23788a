//! What the programs of this package share: the writer of pictures, the rows of figures and their targets, how
//! rivals may end, the parts of searches, and what a release consists of.

#[cfg(feature = "page")]
pub mod missed;
pub mod picture;
pub mod rival_end;
#[cfg(feature = "page")]
pub mod rows;
pub mod search_part;
pub mod shipped;
#[cfg(feature = "page")]
pub mod targets;
