//! Determinism, proven: runs are made again in other surroundings, and what they say is compared word by word.
//!
//! [`Here`] runs seeds in their order. A [`Place`] runs the same seeds elsewhere: once more, in another thread, in
//! reverse order, or - that is up to whoever can start one - in a process of its own. What a run says is a [`Print`]. The
//! first difference is looked for in two recorded runs, up to the event with which it begins.

mod here;
mod place;
mod print;

pub use here::Here;
pub use place::{Again, AnotherThread, Place, Reversed};
pub use print::Print;

use whitewater_plan::seed_text;

/// Seeds that every place runs before the next ones are looked at, so that memory stays flat.
pub const BATCH_RUNS: u64 = 500;

/// Runs before a recorded one that are made again as well, for what an earlier run may have left behind.
const CONTEXT_RUNS: usize = 20;

/// Pairs of runs that are recorded to find where a difference begins.
const PAIRS_MAX: u32 = 10;

/// What was compared, and the first difference in each place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proof {
    /// Runs made here.
    pub runs: u64,
    /// Messages delivered in them.
    pub deliveries: u64,
    /// For each place how many runs were compared with it.
    pub compared: Vec<(String, u64)>,
    /// The first difference that each place shows, in the order of places.
    pub differences: Vec<Difference>,
}

/// A seed that gave two runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The place whose run differs.
    pub place: String,
    /// The seed.
    pub seed: u64,
    /// What differs, each as it was here and there.
    pub parts: Vec<(&'static str, String, String)>,
    /// Where it begins, in sentences.
    pub begins: String,
}

/// Compares the runs of `seeds` here with those of every place, until the runs are used up, `enough` says that they
/// suffice, or there is a difference. `enough` is asked with runs and deliveries so far.
///
/// # Errors
/// A place could not run at all; the text says why.
pub fn prove(
    here: &Here<'_>,
    places: &mut [Box<dyn Place + '_>],
    seeds: std::ops::Range<u64>,
    enough: &dyn Fn(u64, u64) -> bool,
) -> Result<Proof, String> {
    let compared = places.iter().map(|place| (place.name().to_owned(), 0)).collect();
    let mut proof = Proof { compared, ..Proof::default() };
    let mut next = seeds.start;
    while next < seeds.end && proof.differences.is_empty() && !enough(proof.runs, proof.deliveries) {
        let mut batch = Vec::new();
        let mut prints = Vec::new();
        while next < seeds.end && (batch.len() as u64) < BATCH_RUNS && !enough(proof.runs, proof.deliveries) {
            let print = here.print(next);
            proof.runs += 1;
            proof.deliveries += print.deliveries;
            batch.push(next);
            prints.push(print);
            next += 1;
        }
        for (place, (_, compared)) in places.iter_mut().zip(&mut proof.compared) {
            let theirs = place.prints(&batch)?;
            *compared += theirs.len() as u64;
            let differs = theirs.iter().find_map(|theirs| {
                let at = batch.iter().position(|&seed| seed == theirs.seed)?;
                let parts = prints[at].differences(theirs);
                (!parts.is_empty()).then_some((at, parts))
            });
            if let Some((at, parts)) = differs {
                let begins = beginning(here, &mut **place, &batch, at);
                let (place, seed) = (place.name().to_owned(), batch[at]);
                proof.differences.push(Difference { place, seed, parts, begins });
            }
        }
    }
    Ok(proof)
}

/// Where two recorded runs of a seed part.
fn beginning(here: &Here<'_>, place: &mut dyn Place, batch: &[u64], at: usize) -> String {
    // What is left to chance comes out alike now and then.
    for _ in 0..PAIRS_MAX {
        let ours = here.events(batch, at);
        match place.events(batch, at) {
            Err(why) => return format!("The run could not be recorded there: {why}"),
            Ok(theirs) => {
                if let Some(parting) = part(&ours, &theirs, place.name()) {
                    return parting;
                }
            }
        }
    }
    format!("{PAIRS_MAX} pairs of recorded runs agree in every event: it is rare, or it is in no text.")
}

/// The first line in which two traces differ, with both sides and the line before; `None` if they do not.
fn part(ours: &[String], theirs: &[String], place: &str) -> Option<String> {
    let same = ours.iter().zip(theirs).take_while(|(ours, theirs)| ours == theirs).count();
    if same == ours.len() && same == theirs.len() {
        return None;
    }
    let line = |lines: &[String]| lines.get(same).map_or("the run is over", String::as_str).to_owned();
    let before = match same.checked_sub(1) {
        Some(last) => {
            format!("It begins after {same} equal events, the last of which is\n    {}\n", ours[last])
        }
        None => "It begins with the first event.\n".to_owned(),
    };
    Some(format!("{before}  here:  {}\n  {place}:  {}", line(ours), line(theirs)))
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "seed {} gives another run {}", seed_text(self.seed), self.place)?;
        for (what, ours, theirs) in &self.parts {
            writeln!(f, "  {what}: {ours} here, {theirs} there")?;
        }
        f.write_str(&self.begins)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn the_first_difference_is_shown_from_both_sides_with_what_comes_before() {
        let told = part(&lines("a b c d"), &lines("a b x d"), "in another thread").unwrap();
        assert!(told.contains("after 2 equal events"), "{told}");
        for piece in ["    b\n", "here:  c\n", "in another thread:  x"] {
            assert!(told.contains(piece), "{told}");
        }
    }

    #[test]
    fn a_run_that_ends_early_differs_where_it_ends() {
        let told = |ours, theirs| part(&lines(ours), &lines(theirs), "there").unwrap();
        assert!(told("a b", "a").ends_with("there:  the run is over"));
        assert!(told("a", "b").starts_with("It begins with the first event"));
    }

    #[test]
    fn equal_traces_part_nowhere() {
        assert_eq!(part(&lines("a b"), &lines("a b"), "there"), None);
    }
}
