import { describe, expect, it } from 'vitest';
import { loadNodeParser } from '../../../src/cli/node-parser.ts';
import { badRequest, SvcError } from '../../../src/errors.ts';
import {
  ALLOWED_FUNCTIONS,
  type Fail,
  type GuardFacts,
  type GuardOptions,
  guardSelect,
  isAggregate,
  isVolatileFunction,
  isWindow,
  usesClock,
} from '../../../src/planner/guard/index.ts';
import { NODES } from '../../../src/planner/guard/nodes.ts';
import { RESOLVES } from '../../../src/planner/guard/resolves.ts';
import { ACCEPTED } from './corpus/accepted.ts';
import { MODEL } from './corpus/model.ts';
import { GUARD_CODES, REFUSED } from './corpus/refused.ts';

const parser = await loadNodeParser();

/** Keeps the `location` of the guard as the offset of the error. */
const fail: Fail = (code, message, location, hint) => badRequest(code, message, { hint, offset: location });

function guard(sql: string, options: GuardOptions = {}): GuardFacts {
  const { stmts } = parser.parse(sql);
  expect(stmts).toHaveLength(1);
  return guardSelect(stmts[0]!, { fail, ...options });
}

function refusal(sql: string, options: GuardOptions = {}): SvcError {
  try {
    guard(sql, options);
  } catch (e) {
    if (e instanceof SvcError) return e;
    throw e;
  }
  throw new Error(`passed: ${sql}`);
}

describe('the guard refuses', () => {
  it('a large corpus', () => {
    expect(new Set(REFUSED.map((r) => r.sql)).size).toBe(REFUSED.length);
    expect(REFUSED.length).toBeGreaterThanOrEqual(150);
  });
  it.each(REFUSED.filter((r) => r.guard))('$family: $name', ({ sql, family }) => {
    const e = refusal(sql);
    expect([e.status, e.code]).toEqual([400, GUARD_CODES[family]]);
  });
});

describe('the guard accepts', () => {
  it('a large corpus', () => expect(Object.keys(ACCEPTED).length).toBeGreaterThanOrEqual(100));
  it.each(Object.entries(ACCEPTED))('%s', (_name, sql) => {
    guard(sql);
  });
  it("collations of ICU's locales", () => {
    for (const c of ['en-x-icu', 'und-x-icu', 'zh-Hant-TW-x-icu', 'unicode']) guard(`SELECT name FROM svc.city ORDER BY name COLLATE "${c}"`);
  });
  it('the SELECTs of mappings', () => {
    const selects = [...MODEL.matchAll(/AS\s+(SELECT [^;]*);/g)].map((m) => m[1] as string);
    expect(selects).toHaveLength(6);
    for (const sql of selects) guard(sql);
  });
});

describe('the guard reports', () => {
  it.each([
    ['SELECT 1, pg_sleep(1)', 'pg_sleep'],
    ["SELECT 'é', pg_sleep(1)", 'pg_sleep'],
    ["SELECT 'x'::regclass", 'regclass'],
    ['SELECT a FROM svc.city WHERE xmin IS NULL', 'xmin'],
    ['SELECT name FROM svc.city, pg_catalog.pg_class', 'pg_catalog'],
    ['SELECT name COLLATE "x" FROM svc.city', 'COLLATE'],
    ['SELECT 1 OPERATOR(shop.+) 1', 'OPERATOR'],
    ['SELECT current_user', 'current_user'],
    ['SELECT $1', '$1'],
    ['WITH x AS (DELETE FROM t) SELECT 1', 't)'],
    ['SELECT 1 INTO x', 'x'],
  ])('the position in %s', (sql, word) => {
    // locations in the tree are byte offsets
    const location = refusal(sql).offset as number;
    expect(Buffer.from(sql).subarray(location).toString()).toMatch(new RegExp(`^${word.replaceAll(/[$()]/g, '\\$&')}`));
  });

  it('the nearest function name', () => {
    expect(refusal('SELECT date_trunk(1)').message).toBe('function `date_trunk` is not allowed; did you mean `date_trunc`?');
    expect(refusal("SELECT 'x'::string").message).toBe('type `string` is not allowed; did you mean `text`?');
  });

  it.each([
    ['SELECT random()', { volatile: true, clock: false }],
    ['SELECT 1 FROM generate_series(1, 2) ORDER BY random()', { volatile: true, clock: false }],
    ['SELECT now()', { volatile: false, clock: true }],
    ['SELECT current_date', { volatile: false, clock: true }],
    ["SELECT 'today'::date", { volatile: false, clock: true }],
    ["SELECT '[now,)'::tstzrange", { volatile: false, clock: true }],
    ["SELECT 'today12:00'::timestamp", { volatile: false, clock: true }],
    ["SELECT '_today_'::date", { volatile: false, clock: true }],
    ["SELECT '{to\\day}'::date[], '[to\"day\",)'::daterange", { volatile: false, clock: true }],
    ["SELECT 'I know snow'", { volatile: false, clock: false }],
    ["SELECT '{2020-01-01,Today}'::date[]", { volatile: false, clock: true }],
    ["SELECT '10:00 yesterday'::timestamp", { volatile: false, clock: true }],
    ["SELECT 'snow'", { volatile: false, clock: false }],
    ["SELECT date ' Yesterday '", { volatile: false, clock: true }],
    ['SELECT clock_timestamp()', { volatile: true, clock: true }],
    ["SELECT 'nowhere', upper('x')", { volatile: false, clock: false }],
  ])('facts for caches: %s', (sql, facts) => expect(guard(sql)).toMatchObject(facts));
});

describe('allowed functions', () => {
  const allowed = { allowedFunctions: new Set(['shop.f', 'svc_username', 'pg_catalog.pg_sleep', 'pg_sleep.x']) };
  it('are identified by schema and name', () => {
    guard('SELECT shop.f(1)', allowed);
    guard('SELECT SHOP.F(1) FROM shop.f(2)', allowed);
    guard('SELECT svc_username()', allowed);
  });
  it('are reported if they belong to the datasource\u2019s own', () => {
    const sql = 'SELECT shop.f(1), SHOP.F(2), svc_username(), upper(x), pg_catalog.lower(x) FROM shop.f(3) x';
    expect(guard(sql, allowed)).toMatchObject({ functions: ['shop.f'] });
  });
  it('are reported if the planner replaces them', () => {
    expect(guard('SELECT shop.f(1), upper(x)', allowed).callsReplaced).toBe(false);
    expect(guard('SELECT 1 FROM t WHERE EXISTS (SELECT FROM u WHERE u.a = svc_username())', allowed).callsReplaced).toBe(true);
  });
  it('do not include other functions', () => {
    for (const call of ['f(1)', 'shop.g(1)', '"Shop".f(1)', 'x.shop.f(1)', 'shop.svc_username()', 'pg_catalog.svc_username()']) {
      expect(refusal(`SELECT ${call}`, allowed).code).toBe('forbidden_function');
    }
  });
  it('never include system functions', () => {
    expect(refusal('SELECT pg_catalog.pg_sleep(1)', allowed).code).toBe('forbidden_function');
    expect(refusal('SELECT pg_sleep(1)', allowed).code).toBe('forbidden_function');
  });
});

describe('by construction', () => {
  const selecting = (node: object) => ({ stmt: { SelectStmt: { targetList: [node] } } }) as never;
  it('an unknown node is refused', () => {
    for (const node of [{ FutureExpr: {} }, { constructor: {} }, { toString: {} }, { A_Const: {}, FutureExpr: {} }]) {
      expect(() => guardSelect(selecting(node))).toThrow(expect.objectContaining({ code: 'unsupported_syntax' }));
    }
  });
  it('an unknown member is refused', () => {
    for (const member of ['future', 'constructor', 'hasOwnProperty']) {
      expect(() => guardSelect(selecting({ FuncCall: { funcname: [{ String: { sval: 'now' } }], [member]: { x: 1 } } }))).toThrow(
        expect.objectContaining({ code: 'unsupported_syntax' }),
      );
    }
  });
  it('a name other than a String node is refused', () => {
    expect(() => guardSelect(selecting({ FuncCall: { funcname: [{ FuncCall: {} }] } }))).toThrow(expect.objectContaining({ code: 'unsupported_syntax' }));
  });
  it('a deep tree ends in an error, not in a stack overflow', () => {
    let node: object = { A_Const: { ival: { ival: 1 } } };
    for (let i = 0; i < 200_000; i++) node = { A_Expr: { kind: 'AEXPR_OP', name: [{ String: { sval: '+' } }], lexpr: node } };
    expect(() => guardSelect(selecting(node))).toThrow(expect.objectContaining({ status: 400, code: 'too_complex' }));
  });
  it('a broad tree is accepted', () => {
    guard(`SELECT 1 WHERE ${Array.from({ length: 3000 }, (_, i) => `${i} = 1`).join(' OR ')} OR 1 IN (${Array.from({ length: 5000 }, (_, i) => i).join(',')})`);
  });
});

describe('the table of what PostgreSQL resolves', () => {
  it('has a rule for each list of names', () => {
    const missing = Object.entries(NODES).flatMap(([type, members]) =>
      Object.entries(members).flatMap(([member, kind]) =>
        kind === 'words' && !Object.hasOwn(RESOLVES[type as keyof typeof RESOLVES], member) ? [`${type}.${member}`] : [],
      ),
    );
    // the names of USING, COLLATE and casts are included
    expect(missing).toEqual([]);
  });
  it('has a rule for each member that names something', () => {
    const names = Object.entries(NODES).flatMap(([type, members]) =>
      Object.keys(members)
        .filter((m) => /name/.test(m) && m !== 'name_location')
        .filter((m) => !Object.hasOwn(RESOLVES[type as keyof typeof RESOLVES], m))
        .map((m) => `${type}.${m}`),
    );
    // typeName is a separate node
    expect(names.filter((n) => !n.endsWith('.typeName'))).toEqual([]);
  });
  it.each([
    ['SELECT 1 OPERATOR(pg_catalog.+) 2', 'passed'],
    ['SELECT 1 OPERATOR(public.+) 2', 'forbidden_operator'],
    ['SELECT 1 OPERATOR(pg_catalog.<+>) 2', 'forbidden_operator'],
    ['SELECT 1 <+> 2', 'forbidden_operator'],
    ['SELECT 1 = ANY (ARRAY[1]), 1 <+> ALL (ARRAY[1])', 'forbidden_operator'],
    ['SELECT name FROM svc.city ORDER BY name USING <+>', 'forbidden_operator'],
    ['SELECT 1 BETWEEN SYMMETRIC 2 AND 1', 'passed'],
  ])('%s', (sql, expected) => {
    let code = 'passed';
    try {
      guard(sql);
    } catch (e) {
      code = (e as SvcError).code;
    }
    expect(code).toBe(expected);
  });
});

it.each([null, 5, true, 'name'])('refuses %j in the place of a node', (member) => {
  const { stmts } = parser.parse('SELECT 1 + 2');
  const statement = structuredClone(stmts[0]!) as unknown as { stmt: { SelectStmt: { targetList: { ResTarget: { val: { A_Expr: { rexpr: unknown } } } }[] } } };
  statement.stmt.SelectStmt.targetList[0]!.ResTarget.val.A_Expr.rexpr = member;
  expect(() => guardSelect(statement as never, { fail })).toThrow('is not allowed');
});

describe('the names of functions', () => {
  it('have no family that reads settings, catalogs or files', () => {
    const bad = [...ALLOWED_FUNCTIONS].filter((f) =>
      /^(pg_(?!typeof$)|lo_|has_|to_reg|reg(?!exp_|r_)|txid_|enum_|xml|xpath|query_to|table_to|dblink|set_config|setseed|current_)/.test(f),
    );
    expect(bad).toEqual([]);
  });
  it('are sorted into kinds', () => {
    for (const f of ['count', 'percentile_cont', 'rank', 'jsonb_agg']) expect([f, isAggregate(f)]).toEqual([f, true]);
    for (const f of ['row_number', 'rank', 'nth_value']) expect([f, isWindow(f)]).toEqual([f, true]);
    for (const f of ['lower', 'row_number', 'unnest']) expect([f, isAggregate(f)]).toEqual([f, false]);
    for (const f of ['count', 'lower']) expect([f, isWindow(f)]).toEqual([f, false]);
    for (const f of ['random', 'gen_random_uuid', 'clock_timestamp']) expect([f, isVolatileFunction(f)]).toEqual([f, true]);
    for (const f of ['now', 'age', 'clock_timestamp']) expect([f, usesClock(f)]).toEqual([f, true]);
    for (const f of ['now', 'lower']) expect([f, isVolatileFunction(f)]).toEqual([f, false]);
    for (const f of ['random', 'lower']) expect([f, usesClock(f)]).toEqual([f, false]);
  });
});
