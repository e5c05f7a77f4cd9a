-- Takes the right to execute certain functions of PostgreSQL 15 to 18 and of its extensions from PUBLIC, and so from
-- kg_reader, in the database that it runs in. Run it as a superuser, in each database that is a datasource:
--
--   psql 'postgresql://postgres@db.internal/yourdb' -f docs/restrict-functions.sql
--
-- All other roles of the server keep the right: they become members of the role kg_functions, which gets it. A role that
-- is made later gets it by GRANT kg_functions TO it, or when the script runs again. Run it again too after CREATE EXTENSION
-- and after an upgrade of PostgreSQL. Put the roles of further datasources into "readers" below.
--
-- The functions, and why the role does not need them:
--   run SQL texts: They run a text as a statement, past every check of the planner, and so read each table that the role can read.
--   read or write files: They read files of the server, or list them. PostgreSQL gives most of them to superusers only; a GRANT may have changed that.
--   use large objects: They make, read, write and delete large objects, which belong to no table and no ontology.
--   signal other sessions or steer the server: All callers of the service share the role, so that it may end the sessions of every one of them.
--   wait: A statement that sleeps holds a connection of the role for nothing, up to the time-out.
--   take advisory locks: They wait for, or hold up, applications that use advisory locks; a lock of a session outlives its statement.
--   read or change settings: set_config lifts the time-out and the other limits of the role; current_setting reads what the operator or an application keeps in settings.
--   show sessions and their statements: Statements of all callers run as the role, so that it sees their texts, with the values in them.
--   send messages or write the log: They reach listeners and replication, also from a transaction that only reads.
--   use sequences: They read and move the sequences that rows get their keys from.
--   assign transaction ids or keep snapshots: A transaction id for each read uses ids up; an exported snapshot writes a file and holds vacuum back.
--   show the size and place of tables: They show how much there is in tables that the role cannot read, and where it lies on disk.
--   write catalogs, statistics or indexes: They change what the server keeps about tables. Most of them ask for a further right.
--   call other services: They send what the role reads to addresses of the statement's choosing.
--
-- Made by `node dev/restrict-functions.ts` from the list in src/cli/reader-functions.ts.

DO $restrict$
DECLARE
  readers CONSTANT name[] := ARRAY['kg_reader'];
  own CONSTANT oid[] := ARRAY(SELECT f.oid FROM (
SELECT p.oid, f.family
FROM pg_catalog.pg_proc p
JOIN (VALUES
  ('run SQL texts',
    ARRAY['ts\_stat', 'query\_to\_xml%', 'table\_to\_xml%', 'cursor\_to\_xml%', 'schema\_to\_xml%', 'database\_to\_xml%']::text[],
    ARRAY[pg_catalog.to_regprocedure('pg_catalog.ts_rewrite(tsquery, text)')]::oid[],
    ARRAY['dblink%', 'crosstab%', 'connectby', 'xpath\_table', 'pg\_background\_%', 'run\_command\_on\_%', 'postgres\_fdw\_%']::text[]),
  ('read or write files',
    ARRAY['pg\_read\_%', 'pg\_ls\_%', 'pg\_stat\_file', 'pg\_current\_logfile', 'pg\_hba\_file\_rules', 'pg\_ident\_file\_mappings', 'pg\_show\_all\_file\_settings', 'pg\_config', 'pg\_control\_%', 'pg\_available\_extension%', 'pg\_extension\_update\_paths', 'pg\_timezone\_names']::text[],
    ARRAY[]::oid[],
    ARRAY['pg\_file\_%', 'pg\_logdir\_ls']::text[]),
  ('use large objects',
    ARRAY['lo\_%', 'loread', 'lowrite']::text[],
    ARRAY[]::oid[],
    ARRAY[]::text[]),
  ('signal other sessions or steer the server',
    ARRAY['pg\_terminate\_backend', 'pg\_cancel\_backend', 'pg\_reload\_conf', 'pg\_rotate\_logfile%', 'pg\_log\_backend\_memory\_contexts', 'pg\_log\_standby\_snapshot', 'pg\_promote', 'pg\_switch\_wal', 'pg\_create\_restore\_point', 'pg\_backup\_%', 'pg\_start\_backup', 'pg\_stop\_backup', 'pg\_wal\_replay\_pause', 'pg\_wal\_replay\_resume']::text[],
    ARRAY[]::oid[],
    ARRAY[]::text[]),
  ('wait',
    ARRAY['pg\_sleep%']::text[],
    ARRAY[]::oid[],
    ARRAY[]::text[]),
  ('take advisory locks',
    ARRAY['pg\_advisory\_%', 'pg\_try\_advisory\_%']::text[],
    ARRAY[]::oid[],
    ARRAY[]::text[]),
  ('read or change settings',
    ARRAY['set\_config', 'current\_setting', 'pg\_show\_all\_settings', 'setseed']::text[],
    ARRAY[]::oid[],
    ARRAY[]::text[]),
  ('show sessions and their statements',
    ARRAY['pg\_stat\_get\_%', 'current\_query', 'pg\_prepared\_statement', 'pg\_cursor', 'pg\_prepared\_xact', 'pg\_lock\_status', 'pg\_blocking\_pids', 'pg\_safe\_snapshot\_blocking\_pids', 'pg\_isolation\_test\_session\_is\_blocked', 'pg\_get\_backend\_memory\_contexts', 'pg\_get\_shmem\_allocations%', 'pg\_get\_aios', 'pg\_get\_loaded\_modules', 'pg\_stat\_have\_stats', 'pg\_listening\_channels', 'pg\_notification\_queue\_usage', 'inet\_client\_%', 'inet\_server\_%', 'pg\_postmaster\_start\_time', 'pg\_conf\_load\_time']::text[],
    ARRAY[]::oid[],
    ARRAY['pg\_stat\_statements%', 'pg\_stat\_monitor%', 'pg\_buffercache\_%', 'pg\_wait\_sampling\_%']::text[]),
  ('send messages or write the log',
    ARRAY['pg\_notify', 'pg\_logical\_%', 'pg\_replication\_%', 'pg\_create\_%\_slot', 'pg\_create\_%\_replication\_slot', 'pg\_copy\_%\_slot', 'pg\_drop\_replication\_slot', 'pg\_sync\_replication\_slots', 'pg\_show\_replication\_origin\_status', 'pg\_get\_replication\_slots', 'pg\_current\_wal\_%', 'pg\_last\_wal\_%', 'pg\_last\_xact\_replay\_timestamp', 'pg\_last\_committed\_xact', 'pg\_wal\_summary\_contents', 'pg\_walfile\_name%', 'pg\_available\_wal\_summaries', 'pg\_get\_wal\_%', 'pg\_is\_wal\_replay\_paused']::text[],
    ARRAY[]::oid[],
    ARRAY[]::text[]),
  ('use sequences',
    ARRAY['nextval', 'setval', 'currval', 'lastval', 'pg\_sequence\_last\_value', 'pg\_get\_sequence\_data']::text[],
    ARRAY[]::oid[],
    ARRAY[]::text[]),
  ('assign transaction ids or keep snapshots',
    ARRAY['pg\_current\_xact\_id', 'txid\_current', 'pg\_export\_snapshot']::text[],
    ARRAY[]::oid[],
    ARRAY[]::text[]),
  ('show the size and place of tables',
    ARRAY['pg\_relation\_size', 'pg\_table\_size', 'pg\_indexes\_size', 'pg\_total\_relation\_size', 'pg\_database\_size', 'pg\_tablespace\_size', 'pg\_relation\_filenode', 'pg\_relation\_filepath', 'pg\_filenode\_relation', 'pg\_tablespace\_location', 'pg\_tablespace\_databases', 'pg\_get\_multixact\_members']::text[],
    ARRAY[]::oid[],
    ARRAY['pgstattuple%', 'pgstat%index', 'pg\_relpages', 'pg\_freespace', 'pg\_visibility%', 'pgrowlocks', 'get\_raw\_page%']::text[]),
  ('write catalogs, statistics or indexes',
    ARRAY['pg\_import\_system\_collations', 'pg\_extension\_config\_dump', 'binary\_upgrade\_%', 'pg\_nextoid', 'pg\_stop\_making\_pinned\_objects', 'pg\_stat\_reset%', 'pg\_stat\_clear\_snapshot', 'pg\_stat\_force\_next\_flush', 'pg\_clear\_%\_stats', 'pg\_restore\_%\_stats', 'brin\_summarize\_%', 'brin\_desummarize\_%', 'gin\_clean\_pending\_list']::text[],
    ARRAY[]::oid[],
    ARRAY['pg\_prewarm', 'autoprewarm\_%', 'pg\_repack%']::text[]),
  ('call other services',
    ARRAY[]::text[],
    ARRAY[]::oid[],
    ARRAY['http', 'http\_%', 'query\_export\_to\_s3', 'table\_import\_from\_s3', 'aws\_lambda\_invoke', 'invoke']::text[])
) AS f (family, names, signatures, extensions)
ON p.pronamespace = 'pg_catalog'::pg_catalog.regnamespace AND (p.proname LIKE ANY (f.names) OR p.oid = ANY (f.signatures))
  OR p.proname LIKE ANY (f.extensions) AND EXISTS (SELECT FROM pg_catalog.pg_depend d
    WHERE d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass AND d.objid = p.oid AND d.deptype = 'e')
  ) f JOIN pg_catalog.pg_proc p ON p.oid = f.oid WHERE pg_has_role(p.proowner, 'USAGE'));
  functions text;
  member name;
  reader name;
BEGIN
  IF own = '{}' THEN
    RAISE NOTICE 'the role % owns none of the functions: a superuser can restrict them', current_user;
    RETURN;
  END IF;
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'kg_functions') THEN
    CREATE ROLE "kg_functions" NOLOGIN;
  END IF;
  FOR member IN SELECT r.rolname FROM pg_catalog.pg_roles r
    WHERE NOT r.rolsuper AND r.rolname !~ '^pg_' AND r.rolname <> ALL (readers) AND NOT pg_has_role(r.oid, 'kg_functions', 'MEMBER')
      AND NOT EXISTS (SELECT FROM unnest(readers) x WHERE pg_has_role(x, r.oid, 'MEMBER'))
  LOOP
    EXECUTE format('GRANT kg_functions TO %I', member);
  END LOOP;
  SELECT string_agg(p.oid::regprocedure::text, ', ') INTO functions FROM pg_catalog.pg_proc p
    WHERE p.oid = ANY (own) AND EXISTS (SELECT FROM aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a WHERE a.grantee = 0);
  IF functions IS NOT NULL THEN
    EXECUTE format('GRANT EXECUTE ON ROUTINE %s TO kg_functions', functions);
    EXECUTE format('REVOKE EXECUTE ON ROUTINE %s FROM PUBLIC', functions);
  END IF;
  FOREACH reader IN ARRAY readers LOOP
    SELECT string_agg(p.oid::regprocedure::text, ', ') INTO functions FROM pg_catalog.pg_proc p
      WHERE p.oid = ANY (own) AND EXISTS (SELECT FROM aclexplode(p.proacl) a WHERE a.grantee = reader::regrole);
    IF functions IS NOT NULL THEN
      EXECUTE format('REVOKE EXECUTE ON ROUTINE %s FROM %I', functions, reader);
    END IF;
  END LOOP;
END $restrict$;
