//! How much memory the daemon keeps that nothing uses: little of each call, however many there were.
//!
//! As it comes, glibc's allocator has eight arenas for each processor, and each keeps more the larger
//! the pieces are that were given back: what a minute of load needed at its height stays for good.

/// Fewest arenas: two threads seldom wait for each other.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const ARENAS_MIN: usize = 2;
/// Free memory that stays at the end of an arena.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const KEPT_BYTES: usize = 128 << 10;
/// Larger pieces go back to the system at once.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const PIECE_BYTES_MAX: usize = 1 << 20;

/// Bounds what the allocator keeps. Belongs before the first thread.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(super) fn bound() {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    set(libc::M_ARENA_MAX, processors.max(ARENAS_MIN));
    set(libc::M_TRIM_THRESHOLD, KEPT_BYTES);
    set(libc::M_MMAP_THRESHOLD, PIECE_BYTES_MAX);
}

/// Other allocators are left as they are.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(super) fn bound() {}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn set(parameter: libc::c_int, value: usize) {
    let value = libc::c_int::try_from(value).unwrap_or(libc::c_int::MAX);
    #[expect(unsafe_code, reason = "see below, and the list in tests/tidy/code.rs")]
    // SAFETY: it takes two numbers and reads no memory of ours; glibc locks what it sets.
    // What it does not accept it leaves as it was, which is slower or larger, never wrong.
    unsafe {
        libc::mallopt(parameter, value);
    }
}
