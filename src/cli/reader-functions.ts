/**
 * The functions that the role of a datasource is not to execute. PostgreSQL lets every role (PUBLIC) execute nearly all of
 * its functions; the planner refuses calls of these, and without the right to execute them a call that got past the
 * planner fails too. `npm start` and docs/restrict-functions.sql revoke the right, `kg doctor` reports what is left.
 *
 * Not in the list: functions that look names up in the system catalogs (has_*_privilege, to_reg*, pg_get_viewdef,
 * pg_get_functiondef and their like), because every role may read those catalogs anyway and clients need them; and
 * version(), pg_backend_pid() and pg_is_in_recovery(), which drivers call when they connect.
 */

/** Functions that are kept from the role for one reason. */
export interface FunctionFamily {
  /** What they do: completes "functions that ...". */
  readonly does: string;
  /** Why the role is not to execute them. */
  readonly why: string;
  /** Whether one of them alone shows what the role's callers may not see, or stops the work of others. */
  readonly grave: boolean;
  /** Names in pg_catalog, the most dangerous first. A `*` at the end matches any characters. */
  readonly names: readonly string[];
  /** Functions in pg_catalog of which other signatures are harmless. */
  readonly signatures?: readonly string[];
  /** Names of functions of extensions, in whatever schema the extension is. */
  readonly extensions?: readonly string[];
}

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/** PostgreSQL 15 to 18, and extensions in common use. */
export const FUNCTION_FAMILIES: readonly FunctionFamily[] = [
  {
    does: 'run SQL texts',
    why: 'They run a text as a statement, past every check of the planner, and so read each table that the role can read.',
    grave: true,
    names: words('ts_stat query_to_xml* table_to_xml* cursor_to_xml* schema_to_xml* database_to_xml*'),
    signatures: ['ts_rewrite(tsquery, text)'],
    extensions: words('dblink* crosstab* connectby xpath_table pg_background_* run_command_on_* postgres_fdw_*'),
  },
  {
    does: 'read or write files',
    why: 'They read files of the server, or list them. PostgreSQL gives most of them to superusers only; a GRANT may have changed that.',
    grave: true,
    names: words(`pg_read_* pg_ls_* pg_stat_file pg_current_logfile pg_hba_file_rules pg_ident_file_mappings pg_show_all_file_settings pg_config
      pg_control_* pg_available_extension* pg_extension_update_paths pg_timezone_names`),
    extensions: words('pg_file_* pg_logdir_ls'),
  },
  {
    does: 'use large objects',
    why: 'They make, read, write and delete large objects, which belong to no table and no ontology.',
    grave: true,
    names: words('lo_* loread lowrite'),
  },
  {
    does: 'signal other sessions or steer the server',
    why: 'All callers of the service share the role, so that it may end the sessions of every one of them.',
    grave: true,
    names: words(`pg_terminate_backend pg_cancel_backend pg_reload_conf pg_rotate_logfile* pg_log_backend_memory_contexts pg_log_standby_snapshot pg_promote
      pg_switch_wal pg_create_restore_point pg_backup_* pg_start_backup pg_stop_backup pg_wal_replay_pause pg_wal_replay_resume`),
  },
  {
    does: 'wait',
    why: 'A statement that sleeps holds a connection of the role for nothing, up to the time-out.',
    grave: true,
    names: words('pg_sleep*'),
  },
  {
    does: 'take advisory locks',
    why: 'They wait for, or hold up, applications that use advisory locks; a lock of a session outlives its statement.',
    grave: true,
    names: words('pg_advisory_* pg_try_advisory_*'),
  },
  {
    does: 'read or change settings',
    why: 'set_config lifts the time-out and the other limits of the role; current_setting reads what the operator or an application keeps in settings.',
    grave: true,
    names: words('set_config current_setting pg_show_all_settings setseed'),
  },
  {
    does: 'show sessions and their statements',
    why: 'Statements of all callers run as the role, so that it sees their texts, with the values in them.',
    grave: true,
    names: words(`pg_stat_get_* current_query pg_prepared_statement pg_cursor pg_prepared_xact pg_lock_status pg_blocking_pids pg_safe_snapshot_blocking_pids
      pg_isolation_test_session_is_blocked pg_get_backend_memory_contexts pg_get_shmem_allocations* pg_get_aios pg_get_loaded_modules pg_stat_have_stats
      pg_listening_channels pg_notification_queue_usage inet_client_* inet_server_* pg_postmaster_start_time pg_conf_load_time`),
    extensions: words('pg_stat_statements* pg_stat_monitor* pg_buffercache_* pg_wait_sampling_*'),
  },
  {
    does: 'send messages or write the log',
    why: 'They reach listeners and replication, also from a transaction that only reads.',
    grave: false,
    names: words(`pg_notify pg_logical_* pg_replication_* pg_create_logical_* pg_create_physical_* pg_copy_* pg_drop_replication_slot
      pg_sync_replication_slots pg_show_replication_origin_status pg_get_replication_slots pg_current_wal_* pg_last_wal_* pg_last_xact_replay_timestamp
      pg_last_committed_xact pg_wal_summary_contents pg_walfile_name* pg_available_wal_summaries pg_get_wal_* pg_is_wal_replay_paused`),
  },
  {
    does: 'use sequences',
    why: 'They read and move the sequences that rows get their keys from.',
    grave: false,
    names: words('nextval setval currval lastval pg_sequence_last_value pg_get_sequence_data'),
  },
  {
    does: 'assign transaction ids or keep snapshots',
    why: 'A transaction id for each read uses ids up; an exported snapshot writes a file and holds vacuum back.',
    grave: false,
    names: words('pg_current_xact_id txid_current pg_export_snapshot'),
  },
  {
    does: 'show the size and place of tables',
    why: 'They show how much there is in tables that the role cannot read, and where it lies on disk.',
    grave: false,
    names: words(`pg_relation_size pg_table_size pg_indexes_size pg_total_relation_size pg_database_size pg_tablespace_size pg_relation_filenode
      pg_relation_filepath pg_filenode_relation pg_tablespace_location pg_tablespace_databases pg_get_multixact_members`),
    extensions: words('pgstat* pg_relpages* pg_freespace pg_visibility* pgrowlocks get_raw_page*'),
  },
  {
    does: 'write catalogs, statistics or indexes',
    why: 'They change what the server keeps about tables. Most of them ask for a further right.',
    grave: false,
    names: words(`pg_import_system_collations pg_extension_config_dump binary_upgrade_* pg_nextoid pg_stop_making_pinned_objects pg_stat_reset*
      pg_stat_clear_snapshot pg_stat_force_next_flush pg_clear_* pg_restore_* brin_summarize_* brin_desummarize_* gin_clean_pending_list`),
    extensions: words('pg_prewarm autoprewarm_* pg_repack*'),
  },
  {
    does: 'call other services',
    why: 'They send what the role reads to addresses of the statement’s choosing.',
    grave: true,
    names: [],
    extensions: words('http http_* query_export_to_s3 table_import_from_s3 aws_lambda_invoke invoke'),
  },
];

const text = (value: string): string => `'${value.replaceAll("'", "''")}'`;
const array = (names: readonly string[]): string => `ARRAY[${names.map(text).join(', ')}]::text[]`;
const row = ({ does, names, extensions = [] }: FunctionFamily): string => `(${text(does)},\n    ${array(names)},\n    ${array(extensions)})`;
const signed = FUNCTION_FAMILIES.flatMap(({ does, signatures = [] }) =>
  signatures.map((s) => `(pg_catalog.to_regprocedure(${text(`pg_catalog.${s}`)}), ${text(does)})`),
);

/**
 * A query of the functions in the list that the database has: columns `oid` and `family` (what they do), one row each.
 * Every role may run it. Names are compared by ranges, for which pg_proc has an index; `~` comes after all characters of
 * a name.
 */
export const LISTED_FUNCTIONS = `SELECT p.oid, f.family
FROM (VALUES
  ${FUNCTION_FAMILIES.map(row).join(',\n  ')}
) AS f (family, names, extensions)
CROSS JOIN LATERAL (SELECT n, true AS builtin FROM unnest(f.names) n UNION ALL SELECT n, false FROM unnest(f.extensions) n) w
JOIN pg_catalog.pg_proc p ON p.proname BETWEEN rtrim(w.n, '*')::name AND replace(w.n, '*', '~')::name
WHERE CASE WHEN w.builtin THEN p.pronamespace = 'pg_catalog'::pg_catalog.regnamespace ELSE EXISTS (SELECT FROM pg_catalog.pg_depend d
  WHERE d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass AND d.objid = p.oid AND d.deptype = 'e') END
UNION ALL SELECT s.f::oid, s.family FROM (VALUES ${signed.join(', ')}) AS s (f, family) WHERE s.f IS NOT NULL`;
