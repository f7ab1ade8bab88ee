//! One plan on two systems: the first answer that differs is told, whoever of the two is wrong.

use whitewater::hunts::{differ, run};
use whitewater::plan::text::parse_script;
use whitewater::plan::{Plan, Profile, Restrictions, generate};
use whitewater::sim::{
    Boot, Cluster, Draw, Effects, Input, LocalTime, Monitor, Node, NodeId, Options, Progress, Role, Script,
    Seen, Span, System, Target, Time, Timing, Violation,
};
use whitewater::{Tested, system};

whitewater::messages! {
    /// Nobody says anything.
    pub enum Word { Nothing { number: u64 } }
}

whitewater::timers! {
    /// Nobody waits.
    pub enum Alarm { Never = "never" }
}

whitewater::commands! {
    /// What can be asked.
    pub enum Command {
        /// To add a number to the sum.
        Add { value: u64 } = "add",
    }
}

/// A server that adds up what it is given; a wrong one forgets the first number above 3.
pub struct Sum<const WRONG: bool> {
    sum: u64,
    has_forgotten: bool,
}

impl<const WRONG: bool> Node for Sum<WRONG> {
    whitewater::words! { message: Word, timer: Alarm, command: Command, reply: String, options: () }

    fn boot(_: &Boot<'_, ()>, _: &mut Effects<'_, Self>) -> Self {
        Sum { sum: 0, has_forgotten: false }
    }

    fn handle(&mut self, _: LocalTime, input: Input<Self>, fx: &mut Effects<'_, Self>) {
        let Input::Command { op, command: Command::Add { value } } = input else { return };
        if WRONG && value > 3 && !self.has_forgotten {
            self.has_forgotten = true;
        } else {
            self.sum += value;
        }
        fx.reply(op, self.sum.to_string());
    }

    fn role(&self) -> Role {
        Role::Leader
    }

    fn describe(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.sum)
    }
}

/// Watches nothing.
pub struct Blind;

impl<const WRONG: bool> Monitor<Sum<WRONG>> for Blind {
    fn observe(&mut self, _: &Seen<'_, Sum<WRONG>>, _: &Cluster<Sum<WRONG>>) -> Result<(), Violation> {
        Ok(())
    }

    fn owed(&mut self, _: Time, _: &Cluster<Sum<WRONG>>) -> Progress {
        Progress::Done
    }
}

impl<const WRONG: bool> Tested for Sum<WRONG> {
    type Monitor = Blind;
    const NAME: &'static str = if WRONG { "forgetful-sum" } else { "sum" };
    const ABOUT: &'static str = "Adds up what it is given.";
    const RULES: &'static [(&'static str, &'static str)] = &[];
    const MESSAGES: &'static [&'static str] = Word::NAMES;
    const TIMERS: &'static [&'static str] = Alarm::NAMES;

    fn options(_: &Options) {}

    fn timing(_: &Options) -> Timing {
        let second = Span::from_millis(1000);
        Timing { election_low: second, election_high: second.times(2), heartbeat: second.part(10) }
    }

    fn monitor(_: &Script, (): &()) -> Blind {
        Blind
    }

    fn draw_operation(_: &mut Draw, number: u32, _: &Script, _: &Options) -> (Target, String) {
        (Target::Node(NodeId::server(0)), format!("add {number}"))
    }
}

fn plan(one: &'static dyn System) -> Plan {
    let restrictions = Restrictions {
        system: Some(one.name().to_owned()),
        profile: Some(Profile::Calm),
        ..Restrictions::default()
    };
    generate(&[one], 7, &restrictions).expect("a plan can be drawn")
}

#[test]
fn a_system_answers_as_it_does_itself() {
    let sum = system::<Sum<false>>();
    let compared = differ(sum, sum, &plan(sum)).unwrap();
    assert_eq!(compared.difference, None);
    assert!(compared.answers > 5, "{}", compared.answers);
}

#[test]
fn the_first_answer_that_differs_is_told_from_either_side() {
    let (right, wrong) = (system::<Sum<false>>(), system::<Sum<true>>());
    let told = differ(right, wrong, &plan(right)).unwrap().difference.expect("they differ");
    // 0 + 1 + 2 + 3, and then 4 is forgotten.
    assert!(told.starts_with("op4 `add 4 at n1`: sum answers `10` at "), "{told}");
    assert!(told.contains(", forgetful-sum answers `6` at "), "{told}");
    let told = differ(wrong, right, &plan(right)).unwrap().difference.expect("they differ");
    assert!(told.starts_with("op4 `add 4 at n1`: forgetful-sum answers `6` at "), "{told}");
}

#[test]
fn who_has_no_clients_is_given_none() {
    let (sum, kv) = (system::<Sum<false>>(), &whitewater_kv::KV);
    let with_clients = plan(kv);
    assert!(with_clients.script.clients > 0);
    let compared = differ(kv, sum, &with_clients).expect("both can be run");
    assert!(compared.left_out.iter().any(|line| line.contains(" at c1")), "{:?}", compared.left_out);
    let given = Plan { system: "sum".to_owned(), ..with_clients };
    assert!(run(sum, &given, false).unwrap_err().starts_with("`sum` has no clients, and the plan has "));
    let demanded = Restrictions { set: vec![("clients".into(), "2".into())], ..Restrictions::default() };
    let wrong = generate(&[sum], 7, &demanded).unwrap_err();
    assert_eq!(wrong, "`clients`: sum has no clients, its servers are asked themselves");
    let wrong = parse_script(&["clients 1".to_owned()], Some(sum)).unwrap_err();
    assert_eq!(wrong.message, "sum has no clients");
}

#[test]
fn what_one_of_them_has_no_words_for_is_left_out_for_both() {
    let (sum, kv) = (system::<Sum<false>>(), &whitewater_kv::KV);
    let compared = differ(sum, kv, &plan(sum)).unwrap();
    assert_eq!(compared.answers, 0);
    assert!(compared.left_out.iter().all(|line| line.contains("add ")), "{:?}", compared.left_out);
    assert!(!compared.left_out.is_empty());
}
