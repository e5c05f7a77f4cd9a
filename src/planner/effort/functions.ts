/**
 * Functions, operators and types, grouped by the size of their results, and by the time of one call in PostgreSQL. A function in none of the lists of times counts as if it
 * compared each byte of its arguments with each other byte.
 */

/** The set of the words of a text. */
export const names = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Functions that return a short value. */
export const SHORT = names(`
  acos age array_dims array_length array_lower array_ndims array_position array_upper ascii asin atan atan2 bit_count bit_length bool_and bool_or
  cardinality cbrt char_length character_length chr cos cot count crc32 crc32c cume_dist date date_add date_bin date_part date_subtract
  date_trunc degrees dense_rank erf every extract family float4 float8 generate_subscripts get_bit get_byte int2 int4 int8 interval
  is_normalized isempty isfinite json_array_length json_typeof jsonb_array_length jsonb_exists jsonb_path_exists jsonb_path_match jsonb_typeof
  justify_days justify_hours justify_interval length lower_inc lower_inf make_date make_interval make_time make_timestamp make_timestamptz masklen md5
  now ntile num_nonnulls num_nulls numnode octet_length percent_rank pg_typeof pi position radians random rank regexp_count regexp_instr regexp_like
  row_number sha224 sha256 sha384 sha512 sign sin starts_with strpos tan time timestamp timestamptz to_date to_timestamp upper_inc upper_inf
  width_bucket`);

/** Functions whose result is at most as long as all arguments together. */
export const PLAIN = names(`
  any_value array_append array_cat array_prepend array_remove array_reverse btrim casefold coalesce concat 
  first_value greatest initcap json_extract_path json_extract_path_text jsonb_extract_path jsonb_extract_path_text lag last_value lead least left lower
  ltrim max min mode nth_value nullif overlay percentile_cont percentile_disc regexp_split_to_table
  regexp_substr reverse right round rtrim split_part string_to_table substr substring sum textlen trim_array trunc unnest upper`);

/** Functions on numbers, dates or rows whose result is about as long as the longest argument. */
export const NUMERIC = names('abs avg ceil ceiling floor generate_series');

/** Functions that return parts of a text as an array. */
export const SPLITTING = names('regexp_match regexp_matches regexp_split_to_array string_to_array');

/** Functions on numbers, or that return one of their arguments or a part of one: they compose no text. */
export const KEEPING = names(`
  abs any_value array_append array_cat array_prepend array_remove array_reverse array_sample array_shuffle array_sort array_to_json avg btrim casefold ceil ceiling
  coalesce div exp factorial first_value floor gcd generate_series greatest initcap json_array_elements json_array_elements_text json_each json_each_text
  json_extract_path json_extract_path_text json_object_keys json_strip_nulls jsonb_array_elements jsonb_array_elements_text jsonb_each jsonb_each_text
  jsonb_extract_path jsonb_extract_path_text jsonb_object_keys jsonb_strip_nulls lag last_value lcm lead least left ln log log10 lower ltrim max min min_scale mod
  mode nth_value nullif percentile_cont percentile_disc pow power regexp_match regexp_matches regexp_split_to_array regexp_split_to_table regexp_substr right
  round rtrim scale split_part sqrt stddev stddev_pop stddev_samp string_to_array string_to_table substr substring sum to_number trim_array trim_scale trunc unnest
  upper var_pop var_samp variance`);

/** Functions that put one of their arguments into a text. */
export const REPLACING = names('regexp_replace replace translate');

/** Functions that count the characters of a text. */
export const LENGTHS = names('char_length character_length length octet_length');

/** Functions that are fast for long values (they compare or copy their arguments once), or that PostgreSQL can interrupt. */
export const FREE = names(`
  abs acos acosd acosh age any_value array_append array_cat array_dims array_fill array_length array_lower array_ndims array_prepend array_upper ascii asin
  asind asinh atan atan2 atan2d atand atanh avg bit_and bit_length bit_or bit_xor bool_and bool_or broadcast cardinality cbrt ceil ceiling char_length
  character_length chr clock_timestamp coalesce concat concat_ws corr cos cosd cosh cot cotd count covar_pop covar_samp cume_dist date date_add date_bin
  date_part date_subtract date_trunc daterange degrees dense_rank erf erfc every extract factorial family first_value float4 float8 floor gamma
  gen_random_uuid generate_series generate_subscripts get_bit get_byte greatest host hostmask inet_merge inet_same_family int2 int4 int4range int8 int8range
  interval isempty isfinite justify_days justify_hours justify_interval lag last_value lead least left length lgamma lower_inc lower_inf macaddr8_set7bit
  make_date make_interval make_time make_timestamp make_timestamptz masklen max min min_scale mode netmask network now nth_value ntile num_nonnulls num_nulls
  numnode numrange octet_length overlaps overlay percent_rank percentile_cont percentile_disc pg_typeof pi point radians random random_normal rank
  regexp_count regexp_instr regexp_like regexp_match regexp_matches regexp_replace regexp_split_to_array regexp_split_to_table regexp_substr regr_avgx
  regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy right round row_number scale set_masklen sign sin sind sinh
  starts_with statement_timestamp stddev stddev_pop stddev_samp substr substring sum tan tand tanh text textlen time timeofday timestamp timestamptz timetz
  timezone transaction_timestamp trim_array trim_scale trunc tsrange tstzrange unnest upper_inc upper_inf uuid_extract_timestamp uuid_extract_version uuidv4
  uuidv7 var_pop var_samp varchar variance width_bucket`);

/** Functions with a time linear in the length of their arguments. */
export const LINEAR = names(`
  abbrev area array_position array_positions array_remove array_replace array_reverse array_sample array_shuffle array_sort array_to_json array_to_string
  array_to_tsvector bit bit_count bool bound_box box bpchar bytea casefold center char cidr circle convert convert_from convert_to crc32 crc32c datemultirange
  decode diagonal diameter encode format height initcap int4multirange int8multirange isclosed ishorizontal isopen isparallel isperp isvertical
  json_array_elements json_array_elements_text json_array_length json_build_array json_build_object json_each json_each_text json_extract_path
  json_extract_path_text json_object json_object_keys json_populate_record json_populate_recordset json_strip_nulls json_to_record json_to_recordset
  json_typeof jsonb_array_elements jsonb_array_elements_text jsonb_array_length jsonb_build_array jsonb_build_object jsonb_concat jsonb_delete_path jsonb_each
  jsonb_each_text jsonb_exists jsonb_exists_all jsonb_exists_any jsonb_extract_path jsonb_extract_path_text jsonb_insert jsonb_object jsonb_object_keys
  jsonb_populate_record jsonb_populate_record_valid jsonb_populate_recordset jsonb_set jsonb_set_lax jsonb_strip_nulls jsonb_to_record jsonb_to_recordset
  jsonb_typeof like_escape line lower lpad lseg macaddr md5 multirange name npoints numeric nummultirange path pclose polygon popen quote_ident quote_literal
  quote_nullable radius range_merge repeat reverse row_to_json rpad set_bit set_byte sha224 sha256 sha384 sha512 slope strip to_ascii to_bin to_hex to_json
  to_jsonb to_oct tsmultirange tstzmultirange tsvector_to_array unicode_assigned unistr upper varbit width`);

/** Those of them that write their arguments as JSON. */
export const JSON_WRITERS = names('array_to_json json_build_array json_build_object jsonb_build_array jsonb_build_object row_to_json to_json to_jsonb');

/** Aggregates that collect the values of rows. */
export const COLLECTING = names(`
  array_agg json_agg json_agg_strict json_object_agg json_object_agg_strict json_object_agg_unique json_object_agg_unique_strict jsonb_agg jsonb_agg_strict
  jsonb_object_agg jsonb_object_agg_strict jsonb_object_agg_unique jsonb_object_agg_unique_strict range_agg string_agg`);

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
