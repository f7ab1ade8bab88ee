//! A node that is a process of its own: hands each input over, and does what comes back.

use crate::guest::{Guest, Trouble, clipped};
use crate::manners::{Manners, STARTING};
use crate::words::{Alarm, Said};
use serde_json::{Value, json};
use std::fmt;
use std::time::Duration;
use whitewater_sim::draw::name_hash;
use whitewater_sim::{
    Boot, DiskError, Effects, Input, Kind, LocalTime, Node, NodeId, OpId, Role, Span, Sync,
};
use whitewater_store::{Answer, Command, Operation, Reply};

type Hands<'a> = Effects<'a, ExecNode>;

/// Requests a guest may make within one input.
const REQUESTS_MAX: u32 = 10_000;
/// Effects it may give upon one input.
const EFFECTS_MAX: usize = 1_000;
/// Timers of it that may go off at one instant of its clock: whoever was stopped for a while gets all at once what has waited,
/// and of timers that is one for each name.
const TIMERS_MAX: u32 = 1_000;
/// The longest time a timer may be set to: a day.
const TIMER_MAX_MS: u64 = 86_400_000;

/// A node.
pub struct ExecNode {
    guest: Result<Guest, Trouble>,
    manners: &'static Manners,
    servers: usize,
    role: Role,
    term: u64,
    state: String,
    /// When a timer of it went off last, and how many have at that instant.
    instant: (LocalTime, u32),
}

impl ExecNode {
    /// What is wrong with its process.
    pub(crate) fn trouble(&self) -> Option<&Trouble> {
        self.guest.as_ref().err()
    }

    /// The term it says it is in.
    pub(crate) fn term(&self) -> u64 {
        self.term
    }

    /// Hands over an input and does what comes back; what goes wrong stays.
    fn talk(&mut self, input: &Value, patience: Duration, fx: &mut Hands<'_>) {
        let talked = match &mut self.guest {
            Ok(guest) => converse(guest, input, patience, fx).and_then(|answer| self.obey(&answer, fx)),
            Err(_) => return,
        };
        if let Err(trouble) = talked.map_err(|trouble| trouble.upon(input)) {
            fx.note(format_args!("{trouble}"));
            self.guest = Err(trouble);
        }
    }

    /// Counts a timer that goes off; one too many at one instant is what is wrong with the guest.
    fn count_timer(&mut self, now: LocalTime, fx: &mut Hands<'_>) {
        let before = if self.instant.0 == now { self.instant.1 } else { 0 };
        self.instant = (now, before + 1);
        if before == TIMERS_MAX && self.guest.is_ok() {
            let trouble = Trouble::Floods(format!(
                "more than {TIMERS_MAX} of its timers go off at one instant: it sets timers of no length without end"
            ));
            fx.note(format_args!("{trouble}"));
            self.guest = Err(trouble);
        }
    }

    fn obey(&mut self, answer: &Value, fx: &mut Hands<'_>) -> Result<(), Trouble> {
        let effects =
            answer["effects"].as_array().ok_or_else(|| babble("answers without a list `effects`", answer))?;
        if effects.len() > EFFECTS_MAX {
            let count = effects.len();
            return Err(Trouble::Floods(format!(
                "it gives {count} effects upon one input, and {EFFECTS_MAX} are the most"
            )));
        }
        for effect in effects {
            self.act(effect, fx)?;
        }
        if let Some(role) = answer.get("role") {
            self.role = role_of(role.as_str().unwrap_or_default()).ok_or_else(|| {
                babble("has a role that is neither none nor follower nor candidate nor leader", role)
            })?;
        }
        if let Some(term) = answer.get("term") {
            self.term =
                term.as_u64().ok_or_else(|| babble("has a term that is no whole number from 0 on", term))?;
        }
        if let Some(state) = answer.get("state") {
            self.state = state.as_str().map_or_else(|| state.to_string(), str::to_owned);
        }
        Ok(())
    }

    fn act(&self, effect: &Value, fx: &mut Hands<'_>) -> Result<(), Trouble> {
        let wrong = |what: &str| babble(what, effect);
        let fields = effect.as_object().filter(|fields| fields.len() == 1);
        let (name, what) = fields
            .and_then(|fields| fields.iter().next())
            .ok_or_else(|| wrong("gives an effect that is no object with one field"))?;
        match name.as_str() {
            "send" => {
                let to = what["to"].as_str().and_then(|to| to.parse::<NodeId>().ok());
                let is_there = |to: &NodeId| to.is_server() && to.position() < self.servers;
                let to = to
                    .filter(is_there)
                    .ok_or_else(|| wrong("sends to nobody who is a server of this run"))?;
                let kind = position(self.manners.messages, &what["kind"])
                    .ok_or_else(|| wrong("sends a message of a kind that it has not told of"))?;
                let kind = Kind { code: kind as u8, name: self.manners.messages[kind] };
                let term = what.get("term").and_then(Value::as_u64);
                fx.send(to, Said { kind, term, body: what["body"].to_string().into() });
            }
            "timer" => {
                let timer = self
                    .timer(&what["name"])
                    .ok_or_else(|| wrong("names a timer that it has not told of"))?;
                let millis = |name: &str| {
                    what[name].as_u64().filter(|millis| *millis <= TIMER_MAX_MS).map(Span::from_millis)
                };
                match (millis("low_ms"), millis("high_ms")) {
                    (Some(low), Some(high)) if low <= high => fx.set_timer(timer, low, high),
                    _ => {
                        return Err(wrong(
                            "sets a timer without a range of time from low_ms to high_ms of a day at most",
                        ));
                    }
                }
            }
            "cancel" => fx.cancel_timer(
                self.timer(what).ok_or_else(|| wrong("names a timer that it has not told of"))?,
            ),
            "reply" => {
                let op = what["op"].as_u64().and_then(|op| u32::try_from(op).ok());
                let op = op.ok_or_else(|| wrong("answers an operation without its number"))?;
                let reply = match (what["result"].as_str(), what.get("value")) {
                    (Some("ok"), None) => Reply::Done(Answer::Written),
                    (Some("ok"), Some(Value::Null)) => Reply::Done(Answer::Value(None)),
                    (Some("ok"), Some(Value::String(text))) => {
                        Reply::Done(Answer::Value(Some(text.as_str().into())))
                    }
                    (Some("differs"), None) => Reply::Done(Answer::Differs),
                    (Some("refused"), None) => Reply::Refused,
                    (Some("unknown"), None) => Reply::Unknown,
                    _ => return Err(wrong("answers an operation with none of the results there are")),
                };
                fx.reply(OpId(op), reply);
            }
            "mark" => {
                let mark = position(self.manners.marks, what)
                    .ok_or_else(|| wrong("sets a mark that it has not told of"))?;
                fx.mark(self.manners.marks[mark]);
            }
            "note" => fx.note(format_args!("{}", what.as_str().unwrap_or_default())),
            _ => {
                return Err(wrong(
                    "gives an effect that is neither send nor timer nor cancel nor reply nor mark nor note",
                ));
            }
        }
        Ok(())
    }

    fn timer(&self, name: &Value) -> Option<Alarm> {
        let place = position(self.manners.timers, name)?;
        Some(Alarm { code: place as u32, name: self.manners.timers[place] })
    }
}

/// Hands over an input, answers what is asked meanwhile, and gives the effects.
fn converse(
    guest: &mut Guest,
    input: &Value,
    patience: Duration,
    fx: &mut Hands<'_>,
) -> Result<Value, Trouble> {
    guest.give(input, patience)?;
    for _ in 0..REQUESTS_MAX {
        let line = guest.hear()?;
        if line.get("effects").is_some() {
            return Ok(line);
        }
        let answer = serve(&line, fx)?;
        guest.say(&answer)?;
    }
    Err(Trouble::Floods(format!("it asks for more than {REQUESTS_MAX} things within one input")))
}

/// Does what a guest asks for while it handles an input: chance and its disk.
fn serve(request: &Value, fx: &mut Hands<'_>) -> Result<Value, Trouble> {
    let wrong = |what: &str| babble(what, request);
    let file = |fx: &mut Hands<'_>| {
        let name = request["file"].as_str().filter(|name| is_file_name(name));
        let name =
            name.ok_or_else(|| wrong("names a file otherwise than with letters, digits, dots, - and _"))?;
        Ok(fx.disk().open(name))
    };
    Ok(match request["ask"].as_str() {
        Some("draw") => match (request["site"].as_str(), request["low"].as_u64(), request["high"].as_u64()) {
            (Some(site), Some(low), Some(high)) if low <= high => {
                json!({ "value": fx.draw(name_hash(site), low, high) })
            }
            _ => return Err(wrong("draws without a site and a range from low to high")),
        },
        Some("append") => {
            let text = request["text"].as_str().ok_or_else(|| wrong("appends no text"))?;
            let file = file(fx)?;
            said(fx.disk().append(file, text.as_bytes()))
        }
        Some("truncate") => {
            let length = request["length"].as_u64().ok_or_else(|| wrong("truncates to no length"))?;
            let file = file(fx)?;
            said(fx.disk().truncate(file, length as usize))
        }
        Some("sync") => {
            let file = file(fx)?;
            match fx.disk().sync(file) {
                Ok(Sync::Done) => json!({ "ok": true }),
                Ok(Sync::Pending(_)) => return Err(wrong("syncs a disk that takes its time")),
                Err(error) => said(Err(error)),
            }
        }
        Some("read") => {
            let file = file(fx)?;
            json!({ "text": String::from_utf8_lossy(fx.disk().read(file)) })
        }
        _ => return Err(wrong("says what is neither effects nor a request")),
    })
}

/// Whether a file may be called so, in a folder of a real disk, too.
fn is_file_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    (1..=100).contains(&name.len()) && !name.starts_with('.') && name.chars().all(plain)
}

fn said(done: Result<(), DiskError>) -> Value {
    match done {
        Ok(()) => json!({ "ok": true }),
        Err(error) => json!({ "ok": false, "error": error.to_string() }),
    }
}

fn babble(what: &str, value: &Value) -> Trouble {
    Trouble::Babbles(format!("it {what}, in `{}`", clipped(&value.to_string())))
}

fn position(names: &[&str], name: &Value) -> Option<usize> {
    names.iter().position(|known| Some(*known) == name.as_str())
}

fn role_of(name: &str) -> Option<Role> {
    Some(match name {
        "none" => Role::None,
        "follower" => Role::Follower,
        "candidate" => Role::Candidate,
        "leader" => Role::Leader,
        _ => return None,
    })
}

/// An operation as a guest gets it.
fn operation(command: &Command) -> Option<Value> {
    let (Command::Operate(operation) | Command::Insist(operation)) = command else { return None };
    Some(match operation {
        Operation::Put(key, value) => json!({ "verb": "put", "key": **key, "value": **value }),
        Operation::Append(key, value) => json!({ "verb": "append", "key": **key, "value": **value }),
        Operation::Get(key) => json!({ "verb": "get", "key": **key }),
        Operation::CompareAndSet(key, old, new) => {
            json!({ "verb": "cas", "key": **key, "old": **old, "value": **new })
        }
    })
}

impl Node for ExecNode {
    type Message = Said;
    type Timer = Alarm;
    type Command = Command;
    type Reply = Reply;
    type View = ExecNode;
    type Options = &'static Manners;

    fn boot(boot: &Boot<'_, &'static Manners>, fx: &mut Hands<'_>) -> ExecNode {
        let manners = *boot.options;
        let guest = Guest::start(&manners.command, STARTING);
        let servers = boot.servers;
        let (role, instant) = (Role::None, (boot.now, 0));
        let mut node = ExecNode { guest, manners, servers, role, term: 0, state: String::new(), instant };
        let input = json!({
            "input": "boot",
            "now_ns": boot.now.nanos(),
            "id": boot.id.to_string(),
            "servers": boot.servers,
            "start": boot.incarnation,
        });
        node.talk(&input, STARTING, fx);
        node
    }

    fn handle(&mut self, now: LocalTime, input: Input<ExecNode>, fx: &mut Hands<'_>) {
        let now_ns = now.nanos();
        let input = match input {
            Input::Deliver { from, message } => {
                let body: Value =
                    serde_json::from_str(&message.body).expect("it was written by the same library");
                json!({
                    "input": "message",
                    "now_ns": now_ns,
                    "from": from.to_string(),
                    "kind": message.kind.name,
                    "term": message.term,
                    "body": body,
                })
            }
            Input::Timeout(timer) => {
                self.count_timer(now, fx);
                json!({ "input": "timer", "now_ns": now_ns, "name": timer.name })
            }
            Input::Command { op, command } => match operation(&command) {
                Some(operation) => {
                    json!({ "input": "operation", "now_ns": now_ns, "op": op.0, "operation": operation })
                }
                None => return fx.reply(op, Reply::Declined),
            },
            Input::Synced(_) | Input::SyncFailed(_) => return,
        };
        self.talk(&input, self.manners.patience, fx);
    }

    fn view(&self) -> &ExecNode {
        self
    }

    fn role(&self) -> Role {
        self.role
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.trouble() {
            Some(trouble) => write!(f, "{trouble}"),
            None => f.write_str(&self.state),
        }
    }

    fn parse_command(text: &str) -> Result<Command, String> {
        whitewater_store::parse(text)
    }
}
