-- When the last run of a statement began, by what it is about: a job that is dropped and made again, or replaced, does not run more often.
CREATE TABLE kg_catalog.job_starts (
  ontology_id uuid NOT NULL REFERENCES kg_catalog.ontologies (id) ON DELETE CASCADE,
  kind text NOT NULL,
  -- the name, folded
  target text NOT NULL,
  started timestamptz NOT NULL,
  PRIMARY KEY (ontology_id, kind, target)
);
CREATE INDEX job_starts_started ON kg_catalog.job_starts (started);
