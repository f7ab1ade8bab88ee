//! Seeds as people write them: a decimal or hexadecimal number, or a commit id.

/// Reads a seed: decimal, hexadecimal with `0x`, or the 40 digits of a commit id, of which the last 16 count.
///
/// # Errors
/// Says what a seed looks like.
pub fn parse_seed(text: &str) -> Result<u64, String> {
    let commit = text.len() == 40 && text.bytes().all(|digit| digit.is_ascii_hexdigit());
    let digits = |text: &str, base| match text.bytes().all(|digit| digit.is_ascii_alphanumeric()) {
        true => u64::from_str_radix(text, base).ok(),
        false => None, // a sign would be taken otherwise
    };
    let seed = match text.strip_prefix("0x") {
        Some(hex) => digits(hex, 16),
        None if commit => digits(&text[24..], 16),
        None => digits(text, 10),
    };
    seed.ok_or_else(|| {
        format!("`{text}` is no seed: write a number below 2^64 such as 42 or 0x2a, or the 40 digits of a commit id")
    })
}

/// A seed as it is printed everywhere: `0x` and 16 digits. [`parse_seed`] reads it back.
pub fn seed_text(seed: u64) -> String {
    format!("0x{seed:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_decimal_hexadecimal_or_a_commit_id() {
        assert_eq!(parse_seed("42"), Ok(42));
        assert_eq!(parse_seed("0x2a"), Ok(42));
        assert_eq!(parse_seed("0xFFFFFFFFFFFFFFFF"), Ok(u64::MAX));
        assert_eq!(parse_seed("18446744073709551615"), Ok(u64::MAX));
        assert_eq!(parse_seed("90a575839cd4fbf11234567890abcdef00000a2a"), Ok(0x90ab_cdef_0000_0a2a));
        assert_eq!(parse_seed("0000000000000000000000000000000000000042"), Ok(0x42));
    }

    #[test]
    fn what_is_no_seed_is_refused() {
        let commit_with_a_wrong_digit = "90a575839cd4fbf11234567890abcdef00000a2g";
        for text in
            ["", "0x", "x2a", "-1", "+1", "0x+1", "1.5", "18446744073709551616", "2a", "0x1ffffffffffffffff"]
        {
            assert!(parse_seed(text).is_err(), "{text}");
        }
        assert!(parse_seed(commit_with_a_wrong_digit).is_err());
        assert!(parse_seed("seed").unwrap_err().contains("0x2a"));
    }

    #[test]
    fn a_printed_seed_reads_back() {
        for seed in [0, 42, u64::MAX] {
            assert_eq!(parse_seed(&seed_text(seed)), Ok(seed));
        }
        assert_eq!(seed_text(42), "0x000000000000002a");
    }
}
