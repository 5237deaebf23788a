//! Tests of the module `watch`.

use std::fs;
use std::os::unix::fs::symlink;

use super::*;

/// Longest wait for a change to be reported.
const BOUND: Duration = Duration::from_secs(60);

/// A running watch over one file, which a change must reach.
struct Following {
    watch: Arc<FileWatcher>,
    rounds: watch::Receiver<u64>,
    file: PathBuf,
    runs: tokio::task::JoinHandle<()>,
}

impl Following {
    fn new(file: PathBuf) -> Self {
        let watch = Arc::new(FileWatcher::new());
        let rounds = watch.subscribe();
        let of_task = Arc::clone(&watch);
        let runs = tokio::spawn(async move { of_task.run().await });
        watch.follow(Group::Policies, vec![file.clone()]);
        Self { watch, rounds, file, runs }
    }

    /// Makes a change and waits until the file is told to hold what it must.
    async fn told(&mut self, expected: Option<&str>, change: impl FnOnce()) {
        change();
        let told = async {
            loop {
                self.rounds.changed().await.unwrap();
                self.watch.follow(Group::Policies, vec![self.file.clone()]);
                if fs::read_to_string(&self.file).ok().as_deref() == expected {
                    return;
                }
            }
        };
        timeout(BOUND, told).await.expect("the change is told");
        assert!(!self.watch.blind.load(Ordering::Relaxed));
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        self.runs.abort();
    }
}

#[tokio::test]
async fn every_way_to_change_a_file_is_reported() {
    let temp = tempfile::tempdir().unwrap();
    let root = temp.path().canonicalize().unwrap();
    let at = |path: &str| root.join(path);
    let mut following = Following::new(at("config/moss/policy.toml"));
    let file = following.file.clone();
    following
        .told(Some("1"), || {
            fs::create_dir_all(at("config/moss")).unwrap();
            fs::write(&file, "1").unwrap();
        })
        .await;
    following.told(Some("2"), || fs::write(&file, "2").unwrap()).await;
    following
        .told(Some("3"), || {
            fs::write(at("config/moss/.swap"), "3").unwrap();
            fs::rename(at("config/moss/.swap"), &file).unwrap();
        })
        .await;
    following.told(None, || fs::remove_file(&file).unwrap()).await;
    following.told(Some("4"), || fs::write(&file, "4").unwrap()).await;
    // The directory is moved away, takes the file along, and comes back.
    following.told(None, || fs::rename(at("config"), at("away")).unwrap()).await;
    following.told(Some("4"), || fs::rename(at("away"), at("config")).unwrap()).await;
    following.told(Some("5"), || fs::write(&file, "5").unwrap()).await;
    // The same, too fast to be seen in between.
    following
        .told(Some("away"), || {
            fs::rename(at("config"), at("away")).unwrap();
            fs::write(at("away/moss/policy.toml"), "away").unwrap();
            fs::rename(at("away"), at("config")).unwrap();
        })
        .await;
    following.told(Some("back"), || fs::write(&file, "back").unwrap()).await;
    // Another directory replaces it.
    fs::create_dir_all(at("other/moss")).unwrap();
    fs::write(at("other/moss/policy.toml"), "6").unwrap();
    following
        .told(Some("6"), || {
            fs::rename(at("config"), at("away")).unwrap();
            fs::rename(at("other"), at("config")).unwrap();
        })
        .await;
    following.told(Some("7"), || fs::write(&file, "7").unwrap()).await;
}

#[tokio::test]
async fn a_change_behind_a_link_is_reported() {
    let temp = tempfile::tempdir().unwrap();
    let root = temp.path().canonicalize().unwrap();
    let at = |path: &str| root.join(path);
    for (version, text) in [("v1", "1"), ("v2", "2")] {
        fs::create_dir(at(version)).unwrap();
        fs::write(at(version).join("policy.toml"), text).unwrap();
    }
    symlink("v1", at("current")).unwrap();
    fs::create_dir(at("config")).unwrap();
    symlink("../current/policy.toml", at("config/policy.toml")).unwrap();
    let mut following = Following::new(at("config/policy.toml"));
    following.told(Some("one"), || fs::write(at("v1/policy.toml"), "one").unwrap()).await;
    following
        .told(Some("2"), || {
            symlink("v2", at("next")).unwrap();
            fs::rename(at("next"), at("current")).unwrap();
        })
        .await;
    following.told(Some("two"), || fs::write(at("v2/policy.toml"), "two").unwrap()).await;
}

#[test]
fn changes_of_followed_names_wake_and_so_does_what_was_lost() {
    let heard = Heard::default();
    let name = PathBuf::from("/config/policy.toml");
    heard.lock().names.insert(name.clone());
    let mut shared = heard.lock();
    assert!(shared.take(WatchEvent::Content(name.clone())));
    assert!(!shared.take(WatchEvent::Content("/x".into())));
    assert!(!shared.take(WatchEvent::Name("/x".into())));
    assert!(shared.moved.is_empty() && !shared.lost);
    assert!(shared.take(WatchEvent::Name(name.clone())));
    assert_eq!(shared.moved, HashSet::from([name]));
    drop(shared);
    heard.hear(WatchEvent::Lost);
    assert!(heard.lock().lost);
}

#[tokio::test]
async fn files_are_polled_when_the_watching_thread_ended() {
    let temp = tempfile::tempdir().unwrap();
    let file = temp.path().join("policy.toml");
    let watch = Arc::new(FileWatcher::new());
    watch.follow(Group::Policies, vec![file.clone()]);
    assert!(!watch.blind.load(Ordering::Relaxed));
    let (mut rounds, of_task) = (watch.subscribe(), Arc::clone(&watch));
    let runs = tokio::spawn(async move { of_task.run().await });
    watch.heard.hear(WatchEvent::Deaf);
    // The first because it is told; the others come by themselves.
    for _ in 0..3 {
        timeout(BOUND, rounds.changed()).await.expect("it looks").unwrap();
        watch.follow(Group::Policies, vec![file.clone()]);
        assert!(watch.blind.load(Ordering::Relaxed));
    }
    runs.abort();
}
