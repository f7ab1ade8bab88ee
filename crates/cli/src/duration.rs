//! Lengths of real time as people type them: `500ms`, `60s`, `10m`, `2h`.

use std::time::Duration;

/// Reads a length of time.
///
/// # Errors
/// Says how to write one.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    let wrong = || {
        format!("`{text}` is no length of time: write a whole number and a unit, as in 500ms, 60s, 10m, 2h")
    };
    let digits = text.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
    let number: u64 = text[..digits].parse().map_err(|_| wrong())?;
    let millis = match &text[digits..] {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return Err(wrong()),
    };
    number.checked_mul(millis).map(Duration::from_millis).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_of_time_is_a_number_and_a_unit() {
        assert_eq!(parse("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse("10m"), Ok(Duration::from_secs(600)));
        for text in ["", "60", "s", "1.5s", "-1s", "1d", "99999999999999999h"] {
            assert!(parse(text).unwrap_err().contains("60s"), "{text}");
        }
    }
}
