//! Qkv, the program: reads the arguments, then opens the window or runs a command.

use std::process::ExitCode;

fn main() -> ExitCode {
    env_logger::Builder::from_env(
        env_logger::Env::default()
            .default_filter_or("warn,egui_system_font_provider=error,egui_extras=error"),
    )
    .init();
    qkv::cli::main()
}
