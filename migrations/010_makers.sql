-- Who controls a credential of a user: who made the token, who last set the password or the e-mail, and who controlled the credential with which they did so.
-- GRANT ROLE admin takes from a new administrator what other users control. Ids of users, who may have been dropped since; the id of zeros is an unknown user.
-- NULL: written by a release without these columns.
ALTER TABLE kg_catalog.tokens ADD COLUMN created_by uuid[];
ALTER TABLE kg_catalog.users ADD COLUMN password_by uuid[];
ALTER TABLE kg_catalog.users ADD COLUMN email_by uuid[];

-- Goes up where sessions and OAuth grants of the user have to end although the password stays the same: a new e-mail.
ALTER TABLE kg_catalog.users ADD COLUMN login_generation bigint NOT NULL DEFAULT 0;
