/** The console's reading of plans, parameters and coordinates. */

import { describe, expect, it } from 'vitest';
import { LAND } from '../../../console/src/query/land.ts';
import { bind, parameterNames, valueSql } from '../../../console/src/query/parameters.ts';
import { viewOf } from '../../../console/src/query/places.ts';
import { planTree } from '../../../console/src/query/plan-tree.ts';
import { chosenIn } from '../../../console/src/query/shape.ts';

describe('parameters of a statement', () => {
  it('are names after a colon outside of texts, names, comments and casts', () => {
    const text = `SELECT ':a', ":b", n::int, $$ :c $$, $t$ :d $t$ -- :e
      /* :f */ FROM t WHERE x = :g AND y > :h AND z = :g`;
    expect(parameterNames(text)).toEqual(['g', 'h']);
    const { sql, missing } = bind(text, { g: "O'Hara", h: '10' });
    expect(sql).toBe(text.replaceAll(':g', "'O''Hara'").replace(':h', '10'));
    expect(missing).toEqual([]);
  });

  it('without a value are null and reported, also those with names of every object', () => {
    expect(bind('SELECT :a, :constructor', { a: '' })).toMatchObject({ sql: 'SELECT NULL, NULL', missing: ['a', 'constructor'] });
  });

  it('are numbers, true, false, null or texts', () => {
    expect(['7', '-1.5e3', 'TRUE', 'null', "'7'", '1; DROP', "it's", "'"].map(valueSql)).toEqual([
      '7',
      '(-1.5e3)',
      'TRUE',
      'null',
      "'7'",
      "'1; DROP'",
      "'it''s'",
      "''''",
    ]);
  });

  it('start no comment', () => {
    expect(bind('SELECT 5 -:x', { x: '-1' }).sql).toBe('SELECT 5 -(-1)');
  });

  it('keep the places of errors', () => {
    const text = 'SELECT :long_name, nmae, :b, x';
    const { sql, origin } = bind(text, { long_name: '1', b: 'a text that is longer' });
    for (const word of ['SELECT', 'nmae', 'x']) expect(text.slice(origin(word === 'x' ? sql.length - 1 : sql.indexOf(word))).startsWith(word), word).toBe(true);
    expect(origin(sql.indexOf('longer'))).toBe(text.indexOf(':b'));
  });
});

describe('the plan of EXPLAIN', () => {
  it('becomes a tree with estimates and conditions', () => {
    const [root, ...others] = planTree(`Sort  (cost=10.00..20.50 rows=5 width=4)
  Sort Key: a.n
  CTE w
    ->  Result  (cost=0.00..0.01 rows=1 width=4)
  ->  Hash Join  (cost=1.00..9.00 rows=7 width=4)
        Hash Cond: (a.n = b.n)
        ->  Seq Scan on a  (cost=0.00..1.00 rows=3 width=4)
        ->  Seq Scan on b  (cost=0.00..2.00 rows=4 width=4)`);
    expect(others).toEqual([]);
    expect(root).toMatchObject({ title: 'Sort', cost: 20.5, rows: 5, details: ['Sort Key: a.n'] });
    expect(root?.below.map((n) => n.title)).toEqual(['CTE w', 'Hash Join']);
    expect(root?.below[0]?.below.map((n) => n.title)).toEqual(['Result']);
    expect(root?.below[1]).toMatchObject({ details: ['Hash Cond: (a.n = b.n)'] });
    expect(root?.below[1]?.below.map((n) => [n.title, n.cost])).toEqual([
      ['Seq Scan on a', 1],
      ['Seq Scan on b', 2],
    ]);
  });

  it('in terms of the ontology becomes a tree', () => {
    const [root] = planTree('Limit\n  -> Sort by 1 expression\n    -> Read concept dsvc.order\n      -> Path made_by[customer] (to one)');
    expect(root).toMatchObject({ title: 'Limit', cost: null, below: [{ below: [{ title: 'Read concept dsvc.order', below: [{ details: [] }] }] }] });
  });
});

describe('the map', () => {
  const point = (latitude: number, longitude: number) => ({ row: 0, latitude, longitude, label: '' });
  it('shows all points within the world', () => {
    for (const points of [[point(38.7, -9.1), point(60, 25)], [point(89, 179), point(88, -179)], [point(0, 0)], [point(-90, -180)]]) {
      const [x, y, width, height] = viewOf(points);
      expect(width).toBe(2 * height);
      expect(x >= -180 && y >= -90 && x + width <= 180 && y + height <= 90).toBe(true);
      for (const p of points) expect(p.longitude >= x && p.longitude <= x + width && -p.latitude >= y && -p.latitude <= y + height).toBe(true);
    }
    expect(viewOf([])).toEqual([-180, -90, 360, 180]);
  });
});

describe('the outlines of the map', () => {
  it('have no line across the map', () => {
    for (const [, start = '', steps = ''] of LAND.matchAll(/M([^l]*)l([^z]*)z/g)) {
      let [x = 0, y = 0] = (start.match(/-?\d+/g) ?? []).map(Number);
      const numbers = (steps.match(/-?\d+/g) ?? []).map(Number);
      const first = x;
      for (let i = 0; i < numbers.length; i += 2) {
        const [dx, dy] = [numbers[i] ?? 0, numbers[i + 1] ?? 0];
        // the edge of the map at the South Pole
        if (y !== 90 || dy !== 0) expect(Math.abs(dx), `${x} ${y}`).toBeLessThan(180);
        x += dx;
        y += dy;
      }
      expect(Math.abs(first - x), `${start} to ${x} ${y}`).toBeLessThan(180);
    }
  });
});

it('does not take coordinates for the values of a chart', () => {
  const shape = { numbers: ['latitude', 'longitude', 'population'], times: [], others: ['name'] };
  expect(chosenIn(shape, null, null, null)).toEqual({ x: 'name', y: 'population', kind: 'bar' });
});
