/** Without a language model: does the concept or view that a question is about stand among the first five? (Values are not looked at here.) */
import { expect, it } from 'vitest';
import { readSet } from '../../../dev/eval/set.ts';
import { bikehireModel } from '../../../examples/bikehire/load.ts';
import { worldModel } from '../../../examples/world/graph.ts';
import { rank } from '../../../src/llm/rank.ts';
import { subjectsOfScript } from '../llm/subjects.ts';

it.each([
  ['world', worldModel, 11],
  ['bikehire', bikehireModel, 24],
])('in %s, for at least 95 of 100 questions', async (name, model, size) => {
  const subjects = subjectsOfScript(await model());
  expect(subjects).toHaveLength(size);
  const questions = (await readSet(new URL(`../../../examples/${name}/questions.json`, import.meta.url).pathname)).filter((q) => q.concept !== null);
  expect(questions.length).toBeGreaterThan(40);
  const missed = questions.filter(
    (q) =>
      !rank(q.question, subjects)
        .slice(0, 5)
        .some((r) => r.subject.name === q.concept),
  );
  expect(missed.length / questions.length, missed.map((q) => q.id).join(', ')).toBeLessThanOrEqual(0.05);
});
