//! Line charts.

/// A line chart to be drawn.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ChartSpec {
    /// Shown above.
    pub title: String,
}
