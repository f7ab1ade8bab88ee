//! The node of a store: a server or a client, by its name.

use crate::client::Client;
use crate::command::{Command, Reply, parse};
use crate::core::Core;
use crate::message::StoreMessage;
use crate::options::Settings;
use crate::server::Server;
use crate::timer::StoreTimer;
use std::fmt;
use whitewater_sim::{Boot, Effects, Input, LocalTime, Node, Role};

/// The hands of a node.
pub(crate) type Hands<'a, C> = Effects<'a, StoreNode<C>>;

/// A node.
#[expect(
    clippy::large_enum_variant,
    reason = "a world holds few nodes, and a server is reached without a detour"
)]
pub enum StoreNode<C: Core> {
    /// A server.
    Server(Server<C>),
    /// A client.
    Client(Client),
}

impl<C: Core> StoreNode<C> {
    /// The server, if it is one.
    #[inline]
    pub fn server(&self) -> Option<&Server<C>> {
        if let StoreNode::Server(server) = self { Some(server) } else { None }
    }

    /// The client, if it is one.
    pub fn client(&self) -> Option<&Client> {
        if let StoreNode::Client(client) = self { Some(client) } else { None }
    }
}

impl<C: Core> Node for StoreNode<C> {
    type Message = StoreMessage<C::Message>;
    type Timer = StoreTimer;
    type Command = Command;
    type Reply = Reply;
    type View = StoreNode<C>;
    type Options = Settings;

    fn boot(boot: &Boot<'_, Settings>, fx: &mut Hands<'_, C>) -> StoreNode<C> {
        if boot.id.is_server() {
            StoreNode::Server(Server::boot(boot, fx))
        } else {
            StoreNode::Client(Client::boot(boot, fx))
        }
    }

    #[inline]
    fn handle(&mut self, now: LocalTime, input: Input<StoreNode<C>>, fx: &mut Hands<'_, C>) {
        match self {
            StoreNode::Server(server) => server.handle(now, input, fx),
            StoreNode::Client(client) => client.handle(input, fx),
        }
    }

    fn view(&self) -> &StoreNode<C> {
        self
    }

    #[inline]
    fn role(&self) -> Role {
        self.server().map_or(Role::None, |server| server.core().role())
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreNode::Server(server) => server.describe(f),
            StoreNode::Client(client) => client.describe(f),
        }
    }

    fn parse_command(text: &str) -> Result<Command, String> {
        parse(text)
    }
}
