/** Random expressions over the columns of hidden-values.ts that raise an error for some values. */
import fc from 'fast-check';

const constant = fc.constantFrom('0', '3', '7', '11', '-1', '1');
export const from = <T>(...of: T[]): fc.Arbitrary<T> => fc.constantFrom(...of);

/** Expressions over one column `§` and a constant `¤` that fail for some value, by the column's kind; each returns a text, so that they combine. */
const OF_NUMBERS = [
  '(1 / (§ - ¤))',
  '(10 % (§ - ¤))',
  '(§ * 9223372036854775807)',
  'sqrt(§)',
  'ln(§ - ¤)',
  '§::smallint',
  'power(§, -1)',
  'chr(§::int)',
  "left('abc', §::int)",
  "repeat('x', §::smallint)",
  "(§::text || 'x')::bigint",
  "(DATE '2020-01-01' + §::int)",
  'make_date(2020, §::int, 1)',
  "to_char(§, '999')",
  'exp(§)',
  'abs(§)',
  '(- §)',
  '(ARRAY[1, 2])[§::int]',
  "lpad('x', §::int)",
  'width_bucket(5, 1, 9, §::int)',
  'round(§::numeric, 2)',
  '§::numeric(3, 1)',
];
const OF_TEXTS = [
  '§::bigint',
  '§::date',
  '§::json',
  "('x' ~ §)",
  "('ab' LIKE §)",
  "to_date(§, 'YYYY-MM-DD')",
  "decode(§, 'hex')",
  '§::uuid',
  '§::boolean',
  '§::double precision',
  "regexp_replace('abc', §, '')",
  '§::numeric(3, 1)',
  'format(§)',
  "to_number(§, '999')",
  "jsonb_path_exists('{}', §::jsonpath)",
  '§::interval',
  '§::timestamp',
  'ascii(§)',
  'length(§)',
  "('x' SIMILAR TO §)",
  '§::int[]',
  "date_trunc(§, DATE '2020-01-01')",
  "('a' > §)",
  'upper(§)',
];
const OF_DAYS = [
  '(§ + 1)',
  '(§ - 2147483647)',
  '§::timestamp',
  "(§ + INTERVAL '9999 years')",
  "to_char(§, 'YYYY')",
  "date_trunc('month', §)",
  'extract(year FROM §)',
  '(§::timestamptz)',
  "(§ - DATE '2020-01-01')",
];
const OF_DOCS = ["(§ ->> 'a')::bigint", "(§ -> 'a')", 'jsonb_array_length(§)', "(§::jsonb -> 'a')", "(§ #>> '{a}')::int", '§::text'];

const OF_FLAGS = ['(NOT §)', '§::int', '(1 / §::int)', '(CASE WHEN § THEN 1 / ¤ ELSE 2 END)', '(§ AND 1 / ¤ > 0)'];
const OF_IDS = [
  "(§ > '00000000-0000-0000-0000-000000000002')",
  "(replace(§::text, '-', '')::numeric)",
  'right(§::text, 1)::int',
  '(1 / (right(§::text, 1)::int - ¤))',
];
const OF_TIMES = [
  "(§ + INTERVAL '1 hour')",
  "(DATE '2020-01-01' + §)",
  'extract(hour FROM §)',
  '(1 / (extract(hour FROM §) - ¤))',
  "to_char(§, 'HH24')",
  '§::interval',
];
const OF_INSTANTS = [
  "(§ + INTERVAL '300000 years')",
  '§::date',
  'extract(epoch FROM §)',
  "date_trunc('hour', §)",
  "(§ AT TIME ZONE 'UTC')",
  "(§ - TIMESTAMP '2020-01-01')",
];
const OF_LISTS = ['(§::int[])[1]', '(1 / (§::int[])[1])', 'cardinality(§::int[])', 'array_length(§::int[], 1)', '(§::int[] || ¤)'];
const OF_BYTES = ["encode(§::bytea, 'hex')", 'length(§)', "convert_from(§::bytea, 'UTF8')", 'get_byte(§::bytea, ¤)'];

const OVER_PATHS = ['reached', 'chased', 'box_content', 'lowest'];
const KINDS: readonly (readonly [columns: readonly string[], templates: readonly string[]])[] = [
  [['n', 'd', 'f', 'code', 'secret', 'inverse'], OF_NUMBERS],
  [['pay', 'wide', 'small', 'g', 'ratio', 'next_n', 'behind', 'followers', ...OVER_PATHS], OF_NUMBERS],
  [['t', 'note', 'state'], OF_TEXTS],
  [['code3', 'mood', 'next_note', 'tags', 'box_state'], OF_TEXTS],
  [['day', 'day_text', 'far'], OF_DAYS],
  [['doc', 'jb'], OF_DOCS],
  [['flag', 'flag_text'], OF_FLAGS],
  [['uid', 'uid_text'], OF_IDS],
  [['tm', 'tm_text'], OF_TIMES],
  [['at'], OF_INSTANTS],
  [['list'], OF_LISTS],
  [['bin'], OF_BYTES],
];
const CALCULATED = new Set(['inverse', 'ratio', 'next_n', 'next_note', 'behind', 'followers', ...OVER_PATHS, 'tags', 'box_state', 'state', 'far']);
/** The columns that the views also have. */
const COMMON = new Set(KINDS.flatMap(([columns]) => columns).filter((c) => !CALCULATED.has(c)));

export type Name = (column: string) => string;
export type Value = (name: Name) => string;

/** An expression as text; `name` prints its columns. */
export const value = (common = false): fc.Arbitrary<Value> =>
  from(...KINDS).chain(([columns, templates]) =>
    fc
      .tuple(
        from(...columns.filter((c) => !common || COMMON.has(c))).filter((c) => c !== undefined),
        from(...templates),
        constant,
        from(0, 0, 0, 1, 2, 3),
      )
      .map(([column, template, k, form]) => {
        const made: Value = (name) => {
          const v = `(${template.replaceAll('§', name(column)).replaceAll('¤', k)})`;
          if (form === 1) return `CASE WHEN ${name('id')} > 4 THEN ${v}::text ELSE 'x' END`;
          if (form === 2) return `coalesce(nullif(${v}::text, 'x'), 'y')`;
          if (form === 3) return `${name(column)}::text`;
          return `${v}::text`;
        };
        return made;
      }),
  );

/** A condition: comparisons of such values, together with harmless ones. */
export const condition = (common = false): fc.Arbitrary<Value> =>
  fc
    .tuple(
      value(common),
      value(common),
      from('% IS NOT NULL', "% > '1'", '% IS DISTINCT FROM @', "% = ANY (ARRAY['x', '1'])", 'length(%::text) > 1', '% IS NULL OR % < @'),
      from('', 'ID > 0 AND ', 'ID > 4 AND ', 'ID < 5 OR ', 'NOT (ID > 4) AND ', 'ID IN (1, 6, 7) AND '),
    )
    .map(
      ([a, b, form, next]): Value =>
        (name) =>
          `(${next.replaceAll('ID', name('id'))}(${form.replaceAll('%', `(${a(name)})`).replaceAll('@', `(${b(name)})`)}))`,
    );
