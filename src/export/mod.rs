//! Room 6: a [`Drawing`](crate::figure::Drawing) as SVG, PNG or PDF; a matrix as CSV, Markdown, LaTeX or Typst.
//!
//! This room does not lay anything out.
