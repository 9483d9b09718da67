//! Numbers for plots.

/// `points` whole numbers spread evenly over 0 ..= `max`, both ends included, without repeats.
pub fn spread(max: u64, points: usize) -> impl Iterator<Item = u64> {
    let steps = u128::try_from(points.saturating_sub(1)).unwrap_or(1).max(1);
    let at = move |step: u128| {
        // max < 2^64 and step ≤ steps < 2^64: the product fits into 128 bits.
        u64::try_from(u128::from(max) * step / steps).unwrap_or(max)
    };
    (0..=steps)
        .map(at)
        .scan(None, |before, place| {
            let repeated = *before == Some(place);
            *before = Some(place);
            Some((!repeated).then_some(place))
        })
        .flatten()
}
