//! The command line of this system: `cargo run --release -- fuzz`.

use primary_backup::Server;

fn main() -> std::process::ExitCode {
    whitewater_cli::main(whitewater::systems![Server])
}
