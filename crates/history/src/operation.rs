//! A history: what clients asked for, when, and what they were told.

use std::collections::BTreeMap;

/// A moment that never comes: when an operation returned whose end nobody knows.
pub const NEVER: u64 = u64::MAX;

/// A text by its number in the [`Symbols`] of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Symbol(pub u32);

impl Symbol {
    /// No value: what a register holds before the first write. Of the model kv it is the empty text.
    pub const NIL: Symbol = Symbol(0);
}

/// Texts with numbers.
#[derive(Clone, Debug)]
pub struct Symbols {
    texts: Vec<String>,
    numbers: BTreeMap<String, u32>,
}

impl Default for Symbols {
    fn default() -> Symbols {
        Symbols { texts: vec![String::new()], numbers: BTreeMap::from([(String::new(), 0)]) }
    }
}

impl Symbols {
    /// The number of a text; of the empty text, [`Symbol::NIL`]. Panics beyond 2^32 texts.
    pub fn of(&mut self, text: &str) -> Symbol {
        if let Some(&number) = self.numbers.get(text) {
            return Symbol(number);
        }
        let number = u32::try_from(self.texts.len()).expect("fewer than 2^32 texts");
        self.texts.push(text.to_owned());
        self.numbers.insert(text.to_owned(), number);
        Symbol(number)
    }

    /// The text of a number. Panics if it has none.
    pub fn text(&self, symbol: Symbol) -> &str {
        &self.texts[symbol.0 as usize]
    }
}

/// What an operation asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// The value, or all elements of a set.
    Read,
    /// This value in place of the present one.
    Write(Symbol),
    /// The second value in place of the present one if that is the first.
    Swap(Symbol, Symbol),
    /// This text at the end of the value.
    Append(Symbol),
    /// This text at the end of the value, behind a comma if the value is not empty.
    Push(Symbol),
    /// This element in a set.
    Add(Symbol),
}

/// How an operation ended for its client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The write took place.
    Done,
    /// What was read.
    Value(Symbol),
    /// The elements that were read, by their number in [`History::lists`].
    Elements(u32),
    /// The value was not the one that [`Ask::Swap`] compares with.
    Differs,
    /// The client does not know: it may have taken place at any time since it began, or never.
    Unknown,
}

/// One operation of a client. Moments are numbers that grow with time; no two events of a history share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Whose it is.
    pub process: u64,
    /// The object it is about; [`Symbol::NIL`] where there is only one.
    pub key: Symbol,
    /// What it asks for.
    pub ask: Ask,
    /// How it ended.
    pub outcome: Outcome,
    /// When it began.
    pub invoked: u64,
    /// When it ended; [`NEVER`] if and only if its outcome is unknown.
    pub returned: u64,
    /// Where the system itself says it stands among all operations, if it says so. Reads may share a place with the
    /// write whose effect they see.
    pub place: Option<u64>,
    /// Lines of the file on which it begins and ends, from 1; 0 if there is none.
    pub lines: [u32; 2],
}

impl Operation {
    /// Whether it can change nothing: a read, or a comparison that failed.
    pub fn is_pure(&self) -> bool {
        self.ask == Ask::Read || self.outcome == Outcome::Differs
    }

    /// The operation as it is if nobody knows its end.
    pub(crate) fn opened(self) -> Operation {
        Operation { outcome: Outcome::Unknown, returned: NEVER, ..self }
    }
}

/// Operations of clients, in the order in which they began.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// The texts that its symbols stand for.
    pub symbols: Symbols,
    /// Elements that reads of sets returned.
    pub lists: Vec<Vec<Symbol>>,
    /// The operations.
    pub operations: Vec<Operation>,
}

/// What the clients believe the objects to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// A register that holds nothing at first: read and write.
    Register,
    /// A register with compare-and-set as well.
    CasRegister,
    /// A map of texts, empty at first: get, put, append, push and cas.
    Kv,
    /// A set that is empty at first: add an element, read all of them.
    Set,
}

impl Model {
    /// All of them.
    pub const ALL: [Model; 4] = [Model::CasRegister, Model::Kv, Model::Register, Model::Set];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Model::Register => "register",
            Model::CasRegister => "cas-register",
            Model::Kv => "kv",
            Model::Set => "set",
        }
    }

    /// Whether its objects know an operation.
    pub(crate) fn knows(self, ask: Ask) -> bool {
        match ask {
            Ask::Read => true,
            Ask::Write(_) => self != Model::Set,
            Ask::Swap(..) => matches!(self, Model::CasRegister | Model::Kv),
            Ask::Append(_) | Ask::Push(_) => self == Model::Kv,
            Ask::Add(_) => self == Model::Set,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_one_number_and_the_empty_text_is_nil() {
        let mut symbols = Symbols::default();
        let a = symbols.of("a");
        assert_eq!((symbols.of("a"), symbols.of(""), symbols.text(a)), (a, Symbol::NIL, "a"));
        assert_ne!(symbols.of("b"), a);
    }
}
