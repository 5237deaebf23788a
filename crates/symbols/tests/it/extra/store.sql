-- A store.
CREATE TABLE shop.store (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL
);
CREATE INDEX by_name ON store (name);
CREATE VIEW full_store AS SELECT id, count(name) FROM store WHERE id > 1;
CREATE FUNCTION find(a INTEGER) RETURNS INTEGER AS $$ SELECT 1 $$ LANGUAGE sql;
SELECT s.name FROM store s JOIN item i ON i.id = s.id;
