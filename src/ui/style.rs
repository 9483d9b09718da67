//! The application's own look, in one place: colours, sizes and spacing of both themes.

use egui::{
    Color32, CornerRadius, FontFamily, FontId, Margin, Stroke, Style, TextStyle, Theme, Visuals, vec2,
};

/// Colours of one theme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colors {
    /// Behind the panels.
    pub panel: Color32,
    /// Behind the board.
    pub paper: Color32,
    /// Text.
    pub ink: Color32,
    /// Captions and secondary text.
    pub muted: Color32,
    /// The one accent.
    pub accent: Color32,
    /// The accent as a ground for text.
    pub accent_soft: Color32,
    /// Thin rules.
    pub rule: Color32,
    /// Buttons and fields at rest.
    pub field: Color32,
    /// Buttons and fields under the pointer.
    pub field_hover: Color32,
    /// Something holds.
    pub good: Color32,
    /// Something failed.
    pub bad: Color32,
    /// The ground of a failure.
    pub bad_soft: Color32,
    /// Something to know.
    pub warn: Color32,
    /// Q, K, weights, V and output, as in the figures.
    pub weights: Color32,
    /// Output and values.
    pub output: Color32,
}

const LIGHT: Colors = Colors {
    panel: Color32::from_rgb(0xff, 0xff, 0xff),
    paper: Color32::from_rgb(0xf7, 0xf8, 0xfa),
    ink: Color32::from_rgb(0x1f, 0x23, 0x30),
    muted: Color32::from_rgb(0x62, 0x6a, 0x7a),
    accent: Color32::from_rgb(0x2f, 0x55, 0xc8),
    accent_soft: Color32::from_rgb(0xe7, 0xec, 0xfb),
    rule: Color32::from_rgb(0xe2, 0xe5, 0xea),
    field: Color32::from_rgb(0xf1, 0xf3, 0xf6),
    field_hover: Color32::from_rgb(0xe6, 0xe9, 0xef),
    good: Color32::from_rgb(0x1a, 0x7f, 0x4b),
    bad: Color32::from_rgb(0xb3, 0x26, 0x1e),
    bad_soft: Color32::from_rgb(0xfc, 0xec, 0xea),
    warn: Color32::from_rgb(0x8a, 0x5a, 0x00),
    weights: Color32::from_rgb(0x6b, 0x3f, 0xa0),
    output: Color32::from_rgb(0x1f, 0x7f, 0x55),
};

const DARK: Colors = Colors {
    panel: Color32::from_rgb(0x1b, 0x1d, 0x23),
    paper: Color32::from_rgb(0x15, 0x17, 0x1c),
    ink: Color32::from_rgb(0xe6, 0xe8, 0xee),
    muted: Color32::from_rgb(0x9a, 0xa2, 0xb1),
    accent: Color32::from_rgb(0x8a, 0xab, 0xff),
    accent_soft: Color32::from_rgb(0x27, 0x33, 0x55),
    rule: Color32::from_rgb(0x31, 0x35, 0x3e),
    field: Color32::from_rgb(0x26, 0x29, 0x31),
    field_hover: Color32::from_rgb(0x30, 0x34, 0x3e),
    good: Color32::from_rgb(0x5f, 0xc9, 0x92),
    bad: Color32::from_rgb(0xff, 0x8a, 0x80),
    bad_soft: Color32::from_rgb(0x40, 0x22, 0x22),
    warn: Color32::from_rgb(0xe8, 0xb8, 0x5a),
    weights: Color32::from_rgb(0xb9, 0x97, 0xea),
    output: Color32::from_rgb(0x7c, 0xd0, 0xa6),
};

impl Colors {
    /// The colours of a theme.
    pub const fn of(theme: Theme) -> Self {
        match theme {
            Theme::Light => LIGHT,
            Theme::Dark => DARK,
        }
    }

    /// The colours in force.
    pub fn in_use(ui: &egui::Ui) -> Self {
        Self::of(ui.ctx().theme())
    }
}

/// Bold text of the interface.
pub fn bold() -> FontFamily {
    FontFamily::Name("Bold".into())
}

/// Size of a heading inside a panel.
pub const SECTION_SIZE: f32 = 13.5;

/// Installs both themes.
pub fn install(ctx: &egui::Context) {
    for theme in [Theme::Light, Theme::Dark] {
        ctx.set_style_of(theme, style(theme));
    }
}

fn style(theme: Theme) -> Style {
    let mut style = Style { visuals: visuals(theme), ..Style::default() };
    style.text_styles = [
        (TextStyle::Small, FontId::proportional(11.5)),
        (TextStyle::Body, FontId::proportional(13.5)),
        (TextStyle::Button, FontId::proportional(13.5)),
        (TextStyle::Heading, FontId::new(17.0, bold())),
        (TextStyle::Monospace, FontId::monospace(12.5)),
    ]
    .into();
    style.spacing.item_spacing = vec2(8.0, 5.0);
    style.spacing.button_padding = vec2(8.0, 3.0);
    style.spacing.menu_margin = Margin::same(6);
    style.spacing.interact_size.y = 22.0;
    style.spacing.combo_width = 60.0;
    style.spacing.scroll = egui::style::ScrollStyle::thin();
    style.interaction.selectable_labels = false;
    style.interaction.tooltip_delay = 0.35;
    style.animation_time = 0.08;
    style
}

fn visuals(theme: Theme) -> Visuals {
    let colors = Colors::of(theme);
    let mut visuals = match theme {
        Theme::Light => Visuals::light(),
        Theme::Dark => Visuals::dark(),
    };
    visuals.panel_fill = colors.panel;
    visuals.window_fill = colors.panel;
    visuals.extreme_bg_color = colors.field;
    visuals.faint_bg_color = colors.field;
    visuals.code_bg_color = colors.field;
    visuals.hyperlink_color = colors.accent;
    visuals.warn_fg_color = colors.warn;
    visuals.error_fg_color = colors.bad;
    visuals.selection.bg_fill = colors.accent_soft;
    visuals.selection.stroke = Stroke::new(1.0, colors.accent);
    visuals.window_stroke = Stroke::new(1.0, colors.rule);
    visuals.window_corner_radius = CornerRadius::same(8);
    visuals.menu_corner_radius = CornerRadius::same(6);
    visuals.override_text_color = None;
    let radius = CornerRadius::same(5);
    let widgets = &mut visuals.widgets;
    for (widget, fill) in [
        (&mut widgets.noninteractive, colors.panel),
        (&mut widgets.inactive, colors.field),
        (&mut widgets.hovered, colors.field_hover),
        (&mut widgets.active, colors.accent_soft),
        (&mut widgets.open, colors.field_hover),
    ] {
        widget.bg_fill = fill;
        widget.weak_bg_fill = fill;
        widget.bg_stroke = Stroke::NONE;
        widget.fg_stroke = Stroke::new(1.0, colors.ink);
        widget.corner_radius = radius;
        widget.expansion = 0.0;
    }
    widgets.noninteractive.bg_stroke = Stroke::new(1.0, colors.rule);
    widgets.hovered.bg_stroke = Stroke::new(1.0, colors.rule);
    widgets.active.bg_stroke = Stroke::new(1.0, colors.accent);
    visuals
}
