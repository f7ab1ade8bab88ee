//! Golden values of the randomness, and what its samplers promise.

use super::*;

fn stream() -> Draw {
    Keys::new(42).key(Site::PLAN, 0).draw(1, 2)
}

#[test]
fn keys_differ_by_seed_site_and_entity() {
    let keys = [
        Keys::new(1).key(Site::LINK, 0),
        Keys::new(2).key(Site::LINK, 0),
        Keys::new(1).key(Site::TIMER, 0),
        Keys::new(1).key(Site::LINK, 1),
    ];
    for (i, a) in keys.iter().enumerate() {
        for b in &keys[i + 1..] {
            assert_ne!(a, b);
        }
    }
}

#[test]
fn a_draw_depends_on_its_address_alone() {
    let key = Keys::new(7).key(Site::LINK, 3);
    let before = key.at(5, 6);
    let _ = (key.at(1, 1), key.draw(9, 9).bits());
    assert_eq!(key.at(5, 6), before);
    assert_ne!(key.at(5, 7), before);
    assert_ne!(key.at(6, 6), before);
}

#[test]
fn samplers_stay_in_range_and_reach_both_ends() {
    let mut draw = stream();
    let (mut low, mut high) = (false, false);
    for _ in 0..2_000 {
        let x = draw.within(3, 7);
        assert!((3..=7).contains(&x));
        low |= x == 3;
        high |= x == 7;
        assert!(draw.below(1) == 0);
        let x = draw.log_uniform(5, 1_000);
        assert!((5..=1_000).contains(&x), "{x}");
    }
    assert!(low && high);
    assert_eq!(draw.within(9, 9), 9);
    draw.within(0, u64::MAX);
}

#[test]
fn bits_are_balanced() {
    let key = Keys::new(3).key(Site::NODE, 0);
    for bit in 0..64 {
        let ones = (0..4_000).filter(|&i| key.at(i, i / 7) >> bit & 1 == 1).count();
        assert!((1_800..2_200).contains(&ones), "bit {bit} is set {ones} times of 4000");
    }
}

#[test]
fn chance_and_weights_hold_their_shares() {
    let mut draw = stream();
    let hits = (0..10_000).filter(|_| draw.chance(1, 4)).count();
    assert!((2_300..2_700).contains(&hits), "{hits}");
    let mut counts = [0; 3];
    for _ in 0..10_000 {
        counts[draw.weighted(&[1, 0, 3])] += 1;
    }
    assert_eq!(counts[1], 0);
    assert!((2_300..2_700).contains(&counts[0]), "{counts:?}");
}

#[test]
fn shuffle_keeps_every_item() {
    let mut items: Vec<u32> = (0..50).collect();
    stream().shuffle(&mut items);
    assert_ne!(items, (0..50).collect::<Vec<_>>());
    items.sort_unstable();
    assert_eq!(items, (0..50).collect::<Vec<_>>());
}

#[test]
fn the_first_values_of_every_sampler_never_change() {
    let key = Keys::new(42).key(Site::LINK, 3);
    let mut draw = stream();
    let mut order = [0, 1, 2, 3, 4, 5, 6, 7];
    let samples = (
        [key.at(0, 0), key.at(0, 1), key.at(1, 0)],
        [draw.bits(), draw.bits()],
        [draw.below(1_000), draw.within(10, 20), draw.log_uniform(1, 1_000_000)],
        [draw.chance(1, 2), draw.chance(1, 2), draw.chance(1, 2)],
        [draw.weighted(&[1, 2, 3]), draw.weighted(&[1, 2, 3])],
        *draw.pick(&['a', 'b', 'c']),
        name_hash("whitewater"),
    );
    draw.shuffle(&mut order);
    let golden = "([53eadfc28ce9bb38, eb0054babcadc57d, 8c0df7094687d399], [5a3b93ddec7ed1e9, d419e41c38c170], \
                  [28a, c, 7], [false, false, true], [1, 2], 'a', a93c485e38ae6606) [5, 6, 7, 4, 2, 0, 1, 3]";
    assert_eq!(format!("{samples:x?} {order:?}"), golden);
}

#[test]
fn a_name_in_parts_has_the_hash_of_the_whole() {
    assert_eq!(joined_hash(&["white", "", "wa", "ter"]), name_hash("whitewater"));
    assert_eq!(joined_hash(&[]), name_hash(""));
}
