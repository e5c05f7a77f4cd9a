-- Where Citus has the tables of a datasource, as JSON; its digest; and when it was read. NULL: it was never read, or the datasource is not on Citus.
ALTER TABLE kg_catalog.datasources ADD COLUMN placements text, ADD COLUMN placements_digest text, ADD COLUMN placed timestamptz;
