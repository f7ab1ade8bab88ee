//! Saved failures that are damaged: what is wrong is said with its line and how to mend it, and nothing is written.

mod support;

use std::fs;
use support::{command, ended, folder};

#[test]
fn whatever_is_wrong_in_a_saved_failure_is_named_with_its_line_and_how_to_mend_it() {
    let folder = folder("damaged");
    let good =
        fs::read_to_string(support::root().join("seeds/relay-no-needless-election-0x000000000000001b.json"));
    let good = good.unwrap();
    let line_of = |mark: &str| 1 + good.lines().position(|line| line.contains(mark)).unwrap();
    let field = |name: &str, value: &str| -> String {
        let line = good.lines().nth(line_of(&format!("\"{name}\":")) - 1).unwrap();
        good.replace(line, &format!("  \"{name}\": {value},"))
    };
    let cut = |name: &str| good.replace(&format!("\"{name}\":"), &format!("\"{name}-of-old\":"));
    // What is damaged, the line it is named at, and what is said of it.
    let cases: [(&str, String, usize, &str); 18] = [
        ("nothing", String::new(), 1, "the file is empty"),
        ("no-object", "[]".into(), 1, "a list does not belong here"),
        ("no-json", "F-0123456789".into(), 1, "this is not JSON"),
        ("twice", format!("{good}{good}"), good.lines().count() + 1, "trailing characters"),
        ("rule", field("rule", "\"no-such-rule\""), line_of("\"rule\""), "relay has no rule `no-such-rule`"),
        ("rule-number", field("rule", "7"), line_of("\"rule\""), "does not belong here"),
        ("rule-gone", cut("rule"), line_of("\"rule\""), "no field `rule-of-old`"),
        ("hash", field("trace-hash", "\"0x12\""), line_of("\"trace-hash\""), "no trace hash"),
        (
            "owes",
            field("rule", "\"limit\",\n  \"owes\": \"much\""),
            line_of("\"rule\"") + 1,
            "cannot owe `much`",
        ),
        ("version", field("plan", "0"), line_of("\"plan\""), "no plan version 0"),
        ("seed", field("seed", "\"forty-two\""), line_of("\"seed\""), "is no seed"),
        ("system", field("system", "\"paxos\""), line_of("\"system\""), "there is no system `paxos`"),
        ("profile", field("profile", "\"clam\""), line_of("\"profile\""), "did you mean `calm`"),
        (
            "option",
            good.replace("\"queue-delay\"", "\"queue-delya\""),
            line_of("\"queue-delay\""),
            "no option `queue-delya`",
        ),
        ("step", good.replace("\"horizon ", "\"horizont "), line_of("\"horizon "), "horizont"),
        ("node", good.replace("\"servers ", "\"servers 1000"), line_of("\"servers "), "from 1 to 16"),
        ("field", good.replacen("{", "{ \"plna\": 1,", 1), 1, "no field `plna`"),
        ("again", good.replacen("{", "{ \"rule\": \"x\",", 1), line_of("\"rule\""), "comes a second time"),
    ];
    for (name, text, line, said) in cases {
        assert_ne!(text, good, "{name}: nothing is damaged");
        let file = folder.join(format!("{name}.json"));
        fs::write(&file, &text).unwrap();
        for verb in ["seeds verify", "keep", "shrink", "replay", "trace why"] {
            let place = format!("{name}.json:{line}:");
            ended(command(verb).arg(&file)).refused(2, &[&place, said, "mend: "]);
        }
        assert_eq!(ended(command("replay --bisect").arg(&file)).code, 125, "{name}: this commit cannot tell");
        assert_eq!(fs::read_to_string(&file).unwrap(), text, "{name}");
    }
    let file = folder.join("bytes.json");
    fs::write(&file, [good.as_bytes(), b"\xff\xfe"].concat()).unwrap();
    let place = format!("bytes.json:{}:", good.lines().count() + 1);
    ended(command("replay").arg(&file)).refused(2, &[&place, "no text in UTF-8", "mend: "]);
}

#[test]
fn a_saved_failure_that_is_damaged_does_not_keep_the_others_from_being_verified() {
    let folder = folder("one_damaged");
    for name in
        ["relay-no-needless-election-0x000000000000001b", "relay-follower-catches-up-0x000000000000012d"]
    {
        let name = format!("{name}.json");
        fs::copy(support::root().join("seeds").join(&name), folder.join(&name)).unwrap();
    }
    for name in ["a.json", "s.json"] {
        fs::write(folder.join(name), "{").unwrap();
    }
    let verified = ended(command("seeds verify").arg(&folder));
    verified.refused(2, &["a.json:1:", "s.json:1:"]);
    assert_eq!(verified.out.matches("as it owes").count(), 2, "{verified:#?}");
}
