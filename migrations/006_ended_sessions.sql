-- Sessions that somebody ended by logging out, kept until they would have ended by themselves.
CREATE TABLE kg_catalog.ended_sessions (
  id uuid PRIMARY KEY,
  until timestamptz NOT NULL
);
