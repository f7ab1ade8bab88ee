//! The nearest word to a wrong one, for the mend of an error.

/// The word of `known` that `wrong` was most likely meant to be, if one is near.
pub(crate) fn nearest<'a>(wrong: &str, known: &[&'a str]) -> Option<&'a str> {
    let bound = 1 + wrong.chars().count() / 4;
    known
        .iter()
        .map(|word| (distance(&wrong.to_lowercase(), &word.to_lowercase()), *word))
        .filter(|(distance, _)| *distance <= bound)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, word)| word)
}

/// `did you mean x? there are x, y` or `there are x, y`.
pub(crate) fn listed(wrong: &str, known: &[&str]) -> String {
    let list = match known {
        [] => "there are none".to_owned(),
        [one] => format!("there is only {one}"),
        many => format!("there are {}", many.join(", ")),
    };
    match nearest(wrong, known) {
        Some(word) => format!("did you mean `{word}`? {list}"),
        None => list,
    }
}

/// How many letters have to be inserted, deleted, replaced or swapped with their neighbour.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_is_recognised_and_another_word_is_not() {
        let known = ["crash", "cut", "partition"];
        assert_eq!(nearest("crsah", &known), Some("crash"));
        assert_eq!(nearest("Partitoin", &known), Some("partition"));
        assert_eq!(nearest("propose", &known), None);
    }

    #[test]
    fn the_list_of_what_there_is_comes_with_the_nearest_word() {
        assert_eq!(listed("clam", &["calm", "swarm"]), "did you mean `calm`? there are calm, swarm");
        assert_eq!(listed("relays", &["relay"]), "did you mean `relay`? there is only relay");
    }
}
