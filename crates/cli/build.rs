//! Tells the command line how far it was optimised, so that a slow campaign can say why it is slow.

fn main() {
    let level = std::env::var("OPT_LEVEL").unwrap_or_default();
    println!("cargo::rustc-env=WHITEWATER_OPT_LEVEL={level}");
    println!("cargo::rerun-if-changed=build.rs");
}
