//! The scene inside a figure: written by the three writers, read back from a file of any of them.

use quick_xml::Reader;
use quick_xml::events::Event;

use super::paint;

/// Keyword of the PNG text chunk.
pub(super) const PNG_KEYWORD: &str = "qkv-scene";
/// Name of the file attached to a PDF.
pub(super) const PDF_FILE_NAME: &str = "scene.ron";
/// Its type, and how PDF spells that as a name.
pub(super) const PDF_MEDIA_TYPE: &str = "text/x-qkv-scene";
const PDF_SUBTYPE: &[u8] = b"/Subtype/text#2Fx-qkv-scene";
/// Element of the SVG metadata.
const SVG_ELEMENT: &str = "qkv:scene";

/// More than any scene, and a bound on what a hostile file can make us hold.
const MAX_SCENE_BYTES: usize = 64 << 20;

/// The scene that made a figure, if the bytes are an SVG, PNG or PDF written with one. Figures saved again by other programs may
/// have lost it.
pub fn scene_of_figure(bytes: &[u8]) -> Option<String> {
    if bytes.starts_with(b"\x89PNG") {
        of_png(bytes)
    } else if bytes.starts_with(b"%PDF") {
        of_pdf(bytes)
    } else {
        of_svg(std::str::from_utf8(bytes).ok()?)
    }
}

/// Writes the SVG metadata element.
pub(super) fn push_svg(out: &mut String, scene: &str) {
    out.push_str("<metadata><qkv:scene xmlns:qkv=\"urn:qkv:scene\" xml:space=\"preserve\">");
    paint::push_escaped(out, scene);
    out.push_str("</qkv:scene></metadata>\n");
}

fn of_svg(text: &str) -> Option<String> {
    let mut reader = Reader::from_str(text);
    let mut scene: Option<String> = None;
    loop {
        match (reader.read_event().ok()?, &mut scene) {
            (Event::Start(start), _) if start.name().0 == SVG_ELEMENT => scene = Some(String::new()),
            (Event::End(end), Some(_)) if end.name().0 == SVG_ELEMENT => return scene,
            (Event::Text(text), Some(scene)) => scene.push_str(&text),
            (Event::CData(text), Some(scene)) => scene.push_str(&text),
            (Event::GeneralRef(reference), Some(scene)) => {
                let character = match reference.resolve_char_ref().ok()? {
                    Some(character) => character.to_string(),
                    None => quick_xml::escape::resolve_xml_entity(&reference)?.to_owned(),
                };
                scene.push_str(&character);
            }
            (Event::Eof, _) => return None,
            _ => {}
        }
    }
}

fn of_png(bytes: &[u8]) -> Option<String> {
    let limits = ::png::Limits { bytes: MAX_SCENE_BYTES };
    let decoder = ::png::Decoder::new_with_limits(std::io::Cursor::new(bytes), limits);
    let reader = decoder.read_info().ok()?;
    let chunk = reader.info().utf8_text.iter().find(|chunk| chunk.keyword == PNG_KEYWORD)?;
    let mut chunk = chunk.clone();
    chunk.decompress_text_with_limit(MAX_SCENE_BYTES).ok()?;
    chunk.get_text().ok()
}

/// The attached file's stream. It is written uncompressed, so that reading it needs no PDF library.
fn of_pdf(bytes: &[u8]) -> Option<String> {
    let subtype = find(bytes, PDF_SUBTYPE).or_else(|| find(bytes, b"/Subtype /text#2Fx-qkv-scene"))?;
    let object = bytes[..subtype].windows(4).rposition(|window| window == b" obj")?;
    let stream = subtype + find(&bytes[subtype..], b"stream")?;
    let length = dictionary_length(&bytes[object..stream])?;
    let mut start = stream + b"stream".len();
    start += usize::from(bytes.get(start) == Some(&b'\r'));
    start += usize::from(bytes.get(start) == Some(&b'\n'));
    let end = start.checked_add(length).filter(|_| length <= MAX_SCENE_BYTES)?;
    String::from_utf8(bytes.get(start..end)?.to_vec()).ok()
}

/// The number after `/Length` in a stream's dictionary; `None` for a compressed stream.
fn dictionary_length(dictionary: &[u8]) -> Option<usize> {
    if find(dictionary, b"/Filter").is_some() {
        return None;
    }
    let after = find(dictionary, b"/Length")? + b"/Length".len();
    let digits: Vec<u8> = dictionary[after..]
        .iter()
        .copied()
        .skip_while(u8::is_ascii_whitespace)
        .take_while(u8::is_ascii_digit)
        .collect();
    std::str::from_utf8(&digits).ok()?.parse().ok()
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_figure_holds_no_scene() {
        let broken: [&[u8]; 7] = [
            b"",
            b"<svg",
            b"<svg><metadata><qkv:scene>cut",
            b"\x89PNG\r\n\x1a\n",
            b"%PDF-1.7 /Subtype/text#2Fx-qkv-scene",
            b"%PDF-1.7 1 0 obj<</Subtype/text#2Fx-qkv-scene/Length 99999999999999999999>>stream\n",
            b"%PDF-1.7 1 0 obj<</Subtype/text#2Fx-qkv-scene/Length 50>>stream\nshort",
        ];
        for bytes in broken {
            assert_eq!(scene_of_figure(bytes), None, "{:?}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn an_element_saved_again_with_other_escapes_is_still_read() {
        let svg = "<svg><metadata><qkv:scene xmlns:qkv=\"urn:qkv:scene\">a &#60; b &amp;&#x26; <![CDATA[c < d]]></qkv:scene>\
                   </metadata></svg>";
        assert_eq!(scene_of_figure(svg.as_bytes()).as_deref(), Some("a < b && c < d"));
    }
}
