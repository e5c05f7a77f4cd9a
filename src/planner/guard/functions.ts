/**
 * The function allow-list (docs/design/statements-and-versions.md#what-sql-may-use): built-in functions of PostgreSQL 15 to 18 that depend only on their arguments, the
 * clock and random numbers, grouped by subject. Functions that read settings, catalogs, files or large objects, that wait, lock, write, notify or run SQL text are left
 * out. These are every `pg_*` except pg_typeof, `lo_*`, `has_*`, `to_reg*`, `enum_*`, `txid_*`, sequences, setseed, version, inet_server_addr and similar ones. The XML
 * functions and text search with a configuration (`to_tsvector`) are left out too.
 */

const names = (text: string): readonly string[] => text.trim().split(/\s+/);

const MATH = names(`
  abs acos acosd acosh asin asind asinh atan atan2 atan2d atand atanh cbrt ceil ceiling cos cosd cosh cot cotd degrees div erf erfc exp
  factorial floor gamma gcd lcm lgamma ln log log10 min_scale mod pi pow power radians round scale sign sin sind sinh sqrt tan tand tanh
  trim_scale trunc width_bucket random random_normal`);

const TEXT = names(`
  ascii bit_length btrim casefold char_length character_length chr concat concat_ws format initcap is_normalized left length like
  like_escape lower lpad ltrim normalize notlike octet_length overlay parse_ident position quote_ident quote_literal quote_nullable repeat
  replace reverse right rpad rtrim similar_escape similar_to_escape split_part starts_with string_to_array string_to_table strpos substr
  substring textlen to_ascii to_bin to_hex to_oct translate unicode_assigned unistr upper`);

const REGULAR_EXPRESSIONS = names(`
  regexp_count regexp_instr regexp_like regexp_match regexp_matches regexp_replace regexp_split_to_array regexp_split_to_table
  regexp_substr`);

const BYTES_AND_BITS = names(`
  bit_count convert convert_from convert_to crc32 crc32c decode encode get_bit get_byte md5 set_bit set_byte sha224 sha256 sha384 sha512`);

const CLOCK = names('age clock_timestamp now statement_timestamp timeofday transaction_timestamp');

const TIME = names(`
  date_add date_bin date_part date_subtract date_trunc extract isfinite justify_days justify_hours justify_interval make_date
  make_interval make_time make_timestamp make_timestamptz overlaps timezone to_char to_date to_number to_timestamp`);

const JSON_VALUES = names(`
  array_to_json json_array_elements json_array_elements_text json_array_length json_build_array json_build_object json_each json_each_text
  json_extract_path json_extract_path_text json_object json_object_keys json_populate_record json_populate_recordset json_strip_nulls
  json_to_record json_to_recordset json_typeof jsonb_array_elements jsonb_array_elements_text jsonb_array_length jsonb_build_array
  jsonb_build_object jsonb_concat jsonb_contained jsonb_contains jsonb_delete jsonb_delete_path jsonb_each jsonb_each_text jsonb_exists
  jsonb_exists_all jsonb_exists_any jsonb_extract_path jsonb_extract_path_text jsonb_insert jsonb_object jsonb_object_keys
  jsonb_path_exists jsonb_path_exists_tz jsonb_path_match jsonb_path_match_tz jsonb_path_query jsonb_path_query_array
  jsonb_path_query_array_tz jsonb_path_query_first jsonb_path_query_first_tz jsonb_path_query_tz jsonb_populate_record
  jsonb_populate_record_valid jsonb_populate_recordset jsonb_pretty jsonb_set jsonb_set_lax jsonb_strip_nulls jsonb_to_record
  jsonb_to_recordset jsonb_typeof row_to_json to_json to_jsonb`);

const ARRAYS = names(`
  array_append array_cat array_dims array_fill array_length array_lower array_ndims array_position array_positions array_prepend
  array_remove array_replace array_reverse array_sample array_shuffle array_sort array_to_string array_upper cardinality trim_array`);

const SETS_OF_ROWS = names('generate_series generate_subscripts unnest');

const RANGES = names(`
  datemultirange daterange int4multirange int4range int8multirange int8range isempty lower_inc lower_inf multirange nummultirange numrange
  range_merge tsmultirange tsrange tstzmultirange tstzrange upper_inc upper_inf`);

const GEOMETRY = names(`
  area bound_box center diagonal diameter height isclosed ishorizontal isopen isparallel isperp isvertical npoints pclose popen radius
  slope width`);

const NETWORK = names(`
  abbrev broadcast family host hostmask inet_merge inet_same_family macaddr8_set7bit masklen netmask network set_masklen`);

const UUIDS = names('gen_random_uuid uuid_extract_timestamp uuid_extract_version uuidv4 uuidv7');

/** Text search without a configuration. A configuration is read from the catalog. */
const TEXT_SEARCH = names(`
  array_to_tsvector numnode querytree setweight strip ts_delete ts_filter ts_rank ts_rank_cd tsquery_phrase tsvector_to_array`);

const ANY_TYPE = names('num_nonnulls num_nulls pg_typeof');

/** Casts that can be written as calls, without `regclass(x)` and the like. */
export const CASTS: readonly string[] = names(`
  bit bool box bpchar bytea char cidr circle date float4 float8 int2 int4 int8 interval line lseg macaddr macaddr8 name numeric path point
  polygon text time timestamp timestamptz timetz varbit varchar`);

const AGGREGATES = names(`
  any_value array_agg avg bit_and bit_or bit_xor bool_and bool_or corr count covar_pop covar_samp every json_agg json_agg_strict
  json_object_agg json_object_agg_strict json_object_agg_unique json_object_agg_unique_strict jsonb_agg jsonb_agg_strict jsonb_object_agg
  jsonb_object_agg_strict jsonb_object_agg_unique jsonb_object_agg_unique_strict max min mode percentile_cont percentile_disc range_agg
  range_intersect_agg regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy stddev stddev_pop
  stddev_samp string_agg sum var_pop var_samp variance`);

/** Window functions (with OVER) that are also hypothetical-set aggregates (with WITHIN GROUP). */
const RANKS = names('cume_dist dense_rank percent_rank rank');

const WINDOWS = names('first_value lag last_value lead nth_value ntile row_number');

/** The built-in functions that a caller's SQL may call. */
export const ALLOWED_FUNCTIONS: ReadonlySet<string> = new Set(
  [
    ...[MATH, TEXT, REGULAR_EXPRESSIONS, BYTES_AND_BITS, CLOCK, TIME, JSON_VALUES, ARRAYS, SETS_OF_ROWS, RANGES, GEOMETRY, NETWORK, UUIDS],
    ...[TEXT_SEARCH, ANY_TYPE, CASTS, AGGREGATES, RANKS, WINDOWS],
  ].flat(),
);

const VOLATILE: ReadonlySet<string> = new Set(names('array_sample array_shuffle clock_timestamp gen_random_uuid random random_normal timeofday uuidv4 uuidv7'));
const CLOCKS: ReadonlySet<string> = new Set([...CLOCK, 'uuidv7']);
/** The allowed functions that aggregate or number rows. */
export const FOLDING: ReadonlySet<string> = new Set([...AGGREGATES, ...RANKS, ...WINDOWS]);
const AGGREGATE: ReadonlySet<string> = new Set([...AGGREGATES, ...RANKS]);
const WINDOW: ReadonlySet<string> = new Set([...WINDOWS, ...RANKS]);

/** The allowed functions that return a set of rows. */
export const SET_RETURNING: ReadonlySet<string> = new Set([
  ...SETS_OF_ROWS,
  ...names(`json_array_elements json_array_elements_text json_each json_each_text json_object_keys json_populate_recordset json_to_recordset jsonb_array_elements
  jsonb_array_elements_text jsonb_each jsonb_each_text jsonb_object_keys jsonb_path_query jsonb_path_query_tz jsonb_populate_recordset jsonb_to_recordset
  regexp_matches regexp_split_to_table string_to_table`),
]);

/** True if two calls with the same arguments in one statement may return different values. @param name the name without its schema */
export const isVolatileFunction = (name: string): boolean => VOLATILE.has(name);

/** True if the function reads the clock. */
export const usesClock = (name: string): boolean => CLOCKS.has(name);

/** True if a call of the function without OVER is an aggregate. `rank`, `dense_rank`, `percent_rank` and `cume_dist` then need WITHIN GROUP. */
export const isAggregate = (name: string): boolean => AGGREGATE.has(name);

/** True if the function is a window function. An aggregate with OVER is one too, but is not included here. */
export const isWindow = (name: string): boolean => WINDOW.has(name);
