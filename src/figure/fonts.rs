//! The faces that figures are set in, and their measures.

/// A bundled face. Every surface uses the same bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Face {
    /// Inter Regular, with figures of equal width.
    Regular,
    /// Inter SemiBold.
    Bold,
    /// Inter Italic.
    Italic,
    /// DejaVu Sans: signs, Hebrew, Arabic and whatever Inter lacks.
    Fallback,
    /// DejaVu Sans Mono.
    Mono,
    /// A KaTeX face, by its place in the table of formula faces.
    Math(u8),
}
