//! The worked attentions of the files, by the engine that draws them on the board.

use std::sync::Arc;

use qkv::engine::{AttentionSpec, Convention, EmptyRow, HeadInput, MaskRule, Matrix, Scoring, attend as run};
use serde_json::{Value, json};

use super::{Found, Inputs, object};

fn row(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

fn matrix(value: &Value) -> Arc<Matrix> {
    let rows: Vec<Vec<f64>> = value.as_array().unwrap().iter().map(row).collect();
    Arc::new(Matrix::from_rows(&rows).unwrap())
}

fn rows(matrix: &Matrix) -> Vec<Vec<f64>> {
    matrix.iter_rows().map(<[f64]>::to_vec).collect()
}

pub fn attend(inputs: &Inputs<'_>) -> Found {
    let Inputs(json) = inputs;
    let is_additive = json.get("W_q").is_some();
    let q = if is_additive {
        Arc::new(Matrix::from_rows(&[row(&json["q"])]).unwrap())
    } else {
        matrix(&json["Q"])
    };
    let scoring = match (is_additive, inputs.flag("scale", true)) {
        (true, _) => Scoring::Additive {
            w_q: matrix(&json["W_q"]),
            w_k: matrix(&json["W_k"]),
            v: Arc::new(row(&json["v"])),
        },
        (false, true) => Scoring::ScaledDot,
        (false, false) => Scoring::Dot,
    };
    let mut spec = AttentionSpec { scoring, ..AttentionSpec::default() };
    if let Some(mask) = json["mask"].as_array() {
        let allowed =
            mask.iter().map(|row| row.as_array().unwrap().iter().map(|v| v.as_bool().unwrap()).collect());
        spec.mask = vec![MaskRule::Matrix { convention: Convention::TrueAllows, rows: allowed.collect() }];
    }
    assert_eq!(spec.softmax.empty_rows, EmptyRow::Zero);
    let head = HeadInput { q, k: matrix(&json["K"]), v: matrix(&json["V"]) };
    let result = run(&head, &spec, 0);
    let (scores, weights, output) =
        (rows(&result.scaled_scores), rows(&result.weights), rows(&result.output));
    // A query that may see nothing is named where it happens; here it must be the error, or a row of zeros.
    if (0..result.weights.rows())
        .any(|query| (0..result.weights.cols()).all(|key| !result.allows(query, key)))
    {
        assert!(weights.iter().chain(&output).flatten().all(|value| *value == 0.0));
        return Ok(object([("error", json!("FullyMaskedRow"))]));
    }
    Ok(match is_additive {
        true => object([
            ("scores", json!(scores[0])),
            ("weights", json!(weights[0])),
            ("output", json!(output[0])),
        ]),
        false => object([("scores", json!(scores)), ("weights", json!(weights)), ("output", json!(output))]),
    })
}
