//! The table of attacks. A script gets out when it writes `ESCAPED` or the secret, when it changes
//! what it may not, or when something of it survives.

use std::path::Path;

use moss_sandbox::ProtectedKind;

/// A command that must not succeed in the sandbox.
pub(crate) struct Attack {
    pub(crate) name: &'static str,
    /// For `bash -c`, at the root of the workspace.
    pub(crate) script: &'static str,
    /// Whether only root gets out with it where nothing keeps it in.
    pub(crate) needs_root: bool,
}

/// What of the workspace stays as it is.
pub(crate) const KEPT: &[&str] = &[
    ".git/commondir",
    ".git/config",
    ".git/config.worktree",
    ".git/hooks",
    ".git/info/attributes",
    ".git/modules/sub/config",
    ".git/modules/sub/hooks",
    ".mcp.json",
    ".vscode/tasks.json",
    "deep/er/.vscode/tasks.json",
    "vendor/sub/.git/config",
    "vendor/sub/.git/hooks",
];

/// What every script in Python begins with: `call` makes a system call, `reached` says whether the
/// kernel looked at one.
pub(crate) const PYTHON: &str = "
import ctypes, os, socket, sys, resource
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(a) if isinstance(a, int) else a for a in arguments])
    return result, ctypes.get_errno()
def reached(number, *arguments):
    result, errno = call(number, *arguments)
    if result >= 0 or errno not in (1, 13, 38): print('ESC' + 'APED')
def escaped(is_out):
    if is_out: print('ESC' + 'APED')
";

pub(crate) fn kind(path: &Path) -> Option<ProtectedKind> {
    match path.to_str()? {
        path if path.ends_with(".vscode/tasks.json") => Some(ProtectedKind::Protected),
        path if path.ends_with(".env") || path == "keys" => Some(ProtectedKind::Masked),
        _ => None,
    }
}

const fn attack(name: &'static str, script: &'static str) -> Attack {
    Attack { name, script, needs_root: false }
}

const fn by_root(name: &'static str, script: &'static str) -> Attack {
    Attack { name, script, needs_root: true }
}

/// What the landlock tier does not keep from being done, and restores afterwards.
pub(crate) const LANDLOCK_RESTORED: &[&str] = &[
    "write a hook",
    "write an existing hook",
    "make a hook executable",
    "remove the hooks",
    "replace the hooks by a link",
    "rename the hooks",
    "rename the directory above the hooks",
    "write a setting of git",
    "empty the settings of git",
    "rename over the settings of git",
    "write the settings by another name",
    "lead git elsewhere",
    "write the settings of a worktree",
    "write git's attributes",
    "write the settings of a submodule",
    "write a hook of a submodule",
    "rename above a submodule's settings",
    "write a hook of a nested repository",
    "rename a nested repository",
    "rename above a nested repository",
    "swap the directory above the hooks",
    "write a protected file",
    "rename above a protected file",
    "make a protected file that is missing",
];

/// What the landlock tier does not keep in. What it restores afterwards is not here.
pub(crate) const LANDLOCK_LETS_THROUGH: &[&str] = &[
    // Landlock knows no permission bits.
    "change permissions outside",
    // Names beneath a writable directory.
    "read a masked file",
    "read a masked file by another name",
    "read a masked file after a rename",
    "copy a masked file",
    "pack a masked file",
    "read in a masked directory",
    "rename a masked directory",
    // There is one `/proc` for all.
    "see another process",
    "reach a socket outside",
    "reach a socket of the home directory",
    "reach a socket among toolchains",
    SYSTEM_SOCKET,
    "see the network's interfaces",
    "unmount what masks",
];
/// Those of them that it keeps in from [`SOCKETS_SINCE`] on.
pub(crate) const SOCKETS: [&str; 4] = [
    "reach a socket outside",
    "reach a socket of the home directory",
    "reach a socket among toolchains",
    SYSTEM_SOCKET,
];
/// The one whose socket root alone can make.
pub(crate) const SYSTEM_SOCKET: &str = "reach a socket of the system";
/// The version of Landlock that knows Unix sockets with a path.
pub(crate) const SOCKETS_SINCE: u32 = 9;

/// Attacks by numbers of other ABIs, which not every kernel has: where it does not, nothing gets out without a sandbox,
/// either.
pub(crate) const FOREIGN: [Attack; 2] = [
    attack("call by a number of x32", "/usr/bin/python3 -c \"$PY
escaped(call(0x40000000 | 39)[0] > 0)\""),
    attack("call by a number of i386", "/usr/bin/python3 -c \"$PY
import mmap
page = mmap.mmap(-1, 4096, prot=7)
# mov eax, 20 (getpid); int 0x80; ret
page.write(bytes([0xb8, 20, 0, 0, 0, 0xcd, 0x80, 0xc3]))
escaped(ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))() == os.getpid())\""),
];

/// Numbers of system calls are those of x86-64.
pub(crate) const ATTACKS: &[Attack] = &[
    // Writing outside.
    attack("write a file outside", "echo x > $OUT/file"),
    attack("make a file outside", "echo x > $OUT/new"),
    attack("write outside through dots", "echo x > ../outside/file"),
    attack("write outside through a link", "ln -s $OUT l; echo x > l/file"),
    attack("write outside through a chain of links", "ln -s $OUT a; ln -s a b; echo x > b/new"),
    attack("link a file from outside", "ln $OUT/file hard && echo x >> hard"),
    attack("remove a file outside", "rm -f $OUT/file"),
    attack("move a file in from outside", "mv $OUT/file here"),
    attack("change permissions outside", "chmod 777 $OUT/file"),
    attack("write through /proc/self/root", "echo x > /proc/self/root$OUT/file"),
    attack("write through /proc/self/cwd", "echo x > /proc/self/cwd/../outside/file"),
    attack("write a start-up file of shells", "echo x >> $HOME/.bashrc"),
    attack("write git's settings of the person", "git config --global alias.x '!evil'"),
    attack("write cargo's settings of the person", "echo x >> $HOME/.cargo/config.toml"),
    attack("write a program of the person's PATH", "echo x > $HOME/.local/bin/ls"),
    attack("add a key that may log in", "echo x > $HOME/.ssh/authorized_keys"),
    attack("write what starts with the desktop", "mkdir -p $HOME/.config/autostart; echo x > $HOME/.config/autostart/x.desktop"),
    // Protected names.
    attack("write a hook", "echo x > .git/hooks/pre-commit"),
    attack("write an existing hook", "echo x > .git/hooks/sample"),
    attack("make a hook executable", "chmod 755 .git/hooks/sample"),
    attack("remove the hooks", "rm -rf .git/hooks"),
    attack("replace the hooks by a link", "rm -rf .git/hooks; ln -s ../evil .git/hooks"),
    attack("rename the hooks", "mv .git/hooks .git/old; mkdir -p .git/hooks; echo x > .git/hooks/x"),
    attack("rename the directory above the hooks", "mv .git g; mkdir -p .git/hooks; echo x > .git/hooks/x; echo x > .git/config"),
    attack("write a setting of git", "echo x >> .git/config"),
    attack("empty the settings of git", ": > .git/config"),
    attack("rename over the settings of git", "echo x > n; mv -f n .git/config"),
    attack("write the settings by another name", "ln .git/config c; echo x >> c"),
    attack("lead git elsewhere", "mkdir evil; echo evil > .git/commondir"),
    attack("write the settings of a worktree", "echo x > .git/config.worktree"),
    attack("write git's attributes", "echo x > .git/info/attributes"),
    attack("write the settings of a submodule", "echo x >> .git/modules/sub/config"),
    attack("write a hook of a submodule", "mkdir -p .git/modules/sub/hooks; echo x > .git/modules/sub/hooks/x"),
    attack("rename above a submodule's settings", "mv .git/modules/sub .git/modules/s; mkdir -p .git/modules/sub; echo x > .git/modules/sub/config"),
    attack("write a hook of a nested repository", "echo x > vendor/sub/.git/hooks/x"),
    attack("rename a nested repository", "mv vendor v; mkdir -p vendor/sub/.git/hooks; echo x > vendor/sub/.git/hooks/x"),
    attack("rename above a nested repository", "mv vendor/sub vendor/s; mkdir -p vendor/sub/.git/hooks; echo x > vendor/sub/.git/hooks/x"),
    attack("swap the directory above the hooks", "mkdir -p e/hooks; echo x > e/hooks/x; /usr/bin/python3 -c \"$PY
call(316, -100, b'e', -100, b'.git', 2)\""),
    attack("write a protected file", "echo x > .vscode/tasks.json"),
    attack("rename above a protected file", "mv deep d; mkdir -p deep/er/.vscode; echo x > deep/er/.vscode/tasks.json"),
    attack("make a protected file that is missing", "echo x > .mcp.json"),
    // Reading.
    attack("read a file outside", "cat $OUT/secret"),
    attack("read outside through /proc/self/root", "cat /proc/self/root$OUT/secret"),
    attack("read outside through another's root", "cat /proc/$VICTIM/root$OUT/secret"),
    attack("read outside through its parent's root", "cat /proc/$PPID/root$OUT/secret"),
    attack("read a private key", "cat $HOME/.ssh/id_ed25519"),
    attack("read keys of a cloud", "cat $HOME/.aws/credentials"),
    attack("read a key ring", "cat $HOME/.gnupg/key"),
    attack("read passwords of hosts", "cat $HOME/.netrc"),
    attack("read a token of a forge", "cat $HOME/.config/gh/hosts.yml"),
    attack("read a token of a registry of images", "cat $HOME/.docker/config.json"),
    attack("read a token of a registry of crates", "cat $HOME/.cargo/credentials.toml"),
    attack("read a token of moss", "cat $HOME/.local/state/moss/approver.token"),
    attack("read a browser's cookies", "cat $HOME/.mozilla/cookies"),
    attack("search the home directory", "grep -rh hidden $HOME"),
    by_root("read password hashes", "head -c 5 /etc/shadow >/dev/null && echo ESCAPED"),
    attack("read a masked file", "cat .env"),
    attack("read a masked file by another name", "ln .env e; cat e"),
    attack("read a masked file after a rename", "mv conf c; cat c/.env"),
    attack("copy a masked file", "cp -r conf c; cat c/.env"),
    attack("pack a masked file", "tar -cf - . | cat"),
    attack("read in a masked directory", "cat keys/private"),
    attack("rename a masked directory", "mv keys k; cat k/private"),
    attack("read an inherited descriptor", "for f in /proc/self/fd/*; do timeout 1 head -c 99 $f; done < /dev/null"),
    attack("read the environment it was not given", "env"),
    // Other processes.
    attack("read another's environment", "tr '\\0' '\\n' < /proc/$VICTIM/environ"),
    attack("read every environment", "cat /proc/[0-9]*/environ | tr '\\0' '\\n'"),
    attack("see another process", "grep -qz $VICTIM_MARK /proc/[0-9]*/cmdline && echo ESCAPED"),
    attack("open another's memory", "exec 3< /proc/$VICTIM/mem && echo ESCAPED"),
    attack("read another's memory", "/usr/bin/python3 -c \"$PY
b = ctypes.create_string_buffer(8)
class V(ctypes.Structure): _fields_ = [('p', ctypes.c_void_p), ('n', ctypes.c_size_t)]
a = int(open('/proc/$VICTIM/maps').readline().split('-')[0], 16)
r, e = call(310, $VICTIM, ctypes.byref(V(ctypes.addressof(b), 8)), 1, ctypes.byref(V(a, 8)), 1, 0)
escaped(r == 8)\""),
    attack("ask for another's limits", "/usr/bin/python3 -c \"$PY
limits = (ctypes.c_ulong * 2)()
escaped(call(302, os.getppid(), 7, 0, ctypes.byref(limits))[0] == 0)\""),
    attack("trace a process", "/usr/bin/python3 -c \"$PY
escaped(call(101, 0, 0, 0, 0)[0] == 0)\""),
    attack("signal another process", "kill -0 $VICTIM && echo ESCAPED"),
    attack("signal who started it", "kill -0 $PPID && echo ESCAPED"),
    attack("look into who started it", "tr '\\0' '\\n' < /proc/$PPID/environ > /dev/null && echo ESCAPED"),
    attack("take another's descriptor", "/usr/bin/python3 -c \"$PY
fd, _ = call(434, $VICTIM, 0)
escaped(fd >= 0 and call(438, fd, 0, 0)[0] >= 0)\""),
    attack("give another process a lower priority", "renice -n 19 -p $VICTIM && echo ESCAPED"),
    attack("give another process a lower priority of the disk", "ionice -c 3 -p $VICTIM && echo ESCAPED"),
    attack("bind another process to a processor", "taskset -p 1 $VICTIM && echo ESCAPED"),
    attack("schedule another process", "chrt --idle -p 0 $VICTIM && echo ESCAPED"),
    attack("read the memory that others share by a number", "/usr/bin/python3 -c \"$PY
escaped(call(30, $SHARED, 0, 0)[1] == 0)\""),
    attack("read the memory that others share by a name", "cat /dev/shm/$MARK.shared"),
    // Sockets and networks.
    attack("reach a socket outside", "/usr/bin/python3 -c \"$PY
socket.socket(socket.AF_UNIX).connect('$OUT/agent.sock'); escaped(True)\""),
    attack("reach a socket of the home directory", "/usr/bin/python3 -c \"$PY
socket.socket(socket.AF_UNIX).connect('$HOME/agent.sock'); escaped(True)\""),
    attack("reach a socket among toolchains", "/usr/bin/python3 -c \"$PY
socket.socket(socket.AF_UNIX).connect('$HOME/.cargo/an agent.sock'); escaped(True)\""),
    by_root(SYSTEM_SOCKET, "/usr/bin/python3 -c \"$PY
socket.socket(socket.AF_UNIX).connect('/usr/local/$MARK.sock'); escaped(True)\""),
    attack("reach an abstract socket", "/usr/bin/python3 -c \"$PY
socket.socket(socket.AF_UNIX).connect(chr(0) + '$ABSTRACT'); escaped(True)\""),
    attack("reach a service of this machine", "exec 3<>/dev/tcp/127.0.0.1/$TCP && echo ESCAPED"),
    attack("reach a service by UDP", "echo x > /dev/udp/127.0.0.1/$UDP && /usr/bin/python3 -c \"$PY
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.connect(('127.0.0.1', $UDP)); s.send(b'x'); s.settimeout(0.2)
try: s.recv(1)
except ConnectionRefusedError: sys.exit()
except TimeoutError: pass
escaped(True)\""),
    attack("find a way to the metadata of a cloud", "/usr/bin/python3 -c \"$PY
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.connect(('169.254.169.254', 80)); escaped(True)\""),
    attack("find a way to the internet", "/usr/bin/python3 -c \"$PY
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.connect(('192.0.2.77', 53)); escaped(True)\""),
    attack("see the network's interfaces", "grep -qv -e lo: -e '|' /proc/net/dev && echo ESCAPED"),
    by_root("open a raw socket", "/usr/bin/python3 -c \"$PY
socket.socket(socket.AF_INET, socket.SOCK_RAW, 1); escaped(True)\""),
    by_root("listen to all packets", "/usr/bin/python3 -c \"$PY
socket.socket(17, socket.SOCK_RAW, 0); escaped(True)\""),
    attack("use the kernel's cryptography", "/usr/bin/python3 -c \"$PY
reached(41, 38, 5, 0)\""),
    attack("reach the host of a virtual machine", "/usr/bin/python3 -c \"$PY
reached(41, 40, 1, 0)\""),
    // The kernel.
    by_root("mount", "mkdir m; mount -t tmpfs none m && umount m && echo ESCAPED"),
    by_root("mount what is outside", "mkdir m; mount --bind $OUT m && cat m/secret; umount m"),
    by_root("unmount what masks", "umount .env keys 2>/dev/null; cat .env keys/private"),
    by_root("mount by the new calls", "/usr/bin/python3 -c \"$PY
reached(430, b'tmpfs', 0)\""),
    by_root("open a tree of mounts", "/usr/bin/python3 -c \"$PY
reached(428, -100, b'/', 1)\""),
    attack("make a user namespace", "unshare -U true && echo ESCAPED"),
    attack("make a user namespace with clone", "/usr/bin/python3 -c \"$PY
r, e = call(56, 0x10000000 | 17, 0, 0, 0, 0)
if r == 0: os._exit(0)
escaped(r > 0)\""),
    attack("make a user namespace with clone3", "/usr/bin/python3 -c \"$PY
a = (ctypes.c_uint64 * 11)(); a[0] = 0x10000000; a[4] = 17
r, e = call(435, ctypes.byref(a), 88)
if r == 0: os._exit(0)
escaped(r > 0)\""),
    by_root("make a mount namespace", "unshare -m true && echo ESCAPED"),
    by_root("enter another's namespaces", "nsenter -t $VICTIM -m true && echo ESCAPED"),
    by_root("change the root", "/usr/bin/python3 -c \"$PY
os.chroot('/usr'); escaped(True)\""),
    by_root("open a file by its handle", "/usr/bin/python3 -c \"$PY
reached(304, -100, ctypes.byref((ctypes.c_uint32 * 34)(128)), 0)\""),
    attack("make a ring of io_uring", "/usr/bin/python3 -c \"$PY
reached(425, 1, ctypes.byref((ctypes.c_uint32 * 30)()))\""),
    attack("add a key to the kernel", "/usr/bin/python3 -c \"$PY
reached(248, b'user', b'k', b'v', 1, -3)\""),
    attack("ask the kernel's key rings", "/usr/bin/python3 -c \"$PY
reached(250, 0, -3, 0)\""),
    by_root("load a program of BPF", "/usr/bin/python3 -c \"$PY
reached(321, 0, ctypes.byref((ctypes.c_uint32 * 32)(2, 4, 8, 1)), 48)\""),
    by_root("watch the kernel's counters", "/usr/bin/python3 -c \"$PY
reached(298, ctypes.byref((ctypes.c_uint32 * 32)(1, 128)), 0, -1, -1, 0)\""),
    by_root("catch page faults", "/usr/bin/python3 -c \"$PY
reached(323, 0)\""),
    by_root("read the kernel's log", "dmesg >/dev/null && echo ESCAPED"),
    by_root("write a setting of the kernel", "cat /proc/sys/kernel/hostname > /proc/sys/kernel/hostname && echo ESCAPED"),
    by_root("make a device", "mknod d c 1 3 && echo ESCAPED"),
    attack("make a program that runs as its owner", "cp /bin/true t; chmod 4755 t && test -u t && echo ESCAPED"),
    attack("open a file that runs as its owner", "/usr/bin/python3 -c \"$PY
os.umask(0); f = os.open('t', os.O_CREAT | os.O_WRONLY, 0o4755); escaped(os.fstat(f).st_mode & 0o4000)\""),
    attack("type into a terminal", "/usr/bin/python3 -c \"$PY
reached(16, 0, 0x5412, ctypes.byref(ctypes.c_char(10)))\""),
    attack("gain privileges by a program", "grep -q 'NoNewPrivs:.*0' /proc/self/status && echo ESCAPED"),
    by_root("keep a capability", "grep -q 'CapEff:.*[1-9a-f]' /proc/self/status && echo ESCAPED"),
    by_root("regain capabilities", "/usr/bin/python3 -c \"$PY
escaped(libc.prctl(24, 0, 0, 0, 0) == 0)\""),
    // Limits and ends.
    attack("raise the limit on open files", "ulimit -n 4500 && echo ESCAPED"),
    attack("raise the limit on CPU time", "ulimit -t 7200 && echo ESCAPED"),
    attack("allow core dumps", "ulimit -c 1000 && echo ESCAPED"),
    attack("survive in the background", "sleep $MARK & sleep 0.1"),
    attack("survive in another session", "setsid sleep $MARK & sleep 0.1"),
    attack("survive a hang-up", "nohup sleep $MARK >/dev/null 2>&1 & sleep 0.1"),
    attack("survive as a daemon", "/usr/bin/python3 -c \"
import os
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
for fd in range(3): os.close(fd)
os.execvp('sleep', ['sleep', '$MARK'])\"; sleep 0.1"),
    attack("survive by ignoring signals", "(trap '' TERM HUP INT QUIT; setsid sleep $MARK) & sleep 0.1"),
];
