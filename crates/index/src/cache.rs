//! Blocks of segments that were read lately, within a bound of memory.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use crate::problem::IndexProblem;
use crate::segment::{IndexSegment, LoadedBlock};

/// A segment's number and the number of a block in it.
type BlockKey = (u32, u32);

/// Keeps blocks; those that were read first go first.
pub(crate) struct BlockCache {
    bytes_max: usize,
    kept: Mutex<KeptBlocks>,
}

#[derive(Default)]
struct KeptBlocks {
    blocks: HashMap<BlockKey, Arc<LoadedBlock>>,
    order: VecDeque<BlockKey>,
    bytes: usize,
}

// === impl BlockCache ===

impl BlockCache {
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self { bytes_max, kept: Mutex::default() }
    }

    /// Returns a block, read now or before.
    pub(crate) fn block(
        &self,
        segment: &IndexSegment,
        number: u32,
    ) -> Result<Arc<LoadedBlock>, IndexProblem> {
        let key = (segment.name.number, number);
        let known =
            self.kept.lock().unwrap_or_else(PoisonError::into_inner).blocks.get(&key).cloned();
        if let Some(block) = known {
            return Ok(block);
        }
        let block = Arc::new(segment.read_block(number)?);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.blocks.insert(key, block.clone()).is_none() {
            kept.order.push_back(key);
            kept.bytes += block.memory_bytes();
        }
        while kept.bytes > self.bytes_max
            && let Some(first) = kept.order.pop_front()
        {
            let gone = kept.blocks.remove(&first);
            kept.bytes -= gone.map_or(0, |block| block.memory_bytes());
        }
        Ok(block)
    }

    /// How much memory the blocks take.
    pub(crate) fn bytes(&self) -> usize {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).bytes
    }

    /// Forgets the blocks of all segments.
    pub(crate) fn clear(&self) {
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = KeptBlocks::default();
    }
}
