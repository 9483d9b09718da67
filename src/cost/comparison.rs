//! Up to four configurations side by side.

use super::{Configuration, ConfigurationReport, CostError, Unit};

/// One figure of every configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparisonRow {
    /// The figure's stable name.
    pub id: &'static str,
    /// Its name in words.
    pub label: &'static str,
    /// What it counts.
    pub unit: Unit,
    /// One value for each configuration, in order; `None` where it has no such figure.
    pub values: Vec<Option<u128>>,
}

/// Configurations side by side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// Their names.
    pub names: Vec<String>,
    /// The figures.
    pub rows: Vec<ComparisonRow>,
}

impl Comparison {
    /// How many stand side by side at most.
    pub const LIMIT: usize = 4;

    /// Compares the summaries of the configurations.
    ///
    /// # Errors
    /// [`CostError::TooMany`] beyond [`Self::LIMIT`]; otherwise what the first wrong configuration is refused for.
    pub fn new(configurations: &[Configuration]) -> Result<Self, CostError> {
        if configurations.len() > Self::LIMIT {
            return Err(CostError::TooMany { found: configurations.len(), limit: Self::LIMIT });
        }
        let reports: Vec<ConfigurationReport> =
            configurations.iter().map(ConfigurationReport::new).collect::<Result<_, _>>()?;
        let mut rows: Vec<ComparisonRow> = Vec::new();
        for quantity in reports.iter().flat_map(|report| &report.summary.rows) {
            if rows.iter().any(|row| row.id == quantity.id) {
                continue;
            }
            let value =
                |report: &ConfigurationReport| report.summary.get(quantity.id).map(|found| found.value);
            let values = reports.iter().map(value).collect();
            rows.push(ComparisonRow { id: quantity.id, label: quantity.label, unit: quantity.unit, values });
        }
        let names = configurations.iter().map(|configuration| configuration.name.clone()).collect();
        Ok(Self { names, rows })
    }
}
