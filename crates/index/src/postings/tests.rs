//! Tests of posting lists.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

/// Some numbers below a bound: few, half of them, or all.
fn numbers_below(documents: u32) -> impl Strategy<Value = Vec<u32>> {
    let dense = prop::collection::vec(any::<bool>(), documents as usize).prop_map(|bits| {
        (0..).zip(bits).filter(|(_, is_in)| *is_in).map(|(number, _)| number).collect()
    });
    let sparse = prop::collection::btree_set(0..documents, 0..4)
        .prop_map(|numbers| numbers.into_iter().collect());
    prop_oneof![dense, sparse, Just((0..documents).collect())]
}

fn lists() -> impl Strategy<Value = (u32, Vec<u32>, Vec<u32>)> {
    (1..700_u32).prop_flat_map(|documents| {
        (Just(documents), numbers_below(documents), numbers_below(documents))
    })
}

proptest! {
    #[test]
    fn lists_read_back_and_keep_what_both_have((documents, first, second) in lists()) {
        let mut bytes = Vec::new();
        let has_bits = put_list(&mut bytes, &first, documents);
        prop_assert!(bytes.len() <= documents.div_ceil(8) as usize);
        let list = PostingList { bytes: &bytes, has_bits };
        prop_assert_eq!(list.numbers(documents), Some(first.clone()));
        let first: BTreeSet<u32> = first.into_iter().collect();
        let both: Vec<u32> = second.iter().filter(|one| first.contains(one)).copied().collect();
        let mut kept = second;
        prop_assert_eq!(list.keep(&mut kept, documents), Some(()));
        prop_assert_eq!(kept, both);
    }

    #[test]
    fn any_bytes_are_a_list_or_refused(
        bytes in prop::collection::vec(any::<u8>(), 0..40),
        has_bits in any::<bool>(),
        documents in 0..400_u32,
    ) {
        let list = PostingList { bytes: &bytes, has_bits };
        if let Some(numbers) = list.numbers(documents) {
            prop_assert!(numbers.is_sorted() && numbers.iter().all(|number| *number < documents));
        }
        let _ = list.keep(&mut (0..documents).collect(), documents);
    }
}
