/** (policies) The cost of row policies and masks inside PostgreSQL: the same query without them, with them, and as hand-written SQL with the same condition. */
import { READER } from '../../dev/roles.ts';
import { graphOf, worldModel } from '../../examples/world/graph.ts';
import { loadNodeParser } from '../../src/cli/node-parser.ts';
import type { SqlParser } from '../../src/language/parser.ts';
import { compile } from '../../src/ontology/compile.ts';
import type { Graph } from '../../src/ontology/graph.ts';
import { planSelect } from '../../src/planner/index.ts';
import type { Access } from '../../src/planner/secure/access.ts';
import { interleaved, median, ms, ratio } from '../lib/measure.ts';
import { type WorldDatabase, worldDatabase } from '../lib/stack.ts';
import { note, table } from '../lib/table.ts';

const ROUNDS = 25;
const CALLER = { username: 'ann', roles: [], claims: {} };
const PLACES =
  "(SELECT geo_id, city_nm, cc3, pop FROM world.t_city WHERE fcode <> 'PPLC' UNION ALL SELECT geo_id, city_nm, cc3, pop FROM world.t_city WHERE fcode = 'PPLC')";

const rows: Access = {
  rows: [{ concept: 'city', conditions: [{ policy: 'p', condition: "population >= 100 AND country_code <> 'ATA'" }] }],
  masks: [],
  caller: CALLER,
  maskKey: 'bench',
};
const masked: Access = {
  rows: [],
  masks: [{ policy: 'm', property: 'name', concept: 'city', mask: { kind: 'partial', first: 2, filler: 'x', last: 1 } }],
  caller: CALLER,
  maskKey: 'bench',
};
const SHOWN = "pop >= 100 AND cc3 <> 'ATA'";
const MASKED =
  "CASE WHEN char_length(city_nm) > 3 THEN left(city_nm, 2) || repeat('x', char_length(city_nm) - 3) || right(city_nm, 1) ELSE repeat('x', char_length(city_nm)) END";

interface Question {
  readonly name: string;
  readonly sql: string;
  /** The same with an expression that may raise an error, which adds the barrier. */
  readonly raising: string;
  /** Hand-written: over the cities that meet the policy, and over masked names. */
  readonly byHand: (where: string, name: string) => string;
}
const QUESTIONS: readonly Question[] = [
  {
    name: 'one city by its id',
    sql: "SELECT name, population FROM svc.city WHERE entity_id = 'city:2761369'",
    raising: "SELECT name, population FROM svc.city WHERE entity_id = 'city:2761369' AND population + 1 > 1",
    byHand: (where, name) => `SELECT ${name} AS name, pop AS population FROM ${PLACES} c WHERE geo_id = 2761369 AND ${where}`,
  },
  {
    name: '500 cities of a country',
    sql: "SELECT name, population FROM svc.city WHERE country_code = 'FRA' LIMIT 500",
    raising: "SELECT name, population FROM svc.city WHERE country_code = 'FRA' AND population + 1 > 1 LIMIT 500",
    byHand: (where, name) => `SELECT ${name} AS name, pop AS population FROM ${PLACES} c WHERE cc3 = 'FRA' AND ${where} LIMIT 500`,
  },
  {
    name: 'inhabitants by country, all cities',
    sql: 'SELECT country_code, SUM(population) AS n, MIN(name) AS a FROM svc.city GROUP BY country_code',
    raising: 'SELECT country_code, SUM(population + 1) AS n, MIN(name) AS a FROM svc.city GROUP BY country_code',
    byHand: (where, name) => `SELECT cc3 AS country_code, SUM(pop) AS n, MIN(${name}) AS a FROM ${PLACES} c WHERE ${where} GROUP BY cc3`,
  },
  {
    name: 'countries of a region with their cities',
    sql: 'SELECT name, "has_city[city].name" AS city FROM dsvc.country WHERE region_name = \'Oceania\'',
    raising:
      'SELECT name, "has_city[city].name" AS city FROM dsvc.country WHERE region_name = \'Oceania\' AND coalesce("has_city[city].population" + 1, 1) > 0',
    byHand: (where, name) =>
      `SELECT short_nm AS name, ${name} AS city FROM world.t_country k LEFT JOIN (SELECT * FROM ${PLACES} x WHERE ${where}) c ON c.cc3 = k.cc3 WHERE rgn = 'Oceania'`,
  },
];

/** Planning and execution time of one statement, in milliseconds, as PostgreSQL reports them. */
async function explained({ local }: WorldDatabase, sql: string, params: readonly unknown[]): Promise<number> {
  const [row] = await local.exec(`EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ${sql}`, [...params], READER);
  const [plan] = Object.values(row ?? {})[0] as [{ 'Planning Time': number; 'Execution Time': number }];
  return plan['Planning Time'] + plan['Execution Time'];
}

export async function run(): Promise<void> {
  const database = await worldDatabase();
  const parser = await loadNodeParser();
  const graph = await typedWorld(database, parser);
  const plan = (sql: string, access?: Access) =>
    planSelect({ graph, parser, product: 'svc', activeDatasource: 'main', keepsNames: () => true, access }, { text: sql, offset: 0 });
  const found: string[][] = [];
  for (const { name, sql, raising, byHand } of QUESTIONS) {
    const plans = { open: plan(sql), policy: plan(sql, rows), openRaising: plan(raising), barrier: plan(raising, rows), masked: plan(sql, masked) };
    for (const [what, barrier] of [
      // a constant of five or more digits may be a date that a timestamp cannot represent
      ['policy', /'[^']*\d{5}[^']*'/.test(sql)],
      ['barrier', true],
      ['open', false],
    ] as const)
      if (plans[what].sql.includes('OFFSET 0') !== barrier) throw new Error(`${name}: ${what} is planned ${barrier ? 'without' : 'with'} a barrier`);
    const hand = { open: byHand('true', 'city_nm'), policy: byHand(SHOWN, 'city_nm'), masked: byHand('true', MASKED) };
    const took = await interleaved(
      {
        ...mapped(plans, (p) => () => explained(database, p.sql, p.params)),
        handOpen: () => explained(database, json(hand.open), []),
        handPolicy: () => explained(database, json(hand.policy), []),
        handMasked: () => explained(database, json(hand.masked), []),
      },
      ROUNDS,
      4,
    );
    const m = mapped(took, median);
    found.push([
      name,
      ms(m.open),
      ratio(m.policy, m.open),
      ratio(m.policy, m.handPolicy),
      ratio(m.barrier, m.openRaising),
      ratio(m.masked, m.open),
      ratio(m.masked, m.handMasked),
      ratio(m.open, m.handOpen),
    ]);
  }
  table(
    `(policies) planning and execution inside PostgreSQL, ${database.name}`,
    ['question', 'without', 'row policy', '... to by hand', 'with a barrier', 'mask', '... to by hand', 'without, to by hand'],
    found,
  );
  note('Ratios are to the same statement without a policy, or to hand-written SQL with the same condition or mask, whose rows become JSON by to_json.');
}

const json = (sql: string): string => `SELECT to_json(q) FROM (${sql}) q`;

const mapped = <K extends string, A, B>(of: Readonly<Record<K, A>>, change: (value: A) => B): Record<K, B> =>
  Object.fromEntries(Object.entries<A>(of).map(([k, v]) => [k, change(v)])) as Record<K, B>;

/** The model with the types of the mappings' columns, which the service reads when a mapping is created: they show which casts cannot fail. */
async function typedWorld({ local }: WorldDatabase, parser: SqlParser): Promise<Graph> {
  const { model } = graphOf(await worldModel(), 'world', parser);
  const mappings = [];
  for (const mapping of model.mappings) {
    const types = mapping.columns.map(({ name }) => `(SELECT typname::text FROM pg_type WHERE oid = pg_typeof("${name}")) AS "${name}"`);
    const [row] = await local.exec(`SELECT ${types.join(', ')} FROM (${mapping.sql}) q LIMIT 1`);
    mappings.push({ ...mapping, columns: mapping.columns.map((c) => ({ ...c, type: String(row?.[c.name]) })) });
  }
  return compile({ ...model, mappings }, 'world');
}
