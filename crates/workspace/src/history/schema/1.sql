CREATE TABLE entries (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    committed INTEGER NOT NULL,
    root BLOB NOT NULL,
    at_ms INTEGER NOT NULL,
    call_id TEXT NOT NULL,
    tool TEXT NOT NULL,
    caller TEXT NOT NULL,
    summary TEXT NOT NULL,
    undo_of INTEGER,
    directories TEXT NOT NULL
) STRICT;
CREATE INDEX entries_intent ON entries (number) WHERE committed = 0;

CREATE TABLE files (
    entry INTEGER NOT NULL REFERENCES entries (number) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    path TEXT NOT NULL,
    real TEXT NOT NULL,
    action TEXT NOT NULL,
    before BLOB,
    after BLOB,
    before_bytes INTEGER NOT NULL,
    after_bytes INTEGER NOT NULL,
    mode INTEGER,
    permanent INTEGER NOT NULL,
    added INTEGER NOT NULL,
    removed INTEGER NOT NULL,
    forgotten INTEGER NOT NULL DEFAULT 0,
    temp TEXT NOT NULL,
    PRIMARY KEY (entry, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX files_path ON files (path);
CREATE INDEX files_real ON files (real);
CREATE INDEX files_before ON files (before);
CREATE INDEX files_after ON files (after);

CREATE TABLE blobs (
    hash BLOB PRIMARY KEY,
    size INTEGER NOT NULL,
    content BLOB NOT NULL
) STRICT;
CREATE INDEX blobs_size ON blobs (size);

CREATE TABLE kept (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    at_ms INTEGER NOT NULL,
    path TEXT NOT NULL,
    hash BLOB NOT NULL
) STRICT;
CREATE INDEX kept_hash ON kept (hash);

CREATE TABLE marks (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
