//! PDF: one page as large as the drawing, cells as vectors, text as text, the scene as an attached file.

use krilla::Document;
use krilla::color::rgb;
use krilla::embed::{AssociationKind, EmbeddedFile, MimeType};
use krilla::geom::{Path, PathBuilder, Rect as PdfRect, Size, Transform};
use krilla::image::Image;
use krilla::metadata::Metadata;
use krilla::num::NormalizedF32;
use krilla::page::PageSettings;
use krilla::paint::{Fill, Stroke, StrokeDash};
use krilla::surface::Surface;
use krilla::tagging::{ContentTag, Node, Tag, TagGroup, TagTree};

use super::cells::{self, Rule};
use super::metadata::{PDF_FILE_NAME, PDF_MEDIA_TYPE};
use super::options::{ExportError, ExportOptions, Ground, TextMode};
use super::{paint, pdf_text, strokes};
use crate::figure::{Cells, Color, Drawing, Item, PathCommand, Polyline, Rect, RectItem};

/// The longest side that every reader shows, in points: 200 inches.
const LONGEST_SIDE: f32 = 14_400.0;

/// Writes a drawing as a PDF of one page; one larger than 200 inches is scaled down to that.
pub(super) fn write(drawing: &Drawing, scale: f32, options: &ExportOptions) -> Result<Vec<u8>, ExportError> {
    let scale = scale.min(LONGEST_SIDE / drawing.size.width.max(drawing.size.height));
    let (width, height) = (drawing.size.width * scale, drawing.size.height * scale);
    let settings = PageSettings::from_wh(width, height).ok_or(ExportError::NoArea { width, height })?;
    let mut document = Document::new();
    let mut page = document.start_page_with(settings);
    let content = draw_page(page.surface(), drawing, scale, options);
    page.finish();
    describe(&mut document, drawing, content);
    attach(&mut document, options);
    document.finish().map_err(|error| ExportError::Writer { format: "PDF", message: format!("{error:?}") })
}

/// Draws everything, and returns what ties it to the alternative text.
fn draw_page(surface: Surface<'_>, drawing: &Drawing, scale: f32, options: &ExportOptions) -> Node {
    let mut canvas = Canvas { surface, text: options.text };
    let content = canvas.surface.start_tagged(ContentTag::Other);
    canvas.surface.push_transform(&Transform::from_scale(scale, scale));
    if let Ground::Paper(color) = options.ground {
        let paper = Rect { x: 0.0, y: 0.0, width: drawing.size.width, height: drawing.size.height };
        canvas.fill_rect(paper, color);
    }
    for items in strokes::grouped(&drawing.items) {
        canvas.items(items);
    }
    canvas.surface.pop();
    canvas.surface.end_tagged();
    canvas.surface.finish();
    content.into()
}

/// Title, alternative text and language.
fn describe(document: &mut Document, drawing: &Drawing, content: Node) {
    let Drawing { title, description, .. } = drawing;
    let alternative = if description.is_empty() { title } else { description };
    let mut figure = TagGroup::new(Tag::Figure(Some(alternative.clone())));
    figure.push(content);
    let mut tree = TagTree::new().with_lang(Some("en".to_owned()));
    tree.push(figure);
    document.set_tag_tree(tree);
    let metadata = Metadata::new()
        .title(title.clone())
        .description(description.clone())
        .creator("Qkv".to_owned())
        .language("en".to_owned());
    document.set_metadata(metadata);
}

fn attach(document: &mut Document, options: &ExportOptions) {
    let Some(scene) = &options.scene_source else { return };
    // A file of that name is attached only once, so this cannot fail.
    let _ = document.embed_file(EmbeddedFile {
        path: PDF_FILE_NAME.to_owned(),
        mime_type: MimeType::new(PDF_MEDIA_TYPE),
        description: Some("The Qkv scene that made this figure".to_owned()),
        association_kind: AssociationKind::Source,
        data: scene.clone().into_bytes().into(),
        modification_date: None,
        compress: Some(false),
        location: None,
    });
}

struct Canvas<'a> {
    surface: Surface<'a>,
    text: TextMode,
}

impl Canvas<'_> {
    fn items(&mut self, items: &[Item]) {
        match items.first() {
            Some(Item::Cells(cells)) if cells::is_image(cells) => self.cells_as_image(cells),
            Some(Item::Cells(cells)) => self.cells(cells),
            Some(Item::Rect(item)) => self.rect(item),
            Some(Item::Polyline(look)) => self.polylines(look, items),
            Some(Item::Text(run)) => pdf_text::draw(&mut self.surface, run, self.text),
            Some(Item::Outline(outline)) => self.fill(path_of(&outline.path), outline.fill),
            None => {}
        }
    }

    fn cells(&mut self, cells: &Cells) {
        for cell in cells::rectangles(cells) {
            self.fill_rect(cell.rect, cell.fill);
        }
        let mut builder = PathBuilder::new();
        for rule in cells::rules(cells) {
            let Rect { x, y, .. } = cells.rect;
            match rule {
                Rule::Vertical(at) => {
                    builder.move_to(at, y);
                    builder.line_to(at, cells.rect.bottom());
                }
                Rule::Horizontal(at) => {
                    builder.move_to(x, at);
                    builder.line_to(cells.rect.right(), at);
                }
            }
        }
        self.stroke(builder.finish(), cells.rule, cells.rule_color, None);
    }

    /// Large grids: an image of whole pixels per cell, without the smoothing that viewers would add.
    fn cells_as_image(&mut self, cells: &Cells) {
        let image = cells::image(cells);
        let Some(size) = Size::from_wh(cells.rect.width, cells.rect.height) else { return };
        if image.rgba.is_empty() {
            return;
        }
        let place = Transform::from_translate(cells.rect.x, cells.rect.y);
        self.surface.push_transform(&place);
        let image = Image::from_rgba8(image.rgba, image.width as u32, image.height as u32);
        self.surface.draw_image(image, size);
        self.surface.pop();
    }

    fn rect(&mut self, item: &RectItem) {
        let RectItem { rect, radius, fill, stroke } = item;
        let path = || {
            if *radius > 0.0 { path_of(&paint::rounded_rectangle(*rect, *radius)) } else { rectangle(*rect) }
        };
        if let Some(fill) = fill {
            self.fill(path(), *fill);
        }
        if let Some(stroke) = stroke {
            self.stroke(path(), stroke.width, stroke.color, None);
        }
    }

    fn polylines(&mut self, look: &Polyline, items: &[Item]) {
        let mut builder = PathBuilder::new();
        for line in strokes::lines(items) {
            for (idx, point) in line.points.iter().enumerate() {
                if idx == 0 {
                    builder.move_to(point.x, point.y);
                } else {
                    builder.line_to(point.x, point.y);
                }
            }
            if line.closed {
                builder.close();
            }
        }
        let dash = look.dash.map(|(on, off)| StrokeDash { array: vec![on, off], offset: 0.0 });
        self.stroke(builder.finish(), look.stroke.width, look.stroke.color, dash);
    }

    fn fill_rect(&mut self, rect: Rect, color: Color) {
        self.fill(rectangle(rect), color);
    }

    fn fill(&mut self, path: Option<Path>, color: Color) {
        let Some(path) = path.filter(|_| color.a > 0) else { return };
        self.surface.set_stroke(None);
        self.surface.set_fill(Some(fill_of(color)));
        self.surface.draw_path(&path);
    }

    fn stroke(&mut self, path: Option<Path>, width: f32, color: Color, dash: Option<StrokeDash>) {
        let Some(path) = path.filter(|_| color.a > 0 && width > 0.0) else { return };
        let Color { r, g, b, a } = color;
        self.surface.set_fill(None);
        self.surface.set_stroke(Some(Stroke {
            paint: rgb::Color::new(r, g, b).into(),
            width,
            opacity: opacity(a),
            dash,
            ..Stroke::default()
        }));
        self.surface.draw_path(&path);
    }
}

/// A colour as a fill.
pub(super) fn fill_of(color: Color) -> Fill {
    let Color { r, g, b, a } = color;
    Fill { paint: rgb::Color::new(r, g, b).into(), opacity: opacity(a), ..Fill::default() }
}

fn opacity(alpha: u8) -> NormalizedF32 {
    NormalizedF32::new(f32::from(alpha) / 255.0).unwrap_or(NormalizedF32::ONE)
}

fn rectangle(rect: Rect) -> Option<Path> {
    let mut builder = PathBuilder::new();
    builder.push_rect(PdfRect::from_xywh(rect.x, rect.y, rect.width, rect.height)?);
    builder.finish()
}

/// An outline as a path.
pub(super) fn path_of(commands: &[PathCommand]) -> Option<Path> {
    let mut builder = PathBuilder::new();
    for command in commands {
        match *command {
            PathCommand::Move(to) => builder.move_to(to.x, to.y),
            PathCommand::Line(to) => builder.line_to(to.x, to.y),
            PathCommand::Quad(a, to) => builder.quad_to(a.x, a.y, to.x, to.y),
            PathCommand::Cubic(a, b, to) => builder.cubic_to(a.x, a.y, b.x, b.y, to.x, to.y),
            PathCommand::Close => builder.close(),
        }
    }
    builder.finish()
}
