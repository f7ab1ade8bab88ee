//! The command that replays a run: the seed with exactly the restrictions its campaign was given.

use whitewater_plan::{Restrictions, seed_text};

/// The command line that runs `seed` alone under the same restrictions, and nothing else; `program` is what is typed before a verb.
pub fn print_command(program: &str, restrictions: &Restrictions, seed: u64) -> String {
    let mut words = vec![format!("{program} fuzz")];
    if let Some(system) = &restrictions.system {
        words.push(format!("--system {}", quoted(system)));
    }
    if let Some(file) = &restrictions.tuning.file {
        words.push(format!("--profile {}", quoted(file)));
    } else if let Some(profile) = &restrictions.profile {
        words.push(format!("--profile {profile}"));
    }
    words.extend(
        restrictions.set.iter().map(|(name, value)| format!("--set {}", quoted(&format!("{name}={value}")))),
    );
    if let Some(bug) = &restrictions.bug {
        words.push(format!("--mutant {}", quoted(bug)));
    }
    words.push(format!("--seed {}", seed_text(seed)));
    words.join(" ")
}

/// A word as a shell takes it.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=.,:/@+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use whitewater_plan::{Profile, Tuning};

    #[test]
    fn without_restrictions_the_seed_alone_is_enough() {
        let command = print_command("cargo xtask", &Restrictions::default(), 42);
        assert_eq!(command, "cargo xtask fuzz --seed 0x000000000000002a");
    }

    #[test]
    fn every_restriction_given_is_printed_in_the_order_it_was_given() {
        let restrictions = Restrictions {
            system: Some("relay".into()),
            profile: Some(Profile::Calm),
            set: vec![("relay-not-ready".into(), "drop".into()), ("mode.n2".into(), "off".into())],
            bug: Some("seed-e9".into()),
            ..Restrictions::default()
        };
        assert_eq!(
            print_command("cargo xtask", &restrictions, 1),
            "cargo xtask fuzz --system relay --profile calm --set relay-not-ready=drop --set mode.n2=off \
             --mutant seed-e9 --seed 0x0000000000000001"
        );
    }

    #[test]
    fn a_profile_of_ones_own_is_named_by_its_file() {
        let (base, tuning) = Tuning::parse("my/storms.json", "{}").unwrap();
        let restrictions = Restrictions { profile: Some(base), tuning, ..Restrictions::default() };
        assert!(print_command("cargo xtask", &restrictions, 1).contains(" --profile my/storms.json --seed "));
    }

    #[test]
    fn a_value_with_a_space_is_quoted() {
        let restrictions =
            Restrictions { set: vec![("say".into(), "it's so".into())], ..Restrictions::default() };
        assert!(print_command("cargo xtask", &restrictions, 1).contains(r"--set 'say=it'\''s so' "));
    }
}
