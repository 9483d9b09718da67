//! A picture of the window itself, for documentation and for tests that look.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// Waits until the window has settled, writes a picture of it, and closes it.
pub struct Picture {
    path: PathBuf,
    frames_left: u32,
    taken: Arc<Mutex<Option<Arc<egui::ColorImage>>>>,
    asked: bool,
}

/// Layout settles within a few frames; fonts and plots need a second one.
const SETTLING_FRAMES: u32 = 12;

impl Picture {
    /// Will write to this path.
    pub fn new(path: PathBuf) -> Self {
        Self { path, frames_left: SETTLING_FRAMES, taken: Arc::default(), asked: false }
    }

    /// Call once a frame. Returns the finished picture's outcome.
    pub fn tick(&mut self, ctx: &egui::Context) -> Option<Result<(), String>> {
        ctx.request_repaint();
        if self.frames_left > 0 {
            self.frames_left -= 1;
            return None;
        }
        if !self.asked {
            self.asked = true;
            let taken = Arc::clone(&self.taken);
            ctx.request_screenshot(move |image| {
                if let Ok(mut slot) = taken.lock() {
                    *slot = Some(image);
                }
            });
        }
        let image = self.taken.lock().ok()?.take()?;
        let rgba: Vec<u8> = image.pixels.iter().flat_map(|pixel| pixel.to_array()).collect();
        let [width, height] = image.size;
        let written =
            encode(width as u32, height as u32, &rgba).map_err(|error| error.to_string()).and_then(|bytes| {
                crate::disk::write_whole(&self.path, &bytes).map_err(|error| error.to_string())
            });
        Some(written)
    }
}

fn encode(width: u32, height: u32, rgba: &[u8]) -> Result<Vec<u8>, png::EncodingError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.write_header()?.write_image_data(rgba)?;
    Ok(bytes)
}
