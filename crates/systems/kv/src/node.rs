//! The node of the system: a server or a client, by its name.

use crate::client::Client;
use crate::command::{Command, Reply, parse};
use crate::message::KvMessage;
use crate::options::Settings;
use crate::server::{Hands, Server};
use crate::timer::KvTimer;
use std::fmt;
use whitewater_sim::{Boot, Input, LocalTime, Node, Role};

/// A node.
#[expect(
    clippy::large_enum_variant,
    reason = "a world holds few nodes, and a server is reached without a detour"
)]
pub enum KvNode {
    /// A server.
    Server(Server),
    /// A client.
    Client(Client),
}

impl KvNode {
    /// The server, if it is one.
    #[inline]
    pub fn server(&self) -> Option<&Server> {
        match self {
            KvNode::Server(server) => Some(server),
            KvNode::Client(_) => None,
        }
    }

    /// The client, if it is one.
    pub fn client(&self) -> Option<&Client> {
        match self {
            KvNode::Client(client) => Some(client),
            KvNode::Server(_) => None,
        }
    }
}

/// The role a server has, in the words of the world.
#[inline]
pub(crate) fn role_of(role: whitewater_raft::Role) -> Role {
    match role {
        whitewater_raft::Role::Follower => Role::Follower,
        whitewater_raft::Role::PreCandidate => Role::PreCandidate,
        whitewater_raft::Role::Candidate => Role::Candidate,
        whitewater_raft::Role::Leader => Role::Leader,
    }
}

impl Node for KvNode {
    type Message = KvMessage;
    type Timer = KvTimer;
    type Command = Command;
    type Reply = Reply;
    type View = KvNode;
    type Options = Settings;

    fn boot(boot: &Boot<'_, Settings>, fx: &mut Hands<'_>) -> KvNode {
        if boot.id.is_server() {
            KvNode::Server(Server::boot(boot, fx))
        } else {
            KvNode::Client(Client::boot(boot, fx))
        }
    }

    #[inline]
    fn handle(&mut self, now: LocalTime, input: Input<KvNode>, fx: &mut Hands<'_>) {
        match self {
            KvNode::Server(server) => server.handle(now, input, fx),
            KvNode::Client(client) => client.handle(input, fx),
        }
    }

    fn view(&self) -> &KvNode {
        self
    }

    #[inline]
    fn role(&self) -> Role {
        match self {
            // A halted server leads nobody.
            KvNode::Server(server) if !server.is_halted() => role_of(server.core().role()),
            _ => Role::None,
        }
    }

    fn figure(&self, name: &str) -> Option<u64> {
        self.server()?.figure(name)
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KvNode::Server(server) => server.describe(f),
            KvNode::Client(client) => client.describe(f),
        }
    }

    fn parse_command(text: &str) -> Result<Command, String> {
        parse(text)
    }
}
