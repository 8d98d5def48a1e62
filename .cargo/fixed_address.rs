//! Links the program of the default profile at a fixed address on Linux: nothing is relocated when it starts, which takes 7 ms in place of
//! 19, some eight thousand times in the tests.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "cargo talks with a build script in this way"
)]

fn main() {
    println!("cargo:rerun-if-changed=.cargo/fixed_address.rs");
    let is = |name, value| std::env::var(name).is_ok_and(|text| text == value);
    if is("PROFILE", "debug") && is("CARGO_CFG_TARGET_OS", "linux") {
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
}
