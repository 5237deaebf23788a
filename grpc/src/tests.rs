//! A daemon over one empty directory, for tests of what stands before it.

use std::sync::Arc;

use moss_daemon::Setup;
use moss_daemon::state::Daemon;
use moss_workspace::dirs::Dirs;

/// A daemon that serves nothing by itself.
pub(crate) struct TestDaemon {
    pub(crate) daemon: Arc<Daemon>,
    _directory: tempfile::TempDir,
}

// === impl TestDaemon ===

impl TestDaemon {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        let workspace = root.join("w");
        std::fs::create_dir(&workspace).unwrap();
        let setup = Setup {
            dirs: Dirs::beneath(&root),
            workspaces: vec![workspace],
            trial_list: None,
            plugin_lists: Vec::new(),
            config_file: None,
            admin_policies: Vec::new(),
            secrets: Vec::new(),
            collector: None,
            program: None,
            compilations: Default::default(),
        };
        let daemon = moss_daemon::start(&setup).unwrap().daemon;
        Self { daemon, _directory: directory }
    }
}
