-- Cached mappings. A cache names the table that queries read instead of the mapping's own tables; every refresh makes a new one.
CREATE TABLE kg_catalog.mapping_caches (
  ontology_id uuid NOT NULL REFERENCES kg_catalog.ontologies (id) ON DELETE CASCADE,
  mapping_key text NOT NULL,
  mapping text NOT NULL,
  schema_name text NOT NULL,
  indexes boolean NOT NULL,
  max_age_s integer NOT NULL CHECK (max_age_s > 0),
  current bigint,
  -- the last refresh, if it failed
  error text,
  failed timestamptz,
  PRIMARY KEY (ontology_id, mapping_key)
);
-- The tables that refreshes make. A row exists from before the table is made until it is dropped, so it refers to no object that may be dropped earlier.
CREATE TABLE kg_catalog.cache_tables (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  ontology_id uuid NOT NULL,
  mapping_key text NOT NULL,
  datasource text NOT NULL,
  -- the variable of the datasource; the one of its writer has the same name with _WRITER
  secret text NOT NULL,
  -- digests of the connection, and of the mapping with the types of its columns
  connection text NOT NULL,
  digest text NOT NULL,
  schema_name text NOT NULL,
  table_name text NOT NULL UNIQUE,
  as_of timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- NULL while the table is made
  rows bigint,
  -- when the table is dropped, unless it is the current one of a cache
  drop_after timestamptz NOT NULL
);
ALTER TABLE kg_catalog.mapping_caches ADD FOREIGN KEY (current) REFERENCES kg_catalog.cache_tables (id) ON DELETE SET NULL;
