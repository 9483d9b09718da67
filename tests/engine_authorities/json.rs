//! Reading test data, and comparing with it.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use qkv::engine::{HeadInput, Matrix};
use serde_json::Value;

pub fn data_path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

pub fn load(name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(data_path(name)).unwrap()).unwrap()
}

pub fn number(value: &Value) -> f64 {
    match value.as_str() {
        Some("nan") => f64::NAN,
        Some("inf") => f64::INFINITY,
        Some("-inf") => f64::NEG_INFINITY,
        Some(other) => panic!("not a number: {other}"),
        None => value.as_f64().unwrap(),
    }
}

pub fn vector(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}

pub fn matrix(value: &Value) -> Matrix {
    let rows: Vec<_> = value.as_array().unwrap().iter().map(vector).collect();
    Matrix::from_rows(&rows).unwrap()
}

pub fn matrices(value: &Value) -> Vec<Matrix> {
    value.as_array().unwrap().iter().map(matrix).collect()
}

pub fn booleans(value: &Value) -> Vec<Vec<bool>> {
    let row = |row: &Value| row.as_array().unwrap().iter().map(|entry| entry.as_bool().unwrap()).collect();
    value.as_array().unwrap().iter().map(row).collect()
}

pub fn head(q: &Value, k: &Value, v: &Value) -> HeadInput {
    head_of(matrix(q), matrix(k), matrix(v))
}

pub fn head_of(q: Matrix, k: Matrix, v: Matrix) -> HeadInput {
    HeadInput { q: Arc::new(q), k: Arc::new(k), v: Arc::new(v) }
}

/// Every entry within `tolerance`, relative for numbers above 1; NaN and infinities have to be the same.
pub fn assert_close(place: &str, found: &Matrix, expected: &Matrix, tolerance: f64) {
    assert_eq!(found.rows(), expected.rows(), "{place}: rows");
    if expected.rows() == 0 {
        return;
    }
    assert_eq!(found.cols(), expected.cols(), "{place}: columns");
    for row in 0..found.rows() {
        for col in 0..found.cols() {
            let (found, expected) = (found.get(row, col), expected.get(row, col));
            assert!(
                is_close(found, expected, tolerance),
                "{place} ({row}, {col}): found {found}, expected {expected}"
            );
        }
    }
}

pub fn is_close(found: f64, expected: f64, tolerance: f64) -> bool {
    if !found.is_finite() || !expected.is_finite() {
        return found == expected || (found.is_nan() && expected.is_nan());
    }
    (found - expected).abs() <= tolerance * expected.abs().max(1.0)
}

pub fn assert_all_close(place: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    let as_row = |numbers: &[f64]| Matrix::from_rows(&[numbers]).unwrap();
    assert_close(place, &as_row(found), &as_row(expected), tolerance);
}
