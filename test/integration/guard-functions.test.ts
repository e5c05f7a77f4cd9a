import type { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RESULT_COLUMNS } from '../../src/planner/guard/fields.ts';
import { ALLOWED_FUNCTIONS, isAggregate, isVolatileFunction, isWindow } from '../../src/planner/guard/index.ts';
import { ALLOWED_OPERATORS } from '../../src/planner/guard/operators.ts';
import { ALLOWED_TYPES, isPlainType } from '../../src/planner/guard/types.ts';
import { ROW_FUNCTIONS } from '../../src/planner/read/tables.ts';
import { memoryDatabase } from '../support/databases/memory.ts';

/** The allow-list against the catalog of a real PostgreSQL: every overload of an allowed name is allowed with it. */
interface Overload {
  readonly name: string;
  readonly kind: 'f' | 'p' | 'a' | 'w';
  readonly volatility: 'i' | 's' | 'v';
  readonly types: readonly string[];
}

let db: PGlite;
let overloads: readonly Overload[];

beforeAll(async () => {
  db = await memoryDatabase();
  const { rows } = await db.query<Overload>(
    `SELECT proname AS name, prokind AS kind, provolatile AS volatility,
            ARRAY(SELECT CASE WHEN t.typelem <> 0 AND t.typlen = -1 THEN t.typelem::regtype::text ELSE t.typname::text END
                  FROM unnest(p.proargtypes::oid[]) a JOIN pg_type t ON t.oid = a) AS types
     FROM pg_proc p WHERE pronamespace = 'pg_catalog'::regnamespace AND proname = ANY ($1)`,
    [[...ALLOWED_FUNCTIONS]],
  );
  overloads = rows;
});
afterAll(() => db.close());

describe('the allowed functions', () => {
  it('exist', () => {
    const there = new Set(overloads.map((o) => o.name));
    expect([...ALLOWED_FUNCTIONS].filter((f) => !there.has(f))).toEqual([]);
  });

  it('are volatile exactly if the guard lists them so', () => {
    const volatile = new Set(overloads.filter((o) => o.volatility === 'v').map((o) => o.name));
    expect([...ALLOWED_FUNCTIONS].filter((f) => volatile.has(f) !== isVolatileFunction(f))).toEqual([]);
  });

  it('are of the kinds that the guard lists', () => {
    const kinds = (kind: string) => new Set(overloads.filter((o) => o.kind === kind).map((o) => o.name));
    const [aggregates, windows] = [kinds('a'), kinds('w')];
    expect([...ALLOWED_FUNCTIONS].filter((f) => aggregates.has(f) !== isAggregate(f) || windows.has(f) !== isWindow(f))).toEqual([]);
    expect(kinds('p').size).toBe(0);
  });

  it('take no names of catalog objects, cursors, or documents that load others', () => {
    const reads = overloads.filter((o) => o.types.some((t) => /^(reg.*|refcursor|xml|internal|cstring|aclitem|pg_.*|xid|cid|tid)$/.test(t)));
    // No statement has values of these types: no cast leads to them, and system columns are refused.
    expect(reads.map((o) => `${o.name}(${o.types.join(', ')})`).sort()).toEqual([
      'age(xid)',
      'max(pg_lsn)',
      'max(tid)',
      'min(pg_lsn)',
      'min(tid)',
      'text(xml)',
    ]);
  });
});

describe('the allowed types', () => {
  it('exist', async () => {
    const { rows } = await db.query<{ typname: string }>("SELECT typname::text FROM pg_type WHERE typnamespace = 'pg_catalog'::regnamespace");
    const there = new Set(rows.map((r) => r.typname));
    expect([...ALLOWED_TYPES].filter((t) => !there.has(t))).toEqual([]);
  });
});

describe('the allowed operators', () => {
  it('are those of pg_catalog', async () => {
    const { rows } = await db.query<{ oprname: string }>("SELECT DISTINCT oprname::text FROM pg_operator WHERE oprnamespace = 'pg_catalog'::regnamespace");
    expect([...ALLOWED_OPERATORS].sort()).toEqual(rows.map((r) => r.oprname).sort());
  });
});

describe('functions of rows', () => {
  it('are refused as a column of a table, unless they may be called', async () => {
    const { rows } = await db.query<{ name: string }>(
      `SELECT DISTINCT proname::text AS name FROM pg_proc
       WHERE pronamespace = 'pg_catalog'::regnamespace AND pronargs - pronargdefaults <= 1 AND pronargs >= 1
         AND (proargtypes[0]::regtype::text IN ('"any"', 'anyelement', 'anynonarray', 'anycompatible', 'anycompatiblenonarray', 'record') OR provariadic = '"any"'::regtype)`,
    );
    expect(rows.length).toBeGreaterThan(30);
    expect(rows.map((r) => r.name).filter((n) => ROW_FUNCTIONS.test(n) === (ALLOWED_FUNCTIONS.has(n) && n !== 'pg_typeof'))).toEqual([]);
  });
});

describe('functions with result columns', () => {
  it('have the columns that a field may be selected from', async () => {
    const { rows } = await db.query<{ name: string; columns: string[] }>(
      `SELECT proname::text AS name, array_agg(a.name ORDER BY a.n) AS columns
       FROM pg_proc, unnest(proargnames, proargmodes) WITH ORDINALITY a (name, mode, n)
       WHERE pronamespace = 'pg_catalog'::regnamespace AND a.mode IN ('o', 'b', 't') AND proname = ANY ($1)
       GROUP BY pg_proc.oid, proname HAVING count(*) > 1`,
      [[...ALLOWED_FUNCTIONS]],
    );
    // unnest returns columns only for a tsvector, and one value for an array
    const found = new Map(rows.filter((r) => r.name !== 'unnest').map((r) => [r.name, r.columns]));
    expect([...RESULT_COLUMNS].sort()).toEqual([...found].sort());
  });
});

describe('the type of a column', () => {
  it.each([
    ['int4', true],
    ['_text', true],
    ['jsonb', true],
    ['oid:16400', true],
    [undefined, true],
    ['regclass', false],
    ['_regclass', false],
    ['oid', false],
    ['record', false],
    ['xml', false],
    ['oid:2206', false],
  ])('%s', (type, plain) => expect(isPlainType(type)).toBe(plain));
});
