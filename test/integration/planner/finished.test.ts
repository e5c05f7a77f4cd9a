/**
 * Rewrites of finished statements for distributed datasources, over mappings with SQL that the planner does not write itself: they return the same rows, and change nothing that other plans share.
 * Both forms are plain SQL, so one undistributed database runs both.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadNodeParser } from '../../../src/cli/node-parser.ts';
import type { PlanContext } from '../../../src/planner/index.ts';
import { decorrelate } from '../../../src/planner/lower/decorrelate.ts';
import { targetFor } from '../../../src/planner/lower/placed.ts';
import { hasOnlyNames, rewrite, type SelectStmt, walk } from '../../../src/planner/plan/tree.ts';
import { verify } from '../../../src/planner/verify/index.ts';
import { PlannedTables } from '../../support/planned.ts';

const parser = await loadNodeParser();

const TABLES = `CREATE SCHEMA s;
  CREATE TABLE s.a (id integer PRIMARY KEY, label text, k integer); INSERT INTO s.a VALUES (1, 'x', 1), (2, 'y', 2), (3, 'w', 3);
  CREATE TABLE s.b (id integer PRIMARY KEY, label text, k integer); INSERT INTO s.b VALUES (11, 'x', 1), (12, 'y', NULL), (13, 'q', 2)`;

const BOTH = (parts: (table: string) => string): readonly string[] => ['a', 'b'].map((t) => parts(`s.${t}`));
const UNION = '(SELECT id, k FROM s.a UNION ALL SELECT id, k FROM s.b)';
const [HEAD, BUSY] = ['(SELECT id::int AS id, k::int AS k FROM s.a) t', '(SELECT count(*) FROM (SELECT k::int AS k FROM s.b) v WHERE v.k = t.id)'];

/** The SQL of the mappings of a concept with `id` and `doc`. They read all columns of an item of FROM, or may do so. */
const WHOLE: Readonly<Record<string, readonly string[]>> = {
  row_in_call: BOTH((t) => `SELECT t.id, to_jsonb(t)::text AS doc FROM (SELECT id, label FROM ${t}) t`),
  row_alone: BOTH((t) => `SELECT t.id, t::text AS doc FROM (SELECT id, label FROM ${t}) t`),
  row_star: BOTH((t) => `SELECT t.id, row_to_json(t.*)::text AS doc FROM (SELECT id, label FROM ${t}) t`),
  row_in_where: BOTH(
    (t) => `SELECT t.id, 'w' AS doc FROM (SELECT id, label FROM ${t}) t WHERE to_jsonb(t)::text = jsonb_build_object('id', t.id, 'label', t.label)::text`,
  ),
  row_in_join: BOTH(
    (t) =>
      `SELECT t.id, 'j' AS doc FROM (SELECT id, label FROM ${t}) t JOIN s.b ON to_jsonb(t)::text = jsonb_build_object('id', t.id, 'label', t.label)::text AND b.id = 11`,
  ),
  row_in_order: BOTH((t) => `SELECT t.id, 'o' AS doc FROM (SELECT id, label FROM ${t}) t ORDER BY length(to_jsonb(t)::text)`),
  row_in_query: BOTH((t) => `SELECT t.id, (SELECT to_jsonb(t)::text FROM s.b LIMIT 1) AS doc FROM (SELECT id, label FROM ${t}) t`),
  row_deeper: BOTH((t) => `SELECT t.id, (SELECT max(z.j) FROM (SELECT to_jsonb(t)::text AS j FROM s.b) z) AS doc FROM (SELECT id, label FROM ${t}) t`),
  row_lateral: BOTH((t) => `SELECT t.id, z.j AS doc FROM (SELECT id, label FROM ${t}) t, LATERAL (SELECT to_jsonb(t)::text AS j) z`),
  row_of_union: [`SELECT u.id, to_jsonb(u)::text AS doc FROM ${UNION} u`],
  row_of_union_deeper: [`SELECT u.id, (SELECT max(z.j) FROM (SELECT to_jsonb(u)::text AS j FROM s.b) z) AS doc FROM ${UNION} u`],
  star_of_union: [`SELECT x.a AS id, x.c::text AS doc FROM (SELECT * FROM ${UNION} u, (SELECT 7 AS seven) w) x(a, b, c)`],
  join_with_alias: [`SELECT j.a AS id, j.b::text AS doc FROM (${UNION} u JOIN (SELECT 7 AS seven) w ON true) AS j(a, x, b)`],
  row_of_join: [`SELECT j.id, to_jsonb(j)::text AS doc FROM (${UNION} u JOIN (SELECT 7 AS seven) w ON true) AS j`],
  same_names: [
    `SELECT u.id, u.label AS doc FROM (SELECT id, label FROM s.a UNION ALL SELECT id, label FROM s.b) u NATURAL JOIN (SELECT label FROM s.a UNION ALL SELECT label FROM s.b) w`,
  ],
  own_key: BOTH((t) => `SELECT t.id, t."~d" AS doc FROM (SELECT id, label AS "~d" FROM ${t}) t`),
  star_of_query: [
    `SELECT x.a AS id, x.c::text AS doc FROM (SELECT * FROM ${HEAD}, (SELECT 77::int AS z, 88::int AS y) u WHERE t.id >= ${BUSY}) AS x(a, b, c, d)`,
  ],
  stars_of_parts: [
    `SELECT x.id, x.k::text AS doc FROM (SELECT * FROM ${HEAD} WHERE t.id >= ${BUSY} UNION SELECT * FROM ${HEAD} WHERE t.id >= (SELECT 1 + count(*) FROM (SELECT id::int AS k FROM s.a) v WHERE v.k = t.id)) x`,
  ],
  equal_name: [`SELECT t.id, a0 AS doc FROM (SELECT id::int AS id, label AS a0 FROM s.a) t WHERE t.id >= ${BUSY}`],
  other_item: [
    `SELECT t.id, lab AS doc FROM (SELECT id::int AS id, label AS lab FROM s.a) t WHERE t.id >= (SELECT count(*) FROM (SELECT k::int AS k FROM s.b) v WHERE v.k = t.id AND lab <> 'z')`,
  ],
};

/** Mappings that are rewritten. */
const NAMED: Readonly<Record<string, readonly string[]>> = {
  keyed: BOTH((t) => `SELECT t.id, t.label AS doc FROM (SELECT id, label FROM ${t}) t`),
  keyed_join: [`SELECT u.id, w.seven::text AS doc FROM ${UNION} u JOIN (SELECT 7 AS seven) w ON true`],
  keyed_names: [`SELECT u.a AS id, u.b::text AS doc FROM ${UNION} u(a, b)`],
  joined: [`SELECT t.id, t.k::text AS doc FROM ${HEAD} WHERE t.id >= ${BUSY}`],
};

const CONCEPTS: typeof WHOLE = { ...WHOLE, ...NAMED, plain: ['SELECT id, label AS doc FROM s.a'] };
const MODEL = `CREATE ONTOLOGY own; ${Object.entries(CONCEPTS)
  .map(
    ([name, texts]) =>
      `CREATE CONCEPT ${name} (id bigint, doc string, PRIMARY KEY (id)); ${texts.map((sql, i) => `CREATE MAPPING ${name}_${i} INTO ${name} AS ${sql};`).join(' ')}`,
  )
  .join('\n')}`;

const TOGETHER = new Map(['a', 'b'].map((table) => [JSON.stringify(['s', table]), { column: 'id', group: 1 }]));
const CHANGES: Partial<PlanContext> = { rewrite: decorrelate, target: () => targetFor(TOGETHER) };

let tables: PlannedTables;
beforeAll(async () => {
  tables = await PlannedTables.open(TABLES, MODEL, 'own');
});
afterAll(() => tables?.close());

/** Expects the rows of the mappings' own SQL with and without rewrites. @returns whether the SQL was rewritten */
async function sameRows(name: string): Promise<boolean> {
  const query = `SELECT id, doc FROM svc.${name}`;
  const byHand = (CONCEPTS[name] ?? []).map((sql) => `(SELECT id, doc FROM (${sql}) m)`).join(' UNION ALL ');
  const expected = await tables.rowsByHand(byHand);
  expect(expected.length).toBeGreaterThan(1);
  const written = tables.plan(query).sql;
  expect(await tables.rows(query), name).toEqual(expected);
  const { sql, declared } = tables.plan(query, CHANGES);
  verify(parser, sql, declared);
  expect(await tables.rows(query, CHANGES), sql).toEqual(expected);
  expect(tables.plan(query).sql).toBe(written);
  // unions that are read by themselves have the columns that they had
  return sql.replaceAll(' OFFSET 0', '') !== written.replaceAll(' OFFSET 0', '');
}

describe('parts that may read all columns of an item have the same rows', () => {
  it.each(Object.keys(WHOLE))('%s', async (name) => expect(await sameRows(name)).toBe(false));
});

describe('parts that name each column are rewritten', () => {
  it.each(Object.keys(NAMED))('%s', async (name) => expect(await sameRows(name)).toBe(true));
});

it('DISTINCT with an order by the same sub-query stays as it is', async () => {
  const count = '(SELECT COUNT(*) FROM svc.plain y WHERE y.id = x.id)';
  const query = `SELECT DISTINCT ${count} AS n FROM svc.plain x ORDER BY ${count}`;
  expect(await tables.rows(query, CHANGES)).toEqual(['{"n":1}']);
});

describe('a rewrite changes nothing that other plans share', () => {
  const queries = Object.keys(CONCEPTS).map(
    (name) => `SELECT p.id, k.doc FROM svc.${name} p JOIN svc.keyed k ON k.id = p.id WHERE p.doc <> (SELECT MAX(t.doc) FROM svc.${name} t)`,
  );
  const written = (): string[] => queries.map((query) => tables.plan(query).sql);

  it('plans are the same before and after it', () => {
    const before = written();
    for (const query of queries) {
      const { sql, declared } = tables.plan(query, CHANGES);
      verify(parser, sql, declared);
    }
    expect(written()).toEqual(before);
  });

  it('also if it changes all parts of the statement', () => {
    const spoil = (statement: SelectStmt): string[] => {
      rewrite([statement], (n) => ('ColumnRef' in n ? { A_Const: { sval: { sval: 'x' } } } : undefined));
      walk({ SelectStmt: statement }, (n) => {
        for (const [name, part] of Object.entries(n)) if (!hasOnlyNames(name)) (part as { spoiled: boolean }).spoiled = true;
        return undefined;
      });
      return [];
    };
    const before = written();
    for (const query of queries) {
      for (const changes of [{ rewrite: spoil }, { target: () => ({ apply: spoil }) }])
        expect(() => tables.plan(query, changes)).toThrow('with spoiled is not supported');
    }
    expect(written()).toEqual(before);
  });

  it('and a stage that changes the tree of a mapping fails', () => {
    let changed = 0;
    tables.plan(
      'SELECT id FROM svc.keyed',
      {},
      {
        inspect: ({ state }) => {
          for (const mapping of state.graph.concept('keyed')?.mappings ?? [])
            walk(state.texts.mapping(mapping).from(), (n) => {
              if ('SelectStmt' in n) expect(() => delete n.SelectStmt.targetList).toThrow(TypeError);
              changed++;
              return undefined;
            });
        },
      },
    );
    expect(changed).toBeGreaterThan(5);
  });
});
