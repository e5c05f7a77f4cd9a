-- What `kg validate --ontology NAME --data` has counted of the values of mappings and views, beside the version that they belong to. `stats` contains values of the
-- data: the most frequent ones, the smallest and the largest.
CREATE TABLE kg_catalog.property_statistics (
  version uuid NOT NULL REFERENCES kg_catalog.ontology_versions ON DELETE CASCADE,
  kind text NOT NULL CHECK (kind IN ('mapping', 'view')),
  key text NOT NULL,                  -- the name in the form in which names are compared
  property_key text NOT NULL,
  stats json NOT NULL,
  counted timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (version, kind, key, property_key)
);
-- Names of users, as some clients set them.
ALTER TABLE kg_catalog.users ADD COLUMN first_name text, ADD COLUMN last_name text;
