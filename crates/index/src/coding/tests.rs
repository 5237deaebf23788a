//! Tests of numbers and sequences.

use proptest::prelude::*;

use super::*;

proptest! {
    #[test]
    fn numbers_and_sequences_read_back(
        numbers in prop::collection::vec(any::<u64>(), 0..8),
        sequence in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let mut bytes = Vec::new();
        for number in &numbers {
            put_number(&mut bytes, *number);
        }
        put_bytes(&mut bytes, &sequence);
        let mut coded = CodedBytes(&bytes);
        for number in numbers {
            prop_assert_eq!(coded.number(), Some(number));
        }
        prop_assert_eq!(coded.sequence(), Some(&*sequence));
        prop_assert!(coded.0.is_empty());
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..24)) {
        let mut coded = CodedBytes(&bytes);
        while coded.number().is_some() {}
        let _ = CodedBytes(&bytes).sequence();
        let _ = CodedBytes(&bytes).small();
    }
}

#[test]
fn numbers_that_do_not_fit_are_refused() {
    assert_eq!(CodedBytes(&[0xff; 12]).number(), None);
    assert_eq!(CodedBytes(&[0x80]).number(), None);
    assert_eq!(CodedBytes(&[0xff, 0xff, 0xff, 0xff, 0x7f]).small(), None);
    assert_eq!(CodedBytes(&[5, 1, 2]).sequence(), None);
}
