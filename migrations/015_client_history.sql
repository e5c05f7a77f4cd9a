-- Questions that a client with its own language model answered and reported. `query_id` is the client's name of the question, NULL for questions that the service
-- answered. The answer in words contains values, so only the same caller with the same rights gets it back.
ALTER TABLE kg_catalog.agents_history ADD COLUMN query_id text, ADD COLUMN parent_query_id text, ADD COLUMN is_follow_up boolean, ADD COLUMN answer text;
CREATE INDEX agents_history_of_client ON kg_catalog.agents_history (user_id, id) WHERE query_id IS NOT NULL;
