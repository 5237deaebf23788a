-- The bytes of all contents, so that no commit has to add them up.
INSERT INTO marks (name, value) SELECT 'bytes', coalesce(sum(size), 0) FROM blobs;
CREATE TRIGGER blobs_added AFTER INSERT ON blobs
    BEGIN UPDATE marks SET value = value + NEW.size WHERE name = 'bytes'; END;
CREATE TRIGGER blobs_dropped AFTER DELETE ON blobs
    BEGIN UPDATE marks SET value = value - OLD.size WHERE name = 'bytes'; END;
