//! The index of scenarios by their themes, for people.

use super::{Expect, Scenario};
use std::collections::BTreeMap;

/// A list of scenarios in Markdown: a section per theme, an entry per scenario with its moral, its variants and its source.
/// Scenarios without a theme come last.
pub fn index(scenarios: &[Scenario]) -> String {
    let mut themes: BTreeMap<(bool, &str), Vec<&Scenario>> = BTreeMap::new();
    for scenario in scenarios {
        let theme = scenario.theme.as_deref();
        themes.entry((theme.is_none(), theme.unwrap_or("others"))).or_default().push(scenario);
    }
    let mut lines = Vec::new();
    for ((_, theme), mut scenarios) in themes {
        scenarios.sort_by_key(|scenario| natural(&scenario.name));
        lines.push(format!("### {}{}\n", theme[..1].to_uppercase(), &theme[1..]));
        lines.extend(scenarios.into_iter().map(entry));
        lines.push(String::new());
    }
    lines.join("\n")
}

/// A name with its numbers as numbers, so that e2 comes before e10.
fn natural(name: &str) -> Vec<(String, u64)> {
    let parts = name.split_inclusive(|c: char| !c.is_ascii_digit());
    let mut natural: Vec<(String, u64)> = vec![(String::new(), 0)];
    for letter in parts.flat_map(str::chars) {
        let last = natural.last_mut().expect("there is a first part");
        match letter.to_digit(10) {
            Some(digit) => last.1 = last.1.saturating_mul(10).saturating_add(u64::from(digit)),
            None if last.1 > 0 => natural.push((letter.to_string(), 0)),
            None => last.0.push(letter),
        }
    }
    natural
}

fn entry(scenario: &Scenario) -> String {
    let Scenario { name, moral, source, variants, .. } = scenario;
    let moral = moral.as_deref().unwrap_or("No moral yet.");
    let variant = |variant: &super::Variant| match &variant.expect {
        Expect::Pass => format!("`@{}` passes", variant.name),
        Expect::Violates { rule, node } => {
            let at = node.map_or("no node".to_owned(), |node| node.to_string());
            format!("`@{}` violates {rule} at {at}", variant.name)
        }
    };
    let variants: Vec<String> = variants.iter().map(variant).collect();
    let source = source.as_ref().map_or(String::new(), |source| format!("\n  *{source}*"));
    format!("* [`{name}`]({name}.json) - {moral}\n  {}.{source}", variants.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(name: &str, theme: Option<&str>) -> Scenario {
        let theme = theme.map(str::to_owned);
        Scenario { theme, moral: Some("Wait.".to_owned()), ..Scenario::begin(name, "pond") }
    }

    #[test]
    fn scenarios_stand_under_their_themes_in_the_order_of_their_numbers() {
        let all = [
            scenario("e10-late", Some("elections")),
            scenario("e2-early", Some("elections")),
            scenario("stray", None),
            scenario("slow", Some("disks")),
        ];
        let index = index(&all);
        let order: Vec<usize> =
            ["### Disks", "slow", "### Elections", "e2-early", "e10-late", "### Others", "stray"]
                .iter()
                .map(|word| index.find(word).expect("it is listed"))
                .collect();
        assert!(order.is_sorted(), "{index}");
        assert!(index.contains("* [`slow`](slow.json) - Wait.\n  `@plain` passes."));
    }
}
