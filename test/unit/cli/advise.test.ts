/** `kg advise`: the layouts that docs/scale-out.md has measured, from the models of TPC-H and of the world. */
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { graphOf, worldModel } from '../../../examples/world/graph.ts';
import { modelTables } from '../../../src/cli/advise-joins.ts';
import { type LayoutTable, layoutOf, movedRows, type Placing, type TableJoin } from '../../../src/cli/advise-layout.ts';
import { layoutLines } from '../../../src/cli/advise-text.ts';
import { main } from '../../../src/cli/kg.ts';
import { loadNodeParser } from '../../../src/cli/node-parser.ts';

const parser = await loadNodeParser();
const tpch = modelTables(graphOf(await readFile(new URL('../../../bench/tpch/model.kg', import.meta.url), 'utf8'), 'tpch', parser), parser, 'main');
const world = modelTables(graphOf(await worldModel(), 'world', parser), parser, 'MAIN');

type Facts = Partial<Omit<LayoutTable, 'key' | 'rows'>>;
const table = (key: string, rows: number, facts: Facts = {}): LayoutTable => ({ key, rows, types: new Map(), uniques: [], foreignKeys: [], ...facts });

const integers = (...names: string[]): LayoutTable['types'] => new Map(names.map((n) => [n, n.endsWith('orderkey') ? 'int8' : 'int4']));
/** The tables of TPC-H at a scale. */
const ofTpch = (scale: number): LayoutTable[] => [
  table('tpch.region', 5, { uniques: [['r_regionkey']] }),
  table('tpch.nation', 25, { uniques: [['n_nationkey']] }),
  table('tpch.supplier', 10_000 * scale, { types: integers('s_suppkey'), uniques: [['s_suppkey']] }),
  table('tpch.part', 200_000 * scale, { types: integers('p_partkey'), uniques: [['p_partkey']] }),
  table('tpch.partsupp', 800_000 * scale, { types: integers('ps_partkey', 'ps_suppkey'), uniques: [['ps_partkey', 'ps_suppkey']] }),
  table('tpch.customer', 150_000 * scale, { types: integers('c_custkey'), uniques: [['c_custkey']] }),
  table('tpch.orders', 1_500_000 * scale, { types: integers('o_orderkey', 'o_custkey'), uniques: [['o_orderkey']] }),
  table('tpch.lineitem', 6_000_000 * scale, {
    types: integers('l_orderkey', 'l_partkey', 'l_suppkey'),
    uniques: [['l_orderkey', 'l_linenumber']],
  }),
];
const columnsOf = (placings: readonly Placing[]) =>
  Object.fromEntries(placings.flatMap(({ key, column }) => (column === null ? [] : [[key.split('.')[1], column]])));
/** A layout by its distribution columns; tables with columns that a relationship joins are in one group. */
const placed = (tables: readonly LayoutTable[], columns: Readonly<Record<string, string>>, groups: readonly (readonly string[])[]): Placing[] =>
  tables.map(({ key }) => {
    const column = columns[key.split('.')[1] ?? ''] ?? null;
    const group = groups.find((g) => g.includes(key.split('.')[1] ?? ''))?.[0] ?? key;
    return { key, kind: column === null ? 'reference' : 'distributed', column, group };
  });

/** The layouts of the table in docs/scale-out.md. */
const BY_KEYS = { lineitem: 'l_orderkey', orders: 'o_orderkey', part: 'p_partkey', partsupp: 'ps_partkey', customer: 'c_custkey', supplier: 's_suppkey' };
const ORDERS = { lineitem: 'l_orderkey', orders: 'o_orderkey' };
const BY_CUSTOMERS = { lineitem: 'l_partkey', part: 'p_partkey', partsupp: 'ps_partkey', orders: 'o_custkey', customer: 'c_custkey' };
const GROUPS = [
  ['lineitem', 'orders'],
  ['part', 'partsupp'],
];

describe('the proposed layout', () => {
  it.each([0.01, 1])('of TPC-H at scale %d distributes orders with their items, and copies all others', (scale) => {
    expect(columnsOf(layoutOf(ofTpch(scale), tpch.joins).placings)).toEqual(ORDERS);
  });

  it('of TPC-H at scale 10 distributes each large table by its key', () => {
    const { supplier: _, ...columns } = BY_KEYS;
    const { placings } = layoutOf(ofTpch(10), tpch.joins);
    expect(columnsOf(placings)).toEqual(columns);
    const group = (name: string) => placings.find((p) => p.key === `tpch.${name}`)?.group;
    expect(group('lineitem')).toBe(group('orders'));
    expect(group('part')).toBe(group('partsupp'));
    expect(new Set(['lineitem', 'part', 'customer'].map(group)).size).toBe(3);
  });

  it.each([1, 10])('of TPC-H at scale %d moves no more rows than the measured ones', (scale) => {
    const tables = ofTpch(scale);
    const moved = (placings: readonly Placing[]) => movedRows(tables, tpch.joins, placings);
    const own = moved(layoutOf(tables, tpch.joins).placings);
    expect(own).toBeLessThanOrEqual(moved(placed(tables, BY_KEYS, GROUPS)));
    expect(own).toBeLessThan(
      moved(
        placed(tables, BY_CUSTOMERS, [
          ['lineitem', 'part', 'partsupp'],
          ['orders', 'customer'],
        ]),
      ),
    );
  });

  it('of the world distributes cities by their key, and copies all others', () => {
    const rows = { t_city: 160_000, t_country: 250, t_border: 650, t_country_lang: 430, t_region: 6, t_subregion: 24, t_lang: 180, t_curr: 160 };
    const keys = { t_city: 'geo_id', t_country: 'cc3' };
    const tables = Object.entries(rows).map(([name, n]) =>
      table(`world.${name}`, n, { types: new Map([['cc3', 'text']]), uniques: name in keys ? [[keys[name as 't_city']]] : [] }),
    );
    expect(columnsOf(layoutOf(tables, world.joins).placings)).toEqual({ t_city: 'geo_id' });
    expect([...world.tables]).toEqual(expect.arrayContaining(tables.map((t) => t.key)));
    expect(world.joins.filter((j) => j.isWalk).map((j) => j.by)).toEqual(expect.arrayContaining(['country.borders']));
  });

  it('puts only columns of one type together', () => {
    const join: TableJoin = { from: 's.a', to: 's.b', pairs: [['b', 'id']], by: 'a.to_b', isWalk: false };
    const tables = (type: string) => [
      table('s.a', 9, { types: new Map([['b', type]]), uniques: [['id']] }),
      table('s.b', 9, { types: new Map([['id', 'int8']]), uniques: [['id']] }),
    ];
    expect(columnsOf(layoutOf(tables('int8'), [join]).placings)).toEqual({ a: 'b', b: 'id' });
    const { placings } = layoutOf(tables('int4'), [join]);
    expect(columnsOf(placings)).toEqual({ a: 'id', b: 'id' });
    expect(new Set(placings.map((p) => p.group)).size).toBe(2);
  });
});

describe('the script of a layout', () => {
  const script = (tables: readonly LayoutTable[], joins: readonly TableJoin[]) => layoutLines(tables, joins, layoutOf(tables, joins)).join('\n');

  it('creates reference tables, then groups, with reasons', () => {
    const text = script(ofTpch(1), tpch.joins);
    expect(text).toContain('-- 2 distributed tables in 1 group, 6 reference tables');
    expect(text).toContain(
      "-- tpch.part: 200,000 rows, so each worker gets a copy and joins it without a request\nSELECT create_reference_table('tpch.part');",
    );
    expect(text).toContain('distributed by o_orderkey: lineitem.of_order joins it with tpch.lineitem');
    const statements = text.split('\n').filter((l) => l.startsWith('SELECT'));
    expect(statements.slice(-2)).toEqual([
      "SELECT create_distributed_table('tpch.orders', 'o_orderkey');",
      "SELECT create_distributed_table('tpch.lineitem', 'l_orderkey', colocate_with => 'tpch.orders');",
    ]);
    expect(text).not.toContain('one server is enough');
    expect(script(ofTpch(0.01), tpch.joins)).toContain('the largest table has 60,000 rows: one server is enough');
    expect(script(ofTpch(10), tpch.joins)).toMatch(/-- Citus moves rows between workers for .*lineitem\.offer/);
  });

  it('names constraints that Citus refuses, and quotes names', () => {
    const tables = [
      table('s.Order', 50, {
        types: new Map([['to', 'int4']]),
        uniques: [['id']],
        foreignKeys: [
          { name: 'a fk', columns: ['to'], target: 's.b', references: ['id'] },
          { name: 'kind_fk', columns: ['kind'], target: 's.kind', references: ['id'] },
        ],
      }),
      table('s.b', 40, { types: new Map([['id', 'int4']]), uniques: [['id']] }),
      table('s.kind', 1, { foreignKeys: [{ name: 'kind_b', columns: ['b'], target: 's.b', references: ['id'] }] }),
    ];
    const joins: TableJoin[] = [{ from: 's.Order', to: 's.b', pairs: [['to', 'id']], by: 'order.to', isWalk: true }];
    const text = script(tables, joins);
    expect(text).toContain('-- s.Order: drop the unique key (id) or add to to it first');
    expect(text).toContain('ALTER TABLE s.kind DROP CONSTRAINT kind_b;');
    expect(text).not.toContain('kind_fk');
    expect(text).not.toContain('a fk');
    expect(text).toContain(`create_distributed_table('s."Order"', 'to', colocate_with => 's.b')`);
    expect(text).toContain('walks by order.to read distributed tables');
  });

  it('leaves what Citus has already, and changes the rest', () => {
    const now = (kind: Placing['kind'], column: string | null, group: number) => ({ now: { kind, column, group } });
    const tables = ofTpch(1).map((t) => {
      if (t.key === 'tpch.orders') return { ...t, ...now('distributed', 'o_orderkey', 1) };
      if (t.key === 'tpch.lineitem') return { ...t, ...now('distributed', 'l_partkey', 2) };
      if (t.key === 'tpch.part') return { ...t, ...now('distributed', 'p_partkey', 2) };
      return t.key === 'tpch.nation' ? { ...t, ...now('reference', null, 3) } : t;
    });
    const text = script(tables, tpch.joins);
    expect(text).not.toContain("create_reference_table('tpch.nation')");
    expect(text).toContain('-- it is distributed so now');
    expect(text).toContain("SELECT alter_distributed_table('tpch.lineitem', distribution_column => 'l_orderkey', colocate_with => 'tpch.orders');");
    expect(text).toContain("SELECT undistribute_table('tpch.part');\nSELECT create_reference_table('tpch.part');");
  });

  it('says if a table has no column', () => {
    expect(script([table('s.log', 9)], [])).toContain('-- s.log: 9 rows, but no key and no relationship says by which column: it stays as it is');
  });
});

it.each([
  [['advise'], 'advise needs --ontology NAME'],
  [['advise', '-o', 'tpch', '--small', 'many'], '--small needs a number of rows'],
])('%j is refused', async (args, message) => {
  const err: string[] = [];
  expect(await main(args, { SESSION_FILE: '/none' }, { out: () => undefined, err: (l) => err.push(l) })).toBe(2);
  expect(err.join('\n')).toContain(message);
});
