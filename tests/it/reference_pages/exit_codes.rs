//! Exit codes, from their constants.

use super::page::{check, head, table};
use sunlake::cli::exit;

#[test]
fn exit_codes_page_has_every_code() {
    let codes = [
        (exit::DONE, "Done.", ""),
        (exit::BUG, "A bug in sunlake.", "Report it."),
        (exit::USAGE, "The command line is wrong.", "Read the message."),
        (
            exit::SETTINGS,
            "The pipeline file or a setting is wrong, the address is not that of the API or cannot be trusted, the API refuses a \
             request for good, or the day of the run is before the newest day of the lake.",
            "Read the message. It names the file and line, the variable, the address, or the day.",
        ),
        (exit::KEY_REFUSED, "The API refused the key (401, 403).", "Check the key, its scope and its plan."),
        (
            exit::RUN_AGAIN,
            "Stopped in good order: quota used up, a wait longer than the run may take, a deadline, a signal, \
             midnight passed, a day that is not complete, or a look-up in quarantine.",
            "Run it again. The summary has the earliest useful time (`go_on_after`) and the day on which it \
             will be complete (`complete_on`).",
        ),
        (
            exit::API,
            "The API or a gateway before it is unavailable, or answers with something that may pass, after retries.",
            "Run it again later. Pages that were received are kept.",
        ),
        (
            exit::CHECK_FAILED,
            "A check failed. Nothing was published, or the snapshot is `held`.",
            "Read the message and the quarantine in the folder of the run. \
             Then `sunlake snapshot show N` and `sunlake snapshot accept N`.",
        ),
        (exit::HELD, "Another run uses the lake.", "Run it again later."),
        (
            exit::STORAGE,
            "The disk or the object store failed, or a file is damaged.",
            "`sunlake verify`. `sunlake verify --repair` repairs what it can.",
        ),
    ];
    assert!(codes.iter().map(|(code, ..)| *code).eq(0..=9), "each code once, in order");
    let row = |(code, meaning, action): &(u8, &str, &str)| {
        vec![code.to_string(), (*meaning).to_owned(), (*action).to_owned()]
    };
    let mut text = head(
        "Exit codes",
        "A scheduler acts on these. Codes 5, 6 and 8 mean: run the same command again later. \
         The others need a person.",
    );
    text.push_str(&table(&["code", "meaning", "what to do"], &codes.iter().map(row).collect::<Vec<_>>()));
    check("exit-codes.md", &format!("{}\n", text.trim_end()));
}
