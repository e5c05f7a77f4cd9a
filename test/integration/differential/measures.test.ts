/** The second opinion on measures, views, cubes and ordered calls, checked against SQL written by hand over the tables. */
import type { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memoryDatabase } from '../../support/databases/memory.ts';
import type { Row } from './compare.ts';
import { expectedLines, gotLines } from './compare.ts';
import { ddlOf } from './ddl.ts';
import { Evaluator } from './evaluate.ts';
import type { Agg, Col, CubeMeasure, Expr, FromItem, Hop, Item, Kind, Mea, Query, Select } from './expr.ts';
import { agg, col, lit, op } from './expr.ts';
import { BLANK } from './gen-expr.ts';
import { Printer } from './print.ts';
import { STORE } from './store.ts';
import type { MeasureSpec, World } from './world.ts';

const hop = (rel: string, bracket: string): Hop => ({ rel: rel.replace('~', ''), inv: rel.startsWith('~'), tilde: rel.startsWith('~'), bracket, star: null });
const p = (name: string, kind: Kind, ...path: Hop[]): Col => col('x', path, { k: 'prop', name }, kind);
const own = (name: string, kind: Kind): Col => col('', [], { k: 'prop', name }, kind);
const mref = (name: string): Expr => ({ k: 'mref', name, kind: 'num' });
const grp = (i: number, kind: Kind): Expr => ({ k: 'grp', i, kind });
const m = (name: string, path: Hop[] = [], filter: Expr | null = null): Mea => ({ k: 'mea', fn: 'max', rel: 'x', path, name, filter, kind: 'num' });
const out = (name: string, kind: Kind): Col => col('x', [], { k: 'out', name }, kind);
const cm = (name: string, fn: CubeMeasure['fn'] = null): CubeMeasure => ({ k: 'cm', fn, rel: 'x', name, filter: null, kind: 'num' });
const source = (src: FromItem['src'], alias = 'x'): FromItem => ({ alias, join: 'first', on: null, src, lateral: false });
const select = (from: string | FromItem[], list: Record<string, Expr>, rest: Partial<Select> = {}): Query & { readonly body: Select } => ({
  ctes: [],
  body: {
    ...BLANK,
    from: typeof from === 'string' ? [source({ k: 'concept', schema: 'dsvc', concept: from })] : from,
    items: Object.entries(list).map(([as, e]): Item => ({ k: 'expr', e, as })),
    ...rest,
  },
});

const ORDER = hop('placed_by', 'customer');
const PLACED = hop('~placed_by', 'order');
const INCLUDES = hop('includes', 'item');
const HELD = hop('~includes', 'order');
const sent = op('=', 'bool', own('status', 'text'), lit('sent', 'text'));
const measure = (name: string, expr: Expr, filter: Expr | null = null): MeasureSpec => ({ name, type: 'double', kind: 'num', expr, filter });

const status = p('status', 'text');
const sales = select('order', { state: status, sku: p('sku', 'text', INCLUDES), cost: m('cost'), n: agg('count', p('no', 'int'), 'int') });
const seen = select('customer', { who: p('id', 'int'), what: p('status', 'text', PLACED) });
const WORLD: World = {
  ...STORE,
  measures: [
    measure('cost', agg('sum', own('freight', 'num'), 'num')),
    measure('sent', agg('sum', own('freight', 'num'), 'num'), sent),
    measure('orders', agg('count', null, 'int')),
    measure('spread', op('-', 'num', mref('cost'), op('coalesce', 'num', mref('sent'), lit(0, 'int')))),
    measure('trust', agg('sum', own('credit', 'num'), 'num')),
    measure('wrapped', op('+', 'num', agg('max', mref('cost'), 'num', sent), agg('count', null, 'int', sent))),
  ],
  concepts: STORE.concepts.map((c) =>
    c.name === 'order' ? { ...c, measures: ['cost', 'sent', 'orders', 'spread', 'wrapped'] } : c.name === 'customer' ? { ...c, measures: ['trust'] } : c,
  ),
  views: [
    { name: 'sales', cube: true, q: sales, kinds: [['state', 'text'], ['sku', 'text'], ['cost', 'num'], ['n', 'int']] },
    { name: 'seen', cube: false, q: seen, kinds: [['who', 'int'], ['what', 'text']] },
  ],
}; // biome-ignore format: the columns on one line

const cube = [source({ k: 'cube', name: 'sales' })];
const beside = col('y', [], { k: 'prop', name: 'status' }, 'text');
const view = [source({ k: 'view', name: 'seen' })];
const ordered = (fn: Agg['fn'], arg: Expr, kind: Kind, by: Expr): Agg => ({ ...agg(fn, arg, kind), order: [{ e: by, desc: true }] });
const HELD_BY = '(SELECT DISTINCT i.sku, o.no, o.freight, o.status FROM t.item i JOIN t.inc l ON l.sku = i.sku JOIN t.ord o ON o.no = l.no)';

const CASES: [string, Query, string][] = [
  [
    'a measure of the root in groups, its condition as FILTER',
    select('order', { s: grp(0, 'text'), a: m('cost'), b: m('sent'), c: m('orders'), d: m('spread') }, { group: [status] }),
    `SELECT status AS s, sum(freight) AS a, sum(freight) FILTER (WHERE status = 'sent') AS b, count(*) AS c, sum(freight) - coalesce(sum(freight) FILTER (WHERE status = 'sent'), 0) AS d FROM t.ord GROUP BY status`,
  ],
  [
    'a measure along a to-many path, 0 or NULL without related rows',
    select('customer', { s: grp(0, 'int'), a: m('cost', [PLACED]), b: m('orders', [PLACED]) }, { group: [p('id', 'int')] }),
    'SELECT c.id AS s, sum(o.freight) AS a, count(o.no) AS b FROM t.cust c LEFT JOIN t.ord o ON o.cust = c.id GROUP BY c.id',
  ],
  [
    'a measure along a to-one path takes each thing once',
    select('order', { a: m('trust', [ORDER]) }),
    'SELECT sum(credit) AS a FROM t.cust WHERE id IN (SELECT cust FROM t.ord)',
  ],
  [
    'a measure along link rows takes each thing of the group once',
    select('item', { s: grp(0, 'text'), a: m('cost', [HELD]), b: m('orders', [HELD]) }, { group: [p('sku', 'text')] }),
    `SELECT i.sku AS s, sum(x.freight) AS a, count(x.no) AS b FROM t.item i LEFT JOIN ${HELD_BY} x ON x.sku = i.sku GROUP BY i.sku`,
  ],
  [
    'a measure as a whole takes each thing once',
    select('item', { a: m('cost', [HELD]) }),
    `SELECT sum(freight) AS a FROM (SELECT DISTINCT no, freight FROM ${HELD_BY} x) y`,
  ],
  [
    'FILTER narrows the things; the measure’s path joins nothing for COUNT(*)',
    select('customer', { a: m('cost', [PLACED], op('=', 'bool', p('id', 'int'), lit(1, 'int'))), n: agg('count', null, 'int') }),
    'SELECT sum(o.freight) FILTER (WHERE o.cust = 1) AS a, (SELECT count(*) FROM t.cust) AS n FROM t.ord o',
  ],
  [
    'a cube is grouped by the dimension that is selected',
    select(cube, { s: out('state', 'text'), a: cm('cost'), b: cm('n') }),
    'SELECT status AS s, sum(freight) AS a, count(no) AS b FROM t.ord GROUP BY status',
  ],
  [
    'a cube after WHERE on a dimension over a to-many path, its rows counted once',
    select(cube, { a: cm('cost', 'sum'), n: agg('count', null, 'int') }, { where: op('notnull', 'bool', out('sku', 'text')) }),
    'SELECT sum(freight) AS a, count(*) AS n FROM t.ord o WHERE EXISTS (SELECT 1 FROM t.inc l JOIN t.item i ON i.sku = l.sku WHERE l.no = o.no)',
  ],
  [
    'an aggregate around a measure in a definition marks it, its FILTER narrows it',
    select('order', { a: m('wrapped') }),
    "SELECT sum(freight) + count(*) AS a FROM t.ord WHERE status = 'sent'",
  ],
  [
    'GROUPING says which expressions a set leaves out',
    select(
      'order',
      { s: grp(0, 'text'), g: { k: 'grouping', of: [0, 1], kind: 'int' }, h: { k: 'grouping', of: [1], kind: 'int' }, n: agg('count', null, 'int') },
      { group: [status, p('client', 'int')], sets: { rollup: true, sets: [[0, 1], [0], []] } },
    ),
    'SELECT status AS s, GROUPING(status, cust) AS g, GROUPING(cust) AS h, count(*) AS n FROM t.ord GROUP BY ROLLUP (status, cust)',
  ],
  [
    'a cube joined with a concept: things once, rows as they are joined',
    select([...cube, { ...source({ k: 'concept', schema: 'svc', concept: 'order' }, 'y'), join: 'inner', on: op('=', 'bool', out('state', 'text'), beside) }], {
      s: grp(0, 'text'),
      a: cm('cost', 'sum'),
      b: cm('n', 'sum'),
    }, { group: [beside] }),
    `SELECT y.status AS s, (SELECT sum(freight) FROM t.ord o WHERE o.status = y.status) AS a, count(*) AS b
     FROM t.ord x JOIN t.ord y ON y.status = x.status GROUP BY y.status`,
  ],
  ['a single measure of a cube is one row', select(cube, { a: cm('cost') }), 'SELECT sum(freight) AS a FROM t.ord'],
  [
    'a view is its query',
    select(view, { a: out('who', 'int'), b: out('what', 'text') }),
    'SELECT c.id AS a, o.status AS b FROM t.cust c LEFT JOIN t.ord o ON o.cust = c.id',
  ],
  [
    'DISTINCT ON the first of an order',
    select('order', { a: status, b: p('no', 'int') }, {
      on: { n: 1, by: 'expr' },
      order: [{ by: 1, desc: false, nulls: null }, { by: 2, desc: true, nulls: null }],
    }),
    'SELECT status AS a, max(no) AS b FROM t.ord GROUP BY status',
  ],
  [
    'sorted and ordered-set calls, each at its own level',
    select('order', {
      a: ordered('string_agg', status, 'text', p('no', 'int')),
      b: ordered('array_agg', p('freight', 'num'), 'text', p('no', 'int')),
      c: agg('percentile_disc', p('no', 'int'), 'int'),
      d: agg('percentile_cont', p('freight', 'num'), 'num'),
      e: agg('mode', status, 'text'),
      f: agg('count', p('sku', 'text', INCLUDES), 'int'),
    }),
    `SELECT string_agg(status, ',' ORDER BY no DESC) AS a, array_to_string(array_agg(freight::float8 ORDER BY no DESC), ',', '~') AS b, percentile_disc(0.5) WITHIN GROUP (ORDER BY no) AS c,
      percentile_cont(0.5) WITHIN GROUP (ORDER BY freight) AS d, mode() WITHIN GROUP (ORDER BY status) AS e, (SELECT count(*) FROM t.inc l JOIN t.item i ON i.sku = l.sku JOIN t.ord o ON o.no = l.no) AS f FROM t.ord`,
  ],
]; // biome-ignore format: short trees on one line

describe('the second opinion on measures, cubes and views', () => {
  let db: PGlite;
  beforeAll(async () => {
    db = await memoryDatabase();
    await db.exec(ddlOf(WORLD));
  });
  afterAll(() => db.close());

  it.each(CASES)('%s', async (_, query, sql) => {
    const result = await db.query<{ j: string }>(`SELECT to_json(q)::text AS j FROM (${sql}) q`);
    const got = gotLines(result.rows.map((r) => JSON.parse(r.j) as Row));
    const { columns, rows } = new Evaluator(WORLD).run(query);
    expect(expectedLines(columns, rows).sort()).toEqual(got.sort());
  });

  it('prints measures as a caller would write them', () => {
    const printer = new Printer(WORLD, { backQuotes: false });
    expect(printer.query(select('customer', { a: m('cost', [PLACED], op('notnull', 'bool', p('id', 'int'))) }))).toBe(
      'SELECT max(x."measure.~placed_by[order].cost") FILTER (WHERE x.id IS NOT NULL) AS a FROM dsvc.customer x',
    );
    expect(printer.query(select(cube, { s: out('state', 'text'), a: cm('cost') }))).toBe('SELECT x.state AS s, x.cost AS a FROM vsvc.sales x');
  });
});
