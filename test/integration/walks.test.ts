/**
 * Walks (docs/design/paths-and-cardinality.md#walks) over random graphs against a breadth-first search in plain code: from either end, by foreign keys, links, keys
 * of two columns and inherited relationships; and how much PostgreSQL reads for them.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadNodeParser } from '../../src/cli/node-parser.ts';
import type { PlanContext } from '../../src/planner/index.ts';
import { decorrelate } from '../../src/planner/lower/decorrelate.ts';
import { walkSteps } from '../../src/planner/lower/walk-together.ts';
import { verify } from '../../src/planner/verify/index.ts';
import { SEED } from '../support/generated.ts';
import { PlannedTables } from '../support/planned.ts';
import { oneIn, sizesOf } from '../support/sizes.ts';
import { Rng } from './differential/rng.ts';

const SIZES = sizesOf('integration/walks');
const parser = await loadNodeParser();
const random = Rng.of(String(SEED));
/** A whole number from 0, below `n`. */
const pick = (n: number): number => random.int(0, n - 1);
const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i + 1);

type Edge = readonly [from: string | null, to: string | null, kind?: string];

const NODES = 60;
/** Links: some are equal, some lead to their own start, and some have an end that is NULL or the key of no row. */
const LINKS: readonly Edge[] = upTo(110).map(() => {
  const end = (): string | null => (pick(20) === 0 ? null : String(1 + pick(NODES + 4)));
  return [end(), end(), pick(3) === 0 ? 'weak' : 'strong'] as const;
});
/** Only rows with an even number are of the concept that declares the links; they lead to any row. */
const isHub = (key: string): boolean => Number(key) % 2 === 0;
/** A forest with cycles: each row refers to at most one other. */
const PARENTS: readonly Edge[] = upTo(NODES).map((i) => [`l${i}`, pick(8) === 0 ? null : `l${1 + pick(i < 40 ? i : NODES + 3)}`] as const);
/** A reference that is not to a key, so that a step may lead to several rows. */
const GROUPS: readonly (readonly [id: number, name: number, next: number])[] = upTo(40).map((i) => [i, pick(25), pick(25)] as const);

const value = (v: string | number | null): string => (v === null ? 'NULL' : typeof v === 'number' ? String(v) : `'${v}'`);
const rowsOf = (rows: readonly (readonly (string | number | null)[])[]): string => rows.map((r) => `(${r.map(value).join(', ')})`).join(', ');

const TABLES = `
CREATE TABLE node (id int PRIMARY KEY, grp int, name varchar(10));
INSERT INTO node SELECT i, i % 5, 'n' || i FROM generate_series(1, ${NODES}) i;
CREATE TABLE link (a bigint, b int, kind text);
INSERT INTO link VALUES ${rowsOf(LINKS.map(([a, b, kind = '']) => [a && Number(a), b && Number(b), kind]))};
CREATE TABLE leaf (code varchar(8), up text, size int);
INSERT INTO leaf VALUES ${rowsOf(PARENTS.map(([a, b], i) => [a, b, i % 3]))};
CREATE TABLE cell (x int, y int, nx int, ny int);
INSERT INTO cell SELECT x, y, CASE WHEN y < 4 THEN x WHEN x < 4 THEN x + 1 ELSE 1 END, CASE WHEN y < 4 THEN y + 1 WHEN (x + y) % 3 < 2 THEN 1 END
  FROM generate_series(1, 4) x, generate_series(1, 4) y;
CREATE TABLE pairs (x int, y int, tx int, ty int);
INSERT INTO pairs SELECT a.x, a.y, b.x, b.y FROM cell a, cell b WHERE (a.x * 5 + a.y * 3 + b.x * 7 + b.y) % 6 = 0;
INSERT INTO pairs VALUES (1, NULL, 1, 1), (1, 1, 2, NULL), (9, 9, 1, 1), (1, 1, 9, 9);
CREATE TABLE item (id int, name int, next int);
INSERT INTO item VALUES ${rowsOf(GROUPS)};
CREATE TABLE big (a int, b int);
INSERT INTO big SELECT i, 1 + (i * 7 + k * 131 + i * i % 101 * k) % 3000 FROM generate_series(1, 3000) i, generate_series(1, 5) k;
CREATE INDEX ON big (a); CREATE INDEX ON big (b);
CREATE TABLE town (id int PRIMARY KEY);
INSERT INTO town SELECT i FROM generate_series(1, 3000) i;
ANALYZE;
`;

const link = (name: string, back: string, concept: string, table: string): string =>
  `CREATE MAPPING map_${name} (CONSTRAINT ${name} FOREIGN KEY (b) REFERENCES ${concept} (id), CONSTRAINT ${back} FOREIGN KEY (a) REFERENCES ${concept} (id)) AS SELECT a, b FROM ${table};`;
const MODEL = `
CREATE ONTOLOGY graphs;
CREATE CONCEPT node (id bigint, grp int, name string, PRIMARY KEY (id), CONSTRAINT leads MULTIREFERENCE node INVERSEOF led TRANSITIVE,
  CONSTRAINT leads_strongly MULTIREFERENCE node INVERSEOF led_strongly TRANSITIVE);
CREATE CONCEPT hub (CONSTRAINT opens MULTIREFERENCE node INVERSEOF opened TRANSITIVE) INHERITS (node);
CREATE CONCEPT plain INHERITS (node);
CREATE CONCEPT leaf (code string, up string, size int, PRIMARY KEY (code), CONSTRAINT under FOREIGN KEY (up) REFERENCES leaf (code) INVERSEOF over TRANSITIVE);
CREATE CONCEPT cell (x int, y int, nx int, ny int, PRIMARY KEY (x, y), CONSTRAINT after FOREIGN KEY (nx, ny) REFERENCES cell (x, y) INVERSEOF before TRANSITIVE,
  CONSTRAINT touches MULTIREFERENCE cell INVERSEOF touched TRANSITIVE);
CREATE CONCEPT item (item_id int, item_name int, next int, PRIMARY KEY (item_id), CONSTRAINT goes FOREIGN KEY (next) REFERENCES item (item_name) INVERSEOF comes TRANSITIVE);
CREATE CONCEPT town (id bigint, PRIMARY KEY (id), CONSTRAINT road MULTIREFERENCE town INVERSEOF road_from TRANSITIVE);
CREATE MAPPING m_hub INTO hub AS SELECT id, grp, name FROM node WHERE id % 2 = 0;
CREATE MAPPING m_plain INTO plain AS SELECT id, grp, name FROM node WHERE id % 2 = 1;
CREATE MAPPING m_leaf INTO leaf AS SELECT code, up, size FROM leaf;
CREATE MAPPING m_cell INTO cell AS SELECT x, y, nx, ny FROM cell;
CREATE MAPPING m_item INTO item AS SELECT id AS item_id, name AS item_name, next FROM item;
CREATE MAPPING m_town INTO town AS SELECT id FROM town;
CREATE MAPPING m_touch (CONSTRAINT touches FOREIGN KEY (tx, ty) REFERENCES cell (x, y), CONSTRAINT touched FOREIGN KEY (x, y) REFERENCES cell (x, y)) AS SELECT x, y, tx, ty FROM pairs;
${link('leads', 'led', 'node', 'link')}
${link('leads_strongly', 'led_strongly', 'node', "link WHERE kind = 'strong'")}
${link('road', 'road_from', 'town', 'big')}
CREATE MAPPING m_opens (CONSTRAINT opens FOREIGN KEY (b) REFERENCES node (id), CONSTRAINT opened FOREIGN KEY (a) REFERENCES hub (id)) AS SELECT a, b FROM link;
`;

let tables: PlannedTables;
beforeAll(async () => {
  tables = await PlannedTables.open(TABLES, MODEL, 'graphs');
});
afterAll(() => tables.close());

/** The form for a datasource that refuses recursion over its tables. Any database accepts it. */
const TOGETHER: Partial<PlanContext> = { target: () => ({ apply: () => [], walksOver: () => walkSteps }) };
/** What the plans of a group of tests know of the datasource. */
let known: Partial<PlanContext> = {};
const ask = async (sql: string): Promise<Record<string, unknown>[]> => (await tables.rows(sql, known)).map((row) => JSON.parse(row));

/** Nodes reached from `start` with their levels. `ends`: the nodes at which a step may end; `leaves`: those from which a second or later step may start. */
function reached(
  edges: readonly Edge[],
  start: string,
  depth: number,
  ends: (k: string) => boolean,
  leaves = (_: string): boolean => true,
): Map<string, number> {
  const found = new Map<string, number>();
  let front = [start];
  for (let level = 1; level <= depth; level++) {
    const next: string[] = [];
    for (const from of front)
      for (const [a, b] of edges)
        if (a === from && b !== null && ends(b) && (level === 1 || leaves(from)) && !found.has(b)) {
          found.set(b, level);
          next.push(b);
        }
    front = next;
  }
  return found;
}
const inverse = (edges: readonly Edge[]): Edge[] => edges.map(([a, b]) => [b, a] as const);

interface Walk {
  readonly concept: string;
  readonly target: string;
  readonly relationship: string;
  readonly key: readonly string[];
  readonly starts: () => Promise<string[]> | string[];
  readonly edges: () => Promise<readonly Edge[]> | readonly Edge[];
  readonly leaves?: (key: string) => boolean;
}

const keys = upTo(NODES).map(String);
const cells = async (): Promise<string[]> => (await tables.db.query<{ k: string }>("SELECT x || ' ' || y AS k FROM cell")).rows.map((r) => r.k);
const steps = async (): Promise<Edge[]> =>
  (await tables.db.query<{ a: string; b: string | null }>("SELECT x || ' ' || y AS a, nx || ' ' || ny AS b FROM cell")).rows.map((r) => [r.a, r.b]);
const touching = async (): Promise<Edge[]> =>
  (await tables.db.query<{ a: string | null; b: string | null }>("SELECT x || ' ' || y AS a, tx || ' ' || ty AS b FROM pairs")).rows.map((r) => [r.a, r.b]);
/** By their ids: a row leads to all rows whose name it has. */
const named: Edge[] = GROUPS.flatMap(([id, , next]) => GROUPS.filter(([, name]) => name === next).map(([to]) => [String(id), String(to)] as const));
/** The inverse of a reference that is not to a key: rows are the same node if they have the same name. */
const naming: Edge[] = GROUPS.flatMap(([id, name]) =>
  GROUPS.filter(([, to]) => GROUPS.some(([, other, next]) => next === name && other === to)).map(([to]) => [String(id), String(to)] as const),
);
const ids = GROUPS.map(([id]) => String(id));
const leaves = PARENTS.map(([code]) => code as string);

const WALKS: readonly Walk[] = [
  { concept: 'node', target: 'node', relationship: 'leads', key: ['id'], starts: () => keys, edges: () => LINKS },
  { concept: 'node', target: 'node', relationship: 'led', key: ['id'], starts: () => keys, edges: () => inverse(LINKS) },
  {
    concept: 'node',
    target: 'node',
    relationship: 'leads_strongly',
    key: ['id'],
    starts: () => keys,
    edges: () => LINKS.filter(([, , kind]) => kind === 'strong'),
  },
  { concept: 'hub', target: 'node', relationship: 'opens', key: ['id'], starts: () => keys.filter(isHub), edges: () => LINKS, leaves: isHub },
  { concept: 'leaf', target: 'leaf', relationship: 'under', key: ['code'], starts: () => leaves, edges: () => PARENTS },
  { concept: 'leaf', target: 'leaf', relationship: 'over', key: ['code'], starts: () => leaves, edges: () => inverse(PARENTS) },
  { concept: 'cell', target: 'cell', relationship: 'after', key: ['x', 'y'], starts: cells, edges: steps },
  { concept: 'cell', target: 'cell', relationship: 'before', key: ['x', 'y'], starts: cells, edges: async () => inverse(await steps()) },
  { concept: 'cell', target: 'cell', relationship: 'touches', key: ['x', 'y'], starts: cells, edges: touching },
  { concept: 'cell', target: 'cell', relationship: 'touched', key: ['x', 'y'], starts: cells, edges: async () => inverse(await touching()) },
  { concept: 'item', target: 'item', relationship: 'goes', key: ['item_id'], starts: () => ids, edges: () => named },
  { concept: 'item', target: 'item', relationship: 'comes', key: ['item_id'], starts: () => ids, edges: () => naming },
];

const walkBy = (relationship: string): Walk => WALKS.find((w) => w.relationship === relationship) as Walk;

/** The rows of a walk as `start|end|level`, sorted, with conditions on the keys of the start and of the end. */
async function rows(w: Walk, depth: number, where: string): Promise<string[]> {
  const path = `${w.relationship}[${w.target}*${depth}]`;
  const columns = [...w.key.map((k, i) => `${k} AS s${i}`), ...w.key.map((k, i) => `"${path}.${k}" AS e${i}`)];
  const found = await ask(`SELECT ${columns.join(', ')}, "${path}_transitivity_level" AS level FROM dsvc.${w.concept} ${where.replaceAll('PATH', path)}`);
  const text = (r: Record<string, unknown>, prefix: string): string => w.key.map((_, i) => r[`${prefix}${i}`]).join(' ');
  return found
    .filter((r) => r.level !== null)
    .map((r) => `${text(r, 's')}|${text(r, 'e')}|${r.level}`)
    .sort();
}

async function expected(w: Walk, depth: number, isStart: (k: string) => boolean, isEnd: (k: string) => boolean): Promise<string[]> {
  const [starts, edges] = [await w.starts(), await w.edges()];
  const rows = new Set(w.concept === 'hub' ? keys : starts);
  return starts
    .filter(isStart)
    .flatMap((s) => [...reached(edges, s, depth, (k) => rows.has(k), w.leaves)].filter(([e]) => isEnd(e)).map(([e, level]) => `${s}|${e}|${level}`))
    .sort();
}

const literal = (w: Walk, key: string): string[] => key.split(' ').map((part) => (w.key[0] === 'code' ? `'${part}'` : part));

describe.each([
  ['by recursion', {}],
  ['by a query for each step', TOGETHER],
])('walks %s are a breadth-first search', (_, changes) => {
  beforeAll(() => {
    known = changes;
  });
  afterAll(() => {
    known = {};
  });
  for (const w of WALKS) {
    it(`${w.relationship} of ${w.concept}: all starts`, async () => {
      for (const depth of oneIn(SIZES.everyDepth, [1, 2, 3, 7, 32], 0))
        expect(await rows(w, depth, '')).toEqual(
          await expected(
            w,
            depth,
            () => true,
            () => true,
          ),
        );
    });
    it(`${w.relationship} of ${w.concept}: one start, one end, and both`, async () => {
      const starts = await w.starts();
      const nodes = w.concept === 'hub' ? keys : starts;
      for (const depth of oneIn(SIZES.everyDepth, [1, 2, 5, 32], 1)) {
        const [start, end] = [starts[pick(starts.length)] as string, nodes[pick(nodes.length)] as string];
        const near = w.key.map((k, i) => `${k} = ${literal(w, start)[i]}`).join(' AND ');
        const far = w.key.map((k, i) => `"PATH.${k}" = ${literal(w, end)[i]}`).join(' AND ');
        expect(await rows(w, depth, `WHERE ${near}`)).toEqual(
          await expected(
            w,
            depth,
            (k) => k === start,
            () => true,
          ),
        );
        expect(await rows(w, depth, `WHERE ${far}`)).toEqual(
          await expected(
            w,
            depth,
            () => true,
            (k) => k === end,
          ),
        );
        expect(await rows(w, depth, `WHERE ${near} AND ${far}`)).toEqual(
          await expected(
            w,
            depth,
            (k) => k === start,
            (k) => k === end,
          ),
        );
      }
    });
  }
  it('the end is bound by another property, or by a range', async () => {
    const [nodes, tree] = [walkBy('leads'), walkBy('over')];
    for (const depth of [1, 3, 32]) {
      expect(await rows(nodes, depth, 'WHERE "PATH.grp" = 3')).toEqual(
        await expected(
          nodes,
          depth,
          () => true,
          (k) => Number(k) % 5 === 3,
        ),
      );
      expect(await rows(nodes, depth, `WHERE "PATH.name" IN ('n7', 'n8')`)).toEqual(
        await expected(
          nodes,
          depth,
          () => true,
          (k) => k === '7' || k === '8',
        ),
      );
      expect(await rows(nodes, depth, 'WHERE "PATH.id" > 50 AND name LIKE \'n1%\'')).toEqual(
        await expected(
          nodes,
          depth,
          (k) => k.startsWith('1'),
          (k) => Number(k) > 50,
        ),
      );
      expect(await rows(tree, depth, 'WHERE "PATH.size" = 2')).toEqual(
        await expected(
          tree,
          depth,
          () => true,
          (k) => (Number(k.slice(1)) - 1) % 3 === 2,
        ),
      );
    }
  });
});

interface PlanNode {
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly Plans?: readonly PlanNode[];
}
/** The rows that all nodes of PostgreSQL's plan return. */
async function work(sql: string, changes: Partial<PlanContext> = {}): Promise<number> {
  const plan = tables.plan(sql, changes);
  const answer = await tables.db.query<{ 'QUERY PLAN': readonly { readonly Plan: PlanNode }[] }>(`EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ${plan.sql}`, [
    ...plan.params,
  ]);
  const total = (n: PlanNode): number => n['Actual Rows'] * n['Actual Loops'] + (n.Plans ?? []).reduce((all, p) => all + total(p), 0);
  return total((answer.rows[0] as (typeof answer.rows)[0])['QUERY PLAN'][0]?.Plan as PlanNode);
}

describe('the work of walks', () => {
  const town = (depth: number, where: string) => `SELECT COUNT("road[town*${depth}].id") AS n FROM dsvc.town WHERE ${where}`;
  it('more steps cost nothing where nothing new is found', async () => {
    expect(await ask(town(12, 'id = 7'))).toEqual(await ask(town(32, 'id = 7')));
    const [twelve, most] = [await work(town(12, 'id = 7')), await work(town(32, 'id = 7'))];
    expect(most).toBe(twelve);
    expect(most).toBeLessThan(200_000);
  });
  it('a condition on the end starts the walk there', async () => {
    expect(await work('SELECT id FROM dsvc.town WHERE "road[town*32].id" = 99')).toBeLessThan(200_000);
    expect(await work('SELECT "road[town*3].id" FROM dsvc.town WHERE id = 99')).toBeLessThan(20_000);
  });
  it('by a query for each step, a condition on one row of either end is that of the first query', async () => {
    expect(await work('SELECT "road[town*3].id" FROM dsvc.town WHERE id = 99', TOGETHER)).toBeLessThan(60_000);
    expect(await work('SELECT id FROM dsvc.town WHERE "road[town*3].id" = 99', TOGETHER)).toBeLessThan(60_000);
  });
});

describe('the form of a walk', () => {
  const distributes = (...names: string[]): Partial<PlanContext> => ({
    target: () => ({ apply: () => [], walksOver: (_, table) => (names.includes(table) ? walkSteps : undefined) }),
  });
  const query = 'SELECT "road[town*4].id" FROM dsvc.town';
  it.each([
    ['nothing is known', {}],
    ['another table is distributed', distributes('leaf')],
  ])('is a recursion if %s', (_, changes) => {
    expect(tables.plan(query, changes).sql).toBe(tables.plan(query).sql);
    expect(tables.plan(query, changes).sql).toContain('WITH RECURSIVE');
  });
  it.each([
    ['its links are distributed', distributes('big')],
    ['the rows at its ends are distributed', distributes('town')],
    ['the datasource refused the statement', { rewrite: decorrelate }],
  ])('is a query for each step if %s', (_, changes) => {
    const { sql, declared } = tables.plan(query, changes);
    verify(parser, sql, declared);
    expect(sql).not.toContain('RECURSIVE');
    expect(sql.match(/"~l\d" AS MATERIALIZED/g)).toHaveLength(4);
    // the links of each step are read where they are
    expect(sql.match(/FROM [a-z."]*big\b/g)).toHaveLength(4);
  });
  it('reads edges of several tables once', () => {
    const { sql } = tables.plan('SELECT "led[node*4].id" FROM dsvc.node', distributes('link'));
    expect(sql.match(/"~n" AS MATERIALIZED/g)).toHaveLength(1);
  });
});
