//! What the system offers only to code that the compiler cannot check: work between fork and exec,
//! descriptors, namespaces, and which version of Landlock there is. The one file of this crate with
//! `unsafe`.

#![allow(unsafe_code, reason = "see the list in tests/tidy/code.rs")]

use std::collections::VecDeque;
use std::ffi::{CString, NulError};
use std::fs;
use std::io;
use std::mem::MaybeUninit;
use std::net::UdpSocket;
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, IntoRawFd as _, OwnedFd};
use std::path::Path;
use std::ptr;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
use rustix::io::{Errno, FdFlags};
use rustix::mount::MountAttrFlags;
use rustix::process::Pid;
use rustix::thread::UnshareFlags;

/// The first descriptor that is none of the three standard streams.
const FIRST: libc::c_uint = 3;
/// Size of a page on most machines.
const PAGE_BYTES: u64 = 4 << 10;
/// Asks which version of Landlock there is.
const LANDLOCK_VERSION: libc::c_ulong = 1;
/// The stack on which a child works until it is another program. It touches but a small part.
const CHILD_STACK_BYTES: usize = 256 << 10;

unsafe extern "C" {
    /// The variables of this process, as the C library knows them.
    static mut environ: *const *const libc::c_char;
}

/// Words as the system reads them: arguments, or variables with their values.
#[derive(Debug)]
pub(crate) struct SystemWords {
    /// What the pointers lead to, which stays where it is when this is moved.
    _words: Vec<CString>,
    /// One for each, and a last one that leads to nothing.
    pointers: Vec<*const libc::c_char>,
}

/// Starts a child that does `work` in the memory of this process, which waits until the child is another program or has
/// ended: none of it is copied. All else, such as descriptors, rights and signals, is the child's own. What `work` takes
/// is to be freed by the parent alone. For a process with one thread.
///
/// `arguments` has the words that the child passes on: the C library may copy their addresses to the stack.
pub(crate) fn start_child(arguments: &SystemWords, mut work: &mut dyn FnMut()) -> io::Result<Pid> {
    extern "C" fn begin(work: *mut libc::c_void) -> libc::c_int {
        // SAFETY: it leads to what `start_child` has on its stack, and nobody else uses that until the child is gone
        // from this memory.
        let work = unsafe { &mut *work.cast::<&mut dyn FnMut()>() };
        work();
        // SAFETY: the call ends the child, and runs and frees nothing of its parent.
        unsafe { libc::_exit(libc::EXIT_FAILURE) }
    }
    let places = CHILD_STACK_BYTES / size_of::<u128>() + arguments.pointers.len();
    let mut stack: Vec<MaybeUninit<u128>> = Vec::with_capacity(places);
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    // SAFETY: with these flags the kernel lets this process go on only when the child has another memory or has ended, so
    // that the stack and `work` outlive what it does with them. No other thread is there to hold a lock. What
    // the child leaves of its variables would lead to freed memory later: this process gets its own back.
    let id = unsafe {
        let own = environ;
        let end = stack.as_mut_ptr().add(places);
        let id = libc::clone(begin, end.cast(), flags, (&raw mut work).cast());
        environ = own;
        id
    };
    if id < 0 {
        return Err(io::Error::last_os_error());
    }
    Pid::from_raw(id).ok_or_else(|| io::Error::other("a child has no id"))
}

/// Becomes another program, which is found as the variables say. Returns why that cannot be. For the child of
/// [`start_child`].
pub(crate) fn become_program(arguments: &SystemWords, variables: &SystemWords) -> io::Error {
    let Some(&program) = arguments.pointers.first() else {
        return io::ErrorKind::InvalidInput.into();
    };
    // SAFETY: the pointers lead to words that end with a zero, and the last one of each to nothing. They are borrowed as
    // long as the call takes, and the parent gets its own variables back.
    unsafe {
        environ = variables.pointers.as_ptr();
        libc::execvp(program, arguments.pointers.as_ptr());
    }
    io::Error::last_os_error()
}

/// Gives this process the signals that programs expect to begin with: libraries of Rust ignore one, and whoever started
/// moss may have had some held back.
pub(crate) fn reset_signals() -> io::Result<()> {
    let mut none = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: the set is written before it is read, outlives the calls, and no handler of this process is called.
    let is_done = unsafe {
        libc::sigemptyset(none.as_mut_ptr()) == 0
            && libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), ptr::null_mut()) == 0
            && libc::signal(libc::SIGPIPE, libc::SIG_DFL) != libc::SIG_ERR
    };
    if is_done { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Puts a file in the stead of one standard stream of this process.
pub(crate) fn replace_stream(with: BorrowedFd<'_>, stream: libc::c_int) -> io::Result<()> {
    // SAFETY: nobody owns the standard streams: the library borrows them for each use, and what it uses next is the file.
    if unsafe { libc::dup2(with.as_raw_fd(), stream) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Size of a page of memory, as the C library knows it since the program was started.
///
/// A keeper must not ask for it by `/proc/self/auxv`, as libraries do before Linux 6.4: nobody of its
/// user can read that of a process that nobody may look into, not even itself.
pub(crate) fn page_bytes() -> u64 {
    // SAFETY: the call takes a number, and returns one.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    // No system is without it.
    u64::try_from(bytes).unwrap_or(PAGE_BYTES)
}

/// Gives this process these descriptors from 0 on, and no others. For a process that owns none but
/// these, and those that it leaves open by number.
///
/// Each is moved by itself: of so many as a process may have open, nearly all may be of these.
pub(crate) fn place(fds: Vec<OwnedFd>) -> io::Result<()> {
    let end = libc::c_int::try_from(fds.len()).map_err(io::Error::other)?;
    let mut fds = VecDeque::from(fds);
    for place in 0..end {
        let Some(fd) = fds.pop_front() else { break };
        if let Some(other) = fds.iter_mut().find(|other| other.as_raw_fd() == place) {
            *other = rustix::io::fcntl_dupfd_cloexec(&*other, place + 1)?;
        }
        if fd.as_raw_fd() == place {
            rustix::io::fcntl_setfd(&fd, FdFlags::empty())?;
            let _ = fd.into_raw_fd();
            continue;
        }
        // SAFETY: nobody owns the standard streams: the library borrows them for each use. Nobody owns
        // the other numbers, either: what this process owns and lay there has just moved.
        if unsafe { libc::dup2(fd.as_raw_fd(), place) } < 0 {
            return Err(io::Error::last_os_error());
        }
    }
    close_from(end.cast_unsigned(), 0)
}

/// Takes a descriptor over that this process inherited, by its number, which comes from who started it.
pub(crate) fn adopt(number: u32) -> io::Result<OwnedFd> {
    let number = number.cast_signed();
    if number < FIRST.cast_signed() {
        return Err(io::Error::other("the descriptor is one of the standard streams"));
    }
    // SAFETY: the call takes a number, and changes only whether exec closes what it stands for.
    if unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) } < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it is open, and nothing else in this process knows of it: moss opened it for this use.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// Marks every descriptor but the standard streams as one that ends with exec.
pub(crate) fn close_others() -> io::Result<()> {
    close_from(FIRST, libc::CLOSE_RANGE_CLOEXEC)
}

/// Closes every descriptor from a number on. For a process that owns none of them, or closes none of them
/// before the program is replaced.
fn close_from(first: libc::c_uint, flags: libc::c_uint) -> io::Result<()> {
    // SAFETY: the call takes numbers. Nothing in this process owns what is closed, as its callers say.
    let done = unsafe { libc::syscall(libc::SYS_close_range, first, libc::c_uint::MAX, flags) };
    if done == 0 {
        return Ok(());
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        // Linux has the call since 5.9, and its flag since 5.11.
        Some(libc::ENOSYS | libc::EINVAL) => close_each_from(first, flags),
        _ => Err(error),
    }
}

/// The same, one by one.
fn close_each_from(first: libc::c_uint, flags: libc::c_uint) -> io::Result<()> {
    let open = fs::read_dir("/proc/self/fd")?.map(|entry| Ok(entry?.file_name()));
    // What they were listed by is closed before them.
    let open = open.collect::<io::Result<Vec<_>>>()?;
    let numbers = open.iter().filter_map(|name| name.to_str()?.parse::<libc::c_int>().ok());
    for number in numbers.filter(|number| number.cast_unsigned() >= first) {
        // SAFETY: both calls take numbers. Nothing in this process owns what is closed, as the callers of
        // `close_from` say.
        let done = unsafe {
            if flags == libc::CLOSE_RANGE_CLOEXEC {
                libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC)
            } else {
                libc::close(number)
            }
        };
        let error = io::Error::last_os_error();
        if done < 0 && error.raw_os_error() != Some(libc::EBADF) {
            return Err(error);
        }
    }
    Ok(())
}

/// Opens what is to be mounted, so that nothing that takes its name meanwhile is: the plan found no
/// link on the way, and another command may have made one since.
pub(crate) fn open_without_links(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let opened = rustix::fs::openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS);
    Ok(match opened {
        Err(Errno::NOSYS) => rustix::fs::open(path, flags | OFlags::NOFOLLOW, Mode::empty())?,
        opened => opened?,
    })
}

/// Puts a file in the stead of standard streams of this process: of all three, or from a later one on.
pub(crate) fn replace_streams(with: BorrowedFd<'_>, first: libc::c_int) -> io::Result<()> {
    (first..FIRST.cast_signed()).try_for_each(|stream| replace_stream(with, stream))
}

/// Returns the version of Landlock that the kernel has; none where it has none, or it is off.
pub(crate) fn landlock_version() -> Option<u32> {
    let nothing = std::ptr::null::<libc::c_void>();
    let size: libc::size_t = 0;
    // SAFETY: with this flag the kernel reads no memory: it returns a number.
    let version = unsafe {
        libc::syscall(libc::SYS_landlock_create_ruleset, nothing, size, LANDLOCK_VERSION)
    };
    u32::try_from(version).ok().filter(|version| *version > 0)
}

/// Applies rules of Landlock to this process and all that it starts, which has given up new privileges.
pub(crate) fn restrict_self(rules: BorrowedFd<'_>) -> io::Result<()> {
    let flags: libc::c_uint = 0;
    // SAFETY: the call takes two numbers; the descriptor is open as long as it takes.
    let done = unsafe { libc::syscall(libc::SYS_landlock_restrict_self, rules.as_raw_fd(), flags) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Makes a child that continues from here as this process does. Returns its id, and none in the child.
/// For a process with one thread.
pub(crate) fn fork() -> io::Result<Option<Pid>> {
    // SAFETY: the fork server and the launcher have one thread, so that no lock is held by another when it forks, and the
    // child has all that its parent had.
    let id = unsafe { libc::fork() };
    if id < 0 { Err(io::Error::last_os_error()) } else { Ok(Pid::from_raw(id)) }
}

/// Closes every descriptor but the standard streams. For a process that owns none.
pub(crate) fn close_inherited() -> io::Result<()> {
    close_from(FIRST, 0)
}

/// Puts this process, or its next child, into new namespaces.
pub(crate) fn unshare(flags: UnshareFlags) -> io::Result<()> {
    // SAFETY: the table of descriptors, which threads could disagree about, stays shared.
    Ok(unsafe { rustix::thread::unshare_unsafe(flags.difference(UnshareFlags::FILES)) }?)
}

/// Adds attributes to a mount, or to it and all that is mounted in it.
pub(crate) fn restrict_mount(
    mount: BorrowedFd<'_>,
    attributes: MountAttrFlags,
    is_recursive: bool,
) -> io::Result<()> {
    // What is set, what is cleared, how it propagates, and whose users it maps.
    let attributes: [u64; 4] = [attributes.bits().into(), 0, 0, 0];
    let recursive = if is_recursive { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: the kernel reads an empty string and these numbers, whose size it is given, and writes
    // nothing; both outlive the call.
    let done = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH | recursive,
            &raw const attributes,
            size_of_val(&attributes),
        )
    };
    if done == 0 {
        return Ok(());
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::ENOSYS) => Err(io::Error::other("mounts are restricted from Linux 5.12 on")),
        _ => Err(error),
    }
}

/// Starts the loopback interface of this network namespace, which gives it its addresses.
pub(crate) fn start_loopback() -> io::Result<()> {
    let socket = UdpSocket::bind("0.0.0.0:0")?;
    let mut name = [0; libc::IFNAMSIZ];
    for (place, byte) in name.iter_mut().zip(b"lo") {
        *place = libc::c_char::from_ne_bytes([*byte]);
    }
    let flags = libc::c_short::try_from(libc::IFF_UP).map_err(io::Error::other)?;
    let request = libc::ifreq {
        ifr_name: name,
        ifr_ifru: libc::__c_anonymous_ifr_ifru { ifru_flags: flags },
    };
    // SAFETY: the kernel reads the request, which outlives the call, and writes nothing.
    let done = unsafe {
        libc::syscall(libc::SYS_ioctl, socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request)
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

// === impl SystemWords ===

impl SystemWords {
    /// Takes words over. Fails where one of them has a zero in it.
    pub(crate) fn new(words: impl IntoIterator<Item = Vec<u8>>) -> Result<Self, NulError> {
        let words = words.into_iter().map(CString::new).collect::<Result<Vec<_>, _>>()?;
        let pointers = words.iter().map(|word| word.as_ptr()).chain([ptr::null()]).collect();
        Ok(Self { _words: words, pointers })
    }
}
