/**
 * Masked keys: if each key and each column that refers to it gets another value, and all of them are masked, no answer may change. The rows, the links between them and
 * their order stay the same. As in leaks-generated.test.ts, random queries are run in both worlds and their answers are compared.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkUntil } from '../support/checked.ts';
import { patience, SEED } from '../support/generated.ts';
import { startService, type TestService } from '../support/service.ts';
import { sizesOf } from '../support/sizes.ts';
import { query } from './generated/failing-queries.ts';
import { filled, MODEL, TABLES } from './generated/hidden-values.ts';

const SIZES = sizesOf('attacks/renamed-keys');

/** The masks cover the keys and the columns that refer to them. `ROWS`: a row policy hides the other rows. */
const CASES: readonly (readonly [string, readonly string[]])[] = [
  ['masks NULL', ['id MASK NULL', 'next_id MASK NULL', 'box_id MASK NULL']],
  [
    'masks of concepts and a row policy',
    ['id OF CONCEPT entry MASK NULL', 'next_id OF CONCEPT item MASK FULL', 'box_id OF CONCEPT item MASK NULL', 'box_id OF CONCEPT box MASK WITH (2)', 'ROWS'],
  ],
  ['masks with constants', ['id MASK WITH (3)', 'next_id MASK WITH (CAST(NULL AS bigint))', 'box_id MASK WITH (1)']],
];

/** Queries that join, group and filter by keys. */
const of = <T>(...all: T[]): fc.Arbitrary<T> => fc.constantFrom(...all);
const KEYS = [
  'id',
  'next_id',
  'entity_id',
  'entity_label',
  '"next[item].id"',
  '"before[item].id"',
  '"next[item].next_id"',
  '"next[item*].id"',
  '"lies_in[box].has_item[item].id"',
  'box_id',
  '"lies_in[box].box_id"',
  '"lies_in[box].entity_id"',
  'box_content',
  'box_state',
  'next_n',
  'followers',
  'reached',
  'lowest',
  'tags',
  '"next[item].entity_id"',
];
const keyed: fc.Arbitrary<string> = fc
  .tuple(
    of('svc.item', 'dsvc.item', 'dsvc.entry', 'dsvc.big', 'dsvc.large', 'dsvc.huge', 'dsvc.thing'),
    of(...KEYS),
    of(...KEYS),
    of('1', '2', '3', '101', '-1'),
  )
  .chain(([from, a, b, k]) =>
    of(
      `SELECT ${a} AS a, ${b} AS b FROM ${from}`,
      `SELECT ${a} AS a, count(*) AS n FROM ${from} GROUP BY 1 ORDER BY n, 1`,
      `SELECT count(*) AS n FROM ${from} WHERE ${a} = ${b}`,
      `SELECT count(*) AS n FROM ${from} WHERE CAST(${a} AS text) = '${k}'`,
      `SELECT count(*) AS n FROM ${from} WHERE CAST(${a} AS text) LIKE '%:${k}'`,
      `SELECT count(*) AS n FROM ${from} WHERE ${a} IN (SELECT ${b} FROM ${from})`,
      `SELECT count(*) AS n FROM ${from} WHERE ${a} NOT IN (SELECT ${b} FROM ${from} WHERE ${b} IS NOT NULL)`,
      `SELECT count(*) AS n FROM ${from} WHERE id = ${k} OR ${a} IS NULL`,
      `SELECT count(*) AS n FROM ${from} WHERE id IN (${k}, 2, 104)`,
      `SELECT count(*) AS n FROM ${from} WHERE entity_id = 'entry:${k}' OR entity_id = 'item:${k}'`,
      `SELECT count(*) AS n FROM ${from} WHERE entity_id IN ('entry:${k}', 'entry:1', 'entry:101')`,
      `SELECT count(*) AS n FROM ${from} WHERE entity_id = 'entry:${k}' AND 1 / (n - 20 - ${k}) > 0`,
      `SELECT count(*) AS n FROM ${from} WHERE id = ${k} AND 1 / (n - 20 - ${k}) > 0`,
      `SELECT count(DISTINCT ${a}) AS n, max(${b}) AS m FROM ${from}`,
      `SELECT count(*) AS n FROM ${from} WHERE 1 / (id - ${k}) > 0`,
      `SELECT count(*) AS n FROM ${from} x JOIN svc.item y USING (id)`,
      `SELECT count(*) AS n FROM ${from} x JOIN svc.item y ON x.id = y.next_id`,
      `SELECT count(*) AS n FROM ${from} x WHERE EXISTS (SELECT 1 FROM svc.item y WHERE y.next_id = x.id AND y.id <> ${k})`,
      `SELECT x.n, (SELECT max(y.n) FROM svc.item y WHERE y.id = x.next_id) AS m FROM ${from} x`,
      `SELECT x.n, lag(x.n) OVER (PARTITION BY ${a} ORDER BY x.n) AS m FROM ${from} x`,
      `SELECT n FROM ${from} GROUP BY id, n ORDER BY n`,
      `SELECT n, count(tag) AS k FROM ${from} GROUP BY id, n ORDER BY n`,
      `SELECT to_jsonb(x) AS j FROM ${from} x`,
      `SELECT n, tag FROM ${from} WHERE id = ${k}`,
      `SELECT n, "next[item].tag" AS t FROM ${from} WHERE "next[item].id" = ${k}`,
      `SELECT n FROM ${from} ORDER BY id, n LIMIT 2`,
      `SELECT n FROM ${from} ORDER BY entity_label, n LIMIT 3`,
      `SELECT count(*) AS n FROM ${from} x JOIN svc.box y ON x.box_id = y.box_id`,
      `SELECT x.n, y.box_name FROM ${from} x JOIN svc.box y USING (box_id)`,
      `SELECT b.box_name, (SELECT count(*) FROM ${from} x WHERE x.box_id = b.box_id) AS n, (SELECT max(x.n) FROM ${from} x WHERE x.id = b.box_id) AS m FROM svc.box b`,
      `SELECT box_name, "has_item[item].id" AS i, entity_id FROM dsvc.box WHERE box_id = ${k}`,
      `SELECT box_name FROM dsvc.box WHERE "has_item[item].id" = ${k} OR box_id > ${k}`,
      `SELECT box_id, count("has_item[item].id") AS n, min("has_item[item].box_id") AS m FROM dsvc.box GROUP BY box_id ORDER BY n`,
      `SELECT i.n, b.box_name FROM ${from} i JOIN svc.box b ON i.entity_id = b.entity_id OR b.entity_id = 'box:${k}'`,
      `SELECT n FROM ${from} WHERE box_id IN (SELECT box_id FROM svc.box WHERE box_name = 'left') AND 1 / (box_id - ${k}) >= 0`,
      `SELECT sum("measure.share") AS m, max(id) AS k FROM ${from} WHERE id <> ${k}`,
    ),
  );

/** What depends on the order of rows with equal keys. Masked keys are equal, so the database may return their rows in any order. */
const ORDERED = /OVER \(|_agg\(|DISTINCT ON|LIMIT|OFFSET/;

let s: TestService;
let rob: string;
beforeAll(async () => {
  s = await startService({ tables: TABLES });
  rob = await s.user('rob');
  for (const [i, [, masks]] of CASES.entries()) {
    const name = `keys${i}`;
    await s.rows(`CREATE ONTOLOGY ${name}; ${MODEL}; GRANT QUERY ON ALL ontology.${name} TO USER rob`);
    for (const [j, mask] of masks.entries())
      await s.rows(mask === 'ROWS' ? "CREATE POLICY few ON CONCEPT entry TO PUBLIC USING (state = 'open')" : `CREATE POLICY k${j} ON PROPERTY ${mask}`, name);
  }
});
afterAll(() => s?.close());

/** Gives every row another key, in the same order of rows. */
const renamed = (by: number): readonly string[] =>
  by === 0
    ? []
    : [
        `CREATE TABLE gen.t_new AS SELECT * FROM gen.t_item ORDER BY id`,
        `TRUNCATE gen.t_item`,
        `UPDATE gen.t_new SET id = id + ${by}, next = next + ${by}, box = box + ${by}`,
        `INSERT INTO gen.t_item SELECT * FROM gen.t_new ORDER BY id`,
        `DROP TABLE gen.t_new`,
      ];
const OTHERS = (by: number): readonly string[] => [
  'TRUNCATE gen.t_box',
  `INSERT INTO gen.t_box VALUES (1 + ${by}, 'left', 'open'), (2 + ${by}, 'right', 'shut')`,
  'TRUNCATE gen.t_tag',
  `INSERT INTO gen.t_tag SELECT g + ${by}, 't' || g % 3 FROM generate_series(1, 9) g`,
];
/** Without the hashes of ids, and without the order of rows, which they may decide. It also decides which of several values fails first. */
const plain = ({ status, json }: { readonly status: number; readonly json: { readonly data: unknown } }): string => {
  const shown = (data: unknown): string => JSON.stringify(data).replace(/~[0-9a-f]{64}/g, '~');
  if (status === 400) return 'refused';
  return `${status} ${Array.isArray(json.data) ? json.data.map(shown).sort() : shown({ ...json, request_id: '' })}`;
};

describe.each(CASES.map(([what], i) => [what, i] as const))('under %s', (_, at) => {
  it('no answer depends on the keys', { timeout: patience(120_000) }, async () => {
    const counts = new Map<string, number>();
    const one = fc.oneof({ weight: 2, arbitrary: keyed }, { weight: 1, arbitrary: query.filter((q) => !ORDERED.test(q)) });
    const property = fc.asyncProperty(
      fc.array(one, { minLength: SIZES.queries, maxLength: SIZES.queries }),
      fc.nat(),
      fc.constantFrom(100, 7, 1000),
      async (queries, seed, by) => {
        const answers: string[][] = [];
        for (const moved of [0, by]) {
          for (const statement of [...filled(seed), ...renamed(moved), ...OTHERS(moved)]) await s.database.exec(statement);
          const all = await Promise.all(queries.map((q) => s.query(q, `keys${at}`, rob)));
          answers.push(all.map(plain));
          for (const { status, json } of all) counts.set(`${status} ${json.code ?? ''}`, (counts.get(`${status} ${json.code ?? ''}`) ?? 0) + 1);
        }
        for (const [i, q] of queries.entries()) if (answers[0]?.[i] !== answers[1]?.[i]) throw new Error(`${q}\n${answers[0]?.[i]}\n${answers[1]?.[i]}`);
      },
    );
    const shareOfRows = (): number => (counts.get('200 ') ?? 0) / [...counts.values()].reduce((a, b) => a + b, 0);
    const { failed, errorInstance, counterexample } = await checkUntil(property, SIZES.worlds, () => shareOfRows() > 0.4);
    if (process.env.DEEP) process.stderr.write(`${CASES[at]?.[0]}: ${[...counts].map(([k, n]) => `${k}: ${n}`).join(', ')}\n`);
    if (failed) throw new Error(`SEED=${SEED} values ${counterexample?.slice(1).join(', ')}\n${(errorInstance as Error | undefined)?.message ?? ''}`);
    // an administrator sees what differs
    const [{ id }] = (await s.rows('SELECT min(id) AS id FROM svc.item', `keys${at}`)) as [{ id: number }];
    expect(id).toBeGreaterThan(1);
    expect(shareOfRows()).toBeGreaterThan(0.4);
  });
});
