-- The digest of the claims with which a question was asked; NULL without claims, and for older questions. Queries and errors contain values that these claims may
-- see, so a user sees the questions of its current claims only.
ALTER TABLE kg_catalog.agents_history ADD COLUMN claims_key text;
