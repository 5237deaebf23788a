//! How much memory the daemon keeps that nothing uses: little of each call, however many there were.
//!
//! As it comes, glibc's allocator has eight arenas for each processor, and each keeps more the larger
//! the pieces are that were given back: what a minute of load needed at its height stays for good. What is
//! free between pieces in use it never gives back by itself: an index is built of millions of small ones. What was
//! read of the program's own file stays as well.

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod program;

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod glibc {
    use std::time::Duration;

    use super::program;

    /// Fewest arenas: two threads seldom wait for each other.
    const ARENAS_MIN: usize = 2;
    /// Free memory that stays at the end of an arena.
    const KEPT_BYTES: usize = 128 << 10;
    /// Larger pieces go back to the system at once.
    const PIECE_BYTES_MAX: usize = 1 << 20;
    /// How often it is looked whether memory is to be given back.
    const LOOK_EVERY: Duration = Duration::from_secs(5);
    /// Giving back walks all that is free, which calls wait for: it is done where so much came since.
    const GROWN_BYTES_MIN: u64 = 16 << 20;

    /// How much of its memory a process has for itself, and how much are pages of files.
    pub(super) struct MemoryUse {
        pub(super) own_bytes: u64,
        file_bytes: u64,
    }

    pub(crate) fn bound() {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        set(libc::M_ARENA_MAX, processors.max(ARENAS_MIN));
        set(libc::M_TRIM_THRESHOLD, KEPT_BYTES);
        set(libc::M_MMAP_THRESHOLD, PIECE_BYTES_MAX);
    }

    pub(crate) fn give_back_as_it_grows() {
        let watch = || {
            let mut least = MemoryUse { own_bytes: 0, file_bytes: 0 };
            while let Some(used) = MemoryUse::now() {
                least.own_bytes = used.own_bytes.min(least.own_bytes);
                least.file_bytes = used.file_bytes.min(least.file_bytes);
                if used.own_bytes >= least.own_bytes + GROWN_BYTES_MIN {
                    give_back();
                    least.own_bytes = MemoryUse::now().map_or(used.own_bytes, |now| now.own_bytes);
                }
                if used.file_bytes >= least.file_bytes + GROWN_BYTES_MIN {
                    program::unmap_unwritten();
                    least.file_bytes =
                        MemoryUse::now().map_or(used.file_bytes, |now| now.file_bytes);
                }
                std::thread::sleep(LOOK_EVERY);
            }
        };
        let started = std::thread::Builder::new().name("moss-memory".to_owned()).spawn(watch);
        if let Err(error) = started {
            tracing::warn!(%error, "memory that nothing uses is not given back");
        }
    }

    impl MemoryUse {
        /// What this process has at the moment. None where the system does not say.
        pub(super) fn now() -> Option<Self> {
            #[expect(
                clippy::disallowed_methods,
                reason = "the kernel's own words, of this process"
            )]
            let pages = std::fs::read_to_string("/proc/self/statm").ok()?;
            let mut pages = pages.split(' ').skip(1).map(|number| number.parse::<u64>().ok());
            let (resident, of_files) = (pages.next()??, pages.next()??);
            let page_bytes = rustix::param::page_size() as u64;
            Some(Self {
                own_bytes: resident.saturating_sub(of_files) * page_bytes,
                file_bytes: of_files * page_bytes,
            })
        }
    }

    pub(super) fn give_back() {
        #[expect(unsafe_code, reason = "see below, and the list in tests/tidy/code.rs")]
        // SAFETY: it takes a number and touches only what is free; glibc locks each arena meanwhile.
        unsafe {
            libc::malloc_trim(0);
        }
    }

    fn set(parameter: libc::c_int, value: usize) {
        let value = libc::c_int::try_from(value).unwrap_or(libc::c_int::MAX);
        #[expect(unsafe_code, reason = "see below, and the list in tests/tidy/code.rs")]
        // SAFETY: it takes two numbers and reads no memory of ours; glibc locks what it sets.
        // What it does not accept it leaves as it was, which is slower or larger, never wrong.
        unsafe {
            libc::mallopt(parameter, value);
        }
    }
}

/// Bounds what the allocator keeps. Belongs before the first thread.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(super) use self::glibc::bound;

/// Gives back from now on what nothing uses, some seconds after it was needed.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(super) use self::glibc::give_back_as_it_grows;

/// Other allocators are left as they are.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(super) fn bound() {}

/// Other allocators are left as they are.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(super) fn give_back_as_it_grows() {}

#[cfg(all(test, target_os = "linux", target_env = "gnu"))]
mod tests {
    use super::glibc::{MemoryUse, give_back};

    /// Pieces of which every hundredth stays keep what is free between them in the process.
    #[test]
    fn what_is_free_between_pieces_in_use_is_given_back() {
        const PIECES: usize = 100_000;
        const PIECE_BYTES: usize = 1_000;
        let own_bytes = || MemoryUse::now().map(|used| used.own_bytes);
        let mut pieces: Vec<Option<Vec<u8>>> = vec![None; PIECES];
        pieces.fill_with(|| Some(vec![1; PIECE_BYTES]));
        let full = own_bytes().unwrap();
        for (at, piece) in pieces.iter_mut().enumerate() {
            if at % 100 != 0 {
                *piece = None;
            }
        }
        give_back();
        let given_back = full.saturating_sub(own_bytes().unwrap());
        assert!(given_back > (PIECES * PIECE_BYTES / 2) as u64, "{given_back} of {full}");
    }
}
