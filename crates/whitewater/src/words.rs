//! Messages and timers of small systems from one list each: names, codes, digests and texts follow from it.

/// Declares an enum of messages: what it is called in scripts and traces, its digest and its address follow from variants
/// and fields. Every field needs `Clone`, `Debug` and [`Digest`](crate::sim::Digest).
///
/// ```
/// whitewater::messages! {
///     /// What nodes send each other.
///     pub enum Word {
///         /// Lend it to me.
///         Ask { nonce: u64 },
///         /// No.
///         Refuse {},
///     }
/// }
/// assert_eq!(Word::NAMES, ["Ask", "Refuse"]);
/// assert_eq!(Word::Ask { nonce: 3 }.to_string(), "Ask nonce:3");
/// ```
///
/// A message is known by its link, its kind and its fields, and by its number among equals: so a scenario names it, and what
/// is drawn for it stays its own when something else in the run changes. A field that counts through the whole system - the number
/// of a request, a time - would give every message another name as soon as one request more or less was made. Mark it, and it
/// names nothing:
///
/// ```
/// use whitewater::sim::Message;
/// whitewater::messages! {
///     pub enum Word { Query { key: u64, #[unkeyed] request: u64 } }
/// }
/// let [first, again, other] = [(1, 1), (1, 2), (2, 2)].map(|(key, request)| Word::Query { key, request }.key());
/// assert!(first == again && first != other);
/// ```
#[macro_export]
macro_rules! messages {
    (@name $digester:ident $field:ident) => { $crate::sim::Digest::digest($field, &mut $digester); };
    (@name $digester:ident $field:ident unkeyed) => { let _ = $field; };
    (@name $digester:ident $field:ident $mark:ident) => {
        compile_error!("a field may be marked `#[unkeyed]`, and nothing else")
    };
    ($(#[$doc:meta])* $seen:vis enum $name:ident {
        $($(#[$about:meta])* $kind:ident {
            $($(#[$mark:ident])? $field:ident: $type:ty),* $(,)?
        }),+ $(,)?
    }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        #[allow(missing_docs)]
        $seen enum $name {
            $($(#[$about])* $kind { $($field: $type),* }),+
        }

        impl $name {
            /// What each kind is called.
            $seen const NAMES: &'static [&'static str] = &[$(stringify!($kind)),+];
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                match self {
                    $($name::$kind { $($field),* } => {
                        f.write_str(stringify!($kind))?;
                        $(write!(f, " {}:{:?}", stringify!($field), $field)?;)*
                        Ok(())
                    })+
                }
            }
        }

        impl $crate::sim::Digest for $name {
            fn digest(&self, digester: &mut $crate::sim::Digester) {
                digester.word(u64::from($crate::sim::Message::kind(self).code));
                match self {
                    $($name::$kind { $($field),* } => {
                        $($crate::sim::Digest::digest($field, digester);)*
                    })+
                }
            }
        }

        impl $crate::sim::Message for $name {
            fn kind(&self) -> $crate::sim::Kind {
                let name = match self {
                    $($name::$kind { .. } => stringify!($kind)),+
                };
                let code = $name::NAMES.iter().position(|known| *known == name).unwrap_or_default();
                $crate::sim::Kind { code: code as u8, name }
            }

            fn key(&self) -> u64 {
                let mut digester = $crate::sim::Digester::default();
                digester.word(u64::from($crate::sim::Message::kind(self).code));
                match self {
                    $($name::$kind { $($field),* } => {
                        $($crate::messages!(@name digester $field $($mark)?);)*
                    })+
                }
                digester.short()
            }

            fn size_bytes(&self) -> u32 {
                64
            }

            fn duplicate(&self) -> Option<Self> {
                Some(self.clone())
            }
        }
    };
}

/// Writes, in an `impl Node`, the types of a node whose words [`messages!`](crate::messages), [`timers!`](crate::timers) and
/// [`commands!`](crate::commands) declare: how its commands are read, and that checks see the node itself.
///
/// ```text
/// impl Node for Server {
///     whitewater::words! { message: Word, timer: Alarm, command: Command, reply: String, options: bool }
///     ...
/// ```
#[macro_export]
macro_rules! words {
    (message: $message:ty, timer: $timer:ty, command: $command:ty, reply: $reply:ty, options: $options:ty $(,)?) => {
        type Message = $message;
        type Timer = $timer;
        type Command = $command;
        type Reply = $reply;
        type View = Self;
        type Options = $options;

        fn view(&self) -> &Self {
            self
        }

        fn parse_command(text: &str) -> Result<$command, String> {
            <$command>::parse(text)
        }
    };
}

/// Declares an enum of timers, each with the name it has in scripts and traces.
///
/// ```
/// whitewater::timers! {
///     /// The timers of a node.
///     pub enum Alarm {
///         /// Time to ask again.
///         Ask = "ask",
///     }
/// }
/// assert_eq!(Alarm::NAMES, ["ask"]);
/// ```
#[macro_export]
macro_rules! timers {
    ($(#[$doc:meta])* $seen:vis enum $name:ident {
        $($(#[$about:meta])* $timer:ident = $text:literal),+ $(,)?
    }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[allow(missing_docs)]
        $seen enum $name {
            $($(#[$about])* $timer),+
        }

        impl $name {
            /// What each is called.
            $seen const NAMES: &'static [&'static str] = &[$($text),+];
        }

        impl $crate::sim::Timer for $name {
            fn code(&self) -> u32 {
                *self as u32
            }

            fn name(&self) -> &'static str {
                $name::NAMES[*self as usize]
            }
        }
    };
}

/// Declares an enum of commands: how scripts write them, and how they are read back, follow from it. Every field needs
/// `Clone`, `Debug`, `Display` and `FromStr`, and takes one word.
///
/// ```
/// whitewater::commands! {
///     /// What a script may ask for.
///     pub enum Command {
///         /// Adds a number.
///         Write { value: u64 } = "write",
///         /// Asks for all of them.
///         Read {} = "read",
///     }
/// }
/// assert_eq!(Command::parse("write 7").unwrap().to_string(), "write 7");
/// assert_eq!(
///     Command::parse("write").unwrap_err(),
///     "`write` is no command: write one of `write VALUE`, `read`"
/// );
/// ```
#[macro_export]
macro_rules! commands {
    ($(#[$doc:meta])* $seen:vis enum $name:ident {
        $($(#[$about:meta])* $command:ident { $($field:ident: $type:ty),* $(,)? } = $text:literal),+ $(,)?
    }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        #[allow(missing_docs)]
        $seen enum $name {
            $($(#[$about])* $command { $($field: $type),* }),+
        }

        impl $name {
            /// Reads a command from its text.
            ///
            /// # Errors
            /// Says which commands there are.
            $seen fn parse(text: &str) -> Result<$name, String> {
                let words: Vec<&str> = text.split(' ').collect();
                $(
                    if let [$text, $($field),*] = words[..] {
                        $(let $field = $field.parse::<$type>();)*
                        if true $(&& $field.is_ok())* {
                            return Ok($name::$command { $($field: $field.expect("it is right")),* });
                        }
                    }
                )+
                let forms = [$(concat!("`", $text, $(" ", stringify!($field),)* "`")),+].map(|form| {
                    let (verb, fields) = form.split_once(' ').unwrap_or((form, ""));
                    format!("{verb} {}", fields.to_uppercase()).trim_end().to_owned()
                });
                Err(format!("`{text}` is no command: write one of {}", forms.join(", ")))
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                match self {
                    $($name::$command { $($field),* } => {
                        f.write_str($text)?;
                        $(write!(f, " {}", $field)?;)*
                        Ok(())
                    })+
                }
            }
        }
    };
}
