//! The window driven by the names of its parts, as a screen reader or a person finds them.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
#![cfg(feature = "gui")]

mod ui_harness;

use std::sync::Arc;

use egui::{Key, Modifiers, Vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use qkv::figure::{MatrixId, Study};
use qkv::scene::bundled;
use qkv::session::{Centre, Checked, Command, Derived, Document, Effect, Event, Origin, Session};
use ui_harness::{Desk, SMALL, texts, window_of};

fn window(name: &str, size: Vec2) -> Harness<'static, Desk> {
    window_of(Session::new(Document::bundled(name).unwrap()), size)
}

fn assert_no_id_clash(harness: &Harness<'_, Desk>, what: &str) {
    let clash: Vec<String> =
        texts(harness).into_iter().filter(|text| text.contains("use of") && text.contains("ID")).collect();
    assert!(clash.is_empty(), "{what}: {clash:?}");
}

#[test]
fn every_bundled_scene_opens_without_a_clash_of_ids() {
    let mut harness = window("two_positions", SMALL);
    for scene in bundled::all() {
        harness.state_mut().session.apply(Command::OpenBundled(scene.name));
        harness.run_ok();
        assert_no_id_clash(&harness, scene.name);
        for centre in [Centre::Projections, Centre::Heads, Centre::Study(Study::Linear)] {
            harness.state_mut().session.apply(Command::Show(centre));
            harness.run_ok();
            assert_no_id_clash(&harness, scene.name);
        }
    }
}

#[test]
fn a_click_on_the_list_opens_a_scene() {
    let mut harness = window("two_positions", SMALL);
    let title = qkv::scene::catalogue().iter().find(|lesson| lesson.name == "04_three_positions").unwrap();
    harness.get_by_label(&title.title).click();
    harness.run_ok();
    assert_eq!(harness.state().session.document().name(), "04_three_positions.ron");
}

#[test]
fn a_click_on_a_weight_pins_it_and_spells_it_out() {
    let mut harness = window("three_positions_causal", SMALL);
    let weights = harness.get_by_label("Weights, head 1, 3 × 3");
    let rect = weights.rect();
    click_at(&mut harness, rect.min + rect.size() * egui::vec2(1.0 / 6.0, 5.0 / 6.0));
    let pin = harness.state().session.pin().unwrap();
    assert_eq!((pin.query, pin.key), (2, 0));
    let shown = texts(&harness).join("\n");
    assert!(shown.contains("0.2483"), "{shown}");
}

fn click_at(harness: &mut Harness<'_, Desk>, at: egui::Pos2) {
    for pressed in [true, false] {
        harness.event(egui::Event::PointerMoved(at));
        harness.event(egui::Event::PointerButton {
            pos: at,
            button: egui::PointerButton::Primary,
            pressed,
            modifiers: Modifiers::NONE,
        });
        harness.step();
    }
    harness.run_ok();
}

#[test]
fn a_number_is_edited_in_place_and_everything_follows() {
    let mut harness = window("two_positions", SMALL);
    let rect = harness.get_by_label("Q, head 1, 1 × 2").rect();
    click_at(&mut harness, rect.min + rect.size() * egui::vec2(0.25, 0.5));
    type_over(&mut harness, "0");
    let q = harness.state().session.matrix(MatrixId::Q).unwrap();
    assert_eq!(q.row(0), [0.0, 0.0]);
    let weights = harness.state().session.matrix(MatrixId::Weights).unwrap();
    assert_eq!(weights.row(0), [0.5, 0.5]);
    harness.key_press_modifiers(Modifiers::COMMAND, Key::Z);
    harness.run_ok();
    assert_eq!(harness.state().session.matrix(MatrixId::Q).unwrap().row(0), [1.0, 0.0]);
}

fn type_over(harness: &mut Harness<'_, Desk>, text: &str) {
    harness.event(egui::Event::Text(text.to_owned()));
    harness.run_ok();
    harness.key_press(Key::Enter);
    harness.run_ok();
}

#[test]
fn a_draft_that_is_no_number_stays_with_a_hint_and_never_reaches_the_scene() {
    let mut harness = window("two_positions", SMALL);
    let rect = harness.get_by_label("Q, head 1, 1 × 2").rect();
    click_at(&mut harness, rect.min + rect.size() * egui::vec2(0.25, 0.5));
    type_over(&mut harness, "1.0.0");
    assert_eq!(harness.state().session.matrix(MatrixId::Q).unwrap().row(0), [1.0, 0.0]);
    assert!(texts(&harness).iter().any(|text| text.contains("1.0.0") && text.contains("no number")));
    harness.key_press(Key::Escape);
    harness.run_ok();
    assert!(harness.state().ui.board.editor.is_none());
}

#[test]
fn a_double_click_fills_the_centre_with_one_matrix_and_esc_returns() {
    let mut harness = window("three_positions", SMALL);
    let at = harness.get_by_label("Weights, head 1, 3 × 3").rect().center();
    harness.event(egui::Event::PointerMoved(at));
    for pressed in [true, false, true, false] {
        let (button, modifiers) = (egui::PointerButton::Primary, Modifiers::NONE);
        harness.event(egui::Event::PointerButton { pos: at, button, pressed, modifiers });
        harness.step();
    }
    harness.run_ok();
    assert_eq!(harness.state().session.focus(), Some(MatrixId::Weights));
    harness.key_press(Key::Escape);
    harness.run_ok();
    assert_eq!(harness.state().session.focus(), None);
}

#[test]
fn arrows_move_the_pin_as_in_a_spreadsheet() {
    let mut harness = window("three_positions", SMALL);
    let rect = harness.get_by_label("Weights, head 1, 3 × 3").rect();
    click_at(&mut harness, rect.min + rect.size() / 6.0);
    harness.key_press(Key::ArrowRight);
    harness.run_ok();
    harness.key_press(Key::ArrowDown);
    harness.run_ok();
    let pin = harness.state().session.pin().unwrap();
    assert_eq!((pin.query, pin.key), (1, 1));
}

#[test]
fn mask_layers_are_added_and_removed_from_the_settings() {
    let mut harness = window("three_positions", SMALL);
    harness.get_by_label("+ add a mask layer").click();
    harness.run_ok();
    harness.get_by_label("Causal, top left").click();
    harness.run_ok();
    assert_eq!(harness.state().session.scene().spec().mask.len(), 1);
    assert_eq!(harness.state().session.matrix(MatrixId::Weights).unwrap().row(0), [1.0, 0.0, 0.0]);
    harness.get_by_label("Remove mask layer 1").click();
    harness.run_ok();
    assert!(harness.state().session.scene().spec().mask.is_empty());
}

#[test]
fn positions_are_chosen_in_the_settings_and_shown_in_the_centre() {
    let mut harness = window("three_positions_causal", Vec2::new(1280.0, 1400.0));
    harness.get_by_role_and_label(egui::Role::ComboBox, "Position").scroll_to_me();
    harness.run_ok();
    harness.get_by_role_and_label(egui::Role::ComboBox, "Position").click();
    harness.run_ok();
    harness.get_by_label("RoPE, halves").click();
    harness.run_ok();
    assert!(harness.state().session.matrix(MatrixId::UnrotatedQ).is_some());
    harness.get_by_label("positions").click();
    harness.run_ok();
    assert_eq!(harness.state().session.centre(), Centre::Positions);
    assert_no_id_clash(&harness, "positions");
}

#[test]
fn a_sink_dropout_and_a_mistake_are_set_and_folded_settings_name_what_is_unusual() {
    let mut harness = window("three_positions_causal", Vec2::new(1280.0, 1600.0));
    let click = |harness: &mut Harness<'_, Desk>, label: &str| {
        harness.get_by_label(label).click();
        harness.run_ok();
    };
    assert!(harness.query_by_role_and_label(egui::Role::CheckBox, "Sink").is_none(), "folded at first");
    harness.get_by_label("Softmax").scroll_to_me();
    harness.run_ok();
    click(&mut harness, "Softmax");
    let check = |harness: &mut Harness<'_, Desk>, label: &str| {
        harness.get_by_role_and_label(egui::Role::CheckBox, label).scroll_to_me();
        harness.run_ok();
        harness.get_by_role_and_label(egui::Role::CheckBox, label).click();
        harness.run_ok();
    };
    check(&mut harness, "Sink");
    assert_eq!(harness.state().session.scene().spec().sinks, [0.0]);
    check(&mut harness, "Dropout");
    assert!(harness.query_by_label("Weights after dropout, head 1, 3 × 3").is_some());
    assert!(harness.query_by_label("Softmax: sink, dropout").is_some());
    harness.get_by_role_and_label(egui::Role::ComboBox, "Mistake").scroll_to_me();
    harness.run_ok();
    harness.get_by_role_and_label(egui::Role::ComboBox, "Mistake").click();
    harness.run_ok();
    click(&mut harness, "mask after softmax");
    let shown = texts(&harness).join("\n");
    assert!(shown.contains("Mistake made on purpose"), "{shown}");
    assert!(shown.contains("1 warning"), "{shown}");
    assert_no_id_clash(&harness, "folded settings");
}

#[test]
fn closer_looks_are_chosen_above_the_board_and_their_pairs_pin() {
    let mut harness = window("three_positions_causal", SMALL);
    for study in Study::ALL {
        harness.get_by_label("Closer looks").click();
        harness.run_ok();
        harness.get_by_label(study.label()).click();
        harness.run_ok();
        assert_eq!(harness.state().session.centre(), Centre::Study(study));
        assert_no_id_clash(&harness, study.name());
    }
    let linear = harness.get_all_by_label("linear, head 1, 3 × 3").next().unwrap().rect();
    click_at(&mut harness, linear.min + linear.size() * egui::vec2(1.0 / 6.0, 0.5));
    let pin = harness.state().session.pin().unwrap();
    assert_eq!((pin.query, pin.key), (1, 0));
    harness.get_by_label("board").click();
    harness.run_ok();
    assert_eq!(harness.state().session.centre(), Centre::Board);
}

#[test]
fn the_view_menu_names_the_closer_looks_and_the_figure_is_copied_as_shown() {
    let mut harness = window("grouped_heads", SMALL);
    harness.get_by_label("View").click();
    harness.run_ok();
    // The one in the menu, not the one above the board.
    let entry = harness
        .get_all_by_label_contains("Closer looks")
        .min_by(|a, b| a.rect().min.x.total_cmp(&b.rect().min.x));
    entry.unwrap().click();
    harness.run_ok();
    harness.get_by_label("Gradients").click();
    harness.run_ok();
    assert_eq!(harness.state().session.centre(), Centre::Study(Study::Gradients));
    let desk = harness.state_mut();
    let Command::CopyFigure(copied) = desk.ui.figures.copy_command(&desk.session) else {
        panic!("no figure")
    };
    assert_eq!(copied.suggested_name, "27_grouped_heads_gradients");
    assert!(copied.drawing.title.starts_with("Gradients: query"));
}

#[test]
fn equal_and_empty_labels_do_not_confuse_the_window() {
    let text = r#"Scene(title: "Equal labels", tokens: ["the", "the", "", " ", "the"], input: Heads(
        q: [[[1, 0], [0, 1], [1, 1], [0, 0], [2, 1]]], k: [[[1, 0], [0, 1], [1, 1], [0, 0], [2, 1]]],
        v: [[[1, 0], [0, 1], [1, 1], [0, 0], [2, 1]]]))"#;
    let scene = qkv::scene::read(text, &mut |_| Err(std::io::ErrorKind::NotFound.into())).unwrap();
    let document = Document::new(Arc::new(scene), Origin::Untitled, text.into());
    let mut harness = window("two_positions", SMALL);
    harness.state_mut().session = Session::new(document);
    harness.run_ok();
    assert_no_id_clash(&harness, "equal labels");
    let rect = harness.get_by_label("Weights, head 1, 5 × 5").rect();
    click_at(&mut harness, rect.min + rect.size() * egui::vec2(9.0 / 10.0, 5.0 / 10.0));
    let pin = harness.state().session.pin().unwrap();
    assert_eq!((pin.query, pin.key), (2, 4));
}

#[test]
fn an_idle_window_asks_for_no_repaint() {
    let mut harness = window("three_positions_causal", SMALL);
    harness.run_steps(6);
    let delay = harness.output().viewport_output.values().map(|output| output.repaint_delay).min().unwrap();
    assert!(delay.as_secs() > 3600, "repaints after {delay:?}");
}

#[test]
fn the_export_dialog_opens_with_a_preview_and_hands_the_figure_over() {
    let mut harness = window("three_positions", SMALL);
    harness.key_press_modifiers(Modifiers::COMMAND, Key::E);
    harness.run_ok();
    harness.get_by_label("Preview of the export");
    harness.get_by_label("Save…").click();
    harness.run_ok();
    assert!(harness.state().effects.iter().any(|effect| matches!(effect, Effect::AskWhereToExport(_))));
}

#[test]
fn tokens_are_renamed_and_added_in_their_dialog() {
    let mut harness = window("three_positions", SMALL);
    harness.get_by_role_and_label(egui::Role::Button, "Tokens").click();
    harness.run_ok();
    harness.get_by_label("Add a position").click();
    harness.run_ok();
    assert_eq!(harness.state().session.scene().n_k(), 4);
    assert_eq!(harness.state().session.scene().n_q(), 4, "one sequence stands on both sides");
    harness.get_by_label("Remove token 1").click();
    harness.run_ok();
    assert_eq!(harness.state().session.scene().key_labels()[0], "cat");
}

#[test]
fn typing_into_a_cell_moves_nothing_below_the_board() {
    let mut harness = window("two_positions", SMALL);
    let before = harness.get_by_label("Edit title and notes").rect();
    let rect = harness.get_by_label("Q, head 1, 1 × 2").rect();
    click_at(&mut harness, rect.min + rect.size() * egui::vec2(0.25, 0.5));
    harness.key_press(Key::F2);
    harness.run_ok();
    assert!(harness.state().ui.board.editor.is_some());
    assert_eq!(harness.get_by_label("Edit title and notes").rect(), before);
}

#[test]
fn esc_cancels_the_question_about_unsaved_changes() {
    let mut harness = window("two_positions", SMALL);
    let edit = qkv::session::Edit::SetDecimals(2);
    harness.state_mut().session.apply(Command::Edit { edit, gesture: 0 });
    harness.state_mut().session.apply(Command::Quit);
    harness.run_ok();
    assert!(harness.state().session.question().is_some());
    harness.key_press(Key::Escape);
    harness.run_ok();
    assert!(harness.state().session.question().is_none());
    assert!(harness.state().session.document().is_changed());
}

/// A window on a scene of 128 tokens whose edited number is being evaluated elsewhere.
fn evaluating() -> Harness<'static, Desk> {
    let mut harness = window("two_positions", SMALL);
    let matrix = |seed: u32| format!("[Randn(rows: 128, cols: 64, seed: {seed})]");
    let text =
        format!("Scene(title: \"Long\", input: Heads(q: {}, k: {}, v: {}))", matrix(1), matrix(2), matrix(3));
    let scene = qkv::scene::read(&text, &mut |_| Err(std::io::ErrorKind::NotFound.into())).unwrap();
    let result = Ok(Arc::new(scene));
    let event = Event::SceneRead { path: "/lecture/long.ron".into(), text: text.into(), result };
    harness.state_mut().session.handle(event);
    harness
}

/// So many frames of 20 ms.
fn wait(harness: &mut Harness<'_, Desk>, n_frames: usize) {
    for _ in 0..n_frames {
        harness.step();
    }
}

#[test]
fn a_short_evaluation_shows_no_progress_and_a_long_one_does() {
    let mut harness = evaluating();
    wait(&mut harness, 8);
    assert!(harness.query_by_label("Evaluation").is_none(), "nothing flickers after 160 ms");
    wait(&mut harness, 6);
    harness.state_mut().ui.computing.fraction = 0.345;
    wait(&mut harness, 1);
    let shown = texts(&harness).join("\n");
    assert!(shown.contains("1 head, 128 × 128: 34 %"), "{shown}");
    let bar = harness.get_by_label("Evaluation");
    assert_eq!(bar.accesskit_node().numeric_value(), Some(34.0));
    wait(&mut harness, 8); // until the card has faded in
    let delay = harness.output().viewport_output.values().map(|output| output.repaint_delay).min().unwrap();
    assert!(
        (0.04..0.06).contains(&delay.as_secs_f64()),
        "looks again after {delay:?}: {:?}",
        harness.ctx.repaint_causes()
    );
    assert!(harness.query_by_label("Q, head 1, 1 × 2").is_some(), "the board before stays behind it");
}

#[test]
fn cancel_and_esc_stop_a_long_evaluation_and_compute_starts_it_again() {
    let mut harness = evaluating();
    wait(&mut harness, 14);
    harness.get_by_label("Cancel").click();
    wait(&mut harness, 3);
    assert_eq!(harness.state().effects, [Effect::StopComputing]);
    let shown = texts(&harness).join("\n");
    assert!(shown.contains("The evaluation was stopped"), "{shown}");
    harness.run_steps(6);
    let delay = harness.output().viewport_output.values().map(|output| output.repaint_delay).min().unwrap();
    assert!(delay.as_secs() > 3600, "a stopped evaluation repaints after {delay:?}");
    harness.get_by_label("Compute").click();
    wait(&mut harness, 14);
    assert!(matches!(harness.state().effects.last(), Some(Effect::Evaluate { .. })));
    assert!(harness.query_by_label("Evaluation").is_some());
    harness.key_press(Key::Escape);
    wait(&mut harness, 3);
    assert!(harness.state().session.is_stopped());
}

#[test]
fn checks_that_are_late_are_named_as_awaited() {
    let mut harness = evaluating();
    let session = &mut harness.state_mut().session;
    let scene = Arc::clone(session.document().scene());
    let derived = Arc::new(Derived::of(session.derived().revision + 1, scene));
    session.handle(Event::Derived(Arc::clone(&derived)));
    wait(&mut harness, 4);
    assert!(!texts(&harness).contains(&"…".to_owned()), "the marks do not flicker");
    wait(&mut harness, 12);
    assert_eq!(texts(&harness).iter().filter(|text| *text == "…").count(), 5);
    harness.run_steps(4);
    let delay = harness.output().viewport_output.values().map(|output| output.repaint_delay).min().unwrap();
    assert!(delay.as_secs() > 3600, "late checks repaint after {delay:?}");
    let checked = Arc::new(Checked::of(&derived));
    harness.state_mut().session.handle(Event::Checked(checked));
    harness.run_ok();
    assert!(!texts(&harness).contains(&"…".to_owned()));
}

#[test]
fn weights_computed_elsewhere_fill_the_board_head_by_head() {
    let mut harness = window("maps_from_elsewhere", SMALL);
    assert!(harness.query_by_label("Weights, head 3, 8 × 8").is_some());
    for absent in ["all five", "Scoring", "Add a mask", "every term", "Q, head 3, 8 × 32"] {
        assert!(harness.query_by_label(absent).is_none(), "{absent}");
    }
    harness.get_by_role_and_label(egui::Role::ComboBox, "Query head").click();
    harness.run_ok();
    harness.get_by_label("head 7").click();
    harness.run_ok();
    let rect = harness.get_by_label("Weights, head 7, 8 × 8").rect();
    click_at(&mut harness, rect.min + rect.size() * egui::vec2(1.0 / 16.0, 5.0 / 16.0));
    let pin = harness.state().session.pin().unwrap();
    assert_eq!((pin.query, pin.key), (2, 0));
    let shown = texts(&harness).join("\n");
    for expected in
        ["in the file, as f32: 0.71296", "rank 1 of 8 keys", "computed elsewhere", "8 · 8 = 64 pairs"]
    {
        assert!(shown.contains(expected), "{expected} is missing in\n{shown}");
    }
    for claimed in ["d_k 0", "d_v 0", "÷ √", " 0 MAC", "softmax,"] {
        assert!(!shown.contains(claimed), "{claimed} in\n{shown}");
    }
    harness.get_by_label("all heads").click();
    harness.run_ok();
    assert!(harness.query_by_label("Weights, head 12, 8 × 8").is_some());
    assert_no_id_clash(&harness, "all heads");
}

#[test]
fn whoever_means_to_edit_a_given_weight_learns_why_not() {
    let mut harness = window("maps_from_elsewhere", SMALL);
    let rect = harness.get_by_label("Weights, head 3, 8 × 8").rect();
    let at = rect.min + rect.size() * egui::vec2(0.5 / 8.0, 0.5 / 8.0);
    let said = |harness: &mut Harness<'_, Desk>| {
        let notices = harness.state_mut().session.take_notices();
        notices.into_iter().map(|notice| notice.text).collect::<Vec<_>>()
    };
    click_at(&mut harness, at);
    assert!(said(&mut harness).is_empty());
    harness.event(egui::Event::Text("5".to_owned()));
    harness.run_ok();
    let typed = said(&mut harness);
    assert!(typed.len() == 1 && typed[0].contains("cannot be edited here"), "{typed:?}");
    assert!(harness.state().ui.board.editor.is_none());
    harness.run_steps(40); // beyond the time of a double click
    for pressed in [true, false, true, false] {
        let (button, modifiers) = (egui::PointerButton::Primary, Modifiers::NONE);
        harness.event(egui::Event::PointerButton { pos: at, button, pressed, modifiers });
        harness.step();
    }
    harness.run_ok();
    let clicked = said(&mut harness);
    assert!(clicked.len() == 1 && clicked[0].contains("computed elsewhere"), "{clicked:?}");
    assert_eq!(harness.state().session.focus(), None);
}

#[test]
fn the_tokens_of_given_weights_are_renamed_but_neither_added_nor_removed() {
    let mut harness = window("maps_from_elsewhere", SMALL);
    harness.get_by_role_and_label(egui::Role::Button, "Tokens").click();
    harness.run_ok();
    assert!(
        harness.query_by_label("Label of querie 1").is_some()
            || harness.query_by_label("Label of key 1").is_some()
    );
    for absent in ["Add a position", "Remove key 1", "heads"] {
        assert!(harness.query_by_label(absent).is_none(), "{absent}");
    }
}

#[test]
fn no_empty_chart_of_given_weights_is_offered_for_export() {
    let mut harness = window("maps_from_elsewhere", SMALL);
    harness.state_mut().session.apply(Command::Show(Centre::Calculators));
    harness.run_ok();
    harness.key_press_modifiers(Modifiers::COMMAND, Key::E);
    harness.run_ok();
    harness.get_by_label("Preview of the export");
    harness.get_by_role_and_label(egui::Role::ComboBox, "Figure").click();
    harness.run_ok();
    let shown = texts(&harness);
    for offered in ["Board", "All heads", "Trace of the pinned cell", "Weights"] {
        assert!(shown.iter().any(|text| text == offered), "{offered} in {shown:?}");
    }
    for absent in ["Q", "Raw scores", "Output"] {
        assert!(!shown.iter().any(|text| text == absent), "{absent} in {shown:?}");
    }
    assert!(!shown.iter().any(|text| text.starts_with("Chart")), "{shown:?}");
}

/// The window of a scene that is written out here.
fn window_on(text: &str) -> Harness<'static, Desk> {
    let scene = qkv::scene::read(text, &mut |_| Err(std::io::ErrorKind::NotFound.into())).unwrap();
    window_of(Session::new(Document::new(Arc::new(scene), Origin::Untitled, text.into())), SMALL)
}

#[test]
fn a_scene_without_keys_is_said_to_have_nothing_to_count_and_nothing_is_called_wrong() {
    let harness = window_on("Scene(input: Heads(q: [[[1, 0]]], k: [[]], v: [[]]))");
    let shown = texts(&harness);
    let calm =
        shown.iter().filter(|text| text.contains("no keys, and so no values: there is nothing to count"));
    assert_eq!(calm.count(), 2, "once in each calculator: {shown:#?}");
    assert!(!shown.iter().any(|text| text.contains("must be") || text.contains("at least 1")), "{shown:#?}");
}
