//! What the programs of this package share: the writer of pictures, and the rows of figures.

pub mod picture;
#[cfg(feature = "page")]
pub mod rows;
