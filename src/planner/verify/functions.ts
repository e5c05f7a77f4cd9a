/**
 * The built-in functions that a finished statement may call, from pg_proc of PostgreSQL 15 to 18. They are documented, and their results depend only on their
 * arguments; exceptions are listed below with what else they depend on. A test compares each overload with the catalog: none takes or returns a reg* type (except pg_typeof), an
 * internal type, or a cursor.
 */
import { RESULT_COLUMNS } from './fields.ts';
import { Row } from './row.ts';
import { words } from './tree.ts';

/** Functions whose overloads are all immutable. */
const IMMUTABLE = words(`
  abbrev abs acos acosd acosh area array_append array_cat array_dims array_fill array_length array_lower array_ndims array_position
  array_positions array_prepend array_remove array_replace array_reverse array_sort array_to_tsvector array_upper ascii asin asind asinh atan
  atan2 atan2d atand atanh bit bit_count bit_length bool bound_box box bpchar broadcast btrim bytea cardinality casefold cbrt ceil ceiling
  center char char_length character_length chr cidr circle cos cosd cosh cot cotd crc32 crc32c date_bin datemultirange daterange decode
  degrees diagonal diameter div encode erf erfc exp factorial family float4 float8 floor gamma gcd generate_subscripts get_bit get_byte height
  host hostmask inet_merge inet_same_family initcap int2 int4 int4multirange int4range int8 int8multirange int8range interval is_normalized
  isclosed isempty isfinite ishorizontal isopen isparallel isperp isvertical json_array_elements json_array_elements_text json_array_length
  json_each json_each_text json_extract_path json_extract_path_text json_object json_object_keys json_strip_nulls json_typeof
  jsonb_array_elements jsonb_array_elements_text jsonb_array_length jsonb_concat jsonb_contained jsonb_contains jsonb_delete jsonb_delete_path
  jsonb_each jsonb_each_text jsonb_exists jsonb_exists_all jsonb_exists_any jsonb_extract_path jsonb_extract_path_text jsonb_insert
  jsonb_object jsonb_object_keys jsonb_path_exists jsonb_path_match jsonb_path_query jsonb_path_query_array jsonb_path_query_first
  jsonb_pretty jsonb_set jsonb_set_lax jsonb_strip_nulls jsonb_typeof justify_days justify_hours justify_interval lcm left lgamma like
  like_escape line ln log log10 lower lower_inc lower_inf lpad lseg ltrim macaddr macaddr8 macaddr8_set7bit make_date make_interval make_time
  make_timestamp masklen md5 min_scale mod multirange name netmask network normalize notlike npoints num_nonnulls num_nulls nummultirange
  numnode numrange octet_length overlay parse_ident path pclose pi point polygon popen position pow power querytree quote_ident radians radius
  range_merge regexp_count regexp_instr regexp_like regexp_match regexp_matches regexp_replace regexp_split_to_array regexp_split_to_table
  regexp_substr repeat replace reverse right round rpad rtrim scale set_bit set_byte set_masklen setweight sha224 sha256 sha384 sha512 sign
  similar_escape similar_to_escape sin sind sinh slope split_part sqrt starts_with string_to_array string_to_table strip strpos substr
  substring tan tand tanh text textlen to_ascii to_bin to_hex to_oct translate trim_array trim_scale trunc ts_delete ts_filter ts_rank
  ts_rank_cd tsmultirange tsquery_phrase tsrange tstzmultirange tstzrange tsvector_to_array unicode_assigned unistr unnest upper upper_inc
  upper_inf uuid_extract_timestamp uuid_extract_version varbit varchar width width_bucket`);

/** Aggregates and window functions, immutable too. */
const AGGREGATES = words(`
  any_value array_agg avg bit_and bit_or bit_xor bool_and bool_or corr count covar_pop covar_samp every jsonb_object_agg jsonb_object_agg_strict
  jsonb_object_agg_unique jsonb_object_agg_unique_strict max min mode percentile_cont percentile_disc range_agg range_intersect_agg regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy
  stddev stddev_pop stddev_samp string_agg sum var_pop var_samp variance
  cume_dist dense_rank first_value lag last_value lead nth_value ntile percent_rank rank row_number`);

/** Functions with an overload that is not immutable, by what the result depends on besides the arguments. */
const DEPENDENT: Readonly<Record<string, readonly string[]>> = {
  'the clock': words('age clock_timestamp now statement_timestamp timeofday transaction_timestamp'),
  'random numbers': words('array_sample array_shuffle gen_random_uuid random random_normal uuidv4 uuidv7'),
  'the time zone of the session': words(`
    date date_add date_part date_subtract date_trunc extract generate_series jsonb_path_exists_tz jsonb_path_match_tz jsonb_path_query_array_tz
    jsonb_path_query_first_tz jsonb_path_query_tz make_timestamptz overlaps time timestamp timestamptz timetz timezone to_timestamp`),
  'the language of the session (of money, numbers and names of months)': words('numeric to_char to_date to_number'),
  'conversions between encodings': words('convert convert_from convert_to length'),
  'how values of their arguments are written as text or JSON': words(`
    array_to_json array_to_string concat concat_ws format json_agg json_agg_strict json_build_array json_build_object json_object_agg
    json_object_agg_strict json_object_agg_unique json_object_agg_unique_strict jsonb_agg jsonb_agg_strict jsonb_build_array
    jsonb_build_object quote_literal quote_nullable row_to_json to_json to_jsonb`),
  'how values of their result are read from JSON': words(`
    json_populate_record json_populate_recordset json_to_record json_to_recordset jsonb_populate_record jsonb_populate_record_valid
    jsonb_populate_recordset jsonb_to_record jsonb_to_recordset`),
  'the names of types': words('pg_typeof'),
};

/** Functions that are not immutable -> what they depend on. */
export const NOT_IMMUTABLE: ReadonlyMap<string, string> = new Map(Object.entries(DEPENDENT).flatMap(([reason, names]) => names.map((name) => [name, reason])));

/** The functions that may be called with an unqualified name, or with the schema pg_catalog. */
export const FUNCTIONS: ReadonlySet<string> = new Set([...IMMUTABLE, ...AGGREGATES, ...NOT_IMMUTABLE.keys()]);

/** True for a function of the list. */
export const isFunction = (name: string): boolean => FUNCTIONS.has(name);

/** The fields of a function's result, if it is a row. */
export const RESULT_ROWS: ReadonlyMap<string, Row> = new Map(
  [...RESULT_COLUMNS].filter(([, columns]) => columns.length > 1).map(([name, columns]) => [name, new Row(columns)]),
);
