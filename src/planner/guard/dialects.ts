/** PostgreSQL's equivalents of functions of other SQL dialects, for hints. The list does not allow or rewrite functions. */

/** The hints, each with the functions that it applies to. */
export const EQUIVALENTS: readonly (readonly [hint: string, functions: string])[] = [
  ['Write extract(year FROM d).', 'year'],
  ['Write extract(month FROM d).', 'month monthofyear'],
  ['Write extract(day FROM d).', 'day dayofmonth'],
  ['Write extract(hour FROM t).', 'hour'],
  ['Write extract(minute FROM t).', 'minute'],
  ['Write extract(second FROM t).', 'second'],
  ['Write extract(quarter FROM d).', 'quarter'],
  ['Write extract(week FROM d), which numbers weeks as ISO 8601 does.', 'week weekofyear iso_week'],
  ['Write extract(dow FROM d), 0 for Sunday, or extract(isodow FROM d), 1 for Monday.', 'dayofweek weekday day_of_week'],
  ['Write extract(doy FROM d).', 'dayofyear'],
  ["Write extract(year FROM d), or date_part('year', d).", 'datepart'],
  ["Write to_char(d, 'Day') or to_char(d, 'Month').", 'datename dayname monthname'],
  [
    "Write to_char(d, 'YYYY-MM-DD'): the patterns differ from those of strftime.",
    'date_format format_date format_datetime format_timestamp strftime formatdatetime',
  ],
  [
    "Write to_date(text, 'YYYY-MM-DD') or to_timestamp(text, 'YYYY-MM-DD HH24:MI:SS').",
    'str_to_date parse_date parse_datetime parse_timestamp strptime todate',
  ],
  ['Write coalesce(value, other).', 'ifnull isnull nvl zeroifnull'],
  ['Write CASE WHEN value IS NOT NULL THEN a ELSE b END.', 'nvl2'],
  [
    'Subtract the dates: d2 - d1 is a number of days. For other units write extract(epoch FROM t2 - t1), or age(t2, t1).',
    'datediff date_diff timestampdiff timestamp_diff time_diff days_between months_between datetime_diff',
  ],
  ["Add an interval: d + interval '1 day'.", 'dateadd adddate timestampadd add_months add_days addtime datetime_add timestamp_add'],
  ["Subtract an interval: d - interval '1 day'.", 'subdate datetime_sub timestamp_sub date_sub'],
  ['Write now() or current_timestamp.', 'getdate sysdate systimestamp sysdatetime getutcdate utc_timestamp current_datetime'],
  ['Write current_date.', 'curdate today'],
  ['Write current_time.', 'curtime'],
  ["Write (date_trunc('month', d) + interval '1 month - 1 day')::date.", 'last_day eomonth'],
  ['Write make_date(year, month, day).', 'datefromparts'],
  ["Write date_trunc('month', d).", 'datetrunc timestamp_trunc datetime_trunc'],
  ['Write extract(epoch FROM t).', 'unix_timestamp unix_seconds to_unixtime to_unix_timestamp'],
  ['Write to_timestamp(seconds).', 'from_unixtime timestamp_seconds'],
  ["Write t AT TIME ZONE 'Europe/Paris'.", 'convert_tz convert_timezone from_utc_timestamp to_utc_timestamp'],
  ['Write length(text).', 'len charlength'],
  ['Write octet_length(text).', 'lengthb datalength'],
  ['Write strpos(text, part).', 'charindex instr locate patindex'],
  ['Write upper(text).', 'ucase toupper'],
  ['Write lower(text).', 'lcase tolower'],
  ['Write substr(text, start, count).', 'mid'],
  ['Write repeat(text, n).', 'replicate'],
  ["Write repeat(' ', n).", 'space'],
  ['Write text ~ pattern.', 'regexp_contains regexp rlike'],
  ['Write substring(text FROM pattern).', 'regexp_extract'],
  ["Write split_part(text, ',', n), or string_to_array(text, ',').", 'substring_index split'],
  ['Write starts_with(text, part).', 'startswith'],
  ["Write text LIKE '%' || part.", 'endswith ends_with'],
  ['Write strpos(text, part) > 0.', 'contains contains_substr'],
  ['Write CASE WHEN condition THEN a ELSE b END.', 'iif if iff'],
  ["Write string_agg(value::text, ',').", 'group_concat listagg wm_concat string_concat'],
  ['Write count(*) FILTER (WHERE condition).', 'countif count_if'],
  ['Write sum(value) FILTER (WHERE condition).', 'sumif sum_if'],
  ['Write avg(value) FILTER (WHERE condition).', 'avgif avg_if averageif'],
  ['Write count(DISTINCT value).', 'approx_count_distinct approx_distinct countd uniq ndv'],
  ['Write percentile_cont(0.5) WITHIN GROUP (ORDER BY value).', 'median approx_percentile approx_quantiles quantile'],
  ['Write any_value(value) (PostgreSQL 16), min(value), or array_agg(value) for all values.', 'arbitrary'],
  ['Write (array_agg(value ORDER BY other DESC))[1].', 'argmax max_by arg_max'],
  ['Write (array_agg(value ORDER BY other))[1].', 'argmin min_by arg_min'],
  ['Write array_agg(value).', 'collect_list collect_set'],
  ['Write a / nullif(b, 0).', 'safe_divide div0 divide'],
  ['Write trunc(number, digits).', 'truncate'],
  ['Write random().', 'rand'],
  [
    "Write value ->> 'name', or jsonb_path_query_first(value, '$.name').",
    'json_extract json_extract_scalar json_extract_string get_json_object json_unquote openjson',
  ],
  ['Write cast(value AS type); a text that is no such value raises an error.', 'try_cast safe_cast try_convert convert_type tostring toint'],
  ['Write value::text.', 'to_string str tovarchar to_varchar'],
  ['Write value::integer or value::numeric.', 'to_int to_integer to_double to_decimal toint32 tofloat64'],
  ['Write unnest(array) in FROM.', 'explode flatten'],
  ['Write cardinality(array).', 'array_size size'],
  ['Write value = ANY (array).', 'array_contains has list_contains'],
  ['Write array_to_string(array, separator).', 'array_join'],
];

/** PostgreSQL's equivalents of operators of other dialects. */
export const OPERATORS_MEANT: Readonly<Record<string, string>> = {
  '==': 'Write =.',
  '===': 'Write =.',
  '!==': 'Write <>.',
  '<=>': 'Write IS NOT DISTINCT FROM.',
};

/** Functions that PostgreSQL has with other arguments than other dialects. */
const OTHER_ARGUMENTS: Readonly<Record<string, string>> = {
  convert: 'Write cast(value AS type).',
  date_add: "Add an interval: d + interval '1 day'.",
  date_trunc: "Write date_trunc('month', d).",
  decode: 'Write CASE WHEN condition THEN a ELSE b END.',
  extract: 'Write extract(year FROM d::date).',
  format: "Write to_char(number, 'FM999,999,990.00').",
  round: 'Write round(number::numeric, digits).',
  to_date: 'Write value::date.',
  to_number: 'Write value::numeric.',
  to_timestamp: 'Write value::timestamp.',
  trunc: "Write date_trunc('month', d), or trunc(number::numeric, digits).",
};

const HINTS: ReadonlyMap<string, string> = new Map(
  EQUIVALENTS.flatMap(([hint, functions]) => functions.split(' ').map((name) => [name.toLowerCase(), hint] as const)),
);

/** The PostgreSQL equivalent of a function of another dialect; undefined for an unknown name. @param name in lower case */
export const equivalentOf = (name: string): string | undefined => HINTS.get(name);

/** The function that has a unit or a type without quotes as its last argument: to PostgreSQL that is a column. */
function callWithUnit(unit: string | undefined, text: string): string | undefined {
  if (unit === undefined) return undefined;
  const end = [`, ${unit})`, `, "${unit}")`].map((last) => text.indexOf(last)).find((at) => at >= 0);
  if (end === undefined) return undefined;
  const began = (name: string): number => text.lastIndexOf(`${name}(`, end);
  const name = began('convert') > began('date_trunc') ? 'convert' : 'date_trunc';
  return began(name) < 0 ? undefined : name;
}

/**
 * The PostgreSQL equivalent of a call whose function PostgreSQL has, but not with these arguments.
 * @param message what PostgreSQL says about the text
 */
export function equivalentOfCall(message: string, text: string): string | undefined {
  const name = /^function (?:pg_catalog\.)?(\w+)\(/.exec(message)?.[1] ?? callWithUnit(/^column "(\w+)" does/.exec(message)?.[1], text.toLowerCase());
  return name !== undefined && Object.hasOwn(OTHER_ARGUMENTS, name) ? OTHER_ARGUMENTS[name] : undefined;
}
