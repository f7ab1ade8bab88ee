//! What must be true of a primary with backups, and what plans for it look like.

use super::{Alarm, Command, KEEPER, LEASE, Server, Word};
use std::collections::BTreeMap;
use whitewater::Tested;
use whitewater::sim::{
    Cluster, Draw, Effect, Monitor, NodeId, OpId, OptionSpec, Options, Progress, Role, Script, Seen, Span,
    Target, Time, Timing, Values, Violation, What,
};

const ONE_PRIMARY: (&str, &str) =
    ("one-primary", "Nobody answers under a lease when somebody else was lent a later one.");
const READS_FRESH: (&str, &str) =
    ("reads-fresh", "A read returns every write that was acknowledged before it began.");

const SOMEBODY_LEADS: (&str, &str) =
    ("somebody-leads", "Once everybody who is up can talk to the keeper, somebody holds the lease.");

/// Set when the lease goes to somebody else: a search in which that never happens has not seen much.
pub(crate) const MOVED: &str = "lease-moved";

impl Server {
    /// The lease it has been lent last, whether or not that is over. What checks see.
    pub fn lent(&self) -> Option<u64> {
        (self.until > self.asked && self.id != KEEPER).then_some(self.lease)
    }
}

/// Watches a run.
#[derive(Debug, Default)]
pub struct Rules {
    asked: BTreeMap<OpId, Command>,
    acknowledged: Vec<u64>,
    /// The latest lease, and who was lent it.
    latest: Option<(u64, NodeId)>,
}

fn broken((rule, claim): (&'static str, &'static str), message: String, node: NodeId) -> Violation {
    Violation { rule, claim, message, node: Some(node), peer: None }
}

impl Rules {
    fn answered(&mut self, node: NodeId, op: OpId, reply: &str) -> Result<(), Violation> {
        match self.asked.get(&op) {
            Some(Command::Write { value }) if reply == "written" => self.acknowledged.push(*value),
            Some(Command::Read {}) => {
                let read: Vec<&str> = reply.trim_matches(['[', ']']).split(", ").collect();
                let lost = self.acknowledged.iter().find(|value| !read.contains(&value.to_string().as_str()));
                if let Some(lost) = lost {
                    return Err(broken(READS_FRESH, format!("{op} reads {reply} without {lost}"), node));
                }
            }
            _ => {}
        }
        Ok(())
    }
}

impl Monitor<Server> for Rules {
    fn observe(&mut self, seen: &Seen<'_, Server>, cluster: &Cluster<Server>) -> Result<(), Violation> {
        if let What::Commanded { op, command } = &seen.what {
            self.asked.insert(*op, (*command).clone());
        }
        let lent = cluster.view(seen.node).and_then(Server::lent).map(|lease| (lease, seen.node));
        self.latest = self.latest.max(lent);
        seen.effects.iter().try_for_each(|effect| match effect {
            Effect::Reply { op, reply } if reply != "refused" => match (self.latest, lent) {
                (Some((latest, other)), Some((lease, _))) if latest > lease => {
                    let message =
                        format!("{} answers under lease {lease}, and {other} has {latest}", seen.node);
                    Err(broken(ONE_PRIMARY, message, seen.node))
                }
                _ => self.answered(seen.node, *op, reply),
            },
            _ => Ok(()),
        })
    }

    /// Asked when faults are over, until it is done or so much time has passed that it never will be.
    fn owed(&mut self, _: Time, cluster: &Cluster<Server>) -> Progress {
        let backups = || cluster.servers().filter(|id| *id != KEEPER && cluster.is_running(*id));
        // A keeper lends on to somebody who does not hear it: while links are cut, nothing is owed.
        let is_whole = backups().all(|id| cluster.connected(id, KEEPER));
        let is_held = backups().any(|id| cluster.role(id) == Some(Role::Leader));
        if !is_whole || is_held || backups().next().is_none() {
            return Progress::Done;
        }
        Progress::Waiting(broken(SOMEBODY_LEADS, "nobody holds the lease".to_owned(), KEEPER))
    }
}

impl Tested for Server {
    type Monitor = Rules;
    const NAME: &'static str = "primary-backup";
    const ABOUT: &'static str =
        "A primary that holds a lease, and backups that have every acknowledged write.";
    const RULES: &'static [(&'static str, &'static str)] = &[ONE_PRIMARY, READS_FRESH, SOMEBODY_LEADS];
    const MESSAGES: &'static [&'static str] = Word::NAMES;
    const TIMERS: &'static [&'static str] = Alarm::NAMES;
    const MARKS: &'static [&'static str] = &[MOVED];
    const OPTIONS: &'static [OptionSpec] = &[OptionSpec {
        name: "lease-from",
        about: "From when a lease counts: from when it was asked for, or, which is the bug, from when it came.",
        values: Values::Words(&["asking", "arrival"]),
        default: "asking",
        per_node: false,
        drawn: false,
    }];

    fn options(options: &Options) -> bool {
        options.text(Self::OPTIONS, "lease-from") == "arrival"
    }

    fn timing(_: &Options) -> Timing {
        Timing { election_low: LEASE, election_high: LEASE.times(2), heartbeat: Span::from_millis(50) }
    }

    fn monitor(_: &Script, _: &bool) -> Rules {
        Rules::default()
    }

    fn draw_operation(draw: &mut Draw, number: u32, _: &Script, _: &Options) -> (Target, String) {
        let read = draw.chance(1, 2);
        (Target::Leader, if read { "read".to_owned() } else { format!("write {number}") })
    }
}
