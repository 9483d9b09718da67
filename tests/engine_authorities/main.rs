//! The engine against outside authorities: the two readings, cases from bug reports, other people's implementations.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cases;
mod conformance;
mod decoding;
mod faults;
mod json;
mod positions_and_formats;
mod readings;
mod rounding;
mod sinks;
