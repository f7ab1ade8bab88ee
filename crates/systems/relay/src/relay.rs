//! The relay for one subscriber: a tx half that takes broadcasts and a thread that writes to the connection.
//!
//! The halves only reach each other through two queues. The thread starts up for a drawn time, tells tx that it is ready,
//! and sends nothing before the answer has come.

use crate::cursor::Cursor;
use crate::message::Announcement;
use crate::outlet::{NotReady, Outlet};
use crate::vclock::Vclock;
use std::collections::VecDeque;
use whitewater_sim::{LocalTime, NodeId};

/// How far the relay is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// There is no subscriber.
    Off,
    /// SUBSCRIBE is answered, the thread starts up.
    Starting,
    /// The thread has told tx that it is ready and waits for the answer.
    Enabling,
    /// Rows and heartbeats flow.
    Streaming,
}

/// From tx to the thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToRelay {
    /// A broadcast.
    Push(Announcement),
    /// The answer to the thread's being ready, with what the latch carries on it.
    Ready(Option<Announcement>),
}

/// From the thread to tx.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToTx {
    /// The thread is ready for broadcasts.
    Ready,
    /// A broadcast was sent.
    Returned,
}

/// The relay for one subscriber.
#[derive(Clone, Debug)]
pub struct Relay {
    /// The node at the other end.
    pub subscriber: NodeId,
    /// Where broadcasts enter. Outlives connections.
    pub outlet: Outlet,
    /// How far it is.
    pub stage: Stage,
    /// The number of its connection, or of the last one; 0 before the first.
    pub connection: u32,
    /// Number of the next datagram.
    pub number: u32,
    /// What is sent next.
    pub cursor: Cursor,
    /// What the subscriber has acknowledged, from where the cursor starts again.
    pub received: Vclock,
    /// What it had when it subscribed.
    pub subscribed: Vclock,
    /// Number of the last acknowledgement.
    pub last_ack_number: u32,
    /// When it came.
    pub last_ack: LocalTime,
    /// The queue from tx, and whether its timer is set.
    pub to_relay: VecDeque<ToRelay>,
    /// Whether the timer of the queue from tx is set.
    pub is_relay_woken: bool,
    /// The queue to tx.
    pub to_tx: VecDeque<ToTx>,
    /// Whether the timer of the queue to tx is set.
    pub is_tx_woken: bool,
    /// The highest term that was told on this connection.
    pub sent_term: u64,
    /// Whether the timer for new rows is set.
    pub are_rows_woken: bool,
}

impl Relay {
    /// Without a subscriber.
    pub fn new(subscriber: NodeId, not_ready: NotReady) -> Relay {
        Relay {
            subscriber,
            outlet: Outlet::new(not_ready),
            stage: Stage::Off,
            connection: 0,
            number: 0,
            cursor: Cursor::default(),
            received: Vclock::default(),
            subscribed: Vclock::default(),
            last_ack_number: 0,
            last_ack: LocalTime::default(),
            to_relay: VecDeque::new(),
            is_relay_woken: false,
            to_tx: VecDeque::new(),
            is_tx_woken: false,
            sent_term: 0,
            are_rows_woken: false,
        }
    }

    /// Begins to start up for a subscriber that has `vclock`. `received` is where a cursor starts again before the first
    /// acknowledgement.
    pub fn begin(&mut self, connection: u32, vclock: Vclock, received: Vclock) {
        self.stage = Stage::Starting;
        self.connection = connection;
        self.number = 0;
        self.cursor = Cursor::after(vclock);
        self.received = received;
        self.subscribed = vclock;
        self.last_ack_number = 0;
    }

    /// Ends. Says what the outlet still sends.
    pub fn end(&mut self) -> Option<Announcement> {
        self.stage = Stage::Off;
        self.to_relay.clear();
        self.to_tx.clear();
        self.is_relay_woken = false;
        self.is_tx_woken = false;
        self.are_rows_woken = false;
        self.outlet.disable()
    }

    /// Whether a datagram of the subscriber belongs to its connection.
    pub fn is_on(&self, connection: u32) -> bool {
        self.stage != Stage::Off && self.connection == connection
    }

    /// The subscriber says what it has. Says whether that is news.
    pub fn hears_ack(&mut self, number: u32, vclock: Vclock, now: LocalTime) -> bool {
        let is_news = number > self.last_ack_number;
        if is_news {
            (self.last_ack_number, self.last_ack, self.received) = (number, now, vclock);
        }
        is_news
    }

    /// The number of the next datagram.
    pub fn next_number(&mut self) -> u32 {
        self.number += 1;
        self.number - 1
    }
}
