-- What a line of the audit tells besides: in whose place somebody came, and how a request that only read ended.
ALTER TABLE kg_catalog.audit ADD COLUMN actor text;         -- who came in the user's place
ALTER TABLE kg_catalog.audit ADD COLUMN status int;         -- HTTP status; NULL: an entry of the change itself
ALTER TABLE kg_catalog.audit ADD COLUMN code text;          -- of a refusal
ALTER TABLE kg_catalog.audit ADD COLUMN rows bigint;
ALTER TABLE kg_catalog.audit ADD COLUMN duration_ms int;

-- Failed authentication is counted, by the hour and the code of the refusal.
CREATE TABLE kg_catalog.audit_failures (
  hour timestamptz NOT NULL,
  code text NOT NULL,
  count bigint NOT NULL,
  PRIMARY KEY (hour, code)
);
