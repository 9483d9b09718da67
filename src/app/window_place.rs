//! Brings a window back that was stored on a monitor which is gone.

/// Moves the window onto a monitor when no part of it lies on one.
pub fn rescue(ctx: &egui::Context, frame: &eframe::Frame) {
    let Some(window) = frame.winit_window() else { return };
    let Ok(position) = window.outer_position() else { return };
    let size = window.outer_size();
    let (left, top) = (i64::from(position.x), i64::from(position.y));
    let (right, bottom) = (left + i64::from(size.width), top + i64::from(size.height));
    let mut monitors = window.available_monitors().peekable();
    if monitors.peek().is_none() {
        return;
    }
    // A strip of the title bar that can be grabbed is enough.
    const GRIP: i64 = 60;
    let visible = monitors.any(|monitor| {
        let (at, extent) = (monitor.position(), monitor.size());
        let (x, y) = (i64::from(at.x), i64::from(at.y));
        let (x_end, y_end) = (x + i64::from(extent.width), y + i64::from(extent.height));
        right > x + GRIP && left < x_end - GRIP && bottom > y + GRIP && top < y_end - GRIP
    });
    if !visible {
        ctx.send_viewport_cmd(egui::ViewportCommand::OuterPosition(egui::pos2(40.0, 40.0)));
    }
}
