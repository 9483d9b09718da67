//! Qkv, the program.

fn main() {}
