//! Line charts: thin axes, round ticks, and every line named at its right end.

use super::board::MARGIN;
use super::caption::SMALL;
use super::sketch::{HALF_DIGIT, Sketch, Style};
use super::ticks::{AxisScale, tick_label, ticks};
use super::{Anchor, Color, Drawing, Face, Point, Rect, Stroke, Theme};

/// A line chart to be drawn.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ChartSpec {
    /// Shown above.
    pub title: String,
    /// What runs to the right, with its unit, as in `tokens`.
    pub x_label: String,
    /// What runs upwards, with its unit, as in `GiB`.
    pub y_label: String,
    /// How the x axis runs.
    pub x_scale: AxisScale,
    /// How the y axis runs.
    pub y_scale: AxisScale,
    /// The lines. Points that are not finite are left out.
    pub lines: Vec<ChartLine>,
    /// A value on the x axis to be marked, for instance this scene's own length.
    pub marker: Option<(f64, String)>,
}

/// One line of a chart.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ChartLine {
    /// Set at its right end.
    pub label: String,
    /// From left to right.
    pub points: Vec<(f64, f64)>,
    /// Whether the line is dashed: for limits and comparisons.
    pub dashed: bool,
}

const PLOT: Rect = Rect { x: 0.0, y: 0.0, width: 420.0, height: 230.0 };
/// Line names keep this distance from each other, in points.
const NAME_PITCH: f32 = 13.0;

/// From values to places in the plot.
struct Frame {
    x: (f64, f64),
    y: (f64, f64),
    x_scale: AxisScale,
    y_scale: AxisScale,
}

/// Draws the chart.
pub fn chart(spec: &ChartSpec, theme: &'static Theme) -> Drawing {
    let mut sketch = Sketch::new(theme);
    let bold = sketch.bold(14.0, theme.ink);
    sketch.text(&spec.title, bold, Point { x: 0.0, y: -34.0 }, Anchor::Start);
    match Frame::new(spec) {
        Some(frame) => draw(&mut sketch, spec, &frame),
        None => {
            let middle = PLOT.center();
            sketch.text("no data", sketch.muted(11.0), middle, Anchor::Middle);
        }
    }
    sketch.into_drawing(MARGIN, spec.title.clone(), words(spec))
}

fn draw(sketch: &mut Sketch, spec: &ChartSpec, frame: &Frame) {
    draw_axes(sketch, spec, frame);
    if let Some((value, label)) = &spec.marker {
        draw_marker(sketch, frame, *value, label);
    }
    let mut names = Vec::new();
    for (i, line) in spec.lines.iter().enumerate() {
        let points: Vec<Point> = visible(spec, line).map(|(x, y)| frame.place(x, y)).collect();
        let color = line_color(i, sketch.theme);
        let Some(last) = points.last().copied() else { continue };
        names.push((last, line.label.as_str(), color));
        if points.len() > 1 {
            let dash = line.dashed.then_some((5.0, 3.0));
            sketch.polyline(points, Stroke { width: 1.8, color }, false, dash);
        }
    }
    draw_names(sketch, names);
}

impl Frame {
    fn new(spec: &ChartSpec) -> Option<Self> {
        let points = || spec.lines.iter().flat_map(|line| visible(spec, line));
        let x = extent(points().map(|(x, _)| x))?;
        let mut y = extent(points().map(|(_, y)| y))?;
        if spec.y_scale == AxisScale::Linear {
            // Amounts are compared from 0.
            y = (y.0.min(0.0), y.1.max(0.0));
        }
        Some(Self { x, y: apart(y), x_scale: spec.x_scale, y_scale: spec.y_scale })
    }

    fn place(&self, x: f64, y: f64) -> Point {
        let along = |scale: AxisScale, (low, high): (f64, f64), value: f64| {
            let (from, to) = (scale.position(low), scale.position(high));
            if to > from { ((scale.position(value) - from) / (to - from)) as f32 } else { 0.5 }
        };
        Point {
            x: PLOT.x + along(self.x_scale, self.x, x) * PLOT.width,
            y: PLOT.bottom() - along(self.y_scale, self.y, y) * PLOT.height,
        }
    }
}

fn visible<'a>(spec: &'a ChartSpec, line: &'a ChartLine) -> impl Iterator<Item = (f64, f64)> + 'a {
    let shown =
        |scale: AxisScale, value: f64| value.is_finite() && (scale == AxisScale::Linear || value > 0.0);
    line.points.iter().copied().filter(move |(x, y)| shown(spec.x_scale, *x) && shown(spec.y_scale, *y))
}

fn extent(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.map(|value| (value, value)).reduce(|(low, high), (value, _)| (low.min(value), high.max(value)))
}

fn apart((low, high): (f64, f64)) -> (f64, f64) {
    if low < high { (low, high) } else { (low, low + 1.0) }
}

fn draw_axes(sketch: &mut Sketch, spec: &ChartSpec, frame: &Frame) {
    let (rule, axis) = (sketch.theme.rule, sketch.theme.border);
    for tick in ticks(frame.y.0, frame.y.1, 5, spec.y_scale) {
        let y = frame.place(frame.x.0, tick).y;
        sketch.line(
            Point { x: PLOT.x, y },
            Point { x: PLOT.right(), y },
            Stroke { width: 0.75, color: rule },
        );
        sketch.text_in_middle(&tick_label(tick), sketch.muted(SMALL), Point { x: -7.0, y }, Anchor::End);
    }
    let foot = PLOT.bottom();
    for tick in ticks(frame.x.0, frame.x.1, 6, spec.x_scale) {
        let x = frame.place(tick, frame.y.0).x;
        sketch.line(Point { x, y: foot }, Point { x, y: foot + 4.0 }, Stroke { width: 0.75, color: axis });
        sketch.text(&tick_label(tick), sketch.muted(SMALL), Point { x, y: foot + 15.0 }, Anchor::Middle);
    }
    let stroke = Stroke { width: 0.9, color: axis };
    sketch.line(Point { x: PLOT.x, y: foot }, Point { x: PLOT.right(), y: foot }, stroke);
    let below = Point { x: PLOT.center().x, y: foot + 31.0 };
    sketch.text(&spec.x_label, sketch.ink(10.0), below, Anchor::Middle);
    sketch.text(&spec.y_label, sketch.ink(10.0), Point { x: PLOT.x, y: -12.0 }, Anchor::Start);
}

fn draw_marker(sketch: &mut Sketch, frame: &Frame, value: f64, label: &str) {
    if !value.is_finite() || value < frame.x.0 || value > frame.x.1 {
        return;
    }
    let x = frame.place(value, frame.y.0).x;
    let stroke = Stroke { width: 1.0, color: sketch.theme.accent };
    let points = vec![Point { x, y: PLOT.y }, Point { x, y: PLOT.bottom() }];
    sketch.polyline(points, stroke, false, Some((2.0, 3.0)));
    let style = Style { face: Face::Regular, size: SMALL, color: sketch.theme.accent };
    // The name of the y axis stands at the left of this height.
    let anchor = if x > PLOT.center().x { Anchor::End } else { Anchor::Start };
    let aside = if anchor == Anchor::End { -4.0 } else { 4.0 };
    sketch.text(label, style, Point { x: x + aside, y: PLOT.y + 8.0 }, anchor);
}

/// Names at the right ends, moved apart where lines end close together.
fn draw_names(sketch: &mut Sketch, mut names: Vec<(Point, &str, Color)>) {
    names.sort_by(|a, b| a.0.y.total_cmp(&b.0.y));
    let mut lowest = f32::NEG_INFINITY;
    for (end, name, color) in names {
        let y = end.y.max(lowest + NAME_PITCH);
        lowest = y;
        let style = Style { face: Face::Bold, size: 10.0, color };
        let at = Point { x: PLOT.right() + 8.0, y: y + HALF_DIGIT * style.size };
        sketch.text(name, style, at, Anchor::Start);
    }
}

/// The colour of the i-th line: ink that reads on the paper.
pub fn line_color(index: usize, theme: &Theme) -> Color {
    let colors = [theme.weight, theme.value, theme.query, theme.key, theme.ink, theme.muted];
    colors[index % colors.len()]
}

fn words(spec: &ChartSpec) -> String {
    let mut words = vec![format!("Line chart of {} over {}.", spec.y_label, spec.x_label)];
    for line in &spec.lines {
        if let (Some(first), Some(last)) = (visible(spec, line).next(), visible(spec, line).last()) {
            words.push(format!(
                "{}: {} at {}, {} at {}.",
                line.label,
                tick_label(first.1),
                tick_label(first.0),
                tick_label(last.1),
                tick_label(last.0)
            ));
        }
    }
    words.join(" ")
}
