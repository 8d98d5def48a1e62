//! What comes with the program: manual pages, completions, the archive of a release, the wheel, the container image.

use crate::support::command::{Sunlake, project, succeed};
use crate::support::lake::files_below;
use crate::support::scratch::Scratch;
use std::path::Path;
use std::process::Command;

#[test]
fn every_command_has_a_manual_page_and_no_other_file_is_replaced() {
    let scratch = Scratch::new();
    let folder = scratch.path("man1");
    let write = || Sunlake::new(["man"]).args([&folder]).finish();
    write().exits(0);
    let pages = files_below(&folder);
    let help = Sunlake::new(["--help"]).finish().exits(0).stdout;
    let commands =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = commands
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next().filter(|name| !name.is_empty()));
    let names: Vec<&str> = names.filter(|name| *name != "help").collect();
    assert!(names.len() > 10, "{help}");
    for name in names.into_iter().chain(["snapshot-prune", "export-csv"]) {
        let page = folder.join(format!("sunlake-{name}.1"));
        let text = std::fs::read_to_string(&page).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(text.contains(&format!(".TH sunlake-{name} 1")), "{text}");
    }
    std::fs::remove_file(folder.join("sunlake.1")).expect("a page");
    write().exits(0);
    assert_eq!(files_below(&folder), pages, "its own pages are replaced");
    std::fs::write(folder.join("sunlake-run.1"), "mine").expect("a file");
    std::fs::remove_file(folder.join("sunlake.1")).expect("a page");
    write().exits(3).says("sunlake-run.1 is there, and `sunlake man` did not write it").says("hint: ");
    assert_eq!(std::fs::read_to_string(folder.join("sunlake-run.1")).expect("a file"), "mine");
    assert!(!folder.join("sunlake.1").exists(), "a refusal writes nothing");
}

/// What bash offers for the last word of a command line.
fn offered(folder: &Path, typed: &str) -> Vec<String> {
    let words: Vec<&str> = typed.split(' ').collect();
    let script = "source <(\"$SUNLAKE\" completions bash)\n\
                  COMP_WORDS=(sunlake \"$@\"); COMP_CWORD=$#\n\
                  _sunlake sunlake \"${@: -1}\" \"${COMP_WORDS[COMP_CWORD-1]}\"\n\
                  printf '%s\\n' \"${COMPREPLY[@]}\"";
    let mut bash = Command::new("bash");
    bash.args(["-c", script, "bash"]).args(words).current_dir(folder);
    bash.env("SUNLAKE", env!("CARGO_BIN_EXE_sunlake")).env_remove("SUNLAKE_LAKE");
    let said = String::from_utf8(succeed(&mut bash).stdout).expect("text");
    said.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[test]
fn bash_completes_commands_flags_values_and_files() {
    let scratch = Scratch::new();
    let folder = scratch.path("");
    scratch.file("mine.toml", "");
    assert_eq!(offered(&folder, "sna"), ["snapshot"]);
    assert_eq!(offered(&folder, "snapshot pr"), ["prune"]);
    assert_eq!(offered(&folder, "run --metrics"), ["--metrics-file"]);
    assert_eq!(offered(&folder, "run --log-format "), ["text", "json"]);
    assert_eq!(offered(&folder, "run --lake mi"), ["mine.toml"]);
}

/// The digests at the end of the lines of a file that begin with a word.
fn pins(path: &Path, word: &str, mark: char) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let named =
        text.lines().map(|line| line.trim().trim_start_matches("- ")).filter(|line| line.starts_with(word));
    let pin = |line: &str| {
        line.split(" #").next().unwrap_or_default().rsplit(mark).next().unwrap_or_default().to_owned()
    };
    named.map(pin).collect()
}

#[test]
fn images_and_actions_are_pinned_by_digest() {
    let images = pins(&project().join("Dockerfile"), "ARG ", ':');
    let workflows = std::fs::read_dir(project().join(".github/workflows")).expect("workflows");
    let actions = workflows.flat_map(|entry| pins(&entry.expect("an entry").path(), "uses: ", '@'));
    let pins: Vec<(String, usize)> =
        images.into_iter().map(|pin| (pin, 64)).chain(actions.map(|pin| (pin, 40))).collect();
    assert!(pins.len() > 15, "{pins:?}");
    for (pin, digits) in pins {
        assert!(pin.len() == digits && pin.bytes().all(|byte| byte.is_ascii_hexdigit()), "{pin:?}");
    }
}

#[test]
fn a_release_archive_has_the_program_its_pages_and_its_checksum() {
    let scratch = Scratch::new();
    let mut package = Command::new(project().join(".ci/package"));
    let out = scratch.path("dist");
    succeed(
        package.args([env!("CARGO_BIN_EXE_sunlake"), "x86_64-test"]).arg(&out).env_remove("SUNLAKE_LAKE"),
    );
    let name = format!("sunlake-{}-x86_64-test", env!("CARGO_PKG_VERSION"));
    let checksum = format!("{name}.tar.gz.sha256");
    succeed(Command::new("sha256sum").args(["--check", &checksum]).current_dir(&out));
    succeed(Command::new("tar").args(["-xzf", &format!("{name}.tar.gz")]).current_dir(&out));
    let unpacked = out.join(&name);
    for file in ["LICENSE", "README.md", "completions/sunlake.zsh", "man/man1/sunlake-run.1"] {
        assert!(unpacked.join(file).is_file(), "{file}");
    }
    // Packages that bundle C, and one whose texts are in another package of its repository.
    let notices = std::fs::read_to_string(unpacked.join("THIRD-PARTY-NOTICES.txt")).expect("the notices");
    for text in ["zstd/LICENSE", "jemalloc/COPYING", "LICENSE-BoringSSL", "\nalloc-stdlib 0.", "Yann Collet"]
    {
        assert!(notices.contains(text), "{text}");
    }
    let said = succeed(Command::new(unpacked.join("sunlake")).arg("--version")).stdout;
    assert_eq!(String::from_utf8_lossy(&said), format!("sunlake {}\n", env!("CARGO_PKG_VERSION")));
    // Where `cargo binstall` looks for it.
    let cargo = std::fs::read_to_string(project().join("Cargo.toml")).expect("Cargo.toml");
    assert!(
        cargo.contains("/{ name }-{ version }-{ target }.tar.gz")
            && cargo.contains("\"{ name }-{ version }-{ target }/{ bin }\"")
    );
}

/// Runs a script of `.ci`, which uses what this build has compiled.
fn succeed_in_ci(script: &str, argument: &Path) {
    let mut script = Command::new(project().join(".ci").join(script));
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the build folder");
    succeed(script.arg(argument).env("CARGO_TARGET_DIR", target).env_remove("SUNLAKE_LAKE"));
}

#[test]
#[ignore = "builds the wheel, for which it installs maturin: a minute"]
fn the_wheel_works_without_rust_and_without_a_home() {
    succeed_in_ci("wheel", &Scratch::new().path("dist"));
}

#[test]
#[ignore = "builds the image with docker, or the program that DOCKER names: 15 minutes"]
fn the_image_works_for_an_unprivileged_user() {
    succeed_in_ci("image", Path::new("sunlake-test"));
}
