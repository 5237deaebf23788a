//! How much memory tree-sitter takes for a text: counted on the thread that parses it.
//!
//! Blocks come from the allocator of the program, each with its size before it.

use std::alloc::{Layout, alloc, alloc_zeroed, dealloc, handle_alloc_error, realloc};
use std::cell::Cell;
use std::ffi::c_void;
use std::sync::Once;

use tree_sitter::Allocator;

/// What stands before a block: its size, and what keeps the block aligned as `malloc` aligns.
const HEADER_BYTES: usize = 16;

static COUNTED: Once = Once::new();

thread_local! {
    /// Bytes that were taken since the count began, less those that were given back; fewer than none where trees of
    /// earlier texts went.
    static TAKEN_BYTES: Cell<isize> = const { Cell::new(0) };
}

/// Has tree-sitter take its memory from here. Called before anything else of it is.
#[expect(unsafe_code, reason = "see below, and the list in tests/tidy/code.rs")]
pub(crate) fn count() {
    let counted = Allocator {
        malloc: counted_malloc,
        calloc: counted_calloc,
        realloc: counted_realloc,
        free: counted_free,
    };
    // SAFETY: the four belong together, return no null, and align as `malloc` does; parsers are made behind this
    // alone, so nothing of the library lives yet, and no other thread is in it.
    COUNTED.call_once(|| unsafe { tree_sitter::set_allocator(Some(counted)) });
}

/// Begins to count anew on this thread.
pub(crate) fn begin() {
    TAKEN_BYTES.set(0);
}

/// Bytes that this thread took since, and still has.
pub(crate) fn taken_bytes() -> usize {
    usize::try_from(TAKEN_BYTES.get()).unwrap_or_default()
}

/// A block of a size that the library asks for, with its header.
fn layout(size: usize) -> Layout {
    let whole = size.checked_add(HEADER_BYTES);
    let layout = whole.and_then(|whole| Layout::from_size_align(whole, HEADER_BYTES).ok());
    // There is no such memory, and the library knows no failure.
    layout.unwrap_or_else(|| std::process::abort())
}

fn add(bytes: usize) {
    TAKEN_BYTES.with(|taken| taken.set(taken.get().wrapping_add_unsigned(bytes)));
}

fn subtract(bytes: usize) {
    TAKEN_BYTES.with(|taken| taken.set(taken.get().wrapping_sub_unsigned(bytes)));
}

/// Writes the header of a new block and returns what is behind it.
#[expect(unsafe_code, reason = "see below, and the list in tests/tidy/code.rs")]
fn begun(block: *mut u8, size: usize) -> *mut c_void {
    if block.is_null() {
        handle_alloc_error(layout(size));
    }
    add(size);
    // SAFETY: the block has the header and `size` bytes behind it, and is aligned for both.
    unsafe {
        block.cast::<usize>().write(size);
        block.add(HEADER_BYTES).cast()
    }
}

/// The block of what was returned, and its size.
#[expect(unsafe_code, reason = "see below, and the list in tests/tidy/code.rs")]
fn block_of(returned: *mut c_void) -> (*mut u8, usize) {
    // SAFETY: the library gives back what it was given by `begun`, once.
    unsafe {
        let block = returned.cast::<u8>().sub(HEADER_BYTES);
        (block, block.cast::<usize>().read())
    }
}

#[expect(unsafe_code, reason = "see below, and the list in tests/tidy/code.rs")]
extern "C" fn counted_malloc(size: usize) -> *mut c_void {
    // SAFETY: the layout is never of no bytes.
    begun(unsafe { alloc(layout(size)) }, size)
}

#[expect(unsafe_code, reason = "see below, and the list in tests/tidy/code.rs")]
extern "C" fn counted_calloc(count: usize, each: usize) -> *mut c_void {
    let size = count.saturating_mul(each);
    // SAFETY: the layout is never of no bytes.
    begun(unsafe { alloc_zeroed(layout(size)) }, size)
}

#[expect(unsafe_code, reason = "see below, and the list in tests/tidy/code.rs")]
extern "C" fn counted_realloc(returned: *mut c_void, size: usize) -> *mut c_void {
    if returned.is_null() {
        return counted_malloc(size);
    }
    let (block, before) = block_of(returned);
    subtract(before);
    let whole = layout(size).size();
    // SAFETY: the block has the layout of its size, and the new size is one that a layout has.
    begun(unsafe { realloc(block, layout(before), whole) }, size)
}

#[expect(unsafe_code, reason = "see below, and the list in tests/tidy/code.rs")]
extern "C" fn counted_free(returned: *mut c_void) {
    if returned.is_null() {
        return;
    }
    let (block, size) = block_of(returned);
    subtract(size);
    // SAFETY: the block has the layout of its size, and nobody has it any more.
    unsafe { dealloc(block, layout(size)) }
}
