//! What the window and the command line share of the file system: reading a scene with the files beside it, and writing
//! without ever leaving half a file.

use std::io::{self, Read as _, Write as _};
use std::path::{Component, Path};
use std::sync::Arc;

use crate::figure::{Face, set_system_fallback};
use crate::scene::{self, Complaint, Scene};

/// The text of a scene file as far as it could be read, and the scene or everything that is wrong with it.
pub struct ReadScene<S = Scene> {
    /// The text; empty where there is none.
    pub text: Arc<str>,
    /// The scene, or the complaints.
    pub result: Result<Arc<S>, Vec<Complaint>>,
}

/// Gives the bytes of a file that a scene names.
pub type FileBytes<'a> = dyn FnMut(&str) -> io::Result<Vec<u8>> + 'a;

/// A scene larger than this is no scene.
const LARGEST_SCENE: u64 = 64 << 20;
/// A tensor file larger than this is not read into memory.
const LARGEST_TENSOR_FILE: u64 = 2 << 30;

/// Reads a scene file. A figure that carries its scene (SVG, PNG, PDF made by this program) opens as that scene.
pub fn read_scene(path: &Path) -> ReadScene {
    let read = read_scene_as(path, |text, files| scene::read(text, files));
    if let Ok(scene) = &read.result {
        lend_font_for(scene);
    }
    read
}

/// Reads a scene file as whatever `read` makes of its text and the files beside it.
pub fn read_scene_as<S>(
    path: &Path,
    read: impl FnOnce(&str, &mut FileBytes<'_>) -> Result<S, Vec<Complaint>>,
) -> ReadScene<S> {
    let bytes = match read_limited(path, LARGEST_SCENE) {
        Ok(bytes) => bytes,
        Err(error) => {
            let sentence = format!("the file cannot be read: {error}");
            return ReadScene { text: "".into(), result: Err(vec![Complaint::error("", sentence)]) };
        }
    };
    let text = crate::export::scene_of_figure(&bytes).map_or_else(|| String::from_utf8(bytes), Ok);
    match text {
        Ok(text) => {
            let folder = path.parent().unwrap_or(Path::new(""));
            let result = read(&text, &mut |name| read_beside(folder, name));
            ReadScene { text: text.into(), result: result.map(Arc::new) }
        }
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let sentence = format!("the file is no text: byte {} is not UTF-8", at + 1);
            ReadScene { text: "".into(), result: Err(vec![Complaint::error("", sentence)]) }
        }
    }
}

/// A file that a scene names, relative to its folder. The model files of the bundled scenes are found everywhere, so that a
/// copy of such a scene, or a figure made from it, opens wherever it lies.
fn read_beside(folder: &Path, name: &str) -> io::Result<Vec<u8>> {
    read_limited(&folder.join(name), LARGEST_TENSOR_FILE)
        .or_else(|error| scene::bundled::file(name).map(<[u8]>::to_vec).ok_or(error))
}

/// Copies the files that a scene names to the new folder of that scene, where they are not there yet. Paths that lead out
/// of the folder are left alone: they go on meaning what they say.
///
/// # Errors
/// A sentence about the first file that cannot be copied, or that is there already with other contents.
pub fn bring_files_along(scene: &Scene, from: &Path, to: &Path) -> Result<(), String> {
    for name in scene::named_files(scene.spec()) {
        let inside = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
        let target = to.join(name);
        if !inside || from.join(name) == target {
            continue;
        }
        let bytes =
            read_beside(from, name).map_err(|error| format!("{name} could not be copied: {error}"))?;
        match std::fs::read(&target) {
            Ok(there) if there == bytes => {}
            Ok(_) => {
                return Err(format!(
                    "another file named {name} lies in that folder; the scene now reads that one"
                ));
            }
            Err(_) => {
                let folder = target.parent().unwrap_or(to);
                std::fs::create_dir_all(folder)
                    .and_then(|()| write_whole(&target, &bytes))
                    .map_err(|error| format!("{name} could not be copied: {error}"))?;
            }
        }
    }
    Ok(())
}

/// Reads a plain file up to `limit` bytes. Pipes and devices, which may never end, are refused.
fn read_limited(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let found = std::fs::metadata(path)?;
    if !found.is_file() {
        let what = if found.is_dir() { "it is a folder" } else { "it is no plain file" };
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        let sentence = format!("it has more than the {limit} bytes that are read");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, sentence));
    }
    Ok(bytes)
}

/// Writes a file so that there is either the old one or the whole new one, whatever happens in between.
///
/// # Errors
/// Whatever the file system says.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = atomic_write_file::AtomicWriteFile::open(path)?;
    file.write_all(bytes)?;
    file.commit()
}

/// Where systems keep a font with Chinese, Japanese and Korean letters, which the bundled faces lack.
const WIDE_FONTS: [&str; 9] = [
    "/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc",
    "/usr/share/fonts/noto-cjk/NotoSansCJK-Regular.ttc",
    "/usr/share/fonts/google-noto-cjk/NotoSansCJK-Regular.ttc",
    "/usr/share/fonts/truetype/wqy/wqy-zenhei.ttc",
    "/usr/share/fonts/truetype/droid/DroidSansFallbackFull.ttf",
    "/System/Library/Fonts/PingFang.ttc",
    "/System/Library/Fonts/Hiragino Sans GB.ttc",
    "C:\\Windows\\Fonts\\msyh.ttc",
    "C:\\Windows\\Fonts\\simsun.ttc",
];

/// Lends figures a font of the system when a scene needs letters that no bundled face has. Looks once in a run, and only
/// when there is need; without such a font the letters are drawn as boxes with their code points.
pub fn lend_font_for(scene: &Scene) {
    static LOOKED: std::sync::Once = std::sync::Once::new();
    let labels = scene.query_labels().iter().chain(scene.key_labels());
    let mut letters = labels.chain([&scene.spec().title]).flat_map(|text| text.chars());
    let is_missing =
        |letter: char| !letter.is_control() && Face::all().all(|face| face.glyph(letter).is_none());
    if letters.any(is_missing) {
        LOOKED.call_once(|| {
            let font = WIDE_FONTS.iter().find_map(|path| std::fs::read(path).ok());
            if let Some(Err(error)) = font.map(|bytes| set_system_fallback(bytes, 0)) {
                log::warn!("a font of the system cannot be used: {error}");
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_file_is_a_sentence_not_a_panic() {
        let read = read_scene(Path::new("no/such/scene.ron"));
        let complaints = read.result.unwrap_err();
        assert!(complaints[0].message.starts_with("the file cannot be read"), "{complaints:?}");
    }

    #[test]
    fn writing_replaces_the_whole_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scene.ron");
        write_whole(&path, b"a longer first text").unwrap();
        write_whole(&path, b"second").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"second");
    }

    #[test]
    fn a_scene_saved_elsewhere_brings_its_tensor_files() {
        let folder = tempfile::tempdir().unwrap();
        let text = scene::bundled::find("bank_loan_layer_0").unwrap().text;
        let path = folder.path().join("mine.ron");
        std::fs::write(&path, text).unwrap();
        // The model file is not there yet; the bundled one stands in.
        let scene = read_scene(&path).result.unwrap();
        let elsewhere = folder.path().join("elsewhere");
        std::fs::create_dir(&elsewhere).unwrap();
        bring_files_along(&scene, folder.path(), &elsewhere).unwrap();
        let copy = elsewhere.join("models/bank_loan.safetensors");
        assert!(copy.exists());
        std::fs::write(&copy, b"something else").unwrap();
        let refusal = bring_files_along(&scene, folder.path(), &elsewhere).unwrap_err();
        assert!(refusal.contains("another file"), "{refusal}");
        assert_eq!(std::fs::read(&copy).unwrap(), b"something else", "nothing is written over");
    }

    #[test]
    #[cfg(unix)]
    fn a_device_is_refused_instead_of_being_read_for_ever() {
        let complaints = read_scene(Path::new("/dev/zero")).result.unwrap_err();
        assert!(complaints[0].message.contains("no plain file"), "{complaints:?}");
    }
}
