-- Verified examples: questions, each with the query that answers it. They belong to an ontology, but to none of its versions.
CREATE TABLE kg_catalog.examples (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  ontology_id uuid NOT NULL REFERENCES kg_catalog.ontologies ON DELETE CASCADE,
  key text NOT NULL,                  -- SHA-256 of the question in the form in which questions are compared
  question text NOT NULL,
  description text,
  query text NOT NULL,                -- schemas and functions by their neutral names
  changed timestamptz NOT NULL DEFAULT now(),
  changed_by text NOT NULL,
  changed_by_id uuid NOT NULL,
  UNIQUE (ontology_id, key)
);

-- Goes up with each change of an ontology's examples: who has those of this number need not read them again.
ALTER TABLE kg_catalog.ontologies ADD COLUMN example_generation bigint NOT NULL DEFAULT 0;

-- Questions that were asked of the AI tools, and what came of them. Rows outlive what they name.
CREATE TABLE kg_catalog.agents_history (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  user_id uuid NOT NULL,              -- whom the question was answered as
  user_name text NOT NULL,
  actor text,                         -- who came in the user's place
  agent_name text,
  ontology_id uuid,
  ontology text,
  question text NOT NULL,
  concept text,
  query text,
  status text NOT NULL,
  started timestamptz NOT NULL,
  duration_ms bigint NOT NULL,
  tokens bigint NOT NULL,
  tries int NOT NULL,
  error text
);
CREATE INDEX agents_history_started ON kg_catalog.agents_history (started);
CREATE INDEX agents_history_of_user ON kg_catalog.agents_history (user_id, started);
