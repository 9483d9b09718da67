//! `qkv scenes`: the bundled scenes.

use std::io::Write;

use super::Failure;

/// Arguments of `qkv scenes`.
#[derive(clap::Args)]
pub struct Args {
    /// Print the text of one scene instead of the list, to start a scene of your own from.
    #[arg(long, value_name = "NAME")]
    show: Option<String>,
}

/// Prints the list, or one scene.
pub fn run(args: &Args, out: &mut dyn Write) -> Result<(), Failure> {
    if let Some(name) = &args.show {
        let lesson = crate::scene::bundled::find(name).ok_or_else(|| {
            Failure::Input(format!("no bundled scene is called “{name}”; `qkv scenes` lists them"))
        })?;
        out.write_all(lesson.text.as_bytes())?;
        return Ok(());
    }
    let widest = crate::scene::catalogue().iter().map(|lesson| lesson.name.len()).max().unwrap_or(0);
    let mut topic = "";
    for lesson in crate::scene::catalogue() {
        if lesson.topic != topic {
            topic = &lesson.topic;
            writeln!(out, "{topic}")?;
        }
        writeln!(out, "  {:widest$}  {}", lesson.name, lesson.title)?;
    }
    Ok(())
}
