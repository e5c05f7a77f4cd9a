-- Questions of a conversation. `conversation_key` is a digest of the caller and of its rights when it asked: who has other rights by now, or another claim, does not get
-- the queries of earlier questions, which may contain names and values that it may not see.
ALTER TABLE kg_catalog.agents_history ADD COLUMN conversation uuid, ADD COLUMN conversation_key text;
CREATE INDEX agents_history_of_conversation ON kg_catalog.agents_history (user_id, conversation, id) WHERE conversation IS NOT NULL;
