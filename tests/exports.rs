//! The same drawing in every format, and every label in every table.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod sample_drawing;

use std::io::Read as _;

use qkv::engine::Matrix;
use qkv::export::{
    ExportError, ExportOptions, Format, Ground, MatrixTable, TextMode, csv, export, latex_table, rasterize,
    scene_of_figure,
};
use qkv::figure::{
    Anchor, Cells, Color, Drawing, Face, Item, Point, Polyline, Rect, RectItem, Size, Stroke, text,
};
use sample_drawing::annotated_matrices;

const WHITE: Color = Color::rgb(255, 255, 255);

fn page(width: f32, height: f32, items: Vec<Item>) -> Drawing {
    let size = Size { width, height };
    Drawing {
        size,
        items,
        grids: Vec::new(),
        readings: Vec::new(),
        title: String::new(),
        description: String::new(),
    }
}

fn svg(drawing: &Drawing, text: TextMode) -> String {
    let options = ExportOptions { text, ..ExportOptions::default() };
    String::from_utf8(export(drawing, Format::Svg, &options).unwrap()).unwrap()
}

fn texts_of(svg: &str) -> Vec<String> {
    let document = roxmltree::Document::parse(svg).unwrap();
    let texts = document.descendants().filter(|node| node.has_tag_name("text"));
    texts.map(|node| node.text().unwrap_or_default().to_owned()).collect()
}

/// Labels with their expected spellings: (labels, spellings) of one case.
fn labels(case: &str, spelling: &str) -> Vec<(String, String)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/labels");
    let cases: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(folder.join("escapes.json")).unwrap()).unwrap();
    let strings =
        |value: &serde_json::Value| -> Vec<String> { serde_json::from_value(value.clone()).unwrap() };
    let pairs: Vec<(String, String)> = strings(&cases[case]["labels"])
        .into_iter()
        .zip(strings(&cases[case]["expected"][spelling]))
        .collect();
    assert!(pairs.len() >= 12, "{case} has too few labels");
    pairs
}

/// The streams of a PDF, inflated where they are compressed.
fn pdf_streams(pdf: &[u8]) -> Vec<String> {
    let mut streams = Vec::new();
    let mut rest = pdf;
    while let Some(start) = find(rest, b"stream\n") {
        rest = &rest[start + 7..];
        let end = find(rest, b"endstream").unwrap();
        let mut inflated = Vec::new();
        let bytes = match flate2::read::ZlibDecoder::new(&rest[..end]).read_to_end(&mut inflated) {
            Ok(_) => &inflated,
            Err(_) => &rest[..end],
        };
        streams.push(String::from_utf8_lossy(bytes).into_owned());
        rest = &rest[end + 9..];
    }
    streams
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

struct Png {
    width: u32,
    height: u32,
    per_metre: Option<(u32, u32)>,
    rgba: Vec<u8>,
}

impl Png {
    fn of(drawing: &Drawing, options: &ExportOptions) -> Self {
        let bytes = export(drawing, Format::Png, options).unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
        let mut rgba = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut rgba).unwrap();
        let info = reader.info();
        let per_metre = info.pixel_dims.map(|dims| {
            assert_eq!(dims.unit, png::Unit::Meter);
            (dims.xppu, dims.yppu)
        });
        Self { width: info.width, height: info.height, per_metre, rgba }
    }

    fn pixel(&self, x: u32, y: u32) -> [u8; 4] {
        let start = ((y * self.width + x) * 4) as usize;
        self.rgba[start..start + 4].try_into().unwrap()
    }
}

#[test]
fn every_label_survives_an_xml_parser() {
    let pairs = labels("C53", "parsed_back");
    let place = |(idx, (label, _)): (usize, &(String, String))| {
        let at = Point { x: 50.0, y: 20.0 * idx as f32 + 15.0 };
        Item::Text(text(label, Face::Regular, 10.0, Color::rgb(0, 0, 0), at, Anchor::Start))
    };
    let mut drawing = page(200.0, 300.0, pairs.iter().enumerate().map(place).collect());
    drawing.title = pairs.iter().map(|pair| pair.0.as_str()).collect::<Vec<_>>().join("\n");
    let svg = svg(&drawing, TextMode::Text);
    let expected: Vec<String> = pairs.iter().map(|pair| pair.1.clone()).collect();
    assert_eq!(texts_of(&svg), expected);
    let document = roxmltree::Document::parse(&svg).unwrap();
    let title = document.descendants().find(|node| node.has_tag_name("title")).unwrap();
    assert_eq!(title.text().unwrap(), expected.join("\n"));
}

#[test]
fn text_as_shapes_leaves_no_text_and_needs_no_font() {
    let svg = svg(&annotated_matrices(), TextMode::Shapes);
    assert!(texts_of(&svg).is_empty());
    assert!(!svg.contains("font-"));
    for forbidden in ["<style", "style=", "class=", "<use", "<symbol", "foreignObject", "transform="] {
        assert!(!svg.contains(forbidden), "{forbidden}");
    }
    let document = roxmltree::Document::parse(&svg).unwrap();
    assert_eq!(document.descendants().filter(|node| node.has_tag_name("svg")).count(), 1);
}

#[test]
fn text_as_text_names_fonts_that_most_machines_have() {
    let svg = svg(&annotated_matrices(), TextMode::Text);
    let document = roxmltree::Document::parse(&svg).unwrap();
    let texts: Vec<_> = document.descendants().filter(|node| node.has_tag_name("text")).collect();
    assert!(texts.len() > 192);
    for node in texts {
        let families = node.attribute("font-family").unwrap();
        assert!(
            families.starts_with("Inter, ") && families.contains("Arial") && families.ends_with("sans-serif")
        );
        assert!(node.attribute("x").is_some() && node.attribute("y").is_some());
    }
    for token in sample_drawing::TOKENS {
        assert!(texts_of(&svg).iter().any(|text| text == token), "{token}");
    }
}

#[test]
fn an_svg_says_what_it_shows() {
    let drawing = annotated_matrices();
    let svg = svg(&drawing, TextMode::Shapes);
    let document = roxmltree::Document::parse(&svg).unwrap();
    assert_eq!(document.root_element().attribute("role"), Some("img"));
    let content =
        |name: &str| document.descendants().find(|node| node.has_tag_name(name)).unwrap().text().unwrap();
    assert_eq!(content("title"), drawing.title);
    assert_eq!(content("desc"), drawing.description);
}

#[test]
fn the_middle_of_every_cell_has_its_colour_in_every_format() {
    let mut drawing = annotated_matrices();
    drawing.items.retain(|item| matches!(item, Item::Cells(_)));
    let png = Png::of(&drawing, &ExportOptions { dpi: 144.0, ..ExportOptions::default() });
    let svg = svg(&drawing, TextMode::Shapes);
    let pdf = export(&drawing, Format::Pdf, &ExportOptions::default()).unwrap();
    let pdf = pdf_streams(&pdf).join("\n");
    for (matrix_idx, row, col) in (0..3 * 64).map(|idx| (idx / 64, idx / 8 % 8, idx % 8)) {
        let (fill, at) =
            (sample_drawing::fill(matrix_idx, row, col), sample_drawing::cell_center(matrix_idx, row, col));
        let Color { r, g, b, .. } = fill;
        assert_eq!(png.pixel((at.x * 2.0) as u32, (at.y * 2.0) as u32), [r, g, b, 255]);
        assert!(svg.contains(&format!("fill=\"#{r:02x}{g:02x}{b:02x}\"")));
        let share = |byte: u8| f32::from(byte) / 255.0;
        let operator = format!("{} {} {} rg", share(r), share(g), share(b));
        assert!(pdf.contains(&operator), "{operator} is missing");
    }
}

#[test]
fn cells_of_a_pdf_are_vectors_and_nothing_is_smoothed() {
    let mut drawing = annotated_matrices();
    let first = drawing.items.iter().position(|item| matches!(item, Item::Cells(_))).unwrap();
    drawing.items = vec![drawing.items[first].clone()];
    let bytes = export(&drawing, Format::Pdf, &ExportOptions::default()).unwrap();
    let streams = pdf_streams(&bytes);
    let content = streams.iter().find(|stream| stream.contains(" rg")).unwrap();
    let fills = content.lines().filter(|line| matches!(line.trim(), "f" | "f*")).count();
    assert_eq!(fills, 64, "{content}");
    assert!(find(&bytes, b"/Interpolate true").is_none());
    assert!(find(&bytes, b"/Subtype/Image").is_none());
}

#[test]
fn neighbouring_cells_leave_no_gap() {
    let svg = svg(&annotated_matrices(), TextMode::Shapes);
    let document = roxmltree::Document::parse(&svg).unwrap();
    let group =
        document.descendants().find(|node| node.attribute("shape-rendering") == Some("crispEdges")).unwrap();
    let rects: Vec<[f32; 4]> = group
        .children()
        .filter(|node| node.has_tag_name("rect"))
        .map(|node| ["x", "y", "width", "height"].map(|name| node.attribute(name).unwrap().parse().unwrap()))
        .collect();
    assert_eq!(rects.len(), 64);
    for (idx, [x, y, width, height]) in rects.iter().copied().enumerate() {
        if idx % 8 < 7 {
            assert!(x + width > rects[idx + 1][0], "cell {idx} does not reach under the next one");
        }
        if idx < 56 {
            assert!(y + height > rects[idx + 8][1], "cell {idx} does not reach under the one below");
        }
    }
}

#[test]
fn a_png_carries_its_size_on_paper() {
    let drawing = page(6.4 * 72.0, 4.8 * 72.0, Vec::new());
    let png = Png::of(&drawing, &ExportOptions::default());
    assert_eq!((png.width, png.height), (1920, 1440));
    assert_eq!(png.per_metre, Some((11811, 11811)));
}

#[test]
fn two_colours_stay_two_colours_when_enlarged() {
    let (dark, light) = (Color::rgb(76, 29, 149), Color::rgb(250, 245, 255));
    let rect = Rect { x: 0.0, y: 0.0, width: 100.0, height: 100.0 };
    let fills = vec![dark, light, light, dark];
    let cells = Cells { rect, rows: 2, cols: 2, fills, rule: 0.0, rule_color: WHITE };
    let drawing = page(100.0, 100.0, vec![Item::Cells(cells)]);
    let png = Png::of(&drawing, &ExportOptions { dpi: 288.0, ..ExportOptions::default() });
    assert_eq!(png.width, 400);
    let mut colors: Vec<&[u8]> = png.rgba.chunks_exact(4).collect();
    colors.sort_unstable();
    colors.dedup();
    assert_eq!(colors, [[76, 29, 149, 255], [250, 245, 255, 255]]);
}

#[test]
fn a_large_grid_is_one_image_in_every_format() {
    let side = 200;
    let fills = (0..side * side).map(|idx| Color::rgb((idx % 251) as u8, (idx / side) as u8, 90)).collect();
    let rect = Rect { x: 10.0, y: 10.0, width: 400.0, height: 400.0 };
    let cells = Cells { rect, rows: side, cols: side, fills, rule: 0.0, rule_color: WHITE };
    let drawing = page(420.0, 420.0, vec![Item::Cells(cells)]);
    let options = ExportOptions { dpi: 72.0, ..ExportOptions::default() };
    let svg = svg(&drawing, TextMode::Shapes);
    assert_eq!((svg.matches("<image").count(), svg.matches("<rect").count()), (1, 0));
    let pdf = export(&drawing, Format::Pdf, &options).unwrap();
    assert!(find(&pdf, b"/Subtype/Image").is_some() && find(&pdf, b"/Interpolate true").is_none());
    let png = Png::of(&drawing, &options);
    let (row, col) = (7, 30);
    let expected = ((row * side + col) % 251) as u8;
    assert_eq!(png.pixel(10 + 2 * col as u32, 10 + 2 * row as u32), [expected, 7, 90, 255]);
}

#[test]
fn a_width_in_centimetres_scales_the_whole_drawing() {
    let drawing = page(300.0, 150.0, Vec::new());
    let options = ExportOptions { width_cm: Some(25.4), dpi: 100.0, ..ExportOptions::default() };
    let png = Png::of(&drawing, &options);
    assert_eq!((png.width, png.height), (1000, 500));
    let svg = String::from_utf8(export(&drawing, Format::Svg, &options).unwrap()).unwrap();
    assert!(svg.contains("width=\"720pt\" height=\"360pt\" viewBox=\"0 0 300 150\""), "{svg}");
    let pdf = export(&drawing, Format::Pdf, &options).unwrap();
    assert!(find(&pdf, b"/MediaBox[0 0 720 360]").is_some());
}

#[test]
fn the_ground_is_paper_or_nothing() {
    let drawing = page(20.0, 10.0, Vec::new());
    let paper = ExportOptions { ground: Ground::Paper(WHITE), ..ExportOptions::default() };
    assert_eq!(Png::of(&drawing, &ExportOptions::default()).pixel(3, 3), [0, 0, 0, 0]);
    assert_eq!(Png::of(&drawing, &paper).pixel(3, 3), [255, 255, 255, 255]);
    let svg =
        |options: &ExportOptions| String::from_utf8(export(&drawing, Format::Svg, options).unwrap()).unwrap();
    assert!(!svg(&ExportOptions::default()).contains("<rect"));
    assert!(svg(&paper).contains("<rect x=\"0\" y=\"0\" width=\"20\" height=\"10\" fill=\"#ffffff\"/>"));
}

#[test]
fn a_pdf_keeps_text_as_text_unless_asked_for_shapes() {
    let drawing = annotated_matrices();
    let pdf =
        |text| export(&drawing, Format::Pdf, &ExportOptions { text, ..ExportOptions::default() }).unwrap();
    let (as_text, as_shapes) = (pdf(TextMode::Usual), pdf(TextMode::Shapes));
    let streams = pdf_streams(&as_text);
    let shown: usize =
        streams.iter().map(|stream| stream.matches("]TJ").count() + stream.matches(")Tj").count()).sum();
    assert!(shown >= 192, "{shown} runs of text");
    // The tables from glyphs to characters know Hebrew, Arabic and the minus sign.
    for code in ["<05E2>", "<0633>", "<2212>"] {
        assert!(streams.iter().any(|stream| stream.to_uppercase().contains(code)), "{code}");
    }
    assert!(find(&as_text, b"/FontFile3").is_some());
    assert!(find(&as_shapes, b"/FontFile").is_none());
    assert!(find(&as_text, b"/Alt").is_some() && find(&as_text, b"/Title").is_some());
}

#[test]
fn every_figure_can_be_opened_as_the_scene_that_made_it() {
    let scene = "Scene(\r\n\ttitle: \"a < b && c > \\\"d\\\" ]]> 深 עברית 👩‍👩‍👧\", // ünïcode\n)\n  \n";
    let options = ExportOptions { scene_source: Some(scene.to_owned()), ..ExportOptions::default() };
    for format in Format::ALL {
        let bytes = export(&annotated_matrices(), format, &options).unwrap();
        assert_eq!(scene_of_figure(&bytes).as_deref(), Some(scene), "{format:?}");
        let without = export(&annotated_matrices(), format, &ExportOptions::default()).unwrap();
        assert_eq!(scene_of_figure(&without), None, "{format:?}");
    }
}

#[test]
fn the_same_drawing_gives_the_same_bytes() {
    for format in Format::ALL {
        let once = export(&annotated_matrices(), format, &ExportOptions::default()).unwrap();
        assert!(
            once == export(&annotated_matrices(), format, &ExportOptions::default()).unwrap(),
            "{format:?}"
        );
    }
}

#[test]
fn absurd_sizes_are_refused_in_a_sentence() {
    let drawing = page(300.0, 300.0, Vec::new());
    let refuse = |options: ExportOptions| export(&drawing, Format::Png, &options).unwrap_err();
    let large = refuse(ExportOptions { width_cm: Some(400.0), dpi: 1200.0, ..ExportOptions::default() });
    let expected = "the picture would be 188976 × 188976 pixels and need 142847 MB of memory; choose a smaller width or \
                    fewer dpi (at most 100 million pixels)";
    assert_eq!(large.to_string(), expected);
    for width in [0.0, -3.0, f32::NAN, f32::INFINITY, 1e9] {
        let error = refuse(ExportOptions { width_cm: Some(width), ..ExportOptions::default() });
        assert!(matches!(error, ExportError::Width(_)), "{error}");
    }
    for dpi in [0.0, -1.0, f32::NAN, 1e9] {
        let error = refuse(ExportOptions { dpi, ..ExportOptions::default() });
        assert!(matches!(error, ExportError::Resolution(_)), "{error}");
    }
    for (width, height) in [(0.0, 10.0), (10.0, f32::NAN), (-5.0, 5.0), (f32::INFINITY, 1.0)] {
        for format in Format::ALL {
            let error =
                export(&page(width, height, Vec::new()), format, &ExportOptions::default()).unwrap_err();
            assert!(matches!(error, ExportError::NoArea { .. }), "{error}");
        }
    }
}

#[test]
fn items_that_no_paper_can_hold_are_left_out() {
    let (ink, stroke) = (Color::rgb(0, 0, 0), Stroke { width: 1.0, color: Color::rgb(0, 0, 0) });
    let mut items = Vec::new();
    for odd in [f32::NAN, f32::INFINITY, -1e30, 1e30, -1.0] {
        let at = Point { x: odd, y: 5.0 };
        let rect = Rect { x: odd, y: 1.0, width: odd, height: 3.0 };
        items.push(Item::Text(text("深 0.5", Face::Regular, odd, ink, at, Anchor::Middle)));
        items.push(Item::Text(text("0.5", Face::Regular, 10.0, ink, at, Anchor::Middle)));
        items.push(Item::Rect(RectItem { rect, radius: odd, fill: Some(ink), stroke: Some(stroke) }));
        items.push(Item::Rect(RectItem { rect, radius: 0.0, fill: Some(ink), stroke: None }));
        let points = vec![at, Point { x: 3.0, y: odd }];
        items.push(Item::Polyline(Polyline { points, stroke, closed: true, dash: Some((odd, odd)) }));
        let fills = vec![ink; 3];
        items.push(Item::Cells(Cells { rect, rows: 2, cols: 2, fills, rule: odd, rule_color: ink }));
    }
    items.push(Item::Text(text("huge", Face::Bold, 900.0, ink, Point { x: -50.0, y: 400.0 }, Anchor::Start)));
    items.push(Item::Polyline(Polyline { points: vec![], stroke, closed: false, dash: None }));
    let drawing = page(50.0, 50.0, items);
    for format in Format::ALL {
        for text in [TextMode::Shapes, TextMode::Text] {
            let options = ExportOptions { text, ..ExportOptions::default() };
            let bytes = export(&drawing, format, &options).unwrap();
            let written = String::from_utf8_lossy(&bytes);
            assert!(format != Format::Svg || !(written.contains("NaN") || written.contains("inf")));
        }
    }
}

#[test]
fn a_preview_is_the_picture_that_will_be_written() {
    let drawing = annotated_matrices();
    let options = ExportOptions { dpi: 96.0, ground: Ground::Paper(WHITE), ..ExportOptions::default() };
    let preview = rasterize(&drawing, 96.0 / 72.0, Ground::Paper(WHITE)).unwrap();
    let png = Png::of(&drawing, &options);
    assert_eq!((preview.width, preview.height), (png.width as usize, png.height as usize));
    assert!(preview.rgba == png.rgba);
}

#[test]
fn csv_labels_read_back_as_they_were() {
    let pairs = labels("C55", "reads_back_as");
    let names: Vec<String> = pairs.iter().map(|pair| pair.0.clone()).collect();
    let matrix = Matrix::from_fn(names.len(), names.len(), |row, col| row as f64 - 0.5 * col as f64);
    let table = MatrixTable { matrix: &matrix, row_labels: &names, col_labels: &names, decimals: None };
    let written = csv(&table, false);
    let mut reader = ::csv::ReaderBuilder::new().has_headers(false).from_reader(written.as_bytes());
    let records: Vec<::csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let head: Vec<&str> = records[0].iter().skip(1).collect();
    assert_eq!(head, pairs.iter().map(|pair| pair.1.as_str()).collect::<Vec<_>>());
    for (row_idx, record) in records[1..].iter().enumerate() {
        assert_eq!(&record[0], pairs[row_idx].1);
        assert_eq!(record[2].parse::<f64>().unwrap(), row_idx as f64 - 0.5);
    }
    for (_, field) in labels("C55", "fields") {
        assert!(written.contains(&field), "{field:?} is not written as RFC 4180 has it");
    }
}

#[test]
fn labels_that_a_spreadsheet_would_run_can_be_made_harmless() {
    let names = ["=1+1", "-", "+", "@user", "0.5"].map(str::to_owned);
    let matrix = Matrix::from_fn(5, 1, |row, _| -0.5 * row as f64);
    let table = MatrixTable { matrix: &matrix, row_labels: &names, col_labels: &[], decimals: None };
    let written = csv(&table, true);
    assert_eq!(written, ",0\r\n'=1+1,0\r\n'-,-0.5\r\n'+,-1\r\n'@user,-1.5\r\n0.5,-2\r\n");
}

#[test]
fn latex_prints_every_label_as_it_is_written() {
    for (label, expected) in labels("C54", "latex") {
        let matrix = Matrix::zeros(1, 1);
        let names = [label.clone()];
        let table =
            MatrixTable { matrix: &matrix, row_labels: &names, col_labels: &names, decimals: Some(1) };
        let written = latex_table(&table);
        assert!(written.contains(&format!("\n{expected} & $0.0$ \\\\\n")), "{label}: {written}");
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(48))]

    #[test]
    fn any_label_can_be_written_and_read_back(label in "(\\PC|[\x00-\x1f&<>\"]|[א-ת]|[😀-🙏]){1,12}") {
        let at = Point { x: 50.0, y: 20.0 };
        let run = text(&label, Face::Regular, 10.0, Color::rgb(0, 0, 0), at, Anchor::Start);
        let drawing = page(200.0, 40.0, vec![Item::Text(run)]);
        let allowed = |c: char| matches!(c, '\t' | '\n' | '\r') || (c >= ' ' && !matches!(c, '\u{fffe}' | '\u{ffff}'));
        let expected: String = label.chars().map(|c| if allowed(c) { c } else { '\u{fffd}' }).collect();
        proptest::prop_assert_eq!(texts_of(&svg(&drawing, TextMode::Text)), vec![expected]);
        for format in Format::ALL {
            proptest::prop_assert!(export(&drawing, format, &ExportOptions::default()).is_ok());
        }
    }
}
