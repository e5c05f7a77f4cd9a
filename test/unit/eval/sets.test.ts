/** The project's sets of questions, and invalid sets. */
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { inAllWords, parseSet, readSet } from '../../../dev/eval/set.ts';
import { bikehireModel } from '../../../examples/bikehire/load.ts';
import { graphOf, worldModel } from '../../../examples/world/graph.ts';
import { loadNodeParser } from '../../../src/cli/node-parser.ts';
import { planSelect } from '../../../src/planner/index.ts';

const parser = await loadNodeParser();
const SETS = { world: worldModel, bikehire: bikehireModel };
const file = (name: string): string => new URL(`../../../examples/${name}/questions.json`, import.meta.url).pathname;

describe.each(Object.entries(SETS))('the set of %s', async (name, model) => {
  const questions = await readSet(file(name));
  const graph = graphOf(await model(), name, parser);

  it('has more than forty questions, some of them without an answer', () => {
    expect(questions.filter((q) => q.gold !== null).length).toBeGreaterThan(40);
    expect(questions.filter((q) => q.gold === null).length).toBeGreaterThanOrEqual(4);
    const all = inAllWords(questions);
    expect(new Set(all.map((q) => q.question.toLowerCase())).size).toBe(all.length);
    expect(new Set(all.map((q) => q.id)).size).toBe(all.length);
  });

  it('has questions of every kind', () => {
    const tags = new Set(questions.flatMap((q) => q.tags));
    const wanted = [
      'count',
      'filter',
      'path',
      'fan-out',
      'measure',
      'transitive',
      'top-n',
      'multi-value',
      'view',
      'cube',
      'unanswerable',
      'inheritance',
      'logic',
    ];
    expect(wanted.filter((tag) => !tags.has(tag))).toEqual([]);
  });

  it('names existing concepts and views', () => {
    expect(questions.filter((q) => q.concept !== null && !graph.concept(q.concept) && !graph.view(q.concept)).map((q) => q.id)).toEqual([]);
    expect(questions.filter((q) => (q.concept === null) !== (q.gold === null)).map((q) => q.id)).toEqual([]);
  });

  it('has SQL that plans', () => {
    const context = { graph, parser, product: 'svc', activeDatasource: 'main' };
    for (const { id, gold } of questions) if (gold !== null) expect(planSelect(context, { text: gold, offset: 0 }).sql, id).toMatch(/^SELECT/);
  });

  it('has hand-written SQL on the tables for every answer', async () => {
    expect(questions.filter((q) => q.gold !== null && !q.by_hand).map((q) => q.id)).toEqual([]);
    const schema = new RegExp(`\\b${name}\\.t_`);
    expect(questions.filter((q) => q.by_hand && !schema.test(q.by_hand)).map((q) => q.id)).toEqual([]);
  });
});

describe('a set', () => {
  const question = { id: 'a', question: 'How many?', concept: 'c', gold: 'SELECT 1', tags: [] };
  it.each([
    [{ questions: [] }, /expected array/],
    [[{ ...question, gold: undefined }], /0\.gold/],
    [[{ ...question, sql: 'SELECT 1' }], /sql/],
    [[{ ...question, id: '' }], /0\.id/],
    [[question, question], /the question a occurs twice/],
  ])('is refused: %j', (json, message) => expect(() => parseSet(json, 'x.json')).toThrow(message));

  it('that cannot be read is named in the error', async () => {
    await expect(readSet('no/such.json')).rejects.toThrow(/^no\/such\.json cannot be read/);
    expect(JSON.parse(await readFile(file('world'), 'utf8'))).toHaveLength((await readSet(file('world'))).length);
  });
});
