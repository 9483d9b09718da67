//! The engine against outside authorities: the two readings, cases from bug reports, other people's implementations.

mod cases;
mod conformance;
mod json;
mod readings;
mod rounding;
