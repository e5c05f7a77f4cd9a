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
--   run SQL texts: They run a text as a statement, bypassing all checks of the planner, and so can read every table that the role can read.
--   read or write files: They read files of the server, or list them. By default most of them are restricted to superusers; a GRANT may have changed that.
--   use large objects: They create, read, write and delete large objects, which belong to no table and no ontology.
--   signal other sessions or steer the server: All callers of the service share the role, so it could end the sessions of any of them.
--   wait: A statement that sleeps keeps a connection of the role busy until the time-out.
--   take advisory locks: They block, or wait for, applications that use advisory locks; a session-level lock outlives its statement.
--   read or change settings: set_config can disable the time-out and the other limits of the role; current_setting reads what the operator or an application stores in settings.
--   show sessions and their statements: Statements of all callers run as the role, so it sees their texts, including literal values.
--   send messages or write the log: They reach listeners and replication, also from a read-only transaction.
--   use sequences: They read and advance the sequences that generate keys.
--   assign transaction ids or keep snapshots: A transaction id for each read uses up ids; an exported snapshot writes a file and delays vacuum.
--   show the size and place of tables: They show the size of tables that the role cannot read, and their location on disk.
--   write catalogs, statistics or indexes: They change what the server stores about tables. Most of them require an additional right.
--   call other services: They can send what the role reads to any address.
--
-- Made by `node dev/restrict-functions.ts` from the list in src/cli/reader-functions.ts.

DO $restrict$
DECLARE
  readers CONSTANT name[] := ARRAY['kg_reader'];
  own CONSTANT oid[] := ARRAY(SELECT f.oid FROM (
SELECT p.oid, f.family
FROM (VALUES
  ('run SQL texts',
    ARRAY['ts_stat', 'query_to_xml*', 'table_to_xml*', 'cursor_to_xml*', 'schema_to_xml*', 'database_to_xml*']::text[],
    ARRAY['dblink*', 'crosstab*', 'connectby', 'xpath_table', 'pg_background_*', 'run_command_on_*', 'postgres_fdw_*']::text[]),
  ('read or write files',
    ARRAY['pg_read_*', 'pg_ls_*', 'pg_stat_file', 'pg_current_logfile', 'pg_hba_file_rules', 'pg_ident_file_mappings', 'pg_show_all_file_settings', 'pg_config', 'pg_control_*', 'pg_available_extension*', 'pg_extension_update_paths', 'pg_timezone_names']::text[],
    ARRAY['pg_file_*', 'pg_logdir_ls']::text[]),
  ('use large objects',
    ARRAY['lo_*', 'loread', 'lowrite']::text[],
    ARRAY[]::text[]),
  ('signal other sessions or steer the server',
    ARRAY['pg_terminate_backend', 'pg_cancel_backend', 'pg_reload_conf', 'pg_rotate_logfile*', 'pg_log_backend_memory_contexts', 'pg_log_standby_snapshot', 'pg_promote', 'pg_switch_wal', 'pg_create_restore_point', 'pg_backup_*', 'pg_start_backup', 'pg_stop_backup', 'pg_wal_replay_pause', 'pg_wal_replay_resume']::text[],
    ARRAY[]::text[]),
  ('wait',
    ARRAY['pg_sleep*']::text[],
    ARRAY[]::text[]),
  ('take advisory locks',
    ARRAY['pg_advisory_*', 'pg_try_advisory_*']::text[],
    ARRAY[]::text[]),
  ('read or change settings',
    ARRAY['set_config', 'current_setting', 'pg_show_all_settings', 'setseed']::text[],
    ARRAY[]::text[]),
  ('show sessions and their statements',
    ARRAY['pg_stat_get_*', 'current_query', 'pg_prepared_statement', 'pg_cursor', 'pg_prepared_xact', 'pg_lock_status', 'pg_blocking_pids', 'pg_safe_snapshot_blocking_pids', 'pg_isolation_test_session_is_blocked', 'pg_get_backend_memory_contexts', 'pg_get_shmem_allocations*', 'pg_get_aios', 'pg_get_loaded_modules', 'pg_stat_have_stats', 'pg_listening_channels', 'pg_notification_queue_usage', 'inet_client_*', 'inet_server_*', 'pg_postmaster_start_time', 'pg_conf_load_time']::text[],
    ARRAY['pg_stat_statements*', 'pg_stat_monitor*', 'pg_buffercache_*', 'pg_wait_sampling_*']::text[]),
  ('send messages or write the log',
    ARRAY['pg_notify', 'pg_logical_*', 'pg_replication_*', 'pg_create_logical_*', 'pg_create_physical_*', 'pg_copy_*', 'pg_drop_replication_slot', 'pg_sync_replication_slots', 'pg_show_replication_origin_status', 'pg_get_replication_slots', 'pg_current_wal_*', 'pg_last_wal_*', 'pg_last_xact_replay_timestamp', 'pg_last_committed_xact', 'pg_wal_summary_contents', 'pg_walfile_name*', 'pg_available_wal_summaries', 'pg_get_wal_*', 'pg_is_wal_replay_paused']::text[],
    ARRAY[]::text[]),
  ('use sequences',
    ARRAY['nextval', 'setval', 'currval', 'lastval', 'pg_sequence_last_value', 'pg_get_sequence_data']::text[],
    ARRAY[]::text[]),
  ('assign transaction ids or keep snapshots',
    ARRAY['pg_current_xact_id', 'txid_current', 'pg_export_snapshot']::text[],
    ARRAY[]::text[]),
  ('show the size and place of tables',
    ARRAY['pg_relation_size', 'pg_table_size', 'pg_indexes_size', 'pg_total_relation_size', 'pg_database_size', 'pg_tablespace_size', 'pg_relation_filenode', 'pg_relation_filepath', 'pg_filenode_relation', 'pg_tablespace_location', 'pg_tablespace_databases', 'pg_get_multixact_members']::text[],
    ARRAY['pgstat*', 'pg_relpages*', 'pg_freespace', 'pg_visibility*', 'pgrowlocks', 'get_raw_page*']::text[]),
  ('write catalogs, statistics or indexes',
    ARRAY['pg_import_system_collations', 'pg_extension_config_dump', 'binary_upgrade_*', 'pg_nextoid', 'pg_stop_making_pinned_objects', 'pg_stat_reset*', 'pg_stat_clear_snapshot', 'pg_stat_force_next_flush', 'pg_clear_*', 'pg_restore_*', 'brin_summarize_*', 'brin_desummarize_*', 'gin_clean_pending_list']::text[],
    ARRAY['pg_prewarm', 'autoprewarm_*', 'pg_repack*']::text[]),
  ('call other services',
    ARRAY[]::text[],
    ARRAY['http', 'http_*', 'query_export_to_s3', 'table_import_from_s3', 'aws_lambda_invoke', 'invoke']::text[])
) AS f (family, names, extensions)
CROSS JOIN LATERAL (SELECT n, true AS builtin FROM unnest(f.names) n UNION ALL SELECT n, false FROM unnest(f.extensions) n) w
JOIN pg_catalog.pg_proc p ON p.proname BETWEEN rtrim(w.n, '*')::name AND replace(w.n, '*', '~')::name
WHERE CASE WHEN w.builtin THEN p.pronamespace = 'pg_catalog'::pg_catalog.regnamespace ELSE EXISTS (SELECT FROM pg_catalog.pg_depend d
  WHERE d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass AND d.objid = p.oid AND d.deptype = 'e') END
UNION ALL SELECT s.f::oid, s.family FROM (VALUES (pg_catalog.to_regprocedure('pg_catalog.ts_rewrite(tsquery, text)'), 'run SQL texts')) AS s (f, family) WHERE s.f IS NOT NULL
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
    EXECUTE format('GRANT "kg_functions" TO %I', member);
  END LOOP;
  SELECT string_agg(p.oid::regprocedure::text, ', ') INTO functions FROM pg_catalog.pg_proc p
    WHERE p.oid = ANY (own) AND EXISTS (SELECT FROM aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a WHERE a.grantee = 0);
  IF functions IS NOT NULL THEN
    EXECUTE format('GRANT EXECUTE ON ROUTINE %s TO "kg_functions"', functions);
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
