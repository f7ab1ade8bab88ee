//! The node of a store: a server, its remains after its disk failed, or a client.

use crate::client::Client;
use crate::command::{Command, Reply, parse};
use crate::core::Core;
use crate::dead::Dead;
use crate::log::Log;
use crate::message::StoreMessage;
use crate::options::Settings;
use crate::server::{Identity, Server};
use crate::timer::StoreTimer;
use std::fmt;
use whitewater_check::ElectionView;
use whitewater_sim::{Boot, Effects, Input, LocalTime, Node, Role};
use whitewater_wal::WalError;

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
    /// A server whose process died of its disk.
    Dead(Dead),
    /// A client.
    Client(Client),
}

impl<C: Core> StoreNode<C> {
    /// The server, if it is one.
    #[inline]
    pub fn server(&self) -> Option<&Server<C>> {
        if let StoreNode::Server(server) = self { Some(server) } else { None }
    }

    /// Whether it is a server whose process died of its disk.
    pub fn is_dead(&self) -> bool {
        matches!(self, StoreNode::Dead(_))
    }

    /// A server that its disk has failed stops.
    fn bury(&mut self, fx: &mut Hands<'_, C>) {
        if let StoreNode::Server(server) = self
            && server.dies()
        {
            *self = StoreNode::Dead(Dead::begin(server.identity.clone(), fx));
        }
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
        if !boot.id.is_server() {
            return StoreNode::Client(Client::boot(boot, fx));
        }
        let identity = Identity::of(boot);
        match Log::open(fx.disk(), &identity.settings) {
            Ok(opened) => {
                let mut node = StoreNode::Server(Server::start(identity, opened, boot.now, fx));
                node.bury(fx);
                node
            }
            Err(error @ WalError::Damaged { .. }) => panic!("the log is whole: {error}"),
            Err(_) => StoreNode::Dead(Dead::begin(identity, fx)),
        }
    }

    #[inline]
    fn handle(&mut self, now: LocalTime, input: Input<StoreNode<C>>, fx: &mut Hands<'_, C>) {
        match self {
            StoreNode::Server(server) => server.handle(now, input, fx),
            StoreNode::Client(client) => client.handle(input, fx),
            StoreNode::Dead(dead) => {
                if let Some(server) = dead.handle(now, &input, fx) {
                    *self = StoreNode::Server(server);
                }
            }
        }
        self.bury(fx);
    }

    fn view(&self) -> &StoreNode<C> {
        self
    }

    #[inline]
    fn role(&self) -> Role {
        self.server().map_or(Role::None, |server| server.role())
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreNode::Server(server) => server.describe(f),
            StoreNode::Client(client) => client.describe(f),
            StoreNode::Dead(_) => f.write_str("its process is dead"),
        }
    }

    fn parse_command(text: &str) -> Result<Command, String> {
        parse(text)
    }
}
