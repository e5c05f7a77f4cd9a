-- Row policies and masks of an ontology: no part of a version, never rolled back.
CREATE TABLE kg_catalog.policies (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  ontology_id uuid NOT NULL REFERENCES kg_catalog.ontologies ON DELETE CASCADE,
  name text NOT NULL,
  key text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('row', 'mask')),
  concept text,                       -- of a mask: NULL for the property wherever it is
  property text,
  to_public boolean NOT NULL DEFAULT false,
  condition text,
  mask json,
  created timestamptz NOT NULL DEFAULT now(),
  created_by text NOT NULL,
  UNIQUE (ontology_id, key),
  CHECK (kind = 'mask' OR (concept IS NOT NULL AND condition IS NOT NULL)),
  CHECK (kind = 'row' OR (property IS NOT NULL AND mask IS NOT NULL))
);

-- Whom a row policy admits, and whom a mask spares. A user or role that a policy names cannot be dropped.
CREATE TABLE kg_catalog.policy_grantees (
  policy_id uuid NOT NULL REFERENCES kg_catalog.policies ON DELETE CASCADE,
  position int NOT NULL,
  user_id uuid REFERENCES kg_catalog.users,
  role_id uuid REFERENCES kg_catalog.roles,
  PRIMARY KEY (policy_id, position),
  CHECK ((user_id IS NULL) <> (role_id IS NULL))
);
CREATE INDEX policy_grantees_user_id ON kg_catalog.policy_grantees (user_id);
CREATE INDEX policy_grantees_role_id ON kg_catalog.policy_grantees (role_id);

-- Goes up with each change of an ontology's policies: who writes a version has judged it by the policies of this number.
ALTER TABLE kg_catalog.ontologies ADD COLUMN policy_generation bigint NOT NULL DEFAULT 0;

-- The secret by which masks of kind HASH and masked keys are made: 244 random bits, hashed.
ALTER TABLE kg_catalog.state ADD COLUMN mask_key text;
UPDATE kg_catalog.state SET mask_key = encode(sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8')), 'hex');
ALTER TABLE kg_catalog.state ALTER COLUMN mask_key SET NOT NULL;
