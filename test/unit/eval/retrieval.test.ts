/** Without a language model: is the concept or view of a question among the first five? (Values are not used here.) */
import { describe, expect, it } from 'vitest';
import { type Question, readSet } from '../../../dev/eval/set.ts';
import { bikehireModel } from '../../../examples/bikehire/load.ts';
import { worldModel } from '../../../examples/world/graph.ts';
import { isCertain } from '../../../src/llm/identify.ts';
import { rank } from '../../../src/llm/rank.ts';
import type { Subject } from '../../../src/service.ts';
import { subjectsOfScript } from '../llm/subjects.ts';

const setOf = (name: string): Promise<readonly Question[]> => readSet(new URL(`../../../examples/${name}/questions.json`, import.meta.url).pathname);
const SUBJECTS: Readonly<Record<string, readonly Subject[]>> = {
  world: subjectsOfScript(await worldModel()),
  bikehire: subjectsOfScript(await bikehireModel()),
};
const ALL = Object.values(SUBJECTS).flat();

describe.each(Object.entries(SUBJECTS))('in %s', async (name, subjects) => {
  const all = await setOf(name);
  const questions = all.filter((q) => q.concept !== null);

  // 11 and 24 subjects are few: the second time the candidates are those of both graphs
  it.each([
    ['its own', subjects],
    ['all', ALL],
  ])('it is for at least 95 of 100 questions among %s subjects', (_, candidates) => {
    const missed = questions.filter((q) => !rank(q.question, candidates).some((r, i) => i < 5 && r.subject.name === q.concept));
    expect(questions.length).toBeGreaterThan(40);
    expect(missed.length / questions.length, missed.map((q) => q.id).join(', ')).toBeLessThanOrEqual(0.05);
  });

  it('decisions by words, without a model, are right', () => {
    const decided = all.map((q) => ({ q, ranked: rank(q.question, subjects) })).filter(({ ranked }) => isCertain(ranked));
    expect(decided.length).toBeGreaterThan(2);
    expect(decided.filter(({ q, ranked }) => ranked[0]?.subject.name !== q.concept).map(({ q }) => q.id)).toEqual([]);
  });
});
