//! The faults that go beyond what most protocols are made for: what a system says it survives.

/// A kind of fault that not every system is made for. A system says by [`crate::System::survives`] which of them it
/// survives; plans draw no other.
///
/// Lost, late, repeated and reordered messages, cuts, crashes and pauses are not among them: every system has to bear
/// those. What disks do besides stands in [`crate::DiskTrouble`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trouble {
    /// Copies of messages come elections later, to nodes that may have been restarted.
    Replays,
    /// Messages come to another server than they were sent to, which has to see that from the message.
    Misdelivery,
    /// Clocks run fast or slow, or stand still.
    Rates,
    /// Clocks jump ahead or are set back.
    Steps,
    /// A minority of servers come back with empty disks.
    WipedDisks,
    /// A minority of servers come back with older disks.
    OlderDisks,
}

impl Trouble {
    /// Every one there is.
    pub const ALL: [Trouble; 6] = [
        Trouble::Replays,
        Trouble::Misdelivery,
        Trouble::Rates,
        Trouble::Steps,
        Trouble::WipedDisks,
        Trouble::OlderDisks,
    ];
}
