-- Rows that `kg validate --ontology NAME --data` has counted, beside the version whose mappings, concepts and views they are.
CREATE TABLE kg_catalog.row_counts (
  version uuid NOT NULL REFERENCES kg_catalog.ontology_versions ON DELETE CASCADE,
  kind text NOT NULL CHECK (kind IN ('mapping', 'concept', 'view')),
  key text NOT NULL,                  -- the name in the form in which names are compared
  rows bigint NOT NULL,
  counted timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (version, kind, key)
);
