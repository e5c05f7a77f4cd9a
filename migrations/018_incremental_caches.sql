-- Caches that read only the rows that have changed: {"column", "overlap", "fullEvery"}. NULL: every refresh reads all rows.
ALTER TABLE kg_catalog.mapping_caches ADD COLUMN incremental jsonb;
-- How many increments a table has had since all rows were read, and when they were read; NULL: at as_of.
ALTER TABLE kg_catalog.cache_tables ADD COLUMN increments integer NOT NULL DEFAULT 0, ADD COLUMN full_as_of timestamptz;
