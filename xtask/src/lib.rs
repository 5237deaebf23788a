//! What the programs of this package share: the writer of pictures, the rows of figures, and what a release
//! consists of.

pub mod picture;
#[cfg(feature = "page")]
pub mod rows;
pub mod shipped;
