//! The pages of this program that are in its memory. What was read of them once stays there, such as the tables of
//! grammars, which are tens of megabytes: the system takes pages away only where it lacks memory. Those that nobody
//! writes to are read again from the file, which the system keeps in its own memory.

use std::ops::Range;

use libc::{c_int, c_void, size_t};

/// Takes the pages of the program out of this process that nobody can have written to. Whoever needs one of them gets
/// it again.
pub(super) fn unmap_unwritten() {
    for pages in unwritten() {
        #[expect(unsafe_code, reason = "see below, and the list in tests/tidy/code.rs")]
        // SAFETY: these are pages of a private mapping of the program's file that may not be written to, by its own
        // headers, and no relocation is applied to them. Their content is that of the file, now and when they are
        // read again, so that references into them stay valid.
        unsafe {
            libc::madvise(pages.start as *mut c_void, pages.len(), libc::MADV_DONTNEED);
        }
    }
}

/// Where the program's file is mapped without the right to write, in whole pages.
fn unwritten() -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    #[expect(unsafe_code, reason = "see below, and the list in tests/tidy/code.rs")]
    // SAFETY: the function gets what it is written for: headers of the loader's, and the list, which nobody else
    // has meanwhile.
    unsafe {
        libc::dl_iterate_phdr(Some(add_unwritten), (&raw mut found).cast());
    }
    found
}

/// Adds the mappings of one file of the process: of the first, which is the program itself.
#[expect(unsafe_code, reason = "see below, and the list in tests/tidy/code.rs")]
unsafe extern "C" fn add_unwritten(
    file: *mut libc::dl_phdr_info,
    _: size_t,
    found: *mut c_void,
) -> c_int {
    // SAFETY: `dl_iterate_phdr` passes headers that stay as long as the file is loaded, and what it was given for
    // the list.
    let (headers, base, found) = unsafe {
        let file = &*file;
        let headers = std::slice::from_raw_parts(file.dlpi_phdr, usize::from(file.dlpi_phnum));
        (headers, file.dlpi_addr as usize, &mut *found.cast::<Vec<Range<usize>>>())
    };
    let page = rustix::param::page_size();
    for header in headers {
        if header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_W == 0 {
            let start = base + header.p_vaddr as usize;
            let end = start + header.p_filesz as usize;
            // What shares a page with something else stays.
            let pages = start.next_multiple_of(page)..end / page * page;
            found.extend((!pages.is_empty()).then_some(pages));
        }
    }
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What lies in the program, as its loader has it.
    static TEXT: [u8; 1 << 16] = [7; 1 << 16];

    #[test]
    fn what_is_unmapped_is_there_again_when_it_is_read() {
        let sum = || std::hint::black_box(&TEXT).iter().map(|byte| u64::from(*byte)).sum::<u64>();
        let before = sum();
        let at = TEXT.as_ptr() as usize + TEXT.len() / 2;
        assert!(unwritten().iter().any(|pages| pages.contains(&at)), "{:?}", unwritten());
        unmap_unwritten();
        assert_eq!((before, sum()), (7 << 16, 7 << 16));
    }
}
