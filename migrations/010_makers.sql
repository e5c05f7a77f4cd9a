-- Who controls a credential of a user besides the user: who made the token, who last set the password or the e-mail, and whose credentials they came with.
-- GRANT ROLE admin takes from a new administrator what somebody else controls. Each is a list of ids of users, who may have been dropped since; zeros alone
-- stand for an unknown user. NULL: written by a release that does not keep it.
ALTER TABLE kg_catalog.tokens ADD COLUMN created_by uuid[];
ALTER TABLE kg_catalog.users ADD COLUMN password_by uuid[];
ALTER TABLE kg_catalog.users ADD COLUMN email_by uuid[];

-- Goes up where sessions and OAuth grants of the user have to end although the password stays the same: a new e-mail.
ALTER TABLE kg_catalog.users ADD COLUMN login_generation bigint NOT NULL DEFAULT 0;
