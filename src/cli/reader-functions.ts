/**
 * Functions that the role of a datasource must not execute. PostgreSQL lets every role (PUBLIC) execute nearly all of
 * its functions. The planner rejects calls of these, and without the right to execute them a call that passed the
 * planner fails too. `npm start` and docs/restrict-functions.sql revoke the right, and `kg doctor` reports what is left.
 *
 * The list does not contain functions that look up names in the system catalogs (has_*_privilege, to_reg*, pg_get_viewdef,
 * pg_get_functiondef and similar ones): every role may read those catalogs anyway, and clients need them. Nor does it
 * contain version(), pg_backend_pid() and pg_is_in_recovery(), which drivers call when they connect.
 */

/** Functions that are restricted for the same reason. */
export interface FunctionFamily {
  /** What they do: completes "functions that ...". */
  readonly does: string;
  /** Why the role must not execute them. */
  readonly why: string;
  /** Whether a single one of them discloses what the role's callers may not see, or stops the work of others. */
  readonly severe: boolean;
  /** Names in pg_catalog, the most dangerous first. A `*` at the end matches any characters. */
  readonly names: readonly string[];
  /** Functions in pg_catalog that have other, harmless signatures. */
  readonly signatures?: readonly string[];
  /** Names of functions of extensions, in any schema. */
  readonly extensions?: readonly string[];
}

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/** PostgreSQL 15 to 18, and extensions in common use. */
export const FUNCTION_FAMILIES: readonly FunctionFamily[] = [
  {
    does: 'run SQL texts',
    why: 'They run a text as a statement, bypassing all checks of the planner, and so can read every table that the role can read.',
    severe: true,
    names: words('ts_stat query_to_xml* table_to_xml* cursor_to_xml* schema_to_xml* database_to_xml*'),
    signatures: ['ts_rewrite(tsquery, text)'],
    extensions: words('dblink* crosstab* connectby xpath_table pg_background_* run_command_on_* postgres_fdw_*'),
  },
  {
    does: 'read or write files',
    why: 'They read files of the server, or list them. By default most of them are restricted to superusers; a GRANT may have changed that.',
    severe: true,
    names: words(`pg_read_* pg_ls_* pg_stat_file pg_current_logfile pg_hba_file_rules pg_ident_file_mappings pg_show_all_file_settings pg_config
      pg_control_* pg_available_extension* pg_extension_update_paths pg_timezone_names`),
    extensions: words('pg_file_* pg_logdir_ls'),
  },
  {
    does: 'use large objects',
    why: 'They create, read, write and delete large objects, which belong to no table and no ontology.',
    severe: true,
    names: words('lo_* loread lowrite'),
  },
  {
    does: 'signal other sessions or steer the server',
    why: 'All callers of the service share the role, so it could end the sessions of any of them.',
    severe: true,
    names: words(`pg_terminate_backend pg_cancel_backend pg_reload_conf pg_rotate_logfile* pg_log_backend_memory_contexts pg_log_standby_snapshot pg_promote
      pg_switch_wal pg_create_restore_point pg_backup_* pg_start_backup pg_stop_backup pg_wal_replay_pause pg_wal_replay_resume`),
  },
  {
    does: 'wait',
    why: 'A statement that sleeps keeps a connection of the role busy until the time-out.',
    severe: true,
    names: words('pg_sleep*'),
  },
  {
    does: 'take advisory locks',
    why: 'They block, or wait for, applications that use advisory locks; a session-level lock outlives its statement.',
    severe: true,
    names: words('pg_advisory_* pg_try_advisory_*'),
  },
  {
    does: 'read or change settings',
    why: 'set_config can disable the time-out and the other limits of the role; current_setting reads what the operator or an application stores in settings.',
    severe: true,
    names: words('set_config current_setting pg_show_all_settings setseed'),
  },
  {
    does: 'show sessions and their statements',
    why: 'Statements of all callers run as the role, so it sees their texts, including literal values.',
    severe: true,
    names: words(`pg_stat_get_* current_query pg_prepared_statement pg_cursor pg_prepared_xact pg_lock_status pg_blocking_pids pg_safe_snapshot_blocking_pids
      pg_isolation_test_session_is_blocked pg_get_backend_memory_contexts pg_get_shmem_allocations* pg_get_aios pg_get_loaded_modules pg_stat_have_stats
      pg_listening_channels pg_notification_queue_usage inet_client_* inet_server_* pg_postmaster_start_time pg_conf_load_time`),
    extensions: words('pg_stat_statements* pg_stat_monitor* pg_buffercache_* pg_wait_sampling_*'),
  },
  {
    does: 'send messages or write the log',
    why: 'They reach listeners and replication, also from a read-only transaction.',
    severe: false,
    names: words(`pg_notify pg_logical_* pg_replication_* pg_create_logical_* pg_create_physical_* pg_copy_* pg_drop_replication_slot
      pg_sync_replication_slots pg_show_replication_origin_status pg_get_replication_slots pg_current_wal_* pg_last_wal_* pg_last_xact_replay_timestamp
      pg_last_committed_xact pg_wal_summary_contents pg_walfile_name* pg_available_wal_summaries pg_get_wal_* pg_is_wal_replay_paused`),
  },
  {
    does: 'use sequences',
    why: 'They read and advance the sequences that generate keys.',
    severe: false,
    names: words('nextval setval currval lastval pg_sequence_last_value pg_get_sequence_data'),
  },
  {
    does: 'assign transaction ids or keep snapshots',
    why: 'A transaction id for each read uses up ids; an exported snapshot writes a file and delays vacuum.',
    severe: false,
    names: words('pg_current_xact_id txid_current pg_export_snapshot'),
  },
  {
    does: 'show the size and place of tables',
    why: 'They show the size of tables that the role cannot read, and their location on disk.',
    severe: false,
    names: words(`pg_relation_size pg_table_size pg_indexes_size pg_total_relation_size pg_database_size pg_tablespace_size pg_relation_filenode
      pg_relation_filepath pg_filenode_relation pg_tablespace_location pg_tablespace_databases pg_get_multixact_members`),
    extensions: words('pgstat* pg_relpages* pg_freespace pg_visibility* pgrowlocks get_raw_page*'),
  },
  {
    does: 'write catalogs, statistics or indexes',
    why: 'They change what the server stores about tables. Most of them require an additional right.',
    severe: false,
    names: words(`pg_import_system_collations pg_extension_config_dump binary_upgrade_* pg_nextoid pg_stop_making_pinned_objects pg_stat_reset*
      pg_stat_clear_snapshot pg_stat_force_next_flush pg_clear_* pg_restore_* brin_summarize_* brin_desummarize_* gin_clean_pending_list`),
    extensions: words('pg_prewarm autoprewarm_* pg_repack*'),
  },
  {
    does: 'call other services',
    why: 'They can send what the role reads to any address.',
    severe: true,
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
 * A query for the listed functions that exist in the database: columns `oid` and `family` (what they do), one row each.
 * Every role may run it. Names are compared by ranges, which pg_proc has an index for; `~` sorts after all characters of
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
