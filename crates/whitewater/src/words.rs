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
/// A message of large systems says by hand what names it among others ([`key`](crate::sim::Message::key)): here all of its
/// fields do.
#[macro_export]
macro_rules! messages {
    ($(#[$doc:meta])* $seen:vis enum $name:ident {
        $($(#[$about:meta])* $kind:ident { $($field:ident: $type:ty),* $(,)? }),+ $(,)?
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
                $crate::sim::Digest::digest(self, &mut digester);
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
