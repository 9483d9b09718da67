//! The readings carry four decimals by hand; so can a trace.

use qkv::engine::{AttentionSpec, Carry, Corner, MaskRule, Trace, trace};

use crate::json::{assert_all_close, head, load};

fn trace_of(example: &str, query: usize, carry: Carry) -> Trace {
    let worked = &load("readings.json")[example];
    let input = head(&worked["q"], &worked["k"], &worked["v"]);
    trace(&input, &AttentionSpec::default(), 0, (query, 0), carry).unwrap()
}

#[test]
fn two_positions_rounded_at_every_step_end_as_the_lesson_prints_them() {
    let rounded = trace_of("lesson_two_positions_q_1_0", 0, Carry::Decimals(4));
    assert_eq!(rounded.scaled.to_string(), "0.7071");
    assert_eq!((rounded.softmax.terms[0].exp, rounded.softmax.terms[1].exp), (2.0281, 1.0));
    assert_eq!((rounded.softmax.subtracted, rounded.softmax.sum), (0.0, 3.0281));
    assert_eq!((rounded.softmax.terms[0].weight, rounded.softmax.terms[1].weight), (0.6698, 0.3302));
    assert_eq!(rounded.output.row(), [1.3396, 1.3208]);
    let exact = trace_of("lesson_two_positions_q_1_0", 0, Carry::Exact);
    assert_all_close("exact", &exact.output.row(), &[1.3395, 1.3210], 5e-5);
}

#[test]
fn the_third_of_three_positions_is_off_in_the_last_digits_when_rounded() {
    let rounded = trace_of("lesson_three_positions", 2, Carry::Decimals(4));
    let weights: Vec<_> = rounded.softmax.terms.iter().map(|term| term.weight).collect();
    assert_eq!(weights, [0.2483, 0.2483, 0.5035]);
    assert_eq!(rounded.output.row(), [1.0001, 1.4967]);
    let exact = trace_of("lesson_three_positions", 2, Carry::Exact);
    assert_all_close("exact", &exact.output.row(), &[1.0, 1.4965], 5e-5);
}

#[test]
fn large_scores_are_lowered_by_their_maximum_on_paper_too() {
    let rounded = {
        let q = serde_json::json!([[784449.0, 784448.0]]);
        let identity = serde_json::json!([[1.0, 0.0], [0.0, 1.0]]);
        let input = head(&q, &identity, &identity);
        let spec = AttentionSpec { scoring: qkv::engine::Scoring::Dot, ..Default::default() };
        trace(&input, &spec, 0, (0, 0), Carry::Decimals(4)).unwrap()
    };
    assert_eq!(rounded.softmax.subtracted, 784_449.0);
    assert_eq!((rounded.softmax.sum, rounded.softmax.weight), (1.3679, 0.731)); // 1 / (1 + 0.3679)
}

#[test]
fn a_trace_names_the_layer_that_blocks_and_does_not_read_the_value() {
    let worked = &load("readings.json")["lesson_three_positions"];
    let input = head(&worked["q"], &worked["k"], &worked["v"]);
    let mask = vec![MaskRule::ValidKeys(3), MaskRule::Causal(Corner::TopLeft)];
    let spec = AttentionSpec { mask, ..Default::default() };
    let blocked = trace(&input, &spec, 0, (1, 2), Carry::Exact).unwrap();
    assert_eq!(blocked.mask.blocked_by, Some(1));
    assert_eq!(blocked.mask.masked, f64::NEG_INFINITY);
    assert_eq!((blocked.softmax.terms[2].exp, blocked.softmax.weight), (0.0, 0.0));
    assert_eq!(blocked.output.keys, [0, 1]);
    assert!(trace(&input, &spec, 0, (3, 0), Carry::Exact).is_none());
    assert!(trace(&input, &spec, 0, (0, 3), Carry::Exact).is_none());
}
