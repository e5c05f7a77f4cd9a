/**
 * The planner writes to nothing that another plan reads: the model, the policies, the facts about the caller, and the parsed forms of stored texts, which it keeps. Each
 * statement is planned again after all of them are frozen, and has the same SQL.
 */
import { describe, expect, it } from 'vitest';
import { loadNodeParser } from '../../../src/cli/node-parser.ts';
import type { SqlParser } from '../../../src/language/parser.ts';
import { forms } from '../../support/corpora/forms.ts';
import type { Corpus } from '../../support/corpora/index.ts';
import { written } from '../../support/corpora/written.ts';

const CORPORA = new Set(['analytic statements', 'the second sample']);

function freeze(value: unknown, seen = new Set<unknown>()): void {
  if (typeof value !== 'object' || value === null || seen.has(value)) return;
  seen.add(value);
  const items = value instanceof Map || value instanceof Set ? [...value.entries()].flat() : Object.values(value);
  if (Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype) Object.freeze(value);
  for (const item of items) freeze(item, seen);
}

describe('the inputs of the planner', () => {
  it('are not changed', { timeout: 240_000 }, async () => {
    const parser = await loadNodeParser();
    const parsed: unknown[] = [];
    const recording: SqlParser = {
      parse: (sql) => {
        const tree = parser.parse(sql);
        parsed.push(tree);
        return tree;
      },
    };
    const plan = (corpus: Corpus): { sql: string; inputs: unknown }[] =>
      [...corpus.planned()].map(({ plan: { sql }, context }) => ({
        sql,
        inputs: [context.graph.model, context.graph.whole.model, context.whole?.model, context.access, context.caller],
      }));
    // the others have more statements of the same kinds
    const chosen = [forms(recording), ...written(recording).filter((c) => CORPORA.has(c.name))];
    expect(chosen.length).toBe(1 + CORPORA.size);
    for (const corpus of chosen) {
      const first = plan(corpus);
      expect(first.length, corpus.name).toBeGreaterThan(5);
      // the trees of the statements themselves, which a plan may change, are of no use any more; those of stored texts are kept
      for (const tree of parsed.splice(0)) freeze(tree);
      for (const { inputs } of first) freeze(inputs);
      expect(
        plan(corpus).map((p) => p.sql),
        corpus.name,
      ).toEqual(first.map((p) => p.sql));
    }
  });
});
