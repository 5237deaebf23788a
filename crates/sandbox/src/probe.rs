//! Finds out how well commands are isolated here: by a command that tries to get out, run as every
//! other is.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use tempfile::TempDir;
use tokio::sync::mpsc;

use crate::bound_sockets::PendingSockets;
use crate::bubblewrap::Bubblewrap;
use crate::command::SandboxedCommand;
#[cfg(not(target_os = "linux"))]
use crate::elsewhere::{self as system, CommandGroups, ForkServer, SystemLayers};
use crate::environment::PATH;
use crate::error::SandboxError;
use crate::means::{Launcher, Means};
use crate::running;
use crate::running_snapshots::LooseFiles;
use crate::tier::{LauncherKind, MissingPart, SandboxReport, Tier};
use crate::tracked_masks::KnownIndexes;
#[cfg(target_os = "linux")]
use crate::{fork_server::ForkServer, groups::CommandGroups, system, system_layer::SystemLayers};

/// Longest run of the command.
const TIMEOUT: Duration = Duration::from_secs(20);
/// Pieces of its output that are held.
const CHUNKS_MAX: usize = 16;
/// Most of what it says that is shown, in bytes.
const SAID_BYTES_MAX: usize = 2 << 10;
/// What it says at its end.
const DONE: &str = "done";
/// Where a kernel says that programs may not make user namespaces without a profile.
const APPARMOR: &str = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns";
/// Where a kernel has how many user namespaces there may be.
const USER_NAMESPACES: &str = "/proc/sys/user/max_user_namespaces";
/// Where kernels of Debian have whether users other than root may make any.
const OF_USERS: &str = "/proc/sys/kernel/unprivileged_userns_clone";
/// What moss's own launcher is called.
const OWN: &str = "moss's own launcher";
/// What makes bubblewrap known.
const INSTALL: &str = "sudo apt-get install bubblewrap";
/// What lets bubblewrap alone make them, where the kernel demands a profile of AppArmor.
const PROFILE: &[&str] = &[
    "sudo apt-get install apparmor-profiles",
    "sudo cp /usr/share/apparmor/extra-profiles/bwrap-userns-restrict /etc/apparmor.d/",
    "sudo apparmor_parser -r /etc/apparmor.d/bwrap-userns-restrict",
];
/// What lets programs make them, where nobody may.
const ALLOWED: &str = "sudo sysctl -w user.max_user_namespaces=15000";
/// What lets all users make them, where root alone may: bubblewrap gives up that right before it makes the last one.
const USERS_ALLOWED: &str = "sudo sysctl -w kernel.unprivileged_userns_clone=1";

/// What both tiers keep in: each line that it writes is a way out.
const ESCAPES: &str = r#"
echo x > inside || echo "the workspace cannot be written"
(echo x > "$OUTSIDE/x") 2>/dev/null && echo "a file outside the workspace was written"
(: < "$OUTSIDE/secret") 2>/dev/null && echo "a file outside the workspace was read"
while read -r name value; do
    case "$name$value" in
    NoNewPrivs:1 | Seccomp:2 | CapEff:0000000000000000) ;;
    NoNewPrivs:* | Seccomp:* | CapEff:*) echo "the command has $name $value" ;;
    esac
done < /proc/self/status
"#;
/// What the full tier keeps in besides.
const ESCAPES_FULL: &str = r#"
(echo x > .git/hooks/x) 2>/dev/null && echo "a protected directory was written"
(mv .git moved) 2>/dev/null && echo "a directory above a protected one was renamed"
(: < masked) 2>/dev/null && echo "a masked file was read"
set -- /proc/[0-9]*
[ $# -lt 10 ] || echo "other processes are visible"
(: < /proc/1/environ) 2>/dev/null && echo "the keeper can be looked into"
while read -r name rest; do
    case "$name" in Inter-* | face | lo:) ;; *) echo "the network has $name" ;; esac
done < /proc/net/dev
"#;

/// Oldest version of Landlock that keeps files from being emptied.
const LANDLOCK_MIN: u32 = 3;
/// Oldest version that keeps abstract sockets of others out of reach.
const LANDLOCK_SCOPES: u32 = 6;

/// Finds the best tier that works.
pub(crate) async fn detect(
    program: PathBuf,
    tier_max: Tier,
    launchers: &[LauncherKind],
) -> (SandboxReport, Means) {
    let landlock = system::landlock_version();
    let mut means = Means {
        tier: Tier::Full,
        fork_server: ForkServer::new(program.clone()),
        program,
        launcher: None,
        layers: SystemLayers::default(),
        has_landlock: landlock.is_some_and(|version| version >= LANDLOCK_MIN),
        scopes_sockets: scopes_sockets(landlock),
        indexes: KnownIndexes::default(),
    };
    let kernel = describe(landlock);
    let mut missing = Vec::new();
    if tier_max == Tier::Full {
        match try_full(&mut means, launchers).await {
            Ok(launcher) => {
                let detail = format!("{launcher}, {kernel}");
                return (SandboxReport { tier: Tier::Full, detail, missing }, means);
            }
            Err(part) => missing.push(part),
        }
    }
    means.launcher = None;
    means.tier = Tier::Landlock;
    if tier_max >= Tier::Landlock {
        match try_landlock(&means).await {
            Ok(()) => return (SandboxReport { tier: means.tier, detail: kernel, missing }, means),
            Err(part) => missing.push(part),
        }
    }
    means.tier = Tier::None;
    let detail = "commands are not isolated".to_owned();
    (SandboxReport { tier: Tier::None, detail, missing }, means)
}

/// Whether a version of Landlock keeps commands from abstract sockets.
fn scopes_sockets(landlock: Option<u32>) -> bool {
    landlock.is_some_and(|version| version >= LANDLOCK_SCOPES)
}

/// What the kernel keeps commands in with, and what it does not.
fn describe(landlock: Option<u32>) -> String {
    let mut text = match landlock {
        Some(version) => format!("seccomp, Landlock ABI {version}"),
        None => "seccomp, no Landlock".to_owned(),
    };
    if !scopes_sockets(landlock) {
        text.push_str(", which lets commands with a network, and on the tier landlock all, reach abstract Unix sockets");
    }
    text
}

/// Returns what makes the namespaces out of which nothing gets: the first launcher that does it.
async fn try_full(means: &mut Means, launchers: &[LauncherKind]) -> Result<String, MissingPart> {
    let script = format!("{ESCAPES}{ESCAPES_FULL}echo {DONE}");
    let (mut reasons, mut lacks_bubblewrap) = (Vec::new(), false);
    for kind in launchers {
        let (launcher, name) = match kind {
            LauncherKind::Own => (Launcher::Own, OWN.to_owned()),
            LauncherKind::Bubblewrap => {
                let found = tokio::task::spawn_blocking(Bubblewrap::find).await;
                let Some(found) = found.ok().flatten() else {
                    reasons.push("bubblewrap is not installed".to_owned());
                    lacks_bubblewrap = true;
                    continue;
                };
                let version = found.version.clone();
                (Launcher::Bubblewrap(found), version)
            }
        };
        means.launcher = Some(launcher);
        match attempt(means, None, &script).await {
            Ok(()) => return Ok(name),
            Err(why) => reasons.push(format!("{name}: {why}")),
        }
    }
    let says =
        |path: &str, value: &str| fs::read_to_string(path).is_ok_and(|text| text.trim() == value);
    let forbidding = [
        says(USER_NAMESPACES, "0").then_some(ALLOWED),
        says(OF_USERS, "0").then_some(USERS_ALLOWED),
    ];
    let obstacles = Obstacles {
        switches: forbidding.into_iter().flatten().collect(),
        needs_profile: says(APPARMOR, "1"),
        lacks_bubblewrap,
    };
    Err(MissingPart {
        tier: Tier::Full,
        reason: reasons.join("; "),
        commands: obstacles.remedies().into_iter().map(str::to_owned).collect(),
    })
}

/// What keeps a machine from the full tier.
#[derive(Debug)]
struct Obstacles {
    /// What has to be switched on before this user can make a user namespace.
    switches: Vec<&'static str>,
    /// A program makes one only with a profile of AppArmor.
    needs_profile: bool,
    lacks_bubblewrap: bool,
}

async fn try_landlock(means: &Means) -> Result<(), MissingPart> {
    let missing = |reason: String, commands: &[&str]| MissingPart {
        tier: Tier::Landlock,
        reason,
        commands: commands.iter().map(|&command| command.to_owned()).collect(),
    };
    if !means.has_landlock {
        let reason = format!(
            "the kernel has no Landlock ABI {LANDLOCK_MIN}, which needs Linux 6.2 and `landlock` in `lsm=`"
        );
        return Err(missing(reason, &["cat /sys/kernel/security/lsm"]));
    }
    let script = format!("{ESCAPES}echo {DONE}");
    attempt(means, None, &script).await.map_err(|why| missing(why, &[]))
}

/// Finds the control groups of commands, where a command can be in one.
pub(crate) async fn find_groups(means: &Means) -> Option<CommandGroups> {
    let prepared = tokio::task::spawn_blocking(CommandGroups::prepare).await;
    let groups = prepared.ok()?.ok()?;
    let tried = attempt(means, Some(&groups), &format!("echo {DONE}")).await;
    tried.ok().map(|()| groups)
}

/// Runs a script that says what it could do and should not.
async fn attempt(
    means: &Means,
    groups: Option<&CommandGroups>,
    script: &str,
) -> Result<(), String> {
    let scene =
        tokio::task::spawn_blocking(Scene::make).await.map_err(|error| error.to_string())?;
    let scene = scene.map_err(|error| format!("no directory to try it in: {error}"))?;
    let mut command = SandboxedCommand::shell(scene.workspace.clone(), script);
    command.files.protected.push(scene.workspace.join(".git/hooks"));
    command.files.masked.push(scene.workspace.join("masked"));
    // What somebody's `PATH` finds is not what is tried.
    command.environment.set.push(("PATH".into(), PATH.into()));
    command.environment.set.push(("OUTSIDE".into(), scene.outside.clone().into()));
    command.limits.timeout = Some(TIMEOUT);
    let (sender, mut chunks) = mpsc::channel(CHUNKS_MAX);
    // Sockets come and go, and this command looks for none.
    let started =
        means.spawn(&command, (PendingSockets::begin(false), &LooseFiles::default()), groups);
    let (kept, preparation) = started.map_err(|error| error.to_string())?;
    let why = |error| match error {
        SandboxError::Setup(reason) => reason,
        error => error.to_string(),
    };
    let running = running::start(kept, preparation, sender).await.map_err(why)?;
    let listen = async {
        let mut said = Vec::new();
        while let Some(chunk) = chunks.recv().await {
            let room = SAID_BYTES_MAX.saturating_sub(said.len());
            said.extend(chunk.bytes.iter().take(room));
        }
        said
    };
    let (said, end) = tokio::join!(listen, running.wait());
    let end = end.map_err(why)?;
    match String::from_utf8_lossy(&said).trim() {
        DONE if end.exit.is_success() => Ok(()),
        "" => Err(format!("a command in it {}", end.exit)),
        said => Err(said.trim_end_matches(DONE).trim().replace('\n', "; ")),
    }
}

/// A workspace with what is to be kept, and a directory beside it.
struct Scene {
    workspace: PathBuf,
    outside: PathBuf,
    /// Removed with all that is in it.
    _directory: TempDir,
}

// === impl Obstacles ===

impl Obstacles {
    /// The commands that take them away, one each.
    fn remedies(self) -> Vec<&'static str> {
        let Self { switches, needs_profile, lacks_bubblewrap } = self;
        if !switches.is_empty() {
            // Until then no launcher helps.
            return switches;
        }
        let install = lacks_bubblewrap.then_some(INSTALL);
        let profile = PROFILE.iter().copied().filter(|_| needs_profile);
        install.into_iter().chain(profile).collect()
    }
}

// === impl Scene ===

impl Scene {
    fn make() -> io::Result<Self> {
        let directory = tempfile::Builder::new().prefix("moss-sandbox-").tempdir()?;
        let root = fs::canonicalize(directory.path())?;
        let (workspace, outside) = (root.join("workspace"), root.join("outside"));
        fs::create_dir_all(workspace.join(".git/hooks"))?;
        fs::create_dir(&outside)?;
        fs::write(outside.join("secret"), "secret")?;
        fs::write(workspace.join("masked"), "secret")?;
        Ok(Self { workspace, outside, _directory: directory })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_that_lets_abstract_sockets_be_reached_is_said_to() {
        for (landlock, is_said) in [(None, true), (Some(5), true), (Some(6), false)] {
            let text = describe(landlock);
            assert_eq!(text.contains("abstract Unix sockets"), is_said, "{text}");
        }
        assert!(describe(Some(6)).ends_with("Landlock ABI 6"));
    }

    #[test]
    fn what_raises_the_tier_is_what_the_machine_lacks() {
        let remedies = |switches: &[&'static str], needs_profile, lacks_bubblewrap| {
            let switches = switches.to_vec();
            Obstacles { switches, needs_profile, lacks_bubblewrap }.remedies().join("\n")
        };
        assert_eq!(remedies(&[], false, false), "");
        assert_eq!(remedies(&[], false, true), INSTALL);
        // Ubuntu from 24.04 on: the profile names bubblewrap, which has to be there.
        let ubuntu = remedies(&[], true, true);
        assert!(ubuntu.starts_with(INSTALL) && ubuntu.contains("apparmor"), "{ubuntu}");
        assert!(
            ubuntu.contains("apparmor_parser -r") && ubuntu.contains("bwrap-userns-restrict"),
            "{ubuntu}"
        );
        let with = remedies(&[], true, false);
        assert!(!with.contains(INSTALL) && with.contains("apparmor"), "{with}");
        // Where there are none at all, nothing else helps.
        for (needs_profile, lacks_bubblewrap) in [(false, false), (true, true)] {
            for switches in [&[ALLOWED] as &[_], &[USERS_ALLOWED], &[ALLOWED, USERS_ALLOWED]] {
                let found = remedies(switches, needs_profile, lacks_bubblewrap);
                assert_eq!(found, switches.join("\n"));
            }
        }
    }
}
