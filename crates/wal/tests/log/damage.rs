//! Damage: what can be told from an unfinished write is put right or refused, never passed over.

use super::rot::{Met, every_bit};
use whitewater_wal::Options;

#[test]
fn every_flipped_bit_is_put_right_or_refused() {
    for segment_bytes in [1, 300, 1 << 20] {
        let met = every_bit(&Options::new(segment_bytes)).unwrap_or_else(|wrong| panic!("{wrong}"));
        println!("segments of {segment_bytes} bytes: {met:?}");
        let Met { mended, refused, ignored: _ } = met;
        assert!(mended > 0 && refused > 0, "{met:?}");
    }
}
