/**
 * The whole grammar: each node type that PostgreSQL's parser knows, in each place of a statement that takes a node, and each member of an accepted node. The guard and the
 * verifier refuse all that are not on their lists. The types are those of @pgsql/types, so a new version of the grammar adds its own.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { RawStmt } from '@pgsql/types';
import { describe, expect, it } from 'vitest';
import { SvcError } from '../../../../src/errors.ts';
import type { SqlParser } from '../../../../src/language/parser.ts';
import { guardSelect } from '../../../../src/planner/guard/guard.ts';
import { NODES } from '../../../../src/planner/guard/nodes.ts';
import { RefusedByVerifier, verify } from '../../../../src/planner/verify/index.ts';
import { EXPRESSIONS, PARTS } from '../../../../src/planner/verify/nodes.ts';
import { declared, parser } from '../verify/verified.ts';

const TYPES_FILE = createRequire(import.meta.url)
  .resolve('@pgsql/types/package.json')
  .replace('package.json', 'types.d.ts');

/** Node type -> its members and their types, of the whole grammar. */
const GRAMMAR: ReadonlyMap<string, ReadonlyMap<string, string>> = new Map(
  [...readFileSync(TYPES_FILE, 'utf8').matchAll(/export interface (\w+) \{([^}]*)\}/g)].map(([, name = '', body = '']) => [
    name,
    new Map([...body.matchAll(/(\w+)\?: ([^;]+);/g)].map(([, member = '', type = '']) => [member, type] as const)),
  ]),
);

/** Statements that together have a node of each accepted type. */
const BASES = [
  `WITH RECURSIVE r (x) AS (SELECT a FROM s.t UNION ALL SELECT x FROM r) SEARCH DEPTH FIRST BY x SET o CYCLE x SET m TO true DEFAULT false USING p
SELECT DISTINCT ON (x) x, (ROW(1, x)).f1, ARRAY[1, x], (ARRAY[1])[1:2], CASE x WHEN 1 THEN 2 ELSE 3 END, coalesce(x, 1), greatest(x, 1), x::numeric(3, 1)[], x::text COLLATE "C", CURRENT_DATE,
 x IS NULL, (x = 1) IS TRUE, NOT x = 1, EXISTS (SELECT 1), x = ANY (SELECT 1), make_interval(days => 1), 1.5, true, B'1', 'x', -1,
 sum(x ORDER BY x) FILTER (WHERE true) OVER (PARTITION BY x ORDER BY x ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)
FROM r AS r (x) JOIN LATERAL (SELECT 1 AS y) z ON true, json_to_record('{}') AS j (q text COLLATE "C") WHERE x IN (1, 2) WINDOW w AS (ORDER BY x) ORDER BY x USING < LIMIT 1 OFFSET 1`,
  'SELECT a, GROUPING(a), count(*) FROM s.t GROUP BY GROUPING SETS ((a), ()) HAVING count(*) > 1',
  'VALUES (1, 2)',
  'SELECT t.* FROM s.t',
  `SELECT JSON_VALUE('{}', '$.a' PASSING 1 AS x RETURNING int DEFAULT 1 ON EMPTY NULL ON ERROR), JSON_OBJECT('a' VALUE 1 FORMAT JSON), JSON_ARRAY(1, 2 RETURNING jsonb),
 JSON_ARRAY(SELECT 1 RETURNING json FORMAT JSON), '1' IS JSON, JSON('1'), JSON_SCALAR(1), JSON_SERIALIZE('1' RETURNING text)`,
  'SELECT JSON_OBJECTAGG(a VALUE a RETURNING jsonb), JSON_ARRAYAGG(a ORDER BY a) FILTER (WHERE true) FROM s.t',
  `SELECT 1 FROM JSON_TABLE('[1]', '$[*]' AS p PASSING 1 AS x COLUMNS (x int PATH '$' DEFAULT 1 ON EMPTY, NESTED PATH '$' COLUMNS (y int)) ERROR ON ERROR) j`,
];

type Fields = Record<string, unknown>;
/** A place of a statement: the way to a node without its wrapper. */
interface Place {
  readonly base: string;
  readonly way: readonly (string | number)[];
}

const treeOf = (sql: string): RawStmt => parser.parse(sql).stmts[0] as RawStmt;
const at = (root: unknown, way: readonly (string | number)[]): unknown => way.reduce<unknown>((value, key) => (value as Fields)[key as string], root);

const TREES = new Map(BASES.map((base) => [base, treeOf(base)]));

/** Node type -> one of its places. */
const PLACES = new Map<string, Place>();
function find(base: string, value: unknown, way: readonly (string | number)[], type: string | undefined): void {
  if (typeof value !== 'object' || value === null) return;
  if (type !== undefined && !PLACES.has(type)) PLACES.set(type, { base, way });
  const members = type === undefined ? undefined : GRAMMAR.get(type);
  for (const [key, child] of Object.entries(value)) {
    // a wrapped node has its type as its only key; the type of an unwrapped one is that of the member
    const unwrapped = members?.get(key);
    const isWrapper = members === undefined && !Array.isArray(value) && GRAMMAR.has(key);
    find(base, child, [...way, Array.isArray(value) ? Number(key) : key], isWrapper ? key : unwrapped && GRAMMAR.has(unwrapped) ? unwrapped : undefined);
  }
}
for (const [base, tree] of TREES) find(base, tree, [], 'RawStmt');

/** What a check says to the statement of a place with another value of a member of the node there. */
function changed({ base, way }: Place, member: string, value: unknown, check: (tree: RawStmt) => string): string {
  const tree = TREES.get(base) as RawStmt;
  const node = at(tree, way) as Fields;
  const before = Object.hasOwn(node, member) ? { value: node[member] } : undefined;
  node[member] = value;
  try {
    return check(tree);
  } finally {
    if (before) node[member] = before.value;
    else delete node[member];
  }
}

/** What the guard, or the verifier, says to a tree: a code, or `passes`. @throws other errors */
function guarded(tree: RawStmt): string {
  try {
    guardSelect(tree);
    return 'passes';
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    return error.code;
  }
}
function verified(tree: RawStmt): string {
  const fixed: SqlParser = { parse: () => ({ version: 0, stmts: [tree] }) };
  try {
    verify(fixed, '', declared);
    return 'passes';
  } catch (error) {
    if (!(error instanceof RefusedByVerifier)) throw error;
    return error.kind;
  }
}

/** A value for a member of a type. */
const sample = (type: string): unknown => {
  if (type.endsWith('[]')) return [sample(type.slice(0, -2))];
  if (type === 'Node') return { A_Const: { ival: { ival: 1 } } };
  if (type === 'boolean') return true;
  if (type === 'number' || type === 'bigint') return 1;
  return GRAMMAR.has(type) ? {} : 'x';
};

const NODE_TYPES = [...GRAMMAR.keys()].filter((type) => !['ParseResult', 'ScanResult', 'RawStmt'].includes(type));
const ACCEPTED = Object.keys(NODES);
const OTHERS = NODE_TYPES.filter((type) => !ACCEPTED.includes(type));
/** Nodes without expressions, which are parts of names, of types and of selected fields. */
const PARTS_OF_NAMES = new Set(['String', 'Integer', 'A_Star']);
const VERIFIED: Readonly<Record<string, Fields>> = { ...PARTS, ...EXPRESSIONS };

describe('the grammar', () => {
  it('has all accepted nodes, and each has a place', () => {
    expect(ACCEPTED.filter((type) => !GRAMMAR.has(type))).toEqual([]);
    expect(ACCEPTED.filter((type) => !PLACES.has(type) && Object.keys(NODES[type as keyof typeof NODES]).length > 0)).toEqual([]);
    expect(OTHERS.length).toBeGreaterThan(150);
  });

  it('has the accepted members', () => {
    const unknown = ACCEPTED.flatMap((type) =>
      Object.keys(NODES[type as keyof typeof NODES])
        .filter((member) => !GRAMMAR.get(type)?.has(member))
        .map((member) => `${type}.${member}`),
    );
    expect(unknown).toEqual([]);
  });
});

describe('the guard', () => {
  it('accepts the statements that are changed', () => expect(BASES.map((sql) => guarded(treeOf(sql)))).toEqual(BASES.map(() => 'passes')));

  it('refuses each other node as a statement', () => {
    expect(OTHERS.filter((type) => guarded({ stmt: { [type]: {} } } as unknown as RawStmt) !== 'forbidden_statement')).toEqual([]);
  });

  it('refuses each other node in each place', () => {
    const passed: string[] = [];
    let tried = 0;
    for (const [type, place] of PLACES) {
      const members = Object.entries((NODES as Readonly<Record<string, Readonly<Record<string, string>>>>)[type] ?? {});
      for (const [member, kind] of members.filter(([, k]) => k === 'node' || k === 'nodes' || k === 'words'))
        for (const other of OTHERS) {
          tried++;
          const node = { [other]: {} };
          const code = changed(place, member, kind === 'node' ? node : [node], guarded);
          if (code !== 'unsupported_syntax' && code !== 'forbidden_statement') passed.push(`${type}.${member}: ${other} ${code}`);
        }
    }
    expect(passed.slice(0, 10)).toEqual([]);
    expect(tried).toBeGreaterThan(10_000);
  });

  it('refuses each other member of an accepted node', () => {
    const passed: string[] = [];
    for (const type of ACCEPTED) {
      const place = PLACES.get(type);
      for (const [member, of] of GRAMMAR.get(type) ?? []) {
        if (place === undefined || Object.hasOwn(NODES[type as keyof typeof NODES], member)) continue;
        const code = changed(place, member, sample(of), guarded);
        if (code !== 'unsupported_syntax' && code !== 'forbidden_statement') passed.push(`${type}.${member} ${code}`);
      }
    }
    expect(passed).toEqual([]);
  });
});

describe('the verifier', () => {
  /** The places in statements that the verifier accepts. */
  const places = [...PLACES].filter(([, { base }]) => verified(treeOf(base)) === 'passes');

  it('accepts most of the statements that are changed', () => expect(places.length).toBeGreaterThan(40));

  it('refuses each other node as a statement', () => {
    const others = NODE_TYPES.filter((type) => type !== 'SelectStmt');
    expect(others.filter((type) => verified({ stmt: { [type]: {} } } as unknown as RawStmt) === 'passes')).toEqual([]);
  });

  it('refuses each node that it does not know in each place', () => {
    const passed: string[] = [];
    let tried = 0;
    const unknown = NODE_TYPES.filter((type) => !Object.hasOwn(VERIFIED, type) && !PARTS_OF_NAMES.has(type));
    for (const [type, place] of places)
      for (const [member, of] of GRAMMAR.get(type) ?? []) {
        if (of !== 'Node' && of !== 'Node[]') continue;
        for (const other of unknown) {
          tried++;
          const node = { [other]: {} };
          if (changed(place, member, of === 'Node' ? node : [node], verified) === 'passes') passed.push(`${type}.${member}: ${other}`);
        }
      }
    expect(passed.slice(0, 10)).toEqual([]);
    expect(tried).toBeGreaterThan(5000);
  });

  it('refuses each other member of a node that it knows', () => {
    const passed: string[] = [];
    for (const [type, place] of places)
      for (const [member, of] of GRAMMAR.get(type) ?? []) {
        const known = type === 'SelectStmt' ? { ...PARTS.SelectStmt, ...PARTS.Values, ...PARTS.SetOperation } : VERIFIED[type];
        if (known === undefined || Object.hasOwn(known, member)) continue;
        if (changed(place, member, sample(of), verified) === 'passes') passed.push(`${type}.${member}`);
      }
    expect(passed).toEqual([]);
  });
});
