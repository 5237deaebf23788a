//! Where the control group of a process is, and whether moss may make groups beneath it. Looks, and changes nothing.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::Access;

use super::unit::UserUnit;

/// The controllers that bound commands.
pub(super) const CONTROLLERS: [&str; 2] = ["memory", "pids"];
/// The group, beneath the delegated one, in which moss itself is.
pub(super) const OWN: &str = "moss-itself";
/// The processes that are in a group, and where it is written which one enters.
pub(super) const PROCESSES: &str = "cgroup.procs";
/// Which controllers a group has.
const AVAILABLE: &str = "cgroup.controllers";
/// What every group has but the root of all.
const KIND: &str = "cgroup.type";
/// By which systemd marks what it leaves to others.
const MARKS: [&str; 2] = ["user.delegate", "trusted.delegate"];
/// Most parents of a process that are looked at.
const PARENTS_MAX: usize = 64;

/// Whether a group was left to this user.
#[derive(Debug)]
enum Delegation<'a> {
    Yes,
    No,
    /// Whoever made the group for this unit knows.
    AskedOf(UserUnit<'a>),
}

/// The groups that matter to a moss.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct GroupPlace {
    /// Where its process is.
    pub(super) own: PathBuf,
    /// What was delegated to it: the same, or the one around that.
    pub(super) root: PathBuf,
}

/// Returns why commands of a process have no control groups of their own; none where they have, or will have with
/// the first command.
pub fn group_hindrance(process: u32) -> Option<String> {
    GroupPlace::of(process).err()
}

// === impl GroupPlace ===

impl GroupPlace {
    pub(super) fn of(process: u32) -> Result<Self, String> {
        let unreadable = |path: &str, error: io::Error| format!("{path} cannot be read: {error}");
        let path = format!("/proc/{process}/cgroup");
        let groups = fs::read_to_string(&path).map_err(|error| unreadable(&path, error))?;
        let path = "/proc/self/mountinfo";
        let mounts = fs::read_to_string(path).map_err(|error| unreadable(path, error))?;
        let (mount, own) = directory(&groups, &mounts)?;
        Self::in_mount(&mount, own, process)
    }

    /// Where a group lies in a mount of all groups.
    fn in_mount(mount: &Path, own: PathBuf, process: u32) -> Result<Self, String> {
        let is_moved = own.ends_with(OWN);
        let around = own.parent().filter(|_| is_moved).map(Path::to_owned);
        let root = around.unwrap_or_else(|| own.clone());
        let shown = root.display();
        let not_delegated = || Err(format!("the control group {shown} is not delegated to it"));
        let delegation = delegation(mount, &root);
        if matches!(delegation, Delegation::No) {
            return not_delegated();
        }
        let available = fs::read_to_string(root.join(AVAILABLE)).unwrap_or_default();
        let has = |name: &&str| available.split_whitespace().any(|word| word == *name);
        if let Some(missing) = CONTROLLERS.iter().find(|name| !has(name)) {
            return Err(format!("the control group {shown} has no controller `{missing}`"));
        }
        if !root.join(super::KILL).exists() {
            return Err("control groups cannot be ended as a whole before Linux 5.14".to_owned());
        }
        let all = processes(&root).map_err(|error| format!("{shown}: {error}"))?;
        if let Some(other) = all.into_iter().find(|one| !descends(*one, process)) {
            return Err(format!("other processes are in the control group {shown} (pid {other})"));
        }
        // Last, since it takes a program.
        if let Delegation::AskedOf(unit) = delegation
            && !unit.is_delegated()
        {
            return not_delegated();
        }
        Ok(Self { own, root })
    }
}

/// The mount of all groups of version 2, and the directory of the one that is named there.
fn directory(groups: &str, mounts: &str) -> Result<(PathBuf, PathBuf), String> {
    let named = groups.lines().find_map(|line| line.strip_prefix("0::"));
    let named = named.ok_or("the kernel has no control groups of version 2")?;
    let mounted = mounts.lines().find_map(|line| {
        let (place, kind) = line.split_once(" - ")?;
        let mut place = place.split(' ').skip(3);
        (kind.split(' ').next() == Some("cgroup2")).then(|| place.next().zip(place.next()))?
    });
    let (shown, at) = mounted.ok_or("control groups of version 2 are not mounted")?;
    // What lies above the namespace of the groups begins with `/..`.
    let within = Path::new(named).strip_prefix(shown).ok().filter(|path| !path.starts_with(".."));
    let within = within.ok_or_else(|| format!("the control group {named} is not in {at}"))?;
    let at = PathBuf::from(at);
    let own = at.join(within).components().collect();
    Ok((at, own))
}

/// Whether a group was left to this user: who manages the others says so by a mark, by a namespace whose root it is,
/// by giving it to a user who has no right to the one around it, or when it is asked.
fn delegation<'a>(mount: &Path, group: &'a Path) -> Delegation<'a> {
    let may = |group: &Path| {
        let files = [group.join(PROCESSES), group.join(super::CHILDREN)];
        let all = files.iter().map(PathBuf::as_path).chain([group]);
        all.into_iter().all(|path| rustix::fs::access(path, Access::WRITE_OK).is_ok())
    };
    if !group.starts_with(mount) || !group.join(KIND).exists() || !may(group) {
        return Delegation::No;
    }
    let is_marked = MARKS.iter().any(|mark| {
        let mut value = [0; 1];
        rustix::fs::getxattr(group, *mark, &mut value).is_ok_and(|_| value == *b"1")
    });
    let around = group.parent().filter(|_| group != mount);
    if is_marked || around.is_none_or(|around| !may(around)) {
        return Delegation::Yes;
    }
    UserUnit::of(group).map_or(Delegation::No, Delegation::AskedOf)
}

/// The processes of a group; 0 stands for each that is not visible here.
pub(super) fn processes(group: &Path) -> io::Result<Vec<u32>> {
    let text = fs::read_to_string(group.join(PROCESSES))?;
    Ok(text.lines().filter_map(|line| line.parse().ok()).collect())
}

/// Whether a process is another one, or descends from it.
fn descends(process: u32, from: u32) -> bool {
    let mut above = Some(process);
    for _ in 0..PARENTS_MAX {
        match above {
            Some(pid) if pid == from => return true,
            None | Some(0) => return false,
            Some(pid) => above = parent(pid),
        }
    }
    false
}

fn parent(pid: u32) -> Option<u32> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    // The name, in parentheses, may have spaces.
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
24 1 0:22 / /proc rw,nosuid - proc proc rw
30 24 0:26 / /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup rw,memory
31 24 0:27 / /sys/fs/cgroup rw,nosuid shared:10 - cgroup2 cgroup2 rw,nsdelegate
";

    #[test]
    fn the_group_of_version_2_is_found_where_it_is_mounted() {
        let found = |groups: &str, mounts: &str| {
            directory(groups, mounts).map(|(_, own)| own.to_str().unwrap().to_owned())
        };
        let groups = "4:memory:/x\n0::/user.slice/moss.service\n";
        assert_eq!(found(groups, MOUNTS).unwrap(), "/sys/fs/cgroup/user.slice/moss.service");
        assert_eq!(found("0::/\n", MOUNTS).unwrap(), "/sys/fs/cgroup");
        let part = MOUNTS.replace("0:27 / ", "0:27 /user.slice ");
        assert_eq!(found(groups, &part).unwrap(), "/sys/fs/cgroup/moss.service");
        assert!(found("0::/other\n", &part).unwrap_err().contains("is not in"));
        assert!(found("0::/../other\n", MOUNTS).unwrap_err().contains("is not in"));
        assert!(found("4:memory:/x\n", MOUNTS).unwrap_err().contains("no control groups"));
        let none = MOUNTS.replace("cgroup2", "cgroup");
        assert!(found(groups, &none).unwrap_err().contains("not mounted"));
    }

    /// A directory with the files that the kernel makes in one of its groups.
    fn group(path: &Path, processes: &str, controllers: &str) {
        fs::create_dir_all(path).unwrap();
        let files = [
            (PROCESSES, processes),
            (super::super::CHILDREN, ""),
            (super::super::KILL, ""),
            (AVAILABLE, controllers),
            (KIND, "domain\n"),
        ];
        for (name, text) in files {
            fs::write(path.join(name), text).unwrap();
        }
    }

    #[test]
    fn groups_are_made_only_beneath_what_was_delegated_and_holds_nobody_else() {
        let mount = tempfile::tempdir().unwrap();
        let mount = mount.path();
        let (pid, all) = (std::process::id(), "cpu memory pids\n");
        // The root of a namespace is delegated as a whole.
        group(mount, &format!("{pid}\n"), all);
        let found = |own: &Path| GroupPlace::in_mount(mount, own.to_owned(), pid);
        let (own, root) = (mount.to_owned(), mount.to_owned());
        assert_eq!(found(mount), Ok(GroupPlace { own, root: root.clone() }));
        group(mount, "", all);
        let moved = mount.join(OWN);
        group(&moved, &format!("{pid}\n"), "memory pids\n");
        assert_eq!(found(&moved), Ok(GroupPlace { own: moved.clone(), root }));

        group(mount, &format!("{pid}\n1\n"), all);
        assert!(found(mount).unwrap_err().ends_with("(pid 1)"), "{:?}", found(mount));
        group(mount, "0\n", all);
        assert!(found(mount).unwrap_err().ends_with("(pid 0)"), "{:?}", found(mount));
        group(mount, "", "cpu pids\n");
        assert!(found(mount).unwrap_err().ends_with("no controller `memory`"));
        group(mount, "", all);
        fs::remove_file(mount.join(super::super::KILL)).unwrap();
        assert!(found(mount).unwrap_err().ends_with("Linux 5.14"));

        // One within what this user may change as well is only delegated where that is said.
        let inner = mount.join("inner");
        group(&inner, "", all);
        assert!(found(&inner).unwrap_err().contains("is not delegated"));
        // The root of all groups belongs to the machine.
        fs::remove_file(mount.join(KIND)).unwrap();
        assert!(found(mount).unwrap_err().contains("is not delegated"));
    }

    #[test]
    fn descendants_are_told_from_others() {
        let own = std::process::id();
        let above = parent(own).unwrap();
        assert!(descends(own, own) && descends(own, above));
        assert!(!descends(above, own) && !descends(0, own));
    }
}
