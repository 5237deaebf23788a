//! Scripts that try to get out. Each gets out where nothing keeps it in, so that it is known to be
//! able to; on the full tier none does.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write as _;
use std::net::{TcpListener, UdpSocket};
use std::os::fd::AsFd as _;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use std::{fs, io};

use moss_sandbox::{SandboxedCommand, find_protected};

use crate::attacks::{
    ATTACKS, Attack, FOREIGN, LANDLOCK_LETS_THROUGH, LANDLOCK_RESTORED, PYTHON, SOCKETS,
    SOCKETS_SINCE, SYSTEM_SOCKET,
};
use crate::harness::{FULL, Place, WAYS, Way, alive, eventually, marker, run, sandbox, write};

/// What no command may read: it stands in files, an environment and a process's memory.
const SECRET: &str = "hidden-4711";
/// What a script writes once it got out.
const ESCAPED: &str = "ESCAPED";

/// What a script is let loose on.
struct Scene {
    place: Place,
    home: PathBuf,
    outside: PathBuf,
    variables: Vec<(OsString, OsString)>,
    victim: Child,
    marker: String,
    shared: SharedMemory,
    /// A socket among the programs of the system, where it can be made.
    system_socket: PathBuf,
    sockets: Vec<UnixListener>,
    _ports: (TcpListener, UdpSocket),
    _inherited: fs::File,
}

/// Memory that processes share, by a number and by a name.
struct SharedMemory {
    number: String,
    path: PathBuf,
}

/// What became of an attack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Blocked,
    /// It changed what it may not, and that is as before.
    Restored,
    Through,
}

/// What is known of a file: its bits and content.
type Known = (u32, Vec<u8>);

#[tokio::test]
async fn every_attack_gets_out_without_a_sandbox_and_none_on_the_full_tier() {
    let is_root = rustix::process::getuid().is_root();
    let mut wrong = Vec::new();
    for attack in ATTACKS {
        if is_root || !attack.needs_root {
            let mut scene = Scene::new();
            if !scene.bare(attack) {
                wrong.push(format!("{} does not get out without a sandbox", attack.name));
            }
        }
        for way in FULL {
            if Scene::new().sandboxed(attack, way).await == Fate::Through {
                wrong.push(format!("{} gets out, with {way}", attack.name));
            }
        }
    }
    assert!(ATTACKS.len() >= 60, "{}", ATTACKS.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[tokio::test]
async fn the_landlock_tier_restores_and_lets_through_what_its_table_says_and_no_more() {
    let (mut restored, mut through) = (Vec::new(), Vec::new());
    for attack in ATTACKS {
        match Scene::new().sandboxed(attack, Way::Landlock).await {
            Fate::Blocked => {}
            Fate::Restored => restored.push(attack.name),
            Fate::Through => through.push(attack.name),
        }
    }
    let detail = sandbox(Way::Landlock).await.report().detail.clone();
    let version = detail.rsplit("ABI ").next().unwrap().split(',').next().unwrap();
    let version: u32 = version.parse().unwrap();
    let is_root = rustix::process::getuid().is_root();
    let is_known = |name: &&str| {
        (version < SOCKETS_SINCE || !SOCKETS.contains(name)) && (is_root || *name != SYSTEM_SOCKET)
    };
    let known: Vec<_> = LANDLOCK_LETS_THROUGH.iter().copied().filter(is_known).collect();
    assert_eq!((restored, through), (LANDLOCK_RESTORED.to_vec(), known));
}

#[cfg(target_arch = "x86_64")]
#[tokio::test]
async fn numbers_of_other_abis_reach_nothing() {
    for attack in &FOREIGN {
        let is_here = Scene::new().bare(attack);
        eprintln!("{}: this kernel {} it", attack.name, if is_here { "has" } else { "lacks" });
        for way in WAYS {
            let fate = Scene::new().sandboxed(attack, way).await;
            assert_eq!(fate, Fate::Blocked, "{}, with {way}", attack.name);
        }
    }
}

#[test]
fn the_guide_has_the_table_of_the_landlock_tier() {
    let row = |fate: &'static str| move |name: &&str| format!("| {name} | {fate} |\n");
    let restored = LANDLOCK_RESTORED.iter().map(row("restored"));
    let through = LANDLOCK_LETS_THROUGH.iter().map(row("through"));
    let named: String = restored.chain(through).collect();
    let others = ATTACKS.len() - LANDLOCK_RESTORED.len() - LANDLOCK_LETS_THROUGH.len();
    let table = format!(
        "| attempt | on the tier `landlock` |\n| --- | --- |\n{named}| {others} others | blocked |\n"
    );
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/sandbox.md");
    let guide = fs::read_to_string(guide).unwrap();
    assert!(guide.contains(&table), "docs/sandbox.md has another table than this:\n{table}");
}

// === impl Scene ===

impl Scene {
    fn new() -> Self {
        let place = Place::new();
        let beside = |name: &str| place.root.with_file_name(name);
        let (home, outside) = (beside("home"), beside("outside"));
        for secret in [
            ".ssh/id_ed25519",
            ".aws/credentials",
            ".gnupg/key",
            ".netrc",
            ".config/gh/hosts.yml",
            ".docker/config.json",
            ".cargo/credentials.toml",
            ".local/state/moss/approver.token",
            ".mozilla/cookies",
        ] {
            write(&home.join(secret), SECRET);
        }
        for file in [".bashrc", ".gitconfig", ".cargo/config.toml", ".local/bin/ls"] {
            write(&home.join(file), "theirs\n");
        }
        write(&outside.join("secret"), SECRET);
        write(&outside.join("file"), "theirs\n");
        for file in [
            ".git/config",
            ".git/HEAD",
            ".git/hooks/sample",
            ".git/info/exclude",
            ".git/objects/x",
            ".git/modules/sub/HEAD",
            ".git/modules/sub/config",
            ".git/modules/sub/objects/x",
            "vendor/sub/.git/hooks/sample",
            "vendor/sub/.git/config",
            ".vscode/tasks.json",
            "deep/er/.vscode/tasks.json",
        ] {
            place.write(file, "theirs\n");
        }
        place.write(".env", SECRET);
        place.write("conf/.env", SECRET);
        place.write("keys/private", SECRET);
        Self::start(place, home, outside)
    }

    /// Makes sockets, a process with a secret, and a descriptor that is not closed.
    fn start(place: Place, home: PathBuf, outside: PathBuf) -> Self {
        let marker = marker();
        let abstracted = SocketAddr::from_abstract_name(&marker).unwrap();
        let tcp = TcpListener::bind("0.0.0.0:0").unwrap();
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        let system_socket = Path::new("/usr/local").join(format!("{marker}.sock"));
        let sockets = vec![
            UnixListener::bind(outside.join("agent.sock")).unwrap(),
            UnixListener::bind(home.join("agent.sock")).unwrap(),
            UnixListener::bind(home.join(".cargo/an agent.sock")).unwrap(),
            UnixListener::bind_addr(&abstracted).unwrap(),
        ];
        let victim = Command::new("sleep")
            .arg(format!("{marker}1"))
            .env("VICTIM_SECRET", SECRET)
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let shared = SharedMemory::new(&marker);
        let inherited = fs::File::open(outside.join("secret")).unwrap();
        rustix::io::fcntl_setfd(inherited.as_fd(), rustix::io::FdFlags::empty()).unwrap();
        let port = |address: io::Result<std::net::SocketAddr>| address.unwrap().port().to_string();
        let variables = [
            ("HOME", home.to_str().unwrap().to_owned()),
            ("OUT", outside.to_str().unwrap().to_owned()),
            ("VICTIM", victim.id().to_string()),
            ("VICTIM_MARK", format!("{marker}1")),
            ("MARK", marker.clone()),
            ("ABSTRACT", marker.clone()),
            ("SHARED", shared.number.clone()),
            ("TCP", port(tcp.local_addr())),
            ("UDP", port(udp.local_addr())),
            ("PY", PYTHON.to_owned()),
        ];
        let variables = variables.map(|(name, value)| (name.into(), value.into())).to_vec();
        Self {
            place,
            home,
            outside,
            variables,
            victim,
            marker,
            shared,
            system_socket,
            sockets,
            _ports: (tcp, udp),
            _inherited: inherited,
        }
    }

    /// Makes what this attack alone needs: other tests run commands at the same time.
    fn prepare(&mut self, attack: &Attack) {
        if attack.name == SYSTEM_SOCKET {
            self.sockets.extend(UnixListener::bind(&self.system_socket));
        }
    }

    /// Whether an attack gets out where nothing keeps it in.
    fn bare(&mut self, attack: &Attack) -> bool {
        self.prepare(attack);
        let before = self.look();
        let mut command = Command::new("bash");
        command.args(["-c", attack.script]).current_dir(&self.place.root);
        command.envs(self.variables.iter().cloned()).env("API_TOKEN", SECRET);
        command.stdin(Stdio::null()).stderr(Stdio::null());
        // Whoever survives holds the pipe: a file is written instead.
        let said = self.place.root.with_file_name("said");
        command.stdout(fs::File::create(&said).unwrap());
        command.status().unwrap();
        let said = fs::read_to_string(said).unwrap_or_default();
        self.is_out(&said, &before)
    }

    async fn sandboxed(&mut self, attack: &Attack, way: Way) -> Fate {
        self.prepare(attack);
        let before = self.look();
        let root = &self.place.root;
        let mut command = SandboxedCommand::new(root.clone(), ["bash", "-c", attack.script]);
        command.environment.from =
            vec![("PATH".into(), "/usr/bin:/bin".into()), ("API_TOKEN".into(), SECRET.into())];
        command.environment.set.extend(self.variables.iter().cloned());
        let found = find_protected(root, 10_000, &|path| crate::attacks::kind(path));
        command.files.protected = found.protected;
        command.files.protected.push(root.join(".mcp.json"));
        command.files.repositories = found.repositories;
        command.files.masked = found.masked;
        command.limits.timeout = Some(Duration::from_secs(20));
        command.limits.grace = Duration::from_millis(200);
        let ran = run(way, command).await;
        let is_out = self.is_out(&ran.stdout, &before);
        if is_out {
            eprintln!("{way}, {}: {:.200} {:.200}", attack.name, ran.stdout, ran.stderr);
        }
        let mark = self.marker.clone();
        let survivors = alive(&mark);
        eventually("what survives is dead", || alive(&mark).is_empty()).await;
        if is_out || !survivors.is_empty() {
            Fate::Through
        } else if ran.end.restored.is_empty() {
            Fate::Blocked
        } else {
            Fate::Restored
        }
    }

    /// Whether a script said so, showed the secret, changed what it may not, or hit the victim.
    fn is_out(&mut self, said: &str, before: &BTreeMap<PathBuf, Known>) -> bool {
        let survivors = alive(&self.marker);
        let is_hit = self.victim.try_wait().unwrap().is_some();
        said.contains(ESCAPED)
            || said.contains(SECRET)
            || self.look() != *before
            || is_hit
            || !survivors.is_empty()
    }

    /// All that no command may change.
    fn look(&self) -> BTreeMap<PathBuf, Known> {
        let mut seen = BTreeMap::new();
        for root in [&self.home, &self.outside] {
            look_into(root, &mut seen);
        }
        let root = &self.place.root;
        for path in crate::attacks::KEPT {
            look_into(&root.join(path), &mut seen);
        }
        seen
    }
}

// === impl SharedMemory ===

impl SharedMemory {
    fn new(name: &str) -> Self {
        let made = Command::new("ipcmk").args(["--shmem", "64"]).output().unwrap();
        let said = String::from_utf8(made.stdout).unwrap();
        let number = said.trim().rsplit(' ').next().unwrap().to_owned();
        let path = Path::new("/dev/shm").join(format!("{name}.shared"));
        write(&path, SECRET);
        Self { number, path }
    }

    fn remove(&self) {
        let _ = Command::new("ipcrm").args(["--shmem-id", &self.number]).status();
        let _ = fs::remove_file(&self.path);
    }
}

fn look_into(path: &Path, seen: &mut BTreeMap<PathBuf, Known>) {
    let Ok(found) = fs::symlink_metadata(path) else { return };
    if found.is_dir() {
        for entry in fs::read_dir(path).unwrap().flatten() {
            look_into(&entry.path(), seen);
        }
        seen.insert(path.to_owned(), (found.permissions().mode(), Vec::new()));
        return;
    }
    let bytes = match found.is_file() {
        true => fs::read(path).unwrap_or_default(),
        false => fs::read_link(path)
            .map(|to| to.into_os_string().into_encoded_bytes())
            .unwrap_or_default(),
    };
    seen.insert(path.to_owned(), (found.permissions().mode(), bytes));
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _ = self.victim.kill();
        let _ = self.victim.wait();
        self.shared.remove();
        let _ = fs::remove_file(&self.system_socket);
        for pid in alive(&self.marker) {
            if let Some(pid) = rustix::process::Pid::from_raw(pid) {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
        }
        let _ = io::stderr().flush();
    }
}
