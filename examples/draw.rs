//! Rasterises figures of scenes for the eye of the developer: `draw SCENE.ron OUT.png [key=value …]`.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use qkv::figure::{
    Color, Drawing, Figure, FigureOptions, FigureTheme, Item, MatrixId, PathCommand, Pin, Point, compose,
};
use qkv::scene::{Orientation, Palette, Stage, evaluate, read};
use tiny_skia::{FillRule, LineCap, Paint, PathBuilder, Pixmap, Stroke, StrokeDash, Transform};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let text = std::fs::read_to_string(&args[0]).unwrap();
    let scene = read(&text, &mut |path| std::fs::read(path)).unwrap_or_else(|e| panic!("{e:#?}"));
    let evaluation = evaluate(&scene);
    let mut options = FigureOptions::of_view(&scene.spec().view);
    let mut figure = Figure::Board;
    let mut scale = 1.5;
    for arg in &args[2..] {
        let (key, value) = arg.split_once('=').unwrap();
        match key {
            "theme" => {
                options.theme = match value {
                    "dark" => FigureTheme::Dark,
                    "print" => FigureTheme::Print,
                    _ => FigureTheme::Light,
                }
            }
            "pin" => {
                let (q, k) = value.split_once(',').unwrap();
                options.pin = Some(Pin { query: q.parse().unwrap(), key: k.parse().unwrap() });
            }
            "cols" => options.orientation = Orientation::QueriesAsColumns,
            "three" => options.stages = vec![Stage::RawScores, Stage::Weights, Stage::Output],
            "stages" => {
                options.stages =
                    Stage::ALL.into_iter().filter(|s| value.split(',').any(|v| v == s.name())).collect()
            }
            "head" => options.head = value.parse().unwrap(),
            "scale" => scale = value.parse().unwrap(),
            "palette" => {
                options.palette = match value {
                    "viridis" => Palette::Viridis,
                    "grey" => Palette::Grey,
                    "blue" => Palette::Blue,
                    "cividis" => Palette::Cividis,
                    _ => Palette::Violet,
                }
            }
            "figure" => {
                figure = match value {
                    "heads" => Figure::Heads,
                    "projection" => Figure::Projection,
                    "trace" => Figure::Trace,
                    "weights" => Figure::Stage(Stage::Weights),
                    "masked" => Figure::Stage(Stage::MaskedScores),
                    "output" => Figure::Stage(Stage::Output),
                    "q" => Figure::Matrix(MatrixId::Q),
                    "k" => Figure::Matrix(MatrixId::K),
                    _ => Figure::Board,
                }
            }
            _ => panic!("{key}"),
        }
    }
    let start = std::time::Instant::now();
    let drawing = compose(&figure, &scene, &evaluation, &options);
    let took = start.elapsed();
    println!(
        "{} × {} pt, {} items, {took:?}\n{}",
        drawing.size.width,
        drawing.size.height,
        drawing.items.len(),
        drawing.description
    );
    save(&drawing, scale, options.theme.colors().paper, &args[1]);
}

fn paint(color: Color) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color_rgba8(color.r, color.g, color.b, color.a);
    paint
}

fn path(commands: &[PathCommand], at: Point, k: f32) -> Option<tiny_skia::Path> {
    let mut b = PathBuilder::new();
    let p = |q: Point| (at.x + q.x * k, at.y + q.y * k);
    for command in commands {
        match *command {
            PathCommand::Move(a) => b.move_to(p(a).0, p(a).1),
            PathCommand::Line(a) => b.line_to(p(a).0, p(a).1),
            PathCommand::Quad(a, c) => b.quad_to(p(a).0, p(a).1, p(c).0, p(c).1),
            PathCommand::Cubic(a, c, d) => b.cubic_to(p(a).0, p(a).1, p(c).0, p(c).1, p(d).0, p(d).1),
            PathCommand::Close => b.close(),
        }
    }
    b.finish()
}

fn save(drawing: &Drawing, scale: f32, paper: Color, to: &str) {
    let mut pixmap =
        Pixmap::new((drawing.size.width * scale) as u32, (drawing.size.height * scale) as u32).unwrap();
    pixmap.fill(tiny_skia::Color::from_rgba8(paper.r, paper.g, paper.b, 255));
    let t = Transform::from_scale(scale, scale);
    let rect = |r: qkv::figure::Rect| {
        tiny_skia::Rect::from_xywh(r.x, r.y, r.width.max(0.01), r.height.max(0.01)).unwrap()
    };
    for item in &drawing.items {
        match item {
            Item::Cells(cells) => {
                let (w, h) = (cells.rect.width / cells.cols as f32, cells.rect.height / cells.rows as f32);
                for (i, fill) in cells.fills.iter().enumerate() {
                    let r = qkv::figure::Rect {
                        x: cells.rect.x + (i % cells.cols) as f32 * w,
                        y: cells.rect.y + (i / cells.cols) as f32 * h,
                        width: w,
                        height: h,
                    };
                    let mut p = paint(*fill);
                    p.anti_alias = false;
                    pixmap.fill_rect(rect(r), &p, t, None);
                }
                if cells.rule > 0.0 {
                    let p = paint(cells.rule_color);
                    for i in 1..cells.cols {
                        let x = cells.rect.x + i as f32 * w - cells.rule / 2.0;
                        pixmap.fill_rect(
                            tiny_skia::Rect::from_xywh(x, cells.rect.y, cells.rule, cells.rect.height)
                                .unwrap(),
                            &p,
                            t,
                            None,
                        );
                    }
                    for i in 1..cells.rows {
                        let y = cells.rect.y + i as f32 * h - cells.rule / 2.0;
                        pixmap.fill_rect(
                            tiny_skia::Rect::from_xywh(cells.rect.x, y, cells.rect.width, cells.rule)
                                .unwrap(),
                            &p,
                            t,
                            None,
                        );
                    }
                }
            }
            Item::Rect(r) => {
                let path = PathBuilder::from_rect(rect(r.rect));
                if let Some(fill) = r.fill {
                    pixmap.fill_path(&path, &paint(fill), FillRule::Winding, t, None);
                }
                if let Some(s) = r.stroke {
                    pixmap.stroke_path(
                        &path,
                        &paint(s.color),
                        &Stroke { width: s.width, ..Default::default() },
                        t,
                        None,
                    );
                }
            }
            Item::Polyline(line) => {
                let mut b = PathBuilder::new();
                for (i, p) in line.points.iter().enumerate() {
                    if i == 0 { b.move_to(p.x, p.y) } else { b.line_to(p.x, p.y) }
                }
                if line.closed {
                    b.close();
                }
                let dash = line.dash.and_then(|(a, c)| StrokeDash::new(vec![a, c], 0.0));
                let stroke =
                    Stroke { width: line.stroke.width, line_cap: LineCap::Butt, dash, ..Default::default() };
                if let Some(path) = b.finish() {
                    pixmap.stroke_path(&path, &paint(line.stroke.color), &stroke, t, None);
                }
            }
            Item::Text(run) => {
                for glyph in &run.glyphs {
                    let at = Point { x: run.origin.x + glyph.x, y: run.origin.y + glyph.y };
                    if let Some(path) = path(glyph.face.outline(glyph.id), at, run.size) {
                        pixmap.fill_path(&path, &paint(run.color), FillRule::Winding, t, None);
                    }
                }
            }
            Item::Outline(outline) => {
                if let Some(path) = path(&outline.path, Point::default(), 1.0) {
                    pixmap.fill_path(&path, &paint(outline.fill), FillRule::Winding, t, None);
                }
            }
        }
    }
    let file = std::fs::File::create(to).unwrap();
    let mut encoder = png::Encoder::new(file, pixmap.width(), pixmap.height());
    encoder.set_color(png::ColorType::Rgba);
    encoder.write_header().unwrap().write_image_data(pixmap.data()).unwrap();
}
