/** Questions with several meanings are asked back, and questions without an answer are refused only after the model saw more of the graph. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bikehireModel, loadBikehireTables } from '../../examples/bikehire/load.ts';
import type { Turn } from '../../src/llm/types.ts';
import { askQuestion } from '../../src/mcp/tools/ask-question.ts';
import { queryData } from '../../src/mcp/tools/query-data.ts';
import type { Tool } from '../../src/mcp/tools/tool.ts';
import { startService, type TestService } from '../support/service.ts';
import { callTool, SimulatedModel, type SqlTurn } from '../support/tools.ts';

interface Ambiguous {
  /** What differs: the way to a concept, a date, a name, or whether the past counts. */
  readonly kind: 'paths' | 'dates' | 'names' | 'ever';
  readonly question: string;
  readonly readings: readonly { readonly reading: string; readonly sql: string }[];
}
const SET: readonly Ambiguous[] = JSON.parse(await readFile(new URL('../../examples/bikehire/ambiguous.json', import.meta.url), 'utf8'));

let s: TestService;
const model = new SimulatedModel();
async function call(tool: Tool, args: Record<string, unknown>, ontology = 'bikehire') {
  model.heard.length = 0;
  return callTool(await s.request(s.token, { llm: model }), tool, args, { ontology });
}

beforeAll(async () => {
  s = await startService({ tables: [] });
  await loadBikehireTables((sql) => s.database.exec(sql));
  await s.rows(await bikehireModel());
});
afterAll(() => s?.close());

/** The names of the graph in a statement. */
const namesOf = (sql: string): readonly string[] =>
  [...new Set([...sql.matchAll(/`([^`]+)`|dsvc\.(\w+)/g)].flatMap(([, path, from]) => (path ?? from ?? '').split(/[[\].]+/)))].filter(
    (n) => n !== '' && n !== 'measure',
  );

/** A model that follows the rules of the prompt: it returns the readings if it may, takes the chosen one, and writes no name that it was not shown. */
const obedient =
  ({ readings }: Ambiguous) =>
  ({ system, user }: Turn<unknown>): SqlTurn => {
    const missing = readings.flatMap((r) => namesOf(r.sql)).filter((name) => !new RegExp(`(?<![\\w])${name}(?![\\w])`).test(user));
    if (missing.length > 0) return { refusal: `${missing} is not listed` };
    const chosen = readings.find((r) => user.includes(`meant like this: <<<${r.reading}>>>`));
    if (chosen !== undefined) return chosen.sql;
    return system.includes('`readings`') ? { readings } : (readings[0]?.sql ?? '');
  };

describe('a question with several meanings', () => {
  it('is in the set in every kind', () => {
    expect(['paths', 'dates', 'names', 'ever'].map((kind) => SET.filter((q) => q.kind === kind).length)).toEqual([20, 20, 10, 10]);
    expect(new Set(SET.map((q) => q.question)).size).toBe(60);
  });

  it('is asked back, with readings that give different rows', async () => {
    const silently: string[] = [];
    const same: string[] = [];
    let longest = 0;
    for (const one of SET) {
      model.says([obedient(one)], 'hire');
      const answer = await call(askQuestion, { prompt: one.question });
      if (answer.status !== 'clarify') silently.push(one.question);
      else {
        expect(answer.readings, one.question).toEqual(one.readings);
        const rows = [];
        for (const { sql } of one.readings) rows.push(JSON.stringify(await s.rows(`${sql} ORDER BY 1`, 'bikehire')));
        if (new Set(rows).size < 2) same.push(one.question);
      }
      longest = Math.max(longest, ...model.heard.map((t) => t.system.length + t.user.length));
    }
    expect(silently).toEqual([]);
    expect(same).toEqual([]);
    expect(longest).toBeLessThan(12_000);
  });

  it('and every other question of the sample have prompts of at most 12,000 characters', async () => {
    const questions: readonly { question: string; also?: readonly string[] }[] = JSON.parse(
      await readFile(new URL('../../examples/bikehire/questions.json', import.meta.url), 'utf8'),
    );
    const lengths: [number, string][] = [];
    for (const prompt of questions.flatMap((q) => [q.question, ...(q.also ?? [])])) {
      model.says(['SELECT 1 AS one'], 'hire');
      await call(askQuestion, { prompt }).catch(() => undefined);
      for (const turn of model.heard) lengths.push([turn.system.length + turn.user.length, prompt]);
    }
    expect(lengths.length).toBeGreaterThan(100);
    expect(lengths.filter(([length]) => length > 12_000)).toEqual([]);
  });

  it('is answered by the chosen reading, or by the first one', async () => {
    for (const one of SET.filter((_, i) => i % 7 === 0)) {
      const [first, second] = one.readings;
      model.says([obedient(one)], 'hire');
      expect(await call(queryData, { prompt: one.question })).toMatchObject({ status: 'answered', sql: first?.sql });
      expect(await call(queryData, { prompt: one.question, on_ambiguity: 'ask', reading: second?.reading })).toMatchObject({
        status: 'answered',
        sql: second?.sql,
      });
    }
  });
});
