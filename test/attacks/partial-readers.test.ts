/**
 * Noninterference of grants: random ontologies with inheritance, and a reader with QUERY on some of the concepts and views. Each request is
 * sent twice; in between, all values change that no concept or view opens to the reader, and rows that it may not read are added or removed. The answers must
 * be equal. The test decides by its own evaluation of the grants what is open. SEED=n and DEEP=1 as in test/support/generated.ts;
 * MODELS=n: the number of ontologies.
 */
import fc, { type Random } from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Rng } from '../integration/differential/rng.ts';
import { checkUntil } from '../support/checked.ts';
import { patience, SEED } from '../support/generated.ts';
import { startService, type TestService } from '../support/service.ts';
import { sizesOf } from '../support/sizes.ts';
import { answerOf } from './generated/answer.ts';
import { genGrants, genModel, modelText, policiesOf } from './generated/partial-model.ts';
import { type Ask, genAsks } from './generated/partial-queries.ts';
import { hash, Open, TABLES } from './generated/partial-values.ts';

const SIZES = sizesOf('attacks/partial-readers');

const MODELS = Number(process.env.MODELS ?? SIZES.models);
const BATCH = 60;

let s: TestService;
beforeAll(async () => {
  s = await startService();
  for (const statement of [...TABLES, 'GRANT USAGE ON SCHEMA part TO kg_reader', 'GRANT SELECT ON ALL TABLES IN SCHEMA part TO kg_reader'])
    await s.database.exec(statement);
});
afterAll(() => s?.close());

const answer = (ask: Ask, ontology: string, token: string): Promise<string> =>
  answerOf(s, ask, ontology, token, { nested: ask.path && ask.text.includes('_subj_'), isOrdered: ask.sorted });

it('no answer depends on what the grants do not open', { timeout: patience(240_000) }, async () => {
  const counts = new Map<string, number>();
  const count = (what: string): void => {
    counts.set(what, (counts.get(what) ?? 0) + 1);
  };
  let made = 0;
  const property = fc.asyncProperty(fc.nat(), fc.nat(), fc.nat(), async (seed, one, other) => {
    let at = 0;
    const r = new Rng({ nextInt: (min: number, max: number) => min + (hash(seed, at++) % (max - min + 1)) } as Random);
    const model = genModel(r);
    const grants = genGrants(r, model);
    const name = `part${++made}`;
    const { status, json } = await s.query(`CREATE ONTOLOGY ${name}; ${modelText(model)}`);
    if (status !== 200) {
      count(`model ${json.code} ${json.data}`);
      return;
    }
    count('models');
    for (const policy of policiesOf(model)) await s.rows(policy, name);
    const resource = (kind: string, of: string): string => `ontology.${name}.${kind}.${of}`;
    const [{ token }] = (await s.rows(
      [
        `CREATE USER u${made}`,
        ...[...grants.sees].map((c) => `GRANT ${grants.reads.has(c) ? 'QUERY' : 'ACCESS'} ON ${resource('concept', c)} TO USER u${made}`),
        ...[...grants.views].map((v) => `GRANT QUERY ON ${resource('view', v)} TO USER u${made}`),
        `CREATE TOKEN FOR u${made}`,
      ].join(';\n'),
    )) as [{ token: string }];
    const open = new Open(model, grants, seed);
    const asks = genAsks(r, model, grants.reads, BATCH);
    const answers: string[][] = [];
    for (const values of [one, other]) {
      for (const statement of open.filled(values)) await s.database.exec(statement);
      answers.push(await Promise.all(asks.map((a) => answer(a, name, token))));
    }
    for (const [i, a] of asks.entries()) {
      const [first, second] = [answers[0]?.[i] ?? '', answers[1]?.[i] ?? ''];
      count(first.startsWith('200') ? (first.length > 4 ? '200 with rows' : '200') : (/^\d+.*"code":"(\w+)"/.exec(first)?.[1] ?? first.slice(0, 40)));
      if (first.startsWith('5')) throw new Error(`${a.text}\n${first}`);
      if (first !== second)
        throw new Error(
          `${a.text}\n${first}\n--- or\n${second}\n${modelText(model)}\n${policiesOf(model).join(';\n')}\nreads ${[...grants.reads]} sees ${[...grants.sees]} views ${[...grants.views]}`,
        );
    }
    await s.query(`DROP ONTOLOGY ${name}`);
  });
  const hasRows = (): boolean => (counts.get('200 with rows') ?? 0) > (counts.get('models') ?? 0) * BATCH * 0.25;
  const { failed, errorInstance, counterexample } = await checkUntil(property, MODELS, hasRows);
  if (process.env.DEEP || failed) process.stderr.write(`${[...counts].map(([k, n]) => `${k}: ${n}`).join(', ')}\n`);
  if (failed) throw new Error(`SEED=${SEED} ${counterexample}\n${(errorInstance as Error | undefined)?.message ?? ''}`);
  expect(counts.get('200 with rows') ?? 0).toBeGreaterThan((counts.get('models') ?? 0) * BATCH * 0.25);
});
