//! The tables and plots of the page, in its order. A table that was not measured is left out.

/// A table of the page.
#[derive(Debug)]
pub(crate) struct Table {
    /// The name of its results, and of what `cargo xtask bench` runs.
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// What it is about.
    pub(crate) text: &'static str,
    /// What the first column names.
    pub(crate) subject: &'static str,
    /// What the columns of moss are called.
    pub(crate) own: &'static str,
    /// What it is measured against.
    pub(crate) baseline: &'static str,
}

/// A plot of the page.
#[derive(Debug)]
pub(crate) struct Plot {
    /// The name that its points have.
    pub(crate) name: &'static str,
    /// The table whose rows they are.
    pub(crate) table: &'static str,
    pub(crate) title: &'static str,
    /// What grows to the right.
    pub(crate) grows: &'static str,
    /// Whether the baseline has a line of its own.
    pub(crate) has_baseline: bool,
}

/// A row that stands at the top of the page, and in the READMEs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Highlight {
    pub(crate) table: &'static str,
    pub(crate) row: &'static str,
    /// What it is called there, in English and in Chinese.
    pub(crate) called: [&'static str; 2],
}

pub(crate) const IN_SHORT: [Highlight; 3] = [
    Highlight {
        table: "calls",
        row: "read_file, 16 KiB",
        called: ["`read_file`, 16 KiB", "`read_file`，16 KiB"],
    },
    Highlight {
        table: "calls",
        row: "edit, durable",
        called: [
            "an edit: history, intent, audit, on disk before the response",
            "一次修改：历史、意图、审计，返回前全部落盘",
        ],
    },
    Highlight {
        table: "load",
        row: "calls of every kind",
        called: [
            "64 clients: reads, edits and plugin calls mixed",
            "64 个客户端：混合读取、修改和插件调用",
        ],
    },
];

pub(crate) const TABLES: &[Table] = &[
    Table {
        name: "calls",
        title: "Single calls",
        text: "The daemon against a bare gRPC server that does the same work without validation, policy, \
               journal or limits. One client calls both in turns, over ten pairs of Unix sockets one after the other. \
               Of calls that are refused the journal has the first ones of a caller, and 8 a second after that, in full, \
               and the others as a count; the row \"each recorded\" is of a daemon that records every one in full.",
        subject: "call",
        own: "moss",
        baseline: "bare",
    },
    Table {
        name: "load",
        title: "64 clients at once",
        text: "Of 20 calls of each client 14 read, 3 edit a file of the client's own, durably, and 3 call a \
               plugin; for a minute, then the same for the bare server. Edits of different files are \
               written side by side and share their waits for the disk.",
        subject: "call",
        own: "moss",
        baseline: "bare",
    },
    Table {
        name: "scale",
        title: "What grows",
        text: "Reads against the number of clients and of files in the workspace; calls of plugins by 16 \
               clients, each call of the next plugin, against the number of plugins. The bare server has \
               one component whatever moss has.",
        subject: "what",
        own: "moss",
        baseline: "bare",
    },
    Table {
        name: "plugins",
        title: "Plugins",
        text: "In process: the plugin host in turns with the bare engine that instantiates the same \
               component and calls it. A changed file serves from the moment at which the watching \
               client is notified.",
        subject: "what",
        own: "moss",
        baseline: "bare",
    },
    Table {
        name: "edits",
        title: "Edits",
        text: "To find the location of an edit, at each of the nine levels and where it is missing, \
               against a plain scan of the same text. To commit it, against what any durable replacement \
               of a file takes: a temporary file, its fsync, the rename, the fsync of the directory. A \
               commit waits for the disk as often: the intent goes to disk together with the new version, \
               the record in the history together with the directory. Commits beside a long history are \
               measured against those beside ten entries.",
        subject: "what",
        own: "moss",
        baseline: "bare",
    },
    Table {
        name: "search",
        title: "Searches and listings",
        text: "Over gRPC, of a tree of sources that the daemon has indexed, in turns with whole processes of \
               the program that is named, which only counts matches or prints names. Patterns are made of \
               words of the tree; each is searched for without regard to case. A ratio of 0.083 is twelve \
               times as fast.",
        subject: "what",
        own: "moss",
        baseline: "other",
    },
    Table {
        name: "commands",
        title: "Commands",
        text: "`true`, a thousand times in turns: as a bare process (`posix_spawn`), in namespaces that \
               bubblewrap makes, and through the sandbox of moss with all that it hides, protects and \
               watches over. A whole call goes over gRPC, is read, decided about and recorded; one that may \
               write compares the files of the workspace, 500, before and after.",
        subject: "what",
        own: "moss",
        baseline: "other",
    },
    Table {
        name: "mcp",
        title: "Clients of MCP",
        text: "The official client for Node.js over standard input and output: `moss mcp` in one process, in \
               turns with the reference server for files (npm, Node.js), and beside a bare server of rmcp \
               that returns its argument, or the very result that moss had returned (its result alone): what \
               client, pipe and rmcp take for it, whoever sends it. Over a bare pipe nothing but a line is written and \
               a line read. The list of the other has names and kinds, with sizes what that of moss has but the \
               time of change. An edit is shown as a diff and not done.",
        subject: "call",
        own: "moss",
        baseline: "other",
    },
    Table {
        name: "checks",
        title: "Checks",
        text: "`run_tests` over gRPC, with sandbox, report and what it reads of it, in turns with the same \
               runner alone, as a person starts it. `lint_check` on a directory of 1,000 files of 100 lines, \
               all by their grammar, and again after one changed; and on one file of 5,000 lines, in each \
               language that is checked. A dry run of an edit in the middle of 5,000 lines of Rust, against \
               that of the same lines as a text without a grammar: of a file that was proposed before, and \
               the first one of a file that was read a little before, and of one that was not.",
        subject: "what",
        own: "moss",
        baseline: "other",
    },
    Table {
        name: "bridge",
        title: "Replies of models",
        text: "To read what chat models write, in pieces as a socket gives them or word by word, against \
               `serde_json` on the same bytes.",
        subject: "reply",
        own: "moss",
        baseline: "serde_json",
    },
    Table {
        name: "build",
        title: "Build times",
        text: "A clean build, and one after a file of one crate was touched. Of the clean debug build, how \
               long each crate kept one core: a third of it goes into the engine of plugins, since the code \
               generator is optimized also there, without which a plugin would take tens of seconds to \
               compile. What the tour of `cargo xtask demo` builds is optimized less: it has two plugins.",
        subject: "build",
        own: "time",
        baseline: "",
    },
    Table {
        name: "size",
        title: "What the binary holds",
        text: "The release binary, its largest sections and, of its code, the part of each crate, by the \
               symbols of the same build before they are stripped. What generic code of one crate becomes \
               for another counts for the crate that defines it. Nine tenths of `.rodata` are the parse tables \
               of the grammars: they are in the binary so that outlines, questions over code and checks of \
               syntax work offline in every language. In an archive they take a ninth of that.",
        subject: "part",
        own: "size",
        baseline: "",
    },
];

pub(crate) const PLOTS: &[Plot] = &[
    Plot {
        name: "clients",
        table: "scale",
        title: "Latency of reads against clients",
        grows: "clients",
        has_baseline: true,
    },
    Plot {
        name: "files",
        table: "scale",
        title: "Latency of reads against files in the workspace",
        grows: "files",
        has_baseline: true,
    },
    Plot {
        name: "plugins",
        table: "scale",
        title: "Calls of plugins a second against plugins",
        grows: "plugins",
        has_baseline: true,
    },
    Plot {
        name: "searches",
        table: "search",
        title: "Latency of searches against files in the workspace",
        grows: "files",
        has_baseline: true,
    },
    Plot {
        name: "file-searches",
        table: "search",
        title: "Latency of searches for a file against files in the workspace",
        grows: "files",
        has_baseline: true,
    },
    Plot {
        name: "fuzzy-searches",
        table: "search",
        title: "Latency of searches by letters of a name against files in the workspace",
        grows: "files",
        has_baseline: true,
    },
    Plot {
        name: "index-builds",
        table: "search",
        title: "Time until all texts are known against files in the workspace",
        grows: "files",
        has_baseline: false,
    },
    Plot {
        name: "index-sizes",
        table: "search",
        title: "Index on disk against files in the workspace",
        grows: "files",
        has_baseline: false,
    },
    Plot {
        name: "index-memory",
        table: "search",
        title: "Memory of the daemon against files in the workspace",
        grows: "files",
        has_baseline: false,
    },
    Plot {
        name: "history",
        table: "edits",
        title: "Cost of an edit against changes in the history",
        grows: "changes in the history",
        has_baseline: false,
    },
];
