/**
 * Noninterference of policies over concepts that share a key: rows and values change that the policies hide, and keys that are masked get other values, together with all that
 * refers to them; each request has the same answer before and after. The readers may query all of a model, or some concepts. SEED=n and DEEP=1 as in test/support/generated.ts; WORLDS=n: the
 * number of models.
 */
import type { Random } from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Rng } from '../integration/differential/rng.ts';
import { goesOn } from '../support/checked.ts';
import { patience, SEED } from '../support/generated.ts';
import { startService, type TestService } from '../support/service.ts';
import { sizesOf } from '../support/sizes.ts';
import { answerOf } from './generated/answer.ts';
import { kinAsks } from './generated/kin-queries.ts';
import { genKin, KIN_TABLES, kinFilled, kinModel, kinPolicies } from './generated/kin-world.ts';
import type { Ask } from './generated/partial-queries.ts';
import { hash } from './generated/partial-values.ts';

const SIZES = sizesOf('attacks/kin');
const WORLDS = Number(process.env.WORLDS ?? SIZES.worlds);
const BATCH = 80;

let s: TestService;
beforeAll(async () => {
  s = await startService();
  for (const statement of [...KIN_TABLES, 'GRANT USAGE ON SCHEMA kin TO kg_reader', 'GRANT SELECT ON ALL TABLES IN SCHEMA kin TO kg_reader'])
    await s.database.exec(statement);
});
afterAll(() => s?.close());

/** Keyed hashes of masked keys differ with the keys. */
const withoutHashes = (text: string): string => text.replace(/~[0-9a-f]{64}/g, '~');

const answer = (ask: Ask, ontology: string, token: string): Promise<string> =>
  answerOf(s, ask, ontology, token, { nested: ask.path && ask.text.includes('gt'), isOrdered: false, shown: withoutHashes });

it('no answer depends on what the policies hide', { timeout: patience(240_000) }, async () => {
  const counts = new Map<string, number>();
  const faults: string[] = [];
  const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);
  let i = 0;
  const hasRows = (): boolean => (counts.get('200 with rows') ?? 0) > i * BATCH * 0.25;
  for (; goesOn(i, WORLDS, hasRows); i++) {
    const seed = (SEED + i * 7919) >>> 0;
    let at = 0;
    const r = new Rng({ nextInt: (min: number, max: number) => min + (hash(seed, at++) % (max - min + 1)) } as Random);
    const world = genKin(r, seed);
    const name = `kin${i}`;
    await s.rows(`CREATE ONTOLOGY ${name}; ${kinModel(world)}`);
    for (const policy of kinPolicies(world)) await s.rows(policy, name);
    const token = await s.user(
      `u${i}`,
      ...(world.reads === null ? [`QUERY ON ALL ontology.${name}`] : [...world.reads].map((c) => `QUERY ON ontology.${name}.concept.${c}`)),
    );
    const asks = kinAsks(r, world, BATCH);
    const answers: string[][] = [];
    for (const values of [1, 2]) {
      for (const statement of kinFilled(world, hash(seed, values))) await s.database.exec(statement);
      answers.push(await Promise.all(asks.map((a) => answer(a, name, token))));
    }
    for (const [k, a] of asks.entries()) {
      const [first, second] = [answers[0]?.[k] ?? '', answers[1]?.[k] ?? ''];
      count(first.startsWith('200') ? (first.length > 4 ? '200 with rows' : '200') : (/^\d+.*"code":"(\w+)"/.exec(first)?.[1] ?? first.slice(0, 40)));
      if (first.startsWith('5') || first !== second)
        faults.push(
          `SEED=${seed} ${a.text}\n${first.slice(0, 1500)}\n--- or\n${second.slice(0, 1500)}\n${kinPolicies(world).join(';\n')} nick ${world.nickInto} linked ${world.linked} reads ${world.reads && [...world.reads]} filtered ${[...world.filtered]}`,
        );
    }
    await s.query(`DROP ONTOLOGY ${name}`);
  }
  if (process.env.DEEP || faults.length > 0) process.stderr.write(`${[...counts].map(([k, n]) => `${k}: ${n}`).join(', ')}\n`);
  expect(faults.slice(0, 5).join('\n\n')).toBe('');
  expect(counts.get('200 with rows') ?? 0).toBeGreaterThan(i * BATCH * 0.25);
});
