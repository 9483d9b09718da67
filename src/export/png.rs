//! PNG with its physical size, and the scene as a text chunk.

use png::{BitDepth, ColorType, DeflateCompression, Encoder, Filter, PixelDimensions, Unit};

use super::metadata::PNG_KEYWORD;
use super::options::{ExportError, ExportOptions};
use super::raster::rasterize;
use crate::figure::Drawing;

/// Writes a drawing as PNG; `scale` enlarges the drawing before its points become pixels.
pub(super) fn write(drawing: &Drawing, scale: f32, options: &ExportOptions) -> Result<Vec<u8>, ExportError> {
    if !(1.0..=9600.0).contains(&options.dpi) {
        return Err(ExportError::Resolution(options.dpi));
    }
    let raster = rasterize(drawing, scale * options.dpi / 72.0, options.ground)?;
    let (width, height) = (raster.width as u32, raster.height as u32);
    let mut bytes = Vec::with_capacity(raster.rgba.len() / 32 + 4096);
    let mut encoder = encoder(&mut bytes, width, height);
    let per_metre = (options.dpi / 0.0254).round() as u32;
    encoder.set_pixel_dims(Some(PixelDimensions { xppu: per_metre, yppu: per_metre, unit: Unit::Meter }));
    let texts = [("Title", &drawing.title), ("Description", &drawing.description)];
    let scene = options.scene_source.iter().map(|scene| (PNG_KEYWORD, scene));
    for (keyword, text) in texts.into_iter().chain(scene).filter(|(_, text)| !text.is_empty()) {
        encoder.add_itxt_chunk(keyword.to_owned(), text.clone()).map_err(failed)?;
    }
    finish(encoder, &raster.rgba)?;
    Ok(bytes)
}

/// Any picture as a PNG file without a physical size: four bytes a pixel, colours not multiplied by alpha.
///
/// # Errors
/// [`ExportError::Writer`] when there are not width · height pixels.
pub fn write_png(width: u32, height: u32, rgba: &[u8]) -> Result<Vec<u8>, ExportError> {
    let mut bytes = Vec::new();
    finish(encoder(&mut bytes, width, height), rgba)?;
    Ok(bytes)
}

fn encoder(bytes: &mut Vec<u8>, width: u32, height: u32) -> Encoder<'_, &mut Vec<u8>> {
    let mut encoder = Encoder::new(bytes, width, height);
    encoder.set_color(ColorType::Rgba);
    encoder.set_depth(BitDepth::Eight);
    // Flat areas repeat the row above, so the lightest real compression makes them small; PNG's quickest one gives twice the size.
    encoder.set_deflate_compression(DeflateCompression::Level(1));
    encoder.set_filter(Filter::Up);
    encoder
}

fn finish(encoder: Encoder<'_, &mut Vec<u8>>, rgba: &[u8]) -> Result<(), ExportError> {
    let mut writer = encoder.write_header().map_err(failed)?;
    writer.write_image_data(rgba).map_err(failed)?;
    writer.finish().map_err(failed)
}

fn failed(error: png::EncodingError) -> ExportError {
    ExportError::Writer { format: "PNG", message: error.to_string() }
}
