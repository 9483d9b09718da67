//! Short messages: they stand still, pass by themselves, and can be sent away.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
#![cfg(feature = "gui")]

use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use qkv::ui::{ToastKind, Toasts};

/// A window with nothing but messages; a frame is half a second.
fn window(toasts: Toasts) -> Harness<'static, Toasts> {
    let mut installed = false;
    let mut harness = Harness::builder().with_step_dt(0.5).build_ui_state(
        move |ui, toasts: &mut Toasts| {
            if !std::mem::replace(&mut installed, true) {
                qkv::app::install_fonts(ui.ctx());
                qkv::ui::style::install(ui.ctx());
                ui.ctx().request_repaint();
                return;
            }
            toasts.show(ui.ctx());
        },
        toasts,
    );
    harness.run_ok();
    harness
}

fn delay(harness: &Harness<'_, Toasts>) -> f64 {
    harness
        .output()
        .viewport_output
        .values()
        .map(|output| output.repaint_delay.as_secs_f64())
        .fold(f64::MAX, f64::min)
}

#[test]
fn a_message_that_stands_lets_the_window_rest_until_it_fades() {
    let mut toasts = Toasts::default();
    toasts.push(ToastKind::Failed, "Nothing was written");
    let harness = window(toasts);
    harness.get_by_label("Nothing was written");
    assert!((8.0..12.0).contains(&delay(&harness)), "the next frame comes after {} s", delay(&harness));
}

#[test]
fn a_message_passes_by_itself_and_an_error_stands_longer() {
    let mut toasts = Toasts::default();
    toasts.push(ToastKind::Done, "Saved");
    toasts.push(ToastKind::Failed, "Nothing was written");
    let mut harness = window(toasts);
    harness.run_steps(10);
    assert!(harness.query_by_label("Saved").is_none());
    harness.get_by_label("Nothing was written");
    harness.run_steps(20);
    assert!(harness.query_by_label("Nothing was written").is_none());
    assert!(delay(&harness) > 3600.0, "the window rests for good");
}

#[test]
fn a_message_is_sent_away_by_its_cross() {
    let mut toasts = Toasts::default();
    toasts.push(ToastKind::Failed, "Nothing was written");
    let mut harness = window(toasts);
    harness.get_by_label("Dismiss").click();
    harness.run_steps(2);
    assert!(harness.query_by_label("Nothing was written").is_none());
}
