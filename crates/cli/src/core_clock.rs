//! The time a thread or this process spent on cores, which a busy machine does not stretch.

use std::time::Duration;

/// Time this thread has spent on a core since it began; none where the operating system does not tell.
pub(crate) fn of_this_thread() -> Option<Duration> {
    clock::thread()
}

/// Time all threads of this process have spent on cores; none where the operating system does not tell.
pub(crate) fn of_this_process() -> Option<Duration> {
    clock::process()
}

#[cfg(unix)]
mod clock {
    use rustix::time::{ClockId, clock_gettime};
    use std::time::Duration;

    pub(super) fn thread() -> Option<Duration> {
        read(ClockId::ThreadCPUTime)
    }

    pub(super) fn process() -> Option<Duration> {
        read(ClockId::ProcessCPUTime)
    }

    fn read(clock: ClockId) -> Option<Duration> {
        let time = clock_gettime(clock);
        Some(Duration::new(u64::try_from(time.tv_sec).ok()?, u32::try_from(time.tv_nsec).ok()?))
    }
}

#[cfg(not(unix))]
mod clock {
    use std::time::Duration;

    pub(super) fn thread() -> Option<Duration> {
        None
    }

    pub(super) fn process() -> Option<Duration> {
        None
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn work_takes_time_on_the_core_and_sleep_takes_next_to_none() {
        let now = || of_this_thread().expect("unix tells");
        let begun = now();
        std::thread::sleep(Duration::from_millis(200));
        let slept = now() - begun;
        assert!(slept < Duration::from_millis(100), "{slept:?}");
        let mut sum = 0u64;
        while now() - begun < slept + Duration::from_millis(5) {
            sum = std::hint::black_box(sum + 1);
        }
        assert!(sum > 0);
    }
}
