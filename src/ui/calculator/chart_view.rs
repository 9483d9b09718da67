//! A chart figure on screen: the same data and ticks as in every export.

use std::sync::Arc;

use egui::{Color32, RichText, Ui};
use egui_plot::{GridInput, GridMark, HoverPosition, Line, LineStyle, Plot, PlotPoints, VLine};

use crate::export::{ExportOptions, Format, Ground, TextMode};
use crate::figure::{
    AxisScale, ChartSpec, Figure, FigureOptions, FigureTheme, compose, line_color, tick_label, ticks,
};
use crate::session::{Command, FigureExport, Session};

use super::super::Outbox;
use super::super::style::Colors;
use super::super::widgets;

/// Draws a chart with its name, its lines' names and the ways out.
pub fn show(ui: &mut Ui, session: &Session, spec: &ChartSpec, height: f32, out: &mut Outbox) {
    ui.horizontal(|ui| {
        widgets::section(ui, &spec.title);
        let axes = format!("{} over {}", spec.y_label, spec.x_label);
        widgets::caption(ui, axes);
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            let name = format!("Export the chart {}", spec.title.to_lowercase());
            widgets::quiet_menu(ui, "export", &name, |ui| exports(ui, session, spec, out));
        });
    });
    legend(ui, spec);
    plot(ui, spec, height);
}

fn color(ui: &Ui, index: usize) -> Color32 {
    let theme = match ui.ctx().theme() {
        egui::Theme::Light => FigureTheme::Light,
        egui::Theme::Dark => FigureTheme::Dark,
    };
    let color = line_color(index, theme.colors());
    Color32::from_rgb(color.r, color.g, color.b)
}

fn legend(ui: &mut Ui, spec: &ChartSpec) {
    if spec.lines.len() < 2 {
        return;
    }
    let colors = Colors::in_use(ui);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        for (index, line) in spec.lines.iter().enumerate().filter(|(_, line)| !line.points.is_empty()) {
            dot(ui, color(ui, index));
            ui.label(RichText::new(&line.label).small().color(colors.muted));
            ui.add_space(6.0);
        }
    });
}

/// The mark of a line, also beside the column that it belongs to.
pub fn dot(ui: &mut Ui, color: Color32) {
    let (rect, _) = ui.allocate_exact_size(egui::vec2(8.0, 12.0), egui::Sense::hover());
    ui.painter().circle_filled(rect.center(), 3.5, color);
}

/// The colour of a column in every chart of columns.
pub fn column_color(ui: &Ui, column: usize) -> Color32 {
    color(ui, column)
}

fn plot(ui: &mut Ui, spec: &ChartSpec, height: f32) {
    let (x_scale, y_scale) = (spec.x_scale, spec.y_scale);
    let rule = Colors::in_use(ui).rule;
    let mut plot = Plot::new(ui.scope_id().with(&spec.title))
        .height(height)
        .show_background(false)
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .allow_zoom(false)
        .allow_drag(false)
        .grid_color(rule)
        .x_grid_spacer(move |input| marks(&input, 6, x_scale))
        .y_grid_spacer(move |input| marks(&input, 4, y_scale))
        .x_axis_formatter(move |mark, _| tick_label(value_at(x_scale, mark.value)))
        .y_axis_formatter(move |mark, _| tick_label(value_at(y_scale, mark.value)))
        .label_formatter(move |position| {
            let (HoverPosition::NearDataPoint { position, .. } | HoverPosition::Elsewhere { position }) =
                position;
            let (x, y) = (value_at(x_scale, position.x), value_at(y_scale, position.y));
            Some(format!(
                "{} {}\n{} {}",
                tick_label(x.round()),
                spec.x_label,
                tick_label(rounded(y)),
                spec.y_label
            ))
        });
    if y_scale == AxisScale::Linear {
        plot = plot.include_y(0.0);
    }
    let lines: Vec<Line<'_>> = spec
        .lines
        .iter()
        .enumerate()
        .map(|(index, line)| {
            let style = if line.dashed { LineStyle::dashed_dense() } else { LineStyle::Solid };
            Line::new(line.label.clone(), PlotPoints::from(points(spec, &line.points)))
                .color(color(ui, index))
                .width(2.0)
                .style(style)
                .id(index)
        })
        .collect();
    let marker = spec.marker.as_ref().map(|(value, label)| {
        VLine::new(label.clone(), x_scale.position(*value)).color(Colors::in_use(ui).muted).width(1.0)
    });
    plot.show(ui, |plot| {
        for line in lines {
            plot.line(line);
        }
        if let Some(marker) = marker {
            plot.vline(marker.style(LineStyle::dashed_dense()));
        }
    });
}

/// Places along the axes; what a logarithm does not know is left out.
fn points(spec: &ChartSpec, points: &[(f64, f64)]) -> Vec<[f64; 2]> {
    let known =
        |scale: AxisScale, value: f64| value.is_finite() && (scale == AxisScale::Linear || value > 0.0);
    points
        .iter()
        .filter(|(x, y)| known(spec.x_scale, *x) && known(spec.y_scale, *y))
        .map(|(x, y)| [spec.x_scale.position(*x), spec.y_scale.position(*y)])
        .collect()
}

fn value_at(scale: AxisScale, position: f64) -> f64 {
    match scale {
        AxisScale::Linear => position,
        AxisScale::Log2 => position.exp2(),
        AxisScale::Log10 => 10_f64.powf(position),
    }
}

/// Three digits; what is read off a plot is no more exact.
fn rounded(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let step = 10_f64.powf(value.abs().log10().floor() - 2.0);
    // Dividing by the reciprocal keeps 0.1 · 3 free of dust.
    if step < 1.0 { (value / step).round() / (1.0 / step).round() } else { (value / step).round() * step }
}

fn marks(input: &GridInput, n_wanted: usize, scale: AxisScale) -> Vec<GridMark> {
    let (low, high) = input.bounds;
    let values = ticks(value_at(scale, low), value_at(scale, high), n_wanted, scale);
    // Marks are as strong as their steps are wide; these are all alike.
    let step_size = (high - low) / n_wanted as f64;
    values.into_iter().map(|value| GridMark { value: scale.position(value), step_size }).collect()
}

fn exports(ui: &mut Ui, session: &Session, spec: &ChartSpec, out: &mut Outbox) {
    for (text, format) in [("SVG…", Format::Svg), ("PDF…", Format::Pdf), ("PNG…", Format::Png)] {
        if ui.button(text).clicked() {
            out.push(Command::ExportFigure(Arc::new(figure(session, spec, format))));
        }
    }
    if ui.button("Copy as a picture").clicked() {
        out.push(Command::CopyFigure(Arc::new(figure(session, spec, Format::Png))));
    }
}

/// The chart in the light colours that slides and paper have, on its own ground where it is a picture.
fn figure(session: &Session, spec: &ChartSpec, format: Format) -> FigureExport {
    let theme = FigureTheme::Light;
    let options = FigureOptions { theme, ..FigureOptions::default() };
    let drawing =
        compose(&Figure::Chart(Box::new(spec.clone())), session.scene(), session.evaluation(), &options);
    let stem: String = spec
        .title
        .to_lowercase()
        .chars()
        .map(|letter| if letter.is_alphanumeric() { letter } else { '_' })
        .collect();
    let ground =
        if format == Format::Png { Ground::Paper(theme.colors().paper) } else { Ground::Transparent };
    FigureExport {
        drawing: Arc::new(drawing),
        format,
        options: ExportOptions { dpi: 300.0, ground, text: TextMode::Shapes, ..ExportOptions::default() },
        suggested_name: format!("{stem}.{}", format.extension()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_on_an_axis_reads_back_as_its_value() {
        for scale in [AxisScale::Linear, AxisScale::Log2, AxisScale::Log10] {
            let value = value_at(scale, scale.position(4096.0));
            assert!((value - 4096.0).abs() < 1e-6, "{scale:?}");
        }
        assert_eq!(rounded(0.123_456), 0.123);
        assert_eq!(rounded(123_456.0), 123_000.0);
    }
}
