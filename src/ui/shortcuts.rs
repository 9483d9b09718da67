//! What the keyboard does: one table from actions to keys.

use egui::{Key, KeyboardShortcut, Modifiers};

use super::Action;

const CTRL: Modifiers = Modifiers::COMMAND;
const CTRL_SHIFT: Modifiers = Modifiers::COMMAND.plus(Modifiers::SHIFT);

/// The keys of an action, the first one shown in menus.
pub fn keys_of(action: Action) -> &'static [KeyboardShortcut] {
    const fn key(modifiers: Modifiers, key: Key) -> KeyboardShortcut {
        KeyboardShortcut::new(modifiers, key)
    }
    match action {
        Action::New => const { &[key(CTRL, Key::N)] },
        Action::Open => const { &[key(CTRL, Key::O)] },
        Action::OpenPath => const { &[key(CTRL_SHIFT, Key::O)] },
        Action::Save => const { &[key(CTRL, Key::S)] },
        Action::SaveAs => const { &[key(CTRL_SHIFT, Key::S)] },
        Action::Reload => const { &[key(CTRL, Key::R), key(Modifiers::NONE, Key::F5)] },
        Action::Export => const { &[key(CTRL, Key::E)] },
        Action::CopyFigure => const { &[key(CTRL_SHIFT, Key::C)] },
        Action::Quit => const { &[key(CTRL, Key::Q)] },
        Action::Undo => const { &[key(CTRL, Key::Z)] },
        Action::Redo => const { &[key(CTRL_SHIFT, Key::Z), key(CTRL, Key::Y)] },
        Action::ToggleScenes => const { &[key(CTRL, Key::B)] },
        Action::ToggleInspector => const { &[key(CTRL, Key::I)] },
        Action::ToggleNotes => const { &[key(CTRL_SHIFT, Key::N)] },
        Action::Present => const { &[key(Modifiers::NONE, Key::F6)] },
        Action::FullScreen => const { &[key(Modifiers::NONE, Key::F11)] },
        Action::ToggleTheme => const { &[key(CTRL_SHIFT, Key::D)] },
        Action::ThreeStages => const { &[key(CTRL, Key::Num3)] },
        Action::FiveStages => const { &[key(CTRL, Key::Num5)] },
        Action::ShowBoard => const { &[key(Modifiers::ALT, Key::Num1)] },
        Action::ShowProjections => const { &[key(Modifiers::ALT, Key::Num2)] },
        Action::ShowHeads => const { &[key(Modifiers::ALT, Key::Num3)] },
        Action::ShowPositions => const { &[key(Modifiers::ALT, Key::Num5)] },
        Action::ShowCalculators => const { &[key(Modifiers::ALT, Key::Num4)] },
        Action::NextHead => const { &[key(Modifiers::ALT, Key::PageDown)] },
        Action::PreviousHead => const { &[key(Modifiers::ALT, Key::PageUp)] },
        Action::NextScene => const { &[key(CTRL, Key::PageDown)] },
        Action::PreviousScene => const { &[key(CTRL, Key::PageUp)] },
        Action::FindScene => const { &[key(CTRL, Key::F)] },
        Action::Shortcuts => const { &[key(Modifiers::NONE, Key::F1)] },
        Action::ZoomFit => const { &[key(Modifiers::ALT, Key::Num0)] },
        Action::WeightsPerRow => const { &[key(CTRL_SHIFT, Key::W)] },
        Action::EditTokens => const { &[key(CTRL, Key::T)] },
        Action::ShowStudy(_) | Action::Unpin | Action::About | Action::EditNotes | Action::RevertView => &[],
    }
}

/// The action whose keys were pressed, longest chord first. Text fields keep their own keys.
pub fn pressed(ctx: &egui::Context) -> Option<Action> {
    let typing = ctx.text_edit_focused();
    let mut table: Vec<(Action, KeyboardShortcut)> = Action::ALL
        .iter()
        .flat_map(|action| keys_of(*action).iter().map(move |keys| (*action, *keys)))
        .collect();
    table.sort_by_key(|(_, keys)| std::cmp::Reverse(weight(keys.modifiers)));
    ctx.input_mut(|input| {
        table
            .into_iter()
            .filter(|(action, _)| !typing || !action.belongs_to_text_fields())
            .find(|(_, keys)| input.consume_shortcut(keys))
            .map(|(action, _)| action)
    })
}

fn weight(modifiers: Modifiers) -> u8 {
    u8::from(modifiers.shift) + u8::from(modifiers.alt) + u8::from(modifiers.command || modifiers.ctrl)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_actions_share_a_key() {
        let mut seen: Vec<(Action, KeyboardShortcut)> = Vec::new();
        for action in Action::ALL {
            for keys in keys_of(*action) {
                if let Some((other, _)) = seen.iter().find(|(_, taken)| taken == keys) {
                    panic!("{other:?} and {action:?} share {keys:?}");
                }
                seen.push((*action, *keys));
            }
        }
    }
}
