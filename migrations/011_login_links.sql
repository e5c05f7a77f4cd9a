-- Links that log a user in once, on a developer's machine. Only a digest of the code is stored. A link is valid while the user's login is as it was when the link
-- was made: the same generation, and the same password, of which a digest is stored. Used links are kept as long as the sessions that they began.
CREATE TABLE kg_catalog.login_links (
  hash text PRIMARY KEY,
  user_id uuid NOT NULL REFERENCES kg_catalog.users (id) ON DELETE CASCADE,
  expires timestamptz NOT NULL,
  created_by uuid[] NOT NULL,
  generation bigint NOT NULL,
  password bytea NOT NULL,
  used timestamptz
);
