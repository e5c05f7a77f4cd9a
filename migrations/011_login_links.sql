-- Links that log a user in once, on a developer's machine. Only a digest of the code is stored.
CREATE TABLE kg_catalog.login_links (
  hash text PRIMARY KEY,
  user_id uuid NOT NULL REFERENCES kg_catalog.users (id) ON DELETE CASCADE,
  expires timestamptz NOT NULL,
  created_by uuid[] NOT NULL
);
