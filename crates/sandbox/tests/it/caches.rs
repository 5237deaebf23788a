//! Caches that are links, or that a command made links: they open nothing.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use moss_sandbox::{FileView, Profile, SandboxedCommand};

use crate::harness::{FULL, Place, WAYS, Way, run, write};

/// What a command is given that looks for a way out.
struct Given {
    caches: Vec<PathBuf>,
    /// The name by which it tries to reach what it may not.
    by: PathBuf,
    /// What it would reach.
    target: PathBuf,
}

/// A workspace with a home directory and a sound cache beside it.
struct Site {
    place: Place,
    home: PathBuf,
    sound: PathBuf,
}

// === impl Site ===

impl Site {
    fn new() -> Self {
        let place = Place::new();
        let beside = place.root.parent().unwrap().to_owned();
        let (home, sound) = (beside.join("home"), beside.join("sound"));
        for path in ["home/.ssh/file", "home/file", "secret/file", "sound/file"] {
            write(&beside.join(path), "canary\n");
        }
        Self { place, home, sound }
    }

    fn beside(&self, name: &str) -> PathBuf {
        self.place.root.parent().unwrap().join(name)
    }

    fn with_home(&self, mut command: SandboxedCommand) -> SandboxedCommand {
        let path: OsString = "/usr/bin:/bin".into();
        let home = self.home.clone().into();
        command.environment.from = vec![("PATH".into(), path), ("HOME".into(), home)];
        command
    }

    /// Runs commands of every profile that try to read and to write what they may not, and use the sound cache.
    async fn try_all(&self, way: Way, given: &Given) {
        let Given { caches, by, target } = given;
        let (by, sound) = (by.display(), self.sound.display());
        let script = format!(
            "cat {by}/file; echo x > {by}/evil; cat {sound}/file > seen; echo x > {sound}/new; \
             cat {sound}/file > /dev/null && echo done"
        );
        for profile in [Profile::WorkspaceWrite, Profile::ReadOnly] {
            let mut command = self.with_home(self.place.shell(&script));
            command.profile = profile;
            command.files.writable = caches.clone();
            command.files.writable.push(self.sound.clone());
            let ran = run(way, command).await;
            assert_eq!(ran.stdout, "done\n", "{way}, {profile}, {by}: {ran:?}");
            assert!(!target.join("evil").exists(), "{way}, {profile}, {by}");
            let is_written = self.sound.join("new").exists();
            assert_eq!(is_written, profile == Profile::WorkspaceWrite, "{way}, {by}");
            let _ = fs::remove_file(self.sound.join("new"));
        }
    }
}

#[tokio::test]
async fn a_cache_that_a_command_of_another_workspace_made_a_link_opens_nothing() {
    for way in WAYS {
        let (site, other) = (Site::new(), Place::new());
        let (cache, target) = (other.root.join("cache"), site.beside("secret"));
        write(&cache.join("file"), "canary\n");
        let script = format!("mv cache old && ln -s {} cache && echo made", target.display());
        assert_eq!(run(way, other.shell(&script)).await.stdout, "made\n", "{way}");
        site.try_all(way, &Given { caches: vec![cache.clone()], by: cache.clone(), target }).await;
        // The same where a variable names it.
        let variable = [(OsString::from("GOCACHE"), cache.clone().into_os_string())];
        let caches = FileView::caches(Some(&site.home), &variable);
        assert_eq!(caches, std::slice::from_ref(&cache), "it proves nothing");
        site.try_all(way, &Given { caches, by: cache, target: site.beside("secret") }).await;
    }
}

#[tokio::test]
async fn a_cache_that_is_or_lies_beyond_a_link_opens_nothing() {
    for way in WAYS {
        let site = Site::new();
        let (ssh, secret) = (site.home.join(".ssh"), site.beside("secret"));
        fs::create_dir(secret.join("cache")).unwrap();
        let link = |to: &Path, name: &str| {
            let at = site.home.join(name);
            symlink(to, &at).unwrap();
            at
        };
        let (to_ssh, to_secret) = (link(&ssh, "linkssh"), link(&secret, "linked"));
        for (cache, by, target) in [
            (to_ssh.clone(), to_ssh, &ssh),
            (to_secret.join("cache"), to_secret, &secret),
            (ssh.clone(), ssh.clone(), &ssh),
        ] {
            let target = target.clone();
            site.try_all(way, &Given { caches: vec![cache], by, target }).await;
        }
    }
}

#[tokio::test]
async fn a_link_that_a_command_made_in_a_cache_opens_nothing_and_later_commands_run() {
    for way in WAYS {
        let site = Site::new();
        let (outer, inner) = (site.home.join("tool"), site.home.join("tool/inner"));
        fs::create_dir_all(&inner).unwrap();
        let caches = vec![outer.clone(), inner.clone()];
        let script = format!(
            "rmdir {0} && ln -s {1} {0} && echo made",
            inner.display(),
            site.home.display()
        );
        let mut command = site.with_home(site.place.shell(&script));
        command.files.writable = caches.clone();
        let made = run(way, command).await;
        assert_eq!(made.stdout, "made\n", "{way}: {made:?}");
        assert!(inner.is_symlink(), "{way}");
        site.try_all(way, &Given { caches, by: inner, target: site.home.clone() }).await;
    }
}

#[tokio::test]
async fn a_cache_that_holds_what_is_masked_or_the_home_directory_is_left_out() {
    for way in WAYS {
        let site = Site::new();
        let secret = site.beside("secret");
        for (cache, by) in [(secret.clone(), &secret), (site.home.clone(), &site.home)] {
            let mut command = site.with_home(
                site.place
                    .shell(&format!("cat {0}/file; echo x > {0}/evil; echo done", by.display())),
            );
            command.files.masked = vec![secret.join("file")];
            command.files.writable = vec![cache];
            let ran = run(way, command).await;
            assert_eq!(ran.stdout, "done\n", "{way}: {ran:?}");
            assert!(!by.join("evil").exists(), "{way}");
        }
    }
}

#[tokio::test]
async fn in_danger_full_no_directory_above_what_is_masked_is_renamed() {
    for way in FULL {
        let site = Site::new();
        let token = site.beside("state/moss/token");
        write(&token, "canary\n");
        let masked =
            vec![site.place.write("secrets/deep/.env", "canary\n"), site.beside("state/moss")];
        let state = site.beside("state");
        let moves = format!(
            "mv secrets/deep public; mv secrets opened; mv {0} {0}-opened; echo done",
            state.display()
        );
        let look = format!(
            "cat public/.env opened/deep/.env secrets/deep/.env {0}/moss/token {0}-opened/moss/token; echo done",
            state.display()
        );
        for script in [moves, look] {
            let mut command = site.place.shell(&script);
            command.profile = Profile::DangerFull;
            command.files.masked = masked.clone();
            let ran = run(way, command).await;
            assert_eq!(ran.stdout, "done\n", "{way}: {ran:?}");
        }
        assert_eq!(site.place.read("secrets/deep/.env"), "canary\n", "{way}");
        assert!(token.exists(), "{way}");
    }
}

#[tokio::test]
async fn a_cache_that_holds_a_secret_of_its_tool_is_given_without_that() {
    for way in FULL {
        let site = Site::new();
        write(&site.home.join(".stack/upload/credentials.json"), "canary\n");
        let script = "cd ~/.stack; echo x > made && echo made; cat upload/credentials.json; \
                      mv upload moved; cat moved/credentials.json";
        let mut command = site.with_home(site.place.shell(script));
        command.files.writable = vec![site.home.join(".stack")];
        let ran = run(way, command).await;
        assert_eq!(ran.stdout, "made\n", "{way}: {ran:?}");
        assert!(site.home.join(".stack/made").exists(), "{way}");
    }
}
