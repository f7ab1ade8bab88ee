//! How much a search is to do.

use std::time::Duration;

/// When a search ends by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Amount {
    /// So many messages delivered.
    Deliveries(u64),
    /// So many runs.
    Runs(u64),
    /// So much real time.
    Time(Duration),
}

/// Reads how many messages or runs.
pub(crate) fn parse_count(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("`{text}` is no whole number below 2^64: write digits, as in 2000"))
}

/// Reads how many threads.
pub(crate) fn parse_jobs(text: &str) -> Result<usize, String> {
    let jobs = text.parse().ok().filter(|jobs| (1..=JOBS_MAX).contains(jobs));
    jobs.ok_or_else(|| format!("`{text}` is no number of threads: write one from 1 to {JOBS_MAX}"))
}

/// More threads than any machine has cores, and fewer than any refuses to start.
const JOBS_MAX: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_a_whole_number_and_a_wrong_one_is_told_how_to_write_it() {
        assert_eq!(parse_count("0"), Ok(0));
        for text in ["", "1.5", "1e9", "-1", "18446744073709551616"] {
            assert!(parse_count(text).unwrap_err().contains("whole number"), "{text}");
        }
    }

    #[test]
    fn there_is_at_least_one_thread_and_not_a_world_of_them() {
        assert_eq!((parse_jobs("1"), parse_jobs("1024")), (Ok(1), Ok(1024)));
        for text in ["0", "1025", "two", "-1", "99999999999999999999"] {
            assert!(parse_jobs(text).unwrap_err().contains("from 1 to 1024"), "{text}");
        }
    }
}
