//! The wire types of `moss.v1`, generated at build time from `moss/v1/*.proto`.
//!
//! The `.proto` files are the documentation. Nothing else of moss is known here.

/// Messages, clients and servers of package `moss.v1`.
pub mod v1 {
    #![allow(
        missing_docs,
        unused_qualifications,
        clippy::allow_attributes_without_reason,
        clippy::large_enum_variant,
        clippy::use_self,
        reason = "generated from documented .proto files"
    )]
    tonic::include_proto!("moss.v1");
}

/// The encoded file descriptor set of `moss.v1`, for reflection.
pub const FILE_DESCRIPTOR_SET: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/moss_v1.bin"));
