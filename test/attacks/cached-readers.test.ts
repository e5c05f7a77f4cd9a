/**
 * Readers with QUERY on some concepts and views, under policies, while mappings, views and cubes are cached: the answers are those that they get from the tables themselves.
 * Random ontologies, grants and requests, as in partial-readers.test.ts. SEED=n and DEEP=1 as in test/support/generated.ts.
 */
import fc, { type Random } from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DEVELOPER } from '../../dev/roles.ts';
import { Rng } from '../integration/differential/rng.ts';
import { checkUntil } from '../support/checked.ts';
import { patience, SEED } from '../support/generated.ts';
import { startService, type TestService } from '../support/service.ts';
import { sizesOf } from '../support/sizes.ts';
import { answerOf } from './generated/answer.ts';
import { genGrants, genModel, modelText, policiesOf } from './generated/partial-model.ts';
import { type Ask, genAsks } from './generated/partial-queries.ts';
import { hash, Open, TABLES } from './generated/partial-values.ts';

const SIZES = sizesOf('attacks/cached-readers');
const BATCH = 60;

let s: TestService;
beforeAll(async () => {
  s = await startService({ settings: (database) => ({ DATASOURCE_MAIN_WRITER: database.secret(DEVELOPER) }) });
  for (const statement of [
    ...TABLES,
    'GRANT USAGE ON SCHEMA part TO kg_reader',
    'GRANT SELECT ON ALL TABLES IN SCHEMA part TO kg_reader',
    'CREATE SCHEMA cached',
    'GRANT USAGE ON SCHEMA cached TO kg_reader',
  ])
    await s.database.exec(statement);
});
afterAll(() => s?.close());

const answer = (ask: Ask, ontology: string, token: string): Promise<string> =>
  answerOf(s, ask, ontology, token, { nested: ask.path && ask.text.includes('_subj_'), isOrdered: false });

/** Whether an answer has cached rows. */
async function readsCached(query: string, ontology: string, token: string): Promise<boolean> {
  const init = {
    method: 'POST',
    headers: { 'x-api-key': token, 'content-type': 'application/json' },
    body: JSON.stringify({ ontology_name: ontology, query }),
  };
  const response = await s.fetch('/svc/api/query', init);
  await response.text();
  return response.status === 200 && response.headers.has('x-data-as-of');
}

/** Plans name the tables that they read, and the order of tables decides between equal rows. */
const VARIES = /^EXPLAIN|\bOVER\b|LIMIT|_limit_|_agg\(|FETCH|DISTINCT ON/i;

/** Status and code of an answer, without its rows or message. */
const kindOf = (text: string): string => `${text.slice(0, 3)} ${/"code":"(\w+)"/.exec(text)?.[1] ?? ''}`;
/** Errors of values: a cached value was computed when its table was made. */
const OF_VALUES = /^400 (division_by_zero|numeric_value_out_of_range|invalid_\w+|datetime\w*|\w*out_of_range)$/;

it('readers see in cached rows what they see in the tables', { timeout: patience(240_000) }, async () => {
  const counts = new Map<string, number>();
  const count = (what: string): void => {
    counts.set(what, (counts.get(what) ?? 0) + 1);
  };
  let made = 0;
  const property = fc.asyncProperty(fc.nat(), fc.nat(), async (seed, values) => {
    let at = 0;
    const r = new Rng({ nextInt: (min: number, max: number) => min + (hash(seed, at++) % (max - min + 1)) } as Random);
    const model = genModel(r);
    const grants = genGrants(r, model);
    const name = `kept${++made}`;
    const { status } = await s.query(`CREATE ONTOLOGY ${name}; ${modelText(model)}`);
    if (status !== 200) return;
    count('models');
    for (const policy of policiesOf(model)) await s.rows(policy, name);
    const resource = (kind: string, of: string): string => `ontology.${name}.${kind}.${of}`;
    const user = `k${made}`;
    const [{ token }] = (await s.rows(
      [
        `CREATE USER ${user}`,
        ...[...grants.sees].map((c) => `GRANT ${grants.reads.has(c) ? 'QUERY' : 'ACCESS'} ON ${resource('concept', c)} TO USER ${user}`),
        ...[...grants.views].map((v) => `GRANT QUERY ON ${resource('view', v)} TO USER ${user}`),
        ...(r.chance(40) ? [`GRANT QUERY ON datasource.main TO USER ${user}`] : []),
        `CREATE TOKEN FOR ${user}`,
      ].join(';\n'),
    )) as [{ token: string }];
    const asks = genAsks(r, model, grants.reads, BATCH).filter(({ text }) => !VARIES.test(text));
    for (const statement of new Open(model, grants, seed).filled(values)) await s.database.exec(statement);
    const live = await Promise.all(asks.map((a) => answer(a, name, token)));
    const caches = [
      ...model.mappings.filter(() => r.chance(60)).map((m) => `CACHE MAPPING ${m.name}`),
      ...model.views.filter(() => r.chance(80)).map((v) => `CACHE ${v.cube ? 'CUBE' : 'VIEW'} ${v.name}`),
    ];
    for (const statement of caches) count(`cache ${(await s.query(`${statement} OPTIONS (schema = 'cached')`, name)).status}`);
    const kept = await Promise.all(asks.map((a) => answer(a, name, token)));
    for (const { text, path } of asks.slice(0, 12)) if (!path && (await readsCached(text, name, token))) count('cached rows');
    for (const [i, a] of asks.entries()) {
      const [first = '', second = ''] = [live[i], kept[i]];
      count(kindOf(first));
      if (first === second || OF_VALUES.test(kindOf(first))) continue;
      if (!first.startsWith('200') && kindOf(first) === kindOf(second)) continue;
      throw new Error(
        `${a.text}\n${first}\n--- cached\n${second}\n${modelText(model)}\n${policiesOf(model).join(';\n')}\n${caches.join('; ')}\nreads ${[...grants.reads]} sees ${[...grants.sees]} views ${[...grants.views]}`,
      );
    }
    await s.query(`DROP ONTOLOGY ${name}`);
  });
  const of = (what: string): number => counts.get(what) ?? 0;
  const isEnough = (): boolean => of('cache 200') > of('models') && of('cached rows') > 0 && of('200 ') > of('models') * BATCH * 0.25;
  const { failed, errorInstance } = await checkUntil(property, SIZES.models, isEnough);
  if (process.env.DEEP || failed) process.stderr.write(`${[...counts].map(([k, n]) => `${k}: ${n}`).join(', ')}\n`);
  if (failed) throw new Error(`SEED=${SEED}\n${(errorInstance as Error | undefined)?.message ?? ''}`);
  expect(of('cache 200')).toBeGreaterThan(of('models'));
  expect(of('cached rows')).toBeGreaterThan(0);
  expect(of('200 ')).toBeGreaterThan(of('models') * BATCH * 0.25);
});
