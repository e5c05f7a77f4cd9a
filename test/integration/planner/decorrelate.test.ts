/**
 * Correlated sub-queries that a distributed datasource refuses: the rewritten statements return the rows of the written ones. Both are plain SQL, so one undistributed database runs both.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadNodeParser } from '../../../src/cli/node-parser.ts';
import { type LogicalPlan, logicalPlan } from '../../../src/planner/logical/index.ts';
import { decorrelate } from '../../../src/planner/lower/decorrelate.ts';
import { verify } from '../../../src/planner/verify/index.ts';
import { PlannedTables } from '../../support/planned.ts';
import { sizesOf } from '../../support/sizes.ts';
import { Rng } from '../differential/rng.ts';

const SIZES = sizesOf('integration/planner/decorrelate');
const parser = await loadNodeParser();
const REWRITE = { rewrite: decorrelate };

/** Keys with NULLs, duplicates, and values that occur on one side only. Two mappings give `item`. */
const values = (rng: Rng, n: number): string =>
  Array.from({ length: n }, (_, i) => {
    const or = (value: string): string => (rng.chance(20) ? 'NULL' : value);
    const k = rng.int(0, 6);
    return `(${i}, ${or(String(k))}, ${or(`'${'abAB'[rng.int(0, 3)]}'`)}, ${or(`${rng.int(0, 4)}.${rng.pick(['0', '00', '5'])}`)}, ${or(`'2026-01-0${rng.int(1, 4)}'`)}, ${or(String(rng.int(0, 5)))}, ${or(`${rng.int(0, 30)}.5`)}, ${or(rng.pick(['true', 'false']))})`;
  }).join(', ');

const TABLES = (() => {
  const rng = Rng.of('rows');
  const create = (name: string): string =>
    `CREATE TABLE s.${name} (id integer PRIMARY KEY, k integer, kt text, kn numeric, kd date, v bigint, n numeric, f boolean);`;
  return `CREATE SCHEMA s; ${['head', 'item_a', 'item_b'].map((t) => `${create(t)} INSERT INTO s.${t} VALUES ${values(rng, t === 'head' ? 40 : 30)};`).join('\n')}
    CREATE TABLE s.bare (id integer PRIMARY KEY, k integer); DELETE FROM s.item_b WHERE id < 3`;
})();
const columns = 'k, kt, kn, kd, v, n, f';
const properties = 'k bigint, kt string, kn decimal, kd date, v bigint, n decimal, f boolean';
const MODEL = `CREATE PROPERTY share decimal AS SELECT n / v;
  CREATE CONCEPT head (hid integer, ${properties}, PRIMARY KEY (hid));
  CREATE CONCEPT item (iid integer, head_id bigint, ${properties}, share decimal, PRIMARY KEY (iid),
    CONSTRAINT of_head FOREIGN KEY (head_id) REFERENCES head (hid) INVERSEOF has_item);
  CREATE CONCEPT bare (bid integer, k bigint, PRIMARY KEY (bid));
  CREATE CONCEPT good_item INHERITS (item) FROM svc.item WHERE f;
  CREATE CONCEPT busy INHERITS (head) FROM dsvc.head WHERE "has_item[item].v" > 2;
  CREATE MAPPING m_head INTO head AS SELECT id AS hid, ${columns} FROM s.head;
  CREATE MAPPING m_a INTO item AS SELECT id AS iid, v AS head_id, ${columns} FROM s.item_a;
  CREATE MAPPING m_b INTO item AS SELECT 100 + id AS iid, v AS head_id, ${columns} FROM s.item_b;
  CREATE MAPPING m_bare INTO bare AS SELECT id AS bid, k FROM s.bare`;

let tables: PlannedTables;
beforeAll(async () => {
  tables = await PlannedTables.open(TABLES, `CREATE ONTOLOGY pairs; ${MODEL}`, 'pairs');
});
afterAll(() => tables?.close());

/** Expects equal rows. @returns true if the statement was rewritten */
async function same(query: string): Promise<boolean> {
  const written = tables.plan(query);
  const rewritten = tables.plan(query, REWRITE);
  expect(rewritten.isRewritten).toBe(true);
  verify(parser, rewritten.sql, rewritten.declared);
  expect(await tables.rows(query, REWRITE), query).toEqual(await tables.rows(query));
  return written.sql !== rewritten.sql;
}

/** Sub-queries over `item` that are correlated with `h`. */
class Queries {
  readonly #rng: Rng;

  constructor(seed: number) {
    this.#rng = Rng.of(String(seed));
  }

  #link(): string {
    const one = (c: string): string => this.#rng.pick([`i.${c} = h.${c}`, `h.${c} = i.${c}`]);
    const names = this.#rng.pick([['k'], ['k'], ['kt'], ['kn'], ['kd'], ['k', 'kt'], ['f', 'v'], ['k', 'v', 'kd']]);
    return names.map(one).join(' AND ');
  }

  #rest(): string {
    return this.#rng.pick([
      '',
      '',
      ' AND i.v > 2',
      ' AND i.f',
      " AND i.kt IS NOT NULL AND i.kd >= DATE '2026-01-02'",
      ' AND (i.v = 1 OR i.n IS NULL)',
      ' AND false',
    ]);
  }

  #from(): string {
    return this.#rng.pick(['svc.item i', 'svc.item i', 'svc.good_item i', 'dsvc.item i JOIN svc.bare b ON b.k = i.k']);
  }

  #aggregate(): string {
    return this.#rng.pick([
      ...['AVG(i.n)', '0.2 * AVG(i.n)', 'SUM(i.v)', 'MIN(i.v)', 'MAX(i.n)', 'COUNT(*)', 'COUNT(i.v)', 'COUNT(DISTINCT i.v)', 'COALESCE(SUM(i.n), 0)'],
      ...['COUNT(*) + MAX(i.v)', 'SUM(i.v) FILTER (WHERE i.f)', 'COUNT(*) FILTER (WHERE i.v > 1)', 'CASE WHEN COUNT(*) = 0 THEN -1 ELSE MIN(i.v) END'],
    ]);
  }

  #where(): string {
    return `FROM ${this.#from()} WHERE ${this.#link()}${this.#rest()}`;
  }

  condition(depth = 2): string {
    const compared = this.#rng.pick(['h.v', 'h.n', '2', 'h.hid', 'h.v + 1']);
    const scalar = `(SELECT ${this.#aggregate()} ${this.#where()})`;
    const differs = this.#rng.pick(['', '', ' AND i.v <> h.v', ' AND h.n <> i.n', ' AND i.kt <> h.kt', ' AND i.iid <> h.v']);
    const exists = `EXISTS (SELECT ${this.#rng.pick(['1', 'i.v', '*'])} ${this.#where()}${differs})`;
    const simple = this.#rng.pick([
      `${compared} ${this.#rng.pick(['<', '>=', '=', '<>'])} ${scalar}`,
      `${scalar} IS NULL`,
      `COALESCE(${scalar}, 3) > ${compared}`,
      `${compared} BETWEEN ${scalar} AND 9`,
      exists,
      `NOT ${exists}`,
      `(${exists}) IS TRUE`,
      `h.v IN (SELECT i.v ${this.#where()})`,
      `h.v NOT IN (SELECT i.v ${this.#where()})`,
      `h.k IN (SELECT i.k FROM svc.item i WHERE i.v < (SELECT AVG(j.v) FROM svc.item j WHERE j.k = i.k AND j.kt = i.kt))`,
      `h.f`,
    ]);
    if (depth === 0 || this.#rng.chance(50)) return simple;
    const [a, b] = [this.condition(depth - 1), this.condition(depth - 1)];
    return this.#rng.pick([`${a} AND ${b}`, `${a} AND ${b}`, `(${a} OR ${b})`, `NOT (${a})`, `(CASE WHEN h.f THEN ${a} ELSE ${b} END)`]);
  }

  #value(): string {
    const scalar = `(SELECT ${this.#aggregate()} ${this.#where()})`;
    return this.#rng.pick([scalar, `COALESCE(${scalar}, -1)`, `EXISTS (SELECT 1 ${this.#where()})`, `CASE WHEN h.f THEN ${scalar} END`]);
  }

  query(): string {
    const where = this.condition();
    return this.#rng.pick([
      `SELECT h.hid FROM svc.head h WHERE ${where}`,
      `SELECT h.hid, h.k FROM svc.head h WHERE ${where} ORDER BY h.k DESC NULLS LAST, h.hid LIMIT 7`,
      `SELECT COUNT(*) AS n, SUM(h.n) AS s FROM svc.head h WHERE ${where}`,
      `SELECT h.f, COUNT(*) AS n FROM svc.head h WHERE ${where} GROUP BY h.f`,
      `SELECT h.hid, h."has_item[item].v" AS v FROM dsvc.head h WHERE ${where}`,
      `SELECT h.f, COUNT(h."has_item[item].entity_id") AS n, SUM(h.n) AS s FROM dsvc.head h WHERE ${where} GROUP BY h.f`,
      `SELECT h.hid, o.k FROM svc.head h, svc.head o WHERE o.hid = h.hid AND ${where}`,
      `SELECT h.hid, o.bid FROM svc.head h LEFT JOIN svc.bare o ON o.k = h.k WHERE ${where}`,
      `SELECT h.hid, ${this.#value()} AS x FROM svc.head h WHERE ${where}`,
      `SELECT DISTINCT h.f, ${this.#value()} AS x FROM svc.head h LEFT JOIN svc.bare o ON o.k = h.k`,
      `SELECT h.hid, rank() OVER (ORDER BY h.v, h.hid) AS r, ${this.#value()} AS x FROM svc.head h WHERE ${where} ORDER BY x, h.hid LIMIT 9`,
    ]);
  }
}

describe('generated sub-queries', () => {
  it('have the rows of those that are written', async () => {
    let rewritten = 0;
    for (let seed = 1; seed <= SIZES.queries; seed++) if (await same(new Queries(seed).query())) rewritten++;
    expect(rewritten).toBeGreaterThan((SIZES.queries < 400 ? 0.6 : 0.625) * SIZES.queries);
  });
});

/** Outer joins whose rows without a partner WHERE removes, or keeps, and grouping sets. */
class Joined {
  readonly #rng: Rng;

  constructor(seed: number) {
    this.#rng = Rng.of(`joined ${seed}`);
  }

  query(): string {
    const { pick } = { pick: (list: readonly string[]): string => this.#rng.pick(list) };
    const path = pick(['has_item[item].', 'has_item[item].of_head[head].', 'has_item[good_item].']);
    const of = (alias: string, name: string): string => (alias === 'h' ? `h."${path}${name}"` : `${alias}.${name}`);
    const on = (alias: string): string =>
      pick([
        ...[
          `${of(alias, 'v')} > 1`,
          `2 >= ${of(alias, 'v')}`,
          `${of(alias, 'kt')} IN ('a', 'b')`,
          `${of(alias, 'kt')} LIKE 'a%'`,
          `${of(alias, 'k')} BETWEEN 1 AND 4`,
        ],
        ...[
          `${of(alias, 'n')} IS NOT NULL`,
          `${of(alias, 'f')} IS NULL`,
          `COALESCE(${of(alias, 'v')}, 3) > 1`,
          `(${of(alias, 'v')} = 1 OR h.v = 2)`,
          `NOT ${of(alias, 'f')}`,
        ],
        ...[`${of(alias, 'k')} = h.k`, `${of(alias, 'kt')} IS DISTINCT FROM 'a'`, `h.v > 0`],
      ]);
    const where = (alias: string): string => `${on(alias)} AND ${on(alias)}`;
    const chain = `svc.head h ${pick(['LEFT', 'RIGHT', 'FULL', 'INNER'])} JOIN svc.item i ON i.k = h.k ${pick(['LEFT', 'LEFT', 'RIGHT', 'FULL'])} JOIN svc.bare b ON b.k = i.v`;
    const sets = pick(['ROLLUP (h.f, h.kt)', 'CUBE (h.f, h.kt)', 'GROUPING SETS ((h.f), (h.kt), ())', 'h.f, ROLLUP (h.kt)']);
    return pick([
      `SELECT COUNT(h."${path}entity_id") AS n, COUNT(h."${path}iid") AS m FROM dsvc.head h WHERE ${where('h')}`.replaceAll(
        'of_head[head].iid',
        'of_head[head].hid',
      ),
      `SELECT h.hid, h."${path}v" AS v, h."${path}entity_type" AS t FROM dsvc.head h WHERE ${where('h')}`,
      `SELECT h.hid, i.iid, b.bid FROM ${chain} WHERE ${where('i')}`,
      `SELECT COUNT(*) AS n, COUNT(x.c) AS m FROM (SELECT 'c' AS c, h.hid, i.v FROM ${chain}) x WHERE x.v > ${pick(['1', 'x.hid'])}`,
      `SELECT COUNT(*) AS n FROM (SELECT i.v, count(*) OVER () AS c FROM ${chain}) x WHERE x.v > 1 AND x.c > 3`,
      `SELECT COUNT(*) AS n FROM (SELECT h.hid, i.v FROM ${chain} ORDER BY i.v NULLS FIRST, h.hid LIMIT 20) x WHERE x.v > 1`,
      `SELECT h.f, h.kt, GROUPING(h.kt) AS g, COUNT(*) AS n, SUM(h.n) AS s FROM svc.head h WHERE ${pick(['h.v > 1', 'true', 'h.k IN (SELECT i.k FROM svc.item i)'])} GROUP BY ${sets}`,
      `SELECT h.f, COUNT(h."has_item[item].iid") AS n FROM dsvc.head h WHERE ${where('h')} GROUP BY ROLLUP (h.f)`,
    ]);
  }
}

it('generated outer joins and grouping sets have the rows of those that are written', async () => {
  let rewritten = 0;
  for (let seed = 1; seed <= SIZES.joined; seed++) if (await same(new Joined(seed).query())) rewritten++;
  expect(rewritten).toBeGreaterThan(0.4 * SIZES.joined);
});

describe('outer joins and grouping sets that are rewritten', () => {
  it.each([
    ['SELECT COUNT("has_item[item].iid") AS n FROM dsvc.head WHERE "has_item[item].v" <> 2', / LEFT JOIN /],
    ['SELECT h.hid, b.bid FROM svc.head h LEFT JOIN svc.bare b ON b.k = h.k WHERE b.bid > 1', / LEFT JOIN /],
    ['SELECT h.hid, b.bid FROM svc.head h LEFT JOIN (SELECT k, bid FROM svc.bare WHERE false) b ON b.k = h.k', /WHERE false/],
    ['SELECT f, GROUPING(f) AS g FROM svc.head h WHERE v > 1 GROUP BY ROLLUP (f)', /AS h WHERE [^)]* GROUP BY/],
  ])('%s', async (query, written) => {
    expect(await same(query)).toBe(true);
    expect(tables.plan(query).sql).toMatch(written);
    expect(tables.plan(query, REWRITE).sql).not.toMatch(written);
  });

  it.each([
    ['SELECT h.hid FROM svc.head h LEFT JOIN svc.bare b ON b.k = h.k WHERE b.bid IS NULL'],
    ['SELECT h.hid FROM svc.head h LEFT JOIN svc.bare b ON b.k = h.k WHERE COALESCE(b.bid, 1) = 1'],
    ['SELECT h.hid, b.n FROM svc.head h LEFT JOIN (SELECT COUNT(*) AS n FROM svc.bare WHERE false) b ON b.n = h.k'],
    ['SELECT h.hid FROM svc.head h FULL JOIN svc.bare b ON b.k = h.k WHERE b.bid = 1'],
    ['SELECT x.hid FROM (SELECT h.hid, b.bid, count(*) OVER () AS n FROM svc.head h LEFT JOIN svc.bare b ON b.k = h.k) x WHERE x.bid = 1'],
    ['SELECT x.bid FROM (SELECT h.hid, b.bid FROM svc.head h LEFT JOIN svc.bare b ON b.k = h.k) x(bid, hid) WHERE x.bid > 1'],
    ['SELECT j.iid FROM (svc.head h LEFT JOIN svc.bare j ON j.k = h.k) x JOIN svc.item j ON j.iid = x.hid WHERE j.v > 1'],
  ])('is left as it is: %s', async (query) => {
    expect(await same(query)).toBe(false);
    expect(tables.plan(query, REWRITE).sql).toBe(tables.plan(query).sql);
  });
});

describe('sub-queries that are rewritten', () => {
  it.each([
    ['SELECT hid FROM svc.head h WHERE n < (SELECT 0.2 * AVG(i.n) FROM svc.item i WHERE i.k = h.k)', /LEFT JOIN .* GROUP BY/],
    ['SELECT hid FROM svc.head h WHERE v = (SELECT COUNT(*) FROM svc.item i WHERE i.k = h.k)', /COALESCE\(.*, 0\)/],
    ['SELECT hid FROM svc.head h WHERE EXISTS (SELECT 1 FROM svc.item i WHERE i.k = h.k)', /WHERE h\.k IN \(SELECT/],
    ['SELECT hid FROM svc.head h WHERE NOT EXISTS (SELECT 1 FROM svc.item i WHERE i.k = h.k)', /h\.k IS NULL OR NOT \(?h\.k IN \(SELECT/],
    ['SELECT hid FROM svc.head h WHERE v IN (SELECT i.v FROM svc.item i WHERE i.k = h.k)', /\(h\.k, h\.v\) IN \(SELECT/],
    ['SELECT hid FROM svc.head h WHERE EXISTS (SELECT 1 FROM svc.item i WHERE i.k = h.k AND i.v <> h.v)', /min\(.*max\(.*GROUP BY/],
    ['SELECT hid FROM svc.head h WHERE NOT EXISTS (SELECT 1 FROM svc.item i WHERE i.k = h.k AND h.kt <> i.kt)', /IS NOT TRUE/],
    ['SELECT hid, (SELECT COUNT(*) FROM svc.item i WHERE i.k = h.k) AS n FROM svc.head h', /LEFT JOIN .* GROUP BY/],
    ['SELECT hid, EXISTS (SELECT 1 FROM svc.item i WHERE i.k = h.k) AS e FROM svc.head h', /h\.k IS NOT NULL AND h\.k IN \(SELECT/],
    ['SELECT hid FROM svc.head h WHERE NOT EXISTS (SELECT 1 FROM svc.item i WHERE i.k = h.k) UNION ALL SELECT bid FROM svc.bare', /NOT \(?h\.k IN/],
    // the condition of the concept and the path give their rows the same alias
    ['SELECT hid, "has_item[item].v" AS v FROM dsvc.busy', /"~1"\.hid IN \(SELECT/],
    // conditions of paths become EXISTS
    ['SELECT f, COUNT(hid) AS n FROM dsvc.head WHERE "has_item[item].iid" IS NULL GROUP BY f', /NOT \(head\.hid IS NOT NULL AND head\.hid IN \(SELECT/],
    ['SELECT f, COUNT(hid) AS n FROM dsvc.head WHERE "has_item[item].v" > 2 GROUP BY f', /IN \(SELECT/],
  ])('%s', async (query, sql) => {
    expect(await same(query)).toBe(true);
    expect(tables.plan(query, REWRITE).sql).toMatch(sql);
    expect(tables.plan(query).sql).not.toMatch(sql);
  });
});

describe('sub-queries that are left as they are', () => {
  const scalar = (select: string): string => `SELECT hid FROM svc.head h WHERE v < (SELECT ${select})`;
  it.each([
    ['more than equality', scalar('AVG(i.v) FROM svc.item i WHERE i.k = h.k AND i.n < h.n')],
    ['columns that differ and an aggregate', scalar('AVG(i.v) FROM svc.item i WHERE i.k = h.k AND i.n <> h.n')],
    ['two pairs of columns that differ', 'SELECT hid FROM svc.head h WHERE EXISTS (SELECT 1 FROM svc.item i WHERE i.k = h.k AND i.n <> h.n AND i.v <> h.v)'],
    ['flags that differ', 'SELECT hid FROM svc.head h WHERE EXISTS (SELECT 1 FROM svc.item i WHERE i.k = h.k AND i.f <> h.f)'],
    ['values of two types that differ', 'SELECT hid FROM svc.head h WHERE EXISTS (SELECT 1 FROM svc.item i WHERE i.k = h.k AND i.n <> h.v)'],
    ['only columns that differ', 'SELECT hid FROM svc.head h WHERE EXISTS (SELECT 1 FROM svc.item i WHERE i.v <> h.v)'],
    ['another type', scalar('AVG(i.v) FROM svc.item i WHERE i.v = h.kn')],
    ['a computed link', scalar('AVG(i.v) FROM svc.item i WHERE i.k = h.k + 1')],
    ['columns of the outer row', scalar('AVG(i.v) + h.n FROM svc.item i WHERE i.k = h.k')],
    ['an aggregate of the outer row', 'SELECT f FROM svc.head h GROUP BY f HAVING SUM(v) > (SELECT SUM(h.v) FROM svc.item i WHERE i.f = h.f)'],
    ['LIMIT', scalar('i.v FROM svc.item i WHERE i.k = h.k ORDER BY i.iid LIMIT 1')],
    ['groups', scalar('MAX(i.v) FROM svc.item i WHERE i.k = h.k GROUP BY i.k')],
    ['HAVING', scalar('MAX(i.v) FROM svc.item i WHERE i.k = h.k HAVING COUNT(*) > 1')],
    [
      'an aggregate that depends on order',
      `SELECT hid FROM svc.head h WHERE (SELECT string_agg(i.kt, '' ORDER BY i.iid) FROM svc.item i WHERE i.k = h.k) = 'a'`,
    ],
    ['volatile functions', `${scalar('AVG(i.v) FROM svc.item i WHERE i.k = h.k')} AND random() < 2`],
    ['a division by a value of other rows', scalar('MAX(10 / i.v) FROM svc.item i WHERE i.k = h.k AND i.v <> 0')],
    ['a calculated property that divides', scalar('MAX(i.share) FROM svc.item i WHERE i.k = h.k AND i.v <> 0')],
    ['EXISTS of an aggregate', 'SELECT hid FROM svc.head h WHERE EXISTS (SELECT COUNT(*) FROM svc.item i WHERE i.k = h.k)'],
    ['EXISTS with OFFSET', 'SELECT hid FROM svc.head h WHERE EXISTS (SELECT 1 FROM svc.item i WHERE i.k = h.k OFFSET 1)'],
    [
      'a set operation',
      'SELECT hid FROM svc.head h WHERE EXISTS (SELECT 1 FROM svc.item i WHERE i.k = h.k UNION ALL SELECT 1 FROM svc.bare b WHERE b.k = h.k)',
    ],
    ['NOT IN', 'SELECT hid FROM svc.head h WHERE v NOT IN (SELECT i.v FROM svc.item i WHERE i.k = h.k)'],
    ['IN whose NULL counts', 'SELECT hid FROM svc.head h WHERE (v IN (SELECT i.v FROM svc.item i WHERE i.k = h.k)) IS NULL'],
    [
      'a block further outside',
      'SELECT hid FROM svc.head h WHERE EXISTS (SELECT 1 FROM svc.bare b WHERE v < (SELECT AVG(i.v) FROM svc.item i WHERE i.k = h.k AND i.v = b.k))',
    ],
    ['merged columns', 'SELECT k FROM svc.head h JOIN svc.bare b USING (k) WHERE EXISTS (SELECT 1 FROM svc.item i WHERE i.v = k)'],
    ['an aggregate beside it', 'SELECT MAX(h.v) AS v, (SELECT COUNT(*) FROM svc.item i WHERE i.f = h.f) AS n FROM svc.head h GROUP BY h.f'],
    ['IN with a window function', 'SELECT hid FROM svc.head h WHERE v IN (SELECT row_number() OVER () FROM svc.item i WHERE i.k = h.k)'],
    ['a window function', 'SELECT hid, (SELECT lag(MAX(i.v), 1, 7) OVER () FROM svc.item i WHERE i.k = h.k) AS v FROM svc.head h'],
    ['a value of several rows', 'SELECT hid, (SELECT generate_series(1, COUNT(*)) FROM svc.item i WHERE i.k = h.k) AS v FROM svc.head h'],
    ['no correlation', scalar('AVG(i.v) FROM svc.item i')],
  ])('%s', async (_, query) => {
    expect(tables.plan(query, REWRITE).sql).toBe(tables.plan(query).sql);
  });
});

describe('texts with a nondeterministic collation', () => {
  let own: PlannedTables;
  beforeAll(async () => {
    const table = (name: string, collation: string): string =>
      `CREATE TABLE s.${name} (id integer PRIMARY KEY, k text ${collation}, v text ${collation}, n numeric);`;
    own = await PlannedTables.open(
      `CREATE SCHEMA s; CREATE COLLATION s.ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
        ${table('head', 'COLLATE s.ci')} ${table('item', '')} ${table('other', 'COLLATE "C"')}
        INSERT INTO s.head VALUES (1, 'a', 'a', 1), (2, 'b', 'b', 2); INSERT INTO s.other SELECT * FROM s.head;
        INSERT INTO s.item VALUES (1, 'a', 'A', 1), (2, 'A', 'Z', 3), (3, 'a', 'a', 5), (4, 'b', 'b', 1)`,
      `CREATE ONTOLOGY texts; ${['head', 'item', 'other']
        .map(
          (t) =>
            `CREATE CONCEPT ${t} (id integer, k string, v string, n decimal, PRIMARY KEY (id)); CREATE MAPPING m_${t} INTO ${t} AS SELECT id, k, v, n FROM s.${t}`,
        )
        .join('; ')};
        CREATE CONCEPT inner_head (id integer, PRIMARY KEY (id));
        CREATE MAPPING m_inner INTO inner_head AS SELECT h.id FROM (SELECT id, k::text AS k FROM s.head) h
          WHERE (SELECT count(*) FROM (SELECT k::text AS k FROM s.item) i WHERE i.k = h.k) = 3`,
      'texts',
    );
  });
  afterAll(() => own?.close());

  it.each([
    ['SELECT id FROM svc.head h WHERE h.n <= (SELECT SUM(i.n) FROM svc.item i WHERE i.k = h.k)'],
    ['SELECT id FROM svc.head h WHERE (SELECT COUNT(*) FROM svc.item i WHERE i.k = h.k) = 3'],
    ['SELECT id FROM svc.head h WHERE EXISTS (SELECT 1 FROM svc.item i WHERE i.n = h.n AND i.v <> h.v)'],
    ['SELECT id FROM svc.inner_head'],
  ])('are not grouped by: %s', async (query) => {
    expect(own.plan(query, REWRITE).sql).toBe(own.plan(query).sql);
    expect(await own.rows(query, REWRITE)).toEqual(await own.rows(query));
  });

  it('are compared by lists, and those of other collations are grouped by', async () => {
    for (const query of [
      'SELECT id FROM svc.head h WHERE EXISTS (SELECT 1 FROM svc.item i WHERE i.k = h.k AND i.n > 2)',
      'SELECT id FROM svc.other h WHERE (SELECT COUNT(*) FROM svc.item i WHERE i.k = h.k) = 2',
    ]) {
      expect(own.plan(query, REWRITE).sql).not.toBe(own.plan(query).sql);
      expect(await own.rows(query, REWRITE)).toEqual(await own.rows(query));
    }
  });
});

it('sums of floating-point numbers, which may overflow for a group that no row needs, are left as they are', async () => {
  const values = 'id integer, k bigint, d double, n decimal';
  const own = await PlannedTables.open(
    `CREATE SCHEMA s; CREATE TABLE s.head (id integer PRIMARY KEY, k bigint); CREATE TABLE s.item (id integer PRIMARY KEY, k bigint, d double precision, n numeric);
      INSERT INTO s.head VALUES (1, 1); INSERT INTO s.item VALUES (1, 1, 2, 2), (2, 2, 1e308, 1), (3, 2, 1e308, 1)`,
    `CREATE ONTOLOGY sums; CREATE CONCEPT head (id integer, k bigint, PRIMARY KEY (id)); CREATE MAPPING m_head INTO head AS SELECT id, k FROM s.head;
      CREATE CONCEPT item (${values}, PRIMARY KEY (id)); CREATE MAPPING m_item INTO item AS SELECT id, k, d, n FROM s.item`,
    'sums',
  );
  try {
    const query = (value: string): string => `SELECT id FROM svc.head h WHERE 1 < (SELECT ${value} FROM svc.item i WHERE i.k = h.k)`;
    for (const value of [
      'SUM(i.d)',
      'AVG(i.d)',
      'COALESCE(stddev(i.d), 2)',
      'SUM(CASE WHEN i.n > 1 THEN i.d END)',
      'SUM(COALESCE(i.n, i.d))',
      'COUNT(*) + SUM(i.d)',
    ]) {
      expect(own.plan(query(value), REWRITE).sql, value).toBe(own.plan(query(value)).sql);
      expect(await own.rows(query(value), REWRITE), value).toEqual(['{"id":1}']);
    }
    for (const value of ['MAX(i.d)', 'SUM(i.n)', 'SUM(CASE WHEN i.n > 1 THEN 2 ELSE 0 END)', 'SUM(COALESCE(i.n, 0))']) {
      expect(own.plan(query(value), REWRITE).sql, value).not.toBe(own.plan(query(value)).sql);
      expect(await own.rows(query(value), REWRITE), value).toEqual(['{"id":1}']);
    }
  } finally {
    await own.close();
  }
});

it('the logical plan is the one of the written statement', () => {
  const logical = (changes: object): LogicalPlan | undefined => {
    let found: LogicalPlan | undefined;
    const inspect = (query: Parameters<typeof logicalPlan>[0]): void => {
      found = logicalPlan(query);
    };
    tables.plan('SELECT hid FROM svc.head h WHERE n < (SELECT AVG(i.n) FROM svc.item i WHERE i.k = h.k)', changes, { inspect });
    return found;
  };
  expect(logical(REWRITE)).toEqual(logical({}));
});
