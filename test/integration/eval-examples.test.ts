/** The sets of questions against their data: answers compared with hand-written SQL, and whether words and values find the subject of a question without a model. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compareRows } from '../../dev/eval/compare.ts';
import { inAllWords, readSet } from '../../dev/eval/set.ts';
import { bikehireModel, bikehireTables } from '../../examples/bikehire/load.ts';
import { worldModel } from '../../examples/world/graph.ts';
import { loadWorldTables } from '../../examples/world/load.ts';
import { rank } from '../../src/llm/rank.ts';
import { samplesWithin } from '../../src/llm/values.ts';
import { questionModel } from '../../src/service/ops/questions.ts';
import { startService, type TestService } from '../support/service.ts';

const setOf = (name: string) => readSet(new URL(`../../examples/${name}/questions.json`, import.meta.url).pathname);

let s: TestService;
beforeAll(async () => {
  s = await startService({ tables: await bikehireTables() });
  await loadWorldTables(async (sql, params) => void (await s.database.exec(sql, params)));
  await s.rows(await bikehireModel());
  await s.rows(await worldModel());
});
afterAll(() => s?.close());

// those of bikehire are in eval.test.ts, with their callers
describe('the questions to the world', async () => {
  it.each((await setOf('world')).filter((q) => q.gold !== null))('$question', async ({ gold, by_hand, ordered }) => {
    const rows = await s.rows(gold as string, 'world');
    const hand = (await s.database.exec(`SELECT to_json(q) AS r FROM (${by_hand}) q`)).map((row) => row.r as Record<string, unknown>);
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.length).toBeLessThan(500);
    expect(compareRows(hand, rows, { ordered, mostExtra: 0 })).toEqual({ same: true, why: '' });
  });
});

describe('without a language model, by names and values', () => {
  it.each(['world', 'bikehire'])('the concept of a question about %s, in all wordings, is among the first five for at least 95 of 100', async (name) => {
    const request = await s.request(s.token);
    const model = await questionModel(request, name);
    const samples = await samplesWithin(
      request,
      model,
      model.subjects.filter((subject) => subject.kind !== 'cube'),
      30_000,
    );
    expect(samples.size).toBeGreaterThan(8);
    const questions = inAllWords(await setOf(name)).filter((q) => q.concept !== null);
    expect(questions.length).toBeGreaterThan(75);
    const places = questions.map((q) => rank(q.question, model.subjects, { samples }).findIndex((r) => r.subject.name === q.concept) + 1);
    const within = (n: number): number => places.filter((p) => p > 0 && p <= n).length / places.length;
    console.log(`${name}: first ${within(1).toFixed(3)}, among three ${within(3).toFixed(3)}, among five ${within(5).toFixed(3)}`);
    expect(
      within(5),
      questions
        .filter((_, i) => (places[i] as number) > 5)
        .map((q) => q.id)
        .join(', '),
    ).toBeGreaterThanOrEqual(0.95);
  });
});
