//! The calculators in the centre of the window, driven by the names of their parts.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
#![cfg(feature = "gui")]

mod ui_harness;

use egui::{Key, Modifiers, Vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use qkv::cost::{Configuration, KvShape, LayerGroup, LayerKind, RowTypes, StorageType, preset, presets};
use qkv::session::{Calculate, Centre, Command, Document, Effect, Export, Phase, Session, Settings, Topic};
use qkv::ui::{Dialog, PathField, PathPurpose, Wish};
use ui_harness::{Desk, SMALL, window_of};

const TOPICS: [Topic; 5] =
    [Topic::Memory, Topic::Arithmetic, Topic::Generation, Topic::Speed, Topic::SideBySide];

fn calculators(scene: &str, size: Vec2, wishes: Vec<Calculate>) -> Harness<'static, Desk> {
    let mut session = Session::new(Document::bundled(scene).unwrap());
    session.apply(Command::Show(Centre::Calculators));
    for wish in wishes {
        session.apply(Command::Calculate(wish));
    }
    window_of(session, size)
}

/// Everything that is written in the window.
fn texts(harness: &Harness<'_, Desk>) -> String {
    ui_harness::texts(harness).join("\n")
}

fn add(configuration: Configuration) -> Calculate {
    Calculate::Add(Box::new(configuration))
}

fn published(id: &str) -> Calculate {
    add(preset(id).unwrap().configuration().unwrap())
}

fn llama() -> Calculate {
    let model = preset("llama-3.1-8b").unwrap().configuration().unwrap();
    add(Configuration { tokens: 8000, ..model })
}

fn type_over(harness: &mut Harness<'_, Desk>, text: &str) {
    harness.key_press_modifiers(Modifiers::COMMAND, Key::A);
    harness.event(egui::Event::Text(text.to_owned()));
    harness.run_ok();
    harness.key_press(Key::Enter);
    harness.run_ok();
}

#[test]
fn open_beside_the_board_fills_the_centre_and_esc_returns_to_the_board() {
    let mut harness = calculators("three_positions", SMALL, Vec::new());
    harness.state_mut().session.apply(Command::Show(Centre::Board));
    harness.run_ok();
    harness.get_by_label("Open cache memory").click();
    harness.run_ok();
    let session = &harness.state().session;
    assert_eq!((session.centre(), session.calculators().topic), (Centre::Calculators, Topic::Memory));
    harness.get_by_label("Open complexity").click();
    harness.run_ok();
    assert_eq!(harness.state().session.calculators().topic, Topic::Arithmetic);
    harness.key_press(Key::Escape);
    harness.run_ok();
    assert_eq!(harness.state().session.centre(), Centre::Board);
}

#[test]
fn every_published_model_has_figures_in_every_topic() {
    let mut harness = calculators("three_positions", SMALL, Vec::new());
    for preset in presets() {
        let session = &mut harness.state_mut().session;
        session.apply(Command::Calculate(Calculate::Remove(1)));
        session.apply(Command::Calculate(add(preset.configuration().unwrap())));
        for topic in TOPICS {
            harness.state_mut().session.apply(Command::Calculate(Calculate::Show(topic)));
            harness.run_ok();
            let shown = texts(&harness);
            assert!(!(shown.contains("use of") && shown.contains("ID")), "{} {topic:?}: {shown}", preset.id);
            let odd = shown.split_whitespace().find(|word| ["NaN", "inf", "−inf"].contains(word));
            assert_eq!(odd, None, "{} {topic:?}: {shown}", preset.id);
        }
    }
}

#[test]
fn the_cache_of_the_reading_is_substituted_in_full() {
    let harness = calculators("three_positions", SMALL, vec![llama()]);
    let shown = texts(&harness);
    for text in ["1,048,576,000 B", "1.05 GB, 0.98 GiB", "131,072 B", "8,000"] {
        assert!(shown.contains(text), "{text} is not in {shown}");
    }
}

#[test]
fn a_model_is_found_by_its_name_and_stands_beside_the_scene() {
    let mut harness = calculators("three_positions", SMALL, Vec::new());
    harness.get_by_label("+ add a model").click();
    harness.run_ok();
    harness.event(egui::Event::Text("deepseek-v3".to_owned()));
    harness.run_ok();
    assert!(texts(&harness).contains("github.com/deepseek-ai"), "the source is on screen");
    harness.key_press(Key::Enter);
    harness.run_ok();
    let columns = harness.state().session.columns();
    assert_eq!(columns.len(), 2);
    assert!(columns[1].name.starts_with("DeepSeek-V3"), "{}", columns[1].name);
    assert!(texts(&harness).contains("70,272 B"));
}

#[test]
fn changing_a_size_of_the_scene_changes_a_copy() {
    let mut harness = calculators("three_positions", SMALL, Vec::new());
    let field = harness.get_by_role_and_label(egui::accesskit::Role::SpinButton, "tokens");
    field.click();
    harness.run_ok();
    type_over(&mut harness, "128Ki");
    let session = &harness.state().session;
    let tokens: Vec<u64> = session.columns().iter().map(|column| column.tokens).collect();
    assert_eq!(tokens, [3, 131_072]);
    assert_eq!(session.scene().n_k(), 3);
}

#[test]
fn a_drag_goes_on_while_the_scene_turns_into_a_copy_and_a_sentence_appears_above() {
    let mut harness = calculators("two_heads", SMALL, Vec::new());
    let at =
        harness.get_by_role_and_label(egui::accesskit::Role::SpinButton, "value width d_v").rect().center();
    let (button, modifiers) = (egui::PointerButton::Primary, Modifiers::NONE);
    harness.event(egui::Event::PointerMoved(at));
    harness.event(egui::Event::PointerButton { pos: at, button, pressed: true, modifiers });
    harness.step();
    let mut widths = Vec::new();
    for step in 1..=40 {
        harness.event(egui::Event::PointerMoved(at + Vec2::new(10.0 * step as f32, 0.0)));
        harness.step();
        // Someone else's mistake, told above the field that is being dragged.
        if step == 20 {
            let session = &mut harness.state_mut().session;
            let mut wrong = session.columns().remove(1);
            wrong.heads = 0;
            session.apply(Command::Calculate(Calculate::Change(Box::new(wrong))));
        }
        let columns = harness.state().session.columns();
        widths.extend(columns.get(1).and_then(|own| own.groups[0].kind.shape()).map(|shape| shape.d_v));
    }
    assert_eq!(harness.state().session.columns().len(), 2);
    assert!(texts(&harness).contains("needs at least 1"));
    let (middle, last) = (widths[widths.len() / 2], widths[widths.len() - 1]);
    assert!(widths[0] <= middle && middle < last, "{widths:?}");
}

#[test]
fn a_click_on_a_factor_leads_to_its_field() {
    let mut harness = calculators("three_positions", SMALL, vec![llama()]);
    // The first number of the formula of a token: KV heads.
    let factor = harness.query_all_by_label("128").next().unwrap();
    factor.click();
    harness.run_ok();
    // The field has the keyboard: what is typed is the new key width, and values stay as wide as keys.
    type_over(&mut harness, "64");
    let groups = &harness.state().session.columns()[1].groups;
    assert_eq!(groups[0].kind, LayerKind::Full(KvShape::square(8, 64)));
}

#[test]
fn what_is_wrong_stands_once_below_the_field_that_caused_it() {
    let shape = KvShape::square(3, 64);
    let wrong = Configuration {
        heads: 32,
        groups: vec![
            LayerGroup::new(2, LayerKind::Full(KvShape::square(8, 64))),
            LayerGroup::new(2, LayerKind::Window { window: 16, shape }),
        ],
        ..Configuration::default()
    };
    for topic in [Topic::Memory, Topic::Arithmetic, Topic::Generation, Topic::Speed] {
        let harness = calculators(
            "three_positions",
            Vec2::new(1280.0, 1400.0),
            vec![add(wrong.clone()), Calculate::Show(topic)],
        );
        let sentence = "32 query heads cannot be shared out over 3 KV heads";
        let complaint =
            harness.query_all_by_label_contains(sentence).map(|node| node.rect()).collect::<Vec<_>>();
        let fields: Vec<_> = harness
            .query_all_by_role_and_label(egui::accesskit::Role::SpinButton, "KV heads")
            .map(|node| node.rect())
            .collect();
        assert_eq!((complaint.len(), fields.len()), (1, 2), "{topic:?}");
        assert!(complaint[0].top() >= fields[1].bottom(), "{topic:?}: below the second group");
        assert!(complaint[0].top() - fields[1].bottom() < 12.0, "{topic:?}: {complaint:?} {fields:?}");
    }
}

#[test]
fn every_wrong_input_is_a_sentence_and_never_a_panic() {
    let model = Configuration::default;
    let group = |kind| vec![LayerGroup::new(1, kind)];
    let wrong = [
        (Configuration { heads: 0, ..model() }, "needs at least 1"),
        (Configuration { tokens: u64::MAX, sequences: u64::MAX, ..model() }, "128 bits"),
        (
            Configuration {
                groups: group(LayerKind::Window { window: 0, shape: KvShape::square(8, 64) }),
                ..model()
            },
            "window",
        ),
        (
            Configuration {
                groups: vec![LayerGroup::new(0, LayerKind::Full(KvShape::square(8, 64)))],
                ..model()
            },
            "layers",
        ),
        (
            Configuration {
                types: RowTypes::both(StorageType::q8_0),
                groups: group(LayerKind::Full(KvShape::square(1, 33))),
                ..model()
            },
            "whole blocks of 32",
        ),
    ];
    for (configuration, words) in wrong {
        for topic in TOPICS {
            let wishes = vec![add(configuration.clone()), Calculate::Show(topic)];
            let harness = calculators("three_positions", SMALL, wishes);
            let shown = texts(&harness);
            if topic == Topic::Memory {
                assert!(shown.contains(words), "{words} is not in {shown}");
            }
        }
    }
}

#[test]
fn generation_without_a_cache_costs_what_the_reading_says() {
    let head = Configuration {
        heads: 1,
        d_model: 64,
        groups: vec![LayerGroup::new(1, LayerKind::Full(KvShape::square(1, 64)))],
        ..Configuration::default()
    };
    // The reading's script leaves W_O out, as the scene does.
    let mut harness = calculators("two_positions", SMALL, vec![Calculate::Show(Topic::Generation)]);
    let shown = texts(&harness);
    assert!(shown.contains("6.0× the projections") && shown.contains("8.5× the projections"), "{shown}");
    harness.state_mut().session.apply(Command::Calculate(add(head)));
    harness.run_ok();
    let shown = texts(&harness);
    // Running everything again is as many times more with W_O.
    assert!(shown.contains("8.5× the projections") && !shown.contains("6.0× the projections"), "{shown}");
}

#[test]
fn flops_are_twice_the_multiply_adds() {
    let settings = Settings { phase: Phase::Decode, ..Settings::default() };
    let wishes = vec![llama(), Calculate::Show(Topic::Arithmetic), Calculate::Settle(Box::new(settings))];
    let mut harness = calculators("three_positions", SMALL, wishes);
    // 32 layers · 32 heads · 128 · 8,001 keys.
    assert!(texts(&harness).contains("1,048,707,072 MACs"));
    harness.get_by_label("FLOPs").click();
    harness.run_ok();
    assert!(texts(&harness).contains("2,097,414,144 FLOPs"));
}

#[test]
fn figures_are_copied_as_text_latex_and_csv() {
    for (name, part) in [
        ("as text", "needed: L · row · T = 32 · 4,096 · 8,000 = 1,048,576,000 B (1.05 GB, 0.98 GiB)"),
        ("as LaTeX", "1{,}048{,}576{,}000"),
        ("as CSV", "\"needed\",1048576000,B"),
    ] {
        let mut harness = calculators("three_positions", SMALL, vec![llama()]);
        harness.get_by_label("Copy the figures").click();
        harness.run_ok();
        harness.get_by_label(name).click();
        harness.run_ok();
        let copied = harness.state().effects.iter().find_map(|effect| match effect {
            Effect::CopyText(text) => Some(text.clone()),
            _ => None,
        });
        let copied = copied.unwrap();
        assert!(copied.contains(part), "{part} is not in {copied}");
    }
}

#[test]
fn a_chart_leaves_as_a_figure_and_the_sizes_as_a_file() {
    let mut harness = calculators("three_positions", SMALL, vec![llama()]);
    harness.get_by_label("Export the chart cache memory over tokens").click();
    harness.run_ok();
    harness.get_by_label("SVG…").click();
    harness.run_ok();
    harness.get_by_label("Save these sizes as a file").click();
    harness.run_ok();
    let names: Vec<String> = harness
        .state()
        .effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::AskWhereToExport(Export::Figure(figure)) => Some(figure.suggested_name.clone()),
            Effect::AskWhereToExport(Export::Text { suggested_name, .. }) => Some(suggested_name.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(names, ["cache_memory_over_tokens.svg", "llama-3.1-8b.ron"]);
}

#[test]
fn a_typed_path_is_taken_with_enter() {
    let mut harness = calculators("three_positions", SMALL, Vec::new());
    let field = PathField { purpose: PathPurpose::Configuration, text: String::new(), reason: None };
    harness.state_mut().ui.dialog = Some(Dialog::Path(field));
    harness.run_ok();
    type_over(&mut harness, "~/models/own.ron");
    assert!(harness.state().ui.dialog.is_none());
    assert_eq!(harness.state().wishes, [Wish::ConfigurationTyped("~/models/own.ron".to_owned())]);
}

#[test]
fn up_to_four_stand_side_by_side_with_the_scene_always_first() {
    let wishes =
        vec![llama(), published("deepseek-v3"), published("gpt-oss-20b"), Calculate::Show(Topic::SideBySide)];
    let harness = calculators("three_positions", SMALL, wishes);
    let shown = texts(&harness);
    for text in [
        "This scene",
        "Llama 3.1 8B",
        "DeepSeek-V3",
        "gpt-oss 20B",
        "1.05 GB",
        "575.67 MB",
        "12 window + 12 full",
    ] {
        assert!(shown.contains(text), "{text} is not in {shown}");
    }
}

#[test]
fn an_idle_calculator_asks_for_no_repaint() {
    let mut harness = calculators("three_positions", SMALL, vec![llama()]);
    harness.run_steps(6);
    let delay = harness.output().viewport_output.values().map(|output| output.repaint_delay).min().unwrap();
    assert!(delay.as_secs() > 3600, "repaints after {delay:?}");
}

#[test]
fn of_given_weights_only_what_needs_no_width_is_counted_and_nothing_is_marked_wrong() {
    for topic in TOPICS {
        let harness = calculators("maps_from_elsewhere", SMALL, vec![Calculate::Show(topic)]);
        let shown = texts(&harness);
        assert!(!shown.contains("marked in red"), "{topic:?}: {shown}");
        if topic == Topic::SideBySide {
            assert!(shown.contains("–"), "{shown}");
            continue;
        }
        for text in ["8 · 8 = 64 pairs", "gives only the weights", "Add a model above"] {
            assert!(shown.contains(text), "{topic:?}: {text} is not in {shown}");
        }
        assert!(harness.query_by_label("Save these sizes as a file").is_none());
    }
}

#[test]
fn beside_given_weights_a_model_and_own_sizes_are_counted_as_ever() {
    let mut harness = calculators("maps_from_elsewhere", SMALL, vec![llama()]);
    assert!(texts(&harness).contains("1,048,576,000 B"));
    harness.state_mut().session.apply(Command::Calculate(Calculate::Show(Topic::SideBySide)));
    harness.run_ok();
    let shown = texts(&harness);
    assert!(shown.contains("1.05 GB") && !shown.contains("key width is 0"), "{shown}");
    harness.state_mut().session.apply(Command::Calculate(Calculate::Select(0)));
    harness.state_mut().session.apply(Command::Calculate(Calculate::Show(Topic::Memory)));
    harness.run_ok();
    harness.get_by_label("+ add a model").click();
    harness.run_ok();
    harness.get_by_label("Own sizes").click();
    harness.run_ok();
    let session = &harness.state().session;
    assert_eq!((session.calculators().selected, session.columns().len()), (2, 3));
    assert!(session.columns()[2].plan().is_ok(), "own sizes begin with widths that can be");
}
