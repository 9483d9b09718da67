//! A figure like those the board makes: annotated matrices side by side with labels of many scripts and a formula.

use qkv::figure::{
    Anchor, Cells, Color, Drawing, Face, Grid, Item, Label, MatrixId, Point, Polyline, Rect, RectItem, Size,
    Stroke, formula, text,
};

pub const INK: Color = Color::rgb(0x22, 0x26, 0x2e);
pub const MUTED: Color = Color::rgb(0x6b, 0x72, 0x80);
pub const ACCENT: Color = Color::rgb(0xd9, 0x48, 0x0f);

const CELL: Size = Size { width: 36.0, height: 26.0 };
const TOP: f32 = 96.0;
const LEFT: f32 = 70.0;
const GAP: f32 = 34.0;

pub const TOKENS: [&str; 8] = ["Ġthe", "深", "עברית", "سلام", "😀", "αβ∈ℝ", "R&D <s>", "e\u{301}t√é"];

/// Where the first cell of matrix `matrix_idx` lies.
pub fn origin(matrix_idx: usize) -> Point {
    Point { x: LEFT + matrix_idx as f32 * (8.0 * CELL.width + GAP), y: TOP }
}

/// The middle of a cell.
pub fn cell_center(matrix_idx: usize, row: usize, col: usize) -> Point {
    let Point { x, y } = origin(matrix_idx);
    Point { x: x + (col as f32 + 0.5) * CELL.width, y: y + (row as f32 + 0.5) * CELL.height }
}

/// The fill of a cell: no two in a matrix are equal.
pub fn fill(matrix_idx: usize, row: usize, col: usize) -> Color {
    let step = (row * 8 + col) as u8;
    match matrix_idx {
        0 => Color::rgb(255 - 2 * step, 250 - step, 255),
        1 => Color::rgb(255, 252 - step, 250 - 2 * step),
        _ => Color::rgb(250 - 2 * step, 255 - step, 246 - step),
    }
}

/// Three annotated 8×8 matrices.
pub fn annotated_matrices() -> Drawing {
    let mut items = head();
    let mut grids = Vec::new();
    for (matrix_idx, name) in
        ["scores  ~Q~ ~K~^T", "scaled by  1/√d_k", "weights  W_{head 1}"].into_iter().enumerate()
    {
        let Point { x, y } = origin(matrix_idx);
        let rect = Rect { x, y, width: 8.0 * CELL.width, height: 8.0 * CELL.height };
        let label = Label::markup(name, Face::Bold, 12.0, INK);
        items.extend(label.place(Point { x, y: y - 26.0 }, Anchor::Start));
        items.push(Item::Cells(cells(matrix_idx, rect)));
        items.extend(hatching(matrix_idx));
        items.extend(numbers(matrix_idx));
        items.extend(labels(matrix_idx, rect));
        let matrix = [MatrixId::RawScores, MatrixId::ScaledScores, MatrixId::Weights][matrix_idx];
        grids.push(Grid { matrix, head: 0, rect, rows: 8, cols: 8, transposed: false });
    }
    items.push(pin());
    Drawing {
        readings: Vec::new(),
        size: Size {
            width: LEFT + 3.0 * 8.0 * CELL.width + 2.0 * GAP + 16.0,
            height: TOP + 8.0 * CELL.height + 28.0,
        },
        items,
        grids,
        title: "Scores & weights of “the”".to_owned(),
        description: "Three 8 × 8 matrices; the largest weight is 0.98 at (7, 7), < 1.".to_owned(),
    }
}

fn head() -> Vec<Item> {
    let tex = r"\mathrm{Attention}(Q,K,V)=\mathrm{softmax}\!\left(\frac{QK^{\top}}{\sqrt{d_k}}+M\right)V";
    let set = formula(tex, 14.0, INK).unwrap();
    let mut items = set.at(Point { x: LEFT, y: 36.0 });
    let right = Point { x: LEFT + 24.0 * CELL.width + 2.0 * GAP, y: 36.0 };
    items.push(Item::Text(text("Causal mask, 8 tokens", Face::Regular, 11.0, MUTED, right, Anchor::End)));
    items
}

fn cells(matrix_idx: usize, rect: Rect) -> Cells {
    let fills = (0..64).map(|idx| fill(matrix_idx, idx / 8, idx % 8)).collect();
    Cells { rect, rows: 8, cols: 8, fills, rule: 0.5, rule_color: Color::rgb(255, 255, 255) }
}

/// Diagonal lines over the cells above the diagonal of the last matrix, cut at the cell.
fn hatching(matrix_idx: usize) -> Vec<Item> {
    let stroke = Stroke { width: 0.6, color: Color::rgb(0x9c, 0xa3, 0xaf) };
    let mut items = Vec::new();
    for row in (0..8).filter(|_| matrix_idx == 2) {
        for col in row + 1..8 {
            let Point { x, y } = cell_center(matrix_idx, row, col);
            let (left, top) = (x - CELL.width / 2.0, y - CELL.height / 2.0);
            for step in 1..9 {
                let along = step as f32 * (CELL.width + CELL.height) / 9.0;
                let from = Point { x: left + along.min(CELL.width), y: top + (along - CELL.width).max(0.0) };
                let to = Point { x: left + (along - CELL.height).max(0.0), y: top + along.min(CELL.height) };
                items.push(Item::Polyline(Polyline {
                    points: vec![from, to],
                    stroke,
                    closed: false,
                    dash: None,
                }));
            }
        }
    }
    items
}

fn numbers(matrix_idx: usize) -> Vec<Item> {
    let mut items = Vec::new();
    for row in 0..8 {
        for col in 0..8 {
            let center = cell_center(matrix_idx, row, col);
            let value = (row as f32 * 8.0 + col as f32 - 20.0) * 0.0371;
            let spelled = format!("{value:.3}").replace('-', "\u{2212}");
            let at = Point { x: center.x, y: center.y + 3.6 };
            items.push(Item::Text(text(&spelled, Face::Regular, 10.0, INK, at, Anchor::Middle)));
        }
    }
    items
}

fn labels(matrix_idx: usize, rect: Rect) -> Vec<Item> {
    let mut items = Vec::new();
    for (idx, token) in TOKENS.into_iter().enumerate() {
        let above = Point { x: cell_center(matrix_idx, 0, idx).x, y: rect.y - 7.0 };
        items.push(Item::Text(text(token, Face::Regular, 9.0, INK, above, Anchor::Middle)));
        if matrix_idx == 0 {
            let beside = Point { x: rect.x - 8.0, y: cell_center(0, idx, 0).y + 3.4 };
            items.push(Item::Text(text(token, Face::Regular, 9.0, INK, beside, Anchor::End)));
        }
    }
    let below = Point { x: rect.x, y: rect.bottom() + 16.0 };
    items.push(Item::Text(text("8 × 8, queries ↓ keys →", Face::Italic, 9.0, MUTED, below, Anchor::Start)));
    items
}

fn pin() -> Item {
    let Point { x, y } = origin(2);
    let rect = Rect { x, y: y + 5.0 * CELL.height, width: 8.0 * CELL.width, height: CELL.height };
    let stroke = Some(Stroke { width: 1.5, color: ACCENT });
    Item::Rect(RectItem { rect, radius: 3.0, fill: None, stroke })
}
