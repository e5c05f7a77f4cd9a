/** Names that matter when a field is selected from a row. From pg_proc of PostgreSQL 15 to 18; a test compares them. */
import { words } from './tree.ts';
/** The system columns, which every table has. */
export const SYSTEM_COLUMNS: ReadonlySet<string> = new Set(words('ctid xmin xmax cmin cmax tableoid'));

/** Functions that take any row as their only argument and must not be called. If the table `t` has no column `f`, PostgreSQL reads `t.f` as the call f(t). */
export const ROW_FUNCTIONS: ReadonlySet<string> = new Set(
  words(`
    any_out anycompatible_out anycompatiblenonarray_out anyelement_out anynonarray_out hash_record pg_collation_for pg_column_compression
    pg_column_size pg_column_toast_chunk_id pg_restore_attribute_stats pg_restore_relation_stats pg_typeof record_out record_send`),
);

/** The result columns of functions that name them independently of the alias. */
export const RESULT_COLUMNS: ReadonlyMap<string, readonly string[]> = new Map([
  ['json_each', ['key', 'value']],
  ['jsonb_each', ['key', 'value']],
  ['json_each_text', ['key', 'value']],
  ['jsonb_each_text', ['key', 'value']],
  ['json_array_elements', ['value']],
  ['jsonb_array_elements', ['value']],
  ['json_array_elements_text', ['value']],
  ['jsonb_array_elements_text', ['value']],
]);

/** Functions whose result columns depend on their arguments. They are known only with a column list. */
export const SHAPED_BY_ARGUMENTS: ReadonlySet<string> = new Set(
  words(`
    json_populate_record json_populate_recordset json_to_record json_to_recordset jsonb_populate_record jsonb_populate_recordset
    jsonb_to_record jsonb_to_recordset`),
);
