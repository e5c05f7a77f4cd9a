/**
 * The second opinion of the differential test, checked against SQL written by hand over the tables: it must be right, because the planner is compared with it. The examples
 * are those of docs/design/paths-and-cardinality.md and docs/design/aggregates-over-several-paths.md.
 */
import type { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memoryDatabase } from '../../support/databases/memory.ts';
import { Refused } from './block.ts';
import type { Row } from './compare.ts';
import { expectedLines, gotLines } from './compare.ts';
import { ddlOf } from './ddl.ts';
import { Evaluator } from './evaluate.ts';
import type { Expr, FromItem, Hop, Item, Kind, Query, Schema, Select } from './expr.ts';
import { agg, col, lit, op } from './expr.ts';
import { Printer } from './print.ts';
import { STORE } from './store.ts';
import type { World } from './world.ts';

// A little language for the trees: `o.placed_by>customer.name` style paths written as lists.
const hop = (rel: string, bracket: string, star: Hop['star'] = null): Hop =>
  rel.startsWith('~') ? { rel: rel.slice(1), inv: true, tilde: false, bracket, star } : { rel, inv: false, tilde: false, bracket, star };
const p = (name: string, kind: Kind = 'int', ...path: Hop[]) => col('x', path, { k: 'prop', name }, kind);
const entity = (name: 'entity_id' | 'entity_type' | 'entity_label', ...path: Hop[]) => col('x', path, { k: 'entity', name }, 'text');
const eq = (a: Expr, b: Expr) => op('=', 'bool', a, b);
const text = (s: string) => lit(s, 'text');
const num = (n: number) => lit(n, 'int');

const from = (concept: string, schema: Schema = 'dsvc', alias = 'x'): FromItem => ({
  alias,
  join: 'first',
  on: null,
  src: { k: 'concept', schema, concept },
  lateral: false,
});
const BLANK: Select = {
  k: 'select',
  from: [],
  items: [],
  distinct: false,
  where: null,
  group: null,
  sets: null,
  having: null,
  order: [],
  limit: null,
  offset: null,
  qualify: true,
};
const items = (list: Record<string, Expr>): Item[] => Object.entries(list).map(([as, e]) => ({ k: 'expr', e, as }));
const select = (concept: string | FromItem[], list: Record<string, Expr>, rest: Partial<Select> = {}): Query => ({
  ctes: [],
  body: { ...BLANK, from: typeof concept === 'string' ? [from(concept)] : concept, items: items(list), ...rest },
});
const grp = (i: number, kind: Kind): Expr => ({ k: 'grp', i, kind });

const PLACED = hop('~placed_by', 'order');
const INCLUDES = hop('includes', 'item');
const LIVES = hop('lives_in', 'city');
const RESIDENT = hop('~lives_in', 'customer');
const topic = col('x', [], { k: 'multi', name: 'topic' }, 'text');
const qty = (...path: Hop[]) => col('x', path, { k: 'link', name: 'qty' }, 'int');

const PEOPLE = `(SELECT id, name::text, city, 'employee' AS kind, boss, pay, NULL::float8 AS credit FROM t.emp UNION ALL SELECT id, rtrim(name), city, 'customer', NULL, NULL, credit FROM t.cust)`;

/** What is asked, the tree, the same by hand. */
const CASES: [string, Query, string][] = [
  [
    'rows of all mappings, each with the id of the topmost keyed ancestor',
    select('person', { a: entity('entity_id'), b: entity('entity_type'), c: entity('entity_label') }),
    `SELECT 'person:' || id AS a, kind AS b, name AS c FROM ${PEOPLE} x`,
  ],
  [
    'esvc: NULL if a property does not apply',
    select([from('person', 'esvc')], { a: p('salary', 'num'), b: p('twice', 'num') }),
    `SELECT pay AS a, credit * 2 AS b FROM ${PEOPLE} x`,
  ],
  [
    'a composite key is percent-encoded',
    select('stock', { a: entity('entity_id'), b: entity('entity_label') }),
    "SELECT * FROM (VALUES ('stock:a%7Cb%25c|1', 'a%7Cb%25c|1'), ('stock:x|2', 'x|2')) v(a, b)",
  ],
  [
    'no key: no id, no label',
    select('memo', { a: entity('entity_id'), b: entity('entity_label'), c: entity('entity_type') }),
    "SELECT NULL AS a, NULL AS b, 'memo' AS c FROM t.memo",
  ],
  [
    'a concept without mapping has the rows of its mapped ancestor',
    select('star', { a: entity('entity_type'), b: p('id') }),
    "SELECT 'customer' AS a, id AS b FROM t.cust",
  ],
  [
    'a logic concept over a to-many path has each row once',
    select('buyer', { a: p('id') }),
    "SELECT id AS a FROM t.cust c WHERE EXISTS (SELECT 1 FROM t.ord o WHERE o.cust = c.id AND o.status = 'sent')",
  ],
  [
    '_type_of_ of logic and unmapped concepts',
    select('person', { a: p('id'), b: col('x', [], { k: 'typeof', concept: 'big' }, 'bool'), c: col('x', [], { k: 'typeof', concept: 'star' }, 'bool') }),
    `SELECT id AS a, coalesce(credit >= 100, false) AS b, kind = 'customer' AS c FROM ${PEOPLE} x`,
  ],
  [
    'a to-one path keeps every row',
    select('person', { a: p('id'), b: p('name', 'text', LIVES) }),
    `SELECT x.id AS a, c.name AS b FROM ${PEOPLE} x LEFT JOIN t.city c ON c.city_id = x.city`,
  ],
  [
    'a to-many path is a row each',
    select('customer', { a: p('id'), b: p('no', 'int', PLACED) }),
    'SELECT c.id AS a, o.no AS b FROM t.cust c LEFT JOIN t.ord o ON o.cust = c.id',
  ],
  [
    'a descendant in the bracket',
    select('city', { a: p('name', 'text'), b: p('credit', 'num', hop('~lives_in', 'big')) }),
    'SELECT c.name AS a, k.credit AS b FROM t.city c LEFT JOIN t.cust k ON k.city = c.city_id AND k.credit >= 100',
  ],
  [
    'an ancestor in the bracket: the rows stay the target’s',
    select('order', { a: p('no'), b: entity('entity_type', hop('placed_by', 'person')) }),
    "SELECT o.no AS a, CASE WHEN c.id IS NOT NULL THEN 'customer' END AS b FROM t.ord o LEFT JOIN t.cust c ON c.id = o.cust",
  ],
  [
    'a link row without a target is not a related row; two equal ones both are',
    select('order', { a: p('no'), b: p('sku', 'text', INCLUDES), c: qty(INCLUDES) }),
    'SELECT o.no AS a, i.sku AS b, i.qty AS c FROM t.ord o LEFT JOIN (SELECT l.* FROM t.inc l JOIN t.item USING (sku)) i ON i.no = o.no',
  ],
  [
    'a multi-value property is a row a value',
    select('customer', { a: p('id'), b: topic }),
    'SELECT c.id AS a, m.topic AS b FROM t.cust c LEFT JOIN t.topic m ON m.cust = c.id',
  ],
  [
    'a walk: distinct nodes, shortest length, the start if it leads back',
    select('customer', {
      a: p('id'),
      b: p('id', 'int', hop('knows', 'person', 'default')),
      c: col('x', [hop('knows', 'person', 'default')], { k: 'level' }, 'int'),
    }),
    'SELECT * FROM (VALUES (1, 2, 1), (1, 3, 2), (1, 1, 3), (1, 11, 3), (1, 12, 4), (2, 3, 1), (2, 1, 2), (2, 11, 2), (2, 2, 3), (2, 12, 3), (3, 1, 1), (3, 11, 1), (3, 2, 2), (3, 12, 2), (3, 3, 3), (4, NULL, NULL)) v(a, b, c)',
  ],
  [
    'a walk up, of the default depth 3',
    select('employee', { a: p('id'), b: p('id', 'int', hop('reports_to', 'employee', 'default')) }),
    'SELECT * FROM (VALUES (11, NULL), (12, 11), (13, 12), (13, 11), (14, NULL)) v(a, b)',
  ],
  [
    'a walk down, of depth 1',
    select('employee', { a: p('id'), b: p('id', 'int', hop('~reports_to', 'employee', 1)) }),
    'SELECT b.id AS a, e.id AS b FROM t.emp b LEFT JOIN t.emp e ON e.boss = b.id',
  ],
  [
    'two conditions on one path mean one related row',
    select(
      'customer',
      { a: p('id') },
      { where: op('and', 'bool', eq(p('status', 'text', PLACED), text('sent')), op('>', 'bool', p('freight', 'num', PLACED), num(6))) },
    ),
    'SELECT 1 AS a',
  ],
  [
    'NOT on a path leaves out what is unknown',
    select('customer', { a: p('id'), b: p('no', 'int', PLACED) }, { where: op('not', 'bool', eq(p('status', 'text', PLACED), text('sent'))) }),
    "SELECT c.id AS a, o.no AS b FROM t.cust c JOIN t.ord o ON o.cust = c.id WHERE o.status <> 'sent'",
  ],
  ['IS NULL on a path: nothing related', select('customer', { a: p('id') }, { where: op('isnull', 'bool', p('no', 'int', PLACED)) }), 'SELECT 4 AS a'],
  [
    'an outer path in a sub-query is the outer joined row, and joins',
    select(
      'customer',
      { a: p('id') },
      {
        where: {
          k: 'exists',
          not: false,
          kind: 'bool',
          q: select([from('order', 'svc', 'y')], { k: num(1) }, { where: eq(col('y', [], { k: 'prop', name: 'no' }, 'int'), p('no', 'int', PLACED)) }),
        },
      },
    ),
    'SELECT c.id AS a FROM t.cust c JOIN t.ord o ON o.cust = c.id',
  ],
  [
    'levels: the root and a path',
    select('customer', { a: agg('sum', p('credit', 'num'), 'num'), b: agg('count', p('no', 'int', PLACED), 'int'), c: agg('count', p('id'), 'int') }),
    'SELECT 175 AS a, 4 AS b, 4 AS c',
  ],
  [
    'three levels of one path by a property of the root',
    select(
      'customer',
      {
        s: grp(0, 'text'),
        a: agg('sum', p('credit', 'num'), 'num'),
        b: agg('sum', p('freight', 'num', PLACED), 'num'),
        c: agg('sum', p('price', 'num', PLACED, INCLUDES), 'num'),
      },
      { group: [p('segment', 'text')] },
    ),
    "SELECT * FROM (VALUES ('r', 150, 17.5, 32.5), ('w', 25, 0, NULL), (NULL, NULL, NULL, NULL)) v(s, a, b, c)",
  ],
  [
    'two paths that part',
    select('customer', { a: agg('count', topic, 'int'), b: agg('sum', p('freight', 'num', PLACED), 'num') }),
    'SELECT (SELECT count(*) FROM t.topic JOIN t.cust ON id = cust) AS a, 17.5 AS b',
  ],
  [
    'another path in WHERE never multiplies',
    select(
      'customer',
      { a: agg('sum', p('freight', 'num', PLACED), 'num'), b: agg('count', p('no', 'int', PLACED), 'int') },
      { where: op('in', 'bool', topic, text('chess'), text('music')) },
    ),
    'SELECT 17.5 AS a, 3 AS b',
  ],
  [
    'a longer path in WHERE never multiplies',
    select('customer', { a: agg('sum', p('freight', 'num', PLACED), 'num') }, { where: op('notnull', 'bool', p('sku', 'text', PLACED, INCLUDES)) }),
    'SELECT 12.5 AS a',
  ],
  [
    'sums of the root and a path, grouped by another path',
    select('customer', { g: grp(0, 'text'), a: agg('sum', p('credit', 'num'), 'num'), b: agg('sum', p('freight', 'num', PLACED), 'num') }, { group: [topic] }),
    "SELECT * FROM (VALUES ('chess', 150, 17.5), ('music', 100, 12.5), (NULL, 25, 0)) v(g, a, b)",
  ],
  [
    'grouping sets over a path: a total takes each root once',
    select(
      'customer',
      { g: grp(0, 'text'), a: agg('sum', p('credit', 'num'), 'num') },
      { group: [p('status', 'text', PLACED)], sets: { rollup: false, sets: [[0], []] } },
    ),
    "SELECT * FROM (VALUES ('sent', 100), ('open', 50), ('lost', 25), (NULL, NULL), (NULL, 175)) v(g, a)",
  ],
  [
    'a property over a to-one path belongs to the row it starts from',
    select('order', {
      a: agg('sum', p('credit', 'num', hop('placed_by', 'customer')), 'num'),
      b: agg('count', p('id', 'int', hop('placed_by', 'customer')), 'int', null, true),
    }),
    'SELECT 275 AS a, 3 AS b',
  ],
  [
    'a root with nothing related is an instance of NULLs',
    select('customer', { a: agg('sum', op('coalesce', 'num', p('freight', 'num', PLACED), num(100)), 'num') }),
    'SELECT 117.5 AS a',
  ],
  [
    'link rows that are equal each count',
    select(
      'order',
      { a: agg('count', p('sku', 'text', INCLUDES), 'int'), b: agg('sum', p('freight', 'num'), 'num'), c: agg('sum', qty(INCLUDES), 'int') },
      { where: eq(p('no'), num(102)) },
    ),
    'SELECT 2 AS a, 7.5 AS b, 2 AS c',
  ],
  [
    'equal rows without key each count, grouped by their own column',
    select('memo', { g: grp(0, 'text'), a: agg('count', p('status', 'text'), 'int') }, { group: [p('status', 'text')] }),
    "SELECT 'm' AS g, 2 AS a",
  ],
  [
    'FILTER counts an instance once if some joined row meets it',
    select('customer', { a: agg('sum', p('credit', 'num'), 'num', eq(p('status', 'text', PLACED), text('sent'))) }),
    'SELECT 100 AS a',
  ],
  [
    'one joined row must meet both WHERE and FILTER',
    select(
      'customer',
      { a: agg('sum', p('credit', 'num'), 'num', eq(p('status', 'text', PLACED), text('sent'))), b: agg('count', p('no', 'int', PLACED), 'int') },
      { where: op('<', 'bool', p('freight', 'num', PLACED), num(3)) },
    ),
    'SELECT NULL AS a, 1 AS b',
  ],
  [
    'SUM(CASE over a path) is of the path’s level',
    select('customer', { a: agg('sum', op('case', 'num', eq(p('status', 'text', PLACED), text('sent')), p('credit', 'num')), 'num') }),
    'SELECT 200 AS a',
  ],
  [
    'COUNT(*) counts joined rows',
    select('customer', { a: agg('count', null, 'int'), b: agg('count', p('id'), 'int'), c: agg('sum', p('freight', 'num', PLACED), 'num') }),
    'SELECT 5 AS a, 4 AS b, 17.5 AS c',
  ],
  [
    'COUNT(*) over a path and its continuation',
    select('customer', {
      a: agg('count', null, 'int'),
      b: agg('sum', p('freight', 'num', PLACED), 'num'),
      c: agg('count', p('sku', 'text', PLACED, INCLUDES), 'int'),
    }),
    'SELECT 7 AS a, 17.5 AS b, 4 AS c',
  ],
  [
    'a join in FROM multiplies as in SQL, a path does not multiply further',
    select([from('customer'), { ...from('order', 'dsvc', 'y'), join: 'inner', on: eq(col('y', [], { k: 'prop', name: 'client' }, 'int'), p('id')) }], {
      a: agg('sum', p('credit', 'num'), 'num'),
      b: agg('count', col('y', [INCLUDES], { k: 'prop', name: 'sku' }, 'text'), 'int'),
    }),
    'SELECT 275 AS a, 4 AS b',
  ],
  [
    'paths in ON belong to the root’s row',
    select(
      [
        from('customer'),
        {
          ...from('city', 'dsvc', 'y'),
          join: 'inner',
          on: op('and', 'bool', eq(col('y', [], { k: 'prop', name: 'city_id' }, 'int'), p('city_ref')), op('notnull', 'bool', p('no', 'int', PLACED))),
        },
      ],
      {
        a: agg('sum', p('credit', 'num'), 'num'),
      },
    ),
    'SELECT sum(c.credit) AS a FROM t.cust c JOIN t.ord o ON o.cust = c.id JOIN t.city ON city_id = c.city',
  ],
  [
    'windows keep the joined rows',
    select('customer', {
      a: p('no', 'int', PLACED),
      b: { k: 'win', fn: 'sum', arg: p('credit', 'num'), partition: [], order: [], kind: 'num' },
      c: { k: 'win', fn: 'rank', arg: null, partition: [p('segment', 'text')], order: [{ e: p('freight', 'num', PLACED), desc: true }], kind: 'int' },
    }),
    'SELECT o.no AS a, sum(c.credit) OVER () AS b, rank() OVER (PARTITION BY c.segment ORDER BY o.freight DESC) AS c FROM t.cust c LEFT JOIN t.ord o ON o.cust = c.id',
  ],
  [
    'no row at all is one row of nothing',
    select('customer', { a: agg('sum', p('credit', 'num'), 'num'), b: agg('count', p('no', 'int', PLACED), 'int') }, { where: eq(p('id'), num(0)) }),
    'SELECT NULL AS a, 0 AS b',
  ],
  [
    'HAVING and an alias, ORDER BY and LIMIT',
    select(
      'customer',
      { g: grp(0, 'text'), a: agg('count', p('no', 'int', PLACED), 'int') },
      {
        group: [p('segment', 'text')],
        having: op('<', 'bool', { k: 'alias', name: 'a', kind: 'int' }, num(3)),
        order: [{ by: 1, desc: true, nulls: 'last' }],
        limit: 1,
      },
    ),
    "SELECT 'w' AS g, 1 AS a",
  ],
];

/** 400 `fanout` (docs/design/aggregates-over-several-paths.md#levels). */
const REFUSED: [string, Query][] = [
  ['columns of two paths that part in one call', select('customer', { a: agg('max', op('||', 'text', topic, p('status', 'text', PLACED)), 'text') })],
  [
    'COUNT(*) over two paths that part',
    select(
      'customer',
      { a: agg('count', null, 'int') },
      { where: op('and', 'bool', op('notnull', 'bool', topic), op('notnull', 'bool', p('no', 'int', PLACED))) },
    ),
  ],
  [
    'COUNT(*) over two paths that part in other calls',
    select('city', {
      a: agg('count', null, 'int'),
      b: agg('count', p('id', 'int', RESIDENT), 'int'),
      c: agg('count', p('id', 'int', hop('~lives_in', 'employee')), 'int'),
    }),
  ],
  [
    'in a sub-query',
    select(
      'city',
      { a: p('name', 'text') },
      {
        where: eq(p('city_id'), {
          k: 'scalar',
          kind: 'int',
          q: select([from('customer', 'dsvc', 'x')], { a: agg('max', op('||', 'text', topic, p('status', 'text', PLACED)), 'text') }),
        }),
      },
    ),
  ],
];

describe('the second opinion agrees with SQL by hand', () => {
  let db: PGlite;
  beforeAll(async () => {
    db = await memoryDatabase();
    await db.exec(ddlOf(STORE));
  });
  afterAll(() => db.close());

  it.each(CASES)('%s', async (_, query, sql) => {
    const result = await db.query<{ j: string }>(`SELECT to_json(q)::text AS j FROM (${sql}) q`);
    const got = gotLines(result.rows.map((r) => JSON.parse(r.j) as Row));
    const { columns, rows } = new Evaluator(STORE).run(query);
    expect(expectedLines(columns, rows).sort()).toEqual(got.sort());
  });

  it('a symmetric relationship leads from rows that only a logic concept makes instances of its concept', async () => {
    // rows of person other than customers: the employees
    const likes = {
      name: 'likes',
      kind: 'mtm' as const,
      target: 'customer',
      source: [],
      references: [],
      inverse: null,
      transitive: 3,
      symmetric: true as const,
    };
    const plain = { parents: ['customer'], props: [], multi: [], key: [], label: [], rels: [] };
    const knows = STORE.mappings.find((m) => m.rel === 'knows')!;
    const end = (e: typeof knows.near) => ({ ...e!, concept: 'customer' });
    const world: World = {
      ...STORE,
      concepts: [
        ...STORE.concepts.map((c) => (c.name === 'customer' ? { ...c, rels: [...c.rels, likes] } : c)),
        { ...plain, name: 'anyone', logic: { schema: 'svc', concept: 'person', cond: op('>', 'bool', col('', [], { k: 'prop', name: 'id' }, 'int'), num(0)) } },
      ],
      mappings: [...STORE.mappings, { ...knows, name: 'map_likes', rel: 'likes', near: end(knows.near), far: end(knows.far) }],
    };
    const pairs = 'SELECT k.a, k.b FROM t.knows k UNION SELECT k.b, k.a FROM t.knows k';
    for (const [star, sql] of [
      [null, pairs],
      [1, pairs],
      [2, `${pairs} UNION SELECT f.a, g.b FROM (${pairs}) f JOIN t.cust m ON m.id = f.b JOIN (${pairs}) g ON g.a = m.id`],
    ] as const) {
      const query = select('anyone', { a: p('id'), b: p('id', 'int', hop('likes', 'customer', star)) });
      const all = 'SELECT id FROM t.emp UNION ALL SELECT id FROM t.cust';
      const result = await db.query<{ j: string }>(
        `SELECT to_json(q)::text AS j FROM (SELECT x.id AS a, y.id AS b FROM (${all}) x LEFT JOIN ((${sql}) f JOIN t.cust y ON y.id = f.b) ON f.a = x.id) q`,
      );
      const { columns, rows } = new Evaluator(world).run(query);
      expect(expectedLines(columns, rows).sort()).toEqual(gotLines(result.rows.map((r) => JSON.parse(r.j) as Row)).sort());
    }
  });

  it.each(REFUSED)('refuses %s', (_, query) => {
    expect(() => new Evaluator(STORE).run(query)).toThrow(Refused);
  });

  it('prints what a caller would write', () => {
    const q = select(
      'customer',
      { a: agg('sum', p('freight', 'num', PLACED), 'num', eq(p('status', 'text', PLACED), text("o'x"))), b: p('no', 'int', { ...PLACED, tilde: true }) },
      { where: op('or', 'bool', eq(p('id'), num(1)), op('isnull', 'bool', topic)) },
    );
    expect(new Printer(STORE, { backQuotes: false }).query(q)).toBe(
      `SELECT sum(x."placed[order].freight") FILTER (WHERE x."placed[order].status" = 'o''x') AS a, x."~placed_by[order].no" AS b FROM dsvc.customer x WHERE (x.id = 1) OR (x.topic IS NULL)`,
    );
  });
});
