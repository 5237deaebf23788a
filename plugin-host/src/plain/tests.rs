//! Tests of plain components.
