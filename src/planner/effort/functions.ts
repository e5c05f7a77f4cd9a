/** Functions by what they do to the sizes of values, and those whose calls PostgreSQL does not interrupt. */

const names = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Functions that give a short value. */
export const SHORT = names(`
  abs acos age array_dims array_length array_lower array_ndims array_position array_upper ascii asin atan atan2 avg bit_count bit_length bool_and bool_or
  cardinality cbrt ceil ceiling char_length character_length chr cos cot count crc32 crc32c cume_dist date date_add date_bin date_part date_subtract
  date_trunc degrees dense_rank erf every extract family float4 float8 floor generate_series generate_subscripts get_bit get_byte int2 int4 int8 interval
  is_normalized isempty isfinite json_array_length json_typeof jsonb_array_length jsonb_exists jsonb_path_exists jsonb_path_match jsonb_typeof
  justify_days justify_hours justify_interval length lower_inc lower_inf make_date make_interval make_time make_timestamp make_timestamptz masklen md5
  now ntile num_nonnulls num_nulls numnode octet_length percent_rank pg_typeof pi position radians random rank regexp_count regexp_instr regexp_like
  row_number sha224 sha256 sha384 sha512 sign sin starts_with strpos tan time timestamp timestamptz to_date to_timestamp upper_inc upper_inf
  width_bucket`);

/** Functions whose value is at most as long as their arguments together. */
export const PLAIN = names(`
  any_value array_append array_cat array_prepend array_remove array_replace array_reverse array_to_string btrim casefold coalesce concat concat_ws
  first_value greatest initcap json_extract_path json_extract_path_text jsonb_extract_path jsonb_extract_path_text lag last_value lead least left lower
  ltrim max min mode nth_value nullif overlay percentile_cont percentile_disc regexp_match regexp_matches regexp_split_to_array regexp_split_to_table
  regexp_substr reverse right round rtrim split_part string_to_array string_to_table substr substring sum textlen trim_array trunc unnest upper`);

/** Functions that count the characters of a text. */
export const LENGTHS = names('char_length character_length length octet_length');

/** Aggregates that gather the values of rows. */
export const GATHER = names(`
  array_agg json_agg json_agg_strict json_object_agg json_object_agg_strict json_object_agg_unique json_object_agg_unique_strict jsonb_agg jsonb_agg_strict
  jsonb_object_agg jsonb_object_agg_strict jsonb_object_agg_unique jsonb_object_agg_unique_strict range_agg string_agg`);

/** Functions that compare each byte of the first argument with each of the second, without looking for an interrupt. */
export const EACH_WITH_EACH = names('btrim ltrim rtrim translate');
/** Functions that search the first argument for the second without looking for an interrupt: usually fast, but each with each for texts that are made for it. */
export const SEARCH = names('jsonb_contained jsonb_contains jsonb_delete position replace split_part string_to_array string_to_table strpos');
/** Operators that do so. */
export const SEARCH_OPERATORS = names('- -> ->> ? ?& ?| ~~ !~~ ~~* !~~*');
/** Operators that compare each element or point of one side with each of the other. */
export const EACH_WITH_EACH_OPERATORS = names('&& <@ @> <-> ?# ##');
/** Functions whose time grows with the square of the length of their argument. */
export const SQUARE = names('is_normalized normalize');
/** Functions and operators over decimals: the product of their digits, many times for the second set. */
export const PRODUCT = names('* / % div gcd lcm mod');
export const SERIES = names('^ exp ln log log10 power pow sqrt');
