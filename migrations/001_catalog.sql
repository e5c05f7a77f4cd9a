-- What the service itself stores. Owned by the catalog's role (CATALOG_URL); the reading role has no right on the schema.
-- Names are kept as written; `key` is the same name in the form in which names are compared (lower case, made by the Worker).
-- Changes to this schema expand first and contract later: a running Worker of the version before must go on working.

DO $$ BEGIN
  IF NOT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = 'kg_catalog') THEN CREATE SCHEMA kg_catalog; END IF;
END $$;

-- One row: numbers that tell caches that something changed.
CREATE TABLE kg_catalog.state (
  id int PRIMARY KEY DEFAULT 1 CHECK (id = 1),
  cache_generation bigint NOT NULL DEFAULT 1,
  permissions bigint NOT NULL DEFAULT 1
);
INSERT INTO kg_catalog.state DEFAULT VALUES;

CREATE TABLE kg_catalog.users (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  name text NOT NULL,
  key text NOT NULL UNIQUE,
  email text,
  email_key text,
  tenant text,
  password text,                      -- $scrypt$ln=..,r=..,p=..$salt$hash; NULL: no password
  active boolean NOT NULL DEFAULT true,
  created timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX users_email_key ON kg_catalog.users (email_key);
-- The administrator that ADMIN_TOKEN stands for.
INSERT INTO kg_catalog.users (id, name, key) VALUES ('00000000-0000-4000-8000-000000000001', 'admin', 'admin');

CREATE TABLE kg_catalog.tokens (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  user_id uuid NOT NULL REFERENCES kg_catalog.users ON DELETE CASCADE,
  hash text NOT NULL UNIQUE,          -- SHA-256 of the whole token, hexadecimal
  label text,
  created timestamptz NOT NULL DEFAULT now(),
  expires timestamptz,
  last_used timestamptz,
  revoked timestamptz
);
CREATE INDEX tokens_user_id ON kg_catalog.tokens (user_id);

CREATE TABLE kg_catalog.roles (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  name text NOT NULL,
  key text NOT NULL UNIQUE,
  created timestamptz NOT NULL DEFAULT now()
);
INSERT INTO kg_catalog.roles (id, name, key) VALUES ('00000000-0000-4000-8000-000000000002', 'admin', 'admin');

CREATE TABLE kg_catalog.role_members (
  role_id uuid NOT NULL REFERENCES kg_catalog.roles ON DELETE CASCADE,
  user_id uuid NOT NULL REFERENCES kg_catalog.users ON DELETE CASCADE,
  PRIMARY KEY (role_id, user_id)
);
CREATE INDEX role_members_user_id ON kg_catalog.role_members (user_id);
INSERT INTO kg_catalog.role_members (role_id, user_id) VALUES ('00000000-0000-4000-8000-000000000002', '00000000-0000-4000-8000-000000000001');

-- A grant belongs to a user or to a role. `resource` holds the parts of ontology.n.concept.c as written; `resource_key` the
-- same in the compared form, as a JSON array.
CREATE TABLE kg_catalog.grants (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  user_id uuid REFERENCES kg_catalog.users ON DELETE CASCADE,
  role_id uuid REFERENCES kg_catalog.roles ON DELETE CASCADE,
  privilege text NOT NULL CHECK (privilege IN ('edit', 'query', 'access', 'auth')),
  resource jsonb NOT NULL,
  resource_key jsonb NOT NULL,
  is_all boolean NOT NULL DEFAULT false,
  grant_option boolean NOT NULL DEFAULT false,
  created timestamptz NOT NULL DEFAULT now(),
  CHECK ((user_id IS NULL) <> (role_id IS NULL))
);
CREATE UNIQUE INDEX grants_of_user ON kg_catalog.grants (user_id, privilege, resource_key, is_all) WHERE user_id IS NOT NULL;
CREATE UNIQUE INDEX grants_of_role ON kg_catalog.grants (role_id, privilege, resource_key, is_all) WHERE role_id IS NOT NULL;

CREATE TABLE kg_catalog.datasources (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  name text NOT NULL,
  key text NOT NULL UNIQUE,
  type text NOT NULL,
  secret text NOT NULL,               -- the name of a variable, never its value
  options json NOT NULL DEFAULT '{}',
  created timestamptz NOT NULL DEFAULT now()
);
INSERT INTO kg_catalog.datasources (id, name, key, type, secret) VALUES ('00000000-0000-4000-8000-000000000003', 'main', 'main', 'postgres', 'DATASOURCE_MAIN');

-- `seq` and `version` point at the current version; what is no part of a version stands here.
CREATE TABLE kg_catalog.ontologies (
  id uuid PRIMARY KEY,
  name text NOT NULL,
  key text NOT NULL UNIQUE,
  description text,
  seq bigint NOT NULL,
  version uuid NOT NULL,
  allowed_functions text,
  created timestamptz NOT NULL DEFAULT now(),
  created_by text NOT NULL
);

-- Immutable. UNIQUE (ontology_id, seq) is the guard against two writers at once: the second one's INSERT fails.
CREATE TABLE kg_catalog.ontology_versions (
  version uuid PRIMARY KEY,
  ontology_id uuid NOT NULL REFERENCES kg_catalog.ontologies ON DELETE CASCADE,
  seq bigint NOT NULL,
  created timestamptz NOT NULL DEFAULT now(),
  created_by text NOT NULL,
  statement text NOT NULL,
  format int NOT NULL,
  content json NOT NULL,              -- json, not jsonb: the order of members is the order of declaration
  UNIQUE (ontology_id, seq)
);

CREATE TABLE kg_catalog.ontology_datasources (
  ontology_id uuid NOT NULL REFERENCES kg_catalog.ontologies ON DELETE CASCADE,
  datasource_id uuid NOT NULL REFERENCES kg_catalog.datasources,
  active boolean NOT NULL DEFAULT false,
  created timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (ontology_id, datasource_id)
);
CREATE UNIQUE INDEX ontology_datasources_active ON kg_catalog.ontology_datasources (ontology_id) WHERE active;

CREATE TABLE kg_catalog.agents (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  name text NOT NULL,
  key text NOT NULL UNIQUE,
  description text,
  options json NOT NULL DEFAULT '{}',
  created timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE kg_catalog.agent_ontologies (
  agent_id uuid NOT NULL REFERENCES kg_catalog.agents ON DELETE CASCADE,
  ontology_id uuid NOT NULL REFERENCES kg_catalog.ontologies ON DELETE CASCADE,
  position int NOT NULL,
  PRIMARY KEY (agent_id, ontology_id)
);

CREATE TABLE kg_catalog.audit (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT now(),
  user_name text NOT NULL,
  credential text NOT NULL,           -- kind: admin_token, api_token, ...
  action text NOT NULL,               -- kind of statement
  object text,
  ontology text,
  digest text,                        -- SHA-256 of the statement
  request_id text
);
CREATE INDEX audit_at ON kg_catalog.audit (at);
