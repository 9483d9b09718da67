//! From characters to placed glyphs at size 1: direction, a face for each cluster, shaping.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use harfrust::{Direction, Feature, ShapeOptions, Tag, UnicodeBuffer};
use unicode_bidi::BidiInfo;
use unicode_segmentation::UnicodeSegmentation;

use super::{Face, Glyph};

/// A run of text at size 1: all measures in em.
pub(super) struct Shaped {
    /// Left to right.
    pub glyphs: Vec<Glyph>,
    /// Advance of the whole run.
    pub width: f32,
}

/// Stores what was shaped on this thread; labels recur from frame to frame.
const MAX_STORED: usize = 8192;

type Store = HashMap<Face, HashMap<Box<str>, Rc<Shaped>>>;

thread_local! {
    static STORE: RefCell<Store> = RefCell::default();
}

/// Shapes `content` in `face`, or in fallback faces where it lacks a character.
pub(super) fn shape(content: &str, face: Face) -> Rc<Shaped> {
    STORE.with_borrow_mut(|store| {
        let of_face = store.entry(face).or_default();
        if let Some(shaped) = of_face.get(content) {
            return Rc::clone(shaped);
        }
        if of_face.len() >= MAX_STORED {
            of_face.clear();
        }
        let shaped = Rc::new(Shaper::new(content, face).run());
        of_face.insert(content.into(), Rc::clone(&shaped));
        shaped
    })
}

/// A stretch of text in one face, one direction and one kind of script.
struct Run {
    range: Range<usize>,
    face: Face,
    script: Script,
}

/// Only as fine as shaping needs: Arabic joins, Hebrew and the rest do not mix with it in one run.
#[derive(Clone, Copy, PartialEq)]
enum Script {
    Hebrew,
    Arabic,
    Other,
}

struct Shaper<'a> {
    content: &'a str,
    face: Face,
    glyphs: Vec<Glyph>,
    pen: f32,
}

impl<'a> Shaper<'a> {
    fn new(content: &'a str, face: Face) -> Self {
        Self { content, face, glyphs: Vec::with_capacity(content.len()), pen: 0.0 }
    }

    fn run(mut self) -> Shaped {
        if self.content.chars().any(may_run_right_to_left) {
            self.bidirectional();
        } else {
            self.stretch(0..self.content.len(), false);
        }
        Shaped { glyphs: self.glyphs, width: self.pen }
    }

    /// Each paragraph's stretches in the order in which they are seen. A label is one line, so paragraphs follow each other.
    fn bidirectional(&mut self) {
        let content = self.content;
        let bidi = BidiInfo::new(content, None);
        for paragraph in &bidi.paragraphs {
            let (levels, runs) = bidi.visual_runs(paragraph, paragraph.range.clone());
            for range in runs {
                let right_to_left = levels.get(range.start).is_some_and(|level| level.is_rtl());
                self.stretch(range, right_to_left);
            }
        }
    }

    /// One stretch of one direction, split by face and script.
    fn stretch(&mut self, range: Range<usize>, right_to_left: bool) {
        let mut runs = self.split(range);
        if right_to_left {
            runs.reverse();
        }
        for run in runs {
            match run.face {
                Face::Missing(_) => self.boxes(run.range, right_to_left),
                _ => self.shape_run(&run, right_to_left),
            }
        }
    }

    fn split(&self, range: Range<usize>) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        let mut script = Script::Other;
        let offset = range.start;
        for (start, cluster) in self.content[range].grapheme_indices(true) {
            let start = offset + start;
            script = script_of(cluster).unwrap_or(script);
            let face = face_for(cluster, self.face);
            let range = start..start + cluster.len();
            match runs.last_mut() {
                Some(run) if run.face == face && run.script == script => run.range.end = range.end,
                _ => runs.push(Run { range, face, script }),
            }
        }
        runs
    }

    fn shape_run(&mut self, run: &Run, right_to_left: bool) {
        let Some(font) = run.face.loaded() else { return };
        let mut buffer = UnicodeBuffer::new();
        for (start, character) in self.content[run.range.clone()].char_indices() {
            buffer.add(shown(character), (run.range.start + start) as u32);
        }
        buffer.set_direction(if right_to_left { Direction::RightToLeft } else { Direction::LeftToRight });
        buffer.guess_segment_properties();
        let features = features(run);
        let shaper = font.shaper.shaper(&font.font).build();
        let per_em = 1.0 / shaper.units_per_em().max(1) as f32;
        let shaped = shaper.shape(buffer, ShapeOptions::new().features(&features));
        let ends = cluster_ends(shaped.glyph_infos().iter().map(|info| info.cluster), run.range.end as u32);
        for (info, position) in shaped.glyph_infos().iter().zip(shaped.glyph_positions()) {
            self.glyphs.push(Glyph {
                face: run.face,
                id: u16::try_from(info.glyph_id).unwrap_or(0),
                x: self.pen + position.x_offset as f32 * per_em,
                y: -position.y_offset as f32 * per_em,
                advance: position.x_advance as f32 * per_em,
                start: info.cluster,
                end: ends.get(&info.cluster).copied().unwrap_or(run.range.end as u32),
            });
            self.pen += position.x_advance as f32 * per_em;
        }
    }

    /// A box with the code point for each character that no face has.
    fn boxes(&mut self, range: Range<usize>, right_to_left: bool) {
        let mut characters: Vec<(usize, char)> = self.content[range.clone()].char_indices().collect();
        if right_to_left {
            characters.reverse();
        }
        for (start, character) in characters.into_iter().filter(|&(_, c)| !is_ignorable(c)) {
            let start = range.start + start;
            let code = u32::from(character);
            let (face, id) = (Face::Missing((code >> 16) as u8), (code & 0xFFFF) as u16);
            let (advance, end) = (face.advance(id), start + character.len_utf8());
            let (start, end) = (start as u32, end as u32);
            self.glyphs.push(Glyph { face, id, x: self.pen, y: 0.0, advance, start, end });
            self.pen += advance;
        }
    }
}

/// The end of each cluster: where the next one starts, in reading order.
fn cluster_ends(starts: impl Iterator<Item = u32>, end_of_run: u32) -> HashMap<u32, u32> {
    let mut starts: Vec<u32> = starts.collect();
    starts.sort_unstable();
    starts.dedup();
    let ends = starts.iter().skip(1).copied().chain([end_of_run]);
    starts.iter().copied().zip(ends).collect()
}

/// Inter would turn `->` into an arrow and `0x8` into a product; a token must be shown as it is written.
fn features(run: &Run) -> Vec<Feature> {
    let literal = run.script == Script::Other && !matches!(run.face, Face::Emoji | Face::System);
    let off = |tag: &[u8; 4]| Feature::new(Tag::new(tag), 0, ..);
    if literal { vec![off(b"calt"), off(b"liga"), off(b"clig")] } else { Vec::new() }
}

/// The face that covers a whole grapheme cluster: the one asked for if it can, otherwise the first fallback that can.
fn face_for(cluster: &str, asked: Face) -> Face {
    let covers = |face: Face| cluster.chars().all(|c| is_ignorable(c) || face.glyph(shown(c)).is_some());
    if covers(asked) && !is_emoji(cluster) {
        return asked;
    }
    if is_emoji(cluster) && covers(Face::Emoji) {
        return Face::Emoji;
    }
    let base = cluster.chars().find(|&c| !is_ignorable(c)).unwrap_or(' ');
    asked
        .fallbacks()
        .into_iter()
        .find(|&face| covers(face))
        .or_else(|| asked.fallbacks().into_iter().find(|face| face.glyph(shown(base)).is_some()))
        .unwrap_or(Face::Missing(0))
}

/// What stands for a character: line breaks and tabs as signs, other controls as U+FFFD, so that nothing is invisible.
fn shown(character: char) -> char {
    match character {
        '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => '\u{21B5}',
        '\t' => '\u{21E5}',
        '\0'..='\u{1F}' | '\u{7F}'..='\u{9F}' | '\u{FFFE}' | '\u{FFFF}' => '\u{FFFD}',
        _ => character,
    }
}

/// Joiners, selectors and marks of direction: they shape their neighbours and have no look of their own.
fn is_ignorable(character: char) -> bool {
    matches!(character,
        '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{E0000}'..='\u{E0FFF}')
}

fn is_emoji(cluster: &str) -> bool {
    cluster.chars().any(|c| matches!(c, '\u{1F000}'..='\u{1FAFF}' | '\u{FE0F}'))
}

fn script_of(cluster: &str) -> Option<Script> {
    cluster.chars().find_map(|c| match c {
        '\u{590}'..='\u{5FF}' | '\u{FB1D}'..='\u{FB4F}' => Some(Script::Hebrew),
        '\u{600}'..='\u{8FF}' | '\u{FB50}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFC}' => Some(Script::Arabic),
        c if c.is_alphabetic() => Some(Script::Other),
        _ => None,
    })
}

/// A quick look that spares the bidirectional algorithm for most labels.
fn may_run_right_to_left(character: char) -> bool {
    matches!(character,
        '\u{590}'..='\u{8FF}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}'
        | '\u{FB1D}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFC}' | '\u{10800}'..='\u{10FFF}' | '\u{1E800}'..='\u{1EFFF}')
}
