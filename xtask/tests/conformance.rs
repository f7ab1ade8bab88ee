//! `conformance` on files of our own: equal, different at a line, and not to be read.

mod support;

use std::fs;
use support::{command, ended, folder, run};

const RIGHT: &str = "# Two of three decide.\nvote cfg=(1,2,3) votes=(y,n,_)\n----\nVotePending\n\nvote cfg=(1,2,3) votes=(y,n,y)\n----\nVoteWon\n";

#[test]
fn a_file_is_equal_differs_at_a_line_or_cannot_be_read() {
    let folder = folder("conformance");
    let file = |name: &str, text: &str| {
        let file = folder.join(name);
        fs::write(&file, text).unwrap();
        ended(command("conformance").arg(&file))
    };
    let equal = file("equal.txt", RIGHT);
    assert_eq!(equal.code, 0, "{equal:#?}");
    assert!(equal.out.contains("1 of 1 files equal"), "{}", equal.out);
    let differs = file("differs.txt", &RIGHT.replace("VoteWon", "VoteLost"));
    assert_eq!(differs.code, 1, "{differs:#?}");
    assert!(differs.out.contains("differs.txt:8"), "{}", differs.out);
    let unreadable = file("unreadable.txt", "");
    assert_eq!(unreadable.code, 2, "{unreadable:#?}");
    let unknown = file("unknown.txt", &RIGHT.replacen("vote", "vole", 1));
    assert_eq!(unknown.code, 2, "{unknown:#?}");
    assert!(unknown.out.contains("line 2: there is no command vole"), "{}", unknown.out);
    assert_eq!(ended(command("conformance").arg(&folder)).code, 2, "the worst of the three");
    assert_eq!(ended(command("conformance").arg(folder.join("none.txt"))).code, 2);
}

#[test]
fn without_a_path_the_right_words_are_told() {
    run("conformance").refused(2, &["PATH"]);
}
