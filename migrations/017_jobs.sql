-- Jobs: statements that run by a schedule. A Durable Object for each job runs it; the catalog decides what runs and when.
CREATE TABLE kg_catalog.jobs (
  id uuid PRIMARY KEY,
  ontology_id uuid NOT NULL REFERENCES kg_catalog.ontologies (id) ON DELETE CASCADE,
  job_key text NOT NULL,
  name text NOT NULL,
  -- the statement, what it is, and what it is about
  statement text NOT NULL,
  kind text NOT NULL,
  target text NOT NULL,
  schedule text NOT NULL,
  timezone text NOT NULL,
  -- who made it, with whose rights it runs: the user, and the credential (a JSON object)
  maker_id uuid NOT NULL REFERENCES kg_catalog.users (id) ON DELETE CASCADE,
  maker text NOT NULL,
  -- goes up with each new statement: the result of a run of an earlier one is not kept
  edition bigint NOT NULL DEFAULT 0,
  paused boolean NOT NULL DEFAULT false,
  next_run timestamptz,
  -- the run that has begun, and the moment from which another one may begin although this one has not ended
  run uuid,
  run_until timestamptz,
  -- the last run that began, and the result of the last one that ended
  started timestamptz,
  ended timestamptz,
  failures integer NOT NULL DEFAULT 0,
  message text,
  UNIQUE (ontology_id, job_key)
);
CREATE INDEX jobs_maker_id ON kg_catalog.jobs (maker_id);
CREATE INDEX jobs_next_run ON kg_catalog.jobs (next_run);
