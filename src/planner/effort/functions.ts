/**
 * Functions, operators and types, grouped by the size of their results, and by the time of one call in PostgreSQL. A function in none of the lists of times counts as if it
 * compared each byte of its arguments with each other byte.
 */

import { FOLDING } from '../guard/index.ts';

/** The set of the words of a text. `jsonb?_x` is two words, `json_x` and `jsonb_x`. */
export const names = (text: string): ReadonlySet<string> => new Set(`${text} ${text.replaceAll('b?', '')}`.replaceAll('b?', 'b').trim().split(/\s+/));

/** Names that several lists have. */
const FREE_AND_SHORT = `
  acos age array_dims array_length array_lower array_ndims array_upper ascii asin atan atan2 bit_length bool_and bool_or cardinality cbrt char_length
  character_length chr cos cot count cume_dist date date_add date_bin date_part date_subtract date_trunc degrees dense_rank erf every extract family float4
  float8 generate_subscripts get_bit get_byte int2 int4 int8 interval isempty isfinite justify_days justify_hours justify_interval length lower_inc lower_inf
  make_date make_interval make_time make_timestamp make_timestamptz masklen now ntile num_nonnulls num_nulls numnode octet_length percent_rank pg_typeof pi
  radians random rank regexp_count regexp_instr regexp_like row_number sign sin starts_with tan time timestamp timestamptz upper_inc upper_inf width_bucket`;
const KEPT = `
  any_value array_append array_cat array_prepend array_remove array_reverse btrim casefold coalesce first_value greatest initcap jsonb?_extract_path
  jsonb?_extract_path_text lag last_value lead least left lower ltrim max min mode nth_value nullif percentile_cont percentile_disc regexp_split_to_table
  regexp_substr right round rtrim split_part string_to_table substr substring sum trim_array trunc unnest upper`;

/** Functions that return a short value. */
export const SHORT = names(`${FREE_AND_SHORT}
  array_position bit_count crc32 crc32c is_normalized jsonb?_array_length jsonb?_typeof jsonb_exists jsonb_path_exists jsonb_path_match md5 position sha224
  sha256 sha384 sha512 strpos to_date to_timestamp`);

/** Functions whose result is at most as long as all arguments together. */
export const PLAIN = names(`${KEPT} concat overlay reverse textlen`);

/** Functions on numbers, dates or rows whose result is about as long as the longest argument. */
export const NUMERIC = names('abs avg ceil ceiling floor generate_series');

/** Functions that return parts of a text as an array. */
export const SPLITTING = names('regexp_match regexp_matches regexp_split_to_array string_to_array');

/** Functions on numbers, or that return one of their arguments or a part of one: they compose no text. */
export const KEEPING = names(`${KEPT}
  abs array_sample array_shuffle array_sort array_to_json avg ceil ceiling div exp factorial floor gcd generate_series jsonb?_array_elements
  jsonb?_array_elements_text jsonb?_each jsonb?_each_text jsonb?_object_keys jsonb?_strip_nulls lcm ln log log10 min_scale mod pow power regexp_match
  regexp_matches regexp_split_to_array scale sqrt stddev stddev_pop stddev_samp string_to_array to_number trim_scale var_pop var_samp variance`);

/** Functions that put one of their arguments into a text. */
export const REPLACING = names('regexp_replace replace translate');

/** Functions that count the characters of a text. */
export const LENGTHS = names('char_length character_length length octet_length');

/** Functions that are fast for long values (they compare or copy their arguments once), or that PostgreSQL can interrupt. */
export const FREE: ReadonlySet<string> = new Set([
  ...FOLDING,
  ...names(`${FREE_AND_SHORT}
  abs acosd acosh array_append array_cat array_fill array_prepend asind asinh atan2d atand atanh broadcast ceil ceiling clock_timestamp coalesce concat
  concat_ws cosd cosh cotd daterange erfc factorial floor gamma gen_random_uuid generate_series greatest host hostmask inet_merge inet_same_family
  int4range int8range least left lgamma macaddr8_set7bit min_scale netmask network numrange overlaps overlay point random_normal regexp_match
  regexp_matches regexp_replace regexp_split_to_array regexp_split_to_table regexp_substr right round scale set_masklen sind sinh statement_timestamp
  substr substring tand tanh text textlen timeofday timetz timezone transaction_timestamp trim_array trim_scale trunc tsrange tstzrange unnest
  uuid_extract_timestamp uuid_extract_version uuidv4 uuidv7 varchar`),
]);

/** Functions with a time linear in the length of their arguments. */
export const LINEAR = names(`
  abbrev area array_position array_positions array_remove array_replace array_reverse array_sample array_shuffle array_sort array_to_json array_to_string
  array_to_tsvector bit bit_count bool bound_box box bpchar bytea casefold center char cidr circle convert convert_from convert_to crc32 crc32c
  datemultirange decode diagonal diameter encode format height initcap int4multirange int8multirange isclosed ishorizontal isopen isparallel isperp
  isvertical jsonb?_array_elements jsonb?_array_elements_text jsonb?_array_length jsonb?_build_array jsonb?_build_object jsonb?_each jsonb?_each_text
  jsonb?_extract_path jsonb?_extract_path_text jsonb?_object jsonb?_object_keys jsonb?_populate_record jsonb?_populate_recordset jsonb?_strip_nulls
  jsonb?_to_record jsonb?_to_recordset jsonb?_typeof jsonb_concat jsonb_delete_path jsonb_exists jsonb_exists_all jsonb_exists_any jsonb_insert
  jsonb_populate_record_valid jsonb_set jsonb_set_lax like_escape line lower lpad lseg macaddr md5 multirange name npoints numeric nummultirange path pclose
  polygon popen quote_ident quote_literal quote_nullable radius range_merge repeat reverse row_to_json rpad set_bit set_byte sha224 sha256 sha384 sha512
  slope strip to_ascii to_bin to_hex to_json to_jsonb to_oct tsmultirange tstzmultirange tsvector_to_array unicode_assigned unistr upper varbit width`);

/** Those of them that write their arguments as JSON. */
export const JSON_WRITERS = names('array_to_json json_build_array json_build_object jsonb_build_array jsonb_build_object row_to_json to_json to_jsonb');

/** Aggregates that collect the values of rows. */
export const COLLECTING = names(`
  array_agg jsonb?_agg jsonb?_agg_strict jsonb?_object_agg jsonb?_object_agg_strict jsonb?_object_agg_unique jsonb?_object_agg_unique_strict range_agg
  string_agg`);

/** Functions that compare each byte of the first argument with each byte of the second, and do not check for interrupts. */
export const PAIRWISE = names('btrim ltrim rtrim translate');
/** Functions that search the first argument for the second, and do not check for interrupts. They are usually fast, but have quadratic time for some texts. */
export const SEARCH = names('jsonb_contained jsonb_contains jsonb_delete position replace split_part string_to_array string_to_table strpos');
/** Operators of the same kind. */
export const SEARCH_OPERATORS = names('- -> ->> ? ?& ?| ~~ !~~ ~~* !~~*');
/** Operators that compare each element or point of one operand with each of the other. */
export const PAIRWISE_OPERATORS = names('&& <@ @> <-> ?# ##');
/** Functions with a time quadratic in the length of their argument. */
export const QUADRATIC = names('is_normalized normalize');
/** Functions and operators on decimals. The time is proportional to the product of their numbers of digits, with a much larger factor for the second list. */
export const PRODUCT = names('* / % div gcd lcm mod');
export const SERIES = names('^ exp ln log log10 power pow sqrt');

/** Functions and operators with a JSON path. A comparison of two parts of the path that select several values compares all pairs. */
export const JSON_PATHS = names(`
  jsonb_path_exists jsonb_path_exists_tz jsonb_path_match jsonb_path_match_tz jsonb_path_query jsonb_path_query_array jsonb_path_query_array_tz
  jsonb_path_query_first jsonb_path_query_first_tz jsonb_path_query_tz @? @@`);

/** Operators that are fast for long values (they compare or copy their operands once), or that PostgreSQL can interrupt. */
export const FREE_OPERATORS = names('= <> != < > <= >= + - -> ->> ? ?& ?| || ~ ~* !~ !~* *< *<= *<> *= *> *>= ~<~ ~<=~ ~>~ ~>=~ ^@ @ |/ ||/ & | #> #>> #-');

/** Types to which a cast takes more than linear time. */
export const SLOW_TYPES = names('tsvector tsquery jsonpath');
/** Types to which a cast is fast. */
export const FREE_TYPES = names('text varchar bpchar char name');

/** Functions whose result has as many digits as a number says. */
export const POWERS = names('exp pow power');
export const DIGITS = names('exp factorial pow power round trunc');

/** Functions that repeat a text as often as an argument says. */
export const REPEATING = names('repeat lpad rpad');
/** The kinds of expressions that call an operator. */
export const OPERATIONS = names('AEXPR_OP AEXPR_OP_ANY AEXPR_OP_ALL');
