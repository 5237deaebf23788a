ALTER TABLE files ADD COLUMN match_level TEXT;

CREATE TABLE undone (
    entry INTEGER NOT NULL REFERENCES entries (number) ON DELETE CASCADE,
    target INTEGER NOT NULL,
    PRIMARY KEY (entry, target)
) STRICT, WITHOUT ROWID;
CREATE INDEX undone_target ON undone (target);
INSERT INTO undone (entry, target) SELECT number, undo_of FROM entries WHERE undo_of IS NOT NULL;
ALTER TABLE entries DROP COLUMN undo_of;

CREATE INDEX entries_call ON entries (call_id);
