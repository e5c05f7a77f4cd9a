/**
 * The sizes that the budget of calls assumes for results: PostgreSQL evaluates each allowed function with a result of variable length, over arguments of up to a
 * thousand characters, and no result is much longer than assumed. A function of a new version, or a new one in a list, is in the test without a change.
 */
import type { Node } from '@pgsql/types';
import { afterAll, expect, it } from 'vitest';
import { loadNodeParser } from '../../src/cli/node-parser.ts';
import { Equalities } from '../../src/planner/effort/equalities.ts';
import { Expressions } from '../../src/planner/effort/expressions.ts';
import type { Scope } from '../../src/planner/effort/scope.ts';
import { bytesOf, bytesWithNumbers, type Size } from '../../src/planner/effort/sizes.ts';
import { Spent } from '../../src/planner/effort/spent.ts';
import { ALLOWED_FUNCTIONS } from '../../src/planner/guard/index.ts';
import { memoryDatabase } from '../support/databases/memory.ts';

const ROWS = 300;
/** Arguments by type. A literal of a type would do for all types, but results grow with the length of arguments. */
const SAMPLES: Readonly<Record<string, readonly string[]>> = {
  text: ["repeat('a', 1000)", `repeat('"''\\', 100)`, "'a'", "''", "','", "'g'"],
  varchar: ["repeat('a', 1000)::varchar"],
  bpchar: ["repeat('a', 1000)::bpchar"],
  name: ["'a'::name"],
  bytea: ["repeat('a', 1000)::bytea", "'\\x00ff'::bytea"],
  int2: ['7::int2'],
  int4: ['300', '1', '0', '-1'],
  int8: ['300::int8', '1::int8'],
  float8: ['1e300::float8', '0.5::float8'],
  float4: ['1e30::float4'],
  numeric: ['300::numeric', '1.5', '0.001', '-3.25'],
  bool: ['true', 'false'],
  bit: ["repeat('10', 150)::varbit::bit(300)"],
  varbit: ["repeat('10', 150)::varbit"],
  json: [`to_json(repeat('"', 300))`, 'to_json(array_fill(1, ARRAY[300]))', `'{"a": [1, 2, {"b": null}]}'::json`],
  jsonb: [`to_jsonb(repeat('"', 300))`, 'to_jsonb(array_fill(1, ARRAY[300]))', `'{"a": [1, 2, {"b": null}]}'::jsonb`, `'[1, {"a": 2}]'::jsonb`],
  jsonpath: ["'$'::jsonpath", "'$[*]'::jsonpath"],
  anyarray: ["array_fill('x'::text, ARRAY[300])", 'array_fill(NULL::text, ARRAY[300])', "array_fill(''::text, ARRAY[20, 20])"],
  anycompatiblearray: ["array_fill('x'::text, ARRAY[300])", 'array_fill(NULL::text, ARRAY[300])'],
  _text: ["array_fill('x'::text, ARRAY[300])", "array_fill('\"'::text, ARRAY[300])", "ARRAY['a', 'b']", "string_to_array(repeat('\"', 300), NULL)"],
  _int4: ['ARRAY[300]', 'ARRAY[20, 20]', 'array_fill(7, ARRAY[300])'],
  anyelement: ["repeat('a', 1000)", "'x'::text", 'NULL::text', "ROW(repeat('\"', 300), 1)"],
  anycompatible: ["repeat('a', 1000)", "'x'::text", 'NULL::text'],
  anynonarray: ["repeat('a', 1000)", "'x'::text"],
  any: ["repeat('a', 1000)", "repeat('\"', 300)", "ARRAY['x', '\"']", "ROW(repeat('\"', 300), 1)", '1'],
  record: ["ROW(repeat('\"', 300), 1)"],
  tsvector: ["array_to_tsvector(ARRAY['a', 'b', repeat('''', 300)])", "repeat('a b1 ', 100)::tsvector"],
  tsquery: ["'a & b'::tsquery", "(repeat('a & ', 100) || 'b')::tsquery"],
  timestamptz: ["'2020-01-01 00:00:00.123456+00'::timestamptz"],
  timestamp: ["'2020-01-01 00:00:00.123456'::timestamp"],
  date: ["'2020-01-01'::date"],
  time: ["'01:02:03.123456'::time"],
  interval: ["'1 year 2 months 3 days 04:05:06.789'::interval"],
  uuid: ["'00000000-0000-0000-0000-000000000000'::uuid"],
  inet: ["'::1'::inet", "'10.0.0.1/24'::inet"],
  cidr: ["'10.0.0.0/8'::cidr"],
  point: ["'(1,2)'::point"],
  box: ["'(1,2),(3,4)'::box"],
  circle: ["'<(1,2),3>'::circle"],
  lseg: ["'[(1,2),(3,4)]'::lseg"],
  path: ["'[(1.5,2),(3,4)]'::path"],
  polygon: ["'((1,2),(3,4),(5,6))'::polygon"],
  int4range: ["'[1,5)'::int4range"],
  anyrange: ["'[1,5)'::int4range"],
  anymultirange: ["'{[1,5),[7,9)}'::int4multirange"],
  int4multirange: ["'{[1,5),[7,9)}'::int4multirange"],
};
/** Arguments that only one function accepts. */
const ARGUMENTS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  encode: { text: ["'hex'", "'escape'", "'base64'"] },
  decode: { text: ["repeat('ab', 300)", "'hex'", "'escape'"] },
  convert: { name: ["'UTF8'", "'LATIN1'"] },
  convert_from: { name: ["'UTF8'", "'LATIN1'"] },
  convert_to: { name: ["'UTF8'"] },
  normalize: { text: ["repeat('a', 1000)", "'NFD'"] },
  setweight: { char: ["'A'"] },
  ts_filter: { _char: [`'{a,b}'::"char"[]`] },
};
/** Combinations of arguments for each function. */
const CALLS = 60;

const parser = await loadNodeParser();
const db = await memoryDatabase();
afterAll(() => db.close());

const spent = new Spent(() => undefined);
const expressions = new Expressions([], spent, () => ({ columns: new Map(), rows: 1, arms: 1 }));

function sizeOf(expression: string, columns?: ReadonlyMap<string, Size>): Size {
  const [raw] = parser.parse(`SELECT ${expression}`).stmts;
  if (!raw?.stmt || !('SelectStmt' in raw.stmt)) throw new Error('it is one SELECT');
  const [item] = raw.stmt.SelectStmt.targetList ?? [];
  const rows = columns ? ROWS : 1;
  const scope: Scope = {
    relations: new Map(columns ? [['v', columns]] : []),
    ctes: new Map(),
    outer: undefined,
    rows,
    own: rows,
    arms: 1,
    joined: 1,
    equal: new Equalities(undefined),
  };
  return spent.paused(() => expressions.size((item as { ResTarget: { val: Node } }).ResTarget.val, scope));
}

/** Some combinations of one value of each list. */
function combinations(lists: readonly (readonly string[])[]): string[][] {
  const all = lists.reduce((n, list) => n * list.length, 1);
  const step = Math.max(1, Math.floor(all / CALLS)) | 1;
  return Array.from({ length: Math.min(all, CALLS) }, (_, i) => {
    let at = (i * step) % all;
    return lists.map((list) => {
      const value = list[at % list.length] as string;
      at = Math.floor(at / list.length);
      return value;
    });
  });
}

/** The length of the longest result; undefined if PostgreSQL refuses the call. */
async function lengthOf(select: string): Promise<number | undefined> {
  try {
    const { rows } = await db.query<{ n: number | null }>(`SELECT max(octet_length(q.x::text)) AS n FROM (${select}) AS q(x)`);
    return rows[0]?.n ?? 0;
  } catch {
    return undefined;
  }
}

interface Signature {
  readonly name: string;
  readonly isAggregate: boolean;
  readonly variadic: 'array' | 'any' | 'no';
  readonly types: readonly string[];
}

/** A result may be longer than assumed by this many bytes: hashes, and points with many digits. It must be shorter than the texts. */
const SLACK = 300;

/** Evaluates an expression. @returns `expression: length > assumed` if the result is longer; undefined if PostgreSQL refuses it */
async function compared(call: string, from = '', columns?: ReadonlyMap<string, Size>): Promise<string[] | undefined> {
  const real = await lengthOf(`SELECT ${call}${from}`);
  if (real === undefined) return undefined;
  const assumed = bytesOf(sizeOf(call, columns), 1_000);
  return assumed < 0 || real > assumed + SLACK ? [`${call}${from}: ${real} > ${assumed}`] : [];
}

/** The results of calls that PostgreSQL does not refuse. */
async function resultsOf({ name, isAggregate, variadic, types }: Signature): Promise<string[][]> {
  const results: (string[] | undefined)[] = [];
  const lists = types.map((t) => ARGUMENTS[name]?.[t] ?? SAMPLES[t] ?? []);
  for (const args of combinations(lists)) {
    const called = variadic === 'array' ? [...args.slice(0, -1), `VARIADIC ${args.at(-1)}`] : args;
    if (!isAggregate) results.push(await compared(`${name}(${called.join(', ')})`));
    else {
      const from = ` FROM (SELECT ${args.map((a, i) => `${a} AS c${i}`).join(', ')} FROM generate_series(1, ${ROWS})) AS v`;
      results.push(await compared(`${name}(${args.map((_, i) => `v.c${i}`).join(', ')})`, from, new Map(args.map((a, i) => [`c${i}`, sizeOf(a)]))));
    }
  }
  return results.filter((r) => r !== undefined);
}

it('functions', async () => {
  const { rows } = await db.query<Signature>(`
    SELECT p.proname AS name, p.prokind = 'a' AS "isAggregate",
      CASE p.provariadic WHEN 0 THEN 'no' WHEN '"any"'::regtype THEN 'any' ELSE 'array' END AS variadic,
      ARRAY(SELECT t.typname::text FROM unnest(p.proargtypes) WITH ORDINALITY a(oid, n) JOIN pg_type t ON t.oid = a.oid ORDER BY n) AS types
    FROM pg_proc p JOIN pg_type r ON r.oid = p.prorettype
    WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind IN ('f', 'a') AND p.pronargs > 0 AND (r.typlen < 0 OR r.typtype = 'p')`);
  const tested = rows.filter(({ name }) => ALLOWED_FUNCTIONS.has(name));
  const found: string[] = [];
  const called = new Set<string>();
  for (const signature of tested) {
    const results = await resultsOf(signature);
    if (results.length > 0) called.add(signature.name);
    found.push(...results.flat());
  }
  expect(found).toEqual([]);
  // the others need arguments of other types
  expect(called.size).toBeGreaterThan(100);
});

/** Texts that are numbers with many more digits than they have characters, by themselves and in documents. */
const LONG_NUMBERS = [
  "('1e' || '5000')",
  "concat('-1', 'e5000')",
  "replace('1x5000', 'x', 'e')",
  "('{1e5000,' || '2e5000}')",
  `('{"a":1e' || '5000}')`,
  "('[1e5000,' || ')')",
  "'{1e5000}'",
  "'[1e5000, 2e5000]'",
];
const TYPES =
  'text varchar varchar(5) bpchar char(500) bit(300) varbit numeric numeric(20,5) jsonb json text[] char(500)[] numeric[] numeric(20,5)[] numrange bytea int4 float8 name timestamptz interval';
const OPERATORS = '|| + - * / % ^ -> ->> #> #>> #- & | # << >>';

it('casts and operators', async () => {
  const samples = [...new Set(Object.values(SAMPLES).flat()), ...LONG_NUMBERS];
  const found: string[] = [];
  const counts = { casts: 0, operations: 0 };
  const check = async (kind: keyof typeof counts, expression: string): Promise<void> => {
    const real = await lengthOf(`SELECT ${expression}`);
    if (real === undefined) return;
    counts[kind]++;
    const assumed = bytesWithNumbers(sizeOf(expression), 1_000);
    if (real > assumed + SLACK) found.push(`${expression}: ${real} > ${assumed}`);
  };
  for (const sample of samples) for (const type of TYPES.split(' ')) await check('casts', `(${sample})::${type}`);
  const operands = ['text', 'numeric', 'int4', 'float8', 'json', 'jsonb', '_text', 'bit', 'varbit'].flatMap((t) => SAMPLES[t] ?? []);
  const numbers = LONG_NUMBERS.slice(0, 3).map((n) => `${n}::numeric`);
  for (const operator of OPERATORS.split(' '))
    for (const left of [...operands, ...numbers, `${LONG_NUMBERS[4]}::jsonb`])
      for (const right of [...operands.filter((_, i) => i % 2 === 0), ...numbers]) await check('operations', `(${left}) ${operator} (${right})`);
  expect(found).toEqual([]);
  expect(counts.casts).toBeGreaterThan(300);
  expect(counts.operations).toBeGreaterThan(300);
});
